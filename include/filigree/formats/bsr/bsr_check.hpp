// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>

#include "filigree/core/view_checker.hpp"
#include "filigree/formats/bsr/bsr_matrix.hpp"

#if FILIGREE_HAS_BSR
namespace Filigree::Impl {

/// check() of a BSR matrix. The block columns of a block row may have any order, but must differ.
template <class ExecutionSpace, class S, class O, class D, class M, class Z>
void check_matrix(const ViewChecker<ExecutionSpace>& checker,
                  const KokkosSparse::Experimental::BsrMatrix<S, O, D, M, Z>& bsr) {
  const auto block_rows = static_cast<std::int64_t>(bsr.numRows());
  const auto blocks = static_cast<std::int64_t>(bsr.graph.entries.extent(0));
  const auto b = static_cast<std::int64_t>(bsr.blockDim());
  checker.extents(bsr);
  if (b < 1) checker.refuse("blockDim()", " is ", b, "; it must be at least 1");
  checker.size("values", bsr.values, blocks * b * b, "blocks * block size * block size");
  if (block_rows == 0 && blocks == 0) return;
  checker.size("graph.row_map", bsr.graph.row_map, block_rows + 1, "one per block row and one more");
  const auto row_map = checker.elements(bsr.graph.row_map);
  const auto entries = checker.elements(bsr.graph.entries);
  checker.offsets("graph.row_map", row_map, blocks);
  checker.range("graph.entries", entries, 0, static_cast<std::int64_t>(bsr.numCols()) - 1);
  for (std::size_t row = 0; row + 1 < row_map.extent(0); ++row) {
    std::vector<O> columns(entries.data() + row_map(row), entries.data() + row_map(row + 1));
    std::sort(columns.begin(), columns.end());
    const auto twice = std::adjacent_find(columns.begin(), columns.end());
    if (twice != columns.end())
      checker.refuse("graph.entries", " has block column ", *twice, " twice in block row ", row,
                     "; the block columns of a block row must differ");
  }
}

}  // namespace Filigree::Impl
#endif

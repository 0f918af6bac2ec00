// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "filigree/formats/coo/coo_layout.hpp"
#include "filigree/product/check_chunks.hpp"

namespace Filigree::Impl {

/// check() of a COO matrix. As part of HYB it must have an empty list of empty rows.
template <class ExecutionSpace, class S, class O, class D, class M, class Z>
void check_coo(const ViewChecker<ExecutionSpace>& checker, const CooMatrix<S, O, D, M, Z>& coo,
               bool is_part) {
  const auto rows = static_cast<std::int64_t>(coo.numRows());
  const auto nnz = static_cast<std::int64_t>(coo.values.extent(0));
  checker.extents(coo);
  checker.number("nnz()", static_cast<std::int64_t>(coo.nnz()), nnz, nnz, "the length of values");
  checker.size("entries", coo.entries, nnz, "one per value");
  checker.size("rows", coo.rows, nnz, "one per value");
  const auto row_of = checker.elements(coo.rows);
  checker.range("rows", row_of, 0, rows - 1);
  checker.ascending("rows", row_of, 0, row_of.extent(0), false);
  checker.range("entries", checker.elements(coo.entries), 0, static_cast<std::int64_t>(coo.numCols()) - 1);

  std::vector<std::int64_t> empty;
  for (std::int64_t row = 0, i = 0; row < rows && !is_part; ++row) {
    const std::int64_t first = i;
    while (i < nnz && static_cast<std::int64_t>(row_of(static_cast<std::size_t>(i))) == row)
      ++i;
    if (i == first) empty.push_back(row);
  }
  checker.equal("empty_rows", coo.empty_rows, empty,
                is_part ? "the ELL part scales y" : "the rows without entries, ascending");
  if (nnz > 0)
    check_chunks(
        checker.part("chunks"), coo.chunks, nnz, CooLayout<ExecutionSpace, S, O>::may_meet,
        [&](std::int64_t i) { return static_cast<std::int64_t>(row_of(static_cast<std::size_t>(i))); });
}

template <class ExecutionSpace, class S, class O, class D, class M, class Z>
void check_matrix(const ViewChecker<ExecutionSpace>& checker, const CooMatrix<S, O, D, M, Z>& coo) {
  check_coo(checker, coo, false);
}

}  // namespace Filigree::Impl

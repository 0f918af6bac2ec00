// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "filigree/core/scalar.hpp"
#include "filigree/core/view_checker.hpp"
#include "filigree/formats/bell/bell_matrix.hpp"

namespace Filigree::Impl {

/// Checks that the block columns of each block row ascend, lie in the matrix, and end with padding.
template <class ExecutionSpace, class Bell, class List>
void check_block_columns(const ViewChecker<ExecutionSpace>& checker, const Bell& bell,
                         const List& block_entries) {
  const auto block_rows = static_cast<std::int64_t>(bell.numBlockRows());
  const std::int64_t b = bell.block_size();
  const std::int64_t block_columns = (static_cast<std::int64_t>(bell.numCols()) + b - 1) / b;
  checker.range("block_entries", block_entries, -1, block_columns - 1);
  for (std::int64_t i = block_rows; i < static_cast<std::int64_t>(block_entries.extent(0)); ++i) {
    const auto before = block_entries(static_cast<std::size_t>(i - block_rows));
    const auto block = block_entries(static_cast<std::size_t>(i));
    if (block >= 0 && block <= before)
      checker.refuse("block_entries", "(", i, ") is ", block, ", and the block before it in block row ",
                     i % block_rows, " is ", before, "; block columns of a block row must ascend");
    if (block >= 0 && before < 0)
      checker.refuse("block_entries", "(", i, ") is ", block, ", and the block before it in block row ",
                     i % block_rows, " is padding; padding must come last");
  }
}

/// check() of a blocked ELL matrix.
template <class ExecutionSpace, class S, class O, class D, class M, class Z>
void check_matrix(const ViewChecker<ExecutionSpace>& checker, const BellMatrix<S, O, D, M, Z>& bell) {
  const auto rows = static_cast<std::int64_t>(bell.numRows());
  const auto columns = static_cast<std::int64_t>(bell.numCols());
  const auto width = static_cast<std::int64_t>(bell.block_width());
  const auto block_rows = static_cast<std::int64_t>(bell.numBlockRows());
  const std::int64_t b = bell.block_size();
  checker.extents(bell);
  if (width < 0) checker.refuse("block_width()", " is ", width, "; it must be at least 0");
  checker.size("values", bell.values, width * b * rows, "block width * block size * rows");
  checker.size("block_entries", bell.block_entries, width * block_rows, "block width * block rows");
  const auto block_entries = checker.elements(bell.block_entries);
  check_block_columns(checker, bell, block_entries);

  const auto values = checker.elements(bell.values);
  std::int64_t nonzeros = 0;
  for (std::int64_t k = 0; k < width; ++k)
    for (std::int64_t c = 0; c < b; ++c)
      for (std::int64_t row = 0; row < rows; ++row) {
        const auto block =
            static_cast<std::int64_t>(block_entries(static_cast<std::size_t>(k * block_rows + row / b)));
        const std::int64_t position = (k * b + c) * rows + row;
        if (values(static_cast<std::size_t>(position)) == S(0)) continue;
        if (block < 0 || block * b + c >= columns)
          checker.refuse("values", "(", position, ") is ",
                         printable(values(static_cast<std::size_t>(position))), ", in row ", row,
                         " and block column ", block, " of a matrix of ", columns,
                         " columns; it is padding and must be 0");
        ++nonzeros;
      }
  if (static_cast<std::int64_t>(bell.nnz()) < nonzeros)
    checker.refuse("nnz()", " is ", bell.nnz(), "; it must be at least ", nonzeros,
                   ", the number of values that are not 0");
}

}  // namespace Filigree::Impl

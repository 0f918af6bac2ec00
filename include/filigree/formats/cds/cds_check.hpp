// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "filigree/core/view_checker.hpp"
#include "filigree/formats/cds/cds_matrix.hpp"

namespace Filigree::Impl {

/// check() of a CDS or DIA matrix.
template <class ExecutionSpace, class S, class O, class D, class M, class Z>
void check_matrix(const ViewChecker<ExecutionSpace>& checker, const CdsMatrix<S, O, D, M, Z>& cds) {
  const auto rows = static_cast<std::int64_t>(cds.numRows());
  const auto columns = static_cast<std::int64_t>(cds.numCols());
  const std::int64_t b = cds.block_size();
  checker.extents(cds);
  if (b < 1) checker.refuse("block_size()", " is ", b, "; it must be at least 1");
  const auto offsets = checker.elements(cds.offsets);
  const std::size_t diagonals = offsets.extent(0);
  checker.range("offsets", offsets, 1 - (rows + b - 1) / b, (columns + b - 1) / b - 1);
  checker.ascending("offsets", offsets, 0, diagonals, true);
  checker.size("values", cds.values, static_cast<std::int64_t>(diagonals) * b * rows,
               "block diagonals * block size * rows");

  const auto values = checker.elements(cds.values);
  std::int64_t nonzeros = 0;
  for (std::size_t d = 0; d < diagonals; ++d)
    for (std::int64_t c = 0; c < b; ++c)
      for (std::int64_t row = 0; row < rows; ++row) {
        const std::int64_t column = (row / b + static_cast<std::int64_t>(offsets(d))) * b + c;
        const auto position = (static_cast<std::int64_t>(d) * b + c) * rows + row;
        if (values(static_cast<std::size_t>(position)) == S(0)) continue;
        if (column < 0 || column >= columns)
          checker.refuse("values", "(", position, ") is ", values(static_cast<std::size_t>(position)),
                         ", in row ", row, " and column ", column, " of a matrix of ", columns,
                         " columns; it is padding and must be 0");
        ++nonzeros;
      }
  if (static_cast<std::int64_t>(cds.nnz()) < nonzeros)
    checker.refuse("nnz()", " is ", cds.nnz(), "; it must be at least ", nonzeros,
                   ", the number of values that are not 0");
}

}  // namespace Filigree::Impl

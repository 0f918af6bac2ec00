// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>

#include "filigree/core/scalar.hpp"
#include "filigree/core/view_checker.hpp"
#include "filigree/formats/cds/cds_layout.hpp"

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
  const CdsLayout layout = cds.layout();
  const bool has_columns = layout == CdsLayout::columns;
  // Values by columns may be padded, see column_stride().
  const std::int64_t stored_rows = has_columns ? std::max(rows, cds.column_stride()) : (rows + b - 1) / b * b;
  checker.size("values", cds.values, static_cast<std::int64_t>(diagonals) * b * stored_rows,
               has_columns
                   ? "block diagonals * block size * column stride, which is at least the number of rows"
                   : "block diagonals * block size * block size * block rows");

  const auto values = checker.elements(cds.values);
  CdsElements<S, O> elements(cds);
  elements.offsets = offsets.data();
  std::int64_t nonzeros = 0;
  for (std::int64_t row = 0; row < stored_rows; ++row)
    elements.for_each_element(
        row, 0, elements.element_count(row), [&](std::int64_t column, std::int64_t position) {
          const auto& value = values(static_cast<std::size_t>(position));
          if (value == S(0)) return;
          if (row >= rows || column < 0 || column >= columns)
            checker.refuse("values", "(", position, ") is ", printable(value), ", in row ", row,
                           " and column ", column, " of a matrix of ", rows, " rows and ", columns,
                           " columns; it is padding and must be 0");
          ++nonzeros;
        });
  if (static_cast<std::int64_t>(cds.nnz()) < nonzeros)
    checker.refuse("nnz()", " is ", cds.nnz(), "; it must be at least ", nonzeros,
                   ", the number of values that are not 0");
}

}  // namespace Filigree::Impl

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "filigree/core/scalar.hpp"
#include "filigree/core/view_checker.hpp"
#include "filigree/formats/sym_cds/sym_cds_layout.hpp"

namespace Filigree::Impl {

/// check() of a SymCdsMatrix.
template <class ExecutionSpace, class S, class O, class D, class M, class Z>
void check_matrix(const ViewChecker<ExecutionSpace>& checker, const SymCdsMatrix<S, O, D, M, Z>& A) {
  checker.extents(A);
  const auto rows = static_cast<std::int64_t>(A.numRows());
  const std::int64_t b = A.block_size();
  if (b < 1) checker.refuse("block_size()", " is ", b, "; it must be at least 1");
  const std::int64_t block_rows = (rows + b - 1) / b;
  const auto offsets = checker.elements(A.offsets);
  const std::size_t diagonals = offsets.extent(0);
  checker.range("offsets", offsets, 1, block_rows - 1);
  checker.ascending("offsets", offsets, 0, diagonals, true);
  checker.size("values", A.values, sym_cds_components(b, static_cast<std::int64_t>(diagonals)) * block_rows,
               "components of the main diagonal and of the other block diagonals * block rows");
  const MarchDiagonal march = A.march();
  if (march.index >= 0) {
    checker.number("march().index", march.index, 0, static_cast<std::int64_t>(diagonals) - 1,
                   "it counts the offsets");
    const auto offset = static_cast<std::int64_t>(offsets(static_cast<std::size_t>(march.index)));
    checker.number("march().offset", march.offset, offset, offset, "the offset with that index");
  }

  const auto values = checker.elements(A.values);
  SymCdsElements<S, O> elements(A);
  elements.offsets = offsets.data();
  std::int64_t nonzeros = 0;
  for (std::int64_t row = 0; row < block_rows * b; ++row)
    elements.for_each_element(
        row, 0, elements.element_count(row), [&](std::int64_t column, std::int64_t position) {
          const bool is_stored = position >= 0;
          const auto& value = values(static_cast<std::size_t>(is_stored ? position : mirror(position)));
          if (value == S(0)) return;
          if (row >= rows || column >= rows)
            checker.refuse("values", "(", is_stored ? position : mirror(position), ") is ", printable(value),
                           ", in row ", row, " and column ", column, " of a matrix of ", rows, " rows and ",
                           rows, " columns; it is padding and must be 0");
          if (row == column && A.symmetry() == Symmetry::hermitian && conjugate_if<true>(value) != value)
            checker.refuse("values", "(", position, ") is ", printable(value), ", in row ", row,
                           " and column ", column, " of a Hermitian matrix; it must be real");
          ++nonzeros;
        });
  if (static_cast<std::int64_t>(A.nnz()) < nonzeros)
    checker.refuse("nnz()", " is ", A.nnz(), "; it must be at least ", nonzeros,
                   ", the number of values of the whole matrix that are not 0");
}

}  // namespace Filigree::Impl

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "filigree/conversion/dense_copy.hpp"
#include "filigree/formats/dict_cds/dict_cds_matrix.hpp"

namespace Filigree::Impl {

/// The elements of a DictCdsMatrix for copies (see conversion/dense_copy.hpp). The position of an element is
/// the one that it would have in a CdsMatrix with CdsLayout::components. It is not a position in values, so
/// elements can be read but not written.
template <class Scalar, class Ordinal, class Index>
struct DictCdsElements : BlockElements<DictCdsElements<Scalar, Ordinal, Index>, Scalar, Ordinal, false> {
  const Index* indices;
  const Ordinal* offsets;
  std::int64_t diagonals;

  template <class Matrix>
  DictCdsElements(const Matrix& A, const Index* indices_)
      : DictCdsElements::BlockElements{A.values.data(), A.block_size(),
                                       (static_cast<std::int64_t>(A.numRows()) + A.block_size() - 1) /
                                           A.block_size()},
        indices(indices_),
        offsets(A.offsets.data()),
        diagonals(A.numDiagonals()) {}

  KOKKOS_FORCEINLINE_FUNCTION Scalar value(std::int64_t position) const {
    const std::int64_t size = this->block_size * this->block_size;
    const std::int64_t component = position / this->column_stride;
    const std::int64_t block_row = position - component * this->column_stride;
    const std::int64_t d = component / size;
    const auto block = static_cast<std::int64_t>(indices[d * this->column_stride + block_row]);
    return this->block_values[block * size + component - d * size];
  }
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t blocks_begin(std::int64_t) const { return 0; }
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t blocks_end(std::int64_t) const { return diagonals; }
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t block_column(std::int64_t block_row, std::int64_t d) const {
    return block_row + static_cast<std::int64_t>(offsets[d]);
  }
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t block_position(std::int64_t block_row, std::int64_t row,
                                                          std::int64_t d) const {
    const std::int64_t b = this->block_size;
    return (d * b + row - block_row * b) * b * this->column_stride + block_row;
  }
};

/// Calls visit(elements) with the elements of the matrix.
template <class ExecutionSpace, class S, class O, class D, class M, class Z, class Visit>
auto with_layout(const ExecutionSpace&, const DictCdsMatrix<S, O, D, M, Z>& A, const Visit& visit) {
  return with_indices(A, [&](const auto* indices) {
    return visit(DictCdsElements<S, O, std::decay_t<decltype(*indices)>>(A, indices));
  });
}

}  // namespace Filigree::Impl

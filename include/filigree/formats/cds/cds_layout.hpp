// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "filigree/conversion/block_elements.hpp"
#include "filigree/formats/cds/cds_matrix.hpp"

namespace Filigree::Impl {

/// The elements of a CDS matrix for copies (see conversion/dense_copy.hpp). Block d of a block row is its
/// block on block diagonal d.
template <class Scalar, class Ordinal>
struct CdsElements : BlockElements<CdsElements<Scalar, Ordinal>, Scalar, Ordinal, false> {
  const Ordinal* offsets;
  std::int64_t diagonals;
  CdsLayout layout;

  template <class Cds>
  explicit CdsElements(const Cds& cds)
      : CdsElements::BlockElements{cds.values.data(), cds.block_size(), cds.column_stride()},
        offsets(cds.offsets.data()),
        diagonals(cds.numDiagonals()),
        layout(cds.layout()) {}

  KOKKOS_FORCEINLINE_FUNCTION std::int64_t blocks_begin(std::int64_t) const { return 0; }
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t blocks_end(std::int64_t) const { return diagonals; }
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t block_column(std::int64_t block_row, std::int64_t d) const {
    return block_row + static_cast<std::int64_t>(offsets[d]);
  }
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t block_position(std::int64_t block_row, std::int64_t row,
                                                          std::int64_t d) const {
    const std::int64_t b = this->block_size;
    if (layout == CdsLayout::columns) return d * b * this->column_stride + row;
    return (d * b + row - block_row * b) * b * this->column_stride + block_row;
  }
};

/// Calls visit(elements) with the elements of the matrix.
template <class ExecutionSpace, class S, class O, class D, class M, class Z, class Visit>
auto with_layout(const ExecutionSpace&, const CdsMatrix<S, O, D, M, Z>& cds, const Visit& visit) {
  return visit(CdsElements<S, O>(cds));
}

}  // namespace Filigree::Impl

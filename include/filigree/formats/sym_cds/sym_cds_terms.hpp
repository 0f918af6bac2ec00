// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "filigree/product/block_terms.hpp"

namespace Filigree::Impl {

/// The block diagonals of a product with a symmetric matrix (see product/block_terms.hpp): the mirror images of
/// the stored diagonals, the packed main diagonal, then the stored diagonals. ConjugateMirrored is whether the
/// mirror image of an element is its complex conjugate.
template <class Scalar_, class Ordinal_, bool Conjugate, bool ConjugateMirrored>
struct SymCdsTerms {
  using Scalar = Scalar_;
  using Ordinal = Ordinal_;
  const Scalar* values;
  const Ordinal* offsets;  ///< offsets of the diagonals above the main one, ascending
  std::int64_t diagonals;  ///< their number
  int block_size;
  std::int64_t stride;
  std::int64_t y_blocks;
  std::int64_t x_blocks;
  std::int64_t y_rows;
  std::int64_t x_rows;

  KOKKOS_FORCEINLINE_FUNCTION const Scalar* diagonal(std::int64_t d) const {
    const int packed = block_size * (block_size + 1) / 2;
    return values + (packed + d * block_size * block_size) * stride;
  }
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t count() const { return 2 * diagonals + 1; }
  KOKKOS_FORCEINLINE_FUNCTION BlockTerm<Scalar> term(std::int64_t k) const {
    if (k == diagonals) return {values, 0, BlockPlace::packed};
    const bool below = k < diagonals;
    const std::int64_t d = below ? diagonals - 1 - k : k - diagonals - 1;
    const auto shift = static_cast<std::int64_t>(offsets[d]);
    return {diagonal(d), below ? -shift : shift, below ? BlockPlace::mirrored : BlockPlace::own};
  }
  KOKKOS_FORCEINLINE_FUNCTION Scalar value(BlockPlace place, int i, int j, const Scalar& value) const {
    return is_mirror_image(place, i, j) ? conjugate_if<Conjugate != ConjugateMirrored>(value)
                                        : conjugate_if<Conjugate>(value);
  }
};

}  // namespace Filigree::Impl

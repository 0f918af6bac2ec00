// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "filigree/formats/sym_cds/sym_cds_matrix.hpp"
#include "filigree/product/block_terms.hpp"

namespace Filigree::Impl {

/// The block diagonals of a product with a symmetric matrix (see product/block_terms.hpp): the mirror images of
/// the stored diagonals, the packed main diagonal, then the stored diagonals. ConjugateMirrored is whether the
/// mirror image of an element is its complex conjugate.
template <class Scalar_, class Ordinal_, bool Conjugate, bool ConjugateMirrored>
struct SymCdsTerms : BlockTerms<Scalar_, Ordinal_> {
  using Scalar = Scalar_;
  using BlockTerms<Scalar_, Ordinal_>::values;
  using BlockTerms<Scalar_, Ordinal_>::diagonals;

  template <class Matrix>
  explicit SymCdsTerms(const Matrix& A) : BlockTerms<Scalar_, Ordinal_>(A, false) {}

  KOKKOS_FORCEINLINE_FUNCTION const Scalar* diagonal(std::int64_t d) const {
    return values + sym_cds_components(this->block_size, d) * this->stride;
  }
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t count() const { return 2 * diagonals + 1; }
  KOKKOS_FORCEINLINE_FUNCTION BlockTerm<Scalar> term(std::int64_t k) const {
    if (k == diagonals) return {values, 0, BlockPlace::packed};
    const bool below = k < diagonals;
    const std::int64_t d = below ? diagonals - 1 - k : k - diagonals - 1;
    const auto shift = static_cast<std::int64_t>(this->offsets[d]);
    return {diagonal(d), below ? -shift : shift, below ? BlockPlace::mirrored : BlockPlace::own};
  }
  KOKKOS_FORCEINLINE_FUNCTION Scalar value(BlockPlace place, int i, int j, const Scalar& value) const {
    return is_mirror_image(place, i, j) ? conjugate_if<Conjugate != ConjugateMirrored>(value)
                                        : conjugate_if<Conjugate>(value);
  }
};

}  // namespace Filigree::Impl

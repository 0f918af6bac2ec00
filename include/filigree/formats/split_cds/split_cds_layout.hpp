// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "filigree/formats/cds/cds_layout.hpp"
#include "filigree/formats/split_cds/split_cds_matrix.hpp"
#include "filigree/product/split_pointer.hpp"

namespace Filigree::Impl {

/// The elements of a SplitCdsMatrix for copies (see conversion/dense_copy.hpp): those of the leading matrix,
/// with values of double.
template <class Ordinal>
struct SplitCdsElements : CdsElements<float, Ordinal> {
  using scalar_type = double;

  int* trailing;

  template <class Matrix>
  explicit SplitCdsElements(const Matrix& A)
      : CdsElements<float, Ordinal>(A.leading), trailing(A.trailing.data()) {}

  KOKKOS_FORCEINLINE_FUNCTION SplitTarget values() const { return {this->block_values, trailing}; }
  KOKKOS_FORCEINLINE_FUNCTION double value(std::int64_t position) const {
    return joined_halves(this->block_values[position], trailing[position]);
  }
};

/// Calls visit(elements) with the elements of the matrix.
template <class ExecutionSpace, class S, class O, class D, class M, class Z, class Visit>
auto with_layout(const ExecutionSpace&, const SplitCdsMatrix<S, O, D, M, Z>& A, const Visit& visit) {
  return visit(SplitCdsElements<O>(A));
}

}  // namespace Filigree::Impl

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <limits>

#include "filigree/formats/cds/cds_layout.hpp"
#include "filigree/formats/split_cds/split_cds_matrix.hpp"
#include "filigree/product/split_pointer.hpp"

namespace Filigree::Impl {

/// The trailing half that stands for a number which cannot be split.
constexpr int cannot_be_split = std::numeric_limits<int>::min();
/// The largest trailing half. A constant, because device code must not call host functions.
constexpr int largest_trailing_half = std::numeric_limits<int>::max();

/// The trailing half of a double whose leading half is static_cast<float>(value): the difference of the bits
/// of `value` and of the leading half as a double. It is at most 2^28 in size if |value| is 0 or in the range
/// of numbers that float holds with all bits. The trailing half of a NaN is 0. Returns cannot_be_split for
/// other numbers whose difference needs more than 32 bits.
KOKKOS_INLINE_FUNCTION int trailing_half(double value) {
  const double leading = static_cast<float>(value);
  if (value != value) return 0;
  if (leading == 0 && value != 0) return cannot_be_split;
  const auto difference = static_cast<std::int64_t>(bits_of_double(value) - bits_of_double(leading));
  const bool fits = difference > cannot_be_split && difference <= largest_trailing_half;
  return fits ? static_cast<int>(difference) : cannot_be_split;
}

/// Stands for a pointer to doubles whose halves lie in two arrays. It splits the doubles that are written.
struct SplitTarget {
  float* leading;
  int* trailing;

  struct Reference {
    float& leading;
    int& trailing;
    KOKKOS_FORCEINLINE_FUNCTION void operator=(double value) const {
      leading = static_cast<float>(value);
      trailing = trailing_half(value);
    }
    KOKKOS_FORCEINLINE_FUNCTION void operator+=(double value) const {
      // A sum of duplicates stays refused once a part of it cannot be split.
      if (trailing != cannot_be_split) *this = joined_halves(leading, trailing) + value;
    }
  };
  KOKKOS_FORCEINLINE_FUNCTION Reference operator[](std::int64_t i) const { return {leading[i], trailing[i]}; }
};

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

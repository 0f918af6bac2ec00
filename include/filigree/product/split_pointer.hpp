// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cmath>
#include <cstring>
#include <limits>

#include "filigree/core/load_once.hpp"

namespace Filigree::Impl {

/// The bits of a double as a number. For finite numbers of one sign, neighbouring numbers have neighbouring
/// bits.
KOKKOS_FORCEINLINE_FUNCTION std::int64_t bits_of_double(double value) {
  std::int64_t bits;
  memcpy(&bits, &value, sizeof(bits));
  return bits;
}

/// The trailing half that stands for a number which cannot be split.
constexpr int cannot_be_split = std::numeric_limits<int>::min();

/// The trailing half of a double whose leading half is static_cast<float>(value): the difference of the bits
/// of `value` and of the leading half as a double. It is at most 2^28 in size if |value| is 0 or in the range
/// of numbers that float holds with all bits. The trailing half of a NaN is 0. Returns cannot_be_split for
/// other numbers whose difference needs more than 32 bits.
KOKKOS_INLINE_FUNCTION int trailing_half(double value) {
  const double leading = static_cast<float>(value);
  if (value != value) return 0;
  if (leading == 0 && value != 0) return cannot_be_split;
  const std::int64_t difference = bits_of_double(value) - bits_of_double(leading);
  const bool fits = difference > cannot_be_split && difference <= std::numeric_limits<int>::max();
  return fits ? static_cast<int>(difference) : cannot_be_split;
}

/// The double that consists of two halves.
KOKKOS_FORCEINLINE_FUNCTION double joined_halves(float leading, int trailing) {
  const std::int64_t bits = bits_of_double(static_cast<double>(leading)) + trailing;
  double value;
  memcpy(&value, &bits, sizeof(value));
  return value;
}

/// Stands for a pointer to constant doubles whose halves lie in two arrays.
struct SplitPointer {
  const float* leading;
  const int* trailing;

  KOKKOS_FORCEINLINE_FUNCTION double operator[](std::int64_t i) const {
    return joined_halves(leading[i], trailing[i]);
  }
  KOKKOS_FORCEINLINE_FUNCTION SplitPointer operator+(std::int64_t i) const {
    return {leading + i, trailing + i};
  }
  KOKKOS_FORCEINLINE_FUNCTION SplitPointer& operator+=(std::int64_t i) { return *this = *this + i; }
};

/// load_once() of both halves.
KOKKOS_FORCEINLINE_FUNCTION double load_once(const SplitPointer& pointer) {
  return joined_halves(load_once(pointer.leading), load_once(pointer.trailing));
}
template <int Count>
KOKKOS_FORCEINLINE_FUNCTION Pack<double, Count> load_pack(const SplitPointer& pointer) {
  const auto leading = load_pack<Count>(pointer.leading);
  const auto trailing = load_pack<Count>(pointer.trailing);
  Pack<double, Count> result;
  for (int i = 0; i < Count; ++i)
    result.values[i] = joined_halves(leading.values[i], trailing.values[i]);
  return result;
}
template <int Count>
bool is_aligned_to_pack(const SplitPointer& pointer) {
  return is_aligned_to_pack<Count>(pointer.leading) && is_aligned_to_pack<Count>(pointer.trailing);
}
KOKKOS_FORCEINLINE_FUNCTION void prefetch_elements(const SplitPointer& first, std::int64_t count) {
  prefetch_elements(first.leading, count);
  prefetch_elements(first.trailing, count);
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

}  // namespace Filigree::Impl

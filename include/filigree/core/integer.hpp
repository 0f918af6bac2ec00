// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <limits>
#include <type_traits>

#include "filigree/core/kokkos_versions.hpp"

namespace Filigree::Impl {

/// The type in which kernels compute the index of a stored row. It has 32 bits if the ordinal has at most 32
/// bits, because a GPU computes faster with 32 bits than with 64. The 32-bit type is unsigned, because
/// padding to whole slices can store more rows than the ordinal can count.
template <class Ordinal>
using stored_row_t = std::conditional_t<sizeof(Ordinal) <= 4, std::uint32_t, std::int64_t>;

/// The type in which kernels compute the length of a row, with 32 bits if the ordinal has at most 32 bits.
template <class Ordinal>
using length_t = std::conditional_t<sizeof(Ordinal) <= 4, std::int32_t, std::int64_t>;

/// The largest number that a matrix keeps in its ordinals, such as a width. Kernels add up to 1023 (the
/// entries of a batch, the lanes of a team) to the length of a row, which must not overflow length_t.
template <class Ordinal>
constexpr std::int64_t largest_count =
    std::min(static_cast<std::uint64_t>(std::numeric_limits<Ordinal>::max()),
             static_cast<std::uint64_t>(std::numeric_limits<length_t<Ordinal>>::max() - 1023));

/// The smallest multiple of `multiple` that is at least `value`.
KOKKOS_INLINE_FUNCTION constexpr std::int64_t round_up(std::int64_t value, std::int64_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

/// The binary logarithm of a power of two.
KOKKOS_INLINE_FUNCTION constexpr int log2_of(int power_of_two) {
  int result = 0;
  while ((1 << result) < power_of_two)
    ++result;
  return result;
}

/// The number of entries of a row of `length` entries that lane `lane` of 2^log2_lanes lanes multiplies, if
/// the lanes take the entries in turns. It uses a shift, because a GPU divides slowly (see
/// docs/performance.md, "Entries of a lane by a shift"), of an unsigned sum, which cannot overflow.
template <class Length>
KOKKOS_FORCEINLINE_FUNCTION constexpr Length entries_of_lane(Length length, int lane, int log2_lanes) {
  using sum_type = std::make_unsigned_t<Length>;
  const sum_type sum =
      static_cast<sum_type>(length) - static_cast<sum_type>(lane) + sum_type(1u << log2_lanes) - 1;
  return static_cast<Length>(sum >> log2_lanes);
}

/// a / b for row, column or element indices that are not negative. It divides in 32 bits if the ordinal has
/// at most 32 bits, because a GPU divides 64-bit numbers slowly.
template <class Ordinal>
KOKKOS_FORCEINLINE_FUNCTION std::int64_t quotient(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<stored_row_t<Ordinal>>(a) /
                                   static_cast<stored_row_t<Ordinal>>(b));
}

/// The position of element (i, j), i <= j, of a packed upper triangle: column by column, as LAPACK packs it.
template <class Index>
KOKKOS_FORCEINLINE_FUNCTION constexpr Index packed_position(Index i, Index j) {
  return j * (j + 1) / 2 + i;
}

}  // namespace Filigree::Impl

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "filigree/core/scalar.hpp"

namespace Filigree {

/// Count sums that one reduction adds up. Each begins with 0.
template <class T, int Count>
struct Sums {
  static_assert(Count > 0, "Filigree::Sums: a reduction needs at least one sum.");
  using value_type = T;                ///< type of a sum
  static constexpr int count = Count;  ///< number of sums

  T values[Count];  ///< the sums

  KOKKOS_FORCEINLINE_FUNCTION Sums() {
    for (int i = 0; i < Count; ++i)
      values[i] = T(0);
  }
  /// Sum i.
  KOKKOS_FORCEINLINE_FUNCTION T& operator[](int i) { return values[i]; }
  /// Sum i.
  KOKKOS_FORCEINLINE_FUNCTION const T& operator[](int i) const { return values[i]; }
  /// Adds each sum of `other` to the same sum here.
  KOKKOS_FORCEINLINE_FUNCTION Sums& operator+=(const Sums& other) {
    for (int i = 0; i < Count; ++i)
      values[i] += other.values[i];
    return *this;
  }
};

}  // namespace Filigree

/// @cond specializations
/// Kokkos up to 4.4 starts a reduction over the lanes of a team with this.
template <class T, int Count>
struct Kokkos::reduction_identity<Filigree::Sums<T, Count>> {
  KOKKOS_FORCEINLINE_FUNCTION static Filigree::Sums<T, Count> sum() { return {}; }
};
/// @endcond

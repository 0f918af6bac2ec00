// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The 16-bit numbers in which a matrix may store its values.
#pragma once

#include <limits>

#include "filigree/core/kokkos_versions.hpp"

/// 1 if Filigree::half_t exists, else 0.
#if FILIGREE_KOKKOS_HAS_HALF
#define FILIGREE_HAS_HALF 1
#elif defined(__FLT16_MAX__) && !defined(__CUDACC__) && !defined(__HIPCC__)
#define FILIGREE_HAS_HALF 1
#else
#define FILIGREE_HAS_HALF 0
#endif

/// 1 if Filigree::bhalf_t exists, else 0.
#define FILIGREE_HAS_BHALF FILIGREE_KOKKOS_HAS_BHALF

namespace Filigree {

// half_t: 11 significant bits, from 6e-8 (6.1e-5 with all bits) to 65504.
#if FILIGREE_KOKKOS_HAS_HALF
using half_t = Kokkos::Experimental::half_t;
#elif FILIGREE_HAS_HALF
// Kokkos has no such type for hosts, but GCC 12 and newer have.
using half_t = _Float16;
#endif

// bhalf_t: 8 significant bits and the range of float.
#if FILIGREE_HAS_BHALF
using bhalf_t = Kokkos::Experimental::bhalf_t;
#endif

namespace Impl {

/// What conversions need to know of a real scalar type. A short type can only be stored: products compute with
/// float or a wider type.
template <class Real>
struct RealTraits {
  static constexpr const char* name = std::is_same_v<Real, float> ? "float" : "double";
  static constexpr bool is_short = false;
  using sum_type = Real;  ///< the narrowest type for sums of such numbers
  static constexpr Real largest = std::numeric_limits<Real>::max();
};
#if FILIGREE_HAS_HALF
template <>
struct RealTraits<half_t> {
  static constexpr const char* name = "half_t";
  static constexpr bool is_short = true;
  using sum_type = float;
  static constexpr float largest = 65504.0f;
};
#endif
#if FILIGREE_HAS_BHALF
template <>
struct RealTraits<bhalf_t> {
  static constexpr const char* name = "bhalf_t";
  static constexpr bool is_short = true;
  using sum_type = float;
  static constexpr float largest = 3.38953139e38f;
};
#endif

}  // namespace Impl
}  // namespace Filigree

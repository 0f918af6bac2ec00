// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "filigree/core/kokkos_versions.hpp"

namespace Filigree::Impl {

/// The lanes of a team that can exchange numbers without waiting for the rest of the team: the warps of an NVIDIA
/// GPU. 0 if there are no such groups; the team is the group then.
#if defined(KOKKOS_ENABLE_CUDA)
template <class ExecutionSpace>
constexpr int lanes_per_group = std::is_same_v<ExecutionSpace, Kokkos::Cuda> ? 32 : 0;
#else
template <class ExecutionSpace>
constexpr int lanes_per_group = 0;
#endif

/// Adds up `mine` over the lanes of a group, as a tree. The first lane of the group gets the sum. All lanes must
/// call it. Partial is a Sums of numbers of 4 bytes or a multiple.
template <class Partial>
KOKKOS_FORCEINLINE_FUNCTION void add_lanes_of_group([[maybe_unused]] Partial& mine) {
#if defined(__CUDA_ARCH__)
  constexpr int words = sizeof(Partial) / sizeof(unsigned int);
  static_assert(sizeof(Partial) % sizeof(unsigned int) == 0, "The words of a partial result are exchanged.");
  for (int distance = 16; distance > 0; distance /= 2) {
    unsigned int own[words];
    memcpy(own, &mine, sizeof(Partial));
    for (int i = 0; i < words; ++i)
      own[i] = __shfl_down_sync(0xffffffffu, own[i], distance);
    Partial other;
    memcpy(&other, own, sizeof(Partial));
    mine += other;
  }
#endif
}

/// The `value` of lane `lane` of the Width neighbouring lanes that this lane belongs to. Width is a power of two. All
/// lanes of the group must call it.
template <int Width, class T>
KOKKOS_FORCEINLINE_FUNCTION T of_lane([[maybe_unused]] const T& value, [[maybe_unused]] int lane) {
  static_assert(std::is_arithmetic_v<T> && sizeof(T) >= 4, "A GPU exchanges numbers of 4 or 8 bytes.");
#if defined(__CUDA_ARCH__)
  if constexpr (Width == 1)
    return value;
  else
    return __shfl_sync(0xffffffffu, value, lane, Width);
#else
  return value;
#endif
}

/// The largest `mine` of the lanes of a group. All lanes must call it.
KOKKOS_FORCEINLINE_FUNCTION int largest_of_group(int mine) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  mine = __reduce_max_sync(0xffffffffu, mine);
#elif defined(__CUDA_ARCH__)
  for (int distance = 16; distance > 0; distance /= 2) {
    const int other = __shfl_xor_sync(0xffffffffu, mine, distance);
    mine = other > mine ? other : mine;
  }
#endif
  return mine;
}

/// Whether `mine` is true in at least one lane of the group. All lanes must call it.
KOKKOS_FORCEINLINE_FUNCTION bool any_of_group(bool mine) {
#if defined(__CUDA_ARCH__)
  mine = __any_sync(0xffffffffu, mine);
#endif
  return mine;
}

/// The number of this lane in its team, if the team has groups.
KOKKOS_FORCEINLINE_FUNCTION int lane_in_team() {
#if defined(__CUDA_ARCH__)
  return static_cast<int>(threadIdx.y * blockDim.x + threadIdx.x);
#else
  return 0;
#endif
}

}  // namespace Filigree::Impl

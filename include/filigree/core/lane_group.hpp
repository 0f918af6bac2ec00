// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "filigree/core/kokkos_versions.hpp"

namespace Filigree::Impl {

/// The lanes of a team that can exchange numbers without waiting for the rest of the team: the warps of an NVIDIA
/// GPU. 0 if there are no such groups. Then reductions take the whole team as the group, and the balanced product takes
/// each lane as a group.
#if defined(KOKKOS_ENABLE_CUDA)
template <class ExecutionSpace>
constexpr int lanes_per_group = std::is_same_v<ExecutionSpace, Kokkos::Cuda> ? 32 : 0;
#else
template <class ExecutionSpace>
constexpr int lanes_per_group = 0;
#endif

/// The `mine` of the lane that is `distance` lanes after this one in the group, or this lane's own if there is none.
/// sizeof(T) must be a multiple of 4. All lanes of the group must call it.
template <class T>
KOKKOS_FORCEINLINE_FUNCTION T of_following_lane(const T& mine, [[maybe_unused]] int distance) {
  T result = mine;
#if defined(__CUDA_ARCH__)
  constexpr int words = sizeof(T) / sizeof(unsigned int);
  static_assert(sizeof(T) % sizeof(unsigned int) == 0, "A GPU exchanges words of 4 bytes.");
  unsigned int exchanged[words];
  memcpy(exchanged, &mine, sizeof(T));
  for (int i = 0; i < words; ++i)
    exchanged[i] = __shfl_down_sync(0xffffffffu, exchanged[i], distance);
  memcpy(static_cast<void*>(&result), exchanged, sizeof(T));
#endif
  return result;
}

/// The `value` of the lane before this one in the group; the first lane gets its own. All lanes of the group must call
/// it.
template <class T>
KOKKOS_FORCEINLINE_FUNCTION T of_previous_lane(const T& value) {
  static_assert(std::is_arithmetic_v<T> && sizeof(T) >= 4, "A GPU exchanges numbers of 4 or 8 bytes.");
#if defined(__CUDA_ARCH__)
  return __shfl_up_sync(0xffffffffu, value, 1);
#else
  return value;
#endif
}

/// Adds up `mine` over the lanes of a group, as a tree. The first lane of the group gets the sum. All lanes of the group
/// must call it. sizeof(Partial) must be a multiple of 4.
template <class Partial>
KOKKOS_FORCEINLINE_FUNCTION void add_lanes_of_group([[maybe_unused]] Partial& mine) {
#if defined(__CUDA_ARCH__)
  for (int distance = 16; distance > 0; distance /= 2)
    mine += of_following_lane(mine, distance);
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

/// Bit i says whether `mine` is true in lane i of the group. All lanes of the group must call it. Without groups, bit 0
/// is `mine`.
KOKKOS_FORCEINLINE_FUNCTION std::uint32_t bits_of_group(bool mine) {
#if defined(__CUDA_ARCH__)
  return __ballot_sync(0xffffffffu, mine);
#else
  return mine ? 1 : 0;
#endif
}

/// The number of zero bits below the lowest bit of `bits` that is set. `bits` must not be 0.
KOKKOS_FORCEINLINE_FUNCTION int trailing_zeros(std::uint32_t bits) {
#if defined(__CUDA_ARCH__)
  return __ffs(static_cast<int>(bits)) - 1;
#else
  int count = 0;
  for (; (bits >> count & 1) == 0; ++count) {
  }
  return count;
#endif
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

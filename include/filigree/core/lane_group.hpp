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

/// The number of this lane in its team, if the team has groups.
KOKKOS_FORCEINLINE_FUNCTION int lane_in_team() {
#if defined(__CUDA_ARCH__)
  return static_cast<int>(threadIdx.y * blockDim.x + threadIdx.x);
#else
  return 0;
#endif
}

}  // namespace Filigree::Impl

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "filigree/core/error.hpp"
#include "filigree/core/gpu_properties.hpp"

namespace Filigree {

/// The properties of a GPU that the byte model and the ELLR-T models use. A host has no multiprocessors.
struct GpuShape {
  int multiprocessors = 0;              ///< 0 for a host
  int warp_size = 32;                   ///< lanes per warp
  int most_lanes_per_team = 1024;       ///< of any kernel
  int lanes_per_multiprocessor = 2048;  ///< the most that are resident at once
  int teams_per_multiprocessor = 32;    ///< the most that are resident at once
  double cache_bytes = 50e6;            ///< of the last cache before the memory
};

/// The shape of the device of an execution space instance. Throws std::invalid_argument if it is not a CUDA
/// device; the caller must then fill in a GpuShape.
template <class ExecutionSpace>
GpuShape gpu_shape(const ExecutionSpace& exec) {
  const auto gpu = Impl::gpu_properties(exec);
  if (!gpu)
    Impl::fail<std::invalid_argument>("Filigree::gpu_shape: the execution space is ", ExecutionSpace::name(),
                                      "; it must be Kokkos::Cuda. Fill in a GpuShape for other devices.");
  return {gpu->multiprocessors,          gpu->warp_size,
          gpu->lanes_per_team,           gpu->lanes_per_multiprocessor,
          gpu->teams_per_multiprocessor, gpu->last_cache_bytes};
}

}  // namespace Filigree

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FILIGREE_TUNE_GPU_SHAPE_HPP
#define FILIGREE_TUNE_GPU_SHAPE_HPP

#include <stdexcept>
#include <type_traits>

#include "filigree/core/error.hpp"
#include "filigree/core/kokkos_versions.hpp"

namespace Filigree {

/// What the models of this folder know of a GPU.
struct GpuShape {
  int multiprocessors = 0;
  int warp_size = 32;
  int most_lanes_per_team = 1024;
  /// Lanes and teams that a multiprocessor can have under way.
  int lanes_per_multiprocessor = 2048;
  int teams_per_multiprocessor = 32;
  /// Bytes of the last cache before the memory.
  double cache_bytes = 50e6;
};

/// The shape of the device of an execution space instance. Throws std::invalid_argument where that is not a
/// CUDA device; a caller on a host gives a GpuShape itself.
template <class ExecutionSpace>
GpuShape gpu_shape([[maybe_unused]] const ExecutionSpace& exec) {
#if defined(KOKKOS_ENABLE_CUDA)
  if constexpr (std::is_same<ExecutionSpace, Kokkos::Cuda>::value) {
    const auto& properties = exec.cuda_device_prop();
    return {properties.multiProcessorCount,        properties.warpSize,
            properties.maxThreadsPerBlock,         properties.maxThreadsPerMultiProcessor,
            properties.maxBlocksPerMultiProcessor, static_cast<double>(properties.l2CacheSize)};
  }
#endif
  Impl::fail<std::invalid_argument>("Filigree::gpu_shape: ", ExecutionSpace::name(),
                                    " is no CUDA device; give the GpuShape of one.");
  return {};
}

}  // namespace Filigree

#endif

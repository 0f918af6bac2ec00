// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a measurement ran on, and which versions were compiled.
#pragma once

#include <filesystem>
#include <filigree/core/gpu_properties.hpp>
#include <string>
#include <utility>
#include <vector>

namespace FiligreePerf {

/// The machine of a measurement.
struct Machine {
  std::string device;      ///< the GPU or the processor, as in "NVIDIA H200"
  std::string backend;     ///< of Kokkos, as in "Cuda"
  int threads = 1;         ///< of the host
  double cache_bytes = 0;  ///< of the last-level caches that a product uses; 0 if they are not known
};

/// Name and version of each library and compiler that matters, as in {"kokkos_version", "3.4.01"}.
std::vector<std::pair<std::string, std::string>> versions();

/// The name of the processor, or that of its architecture.
std::string processor_name();

/// Bytes of the last-level caches of a host that `threads` threads use on these processors: the largest
/// caches, each counted once, and at most one per thread. `folder` is /sys/devices/system/cpu. Returns 0 if
/// it does not say.
double last_level_cache_bytes(const std::filesystem::path& folder, const std::vector<int>& processors,
                              int threads);

/// The same for this process and the processors on which it may run. In a virtual machine it is what the
/// hypervisor reports, even if other machines share the cache.
double last_level_cache_bytes(int threads);

/// The machine of an execution space instance. The cache of a GPU is known with CUDA only.
template <class ExecutionSpace>
Machine machine(const ExecutionSpace& exec) {
  Machine result;
  result.backend = exec.name();
  result.threads = Kokkos::DefaultHostExecutionSpace().concurrency();
  if constexpr (Filigree::Impl::runs_on_gpu_v<ExecutionSpace>) {
    result.device = Filigree::Impl::device_name(exec);
    if (const auto gpu = Filigree::Impl::gpu_properties(exec)) result.cache_bytes = gpu->last_cache_bytes;
  } else {
    result.device = processor_name();
    result.cache_bytes = last_level_cache_bytes(result.threads);
  }
  return result;
}

}  // namespace FiligreePerf

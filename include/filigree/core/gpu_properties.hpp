// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "filigree/core/kokkos_versions.hpp"
#include "filigree/core/launch.hpp"

namespace Filigree::Impl {

/// Properties of a GPU as its driver reports them.
struct GpuProperties {
  int multiprocessors;
  int warp_size;
  int lanes_per_team;            ///< the most that a launch may ask for
  int lanes_per_multiprocessor;  ///< the most that are resident at once
  int teams_per_multiprocessor;  ///< the most that are resident at once
  double last_cache_bytes;       ///< size of the L2 cache
};

/// The properties of the device of an execution space instance. Empty if it is not a CUDA device.
template <class ExecutionSpace>
std::optional<GpuProperties> gpu_properties([[maybe_unused]] const ExecutionSpace& exec) {
  std::optional<GpuProperties> result;
#if defined(KOKKOS_ENABLE_CUDA)
  if constexpr (std::is_same<ExecutionSpace, Kokkos::Cuda>::value) {
    const auto& properties = exec.cuda_device_prop();
    result =
        GpuProperties{properties.multiProcessorCount,        properties.warpSize,
                      properties.maxThreadsPerBlock,         properties.maxThreadsPerMultiProcessor,
                      properties.maxBlocksPerMultiProcessor, static_cast<double>(properties.l2CacheSize)};
  }
#endif
  return result;
}

/// Bytes per second that the memory of a CUDA device can transfer, by its clock and bus width; 0 if the driver does not
/// say, and for other devices. The driver is asked once for the first device, because it takes longer to find the clock
/// than a product takes (see docs/performance.md, "Bandwidth for the byte model").
template <class ExecutionSpace>
double peak_bandwidth([[maybe_unused]] const ExecutionSpace& exec) {
#if defined(KOKKOS_ENABLE_CUDA)
  if constexpr (std::is_same<ExecutionSpace, Kokkos::Cuda>::value) {
    const auto query = [](int device) {
      // From CUDA 13 on, cudaDeviceProp has no clocks.
      const auto attribute = [&](cudaDeviceAttr which) {
        int value = 0;
        if (cudaDeviceGetAttribute(&value, which, device) == cudaSuccess) return value;
        static_cast<void>(cudaGetLastError());  // a later check of Kokkos must not find this error
        return 0;
      };
      // Two transfers per clock. The clock is in kHz and the width in bits.
      return 2 * 1e3 / 8 * attribute(cudaDevAttrMemoryClockRate) *
             static_cast<double>(attribute(cudaDevAttrGlobalMemoryBusWidth));
    };
    const int device = exec.cuda_device();
    static const int first_device = device;
    static const double of_first_device = query(first_device);
    return device == first_device ? of_first_device : query(device);
  }
#endif
  return 0;
}

/// The bytes of shared memory of a multiprocessor, which its teams divide among them. 0 if the device is not a CUDA
/// device.
template <class ExecutionSpace>
std::int64_t shared_bytes_per_multiprocessor([[maybe_unused]] const ExecutionSpace& exec) {
  std::int64_t result = 0;
#if defined(KOKKOS_ENABLE_CUDA)
  if constexpr (std::is_same<ExecutionSpace, Kokkos::Cuda>::value)
    result = static_cast<std::int64_t>(exec.cuda_device_prop().sharedMemPerMultiprocessor);
#endif
  return result;
}

/// The device of an execution space instance in words: the name of a CUDA device as in "NVIDIA H200", the
/// backend and its number of threads on a host as in "host (OpenMP, 8 threads)", and the backend elsewhere.
template <class ExecutionSpace>
std::string device_name(const ExecutionSpace& exec) {
  std::string result = exec.name();
  if constexpr (!runs_on_gpu_v<ExecutionSpace>) {
    const int threads = exec.concurrency();
    result = "host (" + result + ", " + std::to_string(threads) + (threads == 1 ? " thread)" : " threads)");
  }
#if defined(KOKKOS_ENABLE_CUDA)
  if constexpr (std::is_same<ExecutionSpace, Kokkos::Cuda>::value) result = exec.cuda_device_prop().name;
#endif
  return result;
}

}  // namespace Filigree::Impl

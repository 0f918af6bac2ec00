// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <exception>
#include <limits>

#include "filigree/core/allocate_view.hpp"
#include "filigree/core/launch.hpp"
#include "filigree/tune/gpu_shape.hpp"

namespace Filigree {

/// The speed of a device, as the byte model uses it.
struct DeviceSpeed {
  /// Bytes per second that a kernel reads from memory.
  double read_bandwidth = 0;
  /// The shape of the GPU; without multiprocessors the device is a host.
  GpuShape gpu = {};
};

namespace Impl {

/// Reads 16 elements and stores their sum, because a product of a sparse matrix reads much more than it
/// writes. Neighbouring lanes of a GPU read neighbouring elements; a thread of a host reads 16 consecutive
/// elements.
template <class ExecutionSpace>
struct ReadSixteen {
  using execution_space = ExecutionSpace;
  const double* in;
  double* out;
  std::int64_t count;

  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t i) const {
    constexpr bool gpu = runs_on_gpu_v<ExecutionSpace>;
    double sum = 0;
    FILIGREE_UNROLL(16)
    for (int k = 0; k < 16; ++k)
      sum += in[gpu ? k * count + i : i * 16 + k];
    out[i] = sum;
  }
};

}  // namespace Impl

/// Bytes per second that an execution space reads from memory.
///
/// The kernel reads an array of `bytes` bytes and writes a sixteenth as many. Both count. The array should be
/// several times as large as the last cache. It is allocated for the measurement, and halved until it fits
/// into the memory. read() queues the kernel on exec. seconds_of(read) must return the seconds of one call of
/// read(), and must wait until the kernel has ended.
template <class ExecutionSpace, class SecondsOf>
double measure_read_bandwidth(const ExecutionSpace& exec, std::int64_t bytes, const SecondsOf& seconds_of) {
  using view_type = Kokkos::View<double*, typename ExecutionSpace::device_type>;
  std::int64_t count = bytes / 16 / static_cast<std::int64_t>(sizeof(double));
  view_type in, out;
  while (out.extent(0) == 0) {
    try {
      in = Impl::allocate_view<view_type>(exec, "in", "read_bandwidth", 16 * count);
      out = Impl::allocate_view<view_type>(exec, "out", "read_bandwidth", count);
    } catch (const std::exception&) {  // out of memory; each Kokkos version throws another type
      if (count < 65536) throw;
      in = view_type();
      count /= 2;
    }
  }
  Kokkos::deep_copy(exec, in, 1.0);
  const std::string name = Impl::label("read", "read_bandwidth");
  const Impl::ReadSixteen<ExecutionSpace> kernel{in.data(), out.data(), count};
  const auto read = [&]() { Kokkos::parallel_for(name, Impl::row_range<void>(exec, count), kernel); };
  return 17.0 * static_cast<double>(count) * sizeof(double) / seconds_of(read);
}

/// The read bandwidth for the byte model. It reads 512 MiB on a GPU and 256 MiB on a host, and takes the best
/// of four runs of four reads each (see docs/performance.md, "Cost of measuring the read bandwidth"). Fences.
template <class ExecutionSpace>
double measure_read_bandwidth(const ExecutionSpace& exec) {
  const auto best_of_four = [&](const auto& read) {
    // Several launches per fence, because the launch and the fence would distort the time of one.
    constexpr int reads = 4;
    double seconds = std::numeric_limits<double>::max();
    for (int run = 0; run < 4; ++run) {
      exec.fence();
      Kokkos::Timer timer;
      for (int i = 0; i < reads; ++i)
        read();
      exec.fence();
      seconds = std::min(seconds, timer.seconds() / reads);
    }
    return seconds;
  };
  const std::int64_t bytes = std::int64_t(Impl::runs_on_gpu_v<ExecutionSpace> ? 512 : 256) << 20;
  return measure_read_bandwidth(exec, bytes, best_of_four);
}

/// The speed of the device of an execution space. The first call with this type of execution space in a
/// process measures it, which allocates 0.6 GB on a GPU and 0.3 GB on a host. Later calls return the same
/// object. Several threads may call it at the same time.
template <class ExecutionSpace>
const DeviceSpeed& device_speed(const ExecutionSpace& exec) {
  static const DeviceSpeed speed = [&]() {
    DeviceSpeed result;
    result.read_bandwidth = measure_read_bandwidth(exec);
    if constexpr (Impl::runs_on_gpu_v<ExecutionSpace>) result.gpu = gpu_shape(exec);
    return result;
  }();
  return speed;
}

}  // namespace Filigree

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <exception>
#include <limits>

#include "filigree/core/allocate_view.hpp"
#include "filigree/core/error.hpp"
#include "filigree/core/initialized.hpp"
#include "filigree/core/launch.hpp"
#include "filigree/tune/gpu_shape.hpp"

namespace Filigree {

/// The vendor of a host's processor. The factors of the byte model for hosts depend on it.
enum class ProcessorVendor {
  unknown,  ///< optimize() and predict_formats() detect it, and ByteModel takes it for `other`
  intel,    ///< Intel
  other     ///< not Intel, or it cannot be detected: another compiler than GCC and Clang, or not x86-64
};

/// The speed of a device, as the byte model uses it.
struct DeviceSpeed {
  /// Bytes per second that a kernel reads from memory.
  double read_bandwidth = 0;
  /// The shape of the GPU; without multiprocessors the device is a host.
  GpuShape gpu = {};
  /// Whether the byte model can predict times on the device. If false, optimize() and predict_formats() time
  /// all formats instead, and the other members do not matter.
  bool has_model = true;
  /// The vendor of the processor, if the device is a host. A GPU ignores it.
  ProcessorVendor vendor = ProcessorVendor::unknown;
};

namespace Impl {

/// The part of the peak bandwidth of a GPU that a kernel reads: refreshes of the memory and changes between
/// reads and writes take the rest. It is the figure of the NVIDIA H200 to which the byte model is fitted (see
/// docs/performance.md, "Bandwidth for the byte model").
constexpr double read_fraction_of_peak = 0.893;

/// The read bandwidth that all hosts are assumed to have. It scales all predicted
/// times on a host by nearly one factor, so that the order of the formats hardly changes.
constexpr double host_read_bandwidth = 50e9;

/// The vendor of the processor that this program runs on.
ProcessorVendor processor_vendor();

/// Reads 16 elements per lane of a GPU and stores their sum, because a product of a sparse matrix reads much
/// more than it writes. Neighbouring lanes read neighbouring elements.
template <class ExecutionSpace>
struct ReadOnGpu {
  using execution_space = ExecutionSpace;
  const double* in;
  double* out;
  std::int64_t count;

  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t i) const {
    double sum = 0;
    FILIGREE_UNROLL(16)
    for (int k = 0; k < 16; ++k)
      sum += in[k * count + i];
    out[i] = sum;
  }
};

/// Each thread of a host reads a part of the array, as Streams streams at a time, and stores the sum. It has 16
/// sums, so that no addition waits for the one before.
template <class ExecutionSpace, int Streams>
struct ReadOnHost {
  using execution_space = ExecutionSpace;
  const double* in;
  double* out;
  std::int64_t steps;  ///< of a stream

  static constexpr int elements_per_step = 16;
  std::int64_t elements_of_thread() const { return Streams * steps * elements_per_step; }

  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t thread) const {
    const std::int64_t length = steps * elements_per_step;
    const double* const part = in + thread * Streams * length;
    double sums[elements_per_step] = {};
    for (std::int64_t i = 0; i < length; i += elements_per_step)
      FILIGREE_UNROLL(8)
    for (int s = 0; s < Streams; ++s)
      FILIGREE_UNROLL(16)
    for (int k = 0; k < elements_per_step; ++k)
      sums[k] += part[s * length + i + k];
    for (int k = 1; k < elements_per_step; ++k)
      sums[0] += sums[k];
    out[thread] = sums[0];
  }
};

/// Bytes per second that the threads of a host read from an array as Streams streams per thread.
template <int Streams, class ExecutionSpace, class View, class SecondsOf>
double host_bandwidth(const ExecutionSpace& exec, const View& in, const View& out,
                      const SecondsOf& seconds_of) {
  using Kernel = ReadOnHost<ExecutionSpace, Streams>;
  const std::int64_t threads = exec.concurrency();
  const std::int64_t elements = static_cast<std::int64_t>(in.extent(0));
  const Kernel kernel{in.data(), out.data(), elements / (threads * Streams * Kernel::elements_per_step)};
  if (kernel.steps == 0) return 0;
  const std::string name = label("read", "read_bandwidth");
  const auto read = [&]() { Kokkos::parallel_for(name, row_range<void>(exec, threads), kernel); };
  const double bytes = static_cast<double>(threads * kernel.elements_of_thread()) * sizeof(double);
  return bytes / seconds_of(read);
}

}  // namespace Impl

/// Bytes per second that an execution space reads from memory.
///
/// It reads an array of about `bytes` bytes. On a GPU it also writes a sixteenth as many bytes, and both count. On a
/// host it takes the best of three kernels, in which a thread reads 1, 3 or 7 streams at a time, because the
/// prefetchers of processors differ. The array should be several times as large as the last cache. It is
/// allocated for the measurement, and halved until it fits into the memory. read() queues a kernel on exec.
/// seconds_of(read) must return the seconds of one call of read(), and must wait until the kernel has ended.
template <class ExecutionSpace, class SecondsOf>
double measure_read_bandwidth(const ExecutionSpace& exec, std::int64_t bytes, const SecondsOf& seconds_of) {
  using view_type = Kokkos::View<double*, typename ExecutionSpace::device_type>;
  Impl::check_initialized("Filigree::measure_read_bandwidth");
  constexpr bool gpu = Impl::runs_on_gpu_v<ExecutionSpace>;
  std::int64_t count = bytes / 16 / static_cast<std::int64_t>(sizeof(double));
  if (count < 1)
    Impl::fail<std::invalid_argument>("Filigree::measure_read_bandwidth: bytes is ", bytes,
                                      "; it must be at least 128.");
  if (!gpu) count = std::max<std::int64_t>(count, exec.concurrency());
  view_type in, out;
  while (out.extent(0) == 0) {
    try {
      in = Impl::allocate_view<view_type>(exec, "in", "read_bandwidth", 16 * count);
      out = Impl::allocate_view<view_type>(exec, "out", "read_bandwidth", gpu ? count : exec.concurrency());
    } catch (const std::exception& error) {
      if (!Impl::is_out_of_memory(error) || count < 65536) throw;
      in = view_type();
      count /= 2;
    }
  }
  Kokkos::deep_copy(exec, in, 1.0);
  if constexpr (gpu) {
    const std::string name = Impl::label("read", "read_bandwidth");
    const Impl::ReadOnGpu<ExecutionSpace> kernel{in.data(), out.data(), count};
    const auto read = [&]() { Kokkos::parallel_for(name, Impl::row_range<void>(exec, count), kernel); };
    return 17.0 * static_cast<double>(count) * sizeof(double) / seconds_of(read);
  } else {
    return std::max({Impl::host_bandwidth<1>(exec, in, out, seconds_of),
                     Impl::host_bandwidth<3>(exec, in, out, seconds_of),
                     Impl::host_bandwidth<7>(exec, in, out, seconds_of)});
  }
}

/// Measures the read bandwidth for the byte model, for callers who want it as DeviceSpeed::read_bandwidth. It
/// reads 512 MiB on a GPU and 256 MiB on a host, and takes the best of four runs of four reads each. That
/// takes some milliseconds on a GPU and about a second on a host (see docs/performance.md, "Bandwidth for the
/// byte model"). It allocates 0.6 GB on a GPU and 0.3 GB on a host. Fences exec.
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

/// The speed of the device of an execution space instance. Nothing is measured, so that equal devices give
/// equal results:
///
///   CUDA device  from the properties that the driver reports
///   host         the vendor of the processor, and the same assumed bandwidth on all hosts. This bandwidth makes
///                all predicted times wrong by one factor, which changes hardly any choice.
///                measure_read_bandwidth() gives the actual bandwidth
///   other GPU    has_model is false, because the byte model is not fitted to it
///
/// Cost: on a GPU a few queries of the driver, of which the slow one is made once per process; on a host next to
/// nothing.
template <class ExecutionSpace>
DeviceSpeed device_speed(const ExecutionSpace& exec) {
  DeviceSpeed result;
  if constexpr (Impl::runs_on_gpu_v<ExecutionSpace>) {
    if (Impl::gpu_properties(exec)) result.gpu = gpu_shape(exec);
    result.read_bandwidth = Impl::read_fraction_of_peak * Impl::peak_bandwidth(exec);
    result.has_model = result.read_bandwidth > 0;
  } else {
    result.read_bandwidth = Impl::host_read_bandwidth;
    result.vendor = Impl::processor_vendor();
  }
  return result;
}

}  // namespace Filigree

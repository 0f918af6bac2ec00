// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FILIGREE_PERF_SUPPORT_READ_BANDWIDTH_HPP
#define FILIGREE_PERF_SUPPORT_READ_BANDWIDTH_HPP

#include <cstdint>
#include <filigree/core/launch.hpp>

#include "support/timer.hpp"

namespace FiligreePerf {

/// 16 loads for one store, which is what a product looks like to the memory. Neighbouring lanes of a GPU read
/// neighbouring elements; a thread of a host reads its own 16 in a row.
template <class ExecutionSpace>
struct ReadSixteen {
  using execution_space = ExecutionSpace;
  const double* in;
  double* out;
  std::int64_t count;

  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t i) const {
    constexpr bool gpu = Filigree::Impl::runs_on_gpu_v<ExecutionSpace>;
    double sum = 0;
    FILIGREE_UNROLL(16)
    for (int k = 0; k < 16; ++k)
      sum += in[gpu ? k * count + i : i * 16 + k];
    out[i] = sum;
  }
};

/// Bytes a second that this execution space reads from memory, by ReadSixteen over 1 GiB on a device and 512
/// MiB on a host: several times the last cache of either.
template <class ExecutionSpace>
double read_bandwidth(const ExecutionSpace& exec) {
  constexpr bool gpu = Filigree::Impl::runs_on_gpu_v<ExecutionSpace>;
  const std::int64_t count =
      (std::int64_t(gpu ? 1024 : 512) << 20) / 16 / static_cast<std::int64_t>(sizeof(double));
  Kokkos::View<double*, typename ExecutionSpace::device_type> in("FiligreePerf::in", 16 * count);
  Kokkos::View<double*, typename ExecutionSpace::device_type> out("FiligreePerf::out", count);
  Kokkos::deep_copy(exec, in, 1.0);
  const ReadSixteen<ExecutionSpace> kernel{in.data(), out.data(), count};
  const double seconds = median_seconds(exec, [&]() {
    Kokkos::parallel_for("FiligreePerf::read_bandwidth", Filigree::Impl::row_range<void>(exec, count),
                         kernel);
  });
  return 17.0 * static_cast<double>(count) * sizeof(double) / seconds;
}

}  // namespace FiligreePerf

#endif

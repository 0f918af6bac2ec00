// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FILIGREE_PERF_SUPPORT_READ_BANDWIDTH_HPP
#define FILIGREE_PERF_SUPPORT_READ_BANDWIDTH_HPP

#include <cstdint>
#include <filigree/tune/device_speed.hpp>

#include "support/timer.hpp"

namespace FiligreePerf {

/// Bytes a second that this execution space reads from memory, by Filigree's kernel for that over 1 GiB on a
/// device and 512 MiB on a host: several times the last cache of either.
template <class ExecutionSpace>
double read_bandwidth(const ExecutionSpace& exec) {
  constexpr bool gpu = Filigree::Impl::runs_on_gpu_v<ExecutionSpace>;
  const std::int64_t count =
      (std::int64_t(gpu ? 1024 : 512) << 20) / 16 / static_cast<std::int64_t>(sizeof(double));
  Kokkos::View<double*, typename ExecutionSpace::device_type> in("FiligreePerf::in", 16 * count);
  Kokkos::View<double*, typename ExecutionSpace::device_type> out("FiligreePerf::out", count);
  Kokkos::deep_copy(exec, in, 1.0);
  const Filigree::Impl::ReadSixteen<ExecutionSpace> kernel{in.data(), out.data(), count};
  const double seconds = median_seconds(exec, [&]() {
    Kokkos::parallel_for("FiligreePerf::read_bandwidth", Filigree::Impl::row_range<void>(exec, count),
                         kernel);
  });
  return 17.0 * static_cast<double>(count) * sizeof(double) / seconds;
}

}  // namespace FiligreePerf

#endif

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <filigree/tune/selection.hpp>

#include "support/quick.hpp"
#include "support/timer.hpp"

namespace FiligreePerf {

/// Bytes per second that an execution space reads from memory. The programs divide the bandwidth of a product
/// by it. It is the median over reads of 1 GiB on a GPU, each timed like a product. On a host it is the best of
/// three such medians, each of another kernel that reads 512 MiB.
/// The byte model uses another figure (see docs/performance.md, "Bandwidth for the byte model").
template <class ExecutionSpace>
double read_bandwidth(const ExecutionSpace& exec) {
  const std::int64_t bytes = bytes_to_read(Filigree::Impl::runs_on_gpu_v<ExecutionSpace> ? 1024 : 512);
  return Filigree::measure_read_bandwidth(exec, bytes,
                                          [&](const auto& read) { return median_seconds(exec, read); });
}

/// The options of optimize() for programs that compare predicted and measured times. For a host they have its
/// measured bandwidth, because the byte model otherwise assumes one. Measures once per process.
template <class ExecutionSpace>
Filigree::OptimizeOptions optimize_options(const ExecutionSpace& exec) {
  static const double measured = [&] {
    if constexpr (Filigree::Impl::runs_on_gpu_v<ExecutionSpace>)
      return 0.0;
    else
      return is_only_tested ? read_bandwidth(exec) : Filigree::measure_read_bandwidth(exec);
  }();
  Filigree::OptimizeOptions options;
  options.speed.read_bandwidth = measured;
  return options;
}

}  // namespace FiligreePerf

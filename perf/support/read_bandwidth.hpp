// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <filigree/tune/device_speed.hpp>

#include "support/timer.hpp"

namespace FiligreePerf {

/// Bytes per second that an execution space reads from memory. The programs divide the bandwidth of a product
/// by it. It is the median over reads of 1 GiB on a GPU and of 512 MiB on a host, each timed like a product.
/// The byte model uses another figure (see docs/performance.md, "Cost of measuring the read bandwidth").
template <class ExecutionSpace>
double read_bandwidth(const ExecutionSpace& exec) {
  const std::int64_t bytes = std::int64_t(Filigree::Impl::runs_on_gpu_v<ExecutionSpace> ? 1024 : 512) << 20;
  return Filigree::measure_read_bandwidth(exec, bytes,
                                          [&](const auto& read) { return median_seconds(exec, read); });
}

}  // namespace FiligreePerf

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include <Kokkos_Core.hpp>

namespace Filigree::Impl::MatrixMarket {

/// Calls task(i) for i from 0 to count - 1 on the threads of the default host execution space. Returns false
/// if a task threw an exception, because exceptions cannot leave a parallel region.
template <class Task>
bool run_on_host_threads(const char* label, std::int64_t count, const Task& task) {
  std::vector<char> failed(static_cast<std::size_t>(count), 0);
  const auto guarded_task = [&](const std::int64_t i) {
    try {
      task(i);
    } catch (...) {
      failed[static_cast<std::size_t>(i)] = 1;
    }
  };
  if (count == 1) {
    guarded_task(0);
  } else {
    using Host = Kokkos::DefaultHostExecutionSpace;
    Kokkos::parallel_for(label, Kokkos::RangePolicy<Host, Kokkos::IndexType<std::int64_t>>(0, count),
                         guarded_task);
    Host().fence();
  }
  return std::count(failed.begin(), failed.end(), 1) == 0;
}

}  // namespace Filigree::Impl::MatrixMarket

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FILIGREE_SRC_HOST_THREADS_HPP
#define FILIGREE_SRC_HOST_THREADS_HPP

#include <algorithm>
#include <cstdint>
#include <vector>

#include <Kokkos_Core.hpp>

namespace Filigree {
namespace Impl {

/// Calls work(i) for i from 0 to count - 1 on the threads of the host. What work throws is not lost: false
/// then comes back.
template <class Work>
bool on_all_threads(const char* label, std::int64_t count, const Work& work) {
  std::vector<char> failed(static_cast<std::size_t>(count), 0);
  const auto guarded = [&](const std::int64_t i) {
    try {
      work(i);
    } catch (...) {
      failed[static_cast<std::size_t>(i)] = 1;
    }
  };
  if (count == 1) {
    guarded(0);
  } else {
    using Host = Kokkos::DefaultHostExecutionSpace;
    Kokkos::parallel_for(label, Kokkos::RangePolicy<Host, Kokkos::IndexType<std::int64_t>>(0, count),
                         guarded);
    Host().fence();
  }
  return std::count(failed.begin(), failed.end(), 1) == 0;
}

}  // namespace Impl
}  // namespace Filigree

#endif

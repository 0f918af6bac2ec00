// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>

namespace FiligreePerf {

/// Whether the programs were compiled with FILIGREE_PERF_QUICK. They are slow then, and only tested.
#ifdef FILIGREE_PERF_QUICK
constexpr bool is_only_tested = true;
#else
constexpr bool is_only_tested = false;
#endif

/// The bytes that a measurement, or a flush of the caches, reads. If the program is only tested, they are so few that the
/// slow loops do not take long.
constexpr std::int64_t bytes_to_read(std::int64_t mebibytes) {
  return mebibytes << (is_only_tested ? 12 : 20);
}

}  // namespace FiligreePerf

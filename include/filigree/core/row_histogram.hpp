// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FILIGREE_CORE_ROW_HISTOGRAM_HPP
#define FILIGREE_CORE_ROW_HISTOGRAM_HPP

#include <algorithm>
#include <cstdint>
#include <vector>

#include "filigree/core/row_lengths.hpp"

namespace Filigree {
namespace Impl {

template <class ExecutionSpace, class Views>
struct CountRowLength {
  using execution_space = ExecutionSpace;
  Views crs;
  std::int64_t bins;
  std::int64_t copies;
  std::int64_t* histograms;

  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t row) const {
    const std::int64_t copy = row / 32 % copies;
    Kokkos::atomic_add(histograms + copy * bins + (crs.end(row) - crs.begin(row)), std::int64_t(1));
  }
};

/// How many rows have at least k entries, for k from 0 to the longest row + 1, for which it is 0. The length
/// of jagged diagonal k is element k + 1. Fences exec. Takes 8 bytes for each entry of the longest row, and
/// up to 128 KiB.
template <class ExecutionSpace, class Crs>
std::vector<std::int64_t> rows_reaching(const ExecutionSpace& exec, const char* format, const Crs& crs) {
  using Views = crs_views_t<Crs>;
  const std::int64_t longest = longest_row(exec, format, crs);
  const std::int64_t bins = longest + 2;
  // Rows of one length queue up at one counter: several histograms share them. With one, HYB of qh1484 3273
  // times along the diagonal took 21.8 products to convert (H200, filigree_targets).
  const std::int64_t copies = std::max<std::int64_t>(1, std::min<std::int64_t>(256, 16384 / bins));
  const Kokkos::View<std::int64_t*, typename Crs::device_type> histograms(
      Kokkos::view_alloc(exec, label("histogram", format)), static_cast<std::size_t>(bins * copies));
  Kokkos::parallel_for(label("histogram", format),
                       row_range<void>(exec, static_cast<std::int64_t>(crs.numRows())),
                       CountRowLength<ExecutionSpace, Views>{Views(crs), bins, copies, histograms.data()});
  exec.fence();
  const auto counts = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), histograms);
  std::vector<std::int64_t> reaching(static_cast<std::size_t>(bins));
  for (std::size_t i = 0; i < counts.extent(0); ++i)
    reaching[i % reaching.size()] += counts(i);
  for (std::size_t k = reaching.size() - 1; k > 0; --k)
    reaching[k - 1] += reaching[k];
  return reaching;
}

/// For each width from 0 to the longest row, how many entries are beyond the first `width` of their rows.
inline std::vector<std::int64_t> entries_beyond(const std::vector<std::int64_t>& reaching) {
  std::vector<std::int64_t> beyond(reaching.size() - 1, 0);
  for (std::size_t width = beyond.size() - 1; width > 0; --width)
    beyond[width - 1] = beyond[width] + reaching[width];
  return beyond;
}

}  // namespace Impl
}  // namespace Filigree

#endif

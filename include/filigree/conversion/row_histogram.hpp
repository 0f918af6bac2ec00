// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FILIGREE_CONVERSION_ROW_HISTOGRAM_HPP
#define FILIGREE_CONVERSION_ROW_HISTOGRAM_HPP

#include <algorithm>
#include <cstdint>
#include <vector>

#include "filigree/conversion/row_lengths.hpp"

namespace Filigree {
namespace Impl {

/// Counts a sequence of bins. Equal bins that follow each other are counted together, so that a histogram
/// needs one atomic addition for all of them: flush(bin, times) is called when the bin changes, and by
/// finish().
struct RunLengthCounter {
  int bin = 0;
  int times = 0;

  template <class Flush>
  KOKKOS_FORCEINLINE_FUNCTION void count(int next, const Flush& flush) {
    if (next != bin) {
      finish(flush);
      bin = next;
      times = 0;
    }
    ++times;
  }
  template <class Flush>
  KOKKOS_FORCEINLINE_FUNCTION void finish(const Flush& flush) {
    if (times > 0) flush(bin, times);
  }
};

/// Counts the rows of each length, short ones in the scratch memory of a team, as the many rows of one length
/// would queue up at one counter.
template <class ExecutionSpace, class Views>
struct CountRowLengths {
  static constexpr bool gpu = runs_on_gpu_v<ExecutionSpace>;
  static constexpr int lanes = gpu ? 256 : 1;
  static constexpr int rows_per_team = 4096;
  static constexpr std::int64_t most_in_scratch = 1024;
  using policy_type = Kokkos::TeamPolicy<ExecutionSpace, Kokkos::LaunchBounds<lanes, 1>>;
  using member_type = typename policy_type::member_type;
  using scratch_type = Kokkos::View<int*, typename ExecutionSpace::scratch_memory_space,
                                    Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

  Views crs;
  std::int64_t row_count;
  std::int64_t bins;
  std::int64_t* histogram;

  std::size_t scratch_bins() const { return static_cast<std::size_t>(std::min(bins, most_in_scratch)); }
  policy_type policy(const ExecutionSpace& exec) const {
    return policy_type(exec, static_cast<int>((row_count + rows_per_team - 1) / rows_per_team), lanes, 1)
        .set_scratch_size(0, Kokkos::PerTeam(scratch_type::shmem_size(scratch_bins())));
  }

  KOKKOS_INLINE_FUNCTION void operator()(const member_type& team) const {
    const std::int64_t first = static_cast<std::int64_t>(team.league_rank()) * rows_per_team;
    const int count = static_cast<int>(row_count - first < rows_per_team ? row_count - first : rows_per_team);
    const int near = static_cast<int>(bins < most_in_scratch ? bins : most_in_scratch);
    const scratch_type scratch(team.team_scratch(0), static_cast<std::size_t>(near));
    Kokkos::parallel_for(Kokkos::TeamThreadRange(team, near), [&](const int bin) { scratch(bin) = 0; });
    team.team_barrier();
    // Of this lane: rows of one length that follow each other are counted at once.
    std::int64_t length = 0;
    int same = 0;
    const auto count_them = [&]() {
      if (same == 0) return;
      if (length < near)
        Kokkos::atomic_add(&scratch(static_cast<int>(length)), same);
      else
        Kokkos::atomic_add(histogram + length, static_cast<std::int64_t>(same));
    };
    Kokkos::parallel_for(Kokkos::TeamThreadRange(team, count), [&](const int i) {
      const std::int64_t next = crs.end(first + i) - crs.begin(first + i);
      if (next != length) {
        count_them();
        length = next;
        same = 0;
      }
      ++same;
    });
    count_them();
    team.team_barrier();
    Kokkos::parallel_for(Kokkos::TeamThreadRange(team, near), [&](const int bin) {
      if (scratch(bin) > 0) Kokkos::atomic_add(histogram + bin, static_cast<std::int64_t>(scratch(bin)));
    });
  }
};

/// How many rows have at least k entries, for k from 0 to the longest row + 1, for which it is 0. The length
/// of jagged diagonal k is element k + 1. Fences exec. Takes 8 bytes for each entry of the longest row.
template <class ExecutionSpace, class Crs>
std::vector<std::int64_t> rows_reaching(const ExecutionSpace& exec, const char* format, const Crs& crs) {
  using Count = CountRowLengths<ExecutionSpace, crs_views_t<Crs>>;
  const std::int64_t rows = static_cast<std::int64_t>(crs.numRows());
  const std::int64_t bins = longest_row(exec, format, crs) + 2;
  const Kokkos::View<std::int64_t*, typename Crs::device_type> histogram(
      Kokkos::view_alloc(exec, label("histogram", format)), static_cast<std::size_t>(bins));
  const Count work{crs_views_t<Crs>(crs), rows, bins, histogram.data()};
  if (rows > 0) Kokkos::parallel_for(label("histogram", format), work.policy(exec), work);
  std::vector<std::int64_t> reaching(static_cast<std::size_t>(bins));
  Kokkos::deep_copy(exec,
                    Kokkos::View<std::int64_t*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged>(reaching.data(),
                                                                                            reaching.size()),
                    histogram);
  exec.fence();
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

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <climits>

#include "filigree/conversion/row_histogram.hpp"
#include "filigree/tune/statistics_layout.hpp"

namespace Filigree::Impl {

/// The kernel that counts the statistics of row lengths: the sum of their squares, the empty rows, the
/// longest row, MatrixStatistics::group_steps and the histogram. A team copies the lengths of 4096 rows to
/// its scratch memory with coalesced reads. Each lane then counts groups of 32 consecutive rows.
///
/// All counts are integers, so that the order of the teams does not matter. For group_steps, rows of 2^31 or
/// more entries count as rows of INT_MAX - 32 entries.
template <class ExecutionSpace, class Views>
struct RowLengthStatistics {
  static constexpr bool gpu = runs_on_gpu_v<ExecutionSpace>;
  static constexpr int lanes = 128;
  static constexpr int group_rows = 32;
  static constexpr int team_rows = lanes * group_rows;
  using policy_type = Kokkos::TeamPolicy<ExecutionSpace, Kokkos::LaunchBounds<gpu ? lanes : 1, 4>>;
  using member_type = typename policy_type::member_type;
  using scratch_type =
      Kokkos::View<int*, typename ExecutionSpace::scratch_memory_space, Kokkos::MemoryUnmanaged>;
  using Layout = StatisticsLayout;
  /// Distance of two groups in the scratch memory. The extra element puts the elements that the lanes read at
  /// the same time into different memory banks.
  static constexpr int stride = group_rows + 1;
  static constexpr std::size_t scratch_elements = lanes * stride + Layout::bins;

  Views crs;
  std::int64_t row_count;
  std::int64_t* counts;

  policy_type policy(const ExecutionSpace& exec) const {
    return policy_type(exec, static_cast<int>((row_count + team_rows - 1) / team_rows), gpu ? lanes : 1, 1)
        .set_scratch_size(0, Kokkos::PerTeam(scratch_type::shmem_size(scratch_elements)));
  }

  KOKKOS_INLINE_FUNCTION void operator()(const member_type& team) const {
    const std::int64_t first = static_cast<std::int64_t>(team.league_rank()) * team_rows;
    const int count = static_cast<int>(row_count - first < team_rows ? row_count - first : team_rows);
    const scratch_type scratch(team.team_scratch(0), scratch_elements);
    int* const lengths = scratch.data();
    int* const histogram = lengths + lanes * stride;
    // The counts of this lane.
    std::int64_t sums[Layout::length_sum_count] = {};
    std::int64_t longest = 0;
    Kokkos::parallel_for(Kokkos::TeamThreadRange(team, static_cast<int>(Layout::bins)),
                         [&](const int bin) { histogram[bin] = 0; });
    Kokkos::parallel_for(Kokkos::TeamThreadRange(team, team_rows), [&](const int i) {
      const std::int64_t length = i < count ? crs.end(first + i) - crs.begin(first + i) : 0;
      sums[0] += length * length;
      if (length == 0 && i < count) ++sums[1];
      if (length > longest) longest = length;
      // This limit leaves room to round up to 32 lanes in an int.
      lengths[i / group_rows * stride + i % group_rows] =
          static_cast<int>(length < INT_MAX - 32 ? length : INT_MAX - 32);
    });
    team.team_barrier();
    Kokkos::parallel_for(Kokkos::TeamThreadRange(team, lanes), [&](const int group) {
      const int rest = count - group * group_rows;
      add_group(lengths + group * stride, rest < group_rows ? rest : group_rows, histogram, sums);
    });
    add_to_counts(team, sums, counts + Layout::length_sums);
    team.team_reduce(Kokkos::Max<std::int64_t>(longest));
    Kokkos::single(Kokkos::PerTeam(team),
                   [&]() { Kokkos::atomic_fetch_max(counts + Layout::longest, longest); });
    team.team_barrier();
    Kokkos::parallel_for(Kokkos::TeamThreadRange(team, static_cast<int>(Layout::bins)), [&](const int bin) {
      if (histogram[bin] > 0)
        Kokkos::atomic_add(counts + Layout::histogram + bin, static_cast<std::int64_t>(histogram[bin]));
    });
  }

 private:
  /// Adds 32 rows to group_steps and the first `count` of them to the histogram. Rows from `count` on have
  /// length 0, which adds no steps.
  KOKKOS_FORCEINLINE_FUNCTION void add_group(const int* lengths, int count, int* histogram,
                                             std::int64_t* sums) const {
    // longest[g] is the longest of the current 1 << g rows.
    int longest[6] = {};
    RunLengthCounter counter;
    const auto flush = [&](int bin, int times) { Kokkos::atomic_add(histogram + bin, times); };
    for (int i = 0; i < group_rows; ++i) {
      const int length = lengths[i];
      FILIGREE_UNROLL(6)
      for (int g = 0; g < 6; ++g) {
        if (length > longest[g]) longest[g] = length;
        if ((i + 1) % (1 << g) != 0) continue;
        FILIGREE_UNROLL(4)
        for (int w = 0; w < 4; ++w) {
          // 1 << g rows with 1 << t lanes per row take 4 << w lanes.
          const int t = w + 2 - g;
          if (t >= 0 && t < 6) sums[2 + 6 * w + t] += (longest[g] + (1 << t) - 1) >> t;
        }
        longest[g] = 0;
      }
      constexpr int last_bin = static_cast<int>(Layout::bins) - 1;
      if (i < count) counter.count(length < last_bin ? length : last_bin, flush);
    }
    counter.finish(flush);
  }
};

}  // namespace Filigree::Impl

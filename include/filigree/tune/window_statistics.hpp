// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <climits>

#include "filigree/conversion/sort_rows.hpp"
#include "filigree/formats/sell/sell_matrix.hpp"
#include "filigree/tune/statistics_layout.hpp"

namespace Filigree::Impl {

/// The kernel that sorts samples of rows as SELL does. It counts the padding for each size of windows. For
/// the largest size it also counts the slices with short (16-bit) columns and the rows that sorting moves
/// away from their neighbours.
///
/// Each team sorts one stretch of 4096 consecutive rows. The first largest_samples teams sort it as one
/// window. The others sort it in windows of 64 << size rows; there are smaller_samples of them for each size.
template <class ExecutionSpace, class Views>
struct WindowStatistics {
  static constexpr bool gpu = runs_on_gpu_v<ExecutionSpace>;
  static constexpr int lanes = gpu ? 1024 : 1;
  static constexpr int stretch = SellOptions::sorted_window;
  static constexpr int slice = 32;
  static constexpr int slices = stretch / slice;
  static constexpr int smaller_sizes = StatisticsLayout::sorted_windows - 1;
  static_assert(stretch == 64 << smaller_sizes,
                "The largest window must be the window of the sorted variants of SELL.");
  /// Rows of a slice whose columns one lane reads.
  static constexpr int rows_per_lane = 8;
  using policy_type = Kokkos::TeamPolicy<ExecutionSpace, Kokkos::LaunchBounds<lanes, 1>>;
  using member_type = typename policy_type::member_type;
  using scratch_space = typename ExecutionSpace::scratch_memory_space;
  using keys_type = Kokkos::View<std::uint64_t*, scratch_space, Kokkos::MemoryUnmanaged>;
  using columns_type = Kokkos::View<std::int64_t*, scratch_space, Kokkos::MemoryUnmanaged>;
  using Layout = StatisticsLayout;

  Views crs;
  std::int64_t row_count;
  std::int64_t stretches;  ///< of the matrix
  std::int64_t largest_samples;
  std::int64_t smaller_samples;
  int elements_per_sector;
  std::int64_t* counts;

  policy_type policy(const ExecutionSpace& exec) const {
    return policy_type(exec, static_cast<int>(largest_samples + smaller_sizes * smaller_samples), lanes, 1)
        .set_scratch_size(
            0, Kokkos::PerTeam(keys_type::shmem_size(stretch) + 2 * columns_type::shmem_size(2 * slices)));
  }

  /// The sort key of a row: its window of 64 << size rows, then descending length, then the row itself.
  static KOKKOS_FORCEINLINE_FUNCTION std::uint64_t key(int size, std::int64_t length, int row) {
    const std::int64_t counted = length < INT_MAX ? length : INT_MAX;
    const std::uint64_t shorter = static_cast<std::uint64_t>(INT_MAX - counted);
    return ((static_cast<std::uint64_t>(row >> (6 + size)) << 31) + shorter) * stretch +
           static_cast<std::uint64_t>(row);
  }
  static KOKKOS_FORCEINLINE_FUNCTION int row_of(std::uint64_t key) { return static_cast<int>(key % stretch); }
  static KOKKOS_FORCEINLINE_FUNCTION std::int64_t length_of(std::uint64_t key) {
    return INT_MAX - static_cast<std::int64_t>(key / stretch & INT_MAX);
  }

  KOKKOS_INLINE_FUNCTION void operator()(const member_type& team) const {
    const std::int64_t task = team.league_rank();
    const bool is_largest = task < largest_samples;
    const int size = is_largest ? smaller_sizes : static_cast<int>((task - largest_samples) % smaller_sizes);
    const std::int64_t sample =
        is_largest ? sample_index(task, largest_samples, stretches)
                   : sample_index((task - largest_samples) / smaller_sizes, smaller_samples, stretches);
    const std::int64_t first = sample * stretch;
    const int count = static_cast<int>(row_count - first < stretch ? row_count - first : stretch);
    const keys_type keys(team.team_scratch(0), static_cast<std::size_t>(count));
    // Smallest and largest column of each slice, first of the unsorted slices, then of the sorted slices.
    const columns_type low(team.team_scratch(0), 2 * slices);
    const columns_type high(team.team_scratch(0), 2 * slices);
    Kokkos::parallel_for(Kokkos::TeamThreadRange(team, count), [&](const int i) {
      keys(i) = key(size, crs.end(first + i) - crs.begin(first + i), i);
    });
    Kokkos::parallel_for(Kokkos::TeamThreadRange(team, 2 * slices), [&](const int i) {
      low(i) = INT64_MAX;
      high(i) = -1;
    });
    sort_in_team(team, keys);

    // The counts of this lane.
    std::int64_t padding[Layout::padding_sum_count] = {};
    std::int64_t sums[Layout::window_sum_count] = {};
    Kokkos::parallel_for(Kokkos::TeamThreadRange(team, count), [&](const int i) {
      const std::int64_t length = length_of(keys(i));
      const int row = row_of(keys(i));
      padding[6] += length;
      ++sums[3];
      const bool keeps_neighbour = i > 0 && length_of(keys(i - 1)) == length &&
                                   row_of(keys(i - 1)) / elements_per_sector == row / elements_per_sector;
      if (!keeps_neighbour) ++sums[4];
      if (i % slice != 0) return;
      // The first row of a sorted slice is its longest.
      FILIGREE_UNROLL(6)
      for (int t = 0; t < 6; ++t)
        padding[t] += slice * ((length + (1 << t) - 1) >> t << t);
      ++sums[0];
    });
    add_to_counts(team, padding, counts + Layout::padding_sums + size * Layout::padding_sum_count);
    if (!is_largest) return;
    Kokkos::parallel_for(Kokkos::TeamThreadRange(team, 2 * stretch / rows_per_lane), [&](const int part) {
      const int begin = part % (stretch / rows_per_lane) * rows_per_lane;
      const bool sorted = part >= stretch / rows_per_lane;
      std::int64_t least = INT64_MAX;
      std::int64_t most = -1;
      for (int i = begin; i < begin + rows_per_lane && i < count; ++i)
        extend_column_range(first + (sorted ? row_of(keys(i)) : i), least, most);
      const int at = (sorted ? slices : 0) + begin / slice;
      Kokkos::atomic_fetch_min(&low(at), least);
      Kokkos::atomic_fetch_max(&high(at), most);
    });
    team.team_barrier();
    Kokkos::parallel_for(Kokkos::TeamThreadRange(team, 2 * slices), [&](const int i) {
      if (i % slices * slice < count && high(i) - low(i) < 65535) ++sums[1 + i / slices];
    });
    add_to_counts(team, sums, counts + Layout::window_sums);
  }

 private:
  /// Extends the range of columns from `least` to `most` by the columns of a row. It reads the first entry,
  /// the last entry and six between them. The range is exact if the columns of the row are sorted.
  KOKKOS_FORCEINLINE_FUNCTION void extend_column_range(std::int64_t row, std::int64_t& least,
                                                       std::int64_t& most) const {
    constexpr std::int64_t reads = 8;
    const std::int64_t begin = crs.begin(row);
    const std::int64_t length = crs.end(row) - begin;
    for (std::int64_t k = 0; k < reads && length > 0; ++k) {
      const std::int64_t column =
          static_cast<std::int64_t>(crs.entries[begin + k * (length - 1) / (reads - 1)]);
      if (column < least) least = column;
      if (column > most) most = column;
    }
  }
};

}  // namespace Filigree::Impl

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FILIGREE_TUNE_MATRIX_STATISTICS_HPP
#define FILIGREE_TUNE_MATRIX_STATISTICS_HPP

#include <algorithm>
#include <array>
#include <climits>
#include <cmath>
#include <cstdint>
#include <vector>

#include "filigree/conversion/block_diagonals.hpp"
#include "filigree/conversion/crs_views.hpp"
#include "filigree/conversion/row_lengths.hpp"
#include "filigree/conversion/sort_rows.hpp"
#include "filigree/core/binary_search.hpp"
#include "filigree/core/launch.hpp"
#include "filigree/core/region.hpp"
#include "filigree/formats/sell/sell_matrix.hpp"

namespace Filigree {

/// What a CRS matrix is like, as far as the time of its products depends on it. Row lengths are counted, all
/// of them; where sorting or columns matter the figures are of samples spread evenly over the matrix, the
/// same on every run: of 128 stretches of 4096 rows, 20 for each of the smaller windows, and of some thousand
/// entries; on a host of 8 stretches, 2, and 256 entries.
struct MatrixStatistics {
  /// Of rows_reaching.
  static constexpr std::int64_t most_counted_length = 1024;
  /// Of blocks.
  static constexpr int largest_block = 16;
  /// Windows of sorted_padding: of 64, 128 to 4096 rows.
  static constexpr int sorted_windows = 7;

  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::int64_t entries = 0;

  std::int64_t longest_row = 0;
  std::int64_t empty_rows = 0;
  /// Standard deviation of the row lengths.
  double row_deviation = 0;
  /// A quarter, a half and three quarters of the rows have at most so many entries, to most_counted_length.
  std::array<std::int64_t, 3> row_quartiles = {};
  /// How many rows have at least k entries, for k from 0 to the longest row or most_counted_length, whichever
  /// is less, and one more.
  std::vector<std::int64_t> rows_reaching;
  /// group_steps[w][t]: rows in groups of (4 << w) / (1 << t) neighbours, with 1 << t lanes a row that take
  /// an entry each in turn: the turns of the longest row of each group, over all groups. 0 where a group
  /// would have less than a row.
  std::array<std::array<std::int64_t, 6>, 4> group_steps = {};

  /// sorted_padding[w][t]: rows sorted by falling length in windows of 64 << w, in slices of 32, with 1 << t
  /// lanes a row: entries that the slices have room for, over the entries of the matrix.
  std::array<std::array<double, 6>, sorted_windows> sorted_padding = {};
  /// The part of the slices of 32 rows whose entries lie in 65535 columns, and of those of rows sorted in
  /// windows of 4096.
  double short_slices = 0;
  double sorted_short_slices = 0;
  /// The part of the rows that would have no neighbour of their own 32-byte sector of y before them if all
  /// were sorted by length: where all have one length, that of the first rows of sectors.
  double moved_rows = 0;

  /// 32-byte sectors of x that 4096 entries following each other in the CRS have their columns in, over the
  /// entries: what reaches a multiprocessor whose cache keeps x for a while.
  double sectors_per_entry = 1;
  /// The same for a million entries: what reaches the last cache where x is too large for it. Only counted
  /// where x takes over half of it, else 0.
  double far_sectors_per_entry = 0;
  /// block_fill[b]: the part of the b x b blocks with an entry that entries fill. Blocks in rows of over 256
  /// entries on average count as empty but for one.
  std::array<double, largest_block + 1> block_fill = {};
  /// diagonals[b]: the diagonals of b x b blocks that have an entry, for b = 1 and the block size asked for,
  /// else 0. Where they were not counted (diagonals_are_counted), as many as the samples lie on, which may be
  /// less.
  std::array<std::int64_t, largest_block + 1> diagonals = {};
  std::array<bool, largest_block + 1> diagonals_are_counted = {};

  /// The largest block size, up to `most`, that divides `multiple` and that entries fill about as well as any
  /// such, and by 0.7 at least; 1 where none is. (In a matrix of 4 x 4 blocks those of 2 x 2 are full too.)
  int best_block_size(int most = largest_block, std::int64_t multiple = 0) const {
    const auto fill = [&](int b) { return multiple % b == 0 ? block_fill[static_cast<std::size_t>(b)] : 0; };
    double fullest = 0.7;
    for (int b = 2; b <= most; ++b)
      fullest = std::max(fullest, 0.98 * fill(b));
    for (int b = most; b > 1; --b)
      if (fill(b) >= fullest) return b;
    return 1;
  }
  /// Entries that ELL, and SELL in slices of 32 rows, have room for, over the entries.
  double ell_padding() const { return entries > 0 ? static_cast<double>(longest_row) / mean_row() : 1; }
  double sell_padding() const {
    return entries > 0 ? 32 * static_cast<double>(group_steps[3][0]) / static_cast<double>(entries) : 1;
  }
  double mean_row() const { return rows > 0 ? static_cast<double>(entries) / static_cast<double>(rows) : 0; }
};

namespace Impl {

/// Where the kernels leave what they count, all in one View that one copy brings to the host.
struct StatisticsLayout {
  static constexpr std::int64_t bins = MatrixStatistics::most_counted_length + 2;
  static constexpr std::int64_t samples = 4096;
  /// Sums of 1 / count are kept as whole numbers of this, so that their order does not matter.
  static constexpr double one = 1 << 24;

  // Of all row lengths: the square sum, the empty rows and group_steps.
  static constexpr std::int64_t length_sums = 0;
  static constexpr std::int64_t length_sum_count = 2 + 4 * 6;
  // The longest row.
  static constexpr std::int64_t longest = length_sums + length_sum_count;
  // Of each size of windows: room in sorted slices for six numbers of lanes, and entries.
  static constexpr std::int64_t padding_sums = longest + 1;
  static constexpr std::int64_t padding_sum_count = 7;
  // Of the largest: slices, those that are short, sorted slices that are short, rows, those that move.
  static constexpr std::int64_t window_sums =
      padding_sums + padding_sum_count * MatrixStatistics::sorted_windows;
  static constexpr std::int64_t window_sum_count = 5;
  // Of samples: sectors, blocks of 1 to 16; and the entries that share the far sector of each.
  static constexpr std::int64_t sample_sums = window_sums + window_sum_count;
  static constexpr std::int64_t far_counts = sample_sums + 1 + MatrixStatistics::largest_block;
  static constexpr std::int64_t far_samples = 32;
  // Row and column of each sample.
  static constexpr std::int64_t places = far_counts + far_samples;
  static constexpr std::int64_t histogram = places + 2 * samples;
  static constexpr std::int64_t size = histogram + bins;
};

/// Counts what depends on the row lengths alone: a team loads many of them as neighbours, then a lane looks
/// at 32 rows. Whole numbers, so that the order of the teams does not matter; rows of 2^31 entries and more
/// take the steps of a shorter one.
template <class ExecutionSpace, class Views>
struct RowLengthStatistics {
  static constexpr bool gpu = runs_on_gpu_v<ExecutionSpace>;
  static constexpr int lanes = 128;
  static constexpr int group_rows = 32;
  static constexpr int team_rows = lanes * group_rows;
  using policy_type = Kokkos::TeamPolicy<ExecutionSpace, Kokkos::LaunchBounds<gpu ? lanes : 1, 4>>;
  using member_type = typename policy_type::member_type;
  using scratch_type = Kokkos::View<int*, typename ExecutionSpace::scratch_memory_space,
                                    Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
  using Layout = StatisticsLayout;
  /// Lanes look at the same place of their groups, which are an element apart from each other's banks.
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
    // Of this lane.
    std::int64_t sums[Layout::length_sum_count] = {};
    std::int64_t longest = 0;
    Kokkos::parallel_for(Kokkos::TeamThreadRange(team, static_cast<int>(Layout::bins)),
                         [&](const int bin) { histogram[bin] = 0; });
    Kokkos::parallel_for(Kokkos::TeamThreadRange(team, team_rows), [&](const int i) {
      const std::int64_t length = i < count ? crs.end(first + i) - crs.begin(first + i) : 0;
      sums[0] += length * length;
      if (length == 0 && i < count) ++sums[1];
      if (length > longest) longest = length;
      // Steps of it can be rounded up to 32 in an int.
      lengths[i / group_rows * stride + i % group_rows] =
          static_cast<int>(length < INT_MAX - 32 ? length : INT_MAX - 32);
    });
    team.team_barrier();
    Kokkos::parallel_for(Kokkos::TeamThreadRange(team, lanes), [&](const int group) {
      const int rest = count - group * group_rows;
      add_group(lengths + group * stride, rest < group_rows ? rest : group_rows, histogram, sums);
    });
    FILIGREE_UNROLL(26)
    for (int j = 0; j < Layout::length_sum_count; ++j)
      team.team_reduce(Kokkos::Sum<std::int64_t>(sums[j]));
    team.team_reduce(Kokkos::Max<std::int64_t>(longest));
    Kokkos::single(Kokkos::PerTeam(team), [&]() {
      FILIGREE_UNROLL(26)
      for (int j = 0; j < Layout::length_sum_count; ++j)
        Kokkos::atomic_add(counts + Layout::length_sums + j, sums[j]);
      Kokkos::atomic_fetch_max(counts + Layout::longest, longest);
    });
    team.team_barrier();
    Kokkos::parallel_for(Kokkos::TeamThreadRange(team, static_cast<int>(Layout::bins)), [&](const int bin) {
      if (histogram[bin] > 0)
        Kokkos::atomic_add(counts + Layout::histogram + bin, static_cast<std::int64_t>(histogram[bin]));
    });
  }

 private:
  /// The rows past `count` are of length 0, which adds no steps.
  KOKKOS_FORCEINLINE_FUNCTION void add_group(const int* lengths, int count, int* histogram,
                                             std::int64_t* sums) const {
    // Of the last 1, 2, 4 to 32 rows.
    int longest[6] = {};
    int bin = 0;
    int same = 0;
    for (int i = 0; i < group_rows; ++i) {
      const int length = lengths[i];
      FILIGREE_UNROLL(6)
      for (int g = 0; g < 6; ++g) {
        if (length > longest[g]) longest[g] = length;
        if ((i + 1) % (1 << g) != 0) continue;
        FILIGREE_UNROLL(4)
        for (int w = 0; w < 4; ++w) {
          // As many lanes a row that 4 << w elements are those of 1 << g rows.
          const int t = w + 2 - g;
          if (t >= 0 && t < 6) sums[2 + 6 * w + t] += (longest[g] + (1 << t) - 1) >> t;
        }
        longest[g] = 0;
      }
      if (i >= count) continue;
      // Rows of one length queue up at its counter, so they are counted first where they are neighbours.
      const int next = length < static_cast<int>(Layout::bins) - 1 ? length : Layout::bins - 1;
      if (next != bin) {
        if (same > 0) Kokkos::atomic_add(histogram + bin, same);
        bin = next;
        same = 0;
      }
      ++same;
    }
    if (same > 0) Kokkos::atomic_add(histogram + bin, same);
  }
};

/// Sample i of `samples` is anywhere in the i-th of as many equal parts of `all`, so that no period shows.
KOKKOS_INLINE_FUNCTION std::int64_t spread(std::int64_t i, std::int64_t samples, std::int64_t all) {
  const std::int64_t begin = i * all / samples;
  const std::int64_t end = (i + 1) * all / samples;
  const std::uint64_t random = (static_cast<std::uint64_t>(i) + 1) * 0x9e3779b97f4a7c15u >> 33;
  return begin + static_cast<std::int64_t>(random % static_cast<std::uint64_t>(end - begin));
}

/// What sorting in windows would give, and what spans slices have: of `sampled` windows of the largest size,
/// and for each smaller one of `sampled_parts` stretches of as many rows.
template <class ExecutionSpace, class Views>
struct WindowStatistics {
  static constexpr bool gpu = runs_on_gpu_v<ExecutionSpace>;
  static constexpr int lanes = gpu ? 1024 : 1;
  static constexpr int window = SellOptions::sorted_window;
  static constexpr int slice = 32;
  static constexpr int slices = window / slice;
  static constexpr int smaller_sizes = MatrixStatistics::sorted_windows - 1;
  static_assert(window == 64 << smaller_sizes, "The largest windows are those of the sorted variants.");
  /// Rows of a slice that a lane looks at.
  static constexpr int part = 8;
  using policy_type = Kokkos::TeamPolicy<ExecutionSpace, Kokkos::LaunchBounds<lanes, 1>>;
  using member_type = typename policy_type::member_type;
  template <class Element>
  using scratch_type = Kokkos::View<Element*, typename ExecutionSpace::scratch_memory_space,
                                    Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
  using keys_type = scratch_type<std::uint64_t>;
  using columns_type = scratch_type<std::int64_t>;
  using Layout = StatisticsLayout;

  Views crs;
  std::int64_t row_count;
  std::int64_t windows;
  std::int64_t sampled;
  std::int64_t sampled_parts;
  int elements_per_sector;
  std::int64_t* counts;

  policy_type policy(const ExecutionSpace& exec) const {
    return policy_type(exec, static_cast<int>(sampled + smaller_sizes * sampled_parts), lanes, 1)
        .set_scratch_size(
            0, Kokkos::PerTeam(keys_type::shmem_size(window) + 2 * columns_type::shmem_size(2 * slices)));
  }

  /// Keys that sort rows by falling length inside windows of 64 << size rows, those of one length in their
  /// order.
  static KOKKOS_FORCEINLINE_FUNCTION std::uint64_t key(int size, std::int64_t length, int row) {
    const std::int64_t counted = length < INT_MAX ? length : INT_MAX;
    const std::uint64_t shorter = static_cast<std::uint64_t>(INT_MAX - counted);
    return ((static_cast<std::uint64_t>(row >> (6 + size)) << 31) + shorter) * window +
           static_cast<std::uint64_t>(row);
  }
  static KOKKOS_FORCEINLINE_FUNCTION int row_of(std::uint64_t key) { return static_cast<int>(key % window); }
  static KOKKOS_FORCEINLINE_FUNCTION std::int64_t length_of(std::uint64_t key) {
    return INT_MAX - static_cast<std::int64_t>(key / window & INT_MAX);
  }

  KOKKOS_INLINE_FUNCTION void operator()(const member_type& team) const {
    const std::int64_t task = team.league_rank();
    const bool whole = task < sampled;
    const int size = whole ? smaller_sizes : static_cast<int>((task - sampled) % smaller_sizes);
    const std::int64_t sample = whole ? spread(task, sampled, windows)
                                      : spread((task - sampled) / smaller_sizes, sampled_parts, windows);
    const std::int64_t first = sample * window;
    const int count = static_cast<int>(row_count - first < window ? row_count - first : window);
    const keys_type keys(team.team_scratch(0), static_cast<std::size_t>(count));
    // First and last column of each slice, of rows as they are and sorted.
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

    // Of this lane.
    std::int64_t padding[Layout::padding_sum_count] = {};
    std::int64_t sums[Layout::window_sum_count] = {};
    Kokkos::parallel_for(Kokkos::TeamThreadRange(team, count), [&](const int place) {
      const std::int64_t length = length_of(keys(place));
      const int row = row_of(keys(place));
      padding[6] += length;
      ++sums[3];
      const bool stays = place > 0 && length_of(keys(place - 1)) == length &&
                         row_of(keys(place - 1)) / elements_per_sector == row / elements_per_sector;
      if (!stays) ++sums[4];
      if (place % slice != 0) return;
      FILIGREE_UNROLL(6)
      for (int t = 0; t < 6; ++t)
        padding[t] += slice * ((length + (1 << t) - 1) >> t << t);
      ++sums[0];
    });
    add_up(team, padding, Layout::padding_sums + size * Layout::padding_sum_count);
    if (!whole) return;
    Kokkos::parallel_for(Kokkos::TeamThreadRange(team, 2 * window / part), [&](const int task) {
      const int places = task % (window / part) * part;
      const bool sorted = task >= window / part;
      std::int64_t least = INT64_MAX;
      std::int64_t most = -1;
      for (int place = places; place < places + part && place < count; ++place)
        look_at(first + (sorted ? row_of(keys(place)) : place), least, most);
      const int at = (sorted ? slices : 0) + places / slice;
      Kokkos::atomic_fetch_min(&low(at), least);
      Kokkos::atomic_fetch_max(&high(at), most);
    });
    team.team_barrier();
    Kokkos::parallel_for(Kokkos::TeamThreadRange(team, 2 * slices), [&](const int i) {
      if (i % slices * slice < count && high(i) - low(i) < 65535) ++sums[1 + i / slices];
    });
    add_up(team, sums, Layout::window_sums);
  }

 private:
  /// Adds the sums of all lanes to those at `to`.
  template <std::size_t Count>
  KOKKOS_FORCEINLINE_FUNCTION void add_up(const member_type& team, std::int64_t (&sums)[Count],
                                          std::int64_t to) const {
    FILIGREE_UNROLL(7)
    for (std::size_t j = 0; j < Count; ++j)
      team.team_reduce(Kokkos::Sum<std::int64_t>(sums[j]));
    Kokkos::single(Kokkos::PerTeam(team), [&]() {
      FILIGREE_UNROLL(7)
      for (std::size_t j = 0; j < Count; ++j)
        Kokkos::atomic_add(counts + to + static_cast<std::int64_t>(j), sums[j]);
    });
  }

  /// The least and the most of a row's columns: where these are sorted the ends are enough, else a few show
  /// what to expect.
  KOKKOS_FORCEINLINE_FUNCTION void look_at(std::int64_t row, std::int64_t& least, std::int64_t& most) const {
    constexpr std::int64_t looks = 8;
    const std::int64_t begin = crs.begin(row);
    const std::int64_t length = crs.end(row) - begin;
    for (std::int64_t k = 0; k < looks && length > 0; ++k) {
      const std::int64_t column =
          static_cast<std::int64_t>(crs.entries[begin + k * (length - 1) / (looks - 1)]);
      if (column < least) least = column;
      if (column > most) most = column;
    }
  }
};

/// Looks at entries spread over the matrix, and counts those near some of them that share something: the mean
/// of 1 / count is how many there are of what is shared, over the entries.
template <class ExecutionSpace, class Views>
struct EntrySamples {
  using execution_space = ExecutionSpace;
  static constexpr bool gpu = runs_on_gpu_v<ExecutionSpace>;
  using policy_type = Kokkos::TeamPolicy<ExecutionSpace>;
  using member_type = typename policy_type::member_type;
  using Layout = StatisticsLayout;
  struct Places {};
  static constexpr std::int64_t near = 4096;
  static constexpr std::int64_t longest_of_blocks = 256;
  /// One sample in so many is asked for its sector, and one in so many for its blocks: they are all alike or
  /// do not matter.
  static constexpr std::int64_t per_sector_sample = 4;
  static constexpr std::int64_t per_block_sample = 32;

  Views crs;
  std::int64_t row_count;
  std::int64_t nnz;
  std::int64_t samples;
  std::int64_t elements_per_sector;
  std::int64_t* counts;

  std::int64_t sector_samples() const { return (samples + per_sector_sample - 1) / per_sector_sample; }
  std::int64_t block_samples() const { return (samples + per_block_sample - 1) / per_block_sample; }

  /// A team for each sample of a sector, then one for each sample and block size.
  policy_type policy(const ExecutionSpace& exec) const {
    const std::int64_t teams = sector_samples() + MatrixStatistics::largest_block * block_samples();
    return policy_type(exec, static_cast<int>(teams), gpu ? 4 : 1, gpu ? 32 : 1);
  }

  KOKKOS_INLINE_FUNCTION void operator()(Places, const std::int64_t i) const {
    const std::int64_t entry = spread(i, samples, nnz);
    counts[Layout::places + 2 * i] = row_of(entry);
    counts[Layout::places + 2 * i + 1] = static_cast<std::int64_t>(crs.entries[entry]);
  }

  KOKKOS_INLINE_FUNCTION void operator()(const member_type& team) const {
    const std::int64_t sectors = (samples + per_sector_sample - 1) / per_sector_sample;
    const std::int64_t task = team.league_rank();
    if (task < sectors)
      count_sector(team, spread(task * per_sector_sample, samples, nnz));
    else
      count_block(team,
                  spread((task - sectors) / MatrixStatistics::largest_block * per_block_sample, samples, nnz),
                  (task - sectors) % MatrixStatistics::largest_block + 1);
  }

 private:
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t row_of(std::int64_t entry) const {
    return first_where(0, row_count, [&](std::int64_t row) { return crs.end(row) > entry; });
  }

  KOKKOS_INLINE_FUNCTION void count_sector(const member_type& team, std::int64_t entry) const {
    const std::int64_t begin = entry / near * near;
    add(team, 0, begin, begin + near < nnz ? near : nnz - begin, entry, elements_per_sector);
  }

  KOKKOS_INLINE_FUNCTION void count_block(const member_type& team, std::int64_t entry, std::int64_t b) const {
    const std::int64_t first = row_of(entry) / b * b;
    const std::int64_t end = first + b < row_count ? first + b : row_count;
    const std::int64_t begin = crs.begin(first);
    const std::int64_t count = crs.end(end - 1) - begin;
    add(team, b, begin, count <= b * longest_of_blocks ? count : 0, entry, b);
  }

  /// Adds 1 / the number of entries from `begin` on that lie in the same group of `width` columns as one.
  KOKKOS_INLINE_FUNCTION void add(const member_type& team, std::int64_t sum, std::int64_t begin,
                                  std::int64_t length, std::int64_t entry, std::int64_t width) const {
    // A division an entry would be most of the time: columns are compared with the first of the group.
    const std::int64_t first = static_cast<std::int64_t>(crs.entries[entry]) / width * width;
    int count = 0;
    Kokkos::parallel_reduce(
        Kokkos::TeamVectorRange(team, static_cast<int>(length)),
        [&](const int i, int& mine) {
          const std::int64_t apart = static_cast<std::int64_t>(crs.entries[begin + i]) - first;
          if (apart >= 0 && apart < width) ++mine;
        },
        count);
    Kokkos::single(Kokkos::PerTeam(team), [&]() {
      Kokkos::atomic_add(counts + Layout::sample_sums + sum,
                         static_cast<std::int64_t>(Layout::one / (count > 0 ? count : 1)));
    });
  }
};

/// Counts the entries of a million that share the sector of x of a sample, several teams a sample.
template <class ExecutionSpace, class Views>
struct FarSamples {
  static constexpr bool gpu = runs_on_gpu_v<ExecutionSpace>;
  using policy_type = Kokkos::TeamPolicy<ExecutionSpace>;
  using member_type = typename policy_type::member_type;
  using Layout = StatisticsLayout;
  static constexpr std::int64_t far = std::int64_t(1) << 20;
  static constexpr std::int64_t teams_per_sample = gpu ? 32 : 1;

  Views crs;
  std::int64_t nnz;
  std::int64_t samples;
  std::int64_t elements_per_sector;
  std::int64_t* counts;

  policy_type policy(const ExecutionSpace& exec) const {
    return policy_type(exec, static_cast<int>(samples * teams_per_sample), gpu ? 16 : 1, gpu ? 32 : 1);
  }

  KOKKOS_INLINE_FUNCTION void operator()(const member_type& team) const {
    const std::int64_t sample = team.league_rank() / teams_per_sample;
    const std::int64_t entry = spread(sample, samples, nnz);
    const std::int64_t sector =
        static_cast<std::int64_t>(crs.entries[entry]) / elements_per_sector * elements_per_sector;
    const std::int64_t window = entry / far * far;
    const std::int64_t end = window + far < nnz ? window + far : nnz;
    const std::int64_t begin = window + team.league_rank() % teams_per_sample * (far / teams_per_sample);
    const std::int64_t rest = end - begin < far / teams_per_sample ? end - begin : far / teams_per_sample;
    int count = 0;
    Kokkos::parallel_reduce(
        Kokkos::TeamVectorRange(team, static_cast<int>(rest > 0 ? rest : 0)),
        [&](const int i, int& mine) {
          const std::int64_t apart = static_cast<std::int64_t>(crs.entries[begin + i]) - sector;
          if (apart >= 0 && apart < elements_per_sector) ++mine;
        },
        count);
    Kokkos::single(Kokkos::PerTeam(team), [&]() {
      Kokkos::atomic_add(counts + Layout::far_counts + sample, static_cast<std::int64_t>(count));
    });
  }
};

/// At least how many diagonals of b x b blocks samples lie on: they are told apart by 16 bits, as to sort
/// them takes longer than a product.
inline std::int64_t sampled_diagonals(const std::int64_t* places, std::int64_t samples, std::int64_t b) {
  std::vector<bool> found(std::size_t(1) << 16);
  std::int64_t count = 0;
  for (std::int64_t i = 0; i < samples; ++i) {
    const auto offset = static_cast<std::uint64_t>(places[2 * i + 1] / b - places[2 * i] / b);
    const auto bits = static_cast<std::size_t>(offset * 0x9e3779b97f4a7c15u >> 48);
    if (found[bits]) continue;
    found[bits] = true;
    ++count;
  }
  return count;
}

/// Fills in what the kernels counted.
inline void read_statistics(const std::int64_t* counts, std::int64_t sector_samples,
                            std::int64_t block_samples, std::int64_t far_samples, MatrixStatistics& result) {
  using Layout = StatisticsLayout;
  const double mean = result.mean_row();
  const double squares = static_cast<double>(counts[Layout::length_sums]) / static_cast<double>(result.rows);
  result.row_deviation = std::sqrt(std::max(0.0, squares - mean * mean));
  result.empty_rows = counts[Layout::length_sums + 1];
  for (std::size_t w = 0; w < 4; ++w)
    for (std::size_t t = 0; t < 6; ++t)
      result.group_steps[w][t] = counts[Layout::length_sums + 2 + 6 * w + t];
  result.longest_row = counts[Layout::longest];

  const std::int64_t counted = std::min(result.longest_row, MatrixStatistics::most_counted_length);
  result.rows_reaching.assign(static_cast<std::size_t>(counted) + 2, 0);
  for (std::int64_t length = Layout::bins - 1; length >= 0; --length)
    result.rows_reaching[static_cast<std::size_t>(std::min(length, counted))] +=
        counts[Layout::histogram + length];
  for (std::size_t k = result.rows_reaching.size() - 1; k > 0; --k)
    result.rows_reaching[k - 1] += result.rows_reaching[k];
  for (std::size_t q = 0; q < 3; ++q)
    while (4 * (result.rows - result.rows_reaching[static_cast<std::size_t>(result.row_quartiles[q]) + 1]) <
           static_cast<std::int64_t>(q + 1) * result.rows)
      ++result.row_quartiles[q];

  for (std::size_t w = MatrixStatistics::sorted_windows; w-- > 0;) {
    const std::int64_t* padding =
        counts + Layout::padding_sums + static_cast<std::int64_t>(w) * Layout::padding_sum_count;
    // Where none was sampled, as of the next larger one.
    if (padding[6] == 0) {
      result.sorted_padding[w].fill(1);
      if (w + 1 < result.sorted_padding.size()) result.sorted_padding[w] = result.sorted_padding[w + 1];
      continue;
    }
    for (std::size_t t = 0; t < 6; ++t)
      result.sorted_padding[w][t] = static_cast<double>(padding[t]) / static_cast<double>(padding[6]);
  }
  const std::int64_t* windows = counts + Layout::window_sums;
  result.short_slices = static_cast<double>(windows[1]) / static_cast<double>(windows[0]);
  result.sorted_short_slices = static_cast<double>(windows[2]) / static_cast<double>(windows[0]);
  result.moved_rows = static_cast<double>(windows[4]) / static_cast<double>(windows[3]);

  const std::int64_t* sums = counts + Layout::sample_sums;
  result.sectors_per_entry =
      static_cast<double>(sums[0]) / (Layout::one * static_cast<double>(sector_samples));
  for (int b = 1; b <= MatrixStatistics::largest_block; ++b)
    result.block_fill[static_cast<std::size_t>(b)] = Layout::one * static_cast<double>(block_samples) /
                                                     static_cast<double>(sums[b]) /
                                                     static_cast<double>(b * b);
  for (std::int64_t i = 0; i < far_samples; ++i)
    result.far_sectors_per_entry +=
        1 / (static_cast<double>(far_samples) * static_cast<double>(counts[Layout::far_counts + i]));
}

}  // namespace Impl

/// The statistics of a CRS matrix, counted where it is: its row map is read once and its entries are sampled.
/// cache_bytes is the size of the last cache before the memory. Diagonals are those of blocks of the given
/// size, 1 to 16, or of best_block_size(). In full, the entries are read once to count them, unless the
/// samples lie on more than a format of diagonals has any use for, and 8 bytes a row are taken meanwhile; and
/// windows of less than 4096 sorted rows are sampled, which else count as those. Where x takes over half of
/// the cache, 32 stretches of a million entries, on a host 8, are looked through too. One copy of 74 KB comes
/// to the host. Fences, and takes as much while it runs.
///
/// The matrix must be one (see ConvertOptions::check_input), or behaviour is undefined.
template <class ExecutionSpace, class Crs>
MatrixStatistics matrix_statistics(const ExecutionSpace& exec, const Crs& crs, double cache_bytes,
                                   int block_size = 0, bool in_full = true) {
  using Layout = Impl::StatisticsLayout;
  using Views = Impl::crs_views_t<Crs>;
  using Lengths = Impl::RowLengthStatistics<ExecutionSpace, Views>;
  using Windows = Impl::WindowStatistics<ExecutionSpace, Views>;
  using Samples = Impl::EntrySamples<ExecutionSpace, Views>;
  using Far = Impl::FarSamples<ExecutionSpace, Views>;
  using counts_type = Kokkos::View<std::int64_t*, typename Crs::device_type>;
  constexpr bool gpu = Impl::runs_on_gpu_v<ExecutionSpace>;
  constexpr const char* name = "statistics";
  constexpr std::size_t sector_bytes = 32;

  MatrixStatistics result;
  result.rows = static_cast<std::int64_t>(crs.numRows());
  result.columns = static_cast<std::int64_t>(crs.numCols());
  result.entries = static_cast<std::int64_t>(crs.nnz());
  result.rows_reaching = {result.rows, 0};
  if (result.rows == 0 || result.entries == 0) {
    result.empty_rows = result.rows;
    return result;
  }
  const Views views(crs);
  const counts_type counts(Kokkos::view_alloc(exec, Impl::label("counts", name)),
                           static_cast<std::size_t>(Layout::size));
  const Lengths lengths{views, result.rows, counts.data()};
  Kokkos::parallel_for(Impl::label("row_lengths", name), lengths.policy(exec), lengths);

  const int per_sector =
      std::max(1, static_cast<int>(sector_bytes / sizeof(typename Crs::non_const_value_type)));
  const std::int64_t windows = (result.rows + Windows::window - 1) / Windows::window;
  const Windows sampled_windows{views,
                                result.rows,
                                windows,
                                std::min<std::int64_t>(windows, gpu ? 128 : 8),
                                in_full ? std::min<std::int64_t>(windows, gpu ? 20 : 2) : 0,
                                per_sector,
                                counts.data()};
  Kokkos::parallel_for(Impl::label("windows", name), sampled_windows.policy(exec), sampled_windows);

  const std::int64_t samples = std::min<std::int64_t>(result.entries, gpu ? Layout::samples : 256);
  const Samples entries{views, result.rows, result.entries, samples, per_sector, counts.data()};
  Kokkos::parallel_for(Impl::label("places", name), Impl::row_range<typename Samples::Places>(exec, samples),
                       entries);
  Kokkos::parallel_for(Impl::label("samples", name), entries.policy(exec), entries);

  const bool x_is_large =
      static_cast<double>(result.columns) * sizeof(typename Crs::non_const_value_type) > 0.5 * cache_bytes;
  const std::int64_t far_samples =
      x_is_large ? std::min<std::int64_t>(result.entries, gpu ? Layout::far_samples : 8) : 0;
  if (x_is_large) {
    const Far far{views, result.entries, far_samples, per_sector, counts.data()};
    Kokkos::parallel_for(Impl::label("far_samples", name), far.policy(exec), far);
  }
  exec.fence();
  const auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), counts);
  Impl::read_statistics(host.data(), entries.sector_samples(), entries.block_samples(), far_samples, result);

  const int best = block_size > 0 ? block_size : result.best_block_size();
  const auto count_diagonals = [&](int b, double most) {
    const auto at = static_cast<std::size_t>(b);
    result.diagonals[at] = Impl::sampled_diagonals(host.data() + Layout::places, samples, b);
    if (!in_full || static_cast<double>(result.diagonals[at]) * b > most) return;
    result.diagonals[at] = Impl::find_diagonals(exec, name, crs, b).count;
    result.diagonals_are_counted[at] = true;
  };
  count_diagonals(best, 3 * result.mean_row() + 1);
  // Where blocks store about as much as diagonals of one, both are counted.
  if (best > 1)
    count_diagonals(
        1, std::min(3 * result.mean_row() + 1,
                    1.1 * static_cast<double>(result.diagonals[static_cast<std::size_t>(best)]) * best));
  return result;
}

}  // namespace Filigree

#endif

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "filigree/core/binary_search.hpp"
#include "filigree/tune/statistics_layout.hpp"

namespace Filigree::Impl {

/// The kernels that sample entries. RecordCoordinates writes row and column of each sample.
///
/// The team kernel estimates in how many sectors of x, or in how many blocks, a set of entries lies. The set
/// is 4096 consecutive entries for sectors, and a block row for blocks. For each sample the kernel counts the
/// entries of the set that lie in the sector or block of the sample, and adds 1 / count. The mean of 1 /
/// count is the number of sectors or blocks per entry.
template <class ExecutionSpace, class Views>
struct EntrySamples {
  using execution_space = ExecutionSpace;
  static constexpr bool gpu = runs_on_gpu_v<ExecutionSpace>;
  using policy_type = Kokkos::TeamPolicy<ExecutionSpace>;
  using member_type = typename policy_type::member_type;
  using Layout = StatisticsLayout;
  struct RecordCoordinates {};
  /// Number of consecutive entries in the set of a sector sample.
  static constexpr std::int64_t set_entries = 4096;
  /// Blocks are counted if the rows of a block row have at most this many entries on average.
  static constexpr std::int64_t longest_mean_row = 256;
  /// Every fourth sample is used for sectors, and one in 32 for each block size. With more samples the
  /// estimates would be hardly better.
  static constexpr std::int64_t per_sector_sample = 4;
  static constexpr std::int64_t per_block_sample = 32;

  Views crs;
  std::int64_t row_count;
  std::int64_t nnz;
  std::int64_t samples;
  std::int64_t elements_per_sector;
  std::int64_t* counts;

  KOKKOS_INLINE_FUNCTION std::int64_t sector_samples() const {
    return (samples + per_sector_sample - 1) / per_sector_sample;
  }
  std::int64_t block_samples() const { return (samples + per_block_sample - 1) / per_block_sample; }

  /// One team per sector sample, then one team per block sample and block size.
  policy_type policy(const ExecutionSpace& exec) const {
    const std::int64_t teams = sector_samples() + Layout::largest_block * block_samples();
    return policy_type(exec, static_cast<int>(teams), gpu ? 4 : 1, gpu ? 32 : 1);
  }

  KOKKOS_INLINE_FUNCTION void operator()(RecordCoordinates, const std::int64_t i) const {
    const std::int64_t entry = sample_index(i, samples, nnz);
    counts[Layout::coordinates + 2 * i] = row_of(entry);
    counts[Layout::coordinates + 2 * i + 1] = static_cast<std::int64_t>(crs.entries[entry]);
  }

  KOKKOS_INLINE_FUNCTION void operator()(const member_type& team) const {
    const std::int64_t task = team.league_rank();
    const std::int64_t sectors = sector_samples();
    if (task < sectors) {
      const std::int64_t entry = sample_index(task * per_sector_sample, samples, nnz);
      const std::int64_t begin = entry / set_entries * set_entries;
      add(team, 0, begin, begin + set_entries < nnz ? set_entries : nnz - begin, entry, elements_per_sector);
      return;
    }
    const std::int64_t b = (task - sectors) % Layout::largest_block + 1;
    const std::int64_t entry =
        sample_index((task - sectors) / Layout::largest_block * per_block_sample, samples, nnz);
    const std::int64_t first = row_of(entry) / b * b;
    const std::int64_t end = first + b < row_count ? first + b : row_count;
    const std::int64_t begin = crs.begin(first);
    const std::int64_t length = crs.end(end - 1) - begin;
    add(team, b, begin, length <= b * longest_mean_row ? length : 0, entry, b);
  }

 private:
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t row_of(std::int64_t entry) const {
    return first_where(0, row_count, [&](std::int64_t row) { return crs.end(row) > entry; });
  }

  /// The set has `length` entries from `begin` on. Counts its entries that lie in the same group of `width`
  /// columns as `entry`, and adds 1 / count to a sum. A count of 0 adds 1.
  KOKKOS_INLINE_FUNCTION void add(const member_type& team, std::int64_t sum, std::int64_t begin,
                                  std::int64_t length, std::int64_t entry, std::int64_t width) const {
    const std::int64_t first = static_cast<std::int64_t>(crs.entries[entry]) / width * width;
    const int count = count_columns(team, crs.entries, begin, length, first, width);
    Kokkos::single(Kokkos::PerTeam(team), [&]() {
      Kokkos::atomic_add(counts + Layout::sample_sums + sum,
                         static_cast<std::int64_t>(Layout::one / (count > 0 ? count : 1)));
    });
  }
};

/// The kernel that counts, for each of a few samples, the entries in the same sector of x. It counts them
/// among 2^20 consecutive entries around the sample. On a GPU several teams work on one sample.
template <class ExecutionSpace, class Views>
struct FarSamples {
  static constexpr bool gpu = runs_on_gpu_v<ExecutionSpace>;
  using policy_type = Kokkos::TeamPolicy<ExecutionSpace>;
  using member_type = typename policy_type::member_type;
  using Layout = StatisticsLayout;
  static constexpr std::int64_t set_entries = std::int64_t(1) << 20;
  static constexpr std::int64_t teams_per_sample = gpu ? 32 : 1;
  static constexpr std::int64_t team_entries = set_entries / teams_per_sample;

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
    const std::int64_t entry = sample_index(sample, samples, nnz);
    const std::int64_t first =
        static_cast<std::int64_t>(crs.entries[entry]) / elements_per_sector * elements_per_sector;
    const std::int64_t set = entry / set_entries * set_entries;
    const std::int64_t end = set + set_entries < nnz ? set + set_entries : nnz;
    const std::int64_t begin = set + team.league_rank() % teams_per_sample * team_entries;
    const std::int64_t rest = end - begin < team_entries ? end - begin : team_entries;
    const int count =
        count_columns(team, crs.entries, begin, rest > 0 ? rest : 0, first, elements_per_sector);
    Kokkos::single(Kokkos::PerTeam(team), [&]() {
      Kokkos::atomic_add(counts + Layout::far_counts + sample, static_cast<std::int64_t>(count));
    });
  }
};

}  // namespace Filigree::Impl

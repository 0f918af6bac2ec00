// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Shared by the kernels of matrix_statistics(): the layout of their counts, the choice of samples, and
// counting by a team.
#pragma once

#include "filigree/core/launch.hpp"

namespace Filigree::Impl {

/// The counts of all kernels lie in one View of 64-bit integers, so that one copy brings them to the host.
/// Each constant is the position of the first count of a group, or the number of counts.
struct StatisticsLayout {
  // Sizes, which MatrixStatistics makes public.
  static constexpr std::int64_t most_counted_length = 1024;
  static constexpr int largest_block = 16;
  static constexpr int sorted_windows = 7;

  /// Bins of the histogram of row lengths: 0 to most_counted_length, and one for all longer rows.
  static constexpr std::int64_t bins = most_counted_length + 2;
  /// Entries that are sampled on a GPU.
  static constexpr std::int64_t samples = 4096;
  /// Samples for which FarSamples counts the entries in the same sector.
  static constexpr std::int64_t far_samples = 32;
  /// Fractions are added as integers, multiplied by `one`, so that the sum does not depend on their order.
  static constexpr double one = 1 << 24;

  // RowLengthStatistics: the sum of the squared row lengths, the number of empty rows and group_steps; then
  // the length of the longest row.
  static constexpr std::int64_t length_sums = 0;
  static constexpr std::int64_t length_sum_count = 2 + 4 * 6;
  static constexpr std::int64_t longest = length_sums + length_sum_count;
  // WindowStatistics, for each size of windows: the stored elements of the sorted slices with 1, 2, 4 to 32
  // lanes per row, and the entries.
  static constexpr std::int64_t padding_sums = longest + 1;
  static constexpr std::int64_t padding_sum_count = 7;
  // WindowStatistics, for the largest windows: slices, slices with short (16-bit) columns, sorted slices with
  // short columns, rows, and rows that sorting moves away from their neighbours.
  static constexpr std::int64_t window_sums = padding_sums + padding_sum_count * sorted_windows;
  static constexpr std::int64_t window_sum_count = 5;
  // EntrySamples: the sum for sectors of x, then one sum for each block size.
  static constexpr std::int64_t sample_sums = window_sums + window_sum_count;
  // FarSamples: one count for each sample.
  static constexpr std::int64_t far_counts = sample_sums + 1 + largest_block;
  // EntrySamples: row and column of each sample.
  static constexpr std::int64_t coordinates = far_counts + far_samples;
  // RowLengthStatistics: the rows of each length.
  static constexpr std::int64_t histogram = coordinates + 2 * samples;
  static constexpr std::int64_t size = histogram + bins;
};

/// The index of sample i. The indices 0 to count - 1 are cut into `samples` parts of equal length. Sample i
/// is a pseudorandom index of part i, so that a period of the matrix does not distort the sample.
KOKKOS_INLINE_FUNCTION std::int64_t sample_index(std::int64_t i, std::int64_t samples, std::int64_t count) {
  const std::int64_t begin = i * count / samples;
  const std::int64_t end = (i + 1) * count / samples;
  const std::uint64_t random = (static_cast<std::uint64_t>(i) + 1) * 0x9e3779b97f4a7c15u >> 33;
  return begin + static_cast<std::int64_t>(random % static_cast<std::uint64_t>(end - begin));
}

/// Adds the sums of all lanes of a team to counts. All lanes must call it.
template <class Member, std::size_t Count>
KOKKOS_FORCEINLINE_FUNCTION void add_to_counts(const Member& team, std::int64_t (&sums)[Count],
                                               std::int64_t* counts) {
  FILIGREE_UNROLL(26)
  for (std::size_t j = 0; j < Count; ++j)
    team.team_reduce(Kokkos::Sum<std::int64_t>(sums[j]));
  Kokkos::single(Kokkos::PerTeam(team), [&]() {
    FILIGREE_UNROLL(26)
    for (std::size_t j = 0; j < Count; ++j)
      Kokkos::atomic_add(counts + j, sums[j]);
  });
}

/// The number of entries at the positions begin to begin + length - 1 whose column is one of `width` columns
/// from `first` on. All lanes of a team must call it.
template <class Member, class Ordinal>
KOKKOS_FORCEINLINE_FUNCTION int count_columns(const Member& team, const Ordinal* entries, std::int64_t begin,
                                              std::int64_t length, std::int64_t first, std::int64_t width) {
  // Comparing with the first column avoids a division per entry, which would take most of the time.
  int count = 0;
  Kokkos::parallel_reduce(
      Kokkos::TeamVectorRange(team, static_cast<int>(length)),
      [&](const int i, int& mine) {
        const std::int64_t distance = static_cast<std::int64_t>(entries[begin + i]) - first;
        if (distance >= 0 && distance < width) ++mine;
      },
      count);
  return count;
}

}  // namespace Filigree::Impl

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "filigree/conversion/build_crs.hpp"
#include "filigree/conversion/row_lengths.hpp"

namespace Filigree::Impl {

/// Counts for one lane of a histogram kernel. Equal bins that follow each other become one call of flush(bin,
/// times), which adds `times` to the bin. Rows of one length then cause few atomic additions to one address.
/// Atomic additions to one address wait for each other.
template <class Bin>
struct RunLengthCounterOf {
  Bin last_bin = 0;
  int times = 0;  ///< times that last_bin was counted since the last flush

  /// Counts a bin once.
  template <class Flush>
  KOKKOS_FORCEINLINE_FUNCTION void count(Bin bin, const Flush& flush) {
    if (bin != last_bin) {
      finish(flush);
      last_bin = bin;
      times = 0;
    }
    ++times;
  }
  /// Flushes what is left. Call it once, after the last count().
  template <class Flush>
  KOKKOS_FORCEINLINE_FUNCTION void finish(const Flush& flush) {
    if (times > 0) flush(last_bin, times);
  }
};
/// For bins that fit an int.
using RunLengthCounter = RunLengthCounterOf<int>;

/// Counts the rows of each length. The last bin counts all longer rows too. Lengths below most_in_scratch are
/// first counted in the scratch memory of a team. If all teams used one counter per length, they would wait
/// for each other.
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
    const int in_scratch = static_cast<int>(bins < most_in_scratch ? bins : most_in_scratch);
    const scratch_type scratch(team.team_scratch(0), static_cast<std::size_t>(in_scratch));
    Kokkos::parallel_for(Kokkos::TeamThreadRange(team, in_scratch), [&](const int bin) { scratch(bin) = 0; });
    team.team_barrier();
    RunLengthCounterOf<std::int64_t> lengths_of_lane;
    const auto flush = [&](const std::int64_t length, const int times) {
      if (length < in_scratch)
        Kokkos::atomic_add(&scratch(static_cast<int>(length)), times);
      else
        Kokkos::atomic_add(histogram + length, static_cast<std::int64_t>(times));
    };
    Kokkos::parallel_for(Kokkos::TeamThreadRange(team, count), [&](const int i) {
      const std::int64_t length = crs.length(first + i);
      lengths_of_lane.count(length < bins ? length : bins - 1, flush);
    });
    lengths_of_lane.finish(flush);
    team.team_barrier();
    Kokkos::parallel_for(Kokkos::TeamThreadRange(team, in_scratch), [&](const int bin) {
      if (scratch(bin) > 0) Kokkos::atomic_add(histogram + bin, static_cast<std::int64_t>(scratch(bin)));
    });
  }
};

/// A scan over a histogram of row lengths. It replaces the number of rows of length k by the number of rows
/// with more than k entries.
struct RowsLongerThan {
  using value_type = std::int64_t;
  std::int64_t row_count;
  std::int64_t* histogram;

  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t length, std::int64_t& rows,
                                         const bool final) const {
    rows += histogram[length];
    if (final) histogram[length] = row_count - rows;
  }
};

/// For each k from 0 to `most`, the number of entries that are among the first k of their row. Element k is
/// the position of the first entry of jagged diagonal k, and element k + 1 minus element k is the number of
/// rows with more than k entries. Takes no memory besides the result. The View has the label of `what`.
template <class View, class ExecutionSpace, class Crs>
View entries_within(const ExecutionSpace& exec, const char* what, const char* format, const Crs& crs,
                    std::int64_t most) {
  using Count = CountRowLengths<ExecutionSpace, crs_views_t<Crs>>;
  const std::int64_t rows = static_cast<std::int64_t>(crs.numRows());
  const View within(Kokkos::view_alloc(exec, label(what, format)), static_cast<std::size_t>(most) + 1);
  const Count work{crs_views_t<Crs>(crs), rows, most + 1, within.data()};
  if (rows > 0) Kokkos::parallel_for(label("histogram", format), work.policy(exec), work);
  Kokkos::parallel_scan(label("rows_longer", format), row_range<void>(exec, most + 1),
                        RowsLongerThan{rows, within.data()});
  Kokkos::parallel_scan(label(what, format), row_range<void>(exec, most + 1),
                        ExclusiveSum<std::int64_t>{within.data()});
  return within;
}

}  // namespace Filigree::Impl

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "filigree/conversion/row_lengths.hpp"
#include "filigree/conversion/slots.hpp"
#include "filigree/conversion/sort_rows.hpp"

namespace Filigree::Impl {

/// Counts the entries with a smaller column than the entry before them in their row. One lane per strip of
/// entries.
template <class ExecutionSpace, class Views>
struct CountUnsorted {
  Views crs;
  std::int64_t rows;
  std::int64_t nnz;

  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t strip, std::int64_t& count) const {
    SlotGroup row;
    SlotStrip<ExecutionSpace>::for_each(strip, nnz, [&](std::int64_t i) {
      if (!row.has(i)) row = find_group(row.number, rows, i, [&](std::int64_t r) { return crs.begin(r); });
      if (i > row.begin && crs.entries[i] < crs.entries[i - 1]) ++count;
    });
  }
};

/// Sorts the columns of each row in place. All lanes of a team sort one row together, then the next one. So a
/// long row is not left to one lane.
template <class ExecutionSpace, class Views, class EntriesView>
struct SortEntries {
  static constexpr int lanes = runs_on_gpu_v<ExecutionSpace> ? 256 : 1;
  static constexpr std::int64_t rows_per_team = 64;
  using policy_type = Kokkos::TeamPolicy<ExecutionSpace, Kokkos::LaunchBounds<lanes, 1>>;
  using member_type = typename policy_type::member_type;
  using row_type = Kokkos::View<typename EntriesView::value_type*, typename EntriesView::device_type,
                                Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

  Views crs;
  std::int64_t rows;
  EntriesView entries;

  policy_type policy(const ExecutionSpace& exec) const {
    return policy_type(exec, static_cast<int>((rows + rows_per_team - 1) / rows_per_team), lanes, 1);
  }

  KOKKOS_INLINE_FUNCTION void operator()(const member_type& team) const {
    const std::int64_t first = static_cast<std::int64_t>(team.league_rank()) * rows_per_team;
    for (std::int64_t row = first; row < first + rows_per_team && row < rows; ++row)
      if (crs.length(row) > 1)
        sort_in_team(team,
                     row_type(entries.data() + crs.begin(row), static_cast<std::size_t>(crs.length(row))));
  }
};

/// The number of entries with a smaller column than the entry before them in their row. Fences exec.
template <class ExecutionSpace, class Crs>
std::int64_t count_unsorted(const ExecutionSpace& exec, const char* format, const Crs& crs) {
  using Views = crs_views_t<Crs>;
  const auto rows = static_cast<std::int64_t>(crs.numRows());
  const auto nnz = static_cast<std::int64_t>(crs.nnz());
  std::int64_t unsorted = 0;
  if (nnz > 0)
    Kokkos::parallel_reduce(label("count_unsorted", format),
                            row_range<void>(exec, SlotStrip<ExecutionSpace>::strips(nnz)),
                            CountUnsorted<ExecutionSpace, Views>{Views(crs), rows, nnz}, unsorted);
  exec.fence();
  return unsorted;
}

/// A copy of the column indices of crs, sorted within each row. An empty View if no row has a
/// column that is smaller than the one before it. The work for a row of n unsorted entries is in proportion
/// to n log(n)^2. Fences exec. Throws std::length_error if some row is not sorted and some row has more than
/// 2^30 entries.
template <class ExecutionSpace, class Crs>
auto sorted_entries(const ExecutionSpace& exec, const char* function, const char* format, const Crs& crs) {
  using Views = crs_views_t<Crs>;
  using entries_type = Kokkos::View<typename Crs::non_const_ordinal_type*, typename Crs::device_type>;
  using Sort = SortEntries<ExecutionSpace, Views, entries_type>;
  const std::int64_t rows = static_cast<std::int64_t>(crs.numRows());
  if (count_unsorted(exec, format, crs) == 0) return entries_type();
  // The sort of Kokkos counts in 32 bits.
  const std::int64_t longest = longest_row(exec, format, crs);
  if (longest > std::int64_t(1) << 30)
    fail<std::length_error>(function, ": a row of the CRS matrix has ", longest,
                            " entries; rows that are not sorted by column may have at most 2^30 = ",
                            std::int64_t(1) << 30, ". Sort the rows first.");
  const auto entries = copy_view<entries_type>(exec, "sorted_entries", format, crs.graph.entries);
  const Sort sort{Views(crs), rows, entries};
  Kokkos::parallel_for(label("sort_entries", format), sort.policy(exec), sort);
  return entries;
}

}  // namespace Filigree::Impl

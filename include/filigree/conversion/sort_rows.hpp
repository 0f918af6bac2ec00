// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <limits>

#include "filigree/conversion/check_crs.hpp"
#include "filigree/conversion/stable_sort.hpp"

#if FILIGREE_KOKKOS_SORTS_IN_TEAMS
#include <Kokkos_NestedSort.hpp>
#else
#include <KokkosKernels_Sorting.hpp>
#endif

namespace Filigree::Impl {

/// Writes the sort keys of all rows: ascending keys order the rows window by window, and within a window by
/// descending length.
template <class Views>
struct RowKeys {
  Views crs;
  std::int64_t window;
  std::int64_t longest;
  std::uint64_t* keys;

  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t row) const {
    keys[row] = static_cast<std::uint64_t>(row / window * (longest + 1) + longest - crs.length(row));
  }
};

/// Sorts a View of rank 1 and at most 2^30 keys in ascending order. All lanes of the team must call it.
template <class Member, class Keys>
KOKKOS_INLINE_FUNCTION void sort_in_team(const Member& team, const Keys& keys) {
  team.team_barrier();
#if FILIGREE_KOKKOS_SORTS_IN_TEAMS
  Kokkos::Experimental::sort_team(team, keys);
#else
  // TeamBitonicSort is in one of these two namespaces, depending on the version of Kokkos Kernels.
  using namespace KokkosKernels;
  using namespace KokkosKernels::Impl;
  TeamBitonicSort<int, typename Keys::non_const_value_type>(keys.data(), static_cast<int>(keys.extent(0)),
                                                            team);
#endif
  team.team_barrier();
}

/// Sorts the rows of windows of at most largest_window rows by descending length. One team sorts one window
/// in its scratch memory.
template <class ExecutionSpace, class Views, class Ordinal>
struct SortWindows {
  static constexpr bool gpu = runs_on_gpu_v<ExecutionSpace>;
  static constexpr int lanes = gpu ? 256 : 1;
  /// The low bits of a key hold the index of the row in its window. So no two keys are equal, and rows of one
  /// length keep their order although the sort is not stable.
  static constexpr int row_bits = 12;
  static constexpr std::int64_t largest_window = std::int64_t(1) << row_bits;
  using policy_type = Kokkos::TeamPolicy<ExecutionSpace, Kokkos::LaunchBounds<lanes, 1>>;
  using member_type = typename policy_type::member_type;
  using keys_type = Kokkos::View<std::uint64_t*, typename ExecutionSpace::scratch_memory_space,
                                 Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

  Views crs;
  std::int64_t rows;
  std::int64_t window;
  std::int64_t longest;
  Ordinal* order;

  KOKKOS_INLINE_FUNCTION void operator()(const member_type& team) const {
    const std::int64_t first = team.league_rank() * window;
    const int count = static_cast<int>(rows - first < window ? rows - first : window);
    const keys_type keys(team.team_scratch(0), static_cast<std::size_t>(count));
    Kokkos::parallel_for(Kokkos::TeamThreadRange(team, count), [&](const int i) {
      const auto shorter = static_cast<std::uint64_t>(longest - crs.length(first + i));
      keys(i) = (shorter << row_bits) | static_cast<std::uint64_t>(i);
    });
    sort_in_team(team, keys);
    Kokkos::parallel_for(Kokkos::TeamThreadRange(team, count), [&](const int i) {
      order[first + i] = static_cast<Ordinal>(
          first + static_cast<std::int64_t>(keys(i) & static_cast<std::uint64_t>(largest_window - 1)));
    });
  }
};

/// The rows of a CRS matrix, sorted by descending length within windows of `window` rows. Rows of one length
/// keep their order. `longest` is the length of the longest row. If a window has more than
/// SortWindows::largest_window rows, it fences exec, and while it runs it takes 16 + 2 * sizeof(Ordinal)
/// bytes per row, with the result.
template <class OrderView, class ExecutionSpace, class Crs>
OrderView rows_by_length(const ExecutionSpace& exec, const char* format, const Crs& crs, std::int64_t window,
                         std::int64_t longest) {
  using Views = crs_views_t<Crs>;
  using Ordinal = typename OrderView::non_const_value_type;
  using Windows = SortWindows<ExecutionSpace, Views, Ordinal>;
  const std::int64_t rows = static_cast<std::int64_t>(crs.numRows());
  if (rows == 0) return OrderView();
  const std::int64_t windows = (rows + window - 1) / window;
  if (window <= Windows::largest_window && windows <= std::numeric_limits<int>::max()) {
    const auto order = allocate_view<OrderView>(exec, "order", format, rows);
    typename Windows::policy_type policy(exec, static_cast<int>(windows), Windows::lanes, 1);
    const auto scratch_bytes = Windows::keys_type::shmem_size(static_cast<std::size_t>(window));
    policy.set_scratch_size(0, Kokkos::PerTeam(static_cast<int>(scratch_bytes)));
    Kokkos::parallel_for(label("sort_windows", format), policy,
                         Windows{Views(crs), rows, window, longest, order.data()});
    return order;
  }
  auto keys = allocate_view<Kokkos::View<std::uint64_t*, typename OrderView::device_type>>(exec, "keys",
                                                                                           format, rows);
  Kokkos::parallel_for(label("keys", format), row_range<void>(exec, rows),
                       RowKeys<Views>{Views(crs), window, longest, keys.data()});
  return stable_order<Ordinal>(exec, format, keys);
}

}  // namespace Filigree::Impl

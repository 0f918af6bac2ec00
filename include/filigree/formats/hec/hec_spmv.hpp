// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "filigree/core/lane_group.hpp"
#include "filigree/formats/hec/hec_layout.hpp"
#include "filigree/product/launch_product.hpp"
#include "filigree/product/row_product.hpp"

namespace Filigree::Impl {

/// Modes N and C of a matrix with excess entries on a GPU, in one launch. The first teams multiply one long row each,
/// because these take longest. The next teams multiply both parts of the other listed rows, by
/// lanes_per_excess_row() lanes each (one lane in Liu et al. 2012, section 2.2). The last teams have one lane per row
/// of the matrix, and skip rows with excess entries.
template <class ExecutionSpace, class Layout, class Operands, bool Conjugate>
struct HecSpmv {
  using launch = ProductLaunch<ExecutionSpace, Operands>;
  using sums_type = typename Operands::sums_type;

  /// Whether several lanes may multiply a row: they must be able to exchange their sums. With several columns of x one
  /// lane is faster (see docs/performance.md, "Lanes per row of HEC").
  static constexpr bool may_have_lanes = lanes_per_group<ExecutionSpace> != 0 && Operands::most_columns == 1;

  Layout layout;
  Operands operands;
  /// Teams for the listed rows that are not long.
  std::int64_t excess_teams;
  /// The logarithm of the lanes per listed row that is not long.
  int log2_lanes;

  KOKKOS_INLINE_FUNCTION void operator()(const typename launch::member_type& team) const {
    const std::int64_t rank = team.league_rank();
    if (rank < layout.long_count) {
      multiply_long_row(team, rank);
      return;
    }
    const bool listed = rank < layout.long_count + excess_teams;
    if constexpr (may_have_lanes)
      if (listed && log2_lanes > 0) {
        multiply_listed_rows(team, rank - layout.long_count);
        return;
      }
    const std::int64_t first =
        (rank - layout.long_count - (listed ? 0 : excess_teams)) * launch::rows_per_team;
    const std::int64_t all = listed ? layout.excess_count - layout.long_count : layout.stored_row_count();
    const std::int64_t count = all - first < launch::rows_per_team ? all - first : launch::rows_per_team;
    Kokkos::parallel_for(Kokkos::TeamThreadRange(team, static_cast<int>(count)), [&](const int i) {
      if (listed)
        multiply_listed_row(layout.long_count + first + i);
      else
        multiply_ell_row(first + i);
    });
  }

 private:
  using adder = AddOnDevice<false, false, Conjugate, Operands>;

  /// The listed row at index `at`, by a whole team.
  KOKKOS_FORCEINLINE_FUNCTION void multiply_long_row(const typename launch::member_type& team,
                                                     const std::int64_t at) const {
    const auto parts = layout.parts_of_listed(at);
    RowSums<Operands> all;
    Kokkos::parallel_reduce(
        Kokkos::TeamThreadRange(team, launch::team_size),
        [&](const int lane, RowSums<Operands>& mine) {
          const adder add{operands, mine.sums};
          add(parts.ell.every(lane, launch::team_size));
          add(parts.excess.every(lane, launch::team_size));
        },
        all);
    Kokkos::single(Kokkos::PerTeam(team), [&]() { operands.store(all.sums, layout.listed_row(at)); });
  }

  /// The listed rows of team `rank` among the excess teams, by several lanes per row.
  KOKKOS_FORCEINLINE_FUNCTION void multiply_listed_rows(const typename launch::member_type& team,
                                                        const std::int64_t rank) const {
    const std::int64_t index = rank * launch::rows_per_team + team.team_rank();
    const int lanes = 1 << log2_lanes;
    const int lane = static_cast<int>(index) & (lanes - 1);
    const std::int64_t at = layout.long_count + (index >> log2_lanes);
    RowSums<Operands> row;
    if (at < layout.excess_count) {
      const auto parts = layout.parts_of_listed(at);
      const adder add{operands, row.sums};
      add(parts.ell.every(lane, lanes));
      add(parts.excess.every(lane, lanes));
    }
    // All lanes take part in the exchange, also those without a row.
    for (int distance = lanes / 2; distance > 0; distance /= 2)
      row += of_following_lane(row, distance);
    if (lane == 0 && at < layout.excess_count) operands.store(row.sums, layout.listed_row(at));
  }

  /// The listed row at index `at`, by one lane.
  KOKKOS_FORCEINLINE_FUNCTION void multiply_listed_row(const std::int64_t at) const {
    sums_type sums = {};
    const auto parts = layout.parts_of_listed(at);
    const adder add{operands, sums};
    add(parts.ell);
    add(parts.excess);
    operands.store(sums, layout.listed_row(at));
  }

  /// A row without excess entries, by one lane.
  KOKKOS_FORCEINLINE_FUNCTION void multiply_ell_row(const std::int64_t row) const {
    if (layout.has_excess_entries(row)) return;
    sums_type sums = {};
    layout.ell.visit_lane_entries(row, 0, adder{operands, sums});
    operands.store(sums, row);
  }
};

/// The product of a HEC matrix. The arguments are checked, and A has entries.
template <class ExecutionSpace, class S, class O, class D, class M, class Z, class Operands>
void spmv_kernel(const ExecutionSpace& exec, const std::string& name, Mode mode,
                 const HecMatrix<S, O, D, M, Z>& hec, const Operands& operands) {
  using Layout = HecLayout<S, O, Z>;
  const Layout layout(hec);
  const std::int64_t num_cols = static_cast<std::int64_t>(hec.numCols());
  if constexpr (runs_on_gpu_v<ExecutionSpace>)
    if (layout.excess_count == 0) {
      launch_row_product(exec, name, mode, layout.ell, operands, num_cols);
      return;
    }
  const auto any_count = operands.with_any_count();
  using AnyCount = std::decay_t<decltype(any_count)>;
  using launch = ProductLaunch<ExecutionSpace, AnyCount>;
  if constexpr (launch::gpu) {
    if (!is_transpose(mode)) {
      with_conjugate<S>(mode, [&](auto conjugate) {
        using Kernel = HecSpmv<ExecutionSpace, Layout, AnyCount, decltype(conjugate)::value>;
        const int log2_lanes = Kernel::may_have_lanes ? log2_of(hec.lanes_per_excess_row()) : 0;
        const std::int64_t other_rows = layout.excess_count - layout.long_count;
        const std::int64_t excess_teams =
            launch::league_size(other_rows << log2_lanes, launch::rows_per_team);
        const std::int64_t teams = layout.long_count + excess_teams +
                                   launch::league_size(layout.stored_row_count(), launch::rows_per_team);
        const auto policy = typename launch::policy_type(exec, static_cast<int>(teams), launch::team_size, 1);
        launch_product(exec, name, policy, Kernel{layout, any_count, excess_teams, log2_lanes});
      });
      return;
    }
  }
  launch_row_product(exec, name, mode, layout, any_count, num_cols);
}

}  // namespace Filigree::Impl

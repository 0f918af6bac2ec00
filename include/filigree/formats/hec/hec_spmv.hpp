// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "filigree/formats/hec/hec_layout.hpp"
#include "filigree/product/launch_product.hpp"
#include "filigree/product/row_product.hpp"

namespace Filigree::Impl {

/// Modes N and C on a GPU, in one launch. The first teams multiply one long row each, because these take
/// longest. The next teams have one lane per other row of the list, for both its parts (Liu et al. 2012,
/// section 2.2). The last teams have one lane per row of the matrix, and skip rows with excess entries.
template <class ExecutionSpace, class Layout, class Operands, bool Conjugate>
struct HecSpmv {
  using launch = ProductLaunch<ExecutionSpace, Operands>;
  using sums_type = typename Operands::sums_type;

  Layout layout;
  Operands operands;
  /// Teams for the listed rows that are not long.
  std::int64_t excess_teams;

  KOKKOS_INLINE_FUNCTION void operator()(const typename launch::member_type& team) const {
    const std::int64_t rank = team.league_rank();
    if (rank < layout.long_count) {
      multiply_long_row(team, rank);
      return;
    }
    const bool listed = rank < layout.long_count + excess_teams;
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
  const auto any_count = operands.with_any_count();
  using AnyCount = std::decay_t<decltype(any_count)>;
  using launch = ProductLaunch<ExecutionSpace, AnyCount>;
  const Layout layout(hec);
  if constexpr (launch::gpu) {
    if (!is_transpose(mode)) {
      const std::int64_t excess_teams =
          launch::league_size(layout.excess_count - layout.long_count, launch::rows_per_team);
      const std::int64_t teams = layout.long_count + excess_teams +
                                 launch::league_size(layout.stored_row_count(), launch::rows_per_team);
      const auto policy = typename launch::policy_type(exec, static_cast<int>(teams), launch::team_size, 1);
      with_conjugate<S>(mode, [&](auto conjugate) {
        launch_product(exec, name, policy,
                       HecSpmv<ExecutionSpace, Layout, AnyCount, decltype(conjugate)::value>{
                           layout, any_count, excess_teams});
      });
      return;
    }
  }
  launch_row_product(exec, name, mode, layout, any_count, static_cast<std::int64_t>(hec.numCols()));
}

}  // namespace Filigree::Impl

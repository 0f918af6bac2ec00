// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FILIGREE_FORMATS_HEC_HEC_SPMV_HPP
#define FILIGREE_FORMATS_HEC_HEC_SPMV_HPP

#include <cstdint>
#include <string>

#include "filigree/core/launch.hpp"
#include "filigree/core/mode.hpp"
#include "filigree/core/region.hpp"
#include "filigree/formats/hec/hec_layout.hpp"
#include "filigree/formats/hec/hec_matrix.hpp"
#include "filigree/product/row_product.hpp"

namespace Filigree {
namespace Impl {

/// Modes N and C on a GPU, in one launch: a team for each long row, then teams whose lanes have an
/// excessing row each, both parts of it (Liu et al. 2012, section 2.2), then teams whose lanes have a row
/// of the ELL part that does not excess. Long rows come first, as they take longest.
template <class ExecutionSpace, class Rows, class Operands, bool Conjugate>
struct HecSpmv {
  using launch = ProductLaunch<ExecutionSpace, Operands>;
  using sums_type = typename Operands::sums_type;

  Rows rows;
  Operands operands;
  /// Teams for the rows of the second kind.
  std::int64_t excess_teams;

  KOKKOS_FORCEINLINE_FUNCTION void long_row(const typename launch::member_type& team,
                                            const std::int64_t at) const {
    const auto run = rows.run_of_excess(at);
    RowSums<Operands> all;
    Kokkos::parallel_reduce(
        Kokkos::TeamThreadRange(team, launch::team_size),
        [&](const int lane, RowSums<Operands>& mine) {
          add_run<true, false, Conjugate>(operands, mine.sums, run.first.every(lane, launch::team_size));
          add_run<true, false, Conjugate>(operands, mine.sums, run.second.every(lane, launch::team_size));
        },
        all);
    Kokkos::single(Kokkos::PerTeam(team), [&]() { operands.store(all.sums, rows.excess_row(at)); });
  }

  KOKKOS_FORCEINLINE_FUNCTION void excess_row(const std::int64_t at) const {
    sums_type sums = {};
    add_run<true, false, Conjugate>(operands, sums, rows.run_of_excess(at));
    operands.store(sums, rows.excess_row(at));
  }

  KOKKOS_FORCEINLINE_FUNCTION void ell_row(const std::int64_t row) const {
    if (rows.has_excess(row)) return;
    sums_type sums = {};
    add_run<true, false, Conjugate>(operands, sums, rows.ell.lane_entries(row, 0));
    operands.store(sums, row);
  }

  KOKKOS_INLINE_FUNCTION void operator()(const typename launch::member_type& team) const {
    const std::int64_t rank = team.league_rank();
    if (rank < rows.long_count) {
      long_row(team, rank);
      return;
    }
    const bool excess = rank < rows.long_count + excess_teams;
    const std::int64_t first = (rank - rows.long_count - (excess ? 0 : excess_teams)) * launch::rows_per_team;
    const std::int64_t all = excess ? rows.excess_count - rows.long_count : rows.stored_row_count();
    const std::int64_t count = all - first < launch::rows_per_team ? all - first : launch::rows_per_team;
    Kokkos::parallel_for(Kokkos::TeamThreadRange(team, static_cast<int>(count)), [&](const int i) {
      if (excess)
        excess_row(rows.long_count + first + i);
      else
        ell_row(first + i);
    });
  }
};

/// The product, everything checked and A with entries.
template <class ExecutionSpace, class S, class O, class D, class M, class Z, class Operands>
void spmv_kernel(const ExecutionSpace& exec, const std::string& name, Mode mode,
                 const HecMatrix<S, O, D, M, Z>& hec, const Operands& operands) {
  using Rows = HecLayout<S, O, Z>;
  using launch = ProductLaunch<ExecutionSpace, Operands>;
  const Rows rows(hec);
  if constexpr (launch::gpu) {
    if (!is_transpose(mode)) {
      const std::int64_t excess_teams =
          launch::league_size(rows.excess_count - rows.long_count, launch::rows_per_team);
      const std::int64_t teams = rows.long_count + excess_teams +
                                 launch::league_size(rows.stored_row_count(), launch::rows_per_team);
      const auto policy = typename launch::policy_type(exec, static_cast<int>(teams), launch::team_size, 1);
      with_mode<S>(mode, [&](auto, auto conjugate) {
        Kokkos::parallel_for(name, policy,
                             HecSpmv<ExecutionSpace, Rows, Operands, decltype(conjugate)::value>{
                                 rows, operands, excess_teams});
      });
      return;
    }
  }
  row_spmv(exec, name, mode, rows, operands, static_cast<std::int64_t>(hec.numCols()));
}

}  // namespace Impl
}  // namespace Filigree

#endif

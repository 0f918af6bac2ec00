// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The launch of the kernels of a product: the size of teams, the rows of a lane, and the launch itself.
#pragma once

#include <string>
#include <type_traits>

#include "filigree/core/launch.hpp"
#include "filigree/product/operands.hpp"
#include "filigree/product/reduce_product.hpp"

namespace Filigree::Impl {

/// The lanes that a multiprocessor of a GPU must be able to run at once in a product. 1280 lanes leave 48
/// registers per lane: enough for the sums of up to four columns of x and for the loads that keep memory
/// busy. More sums need more registers (see docs/performance.md, "Lanes per multiprocessor"). 256 lanes leave all
/// registers that a lane can have. Some kernels have limits of their own, and so has ProductLaunch for 16 columns.
template <class Operands>
constexpr int lanes_per_multiprocessor() {
  if (sizeof(typename Operands::accumulator_type) > 8 || !Operands::is_exact) return 256;
  if (Operands::most_columns > 8) return 768;
  return Operands::has_column_lanes || Operands::most_columns > 4 ? 1024 : 1280;
}

/// True if a lane has 16 columns of x, their number is known at compile time, and the sums are of float or double.
/// Complex sums were not measured.
template <class Operands>
constexpr bool has_sixteen_columns() {
  return Operands::is_exact && Operands::most_columns == multi_vector_columns &&
         std::is_floating_point_v<typename Operands::accumulator_type>;
}

/// Teams of 128 lanes that must fit into a multiprocessor if has_sixteen_columns(): four leave 128 registers per lane,
/// five 96, eight 64. Otherwise 0. Sums of double need many registers (see docs/performance.md, "Registers for 16
/// columns").
template <class Operands, int OfDouble, int OfFloat>
constexpr int teams_for_sixteen_columns() {
  if (!has_sixteen_columns<Operands>()) return 0;
  return sizeof(typename Operands::accumulator_type) <= 4 ? OfFloat : OfDouble;
}

/// The launch of a product with teams of `Lanes` lanes on a GPU and of at most HostRows rows on a host. If Lanes is 256
/// and teams_for_sixteen_columns() is not 0, teams have 128 lanes instead. TeamsOfFloat = 0 keeps 256 lanes for float.
template <class ExecutionSpace, class Operands, int Lanes = 256, int HostRows = host_rows,
          int TeamsOfDouble = 4, int TeamsOfFloat = 8>
using ProductLaunch = std::conditional_t<
    Lanes == 256 && teams_for_sixteen_columns<Operands, TeamsOfDouble, TeamsOfFloat>() != 0,
    RowLaunch<ExecutionSpace, 128, teams_for_sixteen_columns<Operands, TeamsOfDouble, TeamsOfFloat>(),
              HostRows>,
    RowLaunch<ExecutionSpace, Lanes, lanes_per_multiprocessor<Operands>() / Lanes, HostRows>>;

/// Calls body(row, operands) on a GPU with the row and the operands of the lane, if the lane has a row and columns of
/// x. The policy is that of row_count * 2^operands.log2_column_lanes() rows with one lane each.
template <class Launch, class Operands, class Body>
KOKKOS_FORCEINLINE_FUNCTION void for_each_row_of_columns(const typename Launch::member_type& team,
                                                         std::int64_t row_count, const Operands& operands,
                                                         const Body& body) {
  if constexpr (Operands::has_column_lanes) {
    // Kokkos' loops over the threads and vector lanes of a team would make these kernels slower (see
    // docs/performance.md, "Several columns of x without loops over lanes").
    const int log2_lanes = operands.log2_column_lanes();
    const std::int64_t index =
        static_cast<std::int64_t>(team.league_rank()) * team.team_size() + team.team_rank();
    const std::int64_t row = index >> log2_lanes;
    const int lane = static_cast<int>(index) & ((1 << log2_lanes) - 1);
    if (row < row_count && lane * Operands::most_columns < operands.columns)
      body(row, operands.of_column_lane(lane));
  } else {
    Launch::for_each_row(team, row_count, [&](const std::int64_t row) { body(row, operands); });
  }
}

/// Launches a kernel of a product with a TeamPolicy.
template <class ExecutionSpace, class Policy, class Kernel>
void launch_product(const ExecutionSpace& exec, const std::string& name, const Policy& policy,
                    const Kernel& kernel) {
  using Target = std::decay_t<decltype(target_of(kernel, 0))>;
  if constexpr (!target_reduces<Target>) {
    Kokkos::parallel_for(name, policy, kernel);
  } else {
    using Partial = typename Target::partial_type;
    if (policy.league_size() == 0) return;
    const int lanes = lanes_of_team(policy);
    const std::int64_t groups =
        static_cast<std::int64_t>(policy.league_size()) * groups_of_team<ExecutionSpace>(lanes);
    target_of(kernel, 0).reduction->template run<partials_per_lane<Kernel>>(
        exec, groups, [&](Partial* partials) {
          Kokkos::parallel_for(name, policy,
                               ReducingKernel<ExecutionSpace, Kernel, Partial>{kernel, partials, lanes});
        });
  }
}

}  // namespace Filigree::Impl

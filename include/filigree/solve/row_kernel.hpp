// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kernels over the elements of vectors, which may reduce. Kokkos::parallel_reduce is slower for them: it computes what
// all rows have in common, such as the quotient of two numbers on the device, once per row, and has fewer loads in
// flight (see docs/performance.md, "Conjugate gradients").
#pragma once

#include <string>

#include "filigree/product/launch_product.hpp"

namespace Filigree::Impl {

/// Stands for the partial result of a kernel that does not reduce.
struct NoPartial {};

/// Calls body.finish(common, row, loaded, partial) for all rows, with common = body.common() and loaded =
/// body.load(row). On a GPU a lane has rows_per_lane rows, and loads all before it finishes the first. A Body must not
/// read in load(row) what it writes for another row.
template <class ExecutionSpace, class Body, class Partial>
struct RowKernel {
  static constexpr bool gpu = runs_on_gpu_v<ExecutionSpace>;
  static constexpr bool reduces = !std::is_same_v<Partial, NoPartial>;
  static constexpr int group = lanes_per_group<ExecutionSpace>;
  static constexpr int team_size = gpu ? 256 : 1;
  static constexpr int rows_per_lane = 4;
  /// On a host a team is one thread.
  static constexpr int rows_per_team = gpu ? team_size * rows_per_lane : host_rows;
  using policy_type = Kokkos::TeamPolicy<ExecutionSpace, Kokkos::LaunchBounds<team_size, 1>>;
  using member_type = typename policy_type::member_type;

  Body body;
  std::int64_t rows;
  Partial* partials;  ///< one element per group of lanes

  static std::int64_t teams(std::int64_t rows) { return (rows + rows_per_team - 1) / rows_per_team; }
  static std::int64_t groups(std::int64_t rows) { return teams(rows) * (group > 0 ? team_size / group : 1); }

  KOKKOS_INLINE_FUNCTION void operator()(const member_type& team) const {
    const std::int64_t first = static_cast<std::int64_t>(team.league_rank()) * rows_per_team;
    const auto common = body.common();
    // On a GPU each lane has this variable.
    Partial mine{};
    if constexpr (gpu) {
      Kokkos::parallel_for(Kokkos::TeamThreadRange(team, team_size), [&](const int lane) {
        decltype(body.load(first)) loaded[rows_per_lane];
        FILIGREE_UNROLL(4)
        for (int i = 0; i < rows_per_lane; ++i) {
          const std::int64_t row = first + i * team_size + lane;
          if (row < rows) loaded[i] = body.load(row);
        }
        FILIGREE_UNROLL(4)
        for (int i = 0; i < rows_per_lane; ++i) {
          const std::int64_t row = first + i * team_size + lane;
          if (row < rows) body.finish(common, row, loaded[i], mine);
        }
      });
    } else {
      const std::int64_t end = first + rows_per_team < rows ? first + rows_per_team : rows;
      for (std::int64_t row = first; row < end; ++row)
        body.finish(common, row, body.load(row), mine);
    }
    if constexpr (reduces) {
      if constexpr (group > 0) {
        add_lanes_of_group(mine);
        const std::int64_t lane = static_cast<std::int64_t>(team.league_rank()) * team_size + lane_in_team();
        if (lane % group == 0) partials[lane / group] = mine;
      } else {
        Partial all;
        Kokkos::parallel_reduce(
            Kokkos::TeamThreadRange(team, team_size), [&](const int, Partial& sum) { sum += mine; }, all);
        Kokkos::single(Kokkos::PerTeam(team), [&]() { partials[team.league_rank()] = all; });
      }
    }
  }
};

/// Queues a RowKernel that does not reduce.
template <class ExecutionSpace, class Body>
void for_rows(const ExecutionSpace& exec, const std::string& name, std::int64_t rows, const Body& body) {
  using Kernel = RowKernel<ExecutionSpace, Body, NoPartial>;
  if (rows == 0) return;
  Kokkos::parallel_for(
      name, typename Kernel::policy_type(exec, static_cast<int>(Kernel::teams(rows)), Kernel::team_size, 1),
      Kernel{body, rows, nullptr});
}

/// Queues a RowKernel that overwrites *result by what the rows add up to. Every run gives the same bits.
template <class ExecutionSpace, class Body, class Partial>
void reduce_rows(const ExecutionSpace& exec, const std::string& name, std::int64_t rows, const Body& body,
                 Partial* result) {
  using Kernel = RowKernel<ExecutionSpace, Body, Partial>;
  const std::int64_t groups = Kernel::groups(rows);
  auto& pool = WorkspacePool<ExecutionSpace>::get();
  auto& workspace = pool.borrow(exec, 0, (sizeof(Partial) * static_cast<std::size_t>(groups + 1) + 7) / 8);
  auto* const partials = reinterpret_cast<Partial*>(workspace.sums.data());
  if (rows > 0)
    Kokkos::parallel_for(
        name, typename Kernel::policy_type(exec, static_cast<int>(Kernel::teams(rows)), Kernel::team_size, 1),
        Kernel{body, rows, partials});
  Reduction<Partial>{result}.template add<1>(exec, partials, groups);
  pool.give_back(workspace);
}

/// The sum of conj(b) b.
template <class T, class B>
struct SquaredNorm {
  MultiVector<const B> b;
  KOKKOS_FORCEINLINE_FUNCTION NoPartial common() const { return {}; }
  KOKKOS_FORCEINLINE_FUNCTION B load(const std::int64_t row) const { return b(row, 0); }
  KOKKOS_FORCEINLINE_FUNCTION void finish(NoPartial, std::int64_t, const B& loaded, Sums<T, 1>& sums) const {
    const T wide = T(widen<T>(loaded));
    sums[0] += conjugate_if<true>(wide) * wide;
  }
};

}  // namespace Filigree::Impl

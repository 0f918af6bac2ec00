// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kernels over the elements of vectors, which may reduce. A functor of Kokkos::parallel_reduce would compute for each
// row what all rows have in common, such as the quotient of two numbers on the device (see docs/performance.md,
// "Conjugate gradients").
#pragma once

#include <string>

#include "filigree/product/launch_product.hpp"

namespace Filigree::Impl {

/// Stands for the partial result of a kernel that does not reduce.
struct NoPartial {};

/// The rows of a lane on a GPU: the constant rows_per_lane of a Body, or 4.
template <class Body, class = void>
constexpr int rows_per_lane_v = 4;
template <class Body>
constexpr int rows_per_lane_v<Body, std::void_t<decltype(Body::rows_per_lane)>> = Body::rows_per_lane;

/// Calls body.finish(common, row, loaded, partial) for all rows, with common = body.common() and loaded =
/// body.load(row). On a GPU a lane has rows_per_lane rows, and loads all before it finishes the first. A Body must not
/// read in load(row) what it writes for another row.
template <class ExecutionSpace, class Body, class Partial>
struct RowKernel {
  static constexpr bool gpu = runs_on_gpu_v<ExecutionSpace>;
  static constexpr bool reduces = !std::is_same_v<Partial, NoPartial>;
  static constexpr int team_size = gpu ? 256 : 1;
  static constexpr int rows_per_lane = rows_per_lane_v<Body>;
  /// On a host a team is one thread.
  static constexpr int rows_per_team = gpu ? team_size * rows_per_lane : host_rows;
  using policy_type = Kokkos::TeamPolicy<ExecutionSpace, Kokkos::LaunchBounds<team_size, 1>>;
  using member_type = typename policy_type::member_type;

  Body body;
  std::int64_t rows;
  Partial* partials;  ///< one element per group of lanes

  static std::int64_t teams(std::int64_t rows) { return (rows + rows_per_team - 1) / rows_per_team; }
  static std::int64_t groups(std::int64_t rows) {
    return teams(rows) * groups_of_team<ExecutionSpace>(team_size);
  }

  void launch_on(const ExecutionSpace& exec, const std::string& name) const {
    Kokkos::parallel_for(name, policy_type(exec, static_cast<int>(teams(rows)), team_size, 1), *this);
  }

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
    if constexpr (reduces) store_sums_of_groups<ExecutionSpace>(team, team_size, mine, partials, 1);
  }
};

/// Queues a RowKernel that does not reduce.
template <class ExecutionSpace, class Body>
void for_rows(const ExecutionSpace& exec, const std::string& name, std::int64_t rows, const Body& body) {
  if (rows > 0) RowKernel<ExecutionSpace, Body, NoPartial>{body, rows, nullptr}.launch_on(exec, name);
}

/// Queues a RowKernel that overwrites *result by what the rows add up to. There must be rows. Every run gives the same
/// bits.
template <class ExecutionSpace, class Body, class Partial>
void reduce_rows(const ExecutionSpace& exec, const std::string& name, std::int64_t rows, const Body& body,
                 Partial* result) {
  using Kernel = RowKernel<ExecutionSpace, Body, Partial>;
  Reduction<Partial>(result).template run<1>(exec, Kernel::groups(rows), [&](Partial* partials) {
    Kernel{body, rows, partials}.launch_on(exec, name);
  });
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

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Products whose Epilogue reduces. The kernel is wrapped: each lane collects what its rows add, a group of lanes adds
// up what its lanes have, and a second kernel adds up the groups. The orders are fixed, so every run gives the same
// bits.
#pragma once

#include <string>

#include "filigree/core/kokkos_versions.hpp"
#include "filigree/core/lane_group.hpp"
#include "filigree/core/launch.hpp"
#include "filigree/core/sums.hpp"
#include "filigree/core/workspace.hpp"
#include "filigree/product/epilogue.hpp"

namespace Filigree::Impl {

/// The member y of the operands of a kernel.
template <class Kernel>
KOKKOS_FORCEINLINE_FUNCTION auto target_of(Kernel& kernel, int) -> decltype((kernel.operands.y)) {
  return kernel.operands.y;
}
template <class Kernel>
KOKKOS_FORCEINLINE_FUNCTION auto target_of(Kernel& kernel, long) -> decltype((kernel.product.operands.y)) {
  return kernel.product.operands.y;
}

/// The groups of lanes of a team that each store a sum, see store_sums_of_groups().
template <class ExecutionSpace>
constexpr int groups_of_team(int lanes_per_team) {
  return lanes_per_group<ExecutionSpace> > 0 ? lanes_per_team / lanes_per_group<ExecutionSpace> : 1;
}

/// Adds up `mine` over the lanes of each group of the team, and stores the sum of group g of the league in
/// partials[g * stride]. All lanes of the team call it. Without groups the team is one. With groups no lane waits for
/// the whole team (see docs/performance.md, "Reductions in a product").
template <class ExecutionSpace, class Member, class Partial>
KOKKOS_FORCEINLINE_FUNCTION void store_sums_of_groups(const Member& team, int lanes_per_team, Partial& mine,
                                                      Partial* partials, int stride) {
  constexpr int group = lanes_per_group<ExecutionSpace>;
  const auto rank = static_cast<std::int64_t>(team.league_rank());
  if constexpr (group > 0) {
    add_lanes_of_group(mine);
    const std::int64_t lane = rank * lanes_per_team + lane_in_team();
    if (lane % group == 0) partials[lane / group * stride] = mine;
  } else {
    Partial all;
    // Each lane has one index.
    Kokkos::parallel_reduce(
        Kokkos::TeamVectorRange(team, lanes_per_team), [&](const int, Partial& sum) { sum += mine; }, all);
    Kokkos::single(Kokkos::PerTeam(team), [&]() { partials[rank * stride] = all; });
  }
}

/// The number of partial results that a kernel has per lane: its constant partials_per_lane, or 1.
template <class Kernel, class = void>
constexpr int partials_per_lane = 1;
template <class Kernel>
constexpr int partials_per_lane<Kernel, std::void_t<decltype(Kernel::partials_per_lane)>> =
    Kernel::partials_per_lane;

/// A kernel of a product that reduces. In the copy of the kernel that a lane runs, the Epilogue has partial results
/// of its own.
template <class ExecutionSpace, class Kernel, class Partial>
struct ReducingKernel {
  static constexpr int count = partials_per_lane<Kernel>;

  Kernel kernel;
  Partial* partials;   ///< `count` elements per group of lanes
  int lanes_per_team;  ///< threads of a team times vector lanes; a multiple of the group

  template <class Member>
  KOKKOS_INLINE_FUNCTION void operator()(const Member& team) const {
    // On a GPU each lane has these variables, on a host each team, which is one thread.
    Partial mine[count];
    Kernel own = kernel;
    target_of(own, 0).partial = mine;
    own(team);
    for (int i = 0; i < count; ++i)
      store_sums_of_groups<ExecutionSpace>(team, lanes_per_team, mine[i], partials + i, count);
  }
};

/// Adds up the partial results of all groups: those with index 0 of each group, those with index 1, and so on.
template <class Partial, int Count>
struct AddPartials {
  using value_type = Sums<typename Partial::value_type, Partial::count * Count>;
  const Partial* partials;

  KOKKOS_FORCEINLINE_FUNCTION void operator()(const std::int64_t group, value_type& sum) const {
    for (int i = 0; i < Count; ++i)
      for (int k = 0; k < Partial::count; ++k)
        sum[i * Partial::count + k] += partials[group * Count + i][k];
  }
};

/// Writes or adds the sums of AddPartials to the result of a product.
template <class Partial, int Count>
struct FinishReduction {
  Partial* result;
  const Sums<typename Partial::value_type, Partial::count * Count>* sums;
  bool adds;

  KOKKOS_FORCEINLINE_FUNCTION void operator()(const std::int64_t) const {
    Partial total;
    if (adds) total = *result;
    for (int i = 0; i < Count; ++i)
      for (int k = 0; k < Partial::count; ++k)
        total[k] += (*sums)[i * Partial::count + k];
    *result = total;
  }
};

/// The result of a reduction over the rows of a product. The first kernel of the product overwrites it, others add
/// to it.
template <class Partial>
class Reduction {
 public:
  /// `result` is in memory that the kernels can access.
  explicit Reduction(Partial* result) : m_result(result) {}

  /// Calls launch(partials), which must queue a kernel that stores Count partial results per group of lanes, and queues
  /// what adds them up.
  template <int Count, class ExecutionSpace, class Launch>
  void run(const ExecutionSpace& exec, std::int64_t groups, const Launch& launch) {
    // After the partial results there is room for Count sums.
    const std::size_t bytes = sizeof(Partial) * Count * static_cast<std::size_t>(groups + 1);
    auto& pool = WorkspacePool<ExecutionSpace>::get();
    auto& workspace = pool.borrow(exec, 0, (bytes + 7) / 8);
    auto* const partials = reinterpret_cast<Partial*>(workspace.sums.data());
    launch(partials);
    add<Count>(exec, partials, groups);
    pool.give_back(workspace);
  }

 private:
  template <int Count, class ExecutionSpace>
  void add(const ExecutionSpace& exec, Partial* partials, std::int64_t groups) {
    static const std::string name = "Filigree::add_partial_results[vector]";
    using value_type = typename AddPartials<Partial, Count>::value_type;
    using View = Kokkos::View<value_type, typename ExecutionSpace::memory_space,
                              Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
    const bool direct = Count == 1 && !m_has_begun;
    auto* const sums = reinterpret_cast<value_type*>(direct ? m_result : partials + groups * Count);
    Kokkos::parallel_reduce(name, row_range<void>(exec, groups), AddPartials<Partial, Count>{partials},
                            View(sums));
    if (!direct)
      Kokkos::parallel_for(name, row_range<void>(exec, 1),
                           FinishReduction<Partial, Count>{m_result, sums, m_has_begun});
    m_has_begun = true;
  }

  Partial* m_result;
  bool m_has_begun = false;
};

}  // namespace Filigree::Impl

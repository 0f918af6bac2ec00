// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <new>

#include "filigree/core/integer.hpp"

#define FILIGREE_PRAGMA(text) _Pragma(#text)
// Unrolls the loop that follows `count` times, or completely if its length is a constant of at most `count`. Without
// optimisation GCC would warn that it ignores this.
#if defined(__CUDA_ARCH__) || (defined(__clang__) && !defined(__CUDACC__))
#define FILIGREE_UNROLL(count) FILIGREE_PRAGMA(unroll count)
#elif defined(__GNUC__) && defined(__OPTIMIZE__) && !defined(__CUDACC__)
#define FILIGREE_UNROLL(count) FILIGREE_PRAGMA(GCC unroll count)
#else
#define FILIGREE_UNROLL(count)
#endif

namespace Filigree::Impl {

/// Whether the compiler assumes that there is no Inf and no NaN, as with -ffast-math. Then it removes tests for them.
#if defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__
constexpr bool assumes_finite_math = true;
#else
constexpr bool assumes_finite_math = false;
#endif

/// `condition`. It tells a compiler for a host that the condition is mostly true, so that the code for that case comes
/// directly after the test.
KOKKOS_FORCEINLINE_FUNCTION bool expect(bool condition) {
#if defined(__GNUC__) && !defined(__CUDA_ARCH__)
  return __builtin_expect(condition, true);
#else
  return condition;
#endif
}

/// Whether ExecutionSpace runs on a GPU, that is, cannot use host memory. On a GPU one or more lanes multiply
/// a row. On a host a team is one thread, which multiplies a long chunk of rows.
template <class ExecutionSpace>
constexpr bool runs_on_gpu_v = !Kokkos::SpaceAccessibility<ExecutionSpace, Kokkos::HostSpace>::accessible;

/// The policy of a kernel without teams: one lane per row, or per item of another kind, with 64-bit indices.
/// Tag selects the operator() of the functor; void is the one without a tag.
template <class Tag, class ExecutionSpace>
auto row_range(const ExecutionSpace& exec, std::int64_t rows) {
  return Kokkos::RangePolicy<ExecutionSpace, Tag, Kokkos::IndexType<std::int64_t>>(exec, 0, rows);
}

/// The most rows of a team on a host. Large teams make the streams of memory long in formats that store the
/// values by columns (see docs/performance.md, "CDS: streams on a host"). In other formats smaller teams spread
/// rows of different lengths better over the threads.
constexpr int host_rows = 4096;
constexpr int host_rows_of_long_streams = 16384;

/// The launch of a kernel whose teams process chunks of consecutive rows.
///
/// On a GPU the type alone fixes the team size, so that no launch queries the device. The default is 256
/// lanes: eight teams fill a multiprocessor of a current NVIDIA GPU, and leave 32 registers per lane. A team
/// keeps its part of the multiprocessor until its slowest lane ends, so larger teams leave more lanes idle.
/// TeamsPerSm is the number of teams that a multiprocessor must be able to run at once. It limits the
/// registers per lane. On a host a team has at most HostRows rows, and a multiple of ChunkUnit.
template <class ExecutionSpace, int MostLanes = 256, int TeamsPerSm = 1, int HostRows = host_rows,
          int ChunkUnit = 64>
struct RowLaunch {
  static constexpr bool gpu = runs_on_gpu_v<ExecutionSpace>;
  static constexpr int team_size = gpu ? MostLanes : 1;
  /// Rows per team: on a GPU with one lane per row, on a host at most.
  static constexpr int rows_per_team = gpu ? team_size : HostRows;
  /// The schedule is dynamic because rows differ in length: a host thread that is done takes over teams of
  /// the others (see docs/performance.md, "Dynamic schedule on hosts").
  using policy_type = Kokkos::TeamPolicy<ExecutionSpace, Kokkos::Schedule<Kokkos::Dynamic>,
                                         Kokkos::LaunchBounds<team_size, TeamsPerSm>>;
  using member_type = typename policy_type::member_type;

  /// The policy for T = lanes_per_row lanes per row and teams of lanes_per_team lanes, at most MostLanes. On
  /// a host T is 1.
  static policy_type policy(const ExecutionSpace& exec, std::int64_t rows, int lanes_per_team = team_size,
                            int lanes_per_row = 1) {
    if (gpu) {
      const int threads = lanes_per_team / lanes_per_row;
      return policy_type(exec, league_size(rows, threads), threads, lanes_per_row);
    }
    // Every thread gets equally many teams, unless the teams would have very few rows.
    const std::int64_t threads = exec.concurrency();
    const std::int64_t turns = (rows + threads * rows_per_team - 1) / (threads * rows_per_team);
    const std::int64_t teams = std::min(threads * turns, (rows + 4 * chunk_unit - 1) / (4 * chunk_unit));
    return policy_type(exec, league_size(rows, chunk(rows, std::max<std::int64_t>(teams, 1))), team_size, 1);
  }

  /// The rows of a team: first to first + count - 1. On a host, teams after the last row have count <= 0.
  struct TeamRows {
    std::int64_t first;
    int count;
  };
  /// The rows of `team`. All teams before the last row have equally many: on a GPU `of_gpu`, on a host a
  /// number that follows from the league size.
  KOKKOS_FORCEINLINE_FUNCTION static TeamRows rows_of_team(const member_type& team, std::int64_t row_count,
                                                           std::int64_t of_gpu = team_size) {
    const std::int64_t most = gpu ? of_gpu : chunk(row_count, team.league_size());
    const std::int64_t first = static_cast<std::int64_t>(team.league_rank()) * most;
    const std::int64_t end = first + most < row_count ? first + most : row_count;
    return {first, static_cast<int>(end - first)};
  }

  /// On a host the rows per team are a multiple of this. With 64, no slice of up to 64 rows lies in two teams.
  static constexpr std::int64_t chunk_unit = ChunkUnit;
  KOKKOS_FORCEINLINE_FUNCTION static std::int64_t chunk(std::int64_t rows, std::int64_t teams) {
    return round_up((rows + teams - 1) / teams, chunk_unit);
  }

  static int league_size(std::int64_t rows, std::int64_t rows_of_team) {
    return static_cast<int>((rows + rows_of_team - 1) / rows_of_team);
  }

  /// Rows of a tile, whose sums a host thread keeps on its stack at once. They take at most 8 * rows_per_team
  /// bytes, 32 or 128 KB, which fit its caches. Smaller tiles would cut a long stream of memory into many short
  /// ones.
  template <class Sums>
  static constexpr int tile = sizeof(Sums) <= 8 ? rows_per_team
                                                : static_cast<int>(8 * rows_per_team / sizeof(Sums));

  /// Calls body(first, count) for the tiles of the rows of this team, on a host.
  template <class Sums, class Body>
  KOKKOS_INLINE_FUNCTION static void for_each_tile(const member_type& team, std::int64_t row_count,
                                                   const Body& body) {
    const TeamRows rows = rows_of_team(team, row_count);
    for (int i = 0; i < rows.count; i += tile<Sums>)
      body(rows.first + i, rows.count - i < tile<Sums> ? rows.count - i : tile<Sums>);
  }

  /// Calls body(row) for the rows of this team.
  template <class Body>
  KOKKOS_FORCEINLINE_FUNCTION static void for_each_row(const member_type& team, std::int64_t row_count,
                                                       const Body& body) {
    const TeamRows rows = rows_of_team(team, row_count);
    Kokkos::parallel_for(Kokkos::TeamThreadRange(team, rows.count),
                         [&](const int i) { body(rows.first + i); });
  }
};

/// Memory for the sums of a tile on a host, of which the first `count` are set to 0. It is raw memory,
/// because an array would be set to 0 completely, even if the tile is a slice of few rows.
template <class Launch, class Sums>
class HostSums {
 public:
  KOKKOS_FORCEINLINE_FUNCTION explicit HostSums(std::int64_t count) {
    using element = std::remove_all_extents_t<Sums>;
    constexpr std::int64_t columns = static_cast<std::int64_t>(sizeof(Sums) / sizeof(element));
    element* const first = reinterpret_cast<element*>(m_memory);
    for (std::int64_t i = 0; i < count * columns; ++i)
      new (first + i) element(0);
  }
  KOKKOS_FORCEINLINE_FUNCTION Sums* sums() { return reinterpret_cast<Sums*>(m_memory); }

 private:
  alignas(Sums) unsigned char m_memory[sizeof(Sums) * Launch::template tile<Sums>];
};

}  // namespace Filigree::Impl

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FILIGREE_CORE_LAUNCH_HPP
#define FILIGREE_CORE_LAUNCH_HPP

#include <algorithm>
#include <cstdint>
#include <new>
#include <type_traits>

#include "filigree/core/kokkos_versions.hpp"

#define FILIGREE_PRAGMA(text) _Pragma(#text)
// The loop that follows is unrolled count times, or whole where its length is a smaller constant.
#if defined(__CUDA_ARCH__) || (defined(__clang__) && !defined(__CUDACC__))
#define FILIGREE_UNROLL(count) FILIGREE_PRAGMA(unroll count)
#elif defined(__GNUC__) && !defined(__CUDACC__)
#define FILIGREE_UNROLL(count) FILIGREE_PRAGMA(GCC unroll count)
#else
#define FILIGREE_UNROLL(count)
#endif

namespace Filigree {
namespace Impl {

/// Whether ExecutionSpace runs on a device that cannot use host memory: there a lane is a row; on a host a
/// team is one thread with a long chunk of rows.
template <class ExecutionSpace>
constexpr bool runs_on_gpu_v = !Kokkos::SpaceAccessibility<ExecutionSpace, Kokkos::HostSpace>::accessible;

/// One lane a row for work that runs once a conversion, in 64-bit indices; Tag selects the operator(), void
/// is none.
template <class Tag, class ExecutionSpace>
auto row_range(const ExecutionSpace& exec, std::int64_t rows) {
  return Kokkos::RangePolicy<ExecutionSpace, Tag, Kokkos::IndexType<std::int64_t>>(exec, 0, rows);
}

/// The launch that gives every team a chunk of consecutive rows, on a GPU fixed by the type alone so that no
/// launch asks the device anything. 256 lanes fill an SM of today's NVIDIA GPUs in eight teams and leave 32
/// registers a lane at full occupancy; more lanes a team only make its last team end later.
/// A GPU must be able to run TeamsPerSm of them on one SM at once, which limits the registers of a lane.
template <class ExecutionSpace, int MostLanes = 256, int TeamsPerSm = 1>
struct RowLaunch {
  static constexpr bool gpu = runs_on_gpu_v<ExecutionSpace>;
  static constexpr int team_size = gpu ? MostLanes : 1;
  /// On a host the most rows of a team, which the league says: see team_rows.
  static constexpr int rows_per_team = gpu ? team_size : 4096;
  /// Dynamic: where a host has more teams than threads, a thread that is done takes over teams of others, as
  /// rows differ in length (six cores of a Xeon, times of Kokkos Kernels' CRS: JDS, whose longest rows are
  /// those of one thread, of qh1484 3273 times along the diagonal 1.2, 2.3 without). Products of 864 and 4000
  /// rows took as long with it as without.
  using policy_type = Kokkos::TeamPolicy<ExecutionSpace, Kokkos::Schedule<Kokkos::Dynamic>,
                                         Kokkos::LaunchBounds<team_size, TeamsPerSm>>;
  using member_type = typename policy_type::member_type;

  static policy_type policy(const ExecutionSpace& exec, std::int64_t rows) {
    if (gpu) return policy_type(exec, league_size(rows, rows_per_team), team_size, 1);
    // As many teams for each thread, unless they would have very few rows.
    const std::int64_t threads = exec.concurrency();
    const std::int64_t turns = (rows + threads * rows_per_team - 1) / (threads * rows_per_team);
    const std::int64_t teams = std::min(threads * turns, (rows + 4 * chunk_unit - 1) / (4 * chunk_unit));
    return policy_type(exec, league_size(rows, chunk(rows, std::max<std::int64_t>(teams, 1))), team_size, 1);
  }

  /// Rows of a team, the same for all but the last ones: on a GPU those given, on a host what the league
  /// says. There teams behind the last row may have none.
  KOKKOS_FORCEINLINE_FUNCTION static std::int64_t team_rows(const member_type& team, std::int64_t row_count,
                                                            std::int64_t of_gpu = team_size) {
    return gpu ? of_gpu : chunk(row_count, team.league_size());
  }

  /// For T lanes a row: teams of lanes_per_team lanes, at most MostLanes. On a host T is 1.
  static policy_type policy(const ExecutionSpace& exec, std::int64_t rows, int lanes_per_team,
                            int lanes_per_row) {
    const int threads = lanes_per_team / lanes_per_row;
    return gpu ? policy_type(exec, league_size(rows, threads), threads, lanes_per_row) : policy(exec, rows);
  }

  /// Chunks of a host are multiples of as many rows: a slice of up to 64 does not lie in two.
  static constexpr std::int64_t chunk_unit = 64;
  KOKKOS_FORCEINLINE_FUNCTION static std::int64_t chunk(std::int64_t rows, std::int64_t teams) {
    return ((rows + teams - 1) / teams + chunk_unit - 1) / chunk_unit * chunk_unit;
  }

  static int league_size(std::int64_t rows, std::int64_t rows_of_team) {
    return static_cast<int>((rows + rows_of_team - 1) / rows_of_team);
  }

  /// Rows whose sums a thread of a host keeps at once: 32 KB of them, which its caches hold beside what they
  /// are added from. Fewer make many short streams of one long one.
  template <class Sums>
  static constexpr int tile = sizeof(Sums) * rows_per_team <= 32768 ? rows_per_team
                                                                    : static_cast<int>(32768 / sizeof(Sums));

  /// Calls body(first, count) for the tiles of this team's chunk, on a host.
  template <class Sums, class Body>
  KOKKOS_INLINE_FUNCTION static void for_each_tile(const member_type& team, std::int64_t row_count,
                                                   const Body& body) {
    const std::int64_t of_team = team_rows(team, row_count);
    std::int64_t first = static_cast<std::int64_t>(team.league_rank()) * of_team;
    const std::int64_t end = first + of_team < row_count ? first + of_team : row_count;
    for (; first < end; first += tile<Sums>)
      body(first, end - first < tile<Sums> ? end - first : tile<Sums>);
  }

  /// Calls body(row) for the rows of this team's chunk that are below row_count.
  template <class Body>
  KOKKOS_FORCEINLINE_FUNCTION static void for_each_row(const member_type& team, std::int64_t row_count,
                                                       const Body& body) {
    const std::int64_t of_team = team_rows(team, row_count);
    const std::int64_t first = static_cast<std::int64_t>(team.league_rank()) * of_team;
    const std::int64_t count = row_count - first < of_team ? row_count - first : of_team;
    Kokkos::parallel_for(Kokkos::TeamThreadRange(team, static_cast<int>(count)),
                         [&](const int row) { body(first + row); });
  }
};

/// The sums of a tile of a host, `count` of them 0. An array would be zeroed whole for each slice that a tile
/// is.
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

}  // namespace Impl
}  // namespace Filigree

#endif

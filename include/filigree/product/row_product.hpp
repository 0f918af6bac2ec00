// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// y = beta*y + alpha*op(A)*x for matrices stored as Rows (rows.hpp).
#ifndef FILIGREE_PRODUCT_ROW_PRODUCT_HPP
#define FILIGREE_PRODUCT_ROW_PRODUCT_HPP

#include <cstdint>
#include <string>

#include "filigree/core/launch.hpp"
#include "filigree/core/mode.hpp"
#include "filigree/product/operands.hpp"
#include "filigree/product/row_layout.hpp"

namespace Filigree {
namespace Impl {

/// The sums of a row, one a column of x, as lanes add them up.
template <class Operands>
struct RowSums {
  typename Operands::sums_type sums = {};

  KOKKOS_FORCEINLINE_FUNCTION RowSums& operator+=(const RowSums& other) {
    for (int c = 0; c < Operands::most_columns; ++c)
      sums[c] += other.sums[c];
    return *this;
  }
};

}  // namespace Impl
}  // namespace Filigree

/// What reductions over the lanes of a team begin with, up to Kokkos 4.4.
template <class Operands>
struct Kokkos::reduction_identity<Filigree::Impl::RowSums<Operands>> {
  KOKKOS_FORCEINLINE_FUNCTION static Filigree::Impl::RowSums<Operands> sum() { return {}; }
};

namespace Filigree {
namespace Impl {

/// Entries whose loads a lane of a GPU has under way at once: as many as 48 registers have room for.
template <class Scalar>
constexpr int entries_under_way = sizeof(Scalar) <= 8 ? 6 : 4;

/// sums += the products of entries_under_way entries of a run from the first one on, or where not Whole of
/// those that the run has, in its order. All values and columns are loaded, then all of x: a lane waits twice
/// and not once for each entry. What is not there, and padding, adds 0 * 0.
template <bool Padded, bool Conjugate, bool Whole, class Operands, class Run>
KOKKOS_FORCEINLINE_FUNCTION void add_batch(const Operands& operands, typename Operands::sums_type& sums,
                                           const Run& run, const decltype(Run::count) first) {
  using column_type = decltype(run.column_once(0));
  using value_type = decltype(run.value_once(0));
  constexpr int size = entries_under_way<value_type>;
  column_type columns[size];
  value_type values[size];
  FILIGREE_UNROLL(8)
  for (int u = 0; u < size; ++u) {
    const bool is_there = Whole || first + u < run.count;
    columns[u] = is_there ? run.column_once(first + u) : column_type(-1);
    values[u] = is_there ? conjugate_if<Conjugate>(run.value_once(first + u)) : value_type(0);
  }
  operands.template add_batch<!Whole || Padded, true>(sums, values, columns);
}

/// sums += the products of a run, in its order, on a host four by four.
template <bool Gpu, bool Padded, bool Conjugate, class Operands, class Run>
KOKKOS_FORCEINLINE_FUNCTION void add_run(const Operands& operands, typename Operands::sums_type& sums,
                                         const Run& run) {
  decltype(Run::count) j = 0;
  if constexpr (Gpu) {
    constexpr int size = entries_under_way<decltype(run.value_once(0))>;
    FILIGREE_UNROLL(1)
    for (; j + size <= run.count; j += size)
      add_batch<Padded, Conjugate, true>(operands, sums, run, j);
    if (j < run.count) add_batch<Padded, Conjugate, false>(operands, sums, run, j);
  } else {
    if constexpr (!Padded && Operands::most_columns == 1) {
      // Each addition would wait for the one before: every fourth entry has a sum of its own (bcsstk33 33
      // times along the diagonal, one core: 0.99 to 1.02 times Kokkos Kernels' CRS, 1.21 and 1.63 with one
      // sum).
      using sum_type = typename Operands::accumulator_type;
      typename Operands::sums_type others[3] = {{sum_type(0)}, {sum_type(0)}, {sum_type(0)}};
      for (; j + 4 <= run.count; j += 4) {
        operands.add(sums, conjugate_if<Conjugate>(run.value(j)), run.column_once(j));
        FILIGREE_UNROLL(3)
        for (int i = 0; i < 3; ++i)
          operands.add(others[i], conjugate_if<Conjugate>(run.value(j + 1 + i)), run.column_once(j + 1 + i));
      }
      sums[0] += others[1][0] + (others[0][0] + others[2][0]);
    }
    for (; j < run.count; ++j) {
      const auto column = run.column_once(j);
      if (!Padded || column >= 0) operands.add(sums, conjugate_if<Conjugate>(run.value(j)), column);
    }
  }
}

/// The same for a row in two places, one run after the other.
template <bool Gpu, bool Padded, bool Conjugate, class Operands, class First, class Second>
KOKKOS_FORCEINLINE_FUNCTION void add_run(const Operands& operands, typename Operands::sums_type& sums,
                                         const JoinedEntries<First, Second>& run) {
  add_run<Gpu, Padded, Conjugate>(operands, sums, run.first);
  add_run<Gpu, Padded, Conjugate>(operands, sums, run.second);
}

/// Modes N and C. On a GPU T lanes multiply a row, T being Rows::lanes(): Vector is whether there are more
/// than one. Each adds the products of its run in their order; then the sums of the lanes are added as a
/// tree. The order is fixed, so every run gives the same bits.
template <class Launch, class Rows, class Operands, bool Conjugate, bool Vector>
struct RowSpmv {
  using launch = Launch;
  using sums_type = typename Operands::sums_type;
  using stored_row_type = stored_row_t<typename Rows::ordinal_type>;
  static constexpr std::int64_t tile_size = launch::template tile<sums_type>;

  Rows rows;
  Operands operands;
  int rows_per_gpu_team;

  KOKKOS_FORCEINLINE_FUNCTION void store(const sums_type& sums, std::int64_t i) const {
    const std::int64_t row = rows.matrix_row(i);
    if (row >= 0) operands.store(sums, row);
  }

  KOKKOS_FORCEINLINE_FUNCTION void row_product(const stored_row_type i) const {
    // Asked for first, so that no lane waits for it after the products.
    const std::int64_t row = rows.matrix_row(i);
    sums_type sums = {};
    add_run<launch::gpu, Rows::padded, Conjugate>(operands, sums, rows.lane_entries(i, 0));
    if (row >= 0) operands.store(sums, row);
  }

  KOKKOS_FORCEINLINE_FUNCTION void row_product(const typename launch::member_type& team,
                                               const stored_row_type i) const {
    RowSums<Operands> all;
    Kokkos::parallel_reduce(
        Kokkos::ThreadVectorRange(team, rows.lanes()),
        [&](const int lane, RowSums<Operands>& mine) {
          add_run<launch::gpu, Rows::padded, Conjugate>(operands, mine.sums, rows.lane_entries(i, lane));
        },
        all);
    Kokkos::single(Kokkos::PerThread(team), [&]() { store(all.sums, i); });
  }

  /// The products of `count` neighbouring places from `first` on, on a host: there a core reads the storage
  /// as streams, into sums that stay in its caches.
  template <bool UnitStride, class Tile>
  KOKKOS_INLINE_FUNCTION void tile_product(const Tile& tile, const std::int64_t first,
                                           const std::int64_t count) const {
    // A copy, which can stay in registers while sums are stored.
    const Operands of_product = operands.template with_stride<UnitStride>();
    HostSums<launch, sums_type> memory(count);
    sums_type* const sums = memory.sums();
    tile.template add<Conjugate>(of_product, sums);
    if constexpr (has_rests_v<Rows>)
      rows.visit_rests(first, count, [&](const std::int64_t i, const auto& run) {
        RowSums<Operands> row;
        for (int c = 0; c < Operands::most_columns; ++c)
          row.sums[c] = sums[i][c];
        add_run<false, false, Conjugate>(of_product, row.sums, run);
        for (int c = 0; c < Operands::most_columns; ++c)
          sums[i][c] = row.sums[c];
      });
    for (std::int64_t i = 0; i < count; ++i)
      store(sums[i], first + i);
  }

  /// The rows from first to end - 1 on a host, where a row has one lane.
  template <bool UnitStride>
  KOKKOS_INLINE_FUNCTION void host_rows(const std::int64_t first, const std::int64_t end) const {
    if constexpr (has_tiles_v<Rows>) {
      for (std::int64_t i = first; i < end;) {
        const std::int64_t count = rows.tile_rows(i, end - i < tile_size ? end - i : tile_size);
        rows.visit_tile(i, count, [&](const auto& tile) { tile_product<UnitStride>(tile, i, count); });
        i += count;
      }
    } else {
      const Operands of_product = operands.template with_stride<UnitStride>();
      for (std::int64_t i = first; i < end; ++i) {
        const auto run = rows.lane_entries(i, 0);
        prefetch_ahead(run.values, run.count);  // the gain is at BalancedSpmv::host_chunk
        prefetch_ahead(run.entries, run.count);
        sums_type sums = {};
        add_run<false, Rows::padded, Conjugate>(of_product, sums, run);
        store(sums, i);
      }
    }
  }

  KOKKOS_INLINE_FUNCTION void operator()(const typename launch::member_type& team) const {
    const std::int64_t of_team = launch::team_rows(team, rows.stored_row_count(), rows_per_gpu_team);
    const std::int64_t first = static_cast<std::int64_t>(team.league_rank()) * of_team;
    const std::int64_t end =
        first + of_team < rows.stored_row_count() ? first + of_team : rows.stored_row_count();
    if constexpr (launch::gpu) {
      Kokkos::parallel_for(Kokkos::TeamThreadRange(team, static_cast<int>(end - first)), [&](const int i) {
        if constexpr (Vector)
          row_product(team, first + i);
        else
          row_product(first + i);
      });
    } else {
      if (operands.x.has_unit_stride())
        host_rows<true>(first, end);
      else
        host_rows<false>(first, end);
    }
  }
};

/// Modes T and H: a lane adds the products of its run to y with atomics, so the order of the sums, and with
/// it the last bits, may change from run to run. Each addition rounds to the type of y.
template <class Launch, class Rows, class Operands, bool Conjugate>
struct RowScatter {
  using launch = Launch;

  Rows rows;
  Operands operands;
  int rows_per_gpu_team;

  KOKKOS_FORCEINLINE_FUNCTION void scatter_run(const std::int64_t i, const int lane) const {
    const std::int64_t row = rows.matrix_row(i);
    if (row < 0) return;
    const auto run = rows.lane_entries(i, lane);
    for (std::int64_t j = 0; j < run.count; ++j) {
      const std::int64_t column = run.column(j);
      if (!Rows::padded || column >= 0) operands.scatter(row, conjugate_if<Conjugate>(run.value(j)), column);
    }
  }

  KOKKOS_INLINE_FUNCTION void operator()(const typename launch::member_type& team) const {
    const std::int64_t of_team = launch::team_rows(team, rows.stored_row_count(), rows_per_gpu_team);
    const std::int64_t first = static_cast<std::int64_t>(team.league_rank()) * of_team;
    const std::int64_t count =
        rows.stored_row_count() - first < of_team ? rows.stored_row_count() - first : of_team;
    Kokkos::parallel_for(Kokkos::TeamThreadRange(team, static_cast<int>(count)), [&](const int i) {
      Kokkos::parallel_for(Kokkos::ThreadVectorRange(team, rows.lanes()),
                           [&](const int lane) { scatter_run(first + i, lane); });
    });
  }
};

/// Launches the product of Rows: y has `extent` rows in modes T and H. On a GPU teams have lanes_per_team
/// lanes, a power of two, at least T and 32, at most 256 or, with LargeTeams, 1024.
template <bool LargeTeams = false, class ExecutionSpace, class Rows, class Operands>
void row_spmv(const ExecutionSpace& exec, const std::string& name, Mode mode, const Rows& rows,
              const Operands& operands, std::int64_t extent, int lanes_per_team = 256) {
  const auto launch = [&](auto kernel, int lanes) {
    using Launch = typename decltype(kernel)::launch;
    kernel.rows_per_gpu_team = lanes / rows.lanes();
    Kokkos::parallel_for(name, Launch::policy(exec, rows.stored_row_count(), lanes, rows.lanes()), kernel);
  };
  if (is_transpose(mode)) operands.scale(exec, extent);
  with_mode<typename Rows::scalar_type>(mode, [&](auto transpose, auto conjugate) {
    constexpr bool c = decltype(conjugate)::value;
    using Launch = ProductLaunch<ExecutionSpace, Operands>;
    if constexpr (decltype(transpose)::value) {
      launch(RowScatter<Launch, Rows, Operands, c>{rows, operands, 0}, Launch::team_size);
    } else if constexpr (!Launch::gpu || !Rows::has_lanes) {
      launch(RowSpmv<Launch, Rows, Operands, c, false>{rows, operands, 0}, Launch::team_size);
    } else {
      const auto launch_teams = [&](auto team_launch) {
        using TeamLaunch = decltype(team_launch);
        if (rows.lanes() == 1)
          launch(RowSpmv<TeamLaunch, Rows, Operands, c, false>{rows, operands, 0}, lanes_per_team);
        else
          launch(RowSpmv<TeamLaunch, Rows, Operands, c, true>{rows, operands, 0}, lanes_per_team);
      };
      // A kernel for more lanes a team may use fewer registers: it is another one.
      if (LargeTeams && lanes_per_team > Launch::team_size) {
        if constexpr (LargeTeams) launch_teams(RowLaunch<ExecutionSpace, 1024>());
      } else {
        launch_teams(Launch());
      }
    }
  });
}

}  // namespace Impl
}  // namespace Filigree

#endif

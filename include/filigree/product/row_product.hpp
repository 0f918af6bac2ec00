// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// y = beta*y + alpha*op(A)*x for every format that has a layout (row_layout.hpp). The loops over the entries:
//
//   AddOnDevice     the entries of one lane of a GPU
//   add_on_host     the entries of one row on a host (host_rows.hpp, which has rows of CRS, too)
//   HostTile::add   the entries of a tile of rows on a host (host_tile.hpp; JDS has JaggedTile::add)
//   RowScatter      modes T and H
#pragma once

#include <algorithm>
#include <string>

#include "filigree/core/mode.hpp"
#include "filigree/product/add_batch.hpp"
#include "filigree/product/host_rows.hpp"
#include "filigree/product/launch_product.hpp"
#include "filigree/product/operands.hpp"
#include "filigree/product/row_layout.hpp"

namespace Filigree::Impl {

/// The sums of one row, one per column of x, which a reduction over lanes can add.
template <class Operands>
struct RowSums {
  typename Operands::sums_type sums = {};

  KOKKOS_FORCEINLINE_FUNCTION RowSums& operator+=(const RowSums& other) {
    for (int c = 0; c < Operands::most_columns; ++c)
      sums[c] += other.sums[c];
    return *this;
  }
};

/// The number of entries that a lane of a GPU loads before it uses the first. For one column of x they fit
/// into 48 registers. Several columns have enough loads in flight with fewer entries.
template <class Scalar, int Columns>
constexpr int entries_in_flight = sizeof(Scalar) <= 8 && Columns == 1 ? 6 : 4;

/// The visitor of lane entries on a GPU, with the loop over them: sums += value(j) * x(column(j), :), in the
/// order of j. It is a class and not a lambda, so that the compiler inlines it also if a layout visits two
/// parts of a row (see docs/performance.md, "Device loop as a class").
///
/// A batch first loads all its values and columns, then all its elements of x, then adds. So a lane waits for
/// memory twice per batch and not twice per entry. Entries after the end of the last batch, and padding, are
/// loaded as column -1 and add 0 * 0.
template <bool Padded, bool JoinsWords, bool Conjugate, class Operands>
struct AddOnDevice {
  const Operands& operands;
  typename Operands::sums_type& sums;

  template <class Entries>
  KOKKOS_FORCEINLINE_FUNCTION void operator()(const Entries& entries) const {
    using length_type = std::decay_t<decltype(entries.count)>;
    using value_type = decltype(entries.value_once(0));
    using column_type = decltype(entries.column_once(0));
    using x_type = typename Operands::x_type;
    using accumulator_type = typename Operands::accumulator_type;
    constexpr int batch = entries_in_flight<value_type, Operands::most_columns>;
    const auto load_value = [&](const length_type j) {
      if constexpr (JoinsWords && Operands::most_columns == 1 && std::is_same_v<value_type, double>)
        return load_words_once(entries.values + entries.position(j));
      else
        return entries.value_once(j);
    };

    const auto add_entries = [&](const length_type first, auto is_whole) {
      constexpr bool whole = decltype(is_whole)::value;
      value_type values[batch];
      column_type columns[batch];
      bool all_exist = true;
      FILIGREE_UNROLL(8)
      for (int u = 0; u < batch; ++u) {
        const bool is_entry = whole || first + u < entries.count;
        columns[u] = is_entry ? entries.column_once(first + u) : column_type(-1);
        values[u] = is_entry ? conjugate_if<Conjugate>(load_value(first + u)) : value_type(0);
        all_exist = all_exist && columns[u] >= 0;
      }
      const auto multiply = [&](auto unchecked) {
        add_batch(
            operands, sums, columns, [&](int u) { return decltype(unchecked)::value || columns[u] >= 0; },
            [&](accumulator_type& sum, int u, const x_type& factor) {
              sum += widen<accumulator_type>(values[u]) * widen<accumulator_type>(factor);
            });
      };
      // One test per batch instead of one per column of x: most batches have no padding.
      if constexpr (whole && !Padded)
        multiply(std::true_type());
      else if (Operands::most_columns > 1 && all_exist)
        multiply(std::true_type());
      else
        multiply(std::false_type());
    };

    length_type j = 0;
    FILIGREE_UNROLL(1)
    for (; j + batch <= entries.count; j += batch)
      add_entries(j, std::true_type());
    if (j < entries.count) add_entries(j, std::false_type());
  }
};

/// Modes N and C. On a GPU T = layout.lanes() lanes multiply a row; SeveralLanes is whether T is more than 1.
/// Each lane adds the products of its entries in their order, then the sums of the lanes are added as a tree.
/// The order is fixed, so every run gives the same bits.
template <class Launch, class Layout, class Operands, bool Conjugate, bool SeveralLanes>
struct RowProduct {
  using launch = Launch;
  using sums_type = typename Operands::sums_type;

  Layout layout;
  Operands operands;
  int rows_per_gpu_team;

  KOKKOS_INLINE_FUNCTION void operator()(const typename launch::member_type& team) const {
    if constexpr (Operands::has_column_lanes) {
      for_each_row_of_columns<launch>(
          team, layout.stored_row_count(), operands,
          [&](const std::int64_t row, const Operands& of_lane) { multiply(row, of_lane); });
    } else {
      const auto rows = launch::rows_of_team(team, layout.stored_row_count(), rows_per_gpu_team);
      if constexpr (launch::gpu) {
        Kokkos::parallel_for(Kokkos::TeamThreadRange(team, rows.count), [&](const int i) {
          if constexpr (SeveralLanes)
            multiply_by_lanes(team, rows.first + i);
          else
            multiply(rows.first + i, operands);
        });
      } else if (operands.x.has_unit_stride()) {
        multiply_on_host<true>(rows.first, rows.first + rows.count);
      } else {
        multiply_on_host<false>(rows.first, rows.first + rows.count);
      }
    }
  }

 private:
  using stored_row_type = stored_row_t<typename Layout::ordinal_type>;
  using adder = AddOnDevice<Layout::padded, Layout::joins_words, Conjugate, Operands>;

  /// Stored row i by one lane of a GPU.
  KOKKOS_FORCEINLINE_FUNCTION void multiply(const stored_row_type i, const Operands& of_lane) const {
    // Loaded before the entries, so that the lane does not wait for it at the end.
    const std::int64_t row = layout.matrix_row(i);
    sums_type sums = {};
    layout.visit_lane_entries(i, 0, adder{of_lane, sums});
    if (row >= 0) of_lane.store(sums, row);
  }

  /// Stored row i by T lanes of a GPU.
  KOKKOS_FORCEINLINE_FUNCTION void multiply_by_lanes(const typename launch::member_type& team,
                                                     const stored_row_type i) const {
    RowSums<Operands> all;
    Kokkos::parallel_reduce(
        Kokkos::ThreadVectorRange(team, layout.lanes()),
        [&](const int lane, RowSums<Operands>& mine) {
          layout.visit_lane_entries(i, lane, adder{operands, mine.sums});
        },
        all);
    Kokkos::single(Kokkos::PerThread(team), [&]() { store(layout, operands, all.sums, i); });
  }

  /// Stored rows first to end - 1 on a host, where a row has one lane. If UnitStride, x has unit stride.
  template <bool UnitStride>
  KOKKOS_INLINE_FUNCTION void multiply_on_host(const std::int64_t first, const std::int64_t end) const {
    if constexpr (Layout::has_tiles) {
      constexpr std::int64_t tile_size = launch::template tile<sums_type>;
      for (std::int64_t i = first; i < end;) {
        const std::int64_t count = layout.tile_rows(i, end - i < tile_size ? end - i : tile_size);
        layout.visit_tile(i, count, [&](const auto& tile) {
          // After a store to y the compiler loads members of *this again, but not those of local copies.
          const Operands of_product = operands.template with_stride<UnitStride>();
          const Layout local_layout = layout;
          HostSums<launch, sums_type> memory(count);
          sums_type* const sums = memory.sums();
          tile.template add<Conjugate>(of_product, sums);
          if constexpr (Layout::has_excess)
            layout.visit_excess(i, count, [&](const std::int64_t j, const auto& entries) {
              // A local copy, because the compiler does not keep sums[j] in registers.
              RowSums<Operands> row;
              for (int c = 0; c < Operands::most_columns; ++c)
                row.sums[c] = sums[j][c];
              add_on_host<false, Conjugate>(of_product, row.sums, entries);
              for (int c = 0; c < Operands::most_columns; ++c)
                sums[j][c] = row.sums[c];
            });
          store_tile(local_layout, of_product, sums, i, count);
        });
        i += count;
      }
    } else {
      static_assert(!Layout::padded, "add_row_on_host() does not test for padding.");
      multiply_rows_on_host<UnitStride, Conjugate>(layout, operands, first, end);
    }
  }

  /// Stores the sums of the stored rows i to i + count - 1 of a tile.
  static KOKKOS_FORCEINLINE_FUNCTION void store_tile(const Layout& layout, const Operands& operands,
                                                     const sums_type* const sums, const std::int64_t i,
                                                     std::int64_t count) {
    if (layout.is_in_matrix_order()) {
      while (count > 0 && layout.matrix_row(i + count - 1) < 0)
        --count;
      if (count > 0) store_neighbours(operands, sums, layout.matrix_row(i), count);
    } else {
      for (std::int64_t j = 0; j < count; ++j)
        store(layout, operands, sums[j], i + j);
    }
  }

  /// Stores the sums of stored row i, if it holds a matrix row.
  static KOKKOS_FORCEINLINE_FUNCTION void store(const Layout& layout, const Operands& operands,
                                                const sums_type& sums, std::int64_t i) {
    const std::int64_t row = layout.matrix_row(i);
    if (row >= 0) operands.store(sums, row);
  }
};

/// Modes T and H: each lane adds the products of its entries to y with atomics. The order of the additions,
/// and with it the last bits, may change from run to run. Each addition rounds to the type of y.
template <class Launch, class Layout, class Operands, bool Conjugate>
struct RowScatter {
  using launch = Launch;

  Layout layout;
  Operands operands;
  int rows_per_gpu_team;

  KOKKOS_INLINE_FUNCTION void operator()(const typename launch::member_type& team) const {
    const auto rows = launch::rows_of_team(team, layout.stored_row_count(), rows_per_gpu_team);
    Kokkos::parallel_for(Kokkos::TeamThreadRange(team, rows.count), [&](const int i) {
      Kokkos::parallel_for(Kokkos::ThreadVectorRange(team, layout.lanes()),
                           [&](const int lane) { scatter(rows.first + i, lane); });
    });
  }

 private:
  KOKKOS_FORCEINLINE_FUNCTION void scatter(const std::int64_t i, const int lane) const {
    const std::int64_t row = layout.matrix_row(i);
    if (row < 0) return;
    layout.visit_lane_entries(i, lane, [&](const auto& entries) {
      for (std::int64_t j = 0; j < entries.count; ++j) {
        const std::int64_t column = entries.column(j);
        if (!Layout::padded || column >= 0)
          operands.scatter(row, conjugate_if<Conjugate>(entries.value(j)), column);
      }
    });
  }
};

/// The launch of RowProduct with one lane per row, or with column lanes. For 16 columns of double SELL is faster with
/// five teams per multiprocessor than with four.
template <class ExecutionSpace, class Layout, class Operands>
using RowProductLaunch =
    ProductLaunch<ExecutionSpace, Operands, 256, Layout::rows_per_host_team, Layout::is_sliced ? 5 : 4>;

/// Launches the product of a matrix with the given layout. `num_cols` is the number of columns of the matrix,
/// the rows of y in modes T and H. On a GPU a team has lanes_per_team lanes: a power of two, at least T and
/// 32, and at most 256, or 1024 if LargeTeams. If one lane has 16 columns of x, see
/// has_sixteen_columns(), and lanes_per_team is at most 256, a team has at most 128.
template <bool LargeTeams = false, class ExecutionSpace, class Layout, class Operands>
void launch_row_product(const ExecutionSpace& exec, const std::string& name, Mode mode, const Layout& layout,
                        const Operands& operands, std::int64_t num_cols, int lanes_per_team = 256) {
  const auto launch = [&](auto kernel, int lanes) {
    using Launch = typename decltype(kernel)::launch;
    kernel.rows_per_gpu_team = lanes / layout.lanes();
    const std::int64_t rows = layout.stored_row_count() << kernel.operands.log2_column_lanes();
    launch_product(exec, name, Launch::policy(exec, rows, lanes, layout.lanes()), kernel);
  };
  if (is_transpose(mode)) operands.scale(exec, num_cols);
  operands.with_mode(mode, [&](auto transpose, auto conjugate) {
    constexpr bool c = decltype(conjugate)::value;
    using Launch = RowProductLaunch<ExecutionSpace, Layout, Operands>;
    const auto any_count = operands.with_any_count();
    using AnyCount = std::decay_t<decltype(any_count)>;
    using AnyLaunch = ProductLaunch<ExecutionSpace, AnyCount>;
    if constexpr (decltype(transpose)::value) {
      using Scatter = RowScatter<AnyLaunch, Layout, AnyCount, c>;
      launch(Scatter{layout, any_count, 0}, AnyLaunch::team_size);
    } else if constexpr (!Launch::gpu || !Layout::has_lanes) {
      launch(RowProduct<Launch, Layout, Operands, c, false>{layout, operands, 0}, Launch::team_size);
    } else {
      const auto launch_teams = [&](auto one_lane, auto several_lanes) {
        using OneLane = RowProduct<decltype(one_lane), Layout, Operands, c, false>;
        using SeveralLanes = RowProduct<decltype(several_lanes), Layout, AnyCount, c, true>;
        if (layout.lanes() == 1)
          launch(OneLane{layout, operands, 0}, std::min(lanes_per_team, decltype(one_lane)::team_size));
        else
          launch(SeveralLanes{layout, any_count, 0}, lanes_per_team);
      };
      // Large teams need a kernel of their own, because it may use fewer registers.
      if constexpr (LargeTeams)
        if (lanes_per_team > AnyLaunch::team_size) {
          using Large = RowLaunch<ExecutionSpace, 1024>;
          launch_teams(Large(), Large());
          return;
        }
      launch_teams(Launch(), AnyLaunch());
    }
  });
}

}  // namespace Filigree::Impl

/// @cond specializations
/// Kokkos up to 4.4 starts a reduction over the lanes of a team with this.
template <class Operands>
struct Kokkos::reduction_identity<Filigree::Impl::RowSums<Operands>> {
  KOKKOS_FORCEINLINE_FUNCTION static Filigree::Impl::RowSums<Operands> sum() { return {}; }
};
/// @endcond

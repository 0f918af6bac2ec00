// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>

#include "filigree/core/lane_group.hpp"
#include "filigree/core/launch.hpp"
#include "filigree/product/add_batch.hpp"
#include "filigree/product/launch_product.hpp"
#include "filigree/product/operands.hpp"

namespace Filigree::Impl {

/// The product of a layout with T = 1 (lanes per row) and 4, 8 or 16 columns of a row-major x on an NVIDIA GPU, in
/// modes N and C. One, two or four column lanes (Lanes) multiply a row, each with four columns of x. In RowProduct
/// each of them loads all entries of the row. Here each loads others and gives them to its neighbours, so that a lane
/// has more entries in flight and issues fewer loads (see docs/performance.md, "Entries that lanes share"). The next
/// batch of entries is loaded at the end of a batch, also by one lane. The products of a row are added in the order
/// of its entries, as in RowProduct.
///
/// Lanes of a warp can give each other entries only if they all execute the same instruction. So all rows of a warp
/// take as many batches as the longest of them, and lanes after the last row take part, too. The layout has three
/// members for this kernel: visit_row_of_group(), length_of_row() and is_sliced.
template <class ExecutionSpace, class Layout, class Operands, int Lanes>
struct SharedEntriesProduct {
  static_assert(lanes_per_group<ExecutionSpace> % Lanes == 0, "The lanes of a row belong to one group.");
  using scalar_type = typename Operands::x_type;
  using ordinal_type = typename Layout::ordinal_type;
  using sums_type = typename Operands::sums_type;
  using accumulator_type = typename Operands::accumulator_type;
  using stored_row_type = stored_row_t<ordinal_type>;
  static constexpr bool is_float = std::is_same_v<scalar_type, float>;
  /// Entries per batch, those that a lane loads itself, and those whose elements of x are in flight together. One lane
  /// loads all entries of a row, so that its batches are small. ELL of double is faster with small batches, too (see
  /// docs/performance.md, "Entries that lanes share" and "Halves of columns in turns").
  static constexpr int batch = Lanes > 1 && (is_float || Layout::is_sliced) ? 8 : 4;
  static constexpr int own = batch / Lanes;
  static constexpr int together = 4;
  /// Lanes per team, and teams per multiprocessor. The fewer lanes, the more registers each of them has: 32 or 40 for
  /// float, 48 for double, and 56 for large batches of double. With 48 the compiler would keep a part of these in memory.
  static constexpr int team_size = is_float || batch == 4 ? 256 : 128;
  static constexpr int teams = is_float ? (Lanes == 1 ? 8 : 6) : (batch == 4 ? 5 : 9);
  using launch = RowLaunch<ExecutionSpace, team_size, teams>;

  Layout layout;
  Operands operands;

  void launch_on(const ExecutionSpace& exec, const std::string& name) const {
    launch_product(exec, name, launch::policy(exec, layout.stored_row_count() * Lanes), *this);
  }

  KOKKOS_INLINE_FUNCTION void operator()(const typename launch::member_type& team) const {
    const std::int64_t lane =
        static_cast<std::int64_t>(team.league_rank()) * launch::team_size + team.team_rank();
    const auto row = static_cast<stored_row_type>(lane / Lanes);
    const auto last = static_cast<stored_row_type>(layout.stored_row_count() - 1);
    multiply(row < last ? row : last, row <= last, team.team_rank());
  }

 private:
  /// Loads the entries first + lane, first + lane + Lanes and so on. After `count` entries the columns are -1.
  template <class Entries>
  KOKKOS_FORCEINLINE_FUNCTION static void load(scalar_type (&values)[own], ordinal_type (&columns)[own],
                                               const Entries& entries, int count, int first, int lane) {
    FILIGREE_UNROLL(4)
    for (int u = 0; u < own; ++u) {
      const int k = first + u * Lanes + lane;
      columns[u] = k < count ? entries.column_once(k) : ordinal_type(-1);
      values[u] = k < count ? entries.value_once(k) : scalar_type(0);
    }
  }

  /// Stored row i, by a lane with the given rank in its team. If the row is not to be stored, its lanes only take part.
  KOKKOS_FORCEINLINE_FUNCTION void multiply(const stored_row_type i, const bool is_stored,
                                            const int rank) const {
    const int lane = rank % Lanes;
    // With halves, four neighbouring lanes have one row of 16 columns or two rows of 8. The next four lanes begin with
    // the second half, so that the eight lanes need different banks.
    const Operands of_this_lane = operands.of_column_lane(lane, rank / 4 % 2 == 1);
    const std::int64_t row = is_stored ? layout.matrix_row(i) : -1;
    sums_type sums = {};
    layout.visit_row_of_group(i, [&](const auto& entries) {
      scalar_type own_values[own];
      ordinal_type own_columns[own];
      // The first batch does not wait for the length of the row.
      load(own_values, own_columns, entries, entries.count, 0, lane);
      int length = entries.count;
      int most = largest_of_group(length);
      if (most > batch) {
        length = layout.length_of_row(i, length);
        most = largest_of_group(length);
      }
      FILIGREE_UNROLL(1)
      for (int first = 0; first < most; first += batch) {
        FILIGREE_UNROLL(2)
        for (int begin = 0; begin < batch; begin += together)
          if (first + begin < most) add(sums, of_this_lane, own_values, own_columns, begin);
        load(own_values, own_columns, entries, length, first + batch, lane);
      }
    });
    if (row >= 0) of_this_lane.store(sums, row);
  }

  /// Adds the products of the entries `begin` to begin + together - 1 of a batch.
  KOKKOS_FORCEINLINE_FUNCTION static void add(sums_type& sums, const Operands& of_this_lane,
                                              const scalar_type (&own_values)[own],
                                              const ordinal_type (&own_columns)[own], const int begin) {
    ordinal_type columns[together];
    scalar_type values[together];
    FILIGREE_UNROLL(4)
    for (int u = 0; u < together; ++u) {
      columns[u] = of_lane<Lanes>(own_columns[(begin + u) / Lanes], (begin + u) % Lanes);
      values[u] = of_lane<Lanes>(own_values[(begin + u) / Lanes], (begin + u) % Lanes);
    }
    add_batch(
        of_this_lane, sums, columns, [&](int u) { return columns[u] >= 0; },
        [&](accumulator_type& sum, int u, const scalar_type& factor) { sum += values[u] * factor; });
  }
};

/// Multiplies with SharedEntriesProduct, if it exists for these types and if x has 4, 8 or 16 columns, for which a row
/// has one, two or four lanes, at least FewestLanes. Returns whether it has. Other types were not measured.
template <int FewestLanes, class ExecutionSpace, class Layout, class Operands>
bool launch_shared_entries(const ExecutionSpace& exec, const std::string& name, const Layout& layout,
                           const Operands& operands) {
  using Scalar = std::remove_const_t<typename Layout::scalar_type>;
  constexpr bool is_real = std::is_same_v<Scalar, double> || std::is_same_v<Scalar, float>;
  constexpr bool is_measured = is_real && std::is_same_v<typename Operands::x_type, Scalar> &&
                               std::is_same_v<typename Operands::y_type, Scalar> &&
                               std::is_same_v<typename Layout::ordinal_type, int>;
  constexpr int group = lanes_per_group<ExecutionSpace>;
  if constexpr (group > 0 && is_measured && Operands::has_column_lanes && Operands::y_is_in_memory) {
    const auto launch = [&](auto lanes) {
      constexpr int count = decltype(lanes)::value;
      if (operands.columns != count * Operands::most_columns) return false;
      // ELL with 8 columns is mostly slower with halves in turns (see docs/performance.md, "Halves of columns in turns").
      const auto of_launch = [&] {
        if constexpr (count == 4 || Layout::is_sliced)
          return operands.with_alternating_halves();
        else
          return operands;
      }();
      using Product = SharedEntriesProduct<ExecutionSpace, Layout, std::decay_t<decltype(of_launch)>, count>;
      Product{layout, of_launch}.launch_on(exec, name);
      return true;
    };
    if (layout.lanes() == 1) {
      if constexpr (FewestLanes == 1)
        if (launch(std::integral_constant<int, 1>())) return true;
      if constexpr (FewestLanes <= 2)
        if (launch(std::integral_constant<int, 2>())) return true;
      return launch(std::integral_constant<int, 4>());
    }
  }
  return false;
}

}  // namespace Filigree::Impl

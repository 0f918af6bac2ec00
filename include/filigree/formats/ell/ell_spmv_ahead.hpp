// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "filigree/core/launch.hpp"
#include "filigree/formats/ell/ell_layout.hpp"
#include "filigree/product/add_batch.hpp"
#include "filigree/product/launch_product.hpp"
#include "filigree/product/values_ahead.hpp"

namespace Filigree::Impl {

/// The product of an ELL matrix of float or double with 4, 8 or 16 columns of x on a GPU, in modes N and C: one lane
/// per row, with all columns of x. The products of a row are added in the order of its entries, as in RowProduct.
///
/// A lane multiplies its entries in batches. At the beginning of a batch it loads the columns of the next one, and at
/// the end the values (see docs/performance.md, "Values loaded ahead"). For padding it loads the first element of each
/// column of x, so that no load waits for a branch. In float it then adds nothing. In double it adds the product
/// with the value of padding, which must be 0, and multiplies a row again if one of its sums is NaN, see has_nan().
template <class ExecutionSpace, class Ell, class Operands, int Batch>
struct EllAheadProduct {
  static_assert(runs_on_gpu_v<ExecutionSpace>, "One lane per row is right for a GPU only.");
  using launch = ValuesAheadLaunch<ExecutionSpace, Operands>;
  using scalar_type = typename Ell::value_type;
  using ordinal_type = typename Ell::ordinal_type;
  using sums_type = typename Operands::sums_type;
  using accumulator_type = typename Operands::accumulator_type;
  /// Whether the products of padding are added (see docs/performance.md, "Padding that is added").
  static constexpr bool adds_padding = std::is_same_v<scalar_type, double>;

  EllLayout<scalar_type, ordinal_type, true> ell;
  Operands operands;

  void launch_on(const ExecutionSpace& exec, const std::string& name) const {
    launch_product(exec, name, launch::policy(exec, ell.rows), *this);
  }

  KOKKOS_INLINE_FUNCTION void operator()(const typename launch::member_type& team) const {
    const std::int64_t row =
        static_cast<std::int64_t>(team.league_rank()) * launch::team_size + team.team_rank();
    if (row < ell.rows) multiply(row);
  }

 private:
  using entries_type = StridedEntries<scalar_type, ordinal_type, int>;

  /// Loads the columns of a batch of entries from `first` on, and 0 for padding and after `count` entries. Bit u of the
  /// result says whether entry first + u exists.
  KOKKOS_FORCEINLINE_FUNCTION static unsigned load_columns(ordinal_type (&columns)[Batch],
                                                           const entries_type& row, int first, int count) {
    unsigned exist = 0;
    FILIGREE_UNROLL(8)
    for (int u = 0; u < Batch; ++u) {
      const ordinal_type column = first + u < count ? row.column_once(first + u) : ordinal_type(-1);
      exist |= column >= 0 ? 1u << u : 0u;
      columns[u] = column >= 0 ? column : 0;
    }
    return exist;
  }
  KOKKOS_FORCEINLINE_FUNCTION static void load_values(scalar_type (&batch)[Batch], const entries_type& row,
                                                      int first, int count) {
    FILIGREE_UNROLL(8)
    for (int u = 0; u < Batch; ++u)
      batch[u] = first + u < count ? row.value_once(first + u) : scalar_type(0);
  }

  /// Sets `sums` to those of the entries of a row, without padding.
  KOKKOS_FORCEINLINE_FUNCTION void multiply_entries(sums_type& sums, const entries_type& row) const {
    for (accumulator_type& sum : sums)
      sum = accumulator_type(0);
    FILIGREE_UNROLL(1)
    for (int k = 0; k < row.count; ++k)
      if (row.column(k) >= 0) operands.add(sums, row.value(k), row.column(k));
  }

  KOKKOS_FORCEINLINE_FUNCTION void multiply(const std::int64_t i) const {
    // The first batch does not wait for the length of the row: padding has column -1. If there is no second batch, the
    // length is not read at all. In the ELL part of a hybrid matrix it may exceed the width.
    const int width = static_cast<int>(ell.width);
    int count = width;
    if (ell.row_lengths != nullptr && width > Batch) {
      const int length = static_cast<int>(ell.row_lengths[i]);
      count = length < width ? length : width;
    }
    const entries_type row{ell.values + i, ell.entries + i, ell.stride, count};
    sums_type sums = {};
    scalar_type batch[Batch];
    ordinal_type next_columns[Batch];
    unsigned next_exist = load_columns(next_columns, row, 0, width);
    load_values(batch, row, 0, width);
    FILIGREE_UNROLL(1)
    for (int first = 0; first < row.count; first += Batch) {
      ordinal_type columns[Batch];
      FILIGREE_UNROLL(8)
      for (int u = 0; u < Batch; ++u)
        columns[u] = next_columns[u];
      const unsigned exist = next_exist;
      next_exist = load_columns(next_columns, row, first + Batch, row.count);
      add_batch<Operands::column_group>(
          operands, sums, columns, [](int) { return true; },
          [&](accumulator_type& sum, int u, const scalar_type& factor) {
            const auto with_product = sum + batch[u] * factor;
            sum = (adds_padding || (exist & (1u << u)) != 0) ? with_product : sum;
          });
      load_values(batch, row, first + Batch, row.count);
    }
    if constexpr (adds_padding)
      if (Operands::has_nan(sums)) multiply_entries(sums, row);
    operands.store(sums, i);
  }
};

/// Multiplies with EllAheadProduct, if it exists for these types, if rows have one lane, and if the mean length of a
/// row, rounded up, fills batches of 7 or 5 entries. Returns whether it has.
template <class ExecutionSpace, class Ell, class Operands>
bool launch_ell_ahead(const ExecutionSpace& exec, const std::string& name, const Ell& ell,
                      const Operands& operands) {
  using scalar_type = typename Ell::value_type;
  if constexpr (runs_on_gpu_v<ExecutionSpace> &&
                (std::is_same_v<scalar_type, double> || std::is_same_v<scalar_type, float>)) {
    if constexpr (has_exact_columns<Ell, Operands, scalar_type>()) {
      const auto rows = static_cast<std::int64_t>(ell.numRows());
      const std::int64_t mean_length = (static_cast<std::int64_t>(ell.nnz()) + rows - 1) / rows;
      const auto launch = [&](auto batch) {
        constexpr int size = decltype(batch)::value;
        if (!batches_are_full(mean_length, size)) return false;
        using Layout = EllLayout<scalar_type, typename Ell::ordinal_type, true>;
        EllAheadProduct<ExecutionSpace, Ell, Operands, size>{Layout(ell), operands}.launch_on(exec, name);
        return true;
      };
      if (ell.lanes_per_row() == 1 &&
          ell.lanes_per_team() == ValuesAheadLaunch<ExecutionSpace, Operands>::team_size)
        return launch(std::integral_constant<int, 7>()) || launch(std::integral_constant<int, 5>());
    }
  }
  return false;
}

}  // namespace Filigree::Impl

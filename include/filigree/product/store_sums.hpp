// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How a product stores the sums of a row, or of several neighbouring rows. If beta is not 0, a lane loads several
// elements of y before it stores the first one. If the compiler knows the number of columns, these are all columns of
// all its rows, otherwise four columns. If one of the rows does not exist, the others are stored one by one, except in
// column lanes. A compiler would not move a load before a store, because it does not know that they are different
// memory, and the lane would wait for each load (see docs/performance.md, "Loads of y before stores").
#pragma once

#include <algorithm>
#include <cstdint>

#include "filigree/core/launch.hpp"
#include "filigree/core/load_once.hpp"
#include "filigree/product/scale.hpp"

namespace Filigree::Impl {

/// One element as a pack. Pack<T, 1> of a complex number could need more alignment than the number.
template <class T>
struct SingleElement {
  T values[1];
};

/// alpha times the sum of row + r and column c. In a column lane c counts from the first column of the lane.
template <class Operands, class Row>
KOKKOS_FORCEINLINE_FUNCTION auto alpha_times_sum(const Operands& operands,
                                                 const typename Operands::sums_type* const sums, Row row,
                                                 int r, int c) {
  return times(operands.alpha, operands.scaled_sum(operands.sum_of_lane_column(sums[r], c), row + r));
}

/// Stores the sums of Rows rows, all of which exist. A load or store is a PackType of neighbouring rows of a column.
/// The compiler must know the number of columns: is_exact. Whether beta is 0 is tested once.
template <class PackType, int Rows, class Operands, class Row>
KOKKOS_FORCEINLINE_FUNCTION void store_exact_columns(const Operands& operands,
                                                     const typename Operands::sums_type* const sums,
                                                     Row row) {
  using element_type = typename Operands::y_type;
  using accumulator_type = typename Operands::accumulator_type;
  constexpr int columns = Operands::most_columns;
  constexpr int size = static_cast<int>(sizeof(PackType) / sizeof(element_type));
  const auto for_each_pack = [&](const auto& visit) {
    FILIGREE_UNROLL(16)
    for (int c = 0; c < columns; ++c) {
      FILIGREE_UNROLL(8)
      for (int r = 0; r < Rows; r += size)
        visit(c, r, *reinterpret_cast<PackType*>(&operands.y(row + r, c)));
    }
  };
  // A result can take the registers of its sum, which is not needed any more.
  accumulator_type results[Rows][columns];
  if (operands.beta == accumulator_type(0)) {
    FILIGREE_UNROLL(8)
    for (int r = 0; r < Rows; ++r) {
      FILIGREE_UNROLL(16)
      for (int c = 0; c < columns; ++c)
        results[r][c] = alpha_times_sum(operands, sums, row, r, c);
    }
  } else {
    for_each_pack([&](int c, int r, const PackType& loaded) {
      FILIGREE_UNROLL(8)
      for (int i = 0; i < size; ++i)
        results[r + i][c] =
            updated(loaded.values[i], operands.beta, alpha_times_sum(operands, sums, row, r + i, c));
    });
  }
  for_each_pack([&](int c, int r, PackType& stored) {
    PackType pack;
    FILIGREE_UNROLL(8)
    for (int i = 0; i < size; ++i)
      pack.values[i] = convert_scalar<element_type>(results[r + i][c]);
    stored = pack;
  });
}

/// The same if the compiler does not know the number of columns. BetaIs0 tells whether beta is 0. Each column needs a
/// test, and elements of y are loaded for four columns at a time. All 16 at once would make products slower (see
/// docs/performance.md, "Loads of y before stores").
template <class PackType, bool BetaIs0, int Rows, class Operands, class Row>
KOKKOS_FORCEINLINE_FUNCTION void store_counted_columns(const Operands& operands,
                                                       const typename Operands::sums_type* const sums,
                                                       Row row) {
  using element_type = typename Operands::y_type;
  constexpr int columns = Operands::most_columns;
  constexpr int size = static_cast<int>(sizeof(PackType) / sizeof(element_type));
  constexpr int group = BetaIs0 ? 1 : columns < Operands::column_group ? columns : Operands::column_group;
  static_assert(columns % group == 0, "A group must not reach beyond the last column.");
  FILIGREE_UNROLL(16)
  for (int first = 0; first < columns; first += group) {
    PackType packs[group][Rows / size] = {};
    const auto for_each_pack = [&](const auto& visit) {
      FILIGREE_UNROLL(4)
      for (int c = 0; c < group; ++c)
        if (operands.has(first + c)) {
          FILIGREE_UNROLL(8)
          for (int p = 0; p < Rows / size; ++p)
            visit(c, p, *reinterpret_cast<PackType*>(&operands.y(row + p * size, first + c)));
        }
    };
    if constexpr (!BetaIs0)
      for_each_pack([&](int c, int p, const PackType& loaded) { packs[c][p] = loaded; });
    for_each_pack([&](int c, int p, PackType& stored) {
      FILIGREE_UNROLL(8)
      for (int i = 0; i < size; ++i) {
        const auto sum = alpha_times_sum(operands, sums, row, p * size + i, first + c);
        element_type& result = packs[c][p].values[i];
        if constexpr (BetaIs0)
          result = convert_scalar<element_type>(sum);
        else
          result = convert_scalar<element_type>(updated(result, operands.beta, sum));
      }
      stored = packs[c][p];
    });
  }
}

/// Stores the sums of Rows rows, all of which exist, for operands without column lanes.
template <class PackType, int Rows, class Operands, class Row>
KOKKOS_FORCEINLINE_FUNCTION void store_packs(const Operands& operands,
                                             const typename Operands::sums_type* const sums, Row row) {
  if constexpr (Operands::is_exact)
    store_exact_columns<PackType, Rows>(operands, sums, row);
  else if (operands.beta == typename Operands::accumulator_type(0))
    store_counted_columns<PackType, true, Rows>(operands, sums, row);
  else
    store_counted_columns<PackType, false, Rows>(operands, sums, row);
}

/// Stores the sums of Rows rows from `row` on in a column lane, but not those of rows from y_rows on. A load or store
/// is the part of a row that the lane has.
template <int Rows, class Operands, class Row>
KOKKOS_FORCEINLINE_FUNCTION void store_rows_of_lane(const Operands& operands,
                                                    const typename Operands::sums_type* const sums, Row row,
                                                    std::int64_t y_rows) {
  static_assert(Rows == 1 || Operands::x_is_in_memory,
                "A scaling would be asked for rows that do not exist.");
  using element_type = typename Operands::y_type;
  using accumulator_type = typename Operands::accumulator_type;
  constexpr int columns = Operands::most_columns;
  using pack_type = Pack<element_type, columns>;
  pack_type packs[Rows] = {};
  const auto for_each_row = [&](const auto& visit) {
    FILIGREE_UNROLL(8)
    for (int r = 0; r < Rows; ++r)
      if (Rows == 1 || static_cast<std::int64_t>(row) < y_rows - r)
        visit(packs[r], *reinterpret_cast<pack_type*>(&operands.y(row + r, 0)));
  };
  if (operands.beta == accumulator_type(0)) {
    for (int r = 0; r < Rows; ++r)
      for (int c = 0; c < columns; ++c)
        packs[r].values[c] = convert_scalar<element_type>(alpha_times_sum(operands, sums, row, r, c));
  } else {
    for_each_row([](pack_type& pack, const pack_type& old) { pack = old; });
    for (int r = 0; r < Rows; ++r)
      for (int c = 0; c < columns; ++c)
        packs[r].values[c] = convert_scalar<element_type>(
            updated(packs[r].values[c], operands.beta, alpha_times_sum(operands, sums, row, r, c)));
  }
  for_each_row([](const pack_type& pack, pack_type& stored) { stored = pack; });
}

/// y(row, :) = beta * y(row, :) + alpha * sums
template <class Operands, class Row>
KOKKOS_FORCEINLINE_FUNCTION void store_row(const Operands& operands, const typename Operands::sums_type& sums,
                                           Row row) {
  constexpr int columns = Operands::most_columns;
  if constexpr (!Operands::y_is_in_memory || columns == 1) {
    for (int c = 0; c < columns; ++c)
      if (operands.has(c)) operands.store(sums[c], row, c);
  } else if constexpr (Operands::has_column_lanes) {
    store_rows_of_lane<1>(operands, &sums, row, INT64_MAX);
  } else {
    store_packs<SingleElement<typename Operands::y_type>, 1>(operands, &sums, row);
  }
}

/// For a host: stores the sums of `count` neighbouring rows from `first` on. If y has unit stride, the compiler knows
/// that.
template <class Operands>
KOKKOS_FORCEINLINE_FUNCTION void store_neighbours(const Operands& operands,
                                                  const typename Operands::sums_type* const sums,
                                                  const std::int64_t first, const std::int64_t count) {
  // After a store to y the compiler loads members of what a reference refers to again, but not those of a copy.
  const auto store_with = [&](const Operands of_product) {
    for (std::int64_t j = 0; j < count; ++j)
      of_product.store(sums[j], first + j);
  };
  if constexpr (Operands::y_is_in_memory)
    if (operands.y.has_unit_stride()) return store_with(operands.with_unit_stride_of_y());
  store_with(operands);
}

/// The largest number of neighbouring rows of y that one store of store_rows() writes. It is a power of 2 that divides
/// Rows.
template <class Y, int Rows>
constexpr int rows_per_store = std::min<int>(Rows & -Rows, std::max<int>(1, 16 / sizeof(Y)));

/// Stores the sums of Rows neighbouring rows, from `row` on, but not those of rows from y_rows on. Row `row` exists. If
/// the elements of y are neighbours in memory, and all columns are aligned, a store writes up to 16 bytes, because
/// several narrow stores per lane make the cache of a GPU handle twice as many writes (see docs/performance.md, "CDS:
/// rows per lane"). If all rows exist and the compiler knows the number of columns, no test stands between two stores,
/// so that they follow each other directly (see docs/performance.md, "Pairs of rows").
template <int Rows, class Operands, class Row>
KOKKOS_FORCEINLINE_FUNCTION void store_rows(const Operands& operands,
                                            const typename Operands::sums_type (&sums)[Rows], Row row,
                                            std::int64_t y_rows = INT64_MAX) {
  if constexpr (Rows == 1) {
    store_row(operands, sums[0], row);
  } else if constexpr (Operands::has_column_lanes && Operands::y_is_in_memory) {
    store_rows_of_lane<Rows>(operands, sums, row, y_rows);
  } else {
    const bool all_exist = static_cast<std::int64_t>(row) < y_rows - (Rows - 1);
    if constexpr (Operands::y_is_in_memory) {
      using element_type = typename Operands::y_type;
      constexpr int size = rows_per_store<element_type, Rows>;
      using pack_type = Pack<element_type, size>;
      const bool are_packs = operands.y.has_unit_stride() &&
                             (Operands::most_columns == 1 || operands.y.column_stride % size == 0) &&
                             reinterpret_cast<std::uintptr_t>(&operands.y(row, 0)) % sizeof(pack_type) == 0;
      if (all_exist) {
        are_packs ? store_packs<pack_type, Rows>(operands, sums, row)
                  : store_packs<SingleElement<element_type>, Rows>(operands, sums, row);
        return;
      }
    }
    FILIGREE_UNROLL(8)
    for (int r = 0; r < Rows; ++r)
      if (all_exist || static_cast<std::int64_t>(row) < y_rows - r) store_row(operands, sums[r], row + r);
  }
}

}  // namespace Filigree::Impl

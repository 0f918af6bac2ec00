// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How a lane of a GPU multiplies several elements of a row at once: it loads elements of x for all of them, or for
// four if it is a column lane, before it adds their products. So the loads are in flight together.
#pragma once

#include "filigree/product/operands.hpp"

namespace Filigree::Impl {

/// Calls add(sums[c], i, x(columns_of_a[i], c)) for all columns c of x that the lane has, and all i in order. If
/// exists(i) is false, x is not read, and 0 stands for its element. Elements of x are loaded in groups, before the
/// additions of the group. A group has ColumnsTogether columns of x, if has_exact_offsets; otherwise the parameter
/// has no effect.
template <int ColumnsTogether = 1, class Operands, int Size, class Ordinal, class Exists, class Add>
KOKKOS_FORCEINLINE_FUNCTION void add_batch(const Operands& operands, typename Operands::sums_type& sums,
                                           const Ordinal (&columns_of_a)[Size], const Exists& exists,
                                           const Add& add) {
  using x_type = typename Operands::x_type;
  constexpr int columns = Operands::most_columns;
  if constexpr (Operands::has_column_lanes) {
    // Four rows of x in four columns take 32 registers in double.
    constexpr int group = 4;
    FILIGREE_UNROLL(4)
    for (int first = 0; first < Size; first += group) {
      Pack<x_type, columns> factors[group];
      if constexpr (Operands::alternates_halves) {
        static_assert(Size % group == 0, "A pair of rows must not reach beyond the last one.");
        FILIGREE_UNROLL(2)
        for (int i = 0; i < group; i += 2)
          operands.load_row_pair_of_lane(&factors[i], &columns_of_a[first + i],
                                         [&](int r) { return exists(first + i + r); });
      } else {
        FILIGREE_UNROLL(4)
        for (int i = 0; i < group; ++i)
          if (first + i < Size && exists(first + i))
            factors[i] = operands.load_row_of_lane(columns_of_a[first + i]);
          else
            factors[i] = {};
      }
      FILIGREE_UNROLL(4)
      for (int i = 0; i < group; ++i)
        FILIGREE_UNROLL(4)
      for (int c = 0; c < columns; ++c)
        if (first + i < Size) add(sums[c], first + i, factors[i].values[c]);
    }
  } else if constexpr (Operands::has_exact_offsets) {
    std::uint32_t offsets[Size];
    FILIGREE_UNROLL(8)
    for (int i = 0; i < Size; ++i)
      offsets[i] = operands.x.near_offset(columns_of_a[i]);
    static_assert(columns % ColumnsTogether == 0, "A group must not reach beyond the last column.");
    FILIGREE_UNROLL(16)
    for (int first = 0; first < columns; first += ColumnsTogether) {
      x_type factors[ColumnsTogether][Size];
      FILIGREE_UNROLL(4)
      for (int c = 0; c < ColumnsTogether; ++c) {
        FILIGREE_UNROLL(8)
        for (int i = 0; i < Size; ++i)
          factors[c][i] = exists(i) ? operands.x.at_near_offset(offsets[i], first + c) : x_type(0);
      }
      FILIGREE_UNROLL(4)
      for (int c = 0; c < ColumnsTogether; ++c) {
        FILIGREE_UNROLL(8)
        for (int i = 0; i < Size; ++i)
          add(sums[first + c], i, factors[c][i]);
      }
    }
  } else {
    operands.for_each_column([&](int c, int column) {
      x_type factors[Size];
      FILIGREE_UNROLL(8)
      for (int i = 0; i < Size; ++i)
        factors[i] = exists(i) ? operands.x(columns_of_a[i], column) : x_type(0);
      FILIGREE_UNROLL(8)
      for (int i = 0; i < Size; ++i)
        add(sums[c], i, factors[i]);
    });
  }
}

/// sums += values[i] * x(columns_of_a[i], :) for all i in order, unless values[i] is 0. Elements of x are
/// loaded before the additions.
template <class Operands, int Size, class Scalar, class Ordinal>
KOKKOS_FORCEINLINE_FUNCTION void add_batch_unless_zero(const Operands& operands,
                                                       typename Operands::sums_type& sums,
                                                       const Scalar (&values)[Size],
                                                       const Ordinal (&columns_of_a)[Size]) {
  add_batch(
      operands, sums, columns_of_a, [](int) { return true; },
      [&](auto& sum, int i, const auto& factor) { Operands::add_unless_zero(sum, values[i], factor); });
}

}  // namespace Filigree::Impl

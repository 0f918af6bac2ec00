// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A layout tells kernels where a format stores the entries of each row. It is a small struct of raw pointers
// and numbers, which a kernel copies: EllLayout, SellLayout and so on. The product of row_product.hpp works
// for every layout. A layout has:
//
//   scalar_type, ordinal_type
//   padded               (constexpr) whether lane entries may end with padding, which has column -1
//   has_lanes            (constexpr) whether lanes() may be more than 1
//   is_sliced            (constexpr) whether rows are stored in slices, as in SELL. It changes only the launch
//   joins_words          (constexpr) whether a GPU loads values of double as words that are joined, if x has one
//                        column (see load_words_once()). The entries then have `values` and position(j).
//   stored_row_count()   number of stored rows
//   matrix_row(i)        row of the matrix that is stored row i, or -1 if i only fills a slice
//   lanes()              T, a power of two: lane l of a row has its entries l, l + T, l + 2 T and so on
//   visit_lane_entries(i, lane, visit)
//                        calls visit(entries) with the entries of one lane of stored row i. A hybrid format
//                        calls it once per part. `entries` is a StridedEntries, or a struct with its members
//                        count, value(j), column(j), value_once(j) and column_once(j).
//
// On a host:
//
//   rows_per_host_team   (constexpr) the most stored rows that a thread multiplies before it takes others
//   has_tiles            (constexpr) whether neighbouring stored rows are neighbours in memory, so that a
//                        thread multiplies a tile of rows at once.
// Without tiles (and without padding):
//   begin_of(i)          the first entry of stored row i, which is row i of the matrix; the number of entries if i is
//                        the number of rows. The entries of the rows are neighbours, in the order of the rows
//   values, entries      pointers to the value and the column of each entry
// With tiles:
//   is_in_matrix_order() whether stored rows are in the order of the matrix. In a tile, stored rows that only fill a
//                        slice may then stand at its end only.
//   tile_rows(i, most)   rows of the tile that begins with stored row i, at most `most`
//   visit_tile(i, count, visit)
//                        calls visit(tile). tile.add<Conjugate>(operands, sums) adds the products of the
//                        `count` rows of the tile to their sums. HostTile (host_tile.hpp) is such a tile.
//   has_excess           (constexpr) whether tiles leave out the excess entries of a hybrid format. If true:
//   visit_excess(i, count, visit)
//                        calls visit(j, entries) for each stored row i + j of the tile with excess entries
//
// Conversions need more members; conversion/slots.hpp lists them.
#pragma once

#include "filigree/core/load_once.hpp"

namespace Filigree::Impl {

/// Lane entries at equal distances in memory. With a 32-bit Length and Stride a GPU computes a 64-bit
/// position with one instruction.
template <class Scalar, class Ordinal, class Length = std::int64_t, class Stride = std::int64_t>
struct StridedEntries {
  Scalar* values;
  Ordinal* entries;
  Stride stride;
  Length count;

  KOKKOS_FORCEINLINE_FUNCTION std::int64_t position(Length j) const {
    return static_cast<std::int64_t>(j) * stride;
  }
  KOKKOS_FORCEINLINE_FUNCTION Scalar& value(Length j) const { return values[position(j)]; }
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t column(Length j) const {
    return static_cast<std::int64_t>(entries[position(j)]);
  }
  /// Value and column of an entry that the kernel reads only once (load_once.hpp).
  KOKKOS_FORCEINLINE_FUNCTION auto value_once(Length j) const { return load_once(values + position(j)); }
  KOKKOS_FORCEINLINE_FUNCTION auto column_once(Length j) const { return load_once(entries + position(j)); }
  /// The entries first, first + step, first + 2 step and so on.
  KOKKOS_FORCEINLINE_FUNCTION StridedEntries every(int first, int step) const {
    return {values + first * stride, entries + first * stride, stride * step,
            count > first ? (count - first + step - 1) / step : 0};
  }
  /// Removes the first `number` entries.
  KOKKOS_FORCEINLINE_FUNCTION void skip(Length number) {
    values += position(number);
    entries += position(number);
    count -= number;
  }
};

/// Entries that are neighbours in memory. Their distance is a constant, so that no address needs a multiplication (see
/// docs/performance.md, "Rows of CRS on hosts").
template <class Scalar, class Ordinal>
using NeighbourEntries =
    StridedEntries<Scalar, Ordinal, std::int64_t, std::integral_constant<std::int64_t, 1>>;

/// Entries begin to end - 1 of the given arrays.
template <class Scalar, class Ordinal>
KOKKOS_FORCEINLINE_FUNCTION NeighbourEntries<Scalar, Ordinal> neighbours(Scalar* values, Ordinal* entries,
                                                                         std::int64_t begin,
                                                                         std::int64_t end) {
  return {values + begin, entries + begin, {}, end - begin};
}

}  // namespace Filigree::Impl

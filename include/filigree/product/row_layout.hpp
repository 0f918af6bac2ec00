// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Formats that keep the entries of a CRS matrix, each in a place of its own, differ in where they put them.
// Each describes that by a small struct of raw pointers, its Rows, and shares the kernels of row_product.hpp
// and the copies of row_copy.hpp:
//
//   scalar_type, ordinal_type
//   padded          constexpr: whether a run may hold padding, which has column -1
//   has_lanes       constexpr: whether lanes() may be more than 1
//   count()         places for rows
//   target(i)       the row of the matrix that is stored in place i, -1 if none is
//   lanes()         T, a power of two: entry k of a row is entry k / T of the run of lane k % T
//   run(i, lane)    the entries of one lane: count, value(j), column(j), and for products value_once(j) and
//                   column_once(j), which load them for the last time, the column as it is stored
//
// for copies (slots.hpp):
//
//   slots()                number of slots
//   group(slot, from)      the SlotGroup of a slot, whose number is not less than from
//   entry(group, slot)     the SlotEntry of a slot
//   fill_batch             of those that fill_rows writes: slots of a lane of a GPU that are loaded before
//                          they are stored. It takes registers, and pays where a slot is found by loads (ms,
//                          bcsstk33 33 times along the diagonal, H200, with 1 and 4: JDS 0.91, 0.46, ELL
//                          0.26, 0.25, SELL 0.20, 0.23)
//   value_at(at), column_at(group, at), set_column_at(group, at, column)
//                          what is stored in a slot that has a place; the last for those that fill_rows
//                          writes
// and for hosts, where there is no lane but a core that likes streams, if neighbouring rows are neighbours in
// memory:
//
//   tile_rows(i, most)            how many places from i on are neighbours, at most `most`
//   visit_tile(i, count, visit)   calls visit(tile) with what adds the products of that many places, by
//                                 tile.add<Conjugate>(operands, sums) as RowTile (row_tile.hpp) does
//   visit_rests(i, count, visit)  where a tile may not have all entries of a place: calls visit(j, run) with
//                                 the rest of each place i + j that has one
#ifndef FILIGREE_PRODUCT_ROW_LAYOUT_HPP
#define FILIGREE_PRODUCT_ROW_LAYOUT_HPP

#include <cstdint>
#include <type_traits>
#include <utility>

#include "filigree/core/integer.hpp"
#include "filigree/core/kokkos_versions.hpp"
#include "filigree/core/load_once.hpp"

namespace Filigree {
namespace Impl {

/// Entries at equal distances in memory. A GPU gets the 64-bit product of a 32-bit Length and Stride by one
/// instruction.
template <class Scalar, class Ordinal, class Length = std::int64_t, class Stride = std::int64_t>
struct StridedEntries {
  Scalar* values;
  Ordinal* entries;
  Stride stride;
  Length count;

  KOKKOS_FORCEINLINE_FUNCTION std::int64_t place(Length j) const {
    return static_cast<std::int64_t>(j) * stride;
  }
  KOKKOS_FORCEINLINE_FUNCTION Scalar& value(Length j) const { return values[place(j)]; }
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t column(Length j) const {
    return static_cast<std::int64_t>(entries[place(j)]);
  }
  KOKKOS_FORCEINLINE_FUNCTION auto value_once(Length j) const { return load_once(values + place(j)); }
  KOKKOS_FORCEINLINE_FUNCTION auto column_once(Length j) const { return load_once(entries + place(j)); }
  /// The entries first, first + step and so on.
  KOKKOS_FORCEINLINE_FUNCTION StridedEntries every(int first, int step) const {
    return {values + first * stride, entries + first * stride, stride * step,
            count > first ? (count - first + step - 1) / step : 0};
  }
};

/// One run after another, for a row that is stored in two places.
template <class First, class Second>
struct JoinedEntries {
  First first;
  Second second;
  std::int64_t count;

  KOKKOS_FORCEINLINE_FUNCTION auto& value(std::int64_t j) const {
    return j < first.count ? first.value(j) : second.value(j - first.count);
  }
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t column(std::int64_t j) const {
    return j < first.count ? first.column(j) : second.column(j - first.count);
  }
};

template <class Rows, class = void>
constexpr bool has_tiles_v = false;
template <class Rows>
constexpr bool has_tiles_v<Rows, std::void_t<decltype(&Rows::tile_rows)>> = true;
/// A visit that does nothing.
struct IgnoreRest {
  template <class Run>
  KOKKOS_FORCEINLINE_FUNCTION void operator()(std::int64_t, const Run&) const {}
};
template <class Rows, class = void>
constexpr bool has_rests_v = false;
template <class Rows>
constexpr bool
    has_rests_v<Rows, std::void_t<decltype(std::declval<const Rows&>().visit_rests(0, 0, IgnoreRest()))>> =
        true;

}  // namespace Impl
}  // namespace Filigree

#endif

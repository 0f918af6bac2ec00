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
//   visit_tile(i, count, visit)   calls visit(tile) with the RowTile, or what has its members, of that many
//                                 places
//   visit_rests(i, count, visit)  where a tile may not have all entries of a place: calls visit(j, run) with
//                                 the rest of each place i + j that has one
#ifndef FILIGREE_CORE_ROWS_HPP
#define FILIGREE_CORE_ROWS_HPP

#include <cstdint>
#include <type_traits>
#include <utility>

#include "filigree/core/binary_search.hpp"
#include "filigree/core/kokkos_versions.hpp"
#include "filigree/core/load_once.hpp"
#include "filigree/core/slots.hpp"

namespace Filigree {
namespace Impl {

/// The number of a place, and the number of entries of a row, as kernels compute with them: in 32 bits where
/// the ordinals have no more, since a GPU has no others. Places fill up slices, so there may be more of them
/// than an ordinal can tell.
template <class Ordinal>
using place_t = std::conditional_t<sizeof(Ordinal) <= 4, std::uint32_t, std::int64_t>;
template <class Ordinal>
using length_t = std::conditional_t<sizeof(Ordinal) <= 4, std::int32_t, std::int64_t>;

/// Entries at equal distances in memory. A GPU gets the 64-bit product of a 32-bit Length and Stride by one
/// instruction.
template <class Scalar, class Ordinal, class Length = std::int64_t, class Stride = std::int64_t>
struct StridedRun {
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
  KOKKOS_FORCEINLINE_FUNCTION StridedRun every(int first, int step) const {
    return {values + first * stride, entries + first * stride, stride * step,
            count > first ? (count - first + step - 1) / step : 0};
  }
};

/// One run after another, for a row that is stored in two places.
template <class First, class Second>
struct JoinedRun {
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

/// The entries of neighbouring places as a host reads them: entry k of all, then entry k + 1. Those of T
/// lanes of one row are neighbours. UnitStep: T is 1.
template <class Scalar, class Entry, bool UnitStep>
struct RowTile {
  static constexpr bool padded = true;
  static constexpr bool unit_step = UnitStep;

  const Scalar* first_value;
  const Entry* first_entry;
  /// From entry k to entry k + T.
  std::int64_t stride;
  int log2_lanes;
  std::int64_t place_count;
  /// Entries of a place, padding included, and the least that one has without it, as far as is known.
  std::int64_t width;
  std::int64_t least_length;
  /// Entries of each place without its padding, or more, where these are stored one after the other, else
  /// null.
  const Entry* lengths = nullptr;

  /// From one place to the next.
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t step() const {
    return UnitStep ? 1 : std::int64_t(1) << log2_lanes;
  }
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t at(std::int64_t k) const {
    return UnitStep ? k * stride : (k >> log2_lanes) * stride + (k & (step() - 1));
  }
  /// Where entry k of the first place is.
  KOKKOS_FORCEINLINE_FUNCTION const Scalar* values(std::int64_t k) const { return first_value + at(k); }
  KOKKOS_FORCEINLINE_FUNCTION const Entry* entries(std::int64_t k) const { return first_entry + at(k); }
  /// Places from the first on that have an entry k.
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t places(std::int64_t) const { return place_count; }
  /// Entries that all places before places(k) have.
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t whole_width() const { return least_length; }
  KOKKOS_FORCEINLINE_FUNCTION Entry column(Entry entry) const { return entry; }
};

/// Calls visit(tile) with the RowTile that begins at the given entries.
template <class Scalar, class Entry, class Visit>
KOKKOS_FORCEINLINE_FUNCTION void visit_row_tile(const Scalar* value, const Entry* entry, std::int64_t stride,
                                                int log2_lanes, std::int64_t place_count, std::int64_t width,
                                                std::int64_t least_length, const Entry* lengths,
                                                const Visit& visit) {
  if (log2_lanes == 0)
    visit(RowTile<Scalar, Entry, true>{value, entry, stride, 0, place_count, width, least_length, lengths});
  else
    visit(RowTile<Scalar, Entry, false>{value, entry, stride, log2_lanes, place_count, width, least_length,
                                        lengths});
}

/// Entries that lane `lane` of 2^log2_lanes has of a row of `length`. By a shift: with a division, SELL of
/// qh1484 3273 times along the diagonal took 0.232 ms in place of 0.178 (H200, filigree_spmv).
template <class Length>
KOKKOS_FORCEINLINE_FUNCTION Length entries_of_lane(Length length, int lane, int log2_lanes) {
  return (length - lane + (1 << log2_lanes) - 1) >> log2_lanes;
}

/// The binary logarithm of a power of two.
inline int log2_of(int power_of_two) {
  int result = 0;
  while ((1 << result) < power_of_two)
    ++result;
  return result;
}

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

/// Entries of the row in place i, without its padding, which is always at the end.
template <class Rows>
KOKKOS_FORCEINLINE_FUNCTION std::int64_t row_length(const Rows& rows, std::int64_t i) {
  std::int64_t length = 0;
  for (int lane = 0; lane < rows.lanes(); ++lane) {
    const auto run = rows.run(i, lane);
    if constexpr (Rows::padded)
      length += first_where(0, run.count, [&](std::int64_t j) { return run.column(j) < 0; });
    else
      length += run.count;
  }
  return length;
}

}  // namespace Impl
}  // namespace Filigree

#endif

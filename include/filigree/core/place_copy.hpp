// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Conversion, refill and the way back for formats that have a place for each row and column of their pattern
// and cannot tell a zero there from padding: those of diagonals and of blocks. Each describes its places by a
// small struct of raw pointers, its Places:
//
//   scalar_type, ordinal_type
//   position(row, column)         where in values() that entry is stored, -1 where it has no place
//   values()
//   for_each_place(row, visit)    calls visit(column, position) for all places of a row in the matrix, in the
//                                 order that the way back gives
#ifndef FILIGREE_CORE_PLACE_COPY_HPP
#define FILIGREE_CORE_PLACE_COPY_HPP

#include <cstdint>
#include <limits>

#include "filigree/core/check_crs.hpp"
#include "filigree/core/launch.hpp"
#include "filigree/core/region.hpp"
#include "filigree/core/row_map.hpp"

namespace Filigree {
namespace Impl {

/// Copies between a CRS matrix and Places, one lane a row.
template <class ExecutionSpace, class Places, class SizeType>
struct PlaceCopy {
  using execution_space = ExecutionSpace;
  using scalar_type = typename Places::scalar_type;
  using ordinal_type = typename Places::ordinal_type;

  struct Fill {};
  struct Compare {};
  struct Count {};
  struct Extract {};

  Places places;
  CrsViews<scalar_type, ordinal_type, SizeType> crs;
  // Set by build_crs.
  SizeType* crs_row_map = nullptr;
  ordinal_type* crs_entries = nullptr;
  scalar_type* crs_values = nullptr;

  template <class Crs>
  PlaceCopy(const Places& places_, const Crs& crs_) : places(places_), crs(crs_) {}

  /// Clears what the row holds before adding, so that duplicates are summed, in the order of the CRS, on a
  /// matrix that is new and on one that is refilled. Leaves out what has no place.
  KOKKOS_INLINE_FUNCTION void operator()(Fill, const std::int64_t row) const {
    for (std::int64_t i = crs.begin(row); i < crs.end(row); ++i) {
      const std::int64_t at = places.position(row, static_cast<std::int64_t>(crs.entries[i]));
      if (at >= 0) places.values()[at] = scalar_type(0);
    }
    for (std::int64_t i = crs.begin(row); i < crs.end(row); ++i) {
      const std::int64_t at = places.position(row, static_cast<std::int64_t>(crs.entries[i]));
      if (at >= 0) places.values()[at] += crs.values[i];
    }
  }

  /// Differs where a stored value is not zero in a place that the CRS does not name, or the CRS names a place
  /// that is not stored.
  KOKKOS_INLINE_FUNCTION void operator()(Compare, const std::int64_t row, std::int64_t& first_bad) const {
    const std::int64_t begin = crs.begin(row);
    const std::int64_t length = crs.end(row) - begin;
    bool same = true;
    for (std::int64_t i = 0; same && i < length; ++i)
      same = places.position(row, static_cast<std::int64_t>(crs.entries[begin + i])) >= 0;
    // Both are mostly in the same order: looking on from the last find makes this one pass over each.
    std::int64_t cursor = 0;
    for_each_stored(row, [&](std::int64_t column, const scalar_type&) {
      std::int64_t tried = 0;
      while (tried < length && static_cast<std::int64_t>(crs.entries[begin + cursor]) != column) {
        cursor = cursor + 1 == length ? 0 : cursor + 1;
        ++tried;
      }
      same = same && tried < length;
    });
    if (!same && row < first_bad) first_bad = row;
  }

  KOKKOS_INLINE_FUNCTION void operator()(Count, const std::int64_t row) const {
    SizeType count = 0;
    for_each_stored(row, [&](std::int64_t, const scalar_type&) { ++count; });
    crs_row_map[row] = count;
  }

  KOKKOS_INLINE_FUNCTION void operator()(Extract, const std::int64_t row) const {
    std::int64_t at = static_cast<std::int64_t>(crs_row_map[row]);
    for_each_stored(row, [&](std::int64_t column, const scalar_type& value) {
      crs_entries[at] = static_cast<ordinal_type>(column);
      crs_values[at] = value;
      ++at;
    });
  }

  /// Calls visit(column, value) for the values of a row that are not zero.
  template <class Visit>
  KOKKOS_INLINE_FUNCTION void for_each_stored(const std::int64_t row, const Visit& visit) const {
    places.for_each_place(row, [&](std::int64_t column, std::int64_t position) {
      const scalar_type value = places.values()[position];
      if (value != scalar_type(0)) visit(column, value);
    });
  }
};

/// The values of crs in their places: one kernel, "Filigree::<what>[<format>]". A new matrix must be zero.
template <class ExecutionSpace, class Crs, class Places>
void fill_places(const ExecutionSpace& exec, const char* what, const char* format, const Places& places,
                 const Crs& crs) {
  using Copy = PlaceCopy<ExecutionSpace, Places, typename Crs::non_const_size_type>;
  Kokkos::parallel_for(label(what, format),
                       row_range<typename Copy::Fill>(exec, static_cast<std::int64_t>(crs.numRows())),
                       Copy(places, crs));
}

/// The first row in which the patterns differ, or a number past all rows. Fences exec.
template <class ExecutionSpace, class Crs, class Places>
std::int64_t first_different_row_of_places(const ExecutionSpace& exec, const char* format,
                                           const Places& places, const Crs& crs) {
  using Copy = PlaceCopy<ExecutionSpace, Places, typename Crs::non_const_size_type>;
  std::int64_t row = std::numeric_limits<std::int64_t>::max();
  Kokkos::parallel_reduce(label("compare_pattern", format),
                          row_range<typename Copy::Compare>(exec, static_cast<std::int64_t>(crs.numRows())),
                          Copy(places, crs), Kokkos::Min<std::int64_t>(row));
  exec.fence();
  return row;
}

/// A CRS matrix of the values that are not zero.
template <class Crs, class ExecutionSpace, class Places>
Crs crs_of_places(const ExecutionSpace& exec, const char* format, const Places& places,
                  typename Crs::non_const_ordinal_type rows, typename Crs::non_const_ordinal_type columns) {
  using Copy = PlaceCopy<ExecutionSpace, Places, typename Crs::non_const_size_type>;
  return build_crs<Crs, typename Copy::Count, typename Copy::Extract>(exec, format, rows, columns,
                                                                      Copy(places, Crs()));
}

}  // namespace Impl
}  // namespace Filigree

#endif

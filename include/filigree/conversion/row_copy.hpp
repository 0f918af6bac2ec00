// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Conversion, refill and the way back for formats that keep the entries of a CRS matrix as they came.
#ifndef FILIGREE_CONVERSION_ROW_COPY_HPP
#define FILIGREE_CONVERSION_ROW_COPY_HPP

#include <cstdint>
#include <limits>

#include "filigree/conversion/build_crs.hpp"
#include "filigree/conversion/check_crs.hpp"
#include "filigree/conversion/slots.hpp"
#include "filigree/core/binary_search.hpp"
#include "filigree/core/integer.hpp"
#include "filigree/core/launch.hpp"
#include "filigree/core/region.hpp"

namespace Filigree {
namespace Impl {

/// Entries of the row in place i, without its padding, which is always at the end.
template <class Rows>
KOKKOS_FORCEINLINE_FUNCTION std::int64_t row_length(const Rows& rows, std::int64_t i) {
  std::int64_t length = 0;
  for (int lane = 0; lane < rows.lanes(); ++lane)
    rows.visit_lane_entries(i, lane, [&](const auto& entries) {
      if constexpr (Rows::padded)
        length += first_where(0, entries.count, [&](std::int64_t j) { return entries.column(j) < 0; });
      else
        length += entries.count;
    });
  return length;
}

/// Copies between a CRS matrix and Rows (rows.hpp), a lane a strip of slots.
template <class ExecutionSpace, class Rows, class SizeType>
struct RowCopy {
  using execution_space = ExecutionSpace;
  using scalar_type = typename Rows::scalar_type;
  using ordinal_type = typename Rows::ordinal_type;

  struct Fill {};
  struct Refill {};
  struct CompareLengths {};
  struct CompareColumns {};
  struct Count {};
  struct Extract {};

  Rows rows;
  CrsViews<scalar_type, ordinal_type, SizeType> crs;
  // Set by build_crs.
  SizeType* crs_row_map = nullptr;
  ordinal_type* crs_entries = nullptr;
  scalar_type* crs_values = nullptr;

  template <class Crs>
  RowCopy(const Rows& rows_, const Crs& crs_) : rows(rows_), crs(crs_) {}

  /// Goes along the slots of a strip. What it knows of a group and of a row it does not look up again.
  struct Cursor {
    const Rows& rows;
    const SizeType* row_map;
    SlotGroup group = {};
    std::int64_t place = -1;
    std::int64_t row = -1;  ///< -1 if the place has none
    std::int64_t begin = 0;
    std::int64_t length = 0;
    std::int64_t at = 0;  ///< the slot's place in the arrays
    std::int64_t i = -1;  ///< the entry of the CRS that belongs there, -1 if none does

    KOKKOS_FORCEINLINE_FUNCTION Cursor(const Rows& rows_, const SizeType* row_map_)
        : rows(rows_), row_map(row_map_) {}

    /// Whether anything is stored in the slot.
    KOKKOS_FORCEINLINE_FUNCTION bool move_to(std::int64_t slot) {
      if (!group.has(slot)) group = rows.group(slot, group.number);
      const SlotEntry entry = rows.entry(group, slot);
      if (entry.place != place) {
        place = entry.place;
        row = place < 0 ? -1 : rows.matrix_row(place);
        begin = row < 0 ? 0 : static_cast<std::int64_t>(row_map[row]);
        length = row < 0 ? 0 : static_cast<std::int64_t>(row_map[row + 1]) - begin;
      }
      at = entry.at;
      i = entry.k < length ? begin + entry.k : -1;
      return place >= 0;
    }
  };

  /// Calls visit(cursor) for the slots of a strip in which anything is stored.
  template <class Visit>
  KOKKOS_FORCEINLINE_FUNCTION void for_each_slot(const SizeType* row_map, std::int64_t strip,
                                                 const Visit& visit) const {
    Cursor cursor(rows, row_map);
    SlotStrip<ExecutionSpace>::for_each(strip, rows.slots(), [&](std::int64_t slot) {
      if (cursor.move_to(slot)) visit(cursor);
    });
  }

  /// Writes the padding too, also that of places without a row. A GPU loads a few slots before it stores
  /// them: the compiler cannot know that a store changes nothing that is loaded next.
  KOKKOS_INLINE_FUNCTION void operator()(Fill, const std::int64_t strip) const {
    using slots = SlotStrip<ExecutionSpace>;
    constexpr int batch = slots::gpu ? Rows::fill_batch : 1;
    static_assert(slots::count % batch == 0, "A batch must not leave the strip.");
    const std::int64_t slot_count = rows.slots();
    Cursor cursor(rows, crs.row_map);
    for (int first = 0; first < slots::count && slots::slot(strip, first) < slot_count; first += batch) {
      bool stored[batch];
      std::int64_t places[batch];
      SlotGroup groups[batch];
      scalar_type values[batch];
      std::int64_t columns[batch];
      FILIGREE_UNROLL(8)
      for (int b = 0; b < batch; ++b) {
        const std::int64_t slot = slots::slot(strip, first + b);
        stored[b] = slot < slot_count && cursor.move_to(slot);
        places[b] = cursor.at;
        groups[b] = cursor.group;
        values[b] = stored[b] && cursor.i >= 0 ? crs.values[cursor.i] : scalar_type(0);
        columns[b] = stored[b] && cursor.i >= 0 ? static_cast<std::int64_t>(crs.entries[cursor.i]) : -1;
      }
      FILIGREE_UNROLL(8)
      for (int b = 0; b < batch; ++b)
        if (stored[b]) {
          rows.value_at(places[b]) = values[b];
          rows.set_column_at(groups[b], places[b], columns[b]);
        }
    }
  }

  KOKKOS_INLINE_FUNCTION void operator()(Refill, const std::int64_t strip) const {
    for_each_slot(crs.row_map, strip, [&](const Cursor& cursor) {
      if (cursor.i >= 0) rows.value_at(cursor.at) = crs.values[cursor.i];
    });
  }

  KOKKOS_INLINE_FUNCTION void operator()(CompareLengths, const std::int64_t i,
                                         std::int64_t& first_bad) const {
    const std::int64_t row = rows.matrix_row(i);
    if (row >= 0 && row < first_bad && crs.end(row) - crs.begin(row) != row_length(rows, i)) first_bad = row;
  }

  /// Where all lengths are the same.
  KOKKOS_INLINE_FUNCTION void operator()(CompareColumns, const std::int64_t strip,
                                         std::int64_t& first_bad) const {
    for_each_slot(crs.row_map, strip, [&](const Cursor& cursor) {
      const bool same = cursor.i < 0 || rows.column_at(cursor.group, cursor.at) ==
                                            static_cast<std::int64_t>(crs.entries[cursor.i]);
      if (!same && cursor.row < first_bad) first_bad = cursor.row;
    });
  }

  KOKKOS_INLINE_FUNCTION void operator()(Count, const std::int64_t i) const {
    const std::int64_t row = rows.matrix_row(i);
    if (row >= 0) crs_row_map[row] = static_cast<SizeType>(row_length(rows, i));
  }

  KOKKOS_INLINE_FUNCTION void operator()(Extract, const std::int64_t strip) const {
    for_each_slot(crs_row_map, strip, [&](const Cursor& cursor) {
      if (cursor.i < 0) return;
      crs_values[cursor.i] = rows.value_at(cursor.at);
      crs_entries[cursor.i] = static_cast<ordinal_type>(rows.column_at(cursor.group, cursor.at));
    });
  }
};

/// Writes all entries and all padding of a new matrix.
template <class ExecutionSpace, class Crs, class Rows>
void fill_rows(const ExecutionSpace& exec, const char* format, const Rows& rows, const Crs& crs) {
  using Copy = RowCopy<ExecutionSpace, Rows, typename Crs::non_const_size_type>;
  for_each_strip<typename Copy::Fill>(exec, "convert", format, rows.slots(), Copy(rows, crs));
}

/// The first row that has another length, or if there is none another column, or a number past all rows.
/// Fences exec.
template <class ExecutionSpace, class Crs, class Rows>
std::int64_t first_different_row_of(const ExecutionSpace& exec, const char* format, const Rows& rows,
                                    const Crs& crs) {
  using Copy = RowCopy<ExecutionSpace, Rows, typename Crs::non_const_size_type>;
  const std::int64_t none = std::numeric_limits<std::int64_t>::max();
  std::int64_t row = none;
  const auto compare = [&](auto tag, std::int64_t count) {
    Kokkos::parallel_reduce(label("compare_pattern", format), row_range<decltype(tag)>(exec, count),
                            Copy(rows, crs), Kokkos::Min<std::int64_t>(row));
    exec.fence();
  };
  compare(typename Copy::CompareLengths(), rows.stored_row_count());
  if (row == none) compare(typename Copy::CompareColumns(), SlotStrip<ExecutionSpace>::strips(rows.slots()));
  return row;
}

/// The values of crs in their places: one kernel.
template <class ExecutionSpace, class Crs, class Rows>
void refill_rows(const ExecutionSpace& exec, const char* format, const Rows& rows, const Crs& crs) {
  using Copy = RowCopy<ExecutionSpace, Rows, typename Crs::non_const_size_type>;
  for_each_strip<typename Copy::Refill>(exec, "refill", format, rows.slots(), Copy(rows, crs));
}

template <class ExecutionSpace, class Scalar>
struct CopyValues {
  using execution_space = ExecutionSpace;
  const Scalar* from;
  Scalar* to;

  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t i) const { to[i] = from[i]; }
};

/// The same for formats that keep the entries in the order of the CRS.
template <class ExecutionSpace, class Crs, class Values>
void copy_values(const ExecutionSpace& exec, const char* format, const Crs& crs, const Values& values) {
  using Copy = CopyValues<ExecutionSpace, typename Values::non_const_value_type>;
  Kokkos::parallel_for(label("refill", format),
                       row_range<void>(exec, static_cast<std::int64_t>(values.extent(0))),
                       Copy{crs.values.data(), values.data()});
}

/// The CRS matrix that is stored in a layout: the entries of a row in the order of the CRS matrix that it was
/// converted from.
template <class Crs, class ExecutionSpace, class Rows>
Crs crs_of_rows(const ExecutionSpace& exec, const char* format, const Rows& rows,
                typename Crs::non_const_ordinal_type num_rows,
                typename Crs::non_const_ordinal_type num_cols) {
  using Copy = RowCopy<ExecutionSpace, Rows, typename Crs::non_const_size_type>;
  return build_crs<Crs, typename Copy::Count, typename Copy::Extract>(
      exec, format, num_rows, num_cols, Copy(rows, Crs()), rows.stored_row_count(),
      SlotStrip<ExecutionSpace>::strips(rows.slots()));
}

}  // namespace Impl
}  // namespace Filigree

#endif

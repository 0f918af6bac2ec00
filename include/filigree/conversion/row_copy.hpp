// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Conversion, refill and conversion back to CRS for formats that keep each entry of a CRS matrix, in the
// order of the CRS matrix. Their layouts say where they store the entries (see slots.hpp).
#pragma once

#include "filigree/conversion/build_crs.hpp"
#include "filigree/conversion/check_crs.hpp"
#include "filigree/conversion/slots.hpp"

namespace Filigree::Impl {

/// The number of entries of stored row i without its padding. The padding of a lane always follows its
/// entries.
template <class Layout>
KOKKOS_FORCEINLINE_FUNCTION std::int64_t row_length(const Layout& layout, std::int64_t i) {
  std::int64_t length = 0;
  for (int lane = 0; lane < layout.lanes(); ++lane)
    layout.visit_lane_entries(i, lane, [&](const auto& entries) {
      if constexpr (Layout::padded)
        length += first_where(0, entries.count, [&](std::int64_t j) { return entries.column(j) < 0; });
      else
        length += entries.count;
    });
  return length;
}

/// The kernels that copy and compare between a CRS matrix and the layout of another format. The tags select
/// the kernel. Fill, Refill, CompareColumns and Extract run with one lane per strip of slots; CompareLengths
/// and Count run with one lane per stored row.
template <class ExecutionSpace, class Layout, class SizeType>
struct RowCopy {
  using scalar_type = typename Layout::scalar_type;
  using ordinal_type = typename Layout::ordinal_type;

  struct Fill {};
  struct Refill {};
  struct CompareLengths {};
  struct CompareColumns {};
  struct Count {};
  struct Extract {};

  Layout layout;
  CrsViews<scalar_type, ordinal_type, SizeType> crs;
  // build_crs sets these to the CRS matrix that it builds.
  SizeType* crs_row_map = nullptr;
  ordinal_type* crs_entries = nullptr;
  scalar_type* crs_values = nullptr;

  template <class Crs>
  RowCopy(const Layout& layout_, const Crs& crs_) : layout(layout_), crs(crs_) {}

  /// The numbers of calls of Count and of Extract.
  std::int64_t count_calls(std::int64_t) const { return layout.stored_row_count(); }
  std::int64_t extract_calls(std::int64_t) const { return SlotStrip<ExecutionSpace>::strips(layout.slots()); }

  /// Moves along the slots of a strip. It keeps the data of a group and of a row while the next slots are in
  /// the same group or row.
  struct Cursor {
    const Layout& layout;
    const SizeType* row_map;
    SlotGroup group = {};
    std::int64_t stored_row = -1;
    std::int64_t row = -1;  ///< the matrix row, or -1 if the stored row only fills a slice
    std::int64_t begin = 0;
    std::int64_t length = 0;
    std::int64_t position = 0;    ///< index of the slot in the arrays of the format
    std::int64_t crs_entry = -1;  ///< the entry of the CRS matrix that the slot holds, or -1 for padding

    /// Returns whether anything is stored in the slot.
    KOKKOS_FORCEINLINE_FUNCTION bool move_to(std::int64_t slot) {
      if (!group.has(slot)) group = layout.group(slot, group.number);
      const SlotEntry entry = layout.entry(group, slot);
      if (entry.stored_row != stored_row) {
        stored_row = entry.stored_row;
        row = stored_row < 0 ? -1 : layout.matrix_row(stored_row);
        begin = row < 0 ? 0 : static_cast<std::int64_t>(row_map[row]);
        length = row < 0 ? 0 : static_cast<std::int64_t>(row_map[row + 1]) - begin;
      }
      position = entry.position;
      crs_entry = entry.k < length ? begin + entry.k : -1;
      return stored_row >= 0;
    }
  };

  /// Calls visit(cursor) for each slot of a strip in which anything is stored.
  template <class Visit>
  KOKKOS_FORCEINLINE_FUNCTION void for_each_slot(const SizeType* row_map, std::int64_t strip,
                                                 const Visit& visit) const {
    Cursor cursor{layout, row_map};
    SlotStrip<ExecutionSpace>::for_each(strip, layout.slots(), [&](std::int64_t slot) {
      if (cursor.move_to(slot)) visit(cursor);
    });
  }

  /// Writes all entries and all padding, also the padding of stored rows that only fill a slice. A lane of a
  /// GPU loads fill_batch slots before it stores them (see docs/performance.md, "Slots that a lane loads at
  /// once"). The compiler cannot reorder loads and stores itself: a store could change what is loaded later.
  KOKKOS_INLINE_FUNCTION void operator()(Fill, const std::int64_t strip) const {
    using slots = SlotStrip<ExecutionSpace>;
    constexpr int batch = slots::gpu ? Layout::fill_batch : 1;
    static_assert(slots::count % batch == 0, "fill_batch must divide the number of slots of a strip.");
    const std::int64_t slot_count = layout.slots();
    Cursor cursor{layout, crs.row_map};
    for (int first = 0; first < slots::count && slots::slot(strip, first) < slot_count; first += batch) {
      bool stored[batch];
      std::int64_t positions[batch];
      SlotGroup groups[batch];
      scalar_type values[batch];
      std::int64_t columns[batch];
      FILIGREE_UNROLL(8)
      for (int b = 0; b < batch; ++b) {
        const std::int64_t slot = slots::slot(strip, first + b);
        stored[b] = slot < slot_count && cursor.move_to(slot);
        positions[b] = cursor.position;
        groups[b] = cursor.group;
        const bool is_entry = stored[b] && cursor.crs_entry >= 0;
        values[b] = is_entry ? crs.values[cursor.crs_entry] : scalar_type(0);
        columns[b] = is_entry ? static_cast<std::int64_t>(crs.entries[cursor.crs_entry]) : -1;
      }
      FILIGREE_UNROLL(8)
      for (int b = 0; b < batch; ++b)
        if (stored[b]) {
          layout.value_at(positions[b]) = values[b];
          layout.set_column_at(groups[b], positions[b], columns[b]);
        }
    }
  }

  KOKKOS_INLINE_FUNCTION void operator()(Refill, const std::int64_t strip) const {
    for_each_slot(crs.row_map, strip, [&](const Cursor& cursor) {
      if (cursor.crs_entry >= 0) layout.value_at(cursor.position) = crs.values[cursor.crs_entry];
    });
  }

  /// Finds the first row in which the lengths differ.
  KOKKOS_INLINE_FUNCTION void operator()(CompareLengths, const std::int64_t i,
                                         std::int64_t& first_bad) const {
    const std::int64_t row = layout.matrix_row(i);
    if (row >= 0 && row < first_bad && crs.length(row) != row_length(layout, i)) first_bad = row;
  }

  /// Finds the first row in which the columns differ. Requires that all row lengths agree.
  KOKKOS_INLINE_FUNCTION void operator()(CompareColumns, const std::int64_t strip,
                                         std::int64_t& first_bad) const {
    for_each_slot(crs.row_map, strip, [&](const Cursor& cursor) {
      const bool same = cursor.crs_entry < 0 || layout.column_at(cursor.group, cursor.position) ==
                                                    static_cast<std::int64_t>(crs.entries[cursor.crs_entry]);
      if (!same && cursor.row < first_bad) first_bad = cursor.row;
    });
  }

  KOKKOS_INLINE_FUNCTION void operator()(Count, const std::int64_t i) const {
    const std::int64_t row = layout.matrix_row(i);
    if (row >= 0) crs_row_map[row] = static_cast<SizeType>(row_length(layout, i));
  }

  KOKKOS_INLINE_FUNCTION void operator()(Extract, const std::int64_t strip) const {
    for_each_slot(crs_row_map, strip, [&](const Cursor& cursor) {
      if (cursor.crs_entry < 0) return;
      crs_values[cursor.crs_entry] = layout.value_at(cursor.position);
      crs_entries[cursor.crs_entry] =
          static_cast<ordinal_type>(layout.column_at(cursor.group, cursor.position));
    });
  }
};

/// Writes all entries and all padding of a new matrix.
template <class ExecutionSpace, class Crs, class Layout>
void fill_rows(const ExecutionSpace& exec, const char* format, const Layout& layout, const Crs& crs) {
  using Copy = RowCopy<ExecutionSpace, Layout, typename Crs::non_const_size_type>;
  for_each_strip<typename Copy::Fill>(exec, "convert", format, layout.slots(), Copy(layout, crs));
}

/// Copies one array to another.
template <class Scalar>
struct CopyValues {
  const Scalar* from;
  Scalar* to;

  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t i) const { to[i] = from[i]; }
};

/// refill() for formats that store the entries in the order of the CRS matrix. Not Kokkos::deep_copy, which
/// fences on hosts in Kokkos 3.4 and is not a named kernel.
template <class ExecutionSpace, class Crs, class Values>
void copy_values(const ExecutionSpace& exec, const char* format, const Crs& crs, const Values& values) {
  using Copy = CopyValues<typename Values::non_const_value_type>;
  Kokkos::parallel_for(label("refill", format),
                       row_range<void>(exec, static_cast<std::int64_t>(values.extent(0))),
                       Copy{crs.values.data(), values.data()});
}

}  // namespace Filigree::Impl

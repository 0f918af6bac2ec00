// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "filigree/conversion/slots.hpp"
#include "filigree/core/lane_group.hpp"
#include "filigree/core/load_once.hpp"
#include "filigree/formats/sell/sell_matrix.hpp"
#include "filigree/product/host_tile.hpp"
#include "filigree/product/row_layout.hpp"

namespace Filigree::Impl {

/// The short column that stands for padding.
constexpr std::uint16_t short_padding = 65535;

/// Turns a short column, the 16-bit distance from the smallest column of the slice, into a column index.
template <class Ordinal>
struct EntryIsDistance {
  Ordinal base;

  KOKKOS_FORCEINLINE_FUNCTION Ordinal operator()(std::uint16_t distance) const {
    return is_padding(distance) ? Ordinal(-1) : of_entry(distance);
  }
  KOKKOS_FORCEINLINE_FUNCTION Ordinal of_entry(std::uint16_t distance) const {
    return static_cast<Ordinal>(base + distance);
  }
  /// The column, or the smallest column of the slice for padding (see EntryIsColumn).
  KOKKOS_FORCEINLINE_FUNCTION Ordinal of_entry_or_first(std::uint16_t distance) const {
    const auto next = static_cast<std::uint16_t>(distance + 1);  // 0 for padding
    return static_cast<Ordinal>(base + (next > 1 ? next : 1) - 1);
  }
  KOKKOS_FORCEINLINE_FUNCTION bool is_padding(std::uint16_t distance) const {
    return distance == short_padding;
  }
  /// What of_entry_or_first() returns for padding.
  KOKKOS_FORCEINLINE_FUNCTION Ordinal first_column() const { return base; }
};

/// Lane entries with short columns. It has the members of StridedEntries.
template <class Scalar, class Ordinal>
struct ShortColumnEntries {
  using length_type = length_t<Ordinal>;

  Scalar* values;
  const std::uint16_t* short_entries;
  EntryIsDistance<Ordinal> column_of;
  length_type stride;
  length_type count;

  KOKKOS_FORCEINLINE_FUNCTION std::int64_t position(length_type j) const {
    return static_cast<std::int64_t>(j) * stride;
  }
  KOKKOS_FORCEINLINE_FUNCTION Scalar& value(length_type j) const { return values[position(j)]; }
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t column(length_type j) const {
    return static_cast<std::int64_t>(column_of(short_entries[position(j)]));
  }
  KOKKOS_FORCEINLINE_FUNCTION auto value_once(length_type j) const { return load_once(values + position(j)); }
  KOKKOS_FORCEINLINE_FUNCTION Ordinal column_once(length_type j) const {
    return column_of(load_once(short_entries + position(j)));
  }
};

/// Lane entries whose columns are short or whole. The type does not depend on the slice, so that lanes with different
/// slices stay in the same instruction.
template <class Scalar, class Ordinal>
struct ShortOrWholeColumnEntries {
  using length_type = length_t<Ordinal>;

  const Scalar* values;
  const Ordinal* whole_entries;
  const std::uint16_t* short_entries;
  Ordinal base;  ///< negative if the columns are whole
  length_type stride;
  length_type count;

  KOKKOS_FORCEINLINE_FUNCTION std::int64_t position(length_type j) const {
    return static_cast<std::int64_t>(j) * stride;
  }
  KOKKOS_FORCEINLINE_FUNCTION auto value_once(length_type j) const { return load_once(values + position(j)); }
  KOKKOS_FORCEINLINE_FUNCTION Ordinal column_once(length_type j) const {
    return base < 0 ? load_once(whole_entries + position(j))
                    : EntryIsDistance<Ordinal>{base}(load_once(short_entries + position(j)));
  }
};

/// The layout of sliced ELL. A slice has slice_height stored rows, of which the last ones may hold no matrix
/// row.
template <class Scalar, class Ordinal, bool ShortColumns>
struct SellLayout : RowLayout<SellLayout<Scalar, Ordinal, ShortColumns>, Scalar, Ordinal> {
  using stored_row_type = stored_row_t<Ordinal>;
  using length_type = length_t<Ordinal>;
  static constexpr bool padded = true;
  static constexpr bool has_lanes = true;
  static constexpr bool is_sliced = true;
  static constexpr bool joins_words = ShortColumns;
  /// Whether slices may have short columns.
  static constexpr bool has_short_columns = ShortColumns;

  Scalar* values;
  Ordinal* entries;
  std::uint16_t* short_entries;
  const std::int64_t* slice_offsets;
  const Ordinal* slice_widths;
  const Ordinal* permutation;
  const Ordinal* slice_rows;
  const Ordinal* column_bases;
  const std::int64_t* column_offsets;
  std::int64_t slot_count;
  stored_row_type rows;
  stored_row_type slices;
  int log2_height;
  int log2_lanes;

  template <class Sell>
  explicit SellLayout(const Sell& sell)
      : values(sell.values.data()),
        entries(sell.entries.data()),
        short_entries(sell.short_entries.data()),
        slice_offsets(sell.slice_offsets.data()),
        slice_widths(sell.slice_widths.data()),
        permutation(sell.permutation.extent(0) > 0 ? sell.permutation.data() : nullptr),
        slice_rows(sell.slice_rows.extent(0) > 0 ? sell.slice_rows.data() : nullptr),
        column_bases(sell.column_bases.data()),
        column_offsets(sell.column_offsets.data()),
        slot_count(static_cast<std::int64_t>(sell.values.extent(0))),
        rows(static_cast<stored_row_type>(sell.numRows())),
        slices(static_cast<stored_row_type>(sell.numSlices())),
        log2_height(log2_of(sell.slice_height())),
        log2_lanes(log2_of(sell.lanes_per_row())) {}

  KOKKOS_FORCEINLINE_FUNCTION stored_row_type slice_of(stored_row_type i) const { return i >> log2_height; }
  KOKKOS_FORCEINLINE_FUNCTION int row_in_slice(stored_row_type i) const {
    return static_cast<int>(i & ((stored_row_type(1) << log2_height) - 1));
  }
  /// Rows that a slice stores: fewer than the slice height if the slice ends because the row length changes.
  KOKKOS_FORCEINLINE_FUNCTION int height(stored_row_type slice) const {
    return slice_rows == nullptr ? 1 << log2_height
                                 : static_cast<int>(slice_rows[slice + 1] - slice_rows[slice]);
  }

  // For products.

  KOKKOS_FORCEINLINE_FUNCTION std::int64_t stored_row_count() const {
    return static_cast<std::int64_t>(slices) << log2_height;
  }
  KOKKOS_FORCEINLINE_FUNCTION int lanes() const { return 1 << log2_lanes; }
  KOKKOS_FORCEINLINE_FUNCTION bool is_in_matrix_order() const { return permutation == nullptr; }
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t matrix_row(stored_row_type i) const {
    stored_row_type row = i;
    if (slice_rows != nullptr) {
      const stored_row_type slice = slice_of(i);
      if (row_in_slice(i) >= height(slice)) return -1;
      row = static_cast<stored_row_type>(slice_rows[slice]) + row_in_slice(i);
    }
    if (row >= rows) return -1;
    return static_cast<std::int64_t>(permutation == nullptr ? row
                                                            : static_cast<stored_row_type>(permutation[row]));
  }

  template <class Visit>
  KOKKOS_FORCEINLINE_FUNCTION void visit_lane_entries(stored_row_type i, int lane, const Visit& visit) const {
    const stored_row_type slice = slice_of(i);
    const int start = (row_in_slice(i) << log2_lanes) + lane;
    const length_type stride = height(slice) << log2_lanes;
    const length_type width =
        row_in_slice(i) < height(slice) ? static_cast<length_type>(slice_widths[slice]) : 0;
    const length_type count = entries_of_lane(width, lane, log2_lanes);
    Scalar* const value = values + slice_offsets[slice] + start;
    using whole_columns = StridedEntries<Scalar, Ordinal, length_type, length_type>;
    if constexpr (ShortColumns) {
      const std::int64_t column_start = column_offsets[slice] + start;
      const Ordinal base = column_bases[slice];
      if (base < 0)
        visit(whole_columns{value, entries + column_start, stride, count});
      else
        visit(
            ShortColumnEntries<Scalar, Ordinal>{value, short_entries + column_start, {base}, stride, count});
    } else {
      visit(whole_columns{value, entries + slice_offsets[slice] + start, stride, count});
    }
  }

  /// Calls visit(entries) with the entries of stored row i, whose type is the same for all lanes of a group. For
  /// SharedEntriesProduct.
  template <class Visit>
  KOKKOS_FORCEINLINE_FUNCTION void visit_row_of_group(stored_row_type i, const Visit& visit) const {
    const stored_row_type slice = slice_of(i);
    const int in_slice = row_in_slice(i);
    const length_type stride = height(slice);
    const length_type count = in_slice < stride ? static_cast<length_type>(slice_widths[slice]) : 0;
    Scalar* const value = values + (slice_offsets[slice] + in_slice);
    if constexpr (ShortColumns) {
      const std::int64_t column_begin = column_offsets[slice] + in_slice;
      const Ordinal base = column_bases[slice];
      if (!any_of_group(base < 0))
        visit(
            ShortColumnEntries<Scalar, Ordinal>{value, short_entries + column_begin, {base}, stride, count});
      else
        visit(ShortOrWholeColumnEntries<Scalar, Ordinal>{value, entries + column_begin,
                                                         short_entries + column_begin, base, stride, count});
    } else {
      visit(StridedEntries<Scalar, Ordinal, length_type, length_type>{
          value, entries + (slice_offsets[slice] + in_slice), stride, count});
    }
  }
  /// The number of entries of stored row i before its padding, or more.
  KOKKOS_FORCEINLINE_FUNCTION length_type length_of_row(stored_row_type, length_type count) const {
    return count;
  }

  KOKKOS_FORCEINLINE_FUNCTION std::int64_t tile_rows(std::int64_t i, std::int64_t most) const {
    const std::int64_t rest = (1 << log2_height) - row_in_slice(static_cast<stored_row_type>(i));
    return rest < most ? rest : most;
  }
  template <class Visit>
  KOKKOS_INLINE_FUNCTION void visit_tile(std::int64_t i, std::int64_t count, const Visit& visit) const {
    const stored_row_type stored_row = static_cast<stored_row_type>(i);
    const stored_row_type slice = slice_of(stored_row);
    const int start = row_in_slice(stored_row) << log2_lanes;
    const std::int64_t stride = static_cast<std::int64_t>(height(slice)) << log2_lanes;
    const std::int64_t rest = height(slice) - row_in_slice(stored_row);
    const std::int64_t tile_rows = rest < 0 ? 0 : rest < count ? rest : count;
    const std::int64_t width = slice_widths[slice];
    // If slices are one stream, the prefetch distance is a number of elements, wherever the slice ends (see
    // docs/performance.md, "Prefetching on hosts").
    constexpr std::int64_t elements_ahead = 1024;
    const std::int64_t ahead =
        height(slice) > most_rows_of_one_stream ? host_tile_rows_ahead << log2_lanes : elements_ahead;
    const Scalar* const value = values + slice_offsets[slice] + start;
    const auto visit_entries = [&](const auto* entry, const auto& column) {
      using entry_type = std::decay_t<decltype(*entry)>;
      using column_type = std::decay_t<decltype(column)>;
      const auto visit_as = [&](auto unit_step) {
        visit(HostTile<Scalar, entry_type, column_type, false, decltype(unit_step)::value>{
            value, entry, column, stride, log2_lanes, tile_rows, width, nullptr, ahead});
      };
      if (log2_lanes == 0)
        visit_as(std::true_type());
      else
        visit_as(std::false_type());
    };
    if constexpr (ShortColumns) {
      const std::int64_t column_start = column_offsets[slice] + start;
      if (column_bases[slice] >= 0)
        visit_entries(short_entries + column_start, EntryIsDistance<Ordinal>{column_bases[slice]});
      else
        visit_entries(entries + column_start, EntryIsColumn());
    } else {
      visit_entries(entries + slice_offsets[slice] + start, EntryIsColumn());
    }
  }

  // For conversions. A slot is a position in values. A GPU lane loads one slot at a time (see
  // docs/performance.md, "Slots that a lane loads at once").

  static constexpr int fill_batch = 1;
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t slots() const { return slot_count; }
  KOKKOS_FORCEINLINE_FUNCTION SlotGroup group(std::int64_t slot, std::int64_t from) const {
    return find_group(from, static_cast<std::int64_t>(slices), slot,
                      [&](std::int64_t slice) { return slice_offsets[slice]; });
  }
  KOKKOS_FORCEINLINE_FUNCTION SlotEntry entry(const SlotGroup& slice, std::int64_t slot) const {
    const std::int64_t in_slice = slot - slice.begin;
    const int lane = static_cast<int>(in_slice & (lanes() - 1));
    const std::int64_t element = in_slice >> log2_lanes;
    std::int64_t j = element >> log2_height;
    std::int64_t row = element & ((std::int64_t(1) << log2_height) - 1);
    if (slice_rows != nullptr) {
      const int rows_of_slice = height(static_cast<stored_row_type>(slice.number));
      j = element / rows_of_slice;
      row = element - j * rows_of_slice;
    }
    return {(slice.number << log2_height) + row, (j << log2_lanes) + lane, slot};
  }
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t column_at(const SlotGroup& slice, std::int64_t position) const {
    if constexpr (ShortColumns) {
      const Ordinal base = column_bases[slice.number];
      const std::int64_t at = column_offsets[slice.number] + (position - slice.begin);
      return static_cast<std::int64_t>(base >= 0 ? EntryIsDistance<Ordinal>{base}(short_entries[at])
                                                 : entries[at]);
    } else {
      return static_cast<std::int64_t>(entries[position]);
    }
  }
  KOKKOS_FORCEINLINE_FUNCTION void set_column_at(const SlotGroup& slice, std::int64_t position,
                                                 std::int64_t column) const {
    if constexpr (ShortColumns) {
      const std::int64_t base = static_cast<std::int64_t>(column_bases[slice.number]);
      const std::int64_t at = column_offsets[slice.number] + (position - slice.begin);
      if (base >= 0)
        short_entries[at] = column < 0 ? short_padding : static_cast<std::uint16_t>(column - base);
      else
        entries[at] = static_cast<Ordinal>(column);
    } else {
      entries[position] = static_cast<Ordinal>(column);
    }
  }
};

/// Calls visit(layout) with the layout of a sliced ELL matrix, for short or for whole columns.
template <class ExecutionSpace, class S, class O, class D, class M, class Z, class Visit>
auto with_layout(const ExecutionSpace&, const SellMatrix<S, O, D, M, Z>& sell, const Visit& visit) {
  if (sell.column_bases.extent(0) > 0) return visit(SellLayout<S, O, true>(sell));
  return visit(SellLayout<S, O, false>(sell));
}

}  // namespace Filigree::Impl

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "filigree/conversion/slots.hpp"
#include "filigree/formats/ell/ell_matrix.hpp"
#include "filigree/product/host_tile.hpp"
#include "filigree/product/row_layout.hpp"

namespace Filigree::Impl {

/// The layout of ELL. If RowLengths is true, each row ends after its length. Otherwise every row has the full
/// width, padding included, and the rows that fill the stride are stored rows too. In a hybrid format a row
/// may be longer than the width. Its excess entries are in the other part.
template <class Scalar, class Ordinal, bool RowLengths>
struct EllLayout : RowLayout<EllLayout<Scalar, Ordinal, RowLengths>, Scalar, Ordinal> {
  using stored_row_type = stored_row_t<Ordinal>;
  using length_type = length_t<Ordinal>;
  using entries_type = StridedEntries<Scalar, Ordinal, length_type>;
  static constexpr bool padded = !RowLengths;
  static constexpr bool has_lanes = true;
  static constexpr bool joins_words = RowLengths;
  static constexpr int rows_per_host_team = host_rows_of_long_streams;

  Scalar* values;
  Ordinal* entries;
  const Ordinal* row_lengths;
  std::int64_t rows;
  std::int64_t stride;
  length_type width;
  int log2_lanes;

  template <class Ell>
  explicit EllLayout(const Ell& ell)
      : values(ell.values.data()),
        entries(ell.entries.data()),
        row_lengths(ell.row_lengths.extent(0) > 0 ? ell.row_lengths.data() : nullptr),
        rows(static_cast<std::int64_t>(ell.numRows())),
        stride(static_cast<std::int64_t>(ell.stride())),
        width(static_cast<length_type>(ell.width())),
        log2_lanes(log2_of(ell.lanes_per_row())) {}

  // For products.

  KOKKOS_FORCEINLINE_FUNCTION std::int64_t stored_row_count() const { return RowLengths ? rows : stride; }
  KOKKOS_FORCEINLINE_FUNCTION bool is_in_matrix_order() const { return true; }
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t matrix_row(std::int64_t i) const { return i < rows ? i : -1; }
  KOKKOS_FORCEINLINE_FUNCTION int lanes() const { return 1 << log2_lanes; }

  KOKKOS_FORCEINLINE_FUNCTION entries_type lane_entries(stored_row_type i, int lane) const {
    const std::int64_t start = (static_cast<std::int64_t>(i) << log2_lanes) + lane;
    const length_type full_length = RowLengths ? static_cast<length_type>(row_lengths[i]) : width;
    const length_type length = full_length < width ? full_length : width;
    return {values + start, entries + start, stride << log2_lanes, entries_of_lane(length, lane, log2_lanes)};
  }
  template <class Visit>
  KOKKOS_FORCEINLINE_FUNCTION void visit_lane_entries(stored_row_type i, int lane, const Visit& visit) const {
    visit(lane_entries(i, lane));
  }

  /// Calls visit(entries) with all elements of stored row i, padding included. For SharedEntriesProduct.
  template <class Visit>
  KOKKOS_FORCEINLINE_FUNCTION void visit_row_of_group(stored_row_type i, const Visit& visit) const {
    visit(entries_type{values + i, entries + i, stride, width});
  }
  /// The number of entries of stored row i before its padding, or more.
  KOKKOS_FORCEINLINE_FUNCTION length_type length_of_row(stored_row_type i, length_type) const {
    if (row_lengths == nullptr) return width;
    const length_type length = static_cast<length_type>(row_lengths[i]);
    return length < width ? length : width;
  }

  template <class Visit>
  KOKKOS_INLINE_FUNCTION void visit_tile(std::int64_t i, std::int64_t count, const Visit& visit) const {
    const std::int64_t start = i << log2_lanes;
    const auto visit_as = [&](auto unit_step) {
      visit(HostTile<Scalar, Ordinal, EntryIsColumn, RowLengths, decltype(unit_step)::value>{
          values + start, entries + start, EntryIsColumn(), stride << log2_lanes, log2_lanes, count, width,
          RowLengths ? row_lengths + i : nullptr, host_tile_rows_ahead << log2_lanes});
    };
    if (log2_lanes == 0)
      visit_as(std::true_type());
    else
      visit_as(std::false_type());
  }

  // For conversions. Slots are numbered as if ELL had slices of 32 rows, so that neighbouring lanes read
  // neighbouring rows of the CRS matrix.

  static constexpr int log2_slice = 5;
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t slots() const { return slice_begin(slices()); }
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t slices() const {
    return (stride + (1 << log2_slice) - 1) >> log2_slice;
  }
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t slice_begin(std::int64_t slice) const {
    return (slice << log2_slice) * width;
  }
  KOKKOS_FORCEINLINE_FUNCTION SlotGroup group(std::int64_t slot, std::int64_t) const {
    const std::int64_t slice = slot / slice_begin(1);
    return {slice, slice_begin(slice), slice_begin(slice + 1)};
  }
  KOKKOS_FORCEINLINE_FUNCTION SlotEntry entry(const SlotGroup& slice, std::int64_t slot) const {
    const std::int64_t in_slice = slot - slice.begin;
    const int lane = static_cast<int>(in_slice & (lanes() - 1));
    const std::int64_t j = in_slice >> (log2_slice + log2_lanes);
    const std::int64_t i =
        (slice.number << log2_slice) + ((in_slice >> log2_lanes) & ((1 << log2_slice) - 1));
    return {i < stored_row_count() ? i : -1, (j << log2_lanes) + lane,
            ((j * stride + i) << log2_lanes) + lane};
  }
  /// The length of values and entries.
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t elements() const { return stride * width; }
};

/// Calls visit(layout) with the layout of an ELL matrix, with or without row lengths.
template <class ExecutionSpace, class S, class O, class D, class M, class Z, class Visit>
auto with_layout(const ExecutionSpace&, const EllMatrix<S, O, D, M, Z>& ell, const Visit& visit) {
  if (ell.row_lengths.extent(0) > 0) return visit(EllLayout<S, O, true>(ell));
  return visit(EllLayout<S, O, false>(ell));
}

}  // namespace Filigree::Impl

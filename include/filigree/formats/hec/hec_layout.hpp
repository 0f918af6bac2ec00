// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "filigree/formats/ell/ell_layout.hpp"
#include "filigree/formats/hec/hec_matrix.hpp"

namespace Filigree::Impl {

/// The layout of HEC: the ELL part, and the excess entries as a CRS matrix of the rows that have some. "The
/// list" is excess_rows, which names these rows: first the long_count long rows, which a GPU multiplies by
/// teams, then the others, both in ascending order.
template <class Scalar, class Ordinal, class SizeType>
struct HecLayout : RowLayout<HecLayout<Scalar, Ordinal, SizeType>, Scalar, Ordinal> {
  using excess_type = StridedEntries<Scalar, Ordinal, length_t<Ordinal>>;
  static constexpr bool has_excess = true;

  EllLayout<Scalar, Ordinal, true> ell;
  Scalar* excess_values;
  Ordinal* excess_entries;
  const Ordinal* excess_rows;
  const SizeType* excess_row_map;
  std::int64_t excess_count;
  std::int64_t excess_entry_count;
  std::int64_t long_count;

  template <class Hec>
  explicit HecLayout(const Hec& hec)
      : ell(hec.ell),
        excess_values(hec.excess_values.data()),
        excess_entries(hec.excess_entries.data()),
        excess_rows(hec.excess_rows.data()),
        excess_row_map(hec.excess_row_map.data()),
        excess_count(static_cast<std::int64_t>(hec.excess_rows.extent(0))),
        excess_entry_count(static_cast<std::int64_t>(hec.excess_values.extent(0))),
        long_count(static_cast<std::int64_t>(hec.numLongRows())) {}

  KOKKOS_FORCEINLINE_FUNCTION length_t<Ordinal> length(std::int64_t row) const {
    return static_cast<length_t<Ordinal>>(ell.row_lengths[row]);
  }
  KOKKOS_FORCEINLINE_FUNCTION bool has_excess_entries(std::int64_t row) const {
    return length(row) > ell.width;
  }
  /// The row at index `at` of the list.
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t listed_row(std::int64_t at) const {
    return static_cast<std::int64_t>(excess_rows[at]);
  }
  KOKKOS_FORCEINLINE_FUNCTION excess_type excess_of_listed(std::int64_t at) const {
    const std::int64_t begin = static_cast<std::int64_t>(excess_row_map[at]);
    return {excess_values + begin, excess_entries + begin, 1, length(listed_row(at)) - ell.width};
  }
  /// The index of the first row not less than `row` in the part of the list from low to high - 1.
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t search(std::int64_t low, std::int64_t high,
                                                  std::int64_t row) const {
    return first_where(low, high, [&](std::int64_t at) { return listed_row(at) >= row; });
  }

  // For products.

  KOKKOS_FORCEINLINE_FUNCTION std::int64_t stored_row_count() const { return ell.rows; }
  KOKKOS_FORCEINLINE_FUNCTION bool is_in_matrix_order() const { return true; }
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t matrix_row(std::int64_t i) const { return i; }
  template <class Visit>
  KOKKOS_FORCEINLINE_FUNCTION void visit_lane_entries(std::int64_t row, int, const Visit& visit) const {
    ell.visit_lane_entries(row, 0, visit);
    if (!has_excess_entries(row)) return;
    const std::int64_t among_long = search(0, long_count, row);
    const bool is_long = among_long < long_count && listed_row(among_long) == row;
    visit(excess_of_listed(is_long ? among_long : search(long_count, excess_count, row)));
  }
  /// Both parts of a row. A kernel loads both before it multiplies the first.
  struct Parts {
    excess_type ell;
    excess_type excess;
  };
  KOKKOS_FORCEINLINE_FUNCTION Parts parts_of_listed(std::int64_t at) const {
    return {ell.lane_entries(listed_row(at), 0), excess_of_listed(at)};
  }
  template <class Visit>
  KOKKOS_INLINE_FUNCTION void visit_tile(std::int64_t i, std::int64_t count, const Visit& visit) const {
    ell.visit_tile(i, count, visit);
  }
  template <class Visit>
  KOKKOS_INLINE_FUNCTION void visit_excess(std::int64_t first, std::int64_t count, const Visit& visit) const {
    const auto visit_list = [&](std::int64_t at, std::int64_t end) {
      for (at = search(at, end, first); at < end && listed_row(at) < first + count; ++at)
        visit(listed_row(at) - first, excess_of_listed(at));
    };
    visit_list(0, long_count);
    visit_list(long_count, excess_count);
  }

  // For conversions: the slots of the ELL part, then the excess entries.

  KOKKOS_FORCEINLINE_FUNCTION std::int64_t slots() const { return ell.slots() + excess_entry_count; }
  KOKKOS_FORCEINLINE_FUNCTION SlotGroup group(std::int64_t slot, std::int64_t from) const {
    const std::int64_t first = ell.slots();
    if (slot < first) return ell.group(slot, from);
    // Each listed row is a group. Their numbers follow those of the slices of the ELL part.
    const std::int64_t listed = from < ell.slices() ? 0 : from - ell.slices();
    SlotGroup group = find_group(listed, excess_count, slot, [&](std::int64_t at) {
      return first + static_cast<std::int64_t>(excess_row_map[at]);
    });
    group.number += ell.slices();
    return group;
  }
  KOKKOS_FORCEINLINE_FUNCTION SlotEntry entry(const SlotGroup& group, std::int64_t slot) const {
    if (slot < ell.slots()) return ell.entry(group, slot);
    return {listed_row(group.number - ell.slices()), ell.width + (slot - group.begin),
            ell.elements() + (slot - ell.slots())};
  }
  KOKKOS_FORCEINLINE_FUNCTION Scalar& value_at(std::int64_t position) const {
    return position < ell.elements() ? ell.values[position] : excess_values[position - ell.elements()];
  }
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t column_at(const SlotGroup&, std::int64_t position) const {
    return static_cast<std::int64_t>(position < ell.elements() ? ell.entries[position]
                                                               : excess_entries[position - ell.elements()]);
  }
};

/// Calls visit(layout) with the layout of the matrix.
template <class ExecutionSpace, class S, class O, class D, class M, class Z, class Visit>
auto with_layout(const ExecutionSpace&, const HecMatrix<S, O, D, M, Z>& hec, const Visit& visit) {
  return visit(HecLayout<S, O, Z>(hec));
}

}  // namespace Filigree::Impl

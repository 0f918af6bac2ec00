// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FILIGREE_FORMATS_HEC_HEC_LAYOUT_HPP
#define FILIGREE_FORMATS_HEC_HEC_LAYOUT_HPP

#include <cstdint>

#include "filigree/conversion/slots.hpp"
#include "filigree/core/binary_search.hpp"
#include "filigree/core/integer.hpp"
#include "filigree/core/load_once.hpp"
#include "filigree/formats/ell/ell_layout.hpp"
#include "filigree/formats/hec/hec_matrix.hpp"
#include "filigree/product/row_layout.hpp"

namespace Filigree {
namespace Impl {

/// The Rows (core/rows.hpp) of a hybrid of ELL and CRS.
template <class Scalar, class Ordinal, class SizeType>
struct HecLayout {
  using scalar_type = Scalar;
  using ordinal_type = Ordinal;
  using run_type = StridedEntries<Scalar, Ordinal, length_t<Ordinal>>;
  static constexpr bool is_dense = false;
  static constexpr bool padded = false;
  static constexpr bool has_lanes = false;

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
  KOKKOS_FORCEINLINE_FUNCTION bool has_excess(std::int64_t row) const { return length(row) > ell.width; }
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t excess_row(std::int64_t at) const {
    return static_cast<std::int64_t>(excess_rows[at]);
  }
  KOKKOS_FORCEINLINE_FUNCTION run_type excess_run(std::int64_t at) const {
    const std::int64_t begin = static_cast<std::int64_t>(excess_row_map[at]);
    return {excess_values + begin, excess_entries + begin, 1, length(excess_row(at)) - ell.width};
  }
  /// Both parts of the row at a place of the list.
  KOKKOS_FORCEINLINE_FUNCTION JoinedEntries<run_type, run_type> run_of_excess(std::int64_t at) const {
    const std::int64_t row = excess_row(at);
    return {ell.lane_entries(row, 0), excess_run(at), length(row)};
  }
  /// The place of a row in the part of the list from low to high.
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t search(std::int64_t low, std::int64_t high,
                                                  std::int64_t row) const {
    return first_where(low, high, [&](std::int64_t at) { return excess_row(at) >= row; });
  }

  KOKKOS_FORCEINLINE_FUNCTION std::int64_t stored_row_count() const { return ell.rows; }
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t matrix_row(std::int64_t i) const { return i; }
  KOKKOS_FORCEINLINE_FUNCTION int lanes() const { return 1; }
  KOKKOS_FORCEINLINE_FUNCTION JoinedEntries<run_type, run_type> lane_entries(std::int64_t row, int) const {
    if (!has_excess(row)) return {ell.lane_entries(row, 0), {nullptr, nullptr, 1, 0}, length(row)};
    const std::int64_t among_long = search(0, long_count, row);
    const bool is_long = among_long < long_count && excess_row(among_long) == row;
    return run_of_excess(is_long ? among_long : search(long_count, excess_count, row));
  }
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t tile_rows(std::int64_t i, std::int64_t most) const {
    return ell.tile_rows(i, most);
  }
  template <class Visit>
  KOKKOS_INLINE_FUNCTION void visit_tile(std::int64_t i, std::int64_t count, const Visit& visit) const {
    ell.visit_tile(i, count, visit);
  }
  template <class Visit>
  KOKKOS_INLINE_FUNCTION void visit_rests(std::int64_t first, std::int64_t count, const Visit& visit) const {
    const auto visit_list = [&](std::int64_t at, std::int64_t end) {
      for (at = search(at, end, first); at < end && excess_row(at) < first + count; ++at)
        visit(excess_row(at) - first, excess_run(at));
    };
    visit_list(0, long_count);
    visit_list(long_count, excess_count);
  }

  /// The slots of the ELL part, then those of the CSR part.
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t slots() const { return ell.slots() + excess_entry_count; }
  KOKKOS_FORCEINLINE_FUNCTION SlotGroup group(std::int64_t slot, std::int64_t from) const {
    const std::int64_t first = ell.slots();
    if (slot < first) return ell.group(slot, from);
    // The numbers of the listed rows go on where those of the ELL part end.
    const std::int64_t listed = from < ell.slices() ? 0 : from - ell.slices();
    SlotGroup group = find_group(listed, excess_count, slot, [&](std::int64_t at) {
      return first + static_cast<std::int64_t>(excess_row_map[at]);
    });
    group.number += ell.slices();
    return group;
  }
  KOKKOS_FORCEINLINE_FUNCTION SlotEntry entry(const SlotGroup& group, std::int64_t slot) const {
    if (slot < ell.slots()) return ell.entry(group, slot);
    return {excess_row(group.number - ell.slices()), ell.width + (slot - group.begin),
            ell.elements() + (slot - ell.slots())};
  }
  KOKKOS_FORCEINLINE_FUNCTION Scalar& value_at(std::int64_t at) const {
    return at < ell.elements() ? ell.values[at] : excess_values[at - ell.elements()];
  }
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t column_at(const SlotGroup&, std::int64_t at) const {
    return static_cast<std::int64_t>(at < ell.elements() ? ell.entries[at]
                                                         : excess_entries[at - ell.elements()]);
  }
};

/// Calls visit(layout) with the layout of the matrix.
template <class ExecutionSpace, class S, class O, class D, class M, class Z, class Visit>
auto with_layout(const ExecutionSpace&, const HecMatrix<S, O, D, M, Z>& hec, const Visit& visit) {
  return visit(HecLayout<S, O, Z>(hec));
}

}  // namespace Impl
}  // namespace Filigree

#endif

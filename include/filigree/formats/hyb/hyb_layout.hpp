// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "filigree/formats/coo/coo_layout.hpp"
#include "filigree/formats/ell/ell_layout.hpp"
#include "filigree/formats/hyb/hyb_matrix.hpp"

namespace Filigree::Impl {

/// The layout of HYB: the ELL part, and the COO part with the excess entries, sorted by row.
template <class ExecutionSpace, class Scalar, class Ordinal>
struct HybLayout : RowLayout<HybLayout<ExecutionSpace, Scalar, Ordinal>, Scalar, Ordinal> {
  using excess_type = StridedEntries<Scalar, Ordinal, length_t<Ordinal>>;
  static constexpr bool has_excess = true;

  EllLayout<Scalar, Ordinal, true> ell;
  CooLayout<ExecutionSpace, Scalar, Ordinal> coo;

  template <class Hyb>
  explicit HybLayout(const Hyb& hyb) : ell(hyb.ell), coo(hyb.coo) {}

  KOKKOS_FORCEINLINE_FUNCTION std::int64_t stored_row_count() const { return ell.rows; }
  KOKKOS_FORCEINLINE_FUNCTION bool is_in_matrix_order() const { return true; }
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t matrix_row(std::int64_t i) const { return i; }
  template <class Visit>
  KOKKOS_FORCEINLINE_FUNCTION void visit_lane_entries(std::int64_t i, int, const Visit& visit) const {
    ell.visit_lane_entries(i, 0, visit);
    const auto length = static_cast<length_t<Ordinal>>(ell.row_lengths[i]);
    if (length > ell.width) visit(excess_entries(coo.begin_of(i), length));
  }

  template <class Visit>
  KOKKOS_INLINE_FUNCTION void visit_tile(std::int64_t i, std::int64_t count, const Visit& visit) const {
    ell.visit_tile(i, count, visit);
  }
  template <class Visit>
  KOKKOS_INLINE_FUNCTION void visit_excess(std::int64_t first, std::int64_t count, const Visit& visit) const {
    for (std::int64_t at = coo.begin_of(first); at < coo.nnz && coo.row_of(at) < first + count;) {
      const std::int64_t row = coo.row_of(at);
      const excess_type excess = excess_entries(at, static_cast<length_t<Ordinal>>(ell.row_lengths[row]));
      coo.prefetch(at);
      visit(row - first, excess);
      at += excess.count;
    }
  }
  /// The excess entries of a row of the given length, the first of which is entry `begin` of the COO part.
  KOKKOS_FORCEINLINE_FUNCTION excess_type excess_entries(std::int64_t begin, length_t<Ordinal> length) const {
    return {coo.values + begin, coo.entries + begin, 1, length - ell.width};
  }

  // For conversions: the slots of the ELL part, then the entries of the COO part.

  KOKKOS_FORCEINLINE_FUNCTION std::int64_t slots() const { return ell.slots() + coo.slots(); }
  KOKKOS_FORCEINLINE_FUNCTION SlotGroup group(std::int64_t slot, std::int64_t from) const {
    const std::int64_t coo_begin = ell.slots();
    if (slot < coo_begin) return ell.group(slot, from);
    const SlotGroup row = coo.group(slot - coo_begin, 0);
    return {row.number, row.begin + coo_begin, row.end + coo_begin};
  }
  KOKKOS_FORCEINLINE_FUNCTION SlotEntry entry(const SlotGroup& group, std::int64_t slot) const {
    if (slot < ell.slots()) return ell.entry(group, slot);
    return {group.number, ell.width + (slot - group.begin), ell.elements() + (slot - ell.slots())};
  }
  KOKKOS_FORCEINLINE_FUNCTION Scalar& value_at(std::int64_t position) const {
    return position < ell.elements() ? ell.values[position] : coo.values[position - ell.elements()];
  }
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t column_at(const SlotGroup&, std::int64_t position) const {
    return static_cast<std::int64_t>(position < ell.elements() ? ell.entries[position]
                                                               : coo.entries[position - ell.elements()]);
  }
};

/// Calls visit(layout) with the layout of the matrix.
template <class ExecutionSpace, class S, class O, class D, class M, class Z, class Visit>
auto with_layout(const ExecutionSpace&, const HybMatrix<S, O, D, M, Z>& hyb, const Visit& visit) {
  return visit(HybLayout<ExecutionSpace, S, O>(hyb));
}

}  // namespace Filigree::Impl

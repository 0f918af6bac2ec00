// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How the copy kernels (row_copy.hpp) divide the stored elements of a matrix among lanes.
//
// A slot is a numbered storage element that holds an entry or padding. A lane copies a strip of a few slots
// instead of a row. So long rows cost no more than short rows, and neighbouring lanes access neighbouring
// memory. Slots with consecutive numbers are mostly neighbours in memory. A slot group is a range of
// consecutive slots: the slots of one slice, of a block of jagged diagonals or of one row. A lane looks up a
// group once and keeps it for its next slots.
//
// For conversions a layout has these members, besides the members for products (product/row_layout.hpp):
//
//   slots()                     number of slots
//   group(slot, from)           the SlotGroup of a slot. `from` is the number of the lane's last group, or 0;
//                               the lane goes through its slots in ascending order.
//   entry(group, slot)          the SlotEntry of a slot: its stored row, entry number and position
//   value_at(position)          a reference to the value at a position
//   column_at(group, position)  the column at a position, -1 for padding
//
// A layout that fill_rows() writes also has:
//
//   set_column_at(group, position, column)  sets the column at a position
//   fill_batch                  (constexpr) slots that a GPU lane loads before it stores them: 1, 2, 4 or 8
#pragma once

#include "filigree/core/binary_search.hpp"
#include "filigree/core/launch.hpp"
#include "filigree/core/region.hpp"

namespace Filigree::Impl {

/// The slots begin to end - 1, and the number that the layout gives the group.
struct SlotGroup {
  std::int64_t number = 0;
  std::int64_t begin = 0;
  std::int64_t end = 0;

  KOKKOS_FORCEINLINE_FUNCTION bool has(std::int64_t slot) const { return slot >= begin && slot < end; }
};

/// The content of a slot: entry k of a stored row, or padding if that row has no entry k.
struct SlotEntry {
  std::int64_t stored_row;  ///< -1 if nothing is stored in the slot
  std::int64_t k;
  std::int64_t position;  ///< index of the slot in the arrays of the format
};

/// Base class of layouts, with default members. Layout is the derived class. It can hide a default by a
/// member of the same name. The functions for positions use its `values` and `entries`.
template <class Layout, class Scalar, class Ordinal>
struct RowLayout {
  using scalar_type = Scalar;
  using ordinal_type = Ordinal;
  static constexpr bool is_dense = false;
  static constexpr bool padded = false;
  static constexpr bool has_lanes = false;
  static constexpr bool has_tiles = true;
  static constexpr bool has_excess = false;
  static constexpr bool is_sliced = false;
  static constexpr bool joins_words = false;
  static constexpr int fill_batch = 4;
  static constexpr int rows_per_host_team = host_rows;

  KOKKOS_FORCEINLINE_FUNCTION int lanes() const { return 1; }
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t tile_rows(std::int64_t, std::int64_t most) const { return most; }

  KOKKOS_FORCEINLINE_FUNCTION const Layout& derived() const { return static_cast<const Layout&>(*this); }
  KOKKOS_FORCEINLINE_FUNCTION Scalar& value_at(std::int64_t position) const {
    return derived().values[position];
  }
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t column_at(const SlotGroup&, std::int64_t position) const {
    return static_cast<std::int64_t>(derived().entries[position]);
  }
  KOKKOS_FORCEINLINE_FUNCTION void set_column_at(const SlotGroup&, std::int64_t position,
                                                 std::int64_t column) const {
    derived().entries[position] = static_cast<Ordinal>(column);
  }
};

/// The group of a slot. Group g has the slots begin_of(g) to begin_of(g + 1) - 1, for g from 0 to count - 1.
/// The result must be `low` or a later group: pass the group of the lane's last slot, or 0. The search begins
/// with the groups next to it (see docs/performance.md, "Search for the group of a slot").
template <class BeginOf>
KOKKOS_FORCEINLINE_FUNCTION SlotGroup find_group(std::int64_t low, std::int64_t count, std::int64_t slot,
                                                 const BeginOf& begin_of) {
  std::int64_t end = begin_of(low + 1);
  if (end <= slot) {
    ++low;
    end = begin_of(low + 1);
  }
  if (end <= slot) {
    const auto ends_after = [&](std::int64_t group) { return begin_of(group + 1) > slot; };
    low =
        low > 1 ? first_where_galloping(low + 1, count, ends_after) : first_where(low + 1, count, ends_after);
    end = begin_of(low + 1);
  }
  return {low, begin_of(low), end};
}

/// The slots of one lane. On a GPU the 32 lanes of a warp have 256 consecutive slots, and each lane takes
/// every 32nd of them, so that the warp writes consecutive elements at once. On a host the slots of a strip
/// are consecutive.
template <class ExecutionSpace>
struct SlotStrip {
  static constexpr bool gpu = runs_on_gpu_v<ExecutionSpace>;
  static constexpr int step = gpu ? 32 : 1;
  static constexpr int count = gpu ? 8 : 1024;

  /// The number of strips that cover `slots` slots.
  static std::int64_t strips(std::int64_t slots) {
    constexpr std::int64_t size = step * count;
    return (slots + size - 1) / size * step;
  }

  /// Slot j of a strip, for j from 0 to count - 1. Ascends with j.
  static KOKKOS_FORCEINLINE_FUNCTION std::int64_t slot(std::int64_t strip, int j) {
    return strip / step * (step * count) + strip % step + j * step;
  }
  /// Calls visit(slot) for each slot of a strip that is below `slots`, in ascending order.
  template <class Visit>
  static KOKKOS_FORCEINLINE_FUNCTION void for_each(std::int64_t strip, std::int64_t slots,
                                                   const Visit& visit) {
    for (int j = 0; j < count && slot(strip, j) < slots; ++j)
      visit(slot(strip, j));
  }
};

/// Launches the kernel "Filigree::<what>[<format>]" with one lane per strip of `slots` slots.
template <class Tag, class ExecutionSpace, class Work>
void for_each_strip(const ExecutionSpace& exec, const char* what, const char* format, std::int64_t slots,
                    const Work& work) {
  Kokkos::parallel_for(label(what, format), row_range<Tag>(exec, SlotStrip<ExecutionSpace>::strips(slots)),
                       work);
}

}  // namespace Filigree::Impl

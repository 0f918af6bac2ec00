// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Copies give a lane a few slots and not a row: a slot is where an entry or its padding is stored. So long
// rows cost no more than short ones, and neighbouring lanes touch neighbours in memory.
//
// Slots are numbered so that neighbours are, mostly, neighbours in memory, and lie in groups of consecutive
// numbers: a slice, a jagged diagonal, a row of a list. What a lane knows of the group that it is in, it need
// not look up for the next slot.
#ifndef FILIGREE_CONVERSION_SLOTS_HPP
#define FILIGREE_CONVERSION_SLOTS_HPP

#include <cstdint>

#include "filigree/core/binary_search.hpp"
#include "filigree/core/launch.hpp"
#include "filigree/core/region.hpp"

namespace Filigree {
namespace Impl {

/// The slots begin to end - 1.
struct SlotGroup {
  std::int64_t number = 0;
  std::int64_t begin = 0;
  std::int64_t end = 0;

  KOKKOS_FORCEINLINE_FUNCTION bool has(std::int64_t slot) const { return slot >= begin && slot < end; }
};

/// What a slot is for: entry k of the row in place i, or nothing where place is -1.
struct SlotEntry {
  std::int64_t place;
  std::int64_t k;
  /// Its place in the arrays.
  std::int64_t at;
};

/// The group of a slot, among the groups from `low` to count - 1, where group g is from begin_of(g) to
/// begin_of(g + 1). `low` is where the last slot was, or 0: past 0 the groups next to it are looked at first
/// (COO of 7pt 100^3 b=4 in float on an H200: 2.5 ms in place of 4.5).
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

/// The slots of one lane. On a GPU 32 lanes share 256 neighbours, of which each takes every 32nd: they write
/// together, and read rows of the CRS a few entries a lane. On a host they are consecutive.
template <class ExecutionSpace>
struct SlotStrip {
  static constexpr bool gpu = runs_on_gpu_v<ExecutionSpace>;
  static constexpr int step = gpu ? 32 : 1;
  static constexpr int count = gpu ? 8 : 1024;

  static std::int64_t strips(std::int64_t slots) {
    constexpr std::int64_t size = step * count;
    return (slots + size - 1) / size * step;
  }

  /// Slot j of a strip, of `count`, ascending.
  static KOKKOS_FORCEINLINE_FUNCTION std::int64_t slot(std::int64_t strip, int j) {
    return strip / step * (step * count) + strip % step + j * step;
  }
  /// Calls visit(slot) for the slots of a strip, ascending.
  template <class Visit>
  static KOKKOS_FORCEINLINE_FUNCTION void for_each(std::int64_t strip, std::int64_t slots,
                                                   const Visit& visit) {
    for (int j = 0; j < count && slot(strip, j) < slots; ++j)
      visit(slot(strip, j));
  }
};

/// A kernel "Filigree::<what>[<format>]" over the strips of some slots.
template <class Tag, class ExecutionSpace, class Work>
void for_each_strip(const ExecutionSpace& exec, const char* what, const char* format, std::int64_t slots,
                    const Work& work) {
  Kokkos::parallel_for(label(what, format), row_range<Tag>(exec, SlotStrip<ExecutionSpace>::strips(slots)),
                       work);
}

}  // namespace Impl
}  // namespace Filigree

#endif

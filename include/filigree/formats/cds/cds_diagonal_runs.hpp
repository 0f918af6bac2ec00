// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <type_traits>

#include "filigree/core/launch.hpp"
#include "filigree/core/load_once.hpp"

namespace Filigree::Impl {

/// Diagonals of a run, whose offsets follow each other.
constexpr int diagonals_per_run = 3;

/// Calls visit(count, k, offsets) for all diagonals of a CDS matrix in steps, in order. A step has the `count` diagonals
/// from k on. `count` is a std::integral_constant, so that the kernel has code of its own for each number:
/// - 3: a run. offsets[0] is the first of its offsets.
/// - 1, or 2 if TakesTwo is true: diagonals that do not begin a run. `offsets` has the offset of each.
///
/// Offsets ascend and differ, so that three diagonals are a run if the third offset is the first plus 2.
template <bool TakesTwo, class Visit>
KOKKOS_FORCEINLINE_FUNCTION void for_each_run(const int* const offsets, const int diagonals,
                                              const Visit& visit) {
  const auto begins_run = [=](int k, int offset) {
    const int last = k + diagonals_per_run - 1;
    return last < diagonals && load_constant(offsets + last) == offset + diagonals_per_run - 1;
  };
  FILIGREE_UNROLL(1)
  for (int k = 0; k < diagonals;) {
    const int of_step[2] = {load_constant(offsets + k),
                            TakesTwo && k + 1 < diagonals ? load_constant(offsets + k + 1) : 0};
    if (begins_run(k, of_step[0])) {
      visit(std::integral_constant<int, diagonals_per_run>(), k, of_step);
      k += diagonals_per_run;
      continue;
    }
    if constexpr (TakesTwo)
      if (k + 1 < diagonals && !begins_run(k + 1, of_step[1])) {
        visit(std::integral_constant<int, 2>(), k, of_step);
        k += 2;
        continue;
      }
    visit(std::integral_constant<int, 1>(), k, of_step);
    k += 1;
  }
}

}  // namespace Filigree::Impl

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "filigree/core/kokkos_versions.hpp"

namespace Filigree::Impl {

/// Binary search for the first number in [low, high) for which holds(number) is true; high if there is none.
/// If holds is true for a number, it must be true for all larger ones.
template <class Predicate>
KOKKOS_FORCEINLINE_FUNCTION std::int64_t first_where(std::int64_t low, std::int64_t high,
                                                     const Predicate& holds) {
  while (low < high) {
    const std::int64_t middle = (low + high) / 2;
    if (holds(middle))
      high = middle;
    else
      low = middle + 1;
  }
  return low;
}

/// first_where(), but faster if the result is close to low: it first tests numbers at growing distances from
/// low.
template <class Predicate>
KOKKOS_FORCEINLINE_FUNCTION std::int64_t first_where_galloping(std::int64_t low, std::int64_t high,
                                                               const Predicate& holds) {
  std::int64_t step = 1;
  while (low + step < high && !holds(low + step - 1)) {
    low += step;
    step *= 2;
  }
  return first_where(low, low + step < high ? low + step : high, holds);
}

}  // namespace Filigree::Impl

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>

#include "filigree/core/kokkos_versions.hpp"

namespace Filigree::Impl {

/// The first number in [low, high) for which holds(number) is true, or high if there is none. If it is true
/// for a number, it must be true for all larger ones. Binary search.
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

/// Like first_where(), but faster if the result is close to low. It tests numbers at growing distances from
/// low before it starts a binary search.
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

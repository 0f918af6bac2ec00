// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FILIGREE_CORE_BINARY_SEARCH_HPP
#define FILIGREE_CORE_BINARY_SEARCH_HPP

#include <cstdint>

#include "filigree/core/kokkos_versions.hpp"

namespace Filigree {
namespace Impl {

/// The first number from low to high - 1 for which holds(number) is true, or high. Where it holds for one
/// number it must hold for those after it.
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

/// The same where the number is probably near to low: looks at a few, in growing steps, before it searches.
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

}  // namespace Impl
}  // namespace Filigree

#endif

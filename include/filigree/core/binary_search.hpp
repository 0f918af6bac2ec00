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

}  // namespace Impl
}  // namespace Filigree

#endif

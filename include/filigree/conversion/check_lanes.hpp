// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "filigree/core/error.hpp"

namespace Filigree::Impl {

/// Throws std::invalid_argument unless `value`, which the message calls `what`, is a power of two from
/// `least` to `most`. The message begins with `function`.
inline void check_power_of_two(const char* function, const char* what, int value, int least, int most) {
  if (value < least || value > most || (value & (value - 1)) != 0)
    fail<std::invalid_argument>(function, ": ", what, " is ", value, "; it must be a power of two from ",
                                least, " to ", most, ".");
}

/// check_power_of_two for the option lanes_per_row.
inline void check_lanes_per_row(const char* function, int lanes) {
  check_power_of_two(function, "options.lanes_per_row", lanes, 1, 32);
}

}  // namespace Filigree::Impl

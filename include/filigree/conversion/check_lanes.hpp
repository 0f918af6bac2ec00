// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "filigree/core/error.hpp"

namespace Filigree::Impl {

/// Throws std::invalid_argument unless `lanes`, the option lanes_per_row, is 1, 2, 4, 8, 16 or 32. The
/// message begins with `function`.
inline void check_lanes_per_row(const char* function, int lanes) {
  if (lanes != 1 && lanes != 2 && lanes != 4 && lanes != 8 && lanes != 16 && lanes != 32)
    fail<std::invalid_argument>(function, ": options.lanes_per_row is ", lanes,
                                "; it must be 1, 2, 4, 8, 16 or 32.");
}

/// Throws std::invalid_argument unless `lanes`, which the message calls `what`, is a power of two from 32 to
/// 1024. The message begins with `function`.
inline void check_lanes_per_team(const char* function, const char* what, int lanes) {
  if (lanes < 32 || lanes > 1024 || (lanes & (lanes - 1)) != 0)
    fail<std::invalid_argument>(function, ": ", what, " is ", lanes,
                                "; it must be a power of two from 32 to 1024.");
}

}  // namespace Filigree::Impl

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "filigree/core/require_cxx17.hpp"

#include <type_traits>

#include "filigree/core/error.hpp"

namespace Filigree::Impl {

/// The largest block size for which kernels are compiled.
constexpr int largest_compiled_block_size = 8;

/// Throws std::invalid_argument if the option block_size of a format of grids is below 1.
inline void check_block_size(const char* function, int block_size) {
  if (block_size < 1)
    fail<std::invalid_argument>(function, ": options.block_size is ", block_size,
                                "; it must be at least 1. It is the number of unknowns per cell.");
}

/// Calls visit with the block size as an integral constant if kernels are compiled for it, else with 0.
/// Compiled kernels unroll their loops over a block and divide by a constant.
template <int Candidate = largest_compiled_block_size, class Visit>
void with_block_size(int block_size, const Visit& visit) {
  if (Candidate == 0 || block_size == Candidate)
    visit(std::integral_constant<int, Candidate>());
  else if constexpr (Candidate > 0)
    with_block_size<Candidate - 1>(block_size, visit);
}

}  // namespace Filigree::Impl

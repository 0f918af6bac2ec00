// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "filigree/core/require_cxx17.hpp"

#include <type_traits>

namespace Filigree::Impl {

/// The largest block size for which kernels are compiled.
constexpr int largest_compiled_block_size = 8;

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

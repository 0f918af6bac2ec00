// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FILIGREE_CORE_BLOCK_SIZE_HPP
#define FILIGREE_CORE_BLOCK_SIZE_HPP

#include <type_traits>

namespace Filigree {
namespace Impl {

/// The largest block size that has kernels of its own.
constexpr int largest_compiled_block_size = 8;

/// Calls visit(block_size) with an integral constant: 1 to 8 have kernels of their own, whose loops unroll
/// and whose divisions are by constants; 0 stands for all others.
template <int Candidate = largest_compiled_block_size, class Visit>
void with_block_size(int block_size, const Visit& visit) {
  if (Candidate == 0 || block_size == Candidate)
    visit(std::integral_constant<int, Candidate>());
  else if constexpr (Candidate > 0)
    with_block_size<Candidate - 1>(block_size, visit);
}

}  // namespace Impl
}  // namespace Filigree

#endif

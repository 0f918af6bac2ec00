// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "filigree/formats/bsr/bsr_matrix.hpp"

#if FILIGREE_HAS_BSR
#include "filigree/conversion/block_elements.hpp"

namespace Filigree::Impl {

/// The elements of a BSR matrix for copies (see conversion/dense_copy.hpp). convert() sorts the blocks of a
/// block row by column. In other BSR matrices they may have any order.
template <class Scalar, class Ordinal, class SizeType>
struct BsrElements : BlockElements<BsrElements<Scalar, Ordinal, SizeType>, Scalar, Ordinal, true> {
  const SizeType* row_map;
  const Ordinal* entries;

  template <class Bsr>
  explicit BsrElements(const Bsr& bsr)
      : BsrElements::BlockElements{bsr.values.data(), bsr.blockDim(), 1},
        row_map(bsr.graph.row_map.data()),
        entries(bsr.graph.entries.data()) {}

  KOKKOS_FORCEINLINE_FUNCTION std::int64_t blocks_begin(std::int64_t block_row) const {
    return static_cast<std::int64_t>(row_map[block_row]);
  }
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t blocks_end(std::int64_t block_row) const {
    return blocks_begin(block_row + 1);
  }
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t block_column(std::int64_t, std::int64_t block) const {
    return static_cast<std::int64_t>(entries[block]);
  }
  /// Bisection finds every block if they are sorted. If it fails, all blocks of the block row are compared.
  KOKKOS_INLINE_FUNCTION std::int64_t find_block(std::int64_t block_row, std::int64_t wanted) const {
    const std::int64_t end = blocks_end(block_row);
    const std::int64_t found = BsrElements::BlockElements::find_block(block_row, wanted);
    if (found < end) return found;
    std::int64_t block = blocks_begin(block_row);
    while (block < end && block_column(block_row, block) != wanted)
      ++block;
    return block;
  }
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t block_position(std::int64_t block_row, std::int64_t row,
                                                          std::int64_t block) const {
    return ((block - block_row) * this->block_size + row) * this->block_size;
  }
};

/// Calls visit(elements) with the elements of the matrix.
template <class ExecutionSpace, class S, class O, class D, class M, class Z, class Visit>
auto with_layout(const ExecutionSpace&, const KokkosSparse::Experimental::BsrMatrix<S, O, D, M, Z>& bsr,
                 const Visit& visit) {
  return visit(BsrElements<S, O, Z>(bsr));
}

}  // namespace Filigree::Impl
#endif

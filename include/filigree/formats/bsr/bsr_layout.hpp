// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "filigree/formats/bsr/bsr_matrix.hpp"

#if FILIGREE_HAS_BSR
#include <cstdint>

#include "filigree/core/binary_search.hpp"
#include "filigree/core/integer.hpp"

namespace Filigree::Impl {

/// The elements of a BSR matrix for copies (see conversion/dense_copy.hpp). The blocks of each block row must
/// be sorted by column.
template <class Scalar, class Ordinal, class SizeType>
struct BsrElements {
  using scalar_type = Scalar;
  using ordinal_type = Ordinal;
  static constexpr bool is_dense = true;
  static constexpr bool rows_are_contiguous = true;

  std::int64_t block_size;
  const SizeType* row_map;
  const Ordinal* entries;
  Scalar* block_values;

  template <class Bsr>
  explicit BsrElements(const Bsr& bsr)
      : block_size(static_cast<std::int64_t>(bsr.blockDim())),
        row_map(bsr.graph.row_map.data()),
        entries(bsr.graph.entries.data()),
        block_values(bsr.values.data()) {}

  KOKKOS_FORCEINLINE_FUNCTION Scalar* values() const { return block_values; }

  KOKKOS_INLINE_FUNCTION std::int64_t position(std::int64_t row, std::int64_t column) const {
    const std::int64_t block_row = quotient<Ordinal>(row, block_size);
    const std::int64_t block_column = quotient<Ordinal>(column, block_size);
    const std::int64_t row_end = static_cast<std::int64_t>(row_map[block_row + 1]);
    const std::int64_t block =
        first_where(static_cast<std::int64_t>(row_map[block_row]), row_end, [&](std::int64_t candidate) {
          return static_cast<std::int64_t>(entries[candidate]) >= block_column;
        });
    if (block == row_end || static_cast<std::int64_t>(entries[block]) != block_column) return -1;
    return (block * block_size + row - block_row * block_size) * block_size + column -
           block_column * block_size;
  }

  KOKKOS_FORCEINLINE_FUNCTION std::int64_t element_count(std::int64_t row) const {
    const std::int64_t block_row = quotient<Ordinal>(row, block_size);
    return static_cast<std::int64_t>(row_map[block_row + 1] - row_map[block_row]) * block_size;
  }
  template <class Visit>
  KOKKOS_INLINE_FUNCTION void for_each_element(const std::int64_t row, const std::int64_t first,
                                               const std::int64_t end, const Visit& visit) const {
    const std::int64_t block_row = quotient<Ordinal>(row, block_size);
    std::int64_t block = quotient<Ordinal>(first, block_size);
    std::int64_t c = first - block * block_size;
    block += static_cast<std::int64_t>(row_map[block_row]);
    for (std::int64_t element = first; element < end; ++element) {
      visit(static_cast<std::int64_t>(entries[block]) * block_size + c,
            (block * block_size + row - block_row * block_size) * block_size + c);
      if (++c == block_size) {
        c = 0;
        ++block;
      }
    }
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

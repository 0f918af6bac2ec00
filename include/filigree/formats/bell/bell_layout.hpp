// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>

#include "filigree/core/binary_search.hpp"
#include "filigree/core/integer.hpp"
#include "filigree/formats/bell/bell_matrix.hpp"

namespace Filigree::Impl {

/// The elements of a blocked ELL matrix for copies (see conversion/dense_copy.hpp).
template <class Scalar, class Ordinal>
struct BellElements {
  using scalar_type = Scalar;
  using ordinal_type = Ordinal;
  static constexpr bool is_dense = true;
  static constexpr bool rows_are_contiguous = false;

  Scalar* block_values;
  const Ordinal* block_entries;
  std::int64_t rows;
  std::int64_t block_rows;
  std::int64_t block_width;
  std::int64_t block_size;

  template <class Bell>
  explicit BellElements(const Bell& bell)
      : block_values(bell.values.data()),
        block_entries(bell.block_entries.data()),
        rows(static_cast<std::int64_t>(bell.numRows())),
        block_rows(static_cast<std::int64_t>(bell.numBlockRows())),
        block_width(static_cast<std::int64_t>(bell.block_width())),
        block_size(bell.block_size()) {}

  KOKKOS_FORCEINLINE_FUNCTION Scalar* values() const { return block_values; }
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t block_column(std::int64_t block_row, std::int64_t k) const {
    return static_cast<std::int64_t>(block_entries[k * block_rows + block_row]);
  }

  KOKKOS_INLINE_FUNCTION std::int64_t position(std::int64_t row, std::int64_t column) const {
    const std::int64_t block_row = quotient<Ordinal>(row, block_size);
    const std::int64_t wanted = quotient<Ordinal>(column, block_size);
    // The block columns of a block row ascend; padding, -1, comes last.
    const std::int64_t k = first_where(0, block_width, [&](std::int64_t candidate) {
      const std::int64_t found = block_column(block_row, candidate);
      return found < 0 || found >= wanted;
    });
    if (k == block_width || block_column(block_row, k) != wanted) return -1;
    return (k * block_size + column - wanted * block_size) * rows + row;
  }

  KOKKOS_FORCEINLINE_FUNCTION std::int64_t element_count(std::int64_t) const {
    return block_width * block_size;
  }
  template <class Visit>
  KOKKOS_INLINE_FUNCTION void for_each_element(const std::int64_t row, const std::int64_t first,
                                               const std::int64_t end, const Visit& visit) const {
    const std::int64_t block_row = quotient<Ordinal>(row, block_size);
    std::int64_t k = quotient<Ordinal>(first, block_size);
    std::int64_t c = first - k * block_size;
    for (std::int64_t element = first; element < end; ++element) {
      const std::int64_t block = block_column(block_row, k);
      visit(block < 0 ? -1 : block * block_size + c, element * rows + row);
      if (++c == block_size) {
        c = 0;
        ++k;
      }
    }
  }
};

/// Calls visit(elements) with the elements of the matrix.
template <class ExecutionSpace, class S, class O, class D, class M, class Z, class Visit>
auto with_layout(const ExecutionSpace&, const BellMatrix<S, O, D, M, Z>& bell, const Visit& visit) {
  return visit(BellElements<S, O>(bell));
}

}  // namespace Filigree::Impl

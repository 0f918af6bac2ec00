// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>

#include "filigree/core/binary_search.hpp"
#include "filigree/core/integer.hpp"
#include "filigree/formats/cds/cds_matrix.hpp"

namespace Filigree::Impl {

/// The elements of a CDS matrix for copies (see conversion/dense_copy.hpp).
template <class Scalar, class Ordinal>
struct CdsElements {
  using scalar_type = Scalar;
  using ordinal_type = Ordinal;
  static constexpr bool is_dense = true;
  static constexpr bool rows_are_contiguous = false;

  Scalar* diagonal_values;
  const Ordinal* offsets;
  std::int64_t diagonals;
  std::int64_t rows;
  std::int64_t block_size;

  template <class Cds>
  explicit CdsElements(const Cds& cds)
      : diagonal_values(cds.values.data()),
        offsets(cds.offsets.data()),
        diagonals(static_cast<std::int64_t>(cds.numDiagonals())),
        rows(static_cast<std::int64_t>(cds.numRows())),
        block_size(cds.block_size()) {}

  KOKKOS_FORCEINLINE_FUNCTION Scalar* values() const { return diagonal_values; }

  KOKKOS_INLINE_FUNCTION std::int64_t position(std::int64_t row, std::int64_t column) const {
    const std::int64_t block_column = quotient<Ordinal>(column, block_size);
    const std::int64_t offset = block_column - quotient<Ordinal>(row, block_size);
    const std::int64_t diagonal = first_where(
        0, diagonals, [&](std::int64_t d) { return static_cast<std::int64_t>(offsets[d]) >= offset; });
    if (diagonal == diagonals || static_cast<std::int64_t>(offsets[diagonal]) != offset) return -1;
    return (diagonal * block_size + column - block_column * block_size) * rows + row;
  }

  KOKKOS_FORCEINLINE_FUNCTION std::int64_t element_count(std::int64_t) const {
    return diagonals * block_size;
  }
  template <class Visit>
  KOKKOS_INLINE_FUNCTION void for_each_element(const std::int64_t row, const std::int64_t first,
                                               const std::int64_t end, const Visit& visit) const {
    const std::int64_t block_row = quotient<Ordinal>(row, block_size);
    std::int64_t d = quotient<Ordinal>(first, block_size);
    std::int64_t c = first - d * block_size;
    for (std::int64_t element = first; element < end; ++element) {
      const std::int64_t column = (block_row + static_cast<std::int64_t>(offsets[d])) * block_size + c;
      visit(column, element * rows + row);
      if (++c == block_size) {
        c = 0;
        ++d;
      }
    }
  }
};

/// Calls visit(elements) with the elements of the matrix.
template <class ExecutionSpace, class S, class O, class D, class M, class Z, class Visit>
auto with_layout(const ExecutionSpace&, const CdsMatrix<S, O, D, M, Z>& cds, const Visit& visit) {
  return visit(CdsElements<S, O>(cds));
}

}  // namespace Filigree::Impl

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "filigree/conversion/dense_copy.hpp"
#include "filigree/core/scalar.hpp"
#include "filigree/formats/sym_cds/sym_cds_matrix.hpp"

namespace Filigree::Impl {

/// The elements of a SymCdsMatrix for copies (see conversion/dense_copy.hpp). Elements below the main diagonal
/// are mirror images.
template <class Scalar, class Ordinal>
struct SymCdsElements {
  using scalar_type = Scalar;
  using ordinal_type = Ordinal;
  static constexpr bool is_dense = true;
  static constexpr bool rows_are_contiguous = false;

  Scalar* all_values;
  const Ordinal* offsets;
  std::int64_t diagonals;
  std::int64_t block_size;
  std::int64_t block_rows;
  bool is_hermitian;

  template <class SymCds>
  explicit SymCdsElements(const SymCds& A)
      : all_values(A.values.data()),
        offsets(A.offsets.data()),
        diagonals(A.numDiagonals()),
        block_size(A.block_size()),
        block_rows((static_cast<std::int64_t>(A.numRows()) + A.block_size() - 1) / A.block_size()),
        is_hermitian(A.symmetry() == Symmetry::hermitian) {}

  KOKKOS_FORCEINLINE_FUNCTION Scalar* values() const { return all_values; }
  KOKKOS_FORCEINLINE_FUNCTION Scalar value(std::int64_t position) const {
    if (position >= 0) return all_values[position];
    const Scalar stored = all_values[mirror(position)];
    return is_hermitian ? conjugate_if<true>(stored) : stored;
  }

  /// The position of element (i, j) of the block of a block row on the main diagonal.
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t main_position(std::int64_t block_row, std::int64_t i,
                                                         std::int64_t j) const {
    const std::int64_t component = i <= j ? packed_position(i, j) : packed_position(j, i);
    const std::int64_t stored = component * block_rows + block_row;
    return i <= j ? stored : mirror(stored);
  }
  /// The position of element (i, j) of the block of a block row on diagonal d.
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t upper_position(std::int64_t d, std::int64_t block_row,
                                                          std::int64_t i, std::int64_t j) const {
    const std::int64_t component = sym_cds_components(block_size, d) + i * block_size + j;
    return component * block_rows + block_row;
  }

  KOKKOS_INLINE_FUNCTION std::int64_t position(std::int64_t row, std::int64_t column) const {
    const std::int64_t block_row = quotient<Ordinal>(row, block_size);
    const std::int64_t block_column = quotient<Ordinal>(column, block_size);
    const std::int64_t i = row - block_row * block_size;
    const std::int64_t j = column - block_column * block_size;
    if (block_row == block_column) return main_position(block_row, i, j);
    const bool above = block_row < block_column;
    const std::int64_t offset = above ? block_column - block_row : block_row - block_column;
    const std::int64_t d = first_where(0, diagonals, [&](std::int64_t candidate) {
      return static_cast<std::int64_t>(offsets[candidate]) >= offset;
    });
    if (d == diagonals || static_cast<std::int64_t>(offsets[d]) != offset) return no_position;
    return above ? upper_position(d, block_row, i, j) : mirror(upper_position(d, block_column, j, i));
  }

  KOKKOS_FORCEINLINE_FUNCTION std::int64_t element_count(std::int64_t) const {
    return (2 * diagonals + 1) * block_size;
  }

  template <class Visit>
  KOKKOS_INLINE_FUNCTION void for_each_element(const std::int64_t row, const std::int64_t first,
                                               const std::int64_t end, const Visit& visit) const {
    const std::int64_t block_row = quotient<Ordinal>(row, block_size);
    const std::int64_t i = row - block_row * block_size;
    std::int64_t block = quotient<Ordinal>(first, block_size);
    std::int64_t j = first - block * block_size;
    for (std::int64_t element = first; element < end; ++block, j = 0) {
      const std::int64_t d = block < diagonals ? diagonals - 1 - block : block - diagonals - 1;
      const std::int64_t offset = block == diagonals ? 0 : static_cast<std::int64_t>(offsets[d]);
      const std::int64_t block_column = block_row + (block < diagonals ? -offset : offset);
      for (; j < block_size && element < end; ++j, ++element) {
        // A block above the first block row is not stored.
        if (block_column < 0) continue;
        const std::int64_t position = block == diagonals  ? main_position(block_row, i, j)
                                      : block < diagonals ? mirror(upper_position(d, block_column, j, i))
                                                          : upper_position(d, block_row, i, j);
        visit(block_column * block_size + j, position);
      }
    }
  }
};

/// Calls visit(elements) with the elements of the matrix.
template <class ExecutionSpace, class S, class O, class D, class M, class Z, class Visit>
auto with_layout(const ExecutionSpace&, const SymCdsMatrix<S, O, D, M, Z>& A, const Visit& visit) {
  return visit(SymCdsElements<S, O>(A));
}

}  // namespace Filigree::Impl

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "filigree/core/binary_search.hpp"
#include "filigree/core/integer.hpp"

namespace Filigree::Impl {

/// The position of an element that a dense format does not have. (Not std::numeric_limits, about which nvcc
/// warns in device code.)
constexpr std::int64_t no_position = INT64_MIN;

/// The position of an element of which only the mirror image is stored, from that of its mirror image, and
/// the other way round.
KOKKOS_FORCEINLINE_FUNCTION constexpr std::int64_t mirror(std::int64_t position) {
  return -1 - position;
}

/// The elements (see dense_copy.hpp) of a format that is made of dense b x b blocks. The struct of each
/// format, Format, derives from this one and adds these members:
///
///   blocks_begin(block_row), blocks_end(block_row)
///                                    the blocks of a block row: blocks_begin to blocks_end - 1
///   block_column(block_row, block)   block column of a block. It ascends with the block. Padding has a block
///                                    column outside the matrix
///   block_position(block_row, row, block)
///                                    position of the first element of a matrix row in a block
template <class Format, class Scalar, class Ordinal, bool RowsAreContiguous>
struct BlockElements {
  using scalar_type = Scalar;
  using ordinal_type = Ordinal;
  static constexpr bool is_dense = true;
  static constexpr bool rows_are_contiguous = RowsAreContiguous;

  Scalar* block_values;
  std::int64_t block_size;
  std::int64_t column_stride;  ///< positions from an element to the next one of the same row and block

  KOKKOS_FORCEINLINE_FUNCTION const Format& format() const { return static_cast<const Format&>(*this); }
  KOKKOS_FORCEINLINE_FUNCTION Scalar* values() const { return block_values; }
  KOKKOS_FORCEINLINE_FUNCTION Scalar value(std::int64_t position) const { return block_values[position]; }

  /// The block in a block column, or blocks_end(block_row) if there is none.
  KOKKOS_INLINE_FUNCTION std::int64_t find_block(std::int64_t block_row, std::int64_t wanted) const {
    const std::int64_t end = format().blocks_end(block_row);
    const std::int64_t block = first_where(format().blocks_begin(block_row), end, [&](std::int64_t b) {
      return format().block_column(block_row, b) >= wanted;
    });
    return block < end && format().block_column(block_row, block) == wanted ? block : end;
  }

  KOKKOS_INLINE_FUNCTION std::int64_t position(std::int64_t row, std::int64_t column) const {
    const std::int64_t block_row = quotient<Ordinal>(row, block_size);
    const std::int64_t wanted = quotient<Ordinal>(column, block_size);
    const std::int64_t block = format().find_block(block_row, wanted);
    if (block == format().blocks_end(block_row)) return no_position;
    return format().block_position(block_row, row, block) + (column - wanted * block_size) * column_stride;
  }

  KOKKOS_FORCEINLINE_FUNCTION std::int64_t element_count(std::int64_t row) const {
    const std::int64_t block_row = quotient<Ordinal>(row, block_size);
    return (format().blocks_end(block_row) - format().blocks_begin(block_row)) * block_size;
  }

  template <class Visit>
  KOKKOS_INLINE_FUNCTION void for_each_element(const std::int64_t row, const std::int64_t first,
                                               const std::int64_t end, const Visit& visit) const {
    const std::int64_t block_row = quotient<Ordinal>(row, block_size);
    const std::int64_t skipped = quotient<Ordinal>(first, block_size);
    std::int64_t c = first - skipped * block_size;
    std::int64_t block = format().blocks_begin(block_row) + skipped;
    std::int64_t position = format().block_position(block_row, row, block) + c * column_stride;
    for (std::int64_t element = first; element < end; ++element) {
      visit(format().block_column(block_row, block) * block_size + c, position);
      position += column_stride;
      if (++c == block_size) {
        c = 0;
        position = format().block_position(block_row, row, ++block);
      }
    }
  }
};

}  // namespace Filigree::Impl

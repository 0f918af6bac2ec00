// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "filigree/conversion/check_crs.hpp"
#include "filigree/core/binary_search.hpp"

namespace Filigree::Impl {

/// Finds the b x b blocks of a CRS matrix that have an entry, block row by block row.
template <class Views>
struct BlockColumns {
  Views crs;
  std::int64_t rows;
  std::int64_t block_size;

  /// Calls visit(block_column) for the blocks of a block row that have an entry, by ascending column. If all
  /// rows of the block row are sorted, the cost per block is a binary search in each row. Otherwise it is a
  /// read of all entries of the block row, which is slow for long rows.
  template <class Visit>
  KOKKOS_INLINE_FUNCTION void for_each_block(std::int64_t block_row, const Visit& visit) const {
    const bool sorted = is_sorted(block_row);
    for (std::int64_t block = next_block(block_row, -1, sorted); block >= 0;
         block = next_block(block_row, block, sorted))
      visit(block);
  }

 private:
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t end_row(std::int64_t block_row) const {
    return (block_row + 1) * block_size < rows ? (block_row + 1) * block_size : rows;
  }

  /// Whether all rows of a block row are sorted by column.
  KOKKOS_INLINE_FUNCTION bool is_sorted(std::int64_t block_row) const {
    for (std::int64_t row = block_row * block_size; row < end_row(block_row); ++row)
      for (std::int64_t i = crs.begin(row) + 1; i < crs.end(row); ++i)
        if (crs.entries[i] < crs.entries[i - 1]) return false;
    return true;
  }

  /// The smallest block column of a block row that is greater than `last`, or -1 if there is none.
  KOKKOS_INLINE_FUNCTION std::int64_t next_block(std::int64_t block_row, std::int64_t last,
                                                 bool sorted) const {
    std::int64_t next = -1;
    for (std::int64_t row = block_row * block_size; row < end_row(block_row); ++row) {
      std::int64_t begin = crs.begin(row);
      std::int64_t end = crs.end(row);
      if (sorted) {
        begin = first_where(begin, end, [&](std::int64_t i) {
          return static_cast<std::int64_t>(crs.entries[i]) / block_size > last;
        });
        end = begin < end ? begin + 1 : begin;
      }
      for (std::int64_t i = begin; i < end; ++i) {
        const std::int64_t block = static_cast<std::int64_t>(crs.entries[i]) / block_size;
        if (block > last && (next < 0 || block < next)) next = block;
      }
    }
    return next;
  }
};

}  // namespace Filigree::Impl

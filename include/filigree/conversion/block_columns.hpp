// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "filigree/conversion/sorted_entries.hpp"
#include "filigree/core/binary_search.hpp"

namespace Filigree::Impl {

/// Finds the b x b blocks of a CRS matrix that have an entry, block row by block row. The columns of each row
/// must ascend (sorted_entries).
template <class Views>
struct BlockColumns {
  Views crs;
  std::int64_t rows;
  std::int64_t block_size;

  /// Calls visit(block_column) for the blocks of a block row that have an entry, by ascending column. The
  /// cost per block is a binary search in each row.
  template <class Visit>
  KOKKOS_INLINE_FUNCTION void for_each_block(std::int64_t block_row, const Visit& visit) const {
    for (std::int64_t block = next_block(block_row, -1); block >= 0; block = next_block(block_row, block))
      visit(block);
  }

 private:
  /// The smallest block column of a block row that is greater than `last`, or -1 if there is none.
  KOKKOS_INLINE_FUNCTION std::int64_t next_block(std::int64_t block_row, std::int64_t last) const {
    const std::int64_t first_row = block_row * block_size;
    const std::int64_t end_row = first_row + block_size < rows ? first_row + block_size : rows;
    const auto block_of = [&](std::int64_t i) {
      return static_cast<std::int64_t>(crs.entries[i]) / block_size;
    };
    std::int64_t next = -1;
    for (std::int64_t row = first_row; row < end_row; ++row) {
      const std::int64_t end = crs.end(row);
      const std::int64_t i =
          first_where(crs.begin(row), end, [&](std::int64_t entry) { return block_of(entry) > last; });
      if (i < end && (next < 0 || block_of(i) < next)) next = block_of(i);
    }
    return next;
  }
};

/// BlockColumns of a CRS matrix with rows in any order. `sorted` are its sorted_entries.
template <class Crs, class SortedEntries>
BlockColumns<crs_views_t<Crs>> block_columns(const Crs& crs, const SortedEntries& sorted,
                                             std::int64_t block_size) {
  crs_views_t<Crs> views(crs);
  if (sorted.extent(0) > 0) views.entries = sorted.data();
  return {views, static_cast<std::int64_t>(crs.numRows()), block_size};
}

}  // namespace Filigree::Impl

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FILIGREE_CORE_BLOCK_COLUMNS_HPP
#define FILIGREE_CORE_BLOCK_COLUMNS_HPP

#include <cstdint>

#include "filigree/core/check_crs.hpp"
#include "filigree/core/launch.hpp"
#include "filigree/core/region.hpp"

namespace Filigree {
namespace Impl {

template <class ExecutionSpace, class Views>
struct CountUnsortedEntries {
  using execution_space = ExecutionSpace;
  Views crs;

  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t row, std::int64_t& count) const {
    for (std::int64_t i = crs.begin(row) + 1; i < crs.end(row); ++i)
      if (crs.entries[i] < crs.entries[i - 1]) ++count;
  }
};

/// The blocks of b x b that have an entry of a CRS matrix, for each row of blocks by ascending column.
template <class ExecutionSpace, class Views>
struct BlockColumns {
  Views crs;
  std::int64_t rows;
  std::int64_t block_size;
  /// Whether the rows of the CRS matrix are sorted.
  bool sorted;

  /// Fences exec.
  template <class Crs>
  BlockColumns(const ExecutionSpace& exec, const char* format, const Crs& crs_, std::int64_t block_size_)
      : crs(crs_), rows(static_cast<std::int64_t>(crs_.numRows())), block_size(block_size_) {
    std::int64_t unsorted = 0;
    Kokkos::parallel_reduce(label("count_unsorted", format), row_range<void>(exec, rows),
                            CountUnsortedEntries<ExecutionSpace, Views>{crs}, unsorted);
    exec.fence();
    sorted = unsorted == 0;
  }

  /// Calls visit(block column) for the blocks of a block row, by ascending column. In sorted rows each is
  /// found by a binary search of each row; in others by a read of all, which takes the square of the length
  /// of a long row.
  template <class Visit>
  KOKKOS_INLINE_FUNCTION void for_each_block(std::int64_t block_row, const Visit& visit) const {
    for (std::int64_t block = next_block(block_row, -1); block >= 0; block = next_block(block_row, block))
      visit(block);
  }

 private:
  /// The smallest block column greater than `last` in a block row, or -1.
  KOKKOS_INLINE_FUNCTION std::int64_t next_block(std::int64_t block_row, std::int64_t last) const {
    std::int64_t next = -1;
    const std::int64_t end_row = (block_row + 1) * block_size < rows ? (block_row + 1) * block_size : rows;
    for (std::int64_t row = block_row * block_size; row < end_row; ++row) {
      std::int64_t begin = crs.begin(row);
      std::int64_t end = crs.end(row);
      if (sorted) {
        const std::int64_t row_end = end;
        while (begin < end) {
          const std::int64_t middle = (begin + end) / 2;
          if (static_cast<std::int64_t>(crs.entries[middle]) / block_size > last)
            end = middle;
          else
            begin = middle + 1;
        }
        end = begin < row_end ? begin + 1 : begin;
      }
      for (std::int64_t i = begin; i < end; ++i) {
        const std::int64_t block = static_cast<std::int64_t>(crs.entries[i]) / block_size;
        if (block > last && (next < 0 || block < next)) next = block;
      }
    }
    return next;
  }
};

}  // namespace Impl
}  // namespace Filigree

#endif

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The row lengths of a CRS matrix, from which formats derive their widths.
#ifndef FILIGREE_CONVERSION_ROW_LENGTHS_HPP
#define FILIGREE_CONVERSION_ROW_LENGTHS_HPP

#include <cstdint>
#include <ostream>

#include "filigree/conversion/check_crs.hpp"
#include "filigree/core/error.hpp"
#include "filigree/core/integer.hpp"
#include "filigree/core/launch.hpp"
#include "filigree/core/region.hpp"

namespace Filigree {
namespace Impl {

template <class ExecutionSpace, class Views>
struct LongestRow {
  using execution_space = ExecutionSpace;
  Views crs;

  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t row, std::int64_t& longest) const {
    const std::int64_t length = crs.end(row) - crs.begin(row);
    if (length > longest) longest = length;
  }
};

/// Length of the longest row, 0 without rows. Fences exec.
template <class ExecutionSpace, class Crs>
std::int64_t longest_row(const ExecutionSpace& exec, const char* format, const Crs& crs) {
  using Views = crs_views_t<Crs>;
  std::int64_t longest = 0;
  if (crs.numRows() > 0)
    Kokkos::parallel_reduce(
        label("longest_row", format), row_range<void>(exec, static_cast<std::int64_t>(crs.numRows())),
        LongestRow<ExecutionSpace, Views>{Views(crs)}, Kokkos::Max<std::int64_t>(longest));
  exec.fence();
  return longest;
}

/// For the message of check_storage.
template <class Crs>
void explain_longest_row(std::ostream& why, const Crs& crs, std::int64_t longest) {
  why << "the longest row has " << longest << " entries, the mean row "
      << static_cast<double>(crs.nnz()) / static_cast<double>(crs.numRows());
}

template <class ExecutionSpace, class Views, class Ordinal>
struct CopyRowLength {
  using execution_space = ExecutionSpace;
  Views crs;
  Ordinal* lengths;

  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t row) const {
    lengths[row] = static_cast<Ordinal>(crs.end(row) - crs.begin(row));
  }
};

/// The length of each row into a View, which may be empty instead.
template <class ExecutionSpace, class Crs, class Lengths>
void copy_row_lengths(const ExecutionSpace& exec, const char* format, const Crs& crs,
                      const Lengths& lengths) {
  using Views = crs_views_t<Crs>;
  using Ordinal = typename Lengths::non_const_value_type;
  Kokkos::parallel_for(label("row_lengths", format),
                       row_range<void>(exec, static_cast<std::int64_t>(lengths.extent(0))),
                       CopyRowLength<ExecutionSpace, Views, Ordinal>{Views(crs), lengths.data()});
}

/// Throws std::invalid_argument for a number of lanes that no GPU can give a row.
inline void check_lanes_per_row(const char* function, int lanes) {
  if (lanes != 1 && lanes != 2 && lanes != 4 && lanes != 8 && lanes != 16 && lanes != 32)
    fail<std::invalid_argument>(function, ": options.lanes_per_row is ", lanes,
                                "; it must be 1, 2, 4, 8, 16 or 32.");
}

}  // namespace Impl
}  // namespace Filigree

#endif

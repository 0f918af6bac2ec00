// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The row lengths of a CRS matrix, from which formats take their widths.
#pragma once

#include <ostream>

#include "filigree/conversion/check_crs.hpp"

namespace Filigree::Impl {

/// The length of the longest row, as a maximum over the rows.
template <class Views>
struct LongestRow {
  Views crs;

  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t row, std::int64_t& longest) const {
    const std::int64_t length = crs.length(row);
    if (length > longest) longest = length;
  }
};

/// The length of the longest row, or 0 if there are no rows. Fences exec.
template <class ExecutionSpace, class Crs>
std::int64_t longest_row(const ExecutionSpace& exec, const char* format, const Crs& crs) {
  using Views = crs_views_t<Crs>;
  const std::int64_t rows = static_cast<std::int64_t>(crs.numRows());
  std::int64_t longest = 0;
  if (rows > 0)
    Kokkos::parallel_reduce(label("longest_row", format), row_range<void>(exec, rows),
                            LongestRow<Views>{Views(crs)}, Kokkos::Max<std::int64_t>(longest));
  exec.fence();
  return longest;
}

/// Prints the longest and the mean row length, for the message of check_storage.
template <class Crs>
void explain_longest_row(std::ostream& why, const Crs& crs, std::int64_t longest) {
  why << "the longest row has " << longest << " entries, the mean row "
      << static_cast<double>(crs.nnz()) / static_cast<double>(crs.numRows());
}

/// Writes the length of each row to lengths.
template <class Views, class Length>
struct CopyRowLength {
  Views crs;
  Length* lengths;

  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t row) const {
    lengths[row] = static_cast<Length>(crs.length(row));
  }
};

/// Writes the length of each row to lengths. Does nothing if lengths is empty.
template <class ExecutionSpace, class Crs, class Lengths>
void copy_row_lengths(const ExecutionSpace& exec, const char* format, const Crs& crs,
                      const Lengths& lengths) {
  using Copy = CopyRowLength<crs_views_t<Crs>, typename Lengths::non_const_value_type>;
  Kokkos::parallel_for(label("row_lengths", format),
                       row_range<void>(exec, static_cast<std::int64_t>(lengths.extent(0))),
                       Copy{crs_views_t<Crs>(crs), lengths.data()});
}

}  // namespace Filigree::Impl

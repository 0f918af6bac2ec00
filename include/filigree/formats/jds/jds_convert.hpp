// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "filigree/conversion/row_copy.hpp"
#include "filigree/conversion/row_histogram.hpp"
#include "filigree/conversion/sort_rows.hpp"
#include "filigree/formats/jds/jds_layout.hpp"

namespace Filigree::Impl {

/// convert<JdsMatrix> of a checked CRS matrix. Fences exec. If there are more than 4096 rows, sorting them
/// takes 16 + 2 * sizeof(Ordinal) bytes per row before the rest of the result is allocated. No other memory
/// is taken besides the result.
template <class ExecutionSpace, class Crs, class S, class O, class D, class M, class Z>
void convert_from_crs(const ExecutionSpace& exec, const Crs& crs, const JdsOptions& options,
                      JdsMatrix<S, O, D, M, Z>& result) {
  using Jds = JdsMatrix<S, O, D, M, Z>;
  const char* function = "Filigree::convert<JdsMatrix>";
  const char* name = Jds::name();
  const std::int64_t rows = static_cast<std::int64_t>(crs.numRows());
  const std::int64_t entries = static_cast<std::int64_t>(crs.nnz());
  const std::int64_t longest = longest_row(exec, name, crs);
  check_count<O>(function, longest, "jagged diagonals");
  check_storage<Z>(function, static_cast<double>(entries),
                   static_cast<double>(entries) * (sizeof(S) + sizeof(O)) +
                       static_cast<double>(rows) * sizeof(O) + static_cast<double>(longest + 1) * 8,
                   crs, options, [&](std::ostream& why) { explain_longest_row(why, crs, longest); });

  // Sorting comes first, so that its buffers are freed before the values are allocated.
  const auto permutation = rows_by_length<typename Jds::entries_type>(exec, name, crs, rows, longest);
  result = Jds(crs.numRows(), crs.numCols(),
               allocate_view<typename Jds::values_type>(exec, "values", name, entries),
               allocate_view<typename Jds::entries_type>(exec, "entries", name, entries), permutation,
               entries_within<typename Jds::offsets_type>(exec, "diagonal_offsets", name, crs, longest));
  fill_rows(exec, name, JdsLayout<S, O>(result), crs);
}

}  // namespace Filigree::Impl

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "filigree/formats/coo/coo_check.hpp"
#include "filigree/formats/ell/ell_check.hpp"
#include "filigree/formats/hyb/hyb_matrix.hpp"

namespace Filigree::Impl {

/// check() of a HYB matrix.
template <class ExecutionSpace, class S, class O, class D, class M, class Z>
void check_matrix(const ViewChecker<ExecutionSpace>& checker, const HybMatrix<S, O, D, M, Z>& hyb) {
  const auto lengths = check_ell_part(checker, hyb);
  check_coo(checker.part("coo"), hyb.coo, true);
  if (hyb.coo.numRows() != hyb.numRows() || hyb.coo.numCols() != hyb.numCols())
    checker.refuse("coo", " is ", hyb.coo.numRows(), " x ", hyb.coo.numCols(), "; it must be ", hyb.numRows(),
                   " x ", hyb.numCols(), ", as the matrix");
  const auto rows_of_excess = checker.elements(hyb.coo.rows);
  const std::size_t excess_nnz = rows_of_excess.extent(0);
  const auto width = static_cast<std::int64_t>(hyb.width());
  std::int64_t nnz = 0;
  std::int64_t longest = 0;
  std::size_t i = 0;
  for (std::size_t row = 0; row < lengths.extent(0); ++row) {
    const auto length = static_cast<std::int64_t>(lengths(row));
    const std::size_t first = i;
    while (i < excess_nnz && static_cast<std::size_t>(rows_of_excess(i)) == row)
      ++i;
    const auto excess = static_cast<std::int64_t>(i - first);
    if (excess != std::max<std::int64_t>(length - width, 0))
      checker.refuse("coo", " has ", excess, " entries of row ", row, "; it must have ",
                     std::max<std::int64_t>(length - width, 0), ", because ell.row_lengths(", row, ") is ",
                     length, " and the width is ", width);
    nnz += length;
    longest = std::max(longest, length);
  }
  checker.number("nnz()", static_cast<std::int64_t>(hyb.nnz()), nnz, nnz, "the sum of the row lengths");
  checker.number("longestRow()", static_cast<std::int64_t>(hyb.longestRow()), longest, longest,
                 "the largest of the row lengths");
}

}  // namespace Filigree::Impl

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>

#include "filigree/conversion/check_crs.hpp"
#include "filigree/formats/wrapped_crs/wrapped_crs_layout.hpp"
#include "filigree/product/check_chunks.hpp"

namespace Filigree::Impl {

/// check() of a wrapped CRS matrix.
template <class ExecutionSpace, class S, class O, class D, class M, class Z>
void check_matrix(const ViewChecker<ExecutionSpace>& checker, const WrappedCrsMatrix<S, O, D, M, Z>& A) {
  using Layout = CrsEntryLayout<ExecutionSpace, S, O, Z>;
  check_crs(checker.exec, "Filigree::check", A.crs, true);
  if (A.numRows() != A.crs.numRows() || A.numCols() != A.crs.numCols() || A.nnz() != A.crs.nnz())
    checker.refuse("crs", " is ", A.crs.numRows(), " x ", A.crs.numCols(), " with ", A.crs.nnz(),
                   " entries, and the matrix is ", A.numRows(), " x ", A.numCols(), " with ", A.nnz(),
                   " entries; they must be equal");
  checker.power_of_two("lanes_per_row()", A.lanes_per_row(), 32);
  checker.number("kernel()", static_cast<int>(A.kernel()), static_cast<int>(CrsKernel::lanes),
                 static_cast<int>(CrsKernel::balanced), "lanes or balanced");
  const auto nnz = static_cast<std::int64_t>(A.nnz());
  if (A.kernel() == CrsKernel::lanes || nnz == 0) return;

  const auto row_map = checker.elements(A.crs.graph.row_map);
  const auto row_of = [&](std::int64_t i) {
    const auto* const ends = row_map.data() + 1;
    return static_cast<std::int64_t>(std::upper_bound(ends, ends + A.numRows(), static_cast<Z>(i)) - ends);
  };
  const auto begins = check_chunks(checker.part("chunks"), A.chunks, nnz, Layout::may_meet, row_of);
  std::vector<std::int64_t> first_rows;
  for (std::size_t chunk = 0; chunk + 1 < begins.size(); ++chunk)
    first_rows.push_back(row_of(begins[chunk]));
  checker.equal("first_rows", A.first_rows, first_rows, "the row of the first entry of each chunk");
  std::vector<std::int64_t> empty;
  for (std::size_t chunk = 0; chunk < first_rows.size(); ++chunk) {
    const auto rows = static_cast<std::int64_t>(A.numRows());
    const std::int64_t first = chunk > 0 ? first_rows[chunk] : 0;
    const std::int64_t last = chunk + 1 < first_rows.size() ? first_rows[chunk + 1] + 1 : rows;
    if (last - first <= Layout::chunk_launch::most_crs_rows) continue;
    for (std::int64_t row = first; row < last; ++row)
      if (row_map(static_cast<std::size_t>(row)) == row_map(static_cast<std::size_t>(row) + 1))
        empty.push_back(row);
  }
  checker.equal("empty_rows", A.empty_rows, empty,
                "the rows without entries, ascending, of chunks that reach over more than 16384 rows");
}

}  // namespace Filigree::Impl

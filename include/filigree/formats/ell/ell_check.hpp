// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <limits>

#include "filigree/core/view_checker.hpp"
#include "filigree/formats/ell/ell_matrix.hpp"

namespace Filigree::Impl {

/// check() of an ELL matrix. As part of a hybrid format it has row lengths, which may be larger than the
/// width, and no interleaved entries.
template <class ExecutionSpace, class S, class O, class D, class M, class Z>
void check_ell(const ViewChecker<ExecutionSpace>& checker, const EllMatrix<S, O, D, M, Z>& ell,
               bool is_part) {
  using Ell = EllMatrix<S, O, D, M, Z>;
  const auto rows = static_cast<std::int64_t>(ell.numRows());
  const auto columns = static_cast<std::int64_t>(ell.numCols());
  const auto width = static_cast<std::int64_t>(ell.width());
  const auto stride = static_cast<std::int64_t>(ell.stride());
  const std::int64_t lanes = ell.lanes_per_row();
  checker.extents(ell);
  checker.power_of_two("lanes_per_row()", lanes, is_part ? 1 : 32);
  if (width < 0 || width % lanes != 0)
    checker.refuse("width()", " is ", width, "; it must be a multiple of the ", lanes,
                   " lanes per row, at least 0");
  if (stride < rows || stride % Ell::row_alignment != 0)
    checker.refuse("stride()", " is ", stride, "; it must be a multiple of ", Ell::row_alignment,
                   ", at least the ", rows, " rows");
  // An unsigned product may overflow. A wrong size is then found too.
  const auto size =
      static_cast<std::int64_t>(static_cast<std::uint64_t>(width) * static_cast<std::uint64_t>(stride));
  checker.size("values", ell.values, size, "width() * stride()");
  checker.size("entries", ell.entries, size, "width() * stride()");
  const bool has_lengths = is_part || ell.row_lengths.extent(0) > 0;
  if (has_lengths) checker.size("row_lengths", ell.row_lengths, rows, "one per row");
  const auto lengths = checker.elements(ell.row_lengths);
  checker.range("row_lengths", lengths, 0, is_part ? std::numeric_limits<std::int64_t>::max() : width);

  const auto values = checker.elements(ell.values);
  const auto entries = checker.elements(ell.entries);
  std::int64_t nnz = 0;
  for (std::int64_t row = 0; row < stride; ++row) {
    const auto at = [&](std::int64_t k) {
      return static_cast<std::size_t>((k / lanes) * (stride * lanes) + row * lanes + k % lanes);
    };
    std::int64_t length = row < rows ? -1 : 0;
    if (has_lengths && row < rows)
      length = std::min(width, static_cast<std::int64_t>(lengths(static_cast<std::size_t>(row))));
    nnz += checker.padded_row(
        row, width, length, columns,
        [&](std::int64_t k) { return static_cast<std::int64_t>(entries(at(k))); },
        [&](std::int64_t k) { return values(at(k)) == S(0); });
  }
  checker.number("nnz()", static_cast<std::int64_t>(ell.nnz()), nnz, nnz, "the number of entries");
}

template <class ExecutionSpace, class S, class O, class D, class M, class Z>
void check_matrix(const ViewChecker<ExecutionSpace>& checker, const EllMatrix<S, O, D, M, Z>& ell) {
  check_ell(checker, ell, false);
}

/// check() of the ELL part of a hybrid format. The part must have the extents of the matrix. Returns the row
/// lengths on the host.
template <class ExecutionSpace, class Matrix>
auto check_ell_part(const ViewChecker<ExecutionSpace>& checker, const Matrix& A) {
  check_ell(checker.part("ell"), A.ell, true);
  if (A.ell.numRows() != A.numRows() || A.ell.numCols() != A.numCols())
    checker.refuse("ell", " is ", A.ell.numRows(), " x ", A.ell.numCols(), "; it must be ", A.numRows(),
                   " x ", A.numCols(), ", as the matrix");
  return checker.elements(A.ell.row_lengths);
}

}  // namespace Filigree::Impl

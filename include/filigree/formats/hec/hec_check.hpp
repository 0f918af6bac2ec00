// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "filigree/formats/ell/ell_check.hpp"
#include "filigree/formats/hec/hec_matrix.hpp"

namespace Filigree::Impl {

/// check() of a HEC matrix.
template <class ExecutionSpace, class S, class O, class D, class M, class Z>
void check_matrix(const ViewChecker<ExecutionSpace>& checker, const HecMatrix<S, O, D, M, Z>& hec) {
  checker.power_of_two("lanes_per_excess_row()", hec.lanes_per_excess_row(), 32);
  const auto lengths = check_ell_part(checker, hec);
  const auto width = static_cast<std::int64_t>(hec.width());
  const auto excess_nnz = static_cast<std::int64_t>(hec.excess_values.extent(0));
  std::int64_t nnz = 0;
  std::int64_t longer_rows = 0;
  for (std::size_t row = 0; row < lengths.extent(0); ++row) {
    nnz += static_cast<std::int64_t>(lengths(row));
    if (static_cast<std::int64_t>(lengths(row)) > width) ++longer_rows;
  }
  checker.number("nnz()", static_cast<std::int64_t>(hec.nnz()), nnz, nnz, "the sum of the row lengths");
  checker.size("excess_entries", hec.excess_entries, excess_nnz, "one per excess value");
  checker.range("excess_entries", checker.elements(hec.excess_entries), 0,
                static_cast<std::int64_t>(hec.numCols()) - 1);
  checker.size("excess_rows", hec.excess_rows, longer_rows, "the rows that are longer than the width");
  if (longer_rows == 0) {
    checker.number("excess_values", excess_nnz, 0, 0, "no row is longer than the width");
    return;
  }
  checker.size("excess_row_map", hec.excess_row_map, longer_rows + 1, "one per excess row and one more");

  const auto list = checker.elements(hec.excess_rows);
  const auto row_map = checker.elements(hec.excess_row_map);
  const auto long_rows = static_cast<std::int64_t>(hec.numLongRows());
  checker.range("excess_rows", list, 0, static_cast<std::int64_t>(hec.numRows()) - 1);
  checker.number("numLongRows()", long_rows, 0, longer_rows, "the first of the excess rows");
  checker.ascending("excess_rows", list, 0, static_cast<std::size_t>(long_rows), true);
  checker.ascending("excess_rows", list, static_cast<std::size_t>(long_rows), list.extent(0), true);
  checker.offsets("excess_row_map", row_map, excess_nnz);
  for (std::size_t i = 0; i < list.extent(0); ++i) {
    const auto length = static_cast<std::int64_t>(lengths(static_cast<std::size_t>(list(i))));
    const auto excess = static_cast<std::int64_t>(row_map(i + 1)) - static_cast<std::int64_t>(row_map(i));
    if (length <= width || excess != length - width)
      checker.refuse("excess_row_map", " gives row ", list(i), " ", excess, " excess entries, but it has ",
                     length, " entries and the width is ", width,
                     "; excess_rows must list rows that are longer than the width, with the rest of their "
                     "entries");
  }
  // Each listed row is longer than the width, and the list has as many rows as are longer. So the list is
  // complete if no row is in it twice.
  std::vector<O> sorted(list.data(), list.data() + list.extent(0));
  std::sort(sorted.begin(), sorted.end());
  const auto twice = std::adjacent_find(sorted.begin(), sorted.end());
  if (twice != sorted.end()) checker.refuse("excess_rows", " lists row ", *twice, " twice");
}

}  // namespace Filigree::Impl

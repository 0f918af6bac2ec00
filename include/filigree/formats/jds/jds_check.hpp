// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "filigree/core/view_checker.hpp"
#include "filigree/formats/jds/jds_matrix.hpp"

namespace Filigree::Impl {

/// check() of a JDS matrix.
template <class ExecutionSpace, class S, class O, class D, class M, class Z>
void check_matrix(const ViewChecker<ExecutionSpace>& checker, const JdsMatrix<S, O, D, M, Z>& jds) {
  const auto nnz = static_cast<std::int64_t>(jds.values.extent(0));
  const auto rows = static_cast<std::int64_t>(jds.numRows());
  checker.extents(jds);
  checker.number("nnz()", static_cast<std::int64_t>(jds.nnz()), nnz, nnz, "the length of values");
  checker.size("entries", jds.entries, nnz, "one per value");
  checker.range("entries", checker.elements(jds.entries), 0, static_cast<std::int64_t>(jds.numCols()) - 1);
  checker.permutation("permutation", jds.permutation, rows);
  if (nnz == 0 && jds.diagonal_offsets.extent(0) == 0) return;
  if (jds.diagonal_offsets.extent(0) == 0)
    checker.refuse("diagonal_offsets", " has 0 elements; it must have one per jagged diagonal and one more");
  const auto offsets = checker.elements(jds.diagonal_offsets);
  checker.offsets("diagonal_offsets", offsets, nnz);
  std::int64_t most = rows;
  for (std::size_t k = 0; k + 1 < offsets.extent(0); ++k) {
    const std::int64_t length = offsets(k + 1) - offsets(k);
    if (length > most)
      checker.refuse("diagonal_offsets", " gives jagged diagonal ", k, " ", length,
                     " entries; it must have at most ", most,
                     k == 0 ? ", one per row" : ", as many as the one before");
    most = length;
  }
}

}  // namespace Filigree::Impl

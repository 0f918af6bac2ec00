// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "filigree/formats/crs/crs_matrix.hpp"

namespace Filigree::Impl {

/// convert<CrsMatrix>: the result shares the Views of crs.
template <class ExecutionSpace, class Crs, class S, class O, class D, class M, class Z>
void convert_from_crs(const ExecutionSpace&, const Crs& crs, const CrsOptions&,
                      KokkosSparse::CrsMatrix<S, O, D, M, Z>& result) {
  result = crs;
}

/// Finds the first row in which the row maps or the columns of a and b differ, as the minimum of a reduction.
template <class ExecutionSpace, class Views>
struct CompareCrsRow {
  using execution_space = ExecutionSpace;
  Views a;
  Views b;

  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t row, std::int64_t& first_bad) const {
    bool same = a.begin(row) == b.begin(row) && a.end(row) == b.end(row);
    for (std::int64_t i = a.begin(row); same && i < a.end(row); ++i)
      same = a.entries[i] == b.entries[i];
    if (!same && row < first_bad) first_bad = row;
  }
};

/// The first row in which the patterns differ, or the largest std::int64_t if they agree. Fences exec.
template <class ExecutionSpace, class Crs, class S, class O, class D, class M, class Z>
std::int64_t first_different_row(const ExecutionSpace& exec, const KokkosSparse::CrsMatrix<S, O, D, M, Z>& A,
                                 const Crs& crs) {
  using Views = crs_views_t<Crs>;
  std::int64_t row = std::numeric_limits<std::int64_t>::max();
  Kokkos::parallel_reduce(
      "Filigree::compare_pattern[crs]", row_range<void>(exec, static_cast<std::int64_t>(A.numRows())),
      CompareCrsRow<ExecutionSpace, Views>{Views(A), Views(crs)}, Kokkos::Min<std::int64_t>(row));
  exec.fence();
  return row;
}

/// refill from a checked CRS matrix. One copy.
template <class ExecutionSpace, class Crs, class S, class O, class D, class M, class Z>
void refill_from_crs(const ExecutionSpace& exec, const KokkosSparse::CrsMatrix<S, O, D, M, Z>& A,
                     const Crs& crs) {
  Kokkos::deep_copy(exec, A.values, crs.values);
}

/// to_crs: the result shares the Views of A.
template <class Crs, class ExecutionSpace, class S, class O, class D, class M, class Z>
Crs convert_to_crs(const ExecutionSpace&, const KokkosSparse::CrsMatrix<S, O, D, M, Z>& A) {
  return A;
}

}  // namespace Filigree::Impl

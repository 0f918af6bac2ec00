// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "filigree/conversion/check_crs.hpp"
#include "filigree/conversion/row_copy.hpp"
#include "filigree/core/allocate_view.hpp"
#include "filigree/formats/crs/crs_matrix.hpp"

namespace Filigree::Impl {

/// The View itself, or a copy if it is const. A caller may write to the result.
template <class Result, class ExecutionSpace, class View>
Result share_or_copy(const ExecutionSpace& exec, const char* what, const char* format, const View& view) {
  if constexpr (std::is_const_v<typename View::value_type>)
    return copy_view<Result>(exec, what, format, view);
  else
    return view;
}

/// A CRS matrix that shares the Views of crs. It copies const values and const column indices, because a
/// caller may write to those of the result.
template <class Result, class ExecutionSpace, class Crs>
Result share_crs(const ExecutionSpace& exec, const char* format, const Crs& crs) {
  return Result(label("crs", format), crs.numRows(), crs.numCols(), crs.nnz(),
                share_or_copy<typename Result::values_type>(exec, "values", format, crs.values),
                crs.graph.row_map,
                share_or_copy<typename Result::index_type>(exec, "entries", format, crs.graph.entries));
}

/// The CRS matrix from which convert() starts: crs itself. The other types that convert() takes have
/// overloads of this function, which return a new matrix.
template <class ExecutionSpace, class S, class O, class D, class M, class Z>
const KokkosSparse::CrsMatrix<S, O, D, M, Z>& crs_of(const ExecutionSpace&,
                                                     const KokkosSparse::CrsMatrix<S, O, D, M, Z>& crs) {
  return crs;
}

/// convert<CrsMatrix>: the result shares the Views of crs, except const ones.
template <class ExecutionSpace, class Crs, class S, class O, class D, class M, class Z>
void convert_from_crs(const ExecutionSpace& exec, const Crs& crs, const CrsOptions&,
                      KokkosSparse::CrsMatrix<S, O, D, M, Z>& result) {
  result = share_crs<KokkosSparse::CrsMatrix<S, O, D, M, Z>>(exec, "crs", crs);
}

/// Finds the first row in which the row maps or the columns of a and b differ, as the minimum of a reduction.
template <class ExecutionSpace, class ViewsA, class ViewsB>
struct CompareCrsRow {
  using execution_space = ExecutionSpace;
  ViewsA a;
  ViewsB b;

  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t row, std::int64_t& first_bad) const {
    bool same = a.begin(row) == b.begin(row) && a.end(row) == b.end(row);
    for (std::int64_t i = a.begin(row); same && i < a.end(row); ++i)
      same = a.entries[i] == b.entries[i];
    if (!same && row < first_bad) first_bad = row;
  }
};

/// The first row in which the patterns differ, or none_found. Fences exec.
template <class ExecutionSpace, class Crs, class S, class O, class D, class M, class Z>
std::int64_t first_different_row(const ExecutionSpace& exec, const KokkosSparse::CrsMatrix<S, O, D, M, Z>& A,
                                 const Crs& crs) {
  using ViewsA = crs_views_t<KokkosSparse::CrsMatrix<S, O, D, M, Z>>;
  using ViewsB = crs_views_t<Crs>;
  return find_first<void>(exec, "compare_pattern", "crs", static_cast<std::int64_t>(A.numRows()),
                          CompareCrsRow<ExecutionSpace, ViewsA, ViewsB>{ViewsA(A), ViewsB(crs)});
}

/// refill from a checked CRS matrix. One kernel.
template <class ExecutionSpace, class Crs, class S, class O, class D, class M, class Z>
void refill_from_crs(const ExecutionSpace& exec, const KokkosSparse::CrsMatrix<S, O, D, M, Z>& A,
                     const Crs& crs) {
  static_assert(!std::is_const_v<S>, "Filigree::refill: the values of A must not be const.");
  copy_values(exec, "crs", crs, A.values);
}

/// to_crs: the result shares the Views of A.
template <class Crs, class ExecutionSpace, class S, class O, class D, class M, class Z>
Crs convert_to_crs(const ExecutionSpace&, const KokkosSparse::CrsMatrix<S, O, D, M, Z>& A) {
  return A;
}

}  // namespace Filigree::Impl

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "filigree/formats/coo/coo_convert.hpp"

#if FILIGREE_HAS_KOKKOS_COO
#include <KokkosSparse_CooMatrix.hpp>

namespace Filigree::Impl {

/// The CRS matrix from which convert() of a KokkosSparse::CooMatrix starts. It is a copy, sorted by row; see
/// make_coo() for the memory that it takes. Fences exec.
template <class ExecutionSpace, class S, class O, class D, class M, class Z,
          class Ordinal = std::remove_const_t<O>, class SizeType = std::remove_const_t<Z>>
KokkosSparse::CrsMatrix<std::remove_const_t<S>, Ordinal, D, void, SizeType> crs_of(
    const ExecutionSpace& exec, const KokkosSparse::CooMatrix<S, O, D, M, Z>& coo) {
  using Coo = CooMatrix<std::remove_const_t<S>, Ordinal, D, void, SizeType>;
  const char* const function = "Filigree::convert";
  constexpr auto most = static_cast<std::uint64_t>(std::numeric_limits<Ordinal>::max());
  if (static_cast<std::uint64_t>(coo.numRows()) > most || static_cast<std::uint64_t>(coo.numCols()) > most)
    fail<std::length_error>(function, ": the KokkosSparse::CooMatrix is ", coo.numRows(), " x ",
                            coo.numCols(), ", but its ordinal type can count only ", most,
                            "; use a wider ordinal type.");
  const auto rows = static_cast<Ordinal>(coo.numRows());
  const auto columns = static_cast<Ordinal>(coo.numCols());
  check_triplets<ExecutionSpace, SizeType>(function, rows, columns, coo.row(), coo.col(), coo.data());
  return crs_that_shares(exec,
                         sorted_coo<Coo>(exec, function, rows, columns, coo.row(), coo.col(), coo.data()));
}

/// A KokkosSparse::CooMatrix that shares the Views of a COO matrix.
template <class S, class O, class D, class M, class Z>
KokkosSparse::CooMatrix<S, O, D, void, Z> kokkos_coo_that_shares(const CooMatrix<S, O, D, M, Z>& coo) {
  return {static_cast<Z>(coo.numRows()), static_cast<Z>(coo.numCols()), coo.rows, coo.entries, coo.values};
}

}  // namespace Filigree::Impl
#endif

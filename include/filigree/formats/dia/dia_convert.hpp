// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FILIGREE_FORMATS_DIA_DIA_CONVERT_HPP
#define FILIGREE_FORMATS_DIA_DIA_CONVERT_HPP

#include "filigree/formats/cds/cds_convert.hpp"
#include "filigree/formats/dia/dia_matrix.hpp"

namespace Filigree {
namespace Impl {

/// convert<DiaMatrix>, its input checked. Fences exec.
template <class ExecutionSpace, class Crs, class S, class O, class D, class M, class Z>
void convert_from_crs(const ExecutionSpace& exec, const Crs& crs, const DiaOptions& options,
                      DiaMatrix<S, O, D, M, Z>& result) {
  using Dia = DiaMatrix<S, O, D, M, Z>;
  result = Dia(diagonals_of_crs<typename Dia::base_type>(exec, "Filigree::convert<DiaMatrix>", "dia", crs,
                                                         options, 1));
}

/// The first row in which the patterns differ, or a number past all rows. Fences exec.
template <class ExecutionSpace, class Crs, class S, class O, class D, class M, class Z>
std::int64_t first_different_row(const ExecutionSpace& exec, const DiaMatrix<S, O, D, M, Z>& dia,
                                 const Crs& crs) {
  return first_different_row_of_places(exec, "dia", CdsPlaces<S, O>(dia), crs);
}

/// refill, its input checked. One kernel.
template <class ExecutionSpace, class Crs, class S, class O, class D, class M, class Z>
void refill_from_crs(const ExecutionSpace& exec, const DiaMatrix<S, O, D, M, Z>& dia, const Crs& crs) {
  fill_places(exec, "refill", "dia", CdsPlaces<S, O>(dia), crs);
}

/// to_crs: the values that are not zero, by ascending column.
template <class Crs, class ExecutionSpace, class S, class O, class D, class M, class Z>
Crs convert_to_crs(const ExecutionSpace& exec, const DiaMatrix<S, O, D, M, Z>& dia) {
  return crs_of_places<Crs>(exec, "dia", CdsPlaces<S, O>(dia), dia.numRows(), dia.numCols());
}

}  // namespace Impl
}  // namespace Filigree

#endif

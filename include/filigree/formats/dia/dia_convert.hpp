// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "filigree/formats/cds/cds_convert.hpp"
#include "filigree/formats/dia/dia_matrix.hpp"

namespace Filigree::Impl {

/// convert<DiaMatrix> of a checked CRS matrix. Fences exec. Takes 4 bytes per row and per column besides the
/// result, but at most 32 per entry.
template <class ExecutionSpace, class Crs, class S, class O, class D, class M, class Z>
void convert_from_crs(const ExecutionSpace& exec, const Crs& crs, const DiaOptions& options,
                      DiaMatrix<S, O, D, M, Z>& result) {
  using Dia = DiaMatrix<S, O, D, M, Z>;
  result = Dia(diagonals_of_crs<typename Dia::cds_type>(exec, "Filigree::convert<DiaMatrix>", "dia", crs,
                                                        options, 1, CdsLayout::columns));
}

}  // namespace Filigree::Impl

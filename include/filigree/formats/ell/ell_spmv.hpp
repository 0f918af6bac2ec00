// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "filigree/formats/ell/ell_layout.hpp"
#include "filigree/formats/ell/ell_spmv_ahead.hpp"
#include "filigree/product/row_product.hpp"
#include "filigree/product/shared_entries_product.hpp"

namespace Filigree::Impl {

/// The product of an ELL matrix, with T lanes per row (ELLR-T if T is larger than 1, Vazquez et al. 2011,
/// section 3.2). The arguments are checked, and A has entries.
template <class ExecutionSpace, class S, class O, class D, class M, class Z, class Operands>
void spmv_kernel(const ExecutionSpace& exec, const std::string& name, Mode mode,
                 const EllMatrix<S, O, D, M, Z>& ell, const Operands& operands) {
  if (!is_transpose(mode) && launch_ell_ahead(exec, name, ell, operands)) return;
  // The teams of this kernel have 256 lanes. RowProduct can have other teams.
  if (!is_transpose(mode) && ell.lanes_per_team() == 256 &&
      launch_shared_entries<1>(exec, name, EllLayout<S, O, true>(ell), operands))
    return;
  with_layout(exec, ell, [&](const auto& layout) {
    launch_row_product<true>(exec, name, mode, layout, operands, static_cast<std::int64_t>(ell.numCols()),
                             ell.lanes_per_team());
  });
}

}  // namespace Filigree::Impl

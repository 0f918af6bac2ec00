// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "filigree/formats/jds/jds_layout.hpp"
#include "filigree/product/row_product.hpp"

namespace Filigree::Impl {

/// The product of a JDS matrix, one lane per row. The arguments are checked, and A has entries.
template <class ExecutionSpace, class S, class O, class D, class M, class Z, class Operands>
void spmv_kernel(const ExecutionSpace& exec, const std::string& name, Mode mode,
                 const JdsMatrix<S, O, D, M, Z>& jds, const Operands& operands) {
  launch_row_product(exec, name, mode, JdsLayout<S, O>(jds), operands,
                     static_cast<std::int64_t>(jds.numCols()));
}

}  // namespace Filigree::Impl

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FILIGREE_FORMATS_JDS_JDS_SPMV_HPP
#define FILIGREE_FORMATS_JDS_JDS_SPMV_HPP

#include <cstdint>
#include <string>

#include "filigree/core/region.hpp"
#include "filigree/formats/jds/jds_layout.hpp"
#include "filigree/formats/jds/jds_matrix.hpp"
#include "filigree/product/row_product.hpp"

namespace Filigree {
namespace Impl {

/// The product, everything checked and A with entries: one lane a sorted row, its result in the row that it
/// was.
template <class ExecutionSpace, class S, class O, class D, class M, class Z, class Operands>
void spmv_kernel(const ExecutionSpace& exec, const std::string& name, Mode mode,
                 const JdsMatrix<S, O, D, M, Z>& jds, const Operands& operands) {
  row_spmv(exec, name, mode, JdsLayout<S, O>(jds), operands, static_cast<std::int64_t>(jds.numCols()));
}

}  // namespace Impl
}  // namespace Filigree

#endif

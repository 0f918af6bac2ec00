// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FILIGREE_FORMATS_DIA_DIA_SPMV_HPP
#define FILIGREE_FORMATS_DIA_DIA_SPMV_HPP

#include <string>

#include "filigree/formats/cds/cds_spmv.hpp"
#include "filigree/formats/dia/dia_matrix.hpp"

namespace Filigree {
namespace Impl {

/// The product, everything checked and A with entries: that of CDS with blocks of one.
template <class ExecutionSpace, class S, class O, class D, class M, class Z, class Operands>
void spmv_kernel(const ExecutionSpace& exec, const std::string& name, Mode mode,
                 const DiaMatrix<S, O, D, M, Z>& dia, const Operands& operands) {
  diagonal_spmv<1>(exec, name, mode, dia, operands);
}

}  // namespace Impl
}  // namespace Filigree

#endif

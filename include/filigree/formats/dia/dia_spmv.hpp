// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "filigree/formats/cds/cds_spmv.hpp"
#include "filigree/formats/dia/dia_matrix.hpp"

namespace Filigree::Impl {

/// The product of a DIA matrix: the product of CDS with block size 1. The arguments are checked, and A has
/// entries.
template <class ExecutionSpace, class S, class O, class D, class M, class Z, class Operands>
void spmv_kernel(const ExecutionSpace& exec, const std::string& name, Mode mode,
                 const DiaMatrix<S, O, D, M, Z>& dia, const Operands& operands) {
  const typename DiaMatrix<S, O, D, M, Z>::cds_type& cds = dia;
  diagonal_spmv<1>(exec, name, mode, cds, operands);
}

}  // namespace Filigree::Impl

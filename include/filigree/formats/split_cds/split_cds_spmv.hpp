// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "filigree/formats/cds/cds_spmv.hpp"
#include "filigree/formats/split_cds/split_cds_matrix.hpp"

namespace Filigree::Impl {

/// The product of a SplitCdsMatrix with both halves: that of CDS, whose kernels join the halves of each
/// value. The arguments are checked, and A has entries.
template <class ExecutionSpace, class S, class O, class D, class M, class Z, class Operands>
void spmv_kernel(const ExecutionSpace& exec, const std::string& name, Mode mode,
                 const SplitCdsMatrix<S, O, D, M, Z>& A, const Operands& operands) {
  with_block_size(A.block_size(), [&](auto block_size) {
    diagonal_spmv<decltype(block_size)::value>(exec, name, mode, A, operands);
  });
}

}  // namespace Filigree::Impl

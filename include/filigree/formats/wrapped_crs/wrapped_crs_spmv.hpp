// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "filigree/formats/crs/crs_layout.hpp"
#include "filigree/formats/wrapped_crs/wrapped_crs_layout.hpp"
#include "filigree/product/row_product.hpp"

namespace Filigree::Impl {

/// The product of a WrappedCrsMatrix. The arguments are checked, and A has entries. The balanced kernel has
/// only modes N and C. In modes T and H, CrsKernel::balanced uses 8 lanes per row on a GPU.
template <class ExecutionSpace, class S, class O, class D, class M, class Z, class Operands>
void spmv_kernel(const ExecutionSpace& exec, const std::string& name, Mode mode,
                 const WrappedCrsMatrix<S, O, D, M, Z>& A, const Operands& operands) {
  const bool balanced = A.kernel() == CrsKernel::balanced;
  if (!balanced || is_transpose(mode)) {
    const int lanes = !runs_on_gpu_v<ExecutionSpace> ? 1 : balanced ? 8 : A.lanes_per_row();
    const CrsLayout<S, O, Z> rows(A.crs, lanes, A.in_vectors());
    launch_row_product(exec, name, mode, rows, operands, static_cast<std::int64_t>(A.numCols()));
    return;
  }
  const CrsEntryLayout<ExecutionSpace, S, O, Z> entries(A.crs, A.first_rows, A.chunks, A.in_vectors());
  balanced_spmv(exec, name, product_names(A).join, mode, entries, operands, A.chunks, A.empty_rows);
}

}  // namespace Filigree::Impl

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <string>

#include "filigree/core/region.hpp"
#include "filigree/formats/crs/crs_layout.hpp"
#include "filigree/formats/crs/crs_matrix.hpp"
#include "filigree/formats/wrapped_crs/wrapped_crs_layout.hpp"
#include "filigree/formats/wrapped_crs/wrapped_crs_matrix.hpp"
#include "filigree/product/row_product.hpp"

namespace Filigree::Impl {

/// The product. The arguments are already checked, and the matrix has entries. Modes T and H always use a
/// number of lanes per row; with CrsKernel::balanced it is 8.
template <class ExecutionSpace, class S, class O, class D, class M, class Z, class Operands>
void spmv_kernel(const ExecutionSpace& exec, const std::string& name, Mode mode,
                 const WrappedCrsMatrix<S, O, D, M, Z>& A, const Operands& operands) {
  static const std::string join_name = label("join", A.name());
  const auto& crs = A.crs;
  const bool balanced = A.kernel() == CrsKernel::balanced;
  if (!balanced || is_transpose(mode)) {
    const int lanes = !runs_on_gpu_v<ExecutionSpace> ? 1 : balanced ? 8 : A.lanes_per_row();
    const CrsLayout<S, O, Z> rows(crs, lanes);
    launch_row_product(exec, name, mode, rows, operands, static_cast<std::int64_t>(A.numCols()));
    return;
  }
  const auto& chunk_begins = A.chunks.chunk_begins;
  const CrsEntryLayout<ExecutionSpace, S, O, Z> entries{
      crs.values.data(),
      crs.graph.entries.data(),
      crs.graph.row_map.data(),
      A.first_rows.data(),
      chunk_begins.extent(0) > 0 ? chunk_begins.data() : nullptr,
      static_cast<std::int64_t>(A.nnz()),
      static_cast<std::int64_t>(A.numRows())};
  balanced_spmv(exec, name, join_name, mode, entries, operands, A.chunks, A.empty_rows);
}

}  // namespace Filigree::Impl

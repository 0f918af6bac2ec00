// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FILIGREE_FORMATS_WRAPPED_CRS_WRAPPED_CRS_SPMV_HPP
#define FILIGREE_FORMATS_WRAPPED_CRS_WRAPPED_CRS_SPMV_HPP

#include <cstdint>
#include <string>

#include "filigree/core/region.hpp"
#include "filigree/formats/crs/crs_layout.hpp"
#include "filigree/formats/crs/crs_matrix.hpp"
#include "filigree/formats/wrapped_crs/wrapped_crs_layout.hpp"
#include "filigree/formats/wrapped_crs/wrapped_crs_matrix.hpp"
#include "filigree/product/row_product.hpp"

namespace Filigree {
namespace Impl {

/// The product, everything checked and A with entries. Modes T and H are those of T lanes a row, 8 where the
/// kernel is the balanced one.
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
  const CrsEntryLayout<ExecutionSpace, S, O, Z> entries{
      crs.values.data(),
      crs.graph.entries.data(),
      crs.graph.row_map.data(),
      A.first_rows.data(),
      A.chunk_begins.extent(0) > 0 ? A.chunk_begins.data() : nullptr,
      static_cast<std::int64_t>(A.nnz()),
      static_cast<std::int64_t>(A.numRows())};
  balanced_spmv(exec, name, join_name, mode, entries, operands, A);
}

}  // namespace Impl
}  // namespace Filigree

#endif

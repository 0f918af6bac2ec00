// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "filigree/formats/coo/coo_spmv.hpp"
#include "filigree/formats/hyb/hyb_layout.hpp"
#include "filigree/product/row_product.hpp"

namespace Filigree::Impl {

/// The product of a HYB matrix. The arguments are checked, and A has entries. Either one kernel multiplies
/// both parts, or a kernel multiplies the ELL part and the kernels of coo_spmv() add the product of the COO
/// part. `name` names the first kernel.
template <class ExecutionSpace, class S, class O, class D, class M, class Z, class Operands>
void spmv_kernel(const ExecutionSpace& exec, const std::string& name, Mode mode,
                 const HybMatrix<S, O, D, M, Z>& hyb, const Operands& operands) {
  using accumulator_type = typename Operands::accumulator_type;
  const std::int64_t num_cols = static_cast<std::int64_t>(hyb.numCols());
  constexpr bool y_keeps_sums =
      Operands::y_is_in_memory && std::is_same<accumulator_type, typename Operands::y_type>::value;
  // On a host one kernel for both parts is better, because it adds the excess entries of a row while its sum
  // is in the caches. But threads must divide rows that are much longer than the width. If y is narrower than
  // the sums, one kernel is needed, because storing the sums between two kernels would round them. An Epilogue
  // needs whole sums.
  constexpr bool host = !runs_on_gpu_v<ExecutionSpace>;
  if constexpr (host || !y_keeps_sums) {
    constexpr std::int64_t most_widths = 8;
    const bool rows_are_alike =
        static_cast<std::int64_t>(hyb.longestRow()) <= most_widths * static_cast<std::int64_t>(hyb.width());
    if (!is_transpose(mode) && (!y_keeps_sums || rows_are_alike)) {
      launch_row_product(exec, name, mode, HybLayout<ExecutionSpace, S, O>(hyb), operands, num_cols);
      return;
    }
  }
  if constexpr (Operands::y_is_in_memory) {
    const std::int64_t coo_nnz = static_cast<std::int64_t>(hyb.coo.nnz());
    // Before the first launch, so that y is unchanged if there is no memory for the workspace.
    if (coo_nnz > 0 && !is_transpose(mode)) prepare_balanced_spmv(exec, operands, coo_nnz);
    launch_row_product(exec, name, mode, EllLayout<S, O, true>(hyb.ell), operands, num_cols);
    if (coo_nnz == 0) return;
    Operands rest = operands;
    rest.beta = accumulator_type(1);
    const ProductNames& names = product_names(hyb);
    coo_spmv(exec, names.coo, names.join, mode, hyb.coo, rest);
  }
}

}  // namespace Filigree::Impl

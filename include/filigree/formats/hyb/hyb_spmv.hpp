// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FILIGREE_FORMATS_HYB_HYB_SPMV_HPP
#define FILIGREE_FORMATS_HYB_HYB_SPMV_HPP

#include <cstdint>
#include <string>

#include "filigree/core/region.hpp"
#include "filigree/core/row_product.hpp"
#include "filigree/formats/coo/coo_spmv.hpp"
#include "filigree/formats/hyb/hyb_matrix.hpp"

namespace Filigree {
namespace Impl {

/// The product, everything checked and A with entries: that of the ELL part, to which that of the COO part is
/// added.
template <class ExecutionSpace, class S, class O, class D, class M, class Z, class Operands>
void spmv_kernel(const ExecutionSpace& exec, Mode mode, const HybMatrix<S, O, D, M, Z>& hyb,
                 const Operands& operands) {
  static const std::string name = label("spmv", "hyb");
  static const std::string coo_name = label("spmv_coo", "hyb");
  static const std::string join_name = label("join", "hyb");
  using accumulator_type = typename Operands::accumulator_type;
  const std::int64_t extent = static_cast<std::int64_t>(hyb.numCols());
  constexpr bool y_is_wide = std::is_same<accumulator_type, typename Operands::y_type>::value;
  // A host adds the rest of a row while what its ELL part gave is in the caches, unless a row is so long that
  // threads have to share it. Where y is not as wide as the sums it would round them between the parts.
  constexpr bool host = !runs_on_gpu_v<ExecutionSpace>;
  if constexpr (host || !y_is_wide) {
    const std::int64_t longest_rest = static_cast<std::int64_t>(hyb.longestRow() - hyb.width());
    if (!is_transpose(mode) && (!y_is_wide || longest_rest <= ShareLaunch<ExecutionSpace>::share)) {
      row_spmv(exec, name, mode, HybRows<ExecutionSpace, S, O>(hyb), operands, extent);
      return;
    }
  }
  row_spmv(exec, name, mode, EllRows<S, O, true>(hyb.ell), operands, extent);
  if (hyb.coo.nnz() == 0) return;
  Operands rest = operands;
  rest.beta = accumulator_type(1);
  coo_spmv(exec, coo_name, join_name, mode, hyb.coo, rest);
}

}  // namespace Impl
}  // namespace Filigree

#endif

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FILIGREE_FORMATS_HYB_HYB_SPMV_HPP
#define FILIGREE_FORMATS_HYB_HYB_SPMV_HPP

#include <cstdint>
#include <string>

#include "filigree/core/region.hpp"
#include "filigree/formats/coo/coo_spmv.hpp"
#include "filigree/formats/hyb/hyb_layout.hpp"
#include "filigree/formats/hyb/hyb_matrix.hpp"
#include "filigree/product/row_product.hpp"

namespace Filigree {
namespace Impl {

/// The product, everything checked and A with entries: that of the ELL part, to which that of the COO part is
/// added, or of both in one kernel.
template <class ExecutionSpace, class S, class O, class D, class M, class Z, class Operands>
void spmv_kernel(const ExecutionSpace& exec, const std::string& name, Mode mode,
                 const HybMatrix<S, O, D, M, Z>& hyb, const Operands& operands) {
  static const std::string coo_name = label("spmv_coo", "hyb");
  static const std::string join_name = label("join", "hyb");
  using accumulator_type = typename Operands::accumulator_type;
  const std::int64_t extent = static_cast<std::int64_t>(hyb.numCols());
  constexpr bool y_is_wide = std::is_same<accumulator_type, typename Operands::y_type>::value;
  // A host adds the rest of a row while what its ELL part gave is in the caches, unless some rows are so long
  // that threads have to share their entries. Where y is narrower than the sums, storing between the parts
  // would round, so that it is always one kernel.
  constexpr bool host = !runs_on_gpu_v<ExecutionSpace>;
  if constexpr (host || !y_is_wide) {
    constexpr std::int64_t most_widths = 8;
    const bool rows_are_alike =
        static_cast<std::int64_t>(hyb.longestRow()) <= most_widths * static_cast<std::int64_t>(hyb.width());
    if (!is_transpose(mode) && (!y_is_wide || rows_are_alike)) {
      row_spmv(exec, name, mode, HybLayout<ExecutionSpace, S, O>(hyb), operands, extent);
      return;
    }
  }
  row_spmv(exec, name, mode, EllLayout<S, O, true>(hyb.ell), operands, extent);
  if (hyb.coo.nnz() == 0) return;
  Operands rest = operands;
  rest.beta = accumulator_type(1);
  coo_spmv(exec, coo_name, join_name, mode, hyb.coo, rest);
}

}  // namespace Impl
}  // namespace Filigree

#endif

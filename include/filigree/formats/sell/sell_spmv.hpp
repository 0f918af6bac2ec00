// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FILIGREE_FORMATS_SELL_SELL_SPMV_HPP
#define FILIGREE_FORMATS_SELL_SELL_SPMV_HPP

#include <cstdint>
#include <string>

#include "filigree/core/region.hpp"
#include "filigree/formats/sell/sell_layout.hpp"
#include "filigree/formats/sell/sell_matrix.hpp"
#include "filigree/product/row_product.hpp"

namespace Filigree {
namespace Impl {

/// sums += the products of a run: what columns a slice has is asked once and not for each entry.
template <bool Gpu, bool Padded, bool Conjugate, class Operands, class Scalar, class Ordinal>
KOKKOS_FORCEINLINE_FUNCTION void add_run(const Operands& operands, typename Operands::sums_type& sums,
                                         const ShortColumnEntries<Scalar, Ordinal>& run) {
  if (run.has_short_columns())
    add_run<Gpu, Padded, Conjugate>(operands, sums, run.with_short_columns());
  else
    add_run<Gpu, Padded, Conjugate>(operands, sums, run.with_whole_columns());
}

/// The product, everything checked and A with entries: L lanes a row.
template <class ExecutionSpace, class S, class O, class D, class M, class Z, class Operands>
void spmv_kernel(const ExecutionSpace& exec, const std::string& name, Mode mode,
                 const SellMatrix<S, O, D, M, Z>& sell, const Operands& operands) {
  with_layout(exec, sell, [&](const auto& rows) {
    row_spmv(exec, name, mode, rows, operands, static_cast<std::int64_t>(sell.numCols()));
  });
}

}  // namespace Impl
}  // namespace Filigree

#endif

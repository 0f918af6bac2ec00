// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "filigree/formats/sell/sell_layout.hpp"
#include "filigree/product/row_product.hpp"
#include "filigree/product/shared_entries_product.hpp"

namespace Filigree::Impl {

/// The product of a sliced ELL matrix, T lanes per row. The arguments are checked, and A has entries.
template <class ExecutionSpace, class S, class O, class D, class M, class Z, class Operands>
void spmv_kernel(const ExecutionSpace& exec, const std::string& name, Mode mode,
                 const SellMatrix<S, O, D, M, Z>& sell, const Operands& operands) {
  with_layout(exec, sell, [&](const auto& layout) {
    // SELL of double with short columns and 8 columns of x is not faster with this kernel (see docs/performance.md,
    // "Halves of columns in turns").
    constexpr bool is_float = std::is_same_v<std::remove_const_t<S>, float>;
    constexpr int fewest_lanes = is_float || !std::decay_t<decltype(layout)>::has_short_columns ? 2 : 4;
    if (!is_transpose(mode) && launch_shared_entries<fewest_lanes>(exec, name, layout, operands)) return;
    launch_row_product(exec, name, mode, layout, operands, static_cast<std::int64_t>(sell.numCols()));
  });
}

}  // namespace Filigree::Impl

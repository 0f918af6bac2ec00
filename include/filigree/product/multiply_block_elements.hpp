// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "filigree/core/launch.hpp"
#include "filigree/core/load_once.hpp"
#include "filigree/core/scalar.hpp"

namespace Filigree::Impl {

/// Sets `sums`, one per column of x, to those of the elements of a row that are not 0. For the kernels that also add the
/// products of padding, when one of their sums is NaN. No block may be cut by the end of the matrix. Product is the data of
/// such a kernel, see BlockColumnsProduct. Operands are those of the launch or of a lane.
template <int BlockSize, bool Conjugate = false, class Product, class Operands>
KOKKOS_FORCEINLINE_FUNCTION void multiply_block_elements(typename Operands::sums_type& sums,
                                                         const Product& product, const std::int64_t row,
                                                         const Operands& operands) {
  using ordinal_type = typename Product::ordinal_type;
  for (auto& sum : sums)
    sum = typename Operands::accumulator_type(0);
  const ordinal_type block_row = static_cast<ordinal_type>(row) / BlockSize;
  FILIGREE_UNROLL(1)
  for (std::int64_t k = 0; k < product.block_count(); ++k) {
    const ordinal_type column = product.block_column(block_row, k);
    FILIGREE_UNROLL(1)
    for (int c = 0; c < BlockSize; ++c) {
      const auto value = load_once(product.values + ((k * BlockSize + c) * product.value_stride() + row));
      operands.add_unless_zero(sums, conjugate_if<Conjugate>(value), column + c);
    }
  }
}

}  // namespace Filigree::Impl

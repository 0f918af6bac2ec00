// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>

#include "filigree/core/launch.hpp"
#include "filigree/core/scalar.hpp"
#include "filigree/formats/cds/cds_spmv_common.hpp"

namespace Filigree::Impl {

/// Modes T and H: one lane per element of y, which belongs to a column of A. Per diagonal, the lane reads one
/// column of a block, whose values are neighbours in memory. It needs no atomics, so every run gives the same
/// bits.
template <class ExecutionSpace, class Cds, class Operands, int BlockSize, bool Conjugate>
struct CdsSpmvTranspose : CdsProduct<ExecutionSpace, Cds, Operands, BlockSize> {
  using base = CdsProduct<ExecutionSpace, Cds, Operands, BlockSize>;
  using base::base;
  using typename base::launch;
  using typename base::scalar_type;
  using typename base::sums_type;

  KOKKOS_FORCEINLINE_FUNCTION void column_product(const std::int64_t column) const {
    const int b = this->block_size();
    const std::int64_t block_column = column / b;
    const std::int64_t column_in_block = column - block_column * b;
    sums_type sums = {};
    for (std::int64_t d = 0; d < this->diagonals; ++d) {
      const std::int64_t row = (block_column - static_cast<std::int64_t>(this->offsets[d])) * b;
      if (row < 0 || row >= this->rows) continue;
      const scalar_type* KOKKOS_RESTRICT value = this->values + (d * b + column_in_block) * this->rows + row;
      const int count = this->rows - row < b ? static_cast<int>(this->rows - row) : b;
      FILIGREE_UNROLL(8)
      for (int r = 0; r < count; ++r)
        this->operands.add_unless_zero(sums, conjugate_if<Conjugate>(value[r]), row + r);
    }
    this->operands.store(sums, column);
  }

  KOKKOS_INLINE_FUNCTION void operator()(const typename launch::member_type& team) const {
    launch::for_each_row(team, this->columns, [&](const std::int64_t column) { column_product(column); });
  }
};

}  // namespace Filigree::Impl

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "filigree/product/block_terms.hpp"
#include "filigree/product/store_sums.hpp"

namespace Filigree::Impl {

/// What kernels with one lane per block row have in common. They have a compiled block size, and keep the b
/// sums of the block row in registers, so that each element of x is loaded once for b values.
template <class Terms_, class Operands_, int BlockSize>
struct BlockRowProduct {
  using Terms = Terms_;
  using Operands = Operands_;
  using scalar_type = typename Terms::Scalar;
  using ordinal_type = typename Terms::Ordinal;
  using x_type = typename Operands::x_type;
  using accumulator_type = typename Operands::accumulator_type;
  using block_sums_type = accumulator_type[BlockSize];
  using factors_type = x_type[BlockSize];

  Terms terms;
  Operands operands;

  /// The elements of a block of x. Elements after the end of x are any elements of x; their values are 0.
  KOKKOS_FORCEINLINE_FUNCTION void load_x(factors_type& factors, ordinal_type block) const {
    if constexpr (BlockSize == 1) {
      factors[0] = operands.x(block, 0);
      return;
    }
    // Unsigned, because a row after the last one can exceed the largest ordinal.
    using row_type = stored_row_t<ordinal_type>;
    const auto first = static_cast<row_type>(block) * BlockSize;
    const auto last = static_cast<row_type>(terms.x_rows - 1);
    FILIGREE_UNROLL(8)
    for (int j = 0; j < BlockSize; ++j)
      factors[j] = operands.x(static_cast<ordinal_type>(first + j < last ? first + j : last), 0);
  }

  /// Adds a block: sums += block * factors. `value` points to component 0 of the stored block. If Once is
  /// true, the kernel reads the values only here.
  template <BlockPlace Place, bool Once>
  KOKKOS_FORCEINLINE_FUNCTION void add_block(block_sums_type& sums, const scalar_type* KOKKOS_RESTRICT value,
                                             const factors_type& factors) const {
    FILIGREE_UNROLL(8)
    for (int p = 0; p < BlockSize; ++p) {
      FILIGREE_UNROLL(8)
      for (int q = Place == BlockPlace::packed ? p : 0; q < BlockSize; ++q) {
        // The stored element is (p, q), apart from mirrored blocks, in which it is (q, p).
        constexpr BlockPlace stored = Place == BlockPlace::packed ? Place : BlockPlace::own;
        const scalar_type a = load<Once>(value + terms.component_position(stored, p, q, BlockSize));
        const int i = Place == BlockPlace::mirrored ? q : p;
        const int j = Place == BlockPlace::mirrored ? p : q;
        Operands::add_unless_zero(sums[i], terms.value(Place, i, j, a), factors[j]);
        if (Place == BlockPlace::packed && i != j)
          Operands::add_unless_zero(sums[j], terms.value(Place, j, i, a), factors[i]);
      }
    }
  }

  template <bool Once>
  static KOKKOS_FORCEINLINE_FUNCTION scalar_type load(const scalar_type* value) {
    return Once ? load_once(value) : *value;
  }

  /// y = beta * y + alpha * sums for the rows of a block row.
  KOKKOS_FORCEINLINE_FUNCTION void store(const block_sums_type& sums, ordinal_type block_row) const {
    if constexpr (BlockSize == 1) {
      operands.store(sums[0], block_row, 0);
      return;
    }
    constexpr int pack = BlockSize % 2 == 0 && sizeof(typename Operands::y_type) <= 8 ? 2 : 1;
    // The rows of the block. The last block may have fewer, and a row after them could overflow.
    const ordinal_type first = block_row * BlockSize;
    const std::int64_t count = terms.y_rows - first;
    for (int i = 0; i < BlockSize; i += pack) {
      typename Operands::sums_type packed[pack];
      for (int r = 0; r < pack; ++r)
        packed[r][0] = sums[i + r];
      if (i + pack <= count)
        store_rows(operands, packed, first + i);
      else if (i < count)
        operands.store(packed[0], first + i);
    }
  }
};

}  // namespace Filigree::Impl

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "filigree/formats/cds/cds_spmv_common.hpp"

namespace Filigree::Impl {

/// Modes N and C on a host: one thread per team, which multiplies its rows tile by tile, so that the sums of a
/// tile stay in the caches of the core. The values in one column of the blocks of a diagonal are a stream of
/// memory. A core needs about eight streams at a time to read at full speed (see docs/performance.md, "CDS:
/// streams on a host"), so that several diagonals with small blocks are added together. A row's products are
/// added by ascending column, as on a GPU.
template <class ExecutionSpace, class Cds, class Operands, int BlockSize, bool Conjugate>
struct CdsHostSpmv : CdsProduct<ExecutionSpace, Cds, Operands, BlockSize> {
  using base = CdsProduct<ExecutionSpace, Cds, Operands, BlockSize>;
  using base::base;
  using typename base::launch;
  using typename base::sums_type;
  using typename base::value_pointer;

  /// The most diagonals that are added together: about eight streams. For several columns of x it is 1, because
  /// their tiles are small, and more loops would take longer to compile.
  static constexpr int most_together = BlockSize == 0 || BlockSize == 8 || Operands::most_columns > 1
                                           ? 1
                                           : (8 + BlockSize / 2) / (BlockSize > 0 ? BlockSize : 1);
  /// With b = 1 and more diagonals than that, passes of at most four are faster than passes of eight (same section of
  /// the page).
  static constexpr int most_of_several_passes = BlockSize == 1 && most_together > 4 ? 4 : most_together;

  KOKKOS_INLINE_FUNCTION void operator()(const typename launch::member_type& team) const {
    launch::template for_each_tile<sums_type>(
        team, this->rows,
        [&](const std::int64_t first, const std::int64_t count) { tile_product(first, count); });
  }

  /// The product of the rows first to first + count - 1.
  KOKKOS_INLINE_FUNCTION void tile_product(const std::int64_t first, const std::int64_t count) const {
    HostSums<launch, sums_type> memory(count);
    sums_type* const sums = memory.sums();
    if (this->operands.x.row_stride() == 1)
      add_diagonals<true, most_together>(sums, first, count);
    else  // rare, so that it is not worth the compile time of more loops
      add_diagonals<false, 1>(sums, first, count);
    // After a store to y the compiler loads members of *this again, but not those of a local copy.
    const Operands of_product = this->operands;
    for (std::int64_t row = 0; row < count; ++row)
      of_product.store(sums[row], first + row);
  }

  /// Adds all diagonals to the sums of a tile, at most Most of them together.
  template <bool UnitStride, int Most>
  KOKKOS_FORCEINLINE_FUNCTION void add_diagonals(sums_type* const sums, const std::int64_t first,
                                                 const std::int64_t count) const {
    const std::int64_t b = this->block_size();
    // The diagonals d to end - 1 have a block in the tile. The offsets ascend.
    std::int64_t d = 0;
    std::int64_t end = this->diagonals;
    while (d < end && offset(d) < -((first + count - 1) / b))
      ++d;
    while (d < end && offset(end - 1) > (this->columns - 1) / b - first / b)
      --end;
    // The numbers of diagonals of two passes differ by at most one.
    const std::int64_t most = end - d <= Most ? Most : smaller(Most, most_of_several_passes);
    std::int64_t passes = (end - d + most - 1) / most;
    for (; d < end; --passes) {
      const std::int64_t together = (end - d + passes - 1) / passes;
      add_together<UnitStride, Most>(sums, first, count, d, together);
      d += together;
    }
  }

  /// Adds the diagonals d to d + together - 1, where `together` is at most Most. It calls itself until the
  /// compiler knows their number.
  template <bool UnitStride, int Most>
  KOKKOS_INLINE_FUNCTION void add_together(sums_type* const sums, const std::int64_t first,
                                           const std::int64_t count, const std::int64_t d,
                                           const std::int64_t together) const {
    if constexpr (Most > 1)
      if (together < Most) {
        add_together<UnitStride, Most - 1>(sums, first, count, d, together);
        return;
      }
    const std::int64_t b = this->block_size();
    // The block rows of the tile.
    const std::int64_t begin = first / b;
    const std::int64_t end = (first + count - 1) / b + 1;
    // Among them, those that lie completely in the tile and whose blocks lie completely in the matrix.
    std::int64_t whole_begin = (first + b - 1) / b;
    std::int64_t whole_end = BlockSize == 0 ? whole_begin : (first + count) / b;
    for (int i = 0; i < Most; ++i) {
      whole_begin = larger(whole_begin, -offset(d + i));
      whole_end = smaller(whole_end, this->columns / b - offset(d + i));
    }
    if constexpr (Most > 1)
      if (whole_begin >= whole_end) {
        // No block row of the tile has a whole block on each of these diagonals.
        for (int i = 0; i < Most; ++i)
          add_together<UnitStride, 1>(sums, first, count, d + i, 1);
        return;
      }
    if (whole_begin >= whole_end) whole_begin = whole_end = end;
    add_parts_of_blocks<Most>(sums, first, count, d, begin, whole_begin);
    if constexpr (BlockSize > 0)
      if (whole_begin < whole_end) add_whole_blocks<UnitStride, Most>(sums, first, d, whole_begin, whole_end);
    add_parts_of_blocks<Most>(sums, first, count, d, whole_end, end);
  }

  /// Adds the blocks of Count diagonals in the block rows begin to end - 1. All of them lie completely in the
  /// matrix and in the tile. A stride of x that is known at compile time lets the compiler use vector
  /// registers.
  template <bool UnitStride, int Count>
  KOKKOS_FORCEINLINE_FUNCTION void add_whole_blocks(sums_type* const tile_sums, const std::int64_t first,
                                                    const std::int64_t d, const std::int64_t begin,
                                                    const std::int64_t end) const {
    using accumulator_type = typename Operands::accumulator_type;
    constexpr int b = BlockSize;
    const std::int64_t x_stride = UnitStride ? 1 : this->operands.x.row_stride();
    const std::int64_t stride = this->stride;
    const value_pointer values = this->values + (d * b * stride + begin * b);
    sums_type* KOKKOS_RESTRICT const sums = tile_sums + (begin * b - first);
    for (int column = 0; this->operands.has(column) && column < Operands::most_columns; ++column) {
      typename Operands::x_pointer x[Count];
      for (int i = 0; i < Count; ++i)
        x[i] = this->operands.x.pointer((begin + offset(d + i)) * b, column);
      for (std::int64_t block = 0; block < end - begin; ++block) {
        accumulator_type block_sums[b];
        FILIGREE_UNROLL(8)
        for (int r = 0; r < b; ++r)
          block_sums[r] = sums[block * b + r][column];
        FILIGREE_UNROLL(8)
        for (int i = 0; i < Count; ++i) {
          FILIGREE_UNROLL(8)
          for (int c = 0; c < b; ++c) {
            const auto factor = widen<accumulator_type>(x[i][(block * b + c) * x_stride]);
            FILIGREE_UNROLL(8)
            for (int r = 0; r < b; ++r)
              Operands::add_unless_zero_on_host(
                  block_sums[r], conjugate_if<Conjugate>(values[(i * b + c) * stride + block * b + r]),
                  factor);
          }
        }
        FILIGREE_UNROLL(8)
        for (int r = 0; r < b; ++r)
          sums[block * b + r][column] = block_sums[r];
      }
    }
  }

  /// Adds the blocks of Count diagonals in the block rows begin to end - 1, as far as they lie in the tile and
  /// in the matrix.
  template <int Count>
  KOKKOS_INLINE_FUNCTION void add_parts_of_blocks(sums_type* sums, const std::int64_t first,
                                                  const std::int64_t count, const std::int64_t d,
                                                  const std::int64_t begin, const std::int64_t end) const {
    const std::int64_t b = this->block_size();
    const std::int64_t last_block = (this->columns - 1) / b;
    for (int i = 0; i < Count; ++i) {
      const value_pointer value = this->values + (d + i) * b * this->stride;
      for (std::int64_t block_row = larger(begin, -offset(d + i));
           block_row < smaller(end, last_block - offset(d + i) + 1); ++block_row) {
        const std::int64_t column = (block_row + offset(d + i)) * b;
        const std::int64_t column_count = smaller(b, this->columns - column);
        for (std::int64_t c = 0; c < column_count; ++c)
          for (std::int64_t row = larger(block_row * b, first);
               row < smaller(block_row * b + b, first + count); ++row)
            this->operands.add_unless_zero(
                sums[row - first], conjugate_if<Conjugate>(value[c * this->stride + row]), column + c);
      }
    }
  }

  KOKKOS_FORCEINLINE_FUNCTION std::int64_t offset(std::int64_t d) const {
    return static_cast<std::int64_t>(this->offsets[d]);
  }
  static KOKKOS_FORCEINLINE_FUNCTION std::int64_t smaller(std::int64_t p, std::int64_t q) {
    return p < q ? p : q;
  }
  static KOKKOS_FORCEINLINE_FUNCTION std::int64_t larger(std::int64_t p, std::int64_t q) {
    return p > q ? p : q;
  }
};

}  // namespace Filigree::Impl

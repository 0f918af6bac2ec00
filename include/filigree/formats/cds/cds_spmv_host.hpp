// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "filigree/formats/cds/cds_spmv_common.hpp"
#include "filigree/product/host_passes.hpp"

namespace Filigree::Impl {

/// Modes N and C on a host: one thread per team, which multiplies its rows tile by tile. A row's products are added by
/// ascending column, as on a GPU.
///
/// With one column of x, HostPasses adds several diagonals together.
template <class ExecutionSpace, class Cds, class Operands, int BlockSize, bool Conjugate>
struct CdsHostSpmv : CdsProduct<ExecutionSpace, Cds, Operands, BlockSize> {
  using base = CdsProduct<ExecutionSpace, Cds, Operands, BlockSize>;
  using base::base;
  using typename base::launch;
  using typename base::sums_type;
  using typename base::value_pointer;

  /// The most diagonals that HostPasses adds in one pass: about eight streams.
  static constexpr int most_of_pass = BlockSize == 0 ? 1 : (8 + BlockSize / 2) / BlockSize;
  /// Fewer block rows are not worth a segment.
  static constexpr int shortest_segment = BlockSize == 0 ? 1 : 128 / BlockSize;

  KOKKOS_INLINE_FUNCTION void operator()(const typename launch::member_type& team) const {
    launch::template for_each_tile<sums_type>(
        team, this->rows,
        [&](const std::int64_t first, const std::int64_t count) { tile_product(first, count); });
  }

  /// The product of the rows first to first + count - 1.
  KOKKOS_INLINE_FUNCTION void tile_product(const std::int64_t first, const std::int64_t count) const {
    // Other cases are rare, so that they are not worth the compile time of more loops, or have small tiles.
    constexpr bool adds_together = BlockSize > 0 && Operands::most_columns == 1;
    if constexpr (!adds_together)
      multiply_without_zeros(first, count);
    else if (this->operands.x.row_stride() != 1)
      multiply_without_zeros(first, count);
    else
      multiply_segments(first, count);
  }

  // ---- one column of x: several diagonals together ------------------------------------------------------------

  /// Cuts the rows of a tile into segments, in each of which every diagonal has a whole block in all block rows or in
  /// none. All tiles together have few segments, because a diagonal begins and ends once. Rows that are not worth a
  /// segment are multiplied one diagonal after the other: parts of blocks, and short segments.
  KOKKOS_INLINE_FUNCTION void multiply_segments(const std::int64_t first, const std::int64_t count) const {
    constexpr std::int64_t b = BlockSize;
    const std::int64_t end = first + count;
    const std::int64_t whole_columns = this->columns / b;
    std::int64_t row = first;
    while (row < end) {
      const std::int64_t block = row / b;
      // The diagonals d to end_diagonal - 1 have a whole block in this block row.
      std::int64_t d = 0;
      while (d < this->diagonals && offset(d) < -block)
        ++d;
      std::int64_t end_diagonal = d;
      while (end_diagonal < this->diagonals && offset(end_diagonal) < whole_columns - block)
        ++end_diagonal;
      // The next diagonal may have a block that lies partly outside the matrix.
      const bool has_part = this->columns % b != 0 && end_diagonal < this->diagonals &&
                            offset(end_diagonal) == whole_columns - block;
      // The segment ends where diagonal d - 1 begins, where diagonal end_diagonal - 1 ends, or with the tile.
      std::int64_t segment_end = end / b;
      if (d > 0) segment_end = smaller(segment_end, -offset(d - 1));
      if (end_diagonal > d) segment_end = smaller(segment_end, whole_columns - offset(end_diagonal - 1));
      if (row % b == 0 && !has_part && d < end_diagonal && segment_end - block >= shortest_segment) {
        HostPasses<launch, Operands, BlockSize, CdsHostSpmv>::multiply(*this, block, segment_end, d,
                                                                       end_diagonal);
        row = segment_end * b;
        continue;
      }
      std::int64_t end_block = block + shortest_segment;
      if (row % b != 0) end_block = block + 1;
      if (d == end_diagonal) end_block = larger(end_block, segment_end);
      const std::int64_t row_end = smaller(end_block * b, end);
      multiply_without_zeros(row, row_end - row);
      row = row_end;
    }
  }

  /// For HostPasses: adds the diagonals d to d + Count - 1 of Blocks block rows from `block` on to their sums.
  template <int Count, int Blocks>
  KOKKOS_FORCEINLINE_FUNCTION void add_layers(sums_type* const sums, const std::int64_t d,
                                              const std::int64_t block) const {
    using accumulator_type = typename Operands::accumulator_type;
    constexpr int b = BlockSize;
    const std::int64_t stride = this->stride;
    const value_pointer values = this->values + (d * b * stride + block * b);
    FILIGREE_UNROLL(8)
    for (int i = 0; i < Count; ++i) {
      const typename Operands::x_pointer x = this->operands.x.pointer((block + offset(d + i)) * b, 0);
      FILIGREE_UNROLL(8)
      for (int c = 0; c < b; ++c) {
        const value_pointer value = values + (i * b + c) * stride;
        FILIGREE_UNROLL(32)
        for (int q = 0; q < Blocks; ++q) {
          const auto factor = widen<accumulator_type>(x[q * b + c]);
          FILIGREE_UNROLL(8)
          for (int r = 0; r < b; ++r)
            sums[q * b + r][0] += widen<accumulator_type>(conjugate_if<Conjugate>(value[q * b + r])) * factor;
        }
      }
    }
  }

  // ---- one diagonal after the other -----------------------------------------------------------------------------

  /// The product of any rows, for any number of columns of x. It skips values 0.
  KOKKOS_INLINE_FUNCTION void multiply_without_zeros(const std::int64_t first,
                                                     const std::int64_t count) const {
    HostSums<launch, sums_type> memory(count);
    multiply_without_zeros(memory.sums(), first, count);
  }
  /// The same with memory for `count` sums that are 0.
  KOKKOS_INLINE_FUNCTION void multiply_without_zeros(sums_type* const sums, const std::int64_t first,
                                                     const std::int64_t count) const {
    const std::int64_t b = this->block_size();
    for (std::int64_t d = 0; d < this->diagonals; ++d) {
      // The diagonals that have a block in the rows. The offsets ascend.
      if (offset(d) < -((first + count - 1) / b)) continue;
      if (offset(d) > (this->columns - 1) / b - first / b) break;
      if (this->operands.x.row_stride() == 1)
        add_diagonal<true>(sums, first, count, d);
      else
        add_diagonal<false>(sums, first, count, d);
    }
    store_neighbours(this->operands, sums, first, count);
  }

  /// Adds a diagonal to the sums of the rows first to first + count - 1.
  template <bool UnitStride>
  KOKKOS_FORCEINLINE_FUNCTION void add_diagonal(sums_type* const sums, const std::int64_t first,
                                                const std::int64_t count, const std::int64_t d) const {
    const std::int64_t b = this->block_size();
    const std::int64_t begin = first / b;
    const std::int64_t end = (first + count - 1) / b + 1;
    // The block rows that lie completely among the rows and whose blocks lie completely in the matrix.
    const std::int64_t whole_begin = larger((first + b - 1) / b, -offset(d));
    const std::int64_t whole_end = smaller((first + count) / b, this->columns / b - offset(d));
    if (BlockSize == 0 || whole_begin >= whole_end) {
      add_parts_of_blocks(sums, first, count, d, begin, end);
      return;
    }
    add_parts_of_blocks(sums, first, count, d, begin, whole_begin);
    if constexpr (BlockSize > 0)
      add_whole_blocks<UnitStride>(sums + (whole_begin * b - first), d, whole_begin, whole_end - whole_begin);
    add_parts_of_blocks(sums, first, count, d, whole_end, end);
  }

  /// Adds the blocks of a diagonal in the block rows begin to end - 1, as far as they lie among the rows and in the
  /// matrix.
  KOKKOS_INLINE_FUNCTION void add_parts_of_blocks(sums_type* sums, const std::int64_t first,
                                                  const std::int64_t count, const std::int64_t d,
                                                  const std::int64_t begin, const std::int64_t end) const {
    const std::int64_t b = this->block_size();
    const std::int64_t last_block = (this->columns - 1) / b;
    const value_pointer value = this->values + d * b * this->stride;
    for (std::int64_t block_row = larger(begin, -offset(d));
         block_row < smaller(end, last_block - offset(d) + 1); ++block_row) {
      const std::int64_t column = (block_row + offset(d)) * b;
      const std::int64_t column_count = smaller(b, this->columns - column);
      for (std::int64_t c = 0; c < column_count; ++c)
        for (std::int64_t row = larger(block_row * b, first); row < smaller(block_row * b + b, first + count);
             ++row)
          this->operands.add_unless_zero(sums[row - first],
                                         conjugate_if<Conjugate>(value[c * this->stride + row]), column + c);
    }
  }

  /// Adds the products of diagonal d in `blocks` block rows, which begin with `begin`, to their sums. These blocks lie
  /// completely in the matrix. A stride of x that is known at compile time lets the compiler use vector registers.
  template <bool UnitStride>
  KOKKOS_FORCEINLINE_FUNCTION void add_whole_blocks(sums_type* KOKKOS_RESTRICT const sums,
                                                    const std::int64_t d, const std::int64_t begin,
                                                    const std::int64_t blocks) const {
    using accumulator_type = typename Operands::accumulator_type;
    constexpr int b = BlockSize;
    const std::int64_t x_stride = UnitStride ? 1 : this->operands.x.row_stride();
    const std::int64_t stride = this->stride;
    const value_pointer values = this->values + (d * b * stride + begin * b);
    for (int column = 0; this->operands.has(column) && column < Operands::most_columns; ++column) {
      const typename Operands::x_pointer x = this->operands.x.pointer((begin + offset(d)) * b, column);
      for (std::int64_t block = 0; block < blocks; ++block) {
        accumulator_type block_sums[b];
        FILIGREE_UNROLL(8)
        for (int r = 0; r < b; ++r)
          block_sums[r] = sums[block * b + r][column];
        FILIGREE_UNROLL(8)
        for (int c = 0; c < b; ++c) {
          const auto factor = widen<accumulator_type>(x[(block * b + c) * x_stride]);
          FILIGREE_UNROLL(8)
          for (int r = 0; r < b; ++r)
            Operands::add_unless_zero_on_host(
                block_sums[r], conjugate_if<Conjugate>(values[c * stride + block * b + r]), factor);
        }
        FILIGREE_UNROLL(8)
        for (int r = 0; r < b; ++r)
          sums[block * b + r][column] = block_sums[r];
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

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "filigree/formats/cds/cds_spmv_common.hpp"

namespace Filigree::Impl {

/// Modes N and C on a host: one thread per team, which multiplies its rows tile by tile. The values in one
/// column of the blocks of a diagonal are a stream of memory, and the sums of a tile stay in the caches of
/// the core. A row's products are added by ascending column, as on a GPU.
template <class ExecutionSpace, class Cds, class Operands, int BlockSize, bool Conjugate>
struct CdsHostSpmv : CdsProduct<ExecutionSpace, Cds, Operands, BlockSize> {
  using base = CdsProduct<ExecutionSpace, Cds, Operands, BlockSize>;
  using base::base;
  using typename base::launch;
  using typename base::scalar_type;
  using typename base::sums_type;
  using typename base::value_pointer;

  /// Diagonals that are added together if b is 1. A sum is loaded and stored once for all of them.
  static constexpr int band = 4;

  KOKKOS_INLINE_FUNCTION void operator()(const typename launch::member_type& team) const {
    launch::template for_each_tile<sums_type>(
        team, this->rows,
        [&](const std::int64_t first, const std::int64_t count) { tile_product(first, count); });
  }

  /// The product of the rows first to first + count - 1.
  KOKKOS_INLINE_FUNCTION void tile_product(const std::int64_t first, const std::int64_t count) const {
    const std::int64_t b = this->block_size();
    HostSums<launch, sums_type> memory(count);
    sums_type* const sums = memory.sums();
    std::int64_t d = 0;
    if constexpr (BlockSize == 1)
      if (this->operands.x.has_unit_stride())
        for (; d + band <= this->diagonals; d += band)
          add_band(sums, first, count, d);
    for (; d < this->diagonals; ++d) {
      const std::int64_t offset = static_cast<std::int64_t>(this->offsets[d]);
      const value_pointer value = this->values + d * b * this->stride;
      // The block rows of the tile whose block on this diagonal begins inside the matrix.
      const std::int64_t begin = larger(first / b, -offset);
      const std::int64_t end = smaller((first + count - 1) / b, (this->columns - 1) / b - offset) + 1;
      // Among them, the block rows whose block lies completely inside the matrix and the tile.
      const std::int64_t whole_begin = larger(begin, (first + b - 1) / b);
      const std::int64_t whole_end = smaller(end, smaller((first + count) / b, this->columns / b - offset));
      if (BlockSize == 0 || whole_begin >= whole_end) {
        add_partial_blocks(sums, value, first, count, begin, end, offset);
        continue;
      }
      add_partial_blocks(sums, value, first, count, begin, whole_begin, offset);
      if (this->operands.x.row_stride() == 1)
        add_whole_blocks<true>(&sums[whole_begin * b - first], value, whole_begin, whole_end, offset);
      else
        add_whole_blocks<false>(&sums[whole_begin * b - first], value, whole_begin, whole_end, offset);
      add_partial_blocks(sums, value, first, count, whole_end, end, offset);
    }
    for (std::int64_t row = 0; row < count; ++row)
      this->operands.store(sums[row], first + row);
  }

  /// Adds `band` diagonals, beginning with first_diagonal, to the sums of a tile. Requires unit stride of x.
  KOKKOS_INLINE_FUNCTION void add_band(sums_type* KOKKOS_RESTRICT sums, const std::int64_t first,
                                       const std::int64_t count, const std::int64_t first_diagonal) const {
    const value_pointer value = this->values + first_diagonal * this->stride + first;
    std::int64_t columns_of_first[band];
    // The rows of the tile in which all diagonals of the band lie inside the matrix.
    std::int64_t begin = 0;
    std::int64_t end = count;
    for (int i = 0; i < band; ++i) {
      columns_of_first[i] = first + static_cast<std::int64_t>(this->offsets[first_diagonal + i]);
      begin = larger(begin, -columns_of_first[i]);
      end = smaller(end, this->columns - columns_of_first[i]);
    }
    begin = smaller(begin, count);
    end = larger(begin, end);
    const auto add_boundary_rows = [&](const std::int64_t from, const std::int64_t to) {
      for (int i = 0; i < band; ++i)
        for (std::int64_t row = larger(from, -columns_of_first[i]);
             row < smaller(to, this->columns - columns_of_first[i]); ++row)
          this->operands.add_unless_zero(sums[row], conjugate_if<Conjugate>(value[i * this->stride + row]),
                                         row + columns_of_first[i]);
    };
    add_boundary_rows(0, begin);
    const std::int64_t next_band_end = smaller(this->diagonals - first_diagonal, 2 * band);
    constexpr std::int64_t chunk = 64;
    for (std::int64_t row = begin; row < end; row += chunk) {
      // The prefetchers of a core stop at the end of each page, so the next band is requested here (see
      // docs/performance.md, "CDS: bands on a host").
      for (std::int64_t i = band; i < next_band_end; ++i)
        prefetch_elements(value + i * this->stride + row, chunk);
      add_inner_rows(sums, value, columns_of_first, row, smaller(row + chunk, end));
    }
    add_boundary_rows(end, count);
  }

  /// Adds a band to the rows begin to end - 1 of the tile, in which the whole band lies inside the matrix.
  KOKKOS_FORCEINLINE_FUNCTION void add_inner_rows(sums_type* KOKKOS_RESTRICT sums, const value_pointer value,
                                                  const std::int64_t (&columns_of_first)[band],
                                                  const std::int64_t begin, const std::int64_t end) const {
    using accumulator_type = typename Operands::accumulator_type;
    const std::int64_t stride = this->stride;
    for (int column = 0; this->operands.has(column) && column < Operands::most_columns; ++column) {
      const typename Operands::x_pointer x = this->operands.x.pointer(0, column);
      for (std::int64_t row = begin; row < end; ++row) {
        accumulator_type sum = sums[row][column];
        FILIGREE_UNROLL(4)
        for (int i = 0; i < band; ++i)
          add_unless_zero(sum, value[i * stride + row],
                          widen<accumulator_type>(x[row + columns_of_first[i]]));
        sums[row][column] = sum;
      }
    }
  }

  /// sum += value * factor, unless the value is 0. It selects the factor and not the sum. To select the sum,
  /// a compiler would branch and use no vector registers, because a product that is not needed could trap.
  template <class Factor>
  static KOKKOS_FORCEINLINE_FUNCTION void add_unless_zero(typename Operands::accumulator_type& sum,
                                                          const scalar_type& value, const Factor& factor) {
    const scalar_type a = conjugate_if<Conjugate>(value);
    sum += widen<typename Operands::accumulator_type>(a) * (a == scalar_type(0) ? Factor(0) : factor);
  }

  /// Adds the blocks of the block rows begin to end - 1, all of which lie completely inside the matrix and
  /// the tile. A stride of x that is known at compile time lets the compiler use vector registers.
  template <bool UnitStride>
  KOKKOS_FORCEINLINE_FUNCTION void add_whole_blocks(sums_type* KOKKOS_RESTRICT sums,
                                                    const value_pointer value, const std::int64_t begin,
                                                    const std::int64_t end, const std::int64_t offset) const {
    using accumulator_type = typename Operands::accumulator_type;
    constexpr int b = BlockSize > 0 ? BlockSize : 1;
    const std::int64_t x_stride = UnitStride ? 1 : this->operands.x.row_stride();
    const std::int64_t stride = this->stride;
    for (int column = 0; this->operands.has(column) && column < Operands::most_columns; ++column) {
      const typename Operands::x_pointer x = this->operands.x.pointer((begin + offset) * b, column);
      for (std::int64_t block = 0; block < end - begin; ++block)
        for (int c = 0; c < b; ++c) {
          const auto factor = widen<accumulator_type>(x[(block * b + c) * x_stride]);
          FILIGREE_UNROLL(8)
          for (int r = 0; r < b; ++r)
            add_unless_zero(sums[block * b + r][column], value[c * stride + (begin + block) * b + r], factor);
        }
    }
  }

  /// Adds the parts of the blocks of the block rows begin to end - 1 that lie inside the tile and the matrix.
  KOKKOS_INLINE_FUNCTION void add_partial_blocks(sums_type* sums, const value_pointer value,
                                                 const std::int64_t first, const std::int64_t count,
                                                 const std::int64_t begin, const std::int64_t end,
                                                 const std::int64_t offset) const {
    const std::int64_t b = this->block_size();
    for (std::int64_t block_row = begin; block_row < end; ++block_row) {
      const std::int64_t column = (block_row + offset) * b;
      const std::int64_t column_count = smaller(b, this->columns - column);
      for (std::int64_t c = 0; c < column_count; ++c)
        for (std::int64_t row = larger(block_row * b, first); row < smaller(block_row * b + b, first + count);
             ++row)
          this->operands.add_unless_zero(sums[row - first],
                                         conjugate_if<Conjugate>(value[c * this->stride + row]), column + c);
    }
  }

  static KOKKOS_FORCEINLINE_FUNCTION std::int64_t smaller(std::int64_t p, std::int64_t q) {
    return p < q ? p : q;
  }
  static KOKKOS_FORCEINLINE_FUNCTION std::int64_t larger(std::int64_t p, std::int64_t q) {
    return p > q ? p : q;
  }
};

}  // namespace Filigree::Impl

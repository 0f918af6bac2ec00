// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "filigree/core/block_size.hpp"
#include "filigree/core/mode.hpp"
#include "filigree/formats/bell/bell_matrix.hpp"
#include "filigree/product/add_batch.hpp"
#include "filigree/product/block_columns_product.hpp"
#include "filigree/product/host_passes.hpp"
#include "filigree/product/launch_product.hpp"
#include "filigree/product/operands.hpp"

namespace Filigree::Impl {

/// The product of a blocked ELL matrix, one lane per matrix row. Modes N and C add a row's products by
/// ascending column; BlockSize is b. Modes T and H add to y with atomics. The order of the additions, and
/// with it the last bits, may then change from run to run, and each addition rounds to the type of y.
/// BlockSize is 0 in these modes, which read b at run time.
template <class ExecutionSpace, class Bell, class Operands, int BlockSize, bool Conjugate>
struct BellSpmv {
  using launch = ProductLaunch<ExecutionSpace, Operands>;
  using scalar_type = typename Bell::value_type;
  using ordinal_type = typename Bell::ordinal_type;
  using sums_type = typename Operands::sums_type;

  const scalar_type* values;
  const ordinal_type* block_entries;
  std::int64_t rows;
  std::int64_t columns;
  std::int64_t block_rows;
  std::int64_t block_width;
  int run_time_block_size;
  Operands operands;

  BellSpmv(const Bell& bell, const Operands& operands_)
      : values(bell.values.data()),
        block_entries(bell.block_entries.data()),
        rows(static_cast<std::int64_t>(bell.numRows())),
        columns(static_cast<std::int64_t>(bell.numCols())),
        block_rows(static_cast<std::int64_t>(bell.numBlockRows())),
        block_width(static_cast<std::int64_t>(bell.block_width())),
        run_time_block_size(bell.block_size()),
        operands(operands_) {}

  /// See BlockColumnsProduct.
  static constexpr bool has_column_per_block = true;
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t value_stride() const { return rows; }
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t block_count() const { return block_width; }
  KOKKOS_FORCEINLINE_FUNCTION ordinal_type block_column(ordinal_type block_row, std::int64_t k) const {
    const ordinal_type block = block_entries[k * block_rows + block_row];
    return block < 0 ? 0 : block * BlockSize;
  }

  /// Modes N and C on a GPU.
  KOKKOS_FORCEINLINE_FUNCTION void row_product(const std::int64_t row, const Operands& of_lane) const {
    constexpr int b = BlockSize;
    const std::int64_t block_row = row / b;
    sums_type sums = {};
    // Unrolled, so that the loads of two blocks do not wait for each other.
    FILIGREE_UNROLL(2)
    for (std::int64_t k = 0; k < block_width; ++k) {
      const std::int64_t block = static_cast<std::int64_t>(block_entries[k * block_rows + block_row]);
      // Padding holds zeros, so any column of the matrix can be read instead of branching. This includes the
      // columns of the last block that lie outside the matrix.
      const std::int64_t column = block < 0 ? 0 : block * b;
      const std::int64_t last = columns - 1 - column;
      const scalar_type* KOKKOS_RESTRICT value = values + k * b * rows + row;
      scalar_type block_values[b];
      std::int64_t block_columns[b];
      FILIGREE_UNROLL(8)
      for (int c = 0; c < b; ++c) {
        block_values[c] = conjugate_if<Conjugate>(value[c * rows]);
        block_columns[c] = column + (c < last ? c : last);
      }
      add_batch_unless_zero(of_lane, sums, block_values, block_columns);
    }
    of_lane.store(sums, row);
  }

  /// The most blocks of a block row that HostPasses adds in one pass: up to eight streams of values if b is at most 4.
  /// With larger blocks two together were mostly slower (see docs/performance.md, "Blocked ELL on a host").
  static constexpr int most_of_pass = BlockSize > 4 || BlockSize == 0 ? 1
                                                                      : 8 / (BlockSize > 0 ? BlockSize : 1);

  /// Modes N and C on a host: the rows first to first + count - 1, with additions in the order of row_product().
  KOKKOS_INLINE_FUNCTION void tile_product(const std::int64_t first, const std::int64_t count) const {
    std::int64_t row = first;
    if constexpr (Operands::most_columns == 1)
      if (operands.x.has_unit_stride()) {
        // The block rows that lie completely in the tile.
        constexpr std::int64_t b = BlockSize;
        const std::int64_t begin = (first + b - 1) / b;
        const std::int64_t end = end_of_whole_blocks(begin, (first + count) / b);
        if (begin < end) {
          multiply_without_zeros(first, begin * b - first);
          HostPasses<launch, Operands, BlockSize, BellSpmv>::multiply(*this, begin, end, 0, block_width);
          row = end * b;
        }
      }
    multiply_without_zeros(row, first + count - row);
  }

  /// The end of the block rows from `begin` on, up to `end`, whose blocks lie completely in the matrix.
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t end_of_whole_blocks(const std::int64_t begin,
                                                               const std::int64_t end) const {
    if (columns % BlockSize == 0) return end;
    // Padding is multiplied by elements of the first block of x.
    if (columns < BlockSize) return begin;
    const auto last_block = static_cast<ordinal_type>(columns / BlockSize);
    std::int64_t result = end;
    for (std::int64_t k = 0; k < block_width; ++k)
      for (std::int64_t i = begin; i < result; ++i)
        if (block_entries[k * block_rows + i] == last_block) result = i;
    return result;
  }

  /// For HostPasses: adds the blocks k to k + Count - 1 of Blocks block rows from block_row on to their sums. Padding
  /// has values 0 and takes the first block of x.
  template <int Count, int Blocks>
  KOKKOS_FORCEINLINE_FUNCTION void add_layers(sums_type* const sums, const std::int64_t k,
                                              const std::int64_t block_row) const {
    using accumulator_type = typename Operands::accumulator_type;
    constexpr int b = BlockSize;
    const typename Operands::x_pointer x = operands.x.pointer(0, 0);
    const auto column_of = [](const ordinal_type block) {
      return static_cast<std::int64_t>(block > 0 ? block : 0) * BlockSize;
    };
    if constexpr (b == 1) {
      // One row after the other.
      const ordinal_type* KOKKOS_RESTRICT const blocks = block_entries + (k * block_rows + block_row);
      const scalar_type* KOKKOS_RESTRICT const value = values + (k * rows + block_row);
      for (int q = 0; q < Blocks; ++q) {
        accumulator_type sum = sums[q][0];
        FILIGREE_UNROLL(8)
        for (int i = 0; i < Count; ++i)
          sum += widen<accumulator_type>(conjugate_if<Conjugate>(value[i * rows + q])) *
                 widen<accumulator_type>(x[column_of(blocks[i * block_rows + q])]);
        sums[q][0] = sum;
      }
    } else {
      FILIGREE_UNROLL(8)
      for (int i = 0; i < Count; ++i) {
        const ordinal_type* KOKKOS_RESTRICT const blocks = block_entries + ((k + i) * block_rows + block_row);
        FILIGREE_UNROLL(8)
        for (int c = 0; c < b; ++c) {
          const scalar_type* KOKKOS_RESTRICT const value =
              values + (((k + i) * b + c) * rows + block_row * b);
          const auto add_column = [&](const int q) {
            const auto factor = widen<accumulator_type>(x[column_of(blocks[q]) + c]);
            FILIGREE_UNROLL(8)
            for (int r = 0; r < b; ++r)
              sums[q * b + r][0] +=
                  widen<accumulator_type>(conjugate_if<Conjugate>(value[q * b + r])) * factor;
          };
          // A column of a block of 2 fills no vector register of 256 bits. GCC uses one for several blocks if the loop
          // over them is not unrolled.
          if constexpr (b == 2) {
            for (int q = 0; q < Blocks; ++q)
              add_column(q);
          } else {
            FILIGREE_UNROLL(32)
            for (int q = 0; q < Blocks; ++q)
              add_column(q);
          }
        }
      }
    }
  }

  /// Multiplies the rows first to first + count - 1 and skips values 0. The blocks may be cut.
  KOKKOS_INLINE_FUNCTION void multiply_without_zeros(const std::int64_t first,
                                                     const std::int64_t count) const {
    HostSums<launch, sums_type> memory(count);
    multiply_without_zeros(memory.sums(), first, count);
  }
  /// The same with memory for `count` sums that are 0.
  KOKKOS_INLINE_FUNCTION void multiply_without_zeros(sums_type* const sums, const std::int64_t first,
                                                     const std::int64_t count) const {
    if (count == 0) return;
    for (std::int64_t k = 0; k < block_width; ++k)
      add_blocks(operands, sums, first, count, k, first / BlockSize, (first + count - 1) / BlockSize + 1);
    store_neighbours(operands, sums, first, count);
  }

  /// Adds block k of the block rows begin to end - 1, as far as they lie in the tile and in the matrix.
  KOKKOS_FORCEINLINE_FUNCTION void add_blocks(const Operands& of_product, sums_type* sums, std::int64_t first,
                                              std::int64_t count, std::int64_t k, std::int64_t begin,
                                              std::int64_t end) const {
    constexpr std::int64_t b = BlockSize;
    const ordinal_type* const blocks = block_entries + k * block_rows;
    const scalar_type* const value = values + k * b * rows;
    for (std::int64_t block_row = begin; block_row < end; ++block_row) {
      if (blocks[block_row] < 0) continue;
      const std::int64_t column = static_cast<std::int64_t>(blocks[block_row]) * b;
      const std::int64_t row = block_row * b;
      const auto add_block = [&](std::int64_t columns_of_block, std::int64_t from, std::int64_t to) {
        for (std::int64_t c = 0; c < columns_of_block; ++c)
          for (std::int64_t r = from; r < to; ++r)
            of_product.add_unless_zero(sums[row - first + r],
                                       conjugate_if<Conjugate>(value[c * rows + row + r]), column + c);
      };
      // Constant bounds for blocks inside the tile and the matrix let the compiler unroll the loops.
      const std::int64_t columns_left = columns - column;
      const std::int64_t rows_left = first + count - row;
      if (row >= first && rows_left >= b && columns_left >= b)
        add_block(b, 0, b);
      else
        add_block(columns_left < b ? columns_left : b, row < first ? first - row : 0,
                  rows_left < b ? rows_left : b);
    }
  }

  /// Modes T and H.
  KOKKOS_FORCEINLINE_FUNCTION void scatter_row(const std::int64_t row) const {
    const int b = run_time_block_size;
    const std::int64_t block_row = row / b;
    for (std::int64_t k = 0; k < block_width; ++k) {
      const std::int64_t block = static_cast<std::int64_t>(block_entries[k * block_rows + block_row]);
      if (block < 0) return;
      for (int c = 0; c < b; ++c) {
        const scalar_type value = values[(k * b + c) * rows + row];
        if (value != scalar_type(0)) operands.scatter(row, conjugate_if<Conjugate>(value), block * b + c);
      }
    }
  }

  KOKKOS_INLINE_FUNCTION void operator()(const typename launch::member_type& team) const {
    if constexpr (BlockSize == 0)
      launch::for_each_row(team, rows, [&](const std::int64_t row) { scatter_row(row); });
    else if constexpr (launch::gpu)
      for_each_row_of_columns<launch>(
          team, rows, operands,
          [&](const std::int64_t row, const Operands& of_lane) { row_product(row, of_lane); });
    else
      launch::template for_each_tile<sums_type>(
          team, rows,
          [&](const std::int64_t first, const std::int64_t count) { tile_product(first, count); });
  }
};

/// Launches the product of a blocked ELL matrix. BlockSize is its block size, or 0 for modes T and H.
template <int BlockSize, bool Conjugate, class ExecutionSpace, class Bell, class Operands>
void launch_bell_spmv(const ExecutionSpace& exec, const std::string& name, const Bell& bell,
                      const Operands& operands) {
  using Kernel = BellSpmv<ExecutionSpace, Bell, Operands, BlockSize, Conjugate>;
  using launch = typename Kernel::launch;
  const Kernel kernel(bell, operands);
  if (launch_block_columns<BlockSize, Conjugate>(exec, name, kernel)) return;
  launch_product(exec, name, launch::policy(exec, kernel.rows << operands.log2_column_lanes()), kernel);
}

/// The product of a blocked ELL matrix. The arguments are checked, and A has entries.
template <class ExecutionSpace, class S, class O, class D, class M, class Z, class Operands>
void spmv_kernel(const ExecutionSpace& exec, const std::string& name, Mode mode,
                 const BellMatrix<S, O, D, M, Z>& bell, const Operands& operands) {
  with_conjugate<S>(mode, [&](auto conjugate) {
    constexpr bool c = decltype(conjugate)::value;
    if constexpr (Operands::y_is_in_memory)
      if (is_transpose(mode)) {
        operands.scale(exec, static_cast<std::int64_t>(bell.numCols()));
        launch_bell_spmv<0, c>(exec, name, bell, operands.with_any_count());
        return;
      }
    with_block_size(bell.block_size(), [&](auto block_size) {
      constexpr int b = decltype(block_size)::value;
      if constexpr (b > 0) launch_bell_spmv<b, c>(exec, name, bell, operands);
    });
  });
}

}  // namespace Filigree::Impl

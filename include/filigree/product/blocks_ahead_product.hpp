// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "filigree/core/integer.hpp"
#include "filigree/core/load_once.hpp"
#include "filigree/product/launch_product.hpp"
#include "filigree/product/multiply_block_elements.hpp"
#include "filigree/product/operands.hpp"
#include "filigree/product/values_ahead.hpp"

namespace Filigree::Impl {

/// The product of a matrix of blocks with 4, 8 or 16 columns of x on a GPU, in modes N and C: one lane per row, with all
/// columns of x. The products of a row are added by ascending column of A.
///
/// A lane multiplies its elements of A in batches of Blocks blocks. At the end of a batch it loads the values of the
/// next one, and then the elements of x for these values. The loads of x need the columns of the blocks, but not the
/// values, so that the lane waits for values and x at the same time (see docs/performance.md, "Values loaded ahead").
///
/// Product is the data of such a kernel, as for BlockColumnsProduct. The parameter of its block_column<Constant>() is
/// whether the offset of a diagonal is loaded by load_constant(). If it stores a column for each block, the lane loads
/// those of the next batch at the beginning of a batch.
///
/// Elements of a row are counted in an int. A row with 2^31 of them would belong to a matrix with more than 2^60
/// values, because the access `exact` keeps a column of x below 2^32 bytes.
template <class ExecutionSpace, class Product, class Operands, int BlockSize, int Blocks>
struct BlocksAheadProduct {
  static_assert(runs_on_gpu_v<ExecutionSpace>, "One lane per row is right for a GPU only.");
  using scalar_type = typename Product::scalar_type;
  using ordinal_type = typename Product::ordinal_type;
  using sums_type = typename Operands::sums_type;
  using accumulator_type = typename Operands::accumulator_type;
  using row_type = stored_row_t<ordinal_type>;

  static constexpr bool is_double = std::is_same_v<scalar_type, double>;
  static constexpr int columns_of_x = Operands::most_columns;
  /// Elements per batch. The last batch is filled up with values of 0.
  static constexpr int batch = Blocks * BlockSize;
  using launch = ValuesAheadLaunch<ExecutionSpace, Operands>;
  /// Whether offsets of diagonals are loaded by load_constant(), which makes some of these kernels faster and others
  /// slower (see docs/performance.md, "Values loaded ahead").
  static constexpr bool offsets_are_constant =
      is_double && !Product::has_column_per_block && !(BlockSize == 4 && columns_of_x > 8);

  /// Whether the kernel adds the products of padding too, and multiplies a row again if one of its sums is NaN, see
  /// has_nan(). It does so where that was faster (see docs/performance.md, "Padding that is added").
  static constexpr bool adds_padding = is_double && BlockSize < 8 && (BlockSize > 1 || columns_of_x > 4);

  Product product;

  void launch_on(const ExecutionSpace& exec, const std::string& name) const {
    launch_product(exec, name, launch::policy(exec, product.rows), *this);
  }

  KOKKOS_INLINE_FUNCTION void operator()(const typename launch::member_type& team) const {
    const std::int64_t row =
        static_cast<std::int64_t>(team.league_rank()) * launch::team_size + team.team_rank();
    if (row < product.rows) multiply(static_cast<row_type>(row));
  }

 private:
  /// Loads the values of a batch of blocks from first_block on. After the last block they are 0.
  KOKKOS_FORCEINLINE_FUNCTION void load(scalar_type (&values)[batch], row_type row, int first_block) const {
    const int count = static_cast<int>(product.block_count()) * BlockSize;
    FILIGREE_UNROLL(8)
    for (int i = 0; i < batch; ++i) {
      const int k = first_block * BlockSize + i;
      values[i] = k < count ? load_once(product.values + (k * product.value_stride() + row)) : scalar_type(0);
    }
  }

  /// The first columns of a batch of blocks from first_block on.
  KOKKOS_FORCEINLINE_FUNCTION void find_blocks(ordinal_type (&blocks)[Blocks], ordinal_type block_row,
                                               int first_block) const {
    const int count = static_cast<int>(product.block_count());
    FILIGREE_UNROLL(8)
    for (int i = 0; i < Blocks; ++i)
      blocks[i] = product.template block_column<offsets_are_constant>(
          block_row, first_block + i < count ? first_block + i : count - 1);
  }

  KOKKOS_FORCEINLINE_FUNCTION void multiply(const row_type row) const {
    const ordinal_type block_row = static_cast<ordinal_type>(row) / BlockSize;
    sums_type sums = {};
    scalar_type values[batch];
    ordinal_type blocks[Blocks];
    if (Product::has_column_per_block) find_blocks(blocks, block_row, 0);
    load(values, row, 0);
    FILIGREE_UNROLL(1)
    for (int first = 0; first < static_cast<int>(product.block_count()); first += Blocks) {
      if (!Product::has_column_per_block) find_blocks(blocks, block_row, first);
      ordinal_type columns[batch];
      FILIGREE_UNROLL(8)
      for (int i = 0; i < Blocks; ++i) {
        columns[i * BlockSize] = blocks[i];
        // A block that the end of the matrix cuts has columns outside of it.
        const ordinal_type last = static_cast<ordinal_type>(product.columns - 1) - blocks[i];
        FILIGREE_UNROLL(8)
        for (int c = 1; c < BlockSize; ++c)
          columns[i * BlockSize + c] = blocks[i] + (c < last ? c : last);
      }
      if (Product::has_column_per_block) find_blocks(blocks, block_row, first + Blocks);
      product.operands.template add_batch<Operands::column_group>(
          sums, columns, [](int) { return true; },
          [&](accumulator_type& sum, int i, const scalar_type& factor) {
            if constexpr (adds_padding)
              sum += values[i] * factor;
            else
              Operands::add_unless_zero(sum, values[i], factor);
          });
      load(values, row, first + Blocks);
    }
    if constexpr (adds_padding)
      if (Operands::has_nan(sums)) multiply_block_elements<BlockSize>(sums, product, row, product.operands);
    product.operands.store(sums, row);
  }
};

/// Multiplies with BlocksAheadProduct, if a block row of the matrix fills its batches. Returns whether it has.
template <int BlockSize, class ExecutionSpace, class Product>
bool launch_blocks_ahead(const ExecutionSpace& exec, const std::string& name, const Product& product) {
  using Operands = std::decay_t<decltype(product.operands)>;
  constexpr int blocks = BlockSize < 7 ? 7 / BlockSize : 1;
  if (batches_are_full(product.block_count(), blocks)) {
    BlocksAheadProduct<ExecutionSpace, Product, Operands, BlockSize, blocks>{product}.launch_on(exec, name);
    return true;
  }
  if constexpr (BlockSize == 1)
    if (batches_are_full(product.block_count(), 5)) {
      BlocksAheadProduct<ExecutionSpace, Product, Operands, 1, 5>{product}.launch_on(exec, name);
      return true;
    }
  return false;
}

}  // namespace Filigree::Impl

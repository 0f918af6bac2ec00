// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <limits>

#include "filigree/product/launch_product.hpp"
#include "filigree/product/multiply_block_elements.hpp"
#include "filigree/product/operands.hpp"
#include "filigree/product/store_sums.hpp"

namespace Filigree::Impl {

/// The teams of BlockColumnsProduct that a multiprocessor must be able to run at once, which limits the registers per lane.
/// They were chosen by measurements for block sizes from 2 to 8 (see docs/performance.md, "Blocks with several columns of
/// x on a GPU"). A sum has `sum_bytes` bytes.
constexpr int block_columns_teams(int block_size, int sum_bytes, int columns_per_lane, bool x_is_row_major) {
  if (sum_bytes > 8) return 4;
  const bool is_float = sum_bytes == 4;
  constexpr int row_major_16[] = {12, 8, 6, 4, 4, 4, 4};
  constexpr int row_major_32[] = {8, 6, 4, 3, 4, 2, 3};
  constexpr int column_major_16[] = {8, 8, 8, 4, 4, 4, 3};
  constexpr int column_major_32[] = {4, 4, 4, 3, 2, 2, 2};
  constexpr int column_major_64[] = {3, 4, 3, 2, 2, 2, 2};
  const int bytes_of_row = sum_bytes * columns_per_lane;
  const int b = block_size - 2;
  if (is_float && block_size == 8) return 3;
  if (x_is_row_major) return bytes_of_row <= 16 ? row_major_16[b] : row_major_32[b];
  return bytes_of_row <= 16   ? column_major_16[b]
         : bytes_of_row <= 32 ? column_major_32[b]
                              : column_major_64[b];
}

/// The product of a matrix of blocks with several columns of x on a GPU, in modes N and C. With one row and one
/// column of x per lane, the loads of x would cost more than those of the values. A lane therefore multiplies all rows
/// of a block with ColumnsPerLane columns of x: it uses each element of x for all these rows, and each value for all
/// these columns. Other lanes of the team have the other columns of x and load the same values (see
/// docs/performance.md, "Blocks with several columns of x on a GPU").
///
/// A sum gets its products by ascending block and column, as in the kernels with one row per lane. Those of padding are
/// added too. If one of its sums is NaN, the lane multiplies its rows again without padding, see has_nan().
///
/// Product is the data of such a kernel: `values`, `rows`, `columns`, `operands`, value_stride(), block_count(), and
/// block_column(block_row, k), the first matrix column of block k of a block row. If that block does not exist, its
/// values are 0, and the column is that of any block. Product::has_column_per_block is whether the matrix stores a
/// column for each block, as blocked ELL does. CDS stores an offset for each block diagonal.
template <class ExecutionSpace, class Product, class Operands, int BlockSize, bool Conjugate,
          int ColumnsPerLane>
struct BlockColumnsProduct {
  static_assert(runs_on_gpu_v<ExecutionSpace>, "Several lanes per block are right for a GPU only.");
  using scalar_type = typename Product::scalar_type;
  using ordinal_type = typename Product::ordinal_type;
  using x_type = typename Operands::x_type;
  using accumulator_type = typename Operands::accumulator_type;
  /// The type of a row number. It also counts the rows of the last team that do not exist, see fits().
  using row_type = std::conditional_t<sizeof(ordinal_type) <= sizeof(int), int, std::int64_t>;

  /// Whether the elements of a row of x are neighbours. Otherwise x must be column-major: the elements of a column are
  /// neighbours, see fits().
  static constexpr bool x_is_row_major = Operands::has_column_lanes;
  /// The rows of a lane, which lie in one block: mostly all of the block. For some complex sums fewer rows were faster.
  static constexpr int rows_per_lane =
      is_complex_v<accumulator_type> && BlockSize % 2 == 0 &&
              (sizeof(accumulator_type) > 8 || !x_is_row_major)
          ? std::min<int>(BlockSize & -BlockSize, 32 / sizeof(accumulator_type))
          : BlockSize;
  /// Whether lanes with the same rows are neighbours. Otherwise neighbours have neighbouring rows. What was faster depends
  /// on the block size.
  static constexpr bool column_lanes_are_neighbours = x_is_row_major || BlockSize > 4;

  static constexpr int log2_team_size = 7;
  static constexpr int teams =
      rows_per_lane != BlockSize
          ? 4
          : block_columns_teams(BlockSize, sizeof(accumulator_type), ColumnsPerLane, x_is_row_major);
  using launch = RowLaunch<ExecutionSpace, (1 << log2_team_size), teams>;

  /// Neighbouring elements of a column of A or x that one load brings: a divisor of the block size.
  template <class T>
  static constexpr int pack_size = BlockSize % 2 == 1 || sizeof(T) > 8    ? 1
                                   : BlockSize % 4 == 0 && sizeof(T) <= 4 ? 4
                                                                          : 2;
  /// Rows whose values in a matrix column one load brings.
  static constexpr int rows_per_load = std::min(pack_size<scalar_type>, rows_per_lane);

  Product product;

  /// Whether the kernel can multiply these operands: there are blocks, no block is cut by the end of the matrix, what
  /// a lane loads together is aligned, and its numbers count all rows of A and x.
  bool fits() const {
    if (product.rows > std::numeric_limits<row_type>::max() - launch::team_size * rows_per_lane) return false;
    if (product.block_count() == 0 || product.columns % BlockSize != 0 || product.rows % BlockSize != 0)
      return false;
    if (product.value_stride() % rows_per_load != 0 || !is_aligned_to_pack<rows_per_load>(product.values))
      return false;
    const auto& x = product.operands.x;
    if constexpr (x_is_row_major)
      return packs_are_near<ColumnsPerLane>(x, product.columns);
    else
      return x.has_unit_stride() && is_aligned_to_pack<pack_size<x_type>>(x.data) &&
             x.column_stride % pack_size<x_type> == 0;
  }

  void launch_on(const ExecutionSpace& exec, const std::string& name) const {
    launch_product(exec, name, launch::policy(exec, product.rows / rows_per_lane << log2_lanes()), *this);
  }

  KOKKOS_INLINE_FUNCTION void operator()(const typename launch::member_type& team) const {
    // Kokkos' loops over the threads and vector lanes of a team would make these kernels slower (see
    // docs/performance.md, "Several columns of x without loops over lanes").
    const int rank = team.team_rank();
    const int log2_groups = log2_team_size - log2_lanes();
    const int group = column_lanes_are_neighbours ? rank >> log2_lanes() : rank & ((1 << log2_groups) - 1);
    const int lane = column_lanes_are_neighbours ? rank & ((1 << log2_lanes()) - 1) : rank >> log2_groups;
    const auto row = ((static_cast<row_type>(team.league_rank()) << log2_groups) + group) * rows_per_lane;
    if (row >= product.rows || lane * ColumnsPerLane >= product.operands.columns) return;
    if constexpr (x_is_row_major)
      multiply(row, product.operands.template with_columns_per_lane<ColumnsPerLane>().of_column_lane(lane));
    else
      multiply(row, product.operands.template with_stride<true>().template from_column<ColumnsPerLane>(
                        lane * ColumnsPerLane));
  }

 private:
  /// The columns of x are spread over 2^log2_lanes() lanes. Those that have no column are idle.
  KOKKOS_FORCEINLINE_FUNCTION int log2_lanes() const {
    constexpr int c = ColumnsPerLane;
    static_assert(multi_vector_columns <= 8 * c, "Eight lanes have all columns.");
    // The compiler knows the number with ColumnAccess::exact.
    const int columns =
        Operands::is_exact && !x_is_row_major ? Operands::most_columns : product.operands.columns;
    return columns > 4 * c ? 3 : columns > 2 * c ? 2 : columns > c ? 1 : 0;
  }

  /// The values of the lane's rows in a block, by columns.
  using block_type = scalar_type[BlockSize][rows_per_lane];

  /// The rows of a lane, from `row` on.
  template <class LaneOperands>
  KOKKOS_FORCEINLINE_FUNCTION void multiply(const row_type row, const LaneOperands& operands) const {
    using sums_type = typename LaneOperands::sums_type;
    sums_type sums[rows_per_lane];
    // nvcc 13.0 does not initialise an array of arrays of a class by = {}.
    for (int r = 0; r < rows_per_lane; ++r)
      for (int c = 0; c < ColumnsPerLane; ++c)
        sums[r][c] = accumulator_type(0);
    const ordinal_type block_row = static_cast<ordinal_type>(row) / BlockSize;
    const auto count = static_cast<row_type>(product.block_count());
    // If columns are stored, that of the next block is read before a block is multiplied, so that the loads of x do not
    // wait for it.
    constexpr bool looks_ahead = Product::has_column_per_block;
    ordinal_type next_column = looks_ahead ? product.block_column(block_row, 0) : 0;
    FILIGREE_UNROLL(1)
    for (row_type k = 0; k < count; ++k) {
      const ordinal_type column = looks_ahead ? next_column : product.block_column(block_row, k);
      if (looks_ahead) next_column = product.block_column(block_row, k + 1 < count ? k + 1 : k);
      block_type values;
      FILIGREE_UNROLL(8)
      for (int c = 0; c < BlockSize; ++c) {
        const auto first = (static_cast<std::int64_t>(k) * BlockSize + c) * product.value_stride() + row;
        load_rows(values[c], product.values + first);
      }
      if constexpr (x_is_row_major)
        add_row_major(sums, values, operands, column);
      else
        add_column_major(sums, values, operands, column);
    }
    bool has_nan = false;
    for (const sums_type& sums_of_row : sums)
      has_nan = has_nan || LaneOperands::has_nan(sums_of_row);
    if (has_nan) return multiply_without_padding(row, operands);
    store_rows(operands, sums, row);
  }

  template <class LaneOperands>
  KOKKOS_FORCEINLINE_FUNCTION void multiply_without_padding(const row_type row,
                                                            const LaneOperands& operands) const {
    FILIGREE_UNROLL(1)
    for (int r = 0; r < rows_per_lane; ++r) {
      typename LaneOperands::sums_type sums;
      multiply_block_elements<BlockSize, Conjugate>(sums, product, row + r, operands);
      operands.store(sums, row + r);
    }
  }

  template <class Pointer>
  KOKKOS_FORCEINLINE_FUNCTION static void load_rows(scalar_type (&values)[rows_per_lane],
                                                    const Pointer& pointer) {
    FILIGREE_UNROLL(8)
    for (int r = 0; r < rows_per_lane; r += rows_per_load) {
      const auto loaded = load_pack<rows_per_load>(pointer + r);
      for (int i = 0; i < rows_per_load; ++i)
        values[r + i] = conjugate_if<Conjugate>(loaded.values[i]);
    }
  }

  /// Adds the products of a block whose first matrix column is `column`.
  template <class LaneOperands>
  KOKKOS_FORCEINLINE_FUNCTION static void add_row_major(
      typename LaneOperands::sums_type (&sums)[rows_per_lane], const block_type& values,
      const LaneOperands& operands, const ordinal_type column) {
    Pack<x_type, ColumnsPerLane> factors[BlockSize];
    FILIGREE_UNROLL(8)
    for (int i = 0; i < BlockSize; ++i)
      factors[i] = operands.load_row_of_lane(column + i);
    FILIGREE_UNROLL(8)
    for (int i = 0; i < BlockSize; ++i)
      FILIGREE_UNROLL(8)
    for (int r = 0; r < rows_per_lane; ++r)
      FILIGREE_UNROLL(4)
    for (int c = 0; c < ColumnsPerLane; ++c)
      Operands::template add_product<true>(sums[r][c], values[i][r], factors[i].values[c]);
  }

  /// The same if x is column-major.
  template <class LaneOperands>
  KOKKOS_FORCEINLINE_FUNCTION static void add_column_major(
      typename LaneOperands::sums_type (&sums)[rows_per_lane], const block_type& values,
      const LaneOperands& operands, const ordinal_type column) {
    operands.for_each_column([&](const int c, const int column_of_x) {
      constexpr int size = pack_size<x_type>;
      const x_type* const first = &operands.x(column, column_of_x);
      x_type factors[BlockSize];
      FILIGREE_UNROLL(8)
      for (int i = 0; i < BlockSize; i += size) {
        const auto loaded = *reinterpret_cast<const Pack<x_type, size>*>(first + i);
        for (int j = 0; j < size; ++j)
          factors[i + j] = loaded.values[j];
      }
      FILIGREE_UNROLL(8)
      for (int i = 0; i < BlockSize; ++i)
        FILIGREE_UNROLL(8)
      for (int r = 0; r < rows_per_lane; ++r)
        Operands::template add_product<true>(sums[r][c], values[i][r], factors[i]);
    });
  }
};

/// The columns of x per lane of BlockColumnsProduct that were fastest for a launch with the given number of them, or 0 if
/// one row per lane was faster (see docs/performance.md, "Blocks with several columns of x on a GPU").
template <class Operands, int BlockSize>
constexpr int columns_per_block_lane(int columns) {
  using accumulator_type = typename Operands::accumulator_type;
  constexpr int bytes = sizeof(accumulator_type);
  constexpr int b = BlockSize;
  if (is_complex_v<accumulator_type> && b == 7 && !Operands::has_column_lanes) return 0;
  if (bytes > 8) return b % 2 == 0 ? 4 : 2;
  if (Operands::has_column_lanes) return bytes == 8 && b > 2 && columns <= (b % 2 == 0 ? 8 : 4) ? 2 : 4;
  if (!Operands::is_exact || is_complex_v<accumulator_type> || columns == 4) return 4;
  if (bytes == 8) return b == 8 || (columns == 8 && (b == 4 || b > 5)) ? 4 : 8;
  return columns == 16 && b <= 4 ? 16 : columns == 8 && b == 8 ? 4 : 8;
}

/// Multiplies with BlockColumnsProduct if the block size is compiled, x has several columns, and the operands fit.
/// Returns whether it has.
template <int BlockSize, bool Conjugate, class ExecutionSpace, class Product>
bool launch_block_columns(const ExecutionSpace& exec, const std::string& name, const Product& product) {
  using Operands = std::decay_t<decltype(product.operands)>;
  if constexpr (runs_on_gpu_v<ExecutionSpace> && BlockSize > 1 && Operands::most_columns > 1 &&
                Operands::x_is_in_memory) {
    [[maybe_unused]] const auto launch = [&](auto columns_per_lane) {
      constexpr int count = decltype(columns_per_lane)::value;
      using Kernel = BlockColumnsProduct<ExecutionSpace, Product, Operands, BlockSize, Conjugate, count>;
      const Kernel kernel{product};
      if (!kernel.fits()) return false;
      kernel.launch_on(exec, name);
      return true;
    };
    // With row-major x the number of columns is not compiled, and few of them may have another kernel than many.
    constexpr int columns = Operands::has_column_lanes ? multi_vector_columns : Operands::most_columns;
    constexpr int for_few = columns_per_block_lane<Operands, BlockSize>(4);
    constexpr int for_many = columns_per_block_lane<Operands, BlockSize>(columns);
    if constexpr (Operands::has_column_lanes && for_few != for_many)
      if (columns_per_block_lane<Operands, BlockSize>(product.operands.columns) == for_few)
        return launch(std::integral_constant<int, for_few>());
    if constexpr (for_many > 0) return launch(std::integral_constant<int, for_many>());
  }
  return false;
}

}  // namespace Filigree::Impl

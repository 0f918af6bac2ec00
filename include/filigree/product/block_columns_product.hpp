// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <limits>

#include "filigree/product/launch_product.hpp"
#include "filigree/product/multiply_block_elements.hpp"
#include "filigree/product/operands.hpp"

namespace Filigree::Impl {

/// The product of a matrix of blocks with several columns of x on a GPU, in modes N and C. With one row and one
/// column of x per lane, the loads of x would cost more than those of the values. A lane therefore multiplies
/// several rows of a block with four columns of x: it uses each element of x for all these rows, and each value for
/// all these columns. The next lanes have the other columns of x and load the same values at the same time (see
/// docs/performance.md, "Blocks with several columns of x on a GPU").
///
/// A sum gets its products by ascending block and column, as in the kernels with one row per lane.
///
/// Product is the data of such a kernel: `values`, `rows`, `columns`, `operands`, value_stride(), block_count(), and
/// block_column(block_row, k), the first matrix column of block k of a block row. If that block does not exist, its
/// values are 0, and the column is that of any block. Product::has_column_per_block is whether the matrix stores a
/// column for each block, as blocked ELL does. CDS stores an offset for each block diagonal.
///
/// If Columns is not 0, the kernel is compiled for this number of columns and for a row-major x without gaps between
/// its rows. The distances between the elements of a block of x are then constants.
template <class ExecutionSpace, class Product, class Operands, int BlockSize, bool Conjugate, int Columns = 0>
struct BlockColumnsProduct {
  using scalar_type = typename Product::scalar_type;
  using ordinal_type = typename Product::ordinal_type;
  using x_type = typename Operands::x_type;
  using accumulator_type = typename Operands::accumulator_type;

  static constexpr int columns_per_lane = 4;
  /// Rows of a lane, a divisor of the block size: 4 or 2, or all rows of a block with an odd number of rows.
  static constexpr int rows_per_lane = BlockSize % 2 == 1                               ? BlockSize
                                       : BlockSize % 4 == 0 && sizeof(scalar_type) <= 8 ? 4
                                                                                        : 2;
  /// Two teams leave 128 registers per lane. With b = 2 a lane has fewer sums and values, so that four teams fit.
  using launch = RowLaunch<ExecutionSpace, 256, BlockSize == 2 && sizeof(accumulator_type) <= 8 ? 4 : 2>;
  /// Rows whose values in a matrix column one load brings.
  static constexpr int rows_per_load = rows_per_lane % 2 == 0 ? rows_per_lane : 1;
  /// Whether the elements of a row of x are neighbours. Otherwise those of a column must be, see fits().
  static constexpr bool x_is_row_major = Operands::has_column_lanes;
  /// Neighbouring elements of a column of x that one load brings.
  static constexpr int x_per_load =
      x_is_row_major || sizeof(x_type) >= 16 ? 1 : static_cast<int>(16 / sizeof(x_type));
  /// Matrix columns whose loads are in flight together.
  static constexpr int batch = Columns > 0 ? 4 : x_per_load > 2 ? x_per_load : BlockSize == 3 ? 3 : 2;
  /// Whether a lane reads where the next block lies before it multiplies a block, so that the loads of x do not wait
  /// for that. CDS with row-major x is slower with it (see docs/performance.md, "Blocks with several columns of x on
  /// a GPU").
  static constexpr bool looks_ahead = !x_is_row_major || Product::has_column_per_block;
  /// Whether the kernel exists. Its sums must fit the registers of a lane. If x is not row-major, blocks must have whole
  /// loads of x; for odd block sizes one row per lane is faster then.
  static constexpr bool exists = runs_on_gpu_v<ExecutionSpace> && BlockSize > 1 &&
                                 Operands::most_columns > 1 && Operands::x_is_in_memory &&
                                 (x_is_row_major || (BlockSize % 2 == 0 && BlockSize % x_per_load == 0)) &&
                                 sizeof(accumulator_type[rows_per_lane][columns_per_lane]) <= 256;
  /// Whether A, x and the sums are of double, or all of float. A must not be split into two halves.
  static constexpr bool has_one_type = std::is_same_v<scalar_type, x_type> &&
                                       std::is_same_v<scalar_type, accumulator_type> &&
                                       !std::is_class_v<decltype(Product::values)>;
  static constexpr bool is_double = has_one_type && std::is_same_v<scalar_type, double>;
  static constexpr bool is_float = has_one_type && std::is_same_v<scalar_type, float>;
  /// Whether there are kernels for 8 and for 16 columns. They are where they were faster, and not for split values (see
  /// docs/performance.md, "Blocks with several columns of x on a GPU").
  static constexpr bool has_kernels_for_counts =
      Columns == 0 && x_is_row_major && std::is_same_v<ordinal_type, int> &&
      (is_double ? BlockSize == 4 || BlockSize == 5 ||
                       (Product::has_column_per_block ? BlockSize == 6
                                                      : BlockSize == 2 || BlockSize == 7 || BlockSize == 8)
                 : is_float && (BlockSize == 3 || BlockSize == 4 || BlockSize == 6));

  /// Whether the kernel adds the products of padding too, and multiplies a row again if one of its sums is NaN, see
  /// has_nan(). It does so where that was faster (see docs/performance.md, "Padding that is added").
  static constexpr bool adds_padding =
      is_double && (BlockSize == 3 || BlockSize == 6 || BlockSize == 7 ||
                    (BlockSize == 4 && Product::has_column_per_block) ||
                    (BlockSize == 2 && x_is_row_major != Product::has_column_per_block));

  /// The type of a row number. It also counts the rows of the last team that do not exist, see fits().
  using row_type = std::conditional_t<sizeof(ordinal_type) <= sizeof(int), int, std::int64_t>;

  Product product;

  /// Whether the kernel can multiply these operands: there are blocks, no block is cut between the columns or rows
  /// of a lane, what a lane loads together is aligned, and row_type counts all rows.
  bool fits() const {
    if (product.rows > std::numeric_limits<row_type>::max() - launch::team_size * rows_per_lane) return false;
    if (product.block_count() == 0 || product.columns % BlockSize != 0 || product.rows % rows_per_lane != 0)
      return false;
    if (product.value_stride() % rows_per_load != 0 || !is_aligned_to_pack<rows_per_load>(product.values))
      return false;
    const auto& x = product.operands.x;
    constexpr std::uintptr_t bytes = x_per_load * sizeof(x_type);
    return x_is_row_major ||
           (x.has_unit_stride() && reinterpret_cast<std::uintptr_t>(x.data) % bytes == 0 &&
            x.column_stride * static_cast<std::int64_t>(sizeof(x_type)) % static_cast<std::int64_t>(bytes) ==
                0);
  }

  /// The number of lanes over which the columns of x are spread.
  KOKKOS_FORCEINLINE_FUNCTION int lanes_with_columns() const {
    const int columns = Columns > 0 ? Columns : product.operands.columns;
    return (columns + columns_per_lane - 1) / columns_per_lane;
  }
  /// The next power of two. So many lanes have the same rows; those without columns are idle.
  KOKKOS_FORCEINLINE_FUNCTION int lanes() const {
    static_assert(multi_vector_columns <= 4 * columns_per_lane, "Four lanes have all columns.");
    return lanes_with_columns() > 2 ? 4 : lanes_with_columns();
  }

  void launch_on(const ExecutionSpace& exec, const std::string& name) const {
    if constexpr (has_kernels_for_counts)
      if (launch_for<8>(exec, name) || launch_for<16>(exec, name)) return;
    launch_product(exec, name, launch::policy(exec, product.rows / rows_per_lane * lanes()), *this);
  }

  KOKKOS_INLINE_FUNCTION void operator()(const typename launch::member_type& team) const {
    // Kokkos' loops over the threads and vector lanes of a team would make these kernels slower, and 64-bit rows some of
    // them (see docs/performance.md, "Several columns of x without loops over lanes").
    const int lane = team.team_rank() % lanes();
    const auto row = (static_cast<row_type>(team.league_rank()) * (launch::team_size / lanes()) +
                      team.team_rank() / lanes()) *
                     rows_per_lane;
    if (row >= product.rows || lane >= lanes_with_columns()) return;
    if constexpr (x_is_row_major)
      multiply(row, product.operands.of_column_lane(lane));
    else
      multiply(row, product.operands.template with_stride<true>().template from_column<columns_per_lane>(
                        lane * columns_per_lane));
  }

 private:
  /// Launches the kernel for Count columns, if x has as many and no gaps between its rows.
  template <int Count>
  bool launch_for(const ExecutionSpace& exec, const std::string& name) const {
    const Operands& operands = product.operands;
    if (operands.columns != Count || operands.x.row_bytes != static_cast<int>(Count * sizeof(x_type)))
      return false;
    BlockColumnsProduct<ExecutionSpace, Product, Operands, BlockSize, Conjugate, Count>{product}.launch_on(
        exec, name);
    return true;
  }

  template <class LaneOperands>
  using sums_of = typename LaneOperands::sums_type[rows_per_lane];
  using values_type = scalar_type[batch][rows_per_lane];

  /// The rows of a lane, from `row` on.
  template <class LaneOperands>
  KOKKOS_FORCEINLINE_FUNCTION void multiply(const std::int64_t row, const LaneOperands& operands) const {
    sums_of<LaneOperands> sums;
    for (int r = 0; r < rows_per_lane; ++r)
      for (int c = 0; c < columns_per_lane; ++c)
        sums[r][c] = accumulator_type(0);
    const ordinal_type block_row = static_cast<ordinal_type>(row) / BlockSize;
    auto value = product.values + row;
    const std::int64_t count = product.block_count();
    ordinal_type next_column = product.block_column(block_row, 0);
    const auto add_block = [&](const std::int64_t k) {
      const ordinal_type column = looks_ahead ? next_column : product.block_column(block_row, k);
      if (looks_ahead) next_column = product.block_column(block_row, k + 1 < count ? k + 1 : k);
      FILIGREE_UNROLL(4)
      for (int first = 0; first < BlockSize; first += batch) {
        values_type values;
        FILIGREE_UNROLL(4)
        for (int i = 0; i < batch; ++i) {
          // The last batch of a block may be shorter.
          if (first + i >= BlockSize) continue;
          load_rows(values[i], value);
          value += product.value_stride();
        }
        if constexpr (x_is_row_major)
          add_row_major(sums, values, operands, column, first);
        else
          add_by_columns(sums, values, operands, column, first);
      }
    };
    if constexpr (BlockSize == 2) {
      // Such a block has few loads, so that those of two blocks are in flight together.
      FILIGREE_UNROLL(2)
      for (std::int64_t k = 0; k < count; ++k)
        add_block(k);
    } else {
      FILIGREE_UNROLL(1)
      for (std::int64_t k = 0; k < count; ++k)
        add_block(k);
    }
    if constexpr (adds_padding) {
      FILIGREE_UNROLL(8)
      for (int r = 0; r < rows_per_lane; ++r)
        if (LaneOperands::has_nan(sums[r]))
          multiply_block_elements<BlockSize, Conjugate>(sums[r], product, row + r, operands);
    }
    if constexpr (x_is_row_major) {
      for (int r = 0; r < rows_per_lane; ++r)
        operands.store(sums[r], row + r);
    } else {
      operands.store_rows(sums, row, product.rows);
    }
  }

  KOKKOS_FORCEINLINE_FUNCTION static void add(accumulator_type& sum, const scalar_type& value,
                                              const x_type& factor) {
    if constexpr (adds_padding)
      sum += widen<accumulator_type>(value) * widen<accumulator_type>(factor);
    else
      Operands::add_unless_zero(sum, value, factor);
  }

  template <class Pointer>
  static KOKKOS_FORCEINLINE_FUNCTION void load_rows(scalar_type (&values)[rows_per_lane],
                                                    const Pointer& pointer) {
    FILIGREE_UNROLL(8)
    for (int r = 0; r < rows_per_lane; r += rows_per_load) {
      const auto loaded = load_pack<rows_per_load>(pointer + r);
      for (int i = 0; i < rows_per_load; ++i)
        values[r + i] = conjugate_if<Conjugate>(loaded.values[i]);
    }
  }

  /// Adds the products of a batch of matrix columns from column + first on.
  template <class LaneOperands>
  static KOKKOS_FORCEINLINE_FUNCTION void add_row_major(sums_of<LaneOperands>& sums,
                                                        const values_type& values,
                                                        const LaneOperands& operands,
                                                        const ordinal_type column, const int first) {
    using pack_type = Pack<x_type, columns_per_lane>;
    pack_type factors[batch];
    if constexpr (Columns > 0) {
      constexpr int packs_per_row = Columns / columns_per_lane;
      const pack_type* const packs =
          reinterpret_cast<const pack_type*>(operands.x.data) +
          (static_cast<std::uint32_t>(column) * std::uint32_t(packs_per_row) +
           static_cast<std::uint32_t>(operands.first_column_of_lane) / columns_per_lane);
      FILIGREE_UNROLL(4)
      for (int i = 0; i < batch; ++i)
        if (first + i < BlockSize) factors[i] = packs[(first + i) * packs_per_row];
    } else {
      FILIGREE_UNROLL(4)
      for (int i = 0; i < batch; ++i)
        if (first + i < BlockSize) factors[i] = operands.load_row_of_lane(column + first + i);
    }
    FILIGREE_UNROLL(4)
    for (int i = 0; i < batch; ++i)
      for (int c = 0; c < columns_per_lane; ++c)
        for (int r = 0; r < rows_per_lane; ++r)
          if (first + i < BlockSize) add(sums[r][c], values[i][r], factors[i].values[c]);
  }

  /// The same if the elements of a column of x are neighbours.
  template <class LaneOperands>
  static KOKKOS_FORCEINLINE_FUNCTION void add_by_columns(sums_of<LaneOperands>& sums,
                                                         const values_type& values,
                                                         const LaneOperands& operands,
                                                         const ordinal_type column, const int first) {
    operands.for_each_column([&](const int c, const int column_of_x) {
      using pack_type = Pack<x_type, x_per_load>;
      x_type factors[batch];
      FILIGREE_UNROLL(4)
      for (int i = 0; i < batch; i += x_per_load) {
        if (first + i >= BlockSize) continue;
        const auto loaded = *reinterpret_cast<const pack_type*>(&operands.x(column + first + i, column_of_x));
        for (int j = 0; j < x_per_load; ++j)
          factors[i + j] = loaded.values[j];
      }
      FILIGREE_UNROLL(4)
      for (int i = 0; i < batch; ++i)
        for (int r = 0; r < rows_per_lane; ++r)
          if (first + i < BlockSize) add(sums[r][c], values[i][r], factors[i]);
    });
  }
};

}  // namespace Filigree::Impl

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Products with dense block diagonals that are stored by components: for each element of the blocks of a
// diagonal, the values of all block rows. CdsMatrix with CdsLayout::components and SymCdsMatrix use them.
// DictCdsMatrix uses the kernel for GPUs.
//
// Such a format describes its product by a small struct of raw pointers, which the kernels call Terms:
//
//   Scalar, Ordinal
//   count()                    the number of block diagonals to add. The diagonals below the main one of a
//                              symmetric matrix count too
//   term(k)                    the k-th of them, by ascending block of x. It has a `shift` and a `place`:
//                              block row R multiplies block R + shift of x
//   block(term, R)             a pointer to component 0 of the block of block row R. The next component is
//                              `stride` positions after it. If blocks are stored by components, the block of
//                              block row R + 1 is one position after it
//   value(place, i, j, value)  the value of element (i, j), from the stored value
//   row_of_item(item, R, i)    sets block row and row in the block of an item. There is an item for each row
//   block_size, stride         rows of a block; positions from one component to the next
//   y_blocks, x_blocks         blocks of y and x
//   y_rows, x_rows             rows of y and x. The last block may have more rows than that
#pragma once

#include "filigree/core/integer.hpp"
#include "filigree/product/add_batch.hpp"
#include "filigree/product/launch_product.hpp"
#include "filigree/product/operands.hpp"

namespace Filigree::Impl {

/// How the block that a block row multiplies is stored.
enum class BlockPlace {
  own,       ///< at this block row
  mirrored,  ///< transposed, at the block row whose elements of x it multiplies
  packed     ///< at this block row, but only the elements (i, j) with i <= j; the others are mirrored
};

/// The component of a b x b block that holds element (i, j).
KOKKOS_FORCEINLINE_FUNCTION constexpr int block_component(BlockPlace place, int i, int j, int b) {
  if (place == BlockPlace::packed) return i <= j ? packed_position(i, j) : packed_position(j, i);
  return place == BlockPlace::own ? i * b + j : j * b + i;
}

/// Whether element (i, j) of a block is the mirror image of a stored element.
KOKKOS_FORCEINLINE_FUNCTION constexpr bool is_mirror_image(BlockPlace place, int i, int j) {
  return place == BlockPlace::mirrored || (place == BlockPlace::packed && i > j);
}

/// One block diagonal of a product. `First` points to what the diagonal has for its first stored block: the
/// value of component 0, or the number of a distinct block.
template <class First>
struct BlockTerm {
  const First* first;
  std::int64_t shift;
  BlockPlace place;

  /// What the diagonal has for the block that a block row multiplies.
  KOKKOS_FORCEINLINE_FUNCTION const First* stored(std::int64_t block_row) const {
    return first + (place == BlockPlace::mirrored ? block_row + shift : block_row);
  }
};

/// What all Terms have in common. The members that are functions are for blocks that are stored by
/// components.
template <class Scalar_, class Ordinal_>
struct BlockTerms {
  using Scalar = Scalar_;
  using Ordinal = Ordinal_;

  const Scalar* values;
  const Ordinal* offsets;  ///< of the stored diagonals, ascending
  std::int64_t diagonals;  ///< number of offsets
  int block_size;
  std::int64_t y_rows;
  std::int64_t x_rows;
  std::int64_t y_blocks;
  std::int64_t x_blocks;
  Ordinal stride;  ///< with 32 bits, a GPU computes the address of a value with one instruction

  /// The terms of a matrix, or of its transpose.
  template <class Matrix>
  BlockTerms(const Matrix& A, bool transpose)
      : values(A.values.data()),
        offsets(A.offsets.data()),
        diagonals(static_cast<std::int64_t>(A.numDiagonals())),
        block_size(A.block_size()),
        y_rows(static_cast<std::int64_t>(transpose ? A.numCols() : A.numRows())),
        x_rows(static_cast<std::int64_t>(transpose ? A.numRows() : A.numCols())),
        y_blocks((y_rows + block_size - 1) / block_size),
        x_blocks((x_rows + block_size - 1) / block_size),
        stride(static_cast<Ordinal>(transpose ? x_blocks : y_blocks)) {}

  /// The position of element (i, j) of a b x b block after that of component 0.
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t component_position(BlockPlace place, int i, int j, int b) const {
    return static_cast<std::int64_t>(block_component(place, i, j, b)) * stride;
  }
  KOKKOS_FORCEINLINE_FUNCTION const Scalar* block(const BlockTerm<Scalar>& term,
                                                  std::int64_t block_row) const {
    return term.stored(block_row);
  }
  /// Neighbouring items are the same row of neighbouring blocks, whose values are neighbours.
  KOKKOS_FORCEINLINE_FUNCTION void row_of_item(std::int64_t item, std::int64_t& block_row, int& i) const {
    i = static_cast<int>(item / y_blocks);
    block_row = item - i * y_blocks;
  }
};

/// The product on a host: one thread per team. It multiplies row i of the blocks of a tile of block rows,
/// for one i after the other, so that the values of each element of the blocks are a stream of memory and the
/// sums of the tile stay in the caches of the core.
template <class ExecutionSpace, class Terms, class Operands>
struct BlockTermsHostSpmv {
  using launch = ProductLaunch<ExecutionSpace, Operands>;
  using sums_type = typename Operands::sums_type;
  using accumulator_type = typename Operands::accumulator_type;
  using scalar_type = typename Terms::Scalar;
  /// Block rows of a tile. Their elements of x stay in the caches for all rows of the blocks.
  static constexpr int tile = 512;

  Terms terms;
  Operands operands;

  void launch_on(const ExecutionSpace& exec, const std::string& name) const {
    launch_product(exec, name, launch::policy(exec, terms.y_blocks), *this);
  }

  KOKKOS_INLINE_FUNCTION void operator()(const typename launch::member_type& team) const {
    const auto rows = launch::rows_of_team(team, terms.y_blocks);
    for (int i = 0; i < rows.count; i += tile)
      tile_product(rows.first + i, rows.count - i < tile ? rows.count - i : tile);
  }

  /// The product of the block rows first to first + count - 1.
  KOKKOS_INLINE_FUNCTION void tile_product(const std::int64_t first, const int count) const {
    const int b = terms.block_size;
    sums_type sums[tile];
    for (int i = 0; i < b; ++i) {
      for (int r = 0; r < count; ++r)
        for (int c = 0; c < Operands::most_columns; ++c)
          sums[r][c] = accumulator_type(0);
      for (std::int64_t k = 0; k < terms.count(); ++k)
        add_term(sums, first, count, terms.term(k), i);
      for (int r = 0; r < count && (first + r) * b + i < terms.y_rows; ++r)
        operands.store(sums[r], (first + r) * b + i);
    }
  }

  /// Adds row i of the blocks of one term.
  KOKKOS_INLINE_FUNCTION void add_term(sums_type* sums, const std::int64_t first, const int count,
                                       const BlockTerm<scalar_type>& term, const int i) const {
    const int b = terms.block_size;
    for (int j = 0; j < b; ++j) {
      // The block rows of the tile for which x has an element.
      const std::int64_t x_blocks = (terms.x_rows - j + b - 1) / b;
      const std::int64_t begin = first > -term.shift ? first : -term.shift;
      const std::int64_t end = first + count < x_blocks - term.shift ? first + count : x_blocks - term.shift;
      if (begin >= end) continue;
      const scalar_type* const value =
          terms.block(term, begin) + terms.component_position(term.place, i, j, b);
      const std::int64_t x_row = (begin + term.shift) * b + j;
      const auto is_mirrored = is_mirror_image(term.place, i, j);
      for (int c = 0; operands.has(c) && c < Operands::most_columns; ++c) {
        const typename Operands::x_pointer x = operands.x.pointer(x_row, c);
        if (b == 1 && operands.x.row_stride() == 1)
          add_element<true>(sums + (begin - first), value, x, end - begin, c, is_mirrored);
        else
          add_element<false>(sums + (begin - first), value, x, end - begin, c, is_mirrored);
      }
    }
  }

  /// Adds one element of the blocks of `count` block rows. It selects the factor and not the sum, because a
  /// compiler would branch to select the sum and use no vector registers.
  template <bool UnitStride>
  KOKKOS_FORCEINLINE_FUNCTION void add_element(sums_type* KOKKOS_RESTRICT sums,
                                               const scalar_type* KOKKOS_RESTRICT value,
                                               const typename Operands::x_pointer x, const std::int64_t count,
                                               const int column, const bool is_mirrored) const {
    const BlockPlace place = is_mirrored ? BlockPlace::mirrored : BlockPlace::own;
    const std::int64_t x_stride = UnitStride ? 1 : operands.x.row_stride() * terms.block_size;
    for (std::int64_t r = 0; r < count; ++r) {
      const scalar_type a = terms.value(place, 0, 0, value[r]);
      const auto factor = widen<accumulator_type>(x[r * x_stride]);
      sums[r][column] += widen<accumulator_type>(a) * (a == scalar_type(0) ? decltype(factor)(0) : factor);
    }
  }
};

/// The product for block sizes that are not compiled and for several columns of x: one lane per row. For 16 columns of
/// float teams keep 256 lanes, because eight teams of 128 make most of these kernels slower (see docs/performance.md,
/// "Registers for 16 columns").
template <class ExecutionSpace, class Terms, class Operands>
struct BlockTermsRowSpmv {
  using launch = ProductLaunch<ExecutionSpace, Operands, 256, host_rows, 4, 0>;
  using sums_type = typename Operands::sums_type;
  using scalar_type = typename Terms::Scalar;
  /// Elements of a block whose loads are in flight together.
  static constexpr int batch = 4;

  Terms terms;
  Operands operands;

  void launch_on(const ExecutionSpace& exec, const std::string& name) const {
    launch_product(exec, name,
                   launch::policy(exec, (terms.y_blocks * terms.block_size) << operands.log2_column_lanes()),
                   *this);
  }

  KOKKOS_INLINE_FUNCTION void operator()(const typename launch::member_type& team) const {
    for_each_row_of_columns<launch>(team, terms.y_blocks * terms.block_size, operands,
                                    [&](const std::int64_t item, const Operands& of_lane) {
                                      std::int64_t block_row;
                                      int i;
                                      terms.row_of_item(item, block_row, i);
                                      row_product(block_row, i, of_lane);
                                    });
  }

  KOKKOS_FORCEINLINE_FUNCTION void row_product(const std::int64_t block_row, const int i,
                                               const Operands& of_lane) const {
    const int b = terms.block_size;
    if (block_row * b + i >= terms.y_rows) return;
    sums_type sums = {};
    for (std::int64_t k = 0; k < terms.count(); ++k) {
      const auto term = terms.term(k);
      const std::int64_t x_block = block_row + term.shift;
      if (x_block < 0 || x_block >= terms.x_blocks) continue;
      const scalar_type* const block = terms.block(term, block_row);
      for (int first = 0; first < b; first += batch) {
        scalar_type values[batch];
        std::int64_t columns[batch];
        FILIGREE_UNROLL(4)
        for (int u = 0; u < batch; ++u) {
          const int j = first + u;
          const std::int64_t column = x_block * b + j;
          const bool exists = j < b && column < terms.x_rows;
          values[u] =
              exists ? terms.value(term.place, i, j, block[terms.component_position(term.place, i, j, b)])
                     : scalar_type(0);
          columns[u] = exists ? column : terms.x_rows - 1;
        }
        add_batch_unless_zero(of_lane, sums, values, columns);
      }
    }
    of_lane.store(sums, block_row * b + i);
  }
};

/// The product for any block size and number of columns of x: one lane per row on a GPU, a tile per thread on
/// a host.
template <class ExecutionSpace, class Terms, class Operands>
void block_terms_spmv(const ExecutionSpace& exec, const std::string& name, const Terms& terms,
                      const Operands& operands) {
  if constexpr (runs_on_gpu_v<ExecutionSpace>)
    BlockTermsRowSpmv<ExecutionSpace, Terms, Operands>{terms, operands}.launch_on(exec, name);
  else
    BlockTermsHostSpmv<ExecutionSpace, Terms, Operands>{terms, operands}.launch_on(exec, name);
}

}  // namespace Filigree::Impl

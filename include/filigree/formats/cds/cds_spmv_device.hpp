// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "filigree/core/block_size.hpp"
#include "filigree/core/integer.hpp"
#include "filigree/formats/cds/cds_spmv_common.hpp"
#include "filigree/product/add_batch.hpp"
#include "filigree/product/store_sums.hpp"

namespace Filigree::Impl {

/// The number of rows that one lane of a GPU multiplies. It loads their values in a matrix column together: 8
/// bytes, or 16 bytes of double in one block, or 16 bytes of float if b is compiled, odd and not 1 (see
/// docs/performance.md, "CDS: rows per lane"). A result above 1 requires that it divides the stride of columns
/// and that the values are aligned to what is loaded together.
template <class Scalar, int BlockSize, int Columns>
constexpr int cds_rows_per_lane() {
  constexpr int size = sizeof(Scalar);
  if (Columns > 1) return 1;
  if (size < 8) return (size == 4 && BlockSize > 1 && BlockSize % 2 == 1 ? 16 : 8) / size;
  return size == 8 && BlockSize > 1 && BlockSize % 2 == 0 ? 2 : 1;
}

/// Modes N and C on a GPU: one lane per RowsPerLane elements of y (the source has one lane per element:
/// Godwin et al. 2012, section 3.3). A row's products are added by ascending column. RowsPerLane is 1 for
/// several columns of x. If JoinsWords is true, which requires one row per lane, a value is loaded as words that are
/// joined. With few diagonals that is faster on an H200 (see docs/performance.md, "Loads of values that are read once").
template <class ExecutionSpace, class Cds, class Operands, int BlockSize, bool Conjugate, int RowsPerLane,
          bool JoinsWords = false>
struct CdsDeviceSpmv : CdsProduct<ExecutionSpace, Cds, Operands, BlockSize> {
  using base = CdsProduct<ExecutionSpace, Cds, Operands, BlockSize>;
  using base::base;
  using typename base::ordinal_type;
  using typename base::scalar_type;
  using typename base::sums_type;
  using typename base::value_pointer;
  /// Whether the last batch of a row has exactly the elements that are left. It has so for values of 4 bytes in blocks
  /// whose size is read at run time, of which 1024 lanes then run on a multiprocessor. Values of 2 bytes do not gain
  /// (see docs/performance.md, "CDS: rows per lane").
  static constexpr bool has_exact_last_batch = RowsPerLane > 1 && BlockSize == 0 &&
                                               sizeof(scalar_type) == sizeof(float);
  /// Few lanes suffice if each load brings values of several rows, and these rows need more registers (same section).
  using launch =
      std::conditional_t<(RowsPerLane > 1 && (sizeof(scalar_type) < 8 || is_split_v<Cds>)),
                         RowLaunch<ExecutionSpace, 128, BlockSize == 1 || has_exact_last_batch ? 8 : 6>,
                         typename base::launch>;
  /// Whether the rows of a lane can lie in two block rows.
  static constexpr bool rows_cross_blocks = BlockSize > 1 && BlockSize % RowsPerLane != 0;
  /// The values of the lane's rows in one matrix column.
  using pack_type = Pack<scalar_type, RowsPerLane>;
  /// The type of a column before it is clipped to the matrix. It is unsigned for 32-bit ordinals, because a
  /// column after the end of the matrix can exceed the largest ordinal.
  using unclipped_column_type = stored_row_t<ordinal_type>;

  /// The number of lanes for a number of rows. The last lane may have fewer rows than the others.
  static KOKKOS_FORCEINLINE_FUNCTION std::int64_t lane_count(std::int64_t rows) {
    return (rows + RowsPerLane - 1) / RowsPerLane;
  }

  KOKKOS_FORCEINLINE_FUNCTION ordinal_type clipped_to_matrix(ordinal_type column, ordinal_type c) const {
    const ordinal_type last = static_cast<ordinal_type>(this->columns - 1) - column;
    return column + (c < last ? c : last);
  }

  /// Element k of each of the lane's rows. A row has b elements per diagonal.
  KOKKOS_FORCEINLINE_FUNCTION pack_type load(std::int64_t row, std::int64_t k) const {
    const auto pointer = this->values + (k * this->stride + row);
    if constexpr (JoinsWords)
      return load_once(reinterpret_cast<const pack_type*>(pointer));
    else
      return load_pack<RowsPerLane>(pointer);
  }

  /// Adds the products of the lane's values in one matrix column per block row: `column` for the rows before
  /// `split`, and next_column for the others.
  KOKKOS_FORCEINLINE_FUNCTION void add_pack(sums_type (&sums)[RowsPerLane], const pack_type& pack, int split,
                                            ordinal_type column, ordinal_type next_column) const {
    const auto factor = this->operands.x(column, 0);
    const auto next_factor = this->operands.x(next_column, 0);
    FILIGREE_UNROLL(8)
    for (int r = 0; r < RowsPerLane; ++r)
      Operands::add_unless_zero(sums[r][0], conjugate_if<Conjugate>(pack.values[r]),
                                r < split ? factor : next_factor);
  }

  /// Adds Count diagonals, beginning with first_diagonal. None of their loads waits for another.
  template <int Count>
  KOKKOS_FORCEINLINE_FUNCTION void add_diagonals(sums_type (&sums)[RowsPerLane], std::int64_t row,
                                                 ordinal_type block_row, std::int64_t first_diagonal) const {
    if constexpr (Operands::most_columns > 1) {
      scalar_type batch[Count * BlockSize];
      ordinal_type batch_columns[Count * BlockSize];
      FILIGREE_UNROLL(8)
      for (int i = 0; i < Count; ++i) {
        const ordinal_type column = this->clipped_column(block_row, this->offsets[first_diagonal + i]);
        FILIGREE_UNROLL(8)
        for (int c = 0; c < BlockSize; ++c) {
          const scalar_type value = load(row, (first_diagonal + i) * BlockSize + c).values[0];
          batch[i * BlockSize + c] = conjugate_if<Conjugate>(value);
          batch_columns[i * BlockSize + c] = clipped_to_matrix(column, c);
        }
      }
      add_batch_unless_zero(this->operands, sums[0], batch, batch_columns);
    } else {
      add_packs<Count>(sums, row, block_row, first_diagonal);
    }
  }

  /// The number of rows of a block row from `row` on.
  static KOKKOS_FORCEINLINE_FUNCTION int rows_in_block_row(std::int64_t row, ordinal_type block_row) {
    return BlockSize - static_cast<int>(static_cast<ordinal_type>(row) - block_row * BlockSize);
  }

  /// add_diagonals for one column of x.
  template <int Count>
  KOKKOS_FORCEINLINE_FUNCTION void add_packs(sums_type (&sums)[RowsPerLane], std::int64_t row,
                                             ordinal_type block_row, std::int64_t first_diagonal) const {
    FILIGREE_UNROLL(8)
    for (int i = 0; i < Count; ++i) {
      const std::int64_t diagonal = first_diagonal + i;
      const ordinal_type offset = this->offsets[diagonal];
      if constexpr (BlockSize == 1) {
        const pack_type pack = load(row, diagonal);
        for (int r = 0; r < RowsPerLane; ++r)
          this->operands.add_unless_zero(sums[r], conjugate_if<Conjugate>(pack.values[r]),
                                         this->clipped_column(block_row + r, offset));
      } else {
        const ordinal_type column = this->clipped_column(block_row, offset);
        const ordinal_type next_column =
            rows_cross_blocks ? this->clipped_column(block_row + 1, offset) : column;
        const int split = rows_cross_blocks ? rows_in_block_row(row, block_row) : RowsPerLane;
        FILIGREE_UNROLL(8)
        for (int c = 0; c < BlockSize; ++c)
          add_pack(sums, load(row, diagonal * BlockSize + c), split, clipped_to_matrix(column, c),
                   clipped_to_matrix(next_column, c));
      }
    }
  }

  /// Adds the diagonals from d to the last one, at most Most of them, in one batch of exactly that size. A
  /// loop would load one diagonal after the other.
  template <int Most>
  KOKKOS_FORCEINLINE_FUNCTION void add_last_diagonals(sums_type (&sums)[RowsPerLane], std::int64_t row,
                                                      ordinal_type block_row, std::int64_t d) const {
    if constexpr (Most > 0) {
      if (this->diagonals - d == Most)
        add_diagonals<Most>(sums, row, block_row, d);
      else
        add_last_diagonals<Most - 1>(sums, row, block_row, d);
    }
  }

  /// The first column of a block of x for the rows of a lane: `own` for those in the block row of its first row,
  /// and `next` for the others. The rows lie in at most two block rows.
  struct BlockColumns {
    ordinal_type own;
    ordinal_type next;
  };
  KOKKOS_FORCEINLINE_FUNCTION BlockColumns block_columns(ordinal_type block_row,
                                                         std::int64_t diagonal) const {
    const ordinal_type offset = this->offsets[diagonal];
    const ordinal_type own = this->clipped_column(block_row, offset);
    return {own, RowsPerLane > 1 ? this->clipped_column(block_row + 1, offset) : own};
  }

  /// Adds consecutive elements of the rows of a lane; `value` points to the value of the first one. The first
  /// `split` of them lie in the columns of `block` from c on. The others lie in those of next_block, a block on
  /// the next diagonal. There are Batch elements per row if Whole is true, else `count`. The first own_rows rows
  /// lie in the block row of the first one.
  template <int Batch, bool Whole>
  KOKKOS_FORCEINLINE_FUNCTION void add_elements(sums_type (&sums)[RowsPerLane], value_pointer value,
                                                int count, int split, int own_rows, const BlockColumns& block,
                                                int c, const BlockColumns& next_block) const {
    const unclipped_column_type last = static_cast<unclipped_column_type>(this->columns - 1);
    const auto column = [&](int u, ordinal_type first, ordinal_type next) {
      const unclipped_column_type unclipped =
          static_cast<unclipped_column_type>(u < split ? first + static_cast<unclipped_column_type>(c)
                                                       : static_cast<unclipped_column_type>(next) - split) +
          u;
      return static_cast<ordinal_type>(unclipped < last ? unclipped : last);
    };
    if constexpr (RowsPerLane == 1) {
      scalar_type batch[Batch];
      ordinal_type batch_columns[Batch];
      FILIGREE_UNROLL(8)
      for (int u = 0; u < Batch; ++u) {
        batch[u] = Whole || u < count ? conjugate_if<Conjugate>(load_once(value)) : scalar_type(0);
        value += this->stride;
        batch_columns[u] = column(u, block.own, next_block.own);
      }
      add_batch_unless_zero(this->operands, sums[0], batch, batch_columns);
    } else {
      pack_type packs[Batch];
      FILIGREE_UNROLL(8)
      for (int u = 0; u < Batch; ++u) {
        packs[u] = Whole || u < count ? load_pack<RowsPerLane>(value) : pack_type{};
        value += this->stride;
      }
      FILIGREE_UNROLL(8)
      for (int u = 0; u < Batch; ++u)
        add_pack(sums, packs[u], own_rows, column(u, block.own, next_block.own),
                 column(u, block.next, next_block.next));
    }
  }

  /// Adds the last `count` elements of the rows of a lane, at most Most, which lie in the columns of `block` from c on.
  template <int Most>
  KOKKOS_FORCEINLINE_FUNCTION void add_last_elements(sums_type (&sums)[RowsPerLane], value_pointer value,
                                                     int count, int own_rows, const BlockColumns& block,
                                                     int c) const {
    if constexpr (!has_exact_last_batch) {
      add_elements<Most, false>(sums, value, count, count, own_rows, block, c, block);
    } else if constexpr (Most > 0) {
      if (count == Most)
        add_elements<Most, true>(sums, value, count, count, own_rows, block, c, block);
      else
        add_last_elements<Most - 1>(sums, value, count, own_rows, block, c);
    }
  }

  /// The sums of the rows of a lane for a block size above largest_compiled_block_size. A batch of elements
  /// continues on the next diagonal: a shorter batch at the end of each diagonal would wait for memory as long
  /// as a full one.
  KOKKOS_FORCEINLINE_FUNCTION void add_large_blocks(sums_type (&sums)[RowsPerLane], std::int64_t row,
                                                    ordinal_type block_row) const {
    constexpr int batch = 8;
    static_assert(batch <= largest_compiled_block_size, "A batch must not reach a third diagonal.");
    static_assert(RowsPerLane <= largest_compiled_block_size, "Rows must not lie in three block rows.");
    const int b = this->block_size();
    const int own_rows = b - static_cast<int>(static_cast<ordinal_type>(row) - block_row * b);
    const int last_diagonal = static_cast<int>(this->diagonals) - 1;
    if (last_diagonal < 0) return;
    value_pointer value = this->values + row;
    int d = 0;
    int c = 0;
    BlockColumns block = block_columns(block_row, 0);
    BlockColumns next_block = block_columns(block_row, d < last_diagonal ? 1 : 0);
    FILIGREE_UNROLL(1)
    while (d < last_diagonal || (d == last_diagonal && c + batch <= b)) {
      add_elements<batch, true>(sums, value, batch, b - c, own_rows, block, c, next_block);
      value += batch * this->stride;
      c += batch;
      if (c >= b) {
        c -= b;
        ++d;
        block = next_block;
        next_block = block_columns(block_row, d < last_diagonal ? d + 1 : last_diagonal);
      }
    }
    if (d == last_diagonal && c < b)
      add_last_elements<has_exact_last_batch ? batch - 1 : batch>(sums, value, b - c, own_rows, block, c);
  }

  /// The product of the RowsPerLane rows from `row` on.
  KOKKOS_FORCEINLINE_FUNCTION void row_product(const std::int64_t row) const {
    const ordinal_type block_row =
        static_cast<ordinal_type>(row) / static_cast<ordinal_type>(this->block_size());
    sums_type sums[RowsPerLane];
    // nvcc 13.0 does not initialise an array of arrays of a class by = {}.
    for (int r = 0; r < RowsPerLane; ++r)
      for (int c = 0; c < Operands::most_columns; ++c)
        sums[r][c] = typename Operands::accumulator_type(0);
    if constexpr (BlockSize == 0) {
      add_large_blocks(sums, row, block_row);
    } else {
      // About eight loads in flight keep the memory busy, so small blocks take several diagonals per batch.
      // With several columns of x more loads follow, and the sums of 16 columns need registers (see
      // docs/performance.md, "Several columns of x on a GPU").
      constexpr int columns = Operands::most_columns;
      constexpr int loads = columns == 1 || Operands::has_column_lanes ? 8 : columns <= 8 ? 6 : 4;
      constexpr int batch = BlockSize == 1 && loads == 6 ? 4 : BlockSize < loads ? loads / BlockSize : 1;
      std::int64_t d = 0;
      for (; d + batch <= this->diagonals; d += batch)
        add_diagonals<batch>(sums, row, block_row, d);
      add_last_diagonals<batch - 1>(sums, row, block_row, d);
    }
    store_rows(this->operands, sums, row, this->rows);
  }

  KOKKOS_INLINE_FUNCTION void operator()(const typename launch::member_type& team) const {
    for_each_row_of_columns<launch>(team, lane_count(this->rows), this->operands,
                                    [&](const std::int64_t i, const Operands& of_lane) {
                                      if constexpr (Operands::has_column_lanes) {
                                        CdsDeviceSpmv kernel = *this;
                                        kernel.operands = of_lane;
                                        kernel.row_product(i);
                                      } else {
                                        row_product(i * RowsPerLane);
                                      }
                                    });
  }
};

}  // namespace Filigree::Impl

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FILIGREE_FORMATS_CDS_CDS_SPMV_HPP
#define FILIGREE_FORMATS_CDS_CDS_SPMV_HPP

#include <cstdint>
#include <string>

#include "filigree/core/block_size.hpp"
#include "filigree/core/launch.hpp"
#include "filigree/core/load_once.hpp"
#include "filigree/core/mode.hpp"
#include "filigree/core/region.hpp"
#include "filigree/core/scalar.hpp"
#include "filigree/formats/cds/cds_matrix.hpp"
#include "filigree/product/operands.hpp"
#include "filigree/product/row_layout.hpp"

namespace Filigree {
namespace Impl {

/// What the kernels of CDS share. BlockSize is b where it is known at compile time, else 0.
template <class ExecutionSpace, class Cds, class Operands, int BlockSize>
struct CdsProduct {
  /// Blocks that no kernel is compiled for take long to go through, and small teams leave less to do at the
  /// end (7pt in float, one column, on an H200: b=15 41^3 0.863 of the read bandwidth in
  /// place of 0.857, b=9 57^3 0.932 in place of 0.917).
  using launch = ProductLaunch<ExecutionSpace, Operands, BlockSize == 0 ? 128 : 256>;
  using scalar_type = typename Cds::value_type;
  using ordinal_type = typename Cds::ordinal_type;
  using sums_type = typename Operands::sums_type;

  const scalar_type* values;
  const ordinal_type* offsets;
  std::int64_t diagonals;
  std::int64_t rows;
  std::int64_t columns;
  int run_time_block_size;
  Operands operands;

  CdsProduct(const Cds& cds, const Operands& operands_)
      : values(cds.values.data()),
        offsets(cds.offsets.data()),
        diagonals(static_cast<std::int64_t>(cds.numDiagonals())),
        rows(static_cast<std::int64_t>(cds.numRows())),
        columns(static_cast<std::int64_t>(cds.numCols())),
        run_time_block_size(cds.block_size()),
        operands(operands_) {}

  KOKKOS_FORCEINLINE_FUNCTION int block_size() const {
    return BlockSize > 0 ? BlockSize : run_time_block_size;
  }

  /// The first column of the block that a diagonal has in a block row. Where it has left the matrix the
  /// stored values are zeros, so any column will do: clipping costs less than a branch. In the ordinals of
  /// the matrix, which 32-bit registers hold; none of the differences leaves their range.
  KOKKOS_FORCEINLINE_FUNCTION ordinal_type clipped_column(ordinal_type block_row, ordinal_type offset) const {
    const ordinal_type b = static_cast<ordinal_type>(block_size());
    const ordinal_type last_block = static_cast<ordinal_type>(columns - 1) / b;
    offset = offset < -block_row ? -block_row : offset;
    offset = offset > last_block - block_row ? last_block - block_row : offset;
    return (block_row + offset) * b;
  }
};

/// Rows that a lane of a GPU takes, whose values it loads at once: 16 bytes of one block, which share their
/// elements of x, or as much of that as a block has. Rows that are blocks of their own share none; 8 bytes of
/// those help float (7pt 256^3: 0.91 of the read bandwidth with them, 0.72 without, 0.81 with 16; H200), and
/// 16 cost double (0.93 in place of 1.00). The rows of the matrix must be a multiple, and the values aligned.
template <class ExecutionSpace, class Scalar, int BlockSize, int Columns>
constexpr int cds_rows_per_lane() {
  if (!runs_on_gpu_v<ExecutionSpace> || Columns > 1 || BlockSize == 0) return 1;
  const std::size_t bytes = BlockSize == 1 ? 8 : 16;
  int rows = sizeof(Scalar) < bytes ? static_cast<int>(bytes / sizeof(Scalar)) : 1;
  while (BlockSize > 1 && BlockSize % rows != 0)
    rows /= 2;
  return rows;
}

/// Modes N and C: one lane RowsPerLane elements of y (one in Godwin et al. 2012, section 3.3). Products are
/// added by ascending column.
template <class ExecutionSpace, class Cds, class Operands, int BlockSize, bool Conjugate, int RowsPerLane>
struct CdsSpmv : CdsProduct<ExecutionSpace, Cds, Operands, BlockSize> {
  using base = CdsProduct<ExecutionSpace, Cds, Operands, BlockSize>;
  using base::base;
  using typename base::launch;
  using typename base::ordinal_type;
  using typename base::scalar_type;
  using typename base::sums_type;
  using pack_type = Pack<scalar_type, RowsPerLane>;
  using stored_row_type = stored_row_t<ordinal_type>;

  KOKKOS_FORCEINLINE_FUNCTION ordinal_type clipped_to_matrix(ordinal_type column, ordinal_type c) const {
    const ordinal_type last = static_cast<ordinal_type>(this->columns - 1) - column;
    return column + (c < last ? c : last);
  }

  /// Adds the products of the lane's values in one column of the matrix.
  KOKKOS_FORCEINLINE_FUNCTION void add_element(sums_type (&sums)[RowsPerLane], const pack_type& pack,
                                               ordinal_type column) const {
    for (int r = 0; r < RowsPerLane; ++r)
      this->operands.add_unless_zero(sums[r], conjugate_if<Conjugate>(pack.values[r]), column);
  }
  /// Element k of the lane's rows, each diagonal having b elements of a row.
  KOKKOS_FORCEINLINE_FUNCTION pack_type load(std::int64_t row, std::int64_t k) const {
    return load_once(reinterpret_cast<const pack_type*>(this->values + k * this->rows + row));
  }

  /// Adds Count diagonals from the given one on. All their loads are independent.
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
      this->operands.add_batch_unless_zero(sums[0], batch, batch_columns);
    } else {
      add_packs<Count>(sums, row, block_row, first_diagonal);
    }
  }

  /// The same for one column of x, RowsPerLane rows at once.
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
        FILIGREE_UNROLL(8)
        for (int c = 0; c < BlockSize; ++c)
          add_element(sums, load(row, diagonal * BlockSize + c), clipped_to_matrix(column, c));
      }
    }
  }

  /// Adds the diagonals from d on, at most Most of them, as one batch of just their number: a loop over them
  /// would load one after the other.
  template <int Most>
  KOKKOS_FORCEINLINE_FUNCTION void add_rest(sums_type (&sums)[RowsPerLane], std::int64_t row,
                                            ordinal_type block_row, std::int64_t d) const {
    if constexpr (Most > 0) {
      if (this->diagonals - d == Most)
        add_diagonals<Most>(sums, row, block_row, d);
      else
        add_rest<Most - 1>(sums, row, block_row, d);
    }
  }

  /// Adds the elements of a row whose value of the first is given, which lie on one diagonal or on two: the
  /// first `split` from column on, the others from next_column on. Where not Whole there are just `count`.
  template <int Batch, bool Whole>
  KOKKOS_FORCEINLINE_FUNCTION void add_elements(sums_type (&sums)[RowsPerLane],
                                                const scalar_type* KOKKOS_RESTRICT value, int count,
                                                int split, stored_row_type column,
                                                stored_row_type next_column) const {
    const stored_row_type last = static_cast<stored_row_type>(this->columns - 1);
    scalar_type batch[Batch];
    ordinal_type batch_columns[Batch];
    FILIGREE_UNROLL(8)
    for (int u = 0; u < Batch; ++u) {
      batch[u] = Whole || u < count ? conjugate_if<Conjugate>(load_once(value)) : scalar_type(0);
      value += this->rows;
      const stored_row_type here = (u < split ? column : next_column - split) + u;
      batch_columns[u] = static_cast<ordinal_type>(here < last ? here : last);
    }
    this->operands.add_batch_unless_zero(sums[0], batch, batch_columns);
  }

  /// For blocks of any size above largest_compiled_block_size, by batches that do not end with a diagonal: a
  /// batch of what is left of one would wait as long for little.
  KOKKOS_FORCEINLINE_FUNCTION void add_large_blocks(sums_type (&sums)[RowsPerLane], std::int64_t row,
                                                    ordinal_type block_row) const {
    constexpr int batch = 8;
    static_assert(batch <= largest_compiled_block_size, "A batch must not reach a third diagonal.");
    const int b = this->block_size();
    const int last_diagonal = static_cast<int>(this->diagonals) - 1;
    const scalar_type* value = this->values + row;
    int d = 0;
    int c = 0;
    ordinal_type column = this->clipped_column(block_row, this->offsets[0]);
    ordinal_type next_column = this->clipped_column(block_row, this->offsets[d < last_diagonal ? 1 : 0]);
    FILIGREE_UNROLL(1)
    while (d < last_diagonal || (d == last_diagonal && c + batch <= b)) {
      add_elements<batch, true>(sums, value, batch, b - c, column + c, next_column);
      value += batch * this->rows;
      c += batch;
      if (c >= b) {
        c -= b;
        ++d;
        column = next_column;
        next_column =
            this->clipped_column(block_row, this->offsets[d < last_diagonal ? d + 1 : last_diagonal]);
      }
    }
    if (d == last_diagonal && c < b)
      add_elements<batch, false>(sums, value, b - c, b - c, column + c, column);
  }

  KOKKOS_FORCEINLINE_FUNCTION void row_product(const std::int64_t row) const {
    const ordinal_type block_row =
        static_cast<ordinal_type>(row) / static_cast<ordinal_type>(this->block_size());
    sums_type sums[RowsPerLane];
    // Not by = {}, which nvcc 13.0 forgets for arrays of arrays of a class.
    for (int r = 0; r < RowsPerLane; ++r)
      for (int c = 0; c < Operands::most_columns; ++c)
        sums[r][c] = typename Operands::accumulator_type(0);
    if constexpr (BlockSize == 0) {
      add_large_blocks(sums, row, block_row);
    } else {
      // Loads enough under way keep the memory busy; small blocks take several diagonals for them.
      constexpr int batch = BlockSize < 8 ? 8 / BlockSize : 1;
      std::int64_t d = 0;
      for (; d + batch <= this->diagonals; d += batch)
        add_diagonals<batch>(sums, row, block_row, d);
      add_rest<batch - 1>(sums, row, block_row, d);
    }
    this->operands.store_rows(sums, row);
  }

  /// The same sums, in the same order, for the rows first to first + count - 1 on a host: there a core reads
  /// the b columns of one diagonal at a time, as streams, into sums that stay in its caches.
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
      const scalar_type* KOKKOS_RESTRICT value = this->values + d * b * this->rows;
      // The block rows of the tile whose block on this diagonal begins in the matrix, and among them the run
      // of those that are whole, in the matrix and in the tile.
      const std::int64_t begin = larger(first / b, -offset);
      const std::int64_t end = smaller((first + count - 1) / b, (this->columns - 1) / b - offset) + 1;
      const std::int64_t whole_begin = larger(begin, (first + b - 1) / b);
      const std::int64_t whole_end = smaller(end, smaller((first + count) / b, this->columns / b - offset));
      if (BlockSize == 0 || whole_begin >= whole_end) {
        partial_blocks(sums, value, first, count, begin, end, offset);
        continue;
      }
      partial_blocks(sums, value, first, count, begin, whole_begin, offset);
      if (this->operands.x.row_stride() == 1)
        whole_blocks<true>(&sums[whole_begin * b - first], value, whole_begin, whole_end, offset);
      else
        whole_blocks<false>(&sums[whole_begin * b - first], value, whole_begin, whole_end, offset);
      partial_blocks(sums, value, first, count, whole_end, end, offset);
    }
    for (std::int64_t row = 0; row < count; ++row)
      this->operands.store(sums[row], first + row);
  }

  /// Diagonals of blocks of one that a host adds at once, as a sum is loaded and stored once for all of them.
  static constexpr int band = 4;

  /// Adds `band` diagonals from the given one on to the sums of a tile.
  KOKKOS_INLINE_FUNCTION void add_band(sums_type* KOKKOS_RESTRICT sums, const std::int64_t first,
                                       const std::int64_t count, const std::int64_t first_diagonal) const {
    const scalar_type* KOKKOS_RESTRICT value = this->values + first_diagonal * this->rows + first;
    std::int64_t columns_of_first[band];
    // The rows of the tile in which all of these diagonals are in the matrix.
    std::int64_t begin = 0;
    std::int64_t end = count;
    for (int i = 0; i < band; ++i) {
      columns_of_first[i] = first + static_cast<std::int64_t>(this->offsets[first_diagonal + i]);
      begin = larger(begin, -columns_of_first[i]);
      end = smaller(end, this->columns - columns_of_first[i]);
    }
    begin = smaller(begin, count);
    end = larger(begin, end);
    const auto add_cut_rows = [&](const std::int64_t from, const std::int64_t to) {
      for (int i = 0; i < band; ++i)
        for (std::int64_t row = larger(from, -columns_of_first[i]);
             row < smaller(to, this->columns - columns_of_first[i]); ++row)
          this->operands.add_unless_zero(sums[row], conjugate_if<Conjugate>(value[i * this->rows + row]),
                                         row + columns_of_first[i]);
    };
    add_cut_rows(0, begin);
    const std::int64_t next_band = smaller(this->diagonals - first_diagonal, 2 * band);
    constexpr std::int64_t chunk = 64;
    for (std::int64_t row = begin; row < end; row += chunk) {
      // See RowTile::ahead in core/row_tile.hpp (27-point 60^3 on one core: 0.75 times Kokkos Kernels'
      // CRS, 1.15 without).
      for (std::int64_t i = band; i < next_band; ++i)
        prefetch_elements(value + i * this->rows + row, chunk);
      add_whole_rows(sums, value, columns_of_first, row, smaller(row + chunk, end));
    }
    add_cut_rows(end, count);
  }

  /// The same for the rows from begin to end - 1 of the tile, with all of the band in the matrix and an x of
  /// stride 1.
  KOKKOS_FORCEINLINE_FUNCTION void add_whole_rows(sums_type* KOKKOS_RESTRICT sums,
                                                  const scalar_type* KOKKOS_RESTRICT value,
                                                  const std::int64_t (&columns_of_first)[band],
                                                  const std::int64_t begin, const std::int64_t end) const {
    using accumulator_type = typename Operands::accumulator_type;
    const std::int64_t stride = this->rows;
    for (int column = 0; this->operands.has(column) && column < Operands::most_columns; ++column) {
      const auto* KOKKOS_RESTRICT x = &this->operands.x(0, column);
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

  /// Chooses the factor: a compiler that may not compute what could trap would branch for a product, and so
  /// would use no vector registers.
  template <class Factor>
  static KOKKOS_FORCEINLINE_FUNCTION void add_unless_zero(typename Operands::accumulator_type& sum,
                                                          const scalar_type& value, const Factor& factor) {
    const scalar_type a = conjugate_if<Conjugate>(value);
    sum += widen<typename Operands::accumulator_type>(a) * (a == scalar_type(0) ? Factor(0) : factor);
  }

  /// Adds the blocks of the block rows begin to end - 1, none of them cut. A known stride of x lets the
  /// compiler use vector registers.
  template <bool UnitStride>
  KOKKOS_FORCEINLINE_FUNCTION void whole_blocks(sums_type* KOKKOS_RESTRICT sums,
                                                const scalar_type* KOKKOS_RESTRICT value,
                                                const std::int64_t begin, const std::int64_t end,
                                                const std::int64_t offset) const {
    using accumulator_type = typename Operands::accumulator_type;
    constexpr int b = BlockSize > 0 ? BlockSize : 1;
    const std::int64_t x_stride = UnitStride ? 1 : this->operands.x.row_stride();
    const std::int64_t rows = this->rows;
    for (int column = 0; this->operands.has(column) && column < Operands::most_columns; ++column) {
      const auto* KOKKOS_RESTRICT x = &this->operands.x((begin + offset) * b, column);
      for (std::int64_t block = 0; block < end - begin; ++block)
        for (int c = 0; c < b; ++c) {
          const auto factor = widen<accumulator_type>(x[(block * b + c) * x_stride]);
          FILIGREE_UNROLL(8)
          for (int r = 0; r < b; ++r)
            add_unless_zero(sums[block * b + r][column], value[c * rows + (begin + block) * b + r], factor);
        }
    }
  }

  /// Adds the blocks of the block rows begin to end - 1, cut to the tile and to the matrix.
  KOKKOS_INLINE_FUNCTION void partial_blocks(sums_type* sums, const scalar_type* value,
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
                                         conjugate_if<Conjugate>(value[c * this->rows + row]), column + c);
    }
  }

  static KOKKOS_FORCEINLINE_FUNCTION std::int64_t smaller(std::int64_t p, std::int64_t q) {
    return p < q ? p : q;
  }
  static KOKKOS_FORCEINLINE_FUNCTION std::int64_t larger(std::int64_t p, std::int64_t q) {
    return p > q ? p : q;
  }

  KOKKOS_INLINE_FUNCTION void operator()(const typename launch::member_type& team) const {
    if constexpr (launch::gpu)
      launch::for_each_row(team, this->rows / RowsPerLane,
                           [&](const std::int64_t i) { row_product(i * RowsPerLane); });
    else
      launch::template for_each_tile<sums_type>(
          team, this->rows,
          [&](const std::int64_t first, const std::int64_t count) { tile_product(first, count); });
  }
};

/// Modes N and C for several columns of x on a GPU, where the loads of x, one for each column and value, cost
/// more than those of the values: a lane takes RowsPerLane rows of a block and four columns, so that an
/// element of x, of which it loads 16 bytes at once, serves all these rows. Other columns are other lanes',
/// which load the same values at the same time. Of 8 columns in double (7pt 100^3 b=4, H200) a lane a row
/// made 2.05 times single products.
template <class ExecutionSpace, class Cds, class Operands, int BlockSize, bool Conjugate>
struct CdsColumnsSpmv : CdsProduct<ExecutionSpace, Cds, Operands, BlockSize> {
  using base = CdsProduct<ExecutionSpace, Cds, Operands, BlockSize>;
  using base::base;
  using launch = RowLaunch<ExecutionSpace, 256, 2>;
  using typename base::ordinal_type;
  using typename base::scalar_type;
  using x_type = typename Operands::x_type;
  static constexpr int columns_per_lane = 4;
  static constexpr int x_per_load = sizeof(x_type) < 16 ? static_cast<int>(16 / sizeof(x_type)) : 1;
  static constexpr int rows_per_lane = sizeof(scalar_type) <= 8 && BlockSize % 4 == 0 ? 4 : 2;
  static constexpr bool exists = launch::gpu && Operands::most_columns > 1 && BlockSize > 0 &&
                                 BlockSize % 2 == 0 && BlockSize % x_per_load == 0;
  using pack_type = Pack<scalar_type, rows_per_lane>;
  using x_pack_type = Pack<x_type, x_per_load>;

  /// Whether x and the matrix have what the loads need.
  bool can() const {
    constexpr std::uintptr_t bytes = sizeof(x_pack_type);
    const auto& x = this->operands.x;
    return this->columns % BlockSize == 0 && this->rows % rows_per_lane == 0 &&
           x.row_bytes == static_cast<int>(sizeof(x_type)) &&
           reinterpret_cast<std::uintptr_t>(x.data) % bytes == 0 &&
           x.column_stride * sizeof(x_type) % bytes == 0 &&
           reinterpret_cast<std::uintptr_t>(this->values) % sizeof(pack_type) == 0;
  }

  /// Lanes for the columns: a power of two.
  int column_lanes() const {
    int lanes = 1;
    while (lanes * columns_per_lane < this->operands.columns)
      lanes *= 2;
    return lanes;
  }

  KOKKOS_FORCEINLINE_FUNCTION void row_product(const std::int64_t row, const int first_column) const {
    using accumulator_type = typename Operands::accumulator_type;
    const auto operands = this->operands.template from_column<columns_per_lane>(first_column);
    using sums_type = typename decltype(operands)::sums_type;
    const ordinal_type block_row = static_cast<ordinal_type>(row) / BlockSize;
    sums_type sums[rows_per_lane];
    for (int r = 0; r < rows_per_lane; ++r)
      for (int c = 0; c < columns_per_lane; ++c)
        sums[r][c] = accumulator_type(0);
    const scalar_type* value = this->values + row;
    FILIGREE_UNROLL(1)
    for (std::int64_t d = 0; d < this->diagonals; ++d) {
      const ordinal_type column = this->clipped_column(block_row, this->offsets[d]);
      FILIGREE_UNROLL(4)
      for (int first = 0; first < BlockSize; first += x_per_load) {
        pack_type packs[x_per_load];
        FILIGREE_UNROLL(4)
        for (int i = 0; i < x_per_load; ++i) {
          packs[i] = load_once(reinterpret_cast<const pack_type*>(value));
          value += this->rows;
        }
        operands.for_each_column([&](int c, int column_of_x) {
          const x_pack_type factors =
              *reinterpret_cast<const x_pack_type*>(&operands.x(column + first, column_of_x));
          for (int i = 0; i < x_per_load; ++i)
            for (int r = 0; r < rows_per_lane; ++r)
              operands.add_unless_zero(sums[r][c], conjugate_if<Conjugate>(packs[i].values[r]),
                                       factors.values[i]);
        });
      }
    }
    operands.store_rows(sums, row);
  }

  KOKKOS_INLINE_FUNCTION void operator()(const typename launch::member_type& team) const {
    const std::int64_t items = this->rows / rows_per_lane;
    const std::int64_t first = static_cast<std::int64_t>(team.league_rank()) * team.team_size();
    const std::int64_t count = items - first < team.team_size() ? items - first : team.team_size();
    Kokkos::parallel_for(Kokkos::TeamThreadRange(team, static_cast<int>(count)), [&](const int i) {
      Kokkos::parallel_for(Kokkos::ThreadVectorRange(team, Operands::most_columns / columns_per_lane),
                           [&](const int lane) {
                             if (lane * columns_per_lane < this->operands.columns)
                               row_product((first + i) * rows_per_lane, lane * columns_per_lane);
                           });
    });
  }
};

/// Modes T and H: one lane an element of y, that is a column of A, which reads the same diagonals by columns.
/// No atomics: same bits on every run.
template <class ExecutionSpace, class Cds, class Operands, int BlockSize, bool Conjugate>
struct CdsSpmvTranspose : CdsProduct<ExecutionSpace, Cds, Operands, BlockSize> {
  using base = CdsProduct<ExecutionSpace, Cds, Operands, BlockSize>;
  using base::base;
  using typename base::launch;
  using typename base::scalar_type;
  using typename base::sums_type;

  KOKKOS_FORCEINLINE_FUNCTION void column_product(const std::int64_t column) const {
    const int b = this->block_size();
    const std::int64_t block_column = column / b;
    const std::int64_t column_in_block = column - block_column * b;
    sums_type sums = {};
    for (std::int64_t d = 0; d < this->diagonals; ++d) {
      const std::int64_t row = (block_column - static_cast<std::int64_t>(this->offsets[d])) * b;
      if (row < 0 || row >= this->rows) continue;
      const scalar_type* KOKKOS_RESTRICT value = this->values + (d * b + column_in_block) * this->rows + row;
      const int count = this->rows - row < b ? static_cast<int>(this->rows - row) : b;
      FILIGREE_UNROLL(8)
      for (int r = 0; r < count; ++r)
        this->operands.add_unless_zero(sums, conjugate_if<Conjugate>(value[r]), row + r);
    }
    this->operands.store(sums, column);
  }

  KOKKOS_INLINE_FUNCTION void operator()(const typename launch::member_type& team) const {
    launch::for_each_row(team, this->columns, [&](const std::int64_t column) { column_product(column); });
  }
};

/// The product of diagonals whose block size is BlockSize, or if that is 0 known at run time.
template <int BlockSize, class ExecutionSpace, class S, class O, class D, class M, class Z, class Operands>
void diagonal_spmv(const ExecutionSpace& exec, const std::string& name, Mode mode,
                   const CdsMatrix<S, O, D, M, Z>& cds, const Operands& operands) {
  using Cds = CdsMatrix<S, O, D, M, Z>;
  const std::int64_t extent_of_y =
      static_cast<std::int64_t>(is_transpose(mode) ? cds.numCols() : cds.numRows());
  const auto launch = [&](const auto& kernel, int rows_per_lane) {
    using Launch = typename std::decay_t<decltype(kernel)>::launch;
    Kokkos::parallel_for(name, Launch::policy(exec, extent_of_y / rows_per_lane), kernel);
  };
  with_mode<S>(mode, [&](auto transpose, auto conjugate) {
    constexpr bool c = decltype(conjugate)::value;
    constexpr int packed = cds_rows_per_lane<ExecutionSpace, S, BlockSize, Operands::most_columns>();
    if constexpr (decltype(transpose)::value) {
      launch(CdsSpmvTranspose<ExecutionSpace, Cds, Operands, BlockSize, c>(cds, operands), 1);
    } else {
      using Columns = CdsColumnsSpmv<ExecutionSpace, Cds, Operands, BlockSize, c>;
      if constexpr (Columns::exists) {
        const Columns kernel(cds, operands);
        if (kernel.can()) {
          const int lanes = kernel.column_lanes();
          Kokkos::parallel_for(name,
                               Columns::launch::policy(exec, extent_of_y / Columns::rows_per_lane,
                                                       Columns::launch::team_size, lanes),
                               kernel);
          return;
        }
      }
      if constexpr (packed > 1)
        if (extent_of_y % packed == 0 && reinterpret_cast<std::uintptr_t>(cds.values.data()) % 16 == 0) {
          launch(CdsSpmv<ExecutionSpace, Cds, Operands, BlockSize, c, packed>(cds, operands), packed);
          return;
        }
      launch(CdsSpmv<ExecutionSpace, Cds, Operands, BlockSize, c, 1>(cds, operands), 1);
    }
  });
}

/// The product, everything checked and A with entries.
template <class ExecutionSpace, class S, class O, class D, class M, class Z, class Operands>
void spmv_kernel(const ExecutionSpace& exec, const std::string& name, Mode mode,
                 const CdsMatrix<S, O, D, M, Z>& cds, const Operands& operands) {
  with_block_size(cds.block_size(), [&](auto block_size) {
    diagonal_spmv<decltype(block_size)::value>(exec, name, mode, cds, operands);
  });
}

}  // namespace Impl
}  // namespace Filigree

#endif

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FILIGREE_FORMATS_CDS_CDS_SPMV_HPP
#define FILIGREE_FORMATS_CDS_CDS_SPMV_HPP

#include <cstdint>
#include <string>

#include "filigree/core/launch.hpp"
#include "filigree/core/mode.hpp"
#include "filigree/core/multi_vector.hpp"
#include "filigree/core/region.hpp"
#include "filigree/core/scalar.hpp"
#include "filigree/core/scale.hpp"
#include "filigree/formats/cds/cds_matrix.hpp"

namespace Filigree {
namespace Impl {

/// What the kernels of CDS share. BlockSize is b where it is known at compile time, else 0.
template <class ExecutionSpace, class Cds, class X, class Y, int BlockSize, int Columns>
struct CdsProduct {
  using launch = RowLaunch<ExecutionSpace>;
  using scalar_type = typename Cds::value_type;
  using ordinal_type = typename Cds::ordinal_type;
  using accumulator_type = wider_t<scalar_type, X, Y>;

  const scalar_type* values;
  const ordinal_type* offsets;
  std::int64_t diagonals;
  std::int64_t rows;
  std::int64_t columns_of_matrix;
  int run_time_block_size;
  MultiVector<const X> x;
  MultiVector<Y> y;
  int columns;
  accumulator_type alpha;
  accumulator_type beta;

  KOKKOS_FORCEINLINE_FUNCTION int block_size() const {
    return BlockSize > 0 ? BlockSize : run_time_block_size;
  }

  /// sum += a * x(row, :). A stored zero adds nothing, whatever x holds, as it may be padding; x is loaded
  /// first all the same, so that its load does not wait for that of the value.
  KOKKOS_FORCEINLINE_FUNCTION void add(accumulator_type (&sum)[Columns], const scalar_type& value,
                                       std::int64_t row_of_x) const {
    const auto a = widen<accumulator_type>(value);
    for (int c = 0; c < Columns; ++c) {
      if (Columns > 1 && c >= columns) continue;
      const accumulator_type product = accumulator_type(a * widen<accumulator_type>(x(row_of_x, c)));
      sum[c] += value == scalar_type(0) ? accumulator_type(0) : product;
    }
  }

  KOKKOS_FORCEINLINE_FUNCTION void store(const accumulator_type (&sum)[Columns], std::int64_t row) const {
    for (int c = 0; c < Columns; ++c)
      if (Columns == 1 || c < columns) update(y(row, c), beta, accumulator_type(alpha * sum[c]));
  }
};

/// Modes N and C: one lane an element of y (Godwin et al. 2012, section 3.3). Products are added by ascending
/// column.
template <class ExecutionSpace, class Cds, class X, class Y, int BlockSize, int Columns, bool Conjugate>
struct CdsSpmv : CdsProduct<ExecutionSpace, Cds, X, Y, BlockSize, Columns> {
  using base = CdsProduct<ExecutionSpace, Cds, X, Y, BlockSize, Columns>;
  using typename base::accumulator_type;
  using typename base::launch;
  using typename base::scalar_type;

  explicit CdsSpmv(const base& product) : base(product) {}

  /// Adds Count diagonals from the given one on. All their loads are independent: eight values in flight a
  /// lane are what keeps the memory of a GPU busy, so small blocks take several diagonals at once.
  template <int Count>
  KOKKOS_FORCEINLINE_FUNCTION void add_diagonals(accumulator_type (&sum)[Columns], std::int64_t row,
                                                 std::int64_t block_row, std::int64_t first_diagonal) const {
    const int b = this->block_size();
    const std::int64_t last_block_column = (this->columns_of_matrix - 1) / b;
    FILIGREE_UNROLL(8)
    for (int i = 0; i < Count; ++i) {
      // Where a diagonal has left the matrix the stored values are zeros, so any column will do: clipping
      // costs less than a branch.
      std::int64_t block_column = block_row + static_cast<std::int64_t>(this->offsets[first_diagonal + i]);
      block_column = block_column < 0 ? 0 : block_column;
      block_column = block_column > last_block_column ? last_block_column : block_column;
      const std::int64_t column = block_column * b;
      const std::int64_t last = this->columns_of_matrix - 1 - column;
      const scalar_type* KOKKOS_RESTRICT value = this->values + (first_diagonal + i) * b * this->rows + row;
      FILIGREE_UNROLL(8)
      for (int c = 0; c < b; ++c)
        this->add(sum, conjugate_if<Conjugate>(value[c * this->rows]), column + (c < last ? c : last));
    }
  }

  KOKKOS_FORCEINLINE_FUNCTION void row_product(const std::int64_t row) const {
    constexpr int batch = BlockSize == 1 ? 8 : BlockSize == 2 ? 4 : BlockSize == 3 || BlockSize == 4 ? 2 : 1;
    const std::int64_t block_row = row / this->block_size();
    accumulator_type sum[Columns] = {};
    std::int64_t d = 0;
    for (; d + batch <= this->diagonals; d += batch)
      add_diagonals<batch>(sum, row, block_row, d);
    // The rest in powers of two, each unrolled: a loop over it would load one diagonal after the other.
    if constexpr (batch > 4)
      if (d + 4 <= this->diagonals) {
        add_diagonals<4>(sum, row, block_row, d);
        d += 4;
      }
    if constexpr (batch > 2)
      if (d + 2 <= this->diagonals) {
        add_diagonals<2>(sum, row, block_row, d);
        d += 2;
      }
    if constexpr (batch > 1)
      if (d < this->diagonals) add_diagonals<1>(sum, row, block_row, d);
    this->store(sum, row);
  }

  /// The same sums, in the same order, for the rows first to first + count - 1 on a host: there a core reads
  /// the b columns of one diagonal at a time, as streams, into sums that stay in its first cache.
  KOKKOS_INLINE_FUNCTION void tile_product(const std::int64_t first, const std::int64_t count) const {
    const std::int64_t b = this->block_size();
    accumulator_type sums[launch::tile][Columns] = {};
    for (std::int64_t d = 0; d < this->diagonals; ++d) {
      const std::int64_t offset = static_cast<std::int64_t>(this->offsets[d]);
      const scalar_type* KOKKOS_RESTRICT value = this->values + d * b * this->rows;
      // The block rows of the tile whose block on this diagonal begins in the matrix, and among them the run
      // of those that are whole, in the matrix and in the tile.
      const std::int64_t begin = larger(first / b, -offset);
      const std::int64_t end =
          smaller((first + count - 1) / b, (this->columns_of_matrix - 1) / b - offset) + 1;
      const std::int64_t whole_begin = larger(begin, (first + b - 1) / b);
      const std::int64_t whole_end =
          smaller(end, smaller((first + count) / b, this->columns_of_matrix / b - offset));
      if (BlockSize == 0 || whole_begin >= whole_end) {
        partial_blocks(sums, value, first, count, begin, end, offset);
        continue;
      }
      partial_blocks(sums, value, first, count, begin, whole_begin, offset);
      if (this->x.row_stride == 1)
        whole_blocks<true>(&sums[whole_begin * b - first], value, whole_begin, whole_end, offset);
      else
        whole_blocks<false>(&sums[whole_begin * b - first], value, whole_begin, whole_end, offset);
      partial_blocks(sums, value, first, count, whole_end, end, offset);
    }
    for (std::int64_t row = 0; row < count; ++row)
      this->store(sums[row], first + row);
  }

  /// Adds the blocks of the block rows begin to end - 1, none of them cut. A known stride of x lets the
  /// compiler use vector registers.
  template <bool UnitStride>
  KOKKOS_FORCEINLINE_FUNCTION void whole_blocks(accumulator_type (*KOKKOS_RESTRICT sums)[Columns],
                                                const scalar_type* KOKKOS_RESTRICT value,
                                                const std::int64_t begin, const std::int64_t end,
                                                const std::int64_t offset) const {
    constexpr int b = BlockSize > 0 ? BlockSize : 1;
    const std::int64_t x_stride = UnitStride ? 1 : this->x.row_stride;
    const std::int64_t rows = this->rows;
    for (int column = 0; column < Columns; ++column) {
      if (Columns > 1 && column >= this->columns) break;
      const auto* KOKKOS_RESTRICT x = &this->x((begin + offset) * b, column);
      for (std::int64_t block = 0; block < end - begin; ++block)
        for (int c = 0; c < b; ++c) {
          const auto factor = widen<accumulator_type>(x[(block * b + c) * x_stride]);
          FILIGREE_UNROLL(8)
          for (int r = 0; r < b; ++r) {
            const scalar_type v = value[c * rows + (begin + block) * b + r];
            const auto product =
                accumulator_type(widen<accumulator_type>(conjugate_if<Conjugate>(v)) * factor);
            sums[block * b + r][column] += v == scalar_type(0) ? accumulator_type(0) : product;
          }
        }
    }
  }

  /// Adds the blocks of the block rows begin to end - 1, cut to the tile and to the matrix.
  KOKKOS_INLINE_FUNCTION void partial_blocks(accumulator_type (*sums)[Columns], const scalar_type* value,
                                             const std::int64_t first, const std::int64_t count,
                                             const std::int64_t begin, const std::int64_t end,
                                             const std::int64_t offset) const {
    const std::int64_t b = this->block_size();
    for (std::int64_t block_row = begin; block_row < end; ++block_row) {
      const std::int64_t column = (block_row + offset) * b;
      const std::int64_t column_count = smaller(b, this->columns_of_matrix - column);
      for (std::int64_t c = 0; c < column_count; ++c)
        for (std::int64_t row = larger(block_row * b, first); row < smaller(block_row * b + b, first + count);
             ++row)
          this->add(sums[row - first], conjugate_if<Conjugate>(value[c * this->rows + row]), column + c);
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
      launch::for_each_row(team, this->rows, [&](const std::int64_t row) { row_product(row); });
    else
      launch::for_each_tile(team, this->rows, [&](const std::int64_t first, const std::int64_t count) {
        tile_product(first, count);
      });
  }
};

/// Modes T and H: one lane an element of y, that is a column of A, which reads the same diagonals by columns.
/// No atomics: same bits on every run.
template <class ExecutionSpace, class Cds, class X, class Y, int BlockSize, int Columns, bool Conjugate>
struct CdsSpmvTranspose : CdsProduct<ExecutionSpace, Cds, X, Y, BlockSize, Columns> {
  using base = CdsProduct<ExecutionSpace, Cds, X, Y, BlockSize, Columns>;
  using typename base::accumulator_type;
  using typename base::launch;
  using typename base::scalar_type;

  explicit CdsSpmvTranspose(const base& product) : base(product) {}

  KOKKOS_FORCEINLINE_FUNCTION void column_product(const std::int64_t column) const {
    const int b = this->block_size();
    const std::int64_t block_column = column / b;
    const std::int64_t column_in_block = column - block_column * b;
    accumulator_type sum[Columns] = {};
    for (std::int64_t d = 0; d < this->diagonals; ++d) {
      const std::int64_t row = (block_column - static_cast<std::int64_t>(this->offsets[d])) * b;
      if (row < 0 || row >= this->rows) continue;
      const scalar_type* KOKKOS_RESTRICT value = this->values + (d * b + column_in_block) * this->rows + row;
      const int count = this->rows - row < b ? static_cast<int>(this->rows - row) : b;
      FILIGREE_UNROLL(8)
      for (int r = 0; r < count; ++r)
        this->add(sum, conjugate_if<Conjugate>(value[r]), row + r);
    }
    this->store(sum, column);
  }

  KOKKOS_INLINE_FUNCTION void operator()(const typename launch::member_type& team) const {
    launch::for_each_row(team, this->columns_of_matrix,
                         [&](const std::int64_t column) { column_product(column); });
  }
};

template <template <class, class, class, class, int, int, bool> class Kernel, int BlockSize, int Columns,
          bool Conjugate, class ExecutionSpace, class Cds, class X, class Y, class Accumulator>
void launch_cds(const ExecutionSpace& exec, const Cds& cds, const MultiVector<const X>& x,
                const MultiVector<Y>& y, int columns, const Accumulator& alpha, const Accumulator& beta,
                std::int64_t extent_of_y) {
  static const std::string name = label("spmv", Cds::name());
  using kernel_type = Kernel<ExecutionSpace, Cds, X, Y, BlockSize, Columns, Conjugate>;
  Kokkos::parallel_for(
      name, kernel_type::launch::policy(exec, extent_of_y),
      kernel_type({cds.values.data(), cds.offsets.data(), static_cast<std::int64_t>(cds.numDiagonals()),
                   static_cast<std::int64_t>(cds.numRows()), static_cast<std::int64_t>(cds.numCols()),
                   cds.block_size(), x, y, columns, alpha, beta}));
}

template <int BlockSize, int Columns, class ExecutionSpace, class Cds, class X, class Y, class Accumulator>
void spmv_block_size(const ExecutionSpace& exec, Mode mode, const Accumulator& alpha, const Cds& cds,
                     const MultiVector<const X>& x, const Accumulator& beta, const MultiVector<Y>& y,
                     int columns) {
  constexpr bool complex = is_complex_v<typename Cds::value_type>;
  const std::int64_t rows = static_cast<std::int64_t>(cds.numRows());
  const std::int64_t matrix_columns = static_cast<std::int64_t>(cds.numCols());
  if (is_transpose(mode)) {
    if (is_conjugate(mode) && complex)
      launch_cds<CdsSpmvTranspose, BlockSize, Columns, complex>(exec, cds, x, y, columns, alpha, beta,
                                                                matrix_columns);
    else
      launch_cds<CdsSpmvTranspose, BlockSize, Columns, false>(exec, cds, x, y, columns, alpha, beta,
                                                              matrix_columns);
  } else {
    if (is_conjugate(mode) && complex)
      launch_cds<CdsSpmv, BlockSize, Columns, complex>(exec, cds, x, y, columns, alpha, beta, rows);
    else
      launch_cds<CdsSpmv, BlockSize, Columns, false>(exec, cds, x, y, columns, alpha, beta, rows);
  }
}

/// The product for up to Columns columns of x and y; spmv has checked everything and A has entries. Block
/// sizes of 1 to 8 have kernels of their own: their loops unroll and their divisions are by constants.
template <int Columns, class ExecutionSpace, class S, class O, class D, class M, class Z, class X, class Y,
          class Accumulator>
void spmv_columns(const ExecutionSpace& exec, Mode mode, const Accumulator& alpha,
                  const CdsMatrix<S, O, D, M, Z>& cds, const MultiVector<const X>& x, const Accumulator& beta,
                  const MultiVector<Y>& y, int columns) {
  switch (cds.block_size()) {
    case 1:
      return spmv_block_size<1, Columns>(exec, mode, alpha, cds, x, beta, y, columns);
    case 2:
      return spmv_block_size<2, Columns>(exec, mode, alpha, cds, x, beta, y, columns);
    case 3:
      return spmv_block_size<3, Columns>(exec, mode, alpha, cds, x, beta, y, columns);
    case 4:
      return spmv_block_size<4, Columns>(exec, mode, alpha, cds, x, beta, y, columns);
    case 5:
      return spmv_block_size<5, Columns>(exec, mode, alpha, cds, x, beta, y, columns);
    case 6:
      return spmv_block_size<6, Columns>(exec, mode, alpha, cds, x, beta, y, columns);
    case 7:
      return spmv_block_size<7, Columns>(exec, mode, alpha, cds, x, beta, y, columns);
    case 8:
      return spmv_block_size<8, Columns>(exec, mode, alpha, cds, x, beta, y, columns);
    default:
      return spmv_block_size<0, Columns>(exec, mode, alpha, cds, x, beta, y, columns);
  }
}

}  // namespace Impl
}  // namespace Filigree

#endif

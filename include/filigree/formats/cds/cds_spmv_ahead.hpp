// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "filigree/core/integer.hpp"
#include "filigree/core/load_once.hpp"
#include "filigree/formats/cds/cds_spmv_common.hpp"

namespace Filigree::Impl {

/// Whether a GPU multiplies with CdsSpmvAhead if batches_are_full(): several columns of x, of a compiled number, that
/// are not row-major, y in memory, ordinals of int, A, x and y all of double or all of float, and a block size with
/// which it was faster than the other kernels (see docs/performance.md, "Values loaded ahead in CDS").
template <class Cds, class Operands, int BlockSize>
constexpr bool cds_can_load_ahead() {
  using value_type = typename Cds::value_type;
  constexpr bool is_double = std::is_same_v<value_type, double>;
  constexpr bool has_measured_types =
      std::is_same_v<typename Cds::ordinal_type, int> && !is_split_v<Cds> &&
      (is_double ||
       std::is_same_v<value_type, float>)&&std::is_same_v<typename Operands::x_type, value_type> &&
      std::is_same_v<typename Operands::y_type, value_type>;
  constexpr bool has_many_columns = Operands::most_columns > 8;
  constexpr bool is_faster = is_double
                                 ? BlockSize > 0 && BlockSize != 2 && !(BlockSize == 8 && has_many_columns)
                                 : BlockSize == 1 || (BlockSize % 2 == 1 && has_many_columns);
  return has_measured_types && is_faster && Operands::most_columns > 1 && Operands::is_exact &&
         !Operands::has_column_lanes && Operands::x_is_in_memory && Operands::y_is_in_memory;
}

/// Whether batches of so many block diagonals hold few zeros after the last diagonal: at most an eighth of all values.
/// They cost the loads of x as other values do.
constexpr bool batches_are_full(std::int64_t diagonals, int per_batch) {
  const std::int64_t with_fill = (diagonals + per_batch - 1) / per_batch * per_batch;
  return 8 * (with_fill - diagonals) <= with_fill;
}

/// Modes N and C on a GPU for 4, 8 or 16 columns of x: one lane per row, with all columns of x. The products of a row
/// are added by ascending column of A.
///
/// A lane multiplies its elements of A in batches of Blocks blocks. At the end of a batch it loads the values of the
/// next one, and then the elements of x for these values. The loads of x need the offsets of the diagonals, but not the
/// values, so that the lane waits for values and x at the same time (see docs/performance.md, "Values loaded ahead in
/// CDS").
///
/// Elements of a row are counted in an int. A row with 2^31 of them would belong to a matrix with more than 2^60
/// values, because the access `exact` keeps a column of x below 2^32 bytes.
template <class ExecutionSpace, class Cds, class Operands, int BlockSize, int Blocks>
struct CdsSpmvAhead : CdsProduct<ExecutionSpace, Cds, Operands, BlockSize> {
  static_assert(runs_on_gpu_v<ExecutionSpace>, "One lane per row is right for a GPU only.");
  using base = CdsProduct<ExecutionSpace, Cds, Operands, BlockSize>;
  using base::base;
  using typename base::ordinal_type;
  using typename base::scalar_type;
  using typename base::sums_type;
  using row_type = stored_row_t<ordinal_type>;

  static constexpr bool is_double = std::is_same_v<scalar_type, double>;
  static constexpr int columns_of_x = Operands::most_columns;
  /// Elements per batch. The last batch is filled up with values of 0.
  static constexpr int batch = Blocks * BlockSize;
  /// 4, 3 and 2 teams leave 64, 80 and 128 registers per lane for the sums of 4, 8 and 16 columns of double. Float
  /// needs fewer, so that one team more fits.
  static constexpr int teams = (columns_of_x <= 4 ? 4 : columns_of_x <= 8 ? 3 : 2) + (is_double ? 0 : 1);
  using launch = RowLaunch<ExecutionSpace, 256, teams>;
  /// Whether offsets are loaded by load_constant(), which makes some of these kernels faster and others slower (see
  /// docs/performance.md, "Values loaded ahead in CDS").
  static constexpr bool offsets_are_constant = is_double && !(BlockSize == 4 && columns_of_x > 8);

  void launch_on(const ExecutionSpace& exec, const std::string& name) const {
    launch_product(exec, name, launch::policy(exec, this->rows), *this);
  }

  KOKKOS_INLINE_FUNCTION void operator()(const typename launch::member_type& team) const {
    const std::int64_t row =
        static_cast<std::int64_t>(team.league_rank()) * launch::team_size + team.team_rank();
    if (row < this->rows) multiply(static_cast<row_type>(row));
  }

 private:
  /// Loads the values of a batch of blocks from first_diagonal on. After the last diagonal they are 0.
  KOKKOS_FORCEINLINE_FUNCTION void load(scalar_type (&batch_values)[batch], row_type row,
                                        int first_diagonal) const {
    const int count = static_cast<int>(this->diagonals) * BlockSize;
    FILIGREE_UNROLL(8)
    for (int i = 0; i < batch; ++i) {
      const int k = first_diagonal * BlockSize + i;
      batch_values[i] = k < count ? load_once(this->values + (k * this->stride + row)) : scalar_type(0);
    }
  }

  /// The columns of A of a batch of blocks from first_diagonal on.
  KOKKOS_FORCEINLINE_FUNCTION void find_columns(ordinal_type (&batch_columns)[batch], ordinal_type block_row,
                                                int first_diagonal) const {
    const int count = static_cast<int>(this->diagonals);
    FILIGREE_UNROLL(8)
    for (int i = 0; i < Blocks; ++i) {
      const int diagonal = first_diagonal + i < count ? first_diagonal + i : count - 1;
      const ordinal_type* const offset = this->offsets + diagonal;
      const ordinal_type column =
          this->clipped_column(block_row, offsets_are_constant ? load_constant(offset) : *offset);
      batch_columns[i * BlockSize] = column;
      // A block that the end of the matrix cuts has columns outside of it.
      const ordinal_type last = static_cast<ordinal_type>(this->columns - 1) - column;
      FILIGREE_UNROLL(8)
      for (int c = 1; c < BlockSize; ++c)
        batch_columns[i * BlockSize + c] = column + (c < last ? c : last);
    }
  }

  KOKKOS_FORCEINLINE_FUNCTION void multiply(const row_type row) const {
    const ordinal_type block_row = static_cast<ordinal_type>(row) / BlockSize;
    sums_type sums = {};
    scalar_type batch_values[batch];
    load(batch_values, row, 0);
    FILIGREE_UNROLL(1)
    for (int first = 0; first < static_cast<int>(this->diagonals); first += Blocks) {
      ordinal_type batch_columns[batch];
      find_columns(batch_columns, block_row, first);
      this->operands.template add_batch_unless_zero<Operands::column_group>(sums, batch_values,
                                                                            batch_columns);
      load(batch_values, row, first + Blocks);
    }
    this->operands.store(sums, row);
  }
};

}  // namespace Filigree::Impl

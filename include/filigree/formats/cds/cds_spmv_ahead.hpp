// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "filigree/core/integer.hpp"
#include "filigree/core/load_once.hpp"
#include "filigree/formats/cds/cds_spmv_common.hpp"

namespace Filigree::Impl {

/// Whether a GPU can use CdsSpmvAhead: block size 1, a compiled number of several columns of x that are not
/// row-major, y in memory, ordinals of int, and A, x, y and sums of double. Other cases were not measured.
template <class Cds, class Operands, int BlockSize>
constexpr bool cds_can_load_ahead() {
  constexpr bool is_measured_type =
      std::is_same_v<typename Cds::ordinal_type, int> && std::is_same_v<typename Cds::value_type, double> &&
      std::is_same_v<typename Operands::x_type, double> && std::is_same_v<typename Operands::y_type, double>;
  return BlockSize == 1 && !is_split_v<Cds> && is_measured_type && Operands::most_columns > 1 &&
         Operands::is_exact && !Operands::has_column_lanes && Operands::x_is_in_memory &&
         Operands::y_is_in_memory;
}

/// Modes N and C on a GPU for block size 1 and 4, 8 or 16 columns of x: one lane per row, with all columns of x.
/// The products of a row are added by ascending column of A.
///
/// A lane multiplies the diagonals in batches. At the end of a batch it loads the values of the next one, and then
/// the elements of x for these values. The loads of x need the offsets of the diagonals, but not the values, so that
/// the lane waits for values and x at the same time (see docs/performance.md, "Values loaded ahead in CDS").
template <class ExecutionSpace, class Cds, class Operands>
struct CdsSpmvAhead : CdsProduct<ExecutionSpace, Cds, Operands, 1> {
  static_assert(runs_on_gpu_v<ExecutionSpace>, "One lane per row is right for a GPU only.");
  using base = CdsProduct<ExecutionSpace, Cds, Operands, 1>;
  using base::base;
  using typename base::ordinal_type;
  using typename base::sums_type;
  using row_type = stored_row_t<ordinal_type>;

  static constexpr int columns_of_x = Operands::most_columns;
  /// 4, 3 and 2 teams leave 64, 80 and 128 registers per lane for the sums of 4, 8 and 16 columns.
  using launch = RowLaunch<ExecutionSpace, 256, columns_of_x <= 4 ? 4 : columns_of_x <= 8 ? 3 : 2>;
  /// Diagonals per batch. The last batch is filled up with values of 0.
  static constexpr int batch = 7;

  /// Whether at most a tenth of all values are fill. It costs the loads of x as other values do.
  bool fills_little() const {
    const std::int64_t with_fill = (this->diagonals + batch - 1) / batch * batch;
    return 10 * (with_fill - this->diagonals) <= with_fill;
  }

  KOKKOS_INLINE_FUNCTION void operator()(const typename launch::member_type& team) const {
    const std::int64_t row =
        static_cast<std::int64_t>(team.league_rank()) * launch::team_size + team.team_rank();
    if (row < this->rows) multiply(static_cast<row_type>(row));
  }

 private:
  /// Loads the values of a batch of diagonals from `first` on. After the last diagonal they are 0.
  KOKKOS_FORCEINLINE_FUNCTION void load(double (&batch_values)[batch], row_type row, int first) const {
    FILIGREE_UNROLL(8)
    for (int i = 0; i < batch; ++i) {
      const int diagonal = first + i;
      batch_values[i] = diagonal < static_cast<int>(this->diagonals)
                            ? load_double_once(this->values + (diagonal * this->stride + row))
                            : 0;
    }
  }

  KOKKOS_FORCEINLINE_FUNCTION void multiply(const row_type row) const {
    const int count = static_cast<int>(this->diagonals);
    sums_type sums = {};
    double batch_values[batch];
    load(batch_values, row, 0);
    FILIGREE_UNROLL(1)
    for (int first = 0; first < count; first += batch) {
      ordinal_type batch_columns[batch];
      FILIGREE_UNROLL(8)
      for (int i = 0; i < batch; ++i)
        batch_columns[i] = this->clipped_column(static_cast<ordinal_type>(row),
                                                this->offsets[first + i < count ? first + i : count - 1]);
      this->operands.template add_batch_unless_zero<Operands::column_group>(sums, batch_values,
                                                                            batch_columns);
      load(batch_values, row, first + batch);
    }
    this->operands.store(sums, row);
  }
};

}  // namespace Filigree::Impl

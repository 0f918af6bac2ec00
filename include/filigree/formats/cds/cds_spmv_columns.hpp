// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "filigree/core/integer.hpp"
#include "filigree/core/load_once.hpp"
#include "filigree/formats/cds/cds_spmv_common.hpp"

namespace Filigree::Impl {

/// Whether CdsColumnsSpmv multiplies such a matrix with such operands. Its speed was measured in double only.
template <class Cds, class Operands, int BlockSize>
constexpr bool has_cds_columns_spmv =
    BlockSize == 1 && !is_split_v<Cds> && std::is_same_v<typename Cds::value_type, double> &&
    std::is_same_v<typename Operands::x_type, double> && Operands::x_is_in_memory &&
    Operands::y_is_in_memory && Operands::most_columns > 1 && Operands::is_exact &&
    !Operands::has_column_lanes;

/// Modes N and C on a GPU for block size 1 and 4, 8 or 16 columns of x: one lane per row, with all columns. The products
/// of a row are added by ascending column of A.
///
/// A lane multiplies the diagonals in batches. It loads the values of a batch while it multiplies the batch before, so
/// that it does not wait first for values and then for x (see docs/performance.md, "Values loaded ahead in CDS").
template <class ExecutionSpace, class Cds, class Operands>
struct CdsColumnsSpmv : CdsProduct<ExecutionSpace, Cds, Operands, 1> {
  using base = CdsProduct<ExecutionSpace, Cds, Operands, 1>;
  using base::base;
  using typename base::ordinal_type;
  using typename base::sums_type;
  using row_type = stored_row_t<ordinal_type>;

  static constexpr int columns_of_x = Operands::most_columns;
  /// More sums need more registers, so that fewer teams fit a multiprocessor.
  using launch = RowLaunch<ExecutionSpace, 256, columns_of_x <= 4 ? 4 : columns_of_x <= 8 ? 3 : 2>;
  /// The number of diagonals of a batch.
  static constexpr int batch = 7;

  KOKKOS_INLINE_FUNCTION void operator()(const typename launch::member_type& team) const {
    const std::int64_t row =
        static_cast<std::int64_t>(team.league_rank()) * launch::team_size + team.team_rank();
    if (row < this->rows) multiply(static_cast<row_type>(row));
  }

 private:
  /// Loads the values of a batch from diagonal `first` on. After the last diagonal they are 0.
  KOKKOS_FORCEINLINE_FUNCTION void load(double (&values)[batch], row_type row, int first) const {
    FILIGREE_UNROLL(8)
    for (int i = 0; i < batch; ++i) {
      const int diagonal = first + i;
      values[i] = diagonal < static_cast<int>(this->diagonals)
                      ? load_double_once(this->values + (diagonal * this->stride + row))
                      : 0;
    }
  }

  KOKKOS_FORCEINLINE_FUNCTION void multiply(const row_type row) const {
    const int count = static_cast<int>(this->diagonals);
    sums_type sums = {};
    double values[batch];
    load(values, row, 0);
    FILIGREE_UNROLL(1)
    for (int first = 0; first < count; first += batch) {
      ordinal_type columns[batch];
      FILIGREE_UNROLL(8)
      for (int i = 0; i < batch; ++i)
        columns[i] = this->clipped_column(static_cast<ordinal_type>(row),
                                          this->offsets[first + i < count ? first + i : count - 1]);
      this->operands.template add_batch_unless_zero<4>(sums, values, columns);
      load(values, row, first + batch);
    }
    this->operands.store(sums, row);
  }
};

}  // namespace Filigree::Impl

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "filigree/formats/cds/cds_spmv_common.hpp"

namespace Filigree::Impl {

/// Modes N and C for several columns of x on a GPU. The loads of x, one per value and column of x, then cost
/// more than the loads of the values. A lane therefore multiplies rows_per_lane rows of a block with four
/// columns of x. It loads 16 bytes of x at once, and uses each element of x for all its rows. Other vector
/// lanes of the same Kokkos thread take the other columns of x and load the same values at the same time (see
/// docs/performance.md, "CDS: several columns of x on a GPU").
template <class ExecutionSpace, class Cds, class Operands, int BlockSize, bool Conjugate>
struct CdsColumnsSpmv : CdsProduct<ExecutionSpace, Cds, Operands, BlockSize> {
  using base = CdsProduct<ExecutionSpace, Cds, Operands, BlockSize>;
  using base::base;
  using launch = RowLaunch<ExecutionSpace, 256, 2>;
  using typename base::ordinal_type;
  using typename base::scalar_type;
  using typename base::value_pointer;
  using x_type = typename Operands::x_type;
  static constexpr int columns_per_lane = 4;
  static constexpr int x_per_load = sizeof(x_type) < 16 ? static_cast<int>(16 / sizeof(x_type)) : 1;
  static constexpr int rows_per_lane = sizeof(scalar_type) <= 8 && BlockSize % 4 == 0 ? 4 : 2;
  /// Whether the block size is compiled and a multiple of the sizes of both packs. The kernel requires it.
  static constexpr bool packs_divide_blocks = Operands::x_is_in_memory && BlockSize > 0 &&
                                              BlockSize % rows_per_lane == 0 && BlockSize % x_per_load == 0;
  /// The values of the lane's rows in one matrix column.
  using pack_type = Pack<scalar_type, rows_per_lane>;
  /// Neighbouring elements of one column of x.
  using x_pack_type = Pack<x_type, x_per_load>;

  /// Whether x and the values are aligned to packs, the rows of x are neighbours in memory, and the extents
  /// of the matrix are multiples of what the kernel loads together. The kernel requires it.
  bool packs_are_aligned_and_whole() const {
    constexpr std::uintptr_t bytes = sizeof(x_pack_type);
    const auto& x = this->operands.x;
    return this->columns % BlockSize == 0 && this->rows % rows_per_lane == 0 &&
           this->stride % rows_per_lane == 0 && x.row_bytes == static_cast<int>(sizeof(x_type)) &&
           reinterpret_cast<std::uintptr_t>(x.data) % bytes == 0 &&
           x.column_stride * sizeof(x_type) % bytes == 0 && is_aligned_to_pack<rows_per_lane>(this->values);
  }

  /// The number of lanes over which the columns of x are spread, a power of two.
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
    value_pointer value = this->values + row;
    FILIGREE_UNROLL(1)
    for (std::int64_t d = 0; d < this->diagonals; ++d) {
      const ordinal_type column = this->clipped_column(block_row, this->offsets[d]);
      FILIGREE_UNROLL(4)
      for (int first = 0; first < BlockSize; first += x_per_load) {
        pack_type packs[x_per_load];
        FILIGREE_UNROLL(4)
        for (int i = 0; i < x_per_load; ++i) {
          packs[i] = load_pack<rows_per_lane>(value);
          value += this->stride;
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
    operands.store_rows(sums, row, this->rows);
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

}  // namespace Filigree::Impl

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <limits>

#include "filigree/formats/cds/cds_diagonal_runs.hpp"
#include "filigree/formats/cds/cds_spmv_common.hpp"
#include "filigree/product/multiply_block_elements.hpp"
#include "filigree/product/store_sums.hpp"

namespace Filigree::Impl {

/// The product of a CDS matrix with b = 1 and Columns columns of a row-major x on a GPU: 4, 8 or 16 of float, 8 or 16
/// of double.
///
/// On most grids some diagonals are neighbours, for instance those with the offsets -1, 0 and 1 of a 7-point stencil. A
/// 27-point stencil has nine such runs of three diagonals. In four neighbouring rows such a run needs six rows of x.
/// With one row per lane, four lanes would load twelve. So a lane multiplies several neighbouring rows with some of the
/// columns of x. It loads each row of x once per run, and uses it for all of its rows and for the three diagonals (see
/// docs/performance.md, "Runs of diagonals").
///
/// Operands are those of the launch, and not yet of one lane. The products of a row are added by ascending diagonal,
/// as in CdsDeviceSpmv.
template <class ExecutionSpace, class Cds, class Operands, int Columns>
struct CdsRunsSpmv : CdsProduct<ExecutionSpace, Cds, Operands, 1> {
  using base = CdsProduct<ExecutionSpace, Cds, Operands, 1>;
  using base::base;
  using typename base::scalar_type;

  static constexpr bool is_double = std::is_same_v<scalar_type, double>;
  /// The rows and columns of x of a lane.
  static constexpr int rows_per_lane = is_double || Columns == 16 ? 4 : 2;
  static constexpr int columns_per_lane = is_double && Columns == 8 ? 2 : 4;
  /// Lanes that have the same rows and all columns together.
  static constexpr int lanes = Columns / columns_per_lane;
  /// The teams that a multiprocessor must be able to run at once leave 96 or 128 registers per lane in double, and 48
  /// or 64 in float.
  static constexpr int teams = is_double ? (Columns == 8 ? 5 : 4) : (Columns == 16 ? 8 : 10);
  using launch = RowLaunch<ExecutionSpace, 128, teams>;
  using lane_operands =
      decltype(std::declval<const Operands&>().template with_columns_per_lane<columns_per_lane>());
  using sums_type = typename lane_operands::sums_type[rows_per_lane];
  /// Whether the kernel adds the products of padding too, and multiplies a row again if one of its sums is NaN (see
  /// docs/performance.md, "Padding that is added").
  static constexpr bool adds_padding = is_double;

  /// Whether numbers of 32 bits suffice for the rows of the last team, the columns outside of the matrix, and the packs
  /// of x.
  bool fits() const {
    return this->rows + this->columns <=
               std::numeric_limits<int>::max() - launch::team_size * rows_per_lane &&
           packs_are_near<columns_per_lane>(this->operands.x, this->columns);
  }

  void launch_on(const ExecutionSpace& exec, const std::string& name) const {
    const std::int64_t groups = (this->rows + rows_per_lane - 1) / rows_per_lane;
    launch_product(exec, name, launch::policy(exec, groups * lanes), *this);
  }

  KOKKOS_INLINE_FUNCTION void operator()(const typename launch::member_type& team) const {
    const int row =
        (team.league_rank() * (launch::team_size / lanes) + team.team_rank() / lanes) * rows_per_lane;
    if (row >= this->rows) return;
    const lane_operands of_this_lane =
        this->operands.template with_columns_per_lane<columns_per_lane>().of_column_lane(team.team_rank() %
                                                                                         lanes);
    // The last lane may have fewer rows. In place of rows that do not exist it loads the values of its first row. It
    // does not store their sums.
    const int rows_left = static_cast<int>(this->rows) - row;
    const int count = rows_left < rows_per_lane ? rows_left : rows_per_lane;
    sums_type sums = {};
    for_each_run<true>(this->offsets, static_cast<int>(this->diagonals),
                       [&](auto step, const int k, const int(&offset)[2]) {
                         add<decltype(step)::value>(sums, of_this_lane, row, count, k, offset);
                       });
    FILIGREE_UNROLL(4)
    for (int r = 0; r < rows_per_lane; ++r)
      if (adds_padding && r < count && lane_operands::has_nan(sums[r]))
        multiply_block_elements<1>(sums[r], *this, row + r, of_this_lane);
    store_rows(of_this_lane, sums, row, this->rows);
  }

 private:
  /// Adds the products of a step of for_each_run() in `count` rows.
  template <int Count>
  KOKKOS_FORCEINLINE_FUNCTION void add(sums_type& sums, const lane_operands& of_this_lane, const int row,
                                       const int count, const int k, const int (&offset)[2]) const {
    scalar_type values[Count][rows_per_lane];
    FILIGREE_UNROLL(3)
    for (int d = 0; d < Count; ++d) {
      const scalar_type* const first = this->values + ((k + d) * this->stride + row);
      FILIGREE_UNROLL(4)
      for (int r = 0; r < rows_per_lane; ++r)
        values[d][r] = load_once(first + (r < count ? r : 0));
    }
    constexpr bool IsRun = Count == diagonals_per_run;
    constexpr int loads = IsRun ? 1 : Count;
    constexpr int x_rows = IsRun ? rows_per_lane + Count - 1 : rows_per_lane;
    Pack<scalar_type, columns_per_lane> factors[loads][x_rows];
    const int last = static_cast<int>(this->columns) - 1;
    FILIGREE_UNROLL(2)
    for (int d = 0; d < loads; ++d) {
      const int first = row + offset[d];
      FILIGREE_UNROLL(6)
      for (int i = 0; i < x_rows; ++i) {
        // Outside of the matrix the values are 0, and any column will do.
        const int column = first + i < 0 ? 0 : first + i;
        factors[d][i] = of_this_lane.load_row_of_lane(column < last ? column : last);
      }
    }
    FILIGREE_UNROLL(3)
    for (int d = 0; d < Count; ++d)
      FILIGREE_UNROLL(4)
    for (int r = 0; r < rows_per_lane; ++r)
      FILIGREE_UNROLL(4)
    for (int c = 0; c < columns_per_lane; ++c)
      lane_operands::template add_product<adds_padding>(sums[r][c], values[d][r],
                                                        factors[IsRun ? 0 : d][IsRun ? r + d : r].values[c]);
  }
};

/// Multiplies with CdsRunsSpmv if that was faster than the other kernels (see docs/performance.md, "Runs of
/// diagonals"). Returns whether it has. 4 columns of double were slower. Other types and an Epilogue were not measured.
template <class ExecutionSpace, class Cds, class Operands>
bool launch_cds_runs(const ExecutionSpace& exec, const std::string& name, const Cds& cds,
                     const Operands& operands) {
  using Scalar = typename Cds::value_type;
  constexpr bool is_double = std::is_same_v<Scalar, double>;
  constexpr bool is_real = is_double || std::is_same_v<Scalar, float>;
  if constexpr (!is_split_v<Cds> && is_real && std::is_same_v<typename Operands::x_type, Scalar> &&
                std::is_same_v<typename Operands::y_type, Scalar> &&
                std::is_same_v<typename Cds::ordinal_type, int> && Operands::has_column_lanes &&
                Operands::y_is_in_memory) {
    const auto launch = [&](auto columns) {
      constexpr int count = decltype(columns)::value;
      if (operands.columns != count) return false;
      const CdsRunsSpmv<ExecutionSpace, Cds, Operands, count> kernel(cds, operands);
      if (!kernel.fits()) return false;
      kernel.launch_on(exec, name);
      return true;
    };
    if constexpr (!is_double)
      if (launch(std::integral_constant<int, 4>())) return true;
    // With few diagonals and 8 columns of double, the other kernels are faster.
    const bool has_few = is_double && cds.offsets.extent(0) < 8;
    return (!has_few && launch(std::integral_constant<int, 8>())) ||
           launch(std::integral_constant<int, 16>());
  }
  return false;
}

}  // namespace Filigree::Impl

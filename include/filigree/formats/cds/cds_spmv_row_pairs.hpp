// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <limits>

#include "filigree/formats/cds/cds_diagonal_runs.hpp"
#include "filigree/formats/cds/cds_spmv_common.hpp"
#include "filigree/product/multiply_block_elements.hpp"

namespace Filigree::Impl {

/// The product of a CDS matrix with b = 1 and several columns of x, each of which is contiguous, on a GPU: 4, 8 or 16
/// columns of float, 4 or 8 of double.
///
/// A lane multiplies two neighbouring rows, the first of which has an even number, with all columns of x. A run of three
/// diagonals (see for_each_run()) meets four neighbouring elements of each column. The lane loads them as two aligned
/// pairs, or as three if the first of them is the second one of a pair, and uses them for both rows and for the three
/// diagonals (see docs/performance.md, "Pairs of rows"). Two lanes with one row each would load six elements.
///
/// If IsAligned is true, is_aligned() must hold. Then a pair lies in the matrix or outside, and where it lies outside,
/// its values are 0, and the lane loads another pair. Otherwise a pair can have one element in the matrix. So teams
/// with rows near the first and last columns load single elements. The products of a row are added by ascending
/// diagonal, as in CdsDeviceSpmv.
template <class ExecutionSpace, class Cds, class Operands, bool IsAligned>
struct CdsRowPairsSpmv : CdsProduct<ExecutionSpace, Cds, Operands, 1> {
  using base = CdsProduct<ExecutionSpace, Cds, Operands, 1>;
  using base::base;
  using typename base::scalar_type;

  static constexpr int columns_of_x = Operands::most_columns;
  static constexpr bool is_double = std::is_same_v<scalar_type, double>;
  static constexpr int rows_per_lane = 2;
  /// The lanes that a multiprocessor must be able to run at once leave 40, 64 and 80 or 96 registers per lane for 4, 8
  /// and 16 columns of float, and 64 or 72, and 96 for 4 and 8 columns of double.
  static constexpr int lanes_per_multiprocessor = is_double          ? (columns_of_x > 4 ? 640
                                                                        : IsAligned      ? 1024
                                                                                         : 896)
                                                  : columns_of_x > 8 ? (IsAligned ? 768 : 640)
                                                  : columns_of_x > 4 ? 1024
                                                                     : 1536;
  static constexpr int team_size = is_double || lanes_per_multiprocessor % 256 != 0 ? 128 : 256;
  static constexpr int rows_per_team = team_size * rows_per_lane;
  using launch = RowLaunch<ExecutionSpace, team_size, lanes_per_multiprocessor / team_size>;
  using sums_type = typename Operands::sums_type[rows_per_lane];
  using pair_type = Pack<scalar_type, 2>;
  /// Whether the values of two rows are loaded at once. In double that was slower.
  static constexpr bool loads_value_pairs = !is_double;

  /// Whether numbers of 32 bits suffice for the rows of the last team and for the columns outside of the matrix, and
  /// whether the values and x are such as the kernel loads.
  bool fits() const {
    return this->rows + this->columns <= std::numeric_limits<int>::max() - rows_per_team &&
           this->operands.x.has_unit_stride() &&
           (!loads_value_pairs || (this->stride % 2 == 0 && is_aligned_to_pack<2>(this->values)));
  }

  /// Whether every column of x begins and ends with an aligned pair.
  bool is_aligned() const {
    return this->columns % 2 == 0 && this->operands.x.column_stride % 2 == 0 &&
           is_aligned_to_pack<2>(this->operands.x.data);
  }

  void launch_on(const ExecutionSpace& exec, const std::string& name) const {
    const std::int64_t lanes = (this->rows + rows_per_lane - 1) / rows_per_lane;
    launch_product(exec, name, launch::policy(exec, lanes), *this);
  }

  KOKKOS_INLINE_FUNCTION void operator()(const typename launch::member_type& team) const {
    const int first_row = team.league_rank() * rows_per_team;
    const int row = first_row + team.team_rank() * rows_per_lane;
    if (row >= this->rows) return;
    sums_type sums = {};
    for_each_run<false>(this->offsets, static_cast<int>(this->diagonals),
                        [&](auto step, const int k, const int(&offsets)[2]) {
                          add<decltype(step)::value>(sums, first_row, row, k, offsets[0]);
                        });
    FILIGREE_UNROLL(2)
    for (int r = 0; r < rows_per_lane; ++r)
      if (Operands::has_nan(sums[r]) && row + r < this->rows)
        multiply_block_elements<1>(sums[r], *this, row + r, this->operands);
    this->operands.store_rows(sums, row, this->rows);
  }

 private:
  /// Adds the products of Count diagonals from k on, which are neighbours. `offset` is the offset of the first one, and
  /// first_row the first row of the team.
  template <int Count>
  KOKKOS_FORCEINLINE_FUNCTION void add(sums_type& sums, const int first_row, const int row, const int k,
                                       const int offset) const {
    scalar_type values[Count][rows_per_lane];
    FILIGREE_UNROLL(3)
    for (int d = 0; d < Count; ++d) {
      const scalar_type* const first = this->values + ((k + d) * this->stride + row);
      if constexpr (loads_value_pairs) {
        const pair_type pair = load_pack<2>(first);
        values[d][0] = pair.values[0];
        values[d][1] = pair.values[1];
      } else {
        // In place of a row that does not exist the last lane multiplies its first row twice.
        values[d][0] = load_once(first);
        values[d][1] = load_once(first + (row + 1 < this->rows ? 1 : 0));
      }
    }
    if constexpr (Count == diagonals_per_run) {
      // The run meets these columns of A in the rows of the team. A pair may reach one column further on both sides.
      const int first_column = first_row + offset;
      const int end_column = first_column + rows_per_team + diagonals_per_run - 1;
      if (IsAligned || (first_column > 0 && end_column < this->columns)) {
        const auto& x = this->operands.x;
        // Rows of lanes are even, so that all lanes have the same alignment and take the same branch.
        const auto position =
            reinterpret_cast<std::uintptr_t>(x.data) / sizeof(scalar_type) + static_cast<unsigned>(offset);
        const bool begins_pair = position % 2 == 0;
        const bool has_odd_stride = !IsAligned && x.column_stride % 2 != 0;
        if (begins_pair)
          has_odd_stride ? add_run<0, 1>(sums, values, row + offset)
                         : add_run<0, 0>(sums, values, row + offset);
        else
          has_odd_stride ? add_run<1, 0>(sums, values, row + offset)
                         : add_run<1, 1>(sums, values, row + offset);
        return;
      }
    }
    add_elements<Count>(sums, values, row + offset);
  }

  /// Adds the products of a run. `column` is its first column of A in the first row of the lane. EvenSkip and OddSkip
  /// tell for even and for odd columns of x how many elements of the first pair lie before it: 0 or 1.
  template <int EvenSkip, int OddSkip>
  KOKKOS_FORCEINLINE_FUNCTION void add_run(sums_type& sums,
                                           const scalar_type (&values)[diagonals_per_run][rows_per_lane],
                                           const int column) const {
    constexpr int most_pairs = 3;
    constexpr int elements = rows_per_lane + diagonals_per_run - 1;
    constexpr int group = Operands::column_group;
    const int last = static_cast<int>(this->columns) - 2;
    FILIGREE_UNROLL(4)
    for (int first = 0; first < columns_of_x; first += group) {
      pair_type factors[group][most_pairs];
      FILIGREE_UNROLL(4)
      for (int c = 0; c < group; ++c)
        FILIGREE_UNROLL(3)
      for (int i = 0; i < most_pairs; ++i) {
        const int skip = c % 2 == 0 ? EvenSkip : OddSkip;
        if (2 * i >= skip + elements) continue;
        int from = column - skip + 2 * i;
        if (IsAligned) from = from < 0 ? 0 : from < last ? from : last;
        factors[c][i] = *reinterpret_cast<const pair_type*>(&x_element(from, first + c));
      }
      FILIGREE_UNROLL(4)
      for (int c = 0; c < group; ++c)
        FILIGREE_UNROLL(3)
      for (int d = 0; d < diagonals_per_run; ++d)
        FILIGREE_UNROLL(2)
      for (int r = 0; r < rows_per_lane; ++r) {
        const int i = (c % 2 == 0 ? EvenSkip : OddSkip) + r + d;
        Operands::template add_product<true>(sums[r][first + c], values[d][r],
                                             factors[c][i / 2].values[i % 2]);
      }
    }
  }

  /// The same for Count neighbouring diagonals. It loads the elements of x one by one.
  template <int Count>
  KOKKOS_FORCEINLINE_FUNCTION void add_elements(sums_type& sums,
                                                const scalar_type (&values)[Count][rows_per_lane],
                                                const int column) const {
    constexpr int elements = rows_per_lane + Count - 1;
    constexpr int group = Operands::column_group;
    const int last = static_cast<int>(this->columns) - 1;
    FILIGREE_UNROLL(4)
    for (int first = 0; first < columns_of_x; first += group) {
      scalar_type factors[group][elements];
      FILIGREE_UNROLL(4)
      for (int c = 0; c < group; ++c)
        FILIGREE_UNROLL(4)
      for (int i = 0; i < elements; ++i) {
        const int from = column + i < 0 ? 0 : column + i;
        factors[c][i] = x_element(from < last ? from : last, first + c);
      }
      FILIGREE_UNROLL(4)
      for (int c = 0; c < group; ++c)
        FILIGREE_UNROLL(3)
      for (int d = 0; d < Count; ++d)
        FILIGREE_UNROLL(2)
      for (int r = 0; r < rows_per_lane; ++r)
        Operands::template add_product<true>(sums[r][first + c], values[d][r], factors[c][r + d]);
    }
  }

  KOKKOS_FORCEINLINE_FUNCTION const scalar_type& x_element(int row, int column) const {
    constexpr auto bytes = static_cast<std::uint32_t>(sizeof(scalar_type));
    return this->operands.x.at_near_offset(static_cast<std::uint32_t>(row) * bytes, column);
  }
};

/// Multiplies with CdsRowPairsSpmv if it can and that was faster than the other kernels (see docs/performance.md,
/// "Pairs of rows"). Returns whether it has. 16 columns of double were slower. Other types and an Epilogue were not
/// measured.
template <class ExecutionSpace, class Cds, class Operands>
bool launch_cds_row_pairs(const ExecutionSpace& exec, const std::string& name, const Cds& cds,
                          const Operands& operands) {
  if constexpr (!is_split_v<Cds> &&
                (has_exact_columns<Cds, Operands, float>() ||
                 (has_exact_columns<Cds, Operands, double>() && Operands::most_columns <= 8))) {
    const CdsRowPairsSpmv<ExecutionSpace, Cds, Operands, true> aligned(cds, operands);
    if (!aligned.fits()) return false;
    if (aligned.is_aligned())
      aligned.launch_on(exec, name);
    else
      CdsRowPairsSpmv<ExecutionSpace, Cds, Operands, false>(cds, operands).launch_on(exec, name);
    return true;
  }
  return false;
}

}  // namespace Filigree::Impl

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <limits>

#include "filigree/formats/cds/cds_diagonal_runs.hpp"
#include "filigree/formats/cds/cds_spmv_common.hpp"
#include "filigree/product/multiply_block_elements.hpp"
#include "filigree/product/store_sums.hpp"

namespace Filigree::Impl {

/// The lanes of CdsRowPairsSpmv that a multiprocessor must be able to run at once (see docs/performance.md, "Pairs of
/// rows").
template <bool IsDouble, bool IsAligned>
constexpr int row_pairs_lanes(int columns_of_x) {
  if (IsDouble) return columns_of_x > 4 ? 640 : IsAligned ? 1024 : 896;
  if (columns_of_x > 8) return IsAligned ? 768 : 640;
  return columns_of_x > 4 ? 1024 : 1536;
}

/// The product of a CDS matrix with b = 1 and several columns of x, each of which is contiguous, on a GPU, in modes N and
/// C: 4, 8 or 16 columns of float, 4 or 8 of double.
///
/// A lane has two neighbouring rows, the first of which has an even number, and all columns of x. It multiplies the
/// diagonals of a run together (see for_each_run()). In its two rows they meet four neighbouring elements of a column of
/// x, here with the values a to f:
///
///     column of A        c   c+1  c+2  c+3
///     first row          a    b    c
///     second row              d    e    f
///
/// The lane loads these elements in packs of two, which are aligned to their size: two packs, or three if column c is
/// the second element of its pack. Two lanes with one row each would have six loads (see docs/performance.md, "Pairs of
/// rows").
///
/// If IsAligned is true, is_aligned() must hold. Then a pack lies completely in x or completely outside. Where it lies
/// outside, the values of A are 0, and the lane loads another pack. Otherwise a pack could lie half outside. So a team
/// loads single elements for a run that meets the first or last columns of A in one of its rows.
///
/// The products of a row are added by ascending diagonal, as in CdsDeviceSpmv. Those of padding are added, too, and a
/// row is multiplied again if one of its sums is NaN (see docs/performance.md, "Padding that is added").
template <class ExecutionSpace, class Cds, class Operands, bool IsAligned>
struct CdsRowPairsSpmv : CdsProduct<ExecutionSpace, Cds, Operands, 1> {
  static_assert(runs_on_gpu_v<ExecutionSpace>, "The teams are those of a GPU.");
  using base = CdsProduct<ExecutionSpace, Cds, Operands, 1>;
  using base::base;
  using typename base::scalar_type;

  static constexpr int columns_of_x = Operands::most_columns;
  static constexpr bool is_double = std::is_same_v<scalar_type, double>;
  static constexpr int rows_per_lane = 2;
  /// Columns of x whose loads are in flight together.
  static constexpr int column_group = Operands::column_group;
  static_assert(column_group % 2 == 0 && columns_of_x % column_group == 0,
                "A group begins with an even column, because the alignment of columns may alternate.");

  /// Fewer lanes leave more registers for each: 40 with 1536 lanes, and 96 with 640.
  static constexpr int lanes_per_multiprocessor = row_pairs_lanes<is_double, IsAligned>(columns_of_x);
  static constexpr int team_size = lanes_per_multiprocessor % 256 == 0 && !is_double ? 256 : 128;
  static constexpr int rows_per_team = team_size * rows_per_lane;
  using launch = RowLaunch<ExecutionSpace, team_size, lanes_per_multiprocessor / team_size>;
  using sums_type = typename Operands::sums_type[rows_per_lane];
  using pack_type = Pack<scalar_type, 2>;
  /// Whether the values of two rows are loaded together. In double that was slower.
  static constexpr bool loads_two_values = IsAligned && !is_double;

  /// Whether the columns of x are contiguous, and numbers of 32 bits suffice for the rows of the last team and for the
  /// columns outside of the matrix.
  bool fits() const {
    return this->operands.x.has_unit_stride() &&
           this->rows + this->columns <= std::numeric_limits<int>::max() - rows_per_team;
  }

  /// Whether every column of x begins and ends with an aligned pack, and values that are loaded together are aligned.
  bool is_aligned() const {
    return this->columns % 2 == 0 && this->operands.x.column_stride % 2 == 0 &&
           is_aligned_to_pack<2>(this->operands.x.data) &&
           (is_double || (this->stride % 2 == 0 && is_aligned_to_pack<2>(this->values)));
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
    store_rows(this->operands, sums, row, this->rows);
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
      if constexpr (loads_two_values) {
        const pack_type pack = load_pack<2>(first);
        values[d][0] = pack.values[0];
        values[d][1] = pack.values[1];
      } else {
        // In place of a row that does not exist the last lane multiplies its first row twice.
        values[d][0] = load_once(first);
        values[d][1] = load_once(first + (row + 1 < this->rows ? 1 : 0));
      }
    }
    if constexpr (Count == diagonals_per_run) {
      const auto& x = this->operands.x;
      // Rows of lanes are even, so that all lanes have the same alignment and take the same branch.
      const auto position =
          reinterpret_cast<std::uintptr_t>(x.data) / sizeof(scalar_type) + static_cast<unsigned>(offset);
      const bool begins_pack = position % 2 == 0;
      if constexpr (IsAligned) {
        begins_pack ? add_run<0, 0>(sums, values, row + offset) : add_run<1, 1>(sums, values, row + offset);
        return;
      }
      // The run meets these columns of A in the rows of the team. A pack may reach one column further on both sides.
      const int first_column = first_row + offset;
      const int end_column = first_column + rows_per_team + diagonals_per_run - 1;
      if (first_column > 0 && end_column < this->columns) {
        if (x.column_stride % 2 == 0)
          begins_pack ? add_run<0, 0>(sums, values, row + offset) : add_run<1, 1>(sums, values, row + offset);
        else
          begins_pack ? add_run<0, 1>(sums, values, row + offset) : add_run<1, 0>(sums, values, row + offset);
        return;
      }
    }
    add_elements<Count>(sums, values, row + offset);
  }

  /// Adds the products of a run. `column` is its first column of A in the first row of the lane. EvenSkip and OddSkip
  /// tell for even and for odd columns of x how many elements of the first pack lie before it: 0 or 1.
  template <int EvenSkip, int OddSkip>
  KOKKOS_FORCEINLINE_FUNCTION void add_run(sums_type& sums,
                                           const scalar_type (&values)[diagonals_per_run][rows_per_lane],
                                           const int column) const {
    constexpr int most_packs = 3;
    constexpr int elements = rows_per_lane + diagonals_per_run - 1;
    const int last = static_cast<int>(this->columns) - 2;
    FILIGREE_UNROLL(4)
    for (int first = 0; first < columns_of_x; first += column_group) {
      pack_type factors[column_group][most_packs];
      FILIGREE_UNROLL(4)
      for (int c = 0; c < column_group; ++c)
        FILIGREE_UNROLL(3)
      for (int i = 0; i < most_packs; ++i) {
        const int skip = c % 2 == 0 ? EvenSkip : OddSkip;
        if (2 * i >= skip + elements) continue;
        int from = column - skip + 2 * i;
        if (IsAligned) from = from < 0 ? 0 : from < last ? from : last;
        factors[c][i] = *reinterpret_cast<const pack_type*>(&x_element(from, first + c));
      }
      FILIGREE_UNROLL(4)
      for (int c = 0; c < column_group; ++c)
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
    const int last = static_cast<int>(this->columns) - 1;
    FILIGREE_UNROLL(4)
    for (int first = 0; first < columns_of_x; first += column_group) {
      scalar_type factors[column_group][elements];
      FILIGREE_UNROLL(4)
      for (int c = 0; c < column_group; ++c)
        FILIGREE_UNROLL(4)
      for (int i = 0; i < elements; ++i) {
        const int from = column + i < 0 ? 0 : column + i;
        factors[c][i] = x_element(from < last ? from : last, first + c);
      }
      FILIGREE_UNROLL(4)
      for (int c = 0; c < column_group; ++c)
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

/// Multiplies with CdsRowPairsSpmv if it can and was faster than the other kernels (see docs/performance.md, "Pairs of
/// rows"). Returns whether it has. 16 columns of double are not multiplied.
template <class ExecutionSpace, class Cds, class Operands>
bool launch_cds_row_pairs(const ExecutionSpace& exec, const std::string& name, const Cds& cds,
                          const Operands& operands) {
  if constexpr (!is_split_v<Cds> &&
                (has_exact_columns<Cds, Operands, float>() ||
                 (has_exact_columns<Cds, Operands, double>() && Operands::most_columns <= 8))) {
    const CdsRowPairsSpmv<ExecutionSpace, Cds, Operands, true> aligned(cds, operands);
    const CdsRowPairsSpmv<ExecutionSpace, Cds, Operands, false> not_aligned(cds, operands);
    if (aligned.fits() && aligned.is_aligned())
      aligned.launch_on(exec, name);
    else if (not_aligned.fits())
      not_aligned.launch_on(exec, name);
    else
      return false;
    return true;
  }
  return false;
}

}  // namespace Filigree::Impl

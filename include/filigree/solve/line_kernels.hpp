// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The kernels of LinePreconditioner.
#pragma once

#include "filigree/solve/grid_colors.hpp"
#include "filigree/solve/inverse_diagonal_kernels.hpp"
#include "filigree/solve/row_kernel.hpp"

namespace Filigree::Impl {

/// The lines of cells of a grid along an axis.
struct GridLines {
  std::int64_t length;    ///< cells of a line
  std::int64_t distance;  ///< from the number of a cell to that of the next one of its line
  std::int64_t count;     ///< of the lines
  int block_size;

  GridLines(const std::array<std::int64_t, 3>& cells, int axis, int block_size_)
      : length(cells[static_cast<std::size_t>(axis)]),
        distance((axis > 0 ? cells[0] : 1) * (axis > 1 ? cells[1] : 1)),
        count(cells[0] * cells[1] * cells[2] / length),
        block_size(block_size_) {}

  KOKKOS_FORCEINLINE_FUNCTION std::int64_t cell(std::int64_t line, std::int64_t place) const {
    const std::int64_t outer = line / distance;
    return outer * distance * length + (line - outer * distance) + place * distance;
  }
  /// Values of the blocks of one place of all lines. They are stored by columns: those of a column are `stride()` apart
  /// from those of the next one, and the rows of a line are neighbours.
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t values_per_place() const { return stride() * block_size; }
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t stride() const { return count * block_size; }
};

/// The blocks of a matrix that couple cells of a line.
template <class Scalar, class Ordinal>
struct LineBlocks {
  CdsElements<Scalar, Ordinal> blocks;
  std::int64_t main, before,
      after;  ///< diagonals that lead to a cell, the one before it and the one after it; or -1

  /// Fences exec.
  template <class ExecutionSpace, class Cds>
  LineBlocks(const ExecutionSpace& exec, const Cds& A, std::int64_t distance)
      : blocks(A), main(-1), before(-1), after(-1) {
    const auto offsets = host_copy(exec, A.offsets);
    for (std::size_t d = 0; d < offsets.extent(0); ++d) {
      const auto offset = static_cast<std::int64_t>(offsets(d));
      if (offset == 0) main = static_cast<std::int64_t>(d);
      if (offset == -distance) before = static_cast<std::int64_t>(d);
      if (offset == distance) after = static_cast<std::int64_t>(d);
    }
  }
  template <class Sum>
  KOKKOS_FORCEINLINE_FUNCTION Sum element(std::int64_t diagonal, std::int64_t cell, std::int64_t i,
                                          std::int64_t c) const {
    if (diagonal < 0) return Sum(0);
    const std::int64_t row = cell * blocks.block_size + i;
    return Sum(
        widen<Sum>(blocks.value(blocks.block_position(cell, row, diagonal) + c * blocks.column_stride)));
  }
};

/// The block on the diagonal of T at one place of all lines, after the elimination of the place before:
/// A_pp - A_p(p-1) W_(p-1). One row of one line per call.
template <class Scalar, class Ordinal, class Sum>
struct EliminatePlace {
  GridLines lines;
  LineBlocks<Scalar, Ordinal> A;
  std::int64_t place;
  const Sum* upper_before;  ///< W of the place before; nullptr for the first place
  Sum* result;

  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t row) const {
    const std::int64_t b = lines.block_size;
    const std::int64_t line = row / b;
    const std::int64_t i = row - line * b;
    const std::int64_t cell = lines.cell(line, place);
    for (std::int64_t c = 0; c < b; ++c) {
      Sum sum = A.template element<Sum>(A.main, cell, i, c);
      if (upper_before != nullptr)
        for (std::int64_t e = 0; e < b; ++e)
          sum -=
              A.template element<Sum>(A.before, cell, i, e) * upper_before[c * lines.stride() + line * b + e];
      result[c * lines.stride() + row] = sum;
    }
  }
};

/// The factors of one place of all lines: the inverse of the block above, multiplied by the blocks that lead to the
/// places before and after it.
template <class Scalar, class Ordinal, class Sum>
struct FactorPlace {
  GridLines lines;
  LineBlocks<Scalar, Ordinal> A;
  std::int64_t place;
  const Sum* inverse;
  Sum* lower;
  Sum* upper;

  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t row) const {
    const std::int64_t b = lines.block_size;
    const std::int64_t line = row / b;
    const std::int64_t cell = lines.cell(line, place);
    for (std::int64_t c = 0; c < b; ++c) {
      Sum to_before(0), to_after(0);
      for (std::int64_t e = 0; e < b; ++e) {
        const Sum factor = inverse[e * lines.stride() + row];
        if (place > 0) to_before += factor * A.template element<Sum>(A.before, cell, e, c);
        if (place < lines.length - 1) to_after += factor * A.template element<Sum>(A.after, cell, e, c);
      }
      lower[c * lines.stride() + row] = to_before;
      upper[c * lines.stride() + row] = to_after;
    }
  }
};

/// Solves T z = r for all lines, one lane per line: y_p = D_p r_p - L_p y_(p-1) in ascending order, and then
/// z_p = y_p - W_p z_(p+1) in descending order. L of the first place and W of the last one are 0. z may be r.
template <class ExecutionSpace, class Sum, class R, class Z, int BlockSize>
struct SolveLines {
  /// The items are lines. On a host a few of them are worth a team.
  using launch = RowLaunch<ExecutionSpace, 128, 1, host_rows, 1>;
  static constexpr int most_rows = BlockSize > 0 ? BlockSize : largest_inverse_block_size;
  /// Places whose numbers are loaded before the first of them is used, because each place waits for the one before.
  static constexpr int batch = BlockSize == 1 ? 8 : BlockSize == 2 ? 2 : 1;

  GridLines lines;
  const Sum* inverse;  ///< D
  const Sum* lower;    ///< L
  const Sum* upper;    ///< W
  MultiVector<const R> r;
  MultiVector<Z> z;

  KOKKOS_FORCEINLINE_FUNCTION int block_size() const { return BlockSize > 0 ? BlockSize : lines.block_size; }

  /// The first term of a place: D r or y.
  template <bool Ascending>
  KOKKOS_FORCEINLINE_FUNCTION void load_term(std::int64_t place, std::int64_t in_place, std::int64_t row,
                                             Sum (&term)[most_rows]) const {
    const int b = block_size();
    FILIGREE_UNROLL(8)
    for (int i = 0; i < b; ++i)
      term[i] = Ascending ? Sum(0) : Sum(widen<Sum>(z(row + i, 0)));
    if constexpr (Ascending) {
      const Sum* block = inverse + place * lines.values_per_place() + in_place;
      FILIGREE_UNROLL(8)
      for (int c = 0; c < b; ++c, block += lines.stride()) {
        const Sum element = Sum(widen<Sum>(r(row + c, 0)));
        FILIGREE_UNROLL(8)
        for (int i = 0; i < b; ++i)
          term[i] += block[i] * element;
      }
    }
  }
  /// term -= block * before
  KOKKOS_FORCEINLINE_FUNCTION void subtract(const Sum* block, std::int64_t stride,
                                            const Sum (&before)[most_rows], Sum (&term)[most_rows]) const {
    const int b = block_size();
    FILIGREE_UNROLL(8)
    for (int c = 0; c < b; ++c)
      FILIGREE_UNROLL(8)
    for (int i = 0; i < b; ++i)
      term[i] -= block[c * stride + i] * before[c];
  }

  /// One of the two passes over the places of a line.
  template <bool Ascending>
  KOKKOS_FORCEINLINE_FUNCTION void pass(const std::int64_t line) const {
    const int b = block_size();
    const std::int64_t first_row = lines.cell(line, 0) * b;
    const std::int64_t in_place = line * b;
    const Sum* const factors = (Ascending ? lower : upper) + in_place;
    Sum before[most_rows];
    FILIGREE_UNROLL(8)
    for (int i = 0; i < b; ++i)
      before[i] = Sum(0);
    for (std::int64_t done = 0; done < lines.length; done += batch) {
      Sum terms[batch][most_rows];
      Sum blocks[batch][BlockSize > 0 ? most_rows * most_rows : 1];
      FILIGREE_UNROLL(8)
      for (int k = 0; k < batch; ++k) {
        // Places after the last one repeat it.
        const std::int64_t step = done + k < lines.length ? done + k : lines.length - 1;
        const std::int64_t place = Ascending ? step : lines.length - 1 - step;
        load_term<Ascending>(place, in_place, first_row + place * lines.distance * b, terms[k]);
        if constexpr (BlockSize > 0) {
          FILIGREE_UNROLL(8)
          for (int c = 0; c < BlockSize; ++c)
            FILIGREE_UNROLL(8)
          for (int i = 0; i < BlockSize; ++i)
            blocks[k][c * BlockSize + i] = factors[place * lines.values_per_place() + c * lines.stride() + i];
        }
      }
      FILIGREE_UNROLL(8)
      for (int k = 0; k < batch; ++k) {
        if (done + k >= lines.length) break;
        const std::int64_t place = Ascending ? done + k : lines.length - 1 - done - k;
        if constexpr (BlockSize > 0)
          subtract(blocks[k], BlockSize, before, terms[k]);
        else
          subtract(factors + place * lines.values_per_place(), lines.stride(), before, terms[k]);
        FILIGREE_UNROLL(8)
        for (int i = 0; i < b; ++i) {
          before[i] = terms[k][i];
          z(first_row + place * lines.distance * b + i, 0) = convert_scalar<Z>(before[i]);
        }
      }
    }
  }
  KOKKOS_INLINE_FUNCTION void operator()(const typename launch::member_type& team) const {
    launch::for_each_row(team, lines.count, [&](const std::int64_t line) {
      pass<true>(line);
      pass<false>(line);
    });
  }
};

/// x = x + factor * change
template <class Change, class X>
struct AddChange {
  const Change* change;
  MultiVector<X> x;
  real_t<wider_t<Change, X>> factor;

  struct Loaded {
    Change change;
    X x;
  };
  KOKKOS_FORCEINLINE_FUNCTION NoPartial common() const { return {}; }
  KOKKOS_FORCEINLINE_FUNCTION Loaded load(const std::int64_t row) const { return {change[row], x(row, 0)}; }
  KOKKOS_FORCEINLINE_FUNCTION void finish(NoPartial, const std::int64_t row, const Loaded& loaded,
                                          NoPartial&) const {
    using Sum = wider_t<Change, X>;
    x(row, 0) = convert_scalar<X>(Sum(Sum(widen<Sum>(loaded.x)) + factor * Sum(widen<Sum>(loaded.change))));
  }
};

}  // namespace Filigree::Impl

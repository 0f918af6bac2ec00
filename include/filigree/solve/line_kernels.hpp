// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The kernels of LinePreconditioner.
#pragma once

#include "filigree/solve/grid_colors.hpp"
#include "filigree/solve/inverse_diagonal.hpp"
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

  template <class Cds>
  LineBlocks(const Cds& A, std::int64_t distance) : blocks(A), main(-1), before(-1), after(-1) {
    const auto offsets = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), A.offsets);
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

/// SolveLines for lines along x of a grid with one unknown per cell, so that the elements of a line are neighbours in r
/// and z. Each lane of a warp is then in another cache line, and a load of one element per lane reads all these lines.
/// Therefore a lane loads and stores packs of 16 bytes (see docs/performance.md, "Lines along x").
template <class ExecutionSpace, class Sum, class R, class Z>
struct SolvePackedLines {
  using launch = typename SolveLines<ExecutionSpace, Sum, R, Z, 1>::launch;
  /// Places whose numbers are loaded before the first of them is used, because each place waits for the one before.
  static constexpr int batch = 8;
  template <class T>
  static constexpr int per_pack = sizeof(T) < 16 ? static_cast<int>(16 / sizeof(T)) : 1;
  /// A batch begins with a row that is a multiple of this number, so that its packs are aligned.
  static constexpr int alignment = per_pack<R> > per_pack<Z> ? per_pack<R> : per_pack<Z>;
  static_assert(batch % alignment == 0, "A batch must consist of whole packs.");

  GridLines lines;
  const Sum* inverse;  ///< D, see SolveLines
  const Sum* lower;    ///< L
  const Sum* upper;    ///< W
  const R* r;
  Z* z;

  /// Whether this kernel can solve for these lines and vectors.
  static bool fits(const GridLines& lines, const MultiVector<const R>& r, const MultiVector<Z>& z) {
    return lines.block_size == 1 && lines.distance == 1 && r.has_unit_stride() && z.has_unit_stride() &&
           is_aligned_to_pack<per_pack<R>>(r.data) && is_aligned_to_pack<per_pack<Z>>(z.data);
  }

  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION static void load(const T* from, Sum (&to)[batch]) {
    using pack_type = Pack<T, per_pack<T>>;
    FILIGREE_UNROLL(8)
    for (int k = 0; k < batch; k += per_pack<T>) {
      const pack_type pack = *reinterpret_cast<const pack_type*>(from + k);
      for (int i = 0; i < per_pack<T>; ++i)
        to[k + i] = Sum(widen<Sum>(pack.values[i]));
    }
  }
  KOKKOS_FORCEINLINE_FUNCTION static void store(const Sum (&from)[batch], Z* to) {
    using pack_type = Pack<Z, per_pack<Z>>;
    FILIGREE_UNROLL(8)
    for (int k = 0; k < batch; k += per_pack<Z>) {
      pack_type pack = {};
      for (int i = 0; i < per_pack<Z>; ++i)
        pack.values[i] = convert_scalar<Z>(from[k + i]);
      *reinterpret_cast<pack_type*>(to + k) = pack;
    }
  }

  /// One place of a pass. `before` is the element of the place before it in the pass, and then that of this place.
  template <bool Ascending>
  KOKKOS_FORCEINLINE_FUNCTION void one_place(const std::int64_t line, const std::int64_t place,
                                             Sum& before) const {
    const std::int64_t at = place * lines.count + line;
    const std::int64_t row = line * lines.length + place;
    const Sum term = Ascending ? Sum(inverse[at] * Sum(widen<Sum>(r[row]))) : Sum(widen<Sum>(z[row]));
    before = term - (Ascending ? lower : upper)[at] * before;
    z[row] = convert_scalar<Z>(before);
  }
  /// The places from `first` to first + batch - 1.
  template <bool Ascending>
  KOKKOS_FORCEINLINE_FUNCTION void one_batch(const std::int64_t line, const std::int64_t first,
                                             Sum& before) const {
    const std::int64_t row = line * lines.length + first;
    Sum terms[batch], factors[batch];
    if constexpr (Ascending)
      load(r + row, terms);
    else
      load(z + row, terms);
    FILIGREE_UNROLL(8)
    for (int k = 0; k < batch; ++k) {
      const std::int64_t at = (first + k) * lines.count + line;
      if (Ascending) terms[k] = inverse[at] * terms[k];
      factors[k] = (Ascending ? lower : upper)[at];
    }
    FILIGREE_UNROLL(8)
    for (int step = 0; step < batch; ++step) {
      const int k = Ascending ? step : batch - 1 - step;
      before = terms[k] -= factors[k] * before;
    }
    store(terms, z + row);
  }

  template <bool Ascending>
  KOKKOS_FORCEINLINE_FUNCTION void pass(const std::int64_t line) const {
    const std::int64_t length = lines.length;
    Sum before(0);
    std::int64_t done = 0;
    const auto next_place = [&]() {
      one_place<Ascending>(line, Ascending ? done : length - 1 - done, before);
      ++done;
    };
    // A batch begins with the next row of an ascending pass, and ends before the last row of a descending one.
    while (done < length && (line * length + (Ascending ? done : length - done)) % alignment != 0)
      next_place();
    for (; done + batch <= length; done += batch)
      one_batch<Ascending>(line, Ascending ? done : length - done - batch, before);
    while (done < length)
      next_place();
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

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The kernels of multicolour Gauss-Seidel.
#pragma once

#include "filigree/core/launch.hpp"
#include "filigree/core/load_once.hpp"
#include "filigree/product/multi_vector.hpp"
#include "filigree/solve/grid_colors.hpp"
#include "filigree/solve/inverse_diagonal_kernels.hpp"

namespace Filigree::Impl {

/// Maps the rows of one colour to rows of A. Rows of a colour are ordered by lines of cells along x. All lines have
/// equally many places for cells, so that no table is needed; a place after the end of the grid is padding.
template <class Ordinal>
struct ColorRows {
  GridColors colors;
  Ordinal cells_x, cells_y;
  Ordinal places;  ///< per line
  Ordinal lines;
  int block_size;

  ColorRows() = default;
  ColorRows(const GridColors& colors_, const std::array<std::int64_t, 3>& cells, int block_size_)
      : colors(colors_),
        cells_x(static_cast<Ordinal>(cells[0])),
        cells_y(static_cast<Ordinal>(cells[1])),
        places(static_cast<Ordinal>((cells[0] + colors.count - 1) / colors.count)),
        lines(static_cast<Ordinal>(cells[1] * cells[2])),
        block_size(block_size_) {}

  /// Rows of one colour, with padding.
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t rows() const {
    return static_cast<std::int64_t>(lines) * places * block_size;
  }
  /// The cell of a place of a colour, or -1 for padding.
  KOKKOS_FORCEINLINE_FUNCTION Ordinal cell(int color, Ordinal place) const {
    const Ordinal line = place / places;
    const Ordinal z = line / cells_y;
    const Ordinal y = line - z * cells_y;
    const Ordinal count = static_cast<Ordinal>(colors.count);
    // The products are below the square of the number of colours.
    const Ordinal shift = (y % count * colors.y_factor + z % count * colors.z_factor) % count;
    const Ordinal first = color >= shift ? color - shift : color - shift + count;
    const std::int64_t x = first + static_cast<std::int64_t>(place - line * places) * count;
    return x < cells_x ? line * cells_x + static_cast<Ordinal>(x) : Ordinal(-1);
  }
};

/// Stores the rows of all colours: for each colour, the blocks of the inverse diagonal D^-1, and then D^-1 A without
/// the diagonal, in the layout of CdsLayout::columns.
template <class Scalar, class Ordinal>
struct FillColors {
  ColorRows<Ordinal> rows;
  CdsElements<Scalar, Ordinal> blocks;  ///< of A
  std::int64_t cells;
  const Scalar* inverse;  ///< of the diagonal, as in inverse_blocks_t
  std::int64_t inverse_stride;
  std::int64_t stored_diagonals;  ///< including the inverse
  Scalar* values;

  /// `index` counts the rows of all colours.
  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t index) const {
    using Sum = wider_t<Scalar>;
    const std::int64_t stride = rows.rows();
    const std::int64_t b = rows.block_size;
    const auto color = static_cast<int>(index / stride);
    const std::int64_t row = index - color * stride;
    const std::int64_t place = row / b;
    const std::int64_t cell = rows.cell(color, static_cast<Ordinal>(place));
    Scalar* own = values + color * stored_diagonals * b * stride + row;
    if (cell < 0) {
      for (std::int64_t k = 0; k < stored_diagonals * b; ++k)
        own[k * stride] = Scalar(0);
      return;
    }
    const Scalar* const inverse_row = inverse + cell * b + (row - place * b);
    for (std::int64_t c = 0; c < b; ++c, own += stride)
      *own = inverse_row[c * inverse_stride];
    for (std::int64_t d = 0; d < blocks.diagonals; ++d) {
      const std::int64_t other = blocks.block_column(cell, d);
      if (other == cell) continue;
      for (std::int64_t c = 0; c < b; ++c, own += stride) {
        Sum sum(0);
        if (other >= 0 && other < cells)
          for (std::int64_t e = 0; e < b; ++e) {
            const std::int64_t position =
                blocks.block_position(cell, cell * b + e, d) + c * blocks.column_stride;
            sum += Sum(widen<Sum>(inverse_row[e * inverse_stride])) * Sum(widen<Sum>(blocks.value(position)));
          }
        *own = convert_scalar<Scalar>(sum);
      }
    }
  }
};

/// Changes all cells of one colour: x = (1 - relaxation) x + relaxation (D^-1 b - (D^-1 A without its diagonal) x). No
/// row uses what another row of the colour writes: an element of x that it loads of such a row has the factor 0, and is
/// not multiplied. One lane per row on a GPU.
template <class ExecutionSpace, class Scalar, class Ordinal, class B, class X, int BlockSize>
struct RelaxColor {
  using launch = RowLaunch<ExecutionSpace>;
  using Sum = wider_t<Scalar, B, X>;

  ColorRows<Ordinal> rows;
  int color;
  const Scalar* values;    ///< of the colour, see FillColors
  const Ordinal* offsets;  ///< of the diagonals but the main one
  int diagonals;           ///< their number; 0 if x is 0 in all cells that they couple with this colour
  Ordinal cells;
  MultiVector<const B> b;
  MultiVector<X> x;
  real_t<Sum> relaxation;

  KOKKOS_FORCEINLINE_FUNCTION int block_size() const { return BlockSize > 0 ? BlockSize : rows.block_size; }

  KOKKOS_FORCEINLINE_FUNCTION void relax(const Ordinal row) const {
    const auto size = static_cast<Ordinal>(block_size());
    const Ordinal place = row / size;
    const Ordinal cell = rows.cell(color, place);
    if (cell < 0) return;
    const std::int64_t stride = rows.rows();
    const Scalar* value = values + row;
    Sum sum(0);
    FILIGREE_UNROLL(8)
    for (Ordinal c = 0; c < size; ++c, value += stride) {
      const Sum factor = Sum(widen<Sum>(load_once(value)));
      const Sum element = Sum(widen<Sum>(b(cell * size + c, 0)));
      if (factor != Sum(0)) sum += factor * element;
    }
    FILIGREE_UNROLL(4)
    for (int d = 0; d < diagonals; ++d) {
      const std::int64_t other = static_cast<std::int64_t>(cell) + offsets[d];
      // A block outside the matrix has only zeros, which are not multiplied.
      const Ordinal clipped = other < 0       ? Ordinal(0)
                              : other < cells ? static_cast<Ordinal>(other)
                                              : static_cast<Ordinal>(cells - 1);
      FILIGREE_UNROLL(8)
      for (Ordinal c = 0; c < size; ++c, value += stride) {
        const Sum factor = Sum(widen<Sum>(load_once(value)));
        const Sum element = Sum(widen<Sum>(x(clipped * size + c, 0)));
        if (factor != Sum(0)) sum -= factor * element;
      }
    }
    store(cell * size + (row - place * size), sum);
  }
  /// The most rows of a tile on a host, whose sums a thread keeps.
  static constexpr int tile = 1024;
  static_assert(tile >= largest_inverse_block_size, "A tile must hold a cell.");

  /// Changes the places `first` to `end` - 1 of a line, on a host. It goes through the values column by column, because
  /// the values of a column are neighbours in memory.
  KOKKOS_FORCEINLINE_FUNCTION void relax_tile(std::int64_t first, std::int64_t end) const {
    const int size = block_size();
    const std::int64_t first_cell = rows.cell(color, static_cast<Ordinal>(first));
    if (first_cell < 0) return;
    const std::int64_t line_end = (first_cell / rows.cells_x + 1) * rows.cells_x;
    const std::int64_t step = rows.colors.count;
    const std::int64_t most = (line_end - first_cell + step - 1) / step;
    const auto count = static_cast<int>(end - first < most ? end - first : most);
    const std::int64_t stride = rows.rows();
    const Scalar* value = values + first * size;
    Sum sums[tile];
    for (int i = 0; i < count * size; ++i)
      sums[i] = Sum(0);
    // sums += column of values * elements, with the element at(place) for the rows of a place
    const auto add_column = [&](const auto& at) {
      for (int place = 0; place < count; ++place) {
        const Sum element = at(place);
        FILIGREE_UNROLL(8)
        for (int i = 0; i < size; ++i) {
          const Sum factor = Sum(widen<Sum>(value[place * size + i]));
          sums[place * size + i] += factor == Sum(0) ? Sum(0) : Sum(factor * element);
        }
      }
      value += stride;
    };
    for (int c = 0; c < size; ++c)
      add_column([&](int place) { return Sum(widen<Sum>(b((first_cell + place * step) * size + c, 0))); });
    for (int d = 0; d < diagonals; ++d)
      for (int c = 0; c < size; ++c)
        add_column([&](int place) {
          const std::int64_t other = first_cell + place * step + offsets[d];
          const std::int64_t clipped = other < 0 ? 0 : other < cells ? other : cells - 1;
          return Sum(-Sum(widen<Sum>(x(clipped * size + c, 0))));
        });
    for (int place = 0; place < count; ++place)
      for (int i = 0; i < size; ++i)
        store((first_cell + place * step) * size + i, sums[place * size + i]);
  }
  KOKKOS_FORCEINLINE_FUNCTION void store(std::int64_t row, Sum sum) const {
    X& own = x(row, 0);
    if (relaxation != real_t<Sum>(1))
      sum = relaxation * sum + (real_t<Sum>(1) - relaxation) * Sum(widen<Sum>(own));
    own = convert_scalar<X>(sum);
  }

  /// The items of which RowLaunch gives each team some: rows on a GPU, places on a host.
  std::int64_t items() const {
    return launch::gpu ? rows.rows() : static_cast<std::int64_t>(rows.lines) * rows.places;
  }
  KOKKOS_INLINE_FUNCTION void operator()(const typename launch::member_type& team) const {
    if constexpr (launch::gpu) {
      launch::for_each_row(team, rows.rows(),
                           [&](const std::int64_t row) { relax(static_cast<Ordinal>(row)); });
    } else {
      const auto own = launch::rows_of_team(team, static_cast<std::int64_t>(rows.lines) * rows.places);
      const std::int64_t places_of_tile = tile / block_size();
      for (std::int64_t first = own.first; first < own.first + own.count;) {
        std::int64_t end = (first / rows.places + 1) * rows.places;
        if (end > own.first + own.count) end = own.first + own.count;
        if (end > first + places_of_tile) end = first + places_of_tile;
        relax_tile(first, end);
        first = end;
      }
    }
  }
};

}  // namespace Filigree::Impl

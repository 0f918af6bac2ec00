// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "filigree/core/kokkos_versions.hpp"
#include "filigree/grid/grid_parts.hpp"
#include "filigree/grid/stencil.hpp"

namespace Filigree::Impl {

/// The extents of a grid and the rules at its boundaries.
struct StencilGrid {
  // What neighbour() returns if a point does not stand for a cell of the grid.
  static constexpr std::int64_t dropped = -1;
  static constexpr std::int64_t known_value = -2;

  std::int64_t cells[3];
  BoundaryRule rules[3];
  double low[3];
  double high[3];

  StencilGrid(const std::array<std::int64_t, 3>& cells_, const Boundaries& boundaries) {
    for (std::size_t axis = 0; axis < 3; ++axis) {
      cells[axis] = cells_[axis];
      rules[axis] = boundaries[axis].rule;
      low[axis] = boundaries[axis].low;
      high[axis] = boundaries[axis].high;
    }
  }

  /// The coordinates of a cell.
  KOKKOS_FORCEINLINE_FUNCTION void locate(std::int64_t cell, std::int64_t (&coordinates)[3]) const {
    coordinates[0] = cell % cells[0];
    coordinates[1] = cell / cells[0] % cells[1];
    coordinates[2] = cell / cells[0] / cells[1];
  }
  /// The number of a cell within a box, or -1 if the box does not have it.
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t number_in(const CellBox& box, std::int64_t cell) const {
    std::int64_t coordinates[3];
    locate(cell, coordinates);
    return box.number_of(coordinates);
  }
  /// The number in the grid of a cell of a box.
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t number_of(const CellBox& box, std::int64_t in_box) const {
    const std::int64_t x = box.begin[0] + in_box % box.extent(0);
    const std::int64_t y = box.begin[1] + in_box / box.extent(0) % box.extent(1);
    const std::int64_t z = box.begin[2] + in_box / box.extent(0) / box.extent(1);
    return (z * cells[1] + y) * cells[0] + x;
  }

  /// The number of the cell that a stencil point stands for, as seen from the cell at `coordinates`;
  /// `dropped` or `known_value` if it stands for none.
  ///
  /// @param outside set to true if the coefficient functor gets -1 for the neighbour
  /// @param value   set to the known value if the result is `known_value`
  KOKKOS_INLINE_FUNCTION std::int64_t neighbour(const std::int64_t (&coordinates)[3], const int* point,
                                                bool& outside, double& value) const {
    std::int64_t to[3];
    bool is_known = false;
    outside = false;
    for (int axis = 0; axis < 3; ++axis) {
      to[axis] = coordinates[axis] + point[axis];
      if (to[axis] >= 0 && to[axis] < cells[axis]) continue;
      const bool below = to[axis] < 0;
      switch (rules[axis]) {
        case BoundaryRule::drop:
          return dropped;
        case BoundaryRule::wrap:
          to[axis] += below ? cells[axis] : -cells[axis];
          break;
        case BoundaryRule::clamp:
          to[axis] = below ? 0 : cells[axis] - 1;
          outside = true;
          break;
        case BoundaryRule::constant:
          if (!is_known) value = below ? low[axis] : high[axis];
          is_known = true;
          outside = true;
          break;
      }
    }
    return is_known ? known_value : (to[2] * cells[1] + to[1]) * cells[0] + to[0];
  }
};

/// The blocks that couple the cells of a box with each other. The cells are numbered within the box, with x
/// fastest.
struct BoxBlocks {
  std::int64_t blocks = 0;
  std::vector<std::int64_t> offsets;  ///< column minus row of each block diagonal, ascending
};

/// The pattern of the matrix of a StencilProblem: all that does not depend on the coefficients.
struct StencilPattern {
  StencilGrid grid;
  int dof;                                 ///< unknowns per cell
  std::vector<std::array<int, 3>> points;  ///< sorted by z, then y, then x
  BoxBlocks all;                           ///< those of the whole grid

  /// Takes the arguments of StencilProblem and throws the errors that are documented there.
  StencilPattern(const std::array<std::int64_t, 3>& cells, const Stencil& stencil, int dof_,
                 const Boundaries& boundaries);

  std::int64_t num_rows() const { return grid.cells[0] * grid.cells[1] * grid.cells[2] * dof; }
  std::int64_t nnz() const { return all.blocks * dof * dof; }
  /// The box of all cells.
  CellBox whole_grid() const;
  /// Visits one cell of the box for all cells with equal neighbourhoods.
  BoxBlocks blocks_in(const CellBox& box) const;

 private:
  /// Consecutive coordinates of an axis with equal neighbourhoods.
  struct Coordinates {
    std::int64_t first;
    std::int64_t count;
  };

  void check_grid() const;
  void add_points(const Stencil& stencil);
  std::vector<Coordinates> equal_coordinates(const CellBox& box, std::size_t axis) const;
};

}  // namespace Filigree::Impl

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "filigree/core/kokkos_versions.hpp"
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

/// The pattern of the matrix of a StencilProblem: all that does not depend on the coefficients.
struct StencilPattern {
  StencilGrid grid;
  int dof;                                  ///< unknowns per cell
  std::vector<std::array<int, 3>> points;   ///< sorted by z, then y, then x
  std::int64_t blocks = 0;                  ///< dense blocks of the matrix
  std::vector<std::int64_t> block_offsets;  ///< column minus row of each block diagonal, ascending

  /// Takes the arguments of StencilProblem and throws the errors that are documented there.
  StencilPattern(const std::array<std::int64_t, 3>& cells, const Stencil& stencil, int dof_,
                 const Boundaries& boundaries);

  std::int64_t num_rows() const { return grid.cells[0] * grid.cells[1] * grid.cells[2] * dof; }
  std::int64_t nnz() const { return blocks * dof * dof; }

 private:
  /// Consecutive coordinates of an axis with equal neighbourhoods.
  struct Coordinates {
    std::int64_t first;
    std::int64_t count;
  };

  void check_grid() const;
  void add_points(const Stencil& stencil);
  std::vector<Coordinates> equal_coordinates(std::size_t axis) const;
  void count_blocks_and_diagonals();
};

}  // namespace Filigree::Impl

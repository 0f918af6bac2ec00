// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <Kokkos_Core.hpp>

#include <cstdint>

/// Coefficients of a plate of wood, for Filigree::StencilProblem: heat flows between a cell and its
/// neighbours in x and y, and twice as easily along the fibres, which run along the diagonals. Each cell has
/// its own conductivity, in a View. The matrix is (heat that leaves the cell) - (heat that arrives).
template <class Device>
struct Fibres {
  Kokkos::View<const double*, Device>
      conductivity;  ///< one per cell; StencilProblem copies the functor, not the View
  int nx, ny;
  bool wraps[2];  ///< whether the plate is periodic in x and in y
  /// The points of the stencil except for the cell itself: four neighbours, and two more along the fibres.
  static constexpr int neighbour_count = 6;
  int neighbours[neighbour_count][2] = {{-1, -1}, {0, -1}, {-1, 0}, {1, 0}, {0, 1}, {1, 1}};

  /// The conductance between two cells: the harmonic mean of their conductivities, twice as large along a
  /// fibre. Beyond the edge (to is -1) it is the conductivity of the cell, for all points alike.
  KOKKOS_INLINE_FUNCTION double conductance(std::int64_t from, std::int64_t to, bool along_fibre) const {
    const double a = conductivity(from);
    if (to < 0) return a;
    const double b = conductivity(to);
    return (along_fibre ? 4 : 2) * a * b / (a + b);
  }

  /// The distance from one coordinate to another, on a periodic axis the shorter way.
  KOKKOS_INLINE_FUNCTION int distance(int from, int to, int count, bool wrap) const {
    const int d = to - from;
    return !wrap ? d : d > 1 ? d - count : d < -1 ? d + count : d;
  }

  /// The number of the cell at (x, y), or -1 beyond the edge.
  KOKKOS_INLINE_FUNCTION std::int64_t cell_at(int x, int y) const {
    if (wraps[0]) x = (x + nx) % nx;
    if (wraps[1]) y = (y + ny) % ny;
    return x < 0 || x >= nx || y < 0 || y >= ny ? -1 : y * nx + x;
  }

  /// The coefficient of `neighbour` in the equation of `cell`. StencilProblem passes -1 for a point beyond
  /// the edge if the rule of the edge is clamp or constant. With one unknown per cell, i and j are 0.
  KOKKOS_INLINE_FUNCTION double operator()(std::int64_t cell, std::int64_t neighbour, int, int) const {
    const int x = static_cast<int>(cell % nx), y = static_cast<int>(cell / nx);
    if (neighbour == cell) {
      double leaves = 0;
      for (int n = 0; n < neighbour_count; ++n) {
        const int dx = neighbours[n][0], dy = neighbours[n][1];
        leaves += conductance(cell, cell_at(x + dx, y + dy), dx * dy != 0);
      }
      return leaves;
    }
    if (neighbour < 0) return -conductance(cell, -1, false);
    const int dx = distance(x, static_cast<int>(neighbour % nx), nx, wraps[0]);
    const int dy = distance(y, static_cast<int>(neighbour / nx), ny, wraps[1]);
    return -conductance(cell, neighbour, dx * dy != 0);
  }
};

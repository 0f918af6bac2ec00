// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The coefficients of the matrix: what StencilProblem calls for each pair of coupled cells.
#pragma once

#include <Kokkos_Core.hpp>

#include <cstdint>

/// One implicit Euler step of advection, diffusion and reaction of four dissolved species in a box of nx x ny
/// x nz cubic cells. (1 + dt * transport - dt * reactions) applied to the new concentrations gives the old
/// ones.
///
/// The fluid rotates about the middle of the x-y plane and drifts along z. The box is closed in x and y and
/// periodic in z. All that leaves a cell through a face arrives in its neighbour, so that nothing is lost.
struct Transport {
  int nx, ny, nz;
  double dt;
  double cell = 1.0 / nx;  ///< length of the edge of a cell

  /// Reactions per unit of time: species 0 becomes 1, 1 becomes 2, and 2 becomes 3. Returns the change of
  /// species i per concentration of species j.
  KOKKOS_INLINE_FUNCTION double reaction(int i, int j) const {
    constexpr double rates[4] = {8.0, 4.0, 2.0, 0.0};
    return i == j ? -rates[j] : i == j + 1 ? rates[j] : 0.0;
  }

  /// Diffusion of species i along a gradient of species j. The species drag each other along, which couples
  /// them in each pair of cells and fills the dense blocks of the matrix.
  KOKKOS_INLINE_FUNCTION double diffusion(int i, int j) const { return i == j ? 4e-4 / (1 + i) : 2e-5; }

  /// The stream function of the rotation, at the corner (x, y) of a cell. It is 0 at the walls. Differences
  /// of it are the velocities through the faces, so that as much fluid enters a cell as leaves it.
  KOKKOS_INLINE_FUNCTION double stream(int x, int y) const {
    const double a = x * cell, b = y * cell, height = ny * cell;
    return 8.0 * a * (1.0 - a) * b * (height - b);
  }

  /// The velocity from the cell at (x, y, z) through the face to its neighbour in direction (dx, dy, dz).
  KOKKOS_INLINE_FUNCTION double velocity(int x, int y, int dx, int dy, int dz) const {
    if (dx != 0) return dx * (stream(x + (dx > 0), y + 1) - stream(x + (dx > 0), y)) / cell;
    if (dy != 0) return -dy * (stream(x + 1, y + (dy > 0)) - stream(x, y + (dy > 0))) / cell;
    return 0.2 * dz;
  }

  /// What moves from the cell at (x, y, z) to its neighbour: amount of species i per concentration of species
  /// j, per unit of time and volume of a cell. Only the cell from which fluid flows contributes (upwind).
  KOKKOS_INLINE_FUNCTION double outflow(int x, int y, int dx, int dy, int dz, int i, int j) const {
    const double speed = velocity(x, y, dx, dy, dz);
    return diffusion(i, j) / (cell * cell) + (i == j && speed > 0 ? speed / cell : 0.0);
  }

  /// The element in row i of `to` and column j of `from`.
  KOKKOS_INLINE_FUNCTION double operator()(std::int64_t to, std::int64_t from, int i, int j) const {
    const int x = static_cast<int>(from % nx), y = static_cast<int>(from / nx % ny);
    const int z = static_cast<int>(from / nx / ny);
    if (to != from) {
      const int dx = static_cast<int>(to % nx) - x, dy = static_cast<int>(to / nx % ny) - y;
      int dz = static_cast<int>(to / nx / ny) - z;
      if (dz > 1) dz = -1;  // through the periodic ends
      if (dz < -1) dz = 1;
      return -dt * outflow(x, y, dx, dy, dz, i, j);
    }
    double leaves = 0;
    if (x > 0) leaves += outflow(x, y, -1, 0, 0, i, j);
    if (x + 1 < nx) leaves += outflow(x, y, 1, 0, 0, i, j);
    if (y > 0) leaves += outflow(x, y, 0, -1, 0, i, j);
    if (y + 1 < ny) leaves += outflow(x, y, 0, 1, 0, i, j);
    leaves += outflow(x, y, 0, 0, -1, i, j) + outflow(x, y, 0, 0, 1, i, j);
    return (i == j ? 1.0 : 0.0) + dt * (leaves - reaction(i, j));
  }
};

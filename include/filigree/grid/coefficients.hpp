// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "filigree/core/random.hpp"

namespace Filigree {

// Coefficients for StencilProblem. Each functor returns the value in row i of `cell` and column j of
// `neighbour`.

/// The default coefficients of StencilProblem: a Laplacian of each unknown, and a weak coupling of all
/// unknowns by dense blocks.
///
/// Unknown i of a cell has the coefficient `points` for itself and -1 for unknown i of each neighbour. The
/// coefficients for the other unknowns have a magnitude below 1 / (8 dof) and depend on all four arguments,
/// so that tests notice a block in the wrong position. With up to 9 points the rows are diagonally dominant.
struct CoupledLaplacian {
  /// points_ is the number of points of the stencil, dof_ the unknowns per cell.
  CoupledLaplacian(int points_, int dof_) : points(points_), dof(dof_) {}
  int points;  ///< number of points of the stencil
  int dof;     ///< unknowns per cell

  /// The value in row i of `cell` and column j of `neighbour`.
  KOKKOS_INLINE_FUNCTION double operator()(std::int64_t cell, std::int64_t neighbour, int i, int j) const {
    if (i == j) return cell == neighbour ? points : -1.0;
    const std::int64_t mixed = (cell * 31 + (neighbour + 1) * 17 + i * 7 + j * 3) % 64;
    return (static_cast<double>(mixed) - 31.5) / (256.0 * dof);
  }
};

/// The Laplacian of each unknown, without coupling between unknowns.
///
/// An unknown has the coefficient points - 1, its number of neighbours, for itself and -1 for the same
/// unknown of each neighbour. All other elements of the dense blocks are 0. On a 1-D grid of n cells with
/// BoundaryRule::drop and three points, the eigenvalues are 2 - 2 cos(k pi / (n + 1)) for k = 1 to n.
struct Laplacian {
  int points;  ///< number of points of the stencil, including the cell itself

  /// The value in row i of `cell` and column j of `neighbour`.
  KOKKOS_INLINE_FUNCTION double operator()(std::int64_t cell, std::int64_t neighbour, int i, int j) const {
    return i != j ? 0.0 : cell == neighbour ? points - 1.0 : -1.0;
  }
};

/// Pseudo-random numbers from -1 to 1. They depend only on the seed and the four arguments, so they are equal
/// on every machine. points * dof is added to diagonal entries, which makes the rows diagonally dominant.
struct RandomCoefficients {
  int points;              ///< number of points of the stencil
  int dof;                 ///< unknowns per cell
  std::uint64_t seed = 1;  ///< other seeds give other numbers

  /// The value in row i of `cell` and column j of `neighbour`.
  KOKKOS_INLINE_FUNCTION double operator()(std::int64_t cell, std::int64_t neighbour, int i, int j) const {
    std::uint64_t state = Impl::random_bits(seed);
    for (const std::int64_t argument : {cell, neighbour, std::int64_t(i), std::int64_t(j)})
      state = Impl::random_bits(state + static_cast<std::uint64_t>(argument));
    const double number = static_cast<double>(state >> 11) / 4503599627370496.0 - 1.0;
    return cell == neighbour && i == j ? number + static_cast<double>(points) * dof : number;
  }
};

}  // namespace Filigree

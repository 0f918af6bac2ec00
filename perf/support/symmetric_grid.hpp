// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "support/grid_list.hpp"

namespace FiligreePerf {

/// Coefficients of a symmetric positive definite matrix with dense blocks: the Laplacian of each unknown, plus
/// 1/16 on the diagonal, as from an implicit time step, and a weak coupling of all unknowns. The rows are
/// diagonally dominant, because the couplings of a row add up to less than 1/16.
struct SymmetricCoupling {
  int points;
  int dof;

  /// The value in row i of `cell` and column j of `neighbour`.
  KOKKOS_INLINE_FUNCTION double operator()(std::int64_t cell, std::int64_t neighbour, int i, int j) const {
    if (i == j) return cell == neighbour ? points - 1.0 + 1.0 / 16 : -1.0;
    return ((i + j) % 2 == 0 ? 1.0 : -1.0) / (16.0 * points * dof);
  }
};

/// The matrix of these coefficients on a grid.
template <class Crs>
Crs symmetric_matrix(const std::array<std::int64_t, 3>& cells, const Filigree::Stencil& stencil, int dof,
                     const Filigree::Boundaries& boundaries = {}) {
  const int points = static_cast<int>(stencil.points.size());
  const Crs crs = Filigree::StencilProblem<SymmetricCoupling>(cells, stencil, dof,
                                                              SymmetricCoupling{points, dof}, boundaries)
                      .template crs<Crs>();
  Kokkos::fence();
  return crs;
}
template <class Crs>
Crs symmetric_matrix(const NamedGrid& grid, int dof) {
  Progress progress("making the matrix of " + grid.name);
  return symmetric_matrix<Crs>(grid.cells, grid.stencil, dof);
}

}  // namespace FiligreePerf

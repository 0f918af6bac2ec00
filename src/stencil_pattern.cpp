// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>
#include <cstdlib>
#include <filigree/core/error.hpp>
#include <filigree/grid/stencil_pattern.hpp>
#include <set>

namespace Filigree::Impl {

StencilPattern::StencilPattern(const std::array<std::int64_t, 3>& cells, const Stencil& stencil, int dof_,
                               const Boundaries& boundaries)
    : grid(cells, boundaries), dof(dof_) {
  const auto [nx, ny, nz] = cells;
  if (nx < 1 || ny < 1 || nz < 1)
    fail<std::invalid_argument>("Filigree::StencilProblem: the grid has ", nx, " x ", ny, " x ", nz,
                                " cells; each number must be at least 1.");
  if (dof < 1)
    fail<std::invalid_argument>("Filigree::StencilProblem: dof is ", dof,
                                "; it is the number of unknowns per cell and must be at least 1.");
  if (static_cast<double>(nx) * static_cast<double>(ny) * static_cast<double>(nz) * dof > 9e18)
    fail<std::length_error>("Filigree::StencilProblem: ", nx, " x ", ny, " x ", nz, " cells with ", dof,
                            " unknowns per cell are more rows than 64 bits can count.");
  add_points(stencil);
  count_blocks_and_diagonals();
}

/// Checks the points of the stencil, and stores and sorts those that reach a cell.
void StencilPattern::add_points(const Stencil& stencil) {
  for (const auto& point : stencil.points) {
    if (std::count(stencil.points.begin(), stencil.points.end(), point) > 1)
      fail<std::invalid_argument>("Filigree::StencilProblem: the stencil has the point (", point[0], ", ",
                                  point[1], ", ", point[2], ") twice; its points must differ.");
    bool reaches_cell = true;
    for (std::size_t axis = 0; axis < 3; ++axis) {
      const std::int64_t reach = std::abs(static_cast<std::int64_t>(point[axis]));
      if (grid.rules[axis] == BoundaryRule::wrap && 2 * reach >= grid.cells[axis] && reach > 0)
        fail<std::invalid_argument>("Filigree::StencilProblem: axis ", axis, " wraps around ",
                                    grid.cells[axis], " cells, and the stencil reaches ", reach,
                                    " cells along it; the axis must have more than ", 2 * reach, " cells.");
      if (grid.rules[axis] == BoundaryRule::drop && reach >= grid.cells[axis]) reaches_cell = false;
    }
    // A point that never reaches a cell would add an empty block diagonal.
    if (reaches_cell) points.push_back(point);
  }
  // In this order the columns of a CRS row are sorted.
  const auto distance = [&](const std::array<int, 3>& point) {
    return (point[2] * grid.cells[1] + point[1]) * grid.cells[0] + point[0];
  };
  std::sort(points.begin(), points.end(),
            [&](const auto& a, const auto& b) { return distance(a) < distance(b); });
}

/// Sets blocks and block_offsets.
///
/// A coordinate of an axis is inner if it is at least the reach of the stencil away from both ends. All inner
/// coordinates have equal neighbourhoods, so one of them is visited and counted for all.
void StencilPattern::count_blocks_and_diagonals() {
  using Representative = std::pair<std::int64_t, std::int64_t>;  // a coordinate, number of equal coordinates
  std::array<std::vector<Representative>, 3> representatives;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    std::int64_t reach = 0;
    for (const auto& point : points)
      reach = std::max(reach, std::abs(static_cast<std::int64_t>(point[axis])));
    const std::int64_t cells = grid.cells[axis];
    const bool has_inner = cells > 2 * reach;
    for (std::int64_t i = 0; i < (has_inner ? reach : cells); ++i)
      representatives[axis].emplace_back(i, 1);
    if (has_inner) representatives[axis].emplace_back(reach, cells - 2 * reach);
    for (std::int64_t i = cells - reach; has_inner && i < cells; ++i)
      representatives[axis].emplace_back(i, 1);
  }
  std::set<std::int64_t> offsets;
  for (const auto& [z, z_count] : representatives[2])
    for (const auto& [y, y_count] : representatives[1])
      for (const auto& [x, x_count] : representatives[0]) {
        const std::int64_t coordinates[3] = {x, y, z};
        const std::int64_t cell = (z * grid.cells[1] + y) * grid.cells[0] + x;
        std::set<std::int64_t> neighbours;
        for (const auto& point : points) {
          bool outside = false;
          double value = 0;
          const std::int64_t neighbour = grid.neighbour(coordinates, point.data(), outside, value);
          if (neighbour >= 0) neighbours.insert(neighbour - cell);
        }
        blocks += x_count * y_count * z_count * static_cast<std::int64_t>(neighbours.size());
        offsets.insert(neighbours.begin(), neighbours.end());
      }
  block_offsets.assign(offsets.begin(), offsets.end());
}

}  // namespace Filigree::Impl

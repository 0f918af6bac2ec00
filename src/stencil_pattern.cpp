// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>
#include <cstdlib>
#include <filigree/core/error.hpp>
#include <filigree/grid/stencil_pattern.hpp>
#include <limits>
#include <set>
#include <tuple>

namespace Filigree::Impl {

constexpr std::int64_t most_entries = std::numeric_limits<std::int64_t>::max();

StencilPattern::StencilPattern(const std::array<std::int64_t, 3>& cells, const Stencil& stencil, int dof_,
                               const Boundaries& boundaries)
    : grid(cells, boundaries), dof(dof_) {
  check_grid();
  add_points(stencil);
  all = blocks_in(whole_grid());
}

CellBox StencilPattern::whole_grid() const {
  return {{0, 0, 0}, {grid.cells[0], grid.cells[1], grid.cells[2]}};
}

void StencilPattern::check_grid() const {
  const auto [nx, ny, nz] = grid.cells;
  if (nx < 1 || ny < 1 || nz < 1)
    fail<std::invalid_argument>("Filigree::StencilProblem: the grid has ", nx, " x ", ny, " x ", nz,
                                " cells; each number must be at least 1.");
  if (dof < 1)
    fail<std::invalid_argument>("Filigree::StencilProblem: dof is ", dof,
                                "; it is the number of unknowns per cell and must be at least 1.");
  for (int axis = 0; axis < 3; ++axis)
    if (grid.rules[axis] < BoundaryRule::drop || grid.rules[axis] > BoundaryRule::constant)
      fail<std::invalid_argument>("Filigree::StencilProblem: the rule of axis ", axis, " is BoundaryRule(",
                                  static_cast<int>(grid.rules[axis]),
                                  "); it must be drop, wrap, clamp or constant.");
  // Divisions, because the product may overflow.
  if (dof > most_entries / nx / ny / nz)
    fail<std::length_error>("Filigree::StencilProblem: ", nx, " x ", ny, " x ", nz, " cells with ", dof,
                            " unknowns per cell are more rows than 64 bits can count.");
}

/// Checks the points of the stencil, and stores and sorts those that reach a cell.
void StencilPattern::add_points(const Stencil& stencil) {
  if (stencil.points.size() > static_cast<std::size_t>(std::numeric_limits<int>::max()))
    fail<std::length_error>("Filigree::StencilProblem: the stencil has ", stencil.points.size(),
                            " points; it may have at most ", std::numeric_limits<int>::max(), ".");
  auto sorted = stencil.points;
  // In this order the columns of a CRS row are sorted, if all points are in the grid.
  std::sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) {
    return std::tie(a[2], a[1], a[0]) < std::tie(b[2], b[1], b[0]);
  });
  const auto twice = std::adjacent_find(sorted.begin(), sorted.end());
  if (twice != sorted.end())
    fail<std::invalid_argument>("Filigree::StencilProblem: the stencil has the point (", (*twice)[0], ", ",
                                (*twice)[1], ", ", (*twice)[2], ") twice; its points must differ.");
  for (const auto& point : sorted) {
    bool reaches_cell = true;
    for (std::size_t axis = 0; axis < 3; ++axis) {
      if (point[axis] == std::numeric_limits<int>::lowest())
        fail<std::invalid_argument>("Filigree::StencilProblem: the stencil has the point (", point[0], ", ",
                                    point[1], ", ", point[2], "); each distance must be at least ",
                                    -std::numeric_limits<int>::max(), ".");
      const std::int64_t reach = std::abs(point[axis]);
      if (grid.rules[axis] == BoundaryRule::wrap && 2 * reach >= grid.cells[axis] && reach > 0)
        fail<std::invalid_argument>("Filigree::StencilProblem: axis ", axis, " wraps around ",
                                    grid.cells[axis], " cells, and the stencil reaches ", reach,
                                    " cells along it; the axis must have more than ", 2 * reach, " cells.");
      if (grid.rules[axis] == BoundaryRule::drop && reach >= grid.cells[axis]) reaches_cell = false;
    }
    // A point that never reaches a cell would add an empty block diagonal.
    if (reaches_cell) points.push_back(point);
  }
}

/// The coordinates of a box along an axis in groups with equal neighbourhoods, in ascending order: the same
/// points are in the grid and in the box, and the others stand for cells at the same distance.
std::vector<StencilPattern::Coordinates> StencilPattern::equal_coordinates(const CellBox& box,
                                                                           std::size_t axis) const {
  const std::int64_t cells = grid.cells[axis];
  const std::int64_t box_begin = box.begin[axis];
  const std::int64_t box_end = box.end[axis];
  std::set<std::int64_t> begins = {box_begin, box_end};
  const auto add = [&](std::int64_t begin) { begins.insert(std::clamp(begin, box_begin, box_end)); };
  for (const auto& point : points) {
    // The point is in the grid for coordinates `first` to `end` - 1.
    const std::int64_t first = std::clamp<std::int64_t>(-std::int64_t(point[axis]), 0, cells);
    const std::int64_t end = std::clamp<std::int64_t>(cells - point[axis], 0, cells);
    add(first);
    add(end);
    // It enters and leaves the box at these coordinates; with the rule wrap also from the other end.
    for (const std::int64_t turn : {-cells, std::int64_t(0), cells}) {
      if (turn != 0 &&
          (grid.rules[axis] != BoundaryRule::wrap || box.extent(static_cast<int>(axis)) == cells))
        continue;
      add(box_begin - point[axis] + turn);
      add(box_end - point[axis] + turn);
    }
    // The distance to the end of the grid is different for each coordinate.
    if (grid.rules[axis] != BoundaryRule::clamp) continue;
    for (std::int64_t i = box_begin; i < std::min(first, box_end); ++i)
      add(i);
    for (std::int64_t i = std::max(end, box_begin); i < box_end; ++i)
      add(i);
  }
  std::vector<Coordinates> groups;
  for (auto begin = begins.begin(); *begin < box_end; ++begin)
    groups.push_back({*begin, *std::next(begin) - *begin});
  return groups;
}

BoxBlocks StencilPattern::blocks_in(const CellBox& box) const {
  const auto all_x = equal_coordinates(box, 0);
  const auto all_y = equal_coordinates(box, 1);
  const auto all_z = equal_coordinates(box, 2);
  const std::int64_t most_blocks = most_entries / dof / dof;
  BoxBlocks result;
  std::set<std::int64_t> offsets;
  for (const auto& z : all_z)
    for (const auto& y : all_y)
      for (const auto& x : all_x) {
        const std::int64_t coordinates[3] = {x.first, y.first, z.first};
        const std::int64_t cell = box.number_of(coordinates);
        std::set<std::int64_t> neighbours;
        for (const auto& point : points) {
          bool outside = false;
          double value = 0;
          const std::int64_t neighbour = grid.neighbour(coordinates, point.data(), outside, value);
          if (neighbour < 0) continue;
          const std::int64_t in_box = grid.number_in(box, neighbour);
          if (in_box >= 0) neighbours.insert(in_box - cell);
        }
        if (neighbours.empty()) continue;
        const std::int64_t equal_cells = x.count * y.count * z.count;
        const std::int64_t blocks_per_cell = static_cast<std::int64_t>(neighbours.size());
        if (equal_cells > (most_blocks - result.blocks) / blocks_per_cell)
          fail<std::length_error>("Filigree::StencilProblem: the matrix of ", grid.cells[0], " x ",
                                  grid.cells[1], " x ", grid.cells[2], " cells with ", dof,
                                  " unknowns per cell and a stencil of ", points.size(),
                                  " points has more entries than 64 bits can count.");
        result.blocks += equal_cells * blocks_per_cell;
        offsets.insert(neighbours.begin(), neighbours.end());
      }
  result.offsets.assign(offsets.begin(), offsets.end());
  return result;
}

}  // namespace Filigree::Impl

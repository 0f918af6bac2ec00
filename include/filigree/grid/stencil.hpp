// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <array>
#include <limits>
#include <vector>

#include "filigree/core/error.hpp"

namespace Filigree {

/// The points of a stencil: the distances in x, y and z from a cell to the cells that it is coupled with.
/// Each is at least -(2^31 - 1).
struct Stencil {
  std::vector<std::array<int, 3>> points;  ///< in any order; (0, 0, 0) is the cell itself

  /// All points at a distance of at most `reach` along each of the first `dimensions` axes.
  /// @throws std::invalid_argument unless dimensions is 1, 2 or 3 and reach at least 0
  /// @throws std::length_error if there are more than 2^31 - 1 points
  static Stencil box(int dimensions, int reach = 1) {
    if (dimensions < 1 || dimensions > 3 || reach < 0)
      Impl::fail<std::invalid_argument>("Filigree::Stencil::box: dimensions is ", dimensions, " and reach ",
                                        reach, "; dimensions must be 1, 2 or 3, and reach at least 0.");
    double count = 1;
    for (int axis = 0; axis < dimensions; ++axis)
      count *= 2.0 * reach + 1;
    if (count > std::numeric_limits<int>::max())
      Impl::fail<std::length_error>("Filigree::Stencil::box: a reach of ", reach, " in ", dimensions,
                                    " dimensions gives ", count, " points; a stencil has at most ",
                                    std::numeric_limits<int>::max(), ".");
    Stencil stencil;
    for (int z = dimensions > 2 ? -reach : 0; z <= (dimensions > 2 ? reach : 0); ++z)
      for (int y = dimensions > 1 ? -reach : 0; y <= (dimensions > 1 ? reach : 0); ++y)
        for (int x = -reach; x <= reach; ++x)
          stencil.points.push_back({x, y, z});
    return stencil;
  }
  /// 1-D: the cell and its two neighbours.
  static Stencil three_point() { return box(1); }
  /// 2-D: the cell and its four neighbours.
  static Stencil five_point() { return {{{0, -1, 0}, {-1, 0, 0}, {0, 0, 0}, {1, 0, 0}, {0, 1, 0}}}; }
  /// 2-D: the cell and the eight cells around it.
  static Stencil nine_point() { return box(2); }
  /// 3-D: the cell and its six neighbours.
  static Stencil seven_point() {
    return {{{0, 0, -1}, {0, -1, 0}, {-1, 0, 0}, {0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
  }
  /// 3-D: the cell and the 26 cells around it.
  static Stencil twenty_seven_point() { return box(3); }
};

/// What a stencil point stands for if it lies outside the grid along an axis.
enum class BoundaryRule {
  drop,     ///< nothing: the point is left out
  wrap,     ///< the cell at the other end of the axis: the grid is periodic
  clamp,    ///< the nearest cell of the grid
  constant  ///< a cell whose unknowns have a known value: the point contributes to the right-hand side
};

/// The rule of an axis, and the known values beyond its low and high end for BoundaryRule::constant.
struct Boundary {
  BoundaryRule rule = BoundaryRule::drop;  ///< the rule at both ends of the axis
  double low = 0;                          ///< value below the first cell, for BoundaryRule::constant
  double high = 0;                         ///< value above the last cell, for BoundaryRule::constant

  /// BoundaryRule::drop
  static Boundary drop() { return {}; }
  /// BoundaryRule::wrap
  static Boundary wrap() { return {BoundaryRule::wrap, 0, 0}; }
  /// BoundaryRule::clamp
  static Boundary clamp() { return {BoundaryRule::clamp, 0, 0}; }
  /// BoundaryRule::constant with the values beyond the two ends
  static Boundary constant(double low, double high) { return {BoundaryRule::constant, low, high}; }
};

/// The rules of the axes x, y and z.
using Boundaries = std::array<Boundary, 3>;

}  // namespace Filigree

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <array>
#include <limits>

#include "filigree/core/error.hpp"
#include "filigree/core/kokkos_versions.hpp"

namespace Filigree {

/// A box of cells: along each axis those from begin to end - 1.
struct CellBox {
  std::int64_t begin[3] = {0, 0, 0};  ///< first cell in x, y and z
  std::int64_t end[3] = {0, 0, 0};    ///< the cell after the last one

  /// Cells along an axis.
  KOKKOS_INLINE_FUNCTION std::int64_t extent(int axis) const { return end[axis] - begin[axis]; }
  /// Cells of the box. It may have none.
  KOKKOS_INLINE_FUNCTION std::int64_t cells() const { return extent(0) * extent(1) * extent(2); }
  /// The number of a cell within the box, with x fastest; -1 if the box does not have it.
  KOKKOS_INLINE_FUNCTION std::int64_t number_of(const std::int64_t (&coordinates)[3]) const {
    for (int axis = 0; axis < 3; ++axis)
      if (coordinates[axis] < begin[axis] || coordinates[axis] >= end[axis]) return -1;
    return ((coordinates[2] - begin[2]) * extent(1) + coordinates[1] - begin[1]) * extent(0) +
           coordinates[0] - begin[0];
  }
};

/// Cuts a grid into boxes of nearly equal size, for example one per rank of a distributed run. Along an axis
/// of n cells, part i of p has the cells from n*i/p to n*(i+1)/p - 1, rounded down. If p is larger than n,
/// some boxes have no cells. The boxes are numbered with x fastest.
struct GridParts {
  std::array<int, 3> counts = {1, 1, 1};  ///< number of parts along x, y and z

  /// Cuts along the last axis that has more than one cell. Each part then has consecutive cells.
  /// @throws std::invalid_argument if parts or a number of cells is below 1
  static GridParts slabs(const std::array<std::int64_t, 3>& cells, int parts) {
    check("slabs", cells, parts);
    GridParts result;
    result.counts[cells[2] > 1 ? 2 : cells[1] > 1 ? 1 : 0] = parts;
    return result;
  }

  /// The cuts with the fewest cells beside them, so that a stencil couples as few cells of different parts as
  /// possible. Cuts that leave parts without cells are taken only if there are no others. It counts no cells
  /// that BoundaryRule::wrap couples. Its time is at most proportional to `parts` times its number of divisors.
  /// @throws std::invalid_argument if parts or a number of cells is below 1
  static GridParts blocks(const std::array<std::int64_t, 3>& cells, int parts) {
    check("blocks", cells, parts);
    GridParts best;
    double least = std::numeric_limits<double>::infinity();
    const auto n = [&](std::size_t axis) { return static_cast<double>(cells[axis]); };
    for (int x = 1; x <= parts; ++x) {
      if (parts % x != 0) continue;
      for (int y = 1; y <= parts / x; ++y) {
        if (parts / x % y != 0) continue;
        const int z = parts / x / y;
        double cost = (x - 1) * n(1) * n(2) + (y - 1) * n(0) * n(2) + (z - 1) * n(0) * n(1);
        // Each empty part costs more than all cells.
        if (x > cells[0] || y > cells[1] || z > cells[2]) {
          const auto filled = [](int count, double extent) { return std::min<double>(count, extent); };
          cost += (parts - filled(x, n(0)) * filled(y, n(1)) * filled(z, n(2))) * 4 * n(0) * n(1) * n(2);
        }
        // Of equal ones this takes the first, which has the most cuts in z.
        if (cost < least) {
          least = cost;
          best.counts = {x, y, z};
        }
      }
    }
    return best;
  }

  /// Number of parts.
  int count() const { return counts[0] * counts[1] * counts[2]; }

  /// The cells of a part, which must be from 0 to count() - 1, of a grid.
  CellBox box(const std::array<std::int64_t, 3>& cells, int part) const {
    CellBox result;
    for (std::size_t axis = 0; axis < 3; ++axis) {
      const std::int64_t at = part % counts[axis];
      part /= counts[axis];
      result.begin[axis] = first_cell(cells[axis], at, counts[axis]);
      result.end[axis] = first_cell(cells[axis], at + 1, counts[axis]);
    }
    return result;
  }

  /// Whether each part of a grid has consecutive cells, and those of the next part follow them.
  bool are_consecutive(const std::array<std::int64_t, 3>& cells) const {
    for (std::size_t cut = 0; cut < 3; ++cut)
      for (std::size_t axis = 0; axis < 3 && counts[cut] > 1; ++axis)
        if ((axis < cut && counts[axis] > 1) || (axis > cut && cells[axis] > 1)) return false;
    return true;
  }

  /// The part that has a cell of a grid. Cells are numbered as in StencilProblem.
  int part_of(const std::array<std::int64_t, 3>& cells, std::int64_t cell) const {
    std::int64_t result = 0;
    std::int64_t stride = 1;
    for (std::size_t axis = 0; axis < 3; ++axis) {
      const std::int64_t at = cell % cells[axis];
      cell /= cells[axis];
      // The largest i with n*i/p, rounded down, at most `at`.
      result += stride * ((counts[axis] * (at + 1) - 1) / cells[axis]);
      stride *= counts[axis];
    }
    return static_cast<int>(result);
  }

 private:
  /// n*i/p rounded down, without an overflow.
  static std::int64_t first_cell(std::int64_t n, std::int64_t i, std::int64_t p) {
    return n / p * i + n % p * i / p;
  }

  static void check(const char* function, const std::array<std::int64_t, 3>& cells, int parts) {
    if (parts < 1 || cells[0] < 1 || cells[1] < 1 || cells[2] < 1)
      Impl::fail<std::invalid_argument>("Filigree::GridParts::", function, ": ", parts, " parts of ",
                                        cells[0], " x ", cells[1], " x ", cells[2],
                                        " cells; each number must be at least 1.");
  }
};

}  // namespace Filigree

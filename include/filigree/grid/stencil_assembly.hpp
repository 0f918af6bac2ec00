// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdlib>

#include "filigree/conversion/build_crs.hpp"
#include "filigree/core/scalar.hpp"
#include "filigree/grid/stencil_pattern.hpp"

namespace Filigree::Impl {

/// All cells of a grid, for StencilAssembly: the rows and columns are those of the whole grid.
struct WholeGrid {
  /// The cell of a block row.
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t cell(std::int64_t block_row) const { return block_row; }
  /// Calls visit(block_column, coefficient) for each block of a cell in ascending order.
  template <class Assembly, class Visit>
  KOKKOS_FORCEINLINE_FUNCTION void for_each_block(const Assembly& assembly, std::int64_t cell,
                                                  const Visit& visit) const {
    assembly.for_each_neighbour(cell, visit);
  }
};

/// The kernels of StencilProblem. One lane works on one row. `Part` says which block rows and block columns
/// the matrix has, for example those of a rank; see WholeGrid.
template <class ExecutionSpace, class Device, class Scalar, class Ordinal, class SizeType, class Coefficients,
          class Part = WholeGrid>
struct StencilAssembly {
  using execution_space = ExecutionSpace;
  using scalar_type = Scalar;
  using ordinal_type = Ordinal;
  struct Count {};
  struct FillCrs {};
  struct FillRightHandSide {};

  Kokkos::View<int* [3], Kokkos::LayoutRight, Device> points;
  StencilGrid grid;
  /// The largest distance of a point from the centre, per axis. A cell that is at least this far from both
  /// ends of every axis has all its neighbours in the grid.
  int reach[3] = {0, 0, 0};
  int dof;
  Coefficients coefficients;
  Part part;
  // Set by build_crs().
  SizeType* crs_row_map = nullptr;
  Ordinal* crs_entries = nullptr;
  Scalar* crs_values = nullptr;
  // Set by assemble_right_hand_side().
  Scalar* right_hand_side = nullptr;

  /// Copies the points to the device and fences exec.
  StencilAssembly(const ExecutionSpace& exec, const StencilPattern& pattern,
                  const Coefficients& coefficients_, const Part& part_ = Part())
      : points(Kokkos::view_alloc(exec, Kokkos::WithoutInitializing, label("points", "grid")),
               pattern.points.size()),
        grid(pattern.grid),
        dof(pattern.dof),
        coefficients(coefficients_),
        part(part_) {
    auto host_points = Kokkos::create_mirror_view(points);
    for (std::size_t p = 0; p < pattern.points.size(); ++p)
      for (int axis = 0; axis < 3; ++axis) {
        const int distance = pattern.points[p][static_cast<std::size_t>(axis)];
        host_points(p, axis) = distance;
        reach[axis] = std::max(reach[axis], std::abs(distance));
      }
    Kokkos::deep_copy(exec, points, host_points);
    // The copy must end before the mirror View is destroyed.
    exec.fence();
  }

  KOKKOS_FORCEINLINE_FUNCTION int point_count() const { return static_cast<int>(points.extent(0)); }
  KOKKOS_FORCEINLINE_FUNCTION bool is_inner(const std::int64_t (&coordinates)[3]) const {
    for (int axis = 0; axis < 3; ++axis)
      if (coordinates[axis] < reach[axis] || coordinates[axis] >= grid.cells[axis] - reach[axis])
        return false;
    return true;
  }

  /// Calls visit(neighbour, coefficient) once for each neighbour of a cell, in ascending order.
  /// coefficient(i, j) is the value in row i of the cell and column j of the neighbour, the sum over all
  /// points that stand for this neighbour. Points that are dropped or have a known value are left out.
  template <class Visit>
  KOKKOS_INLINE_FUNCTION void for_each_neighbour(std::int64_t cell, const Visit& visit) const {
    std::int64_t coordinates[3];
    grid.locate(cell, coordinates);
    bool outside = false;
    double value = 0;
    if (is_inner(coordinates)) {
      // The points are sorted, so their cells are in ascending order.
      for (int p = 0; p < point_count(); ++p) {
        const std::int64_t neighbour = grid.neighbour(coordinates, &points(p, 0), outside, value);
        visit(neighbour, [&](int i, int j) { return coefficients(cell, neighbour, i, j); });
      }
      return;
    }
    // Near the ends of the grid several points may stand for one cell, and the cells may be in any order.
    for (std::int64_t last = -1;;) {
      std::int64_t next = -1;
      for (int p = 0; p < point_count(); ++p) {
        const std::int64_t neighbour = grid.neighbour(coordinates, &points(p, 0), outside, value);
        if (neighbour > last && (next < 0 || neighbour < next)) next = neighbour;
      }
      if (next < 0) return;
      visit(next, [&](int i, int j) {
        std::decay_t<decltype(coefficients(cell, next, i, j))> sum(0);
        for (int p = 0; p < point_count(); ++p)
          if (grid.neighbour(coordinates, &points(p, 0), outside, value) == next)
            sum += coefficients(cell, outside ? -1 : next, i, j);
        return sum;
      });
      last = next;
    }
  }

  KOKKOS_INLINE_FUNCTION void operator()(Count, const std::int64_t row) const {
    SizeType count = 0;
    part.for_each_block(*this, part.cell(row / dof),
                        [&](std::int64_t, const auto&) { count += static_cast<SizeType>(dof); });
    crs_row_map[row] = count;
  }

  KOKKOS_INLINE_FUNCTION void operator()(FillCrs, const std::int64_t row) const {
    const std::int64_t block_row = row / dof;
    const int i = static_cast<int>(row - block_row * dof);
    std::int64_t position = static_cast<std::int64_t>(crs_row_map[row]);
    part.for_each_block(*this, part.cell(block_row), [&](std::int64_t block_column, const auto& coefficient) {
      for (int j = 0; j < dof; ++j, ++position) {
        crs_entries[position] = static_cast<Ordinal>(block_column * dof + j);
        crs_values[position] = convert_scalar<Scalar>(coefficient(i, j));
      }
    });
  }

  KOKKOS_INLINE_FUNCTION void operator()(FillRightHandSide, const std::int64_t row) const {
    const std::int64_t cell = part.cell(row / dof);
    const int i = static_cast<int>(row % dof);
    std::int64_t coordinates[3];
    grid.locate(cell, coordinates);
    std::decay_t<decltype(coefficients(cell, cell, i, i) * 1.0)> sum(0);
    for (int p = 0; p < point_count(); ++p) {
      bool outside = false;
      double value = 0;
      if (grid.neighbour(coordinates, &points(p, 0), outside, value) != StencilGrid::known_value) continue;
      for (int j = 0; j < dof; ++j)
        sum -= coefficients(cell, -1, i, j) * value;
    }
    right_hand_side[row] = convert_scalar<Scalar>(sum);
  }
};

/// The matrix of `work` as CRS, with sorted rows. Fences exec.
template <class Crs, class ExecutionSpace, class Work>
Crs assemble_crs(const ExecutionSpace& exec, const Work& work, std::int64_t rows, std::int64_t columns) {
  const Crs result = build_crs<Crs, typename Work::Count, typename Work::FillCrs>(
      exec, "grid", static_cast<typename Crs::non_const_ordinal_type>(rows),
      static_cast<typename Crs::non_const_ordinal_type>(columns), work, rows, rows);
  // The kernels must end before the View of stencil points in `work` is destroyed.
  exec.fence();
  return result;
}

/// The right-hand side of `work` as a View of rank 1. Fences exec.
template <class View, class ExecutionSpace, class Work>
View assemble_right_hand_side(const ExecutionSpace& exec, Work work, std::int64_t rows) {
  View result(Kokkos::view_alloc(exec, Kokkos::WithoutInitializing, label("right_hand_side", "grid")),
              static_cast<std::size_t>(rows));
  work.right_hand_side = result.data();
  Kokkos::parallel_for("Filigree::fill_right_hand_side[grid]",
                       row_range<typename Work::FillRightHandSide>(exec, rows), work);
  // The kernel must end before its View of stencil points is destroyed.
  exec.fence();
  return result;
}

}  // namespace Filigree::Impl

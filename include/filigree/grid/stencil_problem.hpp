// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FILIGREE_GRID_STENCIL_PROBLEM_HPP
#define FILIGREE_GRID_STENCIL_PROBLEM_HPP

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

#include "filigree/core/error.hpp"
#include "filigree/core/launch.hpp"
#include "filigree/core/region.hpp"
#include "filigree/core/row_map.hpp"
#include "filigree/core/scalar.hpp"
#include "filigree/formats/cds/cds_convert.hpp"
#include "filigree/formats/cds/cds_matrix.hpp"

namespace Filigree {

/// The cells of a stencil by their distance from its centre, in x, y and z.
struct Stencil {
  std::vector<std::array<int, 3>> points;

  /// 2-D: the centre and its four neighbours.
  static Stencil five_point() { return {{{0, -1, 0}, {-1, 0, 0}, {0, 0, 0}, {1, 0, 0}, {0, 1, 0}}}; }
  /// 3-D: the centre and its six neighbours.
  static Stencil seven_point() {
    return {{{0, 0, -1}, {0, -1, 0}, {-1, 0, 0}, {0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
  }
};

/// The default coefficients of StencilProblem: a Laplacian of all unknowns, coupled in dense blocks. Unknown
/// i of a cell takes the cell's number of stencil points at i itself, -1 from unknown i of each neighbour,
/// and from the other unknowns numbers below 1 / (8 b) that depend on all four arguments, so that no two
/// blocks are alike and a misplaced one shows. Rows are diagonally dominant.
struct CoupledLaplacian {
  int points;
  int dof;

  KOKKOS_INLINE_FUNCTION double operator()(std::int64_t cell, std::int64_t neighbour, int i, int j) const {
    if (i == j) return cell == neighbour ? points : -1.0;
    const std::int64_t mixed = (cell * 31 + neighbour * 17 + i * 7 + j * 3) % 64;
    return (static_cast<double>(mixed) - 31.5) / (256.0 * dof);
  }
};

namespace Impl {

/// The kernels of crs and cds: one lane a row.
template <class ExecutionSpace, class Device, class Scalar, class Ordinal, class SizeType, class Coefficients>
struct StencilAssembly {
  using execution_space = ExecutionSpace;
  struct Count {};
  struct FillCrs {};
  struct FillCds {};

  Kokkos::View<int* [3], Kokkos::LayoutRight, Device> points;
  std::int64_t nx, ny, nz;
  int dof;
  Coefficients coefficients;
  // Set by build_crs.
  SizeType* crs_row_map = nullptr;
  Ordinal* crs_entries = nullptr;
  Scalar* crs_values = nullptr;
  // Set by cds.
  Scalar* cds_values = nullptr;
  Ordinal* cds_offsets = nullptr;
  std::int64_t cds_diagonals = 0;

  StencilAssembly(const ExecutionSpace& exec, const std::array<std::int64_t, 3>& cells,
                  const std::vector<std::array<int, 3>>& points_, int dof_, const Coefficients& coefficients_)
      : points(Kokkos::view_alloc(exec, Kokkos::WithoutInitializing, label("points", "grid")),
               points_.size()),
        nx(cells[0]),
        ny(cells[1]),
        nz(cells[2]),
        dof(dof_),
        coefficients(coefficients_) {
    auto host_points = Kokkos::create_mirror_view(points);
    for (std::size_t p = 0; p < points_.size(); ++p)
      for (int axis = 0; axis < 3; ++axis)
        host_points(p, axis) = points_[p][static_cast<std::size_t>(axis)];
    Kokkos::deep_copy(exec, points, host_points);
    // The mirror is freed on return.
    exec.fence();
  }

  /// Calls visit(neighbour) for the cells of the stencil around a cell that are in the grid, by ascending
  /// number.
  template <class Visit>
  KOKKOS_INLINE_FUNCTION void for_each_neighbour(std::int64_t cell, const Visit& visit) const {
    const std::int64_t x = cell % nx;
    const std::int64_t y = cell / nx % ny;
    const std::int64_t z = cell / nx / ny;
    for (int p = 0; p < static_cast<int>(points.extent(0)); ++p) {
      const std::int64_t to_x = x + points(p, 0);
      const std::int64_t to_y = y + points(p, 1);
      const std::int64_t to_z = z + points(p, 2);
      if (to_x < 0 || to_x >= nx || to_y < 0 || to_y >= ny || to_z < 0 || to_z >= nz) continue;
      visit((to_z * ny + to_y) * nx + to_x);
    }
  }

  KOKKOS_INLINE_FUNCTION void operator()(Count, const std::int64_t row) const {
    SizeType count = 0;
    for_each_neighbour(row / dof, [&](std::int64_t) { count += static_cast<SizeType>(dof); });
    crs_row_map[row] = count;
  }

  KOKKOS_INLINE_FUNCTION void operator()(FillCrs, const std::int64_t row) const {
    const std::int64_t cell = row / dof;
    const int i = static_cast<int>(row - cell * dof);
    std::int64_t at = static_cast<std::int64_t>(crs_row_map[row]);
    for_each_neighbour(cell, [&](std::int64_t neighbour) {
      for (int j = 0; j < dof; ++j, ++at) {
        crs_entries[at] = static_cast<Ordinal>(neighbour * dof + j);
        crs_values[at] = narrow<Scalar>(coefficients(cell, neighbour, i, j));
      }
    });
  }

  KOKKOS_INLINE_FUNCTION void operator()(FillCds, const std::int64_t row) const {
    const std::int64_t rows = nx * ny * nz * dof;
    const std::int64_t cell = row / dof;
    const int i = static_cast<int>(row - cell * dof);
    std::int64_t d = 0;
    for_each_neighbour(cell, [&](std::int64_t neighbour) {
      while (static_cast<std::int64_t>(cds_offsets[d]) < neighbour - cell)
        ++d;
      for (int j = 0; j < dof; ++j)
        cds_values[(d * dof + j) * rows + row] = narrow<Scalar>(coefficients(cell, neighbour, i, j));
    });
  }
};

}  // namespace Impl

/// The matrix of a stencil on a structured grid with several unknowns a cell (Godwin et al. 2012,
/// section 2.2).
///
/// Cells are numbered with x fastest, cell = (z * ny + y) * nx + x; unknown i of a cell is row cell * dof +
/// i. Each cell is coupled with the cells of its stencil by dense dof x dof blocks. Points outside the grid
/// are left out, as in the source.
///
/// Both matrices are assembled on the device and hold the same entries. Coefficients is a device functor
/// (cell, neighbour, i, j) -> value of row i of cell and column j of neighbour, neither of them outside the
/// grid.
template <class Coefficients = CoupledLaplacian>
class StencilProblem {
 public:
  /// @param cells         cells in x, y and z, each at least 1; a 2-D grid has 1 in z
  /// @param stencil       points of the stencil, no two the same
  /// @param dof           unknowns a cell, at least 1
  /// Throws std::invalid_argument for values that are none of these.
  StencilProblem(const std::array<std::int64_t, 3>& cells, const Stencil& stencil, int dof,
                 Coefficients coefficients)
      : m_cells(cells), m_dof(dof), m_coefficients(coefficients) {
    const auto [nx, ny, nz] = cells;
    if (nx < 1 || ny < 1 || nz < 1)
      Impl::fail<std::invalid_argument>("Filigree::StencilProblem: the grid has ", nx, " x ", ny, " x ", nz,
                                        " cells; each must be at least 1.");
    if (dof < 1)
      Impl::fail<std::invalid_argument>("Filigree::StencilProblem: dof is ", dof,
                                        "; it must be the unknowns a cell, at least 1.");
    if (static_cast<double>(nx) * static_cast<double>(ny) * static_cast<double>(nz) * dof > 9e18)
      Impl::fail<std::length_error>("Filigree::StencilProblem: ", nx, " x ", ny, " x ", nz, " cells with ",
                                    dof, " unknowns are more rows than 64 bits count.");
    for (const auto& point : stencil.points) {
      if (std::count(stencil.points.begin(), stencil.points.end(), point) > 1)
        Impl::fail<std::invalid_argument>("Filigree::StencilProblem: the stencil has the point (", point[0],
                                          ", ", point[1], ", ", point[2], ") twice; each may stand once.");
      // A point that no cell reaches adds nothing, not even an empty diagonal.
      if (std::abs(point[0]) < nx && std::abs(point[1]) < ny && std::abs(point[2]) < nz)
        m_points.push_back(point);
    }
    // By the distance of the neighbour's number: the rows of the CRS come out sorted.
    std::sort(m_points.begin(), m_points.end(),
              [&](const auto& a, const auto& b) { return distance(a) < distance(b); });
  }

  /// With the default coefficients.
  StencilProblem(const std::array<std::int64_t, 3>& cells, const Stencil& stencil, int dof)
      : StencilProblem(cells, stencil, dof, CoupledLaplacian{static_cast<int>(stencil.points.size()), dof}) {}

  std::int64_t numRows() const { return m_cells[0] * m_cells[1] * m_cells[2] * m_dof; }
  int dof() const { return m_dof; }
  /// Entries of the matrix.
  std::int64_t nnz() const {
    std::int64_t blocks = 0;
    for (const auto& point : m_points)
      blocks += (m_cells[0] - std::abs(point[0])) * (m_cells[1] - std::abs(point[1])) *
                (m_cells[2] - std::abs(point[2]));
    return blocks * m_dof * m_dof;
  }

  /// The matrix as a KokkosSparse::CrsMatrix with sorted rows. Throws std::length_error where its ordinal or
  /// offset type cannot count its rows or entries. Fences exec.
  template <class Crs, class ExecutionSpace = typename Crs::execution_space>
  Crs crs(const ExecutionSpace& exec = ExecutionSpace()) const {
    using ordinal_type = typename Crs::non_const_ordinal_type;
    using size_type = typename Crs::non_const_size_type;
    using Work =
        Impl::StencilAssembly<ExecutionSpace, typename Crs::device_type, typename Crs::non_const_value_type,
                              ordinal_type, size_type, Coefficients>;
    check_size<ordinal_type, size_type>("crs", static_cast<double>(nnz()));
    const ordinal_type rows = static_cast<ordinal_type>(numRows());
    const Work work(exec, m_cells, m_points, m_dof, m_coefficients);
    const Crs result =
        Impl::build_crs<Crs, typename Work::Count, typename Work::FillCrs>(exec, "grid", rows, rows, work);
    // The points of the stencil are freed on return.
    exec.fence();
    return result;
  }

  /// The matrix as a CdsMatrix of block size dof, without a CRS in between. Throws std::length_error where
  /// its ordinal or offset type cannot count its rows or values. The last kernel may still run on return.
  template <class Cds, class ExecutionSpace = typename Cds::execution_space>
  Cds cds(const ExecutionSpace& exec = ExecutionSpace()) const {
    using ordinal_type = typename Cds::ordinal_type;
    using size_type = typename Cds::size_type;
    using Work = Impl::StencilAssembly<ExecutionSpace, typename Cds::device_type, typename Cds::value_type,
                                       ordinal_type, size_type, Coefficients>;
    // On a grid a few cells wide two points can have the same distance: they share a diagonal.
    std::vector<std::int64_t> offsets;
    for (const auto& point : m_points)
      if (offsets.empty() || offsets.back() != distance(point)) offsets.push_back(distance(point));
    const std::int64_t diagonals = static_cast<std::int64_t>(offsets.size());
    check_size<ordinal_type, size_type>(
        "cds", static_cast<double>(diagonals) * m_dof * static_cast<double>(numRows()));

    const ordinal_type rows = static_cast<ordinal_type>(numRows());
    Cds result = Impl::allocate_cds<Cds>(exec, Cds::name(), rows, rows, static_cast<size_type>(nnz()), m_dof,
                                         diagonals);
    auto host_offsets = Kokkos::create_mirror_view(result.offsets);
    for (std::int64_t d = 0; d < diagonals; ++d)
      host_offsets(d) = static_cast<ordinal_type>(offsets[static_cast<std::size_t>(d)]);
    Kokkos::deep_copy(exec, result.offsets, host_offsets);
    Work work(exec, m_cells, m_points, m_dof, m_coefficients);
    work.cds_values = result.values.data();
    work.cds_offsets = result.offsets.data();
    work.cds_diagonals = diagonals;
    Kokkos::parallel_for("Filigree::fill_cds[grid]", Impl::row_range<typename Work::FillCds>(exec, numRows()),
                         work);
    // The mirror and the points of the stencil are freed on return.
    exec.fence();
    return result;
  }

 private:
  std::int64_t distance(const std::array<int, 3>& point) const {
    return (point[2] * m_cells[1] + point[1]) * m_cells[0] + point[0];
  }

  template <class Ordinal, class SizeType>
  void check_size(const char* what, double elements) const {
    if (static_cast<double>(numRows()) > static_cast<double>(std::numeric_limits<Ordinal>::max()) ||
        elements > static_cast<double>(std::numeric_limits<SizeType>::max()))
      Impl::fail<std::length_error>("Filigree::StencilProblem::", what, ": ", numRows(), " rows and ",
                                    elements, " values are more than a ", 8 * sizeof(Ordinal),
                                    "-bit ordinal and a ", 8 * sizeof(SizeType),
                                    "-bit size_type count; use wider ones.");
  }

  std::array<std::int64_t, 3> m_cells;
  std::vector<std::array<int, 3>> m_points;
  int m_dof;
  Coefficients m_coefficients;
};

}  // namespace Filigree

#endif

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FILIGREE_GRID_STENCIL_PROBLEM_HPP
#define FILIGREE_GRID_STENCIL_PROBLEM_HPP

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <set>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "filigree/conversion/build_crs.hpp"
#include "filigree/core/error.hpp"
#include "filigree/core/launch.hpp"
#include "filigree/core/random.hpp"
#include "filigree/core/region.hpp"
#include "filigree/core/scalar.hpp"
#include "filigree/formats/cds/cds_matrix.hpp"

namespace Filigree {

/// The cells of a stencil by their distance from its centre, in x, y and z.
struct Stencil {
  std::vector<std::array<int, 3>> points;

  /// All points at most `reach` cells away along each of the first `dimensions` axes.
  static Stencil box(int dimensions, int reach = 1) {
    Stencil stencil;
    for (int z = dimensions > 2 ? -reach : 0; z <= (dimensions > 2 ? reach : 0); ++z)
      for (int y = dimensions > 1 ? -reach : 0; y <= (dimensions > 1 ? reach : 0); ++y)
        for (int x = -reach; x <= reach; ++x)
          stencil.points.push_back({x, y, z});
    return stencil;
  }
  /// 1-D: the centre and its two neighbours.
  static Stencil three_point() { return box(1); }
  /// 2-D: the centre and its four neighbours.
  static Stencil five_point() { return {{{0, -1, 0}, {-1, 0, 0}, {0, 0, 0}, {1, 0, 0}, {0, 1, 0}}}; }
  /// 2-D: the centre and the eight cells around it.
  static Stencil nine_point() { return box(2); }
  /// 3-D: the centre and its six neighbours.
  static Stencil seven_point() {
    return {{{0, 0, -1}, {0, -1, 0}, {-1, 0, 0}, {0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
  }
  /// 3-D: the centre and the 26 cells around it.
  static Stencil twenty_seven_point() { return box(3); }
};

/// What a point of the stencil that lies outside of the grid along an axis stands for.
enum class BoundaryRule {
  drop,     ///< nothing: it is left out
  wrap,     ///< the cell at the other end: the grid is periodic
  clamp,    ///< the nearest cell of the grid
  constant  ///< a cell whose unknowns are known: it goes to the right-hand side
};

/// The rule of an axis, and the values outside its two ends for BoundaryRule::constant.
struct Boundary {
  BoundaryRule rule = BoundaryRule::drop;
  double low = 0;
  double high = 0;

  static Boundary drop() { return {}; }
  static Boundary wrap() { return {BoundaryRule::wrap, 0, 0}; }
  static Boundary clamp() { return {BoundaryRule::clamp, 0, 0}; }
  static Boundary constant(double low, double high) { return {BoundaryRule::constant, low, high}; }
};

/// The rules of the three axes.
using Boundaries = std::array<Boundary, 3>;

/// The default coefficients of StencilProblem: a Laplacian of all unknowns, coupled in dense blocks. Unknown
/// i of a cell takes the cell's number of stencil points at i itself, -1 from unknown i of each neighbour,
/// and from the other unknowns numbers below 1 / (8 b) that depend on all four arguments, so that no two
/// blocks are alike and a misplaced one shows. With the stencils of up to 9 points rows are diagonally
/// dominant.
struct CoupledLaplacian {
  CoupledLaplacian(int points_, int dof_) : points(points_), dof(dof_) {}
  int points;
  int dof;

  KOKKOS_INLINE_FUNCTION double operator()(std::int64_t cell, std::int64_t neighbour, int i, int j) const {
    if (i == j) return cell == neighbour ? points : -1.0;
    const std::int64_t mixed = (cell * 31 + (neighbour + 1) * 17 + i * 7 + j * 3) % 64;
    return (static_cast<double>(mixed) - 31.5) / (256.0 * dof);
  }
};

/// The Laplacian of each unknown by itself: points - 1, its number of neighbours in the stencil, at the
/// unknown, -1 at that of each neighbour, 0 elsewhere in the dense blocks. On a grid of n cells in one
/// dimension that drops what is outside its eigenvalues are 2 - 2 cos(k pi / (n + 1)), k = 1 to n.
struct Laplacian {
  int points;  ///< of the stencil, the centre included

  KOKKOS_INLINE_FUNCTION double operator()(std::int64_t cell, std::int64_t neighbour, int i, int j) const {
    return i != j ? 0.0 : cell == neighbour ? points - 1.0 : -1.0;
  }
};

/// Numbers from -1 to 1 that look random and depend on the seed and on all four arguments alone, the same on
/// every machine. Diagonal entries are larger by points * dof: rows are diagonally dominant.
struct RandomCoefficients {
  int points;
  int dof;
  std::uint64_t seed = 1;

  KOKKOS_INLINE_FUNCTION double operator()(std::int64_t cell, std::int64_t neighbour, int i, int j) const {
    std::uint64_t state = Impl::random_bits(seed);
    for (const std::int64_t argument : {cell, neighbour, std::int64_t(i), std::int64_t(j)})
      state = Impl::random_bits(state + static_cast<std::uint64_t>(argument));
    const double number = static_cast<double>(state >> 11) / 4503599627370496.0 - 1.0;
    return cell == neighbour && i == j ? number + static_cast<double>(points) * dof : number;
  }
};

namespace Impl {

/// A grid and what lies outside of it.
struct StencilGrid {
  /// What a point of the stencil stands for that is none of a cell's neighbours.
  static constexpr std::int64_t left_out = -1;
  static constexpr std::int64_t known = -2;

  std::int64_t cells[3];
  BoundaryRule rules[3];
  double low[3];
  double high[3];

  StencilGrid(const std::array<std::int64_t, 3>& cells_, const Boundaries& boundaries) {
    for (std::size_t axis = 0; axis < 3; ++axis) {
      cells[axis] = cells_[axis];
      rules[axis] = boundaries[axis].rule;
      low[axis] = boundaries[axis].low;
      high[axis] = boundaries[axis].high;
    }
  }

  /// The neighbour of the cell at (x, y, z) that a point of the stencil stands for, left_out or known. Sets
  /// `outside` where the functor of coefficients is told so, and `value` where the neighbour is known.
  KOKKOS_INLINE_FUNCTION std::int64_t neighbour(const std::int64_t (&position)[3], const int* point,
                                                bool& outside, double& value) const {
    std::int64_t to[3];
    bool is_known = false;
    outside = false;
    for (int axis = 0; axis < 3; ++axis) {
      to[axis] = position[axis] + point[axis];
      if (to[axis] >= 0 && to[axis] < cells[axis]) continue;
      const bool below = to[axis] < 0;
      switch (rules[axis]) {
        case BoundaryRule::drop:
          return left_out;
        case BoundaryRule::wrap:
          to[axis] += below ? cells[axis] : -cells[axis];
          break;
        case BoundaryRule::clamp:
          to[axis] = below ? 0 : cells[axis] - 1;
          outside = true;
          break;
        case BoundaryRule::constant:
          if (!is_known) value = below ? low[axis] : high[axis];
          is_known = true;
          outside = true;
          break;
      }
    }
    return is_known ? known : (to[2] * cells[1] + to[1]) * cells[0] + to[0];
  }
};

/// The kernels of crs, cds and right_hand_side: one lane a row.
template <class ExecutionSpace, class Device, class Scalar, class Ordinal, class SizeType, class Coefficients>
struct StencilAssembly {
  using execution_space = ExecutionSpace;
  struct Count {};
  struct FillCrs {};
  struct FillCds {};
  struct FillRightHandSide {};

  Kokkos::View<int* [3], Kokkos::LayoutRight, Device> points;
  StencilGrid grid;
  /// Cells whose distance from an end of each axis is at least this have all their neighbours inside.
  int reach[3] = {0, 0, 0};
  int dof;
  Coefficients coefficients;
  // Set by build_crs.
  SizeType* crs_row_map = nullptr;
  Ordinal* crs_entries = nullptr;
  Scalar* crs_values = nullptr;
  // Set by cds.
  Scalar* cds_values = nullptr;
  Ordinal* cds_offsets = nullptr;
  // Set by right_hand_side.
  Scalar* right_hand_side = nullptr;

  StencilAssembly(const ExecutionSpace& exec, const StencilGrid& grid_,
                  const std::vector<std::array<int, 3>>& points_, int dof_, const Coefficients& coefficients_)
      : points(Kokkos::view_alloc(exec, Kokkos::WithoutInitializing, label("points", "grid")),
               points_.size()),
        grid(grid_),
        dof(dof_),
        coefficients(coefficients_) {
    auto host_points = Kokkos::create_mirror_view(points);
    for (std::size_t p = 0; p < points_.size(); ++p)
      for (int axis = 0; axis < 3; ++axis) {
        const int distance = points_[p][static_cast<std::size_t>(axis)];
        host_points(p, axis) = distance;
        reach[axis] = std::max(reach[axis], std::abs(distance));
      }
    Kokkos::deep_copy(exec, points, host_points);
    // The mirror is freed on return.
    exec.fence();
  }

  KOKKOS_FORCEINLINE_FUNCTION int point_count() const { return static_cast<int>(points.extent(0)); }
  KOKKOS_FORCEINLINE_FUNCTION void locate(std::int64_t cell, std::int64_t (&position)[3]) const {
    position[0] = cell % grid.cells[0];
    position[1] = cell / grid.cells[0] % grid.cells[1];
    position[2] = cell / grid.cells[0] / grid.cells[1];
  }
  KOKKOS_FORCEINLINE_FUNCTION bool is_inner(const std::int64_t (&position)[3]) const {
    for (int axis = 0; axis < 3; ++axis)
      if (position[axis] < reach[axis] || position[axis] >= grid.cells[axis] - reach[axis]) return false;
    return true;
  }

  /// Calls visit(neighbour, coefficient) for the neighbours of a cell by ascending number, each once, where
  /// coefficient(i, j) is the value of row i and the neighbour's column j.
  template <class Visit>
  KOKKOS_INLINE_FUNCTION void for_each_neighbour(std::int64_t cell, const Visit& visit) const {
    std::int64_t position[3];
    locate(cell, position);
    bool outside = false;
    double value = 0;
    if (is_inner(position)) {
      // Points are sorted by the number of the cell that they lead to.
      for (int p = 0; p < point_count(); ++p) {
        const std::int64_t neighbour = grid.neighbour(position, &points(p, 0), outside, value);
        visit(neighbour, [&](int i, int j) { return coefficients(cell, neighbour, i, j); });
      }
      return;
    }
    // At the ends of the grid several points may stand for one cell, and in any order.
    for (std::int64_t last = -1;;) {
      std::int64_t next = -1;
      for (int p = 0; p < point_count(); ++p) {
        const std::int64_t neighbour = grid.neighbour(position, &points(p, 0), outside, value);
        if (neighbour > last && (next < 0 || neighbour < next)) next = neighbour;
      }
      if (next < 0) return;
      visit(next, [&](int i, int j) {
        std::decay_t<decltype(coefficients(cell, next, i, j))> sum(0);
        for (int p = 0; p < point_count(); ++p)
          if (grid.neighbour(position, &points(p, 0), outside, value) == next)
            sum += coefficients(cell, outside ? -1 : next, i, j);
        return sum;
      });
      last = next;
    }
  }

  KOKKOS_INLINE_FUNCTION void operator()(Count, const std::int64_t row) const {
    SizeType count = 0;
    for_each_neighbour(row / dof, [&](std::int64_t, const auto&) { count += static_cast<SizeType>(dof); });
    crs_row_map[row] = count;
  }

  KOKKOS_INLINE_FUNCTION void operator()(FillCrs, const std::int64_t row) const {
    const std::int64_t cell = row / dof;
    const int i = static_cast<int>(row - cell * dof);
    std::int64_t at = static_cast<std::int64_t>(crs_row_map[row]);
    for_each_neighbour(cell, [&](std::int64_t neighbour, const auto& coefficient) {
      for (int j = 0; j < dof; ++j, ++at) {
        crs_entries[at] = static_cast<Ordinal>(neighbour * dof + j);
        crs_values[at] = convert_scalar<Scalar>(coefficient(i, j));
      }
    });
  }

  KOKKOS_INLINE_FUNCTION void operator()(FillCds, const std::int64_t row) const {
    const std::int64_t rows = grid.cells[0] * grid.cells[1] * grid.cells[2] * dof;
    const std::int64_t cell = row / dof;
    const int i = static_cast<int>(row - cell * dof);
    std::int64_t d = 0;
    for_each_neighbour(cell, [&](std::int64_t neighbour, const auto& coefficient) {
      while (static_cast<std::int64_t>(cds_offsets[d]) < neighbour - cell)
        ++d;
      for (int j = 0; j < dof; ++j)
        cds_values[(d * dof + j) * rows + row] = convert_scalar<Scalar>(coefficient(i, j));
    });
  }

  KOKKOS_INLINE_FUNCTION void operator()(FillRightHandSide, const std::int64_t row) const {
    const std::int64_t cell = row / dof;
    const int i = static_cast<int>(row - cell * dof);
    std::int64_t position[3];
    locate(cell, position);
    std::decay_t<decltype(coefficients(cell, cell, i, i) * 1.0)> sum(0);
    for (int p = 0; p < point_count(); ++p) {
      bool outside = false;
      double value = 0;
      if (grid.neighbour(position, &points(p, 0), outside, value) != StencilGrid::known) continue;
      for (int j = 0; j < dof; ++j)
        sum -= coefficients(cell, -1, i, j) * value;
    }
    right_hand_side[row] = convert_scalar<Scalar>(sum);
  }
};

}  // namespace Impl

/// The matrix of a stencil on a structured grid with several unknowns a cell (Godwin et al. 2012,
/// section 2.2).
///
/// Cells are numbered with x fastest, cell = (z * ny + y) * nx + x; unknown i of a cell is row cell * dof +
/// i. Each cell is coupled with the cells of its stencil by dense dof x dof blocks.
///
/// A point of the stencil outside of the grid is left out, as in the source, or stands for what the Boundary
/// of its axis says. Outside along several axes, it is left out if one of them drops it, known if one is
/// constant (with the value of the first such axis), and else moved along each. Several points that come to
/// stand for one cell add their coefficients.
///
/// Both matrices are assembled on the device and hold the same entries. Coefficients is a device functor
/// (cell, neighbour, i, j) -> value of row i of cell and column j of neighbour; neighbour is the number of a
/// cell of the grid (of the cell at the other end under wrap), and -1 for a point that clamp or constant put
/// where it is.
template <class Coefficients = CoupledLaplacian>
class StencilProblem {
 public:
  /// @param cells         cells in x, y and z, each at least 1; a 2-D grid has 1 in z, a 1-D grid in y and z
  /// @param stencil       points of the stencil, no two the same
  /// @param dof           unknowns a cell, at least 1
  /// @param coefficients  the functor of the class comment; may be left out for CoupledLaplacian
  /// @param boundaries    what lies outside, for each axis; wrap wants more than twice as many cells
  ///                      as the stencil reaches, so that no cell is a neighbour twice
  /// Throws std::invalid_argument for values that are none of these.
  StencilProblem(const std::array<std::int64_t, 3>& cells, const Stencil& stencil, int dof,
                 Coefficients coefficients, const Boundaries& boundaries = {})
      : m_cells(cells), m_dof(dof), m_coefficients(coefficients), m_grid(cells, boundaries) {
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
      bool reaches = true;
      for (std::size_t axis = 0; axis < 3; ++axis) {
        const std::int64_t reach = std::abs(static_cast<std::int64_t>(point[axis]));
        if (boundaries[axis].rule == BoundaryRule::wrap && 2 * reach >= cells[axis] && reach > 0)
          Impl::fail<std::invalid_argument>("Filigree::StencilProblem: axis ", axis, " wraps around ",
                                            cells[axis], " cells, and the stencil reaches ", reach,
                                            " along it; it must have more than twice as many.");
        if (boundaries[axis].rule == BoundaryRule::drop && reach >= cells[axis]) reaches = false;
      }
      // A point that no cell reaches adds nothing, not even an empty diagonal.
      if (reaches) m_points.push_back(point);
    }
    // By the distance of the neighbour's number: the rows of the CRS come out sorted.
    std::sort(m_points.begin(), m_points.end(),
              [&](const auto& a, const auto& b) { return distance(a) < distance(b); });
    count_blocks_and_diagonals();
  }

  /// With the default coefficients.
  template <class C = Coefficients, class = std::enable_if_t<std::is_same<C, CoupledLaplacian>::value>>
  StencilProblem(const std::array<std::int64_t, 3>& cells, const Stencil& stencil, int dof,
                 const Boundaries& boundaries = {})
      : StencilProblem(cells, stencil, dof, CoupledLaplacian{static_cast<int>(stencil.points.size()), dof},
                       boundaries) {}

  std::int64_t numRows() const { return m_cells[0] * m_cells[1] * m_cells[2] * m_dof; }
  int dof() const { return m_dof; }
  /// Entries of the matrix.
  std::int64_t nnz() const { return m_blocks * m_dof * m_dof; }

  /// The matrix as a KokkosSparse::CrsMatrix with sorted rows. Throws std::length_error where its ordinal or
  /// offset type cannot count its rows or entries. Fences exec.
  template <class Crs, class ExecutionSpace = typename Crs::execution_space>
  Crs crs(const ExecutionSpace& exec = ExecutionSpace()) const {
    using ordinal_type = typename Crs::non_const_ordinal_type;
    using size_type = typename Crs::non_const_size_type;
    using Work =
        Impl::StencilAssembly<ExecutionSpace, typename Crs::device_type, typename Crs::non_const_value_type,
                              ordinal_type, size_type, Coefficients>;
    check_size<ordinal_type, size_type>("crs", static_cast<double>(m_blocks) * m_dof * m_dof);
    const ordinal_type rows = static_cast<ordinal_type>(numRows());
    const Work work(exec, m_grid, m_points, m_dof, m_coefficients);
    const Crs result =
        Impl::build_crs<Crs, typename Work::Count, typename Work::FillCrs>(exec, "grid", rows, rows, work);
    // The points of the stencil are freed on return.
    exec.fence();
    return result;
  }

  /// The matrix as a CdsMatrix of block size dof, without a CRS in between. Throws std::length_error where
  /// its ordinal or offset type cannot count its rows or values. Fences exec.
  template <class Cds, class ExecutionSpace = typename Cds::execution_space>
  Cds cds(const ExecutionSpace& exec = ExecutionSpace()) const {
    using ordinal_type = typename Cds::ordinal_type;
    using size_type = typename Cds::size_type;
    using Work = Impl::StencilAssembly<ExecutionSpace, typename Cds::device_type, typename Cds::value_type,
                                       ordinal_type, size_type, Coefficients>;
    const std::int64_t diagonals = static_cast<std::int64_t>(m_offsets.size());
    check_size<ordinal_type, size_type>(
        "cds", static_cast<double>(diagonals) * m_dof * static_cast<double>(numRows()));

    const ordinal_type rows = static_cast<ordinal_type>(numRows());
    Cds result = Impl::allocate_cds<Cds>(exec, Cds::name(), rows, rows, static_cast<size_type>(nnz()), m_dof,
                                         diagonals);
    auto host_offsets = Kokkos::create_mirror_view(result.offsets);
    for (std::int64_t d = 0; d < diagonals; ++d)
      host_offsets(d) = static_cast<ordinal_type>(m_offsets[static_cast<std::size_t>(d)]);
    Kokkos::deep_copy(exec, result.offsets, host_offsets);
    Work work(exec, m_grid, m_points, m_dof, m_coefficients);
    work.cds_values = result.values.data();
    work.cds_offsets = result.offsets.data();
    Kokkos::deep_copy(exec, result.values, typename Cds::value_type(0));
    Kokkos::parallel_for("Filigree::fill_cds[grid]", Impl::row_range<typename Work::FillCds>(exec, numRows()),
                         work);
    // The mirror and the points of the stencil are freed on return.
    exec.fence();
    return result;
  }

  /// What the known cells outside add to the right-hand side: minus their coefficients times their values, so
  /// that A u = f + right_hand_side is the equation of the cells inside. Zero but for BoundaryRule::constant.
  /// A View of rank 1 with an element a row. Fences exec.
  template <class View, class ExecutionSpace = typename View::execution_space>
  View right_hand_side(const ExecutionSpace& exec = ExecutionSpace()) const {
    using Work = Impl::StencilAssembly<ExecutionSpace, typename View::device_type, typename View::value_type,
                                       std::int64_t, std::int64_t, Coefficients>;
    View result(Kokkos::view_alloc(exec, Kokkos::WithoutInitializing, Impl::label("right_hand_side", "grid")),
                static_cast<std::size_t>(numRows()));
    Work work(exec, m_grid, m_points, m_dof, m_coefficients);
    work.right_hand_side = result.data();
    Kokkos::parallel_for("Filigree::fill_right_hand_side[grid]",
                         Impl::row_range<typename Work::FillRightHandSide>(exec, numRows()), work);
    // The points of the stencil are freed on return.
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

  /// Counts the blocks and finds the block diagonals. All cells as far from the ends of each axis have their
  /// neighbours at the same distances: one of each kind is looked at, and counts for all.
  void count_blocks_and_diagonals() {
    std::array<std::vector<std::pair<std::int64_t, std::int64_t>>, 3>
        kinds;  // a coordinate, how many are like it
    for (std::size_t axis = 0; axis < 3; ++axis) {
      std::int64_t reach = 0;
      for (const auto& point : m_points)
        reach = std::max(reach, std::abs(static_cast<std::int64_t>(point[axis])));
      const std::int64_t cells = m_cells[axis];
      const bool has_inner = cells > 2 * reach;
      for (std::int64_t at = 0; at < (has_inner ? reach : cells); ++at)
        kinds[axis].emplace_back(at, 1);
      if (has_inner) kinds[axis].emplace_back(reach, cells - 2 * reach);
      for (std::int64_t at = cells - reach; has_inner && at < cells; ++at)
        kinds[axis].emplace_back(at, 1);
    }
    std::set<std::int64_t> offsets;
    for (const auto& [z, z_count] : kinds[2])
      for (const auto& [y, y_count] : kinds[1])
        for (const auto& [x, x_count] : kinds[0]) {
          const std::int64_t position[3] = {x, y, z};
          const std::int64_t cell = (z * m_cells[1] + y) * m_cells[0] + x;
          std::set<std::int64_t> neighbours;
          for (const auto& point : m_points) {
            bool outside = false;
            double value = 0;
            const std::int64_t neighbour = m_grid.neighbour(position, point.data(), outside, value);
            if (neighbour >= 0) neighbours.insert(neighbour - cell);
          }
          m_blocks += x_count * y_count * z_count * static_cast<std::int64_t>(neighbours.size());
          offsets.insert(neighbours.begin(), neighbours.end());
        }
    m_offsets.assign(offsets.begin(), offsets.end());
  }

  std::array<std::int64_t, 3> m_cells;
  std::vector<std::array<int, 3>> m_points;
  int m_dof;
  Coefficients m_coefficients;
  Impl::StencilGrid m_grid;
  std::int64_t m_blocks = 0;
  std::vector<std::int64_t> m_offsets;  // block diagonals, ascending
};

// Without coefficients, those are the default ones, also where boundaries are given.
StencilProblem(const std::array<std::int64_t, 3>&, const Stencil&, int)->StencilProblem<CoupledLaplacian>;
StencilProblem(const std::array<std::int64_t, 3>&, const Stencil&, int, Boundaries)
    ->StencilProblem<CoupledLaplacian>;

}  // namespace Filigree

#endif

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <limits>

#include "filigree/core/error.hpp"
#include "filigree/core/initialized.hpp"
#include "filigree/grid/coefficients.hpp"
#include "filigree/grid/diagonal_assembly.hpp"

namespace Filigree {

template <class Coefficients, class TpetraCrsMatrix>
class TpetraStencilProblem;

/// The matrix of a stencil on a structured grid with several unknowns per cell (Godwin et al. 2012, section
/// 2.2).
///
/// Cells are numbered with x fastest: cell = (z * ny + y) * nx + x. Unknown i of a cell is row cell * dof +
/// i. A dense dof x dof block couples a cell with each cell of its stencil.
///
/// BoundaryRule::drop leaves out a stencil point outside the grid, as the paper does. The other rules replace
/// it. If a point is outside along several axes, it is left out if one of them has the rule drop. Else it has
/// a known value if one of them has the rule constant, and the first of these axes gives the value. Else it
/// is moved along each of them. If several points stand for one cell, their coefficients are added.
///
/// The constructor counts the entries on the host. Its time is proportional to the points, multiplied by the
/// cells whose neighbourhoods differ (those within the reach of the stencil from a boundary, and one more,
/// along each axis). The matrix is assembled on the device. CRS and CDS hold the same entries.
///
/// @tparam Coefficients a device functor (cell, neighbour, i, j) that returns the value in row i of `cell`
///         and column j of `neighbour`. `neighbour` is the number of a cell of the grid. If
///         BoundaryRule::wrap applies, it is the cell at the other end of the axis. If BoundaryRule::clamp or
///         constant applies to a point outside the grid, it is -1.
template <class Coefficients = CoupledLaplacian>
class StencilProblem {
 public:
  /// @param cells         numbers of cells in x, y and z, each at least 1. A 2-D grid has 1 cell in z, a 1-D
  ///                      grid 1 cell in y and in z
  /// @param stencil       the stencil; its points must differ. At most 2^31 - 1 points
  /// @param dof           unknowns per cell, at least 1
  /// @param coefficients  the functor of the class comment
  /// @param boundaries    the rule of each axis. BoundaryRule::wrap needs more cells than twice the reach of
  ///                      the stencil along the axis, so that no cell is a neighbour twice
  /// @throws std::invalid_argument for other values
  /// @throws std::length_error if 64 bits cannot count the rows or the entries
  /// @throws std::logic_error if Kokkos is not initialized
  StencilProblem(const std::array<std::int64_t, 3>& cells, const Stencil& stencil, int dof,
                 Coefficients coefficients, const Boundaries& boundaries = {})
      : m_pattern(checked(cells), stencil, dof, boundaries), m_coefficients(coefficients) {}

  /// Uses the default coefficients.
  template <class C = Coefficients, class = std::enable_if_t<std::is_same<C, CoupledLaplacian>::value>>
  StencilProblem(const std::array<std::int64_t, 3>& cells, const Stencil& stencil, int dof,
                 const Boundaries& boundaries = {})
      : StencilProblem(cells, stencil, dof, CoupledLaplacian{static_cast<int>(stencil.points.size()), dof},
                       boundaries) {}

  /// Rows of the matrix: cells * unknowns per cell.
  std::int64_t numRows() const { return m_pattern.num_rows(); }
  /// Unknowns per cell.
  int dof() const { return m_pattern.dof; }
  /// Entries of the matrix.
  std::int64_t nnz() const { return m_pattern.nnz(); }

  /// The matrix as a KokkosSparse::CrsMatrix with sorted rows. Fences exec.
  /// @throws std::length_error if the ordinal or offset type of Crs cannot count the rows or entries, or 64
  ///         bits their bytes
  template <class Crs, class ExecutionSpace = typename Crs::execution_space>
  Crs crs(const ExecutionSpace& exec = ExecutionSpace()) const {
    using ordinal_type = typename Crs::non_const_ordinal_type;
    using size_type = typename Crs::non_const_size_type;
    using Work =
        Impl::StencilAssembly<ExecutionSpace, typename Crs::device_type, typename Crs::non_const_value_type,
                              ordinal_type, size_type, Coefficients>;
    check_size<ordinal_type, size_type, typename Crs::value_type>("crs", static_cast<double>(nnz()));
    return Impl::assemble_crs<Crs>(exec, Work(exec, m_pattern, m_coefficients), numRows(), numRows());
  }

  /// The matrix as a CdsMatrix of block size dof, without an intermediate CRS matrix. Fences exec.
  /// @param layout the order of the values
  /// @throws std::length_error if the ordinal or offset type of Cds cannot count the rows, block diagonals or
  ///         values, or 64 bits their bytes
  template <class Cds, class ExecutionSpace = typename Cds::execution_space>
  Cds cds(const ExecutionSpace& exec = ExecutionSpace(), CdsLayout layout = CdsLayout::columns) const {
    using Work = Impl::StencilAssembly<ExecutionSpace, typename Cds::device_type, typename Cds::value_type,
                                       typename Cds::ordinal_type, typename Cds::size_type, Coefficients>;
    check_diagonals<Cds>("cds");
    return Impl::assemble_cds<Cds>(exec, Work(exec, m_pattern, m_coefficients), numRows(), m_pattern.all,
                                   layout);
  }

  /// The matrix as a SymCdsMatrix of block size dof, without an intermediate CRS matrix. Fences exec. It
  /// calls the coefficients once, or twice with options.check_symmetry.
  /// @param options as in convert<SymCdsMatrix>, without block_size, which is dof()
  /// @throws std::invalid_argument if the stencil has a point (x, y, z) but not (-x, -y, -z), or if the
  ///         coefficients are not symmetric (see SymCdsOptions::check_symmetry); the text names the first
  ///         pair of values that differ
  /// @throws std::length_error as cds()
  template <class SymCds, class ExecutionSpace = typename SymCds::execution_space>
  SymCds sym_cds(const ExecutionSpace& exec = ExecutionSpace(), SymCdsOptions options = {}) const {
    using Work =
        Impl::StencilAssembly<ExecutionSpace, typename SymCds::device_type, typename SymCds::value_type,
                              typename SymCds::ordinal_type, typename SymCds::size_type, Coefficients>;
    const char* const function = "Filigree::StencilProblem::sym_cds";
    options.block_size = dof();
    Impl::check_sym_cds_options(function, options);
    for (const auto& point : m_pattern.points) {
      const std::array<int, 3> mirrored = {-point[0], -point[1], -point[2]};
      if (std::find(m_pattern.points.begin(), m_pattern.points.end(), mirrored) == m_pattern.points.end())
        Impl::fail<std::invalid_argument>(function, ": the stencil has the point (", point[0], ", ", point[1],
                                          ", ", point[2], ") but not (", mirrored[0], ", ", mirrored[1], ", ",
                                          mirrored[2], "); the stencil of a symmetric matrix has both.");
    }
    check_diagonals<SymCds>("sym_cds");
    return Impl::assemble_sym_cds<SymCds>(exec, function, Work(exec, m_pattern, m_coefficients), numRows(),
                                          m_pattern.all, options);
  }

  /// The matrix as a DictCdsMatrix of block size dof, without an intermediate CRS matrix. Fences exec. It
  /// calls the coefficients twice for each block, and once more for each distinct block. They must be the
  /// same each time. Takes 8 bytes per block of the block diagonals besides the result.
  /// @param options as in convert<DictCdsMatrix>, without block_size, which is dof()
  /// @throws std::length_error if there are more than options.max_blocks distinct blocks, or as cds()
  /// @throws std::runtime_error if the coefficients change
  template <class DictCds, class ExecutionSpace = typename DictCds::execution_space>
  DictCds dict_cds(const ExecutionSpace& exec = ExecutionSpace(), DictCdsOptions options = {}) const {
    using Work =
        Impl::StencilAssembly<ExecutionSpace, typename DictCds::device_type, typename DictCds::value_type,
                              typename DictCds::ordinal_type, typename DictCds::size_type, Coefficients>;
    const char* const function = "Filigree::StencilProblem::dict_cds";
    options.block_size = dof();
    Impl::check_dict_cds_options(function, options);
    const auto diagonals = static_cast<std::int64_t>(m_pattern.all.offsets.size());
    check_size<typename DictCds::ordinal_type, typename DictCds::size_type, typename DictCds::value_type>(
        "dict_cds",
        std::max(static_cast<double>(nnz()),
                 static_cast<double>(diagonals) * static_cast<double>(numRows() / dof())),
        diagonals);
    return Impl::assemble_dict_cds<DictCds>(exec, function, Work(exec, m_pattern, m_coefficients), numRows(),
                                            m_pattern.all, options);
  }

  /// The contribution of the known values outside the grid to the right-hand side: the sum of minus
  /// coefficient times value. The equation of the cells is A u = f + right_hand_side. Without
  /// BoundaryRule::constant it is zero. Returns a View of rank 1 with one element per row. Fences exec.
  /// @throws std::length_error if 64 bits cannot count its bytes
  template <class View, class ExecutionSpace = typename View::execution_space>
  View right_hand_side(const ExecutionSpace& exec = ExecutionSpace()) const {
    using Work = Impl::StencilAssembly<ExecutionSpace, typename View::device_type, typename View::value_type,
                                       std::int64_t, std::int64_t, Coefficients>;
    check_size<std::int64_t, std::int64_t, typename View::value_type>("right_hand_side",
                                                                      static_cast<double>(numRows()));
    return Impl::assemble_right_hand_side<View>(exec, Work(exec, m_pattern, m_coefficients), numRows());
  }

 private:
  template <class, class>
  friend class TpetraStencilProblem;

  /// The argument, unless Kokkos is not initialized.
  static const std::array<std::int64_t, 3>& checked(const std::array<std::int64_t, 3>& cells) {
    Impl::check_initialized("Filigree::StencilProblem");
    return cells;
  }
  /// Throws std::length_error if Ordinal cannot count the rows or the block diagonals, SizeType the values,
  /// or 64 bits the bytes of a View.
  template <class Ordinal, class SizeType, class Value>
  void check_size(const char* function, double values, std::int64_t diagonals = 0) const {
    const double rows = static_cast<double>(numRows());
    if (std::max(rows, static_cast<double>(diagonals)) >
            static_cast<double>(std::numeric_limits<Ordinal>::max()) ||
        values > static_cast<double>(std::numeric_limits<SizeType>::max()))
      Impl::fail<std::length_error>("Filigree::StencilProblem::", function, ": ", numRows(), " rows, ",
                                    diagonals, " block diagonals and ", values, " values are more than a ",
                                    8 * sizeof(Ordinal), "-bit ordinal and a ", 8 * sizeof(SizeType),
                                    "-bit size_type can count; use wider types.");
    const double bytes =
        std::max(values * std::max(sizeof(Value), sizeof(Ordinal)), (rows + 1) * sizeof(SizeType));
    if (bytes >= static_cast<double>(std::numeric_limits<std::int64_t>::max()))
      Impl::fail<std::length_error>("Filigree::StencilProblem::", function, ": ", numRows(), " rows and ",
                                    values, " values need a View of ", bytes,
                                    " bytes, more than 64 bits can count; use a smaller grid.");
  }

  /// check_size() for a matrix that stores whole block diagonals.
  template <class Matrix>
  void check_diagonals(const char* function) const {
    const auto diagonals = static_cast<std::int64_t>(m_pattern.all.offsets.size());
    const auto check = [&](std::int64_t stored_rows) {
      check_size<typename Matrix::ordinal_type, typename Matrix::size_type, typename Matrix::value_type>(
          function, static_cast<double>(diagonals) * dof() * static_cast<double>(stored_rows), diagonals);
    };
    // First without padding, because the stride of too many rows overflows.
    check(numRows());
    // The stored rows of CDS by columns are the most that a format stores.
    check(Impl::stored_cds_rows(CdsLayout::columns, numRows(), dof(), sizeof(typename Matrix::value_type)));
  }

  Impl::StencilPattern m_pattern;
  Coefficients m_coefficients;
};

/// Without a functor the coefficients are the default ones.
StencilProblem(const std::array<std::int64_t, 3>&, const Stencil&, int)->StencilProblem<CoupledLaplacian>;
/// The same with boundaries.
StencilProblem(const std::array<std::int64_t, 3>&, const Stencil&, int, Boundaries)
    ->StencilProblem<CoupledLaplacian>;

}  // namespace Filigree

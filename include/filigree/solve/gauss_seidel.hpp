// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "filigree/solve/gauss_seidel_kernels.hpp"
#include "filigree/solve/preconditioner.hpp"

namespace Filigree {

/// Options of GaussSeidelPreconditioner.
struct GaussSeidelOptions {
  double relaxation = 1;  ///< the factor of each change of x (SOR), between 0 and 2
  int sweeps = 1;         ///< symmetric sweeps of one application
};

/// Multicolour Gauss-Seidel for the matrix of a grid, with the block size of the matrix as unknowns per cell: a smoother,
/// and a preconditioner. For the preconditioner of conjugate gradients, A must be Hermitian positive definite.
///
/// Cells that A couples have different colours. A sweep changes the cells of one colour after the other, each with the
/// inverse of its block on the diagonal. So the cells of one colour can be changed at the same time, and every run gives
/// the same bits. A sweep goes through the colours in ascending and then in descending order (symmetric Gauss-Seidel).
///
/// The constructor finds the colours: (x + y_factor y + z_factor z) mod count for cell (x, y, z), with the smallest
/// count that separates the coupled cells. A star of points has 2 colours, the 27 points around a cell have 8. An axis
/// that is periodic can need more.
///
/// Memory: D^-1 A, with the rows of a colour next to each other, so that a sweep reads whole cache lines. That is as
/// much as A, if the number of colours divides that of the cells along x. Else the latter is rounded up to a multiple.
/// So a short x axis costs memory: with 8 colours and 2 cells along x it is 4 times as much as A.
///
/// With n colours and relaxation 1, the first sweep makes 2 n - 1 passes, and each further one 2 n - 2. A pass reads 1/n
/// of the values. If x begins with 0, the first pass reads only D^-1.
///
/// Source: Saad 2003, "Iterative methods for sparse linear systems", sections 4.1 and 12.4.
///
/// @tparam Matrix CdsMatrix; convert other formats to it. Its block rows are the cells, with x fastest, as those of
///                StencilProblem
template <class ExecutionSpace, class Matrix>
class GaussSeidelPreconditioner {
  static_assert(
      Impl::is_cds_v<Matrix>,
      "Filigree::GaussSeidelPreconditioner: the matrix must be a CdsMatrix; convert other formats.");

 public:
  /// The scalar type of A.
  using scalar_type = typename Matrix::value_type;
  /// The type of a row index of A.
  using ordinal_type = typename Matrix::ordinal_type;
  /// Where the values are.
  using device_type = typename Matrix::device_type;

  /// Finds the colours and computes D^-1 A. Fences exec. Cost: about two passes over A, and what
  /// inverse_diagonal_blocks() costs.
  ///
  /// Throws std::invalid_argument if A is not square, the numbers of cells and the block size do not fit its rows, an
  /// option is out of range, or more than 64 colours are needed, and the errors of inverse_diagonal_blocks().
  ///
  /// @param exec  execution space instance on which the kernels run
  /// @param A     the matrix
  /// @param cells numbers of cells along x, y and z; 1 for axes that the grid does not have
  /// @param options see GaussSeidelOptions
  GaussSeidelPreconditioner(const ExecutionSpace& exec, const Matrix& A,
                            const std::array<std::int64_t, 3>& cells, const GaussSeidelOptions& options = {})
      : m_cells(cells), m_options(options), m_row_count(static_cast<std::int64_t>(A.numRows())) {
    constexpr const char* function = "Filigree::GaussSeidelPreconditioner";
    Impl::check_initialized(function);
    if (!(options.relaxation > 0 && options.relaxation < 2) || options.sweeps < 1)
      Impl::fail<std::invalid_argument>(function, ": relaxation is ", options.relaxation, " and sweeps ",
                                        options.sweeps, "; they must be between 0 and 2, and at least 1.");
    Impl::check_cells(function, A, cells);
    // Axes with one cell come last, so that the lines of cells are as long as possible.
    for (int turn = 0; turn < 2 && m_cells[0] == 1; ++turn)
      m_cells = {m_cells[1], m_cells[2], 1};
    m_rows = Impl::ColorRows<ordinal_type>(
        Impl::find_grid_colors(function, Impl::coupled_distances(exec, A, m_cells)), m_cells, A.block_size());
    const auto inverse = inverse_diagonal_blocks(exec, A, A.block_size());
    std::vector<ordinal_type> others;
    const auto offsets = Impl::host_copy(exec, A.offsets);
    for (std::size_t d = 0; d < offsets.extent(0); ++d)
      if (offsets(d) != 0) others.push_back(offsets(d));
    m_offsets = Impl::allocate_view<offsets_type>(exec, "offsets", "gauss_seidel",
                                                  static_cast<std::int64_t>(others.size()));
    Impl::copy_numbers(exec, others, m_offsets);
    m_values = Impl::allocate_aligned_view<values_type>(exec, "values", "gauss_seidel",
                                                        color_count() * values_per_color());
    fill(exec, A, inverse);
  }

  /// Computes D^-1 A again, for a matrix with the same block diagonals. Fences exec.
  ///
  /// Throws std::invalid_argument if A has other rows or block diagonals, or couples cells of one colour, and
  /// std::runtime_error as inverse_diagonal_blocks(). The old values are kept then.
  void refill(const ExecutionSpace& exec, const Matrix& A) {
    constexpr const char* function = "Filigree::GaussSeidelPreconditioner::refill";
    Impl::check_rows(function, A, rows());
    check_diagonals(exec, function, A);
    for (const Impl::CellDistance& distance : Impl::coupled_distances(exec, A, m_cells))
      if (m_rows.colors.joins(distance))
        Impl::fail<std::invalid_argument>(function, ": A couples two cells of the same colour, which are ",
                                          distance[0], ", ", distance[1], " and ", distance[2],
                                          " cells apart along the axes; make a new preconditioner of A.");
    fill(exec, A, inverse_diagonal_blocks(exec, A, m_rows.block_size));
  }

  /// The number of rows of the matrix.
  std::int64_t rows() const { return m_row_count; }
  /// The number of colours.
  int color_count() const { return m_rows.colors.count; }

  /// Queues z = M^-1 r: the sweeps for A z = r that begin with z = 0. Hermitian if A is.
  ///
  /// Throws std::invalid_argument if r or z has not rows() elements, or if they overlap.
  template <class RView, class ZView>
  void apply(const ExecutionSpace& exec, const RView& r, const ZView& z) const {
    constexpr const char* function = "Filigree::GaussSeidelPreconditioner::apply";
    Impl::check_apply<ExecutionSpace>(function, "r", r, "z", z, rows());
    Impl::check_no_overlap(function, "r", r, "z", z);
    Kokkos::deep_copy(exec, z, typename ZView::value_type(0));
    sweep(exec, r, z, true);
  }

  /// Queues the sweeps for A x = b that begin with the given x. Errors: see apply().
  template <class BView, class XView>
  void smooth(const ExecutionSpace& exec, const BView& b, const XView& x) const {
    constexpr const char* function = "Filigree::GaussSeidelPreconditioner::smooth";
    Impl::check_apply<ExecutionSpace>(function, "b", b, "x", x, rows());
    Impl::check_no_overlap(function, "b", b, "x", x);
    sweep(exec, b, x, false);
  }

 private:
  using values_type = Kokkos::View<scalar_type*, device_type>;
  using offsets_type = Kokkos::View<ordinal_type*, device_type>;

  /// Including the inverse of the main diagonal.
  std::int64_t stored_diagonals() const { return static_cast<std::int64_t>(m_offsets.extent(0)) + 1; }
  std::int64_t values_per_color() const { return stored_diagonals() * m_rows.block_size * m_rows.rows(); }

  void check_diagonals(const ExecutionSpace& exec, const char* function, const Matrix& A) const {
    const auto own = Impl::host_copy(exec, m_offsets);
    const auto offsets = Impl::host_copy(exec, A.offsets);
    std::size_t same = 0, others = 0;
    for (std::size_t d = 0; d < offsets.extent(0); ++d) {
      if (offsets(d) == 0) continue;
      if (others < own.extent(0) && own(others) == offsets(d)) ++same;
      ++others;
    }
    if (A.block_size() != m_rows.block_size || same != own.extent(0) || others != own.extent(0))
      Impl::fail<std::invalid_argument>(function, ": A has block size ", A.block_size(), " and ", others,
                                        " block diagonals besides the main one; it must have block size ",
                                        m_rows.block_size, " and the same ", own.extent(0),
                                        " block diagonals as the matrix before.");
  }

  void fill(const ExecutionSpace& exec, const Matrix& A, const inverse_blocks_t<Matrix>& inverse) const {
    using Kernel = Impl::FillColors<scalar_type, ordinal_type>;
    const std::int64_t cells = rows() / m_rows.block_size;
    Kokkos::parallel_for(
        Impl::label("fill", "gauss_seidel"), Impl::row_range<void>(exec, color_count() * m_rows.rows()),
        Kernel{m_rows, Impl::CdsElements<scalar_type, ordinal_type>(A), cells, inverse.values.data(),
               inverse.column_stride(), stored_diagonals(), m_values.data()});
    // The inverse is destroyed next.
    exec.fence();
  }

  template <class BView, class XView>
  void sweep(const ExecutionSpace& exec, const BView& b, const XView& x, bool x_is_zero) const {
    const int count = color_count();
    // With a factor of 1, a second change of the same colour in succession would change nothing.
    const bool is_final = m_options.relaxation == 1;
    const int last = is_final ? count - 2 : count - 1;
    for (int turn = 0; turn < m_options.sweeps; ++turn) {
      for (int color = is_final && turn > 0 ? 1 : 0; color < count; ++color)
        relax(exec, color, b, x, x_is_zero && turn == 0 && color == 0);
      for (int color = last; color >= 0; --color)
        relax(exec, color, b, x, false);
    }
  }

  template <class BView, class XView>
  void relax(const ExecutionSpace& exec, int color, const BView& b, const XView& x, bool x_is_zero) const {
    static const std::string name = "Filigree::relax_color[gauss_seidel]";
    using B = typename BView::non_const_value_type;
    using X = typename XView::value_type;
    Impl::with_block_size(m_rows.block_size, [&](auto size) {
      using Kernel = Impl::RelaxColor<ExecutionSpace, scalar_type, ordinal_type, B, X, decltype(size)::value>;
      const Kernel kernel = {m_rows,
                             color,
                             m_values.data() + color * values_per_color(),
                             m_offsets.data(),
                             x_is_zero ? 0 : static_cast<int>(m_offsets.extent(0)),
                             static_cast<ordinal_type>(rows() / m_rows.block_size),
                             Impl::multi_vector<BView, const B>(b),
                             Impl::multi_vector(x),
                             static_cast<Impl::real_t<typename Kernel::Sum>>(m_options.relaxation)};
      Kokkos::parallel_for(name, Kernel::launch::policy(exec, kernel.items()), kernel);
    });
  }

  std::array<std::int64_t, 3> m_cells;
  GaussSeidelOptions m_options;
  std::int64_t m_row_count;
  Impl::ColorRows<ordinal_type> m_rows;
  offsets_type m_offsets;  ///< of the block diagonals but the main one
  values_type m_values;    ///< of all colours, see Impl::FillColors
};

}  // namespace Filigree

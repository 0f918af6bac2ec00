// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "filigree/solve/packed_line_kernel.hpp"
#include "filigree/solve/preconditioner.hpp"

namespace Filigree {

/// Options of LinePreconditioner.
struct LineOptions {
  int axis = 0;             ///< the lines go along this axis: 0, 1 or 2 for x, y or z
  double relaxation = 0.8;  ///< the factor of the change of x in smooth(); more than 0 and finite
};

/// The block tridiagonal part T of the matrix of a grid along one axis, as preconditioner and smoother: z = T^-1 r. T
/// has the blocks on the diagonal of A, and those that couple a cell with the cells before and after it on its line. It
/// suits grids whose cells are coupled most along that axis.
///
/// If A is Hermitian positive definite and couples no other cells of a line, so is T. Couplings of the two ends of a
/// line of a periodic grid, and of cells that are further apart, do not belong to T. If A has such couplings, T can be
/// indefinite, and ConjugateGradients can break down. T is positive definite in any case if A is Hermitian and
/// diagonally dominant with a positive diagonal.
///
/// The constructor eliminates the cells of all lines from the first to the last one (block LU decomposition without
/// exchanges of blocks; within a block rows are exchanged). An application goes through each line once in both
/// directions. It reads three blocks per cell and two vectors, and writes one vector twice. On a GPU one lane has one
/// line, so there should be ten thousand lines or more. On a host a thread has at least four lines.
///
/// Memory: three blocks per cell in the type for sums of A's scalar type, and one vector.
///
/// Source: Saad 2003, "Iterative methods for sparse linear systems", section 4.1.1 (line relaxation), and Golub and Van
/// Loan 2013, "Matrix computations", section 4.5.1 (block tridiagonal systems).
///
/// @tparam Matrix CdsMatrix; convert other formats to it. Its block rows are the cells, with x fastest, as those of
///                StencilProblem
template <class ExecutionSpace, class Matrix>
class LinePreconditioner {
  static_assert(Impl::is_cds_v<Matrix>,
                "Filigree::LinePreconditioner: the matrix must be a CdsMatrix; convert other formats.");

 public:
  /// The scalar type of A.
  using scalar_type = typename Matrix::value_type;
  using vector_scalar = Impl::wider_t<scalar_type>;  ///< of the vector and the factors of the class
  /// Where the factors are.
  using device_type = typename Matrix::device_type;

  /// Keeps a copy of A, which shares its Views with the original, and computes the factors. Fences exec. Cost: three
  /// kernels and one fence per cell of a line, and 4 b^3 multiplications per cell.
  ///
  /// Throws std::invalid_argument if A is not square, the numbers of cells and the block size do not fit its rows, b is
  /// more than 32, or an option is out of range, and std::runtime_error if a block that the elimination must invert is
  /// singular or not finite.
  ///
  /// @param exec  execution space instance on which the kernels run
  /// @param A     the matrix
  /// @param cells numbers of cells along x, y and z; 1 for axes that the grid does not have
  /// @param options see LineOptions
  LinePreconditioner(const ExecutionSpace& exec, const Matrix& A, const std::array<std::int64_t, 3>& cells,
                     const LineOptions& options = {})
      : m_A(A), m_options(options), m_lines(checked_lines(A, cells, options)) {
    const std::int64_t values = m_lines.values_per_place() * m_lines.length;
    const auto allocate = [&](const char* what) {
      return Impl::allocate_aligned_view<values_type>(exec, what, "line", values);
    };
    m_inverse = allocate("inverse");
    m_lower = allocate("lower");
    m_upper = allocate("upper");
    m_work = Impl::allocate_view<values_type>(exec, "work", "line", rows());
    factorize(exec, "Filigree::LinePreconditioner");
  }

  /// Computes the factors again, after A has new values. Errors: as the constructor. After one of them the factors have
  /// any values.
  void refill(const ExecutionSpace& exec) { factorize(exec, "Filigree::LinePreconditioner::refill"); }

  /// The number of rows of the matrix.
  std::int64_t rows() const { return static_cast<std::int64_t>(m_A.numRows()); }

  /// Queues z = T^-1 r. z may be r.
  ///
  /// Throws std::invalid_argument if r or z has not rows() elements, or if they overlap otherwise.
  template <class RView, class ZView>
  void apply(const ExecutionSpace& exec, const RView& r, const ZView& z) const {
    static const std::string name = "Filigree::solve_lines[line]";
    constexpr const char* function = "Filigree::LinePreconditioner::apply";
    using R = typename RView::non_const_value_type;
    using Z = typename ZView::value_type;
    Impl::check_apply<ExecutionSpace>(function, "r", r, "z", z, rows());
    Impl::check_same_or_apart(function, "r", r, "z", z);
    const auto from = Impl::multi_vector<RView, const R>(r);
    const auto to = Impl::multi_vector(z);
    using Packed = Impl::SolvePackedLines<ExecutionSpace, vector_scalar, R, Z>;
    if constexpr (Packed::exists)
      if (Packed::fits(m_lines, from, to)) {
        Kokkos::parallel_for(
            name, Packed::launch::policy(exec, m_lines.count),
            Packed{m_lines, m_inverse.data(), m_lower.data(), m_upper.data(), from.data, to.data});
        return;
      }
    Impl::with_block_size(m_lines.block_size, [&](auto size) {
      using Kernel = Impl::SolveLines<ExecutionSpace, vector_scalar, R, Z, decltype(size)::value>;
      Kokkos::parallel_for(name, Kernel::launch::policy(exec, m_lines.count),
                           Kernel{m_lines, m_inverse.data(), m_lower.data(), m_upper.data(), from, to});
    });
  }

  /// Queues x = x + relaxation T^-1 (b - A x). It uses the vector of the object, which copies of the object share. So
  /// calls for an object and its copies must not run at the same time.
  ///
  /// Throws std::invalid_argument if b or x has not rows() elements, or if they overlap.
  template <class BView, class XView>
  void smooth(const ExecutionSpace& exec, const BView& b, const XView& x) const {
    static const std::string name = "Filigree::add_change[line]";
    constexpr const char* function = "Filigree::LinePreconditioner::smooth";
    using X = typename XView::value_type;
    Impl::check_apply<ExecutionSpace>(function, "b", b, "x", x, rows());
    Impl::check_no_overlap(function, "b", b, "x", x);
    residual(exec, "N", m_A, x, b, m_work);
    apply(exec, m_work, m_work);
    using Kernel = Impl::AddChange<vector_scalar, X>;
    Impl::for_rows(exec, name, rows(),
                   Kernel{m_work.data(), Impl::multi_vector(x),
                          static_cast<decltype(Kernel::factor)>(m_options.relaxation)});
  }

 private:
  using values_type = Kokkos::View<vector_scalar*, device_type>;

  static Impl::GridLines checked_lines(const Matrix& A, const std::array<std::int64_t, 3>& cells,
                                       const LineOptions& options) {
    constexpr const char* function = "Filigree::LinePreconditioner";
    Impl::check_initialized(function);
    if (options.axis < 0 || options.axis > 2 ||
        !(options.relaxation > 0 && std::isfinite(options.relaxation)))
      Impl::fail<std::invalid_argument>(function, ": axis is ", options.axis, " and relaxation ",
                                        options.relaxation,
                                        "; they must be 0, 1 or 2, and more than 0 and finite.");
    Impl::check_cells(function, A, cells);
    if (A.block_size() > largest_inverse_block_size)
      Impl::fail<std::invalid_argument>(function, ": the block size of A is ", A.block_size(),
                                        "; it must be at most ", largest_inverse_block_size, ".");
    return Impl::GridLines(cells, options.axis, A.block_size());
  }

  void factorize(const ExecutionSpace& exec, const char* function) const {
    using Sum = vector_scalar;
    using ordinal_type = typename Matrix::ordinal_type;
    using memory_space = typename Matrix::memory_space;
    static const std::string eliminate_name = "Filigree::eliminate_place[line]";
    static const std::string invert_name = "Filigree::invert_blocks[line]";
    static const std::string factor_name = "Filigree::factor_place[line]";
    const Impl::LineBlocks<scalar_type, ordinal_type> blocks(exec, m_A, m_lines.distance);
    const std::int64_t b = m_lines.block_size;
    const Impl::SingularBlocks<memory_space> singular(exec, m_lines.count);
    const auto rows_of_place = Impl::row_range<void>(exec, m_lines.stride());
    for (std::int64_t place = 0; place < m_lines.length; ++place) {
      const std::int64_t first = place * m_lines.values_per_place();
      Sum* const inverse = m_inverse.data() + first;
      Kokkos::parallel_for(
          eliminate_name, rows_of_place,
          Impl::EliminatePlace<scalar_type, ordinal_type, Sum>{
              m_lines, blocks, place,
              place > 0 ? m_upper.data() + first - m_lines.values_per_place() : nullptr, inverse});
      Impl::invert_blocks(exec, invert_name,
                          Impl::BlocksToInvert<Sum, Sum, memory_space>{
                              inverse, m_lines.stride(), inverse, m_lines.stride(), m_lines.count,
                              m_lines.stride(), static_cast<int>(b), singular});
      const std::int64_t line = singular.first(exec);
      if (line >= 0) {
        const std::int64_t cell = m_lines.cell(line, place);
        Impl::fail<std::runtime_error>(
            function, ": the block on the diagonal of cell ", cell, " (rows ", cell * b, " to ",
            cell * b + b - 1, ") is singular or not finite after the elimination of the ", place,
            " cells before it on its line. Check A, or use BlockJacobiPreconditioner.");
      }
      Kokkos::parallel_for(
          factor_name, rows_of_place,
          Impl::FactorPlace<scalar_type, ordinal_type, Sum>{m_lines, blocks, place, inverse,
                                                            m_lower.data() + first, m_upper.data() + first});
    }
    exec.fence();
  }

  Matrix m_A;
  LineOptions m_options;
  Impl::GridLines m_lines;
  values_type m_inverse, m_lower, m_upper;  ///< by places, see Impl::GridLines
  values_type m_work;
};

}  // namespace Filigree

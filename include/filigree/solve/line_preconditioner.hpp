// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "filigree/solve/grid_colors.hpp"
#include "filigree/solve/preconditioner.hpp"

namespace Filigree {

/// Options of LinePreconditioner.
struct LineOptions {
  int axis = 0;             ///< the lines go along this axis: 0, 1 or 2 for x, y or z
  double relaxation = 0.8;  ///< the factor of the change of x in smooth()
};

namespace Impl {

/// The lines of cells of a grid along an axis.
struct GridLines {
  std::int64_t length;    ///< cells of a line
  std::int64_t distance;  ///< from the number of a cell to that of the next one of its line
  std::int64_t count;     ///< of the lines
  int block_size;

  GridLines(const std::array<std::int64_t, 3>& cells, int axis, int block_size_)
      : length(cells[static_cast<std::size_t>(axis)]),
        distance((axis > 0 ? cells[0] : 1) * (axis > 1 ? cells[1] : 1)),
        count(cells[0] * cells[1] * cells[2] / length),
        block_size(block_size_) {}

  KOKKOS_FORCEINLINE_FUNCTION std::int64_t cell(std::int64_t line, std::int64_t place) const {
    const std::int64_t outer = line / distance;
    return outer * distance * length + (line - outer * distance) + place * distance;
  }
  /// Values of the blocks of one place of all lines. They are stored by columns: those of a column are `stride()` apart
  /// from those of the next one, and the rows of a line are neighbours.
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t values_per_place() const { return stride() * block_size; }
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t stride() const { return count * block_size; }
};

/// The blocks of a matrix that couple cells of a line.
template <class Scalar, class Ordinal>
struct LineBlocks {
  CdsElements<Scalar, Ordinal> blocks;
  std::int64_t main, before,
      after;  ///< diagonals that lead to a cell, the one before it and the one after it; or -1

  template <class Cds>
  LineBlocks(const Cds& A, std::int64_t distance) : blocks(A), main(-1), before(-1), after(-1) {
    const auto offsets = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), A.offsets);
    for (std::size_t d = 0; d < offsets.extent(0); ++d) {
      const auto offset = static_cast<std::int64_t>(offsets(d));
      if (offset == 0) main = static_cast<std::int64_t>(d);
      if (offset == -distance) before = static_cast<std::int64_t>(d);
      if (offset == distance) after = static_cast<std::int64_t>(d);
    }
  }
  template <class Sum>
  KOKKOS_FORCEINLINE_FUNCTION Sum element(std::int64_t diagonal, std::int64_t cell, std::int64_t i,
                                          std::int64_t c) const {
    if (diagonal < 0) return Sum(0);
    const std::int64_t row = cell * blocks.block_size + i;
    return Sum(
        widen<Sum>(blocks.value(blocks.block_position(cell, row, diagonal) + c * blocks.column_stride)));
  }
};

/// The block on the diagonal of T at one place of all lines, after the elimination of the place before:
/// A_pp - A_p(p-1) W_(p-1). One row of one line per call.
template <class Scalar, class Ordinal, class Sum>
struct EliminatePlace {
  GridLines lines;
  LineBlocks<Scalar, Ordinal> A;
  std::int64_t place;
  const Sum* upper_before;  ///< W of the place before; nullptr for the first place
  Sum* result;

  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t row) const {
    const std::int64_t b = lines.block_size;
    const std::int64_t line = row / b;
    const std::int64_t i = row - line * b;
    const std::int64_t cell = lines.cell(line, place);
    for (std::int64_t c = 0; c < b; ++c) {
      Sum sum = A.template element<Sum>(A.main, cell, i, c);
      if (upper_before != nullptr)
        for (std::int64_t e = 0; e < b; ++e)
          sum -=
              A.template element<Sum>(A.before, cell, i, e) * upper_before[c * lines.stride() + line * b + e];
      result[c * lines.stride() + row] = sum;
    }
  }
};

/// The factors of one place of all lines: the inverse of the block above, multiplied by the blocks that lead to the
/// places before and after it.
template <class Scalar, class Ordinal, class Sum>
struct FactorPlace {
  GridLines lines;
  LineBlocks<Scalar, Ordinal> A;
  std::int64_t place;
  const Sum* inverse;
  Sum* lower;
  Sum* upper;

  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t row) const {
    const std::int64_t b = lines.block_size;
    const std::int64_t line = row / b;
    const std::int64_t cell = lines.cell(line, place);
    for (std::int64_t c = 0; c < b; ++c) {
      Sum to_before(0), to_after(0);
      for (std::int64_t e = 0; e < b; ++e) {
        const Sum factor = inverse[e * lines.stride() + row];
        if (place > 0) to_before += factor * A.template element<Sum>(A.before, cell, e, c);
        if (place < lines.length - 1) to_after += factor * A.template element<Sum>(A.after, cell, e, c);
      }
      lower[c * lines.stride() + row] = to_before;
      upper[c * lines.stride() + row] = to_after;
    }
  }
};

/// Solves T z = r for all lines, one lane per line: y_p = D_p r_p - L_p y_(p-1) in ascending order, and then
/// z_p = y_p - W_p z_(p+1) in descending order. L of the first place and W of the last one are 0. z may be r.
template <class ExecutionSpace, class Sum, class R, class Z, int BlockSize>
struct SolveLines {
  using launch = RowLaunch<ExecutionSpace, 128>;
  static constexpr int most_rows = BlockSize > 0 ? BlockSize : largest_inverse_block_size;
  /// Places whose numbers are loaded before the first of them is used, because each place waits for the one before.
  static constexpr int batch = BlockSize == 1 ? 8 : BlockSize == 2 ? 2 : 1;

  GridLines lines;
  const Sum* inverse;  ///< D
  const Sum* lower;    ///< L
  const Sum* upper;    ///< W
  MultiVector<const R> r;
  MultiVector<Z> z;

  KOKKOS_FORCEINLINE_FUNCTION int block_size() const { return BlockSize > 0 ? BlockSize : lines.block_size; }

  /// The first term of a place: D r or y.
  template <bool Ascending>
  KOKKOS_FORCEINLINE_FUNCTION void load_term(std::int64_t place, std::int64_t in_place, std::int64_t row,
                                             Sum (&term)[most_rows]) const {
    const int b = block_size();
    FILIGREE_UNROLL(8)
    for (int i = 0; i < b; ++i)
      term[i] = Ascending ? Sum(0) : Sum(widen<Sum>(z(row + i, 0)));
    if constexpr (Ascending) {
      const Sum* block = inverse + place * lines.values_per_place() + in_place;
      FILIGREE_UNROLL(8)
      for (int c = 0; c < b; ++c, block += lines.stride()) {
        const Sum element = Sum(widen<Sum>(r(row + c, 0)));
        FILIGREE_UNROLL(8)
        for (int i = 0; i < b; ++i)
          term[i] += block[i] * element;
      }
    }
  }
  /// term -= block * before
  KOKKOS_FORCEINLINE_FUNCTION void subtract(const Sum* block, std::int64_t stride,
                                            const Sum (&before)[most_rows], Sum (&term)[most_rows]) const {
    const int b = block_size();
    FILIGREE_UNROLL(8)
    for (int c = 0; c < b; ++c)
      FILIGREE_UNROLL(8)
    for (int i = 0; i < b; ++i)
      term[i] -= block[c * stride + i] * before[c];
  }

  /// One of the two passes over the places of a line.
  template <bool Ascending>
  KOKKOS_FORCEINLINE_FUNCTION void pass(const std::int64_t line) const {
    const int b = block_size();
    const std::int64_t first_row = lines.cell(line, 0) * b;
    const std::int64_t in_place = line * b;
    const Sum* const factors = (Ascending ? lower : upper) + in_place;
    Sum before[most_rows];
    FILIGREE_UNROLL(8)
    for (int i = 0; i < b; ++i)
      before[i] = Sum(0);
    for (std::int64_t done = 0; done < lines.length; done += batch) {
      Sum terms[batch][most_rows];
      Sum blocks[batch][BlockSize > 0 ? most_rows * most_rows : 1];
      FILIGREE_UNROLL(8)
      for (int k = 0; k < batch; ++k) {
        // Places after the last one repeat it.
        const std::int64_t step = done + k < lines.length ? done + k : lines.length - 1;
        const std::int64_t place = Ascending ? step : lines.length - 1 - step;
        load_term<Ascending>(place, in_place, first_row + place * lines.distance * b, terms[k]);
        if constexpr (BlockSize > 0) {
          FILIGREE_UNROLL(8)
          for (int c = 0; c < BlockSize; ++c)
            FILIGREE_UNROLL(8)
          for (int i = 0; i < BlockSize; ++i)
            blocks[k][c * BlockSize + i] = factors[place * lines.values_per_place() + c * lines.stride() + i];
        }
      }
      FILIGREE_UNROLL(8)
      for (int k = 0; k < batch; ++k) {
        if (done + k >= lines.length) break;
        const std::int64_t place = Ascending ? done + k : lines.length - 1 - done - k;
        if constexpr (BlockSize > 0)
          subtract(blocks[k], BlockSize, before, terms[k]);
        else
          subtract(factors + place * lines.values_per_place(), lines.stride(), before, terms[k]);
        FILIGREE_UNROLL(8)
        for (int i = 0; i < b; ++i) {
          before[i] = terms[k][i];
          z(first_row + place * lines.distance * b + i, 0) = convert_scalar<Z>(before[i]);
        }
      }
    }
  }
  KOKKOS_INLINE_FUNCTION void operator()(const typename launch::member_type& team) const {
    launch::for_each_row(team, lines.count, [&](const std::int64_t line) {
      pass<true>(line);
      pass<false>(line);
    });
  }
};

/// x = x + factor * change
template <class Change, class X>
struct AddChange {
  const Change* change;
  MultiVector<X> x;
  real_t<wider_t<Change, X>> factor;

  struct Loaded {
    Change change;
    X x;
  };
  KOKKOS_FORCEINLINE_FUNCTION NoPartial common() const { return {}; }
  KOKKOS_FORCEINLINE_FUNCTION Loaded load(const std::int64_t row) const { return {change[row], x(row, 0)}; }
  KOKKOS_FORCEINLINE_FUNCTION void finish(NoPartial, const std::int64_t row, const Loaded& loaded,
                                          NoPartial&) const {
    using Sum = wider_t<Change, X>;
    x(row, 0) = convert_scalar<X>(Sum(Sum(widen<Sum>(loaded.x)) + factor * Sum(widen<Sum>(loaded.change))));
  }
};

}  // namespace Impl

/// The block tridiagonal part T of the matrix of a grid along one axis, as preconditioner and smoother: z = T^-1 r. T
/// has the blocks on the diagonal of A, and those that couple a cell with the cells before and after it on its line. It
/// suits grids whose cells are coupled most along that axis. If A is Hermitian positive definite, so is T.
///
/// The blocks that couple the two ends of a line of a periodic grid do not belong to T.
///
/// The constructor eliminates the cells of all lines from the first to the last one (block LU decomposition without
/// exchanges of blocks; within a block rows are exchanged). An application goes through each line once in both
/// directions. It reads three blocks per cell and two vectors, and writes one vector twice. On a GPU one lane has one
/// line, so there should be ten thousand lines or more.
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

  /// Keeps a copy of A, which shares its Views with the original, and computes the factors. Cost: three kernels and one
  /// fence per cell of a line, and 4 b^3 multiplications per cell.
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
    Impl::check_apply(function, r, z, rows());
    Impl::check_same_or_apart(function, "r", r, "z", z);
    Impl::with_block_size(m_lines.block_size, [&](auto size) {
      using Kernel = Impl::SolveLines<ExecutionSpace, vector_scalar, R, Z, decltype(size)::value>;
      Kokkos::parallel_for(name, Kernel::launch::policy(exec, m_lines.count),
                           Kernel{m_lines, m_inverse.data(), m_lower.data(), m_upper.data(),
                                  Impl::multi_vector<RView, const R>(r), Impl::multi_vector(z)});
    });
  }

  /// Queues x = x + relaxation T^-1 (b - A x). It uses the vector of the object, which copies of the object share. So
  /// calls for an object and its copies must not run at the same time. Errors: see apply().
  template <class BView, class XView>
  void smooth(const ExecutionSpace& exec, const BView& b, const XView& x) const {
    static const std::string name = "Filigree::add_change[line]";
    constexpr const char* function = "Filigree::LinePreconditioner::smooth";
    using X = typename XView::value_type;
    Impl::check_extents_of_vector(function, "b", b, rows(), 1);
    Impl::check_extents_of_vector(function, "x", x, rows(), 1);
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
                                        options.relaxation, "; they must be 0, 1 or 2, and more than 0.");
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
    exec.fence();
    const Impl::LineBlocks<scalar_type, ordinal_type> blocks(m_A, m_lines.distance);
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
      Impl::invert_blocks(
          exec, invert_name,
          Impl::BlocksToInvert<Sum, memory_space>{inverse, m_lines.stride(), m_lines.count, m_lines.stride(),
                                                  static_cast<int>(b), singular});
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
  }

  Matrix m_A;
  LineOptions m_options;
  Impl::GridLines m_lines;
  values_type m_inverse, m_lower, m_upper;  ///< by places, see Impl::GridLines
  values_type m_work;
};

}  // namespace Filigree

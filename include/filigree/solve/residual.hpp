// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What solvers do with A*x, each in one pass over A.
#pragma once

#include "filigree/solve/fused_product.hpp"
#include "filigree/solve/square.hpp"

namespace Filigree {

/// The factors of relaxation_step().
template <class Scalar>
struct StepFactors {
  Scalar residual = Scalar(1);  ///< of D^-1 (b - A x)
  Scalar w = Scalar(0);         ///< of the w before the step; if it is 0, that is not read
  Scalar x = Scalar(0);         ///< of x; if it is 0, x is only read as a factor of A
};

namespace Impl {

/// r = b - sum
template <class B, class R>
struct StoreResidual {
  using scalar_type = wider_t<B, R>;
  MultiVector<const B> b;
  MultiVector<R> r;

  template <class Sum>
  KOKKOS_FORCEINLINE_FUNCTION void operator()(std::int64_t row, int column, const Sum& sum) const {
    r(row, column) = convert_scalar<R>(Sum(widen<Sum>(b(row, column)) - sum));
  }
};

/// w = factors.w w + factors.residual correction + factors.x x, for one element of w.
template <class X, class W, class Sum>
struct StepUpdate {
  using scalar_type = Sum;
  StepFactors<Sum> factors;
  MultiVector<const X> x;
  MultiVector<W> w;

  KOKKOS_FORCEINLINE_FUNCTION void operator()(std::int64_t row, int column, const Sum& correction) const {
    Sum result = times(factors.residual, correction);
    if (factors.x != Sum(0)) result += times(factors.x, Sum(widen<Sum>(x(row, column))));
    update(w(row, column), factors.w, result);
  }
};

/// A step with a diagonal D.
template <class B, class D, class X, class W, class Sum>
struct DiagonalStep {
  using scalar_type = Sum;
  MultiVector<const B> b;
  MultiVector<const D> inverse;
  StepUpdate<X, W, Sum> step;

  KOKKOS_FORCEINLINE_FUNCTION void operator()(std::int64_t row, int column, const Sum& sum) const {
    const Sum residual = widen<Sum>(b(row, column)) - sum;
    step(row, column, Sum(widen<Sum>(inverse(row, 0)) * residual));
  }
};

/// y = sum, and the sums of conj(x) y and conj(y) y.
template <class X, class Y>
struct StoreAndDots {
  using scalar_type = Y;
  MultiVector<const X> x;
  MultiVector<Y> y;

  template <class Sum, class T>
  KOKKOS_FORCEINLINE_FUNCTION void operator()(std::int64_t row, int column, const Sum& sum,
                                              Sums<T, 2>& dots) const {
    const Y stored = convert_scalar<Y>(sum);
    y(row, column) = stored;
    const auto wide = widen<T>(stored);
    dots[0] += T(conjugate_if<true>(widen<T>(x(row, column))) * wide);
    dots[1] += T(conjugate_if<true>(wide) * wide);
  }
};

/// Throws std::invalid_argument unless `view` has these extents.
template <class View>
void check_extents_of_vector(const char* function, const char* name, const View& view, std::int64_t rows,
                             std::int64_t columns) {
  if (static_cast<std::int64_t>(view.extent(0)) != rows || column_count(view) != columns)
    fail<std::invalid_argument>(function, ": ", name, " is ", view.extent(0), " x ", column_count(view),
                                "; it must be ", rows, " x ", columns, ".");
  check_row_stride(function, name, view);
}

/// Throws std::invalid_argument if the output shares memory with an input other than element by element.
template <class In, class Out>
void check_no_overlap(const char* function, const char* in_name, const In& in, const char* out_name,
                      const Out& out) {
  if (aliased(in, out))
    fail<std::invalid_argument>(function, ": ", in_name, " and ", out_name, " share memory; ", out_name,
                                " must not overlap ", in_name, ".");
}

/// Whether two Views are the same elements in the same order.
template <class P, class Q>
bool same_elements(const P& p, const Q& q) {
  const auto a = multi_vector(p);
  const auto b = multi_vector(q);
  return static_cast<const void*>(a.data) == static_cast<const void*>(b.data) &&
         sizeof(*a.data) == sizeof(*b.data) && a.row_bytes == b.row_bytes &&
         a.column_stride == b.column_stride;
}

template <class In, class Out>
void check_same_or_apart(const char* function, const char* in_name, const In& in, const char* out_name,
                         const Out& out) {
  if (!same_elements(in, out)) check_no_overlap(function, in_name, in, out_name, out);
}

template <class ExecutionSpace, class Matrix, class XView, class BView, class RView>
void residual_of(const ExecutionSpace& exec, Mode mode, const Matrix& A, const XView& x, const BView& b,
                 const RView& r) {
  constexpr const char* function = "Filigree::residual";
  const std::int64_t rows = MatrixTraits<Matrix>::num_rows(A);
  check_fused(function, mode, A, x);
  check_extents_of_vector(function, "b", b, rows, column_count(x));
  check_extents_of_vector(function, "r", r, rows, column_count(x));
  check_no_overlap(function, "x", x, "r", r);
  check_same_or_apart(function, "b", b, "r", r);
  using B = typename BView::non_const_value_type;
  using R = typename RView::value_type;
  fused_product_of(exec, mode, A, x, StoreResidual<B, R>{multi_vector<BView, const B>(b), multi_vector(r)});
}

/// Throws std::invalid_argument unless the matrix D^-1 has `rows` rows and columns.
template <class Inverse>
void check_inverse_extents(const char* function, const Inverse& inverse, std::int64_t rows) {
  using Traits = MatrixTraits<Inverse>;
  if (Traits::num_rows(inverse) != rows || Traits::num_cols(inverse) != rows)
    fail<std::invalid_argument>(function, ": the inverse is ", Traits::num_rows(inverse), " x ",
                                Traits::num_cols(inverse), "; it must be ", rows, " x ", rows, " as A.");
}

/// Checks the arguments of relaxation_step() but the inverse, and returns what updates an element of w.
template <class Sum, class Matrix, class XView, class BView, class Scalar, class WView>
auto checked_step(const Matrix& A, const XView& x, const BView& b, const StepFactors<Scalar>& factors,
                  const WView& w) {
  constexpr const char* function = "Filigree::relaxation_step";
  using X = typename XView::non_const_value_type;
  const std::int64_t rows = MatrixTraits<Matrix>::num_rows(A);
  check_square(function, A);
  check_fused(function, Mode::NoTranspose, A, x);
  check_extents_of_vector(function, "b", b, rows, column_count(x));
  check_extents_of_vector(function, "w", w, rows, column_count(x));
  check_no_overlap(function, "x", x, "w", w);
  check_same_or_apart(function, "b", b, "w", w);
  return StepUpdate<X, typename WView::value_type, Sum>{
      {convert_scalar<Sum>(factors.residual), convert_scalar<Sum>(factors.w), convert_scalar<Sum>(factors.x)},
      multi_vector<XView, const X>(x),
      multi_vector(w)};
}

/// A step with a diagonal D, in one pass.
template <class ExecutionSpace, class Matrix, class XView, class BView, class D, class... P, class Scalar,
          class WView>
void relaxation_step_of(const ExecutionSpace& exec, const Matrix& A, const XView& x, const BView& b,
                        const Kokkos::View<D, P...>& inverse, const StepFactors<Scalar>& factors,
                        const WView& w) {
  constexpr const char* function = "Filigree::relaxation_step";
  using InverseView = Kokkos::View<D, P...>;
  using B = typename BView::non_const_value_type;
  using X = typename XView::non_const_value_type;
  using W = typename WView::value_type;
  using Inverse = typename InverseView::non_const_value_type;
  using Sum = wider_t<typename MatrixTraits<Matrix>::entry_type, B, Inverse, X, W>;
  static_assert(static_cast<int>(InverseView::rank) == 1,
                "Filigree::relaxation_step: the inverse must be a View of rank 1 or a matrix.");
  const auto step = checked_step<Sum>(A, x, b, factors, w);
  check_extents_of_vector(function, "the inverse diagonal", inverse, MatrixTraits<Matrix>::num_rows(A), 1);
  if (column_count(w) == 1)
    check_same_or_apart(function, "the inverse diagonal", inverse, "w", w);
  else
    check_no_overlap(function, "the inverse diagonal", inverse, "w", w);
  fused_product_of(
      exec, Mode::NoTranspose, A, x,
      DiagonalStep<B, Inverse, X, W, Sum>{multi_vector<BView, const B>(b),
                                          multi_vector<InverseView, const Inverse>(inverse), step});
}

/// A step with D^-1 as a matrix: one pass that stores the residual, and one over D^-1.
template <class ExecutionSpace, class Matrix, class XView, class BView, class Inverse, class Scalar,
          class WView>
std::enable_if_t<MatrixTraits<Inverse>::is_matrix> relaxation_step_of(const ExecutionSpace& exec,
                                                                      const Matrix& A, const XView& x,
                                                                      const BView& b, const Inverse& inverse,
                                                                      const StepFactors<Scalar>& factors,
                                                                      const WView& w) {
  constexpr const char* function = "Filigree::relaxation_step";
  using B = typename BView::non_const_value_type;
  using X = typename XView::non_const_value_type;
  using Traits = MatrixTraits<Inverse>;
  using Sum = wider_t<typename MatrixTraits<Matrix>::entry_type, B, typename Traits::entry_type, X,
                      typename WView::value_type>;
  const auto step = checked_step<Sum>(A, x, b, factors, w);
  const std::int64_t rows = MatrixTraits<Matrix>::num_rows(A);
  const std::int64_t columns = column_count(x);
  check_inverse_extents(function, inverse, rows);
  if (rows == 0 || columns == 0) return;
  auto& pool = WorkspacePool<ExecutionSpace>::get();
  const std::size_t bytes = static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns) * sizeof(Sum);
  auto& workspace = pool.borrow(exec, 0, (bytes + 7) / 8);
  using Residual =
      Kokkos::View<std::conditional_t<static_cast<int>(XView::rank) == 1, Sum*, Sum**>, Kokkos::LayoutLeft,
                   Kokkos::Device<ExecutionSpace, typename ExecutionSpace::memory_space>,
                   Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
  auto* const first = reinterpret_cast<Sum*>(workspace.sums.data());
  Residual r;
  if constexpr (static_cast<int>(XView::rank) == 1)
    r = Residual(first, static_cast<std::size_t>(rows));
  else
    r = Residual(first, static_cast<std::size_t>(rows), static_cast<std::size_t>(columns));
  fused_product_of(exec, Mode::NoTranspose, A, x,
                   StoreResidual<B, Sum>{multi_vector<BView, const B>(b), multi_vector(r)});
  fused_product_of(exec, Mode::NoTranspose, inverse, r, step);
  pool.give_back(workspace);
}

template <class ExecutionSpace, class Matrix, class XView, class YView, class Result>
void product_and_dots_of(const ExecutionSpace& exec, Mode mode, const Matrix& A, const XView& x,
                         const YView& y, const Result& dots) {
  constexpr const char* function = "Filigree::product_and_dots";
  using X = typename XView::non_const_value_type;
  using Y = typename YView::value_type;
  check_square(function, A);
  check_fused(function, mode, A, x);
  check_extents_of_vector(function, "y", y, MatrixTraits<Matrix>::num_rows(A), column_count(x));
  check_no_overlap(function, "x", x, "y", y);
  fused_product_of(exec, mode, A, x, StoreAndDots<X, Y>{multi_vector<XView, const X>(x), multi_vector(y)},
                   dots);
}

}  // namespace Impl

/// r = b - op(A)*x, in one pass over A: it reads b and writes r besides what a product reads.
///
/// @param exec execution space instance on which the kernels are queued
/// @param mode "N" or "C"
/// @param A    m x n matrix of any format of AllFormats, an AnyMatrix or a ScaledMatrix
/// @param x    View of rank 1 or 2 with n rows
/// @param b    View with m rows and the columns of x
/// @param r    View with m rows and the columns of x. It may be b itself. It must not overlap x, nor b otherwise.
///
/// Sums have the widest of the scalar types of A, x, b and r. Asynchronous, with the exceptions of spmv(). Modes N
/// and C give the same bits on every run.
///
/// Throws std::invalid_argument for other modes, for extents that do not fit, for rows that are 2^31 bytes or more
/// apart, and for Views that overlap. Nothing is written then.
template <class ExecutionSpace, class Matrix, class XView, class BView, class RView>
std::enable_if_t<Kokkos::is_execution_space<ExecutionSpace>::value> residual(const ExecutionSpace& exec,
                                                                             const ModeArgument& mode,
                                                                             const Matrix& A, const XView& x,
                                                                             const BView& b, const RView& r) {
  Impl::with_format(A, [&](const auto& matrix) { Impl::residual_of(exec, mode, matrix, x, b, r); });
}

/// w = factors.residual * D^-1 (b - A x) + factors.w * w + factors.x * x: one step of a Jacobi or Chebyshev
/// iteration, or of another one with this form.
///
/// @param exec    execution space instance on which the kernels are queued
/// @param A       square matrix of any format of AllFormats, an AnyMatrix or a ScaledMatrix
/// @param x       View of rank 1 or 2
/// @param b       View of the extents of x
/// @param inverse D^-1: a View of rank 1 with one element per row, as of inverse_diagonal(), or a matrix, as of
///                inverse_diagonal_blocks()
/// @param factors the three factors
/// @param w       View of the extents of x. It may be b itself. It must not overlap x, nor b otherwise.
///
/// With a diagonal this is one pass over A. With a matrix, a product with it follows; the residuals between both lie
/// in a workspace of the size of w in the widest of the types. As for the balanced products of spmv(), it is
/// allocated by the first call on an instance.
///
/// Throws std::invalid_argument as residual(), if A is not square, and if `inverse` has another number of elements
/// than A needs. Nothing is written then.
template <class ExecutionSpace, class Matrix, class XView, class BView, class InverseView, class Scalar,
          class WView>
std::enable_if_t<Kokkos::is_execution_space<ExecutionSpace>::value> relaxation_step(
    const ExecutionSpace& exec, const Matrix& A, const XView& x, const BView& b, const InverseView& inverse,
    const StepFactors<Scalar>& factors, const WView& w) {
  Impl::with_format(
      A, [&](const auto& matrix) { Impl::relaxation_step_of(exec, matrix, x, b, inverse, factors, w); });
}

/// y = op(A)*x, and for each column of x the two dot products dots[0] = sum of conj(x) y and dots[1] = sum of
/// conj(y) y, in one pass over A.
///
/// @param exec execution space instance on which the kernels are queued
/// @param mode "N" or "C"
/// @param A    square matrix of any format of AllFormats, an AnyMatrix or a ScaledMatrix
/// @param x    View of rank 1 or 2
/// @param y    View of the extents of x. It must not overlap x.
/// @param dots View of Sums<T, 2> in memory that exec can access, of rank 0 if x has rank 1, else of rank 1 with one
///             element per column of x. It is overwritten when the queued kernels have run.
///
/// Every run gives the same bits; on a host that needs the same number of threads. With several columns of x, A is
/// read once per column. Throws std::invalid_argument as residual(), and if A is not square.
template <class ExecutionSpace, class Matrix, class XView, class YView, class Result>
std::enable_if_t<Kokkos::is_execution_space<ExecutionSpace>::value> product_and_dots(
    const ExecutionSpace& exec, const ModeArgument& mode, const Matrix& A, const XView& x, const YView& y,
    const Result& dots) {
  Impl::with_format(A,
                    [&](const auto& matrix) { Impl::product_and_dots_of(exec, mode, matrix, x, y, dots); });
}

/// residual() on the default instance of the execution space of A.
template <class Matrix, class XView, class BView, class RView>
void residual(const ModeArgument& mode, const Matrix& A, const XView& x, const BView& b, const RView& r) {
  Impl::check_initialized("Filigree::residual");
  residual(typename MatrixTraits<Matrix>::execution_space(), mode, A, x, b, r);
}

/// relaxation_step() on the default instance of the execution space of A.
template <class Matrix, class XView, class BView, class InverseView, class Scalar, class WView>
void relaxation_step(const Matrix& A, const XView& x, const BView& b, const InverseView& inverse,
                     const StepFactors<Scalar>& factors, const WView& w) {
  Impl::check_initialized("Filigree::relaxation_step");
  relaxation_step(typename MatrixTraits<Matrix>::execution_space(), A, x, b, inverse, factors, w);
}

/// product_and_dots() on the default instance of the execution space of A.
template <class Matrix, class XView, class YView, class Result>
void product_and_dots(const ModeArgument& mode, const Matrix& A, const XView& x, const YView& y,
                      const Result& dots) {
  Impl::check_initialized("Filigree::product_and_dots");
  product_and_dots(typename MatrixTraits<Matrix>::execution_space(), mode, A, x, y, dots);
}

}  // namespace Filigree

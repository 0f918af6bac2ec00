// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Products whose row sums do not go to y but to a function, which uses them at once. What a solver does with A*x then
// moves less memory than a product and kernels after it.
#pragma once

#include <stdexcept>

#include "filigree/core/sums.hpp"
#include "filigree/solve/with_format.hpp"
#include "filigree/spmv.hpp"

namespace Filigree {
namespace Impl {

/// The least precise type of the sums that a function gets: its scalar_type if it has one, else that of x.
template <class Function, class X, class = void>
struct LeastScalar {
  using type = X;
};
template <class Function, class X>
struct LeastScalar<Function, X, std::void_t<typename Function::scalar_type>> {
  using type = typename Function::scalar_type;
};

/// The product of a matrix without entries: all sums are 0.
template <class ExecutionSpace, class Operands>
struct ZeroSums {
  using launch = RowLaunch<ExecutionSpace>;

  Operands operands;
  std::int64_t rows;

  KOKKOS_INLINE_FUNCTION void operator()(const typename launch::member_type& team) const {
    launch::for_each_row(team, rows, [&](const std::int64_t row) {
      operands.store(typename Operands::accumulator_type(0), row, 0);
    });
  }
};

template <class T>
constexpr bool is_sums_v = false;
template <class T, int Count>
constexpr bool is_sums_v<Sums<T, Count>> = true;

/// Throws std::invalid_argument if x does not fit the matrix or the mode transposes.
template <class Matrix, class XView>
void check_fused(const char* function, Mode mode, const Matrix& A, const XView& x) {
  using Traits = MatrixTraits<Matrix>;
  if (is_transpose(mode))
    fail<std::invalid_argument>(
        function, ": the mode is ", static_cast<char>(mode),
        "; it must be N or C, because in modes T and H no sum of a row is known before all "
        "rows of A are read.");
  if (static_cast<std::int64_t>(x.extent(0)) != Traits::num_cols(A))
    fail<std::invalid_argument>(function, ": A is ", Traits::num_rows(A), " x ", Traits::num_cols(A),
                                ", but x has ", x.extent(0), " rows; it must have ", Traits::num_cols(A),
                                ".");
  check_row_stride(function, "x", x);
}

/// Queues the product of the columns of x whose sums go to `epilogue`. The arguments are checked.
template <class ExecutionSpace, class Matrix, class XView, class Function, class Scalar, class Partial>
void run_fused(const ExecutionSpace& exec, Mode mode, const Matrix& A, const XView& x,
               const Epilogue<Function, Scalar, Partial>& epilogue) {
  using x_type = typename XView::non_const_value_type;
  using Target = Epilogue<Function, Scalar, Partial>;
  using product_type = Product<ExecutionSpace, Matrix, x_type, Target>;
  using accumulator_type = typename product_type::accumulator_type;
  static_assert(
      !is_scaled_v<Matrix> || std::is_same_v<real_t<accumulator_type>, double>,
      "Filigree::fused_product: with a ScaledMatrix, x or the scalar_type of the function must be of "
      "double, because the powers need its range.");
  const std::int64_t rows = MatrixTraits<Matrix>::num_rows(A);
  const int columns = static_cast<int>(column_count(x));
  if (rows == 0 || columns == 0) return;
  if (MatrixTraits<Matrix>::nnz(A) == 0 || x.extent(0) == 0) {
    using Operands = ProductOperands<typename product_type::scalar_type, x_type, Target, 1>;
    using Kernel = ZeroSums<ExecutionSpace, Operands>;
    for (int column = 0; column < columns; ++column) {
      const Operands operands = {
          {}, {}, epilogue.from_column(column), 1, accumulator_type(1), accumulator_type(0)};
      launch_product(exec, product_names(stored_matrix(A)).spmv, Kernel::launch::policy(exec, rows),
                     Kernel{operands, rows});
    }
    return;
  }
  const product_type product = {exec,
                                mode,
                                accumulator_type(1),
                                A,
                                multi_vector<XView, const x_type>(x),
                                static_cast<std::int64_t>(x.extent(0)),
                                accumulator_type(0),
                                epilogue,
                                rows};
  if constexpr (static_cast<int>(XView::rank) == 1)
    product.one_column(0);
  else
    product.all_columns(columns);
}

/// The static checks of a fused product.
template <class ExecutionSpace, class Matrix, class XView>
void check_types_of_fused() {
  static_assert(
      MatrixTraits<Matrix>::is_matrix,
      "Filigree::fused_product: A must be a matrix of a Filigree format, or a KokkosSparse CrsMatrix or "
      "BsrMatrix.");
  static_assert(Kokkos::is_view<XView>::value, "Filigree::fused_product: x must be a Kokkos::View.");
  static_assert(static_cast<int>(XView::rank) == 1 || static_cast<int>(XView::rank) == 2,
                "Filigree::fused_product: x must have rank 1 or 2.");
  static_assert(
      Kokkos::SpaceAccessibility<ExecutionSpace, typename MatrixTraits<Matrix>::memory_space>::accessible &&
          Kokkos::SpaceAccessibility<ExecutionSpace, typename XView::memory_space>::accessible,
      "Filigree::fused_product: the execution space must be able to access the memory of A and x.");
}

/// fused_product() for a matrix of one format, not an AnyMatrix.
template <class ExecutionSpace, class Matrix, class XView, class Function>
void fused_product_of(const ExecutionSpace& exec, Mode mode, const Matrix& A, const XView& x,
                      const Function& function) {
  check_types_of_fused<ExecutionSpace, Matrix, XView>();
  check_initialized("Filigree::fused_product");
  check_fused("Filigree::fused_product", mode, A, x);
  const LabelScope scope(label_of(A));
  ScopedRegion region(label("fused_product", MatrixTraits<Matrix>::name()));
  using x_type = typename XView::non_const_value_type;
  run_fused(exec, mode, A, x, Epilogue<Function, typename LeastScalar<Function, x_type>::type>{function});
}

/// fused_product() with a reduction, for a matrix of one format.
template <class ExecutionSpace, class Matrix, class XView, class Function, class Result>
void fused_product_of(const ExecutionSpace& exec, Mode mode, const Matrix& A, const XView& x,
                      const Function& function, const Result& result) {
  check_types_of_fused<ExecutionSpace, Matrix, XView>();
  static_assert(Kokkos::is_view<Result>::value,
                "Filigree::fused_product: the result must be a Kokkos::View.");
  static_assert(is_sums_v<typename Result::value_type>,
                "Filigree::fused_product: the elements of the result must be Filigree::Sums.");
  constexpr int result_rank = static_cast<int>(XView::rank) - 1;
  static_assert(
      static_cast<int>(Result::rank) == result_rank,
      "Filigree::fused_product: the result must have rank 0 if x has rank 1, and rank 1 if x has rank 2.");
  static_assert(
      Kokkos::SpaceAccessibility<ExecutionSpace, typename Result::memory_space>::accessible,
      "Filigree::fused_product: the execution space must be able to access the memory of the result.");
  check_initialized("Filigree::fused_product");
  check_fused("Filigree::fused_product", mode, A, x);
  const std::int64_t columns = column_count(x);
  if constexpr (result_rank == 1)
    if (static_cast<std::int64_t>(result.extent(0)) != columns)
      fail<std::invalid_argument>("Filigree::fused_product: x has ", columns, " columns, but the result has ",
                                  result.extent(0), " elements; it must have one per column.");
  const LabelScope scope(label_of(A));
  ScopedRegion region(label("fused_product", MatrixTraits<Matrix>::name()));
  using x_type = typename XView::non_const_value_type;
  using Partial = typename Result::non_const_value_type;
  using Target = Epilogue<Function, typename LeastScalar<Function, x_type>::type, Partial>;
  if (MatrixTraits<Matrix>::num_rows(A) == 0) {
    Kokkos::deep_copy(exec, result, Partial());
    return;
  }
  for (int column = 0; column < static_cast<int>(columns); ++column) {
    Partial* element = result.data();
    if constexpr (result_rank == 1)
      element = result.data() + column * static_cast<std::int64_t>(result.stride(0));
    Reduction<Partial> reduction(element);
    if constexpr (result_rank == 1)
      run_fused(exec, mode, A, Kokkos::subview(x, Kokkos::ALL(), column),
                Target{function, column, &reduction});
    else
      run_fused(exec, mode, A, x, Target{function, column, &reduction});
  }
}

}  // namespace Impl

/// Computes op(A)*x and calls function(row, column, sum) for each row and each column of x, in any order and at the
/// same time. The sums are not stored.
///
/// All formats have it, and A is read once per 16 columns of x, as by spmv(). The sums are those of spmv() with
/// alpha = 1; for CRS and BSR, which Kokkos Kernels multiplies in spmv(), the last bits may differ. HYB adds its two
/// parts in one kernel with one lane per row, so that rows much longer than the others make it slower than spmv().
///
/// @param exec     execution space instance on which the kernels are queued
/// @param mode     "N" or "C"
/// @param A        m x n matrix of any format of AllFormats, an AnyMatrix or a ScaledMatrix
/// @param x        View of rank 1 or 2 with n rows, any layout and stride
/// @param function copyable object with a const operator()(std::int64_t row, int column, sum) for the device. The
///                 sum has the widest of the scalar types of A, of x and of Function::scalar_type, if it has one. It
///                 may read and write anything that belongs to this row and column alone. It must not write to x,
///                 because other rows read it.
///
/// Asynchronous as spmv(). The limits for workspaces of spmv() hold here too.
///
/// Throws std::invalid_argument for the modes T and H and if x has not n rows or its rows are 2^31 bytes or more
/// apart; nothing has been called then.
template <class ExecutionSpace, class Matrix, class XView, class Function>
std::enable_if_t<Kokkos::is_execution_space<ExecutionSpace>::value> fused_product(const ExecutionSpace& exec,
                                                                                  const ModeArgument& mode,
                                                                                  const Matrix& A,
                                                                                  const XView& x,
                                                                                  const Function& function) {
  Impl::with_format(A, [&](const auto& matrix) { Impl::fused_product_of(exec, mode, matrix, x, function); });
}

/// Computes op(A)*x, calls function(row, column, sum, partial) for each row and each column of x, and adds up what
/// the calls have added to their partial results.
///
/// @param function as above, with one argument more: a reference to Sums<T, N>, to which it adds what this row
///                 contributes
/// @param result   View of Sums<T, N> in memory that exec can access, of rank 0 if x has rank 1, else of rank 1 with
///                 one element per column of x. It is overwritten when the queued kernels have run.
///
/// Every run gives the same bits. On a host that needs the same number of threads. Asynchronous as spmv(). It
/// borrows a workspace of one Sums<T, N> per warp of an NVIDIA GPU, elsewhere per team, as the balanced products do
/// (see spmv()). With several columns of x, A is read once per column.
template <class ExecutionSpace, class Matrix, class XView, class Function, class Result>
std::enable_if_t<Kokkos::is_execution_space<ExecutionSpace>::value> fused_product(
    const ExecutionSpace& exec, const ModeArgument& mode, const Matrix& A, const XView& x,
    const Function& function, const Result& result) {
  Impl::with_format(
      A, [&](const auto& matrix) { Impl::fused_product_of(exec, mode, matrix, x, function, result); });
}

/// fused_product() on the default instance of the execution space of A.
template <class Matrix, class XView, class Function>
void fused_product(const ModeArgument& mode, const Matrix& A, const XView& x, const Function& function) {
  Impl::check_initialized("Filigree::fused_product");
  fused_product(typename MatrixTraits<Matrix>::execution_space(), mode, A, x, function);
}

/// fused_product() with a reduction, on the default instance of the execution space of A.
template <class Matrix, class XView, class Function, class Result>
void fused_product(const ModeArgument& mode, const Matrix& A, const XView& x, const Function& function,
                   const Result& result) {
  Impl::check_initialized("Filigree::fused_product");
  fused_product(typename MatrixTraits<Matrix>::execution_space(), mode, A, x, function, result);
}

}  // namespace Filigree

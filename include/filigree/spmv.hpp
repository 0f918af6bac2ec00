// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "filigree/core/initialized.hpp"
#include "filigree/core/matrix_traits.hpp"
#include "filigree/core/mode.hpp"
#include "filigree/core/precompiled.hpp"
#include "filigree/core/region.hpp"
#include "filigree/formats.hpp"
#include "filigree/product/operands.hpp"

namespace Filigree {
namespace Impl {

/// The scaling of x and y in a product.
template <class Matrix>
auto scaling_of([[maybe_unused]] const Matrix& A, [[maybe_unused]] Mode mode) {
  if constexpr (is_scaled_v<Matrix>)
    return is_transpose(mode) ? PowerScaling{A.row_exponents.data(), A.column_exponents.data()}
                              : PowerScaling{A.column_exponents.data(), A.row_exponents.data()};
  else
    return NoScaling();
}

/// The arguments of a product that were checked, and the functions that compute it. X and Y are the types of the
/// elements of x and y, which are not const, or Y is an Epilogue, which stands for y.
template <class ExecutionSpace, class Matrix, class X, class Y>
struct Product {
  using scalar_type = typename MatrixTraits<Matrix>::value_type;
  using accumulator_type = wider_t<scalar_type, X, typename ProductTarget<Y>::scalar_type>;

  const ExecutionSpace& exec;
  Mode mode;
  accumulator_type alpha;
  const Matrix& A;
  MultiVector<const X> x;
  std::int64_t x_rows;
  accumulator_type beta;
  typename ProductTarget<Y>::vector_type y;
  std::int64_t y_rows;

  // These functions launch the kernels of products, except those of Kokkos Kernels for several columns and with
  // handles. They are not inline, so that they can be precompiled (see core/precompiled.hpp).

  /// y = beta * y, for the first `columns` columns. The only function for a matrix without entries and for
  /// alpha = 0.
  void scale_y(int columns) const;
  /// y(:, column) = beta * y(:, column) + alpha * op(A) * x(:, column)
  void one_column(int column) const;
  /// The product of all columns of x and y, of which there are `columns`.
  void all_columns(int columns) const;
  /// The product of column 0 by Kokkos Kernels. A must be a CRS or BSR matrix, and x and y must have unit stride.
  void one_column_by_kokkos_kernels() const;

 private:
  template <int MostColumns, ColumnAccess Access>
  void launch(int first, int count) const;
  template <int Count>
  bool launch_if_exact(int first, int count) const;
  bool launch_columns_on_gpu(int first, int count) const;
};

/// The product of the columns `first` to first + count - 1, in one launch.
template <class ExecutionSpace, class Matrix, class X, class Y>
template <int MostColumns, ColumnAccess Access>
void Product<ExecutionSpace, Matrix, X, Y>::launch(int first, int count) const {
  const auto scaling = scaling_of(A, mode);
  const auto& stored = stored_matrix(A);
  using Operands = ProductOperands<scalar_type, X, Y, MostColumns, std::decay_t<decltype(scaling)>, Access>;
  const Operands operands = {scaling,
                             scaling.template scaled_x<accumulator_type>(x).from_column(first),
                             y.from_column(first),
                             count,
                             alpha,
                             beta};
  spmv_kernel(exec, product_names(stored).spmv, mode, stored, operands);
}

/// The product of exactly Count columns with ColumnAccess::exact. Returns whether there are so many.
template <class ExecutionSpace, class Matrix, class X, class Y>
template <int Count>
bool Product<ExecutionSpace, Matrix, X, Y>::launch_if_exact(int first, int count) const {
  if (count == Count) launch<Count, ColumnAccess::exact>(first, count);
  return count == Count;
}

/// Several columns of x on a GPU, with ColumnAccess::row_major if x and y allow it, or ColumnAccess::exact if
/// there are 4, 8 or 16. Returns whether it has launched the product.
template <class ExecutionSpace, class Matrix, class X, class Y>
bool Product<ExecutionSpace, Matrix, X, Y>::launch_columns_on_gpu(int first, int count) const {
  constexpr int per_lane = 4;
  // Kernels number the packs of x with 32 bits. Those that alternate halves, for x of 8 bytes, have packs of half of the
  // columns of a lane. They do not know the rows of x, so that the bound is the same for all kernels.
  constexpr int per_pack = sizeof(X) == 8 ? per_lane / 2 : per_lane;
  if constexpr (!is_scaled_v<Matrix>) {
    if (count % per_lane == 0 && is_row_major<per_lane>(x.from_column(first)) &&
        is_row_major<per_lane>(y.from_column(first)) && packs_are_near<per_pack>(x, x_rows)) {
      launch<per_lane, ColumnAccess::row_major>(first, count);
      return true;
    }
    if (!rows_are_near(x, x_rows)) return false;
  }
  return launch_if_exact<4>(first, count) || launch_if_exact<8>(first, count) ||
         launch_if_exact<multi_vector_columns>(first, count);
}

template <class ExecutionSpace, class Matrix, class X, class Y>
void Product<ExecutionSpace, Matrix, X, Y>::scale_y(int columns) const {
  scale(exec, beta, y, y_rows, columns);
}

template <class ExecutionSpace, class Matrix, class X, class Y>
void Product<ExecutionSpace, Matrix, X, Y>::one_column(int column) const {
  launch<1, ColumnAccess::any>(column, 1);
}

template <class ExecutionSpace, class Matrix, class X, class Y>
void Product<ExecutionSpace, Matrix, X, Y>::all_columns(int columns) const {
  constexpr int most = multi_vector_columns;
  int column = 0;
  for (; columns - column > 1; column += most) {
    const int count = columns - column < most ? columns - column : most;
    if constexpr (runs_on_gpu_v<ExecutionSpace>)
      if (launch_columns_on_gpu(column, count)) continue;
    launch<most, ColumnAccess::any>(column, count);
  }
  if (column < columns) one_column(column);
}

template <class ExecutionSpace, class Matrix, class X, class Y>
void Product<ExecutionSpace, Matrix, X, Y>::one_column_by_kokkos_kernels() const {
  if constexpr (is_kokkos_kernels_matrix_v<Matrix>) {
    using device_type = Kokkos::Device<ExecutionSpace, typename MatrixTraits<Matrix>::memory_space>;
    using Unmanaged = Kokkos::MemoryTraits<Kokkos::Unmanaged>;
    const Kokkos::View<const X*, Kokkos::LayoutLeft, device_type, Unmanaged> x_view(
        x.data, static_cast<std::size_t>(x_rows));
    const Kokkos::View<Y*, Kokkos::LayoutLeft, device_type, Unmanaged> y_view(
        y.data, static_cast<std::size_t>(y_rows));
    if constexpr (kokkos_kernels_accept_v<ExecutionSpace, Matrix, decltype(x_view), decltype(y_view)>)
      kokkos_kernels_spmv(exec, NoHandle(), mode, alpha, A, x_view, beta, y_view);
    else
      one_column(0);
  } else {
    one_column(0);
  }
}

/// Throws std::invalid_argument, with all extents, if x and y do not fit an m x n matrix and the mode, overlap,
/// or have too large a stride.
template <class XView, class YView>
void check_spmv(Mode mode, std::int64_t m, std::int64_t n, const XView& x, const YView& y) {
  const auto describe = [&]() {
    std::ostringstream text;
    text << "A is " << m << " x " << n << ", mode is " << static_cast<char>(mode) << ", x is " << x.extent(0)
         << " x " << column_count(x) << ", y is " << y.extent(0) << " x " << column_count(y);
    return text.str();
  };
  const std::int64_t x_rows = is_transpose(mode) ? m : n;
  const std::int64_t y_rows = is_transpose(mode) ? n : m;
  if (static_cast<std::int64_t>(x.extent(0)) != x_rows || static_cast<std::int64_t>(y.extent(0)) != y_rows ||
      column_count(x) != column_count(y))
    fail<std::invalid_argument>("Filigree::spmv: the extents do not fit: ", describe(), "; x must have ",
                                x_rows, " rows, y ", y_rows, " rows, and both the same number of columns.");
  check_row_stride("Filigree::spmv", "x", x);
  check_row_stride("Filigree::spmv", "y", y);
  if (aliased(x, y))
    fail<std::invalid_argument>("Filigree::spmv: x and y share memory: ", describe(),
                                "; y must not overlap x, which is read while y is written.");
}

/// spmv with a handle or NoHandle.
template <class ExecutionSpace, class Handle, class Alpha, class Matrix, class XView, class Beta, class YView>
void spmv_with_handle(const ExecutionSpace& exec, [[maybe_unused]] const Handle& handle, Mode mode,
                      const Alpha& alpha, const Matrix& A, const XView& x, const Beta& beta, const YView& y) {
  static_assert(
      MatrixTraits<Matrix>::is_matrix,
      "Filigree::spmv: A must be a matrix of a Filigree format, or a KokkosSparse CrsMatrix or BsrMatrix.");
  static_assert(Kokkos::is_view<XView>::value && Kokkos::is_view<YView>::value,
                "Filigree::spmv: x and y must be Kokkos::Views.");
  constexpr int rank = static_cast<int>(XView::rank);
  static_assert(rank == static_cast<int>(YView::rank) && (rank == 1 || rank == 2),
                "Filigree::spmv: x and y must have the same rank, 1 or 2.");
  static_assert(!std::is_const<typename YView::value_type>::value, "Filigree::spmv: y must not be const.");
  static_assert(
      Kokkos::SpaceAccessibility<ExecutionSpace, typename MatrixTraits<Matrix>::memory_space>::accessible &&
          Kokkos::SpaceAccessibility<ExecutionSpace, typename XView::memory_space>::accessible &&
          Kokkos::SpaceAccessibility<ExecutionSpace, typename YView::memory_space>::accessible,
      "Filigree::spmv: A, x and y must be in memory that the execution space can access.");
  using x_type = typename XView::non_const_value_type;
  using y_type = typename YView::non_const_value_type;
  using accumulator_type = wider_t<typename MatrixTraits<Matrix>::value_type, x_type, y_type>;
  static_assert(!std::is_integral_v<y_type>, "Filigree::spmv: the values of y must not be integers.");
  static_assert(!RealTraits<real_t<x_type>>::is_short && !RealTraits<real_t<y_type>>::is_short,
                "Filigree::spmv: x and y must not have 16-bit values. Only a matrix can store these.");
  static_assert(
      is_complex_v<y_type> || !(is_complex_v<accumulator_type> || is_complex_v<Alpha> || is_complex_v<Beta>),
      "Filigree::spmv: y must be complex if A, x, alpha or beta is.");

  static_assert(
      !is_scaled_v<Matrix> || std::is_same_v<real_t<accumulator_type>, double>,
      "Filigree::spmv: with a ScaledMatrix, x or y must be of double, because the powers need its range.");

  check_initialized("Filigree::spmv");
  check_spmv(mode, MatrixTraits<Matrix>::num_rows(A), MatrixTraits<Matrix>::num_cols(A), x, y);
  if (y.extent(0) == 0 || column_count(y) == 0) return;
  ScopedRegion region(product_names(stored_matrix(A)).spmv);

  const Product<ExecutionSpace, Matrix, x_type, y_type> product = {exec,
                                                                   mode,
                                                                   convert_scalar<accumulator_type>(alpha),
                                                                   A,
                                                                   multi_vector<XView, const x_type>(x),
                                                                   static_cast<std::int64_t>(x.extent(0)),
                                                                   convert_scalar<accumulator_type>(beta),
                                                                   multi_vector(y),
                                                                   static_cast<std::int64_t>(y.extent(0))};
  const int columns = static_cast<int>(column_count(y));
  if (product.alpha == accumulator_type(0) || MatrixTraits<Matrix>::nnz(A) == 0 || x.extent(0) == 0) {
    product.scale_y(columns);
    return;
  }

  if constexpr (is_kokkos_kernels_matrix_v<Matrix>) {
    if constexpr (kokkos_kernels_accept_v<ExecutionSpace, Matrix, XView, YView>)
      if (kokkos_kernels_are_right<Matrix>(mode, x, y)) {
        if constexpr (rank == 1 && std::is_same_v<Handle, NoHandle>)
          product.one_column_by_kokkos_kernels();
        else
          kokkos_kernels_spmv(exec, handle, mode, product.alpha, A, x, product.beta, y);
        return;
      }
  }
  if constexpr (rank == 1)
    product.one_column(0);
  else
    product.all_columns(columns);
}

}  // namespace Impl

/// y = beta*y + alpha*op(A)*x on the given execution space instance, for a matrix of any format of
/// AllFormats. The arguments are those of KokkosSparse::spmv.
///
/// @param exec   execution space instance on which the kernels are queued
/// @param mode   "N": A, "T": its transpose, "C": its conjugate, "H": its conjugate transpose; also the
///               letter as a char, or a Mode
/// @param alpha  factor of the product. If it is 0, neither A nor x is read.
/// @param A      m x n matrix
/// @param x      View of rank 1 or 2 with n rows (m in modes T and H), any layout and stride
/// @param beta   factor of y. If it is 0, y is overwritten whatever it holds.
/// @param y      View with m rows (n in modes T and H) and the rank and number of columns of x. It must not
///               share memory with x.
///
/// spmv is asynchronous: it does not fence, allocate or query the device. There are two exceptions:
/// - A CRS or BSR matrix with a Kokkos Kernels version before 4.3, whose kernels take no instance and need
///   fences.
/// - COO, HYB and the balanced CRS kernel need a workspace per instance for partial sums in modes N and C. A
///   conversion allocates it for one column of x on its instance: 40 bytes per chunk, and on CUDA a spare one
///   for a graph. A product allocates and fences exec if it is the first on another instance, of a larger
///   matrix or of more columns, if another host thread is inside of spmv on the same instance, and after a
///   capture. Outgrown workspaces are kept, in total less than four times the largest.
///   Kokkos::finalize() frees them.
///
/// Only A is read. So any number of products of one matrix may run at the same time, on several instances and
/// from several host threads, if their y do not overlap. Modes N and C give the same bits on every run. (With
/// Kokkos 3, make one product before threads start: its first launch sets up memory of its own.)
///
/// Products can be captured into a CUDA graph, which may run on any stream. If they need a workspace, they
/// get the spare one of the instance until the graph is destroyed, and the next product on the instance makes
/// another spare one. So run a product before each capture: spmv throws std::runtime_error if it would have
/// to allocate while the stream is captured.
///
/// Sums have the widest of the scalar types of A, x and y. Modes T and H of all formats but the CDS formats
/// and DIA add to y with atomics, each of which rounds to the type of y. No element of x reaches y through
/// padding, except in BSR, whose blocks are multiplied completely.
///
/// Cost: A is read once per 16 columns of x.
///
/// Throws std::invalid_argument for an unknown mode, for extents that do not fit, for rows of x or y that are
/// 2^31 bytes or more apart, and for an x that overlaps y. In these cases nothing is written. Throws
/// std::logic_error if Kokkos is not initialized, as every function that launches kernels does.
template <class ExecutionSpace, class Alpha, class Matrix, class XView, class Beta, class YView>
std::enable_if_t<Kokkos::is_execution_space<ExecutionSpace>::value> spmv(const ExecutionSpace& exec,
                                                                         const ModeArgument& mode,
                                                                         const Alpha& alpha, const Matrix& A,
                                                                         const XView& x, const Beta& beta,
                                                                         const YView& y) {
  Impl::spmv_with_handle(exec, Impl::NoHandle(), mode, alpha, A, x, beta, y);
}

/// spmv on the default instance of the execution space of A.
template <class Alpha, class Matrix, class XView, class Beta, class YView>
void spmv(const ModeArgument& mode, const Alpha& alpha, const Matrix& A, const XView& x, const Beta& beta,
          const YView& y) {
  static_assert(
      MatrixTraits<Matrix>::is_matrix,
      "Filigree::spmv: A must be a matrix of a Filigree format, or a KokkosSparse CrsMatrix or BsrMatrix.");
  Impl::check_initialized("Filigree::spmv");
  spmv(typename MatrixTraits<Matrix>::execution_space(), mode, alpha, A, x, beta, y);
}

/// The product with the arguments of KokkosSparse::spmv with a handle, so that code that has a handle only
/// needs to replace the namespace.
///
/// @param handle pointer to a KokkosSparse::SPMVHandle. With Kokkos Kernels before version 4.3, which have no
///               SPMVHandle: KokkosKernels::Experimental::Controls.
///
/// CRS and BSR matrices are multiplied by Kokkos Kernels with this handle: its algorithm, and cuSPARSE,
/// rocSPARSE or MKL if Kokkos Kernels were built with them. Its types must be those of exec, A, x and y, as
/// in KokkosSparse::spmv. If x and y have types or strides that Kokkos Kernels do not support, and for all
/// other formats, the handle is ignored. It is also ignored if the pointer is null.
///
/// All arguments are checked as without a handle, and beta = 0 overwrites y. But with a handle Kokkos Kernels
/// decide about memory, fences and the order of sums. A handle keeps data of the matrix: use it for one
/// matrix, and for one product at a time.
template <class ExecutionSpace, class Handle, class Alpha, class Matrix, class XView, class Beta, class YView>
std::enable_if_t<Kokkos::is_execution_space<ExecutionSpace>::value && Impl::is_spmv_handle_v<Handle>> spmv(
    const ExecutionSpace& exec, const Handle& handle, const ModeArgument& mode, const Alpha& alpha,
    const Matrix& A, const XView& x, const Beta& beta, const YView& y) {
  static_assert(!Impl::is_kokkos_kernels_matrix_v<Matrix> ||
                    Impl::handle_fits_v<Handle, ExecutionSpace, Matrix, XView, YView>,
                "Filigree::spmv: the SPMVHandle must have the types of the execution space, A, x and y.");
  Impl::spmv_with_handle(exec, handle, mode, alpha, A, x, beta, y);
}

/// spmv with a handle on the default instance of the execution space of A.
template <class Handle, class Alpha, class Matrix, class XView, class Beta, class YView>
std::enable_if_t<Impl::is_spmv_handle_v<Handle>> spmv(const Handle& handle, const ModeArgument& mode,
                                                      const Alpha& alpha, const Matrix& A, const XView& x,
                                                      const Beta& beta, const YView& y) {
  Impl::check_initialized("Filigree::spmv");
  spmv(typename MatrixTraits<Matrix>::execution_space(), handle, mode, alpha, A, x, beta, y);
}

}  // namespace Filigree

// Instantiates or declares the products of all precompiled formats (see core/precompiled.hpp).
#define FILIGREE_PRECOMPILE_PRODUCT(KIND, Format, Scalar, SizeType)                                      \
  KIND struct Filigree::Impl::Product<Filigree::Impl::PrecompiledSpace,                                  \
                                      Filigree::Impl::precompiled_t<Filigree::Format, Scalar, SizeType>, \
                                      Scalar, Scalar>;
#define FILIGREE_PRECOMPILE_PRODUCTS(KIND, Scalar, SizeType) \
  FILIGREE_FOR_PRECOMPILED_FORMATS(FILIGREE_PRECOMPILE_PRODUCT, KIND, Scalar, SizeType)
FILIGREE_DECLARE_PRECOMPILED(FILIGREE_PRECOMPILE_PRODUCTS)

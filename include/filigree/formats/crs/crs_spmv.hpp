// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "filigree/core/kokkos_versions.hpp"
// After the header of Kokkos, because in Kokkos Kernels 3.4 this one needs it and does not include it.
#include <KokkosSparse_spmv.hpp>

#include "filigree/formats/crs/crs_layout.hpp"
#include "filigree/product/row_product.hpp"

namespace Filigree::Impl {

/// Stands for the handle if the caller of spmv gave none.
struct NoHandle {};

/// Whether T chooses the kernel of KokkosSparse::spmv: a pointer to an SPMVHandle or, before Kokkos Kernels
/// 4.3, Controls.
template <class T>
constexpr bool is_spmv_handle_v = false;

/// Whether KokkosSparse::spmv takes the handle for these types.
template <class Handle, class ExecutionSpace, class Matrix, class XView, class YView>
constexpr bool handle_fits_v = true;

#if FILIGREE_KOKKOS_KERNELS_TAKES_HANDLE
template <class D, class A, class X, class Y>
constexpr bool is_spmv_handle_v<KokkosSparse::SPMVHandle<D, A, X, Y>*> = true;

template <class D, class A, class X, class Y, class ExecutionSpace, class Matrix, class XView, class YView>
constexpr bool handle_fits_v<KokkosSparse::SPMVHandle<D, A, X, Y>*, ExecutionSpace, Matrix, XView, YView> =
    std::is_same<typename D::execution_space, ExecutionSpace>::value&& std::is_same<A, Matrix>::value&&
        std::is_same<X, XView>::value&& std::is_same<Y, YView>::value;
#else
template <>
inline constexpr bool is_spmv_handle_v<KokkosKernels::Experimental::Controls> = true;
#endif

/// KokkosSparse::spmv of a CRS or BSR matrix on the given instance. With NoHandle or a null pointer as
/// handle, it uses Kokkos Kernels' own kernels, even if Kokkos Kernels were built with cuSPARSE, which
/// allocates on each call and does not give the same bits on each run. Versions of Kokkos Kernels that take
/// no instance run on the default instance, between two fences.
template <class ExecutionSpace, class Handle, class Matrix, class XView, class YView, class Accumulator>
void kokkos_kernels_spmv(const ExecutionSpace& exec, const Handle& handle, Mode mode,
                         const Accumulator& alpha, const Matrix& A, const XView& x, const Accumulator& beta,
                         const YView& y) {
  using coefficient_type = typename YView::non_const_value_type;
  constexpr bool has_handle = is_spmv_handle_v<Handle>;
  const char name[] = {static_cast<char>(mode), '\0'};
  const auto a = convert_scalar<coefficient_type>(alpha);
  const auto b = convert_scalar<coefficient_type>(beta);
  // In modes other than N Kokkos Kernels may multiply y by beta = 0, which keeps a NaN.
  if (mode != Mode::NoTranspose && b == coefficient_type(0))
    scale(exec, beta, multi_vector(y), static_cast<std::int64_t>(y.extent(0)), column_count(y));
#if FILIGREE_KOKKOS_KERNELS_TAKES_HANDLE
  if constexpr (has_handle)
    if (handle != nullptr) {
      KokkosSparse::spmv(exec, handle, name, a, A, x, b, y);
      return;
    }
  KokkosSparse::SPMVHandle<ExecutionSpace, Matrix, XView, YView> native(KokkosSparse::SPMV_NATIVE);
  KokkosSparse::spmv(exec, &native, name, a, A, x, b, y);
#else
  KokkosKernels::Experimental::Controls controls;
  if constexpr (has_handle)
    controls = handle;
  else
    controls.setParameter("algorithm", "native");
  exec.fence();
  KokkosSparse::spmv(controls, name, a, A, x, b, y);
  ExecutionSpace().fence();
#endif
}

/// @cond misread
/// Whether KokkosSparse::spmv compiles and sums correctly for these types. It keeps alpha in the type of A
/// and sums in the type of y, so A, x and y must have one type. Its products of rank 2 and of BSR do not
/// compile for LayoutStride. Its product of BSR compiles only for the execution space of A, and not for
/// 16-bit ordinals.
template <class ExecutionSpace, class Matrix, class XView, class YView>
constexpr bool kokkos_kernels_accept_v =
    std::is_same<ExecutionSpace, typename MatrixTraits<Matrix>::execution_space>::value&&
        std::is_same<typename MatrixTraits<Matrix>::value_type, typename XView::non_const_value_type>::value&&
            std::is_same<typename XView::non_const_value_type, typename YView::non_const_value_type>::value &&
    sizeof(typename Matrix::ordinal_type) >= sizeof(int) &&
    !std::is_same<typename XView::array_layout, Kokkos::LayoutStride>::value &&
    !std::is_same<typename YView::array_layout, Kokkos::LayoutStride>::value;
/// @endcond

/// Whether KokkosSparse::spmv computes this product correctly. On a host it assumes that a single column of x
/// or y has stride 1, and before version 3.7 its Serial kernel ignores the conjugate of mode C.
template <class Matrix, class XView, class YView>
bool kokkos_kernels_are_right(Mode mode, const XView& x, const YView& y) {
  const bool strided = column_count(x) == 1 &&
                       ((x.extent(0) > 1 && x.stride(0) != 1) || (y.extent(0) > 1 && y.stride(0) != 1));
  const bool conjugate = is_complex_v<typename MatrixTraits<Matrix>::value_type> && mode == Mode::Conjugate;
  return !strided && (FILIGREE_KOKKOS_KERNELS_CONJUGATES || !conjugate);
}

/// The lanes of a GPU that multiply a row of a CRS matrix with one column of x: as many that each has at least 48 bytes
/// of values and columns in a row of mean length, and at most 8 (see docs/performance.md, "Fused products").
template <class Crs>
int crs_lanes_per_row(const Crs& crs) {
  constexpr double bytes_per_entry = sizeof(typename Crs::value_type) + sizeof(typename Crs::ordinal_type);
  const double mean = static_cast<double>(crs.nnz()) / static_cast<double>(crs.numRows()) * bytes_per_entry;
  int lanes = 1;
  while (lanes < 8 && mean >= 2 * lanes * 48)
    lanes *= 2;
  return lanes;
}

/// The product of a CRS matrix for operands that KokkosSparse::spmv does not take, in modes T and H with atomics. On a
/// GPU one or several lanes multiply a row. The arguments are checked, and A has entries.
template <class ExecutionSpace, class S, class O, class D, class M, class Z, class Operands>
void spmv_kernel(const ExecutionSpace& exec, const std::string& name, Mode mode,
                 const KokkosSparse::CrsMatrix<S, O, D, M, Z>& crs, const Operands& operands) {
  using Layout = CrsLayout<std::remove_const_t<S>, std::remove_const_t<O>, std::remove_const_t<Z>>;
  const bool may_share_row =
      runs_on_gpu_v<ExecutionSpace> && Operands::most_columns == 1 && !is_transpose(mode);
  launch_row_product(exec, name, mode, Layout(crs, may_share_row ? crs_lanes_per_row(crs) : 1), operands,
                     static_cast<std::int64_t>(crs.numCols()));
}

}  // namespace Filigree::Impl

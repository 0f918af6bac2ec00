// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FILIGREE_FORMATS_CRS_CRS_SPMV_HPP
#define FILIGREE_FORMATS_CRS_CRS_SPMV_HPP

#include <cstdint>
#include <string>
#include <type_traits>

#include "filigree/core/kokkos_versions.hpp"
// After Kokkos' own header, which that of Kokkos Kernels 3.4 needs and does not include.
#include <KokkosSparse_spmv.hpp>

#include "filigree/conversion/check_crs.hpp"
#include "filigree/core/mode.hpp"
#include "filigree/core/region.hpp"
#include "filigree/core/scalar.hpp"
#include "filigree/formats/crs/crs_layout.hpp"
#include "filigree/formats/crs/crs_matrix.hpp"
#include "filigree/product/operands.hpp"
#include "filigree/product/row_product.hpp"

namespace Filigree {
namespace Impl {

/// KokkosSparse::spmv, of CRS and BSR, on the given instance. By Kokkos Kernels' own kernels, also where they
/// were built with cuSPARSE: that allocates on each call and does not give the same bits on each run. Kokkos
/// Kernels that take no instance run on the default one, between two fences.
template <class ExecutionSpace, class Matrix, class XView, class YView, class Accumulator>
void kokkos_kernels_spmv(const ExecutionSpace& exec, Mode mode, const Accumulator& alpha, const Matrix& A,
                         const XView& x, const Accumulator& beta, const YView& y) {
  using coefficient_type = typename YView::non_const_value_type;
  const char name[] = {static_cast<char>(mode), '\0'};
  const auto a = convert_scalar<coefficient_type>(alpha);
  const auto b = convert_scalar<coefficient_type>(beta);
  // But for mode N Kokkos Kernels may multiply y by 0 here, which keeps a NaN.
  if (mode != Mode::NoTranspose && b == coefficient_type(0))
    scale(exec, beta, multi_vector(y), static_cast<std::int64_t>(y.extent(0)), column_count(y));
#if FILIGREE_KOKKOS_KERNELS_TAKES_HANDLE
  KokkosSparse::SPMVHandle<ExecutionSpace, Matrix, XView, YView> handle(KokkosSparse::SPMV_NATIVE);
  KokkosSparse::spmv(exec, &handle, name, a, A, x, b, y);
#else
  KokkosKernels::Experimental::Controls controls;
  controls.setParameter("algorithm", "native");
  exec.fence();
  KokkosSparse::spmv(controls, name, a, A, x, b, y);
  ExecutionSpace().fence();
#endif
}

/// Whether KokkosSparse::spmv takes these types: it keeps alpha in the type of A and sums in that of y, so
/// all three must be one, its rank-2 and BSR paths do not compile for LayoutStride, nor that of BSR for
/// another execution space than that of A.
template <class ExecutionSpace, class Matrix, class XView, class YView>
constexpr bool kokkos_kernels_accept_v =
    std::is_same<ExecutionSpace, typename MatrixTraits<Matrix>::execution_space>::value&&
        std::is_same<typename MatrixTraits<Matrix>::value_type, typename XView::non_const_value_type>::value&&
            std::is_same<typename XView::non_const_value_type, typename YView::non_const_value_type>::value &&
    !std::is_same<typename XView::array_layout, Kokkos::LayoutStride>::value &&
    !std::is_same<typename YView::array_layout, Kokkos::LayoutStride>::value;

/// Whether Kokkos Kernels get a product of these types right: on a host they take the stride of a single
/// column for 1, and before 3.7 their Serial kernel multiplies by A where the mode asks for its conjugate.
template <class Matrix, class XView, class YView>
bool kokkos_kernels_are_right(Mode mode, const XView& x, const YView& y) {
  const bool strided = column_count(x) == 1 &&
                       ((x.extent(0) > 1 && x.stride(0) != 1) || (y.extent(0) > 1 && y.stride(0) != 1));
  const bool conjugate = is_complex_v<typename MatrixTraits<Matrix>::value_type> && mode == Mode::Conjugate;
  return !strided && (FILIGREE_KOKKOS_KERNELS_CONJUGATES || !conjugate);
}

/// The product of a CRS matrix where Kokkos Kernels do not get it right, everything checked and A with
/// entries: one lane a row; modes T and H with atomics.
template <class ExecutionSpace, class S, class O, class D, class M, class Z, class Operands>
void spmv_kernel(const ExecutionSpace& exec, const std::string& name, Mode mode,
                 const KokkosSparse::CrsMatrix<S, O, D, M, Z>& crs, const Operands& operands) {
  using Rows = CrsLayout<std::remove_const_t<S>, std::remove_const_t<O>, std::remove_const_t<Z>>;
  row_spmv(exec, name, mode, Rows(crs, 1), operands, static_cast<std::int64_t>(crs.numCols()));
}

}  // namespace Impl
}  // namespace Filigree

#endif

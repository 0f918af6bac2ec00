// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FILIGREE_FORMATS_CRS_CRS_SPMV_HPP
#define FILIGREE_FORMATS_CRS_CRS_SPMV_HPP

#include <KokkosSparse_spmv.hpp>

#include "filigree/core/kokkos_versions.hpp"
#include "filigree/core/mode.hpp"
#include "filigree/core/scalar.hpp"
#include "filigree/formats/crs/crs_matrix.hpp"

namespace Filigree {
namespace Impl {

/// KokkosSparse::spmv, of CRS and BSR, on the given instance. Kokkos Kernels that take none run on the
/// default instance, between two fences.
template <class ExecutionSpace, class Matrix, class XView, class YView, class Accumulator>
void kokkos_kernels_spmv(const ExecutionSpace& exec, Mode mode, const Accumulator& alpha, const Matrix& A,
                         const XView& x, const Accumulator& beta, const YView& y) {
  using coefficient_type = typename YView::non_const_value_type;
  const char name[] = {static_cast<char>(mode), '\0'};
  const auto a = narrow<coefficient_type>(alpha);
  const auto b = narrow<coefficient_type>(beta);
#if FILIGREE_KOKKOS_KERNELS_TAKES_INSTANCE
  KokkosSparse::spmv(exec, name, a, A, x, b, y);
#else
  exec.fence();
  KokkosSparse::spmv(name, a, A, x, b, y);
  ExecutionSpace().fence();
#endif
}

}  // namespace Impl
}  // namespace Filigree

#endif

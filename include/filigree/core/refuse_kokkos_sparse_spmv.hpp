// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Overloads of KokkosSparse::spmv for the formats of this library. A call of one of them does not compile,
// and the first error says what to call. Without them the first error would be somewhere inside of Kokkos
// Kernels.
//
// Each overload has the parameters of one that Kokkos Kernels have (3.4 to 5.x), except that A must be a
// class derived from MatrixBase. So it is more specialized and is preferred for these classes alone. Valid
// code cannot call it, because Kokkos Kernels multiply no such class.
#pragma once

#include "filigree/core/matrix_base.hpp"

#if __has_include(<KokkosKernels_Controls.hpp>)
#include <KokkosKernels_Controls.hpp>
#endif

namespace Filigree::Impl {

/// Exists only for classes that are derived from MatrixBase.
template <template <class, class, class, class, class> class Format, class S, class O, class D, class M,
          class Z>
using if_filigree_format =
    std::enable_if_t<std::is_base_of_v<MatrixBase<S, O, D, M, Z>, Format<S, O, D, M, Z>>, int>;

template <class Matrix>
void refuse_kokkos_sparse_spmv() {
  static_assert(
      !std::is_same_v<Matrix, Matrix>,
      "KokkosSparse::spmv cannot multiply a matrix of a Filigree format. Call Filigree::spmv with the "
      "same arguments.");
}

}  // namespace Filigree::Impl

namespace KokkosSparse {

template <class Alpha, template <class, class, class, class, class> class Format, class S, class O, class D,
          class M, class Z, class X, class Beta, class Y,
          Filigree::Impl::if_filigree_format<Format, S, O, D, M, Z> = 0>
void spmv(const char[], const Alpha&, const Format<S, O, D, M, Z>&, const X&, const Beta&, const Y&) {
  Filigree::Impl::refuse_kokkos_sparse_spmv<Format<S, O, D, M, Z>>();
}
template <class ExecutionSpace, class Alpha, template <class, class, class, class, class> class Format,
          class S, class O, class D, class M, class Z, class X, class Beta, class Y,
          std::enable_if_t<Kokkos::is_execution_space<ExecutionSpace>::value, int> = 0,
          Filigree::Impl::if_filigree_format<Format, S, O, D, M, Z> = 0>
void spmv(const ExecutionSpace&, const char[], const Alpha&, const Format<S, O, D, M, Z>&, const X&,
          const Beta&, const Y&) {
  Filigree::Impl::refuse_kokkos_sparse_spmv<Format<S, O, D, M, Z>>();
}
template <class Handle, class Alpha, template <class, class, class, class, class> class Format, class S,
          class O, class D, class M, class Z, class X, class Beta, class Y,
          Filigree::Impl::if_filigree_format<Format, S, O, D, M, Z> = 0>
void spmv(Handle*, const char[], const Alpha&, const Format<S, O, D, M, Z>&, const X&, const Beta&,
          const Y&) {
  Filigree::Impl::refuse_kokkos_sparse_spmv<Format<S, O, D, M, Z>>();
}
template <class ExecutionSpace, class Handle, class Alpha,
          template <class, class, class, class, class> class Format, class S, class O, class D, class M,
          class Z, class X, class Beta, class Y,
          Filigree::Impl::if_filigree_format<Format, S, O, D, M, Z> = 0>
void spmv(const ExecutionSpace&, Handle*, const char[], const Alpha&, const Format<S, O, D, M, Z>&, const X&,
          const Beta&, const Y&) {
  Filigree::Impl::refuse_kokkos_sparse_spmv<Format<S, O, D, M, Z>>();
}
#if __has_include(<KokkosKernels_Controls.hpp>)
// Controls are passed by value as in Kokkos Kernels, whose functions would fit better otherwise.
// NOLINTBEGIN(performance-unnecessary-value-param)
template <class Alpha, template <class, class, class, class, class> class Format, class S, class O, class D,
          class M, class Z, class X, class Beta, class Y,
          Filigree::Impl::if_filigree_format<Format, S, O, D, M, Z> = 0>
void spmv(KokkosKernels::Experimental::Controls, const char[], const Alpha&, const Format<S, O, D, M, Z>&,
          const X&, const Beta&, const Y&) {
  Filigree::Impl::refuse_kokkos_sparse_spmv<Format<S, O, D, M, Z>>();
}
template <class ExecutionSpace, class Alpha, template <class, class, class, class, class> class Format,
          class S, class O, class D, class M, class Z, class X, class Beta, class Y,
          Filigree::Impl::if_filigree_format<Format, S, O, D, M, Z> = 0>
void spmv(const ExecutionSpace&, KokkosKernels::Experimental::Controls, const char[], const Alpha&,
          const Format<S, O, D, M, Z>&, const X&, const Beta&, const Y&) {
  Filigree::Impl::refuse_kokkos_sparse_spmv<Format<S, O, D, M, Z>>();
}
// NOLINTEND(performance-unnecessary-value-param)
#endif

}  // namespace KokkosSparse

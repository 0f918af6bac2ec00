// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// expect: KokkosSparse::spmv cannot multiply a matrix of a Filigree format
#include "types.hpp"

#ifdef KOKKOSSPARSE_SPMV_HANDLE_HPP_
using Handle = KokkosSparse::SPMVHandle<ExecutionSpace, Crs, Vector, Vector>;
#else
using Handle = KokkosKernels::Experimental::Controls;
#endif

void use(const Crs& crs, const Ell& A, const Vector& x, const Vector& y) {
  Handle handle;
#ifdef KOKKOSSPARSE_SPMV_HANDLE_HPP_
  auto* const argument = &handle;
#else
  const auto& argument = handle;
#endif
#ifdef MISTAKE
  KokkosSparse::spmv(argument, "N", 1.0, A, x, 0.0, y);
#else
  Filigree::spmv(argument, "N", 1.0, A, x, 0.0, y);
#endif
  KokkosSparse::spmv(argument, "N", 1.0, crs, x, 0.0, y);
}

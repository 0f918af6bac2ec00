// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// expect: KokkosSparse::spmv cannot multiply a matrix of a Filigree format
#include "types.hpp"

void use(const ExecutionSpace& exec, const Ell& A, const Vector& x, const Vector& y) {
#ifdef MISTAKE
  KokkosSparse::spmv(exec, "N", 1.0, A, x, 0.0, y);
#else
  Filigree::spmv(exec, 'N', 1.0, A, x, 0.0, y);
#endif
}

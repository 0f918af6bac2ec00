// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// expect: cannot multiply a matrix of a Filigree format. Call Filigree::spmv with the same
#include "types.hpp"

void use(const Crs& crs, const Ell& A, const Vector& x, const Vector& y) {
#ifdef MISTAKE
  KokkosSparse::spmv("N", 1.0, A, x, 0.0, y);
#else
  Filigree::spmv("N", 1.0, A, x, 0.0, y);
#endif
  KokkosSparse::spmv("N", 1.0, crs, x, 0.0, y);
}

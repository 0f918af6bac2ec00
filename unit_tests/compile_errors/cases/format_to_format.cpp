// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// expect: call Filigree::convert<Format>(Filigree::to_crs(A))
#include "types.hpp"

void use(const Ell& ell, const Vector& x, const Vector& y) {
#ifdef MISTAKE
  auto A = Filigree::convert<Filigree::SellMatrix>(ell);
#else
  auto A = Filigree::convert<Filigree::SellMatrix>(Filigree::to_crs(ell));
#endif
  Filigree::spmv("N", 1.0, A, x, 0.0, y);
}

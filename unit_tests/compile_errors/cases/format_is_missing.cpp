// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// expect: the format is missing. Name it, for example
#include "types.hpp"

void use(const Crs& crs, const Vector& x, const Vector& y) {
#ifdef MISTAKE
  auto A = Filigree::convert(crs);
#else
  auto A = Filigree::convert<Filigree::EllMatrix>(crs, {});
#endif
  Filigree::spmv("N", 1.0, A, x, 0.0, y);
}

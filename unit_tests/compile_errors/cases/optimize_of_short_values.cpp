// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// expect: the CRS matrix must not have 16-bit values
#include "types.hpp"

#if FILIGREE_HAS_HALF
using Short = KokkosSparse::CrsMatrix<Filigree::half_t, int, Device, void, int>;

#ifdef MISTAKE
void use(const Short& crs, const Vector& x, const Vector& y) {
  const auto A = Filigree::optimize(crs);
#else
void use(const Crs& crs, const Vector& x, const Vector& y) {
  const auto A = Filigree::optimize<Filigree::half_t>(crs);
#endif
  Filigree::spmv("N", 1.0, A, x, 0.0, y);
}
#elif defined(MISTAKE)
#error \
    "the CRS matrix must not have 16-bit values: this compiler has no such type, so that nobody can make the mistake"
#endif

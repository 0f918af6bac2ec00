// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// expect: KokkosSparse::spmv cannot multiply a matrix of a Filigree format
#include "types.hpp"

template <class Matrix, class MultiVector>
void multiply(const Matrix& A, const MultiVector& x, const MultiVector& y) {
  KokkosSparse::spmv("T", 1.0, A, x, 0.0, y);
}

using Vectors = Kokkos::View<double**, Device>;
using Any = Filigree::AnyMatrix<double, int, Device, void, int>;

#ifdef MISTAKE
void use(const Any& A, const Vectors& x, const Vectors& y) {
  multiply(A, x, y);
}
#else
void use(const Crs& crs, const Vectors& x, const Vectors& y) {
  multiply(crs, x, y);
}
#endif

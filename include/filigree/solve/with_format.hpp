// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "filigree/tune/any_matrix.hpp"

namespace Filigree::Impl {

/// Calls call(A), or call(matrix) with the matrix that an AnyMatrix holds.
template <class Matrix, class Call>
void with_format(const Matrix& A, const Call& call) {
  call(A);
}
template <class S, class O, class D, class M, class Z, class Call>
void with_format(const AnyMatrix<S, O, D, M, Z>& A, const Call& call) {
  A.visit(call);
}

}  // namespace Filigree::Impl

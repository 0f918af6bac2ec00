// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <stdexcept>

#include "filigree/core/error.hpp"
#include "filigree/core/matrix_traits.hpp"

namespace Filigree::Impl {

/// Throws std::invalid_argument unless A is square.
template <class Matrix>
void check_square(const char* function, const Matrix& A) {
  using Traits = MatrixTraits<Matrix>;
  if (Traits::num_rows(A) != Traits::num_cols(A))
    fail<std::invalid_argument>(function, ": A is ", Traits::num_rows(A), " x ", Traits::num_cols(A),
                                "; it must be square.");
}

}  // namespace Filigree::Impl

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Dense systems on the host in long double. Tests compare solvers with them.
#pragma once

#include <vector>

#include "../support/reference.hpp"

namespace FiligreeTest {

/// A dense square matrix by rows.
struct Dense {
  std::size_t size = 0;
  std::vector<Wide> values;

  template <class Scalar>
  explicit Dense(const HostMatrix<Scalar>& matrix)
      : size(static_cast<std::size_t>(matrix.row_count())), values(size * size) {
    for (std::size_t row = 0; row < size; ++row)
      for (const auto& entry : matrix.rows[row])
        (*this)(row, static_cast<std::size_t>(entry.column)) += wide(entry.value);
  }
  Wide& operator()(std::size_t row, std::size_t column) { return values[row * size + column]; }
  const Wide& operator()(std::size_t row, std::size_t column) const { return values[row * size + column]; }
};

template <class Scalar>
std::vector<Wide> wide_list(const std::vector<Scalar>& list) {
  std::vector<Wide> result;
  for (const Scalar& element : list)
    result.push_back(wide(element));
  return result;
}

long double norm(const std::vector<Wide>& vector);
/// The sum of conj(a) b.
Wide dot(const std::vector<Wide>& a, const std::vector<Wide>& b);
/// a + factor * b
std::vector<Wide> sum_of(std::vector<Wide> a, const Wide& factor, const std::vector<Wide>& b);
/// A x
std::vector<Wide> dense_product(const Dense& A, const std::vector<Wide>& x);
/// b - A x
std::vector<Wide> dense_residual(const Dense& A, const std::vector<Wide>& x, std::vector<Wide> b);

/// The x with A x = b, by Gaussian elimination with row pivoting.
std::vector<Wide> solve_dense(const Dense& A, const std::vector<Wide>& b);

/// The Frobenius norm of A.
long double dense_norm(const Dense& A);
/// The Frobenius norm of A^-1. An error of x is at most this times the norm of its residual.
long double inverse_norm(const Dense& A);

}  // namespace FiligreeTest

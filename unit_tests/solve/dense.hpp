// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Dense systems on the host in long double. Tests compare solvers with them.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "../support/product.hpp"

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

inline long double norm(const std::vector<Wide>& vector) {
  long double sum = 0;
  for (const Wide& element : vector)
    sum += std::norm(element);
  return std::sqrt(sum);
}

template <class Scalar>
std::vector<Wide> wide_list(const std::vector<Scalar>& list) {
  std::vector<Wide> result;
  for (const Scalar& element : list)
    result.push_back(wide(element));
  return result;
}

/// b - A x
inline std::vector<Wide> dense_residual(const Dense& A, const std::vector<Wide>& x, std::vector<Wide> b) {
  for (std::size_t row = 0; row < A.size; ++row)
    for (std::size_t column = 0; column < A.size; ++column)
      b[row] -= A(row, column) * x[column];
  return b;
}

/// The sum of conj(a) b.
inline Wide dot(const std::vector<Wide>& a, const std::vector<Wide>& b) {
  Wide sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i)
    sum += std::conj(a[i]) * b[i];
  return sum;
}
/// a + factor * b
inline std::vector<Wide> sum_of(std::vector<Wide> a, const Wide& factor, const std::vector<Wide>& b) {
  for (std::size_t i = 0; i < a.size(); ++i)
    a[i] += factor * b[i];
  return a;
}
/// A x
inline std::vector<Wide> dense_product(const Dense& A, const std::vector<Wide>& x) {
  return sum_of(std::vector<Wide>(A.size), -1, dense_residual(A, x, std::vector<Wide>(A.size)));
}

/// The x with A x = b, by Gaussian elimination with row pivoting.
inline std::vector<Wide> solve_dense(Dense A, std::vector<Wide> b) {
  for (std::size_t k = 0; k < A.size; ++k) {
    std::size_t pivot = k;
    for (std::size_t row = k + 1; row < A.size; ++row)
      if (std::abs(A(row, k)) > std::abs(A(pivot, k))) pivot = row;
    for (std::size_t column = 0; column < A.size; ++column)
      std::swap(A(k, column), A(pivot, column));
    std::swap(b[k], b[pivot]);
    for (std::size_t row = k + 1; row < A.size; ++row) {
      const Wide factor = A(row, k) / A(k, k);
      if (factor == Wide(0)) continue;
      for (std::size_t column = k; column < A.size; ++column)
        A(row, column) -= factor * A(k, column);
      b[row] -= factor * b[k];
    }
  }
  for (std::size_t k = A.size; k-- > 0;) {
    for (std::size_t column = k + 1; column < A.size; ++column)
      b[k] -= A(k, column) * b[column];
    b[k] /= A(k, k);
  }
  return b;
}

/// The Frobenius norm of A.
inline long double dense_norm(const Dense& A) {
  return norm(A.values);
}

/// The Frobenius norm of A^-1. An error of x is at most this times the norm of its residual.
inline long double inverse_norm(const Dense& A) {
  long double sum = 0;
  for (std::size_t column = 0; column < A.size; ++column) {
    std::vector<Wide> unit(A.size);
    unit[column] = 1;
    sum += std::pow(norm(solve_dense(A, unit)), 2.0L);
  }
  return std::sqrt(sum);
}

}  // namespace FiligreeTest

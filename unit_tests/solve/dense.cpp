// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dense.hpp"

#include <cmath>
#include <utility>

namespace FiligreeTest {
namespace {

using Rows = std::vector<std::vector<Wide>>;

/// The X with A X = B, by Gaussian elimination with row pivoting.
Rows solve_systems(const Dense& A, const Rows& B) {
  // The rows of A, each with that of B behind it.
  Rows rows(A.size);
  for (std::size_t row = 0; row < A.size; ++row) {
    for (std::size_t column = 0; column < A.size; ++column)
      rows[row].push_back(A(row, column));
    rows[row].insert(rows[row].end(), B[row].begin(), B[row].end());
  }
  const auto subtract = [](std::vector<Wide>& from, const Wide& factor, const std::vector<Wide>& row,
                           std::size_t first) {
    if (factor == Wide(0)) return;
    for (std::size_t column = first; column < row.size(); ++column)
      from[column] -= factor * row[column];
  };
  for (std::size_t k = 0; k < A.size; ++k) {
    std::size_t pivot = k;
    for (std::size_t row = k + 1; row < A.size; ++row)
      if (std::norm(rows[row][k]) > std::norm(rows[pivot][k])) pivot = row;
    std::swap(rows[k], rows[pivot]);
    for (std::size_t row = k + 1; row < A.size; ++row)
      subtract(rows[row], rows[row][k] / rows[k][k], rows[k], k);
  }
  for (std::size_t k = A.size; k-- > 0;) {
    for (std::size_t column = k + 1; column < A.size; ++column)
      subtract(rows[k], rows[k][column], rows[column], A.size);
    for (std::size_t column = A.size; column < rows[k].size(); ++column)
      rows[k][column] /= rows[k][k];
  }
  for (auto& row : rows)
    row.erase(row.begin(), row.begin() + static_cast<std::ptrdiff_t>(A.size));
  return rows;
}

}  // namespace

long double norm(const std::vector<Wide>& vector) {
  long double sum = 0;
  for (const Wide& element : vector)
    sum += std::norm(element);
  return std::sqrt(sum);
}

Wide dot(const std::vector<Wide>& a, const std::vector<Wide>& b) {
  Wide sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i)
    sum += std::conj(a[i]) * b[i];
  return sum;
}

std::vector<Wide> sum_of(std::vector<Wide> a, const Wide& factor, const std::vector<Wide>& b) {
  for (std::size_t i = 0; i < a.size(); ++i)
    a[i] += factor * b[i];
  return a;
}

std::vector<Wide> dense_product(const Dense& A, const std::vector<Wide>& x) {
  return sum_of(std::vector<Wide>(A.size), -1, dense_residual(A, x, std::vector<Wide>(A.size)));
}

std::vector<Wide> dense_residual(const Dense& A, const std::vector<Wide>& x, std::vector<Wide> b) {
  for (std::size_t row = 0; row < A.size; ++row)
    for (std::size_t column = 0; column < A.size; ++column)
      b[row] -= A(row, column) * x[column];
  return b;
}

std::vector<Wide> solve_dense(const Dense& A, const std::vector<Wide>& b) {
  Rows right;
  for (const Wide& element : b)
    right.push_back({element});
  std::vector<Wide> x;
  for (const auto& row : solve_systems(A, right))
    x.push_back(row[0]);
  return x;
}

long double dense_norm(const Dense& A) {
  return norm(A.values);
}

long double inverse_norm(const Dense& A) {
  Rows identity(A.size, std::vector<Wide>(A.size));
  for (std::size_t row = 0; row < A.size; ++row)
    identity[row][row] = 1;
  long double sum = 0;
  for (const auto& row : solve_systems(A, identity))
    sum += std::pow(norm(row), 2.0L);
  return std::sqrt(sum);
}

}  // namespace FiligreeTest

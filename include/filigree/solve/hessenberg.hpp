// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cmath>
#include <vector>

#include "filigree/solve/real_part.hpp"

namespace Filigree::Impl {

/// The least-squares problem of one cycle of GMRES, on the host: the smallest |rhs e_0 - H y| for a Hessenberg matrix H
/// that grows by one column per iteration. Givens rotations make H triangular. T is double or complex<double>.
template <class T>
class HessenbergLeastSquares {
 public:
  explicit HessenbergLeastSquares(int most_columns)
      : m_most(static_cast<std::size_t>(most_columns)),
        m_triangle((m_most + 1) * m_most),
        m_rhs(m_most + 1),
        m_cosines(m_most),
        m_sines(m_most) {}

  /// Begins a new problem without columns.
  void begin(double rhs) {
    m_count = 0;
    m_rhs[0] = T(rhs);
  }
  /// The element of the next column that belongs to the given row. The next column has columns() + 2 elements.
  T& element(int row) { return m_triangle[m_count * (m_most + 1) + static_cast<std::size_t>(row)]; }
  /// The number of columns.
  int columns() const { return static_cast<int>(m_count); }

  /// Adds the column that element() has written. The last of its elements must be real. Adds nothing and returns
  /// false if the column depends on those before it, up to `rounding`.
  bool add_column(double rounding) {
    T* const column = &m_triangle[m_count * (m_most + 1)];
    for (std::size_t i = 0; i < m_count; ++i)
      rotate(i, column[i], column[i + 1]);
    const T diagonal = column[m_count];
    const double below = real_part(column[m_count + 1]);
    const double size = static_cast<double>(magnitude(diagonal));
    const double length = std::hypot(size, below);
    if (!(length > rounding)) return false;
    m_cosines[m_count] = size / length;
    m_sines[m_count] = size == 0 ? T(1) : T(diagonal * (below / length / size));
    column[m_count] = size == 0 ? T(length) : T(diagonal * (length / size));
    m_rhs[m_count + 1] = T(0);
    rotate(m_count, m_rhs[m_count], m_rhs[m_count + 1]);
    ++m_count;
    return true;
  }
  /// The smallest |rhs e_0 - H y|.
  double residual() const { return static_cast<double>(magnitude(m_rhs[m_count])); }
  /// Writes the y with the smallest residual to y[0] to y[columns() - 1].
  void solve(T* y) const {
    for (std::size_t i = m_count; i-- > 0;) {
      T sum = m_rhs[i];
      for (std::size_t j = i + 1; j < m_count; ++j)
        sum -= m_triangle[j * (m_most + 1) + i] * y[j];
      y[i] = sum / m_triangle[i * (m_most + 1) + i];
    }
  }

 private:
  /// Applies rotation i to the elements i and i + 1 of a column.
  void rotate(std::size_t i, T& upper, T& lower) const {
    const T turned = T(m_cosines[i]) * upper + m_sines[i] * lower;
    lower = T(m_cosines[i]) * lower - conjugate_if<true>(m_sines[i]) * upper;
    upper = turned;
  }

  std::size_t m_most;
  std::size_t m_count = 0;
  std::vector<T> m_triangle;  ///< by columns
  std::vector<T> m_rhs;
  std::vector<double> m_cosines;
  std::vector<T> m_sines;
};

}  // namespace Filigree::Impl

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "filigree/solve/inverse_diagonal_kernels.hpp"
#include "filigree/solve/real_part.hpp"

namespace Filigree::Impl {

/// A small square matrix.
template <class T, int N>
struct SmallMatrix {
  T elements[N][N];

  KOKKOS_FORCEINLINE_FUNCTION T& operator()(int i, int j) { return elements[i][j]; }
  KOKKOS_FORCEINLINE_FUNCTION const T& operator()(int i, int j) const { return elements[i][j]; }
};

template <class T, int N>
KOKKOS_INLINE_FUNCTION SmallMatrix<T, N> product_of(const SmallMatrix<T, N>& a, const SmallMatrix<T, N>& b) {
  SmallMatrix<T, N> result;
  for (int i = 0; i < N; ++i)
    for (int j = 0; j < N; ++j) {
      T sum(0);
      for (int k = 0; k < N; ++k)
        sum += a(i, k) * b(k, j);
      result(i, j) = sum;
    }
  return result;
}

/// The elements of a triangle with its diagonal.
template <int N>
constexpr int triangle_size = N*(N + 1) / 2;

/// The Cholesky decomposition G = U^H U of a positive semidefinite Hermitian matrix, and the inverse of U. If a column
/// depends on those before it, up to rounding, its row of U and its row and column of the inverse are 0.
template <class T, int N>
struct SmallCholesky {
  SmallMatrix<T, N> upper;
  SmallMatrix<T, N> inverse;
  int rank = 0;
  bool is_finite = true;
  bool is_semidefinite = true;

  /// `triangle` has the elements (i, j) with i <= j of G by rows. `rounding` is the part of a diagonal element that
  /// rounding can make.
  KOKKOS_INLINE_FUNCTION SmallCholesky(const T* triangle, real_t<T> rounding) {
    bool is_kept[N];
    int at = 0;
    for (int k = 0; k < N; ++k) {
      const real_t<T> diagonal = real_part(triangle[at]);
      real_t<T> pivot = diagonal;
      for (int i = 0; i < k; ++i)
        pivot -= real_part(T(conjugate_if<true>(upper(i, k)) * upper(i, k)));
      is_kept[k] = pivot > rounding * diagonal;
      is_finite = is_finite && is_finite_number(diagonal);
      is_semidefinite = is_semidefinite && diagonal >= 0 && pivot >= -rounding * diagonal;
      rank += is_kept[k] ? 1 : 0;
      const real_t<T> root = is_kept[k] ? square_root(pivot) : real_t<T>(1);
      for (int j = 0; j < N; ++j) {
        upper(k, j) = T(0);
        inverse(k, j) = T(0);
        if (j < k) continue;
        T sum = triangle[at++];
        is_finite = is_finite && is_finite_number(sum);
        for (int i = 0; i < k; ++i)
          sum -= conjugate_if<true>(upper(i, k)) * upper(i, j);
        if (is_kept[k]) upper(k, j) = j == k ? T(root) : T(sum / root);
      }
    }
    for (int j = 0; j < N; ++j) {
      if (!is_kept[j]) continue;
      inverse(j, j) = T(1) / upper(j, j);
      for (int k = j - 1; k >= 0; --k) {
        if (!is_kept[k]) continue;
        T sum(0);
        for (int i = k + 1; i <= j; ++i)
          sum += upper(k, i) * inverse(i, j);
        inverse(k, j) = T(-sum / upper(k, k));
      }
    }
  }
};

}  // namespace Filigree::Impl

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The kernels of block conjugate gradients. Their numbers are those of block_conjugate_gradients.hpp.
#pragma once

#include "filigree/solve/inverse_diagonal_kernels.hpp"
#include "filigree/solve/real_part.hpp"
#include "filigree/solve/row_kernel.hpp"
#include "filigree/solve/small_matrix.hpp"
#include "filigree/solve/solver.hpp"

namespace Filigree::Impl {

/// The products conj(a_i) b_j with i <= j of one row, by rows of the triangle.
template <int N, class T, int Count>
KOKKOS_FORCEINLINE_FUNCTION void add_gram(const T (&a)[N], const T (&b)[N], int first, Sums<T, Count>& sums) {
  int at = first;
  FILIGREE_UNROLL(8)
  for (int i = 0; i < N; ++i)
    FILIGREE_UNROLL(8)
  for (int j = i; j < N; ++j)
    sums[at++] += conjugate_if<true>(a[i]) * b[j];
}

/// The numbers of one iteration on the device.
template <class T, int N>
struct BlockNumbers {
  Sums<T, triangle_size<N>> curvature;     ///< P^H W
  Sums<T, N + triangle_size<N>> residual;  ///< before the iteration: the squares of the norms, and Q^H M^-1 Q
  Sums<T, triangle_size<N>> gram;          ///< the latter, if M^-1 does not work element by element
  SolverEnd end = no_end;                  ///< why it cannot begin; no_end if it can
  SolverEnd step_end = no_end;             ///< the same for the change of X
  KOKKOS_FORCEINLINE_FUNCTION bool is_active() const { return end == no_end && step_end == no_end; }
};

/// The small matrices on the device.
template <class T, int N>
struct BlockState {
  SmallMatrix<T, N> s, alpha, alpha_s, rho, inverse_rho;
};

/// A row of the vectors of all columns.
template <class V, int N>
struct alignas(N * sizeof(V) % 16 == 0 ? 16 : alignof(V)) BlockRow {
  V elements[N];

  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION void copy_to(T (&wide)[N]) const {
    FILIGREE_UNROLL(8)
    for (int i = 0; i < N; ++i)
      wide[i] = T(widen<T>(elements[i]));
  }
};

/// result += row * factor
template <class T, int N>
KOKKOS_FORCEINLINE_FUNCTION void add_product(const T (&row)[N], const SmallMatrix<T, N>& factor,
                                             T (&result)[N]) {
  FILIGREE_UNROLL(8)
  for (int i = 0; i < N; ++i)
    FILIGREE_UNROLL(8)
  for (int j = 0; j < N; ++j)
    result[j] += row[i] * factor(i, j);
}

/// Kernel 2, and Q^H Z: a^H b.
template <class T, class V, int N>
struct BlockGram {
  static constexpr int rows_per_lane = 1;
  const BlockRow<V, N>* a;
  const BlockRow<V, N>* b;

  struct Loaded {
    BlockRow<V, N> a, b;
  };
  KOKKOS_FORCEINLINE_FUNCTION NoPartial common() const { return {}; }
  KOKKOS_FORCEINLINE_FUNCTION Loaded load(const std::int64_t row) const { return {a[row], b[row]}; }
  KOKKOS_FORCEINLINE_FUNCTION void finish(NoPartial, std::int64_t, const Loaded& loaded,
                                          Sums<T, triangle_size<N>>& sums) const {
    T left[N], right[N];
    loaded.a.copy_to(left);
    loaded.b.copy_to(right);
    add_gram<N>(left, right, 0, sums);
  }
};

/// Kernel 3. It also begins the method, with Q = R and S = I: then nothing changes.
template <class T, class V, class X, int N, class Inverse>
struct BlockStep {
  static constexpr int rows_per_lane = 1;
  MultiVector<X> x;
  BlockRow<V, N>* q;
  const BlockRow<V, N>* p;
  const BlockRow<V, N>* w;
  const BlockState<T, N>* state;
  const BlockNumbers<T, N>* numbers;  ///< of this iteration; nullptr at the beginning
  Inverse inverse;

  struct Loaded {
    BlockRow<V, N> q, p, w;
    typename Inverse::factor_type factor;
  };
  /// Whether the kernel contributes to the sums.
  KOKKOS_FORCEINLINE_FUNCTION bool common() const { return numbers == nullptr || numbers->is_active(); }
  KOKKOS_FORCEINLINE_FUNCTION Loaded load(const std::int64_t row) const {
    const bool begins = numbers == nullptr;
    return {q[row], begins ? q[row] : p[row], begins ? q[row] : w[row], inverse.factor(row)};
  }
  KOKKOS_FORCEINLINE_FUNCTION void finish(bool is_active, const std::int64_t row, const Loaded& loaded,
                                          Sums<T, N + triangle_size<N>>& sums) const {
    if (!is_active) return;
    T wide_q[N];
    loaded.q.copy_to(wide_q);
    T residual[N];
    FILIGREE_UNROLL(8)
    for (int j = 0; j < N; ++j)
      residual[j] = numbers == nullptr ? wide_q[j] : T(0);
    if (numbers != nullptr) {
      T direction[N], change[N];
      loaded.p.copy_to(direction);
      FILIGREE_UNROLL(8)
      for (int j = 0; j < N; ++j)
        change[j] = T(widen<T>(x(row, j)));
      add_product(direction, state->alpha_s, change);
      FILIGREE_UNROLL(8)
      for (int j = 0; j < N; ++j) {
        x(row, j) = convert_scalar<X>(change[j]);
        change[j] = T(0);
      }
      loaded.w.copy_to(direction);
      add_product(direction, state->alpha, change);
      BlockRow<V, N> stored;
      FILIGREE_UNROLL(8)
      for (int j = 0; j < N; ++j)
        stored.elements[j] = convert_scalar<V>(T(wide_q[j] - change[j]));
      q[row] = stored;
      stored.copy_to(wide_q);
      add_product(wide_q, state->s, residual);
    }
    T z[N];
    FILIGREE_UNROLL(8)
    for (int j = 0; j < N; ++j) {
      sums[j] += conjugate_if<true>(residual[j]) * residual[j];
      z[j] = T(inverse.apply(loaded.factor, wide_q[j]));
    }
    add_gram<N>(wide_q, z, N, sums);
  }
};

/// Kernel 4. It also begins the method: then there is no P. `z` is nullptr if M^-1 works element by element.
template <class T, class V, int N, class Inverse>
struct BlockDirection {
  static constexpr int rows_per_lane = 1;
  BlockRow<V, N>* q;
  BlockRow<V, N>* p;
  const BlockRow<V, N>* z;
  const BlockState<T, N>* state;
  const BlockNumbers<T, N>* next;
  bool begins;
  Inverse inverse;

  struct Loaded {
    BlockRow<V, N> q, p, z;
    typename Inverse::factor_type factor;
  };
  KOKKOS_FORCEINLINE_FUNCTION bool common() const { return next->end == no_end; }
  KOKKOS_FORCEINLINE_FUNCTION Loaded load(const std::int64_t row) const {
    return {q[row], begins ? q[row] : p[row], z != nullptr ? z[row] : q[row], inverse.factor(row)};
  }
  KOKKOS_FORCEINLINE_FUNCTION void finish(bool is_active, const std::int64_t row, const Loaded& loaded,
                                          NoPartial&) const {
    if (!is_active) return;
    T old[N], wide_q[N] = {}, direction[N] = {};
    loaded.q.copy_to(old);
    add_product(old, state->inverse_rho, wide_q);
    if (z != nullptr) {
      loaded.z.copy_to(old);
      add_product(old, state->inverse_rho, direction);
    }
    loaded.p.copy_to(old);
    BlockRow<V, N> stored_q, stored_p;
    FILIGREE_UNROLL(8)
    for (int j = 0; j < N; ++j) {
      stored_q.elements[j] = convert_scalar<V>(wide_q[j]);
      if (z == nullptr) direction[j] = T(inverse.apply(loaded.factor, wide_q[j]));
      if (!begins) {
        FILIGREE_UNROLL(8)
        for (int i = 0; i < N; ++i)
          direction[j] += old[i] * conjugate_if<true>(state->rho(j, i));
      }
      stored_p.elements[j] = convert_scalar<V>(direction[j]);
    }
    q[row] = stored_q;
    p[row] = stored_p;
  }
};

/// The part of a Gram matrix's diagonal that rounding of vectors of type V can make.
template <class T, class V, int N>
constexpr real_t<T> gram_rounding = 16 * N* std::numeric_limits<real_t<V>>::epsilon();

/// alpha = (P^H W)^-1 and alpha S. One lane.
template <class T, class V, int N>
struct BlockAlpha {
  BlockState<T, N>* state;
  BlockNumbers<T, N>* numbers;
  real_t<T> rounding;

  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t) const {
    numbers->step_end = no_end;
    if (!numbers->is_active()) return;
    const SmallCholesky<T, N> cholesky(numbers->curvature.values, rounding);
    if (!cholesky.is_finite)
      numbers->step_end = SolverEnd::not_finite;
    else if (!cholesky.is_semidefinite || cholesky.rank == 0)
      numbers->step_end = SolverEnd::breakdown;
    SmallMatrix<T, N> adjoint;
    for (int i = 0; i < N; ++i)
      for (int j = 0; j < N; ++j)
        adjoint(i, j) = conjugate_if<true>(cholesky.inverse(j, i));
    state->alpha = product_of(cholesky.inverse, adjoint);
    state->alpha_s = product_of(state->alpha, state->s);
  }
};

/// rho and S, and whether the next iteration can begin. One lane.
template <class T, class V, int N>
struct BlockRho {
  BlockState<T, N>* state;
  const BlockNumbers<T, N>* numbers;  ///< of the iteration before; nullptr at the beginning
  BlockNumbers<T, N>* next;
  Sums<real_t<T>, N> limits;  ///< the squares of the largest residuals that are small enough
  real_t<T> rounding;
  bool is_elementwise;

  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t) const {
    next->end = no_end;
    if (numbers != nullptr && !numbers->is_active()) {
      next->end = numbers->end != no_end ? numbers->end : numbers->step_end;
      return;
    }
    const SmallCholesky<T, N> cholesky(is_elementwise ? next->residual.values + N : next->gram.values,
                                       rounding);
    bool is_small = true, is_finite = cholesky.is_finite;
    for (int j = 0; j < N; ++j) {
      is_small = is_small && real_part(next->residual[j]) <= limits[j];
      is_finite = is_finite && is_finite_number(next->residual[j]);
    }
    if (!is_finite)
      next->end = SolverEnd::not_finite;
    else if (is_small)
      next->end = SolverEnd::converged;
    else if (!cholesky.is_semidefinite || cholesky.rank == 0)
      next->end = SolverEnd::breakdown;
    state->rho = cholesky.upper;
    state->inverse_rho = cholesky.inverse;
    state->s = numbers == nullptr ? cholesky.upper : product_of(cholesky.upper, state->s);
  }
};

/// The squares of the norms of the columns of b.
template <class T, class B, int N>
struct BlockNorms {
  static constexpr int rows_per_lane = 1;
  MultiVector<const B> b;
  KOKKOS_FORCEINLINE_FUNCTION NoPartial common() const { return {}; }
  KOKKOS_FORCEINLINE_FUNCTION NoPartial load(std::int64_t) const { return {}; }
  KOKKOS_FORCEINLINE_FUNCTION void finish(NoPartial, const std::int64_t row, NoPartial,
                                          Sums<T, N>& sums) const {
    FILIGREE_UNROLL(8)
    for (int j = 0; j < N; ++j) {
      const T wide = T(widen<T>(b(row, j)));
      sums[j] += conjugate_if<true>(wide) * wide;
    }
  }
};

}  // namespace Filigree::Impl

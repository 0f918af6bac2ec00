// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Conjugate gradients for several right-hand sides. The residuals of all columns are R = Q S with Q^H M^-1 Q = I and a
// small square matrix S, so that columns that are nearly dependent do no harm. An iteration has these kernels over the
// rows:
//
//   1. W = A P                                                       reads A, P; writes W
//   2. P^H W                                                         reads P, W
//   3. X = X + P alpha S; Q = Q - W alpha; norms of Q S; Q^H M^-1 Q   reads X, P, Q, W; writes X, Q
//   4. Q = Q rho^-1; P = M^-1 Q + P rho^H                            reads Q, P; writes Q, P
//
// and two kernels of one lane: after 2, alpha = (P^H W)^-1; after 3, rho with Q^H M^-1 Q = rho^H rho, and S = rho S. If
// M^-1 does not work element by element, Z = M^-1 Q and Q^H Z come after 3.
#pragma once

#include <array>
#include <cmath>

#include "filigree/solve/krylov_method.hpp"

namespace Filigree {
namespace Impl {

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

/// The numbers of one iteration on the device.
template <class T, int N>
struct BlockNumbers {
  Sums<T, triangle_size<N>> curvature;     ///< P^H W
  Sums<T, N + triangle_size<N>> residual;  ///< before the iteration: the squares of the norms, and Q^H M^-1 Q
  Sums<T, triangle_size<N>> gram;          ///< the latter, if M^-1 does not work element by element
  SolverEnd end = SolverEnd::most_iterations;       ///< why it cannot begin; most_iterations if it can
  SolverEnd step_end = SolverEnd::most_iterations;  ///< the same for the change of X
  KOKKOS_FORCEINLINE_FUNCTION bool is_active() const {
    return end == SolverEnd::most_iterations && step_end == SolverEnd::most_iterations;
  }
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
  KOKKOS_FORCEINLINE_FUNCTION bool common() const { return next->end == SolverEnd::most_iterations; }
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
    numbers->step_end = SolverEnd::most_iterations;
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
    next->end = SolverEnd::most_iterations;
    if (numbers != nullptr && !numbers->is_active()) {
      next->end = numbers->end != SolverEnd::most_iterations ? numbers->end : numbers->step_end;
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

}  // namespace Impl

/// What a solver for several right-hand sides reports: one result per column.
template <int Columns>
using BlockSolverResult = std::array<SolverResult, Columns>;

/// Block conjugate gradients for A X = B with several right-hand sides, which are the columns of B: A is read once per
/// iteration for all of them, and each column uses the directions of all. So it needs fewer iterations than
/// ConjugateGradients for each column. A and the preconditioner must be Hermitian positive definite.
///
/// It iterates until the residuals of all columns are small enough. Columns that are dependent, or become so, are found
/// by their dot products, and share their directions. A number in B that is not finite ends the method for all columns.
///
/// The constructor allocates three vectors per column, a fourth one if the preconditioner is not elementwise, and some
/// numbers. solve() allocates nothing on the device but the workspaces of the first call on an instance (see spmv()).
/// Every run gives the same bits; on a host that needs the same number of threads. Besides A, an iteration reads nine
/// vectors per column and writes five. A diagonal preconditioner is read twice.
///
/// Source: O'Leary 1980, "The block conjugate gradient algorithm and related methods", Linear Algebra Appl. 29; with
/// orthonormal residuals: Dubrulle 2001, "Retooling the method of block conjugate gradients", ETNA 12, algorithm BCGrQ.
///
/// @tparam Columns number of right-hand sides, 1 to 8
template <class ExecutionSpace, class Matrix, int Columns, class Preconditioner = NoPreconditioner>
class BlockConjugateGradients
    : public Impl::KrylovMethod<ExecutionSpace, Matrix, Preconditioner, SolverOptions> {
  using base = Impl::KrylovMethod<ExecutionSpace, Matrix, Preconditioner, SolverOptions>;
  static_assert(
      Columns >= 1 && Columns <= 8,
      "Filigree::BlockConjugateGradients: Columns must be 1 to 8; solve for more in several calls.");

 public:
  using typename base::device_type;
  using typename base::number_type;
  using typename base::vector_scalar;
  /// The results of all columns.
  using result_type = BlockSolverResult<Columns>;

  /// See ConjugateGradients.
  BlockConjugateGradients(const ExecutionSpace& exec, const Matrix& A,
                          const Preconditioner& preconditioner = {}, const SolverOptions& options = {})
      : base("Filigree::BlockConjugateGradients", "block_cg", exec, A, preconditioner, options) {
    const auto rows = static_cast<std::size_t>(this->rows());
    m_q = rows_type(this->uninitialized("q"), rows);
    m_p = rows_type(this->uninitialized("p"), rows);
    m_w = rows_type(this->uninitialized("w"), rows);
    if (!is_elementwise) m_z = rows_type(this->uninitialized("z"), rows);
    m_state = state_type(this->initialized("state"));
    m_norms_of_b = norms_type(this->initialized("norms_of_b"));
    m_numbers = numbers_type(this->initialized("numbers"), this->ring());
    m_host_numbers = Kokkos::create_mirror(m_numbers);
    m_host_norms_of_b = Kokkos::create_mirror(m_norms_of_b);
  }

  /// Solves A X = B, beginning with the given X. Fences the instance once per iterations_per_check iterations.
  ///
  /// @param b View of rank 2 with one row per row of A and Columns columns, any layout
  /// @param x View of the same extents
  ///
  /// The members of the results are those of ConjugateGradients, for each column. All have the same number of
  /// iterations.
  ///
  /// Throws std::invalid_argument if b or x has other extents, or if they overlap.
  template <class BView, class XView>
  result_type solve(const BView& b, const XView& x) const;

 private:
  using base::is_elementwise;
  using base::m_A;
  using base::m_exec;
  using base::m_options;
  using base::m_preconditioner;
  using typename base::real_type;
  using Numbers = Impl::BlockNumbers<number_type, Columns>;
  using State = Impl::BlockState<number_type, Columns>;
  using Row = Impl::BlockRow<vector_scalar, Columns>;
  using Limits = Sums<real_type, Columns>;
  using rows_type = Kokkos::View<Row*, device_type>;
  using state_type = Kokkos::View<State, device_type>;
  using numbers_type = Kokkos::View<Numbers*, device_type>;
  using norms_type = Kokkos::View<Sums<number_type, Columns>, device_type>;
  template <class View>
  using mirror_type = typename base::template mirror_type<View>;
  using columns_type = Kokkos::View<vector_scalar**, Kokkos::LayoutRight, device_type,
                                    Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
  static constexpr real_type rounding = Impl::gram_rounding<number_type, vector_scalar, Columns>;

  static columns_type columns_of(const rows_type& rows) {
    return columns_type(reinterpret_cast<vector_scalar*>(rows.data()), rows.extent(0), Columns);
  }
  Numbers* numbers(int iteration) const { return m_numbers.data() + this->slot(iteration); }
  template <class Kernel>
  void run_one_lane(const std::string& name, const Kernel& kernel) const {
    Kokkos::parallel_for(name, Impl::row_range<void>(m_exec, 1), kernel);
  }
  template <class XView>
  void queue_step(const XView& x, const Numbers* now, Numbers* next, const Limits& limits) const;
  template <class XView>
  void queue_iteration(const XView& x, Numbers* now, Numbers* next, const Limits& limits) const;
  template <class XView>
  SolverEnd run_cycle(const XView& x, const Limits& limits, result_type& results) const;
  /// Stores Q = B - A X, and the norms in the results.
  template <class BView, class XView>
  void begin(const BView& b, const XView& x, result_type& results) const;

  rows_type m_q, m_p, m_w, m_z;
  state_type m_state;
  norms_type m_norms_of_b;
  numbers_type m_numbers;
  mirror_type<numbers_type> m_host_numbers;
  mirror_type<norms_type> m_host_norms_of_b;
};

/// Kernels 3 and 4, with what follows them.
template <class ExecutionSpace, class Matrix, int Columns, class Preconditioner>
template <class XView>
void BlockConjugateGradients<ExecutionSpace, Matrix, Columns, Preconditioner>::queue_step(
    const XView& x, const Numbers* now, Numbers* next, const Limits& limits) const {
  static const std::string step_name = "Filigree::block_cg_step[vector]";
  static const std::string gram_name = "Filigree::block_cg_gram[vector]";
  static const std::string rho_name = "Filigree::block_cg_rho[vector]";
  static const std::string direction_name = "Filigree::block_cg_direction[vector]";
  using T = number_type;
  using V = vector_scalar;
  using X = typename XView::value_type;
  using Inverse = decltype(this->inverse());
  const std::int64_t rows = this->rows();
  Impl::reduce_rows(
      m_exec, step_name, rows,
      Impl::BlockStep<T, V, X, Columns, Inverse>{Impl::multi_vector(x), m_q.data(), m_p.data(), m_w.data(),
                                                 m_state.data(), now, this->inverse()},
      &next->residual);
  if constexpr (!is_elementwise) {
    for (int column = 0; column < Columns; ++column)
      m_preconditioner.apply(m_exec, Kokkos::subview(columns_of(m_q), Kokkos::ALL(), column),
                             Kokkos::subview(columns_of(m_z), Kokkos::ALL(), column));
    Impl::reduce_rows(m_exec, gram_name, rows, Impl::BlockGram<T, V, Columns>{m_q.data(), m_z.data()},
                      &next->gram);
  }
  run_one_lane(rho_name,
               Impl::BlockRho<T, V, Columns>{m_state.data(), now, next, limits, rounding, is_elementwise});
  Impl::for_rows(
      m_exec, direction_name, rows,
      Impl::BlockDirection<T, V, Columns, Inverse>{m_q.data(), m_p.data(), m_z.data(), m_state.data(), next,
                                                   now == nullptr, this->inverse()});
}

template <class ExecutionSpace, class Matrix, int Columns, class Preconditioner>
template <class XView>
void BlockConjugateGradients<ExecutionSpace, Matrix, Columns, Preconditioner>::queue_iteration(
    const XView& x, Numbers* now, Numbers* next, const Limits& limits) const {
  static const std::string gram_name = "Filigree::block_cg_gram[vector]";
  static const std::string alpha_name = "Filigree::block_cg_alpha[vector]";
  spmv(m_exec, "N", vector_scalar(1), m_A, columns_of(m_p), vector_scalar(0), columns_of(m_w));
  Impl::reduce_rows(m_exec, gram_name, this->rows(),
                    Impl::BlockGram<number_type, vector_scalar, Columns>{m_p.data(), m_w.data()},
                    &now->curvature);
  run_one_lane(alpha_name,
               Impl::BlockAlpha<number_type, vector_scalar, Columns>{m_state.data(), now, rounding});
  queue_step(x, now, next, limits);
}

template <class ExecutionSpace, class Matrix, int Columns, class Preconditioner>
template <class XView>
SolverEnd BlockConjugateGradients<ExecutionSpace, Matrix, Columns, Preconditioner>::run_cycle(
    const XView& x, const Limits& limits, result_type& results) const {
  const int most = m_options.most_iterations - results[0].iterations;
  queue_step(x, nullptr, numbers(0), limits);
  for (int queued = 0, done = 0;;) {
    // The first check comes before the first iteration.
    Kokkos::deep_copy(m_exec, m_host_numbers, m_numbers);
    m_exec.fence();
    for (;;) {
      const Numbers& now = m_host_numbers(this->slot(done));
      if (now.end != SolverEnd::most_iterations) return now.end;
      if (done == most) return SolverEnd::most_iterations;
      if (done == queued) break;
      if (now.step_end != SolverEnd::most_iterations) return now.step_end;
      ++done;
      for (int column = 0; column < Columns; ++column)
        base::count_iteration(Impl::real_part(m_host_numbers(this->slot(done)).residual[column]),
                              results[static_cast<std::size_t>(column)]);
    }
    for (const int end = this->end_of_queue(queued, most); queued < end; ++queued)
      queue_iteration(x, numbers(queued), numbers(queued + 1), limits);
  }
}

template <class ExecutionSpace, class Matrix, int Columns, class Preconditioner>
template <class BView, class XView>
void BlockConjugateGradients<ExecutionSpace, Matrix, Columns, Preconditioner>::begin(
    const BView& b, const XView& x, result_type& results) const {
  static const std::string name = "Filigree::block_cg_norms[vector]";
  using B = typename BView::non_const_value_type;
  residual(m_exec, "N", m_A, x, b, columns_of(m_q));
  Impl::reduce_rows(m_exec, name, this->rows(),
                    Impl::BlockNorms<number_type, B, Columns>{Impl::multi_vector<BView, const B>(b)},
                    m_norms_of_b.data());
  Kokkos::deep_copy(m_exec, m_host_norms_of_b, m_norms_of_b);
  m_exec.fence();
  const Sums<number_type, Columns> of_b = m_host_norms_of_b();
  using Norms = Impl::BlockNorms<number_type, vector_scalar, Columns>;
  Impl::reduce_rows(m_exec, name, this->rows(),
                    Norms{Impl::multi_vector<columns_type, const vector_scalar>(columns_of(m_q))},
                    m_norms_of_b.data());
  Kokkos::deep_copy(m_exec, m_host_norms_of_b, m_norms_of_b);
  m_exec.fence();
  for (int column = 0; column < Columns; ++column) {
    SolverResult& result = results[static_cast<std::size_t>(column)];
    result.norm_of_b = std::sqrt(Impl::real_part(of_b[column]));
    result.residual = std::sqrt(Impl::real_part(m_host_norms_of_b()[column]));
    if (result.history.empty()) result.history.push_back(0);
    result.history.back() = result.residual;
  }
}

template <class ExecutionSpace, class Matrix, int Columns, class Preconditioner>
template <class BView, class XView>
BlockSolverResult<Columns> BlockConjugateGradients<ExecutionSpace, Matrix, Columns, Preconditioner>::solve(
    const BView& b, const XView& x) const {
  constexpr const char* function = "Filigree::BlockConjugateGradients::solve";
  static_assert(static_cast<int>(BView::rank) == 2 && static_cast<int>(XView::rank) == 2,
                "Filigree::BlockConjugateGradients: b and x must be Views of rank 2.");
  Impl::check_extents_of_vector(function, "b", b, this->rows(), Columns);
  Impl::check_extents_of_vector(function, "x", x, this->rows(), Columns);
  Impl::check_no_overlap(function, "b", b, "x", x);
  result_type results;
  if (this->rows() == 0) {
    for (SolverResult& result : results)
      result.end = SolverEnd::converged;
    return results;
  }
  Limits limits;
  double before = 0;
  SolverEnd end_of_cycle = SolverEnd::most_iterations;
  for (;;) {
    begin(b, x, results);
    bool is_finite = true, is_small = true;
    double largest = 0;  // residual of a column, as a part of its b
    for (std::size_t column = 0; column < Columns; ++column) {
      SolverResult& result = results[column];
      const double limit = Impl::largest_residual(m_options, result.norm_of_b);
      limits[static_cast<int>(column)] = static_cast<real_type>(limit * limit);
      is_finite = is_finite && std::isfinite(result.residual) && std::isfinite(result.norm_of_b);
      result.end = result.residual <= limit ? SolverEnd::converged : SolverEnd::most_iterations;
      is_small = is_small && result.has_converged();
      if (!result.has_converged())
        largest = std::max(largest, result.residual / (result.norm_of_b > 0 ? result.norm_of_b : 1));
    }
    const bool has_progress = largest <= before / 2;
    SolverEnd end = SolverEnd::converged;
    if (!is_finite)
      end = SolverEnd::not_finite;
    else if (is_small)
      return results;
    else if (end_of_cycle == SolverEnd::not_finite || (end_of_cycle == SolverEnd::breakdown && !has_progress))
      end = end_of_cycle;
    else if (end_of_cycle == SolverEnd::converged && !has_progress)
      end = SolverEnd::stagnation;
    else if (results[0].iterations >= m_options.most_iterations)
      end = SolverEnd::most_iterations;
    else {
      before = largest;
      end_of_cycle = run_cycle(x, limits, results);
      continue;
    }
    for (SolverResult& result : results)
      if (!result.has_converged()) result.end = end;
    return results;
  }
}

}  // namespace Filigree

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Pipelined conjugate gradients: an iteration is one product, in which each row updates all vectors. u = M^-1 r,
// q = M^-1 s and m = M^-1 w:
//
//   n = A m; z = n + beta z; q = m + beta q; s = w + beta s; p = u + beta p
//   x = x + alpha p; r = r - alpha s; u = u - alpha q; w = w - alpha z; m = M^-1 w
//   and the dot products of r and u, of w and u, and of r and r
//
// alpha and beta follow from the dot products of the iteration before. If M^-1 works element by element, u and q are
// not stored. The product reads m of other rows, so the new m is another vector. If M^-1 does not, it is applied to w
// after the product.
#pragma once

#include "filigree/solve/krylov_method.hpp"

namespace Filigree {
namespace Impl {

/// The numbers of one iteration on the device.
template <class Real>
struct PipelinedNumbers {
  Sums<Real, 3> sums;  ///< u^H r, u^H w and r^H r before the iteration
  Real alpha = 0;      ///< written by the lane of row 0. No other lane of the kernel reads it

  struct Factors {
    bool is_active;
    Real alpha, beta;
  };
  /// The factors of this iteration, which follows `before` unless that is nullptr. All lanes decide alike whether the
  /// iteration changes x. `limit` is the square of the largest residual that is small enough. The comparisons are false
  /// for NaN.
  KOKKOS_FORCEINLINE_FUNCTION Factors factors(const PipelinedNumbers* before, Real limit) const {
    const Real beta = before == nullptr ? Real(0) : sums[0] / before->sums[0];
    const Real divisor = before == nullptr ? sums[1] : sums[1] - beta * sums[0] / before->alpha;
    const Real alpha = sums[0] / divisor;
    const bool is_active = sums[2] > limit && sums[0] > 0 && divisor > 0 && is_finite_number(alpha) &&
                           is_finite_number(beta) && is_finite_number(sums[2]);
    return {is_active, alpha, beta};
  }
};

/// The vectors of the method. q is nullptr if M^-1 works element by element.
template <class V>
struct PipelinedVectors {
  V *r, *u, *w, *p, *s, *q, *z;
  const V* m;
  V* next_m;
};

/// u^H r, u^H w and r^H r of one row.
template <class T>
KOKKOS_FORCEINLINE_FUNCTION void add_pipelined_dots(const T& r, const T& u, const T& w,
                                                    Sums<real_t<T>, 3>& sums) {
  sums[0] += real_part(T(conjugate_if<true>(u) * r));
  sums[1] += real_part(T(conjugate_if<true>(u) * w));
  sums[2] += real_part(T(conjugate_if<true>(r) * r));
}

/// The begin of the method: w = A u, and m = M^-1 w if that works element by element.
template <class T, class V, class Inverse>
struct PipelinedBegin {
  using scalar_type = V;
  const V* r;
  const V* u;
  V* w;
  V* m;  ///< or nullptr
  Inverse inverse;

  template <class Sum>
  KOKKOS_FORCEINLINE_FUNCTION void operator()(std::int64_t row, int, const Sum& sum,
                                              Sums<real_t<T>, 3>& sums) const {
    const V stored = convert_scalar<V>(sum);
    w[row] = stored;
    const T wide = T(widen<T>(stored));
    if (m != nullptr) m[row] = convert_scalar<V>(inverse.apply(inverse.factor(row), wide));
    add_pipelined_dots(T(widen<T>(r[row])), T(widen<T>(u[row])), wide, sums);
  }
};

/// An iteration.
template <class T, class V, class X, class Inverse, bool IsElementwise>
struct PipelinedStep {
  using scalar_type = V;
  using Real = real_t<T>;
  using Numbers = PipelinedNumbers<Real>;
  MultiVector<X> x;
  PipelinedVectors<V> v;
  const Numbers* before;  ///< nullptr in the first iteration
  Numbers* now;
  Real limit;
  Inverse inverse;

  static KOKKOS_FORCEINLINE_FUNCTION T load(const V* vector, std::int64_t row) {
    return T(widen<T>(vector[row]));
  }
  static KOKKOS_FORCEINLINE_FUNCTION T store(V* vector, std::int64_t row, const T& value) {
    vector[row] = convert_scalar<V>(value);
    return load(vector, row);
  }
  template <class Sum>
  KOKKOS_FORCEINLINE_FUNCTION void operator()(std::int64_t row, int, const Sum& sum,
                                              Sums<Real, 3>& sums) const {
    const typename Numbers::Factors factors = now->factors(before, limit);
    if (row == 0) now->alpha = factors.alpha;
    if (!factors.is_active) return;
    // In the first iteration the vectors have no values yet.
    const auto old = [&](const V* vector) { return before == nullptr ? T(0) : load(vector, row); };
    const auto factor = inverse.factor(row);
    const T r = load(v.r, row), w = load(v.w, row);
    const T u = IsElementwise ? T(inverse.apply(factor, r)) : load(v.u, row);
    const T z = store(v.z, row, T(T(widen<T>(sum)) + factors.beta * old(v.z)));
    const T s = store(v.s, row, T(w + factors.beta * old(v.s)));
    const T p = store(v.p, row, T(u + factors.beta * old(v.p)));
    x(row, 0) = convert_scalar<X>(T(T(widen<T>(x(row, 0))) + factors.alpha * p));
    const T next_r = store(v.r, row, T(r - factors.alpha * s));
    const T next_w = store(v.w, row, T(w - factors.alpha * z));
    T next_u;
    if constexpr (IsElementwise) {
      next_u = T(inverse.apply(factor, next_r));
      v.next_m[row] = convert_scalar<V>(inverse.apply(factor, next_w));
    } else {
      const T q = store(v.q, row, T(load(v.m, row) + factors.beta * old(v.q)));
      next_u = store(v.u, row, T(u - factors.alpha * q));
    }
    add_pipelined_dots(next_r, next_u, next_w, sums);
  }
};

}  // namespace Impl

/// Pipelined conjugate gradients: the iterations of ConjugateGradients with one kernel, if the preconditioner works
/// element by element, and a small one that adds up dot products. It suits systems so small that the number of kernels
/// counts more than their memory traffic: besides A, an iteration reads and writes 15 vectors, and ConjugateGradients 12
/// (each with a diagonal preconditioner).
///
/// The vectors of the recurrences gather more rounding than in ConjugateGradients. solve() then begins anew with the x
/// that it has, so that more iterations can be needed for a small tolerance.
///
/// The constructor allocates seven vectors, or eight if the preconditioner is not elementwise, and some numbers. See
/// ConjugateGradients for everything else.
///
/// Source: Ghysels and Vanroose 2014, "Hiding global synchronization latency in the preconditioned conjugate gradient
/// algorithm", Parallel Computing 40(7), algorithm 4.
template <class ExecutionSpace, class Matrix, class Preconditioner = NoPreconditioner>
class PipelinedConjugateGradients
    : public Impl::KrylovMethod<ExecutionSpace, Matrix, Preconditioner, SolverOptions> {
  using base = Impl::KrylovMethod<ExecutionSpace, Matrix, Preconditioner, SolverOptions>;

 public:
  using typename base::device_type;
  using typename base::number_type;
  using typename base::vector_scalar;
  using typename base::vector_type;

  /// See ConjugateGradients.
  PipelinedConjugateGradients(const ExecutionSpace& exec, const Matrix& A,
                              const Preconditioner& preconditioner = {}, const SolverOptions& options = {})
      : base("Filigree::PipelinedConjugateGradients", "pipelined_cg", exec, A, preconditioner, options) {
    m_r = this->vector("r");
    m_w = this->vector("w");
    m_p = this->vector("p");
    m_s = this->vector("s");
    m_z = this->vector("z");
    m_m = this->vector("m");
    m_u = this->vector("u");
    if (!is_elementwise) m_q = this->vector("q");
    m_numbers = numbers_type(this->initialized("numbers"), this->ring());
    m_host_numbers = Kokkos::create_mirror(m_numbers);
  }

  /// Solves A x = b, beginning with the given x. See ConjugateGradients::solve().
  template <class BView, class XView>
  SolverResult solve(const BView& b, const XView& x) const {
    return this->solve_in_cycles(
        "Filigree::PipelinedConjugateGradients::solve", b, x, m_r,
        [&](double largest, SolverResult& result) { return run_cycle(x, largest, result); });
  }

 private:
  using base::is_elementwise;
  using base::m_A;
  using base::m_exec;
  using base::m_options;
  using base::m_preconditioner;
  using typename base::real_type;
  using Numbers = Impl::PipelinedNumbers<real_type>;
  using numbers_type = Kokkos::View<Numbers*, device_type>;
  using sums_type = Kokkos::View<Sums<real_type, 3>, device_type, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

  void begin(Numbers* first) const {
    using Kernel = Impl::PipelinedBegin<number_type, vector_scalar, decltype(this->inverse())>;
    m_preconditioner.apply(m_exec, m_r, m_u);
    fused_product(
        m_exec, "N", m_A, m_u,
        Kernel{m_r.data(), m_u.data(), m_w.data(), is_elementwise ? m_m.data() : nullptr, this->inverse()},
        sums_type(&first->sums));
    if constexpr (!is_elementwise) m_preconditioner.apply(m_exec, m_w, m_m);
  }
  template <class XView>
  void queue_iteration(int iteration, const XView& x, real_type limit) const {
    using X = typename XView::value_type;
    using Kernel =
        Impl::PipelinedStep<number_type, vector_scalar, X, decltype(this->inverse()), is_elementwise>;
    // If M^-1 works element by element, the memory of u is that of m in every second iteration.
    const bool swaps = is_elementwise && iteration % 2 == 1;
    const vector_type& m = swaps ? m_u : m_m;
    const vector_type& next_m = swaps ? m_m : m_u;
    Numbers* const numbers = m_numbers.data();
    Numbers* const now = numbers + this->ring_index(iteration);
    fused_product(m_exec, "N", m_A, m,
                  Kernel{Impl::multi_vector(x),
                         {m_r.data(), m_u.data(), m_w.data(), m_p.data(), m_s.data(), m_q.data(), m_z.data(),
                          m.data(), next_m.data()},
                         iteration == 0 ? nullptr : numbers + this->ring_index(iteration - 1),
                         now,
                         limit,
                         this->inverse()},
                  sums_type(&(numbers + this->ring_index(iteration + 1))->sums));
    if constexpr (!is_elementwise) m_preconditioner.apply(m_exec, m_w, m_m);
  }

  template <class XView>
  SolverEnd run_cycle(const XView& x, double largest, SolverResult& result) const {
    const double limit = largest * largest;
    const int most = m_options.most_iterations - result.iterations;
    begin(m_numbers.data());
    for (int queued = 0, done = 0;;) {
      // The first check comes before the first iteration.
      Kokkos::deep_copy(m_exec, m_host_numbers, m_numbers);
      m_exec.fence();
      for (;;) {
        const Numbers& now = m_host_numbers(this->ring_index(done));
        const Numbers* const before = done == 0 ? nullptr : &m_host_numbers(this->ring_index(done - 1));
        for (int i = 0; i < 3; ++i)
          if (!Impl::is_finite_number(now.sums[i])) return SolverEnd::not_finite;
        if (now.sums[2] <= limit) return SolverEnd::converged;
        if (!now.factors(before, limit).is_active) return SolverEnd::breakdown;
        if (done == most) return SolverEnd::most_iterations;
        if (done == queued) break;
        ++done;
        base::count_iteration(m_host_numbers(this->ring_index(done)).sums[2], result);
      }
      for (const int end = this->end_of_queue(queued, most); queued < end; ++queued)
        queue_iteration(queued, x, static_cast<real_type>(limit));
    }
  }

  vector_type m_r, m_w, m_p, m_s, m_z, m_m, m_u, m_q;
  numbers_type m_numbers;
  typename base::template mirror_type<numbers_type> m_host_numbers;
};

}  // namespace Filigree

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Conjugate gradients (CG) with three kernels per iteration, which move the least memory that the method allows with
// these vectors:
//
//   1. q = A p, and the dot product of p and q                           reads A, p; writes q
//   2. r = r - alpha q, and the dot products of r with r and with M^-1 r  reads r, q; writes r
//   3. x = x + alpha p; p = M^-1 r + beta p                               reads x, p, r; writes x, p
//
// alpha and beta stay on the device, so that the host does not wait in an iteration. If M^-1 does not work element by
// element, it is applied after kernel 2.
#pragma once

#include <cmath>

#include "filigree/solve/krylov_method.hpp"
#include "filigree/solve/real_part.hpp"
#include "filigree/solve/row_kernel.hpp"

namespace Filigree {
namespace Impl {

/// The numbers of one iteration on the device. All are sums of products of vectors.
template <class T>
struct CgNumbers {
  Sums<T, 1> direction;  ///< p^H q
  Sums<T, 2> residual;   ///< r^H r and r^H z before the iteration

  /// Whether the iteration changes x. All lanes decide alike. `limit` is the square of the largest residual that is
  /// small enough. The comparisons are false for NaN.
  KOKKOS_FORCEINLINE_FUNCTION bool is_active(real_t<T> limit) const {
    return real_part(residual[0]) > limit && real_part(residual[1]) > 0 && real_part(direction[0]) > 0 &&
           is_finite_number(residual[1]) && is_finite_number(direction[0]);
  }
};

/// Kernel 1: q = sum, and the sum of conj(p) q.
template <class T, class V>
struct CgProduct {
  const V* p;
  V* q;

  template <class Sum>
  KOKKOS_FORCEINLINE_FUNCTION void operator()(std::int64_t row, int, const Sum& sum, Sums<T, 1>& dot) const {
    q[row] = convert_scalar<V>(sum);
    dot[0] += T(conjugate_if<true>(T(widen<T>(p[row]))) * T(widen<T>(sum)));
  }
};

/// The numbers that a kernel of an iteration uses for all rows.
template <class T>
struct CgFactors {
  bool is_active;
  T alpha;
  T beta;
};

/// Kernel 2. It also begins the method: then there is no q.
template <class T, class V, class Inverse>
struct CgResidual {
  V* r;
  const V* q;
  const CgNumbers<T>* numbers;  ///< of this iteration; nullptr at the beginning
  real_t<T> limit;
  Inverse inverse;

  struct Loaded {
    V r, q;
    typename Inverse::factor_type factor;
  };
  KOKKOS_FORCEINLINE_FUNCTION CgFactors<T> common() const {
    const bool is_active = numbers != nullptr && numbers->is_active(limit);
    return {is_active, is_active ? T(numbers->residual[1] / numbers->direction[0]) : T(0), T(0)};
  }
  KOKKOS_FORCEINLINE_FUNCTION Loaded load(const std::int64_t row) const {
    return {r[row], numbers != nullptr ? q[row] : V(0), inverse.factor(row)};
  }
  KOKKOS_FORCEINLINE_FUNCTION void finish(const CgFactors<T>& common, const std::int64_t row,
                                          const Loaded& loaded, Sums<T, 2>& sums) const {
    V element = loaded.r;
    if (common.is_active) {
      element = convert_scalar<V>(T(T(widen<T>(loaded.r)) - common.alpha * T(widen<T>(loaded.q))));
      r[row] = element;
    }
    const T wide = T(widen<T>(element));
    sums[0] += conjugate_if<true>(wide) * wide;
    sums[1] += conjugate_if<true>(wide) * inverse.apply(loaded.factor, wide);
  }
};

/// The dot products of r with r and z, if the preconditioner is not elementwise.
template <class T, class V>
struct CgPreconditioned {
  const V* r;
  const V* z;

  struct Loaded {
    V r, z;
  };
  KOKKOS_FORCEINLINE_FUNCTION NoPartial common() const { return {}; }
  KOKKOS_FORCEINLINE_FUNCTION Loaded load(const std::int64_t row) const { return {r[row], z[row]}; }
  KOKKOS_FORCEINLINE_FUNCTION void finish(NoPartial, std::int64_t, const Loaded& loaded,
                                          Sums<T, 2>& sums) const {
    const T wide = T(widen<T>(loaded.r));
    sums[0] += conjugate_if<true>(wide) * wide;
    sums[1] += conjugate_if<true>(wide) * T(widen<T>(loaded.z));
  }
};

/// Kernel 3. It also begins the method: then p = M^-1 r, and x does not change. `r` is z if the preconditioner is not
/// elementwise.
template <class T, class V, class X, class Inverse>
struct CgDirection {
  MultiVector<X> x;
  V* p;
  const V* r;
  const CgNumbers<T>*
      numbers;  ///< of this iteration, which that of the next one follows; nullptr at the beginning
  const CgNumbers<T>* next;
  real_t<T> limit;
  Inverse inverse;

  struct Loaded {
    V p, r;
    X x;
    typename Inverse::factor_type factor;
  };
  KOKKOS_FORCEINLINE_FUNCTION CgFactors<T> common() const {
    if (numbers == nullptr) return {true, T(0), T(0)};
    const bool is_active = numbers->is_active(limit);
    return {is_active, is_active ? T(numbers->residual[1] / numbers->direction[0]) : T(0),
            is_active ? T(next->residual[1] / numbers->residual[1]) : T(0)};
  }
  KOKKOS_FORCEINLINE_FUNCTION Loaded load(const std::int64_t row) const {
    const bool begins = numbers == nullptr;
    return {begins ? V(0) : p[row], r[row], begins ? X(0) : x(row, 0), inverse.factor(row)};
  }
  KOKKOS_FORCEINLINE_FUNCTION void finish(const CgFactors<T>& common, const std::int64_t row,
                                          const Loaded& loaded, NoPartial&) const {
    if (!common.is_active) return;
    const T direction = T(widen<T>(loaded.p));
    const T z = inverse.apply(loaded.factor, T(widen<T>(loaded.r)));
    if (numbers != nullptr)
      x(row, 0) = convert_scalar<X>(T(T(widen<T>(loaded.x)) + common.alpha * direction));
    p[row] = convert_scalar<V>(T(z + common.beta * direction));
  }
};

}  // namespace Impl

/// Conjugate gradients for A x = b with a Hermitian positive definite matrix of any format and a Hermitian positive
/// definite preconditioner.
///
/// The constructor allocates: three vectors, a fourth one if the preconditioner is not elementwise, and some numbers.
/// solve() allocates nothing on the device but the workspace of the first product (see spmv()). An object and its
/// copies share their vectors, so only one of them may solve at a time. Every run gives the same bits; on a host that
/// needs the same number of threads.
///
/// Source: Kirk and Hwu, chapter 10, name it as the reason why formats matter; the method is that of Hestenes and
/// Stiefel 1952.
template <class ExecutionSpace, class Matrix, class Preconditioner = NoPreconditioner>
class ConjugateGradients : public Impl::KrylovMethod<ExecutionSpace, Matrix, Preconditioner, SolverOptions> {
  using base = Impl::KrylovMethod<ExecutionSpace, Matrix, Preconditioner, SolverOptions>;

 public:
  using typename base::device_type;
  using typename base::number_type;
  using typename base::vector_scalar;
  using typename base::vector_type;

  /// Keeps copies of A and of the preconditioner, which share their Views with the originals. So a refill of A is
  /// seen by the next solve().
  ///
  /// Throws std::invalid_argument if A is not square, the preconditioner is that of a matrix of another size, an option
  /// is negative, or iterations_per_check is not positive.
  ConjugateGradients(const ExecutionSpace& exec, const Matrix& A, const Preconditioner& preconditioner = {},
                     const SolverOptions& options = {})
      : base("Filigree::ConjugateGradients", "cg", exec, A, preconditioner, options) {
    m_r = this->vector("r");
    m_p = this->vector("p");
    m_q = this->vector("q");
    if (!is_elementwise) m_z = this->vector("z");
    m_numbers = numbers_type(this->initialized("numbers"), this->ring());
    m_host_numbers = Kokkos::create_mirror(m_numbers);
  }

  /// Solves A x = b, beginning with the given x. Fences the instance once per iterations_per_check iterations.
  ///
  /// @param b View of rank 1 with one element per row of A, any stride
  /// @param x View of rank 1 with one element per row of A, any stride
  ///
  /// SolverResult::residual is the norm of b - A x for the x that is returned. The other elements of the history are
  /// norms of the residual that the method updates.
  ///
  /// Throws std::invalid_argument if b or x has not one element per row of A, or if they overlap.
  template <class BView, class XView>
  SolverResult solve(const BView& b, const XView& x) const;

 private:
  using Numbers = Impl::CgNumbers<number_type>;
  using numbers_type = Kokkos::View<Numbers*, device_type>;
  using base::is_elementwise;
  using base::m_A;
  using base::m_exec;
  using base::m_options;
  using base::m_preconditioner;
  using typename base::real_type;

  Numbers* numbers(int iteration) const { return m_numbers.data() + this->ring_index(iteration); }
  void update_residual(const Numbers* current, double limit, Numbers* next) const {
    static const std::string name = "Filigree::cg_residual[vector]";
    using Kernel = Impl::CgResidual<number_type, vector_scalar, decltype(this->inverse())>;
    Impl::reduce_rows(m_exec, name, this->rows(),
                      Kernel{m_r.data(), m_q.data(), current, static_cast<real_type>(limit), this->inverse()},
                      &next->residual);
    if constexpr (!is_elementwise) {
      m_preconditioner.apply(m_exec, m_r, m_z);
      Impl::reduce_rows(m_exec, name, this->rows(),
                        Impl::CgPreconditioned<number_type, vector_scalar>{m_r.data(), m_z.data()},
                        &next->residual);
    }
  }
  template <class XView>
  void update_direction(const XView& x, const Numbers* current, const Numbers* next, double limit) const {
    static const std::string name = "Filigree::cg_direction[vector]";
    using X = typename XView::value_type;
    using Kernel = Impl::CgDirection<number_type, vector_scalar, X, decltype(this->inverse())>;
    Impl::for_rows(m_exec, name, this->rows(),
                   Kernel{Impl::multi_vector(x), m_p.data(), is_elementwise ? m_r.data() : m_z.data(),
                          current, next, static_cast<real_type>(limit), this->inverse()});
  }
  template <class XView>
  SolverEnd run_cycle(const XView& x, double largest, SolverResult& result) const;

  vector_type m_r, m_p, m_q, m_z;
  numbers_type m_numbers;
  typename base::template mirror_type<numbers_type> m_host_numbers;
};

template <class ExecutionSpace, class Matrix, class Preconditioner>
template <class BView, class XView>
SolverResult ConjugateGradients<ExecutionSpace, Matrix, Preconditioner>::solve(const BView& b,
                                                                               const XView& x) const {
  return this->solve_in_cycles(
      "Filigree::ConjugateGradients::solve", b, x, m_r,
      [&](double largest, SolverResult& result) { return run_cycle(x, largest, result); });
}

template <class ExecutionSpace, class Matrix, class Preconditioner>
template <class XView>
SolverEnd ConjugateGradients<ExecutionSpace, Matrix, Preconditioner>::run_cycle(const XView& x,
                                                                                double largest,
                                                                                SolverResult& result) const {
  const auto real_number = [](const number_type& value) {
    return static_cast<double>(Impl::real_part(value));
  };
  const double limit = largest * largest;
  const int most = m_options.most_iterations - result.iterations;
  update_residual(nullptr, 0, numbers(0));
  update_direction(x, nullptr, nullptr, 0);
  for (int queued = 0, done = 0;;) {
    // The first check comes before the first iteration.
    Kokkos::deep_copy(m_exec, m_host_numbers, m_numbers);
    m_exec.fence();
    for (;;) {
      const Numbers& now = m_host_numbers(this->ring_index(done));
      const double squared = real_number(now.residual[0]);
      if (!std::isfinite(squared) || !Impl::is_finite_number(now.residual[1])) return SolverEnd::not_finite;
      if (squared <= limit) return SolverEnd::converged;
      if (!(real_number(now.residual[1]) > 0)) return SolverEnd::breakdown;
      if (done == most) return SolverEnd::most_iterations;
      if (done == queued) break;
      if (!Impl::is_finite_number(now.direction[0])) return SolverEnd::not_finite;
      if (!(real_number(now.direction[0]) > 0)) return SolverEnd::breakdown;
      ++done;
      base::count_iteration(real_number(m_host_numbers(this->ring_index(done)).residual[0]), result);
    }
    for (const int end = this->end_of_queue(queued, most); queued < end; ++queued) {
      Numbers* const now = numbers(queued);
      Numbers* const next = numbers(queued + 1);
      fused_product(m_exec, "N", m_A, m_p,
                    Impl::CgProduct<number_type, vector_scalar>{m_p.data(), m_q.data()},
                    Kokkos::View<Sums<number_type, 1>, device_type, Kokkos::MemoryTraits<Kokkos::Unmanaged>>(
                        &now->direction));
      update_residual(now, limit, next);
      update_direction(x, now, next, limit);
    }
  }
}

}  // namespace Filigree

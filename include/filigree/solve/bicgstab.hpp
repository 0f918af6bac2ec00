// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// BiCGStab with five kernels per iteration. r0 is the first residual, y = M^-1 p, and z = M^-1 s:
//
//   1. v = A y, and the dot product of r0 and v                            reads A, y, r0; writes v
//   2. s = r - alpha v, in the memory of r; z                              reads r, v; writes r, z
//   3. t = A z, and the dot products of s and t and of t and t             reads A, z, s; writes t
//   4. x = x + alpha y + omega z; r = s - omega t; the dot products of
//      r and r and of r0 and r                                             reads x, y, z, s, t, r0; writes x, r
//   5. p = r + beta (p - omega v); y                                       reads r, p, v; writes p, y
//
// Without a preconditioner y is p and z is s. If M^-1 does not work element by element, it is applied after the
// kernels 2 and 5. alpha, omega and beta stay on the device, and so does the decision whether the method can go on.
#pragma once

#include <cmath>

#include "filigree/solve/krylov_method.hpp"
#include "filigree/solve/real_part.hpp"
#include "filigree/solve/row_kernel.hpp"

namespace Filigree {
namespace Impl {

/// The numbers of one iteration on the device. In each kernel the lane of row 0 writes the last four. No kernel
/// reads a number that it writes.
template <class T>
struct BiCgStabNumbers {
  Sums<T, 2> residual;   ///< r^H r and r0^H r before the iteration
  Sums<T, 1> direction;  ///< r0^H v
  Sums<T, 2> step;       ///< s^H t and t^H t
  T alpha = T(0);
  T omega = T(0);
  bool changes_x = false;
  /// Why the iteration cannot begin; no_end if it can.
  SolverEnd end = no_end;

  /// Whether alpha is what the iteration needs, if it is finite.
  KOKKOS_FORCEINLINE_FUNCTION bool can_begin() const {
    return end == no_end && is_finite_number(direction[0]);
  }
  KOKKOS_FORCEINLINE_FUNCTION T find_alpha() const { return T(residual[1] / direction[0]); }
  /// omega. It is 0 if there is none; then the iteration ends after half a step.
  KOKKOS_FORCEINLINE_FUNCTION T find_omega() const {
    const T result = conjugate_if<true>(step[0]) / step[1];
    return is_finite_number(step[1]) && is_finite_number(result) ? result : T(0);
  }
  KOKKOS_FORCEINLINE_FUNCTION T find_beta(const Sums<T, 2>& next) const {
    return T(next[1] / residual[1]) * T(alpha / omega);
  }
  /// The member `end` of the next iteration. `limit` is the square of the largest residual that is small enough.
  KOKKOS_FORCEINLINE_FUNCTION SolverEnd next_end(const Sums<T, 2>& next, real_t<T> limit) const {
    if (end != no_end) return end;
    if (!changes_x) return is_finite_number(direction[0]) ? SolverEnd::breakdown : SolverEnd::not_finite;
    // The comparison is false for NaN.
    if (real_part(next[0]) <= limit) return SolverEnd::converged;
    if (!is_finite_number(next[0]) || !is_finite_number(next[1]) || !is_finite_number(step[0]) ||
        !is_finite_number(step[1]))
      return SolverEnd::not_finite;
    if (next[1] == T(0) || omega == T(0) || !is_finite_number(find_beta(next))) return SolverEnd::breakdown;
    return no_end;
  }
};

/// Kernels 1 and 3: y = sum, the sum of conj(other) y, and if there is a second sum, that of conj(y) y.
template <class V>
struct BiCgStabProduct {
  using scalar_type = V;
  const V* other;
  V* y;

  template <class Sum, class T, int Count>
  KOKKOS_FORCEINLINE_FUNCTION void operator()(std::int64_t row, int, const Sum& sum,
                                              Sums<T, Count>& dots) const {
    const V stored = convert_scalar<V>(sum);
    y[row] = stored;
    const T wide = T(widen<T>(stored));
    dots[0] += conjugate_if<true>(T(widen<T>(other[row]))) * wide;
    if constexpr (Count > 1) dots[1] += conjugate_if<true>(wide) * wide;
  }
};

/// Kernel 2. If z is not nullptr, z = M^-1 s.
template <class T, class V, class Inverse>
struct BiCgStabHalfStep {
  V* r;  ///< becomes s
  const V* v;
  V* z;
  BiCgStabNumbers<T>* numbers;
  Inverse inverse;

  struct Common {
    bool changes_x;
    T alpha;
  };
  struct Loaded {
    V r, v;
    typename Inverse::factor_type factor;
  };
  KOKKOS_FORCEINLINE_FUNCTION Common common() const {
    const T alpha = numbers->find_alpha();
    const bool changes_x = numbers->can_begin() && is_finite_number(alpha);
    return {changes_x, changes_x ? alpha : T(0)};
  }
  KOKKOS_FORCEINLINE_FUNCTION Loaded load(const std::int64_t row) const {
    return {r[row], v[row], inverse.factor(row)};
  }
  KOKKOS_FORCEINLINE_FUNCTION void finish(const Common& common, const std::int64_t row, const Loaded& loaded,
                                          NoPartial&) const {
    if (row == 0) {
      numbers->alpha = common.alpha;
      numbers->changes_x = common.changes_x;
    }
    if (!common.changes_x) return;
    const V s = convert_scalar<V>(T(T(widen<T>(loaded.r)) - common.alpha * T(widen<T>(loaded.v))));
    r[row] = s;
    if (z != nullptr) z[row] = convert_scalar<V>(inverse.apply(loaded.factor, T(widen<T>(s))));
  }
};

/// Kernel 4.
template <class T, class V, class X>
struct BiCgStabStep {
  MultiVector<X> x;
  V* r;  ///< s at first
  const V* y;
  const V* z;  ///< may be r
  const V* t;
  const V* r0;
  BiCgStabNumbers<T>* numbers;

  struct Common {
    bool changes_x;
    T alpha, omega;
  };
  struct Loaded {
    X x;
    V r, y, z, t, r0;
  };
  KOKKOS_FORCEINLINE_FUNCTION Common common() const {
    return {numbers->changes_x, numbers->alpha, numbers->find_omega()};
  }
  KOKKOS_FORCEINLINE_FUNCTION Loaded load(const std::int64_t row) const {
    return {x(row, 0), r[row], y[row], z[row], t[row], r0[row]};
  }
  KOKKOS_FORCEINLINE_FUNCTION void finish(const Common& common, const std::int64_t row, const Loaded& loaded,
                                          Sums<T, 2>& sums) const {
    if (row == 0) numbers->omega = common.omega;
    T element = T(widen<T>(loaded.r));
    if (common.changes_x) {
      const T change = common.alpha * T(widen<T>(loaded.y)) + common.omega * T(widen<T>(loaded.z));
      x(row, 0) = convert_scalar<X>(T(T(widen<T>(loaded.x)) + change));
      const V stored = convert_scalar<V>(T(element - common.omega * T(widen<T>(loaded.t))));
      r[row] = stored;
      element = T(widen<T>(stored));
    }
    sums[0] += conjugate_if<true>(element) * element;
    sums[1] += conjugate_if<true>(T(widen<T>(loaded.r0))) * element;
  }
};

/// Kernel 5. If y is not nullptr, y = M^-1 p.
template <class T, class V, class Inverse>
struct BiCgStabDirection {
  V* p;
  V* y;
  const V* r;
  const V* v;
  const BiCgStabNumbers<T>* numbers;  ///< of this iteration, which that of the next one follows
  BiCgStabNumbers<T>* next;
  real_t<T> limit;
  Inverse inverse;

  struct Common {
    SolverEnd end;
    T beta, omega;
  };
  struct Loaded {
    V p, r, v;
    typename Inverse::factor_type factor;
  };
  KOKKOS_FORCEINLINE_FUNCTION Common common() const {
    return {numbers->next_end(next->residual, limit), numbers->find_beta(next->residual), numbers->omega};
  }
  KOKKOS_FORCEINLINE_FUNCTION Loaded load(const std::int64_t row) const {
    return {p[row], r[row], v[row], inverse.factor(row)};
  }
  KOKKOS_FORCEINLINE_FUNCTION void finish(const Common& common, const std::int64_t row, const Loaded& loaded,
                                          NoPartial&) const {
    if (row == 0) next->end = common.end;
    if (common.end != no_end) return;
    const T back = T(T(widen<T>(loaded.p)) - common.omega * T(widen<T>(loaded.v)));
    const V stored = convert_scalar<V>(T(T(widen<T>(loaded.r)) + common.beta * back));
    p[row] = stored;
    if (y != nullptr) y[row] = convert_scalar<V>(inverse.apply(loaded.factor, T(widen<T>(stored))));
  }
};

}  // namespace Impl

/// The stabilized biconjugate gradient method (BiCGStab) for A x = b with any square nonsingular matrix of any format,
/// and with a preconditioner on the right side: it solves A M^-1 u = b and x = M^-1 u. So the residual is that of
/// A x = b.
///
/// Cost of an iteration: two products with A, and two applications of M^-1. Besides A and what a product reads, 12
/// vectors are read and 6 are written; with a preconditioner that works element by element, 15 and 8. Memory: the
/// constructor allocates five vectors, two more if there is a preconditioner, and some numbers. solve() allocates
/// nothing on the device but the workspaces of the first call on an instance (see spmv()). An object and its copies
/// share their vectors, so only one of them may solve at a time. Every run gives the same bits; on a host that needs
/// the same number of threads.
///
/// The method breaks down if a number by which it must divide is 0, or so small that the quotient is not finite: the
/// dot product of the first residual with another vector, or omega. It begins anew then, with the x that it has, unless
/// the residual is more than half of that at the last begin. In that case SolverResult::end is breakdown. That can
/// happen with any matrix: with a skew-symmetric one it does in the first iteration. Gmres breaks down only if A is
/// singular.
///
/// Source: van der Vorst 1992, "Bi-CGSTAB: a fast and smoothly converging variant of Bi-CG for the solution of
/// nonsymmetric linear systems", SIAM J. Sci. Stat. Comput. 13(2), the algorithm of section 3 with K_1 = I, K_2 = M.
template <class ExecutionSpace, class Matrix, class Preconditioner = NoPreconditioner>
class BiCgStab : public Impl::KrylovMethod<ExecutionSpace, Matrix, Preconditioner, SolverOptions> {
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
  BiCgStab(const ExecutionSpace& exec, const Matrix& A, const Preconditioner& preconditioner = {},
           const SolverOptions& options = {})
      : base("Filigree::BiCgStab", "bicgstab", exec, A, preconditioner, options) {
    m_r = this->vector("r");
    m_r0 = this->vector("r0");
    m_p = this->vector("p");
    m_v = this->vector("v");
    m_t = this->vector("t");
    m_y = has_preconditioner ? this->vector("y") : m_p;
    m_z = has_preconditioner ? this->vector("z") : m_r;
    m_numbers = numbers_type(this->initialized("numbers"), this->ring());
    m_host_numbers = Kokkos::create_mirror(m_numbers);
  }

  /// Solves A x = b, beginning with the given x. Fences the instance once before the first iteration, and then once
  /// per iterations_per_check iterations.
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
  using base::has_preconditioner;
  using base::is_elementwise;
  using base::m_A;
  using base::m_exec;
  using base::m_options;
  using base::m_preconditioner;
  using typename base::real_type;
  using Numbers = Impl::BiCgStabNumbers<number_type>;
  using numbers_type = Kokkos::View<Numbers*, device_type>;
  template <int Count>
  using sums_type =
      Kokkos::View<Sums<number_type, Count>, device_type, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
  /// Whether M^-1 is applied within the kernels.
  static constexpr bool is_applied_inside = has_preconditioner && is_elementwise;

  /// Queues out = A in and dot products of `other` and out.
  template <int Count>
  void multiply(const vector_type& in, const vector_type& other, const vector_type& out,
                Sums<number_type, Count>* dots) const {
    fused_product(m_exec, "N", m_A, in, Impl::BiCgStabProduct<vector_scalar>{other.data(), out.data()},
                  sums_type<Count>(dots));
  }
  template <class XView>
  void queue_iteration(const XView& x, Numbers* now, Numbers* next, real_type limit) const;
  template <class XView>
  SolverEnd run_cycle(const XView& x, double largest, SolverResult& result) const;

  vector_type m_r, m_r0, m_p, m_v, m_t, m_y, m_z;
  numbers_type m_numbers;
  typename base::template mirror_type<numbers_type> m_host_numbers;
};

template <class ExecutionSpace, class Matrix, class Preconditioner>
template <class XView>
void BiCgStab<ExecutionSpace, Matrix, Preconditioner>::queue_iteration(const XView& x, Numbers* now,
                                                                       Numbers* next, real_type limit) const {
  static const std::string half_step_name = "Filigree::bicgstab_half_step[vector]";
  static const std::string step_name = "Filigree::bicgstab_step[vector]";
  static const std::string direction_name = "Filigree::bicgstab_direction[vector]";
  using T = number_type;
  using V = vector_scalar;
  using X = typename XView::value_type;
  using Inverse = decltype(this->inverse());
  const std::int64_t rows = this->rows();
  multiply(m_y, m_r0, m_v, &now->direction);
  Impl::for_rows(m_exec, half_step_name, rows,
                 Impl::BiCgStabHalfStep<T, V, Inverse>{
                     m_r.data(), m_v.data(), is_applied_inside ? m_z.data() : nullptr, now, this->inverse()});
  if constexpr (has_preconditioner && !is_elementwise) m_preconditioner.apply(m_exec, m_r, m_z);
  multiply(m_z, m_r, m_t, &now->step);
  Impl::reduce_rows(m_exec, step_name, rows,
                    Impl::BiCgStabStep<T, V, X>{Impl::multi_vector(x), m_r.data(), m_y.data(), m_z.data(),
                                                m_t.data(), m_r0.data(), now},
                    &next->residual);
  Impl::for_rows(
      m_exec, direction_name, rows,
      Impl::BiCgStabDirection<T, V, Inverse>{m_p.data(), is_applied_inside ? m_y.data() : nullptr, m_r.data(),
                                             m_v.data(), now, next, limit, this->inverse()});
  if constexpr (has_preconditioner && !is_elementwise) m_preconditioner.apply(m_exec, m_p, m_y);
}

template <class ExecutionSpace, class Matrix, class Preconditioner>
template <class BView, class XView>
SolverResult BiCgStab<ExecutionSpace, Matrix, Preconditioner>::solve(const BView& b, const XView& x) const {
  return this->solve_in_cycles(
      "Filigree::BiCgStab::solve", b, x, m_r,
      [&](double largest, SolverResult& result) { return run_cycle(x, largest, result); });
}

template <class ExecutionSpace, class Matrix, class Preconditioner>
template <class XView>
SolverEnd BiCgStab<ExecutionSpace, Matrix, Preconditioner>::run_cycle(const XView& x, double largest,
                                                                      SolverResult& result) const {
  const double limit = largest * largest;
  const int most = m_options.most_iterations - result.iterations;
  Kokkos::deep_copy(m_exec, m_r0, m_r);
  Kokkos::deep_copy(m_exec, m_p, m_r);
  if constexpr (has_preconditioner) m_preconditioner.apply(m_exec, m_p, m_y);
  Numbers& first = m_host_numbers(0);
  first = Numbers();
  first.residual[0] = first.residual[1] = this->m_host_norms()[0];
  Kokkos::deep_copy(m_exec, m_numbers, m_host_numbers);
  for (int queued = 0, done = 0;;) {
    for (const int end = this->end_of_queue(queued, most); queued < end; ++queued)
      queue_iteration(x, m_numbers.data() + this->ring_index(queued),
                      m_numbers.data() + this->ring_index(queued + 1), limit);
    Kokkos::deep_copy(m_exec, m_host_numbers, m_numbers);
    m_exec.fence();
    while (done < queued) {
      const bool changes_x = m_host_numbers(this->ring_index(done)).changes_x;
      const Numbers& next = m_host_numbers(this->ring_index(++done));
      if (changes_x) base::count_iteration(Impl::real_part(next.residual[0]), result);
      if (!changes_x || next.end != Impl::no_end) return next.end;
    }
    if (done == most) return SolverEnd::most_iterations;
  }
}

}  // namespace Filigree

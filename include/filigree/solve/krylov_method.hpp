// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cmath>
#include <string>

#include "filigree/solve/preconditioner.hpp"
#include "filigree/solve/real_part.hpp"
#include "filigree/solve/residual_norms.hpp"
#include "filigree/solve/solver.hpp"

namespace Filigree::Impl {

/// What all Krylov methods have: the matrix, the preconditioner, the options, and the types of their vectors.
template <class ExecutionSpace, class Matrix, class Preconditioner, class Options>
class KrylovMethod {
 public:
  /// The type of the entries of A.
  using scalar_type = typename MatrixTraits<Matrix>::entry_type;
  using vector_scalar = wider_t<scalar_type>;        ///< of the vectors of the method
  using number_type = wider_t<scalar_type, double>;  ///< of dot products
  /// Where the vectors are.
  using device_type = Kokkos::Device<ExecutionSpace, typename MatrixTraits<Matrix>::memory_space>;
  /// A vector of the method.
  using vector_type = Kokkos::View<vector_scalar*, device_type>;

 protected:
  using real_type = real_t<number_type>;
  using norms_type = Kokkos::View<Sums<number_type, 2>, device_type>;
  template <class View>
  using mirror_type = typename decltype(Kokkos::create_mirror(View()))::non_const_type;
  static constexpr bool is_elementwise = is_elementwise_v<Preconditioner>;
  static constexpr bool has_preconditioner = !std::is_same_v<Preconditioner, NoPreconditioner>;

  /// `function` is that of error texts, and `method` that of labels. See the constructors of the methods.
  KrylovMethod(const char* function, const char* method, const ExecutionSpace& exec, const Matrix& A,
               const Preconditioner& preconditioner, const Options& options)
      : m_method(method), m_exec(exec), m_A(A), m_preconditioner(preconditioner), m_options(options) {
    check_initialized(function);
    check_square(function, A);
    check_solver_options(function, options);
    check_preconditioner(function, preconditioner, rows());
    m_norms = norms_type(initialized("norms"));
    m_host_norms = Kokkos::create_mirror(m_norms);
  }

  /// The rows of A.
  std::int64_t rows() const { return MatrixTraits<Matrix>::num_rows(m_A); }
  /// Arguments that allocate a View with a label. With initialized() its elements are 0.
  auto initialized(const char* what) const { return Kokkos::view_alloc(m_exec, label(what, m_method, "")); }
  auto uninitialized(const char* what) const {
    return Kokkos::view_alloc(m_exec, Kokkos::WithoutInitializing, label(what, m_method, ""));
  }
  vector_type vector(const char* what) const {
    return vector_type(uninitialized(what), static_cast<std::size_t>(rows()));
  }
  /// M^-1 for the kernels of the method; the identity if M^-1 is not applied within kernels.
  auto inverse() const {
    if constexpr (is_elementwise)
      return m_preconditioner.element_inverse();
    else
      return IdentityInverse();
  }

  /// solve() of a method. `function` is that of error texts.
  ///
  /// run_cycle(largest, result) continues with x and the residual r = b - A x, until the norm that it computes for
  /// the residual is at most `largest` or it must end. It counts its iterations in `result`, and adds the norm after
  /// each of them to the history. It returns why it ended. That norm differs from the norm of b - A x by the rounding
  /// of all iterations. So the latter is computed after a cycle, and another cycle follows if it is too large.
  template <class BView, class XView, class RView, class RunCycle>
  SolverResult solve_in_cycles(const char* function, const BView& b, const XView& x, const RView& r,
                               const RunCycle& run_cycle) const {
    check_types_of_solve<ExecutionSpace, BView, XView, 1>();
    check_extents_of_vector(function, "b", b, rows(), 1);
    check_extents_of_vector(function, "x", x, rows(), 1);
    check_no_overlap(function, "b", b, "x", x);
    SolverResult result;
    if (rows() == 0) {
      result.end = SolverEnd::converged;
      return result;
    }
    double largest = 0;
    double before = 0;
    SolverEnd end_of_cycle = no_end;
    for (;;) {
      residual_and_norms(m_exec, m_A, x, b, r, m_norms);
      Kokkos::deep_copy(m_exec, m_host_norms, m_norms);
      m_exec.fence();
      result.residual = std::sqrt(real_part(m_host_norms()[0]));
      if (result.history.empty()) {
        result.norm_of_b = std::sqrt(real_part(m_host_norms()[1]));
        largest = largest_residual(m_options, result.norm_of_b);
        result.history.push_back(result.residual);
      }
      result.history.back() = result.residual;
      const bool is_finite = std::isfinite(result.residual) && std::isfinite(result.norm_of_b);
      const auto end =
          end_between_cycles({is_finite, result.residual <= largest, result.residual <= before / 2,
                              end_of_cycle, result.iterations < m_options.most_iterations});
      if (end) {
        result.end = *end;
        return result;
      }
      before = result.residual;
      end_of_cycle = run_cycle(largest, result);
    }
  }

  /// The iterations whose numbers are kept in a ring: those since the last check, the one before them and the next one.
  std::size_t ring() const {
    return static_cast<std::size_t>(std::min(m_options.iterations_per_check, m_options.most_iterations)) + 2;
  }
  std::size_t ring_index(int iteration) const { return static_cast<std::size_t>(iteration) % ring(); }
  /// The iterations of a cycle of at most `most` that may be queued when `queued` are, up to the next check.
  int end_of_queue(int queued, int most) const {
    return queued + std::min(m_options.iterations_per_check, most - queued);
  }
  /// Counts an iteration that changed x, after which the square of the norm of the residual is `squared`.
  static void count_iteration(double squared, SolverResult& result) {
    ++result.iterations;
    result.residual = std::sqrt(squared);
    result.history.push_back(result.residual);
  }

  const char* m_method;
  ExecutionSpace m_exec;
  Matrix m_A;
  Preconditioner m_preconditioner;
  Options m_options;
  norms_type m_norms;
  mirror_type<norms_type> m_host_norms;
};

}  // namespace Filigree::Impl

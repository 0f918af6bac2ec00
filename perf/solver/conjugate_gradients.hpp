// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cmath>
#include <filigree/diagonal.hpp>
#include <KokkosBlas1_axpby.hpp>
#include <KokkosBlas1_dot.hpp>
#include <KokkosBlas1_mult.hpp>
#include <KokkosBlas1_reciprocal.hpp>

#include "products/problem.hpp"
#include "support/timer.hpp"

namespace FiligreePerf {

/// Conjugate gradients with the diagonal as preconditioner, for the matrix of a problem. The exact solution
/// is 1 in every row. The product is exchangeable, all other operations are those of KokkosBlas.
template <class Scalar>
class ConjugateGradients {
 public:
  using Problem = SpmvProblem<Scalar>;
  using vector_type = typename Problem::vector_type;
  using execution_space = typename Problem::execution_space;
  using product_type = std::function<void()>;

  /// What a run did.
  struct Run {
    int iterations = 0;
    double residual = 1;  ///< norm of the residual divided by that of the right-hand side
    bool is_definite =
        true;  ///< false: a direction p with p*A*p <= 0 or not finite was found, and the run ended
    double seconds = 0;
  };

  explicit ConjugateGradients(const std::shared_ptr<Problem>& problem)
      : m_problem(problem),
        m_b(vector("b")),
        m_solution(vector("solution")),
        m_r(vector("r")),
        m_z(vector("z")),
        m_inverse_diagonal(vector("inverse_diagonal")),
        m_first_x(vector("first_x")) {
    KokkosBlas::reciprocal(m_inverse_diagonal, Filigree::diagonal(problem->crs));
    Kokkos::deep_copy(m_first_x, problem->x);
    Kokkos::deep_copy(problem->x, Scalar(1));
    problem->multiply_by_kokkos_kernels(problem->crs);
    Kokkos::deep_copy(m_b, problem->y);
    Kokkos::deep_copy(problem->x, m_first_x);
  }

  /// Solves A*solution = b, beginning at 0. `product` must multiply the x of the problem into its y. It ends
  /// when the residual is at most `tolerance`, or after `most` iterations. x is then as before.
  Run solve(const product_type& product, double tolerance, int most) {
    const vector_type& p = m_problem->x;
    const vector_type& q = m_problem->y;
    Run run;
    Timer<execution_space> timer{execution_space()};
    run.seconds = timer.seconds([&]() {
      Kokkos::deep_copy(m_solution, Scalar(0));
      Kokkos::deep_copy(m_r, m_b);
      precondition();
      Kokkos::deep_copy(p, m_z);
      double rz = dot(m_r, m_z);
      const double norm_of_b = std::sqrt(dot(m_b, m_b));
      while (run.iterations < most && run.residual > tolerance) {
        product();
        const double curvature = dot(p, q);
        if (!(curvature > 0)) {
          run.is_definite = false;
          break;
        }
        const Scalar alpha = static_cast<Scalar>(rz / curvature);
        KokkosBlas::axpy(alpha, p, m_solution);
        KokkosBlas::axpy(-alpha, q, m_r);
        ++run.iterations;
        run.residual = std::sqrt(dot(m_r, m_r)) / norm_of_b;
        precondition();
        const double next_rz = dot(m_r, m_z);
        KokkosBlas::axpby(Scalar(1), m_z, static_cast<Scalar>(next_rz / rz), p);
        rz = next_rz;
      }
    });
    Kokkos::deep_copy(p, m_first_x);
    return run;
  }

  /// Whether v*(A*w) and w*(A*v) agree up to rounding for two different vectors. Matrices that are not
  /// symmetric almost never pass. x is then as before.
  bool is_symmetric() {
    const auto v = m_first_x;
    const vector_type w = vector("w");
    // On a host a mirror can be the View itself, so that w is copied first.
    Kokkos::deep_copy(w, v);
    const auto reversed = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), w);
    std::reverse(reversed.data(), reversed.data() + reversed.extent(0));
    Kokkos::deep_copy(w, reversed);
    m_problem->multiply_by_kokkos_kernels(m_problem->crs);  // A*v
    const double first = dot(w, m_problem->y);
    const double scale = std::sqrt(dot(w, w) * dot(m_problem->y, m_problem->y));
    Kokkos::deep_copy(m_problem->x, w);
    m_problem->multiply_by_kokkos_kernels(m_problem->crs);
    const double second = dot(v, m_problem->y);
    Kokkos::deep_copy(m_problem->x, m_first_x);
    const double rounding = std::is_same_v<typename Problem::real_type, float> ? 1e-4 : 1e-10;
    return std::abs(first - second) <= rounding * scale;
  }

  /// The largest error of the solution of the last run: the exact solution is 1 in every row.
  double error() const {
    const auto solution = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), m_solution);
    double largest = 0;
    for (std::size_t i = 0; i < solution.extent(0); ++i) {
      const double error = std::abs(static_cast<double>(solution(i)) - 1.0);
      if (std::isnan(error)) return error;
      largest = std::max(largest, error);
    }
    return largest;
  }

 private:
  vector_type vector(const std::string& name) const {
    return vector_type("FiligreePerf::" + name, m_problem->y.extent(0));
  }
  void precondition() { KokkosBlas::mult(Scalar(0), m_z, Scalar(1), m_inverse_diagonal, m_r); }
  static double dot(const vector_type& a, const vector_type& b) {
    return static_cast<double>(KokkosBlas::dot(a, b));
  }

  std::shared_ptr<Problem> m_problem;
  vector_type m_b, m_solution, m_r, m_z, m_inverse_diagonal, m_first_x;
};

}  // namespace FiligreePerf

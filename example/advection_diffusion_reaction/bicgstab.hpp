// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <filigree/spmv.hpp>
#include <KokkosBlas1_axpby.hpp>
#include <KokkosBlas1_dot.hpp>

/// Solves A x = b with BiCGStab (van der Vorst 1992) for a matrix that need not be symmetric. x holds the
/// first guess and the result. Returns the number of iterations, each of two products, after which the norm
/// of the residual is `tolerance` times that of b.
template <class Matrix, class Vector>
int bicgstab(const Matrix& A, const Vector& b, const Vector& x, double tolerance, int max_iterations) {
  const std::size_t n = b.extent(0);
  Vector r("r", n), r0("r0", n), p("p", n), v("v", n), t("t", n);
  Kokkos::deep_copy(r, b);
  Filigree::spmv("N", -1.0, A, x, 1.0, r);
  Kokkos::deep_copy(r0, r);
  const double enough = tolerance * tolerance * KokkosBlas::dot(b, b);
  double rho = 1, alpha = 1, omega = 1;
  int iteration = 0;
  for (; KokkosBlas::dot(r, r) > enough && iteration < max_iterations; ++iteration) {
    const double next_rho = KokkosBlas::dot(r0, r);
    const double beta = iteration == 0 ? 0.0 : next_rho / rho * (alpha / omega);
    rho = next_rho;
    KokkosBlas::axpy(-omega, v, p);
    KokkosBlas::axpby(1.0, r, beta, p);  // p = r + beta (p - omega v)
    Filigree::spmv("N", 1.0, A, p, 0.0, v);
    alpha = rho / KokkosBlas::dot(r0, v);
    KokkosBlas::axpy(-alpha, v, r);
    Filigree::spmv("N", 1.0, A, r, 0.0, t);
    omega = KokkosBlas::dot(t, r) / KokkosBlas::dot(t, t);
    KokkosBlas::axpy(alpha, p, x);
    KokkosBlas::axpy(omega, r, x);
    KokkosBlas::axpy(-omega, t, r);
  }
  return iteration;
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Solves the pressure equation of a reservoir with conjugate gradients: the product by HEC, the
// preconditioner by the incomplete factors of Kokkos Kernels. HEC keeps the rows in their order, so that
// product and preconditioner use the same vectors.
//
//     preconditioner [cells per axis]
#include <filigree/convert.hpp>
#include <filigree/spmv.hpp>
#include <KokkosBlas1_axpby.hpp>
#include <KokkosBlas1_dot.hpp>

#include <cmath>
#include <cstdlib>
#include <iostream>

#include "incomplete_lu.hpp"

/// Preconditioned conjugate gradients. precondition(r, z) must compute z = M^-1 r. x holds the first guess
/// and the result. Returns the number of iterations after which the norm of the residual is 1e-10 times that
/// of b.
template <class Matrix, class Precondition>
int solve(const Matrix& A, const Precondition& precondition, const Vector& b, const Vector& x) {
  Vector r("r", b.extent(0)), z("z", b.extent(0)), p("p", b.extent(0)), Ap("Ap", b.extent(0));
  Kokkos::deep_copy(r, b);
  Filigree::spmv("N", -1.0, A, x, 1.0, r);
  double rz = 0;
  const double enough = 1e-20 * KokkosBlas::dot(b, b);
  int iteration = 0;
  for (; KokkosBlas::dot(r, r) > enough && iteration < 2000; ++iteration) {
    precondition(r, z);
    const double next_rz = KokkosBlas::dot(r, z);
    KokkosBlas::axpby(1.0, z, iteration == 0 ? 0.0 : next_rz / rz, p);
    rz = next_rz;
    Filigree::spmv("N", 1.0, A, p, 0.0, Ap);
    const double alpha = rz / KokkosBlas::dot(p, Ap);
    KokkosBlas::axpy(alpha, p, x);
    KokkosBlas::axpy(-alpha, Ap, r);
  }
  return iteration;
}

/// Solves A x = b from x = 0 and prints the iterations and the error. Returns whether x is right.
template <class Matrix, class Precondition>
bool report(const char* name, const Matrix& A, const Precondition& precondition, const Vector& exact) {
  Vector b("b", exact.extent(0)), x("x", exact.extent(0));
  Filigree::spmv("N", 1.0, A, exact, 0.0, b);
  Kokkos::fence();
  Kokkos::Timer timer;
  const int iterations = solve(A, precondition, b, x);
  Kokkos::fence();
  const double milliseconds = 1e3 * timer.seconds();
  KokkosBlas::axpy(-1.0, exact, x);
  const double error = std::sqrt(KokkosBlas::dot(x, x) / KokkosBlas::dot(exact, exact));
  std::cout << name << iterations << " iterations, " << milliseconds << " ms, relative error " << error
            << '\n';
  return error < 1e-6;
}

int main(int argc, char* argv[]) {
  Kokkos::ScopeGuard kokkos(argc, argv);
  std::cout.precision(3);
  const int cells = argc > 1 ? std::atoi(argv[1]) : 24;
  if (cells < 4 || cells > 300) {
    std::cerr << "usage: preconditioner [cells per axis, 4 to 300]\n";
    return EXIT_FAILURE;
  }
  const Crs crs = make_reservoir(cells);
  const auto A = Filigree::convert<Filigree::HecMatrix>(crs);
  std::cout << A.numRows() << " unknowns, " << A.nnz() << " entries; HEC: width " << A.width() << ", "
            << A.excess_values.extent(0) << " excess entries in " << A.excess_rows.extent(0) << " rows\n";

  const IncompleteLU factors(crs);
  std::cout << "ILU(0): " << factors.nnz() << " entries in both factors\n";

  Vector exact("exact", crs.numRows());
  Kokkos::parallel_for(
      "preconditioner::exact", Kokkos::RangePolicy<ExecutionSpace>(0, crs.numRows()),
      KOKKOS_LAMBDA(const int row) { exact(row) = 1.0 + 0.25 * (row % 11); });
  const bool plain_is_right = report(
      "no preconditioner  ", A, [](const Vector& r, const Vector& z) { Kokkos::deep_copy(z, r); }, exact);
  const bool ilu_is_right = report(
      "ILU(0)             ", A, [&](const Vector& r, const Vector& z) { factors.apply(r, z); }, exact);
  return plain_is_right && ilu_is_right ? EXIT_SUCCESS : EXIT_FAILURE;
}

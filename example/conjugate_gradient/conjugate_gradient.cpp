// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Solves A x = b with the method of conjugate gradients on the device. A belongs to a 3-D grid with three
// unknowns per cell and is stored in Column Diagonal Storage. An application calls Filigree::spmv instead of
// KokkosSparse::spmv.
#include <Filigree.hpp>

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <iostream>

using ExecutionSpace = Kokkos::DefaultExecutionSpace;
using Device = ExecutionSpace::device_type;
using Cds = Filigree::CdsMatrix<double, int, Device, void, std::size_t>;
using Vector = Kokkos::View<double*, Device>;
using Range = Kokkos::RangePolicy<ExecutionSpace>;

/// Three Laplacians that are coupled in each cell. The matrix is symmetric. The diagonal is 6.3 rather than
/// 6, which makes it positive definite.
struct SymmetricLaplacian {
  KOKKOS_INLINE_FUNCTION double operator()(std::int64_t cell, std::int64_t neighbour, int i, int j) const {
    if (cell == neighbour) return i == j ? 6.3 : 0.1;
    return i == j ? -1.0 : 0.0;
  }
};

double dot(const Vector& a, const Vector& b) {
  double sum = 0;
  Kokkos::parallel_reduce(
      "conjugate_gradient::dot", Range(0, a.extent(0)),
      KOKKOS_LAMBDA(const int i, double& part) { part += a(i) * b(i); }, sum);
  return sum;
}

/// y = alpha x + beta y
void axpby(double alpha, const Vector& x, double beta, const Vector& y) {
  Kokkos::parallel_for(
      "conjugate_gradient::axpby", Range(0, x.extent(0)),
      KOKKOS_LAMBDA(const int i) { y(i) = alpha * x(i) + beta * y(i); });
}

/// Iterates until the norm of the residual is at most `tolerance` times that of the first residual. Returns
/// the number of iterations, or -1 if max_iterations were not enough.
template <class Matrix>
int solve(const Matrix& A, const Vector& b, const Vector& x, double tolerance, int max_iterations) {
  Vector r("r", b.extent(0)), p("p", b.extent(0)), Ap("Ap", b.extent(0));
  Kokkos::deep_copy(r, b);
  Filigree::spmv("N", -1.0, A, x, 1.0, r);
  Kokkos::deep_copy(p, r);
  double rr = dot(r, r);
  const double enough = tolerance * tolerance * rr;
  for (int iteration = 0; iteration < max_iterations; ++iteration) {
    if (rr <= enough) return iteration;
    // All kernels run in order on the default instance. Only dot waits for its result.
    Filigree::spmv("N", 1.0, A, p, 0.0, Ap);
    const double alpha = rr / dot(p, Ap);
    axpby(alpha, p, 1.0, x);
    axpby(-alpha, Ap, 1.0, r);
    const double next_rr = dot(r, r);
    axpby(1.0, r, next_rr / rr, p);
    rr = next_rr;
  }
  return rr <= enough ? max_iterations : -1;
}

int main(int argc, char* argv[]) {
  Kokkos::ScopeGuard kokkos(argc, argv);
  const Filigree::StencilProblem<SymmetricLaplacian> problem({40, 40, 40}, Filigree::Stencil::seven_point(),
                                                             3, {});
  const Cds A = problem.cds<Cds>();
  std::cout << A.numRows() << " unknowns, " << A.nnz() << " entries in " << A.storage_bytes() << " bytes\n";

  Vector exact("exact", A.numRows()), b("b", A.numRows()), x("x", A.numRows());
  Kokkos::parallel_for(
      "conjugate_gradient::fill", Range(0, A.numRows()),
      KOKKOS_LAMBDA(const int i) { exact(i) = 1.0 + 0.25 * (i % 11); });
  Filigree::spmv("N", 1.0, A, exact, 0.0, b);

  const int iterations = solve(A, b, x, 1e-10, 500);
  axpby(-1.0, exact, 1.0, x);
  const double error = std::sqrt(dot(x, x) / dot(exact, exact));
  std::cout << (iterations < 0 ? "not converged" : "converged") << " in "
            << (iterations < 0 ? 500 : iterations) << " iterations, relative error " << error << '\n';
  return iterations >= 0 && error < 1e-8 ? EXIT_SUCCESS : EXIT_FAILURE;
}

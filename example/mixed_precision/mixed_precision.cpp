// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Solves a diffusion problem by conjugate gradients twice: with a matrix of double, and with one of float and
// iterative refinement. Both reach the same residual.
//
//     mixed_precision [cells per axis]
#include <Filigree.hpp>
#include <KokkosBlas1_axpby.hpp>
#include <KokkosBlas1_dot.hpp>

#include <cmath>
#include <cstdlib>
#include <exception>
#include <iostream>

using ExecutionSpace = Kokkos::DefaultExecutionSpace;
using Device = ExecutionSpace::device_type;
using Vector = Kokkos::View<double*, Device>;
template <class Scalar>
using SymCds = Filigree::SymCdsMatrix<Scalar, int, Device, void, int>;

/// Diffusion of three substances on n x n x n cells without a flux through the boundary, one implicit time
/// step. The conductance between two cells depends on both. In each cell the substances react with each
/// other.
struct Diffusion {
  static constexpr int substances = 3;
  static constexpr double step = 1.0 / 64;
  int n;

  KOKKOS_INLINE_FUNCTION double between(std::int64_t a, std::int64_t b) const {
    return 1 + static_cast<double>((a + b) % 10) / 7;
  }
  KOKKOS_INLINE_FUNCTION double operator()(std::int64_t cell, std::int64_t neighbour, int i, int j) const {
    if (i != j) return cell == neighbour ? -step / 4 : 0;
    if (cell != neighbour) return -between(cell, neighbour);
    double sum = step;
    std::int64_t stride = 1;
    for (int axis = 0; axis < 3; ++axis, stride *= n) {
      const std::int64_t at = cell / stride % n;
      if (at > 0) sum += between(cell, cell - stride);
      if (at < n - 1) sum += between(cell, cell + stride);
    }
    return sum;
  }
};

/// r = b - A * x
void compute_residual(const SymCds<double>& A, const Vector& b, const Vector& x, const Vector& r) {
  Kokkos::deep_copy(r, b);
  Filigree::spmv("N", -1.0, A, x, 1.0, r);
}

/// What a solver did.
struct Run {
  int iterations = 0;
  int refinements = 0;
  double residual = 1;  ///< norm of b - A * x, divided by that of b
  double seconds = 0;
};

/// Conjugate gradients for A * x = b, beginning with x = 0. The products with search directions use
/// `direction`, which is A or A with narrower values. All vectors and sums are double.
///
/// Whenever the residual of the recurrence has become smaller by the factor `refine_at`, a step of iterative
/// refinement follows: the sum of the steps since the last one is added to x, and b - A * x replaces the
/// residual. So the rounding of the entries in `direction` does not remain in x. The search direction is
/// kept, because a restart would cost many iterations. It loses its part along the new residual, to which it
/// must be orthogonal. This is called residual replacement (van der Vorst and Ye 2000).
template <class Matrix>
Run conjugate_gradients(const SymCds<double>& A, const Matrix& direction, const Vector& b, const Vector& x,
                        double tolerance, double refine_at) {
  const auto rows = b.extent(0);
  const Vector r("r", rows), p("p", rows), q("q", rows), steps("steps", rows);
  Kokkos::fence();
  Kokkos::Timer timer;
  Run run;
  Kokkos::deep_copy(x, 0.0);
  Kokkos::deep_copy(r, b);
  Kokkos::deep_copy(p, b);
  double rr = KokkosBlas::dot(r, r);
  const double enough = tolerance * tolerance * rr;
  const double bb = rr;
  double last = rr;  // at the last refinement
  while (rr > enough && run.iterations < 10000) {
    ++run.iterations;
    Filigree::spmv("N", 1.0, direction, p, 0.0, q);
    const double alpha = rr / KokkosBlas::dot(p, q);
    KokkosBlas::axpy(alpha, p, steps);
    KokkosBlas::axpy(-alpha, q, r);
    double next = KokkosBlas::dot(r, r);
    if (next <= enough || next <= refine_at * refine_at * last) {
      ++run.refinements;
      KokkosBlas::axpy(1.0, steps, x);
      Kokkos::deep_copy(steps, 0.0);
      compute_residual(A, b, x, r);
      last = next = KokkosBlas::dot(r, r);
      KokkosBlas::axpy(-KokkosBlas::dot(r, p) / next, r, p);
    }
    KokkosBlas::axpby(1.0, r, next / rr, p);
    rr = next;
  }
  run.seconds = timer.seconds();
  compute_residual(A, b, x, r);
  run.residual = std::sqrt(KokkosBlas::dot(r, r) / bb);
  return run;
}

void print(const char* name, const Run& run) {
  std::cout << name << ": " << run.iterations << " iterations, " << run.refinements
            << " refinements, residual " << run.residual << ", " << 1e3 * run.seconds << " ms\n";
}

int solve(int n) {
  constexpr double tolerance = 1e-12;
  const Filigree::StencilProblem<Diffusion> problem({n, n, n}, Filigree::Stencil::seven_point(),
                                                    Diffusion::substances, Diffusion{n});
  const auto A = problem.sym_cds<SymCds<double>>();
  const auto narrow = problem.sym_cds<SymCds<float>>();
  const auto rows = static_cast<std::size_t>(problem.numRows());
  const Vector b("b", rows), x("x", rows);
  Kokkos::parallel_for(
      "mixed_precision::fill_b", Kokkos::RangePolicy<ExecutionSpace>(0, rows),
      KOKKOS_LAMBDA(const int i) { b(i) = 1.0 + static_cast<double>(i % 7) / 3; });
  std::cout << rows << " unknowns\n";

  conjugate_gradients(A, A, b, x, 0.1, 0);  // the first products may set up memory
  const Run in_double = conjugate_gradients(A, A, b, x, tolerance, 0);
  print("double", in_double);
  const Run refined = conjugate_gradients(A, narrow, b, x, tolerance, 1e-2);
  print("float with refinement", refined);
  std::cout << "time of double / time of float with refinement: " << in_double.seconds / refined.seconds
            << '\n';
  const bool both_converged = in_double.residual <= tolerance && refined.residual <= tolerance;
  return both_converged ? EXIT_SUCCESS : EXIT_FAILURE;
}

int main(int argc, char* argv[]) {
  Kokkos::ScopeGuard kokkos(argc, argv);
  std::cout.precision(3);
  try {
    return solve(argc > 1 ? std::atoi(argv[1]) : 20);
  } catch (const std::exception& error) {
    std::cerr << "mixed_precision: " << error.what() << '\n';
    return EXIT_FAILURE;
  }
}

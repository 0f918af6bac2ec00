// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An application that used KokkosSparse::spmv, and what changes if it uses Filigree. It heats a cube of
// metal: in each time step it fills a CRS matrix with new values and solves a linear system with conjugate
// gradients. It runs once with each of the two libraries, compares the results, and prints the time steps
// after which the conversion has paid off:
//
//     drop_in [cells per axis] [time steps]
#include <Filigree.hpp>
#include <KokkosBlas1_axpby.hpp>
#include <KokkosBlas1_dot.hpp>
#include <KokkosSparse_spmv.hpp>

#include <cmath>
#include <cstdlib>
#include <iostream>

#include "heat_problem.hpp"

/// Conjugate gradients. multiply(p, Ap) must compute Ap = A p. x holds the first guess and the result.
/// Returns the number of iterations after which the norm of the residual is 1e-10 times that of b.
template <class Multiply>
int solve(const Multiply& multiply, const Vector& b, const Vector& x) {
  Vector r("r", b.extent(0)), p("p", b.extent(0)), Ap("Ap", b.extent(0));
  multiply(x, Ap);
  Kokkos::deep_copy(r, b);
  KokkosBlas::axpy(-1.0, Ap, r);
  Kokkos::deep_copy(p, r);
  double rr = KokkosBlas::dot(r, r);
  const double enough = 1e-20 * KokkosBlas::dot(b, b);
  int iteration = 0;
  for (; rr > enough && iteration < 1000; ++iteration) {
    multiply(p, Ap);
    const double alpha = rr / KokkosBlas::dot(p, Ap);
    KokkosBlas::axpy(alpha, p, x);
    KokkosBlas::axpy(-alpha, Ap, r);
    const double next_rr = KokkosBlas::dot(r, r);
    KokkosBlas::axpby(1.0, r, next_rr / rr, p);
    rr = next_rr;
  }
  return iteration;
}

/// The result of all time steps.
struct Run {
  Vector temperature;
  int iterations = 0;
  double seconds = 0;
};

/// The time loop of the application. new_values() is called when the CRS matrix has the values of the next
/// step.
template <class NewValues, class Multiply>
Run simulate(const HeatProblem& problem, int steps, const NewValues& new_values, const Multiply& multiply) {
  Run run;
  run.temperature = problem.first_temperature();
  Vector previous("previous", run.temperature.extent(0));
  Kokkos::fence();
  Kokkos::Timer timer;
  for (int step = 0; step < steps; ++step) {
    Kokkos::deep_copy(previous, run.temperature);
    problem.assemble(previous);
    new_values();
    run.iterations += solve(multiply, previous, run.temperature);
  }
  Kokkos::fence();
  run.seconds = timer.seconds();
  return run;
}

int main(int argc, char* argv[]) {
  Kokkos::ScopeGuard kokkos(argc, argv);
  std::cout.precision(4);
  const int cells = argc > 1 ? std::atoi(argv[1]) : 40;
  const int steps = argc > 2 ? std::atoi(argv[2]) : 5;
  if (cells < 2 || cells > 600 || steps < 1) {
    std::cerr << "usage: drop_in [cells per axis, 2 to 600] [time steps, 1 or more]\n";
    return EXIT_FAILURE;
  }
  const HeatProblem problem(cells);
  const Crs& crs = problem.matrix;
  std::cout << crs.numRows() << " cells, " << crs.nnz() << " entries, " << steps << " time steps\n";

  // Before: the product of Kokkos Kernels.
  const auto kokkos_kernels = [&] {
    return simulate(
        problem, steps, [] {},
        [&](const Vector& x, const Vector& y) { KokkosSparse::spmv("N", 1.0, crs, x, 0.0, y); });
  };
  kokkos_kernels();  // so that the times below do not include the first use of anything
  const Run before = kokkos_kernels();

  // After: optimize once, refill in each time step, and multiply by A instead of crs.
  Kokkos::Timer timer;
  Filigree::OptimizeOptions options;
  options.products = before.iterations;  // an estimate will do: it weighs the time of the conversion
  options.time_best = true;  // a prediction alone is less accurate on a host and for small matrices
  const auto A = Filigree::optimize(crs, options);
  Kokkos::fence();
  const double optimize_seconds = timer.seconds();
  Filigree::RefillOptions same_pattern;
  same_pattern.check_pattern = false;  // the time loop never changes the pattern
  const auto filigree = [&] {
    return simulate(
        problem, steps, [&] { Filigree::refill(A, crs, same_pattern); },
        [&](const Vector& x, const Vector& y) { Filigree::spmv("N", 1.0, A, x, 0.0, y); });
  };
  filigree();
  const Run after = filigree();

  std::cout << "Kokkos Kernels  " << before.iterations << " iterations in " << 1e3 * before.seconds << " ms\n"
            << "Filigree        " << after.iterations << " iterations in " << 1e3 * after.seconds
            << " ms with " << A.selection().picked << ", after " << 1e3 * optimize_seconds
            << " ms in optimize\n";
  const double gain = (before.seconds - after.seconds) / steps;
  std::cout << "break-even      ";
  if (gain > 0)
    std::cout << "after " << std::ceil(optimize_seconds / gain) << " time steps\n";
  else
    std::cout << "never: stay with Kokkos Kernels for this matrix on this machine\n";

  // No heat leaves the cube, so that the mean temperature stays.
  Vector difference("difference", crs.numRows());
  Kokkos::deep_copy(difference, after.temperature);
  KokkosBlas::axpy(-1.0, before.temperature, difference);
  const double error = std::sqrt(KokkosBlas::dot(difference, difference) /
                                 KokkosBlas::dot(before.temperature, before.temperature));
  const double drift = problem.mean(after.temperature) / problem.mean(problem.first_temperature()) - 1;
  std::cout << "mean temperature " << problem.mean(after.temperature) << ", highest "
            << problem.highest(after.temperature) << '\n'
            << "difference of the temperatures " << error << ", change of the mean " << std::abs(drift)
            << '\n';
  return error < 1e-8 && std::abs(drift) < 1e-8 ? EXIT_SUCCESS : EXIT_FAILURE;
}

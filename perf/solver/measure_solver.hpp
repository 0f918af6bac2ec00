// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <iomanip>
#include <iostream>
#include <map>

#include "measure/session.hpp"
#include "solver/conjugate_gradients.hpp"

namespace FiligreePerf {

/// When a run of conjugate gradients ends.
struct SolverOptions {
  double tolerance = 1e-8;  ///< norm of the residual divided by that of the right-hand side
  int most_iterations = 2000;
};

/// Prints the figures of the solver.
inline void print_solver(const Report& report) {
  std::cout << "\n"
            << report.problem << ": " << report.rows << " rows, " << report.entries << " entries\n"
            << std::left << std::setw(28) << "format" << std::right
            << "iterations  ms per iteration  of that the product  conversion ms  speed of the solution  "
               "pays after\n";
  for (const Result& result : report.results) {
    // --benchmark_filter excludes it.
    if (result.further.empty() && result.refusal.empty()) continue;
    std::map<std::string, double> figures(result.further.begin(), result.further.end());
    std::cout << std::left << std::setw(28) << result.format << std::right << std::fixed;
    if (!result.is_timed()) {
      std::cout << "refused: " << result.refusal << '\n';
      continue;
    }
    std::cout << std::setprecision(0) << std::setw(10) << figures["iterations"] << std::setprecision(4)
              << std::setw(18) << figures["iteration_ms"] << std::setw(21) << 1e3 * result.seconds()
              << std::setprecision(3) << std::setw(15) << 1e3 * result.conversion_seconds
              << std::setprecision(2) << std::setw(23) << figures["solution_speedup_vs_kokkos_kernels"];
    if (result.format == reference_name)
      std::cout << std::setw(12) << "-";
    else if (figures["pays_after_iterations"] < 0)
      std::cout << std::setw(12) << "never";
    else
      std::cout << std::setprecision(0) << std::setw(12) << figures["pays_after_iterations"];
    std::cout << (figures["converged"] == 0 ? "  not converged" : "") << '\n';
  }
  std::cout
      << "The speed of the solution includes the conversion. It is relative to Kokkos Kernels' CRS, and the\n"
         "conversion pays after the given number of iterations.\n"
      << std::defaultfloat << std::setprecision(6) << std::endl;
}

/// Measures conjugate gradients with the product of each wanted candidate. The solver with a candidate and the
/// one with Kokkos Kernels' product run in turns, three times each. The benchmarks also have the figures of
/// the products alone. Prints a table.
///
/// Throws std::invalid_argument if the matrix is not square or not symmetric, or if conjugate gradients with Kokkos
/// Kernels' product show that it is not positive definite.
template <class Scalar>
void measure_solver(Session& session, const std::string& scalar, const std::string& problem_name,
                    int block_size, const typename SpmvProblem<Scalar>::crs_type& crs,
                    const std::vector<std::string>& names, const SolverOptions& options) {
  using Problem = SpmvProblem<Scalar>;
  using Solver = ConjugateGradients<Scalar>;
  using Product = typename Measurement<Scalar>::product_type;
  if (crs.numRows() != crs.numCols())
    Filigree::Impl::fail<std::invalid_argument>("conjugate gradients need a square matrix; this one has ",
                                                crs.numRows(), " rows and ", crs.numCols(), " columns.");
  Measurement<Scalar> measurement(crs, session.header(problem_name, scalar, block_size));
  const auto solver = std::make_shared<Solver>(measurement.problem());
  const auto problem = measurement.problem();
  if (!solver->is_symmetric())
    throw std::invalid_argument("conjugate gradients need a symmetric matrix; this one is not.");
  const auto first = solver->solve([problem]() { problem->multiply_by_kokkos_kernels(problem->crs); },
                                   options.tolerance, options.most_iterations);
  if (!first.is_definite)
    Filigree::Impl::fail<std::invalid_argument>(
        "conjugate gradients need a positive definite matrix; this one is not: in iteration ",
        first.iterations + 1, " the direction p has a p*A*p that is not positive.");
  measurement.set_further([solver, options](const std::shared_ptr<Problem>&, const Result& result,
                                            const Product& reference, const Product& product) {
    std::vector<double> seconds, reference_seconds;
    typename Solver::Run run, reference_run;
    double error = 0;
    for (int turn = 0; turn < 3; ++turn) {
      reference_seconds.push_back(
          (reference_run = solver->solve(reference, options.tolerance, options.most_iterations)).seconds);
      run = solver->solve(product, options.tolerance, options.most_iterations);
      error = solver->error();
      seconds.push_back(run.seconds);
    }
    const double solve = median(seconds), reference_solve = median(reference_seconds);
    const double iterations = std::max(1, run.iterations);
    const double reference_iterations = std::max(1, reference_run.iterations);
    // No gain that is smaller than the differences between the runs.
    const double slowest = *std::max_element(seconds.begin(), seconds.end()) / iterations;
    const double fastest =
        *std::min_element(reference_seconds.begin(), reference_seconds.end()) / reference_iterations;
    const double gain = slowest < fastest ? reference_solve / reference_iterations - solve / iterations : 0;
    return Figures{
        {"iterations", static_cast<double>(run.iterations)},
        {"kokkos_kernels_iterations", static_cast<double>(reference_run.iterations)},
        {"converged", run.residual <= options.tolerance ? 1.0 : 0.0},
        {"relative_residual", run.residual},
        {"solution_error", error},
        {"solve_ms", 1e3 * solve},
        {"iteration_ms", 1e3 * solve / iterations},
        {"kokkos_kernels_solve_ms", 1e3 * reference_solve},
        {"time_to_solution_ms", 1e3 * (solve + result.conversion_seconds)},
        {"solution_speedup_vs_kokkos_kernels", reference_solve / (solve + result.conversion_seconds)},
        // -1: the conversion never pays off.
        {"pays_after_iterations", gain > 0 ? result.conversion_seconds / gain : -1.0}};
  });
  session.measure(measurement, wanted_by_name(names));
  print_solver(measurement.report());
}

}  // namespace FiligreePerf

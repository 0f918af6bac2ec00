// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <filigree/solve/conjugate_gradients.hpp>
#include <iomanip>

#include "solver/conjugate_gradients.hpp"
#include "support/generated.hpp"
#include "support/named_matrix.hpp"
#include "support/symmetric_grid.hpp"
#include "targets/sections.hpp"

namespace FiligreePerf {
namespace {

using Execution = Kokkos::DefaultExecutionSpace;
using Crs = SpmvProblem<double>::crs_type;
using Vector = Kokkos::View<double*, Execution::device_type>;
using Dots = Kokkos::View<Filigree::Sums<double, 2>, Execution::device_type>;

/// The times of the fused products of a matrix, divided by that of a product, next to what the bytes allow.
template <class Matrix>
void fused_products(TargetReport& report, const std::string& name, const Matrix& A, int block_size,
                    double bandwidth) {
  const Execution exec;
  const CacheFlush<Execution> flush(exec);
  const auto rows = static_cast<std::size_t>(A.numRows());
  const Vector x("x", rows), b("b", rows), r("r", rows), w("w", rows);
  const Dots dots("dots");
  Kokkos::deep_copy(x, 1.0);
  Kokkos::deep_copy(b, 2.0);
  const double vector_bytes = 8.0 * static_cast<double>(rows);
  const double product_bytes = static_cast<double>(A.storage_bytes()) + 2 * vector_bytes;
  const double product =
      median_cold_seconds(exec, flush, [&]() { Filigree::spmv(exec, "N", 1.0, A, x, 0.0, r); });
  report.out() << '\n'
               << name << ", " << A.name() << ": product " << std::fixed << std::setprecision(4)
               << 1e3 * product << " ms, " << std::setprecision(2) << product_bytes / product / bandwidth
               << " of read\n";
  const auto measure = [&](const std::string& what, double more_vectors, const auto& work, bool is_target) {
    const double seconds = median_cold_seconds(exec, flush, work);
    const double bytes = product_bytes + more_vectors * vector_bytes;
    report.out() << "  " << std::left << std::setw(34) << what << std::right << std::setprecision(4)
                 << std::setw(9) << 1e3 * seconds << " ms, " << std::setprecision(3) << seconds / product
                 << " products, bytes " << bytes / product_bytes << ", " << std::setprecision(2)
                 << bytes / seconds / bandwidth << " of read" << std::endl;
    if (is_target)
      report.at_most(what + ", " + A.name() + ", " + name + ": time / product", 1.1, seconds / product);
  };
  const auto inverse = Filigree::inverse_diagonal(exec, A);
  const auto inverse_in_float = Filigree::inverse_diagonal<float>(exec, A);
  const Filigree::StepFactors<double> jacobi = {0.5, 0, 1};
  const Filigree::StepFactors<double> chebyshev = {0.5, -0.5, 1.5};
  measure(
      "residual", 1, [&]() { Filigree::residual(exec, "N", A, x, b, r); }, true);
  measure(
      "Jacobi step", 2, [&]() { Filigree::relaxation_step(exec, A, x, b, inverse, jacobi, w); }, false);
  measure(
      "Chebyshev step", 3, [&]() { Filigree::relaxation_step(exec, A, x, b, inverse, chebyshev, w); }, false);
  measure(
      "Chebyshev step, D^-1 in float", 2.5,
      [&]() { Filigree::relaxation_step(exec, A, x, b, inverse_in_float, chebyshev, w); }, true);
  measure(
      "product and two dot products", 0, [&]() { Filigree::product_and_dots(exec, "N", A, x, r, dots); },
      false);
  if (block_size > 1) {
    const auto blocks = Filigree::inverse_diagonal_blocks(exec, A, block_size);
    measure(
        "Chebyshev step with blocks", 5 + block_size,
        [&]() { Filigree::relaxation_step(exec, A, x, b, blocks, chebyshev, w); }, false);
    const auto blocks_in_float = Filigree::inverse_diagonal_blocks<float>(exec, A, block_size);
    measure(
        "the same, blocks in float", 5 + 0.5 * block_size,
        [&]() { Filigree::relaxation_step(exec, A, x, b, blocks_in_float, chebyshev, w); }, false);
  }
}

/// The set-up and the application of block Jacobi, with the inverse blocks in Stored.
template <class Stored, class Matrix>
void block_jacobi_in(TargetReport& report, const std::string& name, const Matrix& A, double bandwidth) {
  const Execution exec;
  const CacheFlush<Execution> flush(exec);
  const auto rows = static_cast<std::size_t>(A.numRows());
  const Vector x("x", rows), y("y", rows);
  const double product =
      median_cold_seconds(exec, flush, [&]() { Filigree::spmv(exec, "N", 1.0, A, x, 0.0, y); });
  using Blocks = Filigree::BlockJacobiPreconditioner<Matrix, Stored>;
  std::unique_ptr<Blocks> blocks;
  const double setup = median_seconds_after(
      exec, [&]() { blocks.reset(); }, [&]() { blocks = std::make_unique<Blocks>(exec, A, A.block_size()); },
      0.1);
  const double application = median_cold_seconds(exec, flush, [&]() { blocks->apply(exec, x, y); });
  const double refill = median_seconds(
      exec, [&]() { blocks->refill(exec, A); }, 0.1);
  const double bytes =
      static_cast<double>(blocks->inverse().storage_bytes()) + 2 * 8.0 * static_cast<double>(rows);
  report.out() << '\n'
               << name << ": set-up " << std::fixed << std::setprecision(4) << 1e3 * setup << " ms, refill "
               << 1e3 * refill << " ms, product " << 1e3 * product << " ms, application " << 1e3 * application
               << " ms, reading its blocks and vectors " << 1e3 * bytes / bandwidth << " ms" << std::endl;
  report.at_most(name + ": set-up / product", 3.0, setup / product);
  report.at_most(name + ": application / reading its blocks and vectors", 1.05,
                 application / (bytes / bandwidth));
}

void block_jacobi(TargetReport& report, const GridCase& grid, double bandwidth) {
  Filigree::CdsOptions options;
  options.block_size = grid.dof;
  const auto A = Filigree::convert<Filigree::CdsMatrix>(grid_matrix<Crs>(grid), options);
  block_jacobi_in<double>(report, "block Jacobi, " + grid.name(), A, bandwidth);
  block_jacobi_in<float>(report, "block Jacobi in float, " + grid.name(), A, bandwidth);
}

/// Seconds of one iteration of a solver: the difference of two runs with different numbers of iterations, so that
/// the begin and the end do not count.
template <class Solve>
double iteration_seconds(const Solve& solve) {
  constexpr int few = 40, many = 200;
  std::vector<double> differences;
  for (int turn = 0; turn < 5; ++turn) {
    const double of_few = solve(few);
    differences.push_back((solve(many) - of_few) / (many - few));
  }
  return median(differences);
}

/// An iteration of conjugate gradients with a diagonal preconditioner, compared with its bytes and with the same
/// iteration made of a Filigree product and of KokkosBlas.
void conjugate_gradients(TargetReport& report, const GridCase& grid, double required_speed,
                         double bandwidth) {
  const Execution exec;
  const auto problem = std::make_shared<SpmvProblem<double>>(
      symmetric_matrix<Crs>(grid.cells_of_axes(), grid.stencil(), grid.dof), grid.dof);
  Filigree::CdsOptions cds_options;
  cds_options.block_size = grid.dof;
  const auto A = Filigree::convert<Filigree::CdsMatrix>(exec, problem->crs, cds_options);
  using Matrix = std::decay_t<decltype(A)>;
  const auto rows = static_cast<std::size_t>(A.numRows());
  const Vector x("solution", rows), b("b", rows);
  Kokkos::deep_copy(b, problem->x);
  Timer<Execution> timer(exec);
  const auto iteration_with = [&](auto stored) {
    using Jacobi = Filigree::JacobiPreconditioner<Matrix, decltype(stored)>;
    return iteration_seconds([&](int iterations) {
      Filigree::SolverOptions options;
      options.relative_tolerance = 0;
      options.most_iterations = iterations;
      options.iterations_per_check = 20;
      Filigree::ConjugateGradients<Execution, Matrix, Jacobi> solver(exec, A, Jacobi(exec, A), options);
      Kokkos::deep_copy(x, 0.0);
      return timer.seconds([&]() { solver.solve(b, x); });
    });
  };
  const double fused = iteration_with(double());
  const double in_float = iteration_with(float());
  ConjugateGradients<double> reference(problem);
  const double separate = iteration_seconds([&](int iterations) {
    return reference
        .solve([&]() { Filigree::spmv(exec, "N", 1.0, A, problem->x, 0.0, problem->y); }, 0, iterations)
        .seconds;
  });
  const double bytes = static_cast<double>(A.storage_bytes()) + 12 * 8.0 * static_cast<double>(rows);
  report.out() << '\n'
               << grid.name() << ", CG iteration: " << std::fixed << std::setprecision(4) << 1e3 * fused
               << " ms, " << std::setprecision(0) << 1e-6 * bytes << " MB, with separate kernels "
               << std::setprecision(4) << 1e3 * separate << " ms, with D^-1 in float " << 1e3 * in_float
               << " ms" << std::endl;
  report.at_least("CG iteration, " + grid.name() + ": fraction of read bandwidth", 0.9,
                  bytes / fused / bandwidth);
  report.at_least("CG iteration, " + grid.name() + ": speed / separate kernels", required_speed,
                  separate / fused);
}

/// The time to a residual of 1e-8 with a matrix of the given format, compared with the same method with Kokkos
/// Kernels' CRS product and KokkosBlas.
template <template <class, class, class, class, class> class Format>
void time_to_solution(TargetReport& report, const GridCase& grid,
                      const std::shared_ptr<SpmvProblem<double>>& problem, double required) {
  const Execution exec;
  Filigree::convert_options_t<Format, Crs> options;
  options.block_size = grid.dof;
  const auto A = Filigree::convert<Format>(exec, problem->crs, options);
  using Matrix = std::decay_t<decltype(A)>;
  using Jacobi = Filigree::JacobiPreconditioner<Matrix>;
  ConjugateGradients<double> reference(problem);
  const auto rows = static_cast<std::size_t>(A.numRows());
  const Vector x("solution", rows), exact("exact", rows), b("b", rows);
  Kokkos::deep_copy(exact, 1.0);
  Filigree::spmv(exec, "N", 1.0, A, exact, 0.0, b);
  Filigree::ConjugateGradients<Execution, Matrix, Jacobi> solver(exec, A, Jacobi(exec, A));
  Timer<Execution> timer(exec);
  std::vector<double> own, others;
  int iterations = 0, other_iterations = 0;
  for (int turn = 0; turn < 5; ++turn) {
    Kokkos::deep_copy(x, 0.0);
    Filigree::SolverResult result;
    own.push_back(timer.seconds([&]() { result = solver.solve(b, x); }));
    if (!result.has_converged())
      Filigree::Impl::fail<std::runtime_error>("conjugate gradients with ", A.name(), " ended after ",
                                               result.iterations, " iterations with a residual of ",
                                               result.residual / result.norm_of_b,
                                               " of b; it must be at most 1e-8.");
    iterations = result.iterations;
    const auto run =
        reference.solve([&]() { problem->multiply_by_kokkos_kernels(problem->crs); }, 1e-8, 1000);
    other_iterations = run.iterations;
    others.push_back(run.seconds);
  }
  report.out() << '\n'
               << grid.name() << ", CG to 1e-8: " << A.name() << ' ' << std::fixed << std::setprecision(3)
               << 1e3 * median(own) << " ms (" << iterations << " iterations), Kokkos Kernels' CRS "
               << 1e3 * median(others) << " ms (" << other_iterations << " iterations)" << std::endl;
  report.at_least("CG with " + std::string(A.name()) + ", " + grid.name() +
                      ": speed of the solution / Kokkos Kernels' CRS",
                  required, median(others) / median(own));
}

}  // namespace

void solve(TargetReport& report, const Options& options, double bandwidth) {
  for (const GridCase& grid : {GridCase{256, 3, 1}, GridCase{128, 3, 3}, GridCase{100, 3, 4}}) {
    Filigree::CdsOptions cds;
    cds.block_size = grid.dof;
    fused_products(report, grid.name(), Filigree::convert<Filigree::CdsMatrix>(grid_matrix<Crs>(grid), cds),
                   grid.dof, bandwidth);
  }
  fused_products(report, "27-point 100^3",
                 Filigree::convert<Filigree::SellMatrix>(
                     grid_matrix<Crs>({100, 3, 1}, Filigree::Stencil::twenty_seven_point())),
                 1, bandwidth);
  for (const char* name : options.if_folder(solve_files))
    fused_products(report, name,
                   Filigree::convert<Filigree::SellMatrix>(
                       from_file<Crs>(options.path_of(name), entries_of_large).make()),
                   1, bandwidth);
  for (const GridCase& grid : {GridCase{100, 3, 4}, GridCase{80, 3, 7}, GridCase{64, 3, 11}})
    block_jacobi(report, grid, bandwidth);
  conjugate_gradients(report, {256, 3, 1}, 1.25, bandwidth);
  conjugate_gradients(report, {100, 3, 4}, 1.0, bandwidth);
  const GridCase grid = {128, 3, 4};
  const auto problem = std::make_shared<SpmvProblem<double>>(
      symmetric_matrix<Crs>(grid.cells_of_axes(), grid.stencil(), grid.dof), grid.dof);
  time_to_solution<Filigree::CdsMatrix>(report, grid, problem, 2.0);
  time_to_solution<Filigree::SymCdsMatrix>(report, grid, problem, 2.5);
}

}  // namespace FiligreePerf

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// GMRES with restarts.
#include <filigree/solve/gmres.hpp>

#include "krylov_tests.hpp"

namespace FiligreeTest {
namespace {

struct GmresMethod {
  using Options = Filigree::GmresOptions;
  template <class Matrix, class Preconditioner>
  using solver = Filigree::Gmres<ExecutionSpace, Matrix, Preconditioner>;
};

Filigree::GmresOptions with_restart(int restart, double tolerance) {
  auto options = with_tolerance<Filigree::GmresOptions>(tolerance);
  options.restart = restart;
  return options;
}

TEST(Gmres, SolvesSystems) {
  for (const int restart : {30, 13, 100}) {
    SCOPED_TRACE(restart);
    expect_solutions<GmresMethod, double>(with_restart(restart, 1e-10));
  }
}
TEST(Gmres, SolvesSystemsInFloat) {
  expect_solutions<GmresMethod, float>(with_restart(30, 1e-5));
}
TEST(Gmres, SolvesComplexSystems) {
  using Scalar = Kokkos::complex<double>;
  expect_solutions<GmresMethod, Scalar>(with_restart(30, 1e-10));
  const auto system =
      with_random_b("damped waves", convection_diffusion<Scalar>(7, 6, 0.5, Scalar(0.7, -0.9)));
  EXPECT_TRUE(is_solved(
      system, solve<GmresMethod>(device_crs(system.matrix), system.b, with_restart(30, 1e-10)), 1e-10));
}
TEST(Gmres, SolvesSystemsInAnyFormat) {
  expect_solutions_in_formats<GmresMethod>();
}
TEST(Gmres, TakesVectorsWithStrides) {
  expect_solution_of_strided_vectors<GmresMethod>(with_restart(30, 1e-8));
  expect_solution_of_strided_vectors<GmresMethod>(with_restart(200, 1e-8));
}
TEST(Gmres, GivesTheSameBits) {
  expect_same_bits<GmresMethod>();
}
TEST(Gmres, AllocatesNothingInSolve) {
  expect_no_allocations<GmresMethod>();
}
TEST(Gmres, ReportsWhyItEnds) {
  expect_ends<GmresMethod>();
}
TEST(Gmres, EndsForSingularMatrices) {
  expect_ends_of_singular_systems<GmresMethod>();
}

TEST(Gmres, ChecksArguments) {
  expect_errors<GmresMethod>("Filigree::Gmres");
  const auto crs = device_crs(dense_matrix({{1}}));
  EXPECT_TRUE(holds(message<std::invalid_argument>([&] {
                      GmresMethod::solver<Crs<double>, Filigree::NoPreconditioner>(ExecutionSpace(), crs, {},
                                                                                   with_restart(0, 0));
                    }),
                    {"Filigree::Gmres: restart is 0; it must be at least 1."}));
}

/// The smallest residuals in the Krylov spaces. A basis of A times the space is orthogonalised in long double.
std::vector<long double> reference_history(const Dense& A, const std::vector<Wide>& b, int iterations) {
  std::vector<std::vector<Wide>> basis;
  std::vector<Wide> r = b, w = b;
  std::vector<long double> result(1, norm(r));
  for (int i = 0; i < iterations; ++i) {
    w = dense_product(A, w);
    for (int pass = 0; pass < 2; ++pass)
      for (const auto& u : basis)
        w = sum_of(w, -dot(u, w), u);
    w = sum_of(std::vector<Wide>(w.size()), 1 / norm(w), w);
    r = sum_of(r, -dot(w, r), w);
    basis.push_back(w);
    result.push_back(norm(r));
  }
  return result;
}

TEST(Gmres, HasTheSmallestResiduals) {
  const auto options = with_restart(60, 1e-13);
  const auto real = with_random_b("convection", convection_diffusion<double>(9, 8, 3));
  const auto outcome = solve<GmresMethod>(device_crs(real.matrix), real.b, options);
  const int iterations = outcome.result.iterations - 2;
  EXPECT_GT(iterations, 30);
  EXPECT_TRUE(begins_with(outcome.result.history,
                          reference_history(Dense(real.matrix), wide_list(real.b), iterations), 1e-2));
  using Scalar = Kokkos::complex<double>;
  const auto complex =
      with_random_b("damped waves", convection_diffusion<Scalar>(7, 6, 0.5, Scalar(0.7, -0.9)));
  EXPECT_TRUE(begins_with(solve<GmresMethod>(device_crs(complex.matrix), complex.b, options).result.history,
                          reference_history(Dense(complex.matrix), wide_list(complex.b), 25), 1e-6));
}

/// Sixty eigenvalues from 1 to 1e-6. With one pass of Gram-Schmidt the basis loses its orthogonality, and the residual
/// after sixty iterations is 6e-4.
TEST(Gmres, KeepsTheBasisOrthogonal) {
  HostMatrix<double> matrix(60, 60);
  for (std::int64_t row = 0; row < 60; ++row) {
    const double eigenvalue = std::pow(10.0, -6.0 * static_cast<double>(row) / 59);
    matrix.rows[static_cast<std::size_t>(row)].push_back({row, eigenvalue});
    if (row < 59) matrix.rows[static_cast<std::size_t>(row)].push_back({row + 1, eigenvalue / 2});
  }
  const auto system = with_random_b("graded", matrix);
  const auto options = with_restart(60, 1e-9);
  const auto outcome = solve<GmresMethod>(device_crs(matrix), system.b, options);
  EXPECT_TRUE(is_solved(system, outcome, 1e-9));
  EXPECT_EQ(outcome.result.iterations, 60);
}

/// Without rounding, GMRES needs no more iterations than there are rows.
TEST(Gmres, NeedsAtMostOneIterationPerRow) {
  const auto options = with_restart(100, 1e-9);
  for (const auto& system : regular_systems<double>()) {
    const auto outcome = solve<GmresMethod>(device_crs(system.matrix), system.b, options);
    EXPECT_LE(outcome.result.iterations, static_cast<int>(system.b.size())) << system.name;
  }
  const HostSystem<double> turned{"turned", dense_matrix({{0, 1}, {-1, 0}}), {1, 0}};
  const auto outcome = solve<GmresMethod>(device_crs(turned.matrix), turned.b, options);
  EXPECT_TRUE(is_solved(turned, outcome, 1e-9));
  EXPECT_EQ(outcome.result.iterations, 2);
}

/// A GPU splits a vector of this length into rows per lane, and more columns than a lane holds at once are needed. A
/// wrong dot product would cost more iterations than one cycle has.
TEST(Gmres, SolvesLongSystems) {
  constexpr std::int64_t rows = 400001;
  HostMatrix<double> matrix(rows, rows);
  for (std::int64_t row = 0; row < rows; ++row)
    for (std::int64_t column = std::max<std::int64_t>(row - 1, 0); column <= std::min(row + 1, rows - 1);
         ++column)
      matrix.rows[static_cast<std::size_t>(row)].push_back({column, column == row ? 2.2 : -1});
  const auto system = with_random_b("line", matrix);
  const auto outcome = solve<GmresMethod>(device_crs(matrix), system.b, with_restart(60, 1e-8));
  EXPECT_TRUE(outcome.result.has_converged());
  EXPECT_GT(outcome.result.iterations, 32);
  EXPECT_LT(outcome.result.iterations, 60);
  long double square = 0;
  for (std::size_t row = 0; row < rows; ++row) {
    long double residual = system.b[row];
    for (const auto& [column, value] : matrix.rows[row])
      residual -= static_cast<long double>(value) * outcome.x[static_cast<std::size_t>(column)];
    square += residual * residual;
  }
  EXPECT_LE(std::sqrt(square), 1.001e-8L * outcome.result.norm_of_b);
}

TEST(Gmres, NeverIncreasesTheResidual) {
  const auto system = with_random_b("convection", convection_diffusion<double>(20, 15, 3));
  for (const int restart : {1, 2, 5, 30}) {
    const auto outcome = solve<GmresMethod>(device_crs(system.matrix), system.b, with_restart(restart, 1e-8));
    const auto& history = outcome.result.history;
    for (std::size_t i = 1; i < history.size(); ++i)
      EXPECT_LE(history[i], history[i - 1] * (1 + 1e-7)) << restart << ", iteration " << i;
    EXPECT_TRUE(outcome.result.has_converged()) << restart;
  }
}

/// A permutation with one cycle: the residual stays the same until the last row.
TEST(Gmres, StagnatesIfACycleIsTooShort) {
  HostMatrix<double> shift(12, 12);
  for (std::int64_t row = 0; row < 12; ++row)
    shift.rows[static_cast<std::size_t>(row)].push_back({(row + 1) % 12, 1.0});
  HostSystem<double> system{"shift", shift, std::vector<double>(12)};
  system.b[0] = 3;
  auto options = with_restart(11, 1e-10);
  options.most_iterations = 100;
  const auto stagnant = solve<GmresMethod>(device_crs(shift), system.b, options);
  EXPECT_EQ(stagnant.result.end, SolverEnd::most_iterations);
  EXPECT_EQ(stagnant.result.iterations, 100);
  EXPECT_EQ(stagnant.result.residual, 3);
  EXPECT_EQ(stagnant.x, std::vector<double>(12));
  options.restart = 12;
  const auto outcome = solve<GmresMethod>(device_crs(shift), system.b, options);
  EXPECT_TRUE(is_solved(system, outcome, 1e-10));
  EXPECT_EQ(outcome.result.iterations, 12);
}

/// The least-squares problem of a singular matrix has a solution, which GMRES finds if the null space of A is that of
/// its transpose.
TEST(Gmres, ReportsABreakdownAtTheLeastResidual) {
  const HostSystem<double> system{"singular", dense_matrix({{2, 0, 0}, {0, 5, 0}, {0, 0, 0}}), {1, 1, 0.5}};
  const auto outcome = solve<GmresMethod>(device_crs(system.matrix), system.b);
  EXPECT_EQ(outcome.result.end, SolverEnd::breakdown);
  EXPECT_NEAR(outcome.result.residual, 0.5, 1e-14);
  EXPECT_TRUE(reports_well(system, outcome));
}

/// Vectors of very large and very small numbers.
TEST(Gmres, ScalesTheBasis) {
  for (const float factor : {1e-15f, 1e15f}) {
    auto system = with_random_b("dominant", diagonally_dominant<float>(50));
    for (auto& row : system.matrix.rows)
      for (auto& entry : row)
        entry.value *= factor;
    for (float& element : system.b)
      element *= factor;
    EXPECT_TRUE(is_solved(
        system, solve<GmresMethod>(device_crs(system.matrix), system.b, with_restart(30, 1e-5)), 1e-5));
  }
}

TEST(Gmres, EndsWhenRoundingKeepsTheResidualLarge) {
  HostMatrix<float> host(200, 200);
  for (std::int64_t row = 0; row < 200; ++row) {
    auto& entries = host.rows[static_cast<std::size_t>(row)];
    if (row > 0) entries.push_back({row - 1, -1.1f});
    entries.push_back({row, 4.3f});
    if (row < 199) entries.push_back({row + 1, -0.9f});
  }
  const auto system = with_random_b("float", host);
  const auto outcome = solve<GmresMethod>(device_crs(host), system.b);
  EXPECT_EQ(outcome.result.end, SolverEnd::stagnation);
  EXPECT_LT(outcome.result.iterations, 100);
  EXPECT_LT(outcome.result.residual, 1e-5 * outcome.result.norm_of_b);
}

}  // namespace
}  // namespace FiligreeTest

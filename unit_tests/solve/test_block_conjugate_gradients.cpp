// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <filigree/grid/stencil.hpp>
#include <filigree/solve/block_conjugate_gradients.hpp>
#include <filigree/solve/conjugate_gradients.hpp>

#include "grid_systems.hpp"

namespace FiligreeTest {
namespace {

using Filigree::Stencil;
template <class Matrix, int Columns, class Preconditioner = Filigree::NoPreconditioner>
using BlockCg = Filigree::BlockConjugateGradients<ExecutionSpace, Matrix, Columns, Preconditioner>;

/// The right-hand sides as columns, and what a solver did.
template <class Scalar, int Columns>
struct BlockOutcome {
  Filigree::BlockSolverResult<Columns> results;
  std::vector<std::vector<Scalar>> x;  ///< columns
};

template <class Scalar>
Kokkos::View<Scalar**, Device> device_columns(const std::vector<std::vector<Scalar>>& columns) {
  const Kokkos::View<Scalar**, Device> result("columns", columns[0].size(), columns.size());
  const auto mirror = Kokkos::create_mirror_view(result);
  for (std::size_t column = 0; column < columns.size(); ++column)
    for (std::size_t row = 0; row < columns[column].size(); ++row)
      mirror(row, column) = columns[column][row];
  Kokkos::deep_copy(result, mirror);
  return result;
}

template <int Columns, class Matrix, class Scalar, class Preconditioner = Filigree::NoPreconditioner>
BlockOutcome<Scalar, Columns> solve_block(const Matrix& A, const std::vector<std::vector<Scalar>>& b,
                                          const Filigree::SolverOptions& options = {},
                                          const Preconditioner& preconditioner = {}) {
  const BlockCg<Matrix, Columns, Preconditioner> solver(ExecutionSpace(), A, preconditioner, options);
  // Another layout than that of b.
  const Kokkos::View<Scalar**, Kokkos::LayoutRight, Device> x("x", b[0].size(), Columns);
  BlockOutcome<Scalar, Columns> result{solver.solve(device_columns(b), x), {}};
  const auto mirror = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), x);
  for (std::size_t column = 0; column < b.size(); ++column) {
    result.x.emplace_back();
    for (std::size_t row = 0; row < b[0].size(); ++row)
      result.x.back().push_back(mirror(row, column));
  }
  return result;
}

template <class Scalar>
std::vector<std::vector<Scalar>> random_columns(std::int64_t rows, int columns) {
  Random random(7);
  std::vector<std::vector<Scalar>> result;
  for (int column = 0; column < columns; ++column)
    result.push_back(random.vectors<Scalar>(rows, 1).data);
  return result;
}

template <class Scalar, int Columns>
void expect_solved(const HostMatrix<Scalar>& host, const std::vector<std::vector<Scalar>>& b,
                   const BlockOutcome<Scalar, Columns>& outcome, double tolerance) {
  for (std::size_t column = 0; column < b.size(); ++column)
    EXPECT_TRUE(is_solved(HostSystem<Scalar>{"block", host, b[column]},
                          Outcome<Scalar>{outcome.results[column], outcome.x[column]}, tolerance))
        << "column " << column;
}

template <class Scalar, int Columns>
void expect_block_solutions() {
  SCOPED_TRACE(Columns);
  const double tolerance = usual_tolerance<Scalar>();
  const auto options = with_tolerance<Filigree::SolverOptions>(tolerance);
  const auto host = hermitian_grid<Scalar>({5, 4, 3}, Stencil::seven_point().points, 2);
  const auto A = device_cds(host, 2);
  using Matrix = std::decay_t<decltype(A)>;
  const auto b = random_columns<Scalar>(host.row_count(), Columns);
  expect_solved(host, b, solve_block<Columns>(A, b, options), tolerance);
  const Filigree::JacobiPreconditioner<Matrix> jacobi(ExecutionSpace(), A);
  expect_solved(host, b, solve_block<Columns>(A, b, options, jacobi), tolerance);
  const Filigree::BlockJacobiPreconditioner<Matrix> blocks(ExecutionSpace(), A, 2);
  expect_solved(host, b, solve_block<Columns>(A, b, options, blocks), tolerance);
}

TEST(BlockConjugateGradients, SolvesSystems) {
  expect_block_solutions<double, 1>();
  expect_block_solutions<double, 3>();
  expect_block_solutions<double, 8>();
  expect_block_solutions<float, 4>();
  expect_block_solutions<Kokkos::complex<double>, 2>();
}

TEST(BlockConjugateGradients, TakesTheStepsOfConjugateGradientsForOneColumn) {
  const auto system = with_random_b("diffusion", convection_diffusion<double>(20, 18, 0));
  const auto A = device_crs(system.matrix);
  const auto block = solve_block<1>(A, std::vector<std::vector<double>>{system.b});
  using Vector = Kokkos::View<double*, Device>;
  const Vector x("x", system.b.size());
  const Filigree::ConjugateGradients<ExecutionSpace, Crs<double>> solver(ExecutionSpace(), A);
  const auto expected = solver.solve(device_list<Vector>(system.b), x);
  const std::vector<long double> history(expected.history.begin(), expected.history.begin() + 20);
  EXPECT_TRUE(begins_with(block.results[0].history, history, 1e-8));
}

TEST(BlockConjugateGradients, NeedsFewerIterationsThanOneColumn) {
  const auto host = convection_diffusion<double>(40, 35, 0);
  const auto A = device_crs(host);
  const auto b = random_columns<double>(host.row_count(), 4);
  const auto block = solve_block<4>(A, b);
  const auto single = solve_block<1>(A, std::vector<std::vector<double>>{b[0]});
  EXPECT_TRUE(single.results[0].has_converged());
  for (const auto& result : block.results)
    EXPECT_TRUE(result.has_converged());
  EXPECT_LT(block.results[0].iterations, 0.8 * single.results[0].iterations);
}

TEST(BlockConjugateGradients, SolvesForDependentColumns) {
  const auto host = convection_diffusion<double>(12, 10, 0);
  const auto A = device_crs(host);
  auto b = random_columns<double>(host.row_count(), 4);
  b[1] = b[0];
  for (std::size_t i = 0; i < b[2].size(); ++i) {
    b[2][i] = 0;
    b[3][i] = b[0][i] + 1e-9 * b[3][i];
  }
  const auto options = with_tolerance<Filigree::SolverOptions>(1e-10);
  const auto outcome = solve_block<4>(A, b, options);
  expect_solved(host, b, outcome, 1e-10);
  // A column that is much smaller than the others has its own limit.
  for (double& element : b[1])
    element *= 1e-12;
  expect_solved(host, b, solve_block<4>(A, b, options), 1e-10);
  // All columns are 0 or equal.
  b[1] = b[3] = b[0];
  expect_solved(host, b, solve_block<4>(A, b, options), 1e-10);
}

TEST(BlockConjugateGradients, SolvesSystemsOfFewRows) {
  // More columns than rows.
  const auto host = hermitian_grid<double>({3, 1, 1}, Stencil::three_point().points, 1);
  const auto b = random_columns<double>(3, 5);
  const auto options = with_tolerance<Filigree::SolverOptions>(1e-10);
  const auto outcome = solve_block<5>(device_crs(host), b, options);
  expect_solved(host, b, outcome, 1e-10);
  EXPECT_LE(outcome.results[0].iterations, 3);
  const auto empty =
      solve_block<2>(device_crs(HostMatrix<double>(0, 0)), std::vector<std::vector<double>>(2));
  EXPECT_TRUE(empty.results[1].has_converged());
}

TEST(BlockConjugateGradients, GivesTheSameBits) {
  const auto host = convection_diffusion<double>(80, 70, 0);
  const auto A = device_crs(host);
  const auto b = random_columns<double>(host.row_count(), 3);
  const auto first = solve_block<3>(A, b);
  for (const int interval : {8, 1, 3, 1000}) {
    Filigree::SolverOptions options;
    options.iterations_per_check = interval;
    const auto other = solve_block<3>(A, b, options);
    for (std::size_t column = 0; column < 3; ++column) {
      EXPECT_TRUE(same_bits(other.x[column], first.x[column]));
      EXPECT_TRUE(same_bits(other.results[column].history, first.results[column].history));
    }
  }
}

TEST(BlockConjugateGradients, ReportsWhyItEnded) {
  const auto host = convection_diffusion<double>(12, 10, 0);
  const auto A = device_crs(host);
  auto b = random_columns<double>(host.row_count(), 2);
  for (const int most : {0, 1, 5}) {
    Filigree::SolverOptions options;
    options.most_iterations = most;
    const auto outcome = solve_block<2>(A, b, options);
    for (std::size_t column = 0; column < 2; ++column) {
      EXPECT_EQ(outcome.results[column].end, SolverEnd::most_iterations);
      EXPECT_EQ(outcome.results[column].iterations, most);
      EXPECT_TRUE(reports_well(HostSystem<double>{"block", host, b[column]},
                               Outcome<double>{outcome.results[column], outcome.x[column]}));
    }
  }
  // More than rounding allows.
  Filigree::SolverOptions hopeless;
  hopeless.relative_tolerance = 0;
  const auto stagnant = solve_block<2>(A, b, hopeless);
  for (std::size_t column = 0; column < 2; ++column) {
    EXPECT_FALSE(stagnant.results[column].has_converged());
    EXPECT_LE(stagnant.results[column].residual, 1e-12 * stagnant.results[column].norm_of_b);
  }

  const auto end_of = [](const std::vector<std::vector<double>>& rows,
                         const std::vector<std::vector<double>>& columns) {
    return solve_block<2>(device_crs(dense_matrix(rows)), columns).results[0].end;
  };
  EXPECT_EQ(end_of({{-1, 0}, {0, -1}}, {{1, 0}, {0, 1}}), SolverEnd::breakdown);
  EXPECT_EQ(end_of({{1, 0}, {0, -1}}, {{1, 0}, {0, 1}}), SolverEnd::breakdown);
  EXPECT_EQ(end_of({{0, 1}, {-1, 0}}, {{1, 1}, {1, 1}}), SolverEnd::breakdown);

  b[1][3] = not_a_number<double>();
  const auto bad = solve_block<2>(A, b);
  for (std::size_t column = 0; column < 2; ++column) {
    EXPECT_EQ(bad.results[column].end, SolverEnd::not_finite);
    EXPECT_EQ(bad.results[column].iterations, 0);
    EXPECT_EQ(bad.x[column], std::vector<double>(b[0].size()));
  }
  // The square of the second number is not finite.
  for (const double large : {std::numeric_limits<double>::infinity(), 1e160}) {
    b[1][3] = large;
    const auto outcome = solve_block<2>(A, b);
    for (std::size_t column = 0; column < 2; ++column)
      EXPECT_EQ(outcome.results[column].end, SolverEnd::not_finite) << large << ", column " << column;
  }
}

TEST(BlockConjugateGradients, SolvesSingularSystemsThatHaveASolution) {
  // The Laplacian with Neumann boundaries. The elements of each column add up to 0.
  HostMatrix<double> host(30, 30);
  for (std::int64_t row = 0; row < 30; ++row) {
    auto& entries = host.rows[static_cast<std::size_t>(row)];
    if (row > 0) entries.push_back({row - 1, -1.0});
    entries.push_back({row, row == 0 || row == 29 ? 1.0 : 2.0});
    if (row < 29) entries.push_back({row + 1, -1.0});
  }
  std::vector<std::vector<double>> b(2, std::vector<double>(30));
  for (std::size_t i = 0; i < 30; ++i) {
    b[0][i] = i % 2 == 0 ? 1 : -1;
    b[1][i] = i < 15 ? 1 : -1;
  }
  const auto outcome = solve_block<2>(device_crs(host), b);
  for (std::size_t column = 0; column < 2; ++column) {
    EXPECT_TRUE(outcome.results[column].has_converged());
    EXPECT_TRUE(reports_well(HostSystem<double>{"Neumann", host, b[column]},
                             Outcome<double>{outcome.results[column], outcome.x[column]}));
  }
}

TEST(BlockConjugateGradients, AllocatesNothingInASecondSolution) {
  const auto host = convection_diffusion<double>(20, 20, 0);
  const auto A = device_crs(host);
  const auto b = device_columns(random_columns<double>(host.row_count(), 2));
  const Kokkos::View<double**, Device> x("x", b.extent(0), 2);
  using Blocks = Filigree::BlockJacobiPreconditioner<Crs<double>>;
  const BlockCg<Crs<double>, 2, Blocks> solver(ExecutionSpace(), A, Blocks(ExecutionSpace(), A, 4));
  solver.solve(b, x);
  Kokkos::deep_copy(x, 0.0);
  const KokkosRecorder recorder;
  EXPECT_TRUE(solver.solve(b, x)[1].has_converged());
  EXPECT_EQ(recorder.events().allocations, std::vector<std::string>());
  EXPECT_EQ(recorder.events().global_fences, std::vector<std::string>());
}

TEST(BlockConjugateGradients, RefusesVectorsThatDoNotFit) {
  const auto A = device_crs(convection_diffusion<double>(3, 2, 0));
  const BlockCg<Crs<double>, 2> solver(ExecutionSpace(), A);
  using Vectors = Kokkos::View<double**, Device>;
  const Vectors right("right", 6, 2), narrow("narrow", 6, 1), low("low", 5, 2);
  const auto of_solve = [&](const Vectors& b, const Vectors& x) {
    return message<std::invalid_argument>([&] { solver.solve(b, x); });
  };
  const std::string function = "Filigree::BlockConjugateGradients::solve";
  EXPECT_TRUE(holds(of_solve(narrow, right), {function + ": b is 6 x 1; it must be 6 x 2."}));
  EXPECT_TRUE(holds(of_solve(right, low), {function + ": x is 5 x 2; it must be 6 x 2."}));
  EXPECT_TRUE(holds(of_solve(right, right), {function + ": b and x share memory"}));
}

}  // namespace
}  // namespace FiligreeTest

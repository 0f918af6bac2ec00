// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Systems and checks that the tests of all Krylov methods share. A Method has the options of a solver and the solver:
//
//   struct Method {
//     using Options = ...;
//     template <class Matrix, class Preconditioner>
//     using solver = ...;
//   };
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <filigree/convert.hpp>
#include <filigree/formats.hpp>
#include <filigree/solve/preconditioner.hpp>
#include <filigree/solve/solver.hpp>
#include <filigree/tune/optimize.hpp>
#include <limits>
#include <string>
#include <vector>

#include "../support/errors.hpp"
#include "../support/host_matrix.hpp"
#include "../support/product.hpp"
#include "../support/tools.hpp"
#include "dense.hpp"

namespace FiligreeTest {

using Filigree::SolverEnd;
using Filigree::SolverResult;

/// A x = b on the host.
template <class Scalar>
struct HostSystem {
  std::string name;
  HostMatrix<Scalar> matrix;
  std::vector<Scalar> b;
};

template <class Scalar>
HostSystem<Scalar> with_random_b(const std::string& name, const HostMatrix<Scalar>& matrix) {
  return {name, matrix, Random(11).vectors<Scalar>(matrix.row_count(), 1).data};
}

/// Random entries, and a diagonal that is larger than the sum of the others in its row.
template <class Scalar>
HostMatrix<Scalar> diagonally_dominant(std::int64_t rows) {
  Random random(static_cast<unsigned>(rows));
  HostMatrix<Scalar> result(rows, rows);
  for (std::int64_t row = 0; row < rows; ++row) {
    auto& entries = result.rows[static_cast<std::size_t>(row)];
    entries.push_back({row, Scalar(11) + random.value<Scalar>()});
    for (int i = 0; i < 6; ++i) {
      const std::int64_t column = random.below(rows);
      if (column != row) entries.push_back({column, random.value<Scalar>()});
    }
  }
  return canonical(result);
}

/// The five-point stencil of -laplace(u) + convection du/dx on a grid of nx x ny cells, with upwind differences.
/// The diagonal is reduced by `shift`.
template <class Scalar>
HostMatrix<Scalar> convection_diffusion(std::int64_t nx, std::int64_t ny, double convection,
                                        const Scalar& shift = Scalar(0)) {
  using Real = Filigree::Impl::real_t<Scalar>;
  HostMatrix<Scalar> result(nx * ny, nx * ny);
  const auto left = static_cast<Real>(-1 - convection);
  for (std::int64_t row = 0; row < nx * ny; ++row) {
    auto& entries = result.rows[static_cast<std::size_t>(row)];
    if (row >= nx) entries.push_back({row - nx, Scalar(-1)});
    if (row % nx > 0) entries.push_back({row - 1, Scalar(left)});
    entries.push_back({row, Scalar(Real(3) - left) - shift});
    if (row % nx < nx - 1) entries.push_back({row + 1, Scalar(-1)});
    if (row + nx < nx * ny) entries.push_back({row + nx, Scalar(-1)});
  }
  return result;
}

/// A matrix with the given diagonals.
inline HostMatrix<double> dense_matrix(const std::vector<std::vector<double>>& rows) {
  const auto size = static_cast<std::int64_t>(rows.size());
  HostMatrix<double> result(size, size);
  for (std::size_t row = 0; row < rows.size(); ++row)
    for (std::size_t column = 0; column < rows.size(); ++column)
      if (rows[row][column] != 0)
        result.rows[row].push_back({static_cast<std::int64_t>(column), rows[row][column]});
  return result;
}

template <class Scalar>
std::vector<HostSystem<Scalar>> regular_systems() {
  using Real = Filigree::Impl::real_t<Scalar>;
  HostMatrix<Scalar> identity(20, 20);
  for (std::int64_t row = 0; row < 20; ++row)
    identity.rows[static_cast<std::size_t>(row)].push_back({row, Scalar(1)});
  std::vector<HostSystem<Scalar>> result;
  for (const int rows : {1, 2, 3, 17, 90})
    result.push_back(with_random_b("dominant " + std::to_string(rows), diagonally_dominant<Scalar>(rows)));
  result.push_back(with_random_b("identity", identity));
  result.push_back(with_random_b("diffusion", convection_diffusion<Scalar>(9, 7, 0)));
  result.push_back(with_random_b("convection", convection_diffusion<Scalar>(9, 7, 6)));
  result.push_back(
      with_random_b("symmetric indefinite", convection_diffusion<Scalar>(6, 5, 0, Scalar(Real(1.3)))));
  return result;
}

/// What a solver returned.
template <class Scalar>
struct Outcome {
  SolverResult result;
  std::vector<Scalar> x;
};

template <class Method, class Matrix, class Scalar, class Preconditioner = Filigree::NoPreconditioner>
Outcome<Scalar> solve_from(const Matrix& A, const std::vector<Scalar>& b, const std::vector<Scalar>& x0,
                           const typename Method::Options& options = {},
                           const Preconditioner& preconditioner = {}) {
  using Vector = Kokkos::View<Scalar*, Device>;
  typename Method::template solver<Matrix, Preconditioner> solver(ExecutionSpace(), A, preconditioner,
                                                                  options);
  const auto x = device_list<Vector>(x0);
  const auto result = solver.solve(device_list<Vector>(b), x);
  return {result, host_list(x)};
}
template <class Method, class Matrix, class Scalar, class Preconditioner = Filigree::NoPreconditioner>
Outcome<Scalar> solve(const Matrix& A, const std::vector<Scalar>& b,
                      const typename Method::Options& options = {},
                      const Preconditioner& preconditioner = {}) {
  return solve_from<Method>(A, b, std::vector<Scalar>(b.size()), options, preconditioner);
}

template <class Options>
Options with_tolerance(double tolerance) {
  Options options;
  options.relative_tolerance = tolerance;
  return options;
}

template <class Scalar>
double usual_tolerance() {
  return std::is_same_v<Filigree::Impl::real_t<Scalar>, float> ? 1e-5 : 1e-10;
}

/// Whether the numbers of a report fit together and to x. The residual of x may differ from the reported one by the
/// rounding of all iterations.
template <class Scalar>
testing::AssertionResult reports_well(const HostSystem<Scalar>& system, const Outcome<Scalar>& outcome) {
  const SolverResult& result = outcome.result;
  const Dense A(system.matrix);
  const auto b = wide_list(system.b);
  const auto x = wide_list(outcome.x);
  if (result.history.size() != static_cast<std::size_t>(result.iterations) + 1)
    return testing::AssertionFailure()
           << result.iterations << " iterations, but " << result.history.size() << " elements of the history";
  if (result.history.back() != result.residual)
    return testing::AssertionFailure() << "the history ends with " << result.history.back()
                                       << ", but the residual is " << result.residual;
  if (std::abs(result.norm_of_b - norm(b)) > 1e-12L * norm(b))
    return testing::AssertionFailure() << "the norm of b is " << norm(b) << ", not " << result.norm_of_b;
  const long double size = dense_norm(A) * norm(x) + norm(b);
  const long double rounding =
      4 * (result.iterations + 4) * size * std::numeric_limits<Filigree::Impl::real_t<Scalar>>::epsilon();
  const long double residual = norm(dense_residual(A, x, b));
  if (!(std::abs(residual - result.residual) <= rounding))
    return testing::AssertionFailure()
           << "the residual is " << residual << ", not " << result.residual << " +- " << rounding;
  return testing::AssertionSuccess();
}

/// Whether a solver has solved a regular system.
template <class Scalar>
testing::AssertionResult is_solved(const HostSystem<Scalar>& system, const Outcome<Scalar>& outcome,
                                   double tolerance) {
  const SolverResult& result = outcome.result;
  if (!result.has_converged())
    return testing::AssertionFailure() << Filigree::name_of(result.end) << " after " << result.iterations
                                       << " iterations; the residual is " << result.residual;
  if (!(result.residual <= tolerance * result.norm_of_b))
    return testing::AssertionFailure() << "the residual is " << result.residual << ", larger than "
                                       << tolerance << " times " << result.norm_of_b;
  const auto reported = reports_well(system, outcome);
  if (!reported) return reported;
  const Dense A(system.matrix);
  const auto b = wide_list(system.b);
  const auto expected = solve_dense(A, b);
  auto error = wide_list(outcome.x);
  for (std::size_t i = 0; i < error.size(); ++i)
    error[i] -= expected[i];
  const long double bound =
      inverse_norm(A) * norm(dense_residual(A, wide_list(outcome.x), b)) * 1.001L + 1e-17L;
  if (!(norm(error) <= bound))
    return testing::AssertionFailure() << "the error is " << norm(error) << ", larger than " << bound;
  return testing::AssertionSuccess();
}

/// Expects that a method solves all regular systems, with every preconditioner.
template <class Method, class Scalar>
void expect_solutions(const typename Method::Options& options) {
  for (const auto& system : regular_systems<Scalar>()) {
    SCOPED_TRACE(system.name);
    const auto crs = device_crs(system.matrix);
    using Matrix = Crs<Scalar>;
    const double tolerance = options.relative_tolerance;
    EXPECT_TRUE(is_solved(system, solve<Method>(crs, system.b, options), tolerance));
    const Filigree::JacobiPreconditioner<Matrix> jacobi(ExecutionSpace(), crs);
    EXPECT_TRUE(is_solved(system, solve<Method>(crs, system.b, options, jacobi), tolerance)) << "Jacobi";
    if (system.b.size() < 3) continue;
    const Filigree::BlockJacobiPreconditioner<Matrix> blocks(ExecutionSpace(), crs, 3);
    EXPECT_TRUE(is_solved(system, solve<Method>(crs, system.b, options, blocks), tolerance)) << "blocks";
  }
}

/// Expects that a method solves a system with matrices of several formats.
template <class Method>
void expect_solutions_in_formats() {
  const auto system = with_random_b("convection", convection_diffusion<double>(9, 8, 3));
  const auto crs = device_crs(system.matrix);
  const auto options = with_tolerance<typename Method::Options>(1e-10);
  const auto expect_solution = [&](const auto& A) {
    using Matrix = std::decay_t<decltype(A)>;
    SCOPED_TRACE(Filigree::MatrixTraits<Matrix>::name());
    EXPECT_TRUE(is_solved(system, solve<Method>(A, system.b, options), 1e-10));
    const Filigree::JacobiPreconditioner<Matrix> jacobi(ExecutionSpace(), A);
    EXPECT_TRUE(is_solved(system, solve<Method>(A, system.b, options, jacobi), 1e-10));
    const Filigree::BlockJacobiPreconditioner<Matrix> blocks(ExecutionSpace(), A, 8);
    EXPECT_TRUE(is_solved(system, solve<Method>(A, system.b, options, blocks), 1e-10));
    const Filigree::JacobiPreconditioner<Matrix, float> jacobi_in_float(ExecutionSpace(), A);
    EXPECT_TRUE(is_solved(system, solve<Method>(A, system.b, options, jacobi_in_float), 1e-10));
    const Filigree::BlockJacobiPreconditioner<Matrix, float> blocks_in_float(ExecutionSpace(), A, 8);
    EXPECT_TRUE(is_solved(system, solve<Method>(A, system.b, options, blocks_in_float), 1e-10));
  };
  expect_solution(Filigree::convert<Filigree::CdsMatrix>(crs));
  expect_solution(Filigree::convert<Filigree::SellMatrix>(crs));
  expect_solution(Filigree::optimize(crs));
}

/// Expects a solution of more rows than a team has, from b and x with strides.
template <class Method>
void expect_solution_of_strided_vectors(const typename Method::Options& options) {
  const auto matrix = convection_diffusion<double>(73, 61, 2);
  const auto crs = device_crs(matrix);
  const auto rows = static_cast<std::size_t>(matrix.row_count());
  const Kokkos::View<double**, Kokkos::LayoutRight, Device> vectors("vectors", rows, 3);
  const auto b = Kokkos::subview(vectors, Kokkos::ALL(), 0);
  const auto x = Kokkos::subview(vectors, Kokkos::ALL(), 2);
  Kokkos::deep_copy(b, 1.0);
  typename Method::template solver<Crs<double>, Filigree::NoPreconditioner> solver(ExecutionSpace(), crs, {},
                                                                                   options);
  const auto result = solver.solve(b, x);
  EXPECT_TRUE(result.has_converged()) << Filigree::name_of(result.end);
  const auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), vectors);
  long double sum = 0;
  for (std::size_t row = 0; row < rows; ++row) {
    long double element = host(row, 0);
    EXPECT_EQ(host(row, 1), 0.0);
    for (const auto& entry : matrix.rows[row])
      element -= static_cast<long double>(entry.value) * host(static_cast<std::size_t>(entry.column), 2);
    sum += element * element;
  }
  EXPECT_LE(std::sqrt(sum), 1.01 * options.relative_tolerance * result.norm_of_b);
}

/// Whether the history of residuals begins with the expected one, up to `tolerance` of each element.
inline testing::AssertionResult begins_with(const std::vector<double>& history,
                                            const std::vector<long double>& expected, double tolerance) {
  if (history.size() < expected.size())
    return testing::AssertionFailure() << "the history has only " << history.size() << " elements";
  for (std::size_t i = 0; i < expected.size(); ++i)
    if (!(std::abs(history[i] - expected[i]) <= tolerance * expected[i]))
      return testing::AssertionFailure()
             << "the residual before iteration " << i << " is " << history[i] << "; expected " << expected[i];
  return testing::AssertionSuccess();
}

template <class Scalar>
bool same_bits(const std::vector<Scalar>& a, const std::vector<Scalar>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(Scalar)) == 0;
}

/// Expects the same bits from two solvers, from one solver used twice, and for any iterations_per_check.
template <class Method>
void expect_same_bits() {
  const auto system = with_random_b("convection", convection_diffusion<double>(60, 50, 2));
  const auto crs = device_crs(system.matrix);
  const auto options = with_tolerance<typename Method::Options>(1e-7);
  const auto expected = solve<Method>(crs, system.b, options);
  EXPECT_TRUE(expected.result.has_converged());
  for (const int iterations_per_check : {8, 1, 3, 1000000}) {
    auto other = options;
    other.iterations_per_check = iterations_per_check;
    const auto outcome = solve<Method>(crs, system.b, other);
    EXPECT_TRUE(same_bits(outcome.x, expected.x)) << iterations_per_check;
    EXPECT_TRUE(same_bits(outcome.result.history, expected.result.history)) << iterations_per_check;
    EXPECT_EQ(outcome.result.end, expected.result.end);
  }
  using Vector = Kokkos::View<double*, Device>;
  typename Method::template solver<Crs<double>, Filigree::NoPreconditioner> solver(ExecutionSpace(), crs, {},
                                                                                   options);
  const auto b = device_list<Vector>(system.b);
  for (int run = 0; run < 2; ++run) {
    const Vector x("x", system.b.size());
    solver.solve(b, x);
    EXPECT_TRUE(same_bits(host_list(x), expected.x)) << run;
  }
}

/// Expects that a second solve() allocates nothing, and that each kernel has a name of this library.
template <class Method>
void expect_no_allocations() {
  const auto system = with_random_b("convection", convection_diffusion<double>(20, 20, 2));
  const auto crs = device_crs(system.matrix);
  using Vector = Kokkos::View<double*, Device>;
  const auto b = device_list<Vector>(system.b);
  const Vector x("x", system.b.size());
  const auto expect_none = [&](auto& solver) {
    solver.solve(b, x);
    Kokkos::deep_copy(x, 0.0);
    const KokkosRecorder recorder;
    EXPECT_TRUE(solver.solve(b, x).has_converged());
    EXPECT_EQ(recorder.events().allocations, std::vector<std::string>());
    EXPECT_EQ(recorder.events().global_fences, std::vector<std::string>());
    for (const auto& name : recorder.events().kernels)
      EXPECT_EQ(name.find("Filigree::"), 0u) << name;
  };
  typename Method::template solver<Crs<double>, Filigree::NoPreconditioner> plain(ExecutionSpace(), crs);
  expect_none(plain);
  using Jacobi = Filigree::JacobiPreconditioner<Crs<double>>;
  typename Method::template solver<Crs<double>, Jacobi> jacobi(ExecutionSpace(), crs,
                                                               {ExecutionSpace(), crs});
  expect_none(jacobi);
  using Blocks = Filigree::BlockJacobiPreconditioner<Crs<double>>;
  typename Method::template solver<Crs<double>, Blocks> blocks(ExecutionSpace(), crs,
                                                               {ExecutionSpace(), crs, 4});
  expect_none(blocks);
}

/// Expects the right reports of systems that need no iteration or have no solution.
template <class Method>
void expect_ends() {
  using Options = typename Method::Options;
  const auto system = with_random_b("convection", convection_diffusion<double>(6, 5, 2));
  const auto crs = device_crs(system.matrix);
  const std::vector<double> zeros(30);

  const auto empty = solve<Method>(device_crs(HostMatrix<double>(0, 0)), std::vector<double>());
  EXPECT_EQ(empty.result.end, SolverEnd::converged);

  const auto zero = solve<Method>(crs, zeros);
  EXPECT_EQ(zero.result.end, SolverEnd::converged);
  EXPECT_EQ(zero.result.iterations, 0);
  EXPECT_EQ(zero.x, zeros);
  EXPECT_EQ(zero.result.history, std::vector<double>(1, 0.0));

  Options absolute;
  absolute.absolute_tolerance = 1e-9;
  const auto to_zero = solve_from<Method>(crs, zeros, system.b, absolute);
  EXPECT_EQ(to_zero.result.end, SolverEnd::converged);
  EXPECT_LE(to_zero.result.residual, 1e-9);
  EXPECT_GT(to_zero.result.iterations, 0);

  // Products and sums of these numbers are exact.
  const HostSystem<double> exact{"exact", dense_matrix({{2, 1, 0}, {0, 4, -1}, {8, 0, 1}}), {4, 5, 11}};
  const auto same = solve_from<Method>(device_crs(exact.matrix), exact.b, {1, 2, 3});
  EXPECT_EQ(same.result.end, SolverEnd::converged);
  EXPECT_EQ(same.result.iterations, 0);
  EXPECT_EQ(same.x, std::vector<double>({1, 2, 3}));

  for (const double value : {not_a_number<double>(), infinity<double>()}) {
    auto b = system.b;
    b[7] = value;
    const auto bad = solve<Method>(crs, b);
    EXPECT_EQ(bad.result.end, SolverEnd::not_finite);
    EXPECT_EQ(bad.result.iterations, 0);
    EXPECT_EQ(bad.x, zeros);
    auto matrix = system.matrix;
    matrix.rows[12][1].value = value;
    const auto bad_matrix = solve<Method>(device_crs(matrix), system.b);
    EXPECT_EQ(bad_matrix.result.end, SolverEnd::not_finite);
    EXPECT_EQ(bad_matrix.result.iterations, 0);
  }

  for (const int most : {0, 1, 2, 5}) {
    Options limited;
    limited.most_iterations = most;
    const auto outcome = solve<Method>(crs, system.b, limited);
    EXPECT_EQ(outcome.result.end, SolverEnd::most_iterations);
    EXPECT_EQ(outcome.result.iterations, most);
    EXPECT_TRUE(reports_well(system, outcome)) << most;
    if (most == 0) {
      EXPECT_EQ(outcome.x, zeros);
    }
  }

  // More than rounding allows.
  Options hopeless;
  hopeless.relative_tolerance = 0;
  hopeless.most_iterations = 500;
  const auto stagnant = solve<Method>(crs, system.b, hopeless);
  EXPECT_TRUE(reports_well(system, stagnant));
  EXPECT_LE(stagnant.result.residual, 1e-12 * stagnant.result.norm_of_b);

  // More than float vectors can hold. The residual that a method updates becomes smaller all the same.
  const auto narrow = with_random_b("float", convection_diffusion<float>(12, 11, 0));
  const auto outcome = solve<Method>(device_crs(narrow.matrix), narrow.b, with_tolerance<Options>(1e-10));
  EXPECT_EQ(outcome.result.end, SolverEnd::stagnation);
  EXPECT_TRUE(reports_well(narrow, outcome));
  EXPECT_LE(outcome.result.residual, 1e-5 * outcome.result.norm_of_b);
}

/// Expects that systems with singular matrices end, and that only those with a solution converge.
template <class Method>
void expect_ends_of_singular_systems() {
  using Options = typename Method::Options;
  // A chain of springs without a fixed end. Its null space has the vectors of equal elements.
  HostMatrix<double> chain(40, 40);
  for (std::int64_t row = 0; row < 40; ++row) {
    auto& entries = chain.rows[static_cast<std::size_t>(row)];
    if (row > 0) entries.push_back({row - 1, -1.0});
    entries.push_back({row, row == 0 || row == 39 ? 1.0 : 2.0});
    if (row < 39) entries.push_back({row + 1, -1.0});
  }
  HostSystem<double> system{"chain", chain, std::vector<double>(40)};
  for (std::size_t i = 0; i < 40; ++i)
    system.b[i] = i % 2 == 0 ? 1.5 : -1.5;
  Options options;
  options.relative_tolerance = 1e-9;
  options.most_iterations = 300;
  const auto consistent = solve<Method>(device_crs(chain), system.b, options);
  EXPECT_EQ(consistent.result.end, SolverEnd::converged);
  EXPECT_TRUE(reports_well(system, consistent));

  system.b.assign(40, 1.0);
  system.b[3] = 2;
  const auto inconsistent = solve<Method>(device_crs(chain), system.b, options);
  EXPECT_FALSE(inconsistent.result.has_converged());
  EXPECT_LE(inconsistent.result.iterations, 300);

  for (const auto& matrix : {dense_matrix({{1, 0}, {0, 0}}), dense_matrix({{0, 1}, {0, 0}}),
                             dense_matrix({{0, 0}, {0, 0}}), dense_matrix({{1, 2}, {2, 4}})})
    for (const auto& b : {std::vector<double>{1, 1}, std::vector<double>{0, 1}}) {
      const HostSystem<double> small{"small", matrix, b};
      const auto outcome = solve<Method>(device_crs(matrix), b, options);
      EXPECT_FALSE(outcome.result.has_converged()) << matrix;
      EXPECT_LE(outcome.result.iterations, 300);
      for (const double element : outcome.x)
        EXPECT_TRUE(std::isfinite(element)) << matrix;
    }
}

/// Expects the errors of the constructor and of solve().
template <class Method>
void expect_errors(const std::string& function) {
  using Options = typename Method::Options;
  using Matrix = Crs<double>;
  using Solver = typename Method::template solver<Matrix, Filigree::NoPreconditioner>;
  using Vector = Kokkos::View<double*, Device>;
  const auto crs = device_crs(convection_diffusion<double>(3, 2, 1));
  const auto of_options = [&](const Options& options) {
    return message<std::invalid_argument>([&] { Solver(ExecutionSpace(), crs, {}, options); });
  };
  EXPECT_TRUE(holds(
      message<std::invalid_argument>([&] { Solver(ExecutionSpace(), device_crs(HostMatrix<double>(3, 4))); }),
      {function + ": A is 3 x 4; it must be square."}));
  Options options;
  options.relative_tolerance = -1;
  EXPECT_TRUE(holds(of_options(options), {function + ": the tolerances are -1 (relative)"}));
  options = {};
  options.iterations_per_check = 0;
  EXPECT_TRUE(
      holds(of_options(options), {function + ": most_iterations is 1000 and iterations_per_check 0"}));

  Solver solver(ExecutionSpace(), crs);
  const Vector right("right", 6), wrong("wrong", 5);
  const auto of_solve = [&](const Vector& b, const Vector& x) {
    return message<std::invalid_argument>([&] { solver.solve(b, x); });
  };
  EXPECT_TRUE(holds(of_solve(wrong, right), {function + "::solve: b is 5 x 1; it must be 6 x 1."}));
  EXPECT_TRUE(holds(of_solve(right, wrong), {function + "::solve: x is 5 x 1; it must be 6 x 1."}));
  EXPECT_TRUE(
      holds(of_solve(right, right), {function + "::solve: b and x share memory; x must not overlap b."}));
}

}  // namespace FiligreeTest

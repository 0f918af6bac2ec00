// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <filigree/solve/conjugate_gradients.hpp>
#include <filigree/solve/pipelined_conjugate_gradients.hpp>

#include "krylov_tests.hpp"

namespace FiligreeTest {
namespace {

struct CgMethod {
  using Options = Filigree::SolverOptions;
  template <class Matrix, class Preconditioner>
  using solver = Filigree::ConjugateGradients<ExecutionSpace, Matrix, Preconditioner>;
};

struct PipelinedMethod {
  using Options = Filigree::SolverOptions;
  template <class Matrix, class Preconditioner>
  using solver = Filigree::PipelinedConjugateGradients<ExecutionSpace, Matrix, Preconditioner>;
};

template <class Method>
class ConjugateGradients : public testing::Test {};
using Methods = testing::Types<CgMethod, PipelinedMethod>;
TYPED_TEST_SUITE(ConjugateGradients, Methods);

/// A Hermitian matrix whose diagonal is larger than the sum of the others in its row.
template <class Scalar>
HostMatrix<Scalar> hermitian_dominant(std::int64_t rows) {
  Random random(static_cast<unsigned>(rows));
  HostMatrix<Scalar> result(rows, rows);
  for (std::int64_t row = 0; row < rows; ++row) {
    result.rows[static_cast<std::size_t>(row)].push_back({row, Scalar(30)});
    for (int i = 0; i < 3; ++i) {
      const std::int64_t column = random.below(rows);
      if (column == row) continue;
      const Scalar value = random.value<Scalar>();
      result.rows[static_cast<std::size_t>(row)].push_back({column, value});
      result.rows[static_cast<std::size_t>(column)].push_back(
          {row, Filigree::Impl::conjugate_if<true>(value)});
    }
  }
  return canonical(result);
}

template <class Scalar>
std::vector<HostSystem<Scalar>> definite_systems() {
  std::vector<HostSystem<Scalar>> result;
  for (const int rows : {1, 2, 5, 90})
    result.push_back(with_random_b("dominant " + std::to_string(rows), hermitian_dominant<Scalar>(rows)));
  result.push_back(with_random_b("diffusion", convection_diffusion<Scalar>(9, 7, 0)));
  return result;
}

template <class Method, class Scalar>
void expect_solutions_of_definite_systems() {
  const double tolerance = usual_tolerance<Scalar>();
  const auto options = with_tolerance<Filigree::SolverOptions>(tolerance);
  for (const auto& system : definite_systems<Scalar>()) {
    SCOPED_TRACE(system.name);
    const auto crs = device_crs(system.matrix);
    EXPECT_TRUE(is_solved(system, solve<Method>(crs, system.b, options), tolerance));
    const Filigree::JacobiPreconditioner<Crs<Scalar>> jacobi(ExecutionSpace(), crs);
    EXPECT_TRUE(is_solved(system, solve<Method>(crs, system.b, options, jacobi), tolerance)) << "Jacobi";
    if (system.b.size() < 5) continue;
    const Filigree::BlockJacobiPreconditioner<Crs<Scalar>> blocks(ExecutionSpace(), crs, 3);
    EXPECT_TRUE(is_solved(system, solve<Method>(crs, system.b, options, blocks), tolerance)) << "blocks";
  }
}

TYPED_TEST(ConjugateGradients, SolvesInDouble) {
  expect_solutions_of_definite_systems<TypeParam, double>();
}
TYPED_TEST(ConjugateGradients, SolvesInFloat) {
  expect_solutions_of_definite_systems<TypeParam, float>();
}
TYPED_TEST(ConjugateGradients, SolvesInComplexDouble) {
  expect_solutions_of_definite_systems<TypeParam, Kokkos::complex<double>>();
}

TYPED_TEST(ConjugateGradients, SolvesInEveryFormatOfGrids) {
  const auto system = with_random_b("diffusion", convection_diffusion<double>(12, 10, 0));
  const auto crs = device_crs(system.matrix);
  const auto options = with_tolerance<Filigree::SolverOptions>(1e-10);
  const auto expect = [&](const auto& A) {
    EXPECT_TRUE(is_solved(system, solve<TypeParam>(A, system.b, options), 1e-10));
  };
  Filigree::CdsOptions blocks;
  blocks.block_size = 4;
  expect(Filigree::convert<Filigree::CdsMatrix>(crs));
  expect(Filigree::convert<Filigree::CdsMatrix>(crs, blocks));
  expect(Filigree::convert<Filigree::SymCdsMatrix>(crs));
  expect(Filigree::convert<Filigree::SellMatrix>(crs));
  expect(Filigree::convert<Filigree::CooMatrix>(crs));
  expect(Filigree::optimize(crs));
}

TYPED_TEST(ConjugateGradients, TakesAsManyIterationsForEachInterval) {
  const auto system = with_random_b("diffusion", convection_diffusion<double>(12, 10, 0));
  const auto crs = device_crs(system.matrix);
  auto options = with_tolerance<Filigree::SolverOptions>(1e-9);
  options.iterations_per_check = 1;
  const auto first = solve<TypeParam>(crs, system.b, options);
  for (const int interval : {2, 7, 8, 100}) {
    options.iterations_per_check = interval;
    const auto other = solve<TypeParam>(crs, system.b, options);
    EXPECT_EQ(other.result.iterations, first.result.iterations) << interval;
    EXPECT_EQ(other.result.history, first.result.history) << interval;
    EXPECT_EQ(other.x, first.x) << interval;
  }
}

TYPED_TEST(ConjugateGradients, GivesTheSameBits) {
  const auto system = with_random_b("diffusion", convection_diffusion<double>(80, 70, 0));
  const auto crs = device_crs(system.matrix);
  const auto first = solve<TypeParam>(crs, system.b);
  const auto second = solve<TypeParam>(crs, system.b);
  EXPECT_TRUE(first.result.has_converged());
  EXPECT_EQ(first.x, second.x);
  EXPECT_EQ(first.result.history, second.result.history);
}

TYPED_TEST(ConjugateGradients, StopsAtTheLimit) {
  const auto system = with_random_b("diffusion", convection_diffusion<double>(12, 10, 0));
  const auto crs = device_crs(system.matrix);
  for (const int most : {0, 1, 8, 9}) {
    Filigree::SolverOptions options;
    options.most_iterations = most;
    const auto outcome = solve<TypeParam>(crs, system.b, options);
    EXPECT_EQ(outcome.result.end, SolverEnd::most_iterations);
    EXPECT_EQ(outcome.result.iterations, most);
    EXPECT_TRUE(reports_well(system, outcome));
  }
}

TYPED_TEST(ConjugateGradients, BeginsWithTheGivenX) {
  const auto system = with_random_b("diffusion", convection_diffusion<double>(12, 10, 0));
  const auto crs = device_crs(system.matrix);
  const auto options = with_tolerance<Filigree::SolverOptions>(1e-10);
  const auto solved = solve<TypeParam>(crs, system.b, options);
  const auto again =
      solve_from<TypeParam>(crs, system.b, solved.x, with_tolerance<Filigree::SolverOptions>(1e-9));
  EXPECT_TRUE(again.result.has_converged());
  EXPECT_EQ(again.result.iterations, 0);
  EXPECT_EQ(again.x, solved.x);
}

TYPED_TEST(ConjugateGradients, SolvesForZero) {
  const HostSystem<double> system = {"zero", hermitian_dominant<double>(20), std::vector<double>(20)};
  const auto outcome = solve<TypeParam>(device_crs(system.matrix), system.b);
  EXPECT_TRUE(outcome.result.has_converged());
  EXPECT_EQ(outcome.result.iterations, 0);
  EXPECT_EQ(outcome.x, system.b);
  const HostSystem<double> empty = {"empty", HostMatrix<double>(0, 0), {}};
  EXPECT_TRUE(solve<TypeParam>(device_crs(empty.matrix), empty.b).result.has_converged());
}

TYPED_TEST(ConjugateGradients, SolvesASingularSystemThatHasASolution) {
  // The Laplacian with Neumann boundaries. The elements of b add up to 0.
  HostMatrix<double> host(30, 30);
  for (std::int64_t row = 0; row < 30; ++row) {
    auto& entries = host.rows[static_cast<std::size_t>(row)];
    if (row > 0) entries.push_back({row - 1, -1.0});
    entries.push_back({row, row == 0 || row == 29 ? 1.0 : 2.0});
    if (row < 29) entries.push_back({row + 1, -1.0});
  }
  HostSystem<double> system = {"Neumann", host, std::vector<double>(30)};
  for (std::size_t i = 0; i < 30; ++i)
    system.b[i] = i % 2 == 0 ? 1 : -1;
  const auto outcome = solve<TypeParam>(device_crs(host), system.b);
  EXPECT_TRUE(outcome.result.has_converged());
  EXPECT_TRUE(reports_well(system, outcome));
}

TYPED_TEST(ConjugateGradients, ReportsMatricesThatAreNotDefinite) {
  const auto end_of = [](const std::vector<std::vector<double>>& rows, const std::vector<double>& b) {
    return solve<TypeParam>(device_crs(dense_matrix(rows)), b).result;
  };
  // In the first step p^T A p is -1, 0 and 0.
  EXPECT_EQ(end_of({{-1, 0}, {0, -1}}, {1, 0}).end, SolverEnd::breakdown);
  EXPECT_EQ(end_of({{1, 0}, {0, -1}}, {1, 1}).end, SolverEnd::breakdown);
  EXPECT_EQ(end_of({{0, 1}, {-1, 0}}, {1, 1}).end, SolverEnd::breakdown);
  // A singular system without a solution.
  const auto singular = end_of({{1, -1}, {-1, 1}}, {1, 1});
  EXPECT_FALSE(singular.has_converged());
  // Indefinite, but the first steps are possible: it is either solved or reported.
  const auto system = with_random_b("indefinite", convection_diffusion<double>(6, 5, 0, 1.3));
  const auto outcome = solve<TypeParam>(device_crs(system.matrix), system.b);
  EXPECT_TRUE(outcome.result.has_converged() || outcome.result.end == SolverEnd::breakdown);
  EXPECT_TRUE(reports_well(system, outcome));
}

TYPED_TEST(ConjugateGradients, ReportsNumbersThatAreNotFinite) {
  const auto host = hermitian_dominant<double>(20);
  std::vector<double> b(20, 1.0);
  for (const double value : {not_a_number<double>(), infinity<double>()}) {
    b[7] = value;
    const auto outcome = solve<TypeParam>(device_crs(host), b);
    EXPECT_EQ(outcome.result.end, SolverEnd::not_finite);
    EXPECT_EQ(outcome.result.iterations, 0);
  }
  HostMatrix<double> bad = host;
  bad.rows[3][0].value = not_a_number<double>();
  EXPECT_EQ(solve<TypeParam>(device_crs(bad), std::vector<double>(20, 1.0)).result.end,
            SolverEnd::not_finite);
}

TYPED_TEST(ConjugateGradients, SeesNewValuesOfTheMatrix) {
  const auto crs = device_crs(hermitian_dominant<double>(40));
  const auto A = Filigree::convert<Filigree::SellMatrix>(crs);
  using Matrix = std::decay_t<decltype(A)>;
  using Jacobi = Filigree::JacobiPreconditioner<Matrix>;
  Jacobi jacobi(ExecutionSpace(), A);
  typename TypeParam::template solver<Matrix, Jacobi> solver(ExecutionSpace(), A, jacobi);
  const std::vector<double> b(40, 1.0);
  using Vector = Kokkos::View<double*, Device>;
  const auto first = device_list<Vector>(std::vector<double>(40));
  solver.solve(device_list<Vector>(b), first);
  // All values are doubled, so the solution is halved.
  const auto doubled = Filigree::to_crs(A);
  auto values = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), doubled.values);
  for (std::size_t i = 0; i < values.extent(0); ++i)
    values(i) *= 2;
  Kokkos::deep_copy(doubled.values, values);
  Filigree::refill(A, doubled);
  jacobi.refill(ExecutionSpace(), A);
  const auto second = device_list<Vector>(std::vector<double>(40));
  EXPECT_TRUE(solver.solve(device_list<Vector>(b), second).has_converged());
  const auto x = host_list(first);
  const auto y = host_list(second);
  for (std::size_t i = 0; i < x.size(); ++i)
    EXPECT_NEAR(y[i], x[i] / 2, 1e-8) << i;
}

/// The norms of the residuals of conjugate gradients with the diagonal as preconditioner, as in the source.
std::vector<long double> reference_history(const HostMatrix<double>& host, const std::vector<double>& b,
                                           int iterations) {
  const Dense A(host);
  std::vector<Wide> r = wide_list(b);
  const auto preconditioned = [&](std::vector<Wide> z) {
    for (std::size_t i = 0; i < z.size(); ++i)
      z[i] /= A(i, i);
    return z;
  };
  std::vector<Wide> p = preconditioned(r);
  Wide rz = dot(r, p);
  std::vector<long double> result = {norm(r)};
  for (int i = 0; i < iterations; ++i) {
    const auto q = dense_product(A, p);
    const Wide alpha = rz / dot(p, q);
    r = sum_of(r, -alpha, q);
    const auto z = preconditioned(r);
    const Wide next = dot(r, z);
    p = sum_of(z, next / rz, p);
    rz = next;
    result.push_back(norm(r));
  }
  return result;
}

TYPED_TEST(ConjugateGradients, TakesTheStepsOfTheSource) {
  const auto host = hermitian_dominant<double>(60);
  const auto system = with_random_b("dominant", host);
  const auto crs = device_crs(host);
  const Filigree::JacobiPreconditioner<Crs<double>> jacobi(ExecutionSpace(), crs);
  EXPECT_TRUE(begins_with(solve<TypeParam>(crs, system.b, {}, jacobi).result.history,
                          reference_history(host, system.b, 5), 1e-8));
  // The same preconditioner, but one that is not elementwise.
  const Filigree::BlockJacobiPreconditioner<Crs<double>> blocks(ExecutionSpace(), crs, 1);
  EXPECT_TRUE(begins_with(solve<TypeParam>(crs, system.b, {}, blocks).result.history,
                          reference_history(host, system.b, 5), 1e-8));
}

TYPED_TEST(ConjugateGradients, NeedsTheUsualNumberOfIterations) {
  const auto system = with_random_b("diffusion", convection_diffusion<double>(70, 60, 0));
  const auto crs = device_crs(system.matrix);
  const auto options = with_tolerance<Filigree::SolverOptions>(1e-11);
  const auto usual = solve<CgMethod>(crs, system.b, options).result;
  const auto found = solve<TypeParam>(crs, system.b, options).result;
  EXPECT_TRUE(found.has_converged()) << Filigree::name_of(found.end);
  EXPECT_LE(found.iterations, 1.5 * usual.iterations);
}

TYPED_TEST(ConjugateGradients, ReportsTheResidualThatRoundingKeeps) {
  const auto system = with_random_b("float", convection_diffusion<float>(12, 11, 0));
  const auto outcome =
      solve<TypeParam>(device_crs(system.matrix), system.b, with_tolerance<Filigree::SolverOptions>(1e-10));
  EXPECT_EQ(outcome.result.end, SolverEnd::stagnation);
  EXPECT_TRUE(reports_well(system, outcome));
  EXPECT_LE(outcome.result.residual, 1e-5 * outcome.result.norm_of_b);
}

TYPED_TEST(ConjugateGradients, AllocatesNothingInASecondSolution) {
  const auto system = with_random_b("diffusion", convection_diffusion<double>(20, 20, 0));
  const auto crs = device_crs(system.matrix);
  using Vector = Kokkos::View<double*, Device>;
  const auto b = device_list<Vector>(system.b);
  const Vector x("x", system.b.size());
  using Blocks = Filigree::BlockJacobiPreconditioner<Crs<double>>;
  typename TypeParam::template solver<Crs<double>, Blocks> solver(ExecutionSpace(), crs,
                                                                  Blocks(ExecutionSpace(), crs, 4));
  solver.solve(b, x);
  Kokkos::deep_copy(x, 0.0);
  const KokkosRecorder recorder;
  EXPECT_TRUE(solver.solve(b, x).has_converged());
  EXPECT_EQ(recorder.events().allocations, std::vector<std::string>());
  EXPECT_EQ(recorder.events().global_fences, std::vector<std::string>());
}

}  // namespace
}  // namespace FiligreeTest

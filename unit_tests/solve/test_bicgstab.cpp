// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// BiCGStab.
#include <filigree/solve/bicgstab.hpp>

#include "krylov_tests.hpp"

namespace FiligreeTest {
namespace {

struct BiCgStabMethod {
  using Options = Filigree::SolverOptions;
  template <class Matrix, class Preconditioner>
  using solver = Filigree::BiCgStab<ExecutionSpace, Matrix, Preconditioner>;
};

TEST(BiCgStab, SolvesSystems) {
  expect_solutions<BiCgStabMethod, double>(with_tolerance<Filigree::SolverOptions>(1e-10));
}
TEST(BiCgStab, SolvesSystemsInFloat) {
  expect_solutions<BiCgStabMethod, float>(with_tolerance<Filigree::SolverOptions>(1e-5));
}
TEST(BiCgStab, SolvesComplexSystems) {
  const auto options = with_tolerance<Filigree::SolverOptions>(1e-10);
  expect_solutions<BiCgStabMethod, Kokkos::complex<double>>(options);
  using Scalar = Kokkos::complex<double>;
  const auto system =
      with_random_b("damped waves", convection_diffusion<Scalar>(7, 6, 0.5, Scalar(0.7, -0.9)));
  EXPECT_TRUE(is_solved(system, solve<BiCgStabMethod>(device_crs(system.matrix), system.b, options), 1e-10));
}
TEST(BiCgStab, SolvesSystemsInAnyFormat) {
  expect_solutions_in_formats<BiCgStabMethod>();
}
TEST(BiCgStab, TakesVectorsWithStrides) {
  expect_solution_of_strided_vectors<BiCgStabMethod>(with_tolerance<Filigree::SolverOptions>(1e-8));
}
TEST(BiCgStab, GivesTheSameBits) {
  expect_same_bits<BiCgStabMethod>();
}
TEST(BiCgStab, AllocatesNothingInSolve) {
  expect_no_allocations<BiCgStabMethod>();
}
TEST(BiCgStab, ReportsWhyItEnds) {
  expect_ends<BiCgStabMethod>();
}
TEST(BiCgStab, EndsForSingularMatrices) {
  expect_ends_of_singular_systems<BiCgStabMethod>();
}
TEST(BiCgStab, ChecksArguments) {
  expect_errors<BiCgStabMethod>("Filigree::BiCgStab");
}

/// The residuals of the first iterations of the method in long double.
std::vector<long double> reference_history(const Dense& A, const std::vector<Wide>& b, int iterations) {
  std::vector<Wide> r = b, p = b;
  std::vector<long double> result(1, norm(r));
  for (int i = 0; i < iterations; ++i) {
    const Wide rho = dot(b, r);
    const auto v = dense_product(A, p);
    const Wide alpha = rho / dot(b, v);
    const auto s = sum_of(r, -alpha, v);
    const auto t = dense_product(A, s);
    const Wide omega = dot(t, s) / dot(t, t);
    r = sum_of(s, -omega, t);
    const Wide beta = dot(b, r) / rho * alpha / omega;
    p = sum_of(r, beta, sum_of(p, -omega, v));
    result.push_back(norm(r));
  }
  return result;
}

TEST(BiCgStab, HasTheResidualsOfTheMethod) {
  const auto real = with_random_b("convection", convection_diffusion<double>(9, 8, 3));
  EXPECT_TRUE(begins_with(solve<BiCgStabMethod>(device_crs(real.matrix), real.b).result.history,
                          reference_history(Dense(real.matrix), wide_list(real.b), 8), 1e-8));
  using Scalar = Kokkos::complex<double>;
  const auto complex =
      with_random_b("damped waves", convection_diffusion<Scalar>(7, 6, 0.5, Scalar(0.7, -0.9)));
  EXPECT_TRUE(begins_with(solve<BiCgStabMethod>(device_crs(complex.matrix), complex.b).result.history,
                          reference_history(Dense(complex.matrix), wide_list(complex.b), 8), 1e-8));
}

/// r0 and v = A r0 are orthogonal.
TEST(BiCgStab, ReportsABreakdownInTheFirstIteration) {
  const auto crs = device_crs(dense_matrix({{0, 1}, {-1, 0}}));
  for (const int iterations_per_check : {1, 8}) {
    Filigree::SolverOptions options;
    options.iterations_per_check = iterations_per_check;
    const auto outcome = solve<BiCgStabMethod>(crs, std::vector<double>{1, 0}, options);
    EXPECT_EQ(outcome.result.end, SolverEnd::breakdown);
    EXPECT_EQ(outcome.result.iterations, 0);
    EXPECT_EQ(outcome.result.history, std::vector<double>({1}));
    EXPECT_EQ(outcome.x, std::vector<double>({0, 0}));
  }
}

/// s and t = A s are orthogonal, so omega is 0: half a step is made.
TEST(BiCgStab, ReportsABreakdownAfterHalfAStep) {
  const HostSystem<double> system{"turned", dense_matrix({{1, 1, 0}, {1, 0, 1}, {0, -1, 0}}), {1, 0, 0}};
  const auto outcome = solve<BiCgStabMethod>(device_crs(system.matrix), system.b);
  EXPECT_EQ(outcome.result.end, SolverEnd::breakdown);
  EXPECT_EQ(outcome.result.iterations, 1);
  EXPECT_EQ(outcome.x, std::vector<double>({1, 0, 0}));
  EXPECT_TRUE(reports_well(system, outcome));
}

/// After half a step the residual is 0, so there is no omega.
TEST(BiCgStab, ConvergesAfterHalfAStep) {
  const auto outcome =
      solve<BiCgStabMethod>(device_crs(dense_matrix({{2, 0}, {0, 2}})), std::vector<double>{4, 8});
  EXPECT_EQ(outcome.result.end, SolverEnd::converged);
  EXPECT_EQ(outcome.result.iterations, 1);
  EXPECT_EQ(outcome.result.residual, 0);
  EXPECT_EQ(outcome.x, std::vector<double>({2, 4}));
}

}  // namespace
}  // namespace FiligreeTest

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <filigree/solve/chebyshev.hpp>
#include <filigree/solve/conjugate_gradients.hpp>

#include "krylov_tests.hpp"

namespace FiligreeTest {
namespace {

using Vector = Kokkos::View<double*, Device>;

/// Solves D z = r for blocks of b rows of a dense matrix.
std::vector<Wide> divide_by_blocks(const HostMatrix<double>& host, std::int64_t b,
                                   const std::vector<Wide>& r) {
  HostMatrix<double> blocks(host.row_count(), host.row_count());
  for (std::int64_t row = 0; row < host.row_count(); ++row)
    for (const auto& entry : host.rows[static_cast<std::size_t>(row)])
      if (entry.column / b == row / b) blocks.rows[static_cast<std::size_t>(row)].push_back(entry);
  return solve_dense(Dense(blocks), r);
}

/// The steps of the Chebyshev iteration, as in the source: d is the difference of two steps.
std::vector<Wide> dense_steps(const HostMatrix<double>& host, std::int64_t b, const std::vector<Wide>& right,
                              std::vector<Wide> x, double largest,
                              const Filigree::ChebyshevOptions& options) {
  const Dense A(host);
  const long double smallest = static_cast<long double>(largest) * options.smallest_over_largest;
  const long double theta = (largest + smallest) / 2;
  const long double delta = (largest - smallest) / 2;
  const long double sigma = theta / delta;
  long double rho = 1 / sigma;
  auto z = divide_by_blocks(host, b, dense_residual(A, x, right));
  std::vector<Wide> d = sum_of(std::vector<Wide>(x.size()), 1 / theta, z);
  x = sum_of(x, 1, d);
  for (int step = 1; step < options.degree; ++step) {
    const long double next = 1 / (2 * sigma - rho);
    z = divide_by_blocks(host, b, dense_residual(A, x, right));
    d = sum_of(sum_of(std::vector<Wide>(x.size()), next * rho, d), 2 * next / delta, z);
    x = sum_of(x, 1, d);
    rho = next;
  }
  return x;
}

template <class List>
void expect_near(const List& found, const std::vector<Wide>& expected) {
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i)
    EXPECT_NEAR(found[i], static_cast<double>(expected[i].real()), 1e-11) << i;
}

template <class Inverse>
void expect_steps(const HostMatrix<double>& host, std::int64_t b, const Crs<double>& crs,
                  const Inverse& inverse) {
  const auto size = static_cast<std::size_t>(host.row_count());
  const auto r = Random(3).vectors<double>(host.row_count(), 1).data;
  const auto x = Random(4).vectors<double>(host.row_count(), 1).data;
  for (const int degree : {1, 2, 3, 4, 7}) {
    SCOPED_TRACE(degree);
    Filigree::ChebyshevOptions options;
    options.degree = degree;
    options.smallest_over_largest = 0.1;
    const Filigree::ChebyshevPreconditioner<ExecutionSpace, Crs<double>, Inverse> chebyshev(
        ExecutionSpace(), crs, inverse, options);
    const double largest = chebyshev.largest_eigenvalue();
    const Vector z = device_list<Vector>(std::vector<double>(size, not_a_number<double>()));
    chebyshev.apply(ExecutionSpace(), device_list<Vector>(r), z);
    expect_near(host_list(z), dense_steps(host, b, wide_list(r), std::vector<Wide>(size), largest, options));
    const auto smoothed = device_list<Vector>(x);
    chebyshev.smooth(ExecutionSpace(), device_list<Vector>(r), smoothed);
    expect_near(host_list(smoothed), dense_steps(host, b, wide_list(r), wide_list(x), largest, options));
  }
}

TEST(Chebyshev, MakesTheStepsOfTheSource) {
  const auto host = convection_diffusion<double>(8, 6, 0);
  const auto crs = device_crs(host);
  expect_steps(host, 1, crs, Filigree::inverse_diagonal(ExecutionSpace(), crs));
  expect_steps(host, 4, crs, Filigree::inverse_diagonal_blocks(ExecutionSpace(), crs, 4));
}

TEST(Chebyshev, EstimatesTheLargestEigenvalue) {
  // The Laplacian of a line of n cells: the largest eigenvalue of D^-1 A is 1 + cos(pi / (n + 1)).
  constexpr int n = 50;
  HostMatrix<double> host(n, n);
  for (std::int64_t row = 0; row < n; ++row) {
    auto& entries = host.rows[static_cast<std::size_t>(row)];
    if (row > 0) entries.push_back({row - 1, -1.0});
    entries.push_back({row, 2.0});
    if (row < n - 1) entries.push_back({row + 1, -1.0});
  }
  const auto crs = device_crs(host);
  const auto inverse = Filigree::inverse_diagonal(ExecutionSpace(), crs);
  using Inverse = std::decay_t<decltype(inverse)>;
  const double exact = 1 + std::cos(3.14159265358979 / (n + 1));
  Filigree::ChebyshevOptions options;
  options.safety = 1;
  const Filigree::ChebyshevPreconditioner<ExecutionSpace, Crs<double>, Inverse> chebyshev(
      ExecutionSpace(), crs, inverse, options);
  EXPECT_LE(chebyshev.largest_eigenvalue(), exact * (1 + 1e-12));
  EXPECT_GE(chebyshev.largest_eigenvalue(), 0.9 * exact);
  options.largest_eigenvalue = 1.25;
  const Filigree::ChebyshevPreconditioner<ExecutionSpace, Crs<double>, Inverse> given(ExecutionSpace(), crs,
                                                                                      inverse, options);
  EXPECT_EQ(given.largest_eigenvalue(), 1.25);
}

TEST(Chebyshev, IsSeenByASolverAfterARefill) {
  const auto system = with_random_b("diffusion", convection_diffusion<double>(20, 15, 0));
  const auto crs = device_crs(system.matrix);
  const auto size = system.b.size();
  const auto inverse = device_list<Vector>(std::vector<double>(size, 0.25));
  using Chebyshev = Filigree::ChebyshevPreconditioner<ExecutionSpace, Crs<double>, Vector>;
  Chebyshev chebyshev(ExecutionSpace(), crs, inverse);
  Filigree::ConjugateGradients<ExecutionSpace, Crs<double>, Chebyshev> solver(ExecutionSpace(), crs,
                                                                              chebyshev);
  const auto iterations = [&]() {
    const auto x = device_list<Vector>(std::vector<double>(size));
    const auto result = solver.solve(device_list<Vector>(system.b), x);
    EXPECT_TRUE(result.has_converged()) << Filigree::name_of(result.end);
    return result.iterations;
  };
  const int before = iterations();
  auto values = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), crs.values);
  for (std::size_t i = 0; i < values.extent(0); ++i)
    values(i) *= 128;
  Kokkos::deep_copy(crs.values, values);
  chebyshev.refill(ExecutionSpace());
  EXPECT_EQ(iterations(), before);
}

TEST(Chebyshev, ReadsAnInverseWithAStride) {
  const auto host = convection_diffusion<double>(8, 6, 0);
  const auto crs = device_crs(host);
  const View2<double, Kokkos::LayoutRight> wide_inverse("inverse", host.row_count(), 2);
  const auto inverse = Kokkos::subview(wide_inverse, Kokkos::ALL(), 1);
  Kokkos::deep_copy(wide_inverse, 77.0);
  Kokkos::deep_copy(inverse, Filigree::inverse_diagonal(ExecutionSpace(), crs));
  expect_steps(host, 1, crs, inverse);
}

TEST(Chebyshev, ReadsAnInverseInFloat) {
  const auto system = with_random_b("diffusion", convection_diffusion<double>(20, 15, 0));
  const auto crs = device_crs(system.matrix);
  const auto iterations = [&](const auto& inverse) {
    using Chebyshev =
        Filigree::ChebyshevPreconditioner<ExecutionSpace, Crs<double>, std::decay_t<decltype(inverse)>>;
    const Filigree::ConjugateGradients<ExecutionSpace, Crs<double>, Chebyshev> solver(
        ExecutionSpace(), crs, Chebyshev(ExecutionSpace(), crs, inverse));
    const auto x = device_list<Vector>(std::vector<double>(system.b.size()));
    const auto result = solver.solve(device_list<Vector>(system.b), x);
    EXPECT_TRUE(result.has_converged()) << Filigree::name_of(result.end);
    return result.iterations;
  };
  EXPECT_LE(std::abs(iterations(Filigree::inverse_diagonal<float>(crs)) -
                     iterations(Filigree::inverse_diagonal(crs))),
            1);
  EXPECT_LE(std::abs(iterations(Filigree::inverse_diagonal_blocks<float>(crs, 3)) -
                     iterations(Filigree::inverse_diagonal_blocks(crs, 3))),
            1);
}

TEST(Chebyshev, RefusesVectorsThatOverlapOrDoNotFit) {
  const auto crs = device_crs(convection_diffusion<double>(8, 6, 0));
  const auto inverse = Filigree::inverse_diagonal(ExecutionSpace(), crs);
  using Inverse = std::decay_t<decltype(inverse)>;
  using Chebyshev = Filigree::ChebyshevPreconditioner<ExecutionSpace, Crs<double>, Inverse>;
  const Chebyshev chebyshev(ExecutionSpace(), crs, inverse);
  const Vector r("r", 48), z("z", 47);
  EXPECT_THROW(chebyshev.apply(ExecutionSpace(), r, r), std::invalid_argument);
  EXPECT_THROW(chebyshev.smooth(ExecutionSpace(), r, r), std::invalid_argument);
  EXPECT_THROW(chebyshev.apply(ExecutionSpace(), r, z), std::invalid_argument);
  EXPECT_THROW(Chebyshev(ExecutionSpace(), crs, Inverse("short", 3)), std::invalid_argument);
}

TEST(Chebyshev, LetsConjugateGradientsTakeFewerIterations) {
  const auto system = with_random_b("diffusion", convection_diffusion<double>(40, 30, 0));
  const auto crs = device_crs(system.matrix);
  const auto inverse = Filigree::inverse_diagonal(ExecutionSpace(), crs);
  using Inverse = std::decay_t<decltype(inverse)>;
  using Chebyshev = Filigree::ChebyshevPreconditioner<ExecutionSpace, Crs<double>, Inverse>;
  const std::vector<double> zero(system.b.size());
  const auto iterations = [&](const auto& preconditioner) {
    using Preconditioner = std::decay_t<decltype(preconditioner)>;
    Filigree::ConjugateGradients<ExecutionSpace, Crs<double>, Preconditioner> solver(ExecutionSpace(), crs,
                                                                                     preconditioner);
    const auto x = device_list<Vector>(zero);
    const auto result = solver.solve(device_list<Vector>(system.b), x);
    EXPECT_TRUE(result.has_converged());
    return result.iterations;
  };
  Filigree::ChebyshevOptions options;
  options.degree = 4;
  const int plain = iterations(Filigree::NoPreconditioner());
  const int with_chebyshev = iterations(Chebyshev(ExecutionSpace(), crs, inverse, options));
  EXPECT_LT(with_chebyshev, plain / 2);
}

}  // namespace
}  // namespace FiligreeTest

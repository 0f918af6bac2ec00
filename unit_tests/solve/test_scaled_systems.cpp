// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Solvers with matrices whose rows and columns are scaled by powers of two.
#include <cmath>
#include <filigree/check.hpp>
#include <filigree/scaled.hpp>
#include <filigree/solve/bicgstab.hpp>
#include <filigree/solve/block_conjugate_gradients.hpp>
#include <filigree/solve/chebyshev.hpp>
#include <filigree/solve/conjugate_gradients.hpp>
#include <filigree/solve/gmres.hpp>
#include <filigree/solve/pipelined_conjugate_gradients.hpp>

#include "krylov_tests.hpp"

namespace FiligreeTest {
namespace {

#if FILIGREE_HAS_HALF
using Stored = Filigree::half_t;
#else
using Stored = float;
#endif

template <template <class, class, class> class Solver, class SolverOptions>
struct MethodOf {
  using Options = SolverOptions;
  template <class Matrix, class Preconditioner>
  using solver = Solver<ExecutionSpace, Matrix, Preconditioner>;
};

/// The unit of a row and of its unknown is 2^unit. Three rows, which are the rows of a block, have the same.
int unit(std::int64_t row) {
  return static_cast<int>(row / 3 * 37 % 131) - 65;
}

/// A diffusion problem with these units. Its largest entries are above 2^128, so that no type narrower than double holds
/// them.
HostMatrix<double> diffusion_with_units() {
  auto host = convection_diffusion<double>(9, 7, 0);
  for (std::int64_t row = 0; row < host.row_count(); ++row)
    for (auto& entry : host.rows[static_cast<std::size_t>(row)])
      entry.value = std::ldexp(entry.value, unit(row) + unit(entry.column));
  return host;
}

/// The system that a ScaledMatrix stands for. b has the units of the rows. Otherwise the products of a row would be much
/// larger than their sum.
template <class Matrix>
HostSystem<double> system_of(const Matrix& A) {
  auto system = with_random_b("scaled", host_matrix(Filigree::to_crs(A)));
  for (std::size_t row = 0; row < system.b.size(); ++row)
    system.b[row] = std::ldexp(system.b[row], unit(static_cast<std::int64_t>(row)));
  return system;
}

/// Whether the residual of x is small compared with b.
testing::AssertionResult solves(const HostSystem<double>& system, const std::vector<double>& x) {
  const auto b = wide_list(system.b);
  const long double residual = norm(dense_residual(Dense(system.matrix), wide_list(x), b));
  if (residual <= 2e-10L * norm(b)) return testing::AssertionSuccess();
  return testing::AssertionFailure() << "the residual is " << residual << ", the norm of b " << norm(b);
}

template <class Method, class Matrix, class Preconditioner>
void expect_solution(const Matrix& A, const Preconditioner& preconditioner) {
  const auto system = system_of(A);
  const auto outcome =
      solve<Method>(A, system.b, with_tolerance<typename Method::Options>(1e-10), preconditioner);
  EXPECT_TRUE(outcome.result.has_converged()) << Filigree::name_of(outcome.result.end);
  EXPECT_LE(outcome.result.iterations, 63);
  EXPECT_TRUE(reports_well(system, outcome));
  EXPECT_TRUE(solves(system, outcome.x));
}

TEST(ScaledSystems, AreSolvedByKrylovMethods) {
  const auto host = diffusion_with_units();
  const auto crs = device_crs(host);
  EXPECT_THROW((Filigree::convert<Filigree::SellMatrix, Stored>(crs)), std::overflow_error);
  const auto A = Filigree::convert_scaled<Filigree::SellMatrix, Stored>(crs);
  using Matrix = std::decay_t<decltype(A)>;
  static_assert(
      std::is_same_v<typename Filigree::ConjugateGradients<ExecutionSpace, Matrix>::vector_type::value_type,
                     double>,
      "The vectors of a method need the range of the entries.");
  const Filigree::JacobiPreconditioner<Matrix> jacobi(ExecutionSpace(), A);
  using Options = Filigree::SolverOptions;
  expect_solution<MethodOf<Filigree::ConjugateGradients, Options>>(A, jacobi);
  expect_solution<MethodOf<Filigree::PipelinedConjugateGradients, Options>>(A, jacobi);
  expect_solution<MethodOf<Filigree::BiCgStab, Options>>(A, jacobi);
  expect_solution<MethodOf<Filigree::Gmres, Filigree::GmresOptions>>(A, jacobi);
}

TEST(ScaledSystems, AreSolvedForSeveralRightHandSides) {
  const auto A = Filigree::convert_scaled<Filigree::SellMatrix, Stored>(device_crs(diffusion_with_units()));
  using Matrix = std::decay_t<decltype(A)>;
  using Jacobi = Filigree::JacobiPreconditioner<Matrix>;
  const auto first = system_of(A);
  auto second = first;
  for (std::size_t row = 0; row < second.b.size(); row += 2)
    second.b[row] *= -1;
  using Columns = Kokkos::View<double**, Device>;
  const Columns b("b", first.b.size(), 2), x("x", first.b.size(), 2);
  const auto column = [](const Columns& columns, int c) { return Kokkos::subview(columns, Kokkos::ALL, c); };
  Kokkos::deep_copy(column(b, 0), device_list<Kokkos::View<double*, Device>>(first.b));
  Kokkos::deep_copy(column(b, 1), device_list<Kokkos::View<double*, Device>>(second.b));
  const Filigree::BlockConjugateGradients<ExecutionSpace, Matrix, 2, Jacobi> solver(
      ExecutionSpace(), A, Jacobi(ExecutionSpace(), A), with_tolerance<Filigree::SolverOptions>(1e-10));
  const auto results = solver.solve(b, x);
  const auto expect_solved = [&](const HostSystem<double>& system, std::size_t c) {
    const Kokkos::View<double*, Device> solution("solution", system.b.size());
    Kokkos::deep_copy(solution, column(x, static_cast<int>(c)));
    EXPECT_TRUE(results[c].has_converged()) << Filigree::name_of(results[c].end);
    const Outcome<double> outcome{results[c], host_list(solution)};
    EXPECT_TRUE(reports_well(system, outcome));
    EXPECT_TRUE(solves(system, outcome.x));
  };
  expect_solved(first, 0);
  expect_solved(second, 1);
}

TEST(ScaledSystems, HavePreconditionersWithBlocksAndPolynomials) {
  Filigree::CdsOptions options;
  options.block_size = 3;
  const auto crs = device_crs(diffusion_with_units());
  const auto A = Filigree::convert_scaled<Filigree::CdsMatrix, Stored>(ExecutionSpace(), crs, options);
  EXPECT_NO_THROW(Filigree::check(A));
  const auto inverse = Filigree::inverse_diagonal_blocks(ExecutionSpace(), A, 3);
  const Filigree::ChebyshevPreconditioner<ExecutionSpace, std::decay_t<decltype(A)>,
                                          std::decay_t<decltype(inverse)>>
      chebyshev(ExecutionSpace(), A, inverse);
  expect_solution<MethodOf<Filigree::ConjugateGradients, Filigree::SolverOptions>>(A, chebyshev);
}

}  // namespace
}  // namespace FiligreeTest

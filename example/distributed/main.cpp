// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See README.md.
#include <Teuchos_DefaultSerialComm.hpp>
#include <Tpetra_Core.hpp>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filigree/tpetra/read_tpetra_matrix.hpp>
#include <filigree/tpetra/tpetra_stencil_problem.hpp>

#include "solve.hpp"
#include "transport.hpp"

using Comm = Teuchos::RCP<const Teuchos::Comm<int>>;
using Matrix = Tpetra::CrsMatrix<>;
using Problem = Filigree::TpetraStencilProblem<Transport>;

/// Two vectors whose elements depend only on their numbers in the whole grid.
Teuchos::RCP<Vectors> exact_solution(const Teuchos::RCP<const Tpetra::Map<>>& map) {
  const auto x = Teuchos::rcp(new Vectors(map, 2));
  for (std::size_t i = 0; i < x->getLocalLength(); ++i)
    for (std::size_t column = 0; column < 2; ++column)
      x->replaceLocalValue(static_cast<int>(i), column,
                           std::sin(0.1 * static_cast<double>(map->getGlobalElement(static_cast<int>(i))) +
                                    static_cast<double>(column)));
  return x;
}

/// The largest difference of two elements with the same number on any rank. `b` may have more elements.
double difference(const Vectors& a, const Vectors& b) {
  double own = 0;
  for (std::size_t column = 0; column < a.getNumVectors(); ++column) {
    const auto from_a = a.getData(column), from_b = b.getData(column);
    for (int i = 0; i < from_a.size(); ++i)
      own = std::max(
          own, std::abs(from_a[i] - from_b[b.getMap()->getLocalElement(a.getMap()->getGlobalElement(i))]));
  }
  double largest = 0;
  Teuchos::reduceAll(*a.getMap()->getComm(), Teuchos::REDUCE_MAX, own, Teuchos::outArg(largest));
  return largest;
}

void print_times(const Comm& comm, const Filigree::TpetraOperator<Matrix>& A, std::size_t vectors) {
  const auto times = A.product_times(vectors);
  if (comm->getRank() == 0)
    std::printf(
        "a product: %.3f ms owned columns, %.3f ms exchange, %.3f ms remote columns, "
        "%.3f ms together, so %.3f ms overlapped\n",
        1e3 * times.owned, 1e3 * times.exchange, 1e3 * times.remote, 1e3 * times.apply,
        1e3 * times.overlapped());
}

/// Solves on a grid of n x n x n cells. Returns whether the results are right.
bool solve_grid(const Comm& comm, int n, const std::string& method, double velocity) {
  const std::array<std::int64_t, 3> cells = {n, n, n};
  const Filigree::StencilProblem grid(cells, Filigree::Stencil::seven_point(), 4, Transport{velocity});
  const Problem problem(grid, Filigree::GridParts::blocks(cells, comm->getSize()), comm);

  const auto exact = exact_solution(problem.map());
  const auto matrix = problem.matrix();
  const auto A = problem.make_operator();
  const auto b = Teuchos::rcp(new Vectors(problem.map(), 2));
  matrix->apply(*exact, *b);
  const Solution by_tpetra = solve(method, matrix, b);
  const Solution by_filigree = solve(method, A, b);

  // The same on one rank: each rank solves the whole problem alone.
  const Problem whole(grid, Filigree::GridParts(), Teuchos::rcp(new Teuchos::SerialComm<int>()));
  const auto whole_A = whole.make_operator();
  const auto whole_b = Teuchos::rcp(new Vectors(whole.map(), 2));
  whole_A->apply(*exact_solution(whole.map()), *whole_b);
  const Solution on_one_rank = solve(method, whole_A, whole_b);

  const double from_tpetra = difference(*by_filigree.x, *by_tpetra.x);
  const double from_one_rank = difference(*by_filigree.x, *on_one_rank.x);
  const double error = difference(*by_filigree.x, *exact);
  if (comm->getRank() == 0)
    std::printf(
        "block %s: %d iterations, %d with Tpetra's matrix, %d on one rank\n"
        "  largest difference: %.1e from Tpetra's solution, %.1e from one rank's, %.1e from the exact one\n",
        method.c_str(), by_filigree.iterations, by_tpetra.iterations, on_one_rank.iterations, from_tpetra,
        from_one_rank, error);
  print_times(comm, *A, 2);
  return by_filigree.iterations == by_tpetra.iterations && by_filigree.iterations == on_one_rank.iterations &&
         from_tpetra < 1e-9 && from_one_rank < 1e-9 && error < 1e-6;
}

/// Multiplies the matrix of a file, whose rows are distributed. Returns whether the product is right.
bool multiply_file(const Comm& comm, const std::string& path) {
  const auto matrix = Filigree::read_tpetra_matrix(path, comm);
  const Filigree::TpetraOperator<Matrix> A(matrix);
  const auto x = exact_solution(matrix->getDomainMap());
  Vectors y(matrix->getRangeMap(), 2), by_tpetra(matrix->getRangeMap(), 2);
  A.apply(*x, y);
  matrix->apply(*x, by_tpetra);
  const double largest = by_tpetra.getVector(0)->normInf();
  const double relative = difference(y, by_tpetra) / (largest > 0 ? largest : 1);
  std::printf("rank %d: %d rows, %lld entries in %s columns as %s", comm->getRank(), A.owned().numRows(),
              static_cast<long long>(A.owned().nnz()), A.is_split() ? "owned" : "all",
              A.owned().selection().picked.c_str());
  if (A.remote().nnz() > 0)
    std::printf(", %lld in remote columns as %s", static_cast<long long>(A.remote().nnz()),
                A.remote().selection().picked.c_str());
  std::printf("\n");
  if (comm->getRank() == 0)
    std::printf("largest difference from Tpetra's product: %.1e of its largest element\n", relative);
  print_times(comm, A, 2);
  return relative < 1e-12;
}

int main(int argc, char** argv) {
  const Tpetra::ScopeGuard scope(&argc, &argv);
  const Comm comm = Tpetra::getDefaultComm();
  try {
    const std::string argument = argc > 1 ? argv[1] : "16";
    const bool is_number = argument.find_first_not_of("0123456789") == std::string::npos;
    if (!is_number) return multiply_file(comm, argument) ? 0 : 1;
    const int n = std::stoi(argument);
    if (comm->getRank() == 0)
      std::printf("%d ranks, %d x %d x %d cells with 4 unknowns\n", comm->getSize(), n, n, n);
    const bool is_cg_right = solve_grid(comm, n, "CG", 0);
    const bool is_gmres_right = solve_grid(comm, n, "GMRES", 1);
    return is_cg_right && is_gmres_right ? 0 : 1;
  } catch (const std::exception& error) {
    // Most errors are on all ranks. Other ranks wait for one that has another error.
    std::fprintf(stderr, "rank %d: %s\n", comm->getRank(), error.what());
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  return 1;
}

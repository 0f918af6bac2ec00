// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// filigree_petsc: products and conjugate gradients of PETSc over several MPI ranks, with PETSc's AIJ matrix and with
// petsc_shell().
//
//     mpirun -np 2 filigree_petsc --out=ranks_2.json
#include <petscksp.h>

#include <CLI/CLI.hpp>
#include <filigree/petsc/petsc_shell.hpp>
#include <iostream>

#include "measure/recommendation.hpp"
#include "measure/session.hpp"
#include "support/grid_list.hpp"

namespace FiligreePerf {
namespace {

struct Options : SessionOptions {
  std::string strong = "128x128x128";
  std::string weak = "100x100x100";
  int dof = 4;
  std::string type = "aij";
  std::string format;
};

/// Throws if a function of PETSc has failed. PETSc has printed why.
void check(PetscErrorCode code) {
  if (code != 0)
    Filigree::Impl::fail<std::runtime_error>("PETSc returned the error code ", static_cast<int>(code),
                                             "; its message is above.");
}

double largest(double value) {
  double result = 0;
  MPI_Allreduce(&value, &result, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return result;
}

/// Seconds of the slowest rank. All ranks begin at the same time, and all get the same result.
double slowest_seconds(const std::function<void()>& work) {
  Kokkos::fence();
  MPI_Barrier(MPI_COMM_WORLD);
  const Kokkos::Timer timer;
  work();
  Kokkos::fence();
  return largest(timer.seconds());
}

using Cells = std::array<std::int64_t, 3>;

std::string text_of(const Cells& cells) {
  return std::to_string(cells[0]) + "x" + std::to_string(cells[1]) + "x" + std::to_string(cells[2]);
}

/// The 7-point matrix of a grid, symmetric and positive definite: full blocks of dof x dof on the diagonal, diagonal
/// blocks beside it. Each rank has the same number of planes along z, or one more.
Mat make_matrix(const std::string& type, const Cells& cells, int dof) {
  int rank = 0, ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const std::int64_t plane = cells[0] * cells[1];
  const std::int64_t first = cells[2] * rank / ranks * plane, end = cells[2] * (rank + 1) / ranks * plane;
  std::vector<PetscInt> row_map = {0}, columns;
  std::vector<PetscScalar> values;
  for (std::int64_t cell = first; cell < end; ++cell) {
    const std::int64_t x = cell % cells[0], y = cell / cells[0] % cells[1], z = cell / plane;
    for (int unknown = 0; unknown < dof; ++unknown) {
      const auto add = [&](bool exists, std::int64_t other) {
        if (!exists) return;
        columns.push_back(static_cast<PetscInt>(other * dof + unknown));
        values.push_back(-1);
      };
      add(z > 0, cell - plane);
      add(y > 0, cell - cells[0]);
      add(x > 0, cell - 1);
      for (int other = 0; other < dof; ++other) {
        columns.push_back(static_cast<PetscInt>(cell * dof + other));
        values.push_back(other == unknown ? 6.5 : -0.1);
      }
      add(x + 1 < cells[0], cell + 1);
      add(y + 1 < cells[1], cell + cells[0]);
      add(z + 1 < cells[2], cell + plane);
      row_map.push_back(static_cast<PetscInt>(columns.size()));
    }
  }
  Mat A = nullptr;
  const auto rows = static_cast<PetscInt>((end - first) * dof);
  check(MatCreate(PETSC_COMM_WORLD, &A));
  check(MatSetSizes(A, rows, rows, PETSC_DETERMINE, PETSC_DETERMINE));
  check(MatSetType(A, type.c_str()));
  // One of both has an effect.
  check(MatSeqAIJSetPreallocationCSR(A, row_map.data(), columns.data(), values.data()));
  check(MatMPIAIJSetPreallocationCSR(A, row_map.data(), columns.data(), values.data()));
  return A;
}

/// Measures the products and the solution with a matrix of PETSc and its shell, in turns.
class Problem {
 public:
  Problem(Session& session, const Options& options, std::string name, const Cells& cells)
      : m_session(session), m_options(options), m_name(std::move(name)) {
    m_matrix = make_matrix(options.type, cells, options.dof);
    Filigree::PetscShellOptions shell_options;
    shell_options.format = options.format;
    check(Filigree::petsc_shell(m_matrix, shell_options, &m_shell));
    check(MatCreateVecs(m_matrix, &m_x, &m_y));
    check(VecDuplicate(m_y, &m_expected));
    PetscRandom random = nullptr;
    check(PetscRandomCreate(PETSC_COMM_WORLD, &random));
    check(VecSetRandom(m_x, random));
    check(PetscRandomDestroy(&random));
  }
  ~Problem() {
    for (Vec* vector : {&m_x, &m_y, &m_expected})
      static_cast<void>(VecDestroy(vector));
    static_cast<void>(MatDestroy(&m_shell));
    static_cast<void>(MatDestroy(&m_matrix));
  }
  Problem(const Problem&) = delete;
  Problem& operator=(const Problem&) = delete;

  void measure_product() {
    check(MatMult(m_matrix, m_x, m_expected));
    check(MatMult(m_shell, m_x, m_y));
    PetscReal error = 0, size = 0;
    check(VecNorm(m_expected, NORM_INFINITY, &size));
    check(VecAXPY(m_y, -1, m_expected));
    check(VecNorm(m_y, NORM_INFINITY, &error));
    if (!(error <= 500 * PETSC_MACHINE_EPSILON * size))
      Filigree::Impl::fail<std::runtime_error>(m_name, ": an element of the product differs by ", error,
                                               " from PETSc's; the largest one is ", size, ".");
    const auto product = [&](Mat A) { return [this, A]() { check(MatMult(A, m_x, m_y)); }; };
    add("product", m_session.quick() ? 3 : 50, product(m_matrix), product(m_shell),
        {{"exchange_ms", 1e3 * exchange_seconds()}});
  }

  void measure_solution() {
    int iterations[2] = {};
    const auto solution = [&](Mat products, int which) {
      return [this, &iterations, products, which]() { iterations[which] = solve(products); };
    };
    const auto by_petsc = solution(m_matrix, 0);
    const auto by_filigree = solution(m_shell, 1);
    by_petsc();
    by_filigree();
    if (iterations[0] != iterations[1])
      Filigree::Impl::fail<std::runtime_error>(m_name, ": ", iterations[1], " iterations, but ",
                                               iterations[0], " with PETSc's matrix.");
    add("cg", m_session.quick() ? 1 : 5, by_petsc, by_filigree, {{"iterations", iterations[0]}});
  }

 private:
  /// Iterations of conjugate gradients with Jacobi to a residual of 1e-8.
  int solve(Mat products) {
    KSP ksp = nullptr;
    PC pc = nullptr;
    check(KSPCreate(PETSC_COMM_WORLD, &ksp));
    check(KSPSetOperators(ksp, products, m_matrix));
    check(KSPSetType(ksp, KSPCG));
    check(KSPGetPC(ksp, &pc));
    check(PCSetType(pc, PCJACOBI));
    check(KSPSetTolerances(ksp, 1e-8, PETSC_DEFAULT, PETSC_DEFAULT, 1000));
    check(VecSet(m_expected, 1));
    check(KSPSolve(ksp, m_expected, m_y));
    PetscInt iterations = 0;
    KSPConvergedReason reason = KSP_CONVERGED_ITERATING;
    check(KSPGetIterationNumber(ksp, &iterations));
    check(KSPGetConvergedReason(ksp, &reason));
    check(KSPDestroy(&ksp));
    if (reason <= 0)
      Filigree::Impl::fail<std::runtime_error>(m_name, ": KSP ended with the reason ",
                                               static_cast<int>(reason), " after ", iterations,
                                               " iterations.");
    return static_cast<int>(iterations);
  }

  /// Of the elements of x for the remote columns, with nothing else at the same time.
  double exchange_seconds() {
    int ranks = 1;
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (ranks == 1) return 0;
    Mat owned = nullptr, remote = nullptr;
    const PetscInt* columns = nullptr;
    PetscInt count = 0;
    Vec elements = nullptr;
    IS numbers = nullptr;
    VecScatter scatter = nullptr;
    check(MatMPIAIJGetSeqAIJ(m_matrix, &owned, &remote, &columns));
    check(MatGetLocalSize(remote, nullptr, &count));
    check(MatCreateVecs(remote, &elements, nullptr));
    check(ISCreateGeneral(PETSC_COMM_WORLD, count, columns, PETSC_COPY_VALUES, &numbers));
    check(VecScatterCreate(m_x, numbers, elements, nullptr, &scatter));
    const auto exchange = [&]() {
      check(VecScatterBegin(scatter, m_x, elements, INSERT_VALUES, SCATTER_FORWARD));
      check(VecScatterEnd(scatter, m_x, elements, INSERT_VALUES, SCATTER_FORWARD));
    };
    slowest_seconds(exchange);
    std::vector<double> times;
    for (int i = 0; i < (m_session.quick() ? 3 : 50); ++i)
      times.push_back(slowest_seconds(exchange));
    check(VecScatterDestroy(&scatter));
    check(ISDestroy(&numbers));
    check(VecDestroy(&elements));
    return quantile(times, 0.5);
  }

  /// Times both in turns, after one run that does not count, and adds the medians to the file.
  void add(const std::string& what, int samples, const std::function<void()>& by_petsc,
           const std::function<void()>& by_filigree, Figures figures) {
    slowest_seconds(by_petsc);
    slowest_seconds(by_filigree);
    std::vector<double> petsc, filigree, ratios;
    for (int i = 0; i < samples; ++i) {
      double seconds[2];
      for (const int which : {i % 2, 1 - i % 2})
        seconds[which] = slowest_seconds(which == 0 ? by_petsc : by_filigree);
      petsc.push_back(seconds[0]);
      filigree.push_back(seconds[1]);
      ratios.push_back(seconds[0] / seconds[1]);
    }
    int ranks = 1;
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    figures.insert(figures.begin(), {{"ranks", ranks},
                                     {"median_ms", 1e3 * quantile(filigree, 0.5)},
                                     {"petsc_ms", 1e3 * quantile(petsc, 0.5)},
                                     {"speed_vs_petsc", quantile(ratios, 0.5)}});
    std::cout << m_name << ", " << what << ": PETSc's " << m_options.type << ' ' << 1e3 * quantile(petsc, 0.5)
              << " ms, shell " << 1e3 * quantile(filigree, 0.5) << " ms, " << quantile(ratios, 0.5)
              << " times as fast";
    for (const auto& [name, value] : figures)
      if (name == "iterations" || name == "exchange_ms") std::cout << ", " << name << ' ' << value;
    std::cout << std::endl;
    m_session.add_measured(what, "double", m_name, quantile(filigree, 0.5), figures);
  }

  Session& m_session;
  const Options& m_options;
  std::string m_name;
  Mat m_matrix = nullptr, m_shell = nullptr;
  Vec m_x = nullptr, m_y = nullptr, m_expected = nullptr;
};

Cells cells_of(const std::string& flag, const std::string& text) {
  const auto extents = numbers(flag, text, 'x', 1 << 20);
  if (extents.size() != 3)
    Filigree::Impl::fail<std::invalid_argument>(flag, ": \"", text,
                                                "\" must have three extents, as in 64x64x64.");
  return {extents[0], extents[1], extents[2]};
}

void measure(Session& session, const Options& options) {
  int ranks = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const Cells strong = cells_of("--strong", options.strong);
  Cells weak = cells_of("--weak", options.weak);
  weak[2] *= ranks;
  const std::string suffix = "_dof" + std::to_string(options.dof) + "_ranks" + std::to_string(ranks);
  for (const auto& [scaling, cells] : {std::pair("strong", strong), std::pair("weak", weak)}) {
    if (cells[2] < ranks)
      Filigree::Impl::fail<std::invalid_argument>("--", scaling, ": ", text_of(cells),
                                                  " cells are too few for ", ranks,
                                                  " ranks; each needs a plane of cells along z.");
    Problem problem(session, options, scaling + ("_" + text_of(cells)) + suffix, cells);
    problem.measure_product();
    problem.measure_solution();
  }
}

}  // namespace
}  // namespace FiligreePerf

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  // Only rank 0 prints and writes.
  if (rank > 0) std::cout.setstate(std::ios::failbit);

  CLI::App app(
      "Times products and conjugate gradients of PETSc over the ranks of mpirun, with PETSc's matrix and "
      "with that of "
      "petsc_shell(). The environment variable PETSC_OPTIONS holds options of PETSc.",
      "filigree_petsc");
  FiligreePerf::Options options;
  CLI::Option* strong = app.add_option("--strong", options.strong, "cells of the grid that all ranks share")
                            ->type_name("XxYxZ")
                            ->capture_default_str();
  CLI::Option* weak =
      app.add_option("--weak", options.weak, "cells per rank of the grid that grows with the ranks, along z")
          ->type_name("XxYxZ")
          ->capture_default_str();
  app.add_option("--dof", options.dof, "unknowns per cell")
      ->type_name("N")
      ->check(CLI::Range(1, 64))
      ->capture_default_str();
  app.add_option("--type", options.type, "PETSc's type of the matrix, such as aij or aijkokkos")
      ->type_name("TYPE")
      ->capture_default_str();
  app.add_option("--format", options.format, "format of the owned columns; without it each rank picks one")
      ->type_name("NAME");
  app.parse_complete_callback([&]() {
    if (rank > 0) options.out.clear();
  });
  const int code = FiligreePerf::run_session(app, argc, argv, options, [&](FiligreePerf::Session& session) {
    if (session.quick() && strong->empty()) options.strong = "12x12x12";
    if (session.quick() && weak->empty()) options.weak = "8x8x8";
    // PETSc may hold data in Kokkos, so that it must end before Kokkos does.
    FiligreePerf::check(PetscInitializeNoArguments());
    FiligreePerf::measure(session, options);
    FiligreePerf::check(PetscFinalize());
  });
  // Other ranks may wait for one that failed.
  if (code != 0) MPI_Abort(MPI_COMM_WORLD, code);
  MPI_Finalize();
  return 0;
}

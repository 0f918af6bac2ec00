// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// filigree_petsc: products and conjugate gradients of PETSc over several MPI ranks, with PETSc's AIJ matrices and
// with petsc_shell().
//
//     mpirun -np 2 filigree_petsc --out=ranks_2.json
#include <petscksp.h>

#include <CLI/CLI.hpp>
#include <filigree/petsc/petsc_shell.hpp>
#include <iostream>

#include "measure/ranks.hpp"
#include "support/symmetric_grid.hpp"

namespace FiligreePerf {
namespace {

struct Options : RankOptions {
  std::vector<std::string> types = {"aij"};
  std::string format;
};

/// Throws if a function of PETSc has failed. PETSc has printed why.
void check(PetscErrorCode code) {
  if (code != 0)
    Filigree::Impl::fail<std::runtime_error>("PETSc returned the error code ", static_cast<int>(code),
                                             "; its message is above.");
}

/// The matrix of SymmetricCoupling with the 7-point stencil. Each rank has the same number of planes along z, or one more.
Mat make_matrix(const std::string& type, const Cells& cells, int dof) {
  const int rank = this_rank(), ranks = number_of_ranks();
  const std::int64_t plane = cells[0] * cells[1];
  const double most_entries =
      7.0 * dof * dof * static_cast<double>(plane) * static_cast<double>(cells[2] / ranks + 1);
  const double most_rows = static_cast<double>(plane) * static_cast<double>(cells[2]) * dof;
  if (std::max(most_entries, most_rows) > static_cast<double>(std::numeric_limits<PetscInt>::max()))
    Filigree::Impl::fail<std::length_error>(text_of(cells), " cells with ", dof, " unknowns on ", ranks,
                                            " ranks: ", most_rows, " rows and up to ", most_entries,
                                            " entries per rank are more than a PetscInt of ",
                                            8 * sizeof(PetscInt), " bits can count; use a smaller grid.");
  const std::int64_t first = cells[2] * rank / ranks * plane, end = cells[2] * (rank + 1) / ranks * plane;
  const SymmetricCoupling coefficients{7, dof};
  std::vector<PetscInt> row_map = {0}, columns;
  std::vector<PetscScalar> values;
  for (std::int64_t cell = first; cell < end; ++cell) {
    const std::int64_t x = cell % cells[0], y = cell / cells[0] % cells[1], z = cell / plane;
    for (int i = 0; i < dof; ++i) {
      const auto add = [&](bool exists, std::int64_t neighbour) {
        for (int j = 0; exists && j < dof; ++j) {
          columns.push_back(static_cast<PetscInt>(neighbour * dof + j));
          values.push_back(coefficients(cell, neighbour, i, j));
        }
      };
      add(z > 0, cell - plane);
      add(y > 0, cell - cells[0]);
      add(x > 0, cell - 1);
      add(true, cell);
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

/// A matrix of PETSc, or a shell, with vectors and a solver.
struct Variant {
  std::string name;
  Mat matrix = nullptr;
  Vec x = nullptr, y = nullptr, right_hand_side = nullptr;
  KSP ksp = nullptr;
  std::vector<double> seconds = {};
  int iterations = 0;
};

/// Measures the products and the solution with matrices of PETSc and the shell, in turns.
class Problem {
 public:
  Problem(Session& session, const Options& options, std::string name, const Cells& cells)
      : m_session(session), m_options(options), m_name(std::move(name)) {
    for (const std::string& type : options.types)
      m_variants.push_back({type, make_matrix(type, cells, options.dof)});
    Filigree::PetscShellOptions shell_options;
    shell_options.format = options.format;
    Mat shell = nullptr;
    check(Filigree::petsc_shell(of_petsc().matrix, shell_options, &shell));
    m_variants.push_back({"shell", shell});
    for (Variant& variant : m_variants) {
      check(MatCreateVecs(variant.matrix, &variant.x, &variant.y));
      check(VecDuplicate(variant.y, &variant.right_hand_side));
      check(VecSet(variant.right_hand_side, 1));
      fill(variant.x);
      make_solver(variant, &variant == &m_variants.back() ? of_petsc().matrix : variant.matrix);
    }
  }
  ~Problem() {
    for (Variant& variant : m_variants) {
      static_cast<void>(KSPDestroy(&variant.ksp));
      for (Vec* vector : {&variant.x, &variant.y, &variant.right_hand_side})
        static_cast<void>(VecDestroy(vector));
    }
    // The shell refers to the first matrix.
    for (auto variant = m_variants.rbegin(); variant != m_variants.rend(); ++variant)
      static_cast<void>(MatDestroy(&variant->matrix));
  }
  Problem(const Problem&) = delete;
  Problem& operator=(const Problem&) = delete;

  void measure_product() {
    for (Variant& variant : m_variants)
      check(MatMult(variant.matrix, variant.x, variant.y));
    const PetscReal size = largest_element(of_petsc().y);
    check(VecAXPY(shell().y, -1, of_petsc().y));
    const PetscReal error = largest_element(shell().y);
    if (!(error <= 500 * PETSC_MACHINE_EPSILON * size))
      Filigree::Impl::fail<std::runtime_error>(m_name, ": an element of the product differs by ", error,
                                               " from PETSc's; the largest one is ", size, ".");
    measure(m_session.quick() ? 3 : 50, products_per_sample, [](Variant& variant) {
      for (int i = 0; i < products_per_sample; ++i)
        check(MatMult(variant.matrix, variant.x, variant.y));
    });
    add("product", {{"exchange_ms", 1e3 * exchange_seconds()}});
  }

  void measure_solution() {
    measure(m_session.quick() ? 1 : 5, 1, [this](Variant& variant) { solve(variant); });
    Figures iterations = {{"solver_iterations", shell().iterations}};
    for (const Variant& variant : m_variants) {
      // The sums are rounded differently, so that one iteration more or less is no fault.
      if (std::abs(variant.iterations - shell().iterations) > 1)
        Filigree::Impl::fail<std::runtime_error>(m_name, ": ", shell().iterations, " iterations, but ",
                                                 variant.iterations, " with PETSc's ", variant.name, ".");
      if (&variant != &shell()) iterations.push_back({variant.name + "_iterations", variant.iterations});
    }
    add("cg", iterations);
  }

 private:
  /// Solvers queue other work behind a product, so the time to start the first one is not that of each of them.
  static constexpr int products_per_sample = 10;

  Variant& of_petsc() { return m_variants.front(); }
  Variant& shell() { return m_variants.back(); }

  /// Different numbers from 0 to 1, the same for all types of vectors.
  static void fill(Vec vector) {
    PetscInt first = 0, end = 0;
    PetscScalar* elements = nullptr;
    check(VecGetOwnershipRange(vector, &first, &end));
    check(VecGetArrayWrite(vector, &elements));
    for (PetscInt i = first; i < end; ++i)
      elements[i - first] = static_cast<double>(std::int64_t(i) * 7919 % 10007) / 10007;
    check(VecRestoreArrayWrite(vector, &elements));
  }
  static PetscReal largest_element(Vec vector) {
    PetscReal result = 0;
    check(VecNorm(vector, NORM_INFINITY, &result));
    return result;
  }

  /// Conjugate gradients with Jacobi to a residual of 1e-8.
  static void make_solver(Variant& variant, Mat preconditioner) {
    PC pc = nullptr;
    check(KSPCreate(PETSC_COMM_WORLD, &variant.ksp));
    check(KSPSetOperators(variant.ksp, variant.matrix, preconditioner));
    check(KSPSetType(variant.ksp, KSPCG));
    check(KSPGetPC(variant.ksp, &pc));
    check(PCSetType(pc, PCJACOBI));
    check(KSPSetTolerances(variant.ksp, 1e-8, PETSC_DEFAULT, PETSC_DEFAULT, 1000));
    check(KSPSetUp(variant.ksp));
  }
  void solve(Variant& variant) {
    check(KSPSolve(variant.ksp, variant.right_hand_side, variant.y));
    PetscInt iterations = 0;
    KSPConvergedReason reason = KSP_CONVERGED_ITERATING;
    check(KSPGetIterationNumber(variant.ksp, &iterations));
    check(KSPGetConvergedReason(variant.ksp, &reason));
    if (reason <= 0)
      Filigree::Impl::fail<std::runtime_error>(m_name, ", ", variant.name, ": KSP ended with the reason ",
                                               static_cast<int>(reason), " after ", iterations,
                                               " iterations.");
    variant.iterations = static_cast<int>(iterations);
  }

  /// Of the elements of x for the remote columns by PETSc's VecScatter, with nothing else at the same time.
  double exchange_seconds() {
    if (number_of_ranks() == 1) return 0;
    Mat owned = nullptr, remote = nullptr;
    const PetscInt* columns = nullptr;
    PetscInt count = 0;
    Vec elements = nullptr;
    IS numbers = nullptr;
    VecScatter scatter = nullptr;
    const Vec x = of_petsc().x;
    check(MatMPIAIJGetSeqAIJ(of_petsc().matrix, &owned, &remote, &columns));
    check(MatGetLocalSize(remote, nullptr, &count));
    check(MatCreateVecs(remote, &elements, nullptr));
    check(ISCreateGeneral(PETSC_COMM_WORLD, count, columns, PETSC_COPY_VALUES, &numbers));
    check(VecScatterCreate(x, numbers, elements, nullptr, &scatter));
    const auto exchange = [&]() {
      for (int i = 0; i < products_per_sample; ++i) {
        check(VecScatterBegin(scatter, x, elements, INSERT_VALUES, SCATTER_FORWARD));
        check(VecScatterEnd(scatter, x, elements, INSERT_VALUES, SCATTER_FORWARD));
      }
    };
    const double seconds = median_slowest_seconds(m_session.quick() ? 3 : 50, exchange) / products_per_sample;
    check(VecScatterDestroy(&scatter));
    check(ISDestroy(&numbers));
    check(VecDestroy(&elements));
    return seconds;
  }

  /// Times all variants in turns, after one run that does not count. A sample is the time of one of the `repeats` of a
  /// run.
  void measure(int samples, int repeats, const std::function<void(Variant&)>& run) {
    for (Variant& variant : m_variants) {
      variant.seconds.clear();
      slowest_seconds([&]() { run(variant); });
    }
    const std::size_t count = m_variants.size();
    for (std::size_t i = 0; i < static_cast<std::size_t>(samples); ++i)
      for (std::size_t turn = 0; turn < count; ++turn) {
        Variant& variant = m_variants[(i + turn) % count];
        variant.seconds.push_back(slowest_seconds([&]() { run(variant); }) / repeats);
      }
  }

  /// Adds the medians to the file.
  void add(const std::string& what, const Figures& more) {
    const double median = quantile(shell().seconds, 0.5);
    Figures figures = {{"ranks", number_of_ranks()}, {"median_ms", 1e3 * median}};
    std::cout << m_name << ", " << what << ": shell " << 1e3 * median << " ms";
    for (const Variant& variant : m_variants) {
      if (&variant == &m_variants.back()) continue;
      std::vector<double> ratios;
      for (std::size_t i = 0; i < variant.seconds.size(); ++i)
        ratios.push_back(variant.seconds[i] / shell().seconds[i]);
      const double milliseconds = 1e3 * quantile(variant.seconds, 0.5), speed = quantile(ratios, 0.5);
      figures.push_back({variant.name + "_ms", milliseconds});
      figures.push_back({"speed_vs_" + variant.name, speed});
      std::cout << ", PETSc's " << variant.name << ' ' << milliseconds << " ms (shell " << speed
                << " times as fast)";
    }
    for (const auto& figure : more) {
      figures.push_back(figure);
      std::cout << ", " << figure.first << ' ' << figure.second;
    }
    std::cout << std::endl;
    m_session.add_measured(what, "double", m_name, median, figures);
  }

  Session& m_session;
  const Options& m_options;
  std::string m_name;
  std::vector<Variant> m_variants;  ///< of PETSc's types, and the shell of the first one
};

void measure(Session& session, const Options& options) {
  const int ranks = number_of_ranks();
  const Cells strong = options.strong_cells();
  Cells weak = options.weak_cells();
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
  CLI::App app(
      "Times products and conjugate gradients of PETSc over the ranks of mpirun, with PETSc's matrices and "
      "with that of "
      "petsc_shell(). The environment variable PETSC_OPTIONS holds options of PETSc.",
      "filigree_petsc");
  FiligreePerf::Options options;
  options.strong = "128x128x128";
  options.weak = "100x100x100";
  options.add_grids_to(app, "cells per rank of the grid that grows with the ranks, along z");
  app.add_option("--types", options.types,
                 "PETSc's types of the matrix, such as aij, aijkokkos or aijcusparse; the shell is made of "
                 "the first one")
      ->type_name("TYPE,...")
      ->delimiter(',')
      ->capture_default_str();
  app.add_option("--format", options.format, "format of the owned columns; without it each rank picks one")
      ->type_name("NAME");
  return FiligreePerf::run_session_on_ranks(app, argc, argv, options, [&](FiligreePerf::Session& session) {
    // PETSc may hold data in Kokkos, so that it must end before Kokkos does.
    FiligreePerf::check(PetscInitializeNoArguments());
    FiligreePerf::measure(session, options);
    FiligreePerf::check(PetscFinalize());
  });
}

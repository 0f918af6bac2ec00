// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See README.md.
#include <petscksp.h>

#include <filigree/petsc/petsc_shell.hpp>

namespace {

constexpr PetscInt unknowns = 4;

/// The rows of this rank: each unknown of a cell diffuses to the six neighbours, and reacts with the others of its cell.
PetscErrorCode assemble(PetscInt n, Mat* A) {
  PetscFunctionBeginUser;
  const PetscInt rows = n * n * n * unknowns;
  PetscCall(MatCreate(PETSC_COMM_WORLD, A));
  PetscCall(MatSetSizes(*A, PETSC_DECIDE, PETSC_DECIDE, rows, rows));
  PetscCall(MatSetType(*A, MATAIJ));
  // The options can name another type, such as -mat_type aijkokkos.
  PetscCall(MatSetFromOptions(*A));
  PetscCall(MatSeqAIJSetPreallocation(*A, 6 + unknowns, nullptr));
  PetscCall(MatMPIAIJSetPreallocation(*A, 6 + unknowns, nullptr, 6 + unknowns, nullptr));
  PetscInt first = 0, end = 0;
  PetscCall(MatGetOwnershipRange(*A, &first, &end));
  for (PetscInt row = first; row < end; ++row) {
    const PetscInt cell = row / unknowns, unknown = row % unknowns;
    const PetscInt x = cell % n, y = cell / n % n, z = cell / n / n;
    for (PetscInt other = 0; other < unknowns; ++other)
      PetscCall(MatSetValue(*A, row, cell * unknowns + other, other == unknown ? 6.5 : -0.1, INSERT_VALUES));
    const auto add_neighbour = [&](bool exists, PetscInt distance) -> PetscErrorCode {
      PetscFunctionBeginUser;
      if (exists) PetscCall(MatSetValue(*A, row, row + distance * unknowns, -1, INSERT_VALUES));
      PetscFunctionReturn(static_cast<PetscErrorCode>(0));
    };
    PetscCall(add_neighbour(x > 0, -1));
    PetscCall(add_neighbour(x + 1 < n, 1));
    PetscCall(add_neighbour(y > 0, -n));
    PetscCall(add_neighbour(y + 1 < n, n));
    PetscCall(add_neighbour(z > 0, -n * n));
    PetscCall(add_neighbour(z + 1 < n, n * n));
  }
  PetscCall(MatAssemblyBegin(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(static_cast<PetscErrorCode>(0));
}

/// Solves A x = b with the products of `products` and the preconditioner of A. Prints iterations and time.
PetscErrorCode solve(const char* name, Mat products, Mat A, Vec b, Vec x, PetscInt* iterations) {
  PetscFunctionBeginUser;
  KSP ksp = nullptr;
  PC pc = nullptr;
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetOperators(ksp, products, A));
  PetscCall(KSPSetType(ksp, KSPCG));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCSetType(pc, PCJACOBI));
  PetscCall(KSPSetTolerances(ksp, 1e-8, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(KSPSetUp(ksp));
  // The first solution also allocates.
  PetscCall(KSPSolve(ksp, b, x));
  PetscLogDouble begin = 0, end = 0;
  PetscCall(PetscTime(&begin));
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(PetscTime(&end));
  PetscCall(KSPGetIterationNumber(ksp, iterations));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s: %d iterations, %.3f ms\n", name, static_cast<int>(*iterations),
                        1e3 * static_cast<double>(end - begin)));
  PetscCall(KSPDestroy(&ksp));
  PetscFunctionReturn(static_cast<PetscErrorCode>(0));
}

PetscErrorCode run() {
  PetscFunctionBeginUser;
  PetscInt n = 16;
  char format[64] = "auto";
  PetscCall(PetscOptionsGetInt(nullptr, nullptr, "-n", &n, nullptr));
  PetscCall(PetscOptionsGetString(nullptr, nullptr, "-filigree_format", format, sizeof format, nullptr));

  Mat A = nullptr, fast = nullptr;
  PetscCall(assemble(n, &A));
  Filigree::PetscShellOptions options;
  if (std::string(format) != "auto") options.format = format;
  PetscCall(Filigree::petsc_shell(A, options, &fast));
  int ranks = 0;
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &ranks));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%d ranks, %d x %d x %d cells with %d unknowns\n", ranks,
                        static_cast<int>(n), static_cast<int>(n), static_cast<int>(n),
                        static_cast<int>(unknowns)));

  Vec b = nullptr, by_petsc = nullptr, by_filigree = nullptr;
  PetscCall(MatCreateVecs(A, &by_petsc, &b));
  PetscCall(VecDuplicate(by_petsc, &by_filigree));
  PetscCall(VecSet(b, 1));
  PetscInt iterations = 0, iterations_of_filigree = 0;
  PetscCall(solve("PETSc", A, A, b, by_petsc, &iterations));
  PetscCall(solve("Filigree", fast, A, b, by_filigree, &iterations_of_filigree));
  PetscReal difference = 0, size = 0;
  PetscCall(VecNorm(by_petsc, NORM_INFINITY, &size));
  PetscCall(VecAXPY(by_petsc, -1, by_filigree));
  PetscCall(VecNorm(by_petsc, NORM_INFINITY, &difference));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "largest relative difference of the solutions: %.1e\n",
                        static_cast<double>(difference / size)));
  const bool is_right = iterations == iterations_of_filigree && difference < 1e-9 * size;
  PetscCheck(is_right, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "the solutions or the iterations differ");

  PetscCall(VecDestroy(&by_filigree));
  PetscCall(VecDestroy(&by_petsc));
  PetscCall(VecDestroy(&b));
  PetscCall(MatDestroy(&fast));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(static_cast<PetscErrorCode>(0));
}

}  // namespace

int main(int argc, char** argv) {
  PetscCall(PetscInitialize(&argc, &argv, nullptr, nullptr));
  {
    // A PETSc with Kokkos initializes Kokkos itself.
#if !defined(PETSC_HAVE_KOKKOS)
    const Kokkos::ScopeGuard scope(argc, argv);
#endif
    PetscCall(run());
  }
  PetscCall(PetscFinalize());
  return 0;
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "filigree/core/require_cxx17.hpp"

#include <petscmat.h>

#include <memory>

#include "filigree/petsc/petsc_product.hpp"

namespace Filigree {
namespace Impl {

inline PetscErrorCode product_of(Mat shell, PetscProductBase** product) {
  PetscFunctionBeginUser;
  PetscCall(MatShellGetContext(shell, product));
  PetscFunctionReturn(petsc_success);
}
inline PetscErrorCode multiply_shell(Mat shell, Vec x, Vec y) {
  PetscFunctionBeginUser;
  PetscProductBase* product = nullptr;
  PetscCall(product_of(shell, &product));
  PetscCall(product->multiply(x, y));
  PetscFunctionReturn(petsc_success);
}
inline PetscErrorCode multiply_transposed_shell(Mat shell, Vec x, Vec y) {
  PetscFunctionBeginUser;
  PetscProductBase* product = nullptr;
  PetscCall(product_of(shell, &product));
  PetscCall(product->multiply_transposed(x, y));
  PetscFunctionReturn(petsc_success);
}
inline PetscErrorCode diagonal_of_shell(Mat shell, Vec diagonal) {
  PetscFunctionBeginUser;
  PetscProductBase* product = nullptr;
  PetscCall(product_of(shell, &product));
  PetscCall(MatGetDiagonal(product->matrix(), diagonal));
  PetscFunctionReturn(petsc_success);
}
inline PetscErrorCode view_shell(Mat shell, PetscViewer viewer) {
  PetscFunctionBeginUser;
  PetscProductBase* product = nullptr;
  PetscCall(product_of(shell, &product));
  PetscBool is_text = PETSC_FALSE;
  PetscCall(PetscObjectTypeCompare(reinterpret_cast<PetscObject>(viewer), PETSCVIEWERASCII, &is_text));
  if (!is_text) PetscFunctionReturn(petsc_success);
  int rank = 0;
  PetscCallMPI(MPI_Comm_rank(PetscObjectComm(reinterpret_cast<PetscObject>(shell)), &rank));
  std::string text;
  PetscCall(run_on_this_rank("Filigree::petsc_shell", [&]() {
    text = "  Filigree on rank " + std::to_string(rank) + ": " + product->picked() + "\n";
    if (rank == 0) text += product->explain() + "\n";
  }));
  PetscCall(PetscViewerASCIIPushSynchronized(viewer));
  PetscCall(PetscViewerASCIISynchronizedPrintf(viewer, "%s", text.c_str()));
  PetscCall(PetscViewerFlush(viewer));
  PetscCall(PetscViewerASCIIPopSynchronized(viewer));
  PetscFunctionReturn(petsc_success);
}
/// PETSc counts how many shells share the product, because MatDuplicate() of a shell makes another one. From version 3.23
/// on it gives the address of the pointer, whose type is void** or void*.
#if PETSC_VERSION_GE(3, 23, 0)
inline PetscErrorCode destroy_product(void** product) {
  PetscFunctionBeginUser;
  delete static_cast<PetscProductBase*>(*product);
  PetscFunctionReturn(petsc_success);
}
inline PetscErrorCode destroy_product(void* product) {
  PetscFunctionBeginUser;
  PetscCall(destroy_product(static_cast<void**>(product)));
  PetscFunctionReturn(petsc_success);
}
#else
inline PetscErrorCode destroy_product(void* product) {
  PetscFunctionBeginUser;
  delete static_cast<PetscProductBase*>(product);
  PetscFunctionReturn(petsc_success);
}
#endif

inline PetscErrorCode make_product(Mat A, const PetscShellOptions& options,
                                   std::unique_ptr<PetscProductBase>& product) {
  PetscFunctionBeginUser;
  PetscBool is_kokkos = PETSC_FALSE;
#if defined(FILIGREE_PETSC_HAS_KOKKOS)
  PetscCall(PetscObjectTypeCompareAny(reinterpret_cast<PetscObject>(A), &is_kokkos, MATSEQAIJKOKKOS,
                                      MATMPIAIJKOKKOS, ""));
#endif
  const MPI_Comm comm = PetscObjectComm(reinterpret_cast<PetscObject>(A));
  PetscCall(run_on_all_ranks(comm, "Filigree::petsc_shell", [&]() {
    if (is_kokkos)
      product = std::make_unique<PetscProduct<Kokkos::DefaultExecutionSpace>>(A, options);
    else
      product = std::make_unique<PetscProduct<Kokkos::DefaultHostExecutionSpace>>(A, options);
  }));
  PetscFunctionReturn(petsc_success);
}

/// The shell removes the same null spaces as A.
inline PetscErrorCode copy_null_spaces(Mat A, Mat shell) {
  PetscFunctionBeginUser;
  MatNullSpace null_space = nullptr;
  PetscCall(MatGetNullSpace(A, &null_space));
  PetscCall(MatSetNullSpace(shell, null_space));
  PetscCall(MatGetTransposeNullSpace(A, &null_space));
  PetscCall(MatSetTransposeNullSpace(shell, null_space));
  PetscFunctionReturn(petsc_success);
}

}  // namespace Impl

/// Makes a PETSc matrix of type MATSHELL that multiplies by A with the formats of this library. The caller destroys it by
/// MatDestroy(), before Kokkos is finalized:
///
///     Mat fast;
///     PetscCall(Filigree::petsc_shell(A, {}, &fast));
///     PetscCall(KSPSetOperators(ksp, fast, A));  // products with `fast`, the preconditioner from A
///
/// The rows stay distributed as in A. Each rank converts the columns whose elements of x it owns, and the remote ones,
/// to a format each. A product multiplies the former while the elements of x for the latter are exchanged.
///
/// The shell has MatMult(), MatMultTranspose(), MatGetDiagonal() and MatView(), which says which formats were picked and
/// why, and what PETSc makes of these: MatMultAdd(), MatMultTransposeAdd(), MatScale(), MatShift(), MatDiagonalScale()
/// and MatCreateVecs(). It has the null spaces that A has now, and keeps a reference to A. Before each product it
/// compares the state of A: new values are taken over by a refill, and a new pattern by another conversion. So A must be
/// assembled then, and must be changed by functions of PETSc that all ranks call.
///
/// For the types AIJKOKKOS the products run in Kokkos' default execution space, for all other types of AIJ on the host.
///
/// Cost: one optimize() or conversion per part, a copy of the remote entries, and a second copy of the entries of A in
/// the formats. Collective, as are all functions of the shell.
///
/// Errors are error codes of PETSc on all ranks: PETSC_ERR_ARG_NULL if A or shell is null, PETSC_ERR_SUP if A has another
/// type, PETSC_ERR_ORDER if Kokkos is not initialized, PETSC_ERR_ARG_WRONGSTATE if A is not assembled on a rank, and
/// PETSC_ERR_LIB with the text of the exception if a rank cannot convert its part (see docs/petsc.md). *shell is null
/// then. PETSc's usual error handler ends the program; PetscReturnErrorHandler lets it go on.
inline PetscErrorCode petsc_shell(Mat A, const PetscShellOptions& options, Mat* shell) {
  PetscFunctionBeginUser;
  PetscCheck(
      A != nullptr && shell != nullptr, PETSC_COMM_SELF, PETSC_ERR_ARG_NULL,
      "Filigree::petsc_shell: A or shell is a null pointer; give a matrix and the address of another one.");
  *shell = nullptr;
  const auto object = reinterpret_cast<PetscObject>(A);
  const MPI_Comm comm = PetscObjectComm(object);
  PetscBool is_aij = PETSC_FALSE, is_distributed = PETSC_FALSE;
  PetscCall(PetscObjectBaseTypeCompare(object, MATSEQAIJ, &is_aij));
  PetscCall(PetscObjectBaseTypeCompare(object, MATMPIAIJ, &is_distributed));
  MatType type = nullptr;
  PetscCall(MatGetType(A, &type));
  PetscCheck(
      is_aij || is_distributed, comm, PETSC_ERR_SUP,
      "Filigree::petsc_shell: the matrix has the type %s; it must be one of the types AIJ. Convert it by "
      "MatConvert().",
      type == nullptr ? "null" : type);
#if defined(PETSC_HAVE_KOKKOS)
  PetscCall(PetscKokkosInitializeCheck());
#endif
  PetscCheck(Kokkos::is_initialized(), comm, PETSC_ERR_ORDER,
             "Filigree::petsc_shell: Kokkos is not initialized; call Kokkos::initialize() first.");
  std::unique_ptr<Impl::PetscProductBase> product;
  PetscCall(Impl::make_product(A, options, product));
  PetscCall(product->build());
  PetscInt rows = 0, columns = 0, all_rows = 0, all_columns = 0, row_block = 1, column_block = 1;
  PetscCall(MatGetLocalSize(A, &rows, &columns));
  PetscCall(MatGetSize(A, &all_rows, &all_columns));
  PetscCall(MatGetBlockSizes(A, &row_block, &column_block));
  VecType vector_type = nullptr;
  PetscCall(MatGetVecType(A, &vector_type));
  Mat made = nullptr;
  PetscCall(MatCreateShell(comm, rows, columns, all_rows, all_columns, product.get(), &made));
  using Callback = void (*)(void);
  const auto set = [&](MatOperation operation, auto callback) {
    return MatShellSetOperation(made, operation, reinterpret_cast<Callback>(callback));
  };
  PetscCall(MatShellSetContextDestroy(made, Impl::destroy_product));
  static_cast<void>(product.release());  // the shell destroys it
  PetscCall(set(MATOP_MULT, Impl::multiply_shell));
  PetscCall(set(MATOP_MULT_TRANSPOSE, Impl::multiply_transposed_shell));
  PetscCall(set(MATOP_GET_DIAGONAL, Impl::diagonal_of_shell));
  PetscCall(set(MATOP_VIEW, Impl::view_shell));
  PetscCall(MatSetBlockSizes(made, row_block, column_block));
  PetscCall(MatShellSetVecType(made, vector_type));
  PetscCall(Impl::copy_null_spaces(A, made));
  *shell = made;
  PetscFunctionReturn(Impl::petsc_success);
}

}  // namespace Filigree

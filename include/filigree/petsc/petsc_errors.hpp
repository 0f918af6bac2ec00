// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Exceptions as error codes of PETSc.
#pragma once

#include "filigree/core/require_cxx17.hpp"

#include <petscsys.h>

#include <exception>
#include <string>

namespace Filigree::Impl {

/// The code of success, which PETSc calls PETSC_SUCCESS from version 3.19 on.
constexpr PetscErrorCode petsc_success = static_cast<PetscErrorCode>(0);

/// The text of what `work` throws; empty if it throws nothing.
template <class Work>
std::string error_of(const Work& work) {
  try {
    work();
  } catch (const std::exception& error) {
    return error.what();
  } catch (...) {
    return "an exception that is not a std::exception.";
  }
  return {};
}

/// Runs `work`, which must not communicate, on each rank of comm. If it throws on some of them, all ranks return
/// PETSC_ERR_LIB, with the text of the lowest of these ranks. All ranks must call it.
template <class Work>
PetscErrorCode run_on_all_ranks(MPI_Comm comm, const char* function, const Work& work) {
  PetscFunctionBeginUser;
  std::string text = error_of(work);
  int rank = 0, size = 0;
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  PetscCallMPI(MPI_Comm_size(comm, &size));
  const int own = text.empty() ? size : rank;
  int first = size;
  PetscCallMPI(MPI_Allreduce(&own, &first, 1, MPI_INT, MPI_MIN, comm));
  if (first == size) PetscFunctionReturn(petsc_success);
  int length = static_cast<int>(text.size());
  PetscCallMPI(MPI_Bcast(&length, 1, MPI_INT, first, comm));
  text.resize(static_cast<std::size_t>(length));
  PetscCallMPI(MPI_Bcast(text.data(), length, MPI_CHAR, first, comm));
  SETERRQ(comm, PETSC_ERR_LIB, "%s: error on rank %d: %s", function, first, text.c_str());
}

/// Runs `work` on this rank. If it throws, returns PETSC_ERR_LIB with its text.
template <class Work>
PetscErrorCode run_on_this_rank(const char* function, const Work& work) {
  PetscFunctionBeginUser;
  const std::string text = error_of(work);
  PetscCheck(text.empty(), PETSC_COMM_SELF, PETSC_ERR_LIB, "%s: %s", function, text.c_str());
  PetscFunctionReturn(petsc_success);
}

}  // namespace Filigree::Impl

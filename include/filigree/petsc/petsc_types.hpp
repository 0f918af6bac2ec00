// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// PETSc's numbers and execution space as types of Kokkos.
#pragma once

#include "filigree/core/require_cxx17.hpp"

#include <petscsys.h>

#include <Kokkos_Complex.hpp>
#include <Kokkos_Core.hpp>

// Matrices of type AIJKOKKOS are multiplied where they are if PETSc has this header, from version 3.19.1 on. Older ones
// are multiplied on the host.
#if defined(PETSC_HAVE_KOKKOS_KERNELS) && __has_include(<petsc_kokkos.hpp>)
#define FILIGREE_PETSC_HAS_KOKKOS
#include <petsc_kokkos.hpp>
#endif

namespace Filigree::Impl {

/// PETSc's numbers in kernels.
#if defined(PETSC_USE_COMPLEX)
using petsc_scalar = Kokkos::complex<PetscReal>;
#else
using petsc_scalar = PetscScalar;
#endif
static_assert(sizeof(petsc_scalar) == sizeof(PetscScalar) && alignof(petsc_scalar) <= PETSC_MEMALIGN,
              "Filigree::petsc_shell: the arrays of PETSc must be arrays of the numbers of Kokkos.");

/// The instance that PETSc uses, so that its kernels and those of Filigree follow one another.
template <class ExecutionSpace>
ExecutionSpace petsc_instance() {
#if defined(FILIGREE_PETSC_HAS_KOKKOS)
  if constexpr (std::is_same_v<ExecutionSpace, Kokkos::DefaultExecutionSpace>)
    return PetscGetKokkosExecutionSpace();
#endif
  return ExecutionSpace();
}

}  // namespace Filigree::Impl

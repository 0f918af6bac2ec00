# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Makes the target Filigree::petsc, for Filigree's own build and for projects that use an installed Filigree. If PETSc or MPI
# is missing, FILIGREE_MISSING_PETSC is a sentence that says what to install.

unset(FILIGREE_MISSING_PETSC)
find_package(MPI QUIET COMPONENTS CXX)
if(NOT MPI_CXX_FOUND)
  set(FILIGREE_MISSING_PETSC "Filigree::petsc needs MPI: install libopenmpi-dev and openmpi-bin (Debian).")
  return()
endif()
# PETSc comes with a file for pkg-config, in a folder that its own variables name.
if(DEFINED ENV{PETSC_DIR} AND NOT EXISTS "$ENV{PETSC_DIR}/$ENV{PETSC_ARCH}/lib/pkgconfig/PETSc.pc")
  set(FILIGREE_MISSING_PETSC "Filigree::petsc: the environment variables PETSC_DIR and PETSC_ARCH are \"$ENV{PETSC_DIR}\" and \"$ENV{PETSC_ARCH}\", \
but there is no file $ENV{PETSC_DIR}/$ENV{PETSC_ARCH}/lib/pkgconfig/PETSc.pc. Correct or unset them.")
  return()
endif()
find_package(PkgConfig QUIET)
if(PkgConfig_FOUND)
  set(filigree_pkg_config_path "$ENV{PKG_CONFIG_PATH}")
  if(DEFINED ENV{PETSC_DIR})
    set(ENV{PKG_CONFIG_PATH} "$ENV{PETSC_DIR}/$ENV{PETSC_ARCH}/lib/pkgconfig:${filigree_pkg_config_path}")
  endif()
  pkg_check_modules(filigree_petsc QUIET IMPORTED_TARGET GLOBAL PETSc>=3.18)
  set(ENV{PKG_CONFIG_PATH} "${filigree_pkg_config_path}")
endif()
if(NOT filigree_petsc_FOUND)
  string(CONCAT FILIGREE_MISSING_PETSC "Filigree::petsc needs PETSc 3.18 or newer and pkg-config: install libpetsc-real3.18-dev and "
                                       "pkg-config (Debian), or set the variables PETSC_DIR and PETSC_ARCH of the environment.")
  return()
endif()
include("${CMAKE_CURRENT_LIST_DIR}/FiligreeSameKokkos.cmake")
filigree_same_kokkos(filigree_other_kokkos ${filigree_petsc_INCLUDE_DIRS})
if(filigree_other_kokkos)
  set(FILIGREE_MISSING_PETSC "Filigree::petsc needs a PETSc without Kokkos or with the Kokkos of Filigree, in ${filigree_kokkos}. The \
PETSc in ${filigree_petsc_PREFIX} has another one, in ${filigree_other_kokkos}. Build one of both with the Kokkos of the other.")
  return()
endif()
if(NOT TARGET Filigree::petsc)
  if(NOT Filigree_FIND_QUIETLY)
    message(STATUS "Filigree::petsc uses PETSc ${filigree_petsc_VERSION} in ${filigree_petsc_PREFIX}")
  endif()
  add_library(Filigree::petsc INTERFACE IMPORTED GLOBAL)
  # The headers are those of a system library, so that their warnings are not shown.
  set_target_properties(Filigree::petsc PROPERTIES
    INTERFACE_LINK_LIBRARIES "Filigree::filigree;MPI::MPI_CXX;PkgConfig::filigree_petsc"
    INTERFACE_SYSTEM_INCLUDE_DIRECTORIES "${filigree_petsc_INCLUDE_DIRS}")
endif()

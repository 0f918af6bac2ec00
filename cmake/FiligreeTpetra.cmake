# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Makes the target Filigree::tpetra, for Filigree's own build and for projects that use an installed Filigree. If Tpetra or
# MPI is missing, FILIGREE_MISSING_TPETRA is a sentence that says what to install.

unset(FILIGREE_MISSING_TPETRA)
find_package(Tpetra QUIET)
if(NOT Tpetra_FOUND)
  string(CONCAT FILIGREE_MISSING_TPETRA "Filigree::tpetra needs Tpetra: install libtrilinos-tpetra-dev, libtrilinos-epetra-dev "
                                        "and libtrilinos-teuchos-dev (Debian), or set Tpetra_ROOT to the prefix of Trilinos.")
  return()
endif()
# A newer Tpetra finds the package of Kokkos that was found before, an older one brings its own headers.
include("${CMAKE_CURRENT_LIST_DIR}/FiligreeSameKokkos.cmake")
filigree_same_kokkos(filigree_other_kokkos ${Tpetra_INCLUDE_DIRS})
if(filigree_other_kokkos)
  set(FILIGREE_MISSING_TPETRA "Filigree::tpetra needs a Tpetra with the Kokkos of Filigree, in ${filigree_kokkos}. The Tpetra \
in ${Tpetra_DIR} has another one, in ${filigree_other_kokkos}. Set Kokkos_ROOT to the prefix of the latter when you build \
Filigree, or Tpetra_ROOT to the prefix of another Trilinos.")
  return()
endif()
find_package(MPI QUIET COMPONENTS CXX)
if(NOT MPI_CXX_FOUND)
  set(FILIGREE_MISSING_TPETRA "Filigree::tpetra needs MPI: install libopenmpi-dev and openmpi-bin (Debian).")
  return()
endif()
if(NOT TARGET Filigree::tpetra)
  add_library(Filigree::tpetra INTERFACE IMPORTED GLOBAL)
  set_target_properties(Filigree::tpetra PROPERTIES
    INTERFACE_LINK_LIBRARIES "Filigree::filigree;${Tpetra_LIBRARIES};MPI::MPI_CXX"
    INTERFACE_SYSTEM_INCLUDE_DIRECTORIES "${Tpetra_INCLUDE_DIRS}")
endif()

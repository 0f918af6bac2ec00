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

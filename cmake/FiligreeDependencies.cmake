# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Finds the libraries that Filigree links to, for its own build and for projects that use an installed Filigree.
# Afterwards the targets Kokkos::kokkos, Kokkos::kokkoskernels and ZLIB::ZLIB exist. If a library is missing,
# FILIGREE_MISSING_DEPENDENCY is a sentence that says what to install. Otherwise FILIGREE_KOKKOS names the versions of
# Kokkos and Kokkos Kernels and the backends. It must be the same for Filigree and for projects that use it. An installed
# Filigree sets FILIGREE_KOKKOS_HINT and FILIGREE_KOKKOSKERNELS_HINT before.

unset(FILIGREE_MISSING_DEPENDENCY)
unset(FILIGREE_KOKKOS)

find_package(Kokkos 3.4 QUIET HINTS ${FILIGREE_KOKKOS_HINT})
if(NOT Kokkos_FOUND)
  string(CONCAT FILIGREE_MISSING_DEPENDENCY "Filigree needs Kokkos 3.4 or newer: install libtrilinos-kokkos-dev "
                                            "(Debian), or set Kokkos_ROOT to the prefix of an installed Kokkos.")
  return()
endif()
# The prefix of Kokkos is searched first, because a Kokkos Kernels elsewhere may belong to another Kokkos.
find_package(KokkosKernels QUIET HINTS "${Kokkos_DIR}/.." "${Kokkos_DIR}/../../.." ${FILIGREE_KOKKOSKERNELS_HINT})
if(NOT KokkosKernels_FOUND)
  string(CONCAT FILIGREE_MISSING_DEPENDENCY "Filigree needs Kokkos Kernels in the version of Kokkos (${Kokkos_VERSION}): "
                                            "install libtrilinos-kokkos-kernels-dev (Debian), or set "
                                            "KokkosKernels_ROOT to its prefix.")
  return()
endif()
find_package(ZLIB QUIET)
if(NOT ZLIB_FOUND)
  set(FILIGREE_MISSING_DEPENDENCY "Filigree needs zlib to read .mtx.gz files: install zlib1g-dev (Debian).")
  return()
endif()

# In a Kokkos that is a part of Trilinos, the include folder of the target is wrong: it is one level too high.
get_target_property(filigree_kokkos_includes Kokkos::kokkos INTERFACE_INCLUDE_DIRECTORIES)
if(Kokkos_INCLUDE_DIRS AND filigree_kokkos_includes AND NOT EXISTS "${filigree_kokkos_includes}/Kokkos_Core.hpp"
   AND NOT filigree_kokkos_includes MATCHES "\\$<")
  get_filename_component(filigree_kokkos_includes "${Kokkos_INCLUDE_DIRS}" REALPATH)
  set_target_properties(Kokkos::kokkos PROPERTIES INTERFACE_INCLUDE_DIRECTORIES "${filigree_kokkos_includes}")
endif()
unset(filigree_kokkos_includes)

# Kokkos Kernels in Trilinos defines variables instead of this target. Newer ones define no folder, because the libraries that
# they name are targets.
if(NOT TARGET Kokkos::kokkoskernels)
  add_library(Kokkos::kokkoskernels INTERFACE IMPORTED)
  set_target_properties(Kokkos::kokkoskernels PROPERTIES
    INTERFACE_LINK_LIBRARIES "${KokkosKernels_LIBRARIES};Kokkos::kokkos")
  if(KokkosKernels_INCLUDE_DIRS)
    get_filename_component(filigree_kernels_includes "${KokkosKernels_INCLUDE_DIRS}" REALPATH)
    set_target_properties(Kokkos::kokkoskernels PROPERTIES INTERFACE_INCLUDE_DIRECTORIES "${filigree_kernels_includes}")
    unset(filigree_kernels_includes)
  endif()
endif()

set(filigree_backends ${Kokkos_DEVICES})
list(SORT filigree_backends)
list(JOIN filigree_backends ", " filigree_backends)
# In Trilinos, Kokkos Kernels has no version.
set(filigree_kernels_version "${KokkosKernels_VERSION}")
if("${KokkosKernels_VERSION}" STREQUAL "")
  set(filigree_kernels_version "without a version")
endif()
set(FILIGREE_KOKKOS "Kokkos ${Kokkos_VERSION} (backends: ${filigree_backends}) and Kokkos Kernels ${filigree_kernels_version}")
unset(filigree_backends)
unset(filigree_kernels_version)

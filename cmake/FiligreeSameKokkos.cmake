# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# filigree_same_kokkos(RESULT FOLDER...): a program cannot have two copies of Kokkos. If one of these include folders of another
# library has the headers of a Kokkos that is not Filigree's, sets RESULT to the folder with these, else to nothing. Sets
# filigree_kokkos to the folder with Filigree's.
function(filigree_same_kokkos result)
  get_target_property(includes Kokkos::kokkos INTERFACE_INCLUDE_DIRECTORIES)
  find_path(filigree_own_headers NAMES KokkosCore_config.h PATHS ${includes} NO_DEFAULT_PATH NO_CACHE)
  find_path(filigree_other_headers NAMES KokkosCore_config.h PATHS ${ARGN} NO_DEFAULT_PATH NO_CACHE)
  set(${result} "" PARENT_SCOPE)
  set(filigree_kokkos "${filigree_own_headers}" PARENT_SCOPE)
  if(filigree_own_headers AND filigree_other_headers)
    file(SHA256 "${filigree_own_headers}/KokkosCore_config.h" filigree_own_hash)
    file(SHA256 "${filigree_other_headers}/KokkosCore_config.h" filigree_other_hash)
    if(NOT filigree_own_hash STREQUAL filigree_other_hash)
      set(${result} "${filigree_other_headers}" PARENT_SCOPE)
    endif()
  endif()
endfunction()

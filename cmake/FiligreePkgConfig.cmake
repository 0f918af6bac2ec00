# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Writes and installs filigree.pc for builds without CMake. Kokkos has no .pc file on many systems. Therefore filigree.pc has
# the flags of Kokkos, Kokkos Kernels and zlib themselves, with the absolute paths of the copies that Filigree is built with.
# Filigree is found relative to filigree.pc, so that its installation can be moved. The variable cxx_standard is the least
# standard of C++; the flags leave the choice to the user.

# Replaces the parts of a property that depend on the language, which is C++. The rest is evaluated when the file is written.
# A list becomes words.
function(filigree_pc_words result text)
  string(REGEX REPLACE "\\$<(COMPILE|LINK)_LANGUAGE:CXX>" "1" text "${text}")
  string(REGEX REPLACE "\\$<(COMPILE|LINK)_LANGUAGE:[^<>]*>" "0" text "${text}")
  string(REGEX REPLACE "\\$<(COMPILE|LINK)_LANG_AND_ID:CXX,([^<>]*)>" "$<CXX_COMPILER_ID:\\2>" text "${text}")
  string(REGEX REPLACE "\\$<(COMPILE|LINK)_LANG_AND_ID:[^<>]*>" "0" text "${text}")
  string(REPLACE "SHELL:" "" text "${text}")
  string(REPLACE ";" " " text "${text}")
  set(${result} "${text}" PARENT_SCOPE)
endfunction()

# Appends what a program needs that links to `item` to the global properties filigree_pc_cflags, filigree_pc_libs and
# filigree_pc_features: `item` is a target, the path or the name of a library, or a flag. A library stands before those that it needs. The other arguments are
# the targets that need `item`.
function(filigree_pc_add item)
  string(REGEX REPLACE "^\\$<LINK_ONLY:(.*)>$" "\\1" item "${item}")
  if(NOT TARGET "${item}")
    if(item MATCHES "^[A-Za-z0-9_.+]+$")
      set(item "-l${item}")
    endif()
    if(NOT item MATCHES "^::@")  # a mark of CMake
      filigree_pc_words(item "${item}")
      set_property(GLOBAL APPEND PROPERTY filigree_pc_libs "${item}")
    endif()
    return()
  endif()
  if(item IN_LIST ARGN)
    return()
  endif()
  foreach(property INCLUDE_DIRECTORIES COMPILE_DEFINITIONS COMPILE_OPTIONS COMPILE_FEATURES LINK_OPTIONS LINK_LIBRARIES)
    get_target_property(${property} ${item} INTERFACE_${property})
    if(NOT ${property})
      set(${property} "")
    endif()
  endforeach()
  list(REMOVE_ITEM INCLUDE_DIRECTORIES ${CMAKE_CXX_IMPLICIT_INCLUDE_DIRECTORIES})
  list(TRANSFORM INCLUDE_DIRECTORIES PREPEND "-I")
  list(TRANSFORM COMPILE_DEFINITIONS REPLACE "(.+)" "$<$<BOOL:\\1>:-D\\1>")
  foreach(property INCLUDE_DIRECTORIES COMPILE_DEFINITIONS COMPILE_OPTIONS)
    filigree_pc_words(words "${${property}}")
    set_property(GLOBAL APPEND PROPERTY filigree_pc_cflags "${words}")
  endforeach()
  set_property(GLOBAL APPEND PROPERTY filigree_pc_features ${COMPILE_FEATURES})
  get_target_property(type ${item} TYPE)
  if(NOT type STREQUAL "INTERFACE_LIBRARY")
    set_property(GLOBAL APPEND PROPERTY filigree_pc_libs "$<TARGET_LINKER_FILE:${item}>")
  endif()
  filigree_pc_words(words "${LINK_OPTIONS}")
  set_property(GLOBAL APPEND PROPERTY filigree_pc_libs "${words}")
  foreach(needed IN LISTS LINK_LIBRARIES)
    filigree_pc_add("${needed}" ${item} ${ARGN})
  endforeach()
endfunction()

foreach(item Kokkos::kokkoskernels Kokkos::kokkos ZLIB::ZLIB)
  filigree_pc_add(${item})
endforeach()
get_property(filigree_pc_cflags GLOBAL PROPERTY filigree_pc_cflags)
# Which kernels the library has precompiled.
get_target_property(filigree_pc_precompiled filigree INTERFACE_COMPILE_DEFINITIONS)
if(filigree_pc_precompiled)
  list(TRANSFORM filigree_pc_precompiled PREPEND "-D")
  list(APPEND filigree_pc_cflags ${filigree_pc_precompiled})
endif()
list(REMOVE_DUPLICATES filigree_pc_cflags)
string(JOIN " " filigree_pc_cflags ${filigree_pc_cflags})
# Of equal libraries the last one stays, because a static library must stand behind all that need it.
get_property(filigree_pc_libs GLOBAL PROPERTY filigree_pc_libs)
list(REVERSE filigree_pc_libs)
list(REMOVE_DUPLICATES filigree_pc_libs)
list(REVERSE filigree_pc_libs)
string(JOIN " " filigree_pc_libs ${filigree_pc_libs})

# Kokkos 5 needs C++20, Filigree itself C++17.
get_property(filigree_pc_standards GLOBAL PROPERTY filigree_pc_features)
list(FILTER filigree_pc_standards INCLUDE REGEX "^cxx_std_(17|2[0-9])$")
list(TRANSFORM filigree_pc_standards REPLACE "cxx_std_" "")
list(APPEND filigree_pc_standards 17)
list(SORT filigree_pc_standards ORDER DESCENDING)
list(GET filigree_pc_standards 0 filigree_pc_standard)

# The prefix as seen from filigree.pc.
set(filigree_pc_folder "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
set(filigree_pc_prefix "${CMAKE_INSTALL_PREFIX}")
if(NOT IS_ABSOLUTE "${CMAKE_INSTALL_LIBDIR}")
  file(RELATIVE_PATH filigree_pc_prefix "/${filigree_pc_folder}" "/")
  string(REGEX REPLACE "/$" "" filigree_pc_prefix "\${pcfiledir}/${filigree_pc_prefix}")
endif()
foreach(folder INCLUDEDIR LIBDIR)
  set(filigree_pc_${folder} "${CMAKE_INSTALL_${folder}}")
  if(NOT IS_ABSOLUTE "${filigree_pc_${folder}}")
    string(PREPEND filigree_pc_${folder} "\${prefix}/")
  endif()
endforeach()

file(GENERATE OUTPUT "${CMAKE_CURRENT_BINARY_DIR}/$<CONFIG>/filigree.pc" CONTENT "# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
prefix=${filigree_pc_prefix}
includedir=${filigree_pc_INCLUDEDIR}
libdir=${filigree_pc_LIBDIR}
cxx_standard=${filigree_pc_standard}

Name: Filigree
Description: ${PROJECT_DESCRIPTION}, built with ${FILIGREE_KOKKOS}
Version: ${PROJECT_VERSION}
Cflags: -I\${includedir} ${filigree_pc_cflags}
Libs: -L\${libdir} -lfiligree ${filigree_pc_libs}
")
install(FILES "${CMAKE_CURRENT_BINARY_DIR}/$<CONFIG>/filigree.pc" DESTINATION ${filigree_pc_folder})

# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# filigree_precompile(target type...) adds products, conversions and optimize() for these types to a library. A type is a
# scalar and an offset type: double_int, double_size_t, float_int or float_size_t. Who links the library compiles none of them
# (see include/filigree/core/precompiled.hpp).
set(FILIGREE_PRECOMPILABLE_TYPES double_int double_size_t float_int float_size_t)

function(filigree_precompile target)
  foreach(type IN LISTS ARGN)
    if(NOT type IN_LIST FILIGREE_PRECOMPILABLE_TYPES)
      message(FATAL_ERROR "FILIGREE_PRECOMPILE has the type \"${type}\". It must be ALL or a list of these types: "
                          "${FILIGREE_PRECOMPILABLE_TYPES}.")
    endif()
    string(REGEX MATCH "^([a-z]+)_(.+)$" matched "${type}")
    set(scalar "${CMAKE_MATCH_1}")
    set(size "${CMAKE_MATCH_2}")
    # A file for each, so that they compile at the same time.
    foreach(what PRODUCTS CONVERSIONS CRS_CHECK OPTIMIZATION)
      set(source "${CMAKE_CURRENT_BINARY_DIR}/precompiled/${type}_${what}.cpp")
      configure_file("${PROJECT_SOURCE_DIR}/src/precompiled.cpp.in" "${source}" @ONLY)
      target_sources(${target} PRIVATE "${source}")
    endforeach()
    string(TOUPPER "FILIGREE_PRECOMPILED_${type}" definition)
    target_compile_definitions(${target} PUBLIC ${definition})
  endforeach()
endfunction()

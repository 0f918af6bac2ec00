# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Stops with an error unless the tests of all formats for double are compiled with the same flags for optimisation, assertions
# and processors as the library, as COMMANDS, a compile_commands.json, says.
cmake_minimum_required(VERSION 3.22)

# Sets `result` to these flags of the command that compiles the source whose path ends with `source`.
function(get_flags source result)
  file(READ "${COMMANDS}" commands)
  string(JSON count LENGTH "${commands}")
  math(EXPR last "${count} - 1")
  foreach(i RANGE ${last})
    string(JSON file GET "${commands}" ${i} file)
    if(file MATCHES "/${source}$")
      string(JSON command GET "${commands}" ${i} command)
      string(REGEX MATCHALL " (-O[^ ]*|-D_?NDEBUG|-m[^ ]*|-f[^ ]*math[^ ]*)" flags "${command}")
      set(${result} "${flags}" PARENT_SCOPE)
      return()
    endif()
  endforeach()
  message(FATAL_ERROR "${COMMANDS} has no command for ${source}")
endfunction()

get_flags(src/byte_model.cpp of_library)
get_flags(unit_tests/formats/test_all_formats_double.cpp of_tests)
if(NOT of_tests STREQUAL of_library)
  message(FATAL_ERROR "The tests of all formats for double are compiled with \"${of_tests}\", the library with \"${of_library}\".")
endif()
message(STATUS "The library and the tests are compiled with \"${of_tests}\".")

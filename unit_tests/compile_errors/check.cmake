# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Checks the first error that COMPILER prints, with the flags in the file FLAGS and the option STANDARD.
#
# With CASE, a source: the error must contain the words after "// expect:" in that file, if MISTAKE is defined. Otherwise the
# file must compile.
# With HEADERS, a folder: each header in it, compiled as C++14, must say that it needs C++17. If MAY_SKIP is true, only
# Filigree.hpp is compiled.
#
# If MAY_SKIP is true and the compiler does not compile Kokkos with these flags, the test is skipped.
cmake_minimum_required(VERSION 3.22)

# Compiles a source that is passed as text or, if the text is empty, as the file CASE. Sets `result` to the first error, or to
# nothing if it compiles.
function(first_error text result)
  set(input "${CASE}")
  if(text)
    string(SHA1 name "${FLAGS} ${text} ${COMPILER} ${CASE}")
    set(input "${FLAGS}_${name}.cpp")
    file(WRITE "${input}" "${text}\n")
  endif()
  execute_process(COMMAND "${COMPILER}" "@${FLAGS}" -w -fsyntax-only ${ARGN} "${input}"
                  OUTPUT_VARIABLE output ERROR_VARIABLE output RESULT_VARIABLE status)
  if(text)
    file(REMOVE "${input}")
  endif()
  set(${result} "" PARENT_SCOPE)
  if(NOT status EQUAL 0)
    # The first line with an error, not the lines before it that say which file includes which.
    string(REGEX MATCH "[^\n]*error: [^\n]*" error "${output}")
    set(${result} "${error}" PARENT_SCOPE)
    if(NOT error)
      set(${result} "${output}" PARENT_SCOPE)
    endif()
  endif()
endfunction()

if(MAY_SKIP)
  first_error("#include <KokkosSparse_CrsMatrix.hpp>" error ${STANDARD})
  if(error)
    message("skipped: ${COMPILER} does not compile Kokkos: ${error}")
    return()
  endif()
endif()

if(HEADERS)
  file(GLOB_RECURSE headers RELATIVE "${HEADERS}" "${HEADERS}/*.hpp")
  list(LENGTH headers count)
  if(count LESS 50)
    message(FATAL_ERROR "${HEADERS} has only ${count} headers.")
  endif()
  if(MAY_SKIP)
    set(headers Filigree.hpp)
  endif()
  list(REMOVE_ITEM headers filigree/core/version.hpp)  # it has only macros, which every language standard takes
  foreach(header IN LISTS headers)
    first_error("#include <${header}>" error -std=c++14 -Wfatal-errors)
    string(FIND "${error}" "Filigree needs C++17: compile with -std=c++17" at)
    if(at EQUAL -1)
      message(SEND_ERROR "The first error of ${header} as C++14 is: \"${error}\"")
    endif()
  endforeach()
  return()
endif()

file(STRINGS "${CASE}" expected REGEX "^// expect: ")
string(REPLACE "// expect: " "" expected "${expected}")
if(NOT expected)
  message(FATAL_ERROR "${CASE} has no line \"// expect: \".")
endif()
first_error("" error ${STANDARD})
if(error)
  message(SEND_ERROR "Without the mistake there is the error: ${error}")
endif()
first_error("" error ${STANDARD} -DMISTAKE)
string(FIND "${error}" "${expected}" at)
if(at EQUAL -1)
  message(SEND_ERROR "The first error is: \"${error}\"\nIt must contain: \"${expected}\"")
endif()
message(STATUS "${error}")

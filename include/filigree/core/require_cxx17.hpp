// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Headers that would not compile as C++14 include this file first, so that the first error of the compiler
// says what to do.
#pragma once

#if __cplusplus < 201703L
#error "Filigree needs C++17: compile with -std=c++17 or newer, in CMake with set(CMAKE_CXX_STANDARD 17)."
#endif

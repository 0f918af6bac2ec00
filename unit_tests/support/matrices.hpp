// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The folder of real matrices, which are not part of the sources. The CMake variable FILIGREE_MATRICES names it.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>

namespace FiligreeTest {

/// The folder, or an empty path if there is none.
inline const std::filesystem::path matrix_folder = FILIGREE_MATRIX_DIR;

}  // namespace FiligreeTest

/// Skips the test if there is no folder of matrices. ctest recognises the text and reports the test as skipped.
#define FILIGREE_SKIP_WITHOUT_MATRICES()   \
  if (FiligreeTest::matrix_folder.empty()) \
  GTEST_SKIP()                             \
      << "There are no matrices: set the CMake variable FILIGREE_MATRICES to a folder of .mtx.gz files."

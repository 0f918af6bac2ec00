// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The version of Filigree. It is set here only: CMakeLists.txt reads it from this file, and scripts/check_version compares
// all other files that name it.
#pragma once

/// The version of Filigree, "major.minor.patch". Versions follow https://semver.org. Below 1.0 a minor version may change
/// names.
#define FILIGREE_VERSION_STRING "0.2.0"

/// The same version as a number to compare in `#if`: major * 10000 + minor * 100 + patch.
#define FILIGREE_VERSION 200

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "targets/targets.hpp"

namespace FiligreePerf {

/// Small matrices are repeated along the diagonal until they have about this number of entries.
constexpr std::int64_t entries_of_large = 20000000;

/// Names of files in the folder of matrices, without .mtx.gz.
using FileNames = std::vector<const char*>;

/// The options of filigree_targets.
struct Options {
  std::string matrices;           ///< folder, or empty
  std::vector<std::string> only;  ///< names of sections; empty means all for this kind of machine

  /// The path of a file of the folder. Requires a folder.
  std::string path_of(const std::string& name) const { return matrices + "/" + name + ".mtx.gz"; }
  /// The names, or none if there is no folder.
  FileNames if_folder(const FileNames& names) const { return matrices.empty() ? FileNames() : names; }
};

/// Fused products, block Jacobi and conjugate gradients. It has its own source file, because it takes long to
/// compile.
void solve(TargetReport& report, const Options& options, double bandwidth);
/// The files that solve() reads.
inline const FileNames solve_files = {"bcsstk33", "bcsstk24"};

}  // namespace FiligreePerf

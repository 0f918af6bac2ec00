// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FILIGREE_PERF_SPMV_OPTIONS_HPP
#define FILIGREE_PERF_SPMV_OPTIONS_HPP

#include <cstdint>
#include <string>
#include <vector>

#include "support/command_line.hpp"

namespace FiligreePerf {

/// What filigree_spmv is asked for.
struct Options {
  std::string matrix;       ///< file, or empty for the grid
  GridOptions grid;         ///< its unknowns a cell are the block size of CDS, BSR and blocked ELL
  std::int64_t repeat = 1;  ///< copies along the diagonal
  std::string scalar = "double";
  std::vector<std::string> formats;  ///< empty for all
  bool variants = false;             ///< whether all means all variants of all formats
  bool picks = false;                ///< whether optimize() is asked too

  /// The problem in one word, for the names of benchmarks.
  std::string problem() const;
  /// Whether to measure a format, or a variant of one that is not its default.
  bool wants(const std::string& format, bool is_default) const;
};

/// The text that --help prints.
std::string usage();

/// Takes the flags of filigree_spmv out of argv and leaves the others, which are Google Benchmark's and
/// Kokkos'. Throws std::invalid_argument for a flag of ours with a value that makes no sense.
Options parse_options(int& argc, char** argv);

}  // namespace FiligreePerf

#endif

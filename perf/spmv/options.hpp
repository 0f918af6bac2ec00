// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "support/command_line.hpp"

namespace FiligreePerf {

/// The options of filigree_spmv.
struct Options {
  std::string matrix;       ///< file, or empty for the grid
  GridOptions grid;         ///< its unknowns per cell are the block size of CDS, BSR and blocked ELL
  std::int64_t repeat = 1;  ///< copies along the diagonal
  bool mixes_rows = false;  ///< see repeated()
  std::string scalar = "double";
  bool symmetric = false;            ///< the grid has symmetric blocks, and symmetric formats are measured
  bool repeated_blocks = false;      ///< formats that store equal blocks once are measured
  int columns = 1;                   ///< of x and y
  std::string layout = "left";       ///< of x and y, if they have several columns: left or right
  std::string stored;                ///< a narrower type in which the values are stored too, or empty
  std::vector<std::string> formats;  ///< names of formats and variants; empty means all formats
  bool variants = false;             ///< if formats is empty: all variants of all formats are measured
  bool measures_auto = false;        ///< the format that optimize() picks is measured too

  /// Adds the flags to a command line. The object must live until the command line has been parsed.
  void add_to(CLI::App& app);
  /// The problem in one word, for the names of benchmarks.
  std::string problem() const;
  /// The flags that choose the problem. A file is given without its folder.
  std::string problem_flags() const;
  /// Whether to measure a variant. is_default says that it is the first variant of its format.
  bool wants(const std::string& format, bool is_default) const;

 private:
  void parse_formats(const std::string& names);
};

}  // namespace FiligreePerf

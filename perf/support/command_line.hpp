// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the tools of perf/ share of reading their flags.
#ifndef FILIGREE_PERF_SUPPORT_COMMAND_LINE_HPP
#define FILIGREE_PERF_SUPPORT_COMMAND_LINE_HPP

#include <cstdint>
#include <string>
#include <vector>

#include <filigree/grid/stencil_problem.hpp>

namespace FiligreePerf {

/// The parts of a text between separators.
std::vector<std::string> split(const std::string& text, char separator);

/// A whole number of at least 1. Throws std::invalid_argument for anything else.
std::int64_t positive(const std::string& flag, const std::string& text);

/// Throws std::invalid_argument for a word of a flag that is not among those known, which it lists.
void check_word(const std::string& flag, const std::string& word, const std::vector<std::string>& known);

/// The structured grid of --grid, --stencil, --dof and --boundary.
struct GridOptions {
  std::array<std::int64_t, 3> cells = {64, 64, 64};
  int dimensions = 3;
  std::string stencil;  ///< "3pt", "5pt", "9pt", "7pt" or "27pt"
  int dof = 1;          ///< unknowns a cell
  std::string boundary = "drop";
  int boundary_axes = 1;  ///< rules that --boundary has
  Filigree::Boundaries boundaries = {};
  bool given = false;  ///< whether one of the flags but --dof was

  /// The lines of the usage text.
  static std::string usage();
  /// Takes a flag if it is one of the grid's. Throws std::invalid_argument for a value that makes no sense.
  bool take(const std::string& flag, const std::string& value);
  /// To call after the last flag: fills in the stencil and checks that all fits together.
  void finish();

  Filigree::Stencil points() const;
  /// All in one word, for the names of benchmarks.
  std::string name() const;
};

}  // namespace FiligreePerf

#endif

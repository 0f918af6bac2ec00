// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The parts of the command line that the programs of perf/ have in common.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include <filigree/grid/stencil_problem.hpp>

namespace CLI {
class App;
}

namespace FiligreePerf {

/// The main function of every program. It parses the command line, starts Kokkos, calls `run` and returns the
/// exit code of the program. `run` returns an exit code and gets the arguments that neither `app` nor Kokkos
/// took.
///
/// --help prints the help text. Every exception becomes a message on stderr and exit code 1. Flags that `app`
/// does not know are errors, unless they begin with --kokkos or app.allow_extras() was called. The last of
/// several equal flags counts.
int run_program(CLI::App& app, int argc, char** argv, const std::function<int(int& argc, char** argv)>& run);

/// Splits a text at a separator. A separator at the end of the text makes an empty last part.
std::vector<std::string> split(const std::string& text, char separator);

/// Throws CLI::ValidationError if a word in the value of `flag` is not one of `known`.
void check_word(const std::string& flag, const std::string& word, const std::vector<std::string>& known);

/// The Matrix Market files (.mtx and .mtx.gz) of a folder, sorted by name. A path that is not a folder is
/// returned as it is.
std::vector<std::filesystem::path> matrix_files(const std::filesystem::path& path);

/// The name of a file without its folder and without .mtx or .mtx.gz.
std::string matrix_name(const std::filesystem::path& file);

/// The help text of --mix-rows, see repeated().
inline constexpr const char* mix_rows_help =
    "divides the rows of the matrix, or of a file, into groups of eight, and puts the rows of each group in\n"
    "a random order, so that a processor cannot learn the row lengths of one copy. Diagonals and blocks\n"
    "are lost";

/// The matrices that --matrix and --entries describe.
struct FileOptions {
  std::vector<std::string> paths;  ///< files, or folders of them
  std::int64_t entries = 0;        ///< see repeated_to()

  /// Adds the two flags to a command line. The object must live until the command line has been parsed.
  void add_to(CLI::App& app);
};

/// The structured grid that --grid, --stencil, --dof and --boundary describe. All members hold their final
/// values after the command line has been parsed.
struct GridOptions {
  std::array<std::int64_t, 3> cells = {64, 64, 64};
  int dimensions = 3;
  std::string stencil;  ///< "3pt", "5pt", "9pt", "7pt" or "27pt"
  int dof = 1;          ///< unknowns per cell
  std::string boundary = "drop";
  Filigree::Boundaries boundaries = {};

  /// Adds the four flags to a command line. The object must live until the command line has been parsed.
  void add_to(CLI::App& app);

  Filigree::Stencil points() const;
  /// The whole description in one word, for the names of benchmarks.
  std::string name() const;
  /// The flags --grid, --stencil and --boundary that give these options.
  std::string flags() const;

 private:
  void parse_cells();
  void parse_stencil();
  void parse_boundaries();

  std::string m_grid = "64x64x64";
};

}  // namespace FiligreePerf

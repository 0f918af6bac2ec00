// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "spmv/options.hpp"

#include <algorithm>
#include <CLI/CLI.hpp>
#include <filesystem>
#include <limits>

#include "products/candidates.hpp"

namespace FiligreePerf {

void Options::add_to(CLI::App& app) {
  grid.add_to(app);
  app.get_option("--dof")->description("unknowns per cell of the grid, or block size of cds, bsr and bell");
  app.add_option("--matrix", matrix,
                 "Matrix Market file (.mtx or .mtx.gz) to measure instead of a grid; it excludes --grid,\n"
                 "--stencil and --boundary")
      ->type_name("FILE")
      ->check(CLI::ExistingFile)
      ->excludes("--grid")
      ->excludes("--stencil")
      ->excludes("--boundary");
  app.add_option("--repeat", repeat, "measures a block diagonal matrix of N copies of the matrix")
      ->type_name("N")
      ->check(CLI::Range(1, std::numeric_limits<int>::max()))
      ->capture_default_str();
  app.add_option("--scalar", scalar, "type of the values")
      ->type_name("")
      ->check(CLI::IsMember({"float", "double", "complex_float", "complex_double"}))
      ->capture_default_str();
  app.add_option("--columns", columns, "columns of x and y, for float and double")
      ->type_name("N")
      ->check(CLI::Range(1, 1024))
      ->capture_default_str();
  app.add_option(
         "--layout", layout,
         "layout of x and y with several columns: left stores column after column, right row after row")
      ->type_name("")
      ->check(CLI::IsMember({"left", "right"}))
      ->capture_default_str()
      ->needs("--columns");
  app.add_flag(
      "--symmetric", symmetric,
      "measures the formats of symmetric matrices too. A grid then has symmetric coefficients. A file\n"
      "must hold a symmetric matrix");
  app.add_flag("--mix-rows", mixes_rows, mix_rows_help)->excludes("--symmetric");
  app.add_flag("--repeated-blocks", repeated_blocks, "measures the formats that store equal blocks once too");
  app.add_option(
         "--store", stored,
         "also measures each format with its values stored in this type, which rounds them. x, y and the\n"
         "sums stay double")
      ->type_name("")
      ->check(CLI::IsMember(stored_types()));
  app.add_option_function<std::string>(
         "--format", [this](const std::string& names) { parse_formats(names); },
         "all, or names of formats and variants, as in ell,cds,sell_short; the name auto stands for the\n"
         "format that optimize() picks, and auto alone adds it to all variants of all formats")
      ->type_name("NAMES")
      ->default_str("all");
  app.add_flag("--variants", variants, "with --format=all, measures all variants of each format");
}

void Options::parse_formats(const std::string& names) {
  if (names == "all") return;
  for (const std::string& name : split(names, ',')) {
    if (name == "auto")
      measures_auto = true;
    else
      formats.push_back(name);
  }
  if (formats.empty()) variants = true;
}

std::string Options::problem() const {
  const std::string name =
      matrix.empty() ? grid.name() + (symmetric ? "_symmetric" : "") : matrix_name(matrix);
  return name + (repeat > 1 ? "_x" + std::to_string(repeat) : "") + (mixes_rows ? "_mixed" : "") +
         (columns > 1 ? "_columns" + std::to_string(columns) + "_" + layout : "");
}

std::string Options::problem_flags() const {
  std::string text =
      matrix.empty() ? grid.flags() : "--matrix=" + std::filesystem::path(matrix).filename().string();
  if (grid.dof > 1) text += " --dof=" + std::to_string(grid.dof);
  if (repeat > 1) text += " --repeat=" + std::to_string(repeat);
  if (mixes_rows) text += " --mix-rows";
  if (symmetric) text += " --symmetric";
  if (repeated_blocks) text += " --repeated-blocks";
  if (columns > 1) text += " --columns=" + std::to_string(columns) + " --layout=" + layout;
  if (!stored.empty()) text += " --store=" + stored;
  if (scalar != "double") text += " --scalar=" + scalar;
  return text;
}

bool Options::wants(const std::string& format, bool is_default) const {
  if (format == "auto") return measures_auto;
  return formats.empty() ? is_default || variants
                         : std::find(formats.begin(), formats.end(), format) != formats.end();
}

}  // namespace FiligreePerf

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "spmv/options.hpp"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <sstream>
#include <stdexcept>

#include <filigree/core/error.hpp>

namespace FiligreePerf {

namespace {

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, separator);)
    parts.push_back(part);
  return parts;
}

template <class Integer>
Integer positive(const std::string& flag, const std::string& text) {
  Integer value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 1)
    Filigree::Impl::fail<std::invalid_argument>(flag, ": \"", text, "\" is no whole number of at least 1.");
  return value;
}

}  // namespace

void check_word(const std::string& flag, const std::string& word, const std::vector<std::string>& known) {
  if (std::find(known.begin(), known.end(), word) != known.end()) return;
  std::string list;
  for (const std::string& name : known)
    list += (list.empty() ? "" : ", ") + name;
  Filigree::Impl::fail<std::invalid_argument>(flag, ": \"", word, "\" is none of ", list, ".");
}

std::string usage() {
  return "filigree_spmv: times y = A*x in every format beside Kokkos Kernels' CRS\n"
         "  --matrix=FILE           Matrix Market file, .mtx or .mtx.gz\n"
         "  --grid=64x64x64         cells of a structured grid, in x, y and z; without z it is 2-D\n"
         "  --stencil=7pt           5pt (2-D) or 7pt (3-D); by default the one that fits the grid\n"
         "  --dof=1                 unknowns a cell; for a file the block size of cds and bsr\n"
         "  --repeat=1              copies of the matrix along the diagonal of a larger one, which is "
         "measured\n"
         "  --scalar=double         float, double, complex_float or complex_double\n"
         "  --format=all            or names, such as ell,cds,sell_short\n"
         "  --variants              with --format=all, all variants of each format, not its default alone\n"
         "and the flags of Google Benchmark, such as --benchmark_out=FILE, and of Kokkos.\n";
}

std::string Options::problem() const {
  std::ostringstream text;
  if (matrix.empty()) {
    text << stencil << '_' << grid[0] << 'x' << grid[1];
    if (stencil == "7pt") text << 'x' << grid[2];
    text << "_dof" << dof;
  } else {
    std::string name = matrix.substr(matrix.find_last_of('/') + 1);
    for (const std::string suffix : {".gz", ".mtx"})
      if (name.size() > suffix.size() &&
          name.compare(name.size() - suffix.size(), suffix.size(), suffix) == 0)
        name.resize(name.size() - suffix.size());
    text << name;
  }
  if (repeat > 1) text << "_x" << repeat;
  return text.str();
}

bool Options::wants(const std::string& format, bool is_default) const {
  return formats.empty() ? is_default || variants
                         : std::find(formats.begin(), formats.end(), format) != formats.end();
}

Options parse_options(int& argc, char** argv) {
  Options options;
  int dimensions = 3;
  bool has_grid = false;
  int kept = 1;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    const std::size_t equals = argument.find('=');
    const std::string flag = argument.substr(0, equals);
    const std::string value = equals == std::string::npos ? "" : argument.substr(equals + 1);
    if (flag == "--matrix") {
      if (value.empty())
        throw std::invalid_argument("--matrix: needs a file, as in --matrix=bcsstk24.mtx.gz.");
      options.matrix = value;
    } else if (flag == "--grid") {
      const auto extents = split(value, 'x');
      if (extents.size() < 2 || extents.size() > 3)
        Filigree::Impl::fail<std::invalid_argument>("--grid: \"", value,
                                                    "\" must be like 64x64x64 or 64x64.");
      options.grid = {1, 1, 1};
      for (std::size_t axis = 0; axis < extents.size(); ++axis)
        options.grid[axis] = positive<std::int64_t>(flag, extents[axis]);
      dimensions = static_cast<int>(extents.size());
      has_grid = true;
    } else if (flag == "--stencil") {
      check_word(flag, value, {"5pt", "7pt"});
      options.stencil = value;
    } else if (flag == "--dof") {
      options.dof = positive<int>(flag, value);
    } else if (flag == "--repeat") {
      options.repeat = positive<std::int64_t>(flag, value);
    } else if (flag == "--scalar") {
      check_word(flag, value, {"float", "double", "complex_float", "complex_double"});
      options.scalar = value;
    } else if (argument == "--variants") {
      options.variants = true;
    } else if (flag == "--format") {
      if (value != "all") options.formats = split(value, ',');
    } else {
      argv[kept++] = argv[i];
    }
  }
  argc = kept;
  if (!options.matrix.empty() && (has_grid || !options.stencil.empty()))
    throw std::invalid_argument("--matrix: a file excludes --grid and --stencil.");
  if (options.stencil.empty()) options.stencil = dimensions == 2 ? "5pt" : "7pt";
  if (options.matrix.empty() && options.stencil != (dimensions == 2 ? "5pt" : "7pt"))
    Filigree::Impl::fail<std::invalid_argument>("--stencil: ", options.stencil, " does not fit a ",
                                                dimensions, "-D grid; 5pt is 2-D, 7pt is 3-D.");
  return options;
}

}  // namespace FiligreePerf

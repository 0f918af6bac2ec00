// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "spmv/options.hpp"

#include <algorithm>
#include <cstring>
#include <sstream>
#include <stdexcept>

#include <filigree/core/error.hpp>

namespace FiligreePerf {

std::string usage() {
  return "filigree_spmv: times y = A*x in every format beside Kokkos Kernels' CRS\n"
         "  --matrix=FILE           Matrix Market file, .mtx or .mtx.gz\n" +
         GridOptions::usage() +
         "                          (--dof is for a file the block size of cds, bsr and bell)\n"
         "  --repeat=1              copies of the matrix along the diagonal of a larger one, which is "
         "measured\n"
         "  --scalar=double         float, double, complex_float or complex_double\n"
         "  --format=all            or names, such as ell,cds,sell_short, or auto, which is what\n"
         "                          optimize() picks; alone beside all variants of all formats\n"
         "  --variants              with --format=all, all variants of each format, not its default alone\n"
         "and the flags of Google Benchmark, such as --benchmark_out=FILE, and of Kokkos.\n";
}

std::string Options::problem() const {
  std::ostringstream text;
  if (matrix.empty()) {
    text << grid.name();
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
  if (format == "auto") return picks;
  return formats.empty() ? is_default || variants
                         : std::find(formats.begin(), formats.end(), format) != formats.end();
}

Options parse_options(int& argc, char** argv) {
  Options options;
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
    } else if (options.grid.take(flag, value)) {
      continue;
    } else if (flag == "--repeat") {
      options.repeat = positive(flag, value);
    } else if (flag == "--scalar") {
      check_word(flag, value, {"float", "double", "complex_float", "complex_double"});
      options.scalar = value;
    } else if (argument == "--variants") {
      options.variants = true;
    } else if (flag == "--format") {
      if (value == "all") continue;
      for (const std::string& name : split(value, ',')) {
        if (name == "auto")
          options.picks = true;
        else
          options.formats.push_back(name);
      }
      if (options.formats.empty()) options.variants = true;
    } else {
      argv[kept++] = argv[i];
    }
  }
  argc = kept;
  if (!options.matrix.empty() && options.grid.given)
    throw std::invalid_argument("--matrix: a file excludes --grid, --stencil and --boundary.");
  options.grid.finish();
  return options;
}

}  // namespace FiligreePerf

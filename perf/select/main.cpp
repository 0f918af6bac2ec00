// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// filigree_select: how good the format is that optimize() picks, and how near its byte model comes to the
// times of all formats.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <Filigree.hpp>
#include <iomanip>
#include <iostream>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "products/candidates.hpp"
#include "support/command_line.hpp"
#include "support/named_matrix.hpp"

namespace FiligreePerf {
namespace {

using Problem = SpmvProblem<double>;
using Crs = Problem::crs_type;
using Execution = Problem::execution_space;

/// Below this a matrix is in the caches, and launches are most of the time.
constexpr double least_bytes = 50e6;

std::string usage() {
  return "filigree_select: times all formats beside the one that optimize() picks\n"
         "  FILE or FOLDER ...      Matrix Market files, .mtx or .mtx.gz\n"
         "  --generated             grids, random and power-law matrices too\n"
         "  --entries=20000000      repeats the matrix of a file along the diagonal to about that many "
         "entries\n"
         "  --all                   prints what was predicted and measured of every format\n"
         "and the flags of Kokkos. Values are double, caches are cold.\n";
}

struct Options {
  std::vector<NamedMatrix<Crs>> matrices;
  std::int64_t entries = 20000000;
  bool all = false;
};

Options parse(int argc, char** argv) {
  Options options;
  std::vector<std::filesystem::path> files;
  bool generated = false;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if (argument.rfind("--entries=", 0) == 0) {
      options.entries = positive("--entries", argument.substr(10));
    } else if (argument == "--generated") {
      generated = true;
    } else if (argument == "--all") {
      options.all = true;
    } else if (argument.rfind("--kokkos", 0) == 0) {
      continue;
    } else if (argument.rfind("-", 0) == 0) {
      Filigree::Impl::fail<std::invalid_argument>("\"", argument,
                                                  "\" is no flag of this tool; --help lists them.");
    } else {
      for (const std::filesystem::path& file : matrix_files(argument))
        files.push_back(file);
    }
  }
  for (const std::filesystem::path& file : files)
    options.matrices.push_back(from_file<Crs>(file, options.entries));
  if (generated) {
    for (const GridCase& grid : double_grids())
      options.matrices.push_back({grid.name(), grid.dof, [=]() { return grid_matrix<Crs>(grid); }});
    for (const auto& matrix : regular_matrices<Crs>())
      options.matrices.push_back(matrix);
    for (const auto& matrix : long_row_matrices<Crs>())
      options.matrices.push_back(matrix);
  }
  if (options.matrices.empty())
    throw std::invalid_argument(
        "needs a Matrix Market file (.mtx or .mtx.gz), a folder with such, or "
        "--generated.");
  return options;
}

/// What came out for all matrices.
struct Results {
  std::vector<double> fractions;    ///< of the best format's speed
  std::vector<double> of_cusparse;  ///< speed relative to the best cuSPARSE CSR
  std::vector<double> selection;    ///< cost in products of Kokkos Kernels' CRS
  int failures = 0;                 ///< matrices that could not be measured
  std::vector<double> errors;       ///< predicted over measured time, for what is larger than least_bytes
};

void measure(const Options& options, const NamedMatrix<Crs>& matrix, Results& results) {
  const Execution exec;
  const CacheFlush<Execution> flush(exec);
  const Crs crs = matrix.make();
  if (crs.nnz() == 0) throw std::invalid_argument("it has no entries.");
  Progress progress("measuring " + matrix.name);

  Filigree::OptimizeOptions unchecked;
  unchecked.check_input = false;
  const Filigree::Selection selection = Filigree::predict_formats(exec, crs, unchecked);
  std::map<std::string, double> predicted;
  for (const Filigree::FormatPrediction& one : selection.formats)
    predicted[one.name] = one.prediction.seconds;
  int block_size = matrix.block_size;
  for (const Filigree::FormatPrediction& one : selection.formats)
    if (one.name == "cds" && block_size == 1) block_size = one.block_size;
  const auto problem = std::make_shared<Problem>(crs, block_size);
  const double selection_seconds = median_seconds(
      exec, [&]() { Filigree::predict_formats(exec, crs, unchecked); }, 0.05);
  const double cost = selection_seconds / problem->kokkos_kernels_seconds();

  Wanted wanted;
  wanted.time_conversions = false;
  wanted.check = false;
  wanted.wants = [](const std::string&, bool) { return true; };
  struct Timed {
    std::string name;
    double seconds;
    double bytes;
  };
  std::vector<Timed> timed;
  Timed picked = {"", 0, 0};
  double cusparse = std::numeric_limits<double>::infinity();
  for_each_candidate<double>(problem, wanted, [&](const Candidate& candidate) {
    if (!candidate.product) return;
    const double seconds = median_cold_seconds(exec, flush, candidate.product);
    if (candidate.name.rfind("cusparse_csr", 0) == 0) cusparse = std::min(cusparse, seconds);
    if (!candidate.picked.empty())
      picked = {candidate.picked, seconds, candidate.storage_bytes};
    else if (predicted.count(candidate.name) == 1)
      timed.push_back({candidate.name, seconds, candidate.storage_bytes});
  });
  if (timed.empty() || picked.name.empty()) throw std::runtime_error("no format could be timed.");
  std::sort(timed.begin(), timed.end(), [](const Timed& p, const Timed& q) { return p.seconds < q.seconds; });
  const Timed& best = timed.front();

  // The pick is timed twice, and once may be a little faster.
  const double fraction = std::min(1.0, best.seconds / picked.seconds);
  results.fractions.push_back(fraction);
  results.selection.push_back(cost);
  if (std::isfinite(cusparse)) results.of_cusparse.push_back(cusparse / picked.seconds);
  for (const Timed& one : timed)
    if (one.bytes > least_bytes) results.errors.push_back(predicted[one.name] / one.seconds);

  std::cout << std::left << std::setw(24) << matrix.name << std::right << std::setw(9) << crs.numRows()
            << std::setw(10) << crs.nnz() << "  " << std::left << std::setw(26) << picked.name << std::right
            << std::fixed << std::setprecision(4) << std::setw(12) << 1e3 * predicted[picked.name]
            << std::setw(12) << 1e3 * picked.seconds << "  " << std::left << std::setw(26) << best.name
            << std::right << std::setw(12) << 1e3 * best.seconds << std::setprecision(3) << std::setw(9)
            << fraction;
  if (std::isfinite(cusparse))
    std::cout << std::setw(13) << cusparse / picked.seconds;
  else
    std::cout << std::setw(13) << "-";
  std::cout << std::setprecision(2) << std::setw(11) << cost << std::endl;
  if (options.all)
    for (const Timed& one : timed)
      std::cout << "  " << std::left << std::setw(28) << one.name << std::right << std::setprecision(4)
                << std::setw(9) << 1e3 * predicted[one.name] << std::setw(9) << 1e3 * one.seconds
                << std::setprecision(1) << std::setw(10) << 1e-6 * one.bytes << " MB" << std::endl;
}

void report(Results results) {
  auto& fractions = results.fractions;
  std::sort(fractions.begin(), fractions.end());
  std::sort(results.selection.begin(), results.selection.end());
  const auto near = std::count_if(results.errors.begin(), results.errors.end(),
                                  [](double error) { return std::abs(error - 1) <= 0.25; });
  std::cout << std::setprecision(3) << "of the best format's speed: mean " << mean(fractions)
            << ", tenth percentile " << fractions[fractions.size() / 10] << ", worst " << fractions.front()
            << ", of " << fractions.size() << " matrices, " << results.failures << " not measured\n";
  if (!results.of_cusparse.empty())
    std::cout << "of the best cuSPARSE CSR's speed: mean " << mean(results.of_cusparse) << ", worst "
              << *std::min_element(results.of_cusparse.begin(), results.of_cusparse.end()) << '\n';
  if (results.errors.empty())
    std::cout << "no format stores over " << std::setprecision(0) << 1e-6 * least_bytes
              << " MB: predictions were not judged\n";
  else
    std::cout << "predicted within 25 % of measured: "
              << static_cast<double>(near) / static_cast<double>(results.errors.size()) << " of "
              << results.errors.size() << " matrices in formats of over " << std::setprecision(0)
              << 1e-6 * least_bytes << " MB\n";
  std::cout
      << std::setprecision(2)
      << "a selection, the check of its input left out, takes in products of Kokkos Kernels' CRS: median "
      << results.selection[results.selection.size() / 2] << ", most " << results.selection.back()
      << std::endl;
}

}  // namespace
}  // namespace FiligreePerf

int main(int argc, char** argv) {
  using namespace FiligreePerf;
  for (int i = 1; i < argc; ++i)
    if (std::strcmp(argv[i], "--help") == 0) {
      std::cout << usage();
      return 0;
    }
  try {
    const Options options = parse(argc, argv);
    Kokkos::ScopeGuard kokkos(argc, argv);
    std::cout << std::left << std::setw(24) << "matrix" << std::right << std::setw(9) << "rows"
              << std::setw(10) << "entries"
              << "  " << std::left << std::setw(26) << "picked" << std::right << std::setw(12)
              << "predicted ms" << std::setw(12) << "measured ms"
              << "  " << std::left << std::setw(26) << "best" << std::right << std::setw(12) << "measured ms"
              << std::setw(9) << "of best" << std::setw(13) << "of cuSPARSE" << std::setw(11) << "selection"
              << std::endl;
    Results results;
    for (const NamedMatrix<Crs>& matrix : options.matrices)
      try {
        measure(options, matrix, results);
      } catch (const std::exception& refusal) {
        ++results.failures;
        std::cout << matrix.name << ": not measured: " << refusal.what() << std::endl;
      }
    if (results.fractions.empty()) throw std::runtime_error("no matrix could be measured.");
    report(results);
  } catch (const std::exception& error) {
    std::cerr << "filigree_select: " << error.what() << std::endl;
    return 1;
  }
  return 0;
}

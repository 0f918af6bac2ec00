// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// filigree_select: measures how good the formats are that optimize() picks, and how well the byte model
// predicts the times of all formats.
#include <algorithm>
#include <CLI/CLI.hpp>
#include <cmath>
#include <Filigree.hpp>
#include <functional>
#include <iomanip>
#include <iostream>
#include <limits>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "measure/session.hpp"
#include "support/named_matrix.hpp"

namespace FiligreePerf {
namespace {

using Execution = Kokkos::DefaultExecutionSpace;

/// Predictions are judged for larger matrices only. Smaller ones stay in the caches, and launching kernels
/// takes most of their time.
constexpr double least_bytes = 50e6;

struct Options : SessionOptions {
  std::vector<std::string> paths;
  bool generated = false;
  std::int64_t entries = 20000000;
  bool mixes_rows = false;
  std::string scalar = "double";
  bool warm = false;
  bool time_best = false;
  bool all = false;
};

template <class Crs>
std::vector<NamedMatrix<Crs>> matrices(const Options& options) {
  std::vector<NamedMatrix<Crs>> result;
  for (const std::string& path : options.paths)
    for (const std::filesystem::path& file : matrix_files(path))
      result.push_back(from_file<Crs>(file, options.entries, {}, options.mixes_rows));
  if (options.generated && options.quick) {
    result.push_back({"small grid", 2, []() { return grid_matrix<Crs>({8, 3, 2}); }});
    result.push_back({"small power law", 1, []() {
                        return random_matrix<Crs>(1000, 1000, PowerLawRows{3.0, 500.0});
                      }});
  } else if (options.generated && options.warm) {
    // Grids of 0.03 to 3 million entries.
    for (const GridCase& grid :
         {GridCase{16, 3, 1}, GridCase{32, 3, 1}, GridCase{64, 3, 1}, GridCase{300, 2, 1}, GridCase{24, 3, 2},
          GridCase{20, 3, 3}, GridCase{12, 3, 4}, GridCase{28, 3, 4}, GridCase{10, 3, 8}})
      result.push_back({grid.name(), grid.dof, [=]() { return grid_matrix<Crs>(grid); }});
  } else if (options.generated) {
    for (const GridCase& grid : double_grids())
      result.push_back({grid.name(), grid.dof, [=]() { return grid_matrix<Crs>(grid); }});
    for (const auto& matrix : regular_matrices<Crs>())
      result.push_back(matrix);
    for (const auto& matrix : long_row_matrices<Crs>())
      result.push_back(matrix);
  }
  if (result.empty())
    throw std::invalid_argument(
        "there is nothing to measure: name a Matrix Market file (.mtx or .mtx.gz) or a folder of them, or "
        "add --generated.");
  return result;
}

/// Median seconds of a product between other products of the same matrix, as in a solver: the caches hold what
/// the product before has left there. Ten products are timed together, because the launch of one takes about
/// as long as a small product.
double median_warm_seconds(const Execution& exec, const std::function<void()>& product, int runs) {
  constexpr int together = 10;
  Timer<Execution> timer(exec);
  const auto several = [&]() {
    for (int i = 0; i < together; ++i)
      product();
  };
  std::vector<double> times;
  for (int i = 0; i < runs; ++i)
    times.push_back(timer.seconds_after(product, several) / together);
  return median(times);
}

/// The results of all matrices.
struct Results {
  std::vector<double> fractions;    ///< speed of the picked format relative to the best format
  std::vector<double> of_cusparse;  ///< speed of the picked format relative to the best cuSPARSE CSR
  std::vector<double> selection;    ///< time of a selection, in products of Kokkos Kernels' CRS
  int failures = 0;                 ///< matrices that could not be measured
  std::vector<double> predicted_over_measured;  ///< ratios of times, for formats larger than least_bytes
};

/// Measures a matrix, adds its results and prints its line of the table.
template <class Scalar, class Crs>
void measure(Session& session, const Options& options, const NamedMatrix<Crs>& matrix, Results& results) {
  using Problem = SpmvProblem<Scalar>;
  const Execution exec;
  const CacheFlush<Execution> flush(exec);
  const Crs crs = matrix.make();
  if (crs.nnz() == 0) throw std::invalid_argument("the matrix has no entries.");
  Progress progress("measuring " + matrix.name);

  Filigree::OptimizeOptions unchecked = optimize_options(exec);
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
  wanted.time_best = options.time_best;
  // Only the product of the picked format is checked, because a check takes longer than a measurement.
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
  for_each_candidate(problem, wanted, [&](const Candidate& candidate) {
    if (!candidate.product) return;
    const double seconds = options.warm
                               ? median_warm_seconds(exec, candidate.product, session.cold_runs())
                               : median_cold_seconds(exec, flush, candidate.product, session.cold_runs());
    if (candidate.name.rfind("cusparse_csr", 0) == 0) cusparse = std::min(cusparse, seconds);
    if (!candidate.picked.empty())
      picked = {candidate.picked, seconds, candidate.storage_bytes};
    else if (predicted.count(candidate.name) == 1)
      timed.push_back({candidate.name, seconds, candidate.storage_bytes});
  });
  if (timed.empty() || picked.name.empty()) throw std::runtime_error("no format could be timed.");
  std::sort(timed.begin(), timed.end(), [](const Timed& p, const Timed& q) { return p.seconds < q.seconds; });
  const Timed& best = timed.front();

  // The picked format is timed twice, as "auto" and by its name. The first time may be the shorter one.
  const double fraction = std::min(1.0, best.seconds / picked.seconds);
  results.fractions.push_back(fraction);
  results.selection.push_back(cost);
  if (std::isfinite(cusparse)) results.of_cusparse.push_back(cusparse / picked.seconds);
  for (const Timed& one : timed)
    session.add_measured(one.name, options.scalar, matrix.name, one.seconds,
                         {{"rows", crs.numRows()},
                          {"entries", static_cast<double>(crs.nnz())},
                          {"storage_MB", 1e-6 * one.bytes},
                          {"median_ms", 1e3 * one.seconds},
                          {"predicted_ms", 1e3 * predicted[one.name]},
                          {"picked", one.name == picked.name ? 1.0 : 0.0}});
  for (const Timed& one : timed)
    if (one.bytes > least_bytes) results.predicted_over_measured.push_back(predicted[one.name] / one.seconds);

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

/// Prints the means and the worst results over all matrices.
void report(Results results) {
  auto& fractions = results.fractions;
  std::sort(fractions.begin(), fractions.end());
  std::sort(results.selection.begin(), results.selection.end());
  const auto close =
      std::count_if(results.predicted_over_measured.begin(), results.predicted_over_measured.end(),
                    [](double ratio) { return std::abs(ratio - 1) <= 0.25; });
  std::cout << std::setprecision(3) << "of the best format's speed: mean " << mean(fractions)
            << ", tenth percentile " << fractions[fractions.size() / 10] << ", worst " << fractions.front()
            << ", of " << fractions.size() << " matrices, " << results.failures << " not measured\n";
  if (!results.of_cusparse.empty())
    std::cout << "of the best cuSPARSE CSR's speed: mean " << mean(results.of_cusparse) << ", worst "
              << *std::min_element(results.of_cusparse.begin(), results.of_cusparse.end()) << '\n';
  if (results.predicted_over_measured.empty())
    std::cout << "predictions were not judged, because no matrix takes more than " << std::setprecision(0)
              << 1e-6 * least_bytes << " MB in any format\n";
  else
    std::cout << "predicted within 25 % of measured: "
              << static_cast<double>(close) / static_cast<double>(results.predicted_over_measured.size())
              << " of " << results.predicted_over_measured.size()
              << " pairs of a matrix and a format that take more than " << std::setprecision(0)
              << 1e-6 * least_bytes << " MB\n";
  std::cout << std::setprecision(2)
            << "cost of a selection without input checks, in products of Kokkos Kernels' CRS: median "
            << results.selection[results.selection.size() / 2] << ", largest " << results.selection.back()
            << std::endl;
}

template <class Scalar>
void measure_all(Session& session, const Options& options) {
  using Crs = typename SpmvProblem<Scalar>::crs_type;
  const auto all = matrices<Crs>(options);
  std::cout << std::left << std::setw(24) << "matrix" << std::right << std::setw(9) << "rows" << std::setw(10)
            << "entries"
            << "  " << std::left << std::setw(26) << "picked" << std::right << std::setw(12) << "predicted ms"
            << std::setw(12) << "measured ms"
            << "  " << std::left << std::setw(26) << "best" << std::right << std::setw(12) << "measured ms"
            << std::setw(9) << "of best" << std::setw(13) << "of cuSPARSE" << std::setw(11) << "selection"
            << std::endl;
  Results results;
  for (const NamedMatrix<Crs>& matrix : all) {
    const std::string reason = refusal_of([&]() { measure<Scalar>(session, options, matrix, results); });
    if (reason.empty()) continue;
    ++results.failures;
    session.add_refusal(options.scalar, matrix.name, reason);
  }
  if (results.fractions.empty()) throw std::runtime_error("none of the matrices could be measured.");
  report(results);
}

}  // namespace
}  // namespace FiligreePerf

int main(int argc, char** argv) {
  CLI::App app(
      "Times all formats, and compares the best one with the one that optimize() picks. Caches are cold.",
      "filigree_select");
  FiligreePerf::Options options;
  app.add_option("PATH", options.paths, "Matrix Market files (.mtx or .mtx.gz), or folders of them")
      ->check(CLI::ExistingPath);
  app.add_flag("--generated", options.generated, "adds grids, random and power-law matrices");
  app.add_option("--entries", options.entries,
                 "repeats the matrix of each file along the diagonal until it has about N entries")
      ->type_name("N")
      ->check(CLI::Range(1, std::numeric_limits<int>::max()))
      ->capture_default_str();
  app.add_flag("--mix-rows", options.mixes_rows, FiligreePerf::mix_rows_help);
  app.add_option("--scalar", options.scalar, "type of the values")
      ->check(CLI::IsMember({"double", "float"}))
      ->capture_default_str();
  app.add_flag(
      "--warm", options.warm,
      "keeps the matrix in the caches, as between products of a solver; --generated adds small grids");
  app.add_flag("--time-best", options.time_best,
               "picks with OptimizeOptions::time_best, which leaves matrices in the caches");
  app.add_flag("--all", options.all,
               "prints predicted and measured milliseconds and the size of every format");
  const std::string columns =
      "Columns: \"of best\" and \"of cuSPARSE\", the speed of the picked format relative to the best format\n"
      "and to the best CSR product of cuSPARSE; \"selection\", the time of a selection in products of "
      "Kokkos\n"
      "Kernels' CRS.\n";
  return FiligreePerf::run_session(
      app, argc, argv, options,
      [&](FiligreePerf::Session& session) {
        if (options.scalar == "float")
          FiligreePerf::measure_all<float>(session, options);
        else
          FiligreePerf::measure_all<double>(session, options);
      },
      columns);
}

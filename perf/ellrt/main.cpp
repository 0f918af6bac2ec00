// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// filigree_ellrt: measures how good the models of ELLR-T are. It times every launch of each matrix, that is
// every number T of lanes per row and BS of lanes per team, as in Vazquez, Fernandez and Garzon 2011, section
// 4.
#include <algorithm>
#include <CLI/CLI.hpp>
#include <cmath>
#include <filesystem>
#include <filigree/convert.hpp>
#include <filigree/spmv.hpp>
#include <filigree/tune/ellr_t_model.hpp>
#include <iomanip>
#include <iostream>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "support/command_line.hpp"
#include "support/named_matrix.hpp"
#include "support/timer.hpp"

namespace FiligreePerf {
namespace {

using Execution = Kokkos::DefaultExecutionSpace;
using Filigree::EllrTLaunch;
using Filigree::EllrTModel;

struct NamedModel {
  const char* name;
  EllrTModel model;
};
const std::vector<NamedModel> models = {{"half_warps", EllrTModel::half_warps},
                                        {"sectors", EllrTModel::sectors}};

struct Options {
  std::vector<std::string> paths;
  std::int64_t entries = 0;
  int multiprocessors = 0;
  bool all = false;
};

struct Timed {
  EllrTLaunch launch;
  double seconds = 0;
};

/// Times all launches with cold caches. `bytes` is set to the bytes that a product must read and write,
/// without padding, as in the effective bandwidth of Vazquez, Fernandez and Garzon 2011, table 3. Throws the
/// exceptions of convert().
template <class Crs>
std::vector<Timed> time_launches(const Crs& crs, const std::vector<EllrTLaunch>& launches, double& bytes) {
  using scalar = typename Crs::non_const_value_type;
  const Execution exec;
  const CacheFlush<Execution> flush(exec);
  const Kokkos::View<scalar*, Execution::device_type> x("x", crs.numCols());
  const Kokkos::View<scalar*, Execution::device_type> y("y", crs.numRows());
  Kokkos::deep_copy(x, scalar(1));
  std::vector<Timed> result;
  const auto convert = [&](const EllrTLaunch& launch) {
    Filigree::EllOptions options = launch.options();
    options.max_storage_ratio = 10;  // so that matrices with much padding are judged too
    return Filigree::convert<Filigree::EllMatrix>(crs, options);
  };
  auto ell = convert(launches.front());
  bytes =
      static_cast<double>(crs.nnz()) * (sizeof(scalar) + sizeof(typename Crs::non_const_ordinal_type)) +
      static_cast<double>(crs.numRows()) * (sizeof(scalar) + sizeof(typename Crs::non_const_ordinal_type)) +
      static_cast<double>(crs.numCols()) * sizeof(scalar);
  for (const EllrTLaunch& launch : launches) {
    if (launch.lanes_per_row != ell.lanes_per_row()) {
      ell = {};
      ell = convert(launch);
    }
    ell.set_lanes_per_team(launch.lanes_per_team);
    result.push_back({launch, median_cold_seconds(exec, flush, [&]() {
                        Filigree::spmv("N", scalar(1), ell, x, scalar(0), y);
                      })});
  }
  return result;
}

/// The time of the launch that a model picked.
double seconds_of(const std::vector<Timed>& all, const EllrTLaunch& pick) {
  for (const Timed& one : all)
    if (one.launch.lanes_per_row == pick.lanes_per_row && one.launch.lanes_per_team == pick.lanes_per_team)
      return one.seconds;
  throw std::logic_error("filigree_ellrt: a model picked a launch that was not timed.");
}

/// Prints the line of a matrix in the table. Adds the speed of each model's pick, in percent of that of the
/// fastest launch, to the list of the model.
/// Throws the exceptions of read_matrix_market() and convert().
void measure(const Options& options, const std::filesystem::path& file,
             std::map<std::string, std::vector<double>>& percentages) {
  using Crs = KokkosSparse::CrsMatrix<double, int, Execution::device_type, void, int>;
  const Execution exec;
  Progress progress("measuring " + matrix_name(file));
  Crs crs = Filigree::read_matrix_market<Crs>(file.string());
  if (crs.nnz() == 0) return;
  const std::int64_t copies = options.entries / std::max<std::int64_t>(1, crs.nnz());
  if (copies > 1) crs = repeated(crs, copies);
  const std::vector<std::int64_t> lengths = Filigree::row_lengths(crs);
  Filigree::GpuShape gpu;
  if (Filigree::Impl::runs_on_gpu_v<Execution>) gpu = Filigree::gpu_shape(exec);
  if (options.multiprocessors > 0) gpu.multiprocessors = options.multiprocessors;

  double bytes = 0;
  const std::string name = matrix_name(file) + (copies > 1 ? "_x" + std::to_string(copies) : "");
  const std::vector<Timed> all =
      time_launches(crs, Filigree::ellr_t_costs(EllrTModel::half_warps, lengths, gpu), bytes);
  const auto faster = [](const Timed& p, const Timed& q) { return p.seconds < q.seconds; };
  const Timed best = *std::min_element(all.begin(), all.end(), faster);
  const Timed worst = *std::max_element(all.begin(), all.end(), faster);

  const double mean = static_cast<double>(crs.nnz()) / static_cast<double>(crs.numRows());
  double squares = 0;
  for (const std::int64_t length : lengths)
    squares += (static_cast<double>(length) - mean) * (static_cast<double>(length) - mean);
  const double deviation = std::sqrt(squares / static_cast<double>(lengths.size()));
  std::cout << std::left << std::setw(24) << name << std::right << std::setw(9) << crs.numRows()
            << std::setw(10) << crs.nnz() << std::fixed << std::setprecision(1) << std::setw(8) << mean
            << std::setw(7) << 100 * deviation / mean << std::setprecision(4) << std::setw(5)
            << best.launch.lanes_per_team << std::setw(4) << best.launch.lanes_per_row << std::setw(9)
            << 1e3 * best.seconds;
  for (const NamedModel& model : models) {
    const EllrTLaunch pick = Filigree::pick_ellr_t(model.model, lengths, gpu);
    const double seconds = seconds_of(all, pick);
    percentages[model.name].push_back(100 * best.seconds / seconds);
    std::cout << std::setw(5) << pick.lanes_per_team << std::setw(4) << pick.lanes_per_row
              << std::setprecision(1) << std::setw(7) << 100 * best.seconds / seconds << std::setw(8)
              << 1e-9 * bytes / seconds;
  }
  std::cout << std::setw(7) << 100 * best.seconds / worst.seconds << std::endl;
  if (options.all)
    for (const Timed& one : all)
      std::cout << "  " << std::setw(4) << one.launch.lanes_per_team << std::setw(4)
                << one.launch.lanes_per_row << std::setprecision(4) << std::setw(9) << 1e3 * one.seconds
                << std::endl;
}

int measure_all(const Options& options) {
  std::cout << std::left << std::setw(24) << "matrix" << std::right
            << "     rows   entries  length  dev %  team row       ms";
  for (const NamedModel& model : models)
    std::cout << "  | " << model.name << ": team, row, % of best, GB/s";
  std::cout << " | slowest %" << std::endl;
  std::map<std::string, std::vector<double>> percentages;
  for (const std::string& path : options.paths)
    for (const std::filesystem::path& file : matrix_files(path))
      try {
        measure(options, file, percentages);
      } catch (const std::exception& refusal) {
        std::cout << matrix_name(file) << ": not measured: " << refusal.what() << std::endl;
      }
  if (percentages.empty()) throw std::runtime_error("none of the matrices could be measured.");
  for (const auto& [name, all] : percentages)
    std::cout << name << ": mean " << std::setprecision(2) << mean(all)
              << " % of the best launch's speed, of " << all.size() << " matrices, lowest "
              << *std::min_element(all.begin(), all.end()) << " %" << std::endl;
  return 0;
}

}  // namespace
}  // namespace FiligreePerf

int main(int argc, char** argv) {
  CLI::App app(
      "Times all launches of ELLR-T, and compares the best one with those that the models pick. Caches are "
      "cold.",
      "filigree_ellrt");
  FiligreePerf::Options options;
  app.add_option("PATH", options.paths, "Matrix Market files (.mtx or .mtx.gz), or folders of them")
      ->required()
      ->check(CLI::ExistingPath);
  app.add_option("--entries", options.entries,
                 "repeats each matrix along the diagonal until it has about N entries (default: no repeats)")
      ->type_name("N")
      ->check(CLI::Range(1, std::numeric_limits<int>::max()));
  app.add_option("--multiprocessors", options.multiprocessors,
                 "multiprocessors of the GPU that the models assume (default: those of the device)")
      ->type_name("N")
      ->check(CLI::Range(1, 1 << 20));
  app.add_flag("--all", options.all, "prints the time of every launch");
  app.footer(
      "Columns: length and dev %, the mean row length and its standard deviation in percent; team, row and "
      "ms,\n"
      "lanes per team, lanes per row and time of the fastest launch. For each model: team and row of the "
      "launch\n"
      "that it picks, the speed of that launch in percent of that of the fastest one, and its GB/s. slowest "
      "%:\n"
      "the speed of the slowest launch in percent of that of the fastest one.\n"
      "Flags that begin with --kokkos go to Kokkos.");
  return FiligreePerf::run_program(app, argc, argv,
                                   [&](int&, char**) { return FiligreePerf::measure_all(options); });
}

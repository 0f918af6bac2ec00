// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// filigree_ellrt: how good the models of ELLR-T are. Times every launch, T lanes a row in teams of BS lanes,
// of each matrix, as Vazquez, Fernandez and Garzon 2011, section 4, do.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <filigree/convert.hpp>
#include <filigree/spmv.hpp>
#include <filigree/tune/ellr_t_model.hpp>
#include <iomanip>
#include <iostream>
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

std::string usage() {
  return "filigree_ellrt: times all launches of ELLR-T beside those that its models pick\n"
         "  FILE or FOLDER ...      Matrix Market files, .mtx or .mtx.gz\n"
         "  --entries=0             repeats a matrix along the diagonal to about that many entries\n"
         "  --multiprocessors=N     of the GPU that the models are asked for (default: the device's)\n"
         "  --all                   prints the time of every launch\n"
         "and the flags of Kokkos.\n"
         "Matching is the time of the best launch in percent of that of the one picked; caches are cold.\n";
}

struct Options {
  std::vector<std::filesystem::path> files;
  std::int64_t entries = 0;
  int multiprocessors = 0;
  bool all = false;
};

Options parse(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    const std::size_t equals = argument.find('=');
    const std::string flag = argument.substr(0, equals);
    const std::string value = equals == std::string::npos ? "" : argument.substr(equals + 1);
    if (flag == "--entries") {
      options.entries = positive(flag, value);
    } else if (flag == "--multiprocessors") {
      options.multiprocessors = static_cast<int>(std::min<std::int64_t>(positive(flag, value), 1 << 20));
    } else if (argument == "--all") {
      options.all = true;
    } else if (argument.rfind("--kokkos", 0) == 0) {
      continue;
    } else if (argument.rfind("-", 0) == 0) {
      Filigree::Impl::fail<std::invalid_argument>("\"", argument,
                                                  "\" is no flag of this tool; --help lists them.");
    } else {
      for (const std::filesystem::path& file : matrix_files(argument))
        options.files.push_back(file);
    }
  }
  if (options.files.empty()) throw std::invalid_argument("needs a Matrix Market file or a folder of them.");
  return options;
}

struct Timed {
  EllrTLaunch launch;
  double seconds = 0;
};

/// The times of the launches that a matrix can be converted for; throws what the first conversion throws.
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
    options.max_storage_ratio = 10;  // to see more of what the models do where ELL is no good choice
    return Filigree::convert<Filigree::EllMatrix>(crs, options);
  };
  auto ell = convert(launches.front());
  // What a product must read and write but for padding (the paper's effective bandwidth, table 3).
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

double seconds_of(const std::vector<Timed>& all, const EllrTLaunch& pick) {
  for (const Timed& one : all)
    if (one.launch.lanes_per_row == pick.lanes_per_row && one.launch.lanes_per_team == pick.lanes_per_team)
      return one.seconds;
  throw std::logic_error("filigree_ellrt: a model picked a launch that was not timed.");
}

/// A line of the table; adds the matching of each model to its list. Throws what reading and converting
/// throw.
void measure(const Options& options, const std::filesystem::path& file,
             std::map<std::string, std::vector<double>>& matching) {
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
    matching[model.name].push_back(100 * best.seconds / seconds);
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
    std::cout << std::left << std::setw(24) << "matrix" << std::right
              << "        N   entries      Av  s/Av%   BS   T       ms";
    for (const NamedModel& model : models)
      std::cout << "  | " << model.name << ": BS, T, matching %, GB/s";
    std::cout << " | worst %" << std::endl;
    std::map<std::string, std::vector<double>> matching;
    for (const std::filesystem::path& file : options.files)
      try {
        measure(options, file, matching);
      } catch (const std::exception& refusal) {
        std::cout << matrix_name(file) << ": not measured: " << refusal.what() << std::endl;
      }
    if (matching.empty()) throw std::runtime_error("no matrix could be measured.");
    for (const auto& [name, all] : matching) {
      std::cout << name << ": mean matching " << std::setprecision(2) << mean(all) << " % of " << all.size()
                << " matrices, lowest " << *std::min_element(all.begin(), all.end()) << " %" << std::endl;
    }
  } catch (const std::exception& error) {
    std::cerr << "filigree_ellrt: " << error.what() << std::endl;
    return 1;
  }
  return 0;
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// filigree_ellpack: the evaluation of Vazquez, Fernandez and Garzon 2011, section 4. It times every launch of
// ELLR-T for each matrix, that is every number T of lanes per row and BS of lanes per team, compares the
// fastest with those that the models pick, and compares ELLR-T with other formats and with one core of the
// host.
#include <algorithm>
#include <CLI/CLI.hpp>
#include <cmath>
#include <filesystem>
#include <filigree/tune/ellr_t_model.hpp>
#include <iomanip>
#include <iostream>
#include <limits>
#include <map>
#include <optional>

#include "measure/session.hpp"
#include "support/paper_matrices.hpp"

namespace FiligreePerf {
namespace {

using Scalar = double;
using Problem = SpmvProblem<Scalar>;
using Crs = Problem::crs_type;
using Execution = Problem::execution_space;
using Ell = Filigree::EllMatrix<Scalar, int, Problem::device_type, void, int>;
using Filigree::EllrTLaunch;
using Filigree::EllrTModel;

struct NamedModel {
  const char* name;
  EllrTModel model;
};
const std::vector<NamedModel> models = {{"half_warps", EllrTModel::half_warps},
                                        {"sectors", EllrTModel::sectors}};

/// The kernels of the paper's figure 5, and the peers. crs_lanes16 is SpMV4GPU: half a warp per row.
const std::vector<std::string> kernels = {"crs_lanes1", "crs_lanes16", "crs_lanes32",       "ellpack",
                                          "ell",        "hyb",         "cusparse_csr_alg1", "cusparse_sell"};

/// On a host the models assume the GPU of the published figures, an H200. Launches make no difference there.
constexpr int multiprocessors_on_hosts = 132;

struct Options : SessionOptions {
  FileOptions files;
  std::string folder;
  bool generated = false;
  int multiprocessors = 0;
};

struct Timed {
  EllrTLaunch launch;
  double seconds = 0;
};

/// With 32 lanes per row a row of one entry is padded to 32. No launch is refused for that.
constexpr double max_storage_ratio = 32;

Ell convert(const Crs& crs, const EllrTLaunch& launch) {
  Filigree::EllOptions options = launch.options();
  options.max_storage_ratio = max_storage_ratio;
  return Filigree::convert<Filigree::EllMatrix>(crs, options);
}

/// The product of a launch, checked.
Candidate candidate_of(const std::shared_ptr<Problem>& problem, const Crs& crs, const EllrTLaunch& launch,
                       const std::string& name) {
  Candidate candidate;
  candidate.name = name;
  const Ell A = convert(crs, launch);
  std::optional<Ell> timed;
  candidate.conversion_seconds = median_seconds_after(
      Execution(), [&]() { timed.reset(); }, [&]() { timed = convert(crs, launch); }, 0.05);
  candidate.product = [problem, A]() {
    Filigree::spmv("N", problem->one, A, problem->x, problem->zero, problem->y);
  };
  candidate.storage_bytes = static_cast<double>(A.storage_bytes());
  candidate.bytes = candidate.storage_bytes +
                    static_cast<double>(problem->x.extent(0) + problem->y.extent(0)) * sizeof(Scalar);
  candidate.facts = {{"lanes_per_row", launch.lanes_per_row}, {"lanes_per_team", launch.lanes_per_team}};
  Kokkos::deep_copy(problem->y, std::numeric_limits<Scalar>::quiet_NaN());
  candidate.product();
  candidate.max_rel_error = problem->check(name);
  return candidate;
}

/// Times all launches with cold caches. The product of each launch is checked first. Throws the exceptions of
/// convert().
std::vector<Timed> time_launches(const std::shared_ptr<Problem>& problem, const Crs& crs,
                                 const std::vector<EllrTLaunch>& launches, int runs) {
  const Execution exec;
  const CacheFlush<Execution> flush(exec);
  std::vector<Timed> result;
  Ell ell;
  int lanes = 0;
  for (const EllrTLaunch& launch : launches) {
    if (launch.lanes_per_row != lanes) {
      ell = {};
      ell = convert(crs, launch);
      lanes = launch.lanes_per_row;
    }
    ell.set_lanes_per_team(launch.lanes_per_team);
    Kokkos::deep_copy(problem->y, std::numeric_limits<Scalar>::quiet_NaN());
    Filigree::spmv("N", problem->one, ell, problem->x, problem->zero, problem->y);
    problem->check("ELLR-T");
    result.push_back(
        {launch, median_cold_seconds(
                     exec, flush,
                     [&]() { Filigree::spmv("N", problem->one, ell, problem->x, problem->zero, problem->y); },
                     runs)});
  }
  return result;
}

/// The time of the launch that a model picked.
double seconds_of(const std::vector<Timed>& all, const EllrTLaunch& pick) {
  for (const Timed& one : all)
    if (one.launch.lanes_per_row == pick.lanes_per_row && one.launch.lanes_per_team == pick.lanes_per_team)
      return one.seconds;
  throw std::runtime_error("filigree_ellpack: a model picked a launch that was not timed.");
}

/// The bytes that a product must read and write, without padding, as in the effective bandwidth of table 3:
/// values and columns of the entries, row lengths, x and y.
double least_bytes(const Crs& crs) {
  const double rows = crs.numRows();
  return static_cast<double>(crs.nnz()) * (sizeof(Scalar) + sizeof(int)) +
         rows * (sizeof(Scalar) + sizeof(int)) + static_cast<double>(crs.numCols()) * sizeof(Scalar);
}

/// The mean row length, and the standard deviation in percent of it.
std::array<double, 2> mean_and_deviation(const std::vector<std::int64_t>& lengths) {
  double sum = 0, squares = 0;
  for (const std::int64_t length : lengths)
    sum += static_cast<double>(length);
  const double mean = sum / static_cast<double>(lengths.size());
  for (const std::int64_t length : lengths)
    squares += (static_cast<double>(length) - mean) * (static_cast<double>(length) - mean);
  return {mean, 100 * std::sqrt(squares / static_cast<double>(lengths.size())) / mean};
}

/// The percentages of the fastest launch's speed that the picks of each model reach.
using Percentages = std::map<std::string, std::vector<double>>;

/// Adds the benchmarks "launch" of the matrix: one per launch, with the costs by both models.
void add_launches(Session& session, const Report& header, const std::vector<Timed>& all, double bytes,
                  const std::vector<std::vector<EllrTLaunch>>& costs) {
  for (std::size_t i = 0; i < all.size(); ++i) {
    const Timed& one = all[i];
    Figures figures = header.facts;
    figures.insert(figures.end(), {{"lanes_per_row", one.launch.lanes_per_row},
                                   {"lanes_per_team", one.launch.lanes_per_team},
                                   {"median_ms", 1e3 * one.seconds},
                                   {"GFLOPs", 2e-9 * static_cast<double>(header.entries) / one.seconds},
                                   {"effective_GBps", 1e-9 * bytes / one.seconds}});
    for (std::size_t m = 0; m < models.size(); ++m) {
      const auto cheapest =
          std::min_element(costs[m].begin(), costs[m].end(),
                           [](const EllrTLaunch& p, const EllrTLaunch& q) { return p.cost < q.cost; });
      figures.emplace_back(std::string("cost_") + models[m].name, costs[m][i].cost);
      figures.emplace_back(std::string("picked_") + models[m].name,
                           cheapest - costs[m].begin() == static_cast<std::ptrdiff_t>(i) ? 1.0 : 0.0);
    }
    session.add_measured("launch_t" + std::to_string(one.launch.lanes_per_row) + "_bs" +
                             std::to_string(one.launch.lanes_per_team),
                         "double", header.problem, one.seconds, figures);
  }
}

#ifdef KOKKOS_ENABLE_SERIAL
/// Seconds of Kokkos Kernels' CRS product on one core of the host. The product is checked first.
double one_core_seconds(const Problem& problem, const Crs& crs) {
  using Device = Kokkos::Device<Kokkos::Serial, Kokkos::HostSpace>;
  using HostCrs = KokkosSparse::CrsMatrix<Scalar, int, Device, void, int>;
  const auto on_host = [](const auto& view) {
    return Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), view);
  };
  using row_map_type = typename HostCrs::row_map_type::non_const_type;
  const row_map_type row_map("FiligreePerf::row_map", crs.graph.row_map.extent(0));
  Kokkos::deep_copy(row_map, crs.graph.row_map);
  const HostCrs host("FiligreePerf::host", crs.numRows(), crs.numCols(), crs.nnz(),
                     typename HostCrs::values_type(on_host(crs.values)), row_map,
                     typename HostCrs::index_type(on_host(crs.graph.entries)));
  const Kokkos::View<Scalar*, Device> x("FiligreePerf::x", problem.x.extent(0));
  const Kokkos::View<Scalar*, Device> y("FiligreePerf::y", problem.y.extent(0));
  Kokkos::deep_copy(x, problem.x);
  KokkosSparse::spmv("N", Scalar(1), host, x, Scalar(0), y);
  Kokkos::deep_copy(problem.y, y);
  problem.check("Kokkos Kernels on one core");
  return median_seconds(Kokkos::Serial(),
                        [&]() { KokkosSparse::spmv("N", Scalar(1), host, x, Scalar(0), y); });
}
#endif

/// Prints the line of a matrix, and adds its benchmarks to the session. Throws the exceptions of convert().
void measure(Session& session, const Options& options, const std::string& name, const Crs& crs,
             Percentages& percentages) {
  const Execution exec;
  const std::vector<std::int64_t> lengths = Filigree::row_lengths(crs);
  const auto [mean_length, deviation] = mean_and_deviation(lengths);
  Filigree::GpuShape gpu;
  if (Filigree::Impl::runs_on_gpu_v<Execution>)
    gpu = Filigree::gpu_shape(exec);
  else
    gpu.multiprocessors = multiprocessors_on_hosts;
  if (options.multiprocessors > 0) gpu.multiprocessors = options.multiprocessors;
  std::vector<std::vector<EllrTLaunch>> costs;
  for (const NamedModel& model : models)
    costs.push_back(Filigree::ellr_t_costs(model.model, lengths, gpu));

  const double bytes = least_bytes(crs);
  Measurement<Scalar> measurement(
      crs, session.header(name, "double", 1,
                          {{"mean_row_length", mean_length}, {"row_length_deviation_percent", deviation}}));
  const auto problem = measurement.problem();
  const std::vector<Timed> all = time_launches(problem, crs, costs.front(), session.cold_runs());
  add_launches(session, measurement.header(), all, bytes, costs);
  const auto faster = [](const Timed& p, const Timed& q) { return p.seconds < q.seconds; };
  const Timed best = *std::min_element(all.begin(), all.end(), faster);
  const Timed worst = *std::max_element(all.begin(), all.end(), faster);

  Wanted wanted = wanted_by_name(kernels);
  wanted.max_storage_ratio = max_storage_ratio;
  session.measure(measurement, wanted);
  const auto add_ellr_t = [&](const EllrTLaunch& launch, const std::string& candidate) {
    measurement.register_candidate(candidate_of(problem, crs, launch, candidate));
    session.run();
  };
  add_ellr_t(best.launch, "ellr_t_best");
  add_ellr_t(worst.launch, "ellr_t_worst");
  for (const NamedModel& model : models)
    add_ellr_t(Filigree::pick_ellr_t(model.model, lengths, gpu), std::string("ellr_t_") + model.name);
#ifdef KOKKOS_ENABLE_SERIAL
  const double one_core = one_core_seconds(*problem, crs);
  Figures of_host = measurement.header().facts;
  of_host.insert(of_host.end(), {{"median_ms", 1e3 * one_core},
                                 {"GFLOPs", 2e-9 * static_cast<double>(crs.nnz()) / one_core}});
  session.add_measured("one_host_core", "double", name, one_core, of_host);
#endif

  std::cout << std::left << std::setw(24) << name << std::right << std::setw(9) << crs.numRows()
            << std::setw(10) << crs.nnz() << std::fixed << std::setprecision(1) << std::setw(8) << mean_length
            << std::setw(7) << deviation << std::setprecision(4) << std::setw(5) << best.launch.lanes_per_team
            << std::setw(4) << best.launch.lanes_per_row << std::setw(9) << 1e3 * best.seconds;
  for (const NamedModel& model : models) {
    const EllrTLaunch pick = Filigree::pick_ellr_t(model.model, lengths, gpu);
    const double seconds = seconds_of(all, pick);
    percentages[model.name].push_back(100 * best.seconds / seconds);
    std::cout << std::setw(5) << pick.lanes_per_team << std::setw(4) << pick.lanes_per_row
              << std::setprecision(1) << std::setw(7) << 100 * best.seconds / seconds << std::setw(8)
              << 1e-9 * bytes / seconds;
  }
  std::cout << std::setw(7) << 100 * best.seconds / worst.seconds << std::defaultfloat << std::setprecision(6)
            << std::endl;
}

/// All matrices that the options name. Those of the paper's table that are neither generated nor in the
/// folder have no function that makes them.
std::vector<NamedMatrix<Crs>> matrices(const Options& options) {
  std::vector<NamedMatrix<Crs>> result = from_files<Crs>(options.files);
  if (!options.generated && options.folder.empty()) return result;
  const auto generated = generated_paper_matrices<Crs>(options.quick);
  const auto of_name = [&](const std::string& name) {
    return std::find_if(generated.begin(), generated.end(),
                        [&](const NamedMatrix<Crs>& one) { return one.name == name; });
  };
  for (const PaperMatrix& paper : paper_matrices) {
    const auto file = options.folder.empty() ? std::filesystem::path() : file_of(paper.name, options.folder);
    if (!file.empty()) {
      result.push_back(from_table<Crs>(paper, file, options.files.entries));
    } else if (const auto made = of_name(paper.name); options.generated && made != generated.end()) {
      result.push_back(*made);
    } else if (!options.folder.empty()) {
      result.push_back({paper.name, 1, {}});
    }
  }
  if (options.generated) result.push_back(*of_name("fem3"));
  return result;
}

void measure_all(Session& session, const Options& options) {
  const auto all = matrices(options);
  if (all.empty())
    throw std::invalid_argument(
        "there is nothing to measure: name a Matrix Market file (.mtx or .mtx.gz) or a folder of them, or "
        "add "
        "--generated or --table=FOLDER.");
  const auto print_header = []() {
    std::cout << std::left << std::setw(24) << "matrix" << std::right
              << "     rows   entries  length  dev %  team row       ms";
    for (const NamedModel& model : models)
      std::cout << "  | " << model.name << ": team, row, % of best, GB/s";
    std::cout << " | slowest %" << std::endl;
  };
  print_header();
  Percentages percentages;
  for (const NamedMatrix<Crs>& matrix : all) {
    std::string reason = "it is not in " + options.folder;
    if (matrix.make)
      reason = refusal_of([&]() {
        const Crs crs = matrix.make();
        if (crs.nnz() == 0) throw std::invalid_argument("the matrix has no entries.");
        measure(session, options, matrix.name, crs, percentages);
      });
    if (!reason.empty()) session.add_refusal("double", matrix.name, reason);
  }
  if (percentages.empty()) throw std::runtime_error("none of the matrices could be measured.");
  for (const auto& [name, of_model] : percentages)
    std::cout << name << ": mean " << std::fixed << std::setprecision(2) << mean(of_model)
              << " % of the best launch's speed, of " << of_model.size() << " matrices, lowest "
              << *std::min_element(of_model.begin(), of_model.end()) << " %" << std::endl;
}

}  // namespace
}  // namespace FiligreePerf

int main(int argc, char** argv) {
  CLI::App app(
      "Times all launches of ELLR-T, and compares the fastest with those that the models pick, with other\n"
      "formats and with one core of the host.",
      "filigree_ellpack");
  FiligreePerf::Options options;
  options.add_seconds_to(app);
  options.files.add_to(app);
  app.add_option("--table", options.folder,
                 "measures the 21 matrices of the paper whose files are in this folder, and lists the others")
      ->type_name("FOLDER")
      ->check(CLI::ExistingDirectory);
  app.add_flag("--generated", options.generated, "makes dense2, mc2depi and qcd5_4 of the paper, and fem3");
  app.add_option(
         "--multiprocessors", options.multiprocessors,
         "multiprocessors of the GPU that the models assume (default: those of the device, 132 on hosts)")
      ->type_name("N")
      ->check(CLI::Range(1, 1 << 20));
  return FiligreePerf::run_session(
      app, argc, argv, options,
      [&](FiligreePerf::Session& session) { FiligreePerf::measure_all(session, options); },
      "Columns: length and dev %, the mean row length and its standard deviation in percent; team, row and "
      "ms,\n"
      "lanes per team, lanes per row and time of the fastest launch with cold caches. For each model: team "
      "and\n"
      "row of the launch that it picks, the speed of that launch in percent of that of the fastest one, and "
      "its\n"
      "GB/s. slowest %: the speed of the slowest launch in percent of that of the fastest one.\n");
}

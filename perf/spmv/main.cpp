// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// filigree_spmv: measures which format multiplies a matrix fastest on this machine.
#include <benchmark/benchmark.h>

#include <CLI/CLI.hpp>
#include <iostream>
#include <Kokkos_Core.hpp>

#include "measure/measurement.hpp"
#include "spmv/options.hpp"
#include "support/read_bandwidth.hpp"
#include "support/repeat.hpp"
#include "support/symmetric_grid.hpp"

namespace FiligreePerf {
namespace {

/// The matrix that the options describe.
template <class Crs>
Crs make_matrix(const Options& options) {
  Progress progress("making the matrix " + options.problem());
  const GridOptions& grid = options.grid;
  const Crs crs = !options.matrix.empty() ? Filigree::read_matrix_market<Crs>(options.matrix)
                  : options.symmetric
                      ? symmetric_matrix<Crs>(grid.cells, grid.points(), grid.dof, grid.boundaries)
                      : Filigree::StencilProblem<>(grid.cells, grid.points(), grid.dof, grid.boundaries)
                            .template crs<Crs>();
  Kokkos::fence();
  if (options.repeat == 1 && !options.mixes_rows) return crs;
  const Crs larger = repeated(crs, options.repeat, options.mixes_rows);
  Kokkos::fence();
  return larger;
}

/// Prints each benchmark that ran on one line, without counters, which the table shows.
class Console : public benchmark::ConsoleReporter {
 public:
  Console() : ConsoleReporter(OO_None) {}
  bool ReportContext(const Context& context) override {
    name_field_width_ = context.name_field_width;
    return true;
  }
  void ReportRuns(const std::vector<Run>& runs) override {
    std::vector<Run> measured;
    for (Run run : runs) {
      if (run.iterations == 0) continue;  // refused
      run.counters.clear();
      measured.push_back(std::move(run));
    }
    if (!measured.empty()) ConsoleReporter::ReportRuns(measured);
  }
};

/// Measures the problem that the options describe, and prints the report to `out`. is_console says that
/// Google Benchmark writes text for people to stdout. Throws std::runtime_error if a product is wrong, and
/// CLI::ValidationError for an unknown name in --format.
template <class Scalar, class Vectors = OneColumn<Scalar>>
void measure_problem(const Options& options, bool is_console, std::ostream& out) {
  using Problem = SpmvProblem<Scalar, Vectors>;
  const typename Problem::execution_space exec;
  if (!options.stored.empty() && !std::is_same_v<Scalar, double>)
    throw CLI::ValidationError("--store", "needs --scalar=double, but --scalar is " + options.scalar);
  if (!options.stored.empty() && options.columns > 1)
    throw CLI::ValidationError("--store",
                               "needs --columns=1, but --columns is " + std::to_string(options.columns));
  for (const std::string& name : options.formats)
    check_word("--format", name, candidate_names<Problem>());
  const auto crs = make_matrix<typename Problem::crs_type>(options);
  Report header;
  header.machine = machine(exec);
  header.problem = options.problem();
  header.problem_flags = options.problem_flags();
  header.scalar = options.scalar;
  header.block_size = options.grid.dof;
  {
    Progress progress("measuring the read bandwidth");
    header.read_bandwidth = read_bandwidth(exec);
  }
  Measurement<Scalar, Vectors> measurement(crs, header, options.columns);
  for (const auto& [key, value] : measurement.header().context())
    benchmark::AddCustomContext(key, value);
  Wanted wanted;
  wanted.symmetric = options.symmetric || !options.formats.empty();
  wanted.repeated_blocks = options.repeated_blocks || !options.formats.empty();
  wanted.stored = options.stored;
  wanted.wants = [&](const std::string& name, bool is_default) { return options.wants(name, is_default); };
  measurement.register_benchmarks(wanted);
  Console console;
  if (is_console)
    benchmark::RunSpecifiedBenchmarks(&console);
  else
    benchmark::RunSpecifiedBenchmarks();
  if (measurement.has_samples()) measurement.report().print(out);
}

/// measure_problem() with x and y of the type that --columns and --layout ask for.
template <class Scalar>
void measure_columns(const Options& options, bool is_console, std::ostream& out) {
  if (options.columns == 1) return measure_problem<Scalar>(options, is_console, out);
  if (options.layout == "left")
    return measure_problem<Scalar, SeveralColumns<Scalar, Kokkos::LayoutLeft>>(options, is_console, out);
  return measure_problem<Scalar, SeveralColumns<Scalar, Kokkos::LayoutRight>>(options, is_console, out);
}

void measure(const Options& options, bool is_console) {
  // With --benchmark_format=json or csv, stdout belongs to Google Benchmark and the table goes to stderr.
  std::ostream& out = is_console ? std::cout : std::cerr;
  if (options.scalar == "float") return measure_columns<float>(options, is_console, out);
  if (options.scalar == "double") return measure_columns<double>(options, is_console, out);
  if (options.columns > 1)
    throw CLI::ValidationError("--columns",
                               "needs --scalar=float or double, but --scalar is " + options.scalar);
  if (options.scalar == "complex_float")
    return measure_problem<Kokkos::complex<float>>(options, is_console, out);
  return measure_problem<Kokkos::complex<double>>(options, is_console, out);
}

}  // namespace
}  // namespace FiligreePerf

int main(int argc, char** argv) {
  CLI::App app("Times y = A*x in every format, next to Kokkos Kernels' CRS.", "filigree_spmv");
  FiligreePerf::Options options;
  options.add_to(app);
  app.footer(
      "Other flags go to Google Benchmark, such as --benchmark_out=FILE, and to Kokkos (--kokkos...).");
  app.allow_extras();

  // Without arguments the program prints its help.
  char help[] = "--help";
  char* only_help[] = {argv[0], help, nullptr};
  if (argc < 2) {
    argc = 2;
    argv = only_help;
  }
  return FiligreePerf::run_program(app, argc, argv, [&](int& count, char** arguments) {
    bool is_console = true;
    for (int i = 1; i < count; ++i) {
      const std::string flag = arguments[i];
      if (flag.rfind("--benchmark_format=", 0) == 0) is_console = flag == "--benchmark_format=console";
    }
    benchmark::Initialize(&count, arguments);
    if (benchmark::ReportUnrecognizedArguments(count, arguments)) return 1;
    FiligreePerf::measure(options, is_console);
    return 0;
  });
}

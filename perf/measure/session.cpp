// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "measure/session.hpp"

#include <algorithm>
#include <CLI/CLI.hpp>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>

namespace FiligreePerf {

/// Why a benchmark failed, empty if it did not. Google Benchmark 1.8 renamed the fields.
template <class Run>
auto failure_of(const Run& run, int) -> decltype(run.error_message) {
  return run.error_message;
}
template <class Run>
auto failure_of(const Run& run, long) -> decltype(run.skip_message) {
  return run.skip_message;
}

/// Prints one line per benchmark and writes the JSON. Google Benchmark begins and ends a report each time
/// that it runs benchmarks. Here all of them are one report.
class SessionReporter : public benchmark::BenchmarkReporter {
 public:
  explicit SessionReporter(std::string path) : m_path(std::move(path)) {
    // Google Benchmark would print an error for each benchmark that --benchmark_filter excludes.
    SetErrorStream(&m_ignored);
    if (m_path.empty()) return;
    m_file.open(unfinished());
    if (!m_file)
      Filigree::Impl::fail<std::runtime_error>("--out: the file ", unfinished(), " cannot be written.");
    m_json.SetOutputStream(&m_file);
  }

  bool ReportContext(const Context& context) override {
    if (!m_has_context && !m_path.empty()) m_json.ReportContext(context);
    m_has_context = true;
    return true;
  }

  void ReportRuns(const std::vector<Run>& runs) override {
    if (!m_path.empty()) m_json.ReportRuns(runs);
    m_file.flush();
    for (const Run& run : runs) {
      const std::string name = run.benchmark_name();
      const std::string failure = failure_of(run, 0);
      if (failure.empty())
        std::cout << name << ": " << run.GetAdjustedRealTime() << " "
                  << benchmark::GetTimeUnitString(run.time_unit) << std::endl;
      else if (name.find("/all/") == std::string::npos)  // add_refusal() has printed those
        std::cout << name << ": not measured: " << failure << std::endl;
    }
  }

  /// The file gets its name only now, so that a file with that name is complete.
  void finish() {
    if (m_path.empty()) return;
    if (!m_has_context) throw std::runtime_error("nothing was measured.");
    m_json.Finalize();
    m_file.close();
    if (!m_file)
      Filigree::Impl::fail<std::runtime_error>("--out: writing the file ", unfinished(), " failed.");
    std::filesystem::rename(unfinished(), m_path);
  }

 private:
  std::string unfinished() const { return m_path + ".part"; }

  std::string m_path;
  std::ostringstream m_ignored;
  std::ofstream m_file;
  benchmark::JSONReporter m_json;
  bool m_has_context = false;
};

void SessionOptions::add_to(CLI::App& app) {
  app.add_option("--out", out, "writes the measurements to this file, as JSON")->type_name("FILE");
  app.add_flag("--quick", quick, "small problems and few samples, to try the program");
}

void SessionOptions::add_seconds_to(CLI::App& app) {
  app.add_option("--seconds", seconds, "measures each product in turns with Kokkos Kernels' for X seconds")
      ->type_name("X")
      ->check(CLI::Range(0.0, 1e6))
      ->capture_default_str();
}

Session::Session(std::string program, const SessionOptions& options)
    : m_program(std::move(program)),
      m_options(options),
      m_machine(machine(Kokkos::DefaultExecutionSpace())),
      m_reporter(std::make_unique<SessionReporter>(options.out)) {
  Progress progress("measuring the read bandwidth");
  m_read_bandwidth = read_bandwidth(Kokkos::DefaultExecutionSpace());
  for (const auto& [key, value] : machine_context(m_machine, m_read_bandwidth))
    benchmark::AddCustomContext(key, value);
  benchmark::AddCustomContext("host_processor", processor_name());
  benchmark::AddCustomContext("program", m_program);
}

Session::~Session() = default;

Report Session::header(const std::string& problem, const std::string& scalar, int block_size,
                       const Figures& facts) const {
  Report report;
  report.machine = m_machine;
  report.read_bandwidth = m_read_bandwidth;
  report.program = m_program;
  report.problem = problem;
  report.scalar = scalar;
  report.block_size = block_size;
  report.facts = facts;
  return report;
}

void Session::run() {
  benchmark::RunSpecifiedBenchmarks(m_reporter.get());
  benchmark::ClearRegisteredBenchmarks();
}

void Session::add_refusal(const std::string& scalar, const std::string& problem, const std::string& reason) {
  std::cout << problem << ": not measured: " << reason << std::endl;
  benchmark::RegisterBenchmark((m_program + "/all/" + scalar + "/" + problem).c_str(),
                               [reason](benchmark::State& state) { state.SkipWithError(reason.c_str()); });
  run();
}

void Session::add_measured(const std::string& format, const std::string& scalar, const std::string& problem,
                           double seconds, const Figures& figures) {
  benchmark::RegisterBenchmark((m_program + "/" + format + "/" + scalar + "/" + problem).c_str(),
                               [seconds, figures](benchmark::State& state) {
                                 for (auto _ : state)
                                   state.SetIterationTime(seconds);
                                 for (const auto& [counter, value] : figures)
                                   state.counters[counter] = value;
                               })
      ->UseManualTime()
      ->Unit(benchmark::kMillisecond)
      ->Iterations(1);
  run();
}

void Session::finish() {
  m_reporter->finish();
}

int run_session(CLI::App& app, int argc, char** argv, SessionOptions& options,
                const std::function<void(Session&)>& measure, const std::string& notes) {
  options.add_to(app);
  app.footer(
      notes +
      "Other flags go to Google Benchmark, such as --benchmark_filter=REGEX, and to Kokkos (--kokkos...).");
  app.allow_extras();
  return run_program(app, argc, argv, [&](int& count, char** arguments) {
    // Google Benchmark would begin the file anew for each problem.
    for (int i = 1; i < count; ++i)
      if (std::string(arguments[i]).rfind("--benchmark_out", 0) == 0)
        throw std::invalid_argument("--benchmark_out is not possible here; use --out=FILE.");
    benchmark::Initialize(&count, arguments);
    if (count > 1)
      Filigree::Impl::fail<std::invalid_argument>(
          "\"", arguments[1], "\" is not an argument of this program; --help lists all arguments.");
    Session session(app.get_name().substr(app.get_name().find('_') + 1), options);
    measure(session);
    session.finish();
    return 0;
  });
}

Wanted wanted_by_name(const std::vector<std::string>& names) {
  Wanted wanted;
  wanted.wants = [names](const std::string& name, bool) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  return wanted;
}

}  // namespace FiligreePerf

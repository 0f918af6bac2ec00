// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the programs have in common that measure many problems and write one file.
#pragma once

#include <benchmark/benchmark.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "measure/measurement.hpp"
#include "support/command_line.hpp"
#include "support/read_bandwidth.hpp"
#include "support/refusal.hpp"

namespace FiligreePerf {

class SessionReporter;

/// The flags of a program that measures many problems.
struct SessionOptions {
  std::string out;       ///< the JSON file; empty for none
  bool quick = false;    ///< small problems and few samples, to try the program
  double seconds = 0.3;  ///< for each product, see Measurement::set_seconds()

  /// Adds the flags to a command line, but not --seconds. The object must live until the command line has been parsed.
  void add_to(CLI::App& app);
  /// Adds --seconds, for programs that use it.
  void add_seconds_to(CLI::App& app);
};

/// Measures problems one after the other, and writes all results to one file, the JSON of Google Benchmark.
/// The machine is in its context. The figures of a problem are counters of each of its benchmarks.
class Session {
 public:
  Session(std::string program, const SessionOptions& options);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  bool quick() const { return m_options.quick; }
  /// The number of runs for median_cold_seconds().
  int cold_runs() const { return quick() ? 1 : 30; }

  /// The header of the report of a problem, for a Measurement. `facts` become counters of all benchmarks of
  /// the problem.
  Report header(const std::string& problem, const std::string& scalar, int block_size,
                const Figures& facts = {}) const;

  /// Measures the wanted candidates one after the other.
  template <class Scalar>
  void measure(Measurement<Scalar>& measurement, const Wanted& wanted) {
    measurement.set_seconds(m_options.quick ? 0 : m_options.seconds);
    measurement.register_benchmarks(wanted, [this]() { run(); });
  }

  /// Runs the registered benchmarks, adds their results to the file, and removes the benchmarks.
  void run();

  /// Adds a benchmark whose time was already measured.
  void add_measured(const std::string& format, const std::string& scalar, const std::string& problem,
                    double seconds, const Figures& figures);

  /// Prints why a problem cannot be measured, and adds a benchmark of the format "all" with the reason.
  void add_refusal(const std::string& scalar, const std::string& problem, const std::string& reason);

  /// Completes the file and gives it its name.
  void finish();

 private:
  std::string m_program;
  SessionOptions m_options;
  Machine m_machine;
  double m_read_bandwidth;
  std::unique_ptr<SessionReporter> m_reporter;
};

/// The main function of such a program: parses the command line, starts Kokkos and Google Benchmark, calls
/// `measure` and completes the file. `notes` end the help text. Returns the exit code of the program.
int run_session(CLI::App& app, int argc, char** argv, SessionOptions& options,
                const std::function<void(Session&)>& measure, const std::string& notes = "");

/// Candidates by name. Names that this build does not have are left out. Conversions are timed.
Wanted wanted_by_name(const std::vector<std::string>& names);

}  // namespace FiligreePerf

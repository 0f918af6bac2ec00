// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// filigree_hybrid: HEC against HYB, ELL and CRS, and inside conjugate gradients. Liu, Yu, Chen, Hsieh and
// Shao 2012 propose HEC for Krylov solvers.
#include <CLI/CLI.hpp>
#include <iomanip>
#include <iostream>

#include "solver/measure_solver.hpp"
#include "support/named_matrix.hpp"
#include "support/symmetric_grid.hpp"

namespace FiligreePerf {
namespace {

using Scalar = double;
using Crs = SpmvProblem<Scalar>::crs_type;

/// HEC with both rules for the width, HYB with both, ELL, and CRS with one lane and with a warp per row.
const std::vector<std::string> formats = {
    "hec",        "hec_third_of_rows", "hyb", "hyb_least_bytes", "ell",
    "crs_lanes1", "crs_lanes32",       "crs", "crs_balanced",    "cusparse_csr_alg1"};

struct Options : SessionOptions {
  FileOptions files;
  bool no_generated = false;
};

/// Grids, and matrices in which a few rows are much longer than the others.
std::vector<NamedMatrix<Crs>> generated(bool quick) {
  const std::int64_t rows = quick ? 1000 : 1500000;
  const auto twenty_seven = Filigree::Stencil::twenty_seven_point();
  std::vector<NamedMatrix<Crs>> result = {{"grid_7pt", 1,
                                           [=]() {
                                             return grid_matrix<Crs>({quick ? 10 : 160, 3, 1});
                                           }},
                                          {"grid_27pt", 1, [=]() {
                                             return grid_matrix<Crs>({quick ? 8 : 100, 3, 1}, twenty_seven);
                                           }}};
  for (const int longest : {30, 1000, 85000})
    result.push_back({"power_law_to_" + std::to_string(longest), 1, [=]() {
                        return random_matrix<Crs>(
                            rows, rows,
                            PowerLawRows{3.0, std::min<double>(longest, static_cast<double>(rows) / 2)});
                      }});
  return result;
}

/// Prints the times of the formats, and of HYB and HEC the width and the share of the entries beyond it.
void print(const Report& report) {
  std::cout << "\n"
            << report.problem << ": " << report.rows << " rows, " << report.entries << " entries\n"
            << std::left << std::setw(20) << "format" << std::right
            << "        ms  GFLOP/s  of read  width  excess %\n";
  for (const Result& result : report.results) {
    if (!result.is_timed() && result.refusal.empty()) continue;  // --benchmark_filter excludes it
    std::cout << std::left << std::setw(20) << result.format << std::right << std::fixed;
    if (!result.is_timed()) {
      std::cout << "  refused: " << result.refusal << '\n';
      continue;
    }
    std::cout << std::setprecision(4) << std::setw(10) << 1e3 * result.seconds() << std::setprecision(2)
              << std::setw(9) << 2e-9 * static_cast<double>(report.entries) / result.seconds() << std::setw(9)
              << result.bytes / result.seconds() / report.read_bandwidth;
    if (result.facts.size() == 2)
      std::cout << std::setprecision(0) << std::setw(7) << result.facts[0].second << std::setprecision(2)
                << std::setw(10) << 100 * result.facts[1].second;
    std::cout << '\n';
  }
  std::cout << std::defaultfloat << std::setprecision(6) << std::endl;
}

void measure(Session& session, const Options& options) {
  std::vector<NamedMatrix<Crs>> matrices;
  if (!options.no_generated) matrices = generated(session.quick());
  for (const NamedMatrix<Crs>& file : from_files<Crs>(options.files))
    matrices.push_back(file);
  for (const NamedMatrix<Crs>& matrix : matrices) {
    const std::string reason = refusal_of([&]() {
      const Crs crs = matrix.make();
      if (crs.nnz() == 0) throw std::invalid_argument("the matrix has no entries.");
      Measurement<Scalar> measurement(crs, session.header(matrix.name, "double", 1));
      session.measure(measurement, wanted_by_name(formats));
      print(measurement.report());
    });
    if (!reason.empty()) session.add_refusal("double", matrix.name, reason);
  }
  // The solver. Its matrices are symmetric and positive definite.
  const NamedGrid grid = grid_of("cg_grid_7pt", session.quick() ? "10x10x10" : "160x160x160");
  measure_solver<Scalar>(session, "double", "cg_grid_7pt", 1, symmetric_matrix<Crs>(grid, 1),
                         {"hec", "hyb", "ell", "crs_lanes1", "crs_lanes32", "cusparse_csr_alg1"},
                         SolverOptions());
}

}  // namespace
}  // namespace FiligreePerf

int main(int argc, char** argv) {
  CLI::App app("Times HEC next to HYB, ELL and CRS, and inside conjugate gradients.", "filigree_hybrid");
  FiligreePerf::Options options;
  options.add_seconds_to(app);
  options.files.add_to(app);
  app.add_flag("--no_generated", options.no_generated, "leaves out the generated matrices");
  return FiligreePerf::run_session(app, argc, argv, options, [&](FiligreePerf::Session& session) {
    FiligreePerf::measure(session, options);
  });
}

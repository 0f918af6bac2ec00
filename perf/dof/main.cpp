// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// filigree_dof: how the formats behave as the unknowns per cell grow. It repeats figures 7 and 8 of Godwin,
// Holewinski and Sadayappan 2012 on two 2-D and two 3-D grids.
#include <algorithm>
#include <CLI/CLI.hpp>
#include <iomanip>
#include <iostream>
#include <map>

#include "measure/session.hpp"
#include "support/grid_list.hpp"

namespace FiligreePerf {
namespace {

struct Options : SessionOptions {
  std::string grids = "512x512,1024x1024,64x64x64,100x100x100";
  std::string dofs = "1,2,3,4,5,6,7,8";
  std::string scalars = "double,float";
};

/// CRS, BSR, DIA, ELL and SELL, next to CDS. Those that the build does not have are left out.
const std::vector<std::string> formats = {"crs", "crs_balanced",      "bsr",         "dia", "ell", "sell",
                                          "cds", "cusparse_csr_alg1", "cusparse_bsr"};

/// The bytes of k*b*n values and k offsets (Godwin, Holewinski and Sadayappan 2012, section 3.1), with n rows
/// and k diagonals of b x b blocks.
double formula_bytes(double diagonals, double block_size, double rows, double value_bytes) {
  return diagonals * block_size * rows * value_bytes + diagonals * sizeof(int);
}

/// Prints one line per format with the GFLOP/s at each number of unknowns.
void print_summary(const std::string& title, const std::vector<std::int64_t>& dofs,
                   const std::map<std::string, std::map<std::int64_t, double>>& speeds) {
  std::cout << "\n"
            << title << ": GFLOP/s\n"
            << std::left << std::setw(20) << "unknowns per cell" << std::right;
  for (const std::int64_t dof : dofs)
    std::cout << std::setw(9) << dof;
  std::cout << '\n' << std::fixed << std::setprecision(2);
  for (const auto& [format, speed] : speeds) {
    std::cout << std::left << std::setw(20) << format << std::right;
    for (const std::int64_t dof : dofs) {
      const auto at = speed.find(dof);
      if (at == speed.end())
        std::cout << std::setw(9) << "-";
      else
        std::cout << std::setw(9) << at->second;
    }
    std::cout << '\n';
  }
  std::cout << std::defaultfloat << std::setprecision(6) << std::endl;
}

template <class Scalar>
void measure_grid(Session& session, const std::string& scalar, const NamedGrid& grid,
                  const std::vector<std::int64_t>& dofs) {
  using Crs = typename SpmvProblem<Scalar>::crs_type;
  std::map<std::string, std::map<std::int64_t, double>> speeds;
  for (const std::int64_t dof : dofs) {
    const int block_size = static_cast<int>(dof);
    const std::string name = grid.name + "_dof" + std::to_string(dof);
    const std::string reason = refusal_of([&]() {
      const Crs crs = grid.matrix<Crs>(block_size);
      const double diagonals = static_cast<double>(grid.stencil.points.size());
      const double formula = formula_bytes(diagonals, block_size, crs.numRows(), sizeof(Scalar));
      Measurement<Scalar> measurement(
          crs, session.header(name, scalar, block_size,
                              {{"diagonals", diagonals}, {"formula_MB", 1e-6 * formula}}));
      session.measure(measurement, wanted_by_name(formats));
      const Report& report = measurement.report();
      for (const Result& result : report.results)
        if (result.is_timed())
          speeds[result.format][dof] =
              1e-9 * report.operations_per_entry * static_cast<double>(report.entries) / result.seconds();
    });
    if (!reason.empty()) session.add_refusal(scalar, name, reason);
  }
  print_summary(grid.name + ", " + scalar, dofs, speeds);
}

void measure(Session& session, const Options& options) {
  const std::vector<std::int64_t> dofs = numbers("--dofs", options.dofs, ',', 64);
  const std::vector<std::string> scalars = split(options.scalars, ',');
  std::vector<NamedGrid> grids;
  for (const std::string& text : split(options.grids, ','))
    grids.push_back(grid_of("--grids", text));
  for (const std::string& scalar : scalars)
    check_word("--scalars", scalar, {"double", "float"});
  for (const std::string& scalar : scalars)
    for (const NamedGrid& grid : grids) {
      if (scalar == "double")
        measure_grid<double>(session, scalar, grid, dofs);
      else
        measure_grid<float>(session, scalar, grid, dofs);
    }
}

}  // namespace
}  // namespace FiligreePerf

int main(int argc, char** argv) {
  CLI::App app("Times products on grids with 1 to 8 unknowns per cell, in each format.", "filigree_dof");
  FiligreePerf::Options options;
  options.add_seconds_to(app);
  CLI::Option* grids = app.add_option("--grids", options.grids, "grids, XxY with 5 points or XxYxZ with 7")
                           ->type_name("LIST")
                           ->capture_default_str();
  CLI::Option* dofs = app.add_option("--dofs", options.dofs, "numbers of unknowns per cell")
                          ->type_name("LIST")
                          ->capture_default_str();
  app.add_option("--scalars", options.scalars, "types of the values")
      ->type_name("LIST")
      ->capture_default_str();
  return FiligreePerf::run_session(app, argc, argv, options, [&](FiligreePerf::Session& session) {
    if (session.quick() && grids->empty()) options.grids = "24x24,32x32,8x8x8,12x12x12";
    if (session.quick() && dofs->empty()) options.dofs = "1,2,3";
    FiligreePerf::measure(session, options);
  });
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// filigree_grid: writes the matrix of a structured grid as a Matrix Market file.
#include <CLI/CLI.hpp>
#include <filigree/grid/stencil_problem.hpp>
#include <filigree/io/matrix_market.hpp>
#include <iostream>
#include <limits>

#include "support/command_line.hpp"
#include "support/progress.hpp"

namespace {

using Crs =
    KokkosSparse::CrsMatrix<double, int, Kokkos::DefaultExecutionSpace::device_type, void, std::int64_t>;
using Cds = Filigree::CdsMatrix<double, int, Kokkos::DefaultExecutionSpace::device_type, void, std::int64_t>;

struct Options {
  std::string out;
  FiligreePerf::GridOptions grid;
  std::string coefficients = "coupled";
  std::uint64_t seed = 1;
};

/// Assembles the matrix, prints how long that took, and writes it.
template <class Coefficients>
void write(const Options& options, const Coefficients& coefficients) {
  const auto& grid = options.grid;
  const Filigree::StencilProblem<Coefficients> problem(grid.cells, grid.points(), grid.dof, coefficients,
                                                       grid.boundaries);
  Crs crs;
  {
    FiligreePerf::Progress progress("assembling " + grid.name());
    // The first assembly is not reported, because it includes the costs of first launches.
    for (int run = 0; run < 2; ++run) {
      Kokkos::Timer timer;
      crs = problem.template crs<Crs>();
      Kokkos::fence();
      const double crs_seconds = timer.seconds();
      timer.reset();
      const auto cds = problem.template cds<Cds>();
      Kokkos::fence();
      if (run == 1)
        std::cout << grid.name() << ": assembled as CRS in " << crs_seconds << " s, as CDS in "
                  << timer.seconds() << " s; CDS takes " << cds.storage_bytes() << " bytes, "
                  << cds.numDiagonals() << " block diagonals" << std::endl;
    }
  }
  FiligreePerf::Progress progress("writing " + options.out);
  Filigree::write_matrix_market(options.out, crs);
  std::cout << options.out << ": " << crs.numRows() << " x " << crs.numCols() << ", " << crs.nnz()
            << " entries" << std::endl;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Writes the matrix of a structured grid as a Matrix Market file.", "filigree_grid");
  Options options;
  app.add_option("--out", options.out, "file to write, .mtx or .mtx.gz (required)")
      ->type_name("FILE")
      ->required();
  options.grid.add_to(app);
  app.add_option("--coefficients", options.coefficients,
                 "coefficients of the matrix; coupled is a Laplacian with dense blocks")
      ->type_name("")
      ->check(CLI::IsMember({"coupled", "laplacian", "random"}))
      ->capture_default_str();
  app.add_option("--seed", options.seed, "seed of the random coefficients, at least 1")
      ->type_name("N")
      ->check(CLI::Range(std::uint64_t(1), std::numeric_limits<std::uint64_t>::max()))
      ->capture_default_str();
  app.footer("Flags that begin with --kokkos go to Kokkos.");

  return FiligreePerf::run_program(app, argc, argv, [&](int&, char**) {
    const int points = static_cast<int>(options.grid.points().points.size());
    if (options.coefficients == "coupled")
      write(options, Filigree::CoupledLaplacian{points, options.grid.dof});
    else if (options.coefficients == "laplacian")
      write(options, Filigree::Laplacian{points});
    else
      write(options, Filigree::RandomCoefficients{points, options.grid.dof, options.seed});
    return 0;
  });
}

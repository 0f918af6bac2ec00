// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// filigree_grid: writes the matrix of a structured grid as a Matrix Market file, for other tools to measure.
#include <cstring>
#include <filigree/grid/stencil_problem.hpp>
#include <filigree/io/matrix_market.hpp>
#include <iostream>

#include "support/command_line.hpp"
#include "support/progress.hpp"

namespace {

using Crs =
    KokkosSparse::CrsMatrix<double, int, Kokkos::DefaultExecutionSpace::device_type, void, std::int64_t>;

using Cds = Filigree::CdsMatrix<double, int, Kokkos::DefaultExecutionSpace::device_type, void, std::int64_t>;

std::string usage() {
  return "filigree_grid: writes the matrix of a structured grid as a Matrix Market file\n"
         "  --out=FILE              .mtx, or .mtx.gz\n" +
         FiligreePerf::GridOptions::usage() +
         "  --coefficients=coupled  coupled (a Laplacian with dense blocks), laplacian or random\n"
         "  --seed=1                of random\n"
         "and the flags of Kokkos.\n";
}

struct Options {
  std::string out;
  FiligreePerf::GridOptions grid;
  std::string coefficients = "coupled";
  std::int64_t seed = 1;
};

Options parse(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    const std::size_t equals = argument.find('=');
    const std::string flag = argument.substr(0, equals);
    const std::string value = equals == std::string::npos ? "" : argument.substr(equals + 1);
    if (flag == "--out")
      options.out = value;
    else if (flag == "--coefficients")
      FiligreePerf::check_word(flag, options.coefficients = value, {"coupled", "laplacian", "random"});
    else if (flag == "--seed")
      options.seed = FiligreePerf::positive(flag, value);
    else if (!options.grid.take(flag, value) && flag.rfind("--kokkos", 0) != 0)
      Filigree::Impl::fail<std::invalid_argument>("\"", argument,
                                                  "\" is no flag of this tool; --help lists them.");
  }
  if (options.out.empty()) throw std::invalid_argument("--out: needs a file, as in --out=grid.mtx.");
  options.grid.finish();
  return options;
}

template <class Coefficients>
void write(const Options& options, const Coefficients& coefficients) {
  const auto& grid = options.grid;
  const Filigree::StencilProblem<Coefficients> problem(grid.cells, grid.points(), grid.dof, coefficients,
                                                       grid.boundaries);
  Crs crs;
  {
    FiligreePerf::Progress progress("assembling " + grid.name());
    // The first time, Kokkos and the device may have to wake up.
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
  for (int i = 1; i < argc; ++i)
    if (std::strcmp(argv[i], "--help") == 0) {
      std::cout << usage();
      return 0;
    }
  try {
    const Options options = parse(argc, argv);
    Kokkos::ScopeGuard kokkos(argc, argv);
    const int points = static_cast<int>(options.grid.points().points.size());
    if (options.coefficients == "coupled")
      write(options, Filigree::CoupledLaplacian{points, options.grid.dof});
    else if (options.coefficients == "laplacian")
      write(options, Filigree::Laplacian{points});
    else
      write(options,
            Filigree::RandomCoefficients{points, options.grid.dof, static_cast<std::uint64_t>(options.seed)});
  } catch (const std::exception& error) {
    std::cerr << "filigree_grid: " << error.what() << std::endl;
    return 1;
  }
  return 0;
}

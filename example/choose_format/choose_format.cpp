// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Chooses a format for the matrix of a Matrix Market file, in four steps: predict, optimize, explain,
// measure.
//
//     choose_format [matrix.mtx | matrix.mtx.gz] [planned products]
#include <Filigree.hpp>
#include <KokkosBlas1_axpby.hpp>
#include <KokkosBlas1_nrm2.hpp>

#include <algorithm>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <string>

using ExecutionSpace = Kokkos::DefaultExecutionSpace;
using Device = ExecutionSpace::device_type;
using Crs = KokkosSparse::CrsMatrix<double, int, Device, void, int>;
using Vector = Kokkos::View<double*, Device>;

/// Writes the matrix of a 3-D grid with four unknowns per cell to the working directory. Returns the name of
/// the file.
std::string write_sample() {
  const Filigree::StencilProblem<> problem({20, 20, 20}, Filigree::Stencil::seven_point(), 4);
  Filigree::write_matrix_market("sample.mtx.gz", problem.crs<Crs>());
  return "sample.mtx.gz";
}

/// Milliseconds of one product: the median of 11 measurements of as many products as take 10 ms or more.
template <class Multiply>
double measure(const Multiply& multiply) {
  const auto time = [&](int products) {
    Kokkos::fence();
    Kokkos::Timer timer;
    for (int i = 0; i < products; ++i)
      multiply();
    Kokkos::fence();
    return 1e3 * timer.seconds();
  };
  time(1);  // the first product may set up memory
  int products = 1;
  while (time(products) < 10 && products < 10000)
    products *= 2;
  double times[11];
  for (double& one : times)
    one = time(products) / products;
  std::nth_element(times, times + 5, times + 11);
  return times[5];
}

int choose(const std::string& path, double products) {
  const Crs crs = Filigree::read_matrix_market<Crs>(path);
  std::cout << path << ": " << crs.numRows() << " x " << crs.numCols() << ", " << crs.nnz() << " entries\n";

  // 1. Predict: statistics of the matrix, and what follows from them for each format. Nothing is converted.
  // (On a GPU for which there is no model, all formats are converted and timed instead.)
  Filigree::OptimizeOptions options;
  options.products = products;
  const Filigree::Selection selection = Filigree::predict_formats(crs, options);
  std::cout << "predicted: " << selection.picked << ", "
            << selection.pick().prediction.storage_bytes / selection.crs_bytes << " times the bytes of CRS\n";

  // 2. Optimize: converts to the format with the least time for the conversion and all planned products. With
  // time_best it first times the best five, which is worth its time on a host, where the model is less
  // accurate.
  options.time_best = true;
  Kokkos::Timer timer;
  const auto A = Filigree::optimize(crs, options);
  Kokkos::fence();
  const double optimize_milliseconds = 1e3 * timer.seconds();

  // 3. Explain: the decision and the reasons for it.
  std::cout << "picked: " << A.selection().picked << "\n\n" << A.explain() << '\n';

  // 4. Measure: next to the product of Kokkos Kernels, and with its result.
  Vector x("x", crs.numCols()), y("y", crs.numRows()), y_crs("y_crs", crs.numRows());
  Kokkos::parallel_for(
      "choose_format::fill_x", Kokkos::RangePolicy<ExecutionSpace>(0, x.extent(0)),
      KOKKOS_LAMBDA(const int i) { x(i) = 1.0 + 0.01 * (i % 100); });
  const double crs_time = measure([&] { KokkosSparse::spmv("N", 1.0, crs, x, 0.0, y_crs); });
  const double time = measure([&] { Filigree::spmv("N", 1.0, A, x, 0.0, y); });
  std::cout << "KokkosSparse::spmv " << crs_time << " ms\n"
            << "Filigree::spmv     " << time << " ms, faster by a factor of " << crs_time / time << '\n'
            << "optimize took as long as " << optimize_milliseconds / crs_time
            << " products of Kokkos Kernels\n";
  if (time >= crs_time) std::cout << "Stay with Kokkos Kernels for this matrix on this machine.\n";

  KokkosBlas::axpy(-1.0, y_crs, y);
  const double difference = KokkosBlas::nrm2(y) / KokkosBlas::nrm2(y_crs);
  std::cout << "difference of the results " << difference << '\n';
  return difference < 1e-12 ? EXIT_SUCCESS : EXIT_FAILURE;
}

int main(int argc, char* argv[]) {
  Kokkos::ScopeGuard kokkos(argc, argv);
  std::cout.precision(3);
  try {
    return choose(argc > 1 ? argv[1] : write_sample(), argc > 2 ? std::atof(argv[2]) : 1000);
  } catch (const std::exception& error) {
    std::cerr << "choose_format: " << error.what() << '\n';
    return EXIT_FAILURE;
  }
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads a Matrix Market file, converts it to two formats and compares their products with that of the CRS
// matrix:
//
//     multiply [matrix.mtx | matrix.mtx.gz]
#include <Filigree.hpp>

#include <cstdlib>
#include <exception>
#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string>

using ExecutionSpace = Kokkos::DefaultExecutionSpace;
using Device = ExecutionSpace::device_type;
using Crs = KokkosSparse::CrsMatrix<double, int, Device, void, std::size_t>;
using Vector = Kokkos::View<double*, Device>;

/// Writes the Laplacian of 64 points on a line to a file in the working directory, and returns its name.
std::string write_small_matrix() {
  const std::string path = "small.mtx";
  std::ofstream file(path);
  file << "%%MatrixMarket matrix coordinate real symmetric\n64 64 127\n";
  for (int i = 1; i <= 64; ++i)
    file << i << ' ' << i << " 2\n";
  for (int i = 1; i < 64; ++i)
    file << i + 1 << ' ' << i << " -1\n";
  return path;
}

/// The sum of |a(i) - b(i)|, or NaN if an element is NaN.
double distance(const Vector& a, const Vector& b) {
  double sum = 0;
  Kokkos::parallel_reduce(
      "multiply::distance", Kokkos::RangePolicy<ExecutionSpace>(0, a.extent(0)),
      KOKKOS_LAMBDA(const int i, double& part) { part += a(i) < b(i) ? b(i) - a(i) : a(i) - b(i); }, sum);
  return sum;
}

/// Returns true if the product in the format differs from the CRS product by rounding only. A conversion
/// refuses a matrix that would consist mostly of padding. That does not count as a failure.
template <template <class, class, class, class, class> class Format>
bool compare(const std::string& name, const Crs& crs, const Vector& x, const Vector& y_crs) {
  try {
    const auto A = Filigree::convert<Format>(crs);
    Vector y("y", y_crs.extent(0));
    Filigree::spmv("N", 1.0, A, x, 0.0, y);
    const double error = distance(y, y_crs) / (distance(y_crs, Vector("zero", y_crs.extent(0))) + 1e-300);
    std::cout << name << ": " << A.storage_bytes() << " bytes, difference from CRS " << error << '\n';
    return error < 1e-12;
  } catch (const std::length_error& refusal) {
    std::cout << name << ": " << refusal.what() << '\n';
    return true;
  }
}

int main(int argc, char* argv[]) {
  Kokkos::ScopeGuard kokkos(argc, argv);
  try {
    const std::string path = argc > 1 ? argv[1] : write_small_matrix();
    const Crs crs = Filigree::read_matrix_market<Crs>(path);
    std::cout << path << ": " << crs.numRows() << " x " << crs.numCols() << ", " << crs.nnz() << " entries\n";

    Vector x("x", crs.numCols()), y("y", crs.numRows());
    Kokkos::parallel_for(
        "multiply::fill_x", Kokkos::RangePolicy<ExecutionSpace>(0, x.extent(0)),
        KOKKOS_LAMBDA(const int i) { x(i) = 1.0 + 0.01 * (i % 100); });
    Filigree::spmv("N", 1.0, crs, x, 0.0, y);

    const bool ell_agrees = compare<Filigree::EllMatrix>("ell", crs, x, y);
    const bool cds_agrees = compare<Filigree::CdsMatrix>("cds", crs, x, y);
    return ell_agrees && cds_agrees ? EXIT_SUCCESS : EXIT_FAILURE;
  } catch (const std::exception& error) {
    std::cerr << "multiply: " << error.what() << '\n';
    return EXIT_FAILURE;
  }
}

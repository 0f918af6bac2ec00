// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A small program that needs the headers, the library, zlib, Kokkos and Kokkos Kernels.
#include <Filigree.hpp>

#include <cmath>
#include <cstdio>

int main(int argc, char* argv[]) {
  Kokkos::ScopeGuard kokkos(argc, argv);
  using Device = Kokkos::DefaultExecutionSpace::device_type;
  using Crs = KokkosSparse::CrsMatrix<double, int, Device, void, int>;
  using Vector = Kokkos::View<double*, Device>;
  const Filigree::StencilProblem grid({8, 4, 1}, Filigree::Stencil::five_point(), 1);
  Filigree::write_matrix_market("grid.mtx.gz", grid.crs<Crs>());
  const Crs crs = Filigree::read_matrix_market<Crs>("grid.mtx.gz");
  const auto ell = Filigree::convert<Filigree::EllMatrix>(crs);

  Vector x("x", crs.numCols()), y("y", crs.numRows()), expected("expected", crs.numRows());
  Kokkos::deep_copy(x, 3.0);
  Filigree::spmv("N", 1.0, ell, x, 0.0, y);
  KokkosSparse::spmv("N", 1.0, crs, x, 0.0, expected);
  const auto host_y = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), y);
  const auto host_expected = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), expected);
  double largest = 0;
  for (int row = 0; row < crs.numRows(); ++row) {
    largest = std::fmax(largest, std::fabs(host_expected(row)));
    if (!(std::fabs(host_y(row) - host_expected(row)) < 1e-12)) {
      std::printf("y(%d) is %g instead of %g\n", row, host_y(row), host_expected(row));
      return 1;
    }
  }
  std::printf("Filigree %s: the products of %d rows agree\n", FILIGREE_VERSION_STRING, crs.numRows());
  return crs.numRows() == 32 && largest > 0 ? 0 : 1;
}

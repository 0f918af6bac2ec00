// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A small program that needs the headers, the library, zlib, Kokkos and Kokkos Kernels.
#include <Filigree.hpp>

#include <cstdio>

int main(int argc, char* argv[]) {
  Kokkos::ScopeGuard kokkos(argc, argv);
  using Device = Kokkos::DefaultExecutionSpace::device_type;
  using Crs = KokkosSparse::CrsMatrix<double, int, Device, void, int>;
  // Each cell of a ring has two neighbours: all rows of the Laplacian have the sum 0.
  const Filigree::StencilProblem ring({32}, Filigree::Stencil::three_point(), 1, {Filigree::Boundary::wrap()});
  Filigree::write_matrix_market("ring.mtx.gz", ring.crs<Crs>());
  const auto A = Filigree::convert<Filigree::EllMatrix>(Filigree::read_matrix_market<Crs>("ring.mtx.gz"));
  Kokkos::View<double*, Device> x("x", A.numCols()), y("y", A.numRows());
  Kokkos::deep_copy(x, 3.0);
  Kokkos::deep_copy(y, 1.0);
  Filigree::spmv("N", 1.0, A, x, 0.0, y);
  const auto result = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), y);
  for (int row = 0; row < A.numRows(); ++row)
    if (result(row) < -1e-13 || result(row) > 1e-13) {
      std::printf("Filigree %s: y(%d) is %g instead of 0\n", FILIGREE_VERSION_STRING, row, result(row));
      return 1;
    }
  return A.numRows() == 32 && A.nnz() == 96 ? 0 : 1;
}

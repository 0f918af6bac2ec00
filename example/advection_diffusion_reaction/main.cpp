// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Four species react, diffuse and are carried along in a box. Each implicit time step solves a linear system
// whose matrix is assembled on the device, straight into Column Diagonal Storage. At the end a picture shows
// all species:
//
//     advection_diffusion_reaction [cells in x and y] [time steps]
#include <filigree/grid/stencil_problem.hpp>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <iostream>
#include <vector>

#include "bicgstab.hpp"
#include "picture.hpp"
#include "transport.hpp"

using ExecutionSpace = Kokkos::DefaultExecutionSpace;
using Device = ExecutionSpace::device_type;
using Cds = Filigree::CdsMatrix<double, int, Device, void, std::int64_t>;
using Vector = Kokkos::View<double*, Device>;
constexpr int species = 4;

/// What flows into the box per unit of time: only species 0, in a pipe along z below the middle of the box.
Vector inflow(const Transport& box) {
  Vector source("source", box.nx * box.ny * box.nz * species);
  Kokkos::parallel_for(
      "inflow", Kokkos::RangePolicy<ExecutionSpace>(0, source.extent(0)), KOKKOS_LAMBDA(const int row) {
        const int cell = row / species;
        const double x = (cell % box.nx + 0.5) * box.cell - 0.5,
                     y = (cell / box.nx % box.ny + 0.5) * box.cell - 0.25;
        source(row) = row % species == 0 && x * x + y * y < 0.004 ? 1.0 : 0.0;
      });
  return source;
}

/// The mean concentration of each species.
std::vector<double> means(const Vector& u) {
  const auto host = Kokkos::create_mirror_view(u);
  Kokkos::deep_copy(host, u);
  std::vector<double> result(species);
  for (std::size_t row = 0; row < host.extent(0); ++row)
    result[row % species] += host(row) * species / static_cast<double>(host.extent(0));
  return result;
}

/// The means after one more step. Transport does not change them, so that they follow the inflow and the
/// reactions: (1 - dt * reaction) new = old + dt * inflow, where each species depends only on those before
/// it.
std::vector<double> exact_step(const Transport& box, const std::vector<double>& old,
                               const std::vector<double>& inflow) {
  std::vector<double> result(old);
  for (int i = 0; i < species; ++i) {
    const auto k = static_cast<std::size_t>(i);
    result[k] += box.dt * inflow[k];
    if (i > 0) result[k] += box.dt * box.reaction(i, i - 1) * result[k - 1];
    result[k] /= 1 - box.dt * box.reaction(i, i);
  }
  return result;
}

/// The middle layer of the box as one field per species.
std::vector<std::vector<double>> middle_layer(const Transport& box, const Vector& u) {
  const auto host = Kokkos::create_mirror_view(u);
  Kokkos::deep_copy(host, u);
  const int cells = box.nx * box.ny;
  std::vector<std::vector<double>> fields(species);
  for (int cell = 0; cell < cells; ++cell)
    for (int i = 0; i < species; ++i)
      fields[static_cast<std::size_t>(i)].push_back(host((box.nz / 2 * cells + cell) * species + i));
  return fields;
}

int main(int argc, char* argv[]) {
  Kokkos::ScopeGuard kokkos(argc, argv);
  std::cout.precision(4);
  const int cells = argc > 1 ? std::atoi(argv[1]) : 48;
  const int steps = argc > 2 ? std::atoi(argv[2]) : 40;
  if (cells < 2 || cells > 8000 || steps < 1) {
    std::cerr
        << "usage: advection_diffusion_reaction [cells in x and y, 2 to 8000] [time steps, 1 or more]\n";
    return EXIT_FAILURE;
  }
  const Transport box{cells, cells, 4, 0.05};

  // Points outside of the box are left out in x and y, which makes walls. The box is periodic in z.
  const Filigree::StencilProblem<Transport> problem(
      {box.nx, box.ny, box.nz}, Filigree::Stencil::seven_point(), species, box,
      {Filigree::Boundary::drop(), Filigree::Boundary::drop(), Filigree::Boundary::wrap()});
  const Cds A = problem.cds<Cds>();
  std::cout << A.numRows() << " unknowns, " << A.nnz() << " entries, "
            << static_cast<double>(A.storage_bytes()) / 1e6 << " MB, " << A.numDiagonals()
            << " block diagonals\n";

  const Vector source = inflow(box), u("u", source.extent(0)), right("right", source.extent(0));
  const std::vector<double> mean_source = means(source);
  std::vector<double> exact(species);
  int iterations = 0;
  for (int step = 0; step < steps; ++step) {
    Kokkos::deep_copy(right, u);
    KokkosBlas::axpy(box.dt, source, right);
    iterations += bicgstab(A, right, u, 1e-10, 200);
    exact = exact_step(box, exact, mean_source);
  }
  std::cout << steps << " time steps in " << iterations << " iterations\n";

  const std::vector<double> found = means(u);
  double error = 0;
  for (std::size_t i = 0; i < species; ++i) {
    std::cout << "species " << i << ": mean concentration " << found[i] << ", exact " << exact[i] << '\n';
    error = std::max(error, std::abs(found[i] - exact[i]) / exact[i]);
  }
  std::cout << "largest relative error " << error << '\n';
  write_picture("species.ppm", middle_layer(box, u), box.nx, box.ny, std::max(1, 256 / box.nx));
  std::cout << "species.ppm shows the middle layer, one species beside the other\n";
  return error < 1e-8 ? EXIT_SUCCESS : EXIT_FAILURE;
}

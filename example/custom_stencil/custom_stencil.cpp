// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A stencil of your own, with coefficients from a View, and what each boundary rule makes of it. The matrix
// is assembled on the device from a stencil, a functor and a rule per axis.
#include <filigree/convert.hpp>
#include <filigree/grid/stencil_problem.hpp>
#include <filigree/spmv.hpp>

#include <cmath>
#include <cstdlib>
#include <iostream>

#include "fibres.hpp"

using ExecutionSpace = Kokkos::DefaultExecutionSpace;
using Device = ExecutionSpace::device_type;
using Cds = Filigree::CdsMatrix<double, int, Device, void, int>;
using Vector = Kokkos::View<double*, Device>;
using HostVector = Kokkos::View<double*, Kokkos::HostSpace>;
using Problem = Filigree::StencilProblem<Fibres<Device>>;
constexpr int nx = 5, ny = 4;

HostVector on_host(const Vector& from) {
  HostVector to("on_host", from.extent(0));
  Kokkos::deep_copy(to, from);
  return to;
}

/// The plate with one rule for x and one for y.
Problem make_plate(const Vector& conductivity, const Filigree::Boundary& x_rule,
                   const Filigree::Boundary& y_rule) {
  const auto wraps = [](const Filigree::Boundary& rule) { return rule.rule == Filigree::BoundaryRule::wrap; };
  const Fibres<Device> fibres{conductivity, nx, ny, {wraps(x_rule), wraps(y_rule)}};
  Filigree::Stencil stencil{{{0, 0, 0}}};
  for (const auto& point : fibres.neighbours)
    stencil.points.push_back({point[0], point[1], 0});
  return {{nx, ny, 1}, stencil, 1, fibres, {x_rule, y_rule, {}}};
}

/// Prints the equation of cell 0, in a corner of the plate: "coefficient u(cell)" for each entry.
void print_equation_of_cell_0(const Cds& A, const HostVector& b) {
  const auto crs = Filigree::to_crs(A);
  const auto entries = Kokkos::create_mirror_view(crs.graph.entries);
  const auto values = Kokkos::create_mirror_view(crs.values);
  const auto row_map = Kokkos::create_mirror_view(crs.graph.row_map);
  Kokkos::deep_copy(entries, crs.graph.entries);
  Kokkos::deep_copy(values, crs.values);
  Kokkos::deep_copy(row_map, crs.graph.row_map);
  for (int k = row_map(0); k < row_map(1); ++k)
    std::cout << (values(k) < 0 ? " - " : k > 0 ? " + " : " ") << std::abs(values(k)) << " u" << entries(k);
  std::cout << " = f" << (b(0) < 0 ? " - " : " + ") << std::abs(b(0)) << '\n';
}

/// Assembles the plate with one rule for both axes and prints it. Returns the sum over all cells of the heat
/// that leaves them if all cells and the surroundings have temperature 1: A times a vector of ones, minus the
/// right-hand side.
double show(const char* rule_name, const Vector& conductivity, const Filigree::Boundary& rule) {
  const Problem plate = make_plate(conductivity, rule, rule);
  const Cds A = plate.cds<Cds>();
  const HostVector b = on_host(plate.right_hand_side<Vector>());
  std::cout << rule_name << ": " << A.nnz() << " entries, " << A.numDiagonals() << " diagonals; cell 0:";
  print_equation_of_cell_0(A, b);

  Vector ones("ones", A.numRows()), leaves("leaves", A.numRows());
  Kokkos::deep_copy(ones, 1.0);
  Filigree::spmv("N", 1.0, A, ones, 0.0, leaves);
  const HostVector host_leaves = on_host(leaves);
  double sum = 0;
  for (int cell = 0; cell < A.numRows(); ++cell)
    sum += std::abs(host_leaves(cell) - b(cell));
  return sum;
}

int main(int argc, char* argv[]) {
  Kokkos::ScopeGuard kokkos(argc, argv);
  Vector conductivity("conductivity", nx * ny);
  Kokkos::parallel_for(
      "custom_stencil::conductivity", Kokkos::RangePolicy<ExecutionSpace>(0, nx * ny),
      KOKKOS_LAMBDA(const int cell) { conductivity(cell) = cell % nx < 2 ? 1.0 : 3.0; });

  const double dropped = show("drop    ", conductivity, Filigree::Boundary::drop());
  const double wrapped = show("wrap    ", conductivity, Filigree::Boundary::wrap());
  const double clamped = show("clamp   ", conductivity, Filigree::Boundary::clamp());
  const double known = show("constant", conductivity, Filigree::Boundary::constant(1, 1));
  std::cout << "heat that leaves a plate of temperature 1: drop " << dropped << ", wrap " << wrapped
            << ", clamp " << clamped << ", constant " << known << '\n';

  // The functor holds the View, not a copy. So an assembly after a change of the View has the new
  // coefficients.
  const Problem plate =
      make_plate(conductivity, Filigree::Boundary::constant(0, 1), Filigree::Boundary::wrap());
  const Vector before = plate.right_hand_side<Vector>();
  Kokkos::parallel_for(
      "custom_stencil::double", Kokkos::RangePolicy<ExecutionSpace>(0, nx * ny),
      KOKKOS_LAMBDA(const int cell) { conductivity(cell) *= 2; });
  const Vector after = plate.right_hand_side<Vector>();
  const int corner = nx - 1;
  const double old_heat = on_host(before)(corner), new_heat = on_host(after)(corner);
  std::cout << "heat from the right edge into cell " << corner << ": " << old_heat
            << ", with twice the conductivity " << new_heat << '\n';
  // 34 points lie beyond the edge. They belong to 15 cells of conductivity 1 and 19 of conductivity 3, if a
  // cell counts once per point. A plate that is surrounded by nothing (drop) loses 15 * 1 + 19 * 3.
  const bool is_right =
      wrapped < 1e-12 && clamped < 1e-12 && known < 1e-12 && std::abs(new_heat - 2 * old_heat) < 1e-12;
  return is_right && std::abs(dropped - 72) < 1e-12 ? EXIT_SUCCESS : EXIT_FAILURE;
}

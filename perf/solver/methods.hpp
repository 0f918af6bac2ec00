// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>
#include <vector>

#include "measure/session.hpp"
#include "solver/measure_solver.hpp"
#include "support/grid_list.hpp"

namespace FiligreePerf {

/// The names of all methods of measure_methods(), in the order of its table.
std::vector<std::string> method_names();

/// Measures Krylov methods and preconditioners of this library for the symmetric matrix of a grid in CDS, next to those
/// made of Kokkos Kernels' CRS product and KokkosBlas. Prints a table, with the bytes that an iteration must move, and
/// adds the results to the file of the session.
void measure_methods(Session& session, const NamedGrid& grid, int dof, const std::vector<std::string>& names,
                     const SolverOptions& options);

}  // namespace FiligreePerf

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "solver/methods.hpp"

#include <filigree/solve/bicgstab.hpp>
#include <filigree/solve/block_conjugate_gradients.hpp>
#include <filigree/solve/chebyshev.hpp>
#include <filigree/solve/conjugate_gradients.hpp>
#include <filigree/solve/gauss_seidel.hpp>
#include <filigree/solve/gmres.hpp>
#include <filigree/solve/line_preconditioner.hpp>
#include <filigree/solve/pipelined_conjugate_gradients.hpp>
#include <sstream>

#include "solver/kokkos_methods.hpp"
#include "support/symmetric_grid.hpp"

namespace FiligreePerf {
namespace {

using Execution = Kokkos::DefaultExecutionSpace;
using Crs = SpmvProblem<double>::crs_type;
using Cds = std::decay_t<decltype(Filigree::convert<Filigree::CdsMatrix>(Execution(), std::declval<Crs>(),
                                                                         Filigree::CdsOptions()))>;
using Vector = Kokkos::View<double*, Execution::device_type>;
using Jacobi = Filigree::JacobiPreconditioner<Cds>;

constexpr int gmres_restart = 30;
constexpr int block_columns = 4;

/// A method that is set up.
struct PreparedMethod {
  std::function<int()> solve;  ///< solves, beginning with 0, and returns the number of iterations
  std::function<double()>
      error;  ///< the largest one of an element of x; the exact solution is 1 in every row
};

/// A method with its preconditioner.
struct Method {
  std::string name;
  std::string reference;  ///< the method that it is compared with; empty if there is none
  std::function<double(int)>
      bytes;  ///< that an iteration must move, if there are this many; nullptr if unknown
  std::function<PreparedMethod()> make;
};

/// The largest difference of an element of x and 1.
template <class View>
double error_of(const View& x) {
  const auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), x);
  double largest = 0;
  for (std::size_t i = 0; i < host.extent(0); ++i) {
    const double error = std::abs(host(i) - 1);
    if (!(error <= largest)) largest = error;
  }
  return largest;
}

/// The grid, its matrix and the vectors.
struct MethodProblem {
  NamedGrid grid;
  int dof;
  Crs crs;
  Cds cds;
  Vector b, x;
  SolverOptions options;

  double vector_bytes() const { return 8.0 * static_cast<double>(b.extent(0)); }
  double matrix_bytes() const { return static_cast<double>(cds.storage_bytes()); }
  double diagonals() const { return static_cast<double>(cds.numDiagonals()); }
  template <class Options>
  Options solver_options() const {
    Options result;
    result.relative_tolerance = options.tolerance;
    result.most_iterations = options.most_iterations;
    return result;
  }
};

MethodProblem make_problem(const NamedGrid& grid, int dof, const SolverOptions& options) {
  MethodProblem result{grid, dof, symmetric_matrix<Crs>(grid, dof), {}, {}, {}, options};
  Filigree::CdsOptions cds_options;
  cds_options.block_size = dof;
  result.cds = Filigree::convert<Filigree::CdsMatrix>(Execution(), result.crs, cds_options);
  const auto rows = static_cast<std::size_t>(result.crs.numRows());
  result.b = Vector("b", rows);
  result.x = Vector("x", rows);
  Kokkos::deep_copy(result.x, 1.0);
  Filigree::spmv("N", 1.0, result.cds, result.x, 0.0, result.b);
  return result;
}

/// Bytes of one application of a preconditioner that is not elementwise.
double block_jacobi_bytes(const MethodProblem& problem) {
  return (problem.dof + 2) * problem.vector_bytes();
}
double chebyshev_bytes(const MethodProblem& problem) {
  // One step without the matrix, one that does not read the vector before, and one that does.
  return 2 * problem.matrix_bytes() + (3 + 4 + 5) * problem.vector_bytes();
}
double gauss_seidel_bytes(const MethodProblem& problem, int colors) {
  const double c = colors;
  // The first color needs only the inverse diagonal. All others but the last one are changed twice.
  const double values = problem.matrix_bytes() * (1 / c / problem.diagonals() + 2 * (c - 1) / c);
  const double turns = (2 * c - 1) / c;
  return values + problem.vector_bytes() * (1 + 2 * turns + 2 * (c - 1) / c * (c - 1) / c);
}
double line_bytes(const MethodProblem& problem) {
  return (3.0 * problem.dof + 4) * problem.vector_bytes();
}

/// A solver that changes problem.x.
PreparedMethod prepared(const MethodProblem& problem, const std::function<int()>& solve) {
  return {solve, [&problem]() { return error_of(problem.x); }};
}
template <template <class, class, class> class Solver, class Options, class Preconditioner>
PreparedMethod solver_of(const MethodProblem& problem, const Preconditioner& preconditioner,
                         const Options& options) {
  const auto solver = std::make_shared<Solver<Execution, Cds, Preconditioner>>(Execution(), problem.cds,
                                                                               preconditioner, options);
  return prepared(problem, [solver, &problem]() {
    Kokkos::deep_copy(problem.x, 0.0);
    return solver->solve(problem.b, problem.x).iterations;
  });
}

/// Solves for several right-hand sides, of which the first is that of the problem: by block conjugate gradients, or for
/// one after the other.
PreparedMethod solver_of_columns(const MethodProblem& problem, bool at_once) {
  using Vectors = Kokkos::View<double**, Kokkos::LayoutLeft, Execution::device_type>;
  const auto rows = problem.b.extent(0);
  const Vectors b("b", rows, block_columns), x("x", rows, block_columns);
  const auto host = Kokkos::create_mirror_view(x);
  for (std::size_t column = 0; column < block_columns; ++column)
    for (std::size_t row = 0; row < rows; ++row)
      host(row, column) =
          column == 0 ? 1.0 : static_cast<double>((row * (2 * column + 1) * 7919) % 1009) / 1009;
  Kokkos::deep_copy(x, host);
  Filigree::spmv("N", 1.0, problem.cds, x, 0.0, b);
  const auto options = problem.solver_options<Filigree::SolverOptions>();
  const Jacobi jacobi(Execution(), problem.cds);
  PreparedMethod result;
  result.error = [x]() { return error_of(Kokkos::subview(x, Kokkos::ALL(), 0)); };
  if (at_once) {
    using Solver = Filigree::BlockConjugateGradients<Execution, Cds, block_columns, Jacobi>;
    const auto solver = std::make_shared<Solver>(Execution(), problem.cds, jacobi, options);
    result.solve = [=]() {
      Kokkos::deep_copy(x, 0.0);
      return solver->solve(b, x)[0].iterations;
    };
  } else {
    using Solver = Filigree::ConjugateGradients<Execution, Cds, Jacobi>;
    const auto solver = std::make_shared<Solver>(Execution(), problem.cds, jacobi, options);
    result.solve = [=]() {
      Kokkos::deep_copy(x, 0.0);
      int iterations = 0;
      for (int column = 0; column < block_columns; ++column)
        iterations +=
            solver
                ->solve(Kokkos::subview(b, Kokkos::ALL(), column), Kokkos::subview(x, Kokkos::ALL(), column))
                .iterations;
      return iterations;
    };
  }
  return result;
}

/// Conjugate gradients with a preconditioner that make() returns, which moves `bytes` per application.
template <class Make>
Method conjugate_gradients_method(const MethodProblem& problem, const std::string& name, double bytes,
                                  const Make& make) {
  const double all = problem.matrix_bytes() + 12 * problem.vector_bytes() + bytes;
  return {name, "kokkos_cg_jacobi", [all](int) { return all; },
          [&problem, make]() {
            return solver_of<Filigree::ConjugateGradients>(problem, make(),
                                                           problem.solver_options<Filigree::SolverOptions>());
          }};
}

std::vector<Method> methods_of(const MethodProblem& problem) {
  const double A = problem.matrix_bytes();
  const double v = problem.vector_bytes();
  const auto constant = [](double bytes) { return [bytes](int) { return bytes; }; };
  const auto usual = problem.solver_options<Filigree::SolverOptions>();
  const auto jacobi = [&problem]() { return Jacobi(Execution(), problem.cds); };
  std::vector<Method> result;
  result.push_back({"cg", "kokkos_cg_jacobi", constant(A + 10 * v), [=, &problem]() {
                      return solver_of<Filigree::ConjugateGradients>(problem, Filigree::NoPreconditioner(),
                                                                     usual);
                    }});
  result.push_back({"cg_jacobi", "kokkos_cg_jacobi", constant(A + 12 * v), [=, &problem]() {
                      return solver_of<Filigree::ConjugateGradients>(problem, jacobi(), usual);
                    }});
  result.push_back({"pipelined_cg_jacobi", "kokkos_cg_jacobi", constant(A + 15 * v), [=, &problem]() {
                      return solver_of<Filigree::PipelinedConjugateGradients>(problem, jacobi(), usual);
                    }});
  result.push_back(
      conjugate_gradients_method(problem, "cg_block_jacobi", block_jacobi_bytes(problem), [&problem]() {
        return Filigree::BlockJacobiPreconditioner<Cds>(Execution(), problem.cds, problem.dof);
      }));
  result.push_back(
      conjugate_gradients_method(problem, "cg_chebyshev", chebyshev_bytes(problem), [&problem]() {
        const auto inverse = Filigree::inverse_diagonal(problem.cds);
        return Filigree::ChebyshevPreconditioner<Execution, Cds, std::decay_t<decltype(inverse)>>(
            Execution(), problem.cds, inverse);
      }));
  // The stencils of these grids are stars of points, which have two colors.
  result.push_back(
      conjugate_gradients_method(problem, "cg_gauss_seidel", gauss_seidel_bytes(problem, 2), [&problem]() {
        return Filigree::GaussSeidelPreconditioner<Execution, Cds>(Execution(), problem.cds,
                                                                   problem.grid.cells);
      }));
  for (const int axis : {0, 1, 2}) {
    if (problem.grid.cells[static_cast<std::size_t>(axis)] == 1) continue;
    result.push_back(conjugate_gradients_method(problem, std::string("cg_lines_") + "xyz"[axis],
                                                line_bytes(problem), [&problem, axis]() {
                                                  Filigree::LineOptions lines;
                                                  lines.axis = axis;
                                                  return Filigree::LinePreconditioner<Execution, Cds>(
                                                      Execution(), problem.cds, problem.grid.cells, lines);
                                                }));
  }
  result.push_back({"cg_jacobi_4_columns", "", constant(A + 12 * v),
                    [&problem]() { return solver_of_columns(problem, false); }});
  result.push_back({"block_cg_jacobi_4_columns", "cg_jacobi_4_columns",
                    constant(A + (14 * block_columns + 2) * v),
                    [&problem]() { return solver_of_columns(problem, true); }});
  result.push_back({"bicgstab_jacobi", "kokkos_bicgstab_jacobi", constant(2 * A + 25 * v),
                    [=, &problem]() { return solver_of<Filigree::BiCgStab>(problem, jacobi(), usual); }});
  result.push_back({"gmres_jacobi", "kokkos_gmres_jacobi",
                    [A, v](int iterations) {
                      // Iteration k of a cycle reads the basis three times.
                      const double k = (std::min(iterations, gmres_restart) + 1) / 2.0;
                      return A + (3 * k + 9) * v;
                    },
                    [=, &problem]() {
                      auto options = problem.solver_options<Filigree::GmresOptions>();
                      options.restart = gmres_restart;
                      return solver_of<Filigree::Gmres>(problem, jacobi(), options);
                    }});
  // Its reference product on the host takes long and is no part of the set-up, so that it is made once.
  const auto kept_problem = std::make_shared<std::shared_ptr<SpmvProblem<double>>>();
  result.push_back({"kokkos_cg_jacobi", "", nullptr, [&problem, kept_problem]() {
                      if (!*kept_problem)
                        *kept_problem = std::make_shared<SpmvProblem<double>>(problem.crs, problem.dof);
                      const auto spmv_problem = *kept_problem;
                      const auto solver = std::make_shared<ConjugateGradients<double>>(spmv_problem);
                      return PreparedMethod{
                          [=, &problem]() {
                            return solver
                                ->solve(
                                    [&]() { spmv_problem->multiply_by_kokkos_kernels(spmv_problem->crs); },
                                    problem.options.tolerance, problem.options.most_iterations)
                                .iterations;
                          },
                          [solver]() { return solver->error(); }};
                    }});
  result.push_back({"kokkos_bicgstab_jacobi", "", nullptr, [&problem]() {
                      const KokkosJacobi<Crs> of_kokkos(problem.crs);
                      return prepared(problem, [of_kokkos, &problem]() {
                        return solve_by_kokkos_bicgstab(problem.crs, of_kokkos, problem.b, problem.x,
                                                        problem.options.tolerance,
                                                        problem.options.most_iterations);
                      });
                    }});
#if FILIGREE_PERF_HAS_KOKKOS_GMRES
  result.push_back({"kokkos_gmres_jacobi", "", nullptr, [&problem]() {
                      const auto of_kokkos = std::make_shared<KokkosJacobiForGmres<Crs>>(problem.crs);
                      return prepared(problem, [of_kokkos, &problem]() {
                        return solve_by_kokkos_gmres(problem.crs, *of_kokkos, problem.b, problem.x,
                                                     problem.options.tolerance,
                                                     problem.options.most_iterations, gmres_restart);
                      });
                    }});
#endif
  return result;
}

/// What was measured of a method.
struct MeasuredMethod {
  int iterations = 0;
  double setup_seconds = 0, seconds = 0, error = 0;
};

MeasuredMethod measure_method(const Method& method) {
  Timer<Execution> timer{Execution()};
  MeasuredMethod result;
  PreparedMethod prepared_method;
  // The first time includes what happens once, such as the first launches of kernels.
  method.make();
  result.setup_seconds = timer.seconds([&]() { prepared_method = method.make(); });
  std::vector<double> seconds;
  // The first solution allocates workspaces.
  prepared_method.solve();
  for (int turn = 0; turn < 3; ++turn)
    seconds.push_back(timer.seconds([&]() { result.iterations = prepared_method.solve(); }));
  result.seconds = median(seconds);
  result.error = prepared_method.error();
  return result;
}

}  // namespace

std::vector<std::string> method_names() {
  // Of a grid that has all axes; nothing of it is set up.
  const MethodProblem problem{{"", {2, 2, 2}, {}}, 1, {}, {}, {}, {}, {}};
  std::vector<std::string> result;
  for (const Method& method : methods_of(problem))
    result.push_back(method.name);
  return result;
}

void measure_methods(Session& session, const NamedGrid& grid, int dof, const std::vector<std::string>& names,
                     const SolverOptions& options) {
  const MethodProblem problem = make_problem(grid, dof, options);
  const std::string name = grid.name + "_dof" + std::to_string(dof);
  const double bandwidth = session.header(name, "double", dof).read_bandwidth;
  const std::vector<Method> methods = methods_of(problem);
  std::map<std::string, MeasuredMethod> measured;
  const auto is_wanted = [&](const std::string& method) {
    return std::find(names.begin(), names.end(), method) != names.end();
  };
  for (const Method& method : methods) {
    // A reference is measured if one of the methods that are compared with it is wanted.
    const bool is_reference = std::any_of(methods.begin(), methods.end(), [&](const Method& other) {
      return other.reference == method.name && is_wanted(other.name);
    });
    if (is_wanted(method.name) || is_reference) {
      Progress progress("solving by " + method.name);
      measured[method.name] = measure_method(method);
    }
  }
  // Google Benchmark prints a line per result, so that the table is printed at the end.
  std::ostringstream table;
  table << "\n"
        << name << ", methods with the matrix in CDS: " << problem.crs.numRows() << " rows\n"
        << std::left << std::setw(28) << "method" << std::right
        << "iterations  ms per iteration  MB per iteration  of the read bandwidth  set-up ms  solution ms  "
           "speed compared with\n";
  for (const Method& method : methods) {
    if (measured.count(method.name) == 0) continue;
    const MeasuredMethod& found = measured[method.name];
    const double iterations = std::max(1, found.iterations);
    const double iteration = found.seconds / iterations;
    Figures figures = {{"iterations", static_cast<double>(found.iterations)},
                       {"iteration_ms", 1e3 * iteration},
                       {"setup_ms", 1e3 * found.setup_seconds},
                       {"solve_ms", 1e3 * found.seconds},
                       {"solution_error", found.error}};
    table << std::left << std::setw(28) << method.name << std::right << std::fixed << std::setw(10)
          << found.iterations << std::setprecision(4) << std::setw(18) << 1e3 * iteration;
    if (method.bytes) {
      const double bytes = method.bytes(found.iterations);
      figures.push_back({"iteration_bytes", bytes});
      figures.push_back({"fraction_of_read", bytes / iteration / bandwidth});
      table << std::setprecision(1) << std::setw(18) << 1e-6 * bytes << std::setprecision(2) << std::setw(23)
            << bytes / iteration / bandwidth;
    } else {
      table << std::setw(18) << "-" << std::setw(23) << "-";
    }
    table << std::setprecision(3) << std::setw(11) << 1e3 * found.setup_seconds << std::setw(13)
          << 1e3 * found.seconds;
    const auto reference = measured.find(method.reference);
    if (reference != measured.end()) {
      const double speed = reference->second.seconds / found.seconds;
      figures.push_back({"speedup_vs_reference", speed});
      table << std::setprecision(2) << std::setw(7) << speed << ' ' << method.reference;
    }
    table << '\n';
    session.add_measured(method.name, "double", name, found.seconds, figures);
  }
  std::cout << table.str()
            << "The time of an iteration is that of a solution from x = 0 without the set-up, divided by the "
               "iterations.\n"
               "Methods with the name kokkos consist of Kokkos Kernels' CRS product and KokkosBlas, or are "
               "theirs. The\n"
               "methods with 4 columns solve for "
            << block_columns
            << " right-hand sides; their iterations are those of the block, or of all columns together.\n"
            << std::endl;
}

}  // namespace FiligreePerf

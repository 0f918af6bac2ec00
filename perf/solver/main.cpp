// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// filigree_solver: conjugate gradients with the product in each format, and after how many iterations the
// conversion has paid off; or the solvers of this library next to those of Kokkos Kernels. Kirk and Hwu, chapter 10,
// say that a format pays because iterative solvers multiply by the same matrix many times.
#include <CLI/CLI.hpp>

#include "solver/measure_solver.hpp"
#include "solver/methods.hpp"
#include "support/named_matrix.hpp"
#include "support/symmetric_grid.hpp"

namespace FiligreePerf {
namespace {

struct Options : SessionOptions {
  std::string grids = "256x256x256,100x100x100";
  std::string dofs = "1,4";
  std::vector<std::string> matrices;
  std::string formats =
      "crs,crs_balanced,coo,ell,sell,sell_sorted_short,hyb,hec,jds,dia,cds,bell,auto,cusparse_csr_alg1";
  std::string methods;
  SolverOptions solver;
};

/// The wanted methods. Throws std::invalid_argument if one of them does not exist.
std::vector<std::string> wanted_methods(const std::string& list) {
  const std::vector<std::string> all = method_names();
  if (list == "all") return all;
  const std::vector<std::string> result = split(list, ',');
  for (const std::string& name : result)
    check_word("--methods", name, all);
  return result;
}

void measure(Session& session, const Options& options) {
  using Scalar = double;
  using Crs = SpmvProblem<Scalar>::crs_type;
  const std::vector<std::string> names = split(options.formats, ',');
  // The peers depend on the build.
  for (const std::string& name : names)
    if (name.rfind("cusparse_", 0) != 0)
      check_word("--formats", name, candidate_names<SpmvProblem<Scalar>>());
  const std::vector<std::string> grids = split(options.grids, ',');
  const std::vector<std::int64_t> dofs = numbers("--dofs", options.dofs, ',', 64);
  if (grids.size() != dofs.size())
    Filigree::Impl::fail<std::invalid_argument>("--dofs: \"", options.dofs, "\" has ", dofs.size(),
                                                " numbers, but --grids has ", grids.size(),
                                                " grids; give one number per grid.");
  std::vector<NamedGrid> checked;
  for (const std::string& text : grids)
    checked.push_back(grid_of("--grids", text));
  for (std::size_t i = 0; i < checked.size(); ++i) {
    const int dof = static_cast<int>(dofs[i]);
    const std::string name = checked[i].name + "_dof" + std::to_string(dof);
    const std::string reason = refusal_of([&]() {
      if (!options.methods.empty()) {
        measure_methods(session, checked[i], dof, wanted_methods(options.methods), options.solver);
        return;
      }
      measure_solver<Scalar>(session, "double", name, dof, symmetric_matrix<Crs>(checked[i], dof), names,
                             options.solver);
    });
    if (!reason.empty()) session.add_refusal("double", name, reason);
  }
  if (!options.methods.empty()) return;
  for (const std::string& file : options.matrices) {
    const std::string reason = refusal_of([&]() {
      measure_solver<Scalar>(session, "double", matrix_name(file), 1, Filigree::read_matrix_market<Crs>(file),
                             names, options.solver);
    });
    if (!reason.empty()) session.add_refusal("double", matrix_name(file), reason);
  }
}

}  // namespace
}  // namespace FiligreePerf

int main(int argc, char** argv) {
  CLI::App app("Times conjugate gradients with the product in each format, or solvers with CDS.",
               "filigree_solver");
  FiligreePerf::Options options;
  options.add_seconds_to(app);
  CLI::Option* grids = app.add_option("--grids", options.grids, "grids, XxY with 5 points or XxYxZ with 7")
                           ->type_name("LIST")
                           ->capture_default_str();
  CLI::Option* dofs = app.add_option("--dofs", options.dofs, "unknowns per cell of each grid")
                          ->type_name("LIST")
                          ->capture_default_str();
  CLI::Option* matrices =
      app.add_option("--matrix", options.matrices,
                     "symmetric positive definite matrices to solve with too (.mtx or .mtx.gz)")
          ->type_name("FILES")
          ->delimiter(',')
          ->check(CLI::ExistingFile);
  CLI::Option* formats =
      app.add_option("--formats", options.formats, "formats and variants, as in filigree_spmv")
          ->type_name("NAMES")
          ->capture_default_str();
  app.add_option("--methods", options.methods,
                 "measure these Krylov methods and preconditioners with CDS on the grids, instead of the "
                 "formats: all, or names of the table that all prints")
      ->type_name("NAMES")
      ->excludes(matrices)
      ->excludes(formats);
  app.add_option("--tolerance", options.solver.tolerance,
                 "the solver ends when the residual is this part of the right-hand side")
      ->type_name("X")
      ->check(CLI::Range(1e-14, 0.5))
      ->capture_default_str();
  app.add_option("--most_iterations", options.solver.most_iterations, "and at the latest after N iterations")
      ->type_name("N")
      ->check(CLI::Range(1, 1000000))
      ->capture_default_str();
  return FiligreePerf::run_session(app, argc, argv, options, [&](FiligreePerf::Session& session) {
    if (session.quick() && grids->empty() && dofs->empty()) {
      options.grids = "20x20x20,8x8x8";
      options.dofs = "1,4";
    }
    FiligreePerf::measure(session, options);
  });
}

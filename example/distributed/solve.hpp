// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <BelosBlockCGSolMgr.hpp>
#include <BelosBlockGmresSolMgr.hpp>
#include <BelosTpetraAdapter.hpp>

#include <stdexcept>

using Vectors = Tpetra::MultiVector<>;
using Operator = Tpetra::Operator<>;

struct Solution {
  Teuchos::RCP<Vectors> x;
  int iterations;
};

/// Solves A X = B for all vectors of B at once. `method` is "CG" or "GMRES". Belos sees only a
/// Tpetra::Operator, so it takes a Filigree::TpetraOperator as it takes a Tpetra::CrsMatrix.
inline Solution solve(const std::string& method, Teuchos::RCP<const Operator> A,
                      Teuchos::RCP<const Vectors> b) {
  const auto x = Teuchos::rcp(new Vectors(A->getDomainMap(), b->getNumVectors()));
  const auto problem = Teuchos::rcp(new Belos::LinearProblem<double, Vectors, Operator>(A, x, b));
  problem->setProblem();
  const auto parameters = Teuchos::parameterList();
  parameters->set("Block Size", static_cast<int>(b->getNumVectors()));
  parameters->set("Convergence Tolerance", 1e-10);
  parameters->set("Maximum Iterations", 1000);
  parameters->set("Verbosity", static_cast<int>(Belos::Errors));
  Teuchos::RCP<Belos::SolverManager<double, Vectors, Operator>> solver;
  if (method == "CG") {
    solver = Teuchos::rcp(new Belos::BlockCGSolMgr<double, Vectors, Operator>(problem, parameters));
  } else {
    parameters->set("Num Blocks", 100);  // iterations before a restart
    solver = Teuchos::rcp(new Belos::BlockGmresSolMgr<double, Vectors, Operator>(problem, parameters));
  }
  if (solver->solve() != Belos::Converged) throw std::runtime_error("block " + method + " did not converge");
  return {x, solver->getNumIters()};
}

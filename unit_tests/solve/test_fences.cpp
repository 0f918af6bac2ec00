// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Preconditioners wait for their own instance only.
#include <gtest/gtest.h>

#include <Filigree.hpp>

#include "../support/instances.hpp"
#include "../support/tools.hpp"

namespace FiligreeTest {
namespace {

using Cds = Filigree::CdsMatrix<double, int, Device>;
using Strings = std::vector<std::string>;

/// Kernels of other instances need not end before a preconditioner can be made or refilled.
TEST(Preconditioners, FenceTheirInstanceAlone) {
  {
    // This recorder can see global fences, if Kokkos reports fences at all.
    const KokkosRecorder recorder;
    Kokkos::fence();
    if (recorder.events().global_fences.empty()) GTEST_SKIP() << "This Kokkos does not report fences.";
  }
  const ExecutionSpace exec = another_instance();
  const Cds A = Filigree::StencilProblem({6, 5, 4}, Filigree::Stencil::seven_point(), 3).cds<Cds>(exec);
  exec.fence();
  const KokkosRecorder recorder;
  Filigree::JacobiPreconditioner<Cds> jacobi(exec, A);
  jacobi.refill(exec, A);
  Filigree::BlockJacobiPreconditioner<Cds> blocks(exec, A, 3);
  blocks.refill(exec, A);
  Filigree::GaussSeidelPreconditioner<ExecutionSpace, Cds> gauss_seidel(exec, A, {6, 5, 4});
  gauss_seidel.refill(exec, A);
  Filigree::LinePreconditioner<ExecutionSpace, Cds> lines(exec, A, {6, 5, 4});
  lines.refill(exec);
  const auto inverse = Filigree::inverse_diagonal(exec, A);
  Filigree::ChebyshevPreconditioner<ExecutionSpace, Cds, std::decay_t<decltype(inverse)>> chebyshev(exec, A,
                                                                                                    inverse);
  chebyshev.refill(exec);
  EXPECT_EQ(recorder.events().global_fences, Strings());
}

}  // namespace
}  // namespace FiligreeTest

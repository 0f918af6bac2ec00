// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>
#include <petscsys.h>

#include <Kokkos_Core.hpp>

namespace {

/// Prints failures, on all ranks but the first.
class Failures : public testing::EmptyTestEventListener {
 public:
  explicit Failures(int rank) : m_rank(rank) {}

 private:
  void OnTestPartResult(const testing::TestPartResult& result) override {
    if (result.failed())
      std::fprintf(stderr, "rank %d: %s:%d: %s\n", m_rank, result.file_name(), result.line_number(),
                   result.summary());
  }
  int m_rank;
};

int run_tests() {
  int rank = 0;
  MPI_Comm_rank(PETSC_COMM_WORLD, &rank);
  if (rank != 0) {
    auto& listeners = testing::UnitTest::GetInstance()->listeners();
    delete listeners.Release(listeners.default_result_printer());
    listeners.Append(new Failures(rank));
  }
  const int failed = RUN_ALL_TESTS();
  int any_failed = 0;
  MPI_Allreduce(&failed, &any_failed, 1, MPI_INT, MPI_MAX, PETSC_COMM_WORLD);
  return any_failed;
}

}  // namespace

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  if (PetscInitialize(&argc, &argv, nullptr, nullptr) != 0) return 1;
  int failed = 1;
  {
    // A PETSc with Kokkos initializes Kokkos itself, and finalizes it after what it has in it.
#if !defined(PETSC_HAVE_KOKKOS)
    const Kokkos::ScopeGuard scope(argc, argv);
#endif
    failed = run_tests();
  }
  return PetscFinalize() != 0 ? 1 : failed;
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "filigree/core/initialized.hpp"
#include "filigree/core/matrix_traits.hpp"
#include "filigree/core/region.hpp"
#include "filigree/formats.hpp"

namespace Filigree {

/// Checks a matrix whose Views were not made by this library. The constructors that wrap Views check nothing,
/// and a product of a matrix with wrong Views reads and writes any memory. Each class comment of a format
/// says what its Views must hold. check() compares them with it, padding and lists of chunks included: the
/// sizes of all Views, offsets, row lengths, permutations, and the column of each entry. It cannot check
/// values, apart from those of padding, which must be 0.
///
/// Throws std::invalid_argument for the first fault, with the name of the View, the values, and what would be
/// right.
///
/// It is meant for tests and debugging. It copies the Views of the matrix to the host, if the host cannot
/// access them, and looks at them with one thread. CRS matrices are checked on the device. Fences exec.
///
/// @param exec execution space instance on which the matrix was written
/// @param A    matrix of any format, or a ScaledMatrix
template <class ExecutionSpace, class Matrix>
std::enable_if_t<Kokkos::is_execution_space<ExecutionSpace>::value> check(const ExecutionSpace& exec,
                                                                          const Matrix& A) {
  using Traits = MatrixTraits<Matrix>;
  static_assert(
      Traits::is_matrix,
      "Filigree::check: A must be a matrix of a Filigree format, or a KokkosSparse CrsMatrix or BsrMatrix.");
  static_assert(Kokkos::SpaceAccessibility<ExecutionSpace, typename Traits::memory_space>::accessible,
                "Filigree::check: the execution space must be able to access the memory of A.");
  Impl::check_initialized("Filigree::check");
  const Impl::LabelScope label(Impl::label_of(A));
  Impl::ScopedRegion region(Impl::label("check", Traits::name()));
  // Not qualified, so that argument-dependent lookup also finds the overload of scaled.hpp.
  check_matrix(Impl::ViewChecker<ExecutionSpace>{exec, Traits::name(), ""}, A);
}

/// check(exec, A) on the default instance of the execution space of A.
template <class Matrix>
void check(const Matrix& A) {
  static_assert(
      MatrixTraits<Matrix>::is_matrix,
      "Filigree::check: A must be a matrix of a Filigree format, or a KokkosSparse CrsMatrix or BsrMatrix.");
  Impl::check_initialized("Filigree::check");
  check(typename MatrixTraits<Matrix>::execution_space(), A);
}

}  // namespace Filigree

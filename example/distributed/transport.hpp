// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <filigree/grid/stencil_problem.hpp>

/// The coefficients of four substances that diffuse, drag each other along, and are carried in x by a fluid.
///
/// The substances are coupled by the symmetric positive definite matrix C with 1 on its diagonal and 0.2 beside
/// it. The block that couples a cell with itself is (6 + velocity) C, that with a neighbour -C, and that with
/// the neighbour upstream -(1 + velocity) C. Without velocity the matrix is symmetric and positive definite.
struct Transport {
  double velocity;

  KOKKOS_INLINE_FUNCTION double operator()(std::int64_t cell, std::int64_t neighbour, int i, int j) const {
    const double coupling = i == j ? 1.0 : 0.2;
    if (neighbour == cell) return (6 + velocity) * coupling;
    return neighbour == cell - 1 ? -(1 + velocity) * coupling : -coupling;
  }
};

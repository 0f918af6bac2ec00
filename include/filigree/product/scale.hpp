// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "filigree/core/launch.hpp"
#include "filigree/core/scalar.hpp"
#include "filigree/product/multi_vector.hpp"

namespace Filigree::Impl {

/// beta*y + sum
template <class Accumulator, class Scalar>
KOKKOS_FORCEINLINE_FUNCTION Accumulator updated(const Scalar& y, const Accumulator& beta,
                                                const Accumulator& sum) {
  return times(beta, Accumulator(widen<Accumulator>(y))) + sum;
}

/// y = beta*y + sum. If beta is 0, y is not read.
template <class Accumulator, class Scalar>
KOKKOS_FORCEINLINE_FUNCTION void update(Scalar& y, const Accumulator& beta, const Accumulator& sum) {
  if (beta == Accumulator(0))
    y = convert_scalar<Scalar>(sum);
  else
    y = convert_scalar<Scalar>(updated(y, beta, sum));
}

/// y = beta*y for one row. If beta is 0, y is not read.
template <class Accumulator, class Scalar>
struct ScaleKernel {
  MultiVector<Scalar> y;
  std::int64_t columns;
  Accumulator beta;

  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t row) const {
    for (std::int64_t column = 0; column < columns; ++column) {
      Scalar& element = y(row, column);
      element = beta == Accumulator(0)
                    ? Scalar(0)
                    : convert_scalar<Scalar>(times(beta, Accumulator(widen<Accumulator>(element))));
    }
  }
};

/// y = beta*y on the given instance. Does nothing if beta is 1. It does not use KokkosBlas::scal, which takes
/// no execution space instance before Kokkos Kernels 4.
template <class ExecutionSpace, class Accumulator, class Scalar>
void scale(const ExecutionSpace& exec, const Accumulator& beta, const MultiVector<Scalar>& y,
           std::int64_t rows, std::int64_t columns) {
  static const std::string name = "Filigree::scale[vector]";
  if (beta == Accumulator(1)) return;
  Kokkos::parallel_for(name, row_range<void>(exec, rows), ScaleKernel<Accumulator, Scalar>{y, columns, beta});
}

}  // namespace Filigree::Impl

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// CDS matrices with another stride of their columns.
#pragma once

#include <limits>

#include "formats.hpp"

namespace FiligreeTest {

/// The matrix with columns that are `stride` apart and padding that is NaN, which no product may read into y.
template <class Cds>
Cds with_column_stride(const Cds& A, std::size_t stride) {
  using Scalar = typename Cds::value_type;
  const auto old_stride = static_cast<std::size_t>(A.column_stride());
  const auto old_values = host_list(A.values);
  const std::size_t columns = old_values.size() / old_stride;
  const typename Cds::values_type values("values", columns * stride);
  const auto host = Kokkos::create_mirror_view(values);
  Kokkos::deep_copy(host, Scalar(std::numeric_limits<float>::quiet_NaN()));
  for (std::size_t column = 0; column < columns; ++column)
    for (std::size_t row = 0; row < static_cast<std::size_t>(A.numRows()); ++row)
      host(column * stride + row) = old_values[column * old_stride + row];
  Kokkos::deep_copy(values, host);
  return Cds(A.numRows(), A.numCols(), A.nnz(), A.block_size(), values, A.offsets);
}
template <class Cds>
Cds without_padding(const Cds& A) {
  return with_column_stride(A, static_cast<std::size_t>(A.numRows()));
}

}  // namespace FiligreeTest

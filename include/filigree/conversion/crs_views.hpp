// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "filigree/core/require_cxx17.hpp"

#include <KokkosSparse_CrsMatrix.hpp>

#include "filigree/core/launch.hpp"
#include "filigree/core/matrix_base.hpp"
#include "filigree/core/read_view.hpp"

namespace Filigree::Impl {

/// Raw pointers to the three Views of a CRS matrix, for kernels. The type does not depend on the device and
/// the memory traits of the matrix.
template <class Scalar, class Ordinal, class SizeType>
struct CrsViews {
  using scalar_type = Scalar;
  using ordinal_type = Ordinal;
  using size_type = SizeType;

  const Scalar* values;
  const Ordinal* entries;
  const SizeType* row_map;

  template <class Crs>
  explicit CrsViews(const Crs& crs)
      : values(crs.values.data()), entries(crs.graph.entries.data()), row_map(crs.graph.row_map.data()) {}

  /// The entries of a row are begin(row) to end(row) - 1.
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t begin(std::int64_t row) const {
    return static_cast<std::int64_t>(row_map[row]);
  }
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t end(std::int64_t row) const { return begin(row + 1); }
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t length(std::int64_t row) const { return end(row) - begin(row); }
};

template <class Crs>
using crs_views_t = CrsViews<typename Crs::non_const_value_type, typename Crs::non_const_ordinal_type,
                             typename Crs::non_const_size_type>;

/// log2 of the number of lanes for a row in kernels that read all entries: on a GPU about one lane per entry
/// of a row of mean length, so that neighbouring lanes read neighbouring entries (see docs/performance.md,
/// "Conversion to diagonals: lanes per row").
template <class ExecutionSpace>
int log2_lanes_per_row(std::int64_t rows, std::int64_t nnz) {
  int log2_lanes = 0;
  while (runs_on_gpu_v<ExecutionSpace> && log2_lanes < 5 && rows << (log2_lanes + 1) <= nnz)
    ++log2_lanes;
  return log2_lanes;
}

/// Bytes of the three Views of a CRS matrix.
template <class Crs>
double crs_bytes(const Crs& crs) {
  return static_cast<double>(bytes_of(crs.values, crs.graph.entries, crs.graph.row_map));
}

}  // namespace Filigree::Impl

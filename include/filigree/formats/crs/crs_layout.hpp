// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "filigree/core/integer.hpp"
#include "filigree/formats/crs/crs_matrix.hpp"
#include "filigree/product/row_layout.hpp"

namespace Filigree::Impl {

/// The layout of a CRS matrix for products with T lanes per row.
template <class Scalar, class Ordinal, class SizeType>
struct CrsLayout {
  using scalar_type = Scalar;
  using ordinal_type = Ordinal;
  static constexpr bool is_dense = false;
  static constexpr bool padded = false;
  static constexpr bool has_lanes = true;
  static constexpr bool has_tiles = false;
  static constexpr int rows_per_host_team = host_rows;
  static constexpr bool is_sliced = false;
  static constexpr bool joins_words = false;

  const Scalar* values;
  const Ordinal* entries;
  const SizeType* row_map;
  std::int64_t row_count;
  int log2_lanes;
  bool in_vectors;  ///< see WrappedCrsMatrix::in_vectors()

  template <class Crs>
  CrsLayout(const Crs& crs, int lanes_per_row, bool in_vectors_ = false)
      : values(crs.values.data()),
        entries(crs.graph.entries.data()),
        row_map(crs.graph.row_map.data()),
        row_count(static_cast<std::int64_t>(crs.numRows())),
        log2_lanes(log2_of(lanes_per_row)),
        in_vectors(in_vectors_) {}

  KOKKOS_FORCEINLINE_FUNCTION std::int64_t stored_row_count() const { return row_count; }
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t matrix_row(std::int64_t i) const { return i; }
  KOKKOS_FORCEINLINE_FUNCTION int lanes() const { return 1 << log2_lanes; }
  template <class Visit>
  KOKKOS_FORCEINLINE_FUNCTION void visit_lane_entries(std::int64_t row, int lane, const Visit& visit) const {
    const std::int64_t begin = begin_of(row);
    const std::int64_t length = begin_of(row + 1) - begin;
    visit(StridedEntries<const Scalar, const Ordinal>{values + begin + lane, entries + begin + lane,
                                                      std::int64_t(1) << log2_lanes,
                                                      entries_of_lane(length, lane, log2_lanes)});
  }
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t begin_of(std::int64_t row) const {
    return static_cast<std::int64_t>(row_map[row]);
  }
};

/// Calls visit(layout) with the layout of a CRS matrix, one lane per row.
template <class ExecutionSpace, class S, class O, class D, class M, class Z, class Visit>
auto with_layout(const ExecutionSpace&, const KokkosSparse::CrsMatrix<S, O, D, M, Z>& crs,
                 const Visit& visit) {
  return visit(CrsLayout<std::remove_const_t<S>, std::remove_const_t<O>, std::remove_const_t<Z>>(crs, 1));
}

}  // namespace Filigree::Impl

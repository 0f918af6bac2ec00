// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FILIGREE_FORMATS_COO_COO_LAYOUT_HPP
#define FILIGREE_FORMATS_COO_COO_LAYOUT_HPP

#include <cstdint>

#include "filigree/conversion/slots.hpp"
#include "filigree/core/binary_search.hpp"
#include "filigree/core/integer.hpp"
#include "filigree/core/load_once.hpp"
#include "filigree/formats/coo/coo_matrix.hpp"
#include "filigree/product/balanced_product.hpp"
#include "filigree/product/row_layout.hpp"

namespace Filigree {
namespace Impl {

/// The Entries (core/entry_shares.hpp) and the Rows (core/rows.hpp) of a COO matrix, whose rows are found by
/// binary search.
template <class ExecutionSpace, class Scalar, class Ordinal>
struct CooLayout {
  using scalar_type = Scalar;
  using ordinal_type = Ordinal;
  using chunk_launch = ChunkLaunch<ExecutionSpace>;
  static constexpr bool is_dense = false;
  static constexpr bool padded = false;
  static constexpr bool has_lanes = false;

  Scalar* values;
  Ordinal* entries;
  const Ordinal* rows;
  const std::int64_t* chunk_begins;
  std::int64_t nnz;
  std::int64_t row_count;

  template <class Coo>
  explicit CooLayout(const Coo& coo)
      : values(coo.values.data()),
        entries(coo.entries.data()),
        rows(coo.rows.data()),
        chunk_begins(coo.chunk_begins.extent(0) > 0 ? coo.chunk_begins.data() : nullptr),
        nnz(static_cast<std::int64_t>(coo.nnz())),
        row_count(static_cast<std::int64_t>(coo.numRows())) {}

  KOKKOS_FORCEINLINE_FUNCTION std::int64_t row_of(std::int64_t i) const {
    return static_cast<std::int64_t>(rows[i]);
  }
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t row_after(std::int64_t, std::int64_t i) const { return row_of(i); }
  KOKKOS_FORCEINLINE_FUNCTION bool is_in(std::int64_t row, std::int64_t i) const { return row_of(i) == row; }
  /// The rows between need not be loaded.
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t known_end(std::int64_t row, std::int64_t i, std::int64_t end,
                                                     std::int64_t guess) const {
    return i + guess <= end && is_in(row, i + guess - 1) ? i + guess : i;
  }
  KOKKOS_FORCEINLINE_FUNCTION void prefetch(std::int64_t i, std::int64_t length) const {
    prefetch_ahead(values + i, length);
    prefetch_ahead(entries + i, length);
    prefetch_ahead(rows + i, length);
  }
  static constexpr bool keeps_rows = true;
  static constexpr bool may_meet = false;  // 4 to 8 % slower for it (H200)
  /// A lane looks at every 256th entry. Just what it found stays in registers, which the entries need.
  struct RowBegins {
    using launch = ChunkLaunch<ExecutionSpace>;
    const Ordinal* rows;       ///< of the entries of the chunk
    std::uint32_t begins = 0;  ///< a bit an entry of the lane, set if it is the first of its row
    int lane;

    KOKKOS_FORCEINLINE_FUNCTION RowBegins(const CooLayout& of, std::int64_t, std::int64_t begin,
                                          std::int64_t end, int lane_)
        : rows(of.rows + begin), lane(lane_) {
      const int count = static_cast<int>(end - begin);
      Ordinal row[launch::entries_per_lane];
      Ordinal row_before[launch::entries_per_lane];
      FILIGREE_UNROLL(8)
      for (int j = 0; j < launch::entries_per_lane; ++j) {
        const int entry = j * launch::lanes + lane < count ? j * launch::lanes + lane : 0;
        row[j] = rows[entry];
        row_before[j] = begin + entry > 0 ? rows[entry - 1] : -1;
      }
      FILIGREE_UNROLL(8)
      for (int j = 0; j < launch::entries_per_lane; ++j)
        if (j * launch::lanes + lane < count && row[j] != row_before[j]) begins |= 1u << j;
    }

    template <class Visit>
    KOKKOS_FORCEINLINE_FUNCTION void visit(const Visit& visit) const {
      // First all loads, then all visits.
      Ordinal row[launch::entries_per_lane];
      FILIGREE_UNROLL(8)
      for (int j = 0; j < launch::entries_per_lane; ++j)
        row[j] = (begins >> j & 1) != 0 ? rows[j * launch::lanes + lane] : -1;
      FILIGREE_UNROLL(8)
      for (int j = 0; j < launch::entries_per_lane; ++j)
        if (row[j] >= 0) visit(j * launch::lanes + lane, static_cast<std::int64_t>(row[j]));
    }
  };
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t first_row(std::int64_t chunk) const {
    return row_of(chunk_begin(*this, chunk));
  }
  KOKKOS_FORCEINLINE_FUNCTION bool begins(std::int64_t row, std::int64_t i) const {
    return i == 0 || row_of(i - 1) != row;
  }

  KOKKOS_FORCEINLINE_FUNCTION std::int64_t stored_row_count() const { return row_count; }
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t matrix_row(std::int64_t i) const { return i; }
  KOKKOS_FORCEINLINE_FUNCTION int lanes() const { return 1; }
  /// The first entry whose row is not less than the given one.
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t begin_of(std::int64_t row) const {
    return first_where(0, nnz, [&](std::int64_t i) { return row_of(i) >= row; });
  }
  template <class Visit>
  KOKKOS_FORCEINLINE_FUNCTION void visit_lane_entries(std::int64_t row, int, const Visit& visit) const {
    const std::int64_t begin = begin_of(row);
    visit(StridedEntries<Scalar, Ordinal>{values + begin, entries + begin, 1, begin_of(row + 1) - begin});
  }

  KOKKOS_FORCEINLINE_FUNCTION std::int64_t slots() const { return nnz; }
  /// The entries of a row, which is mostly a short one.
  KOKKOS_FORCEINLINE_FUNCTION SlotGroup group(std::int64_t slot, std::int64_t) const {
    const std::int64_t row = row_of(slot);
    const std::int64_t before = first_where_galloping(
        1, slot + 1, [&](std::int64_t distance) { return row_of(slot - distance) < row; });
    const std::int64_t end =
        first_where_galloping(slot + 1, nnz, [&](std::int64_t i) { return row_of(i) > row; });
    return {row, slot - before + 1, end};
  }
  KOKKOS_FORCEINLINE_FUNCTION SlotEntry entry(const SlotGroup& row, std::int64_t slot) const {
    return {row.number, slot - row.begin, slot};
  }
  KOKKOS_FORCEINLINE_FUNCTION Scalar& value_at(std::int64_t at) const { return values[at]; }
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t column_at(const SlotGroup&, std::int64_t at) const {
    return static_cast<std::int64_t>(entries[at]);
  }
};

/// Calls visit(layout) with the layout of the matrix.
template <class ExecutionSpace, class S, class O, class D, class M, class Z, class Visit>
auto with_layout(const ExecutionSpace&, const CooMatrix<S, O, D, M, Z>& coo, const Visit& visit) {
  return visit(CooLayout<ExecutionSpace, S, O>(coo));
}

}  // namespace Impl
}  // namespace Filigree

#endif

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "filigree/conversion/slots.hpp"
#include "filigree/formats/coo/coo_matrix.hpp"
#include "filigree/product/balanced_product.hpp"
#include "filigree/product/row_layout.hpp"

namespace Filigree::Impl {

/// The layout of a COO matrix. It serves two concepts:
/// 1. Products in modes N and C use it as EntryLayout (product/balanced_product.hpp).
/// 2. to_crs and other kernels that work by rows use it as row layout (product/row_layout.hpp,
///    conversion/slots.hpp). Each row is then found by binary search.
template <class ExecutionSpace, class Scalar, class Ordinal>
struct CooLayout {
  using scalar_type = Scalar;
  using ordinal_type = Ordinal;

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
        chunk_begins(coo.chunks.chunk_begins.extent(0) > 0 ? coo.chunks.chunk_begins.data() : nullptr),
        nnz(static_cast<std::int64_t>(coo.nnz())),
        row_count(static_cast<std::int64_t>(coo.numRows())) {}

  // For both concepts.

  KOKKOS_FORCEINLINE_FUNCTION std::int64_t row_of(std::int64_t i) const {
    return static_cast<std::int64_t>(rows[i]);
  }
  /// The first entry whose row is not less than the given one.
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t begin_of(std::int64_t row) const {
    return first_where(0, nnz, [&](std::int64_t i) { return row_of(i) >= row; });
  }

  // EntryLayout.

  using chunk_launch = ChunkLaunch<ExecutionSpace>;
  static constexpr bool row_begins_in_registers = true;
  static constexpr bool has_row_map = false;
  /// Chunks that meet make products of COO slower (see docs/performance.md, "How cut rows are joined").
  static constexpr bool may_meet = false;

  KOKKOS_FORCEINLINE_FUNCTION std::int64_t first_row(std::int64_t chunk) const {
    return row_of(chunk_begin(*this, chunk));
  }
  KOKKOS_FORCEINLINE_FUNCTION bool row_begins_at(std::int64_t row, std::int64_t i) const {
    return i == 0 || row_of(i - 1) != row;
  }
  KOKKOS_FORCEINLINE_FUNCTION void prefetch(std::int64_t i) const {
    prefetch_ahead(values + i, 1);
    prefetch_ahead(entries + i, 1);
    prefetch_ahead(rows + i, 1);
  }

  /// A lane compares the rows of entries lane, lane + 256, and so on, with those of the entries before them.
  /// Only one bit per entry stays in registers, because the entries need registers too.
  struct RowBegins {
    using launch = ChunkLaunch<ExecutionSpace>;
    /// Row of each entry of the chunk.
    const Ordinal* rows;
    bool is_first_chunk;
    int count;
    int lane;
    /// Bit j says whether entry j * 256 + lane is the first of its row.
    std::uint32_t begins = 0;

    KOKKOS_FORCEINLINE_FUNCTION RowBegins(const CooLayout& layout, std::int64_t, std::int64_t begin,
                                          std::int64_t end, int lane_)
        : rows(layout.rows + begin),
          is_first_chunk(begin == 0),
          count(static_cast<int>(end - begin)),
          lane(lane_) {}

    /// Compares the row of each entry of the lane with the row of the entry before it, which the previous lane of the
    /// group has loaded and passes on. The first lane of the group has no previous lane. So lane j loads that row for
    /// the j-th entries of the group, and the group shares it. These rows are loaded first, because that takes fewer
    /// registers (see docs/performance.md, "Exchange between lanes of the balanced product").
    KOKKOS_FORCEINLINE_FUNCTION void load() {
      static_assert(launch::group == 1 || launch::group >= launch::entries_per_lane,
                    "Lane j loads the row before the j-th entries of the group.");
      constexpr int group = launch::group;
      using Row = decltype(Ordinal() + 0);  // lanes exchange at least 4 bytes
      Row before_group = -1;
      if constexpr (group > 1) {
        const int j = lane % group < launch::entries_per_lane ? lane % group : 0;
        before_group = row_before(j * launch::lanes + lane / group * group);
      }
      Row row[launch::entries_per_lane];
      FILIGREE_UNROLL(8)
      for (int j = 0; j < launch::entries_per_lane; ++j)
        row[j] = rows[j * launch::lanes + lane < count ? j * launch::lanes + lane : 0];
      FILIGREE_UNROLL(8)
      for (int j = 0; j < launch::entries_per_lane; ++j) {
        const int entry = j * launch::lanes + lane;
        Row before;
        if constexpr (group > 1) {
          const Row of_previous = of_previous_lane(row[j]);
          const Row of_group = of_lane<group>(before_group, j);
          before = lane % group == 0 ? of_group : of_previous;
        } else {
          before = row_before(entry);
        }
        if (entry < count && row[j] != before) begins |= 1u << j;
      }
    }

    /// Loads all rows before the first visit, so that the loads do not wait for each other.
    template <class Visit>
    KOKKOS_FORCEINLINE_FUNCTION void visit(const Visit& visit) const {
      Ordinal row[launch::entries_per_lane];
      FILIGREE_UNROLL(8)
      for (int j = 0; j < launch::entries_per_lane; ++j)
        row[j] = (begins >> j & 1) != 0 ? rows[j * launch::lanes + lane] : -1;
      FILIGREE_UNROLL(8)
      for (int j = 0; j < launch::entries_per_lane; ++j)
        if (row[j] >= 0) visit(j * launch::lanes + lane, static_cast<std::int64_t>(row[j]));
    }
    template <class Visit>
    KOKKOS_FORCEINLINE_FUNCTION void visit_rows(const Visit& visit) const {
      this->visit(visit);
    }

   private:
    /// The row of the entry before `entry`, or -1 if there is none, or if `entry` is not in the chunk.
    KOKKOS_FORCEINLINE_FUNCTION Ordinal row_before(int entry) const {
      return entry >= count || (is_first_chunk && entry == 0) ? -1 : rows[entry - 1];
    }
  };

  // Row layout.

  static constexpr bool is_dense = false;
  static constexpr bool padded = false;
  static constexpr bool has_lanes = false;

  KOKKOS_FORCEINLINE_FUNCTION std::int64_t stored_row_count() const { return row_count; }
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t matrix_row(std::int64_t i) const { return i; }
  KOKKOS_FORCEINLINE_FUNCTION int lanes() const { return 1; }
  template <class Visit>
  KOKKOS_FORCEINLINE_FUNCTION void visit_lane_entries(std::int64_t row, int, const Visit& visit) const {
    const std::int64_t begin = begin_of(row);
    visit(StridedEntries<Scalar, Ordinal>{values + begin, entries + begin, 1, begin_of(row + 1) - begin});
  }

  KOKKOS_FORCEINLINE_FUNCTION std::int64_t slots() const { return nnz; }
  /// The entries of the row of a slot. Most rows are short, so both ends are searched from the slot outwards.
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
  KOKKOS_FORCEINLINE_FUNCTION Scalar& value_at(std::int64_t position) const { return values[position]; }
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t column_at(const SlotGroup&, std::int64_t position) const {
    return static_cast<std::int64_t>(entries[position]);
  }
};

/// Calls visit(layout) with the layout of the matrix.
template <class ExecutionSpace, class S, class O, class D, class M, class Z, class Visit>
auto with_layout(const ExecutionSpace&, const CooMatrix<S, O, D, M, Z>& coo, const Visit& visit) {
  return visit(CooLayout<ExecutionSpace, S, O>(coo));
}

}  // namespace Filigree::Impl

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "filigree/conversion/slots.hpp"
#include "filigree/core/load_once.hpp"
#include "filigree/core/scalar.hpp"
#include "filigree/formats/jds/jds_matrix.hpp"
#include "filigree/product/host_tile.hpp"
#include "filigree/product/row_layout.hpp"

namespace Filigree::Impl {

/// The entries of a stored row, one in each of its jagged diagonals. It has the members of StridedEntries.
template <class Scalar, class Ordinal>
struct JaggedEntries {
  Scalar* values;
  Ordinal* entries;
  const std::int64_t* offsets;
  std::int64_t count;

  KOKKOS_FORCEINLINE_FUNCTION Scalar& value(std::int64_t j) const { return values[offsets[j]]; }
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t column(std::int64_t j) const {
    return static_cast<std::int64_t>(entries[offsets[j]]);
  }
  KOKKOS_FORCEINLINE_FUNCTION auto value_once(std::int64_t j) const { return load_once(values + offsets[j]); }
  KOKKOS_FORCEINLINE_FUNCTION auto column_once(std::int64_t j) const {
    return load_once(entries + offsets[j]);
  }
};

/// A tile of neighbouring stored rows of JDS, and the loop in which a host thread multiplies it: four jagged
/// diagonals of all rows, then the next four. Row by row is slower (see docs/performance.md, "Bands of columns
/// on hosts").
template <class Scalar, class Ordinal>
struct JaggedTile {
  const Scalar* values;
  const Ordinal* entries;
  const std::int64_t* offsets;  ///< of the jagged diagonals
  std::int64_t first;           ///< stored row that the tile begins with
  std::int64_t row_count;
  std::int64_t width;  ///< length of the first row, the longest

  /// Jagged diagonals that are added at once, so that a sum is loaded and stored once for all of them.
  static constexpr int band = 4;

  /// Adds the products of all rows of the tile: sums[i] += row i * x.
  template <bool Conjugate, class Operands>
  KOKKOS_FORCEINLINE_FUNCTION void add(const Operands& operands, typename Operands::sums_type* sums) const {
    constexpr bool one_column = Operands::most_columns == 1;
    constexpr std::int64_t rows_per_step = one_column ? 32 : 16;
    for (std::int64_t k = 0; k < width; k += band) {
      const std::int64_t end = k + band < width ? k + band : width;
      const std::int64_t whole = end - k == band ? rows_with_entry(end - 1) : 0;
      for (std::int64_t i = 0; i < whole; i += rows_per_step) {
        if constexpr (one_column) {
          FILIGREE_UNROLL(4)
          for (int e = 0; e < band; ++e) {
            prefetch_elements(values + offsets[k + e] + i, rows_per_step, host_tile_rows_ahead);
            prefetch_elements(entries + offsets[k + e] + i, rows_per_step, host_tile_rows_ahead);
          }
        } else {
          for (std::int64_t next = end; next < end + band && next < width; ++next) {
            prefetch_elements(values + offsets[next], rows_per_step, i);
            prefetch_elements(entries + offsets[next], rows_per_step, i);
          }
        }
        add_diagonals<band, Conjugate>(operands, sums, k, i,
                                       i + rows_per_step < whole ? i + rows_per_step : whole);
      }
      // The rows that end in this band.
      for (std::int64_t one = k; one < end; ++one)
        add_diagonals<1, Conjugate>(operands, sums, one, whole, rows_with_entry(one));
    }
  }

 private:
  /// The number of rows of the tile that have an entry k.
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t rows_with_entry(std::int64_t k) const {
    const std::int64_t rest = offsets[k + 1] - offsets[k] - first;
    return rest < row_count ? rest : row_count;
  }

  /// Adds entries k to k + Count - 1 of rows begin to end - 1. Each row must have all of them.
  template <int Count, bool Conjugate, class Operands>
  KOKKOS_FORCEINLINE_FUNCTION void add_diagonals(const Operands& operands, typename Operands::sums_type* sums,
                                                 std::int64_t k, std::int64_t begin, std::int64_t end) const {
    const Scalar* diagonal_values[Count];
    const Ordinal* diagonal_entries[Count];
    for (int e = 0; e < Count; ++e) {
      diagonal_values[e] = values + offsets[k + e];
      diagonal_entries[e] = entries + offsets[k + e];
    }
    for (std::int64_t i = begin; i < end; ++i) {
      typename Operands::sums_type sums_of_row;
      for (int c = 0; c < Operands::most_columns; ++c)
        sums_of_row[c] = sums[i][c];
      FILIGREE_UNROLL(4)
      for (int e = 0; e < Count; ++e)
        operands.add(sums_of_row, conjugate_if<Conjugate>(diagonal_values[e][i]), diagonal_entries[e][i]);
      for (int c = 0; c < Operands::most_columns; ++c)
        sums[i][c] = sums_of_row[c];
    }
  }
};

/// The layout of JDS. Stored rows are the rows sorted by descending length.
template <class Scalar, class Ordinal>
struct JdsLayout : RowLayout<JdsLayout<Scalar, Ordinal>, Scalar, Ordinal> {
  Scalar* values;
  Ordinal* entries;
  const Ordinal* permutation;
  const std::int64_t* offsets;
  std::int64_t row_count;
  std::int64_t diagonals;
  std::int64_t nnz;

  template <class Jds>
  explicit JdsLayout(const Jds& jds)
      : values(jds.values.data()),
        entries(jds.entries.data()),
        permutation(jds.permutation.data()),
        offsets(jds.diagonal_offsets.data()),
        row_count(static_cast<std::int64_t>(jds.numRows())),
        diagonals(static_cast<std::int64_t>(jds.numDiagonals())),
        nnz(static_cast<std::int64_t>(jds.values.extent(0))) {}

  KOKKOS_FORCEINLINE_FUNCTION std::int64_t stored_row_count() const { return row_count; }
  KOKKOS_FORCEINLINE_FUNCTION bool is_in_matrix_order() const { return false; }
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t matrix_row(std::int64_t i) const {
    return static_cast<std::int64_t>(permutation[i]);
  }
  /// The length of stored row i, which is the number of jagged diagonals with more than i entries.
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t length(std::int64_t i) const {
    return first_where(0, diagonals, [&](std::int64_t k) { return offsets[k + 1] - offsets[k] <= i; });
  }
  template <class Visit>
  KOKKOS_FORCEINLINE_FUNCTION void visit_lane_entries(std::int64_t i, int, const Visit& visit) const {
    visit(JaggedEntries<Scalar, Ordinal>{values + i, entries + i, offsets, length(i)});
  }

  template <class Visit>
  KOKKOS_INLINE_FUNCTION void visit_tile(std::int64_t i, std::int64_t count, const Visit& visit) const {
    visit(JaggedTile<Scalar, Ordinal>{values + i, entries + i, offsets, i, count, length(i)});
  }

  // For conversions. Slots are numbered by blocks of 8 jagged diagonals, and within a block by slices of 32
  // stored rows, so that a lane copies 8 entries of one row and not one entry of each of 8 rows (see
  // docs/performance.md, "Slots of JDS"). A block needs 8 slots per entry of its first diagonal, the longest.
  // It gets one slot per entry of the block before it, whose 8 diagonals are at least that long, and 256
  // slots to fill its last slice. Block 0 gets 8 slots per row and 256. Some slots stay empty.

  static constexpr int log2_block = 3;
  static constexpr int log2_slice = 5;
  static constexpr std::int64_t slice_slots = 1 << (log2_block + log2_slice);
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t blocks() const {
    return (diagonals + (1 << log2_block) - 1) >> log2_block;
  }
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t slots() const {
    return diagonals == 0 ? 0 : (row_count << log2_block) + nnz + blocks() * slice_slots;
  }
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t block_begin(std::int64_t block) const {
    if (block == 0) return 0;
    if (block == blocks()) return slots();
    return (row_count << log2_block) + offsets[(block - 1) << log2_block] + block * slice_slots;
  }
  KOKKOS_FORCEINLINE_FUNCTION SlotGroup group(std::int64_t slot, std::int64_t from) const {
    return find_group(from, blocks(), slot, [&](std::int64_t block) { return block_begin(block); });
  }
  KOKKOS_FORCEINLINE_FUNCTION SlotEntry entry(const SlotGroup& block, std::int64_t slot) const {
    const std::int64_t in_block = slot - block.begin;
    const std::int64_t i =
        (in_block >> (log2_block + log2_slice) << log2_slice) + (in_block & ((1 << log2_slice) - 1));
    const std::int64_t k =
        (block.number << log2_block) + ((in_block >> log2_slice) & ((1 << log2_block) - 1));
    const bool is_stored = k < diagonals && i < offsets[k + 1] - offsets[k];
    return {is_stored ? i : -1, k, is_stored ? offsets[k] + i : 0};
  }
};

/// Calls visit(layout) with the layout of the matrix.
template <class ExecutionSpace, class S, class O, class D, class M, class Z, class Visit>
auto with_layout(const ExecutionSpace&, const JdsMatrix<S, O, D, M, Z>& jds, const Visit& visit) {
  return visit(JdsLayout<S, O>(jds));
}

}  // namespace Filigree::Impl

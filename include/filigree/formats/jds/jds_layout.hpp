// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FILIGREE_FORMATS_JDS_JDS_LAYOUT_HPP
#define FILIGREE_FORMATS_JDS_JDS_LAYOUT_HPP

#include <cstdint>

#include "filigree/conversion/slots.hpp"
#include "filigree/core/binary_search.hpp"
#include "filigree/core/integer.hpp"
#include "filigree/core/launch.hpp"
#include "filigree/core/load_once.hpp"
#include "filigree/core/scalar.hpp"
#include "filigree/formats/jds/jds_matrix.hpp"
#include "filigree/product/row_layout.hpp"

namespace Filigree {
namespace Impl {

/// The entries of a sorted row, one in each jagged diagonal.
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

/// Neighbouring sorted rows as a host adds them: four diagonals of all of them, then the next four. Row by
/// row, as RowTile (core/row_tile.hpp) does, took 1.25 times as long (qh1484 3273 times along the diagonal,
/// one core of an EPYC).
template <class Scalar, class Ordinal>
struct JaggedTile {
  const Scalar* first_value;
  const Ordinal* first_entry;
  const std::int64_t* offsets;
  std::int64_t first;
  std::int64_t element_count;
  std::int64_t width;

  /// Diagonals that are added at once, as a sum is loaded and stored once for all of them.
  static constexpr int batch = 4;

  /// Rows that have an entry k.
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t places(std::int64_t k) const {
    const std::int64_t rest = offsets[k + 1] - offsets[k] - first;
    return rest < element_count ? rest : element_count;
  }

  /// Adds the products of Count diagonals from k on in the rows from begin to end - 1, which have them all.
  template <int Count, bool Conjugate, class Operands>
  KOKKOS_FORCEINLINE_FUNCTION void add_diagonals(const Operands& operands, typename Operands::sums_type* sums,
                                                 std::int64_t k, std::int64_t begin, std::int64_t end) const {
    const Scalar* values[Count];
    const Ordinal* entries[Count];
    for (int e = 0; e < Count; ++e) {
      values[e] = first_value + offsets[k + e];
      entries[e] = first_entry + offsets[k + e];
    }
    for (std::int64_t i = begin; i < end; ++i) {
      typename Operands::sums_type sums_of_row;
      for (int c = 0; c < Operands::most_columns; ++c)
        sums_of_row[c] = sums[i][c];
      FILIGREE_UNROLL(4)
      for (int e = 0; e < Count; ++e)
        operands.add(sums_of_row, conjugate_if<Conjugate>(values[e][i]), entries[e][i]);
      for (int c = 0; c < Operands::most_columns; ++c)
        sums[i][c] = sums_of_row[c];
    }
  }

  /// Adds the products of each row to its sums.
  template <bool Conjugate, class Operands>
  KOKKOS_FORCEINLINE_FUNCTION void add(const Operands& operands, typename Operands::sums_type* sums) const {
    constexpr std::int64_t chunk = 16;
    for (std::int64_t k = 0; k < width; k += batch) {
      const std::int64_t end = k + batch < width ? k + batch : width;
      const std::int64_t whole = end - k == batch ? places(end - 1) : 0;
      for (std::int64_t i = 0; i < whole; i += chunk) {
        // The prefetchers of a host end with each page.
        for (std::int64_t next = end; next < end + batch && next < width; ++next) {
          prefetch_run(first_value + offsets[next], chunk, i);
          prefetch_run(first_entry + offsets[next], chunk, i);
        }
        add_diagonals<batch, Conjugate>(operands, sums, k, i, i + chunk < whole ? i + chunk : whole);
      }
      for (std::int64_t one = k; one < end; ++one)
        add_diagonals<1, Conjugate>(operands, sums, one, whole, places(one));
    }
  }
};

/// The Rows (core/rows.hpp) of JDS.
template <class Scalar, class Ordinal>
struct JdsLayout {
  using scalar_type = Scalar;
  using ordinal_type = Ordinal;
  static constexpr bool is_dense = false;
  static constexpr bool padded = false;
  static constexpr bool has_lanes = false;

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
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t matrix_row(std::int64_t i) const {
    return static_cast<std::int64_t>(permutation[i]);
  }
  KOKKOS_FORCEINLINE_FUNCTION int lanes() const { return 1; }
  /// The number of jagged diagonals that have more than i entries: they shrink, so a binary search.
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t length(std::int64_t i) const {
    return first_where(0, diagonals, [&](std::int64_t k) { return offsets[k + 1] - offsets[k] <= i; });
  }
  KOKKOS_FORCEINLINE_FUNCTION JaggedEntries<Scalar, Ordinal> lane_entries(std::int64_t i, int) const {
    return {values + i, entries + i, offsets, length(i)};
  }

  /// Slots are numbered by blocks of 8 diagonals, and in a block by slices of 32 places, so that a lane
  /// copies 8 entries of a row: one from each of 8 rows took up to 5 products (27-point, 3 unknowns, H200). A
  /// block needs slots for as many places as its first diagonal has, 8 times; it gets those that the block
  /// before it takes in the arrays, whose diagonals are no shorter, and 256 to fill up a slice. Some stay
  /// empty.
  static constexpr int log2_block = 3;
  static constexpr int log2_slice = 5;
  static constexpr std::int64_t slice_slots = 1 << (log2_block + log2_slice);
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t blocks() const {
    return (diagonals + (1 << log2_block) - 1) >> log2_block;
  }
  static constexpr int fill_batch = 4;
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
    const bool exists = k < diagonals && i < offsets[k + 1] - offsets[k];
    return {exists ? i : -1, k, exists ? offsets[k] + i : 0};
  }
  KOKKOS_FORCEINLINE_FUNCTION Scalar& value_at(std::int64_t at) const { return values[at]; }
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t column_at(const SlotGroup&, std::int64_t at) const {
    return static_cast<std::int64_t>(entries[at]);
  }
  KOKKOS_FORCEINLINE_FUNCTION void set_column_at(const SlotGroup&, std::int64_t at,
                                                 std::int64_t column) const {
    entries[at] = static_cast<Ordinal>(column);
  }

  KOKKOS_FORCEINLINE_FUNCTION std::int64_t tile_rows(std::int64_t, std::int64_t most) const { return most; }
  template <class Visit>
  KOKKOS_INLINE_FUNCTION void visit_tile(std::int64_t i, std::int64_t count, const Visit& visit) const {
    visit(JaggedTile<Scalar, Ordinal>{values + i, entries + i, offsets, i, count, length(i)});
  }
};

/// Calls visit(layout) with the layout of the matrix.
template <class ExecutionSpace, class S, class O, class D, class M, class Z, class Visit>
auto with_layout(const ExecutionSpace&, const JdsMatrix<S, O, D, M, Z>& jds, const Visit& visit) {
  return visit(JdsLayout<S, O>(jds));
}

}  // namespace Impl
}  // namespace Filigree

#endif

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FILIGREE_FORMATS_JDS_JDS_MATRIX_HPP
#define FILIGREE_FORMATS_JDS_JDS_MATRIX_HPP

#include <cstddef>
#include <cstdint>

#include "filigree/core/binary_search.hpp"
#include "filigree/core/convert_options.hpp"
#include "filigree/core/kokkos_versions.hpp"
#include "filigree/core/launch.hpp"
#include "filigree/core/load_once.hpp"
#include "filigree/core/rows.hpp"
#include "filigree/core/scalar.hpp"

namespace Filigree {

/// Options of a conversion to JdsMatrix: those that every format has.
struct JdsOptions : ConvertOptions {};

/// Jagged Diagonal Storage: rows sorted by length, longest first, and stored column by column without
/// padding.
///
/// For matrices whose row lengths vary, but not by much: nothing is padded, and neighbouring lanes, which
/// have rows of the same length, read neighbouring entries. Rows of one length keep their order, yet x and y
/// are used in the order of the sorted rows, which are far apart in the matrix; and one lane multiplies the
/// longest row alone.
///
/// Storage, for the 4 x 4 example
///
///     3 0 1 0        permutation       2 0 3 1
///     0 0 0 0        diagonal_offsets  0 3 6 7
///     0 2 4 1        values            2 3 1 | 4 1 1 | 1
///     1 0 0 1        entries           1 0 0 | 2 2 3 | 3
///
/// Entry k of sorted row i, row permutation[i] of the matrix, is at diagonal_offsets[k] + i; jagged diagonal
/// k has an entry of each row that is longer than k. Entries keep the order of the CRS; duplicates stay
/// apart. Bytes: entries * (sizeof(Scalar) + sizeof(Ordinal)), rows * sizeof(Ordinal), 8 * (longest row + 1).
///
/// Source: Kirk and Hwu, chapter 10, section 10.5, transposed.
///
/// The parameters are those of KokkosSparse::CrsMatrix; offsets have 64 bits whatever they are.
template <class Scalar, class Ordinal, class Device, class MemoryTraits = void, class SizeType = std::size_t>
class JdsMatrix {
 public:
  using value_type = Scalar;
  using ordinal_type = Ordinal;
  using size_type = SizeType;
  using memory_traits = MemoryTraits;
  using execution_space = typename Device::execution_space;
  using memory_space = typename Device::memory_space;
  using device_type = Kokkos::Device<execution_space, memory_space>;
  using options_type = JdsOptions;
  static constexpr bool keeps_entries = true;

  using values_type = Kokkos::View<Scalar*, device_type, MemoryTraits>;
  using entries_type = Kokkos::View<Ordinal*, device_type, MemoryTraits>;
  using offsets_type = Kokkos::View<std::int64_t*, device_type, MemoryTraits>;

  static constexpr const char* name() { return "jds"; }

  /// A matrix without rows.
  JdsMatrix() = default;
  /// Wraps Views that already hold a matrix as the class comment describes it; nothing is checked or copied.
  JdsMatrix(Ordinal rows, Ordinal columns, values_type values_, entries_type entries_,
            entries_type permutation_, offsets_type diagonal_offsets_)
      : values(values_),
        entries(entries_),
        permutation(permutation_),
        diagonal_offsets(diagonal_offsets_),
        m_rows(rows),
        m_columns(columns) {}

  KOKKOS_INLINE_FUNCTION Ordinal numRows() const { return m_rows; }
  KOKKOS_INLINE_FUNCTION Ordinal numCols() const { return m_columns; }
  /// Entries, duplicates and explicit zeros included.
  KOKKOS_INLINE_FUNCTION SizeType nnz() const { return static_cast<SizeType>(values.extent(0)); }
  /// Length of the longest row.
  KOKKOS_INLINE_FUNCTION Ordinal numDiagonals() const {
    return diagonal_offsets.extent(0) == 0 ? 0 : static_cast<Ordinal>(diagonal_offsets.extent(0) - 1);
  }
  /// Bytes of all Views.
  std::size_t storage_bytes() const {
    return values.extent(0) * sizeof(Scalar) + (entries.extent(0) + permutation.extent(0)) * sizeof(Ordinal) +
           diagonal_offsets.extent(0) * sizeof(std::int64_t);
  }

  values_type values;             ///< jagged diagonal after jagged diagonal
  entries_type entries;           ///< column of each value
  entries_type permutation;       ///< row of the matrix for each sorted row
  offsets_type diagonal_offsets;  ///< first entry of each jagged diagonal, and the number of entries

 private:
  Ordinal m_rows = 0;
  Ordinal m_columns = 0;
};

namespace Impl {

/// The entries of a sorted row, one in each jagged diagonal.
template <class Scalar, class Ordinal>
struct JaggedRun {
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
  std::int64_t place_count;
  std::int64_t width;

  /// Diagonals that are added at once, as a sum is loaded and stored once for all of them.
  static constexpr int batch = 4;

  /// Rows that have an entry k.
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t places(std::int64_t k) const {
    const std::int64_t rest = offsets[k + 1] - offsets[k] - first;
    return rest < place_count ? rest : place_count;
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
struct JdsRows {
  using scalar_type = Scalar;
  using ordinal_type = Ordinal;
  static constexpr bool padded = false;
  static constexpr bool has_lanes = false;

  Scalar* values;
  Ordinal* entries;
  const Ordinal* permutation;
  const std::int64_t* offsets;
  std::int64_t row_count;
  std::int64_t diagonals;
  std::int64_t entry_count;

  template <class Jds>
  explicit JdsRows(const Jds& jds)
      : values(jds.values.data()),
        entries(jds.entries.data()),
        permutation(jds.permutation.data()),
        offsets(jds.diagonal_offsets.data()),
        row_count(static_cast<std::int64_t>(jds.numRows())),
        diagonals(static_cast<std::int64_t>(jds.numDiagonals())),
        entry_count(static_cast<std::int64_t>(jds.values.extent(0))) {}

  KOKKOS_FORCEINLINE_FUNCTION std::int64_t count() const { return row_count; }
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t target(std::int64_t i) const {
    return static_cast<std::int64_t>(permutation[i]);
  }
  KOKKOS_FORCEINLINE_FUNCTION int lanes() const { return 1; }
  /// The number of jagged diagonals that have more than i entries: they shrink, so a binary search.
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t length(std::int64_t i) const {
    return first_where(0, diagonals, [&](std::int64_t k) { return offsets[k + 1] - offsets[k] <= i; });
  }
  KOKKOS_FORCEINLINE_FUNCTION JaggedRun<Scalar, Ordinal> run(std::int64_t i, int) const {
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
    return diagonals == 0 ? 0 : (row_count << log2_block) + entry_count + blocks() * slice_slots;
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

}  // namespace Impl

}  // namespace Filigree

#endif

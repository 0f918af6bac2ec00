// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FILIGREE_FORMATS_SELL_SELL_MATRIX_HPP
#define FILIGREE_FORMATS_SELL_SELL_MATRIX_HPP

#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

#include "filigree/core/convert_options.hpp"
#include "filigree/core/kokkos_versions.hpp"
#include "filigree/core/row_tile.hpp"
#include "filigree/core/rows.hpp"

namespace Filigree {

/// Options of a conversion to SellMatrix.
struct SellOptions : ConvertOptions {
  /// Rows of a slice: a power of two from 1 to 1024. 32 is what the lanes of a warp read at once.
  int slice_height = 32;
  /// Rows are sorted by length, longest first, inside windows of this many, so that those of a slice have
  /// about the same length. 1 sorts nothing; 0 sorts all rows. A larger window pads less and reads x and
  /// writes y in less regular order.
  std::int64_t sorting_window = 1;
  /// L, the lanes of a GPU that multiply one row together: 1, 2, 4, 8, 16 or 32.
  int lanes_per_row = 1;
  /// Whether columns are stored as 16-bit distances from a column of the slice. A slice whose columns are too
  /// far apart keeps whole ones.
  bool short_columns = false;
  /// Whether a slice ends where the row length changes, so that nothing is padded: the sections of JDS-ELL.
  /// Wants sorting_window = 0 and lanes_per_row = 1.
  bool one_length_per_slice = false;

  /// The window of those variants that are sorted. Of 213 real matrices repeated to 20M entries the product
  /// takes 1.7 % less than with 1024 rows in the median, and as much as with 32768, which do worse on some
  /// and are too many to sort in scratch memory (H200).
  static constexpr std::int64_t sorted_window = 4096;

  /// The members of the family that are worth a comparison.
  static std::vector<NamedOptions<SellOptions>> variants() {
    std::vector<NamedOptions<SellOptions>> result(1);
    const auto add = [&](int lanes, std::int64_t window, bool short_columns) {
      NamedOptions<SellOptions> variant;
      variant.name = std::string("sell") + (lanes > 1 ? "_lanes" + std::to_string(lanes) : "") +
                     (window != 1 ? "_sorted" : "") + (short_columns ? "_short" : "");
      variant.options.lanes_per_row = lanes;
      variant.options.sorting_window = window;
      variant.options.short_columns = short_columns;
      result.push_back(variant);
    };
    add(1, sorted_window, false);
    add(1, 1, true);
    for (const int lanes : {1, 2, 4, 8, 32})
      add(lanes, sorted_window, true);
    NamedOptions<SellOptions> sections;
    sections.name = "jds_ell";
    sections.options.sorting_window = 0;
    sections.options.one_length_per_slice = true;
    result.push_back(sections);
    return result;
  }
};

/// Sliced ELL: rows in slices of 32, each slice padded to its own longest row.
///
/// For matrices of any pattern without very long rows: like ELL a product reads whole cache lines, but a long
/// row makes only its slice long. Sorted rows pad less where lengths vary; short columns take 2 bytes an
/// entry less where the entries of a slice lie within 65535 columns; several lanes a row are for long rows.
///
/// Storage, for the 4 x 4 example in slices of 2 rows (`.` is padding, value 0, column -1)
///
///     3 0 1 0        slice_offsets  0 4 10         slice_widths  2 3
///     0 0 0 0        values         3 . 1 . | 2 1 4 1 1 .
///     0 2 4 1        entries        0 . 2 . | 1 0 2 3 3 .
///     1 0 0 1
///     sorted by length, all rows:  permutation 2 0 3 1, slice_offsets 0 6 10, slice_widths 3 2
///                    values         2 3 4 1 1 . | 1 . 1 .
///                    entries        1 0 2 2 3 . | 0 . 3 .
///
/// Entry k of row r of slice s is at slice_offsets[s] + (k / L) * (h * L) + r * L + k % L, where h is the
/// slice height and L the lanes a row; the width of a slice is its longest row rounded up to L. Entries keep
/// the order of the CRS; duplicates stay apart. Row r of slice s is row permutation[s * h + r] of the matrix,
/// or without a permutation row s * h + r. With one length a slice, slice s begins with sorted row
/// slice_rows[s] and its height is that of its rows.
///
/// With short columns entry k is column_bases[s] + short_entries[column_offsets[s] + the same place], 65535
/// being padding, or where column_bases[s] is -1, entries[column_offsets[s] + the same place].
///
/// Bytes: padded entries * (sizeof(Scalar) + sizeof(Ordinal), or 2 where columns are short), 8 +
/// sizeof(Ordinal) a slice, sizeof(Ordinal) a row where sorted, and sizeof(Ordinal) a slice where cut by
/// length; short columns 8 + sizeof(Ordinal) a slice more.
///
/// Sources: slices as in sliced ELLPACK; sorted sections, Kirk and Hwu, chapter 10, section 10.5; lanes a
/// row, Vazquez, Fernandez and Garzon 2011, section 3.2.
///
/// The parameters are those of KokkosSparse::CrsMatrix; offsets of slices have 64 bits whatever they are.
template <class Scalar, class Ordinal, class Device, class MemoryTraits = void, class SizeType = std::size_t>
class SellMatrix {
  static_assert(std::is_signed<Ordinal>::value,
                "Filigree::SellMatrix: Ordinal must be signed, as padding has column -1.");

 public:
  using value_type = Scalar;
  using ordinal_type = Ordinal;
  using size_type = SizeType;
  using memory_traits = MemoryTraits;
  using execution_space = typename Device::execution_space;
  using memory_space = typename Device::memory_space;
  using device_type = Kokkos::Device<execution_space, memory_space>;
  using options_type = SellOptions;
  static constexpr bool keeps_entries = true;

  using values_type = Kokkos::View<Scalar*, device_type, MemoryTraits>;
  using entries_type = Kokkos::View<Ordinal*, device_type, MemoryTraits>;
  using short_entries_type = Kokkos::View<std::uint16_t*, device_type, MemoryTraits>;
  using offsets_type = Kokkos::View<std::int64_t*, device_type, MemoryTraits>;

  static constexpr const char* name() { return "sell"; }

  /// A matrix without rows.
  SellMatrix() = default;
  /// A matrix whose Views the caller sets, as the class comment describes them.
  SellMatrix(Ordinal rows, Ordinal columns, SizeType entry_count, int slice_height, int lanes_per_row)
      : m_rows(rows),
        m_columns(columns),
        m_nnz(entry_count),
        m_slice_height(slice_height),
        m_lanes_per_row(lanes_per_row) {}

  KOKKOS_INLINE_FUNCTION Ordinal numRows() const { return m_rows; }
  KOKKOS_INLINE_FUNCTION Ordinal numCols() const { return m_columns; }
  /// Entries of the CRS matrix that this one was converted from, duplicates and explicit zeros included.
  KOKKOS_INLINE_FUNCTION SizeType nnz() const { return m_nnz; }
  KOKKOS_INLINE_FUNCTION std::int64_t numSlices() const {
    return static_cast<std::int64_t>(slice_widths.extent(0));
  }
  /// Rows of a slice.
  KOKKOS_INLINE_FUNCTION int slice_height() const { return m_slice_height; }
  /// L: the interleaving of a slice.
  KOKKOS_INLINE_FUNCTION int lanes_per_row() const { return m_lanes_per_row; }
  /// Bytes of all Views.
  std::size_t storage_bytes() const {
    return values.extent(0) * sizeof(Scalar) +
           (entries.extent(0) + slice_widths.extent(0) + permutation.extent(0) + slice_rows.extent(0) +
            column_bases.extent(0)) *
               sizeof(Ordinal) +
           short_entries.extent(0) * sizeof(std::uint16_t) +
           (slice_offsets.extent(0) + column_offsets.extent(0)) * sizeof(std::int64_t);
  }

  values_type values;                ///< slice after slice
  entries_type entries;              ///< columns, -1 where padded; with short columns those of some slices
  short_entries_type short_entries;  ///< 16-bit columns, or none
  offsets_type slice_offsets;        ///< first value of each slice, and the number of values
  entries_type slice_widths;         ///< longest row of each slice, rounded up to L
  entries_type permutation;     ///< row of the matrix for each stored row, or none where they are the same
  entries_type slice_rows;      ///< first stored row of each slice, and the number of rows, or none
  entries_type column_bases;    ///< column that short columns count from, -1 where they are whole, or none
  offsets_type column_offsets;  ///< first column of each slice in its array, or none

 private:
  Ordinal m_rows = 0;
  Ordinal m_columns = 0;
  SizeType m_nnz = 0;
  int m_slice_height = 32;
  int m_lanes_per_row = 1;
};

namespace Impl {

/// A 16-bit column that stands for padding.
constexpr std::uint16_t short_padding = 65535;

/// The column for which a short one stands.
template <class Ordinal>
KOKKOS_FORCEINLINE_FUNCTION Ordinal whole_column(Ordinal base, std::uint16_t distance) {
  return distance == short_padding ? Ordinal(-1) : static_cast<Ordinal>(base + distance);
}

/// Entries at equal distances whose columns have 16 bits.
template <class Scalar, class Ordinal>
struct ShortColumns {
  using length_type = length_t<Ordinal>;

  Scalar* values;
  std::uint16_t* entries;
  Ordinal base;
  length_type stride;
  length_type count;

  KOKKOS_FORCEINLINE_FUNCTION std::int64_t place(length_type j) const {
    return static_cast<std::int64_t>(j) * stride;
  }
  KOKKOS_FORCEINLINE_FUNCTION Scalar& value(length_type j) const { return values[place(j)]; }
  KOKKOS_FORCEINLINE_FUNCTION auto value_once(length_type j) const { return load_once(values + place(j)); }
  KOKKOS_FORCEINLINE_FUNCTION Ordinal column_once(length_type j) const {
    return whole_column(base, load_once(entries + place(j)));
  }
};

/// The same, or, where the slice has no base, entries whose columns are whole.
template <class Scalar, class Ordinal>
struct ShortRun {
  using length_type = length_t<Ordinal>;

  Scalar* values;
  Ordinal* entries;
  std::uint16_t* short_entries;
  Ordinal base;
  length_type stride;
  length_type count;

  KOKKOS_FORCEINLINE_FUNCTION std::int64_t place(length_type j) const {
    return static_cast<std::int64_t>(j) * stride;
  }
  KOKKOS_FORCEINLINE_FUNCTION bool has_short_columns() const { return base >= 0; }
  KOKKOS_FORCEINLINE_FUNCTION ShortColumns<Scalar, Ordinal> with_short_columns() const {
    return {values, short_entries, base, stride, count};
  }
  KOKKOS_FORCEINLINE_FUNCTION StridedRun<Scalar, Ordinal, length_type, length_type> with_whole_columns()
      const {
    return {values, entries, stride, count};
  }
  KOKKOS_FORCEINLINE_FUNCTION Scalar& value(length_type j) const { return values[place(j)]; }
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t column(length_type j) const {
    return static_cast<std::int64_t>(has_short_columns() ? whole_column(base, short_entries[place(j)])
                                                         : entries[place(j)]);
  }
};

/// Reads the column from an entry that is its 16-bit distance from `base`.
template <class Ordinal>
struct EntryIsDistance {
  Ordinal base;

  KOKKOS_FORCEINLINE_FUNCTION Ordinal operator()(std::uint16_t entry) const {
    return whole_column(base, entry);
  }
};

/// The Rows (core/rows.hpp) of a sliced ELL matrix: slice_height places a slice, some of them without a row.
template <class Scalar, class Ordinal, bool ShortColumns>
struct SellRows {
  using scalar_type = Scalar;
  using ordinal_type = Ordinal;
  using place_type = place_t<Ordinal>;
  using length_type = length_t<Ordinal>;
  static constexpr bool padded = true;
  static constexpr bool has_lanes = true;

  Scalar* values;
  Ordinal* entries;
  std::uint16_t* short_entries;
  const std::int64_t* slice_offsets;
  const Ordinal* slice_widths;
  const Ordinal* permutation;
  const Ordinal* slice_rows;
  const Ordinal* column_bases;
  const std::int64_t* column_offsets;
  std::int64_t slot_count;
  place_type rows;
  place_type slices;
  int log2_height;
  int log2_lanes;

  template <class Sell>
  explicit SellRows(const Sell& sell)
      : values(sell.values.data()),
        entries(sell.entries.data()),
        short_entries(sell.short_entries.data()),
        slice_offsets(sell.slice_offsets.data()),
        slice_widths(sell.slice_widths.data()),
        permutation(sell.permutation.extent(0) > 0 ? sell.permutation.data() : nullptr),
        slice_rows(sell.slice_rows.extent(0) > 0 ? sell.slice_rows.data() : nullptr),
        column_bases(sell.column_bases.data()),
        column_offsets(sell.column_offsets.data()),
        slot_count(static_cast<std::int64_t>(sell.values.extent(0))),
        rows(static_cast<place_type>(sell.numRows())),
        slices(static_cast<place_type>(sell.numSlices())),
        log2_height(log2_of(sell.slice_height())),
        log2_lanes(log2_of(sell.lanes_per_row())) {}

  KOKKOS_FORCEINLINE_FUNCTION place_type slice_of(place_type i) const { return i >> log2_height; }
  KOKKOS_FORCEINLINE_FUNCTION int row_in_slice(place_type i) const {
    return static_cast<int>(i & ((place_type(1) << log2_height) - 1));
  }
  /// Rows that a slice stores, the ones that fill the last slice included.
  KOKKOS_FORCEINLINE_FUNCTION int height(place_type slice) const {
    return slice_rows == nullptr ? 1 << log2_height
                                 : static_cast<int>(slice_rows[slice + 1] - slice_rows[slice]);
  }

  KOKKOS_FORCEINLINE_FUNCTION std::int64_t count() const {
    return static_cast<std::int64_t>(slices) << log2_height;
  }
  KOKKOS_FORCEINLINE_FUNCTION int lanes() const { return 1 << log2_lanes; }
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t target(place_type i) const {
    place_type row = i;
    if (slice_rows != nullptr) {
      const place_type slice = slice_of(i);
      if (row_in_slice(i) >= height(slice)) return -1;
      row = static_cast<place_type>(slice_rows[slice]) + row_in_slice(i);
    }
    if (row >= rows) return -1;
    return static_cast<std::int64_t>(permutation == nullptr ? row
                                                            : static_cast<place_type>(permutation[row]));
  }
  KOKKOS_FORCEINLINE_FUNCTION length_type length(place_type i) const {
    const place_type slice = slice_of(i);
    return row_in_slice(i) < height(slice) ? static_cast<length_type>(slice_widths[slice]) : 0;
  }
  KOKKOS_FORCEINLINE_FUNCTION auto run(place_type i, int lane) const {
    const place_type slice = slice_of(i);
    const int start = (row_in_slice(i) << log2_lanes) + lane;
    const length_type stride = height(slice) << log2_lanes;
    const length_type length_of_lane = entries_of_lane(length(i), lane, log2_lanes);
    Scalar* value = values + slice_offsets[slice] + start;
    if constexpr (ShortColumns) {
      const std::int64_t at = column_offsets[slice] + start;
      return ShortRun<Scalar, Ordinal>{value,  entries + at,  short_entries + at, column_bases[slice],
                                       stride, length_of_lane};
    } else {
      return StridedRun<Scalar, Ordinal, length_type, length_type>{
          value, entries + slice_offsets[slice] + start, stride, length_of_lane};
    }
  }

  KOKKOS_FORCEINLINE_FUNCTION std::int64_t tile_rows(std::int64_t i, std::int64_t most) const {
    const std::int64_t rest = (1 << log2_height) - row_in_slice(static_cast<place_type>(i));
    return rest < most ? rest : most;
  }
  template <class Visit>
  KOKKOS_INLINE_FUNCTION void visit_tile(std::int64_t i, std::int64_t count, const Visit& visit) const {
    const place_type place = static_cast<place_type>(i);
    const place_type slice = slice_of(place);
    const int start = row_in_slice(place) << log2_lanes;
    const std::int64_t stride = static_cast<std::int64_t>(height(slice)) << log2_lanes;
    const std::int64_t stored = height(slice) - row_in_slice(place);
    const std::int64_t places = stored < 0 ? 0 : stored < count ? stored : count;
    const std::int64_t width = slice_widths[slice];
    // Slices that no team cuts (RowLaunch::chunk_unit) are one stream: as many elements ahead take about as
    // long to come wherever the slice ends (SELL with short columns of qh1484 3273 times along the diagonal,
    // one core of an EPYC: 1.47 times Kokkos Kernels' CRS, 1.68 if the next slice is asked for).
    constexpr int most_of_one_stream = 64;
    constexpr std::int64_t elements_ahead = 1024;
    const std::int64_t ahead =
        height(slice) > most_of_one_stream ? row_tile_places_ahead << log2_lanes : elements_ahead;
    const Scalar* const value = values + slice_offsets[slice] + start;
    const auto visit_entries = [&](const auto* entry, const auto& column) {
      visit_row_tile<false>(value, entry, column, stride, log2_lanes, places, width, decltype(entry)(nullptr),
                            ahead, visit);
    };
    if constexpr (ShortColumns) {
      const std::int64_t at = column_offsets[slice] + start;
      if (column_bases[slice] >= 0)
        visit_entries(short_entries + at, EntryIsDistance<Ordinal>{column_bases[slice]});
      else
        visit_entries(entries + at, EntryIsColumn());
    } else {
      visit_entries(entries + slice_offsets[slice] + start, EntryIsColumn());
    }
  }

  static constexpr int fill_batch = 1;
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t slots() const { return slot_count; }
  KOKKOS_FORCEINLINE_FUNCTION SlotGroup group(std::int64_t slot, std::int64_t from) const {
    return find_group(from, static_cast<std::int64_t>(slices), slot,
                      [&](std::int64_t slice) { return slice_offsets[slice]; });
  }
  KOKKOS_FORCEINLINE_FUNCTION SlotEntry entry(const SlotGroup& slice, std::int64_t slot) const {
    const std::int64_t in_slice = slot - slice.begin;
    const int lane = static_cast<int>(in_slice & (lanes() - 1));
    const std::int64_t run = in_slice >> log2_lanes;
    std::int64_t j = run >> log2_height;
    std::int64_t row = run & ((std::int64_t(1) << log2_height) - 1);
    if (slice_rows != nullptr) {
      const int rows_of_slice = height(static_cast<place_type>(slice.number));
      j = run / rows_of_slice;
      row = run - j * rows_of_slice;
    }
    return {(slice.number << log2_height) + row, (j << log2_lanes) + lane, slot};
  }
  KOKKOS_FORCEINLINE_FUNCTION Scalar& value_at(std::int64_t at) const { return values[at]; }
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t column_at(const SlotGroup& slice, std::int64_t at) const {
    if constexpr (ShortColumns) {
      const Ordinal base = column_bases[slice.number];
      const std::int64_t place = column_offsets[slice.number] + (at - slice.begin);
      return static_cast<std::int64_t>(base >= 0 ? whole_column(base, short_entries[place]) : entries[place]);
    } else {
      return static_cast<std::int64_t>(entries[at]);
    }
  }
  KOKKOS_FORCEINLINE_FUNCTION void set_column_at(const SlotGroup& slice, std::int64_t at,
                                                 std::int64_t column) const {
    if constexpr (ShortColumns) {
      const std::int64_t base = static_cast<std::int64_t>(column_bases[slice.number]);
      const std::int64_t place = column_offsets[slice.number] + (at - slice.begin);
      if (base >= 0)
        short_entries[place] = column < 0 ? short_padding : static_cast<std::uint16_t>(column - base);
      else
        entries[place] = static_cast<Ordinal>(column);
    } else {
      entries[at] = static_cast<Ordinal>(column);
    }
  }
};

/// Calls visit(rows) with the Rows of a sliced ELL matrix, for short or for whole columns.
template <class S, class O, class D, class M, class Z, class Visit>
auto with_rows(const SellMatrix<S, O, D, M, Z>& sell, const Visit& visit) {
  if (sell.column_bases.extent(0) > 0) return visit(SellRows<S, O, true>(sell));
  return visit(SellRows<S, O, false>(sell));
}

}  // namespace Impl

}  // namespace Filigree

#endif

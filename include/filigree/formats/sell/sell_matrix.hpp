// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "filigree/core/convert_options.hpp"
#include "filigree/core/matrix_base.hpp"

namespace Filigree {

/// Options of a conversion to SellMatrix.
struct SellOptions : ConvertOptions {
  /// The slice height, in rows: a power of two from 1 to 1024. With 32, the lanes of a warp read one column
  /// of a slice at once.
  int slice_height = 32;
  /// The sorting window, in rows: within each window, rows are sorted by length, longest first, so that the
  /// rows of a slice have about the same length. 1 sorts nothing; 0 sorts all rows together. A larger window
  /// needs less padding, but a product reads x and writes y in a less regular order.
  std::int64_t sorting_window = 1;
  /// T, the lanes of a GPU that multiply one row together: 1, 2, 4, 8, 16 or 32.
  int lanes_per_row = 1;
  /// Whether a column is stored as its 16-bit distance from the smallest column of its slice. A slice that
  /// spans too many columns keeps columns of type Ordinal.
  bool short_columns = false;
  /// Whether all rows of a slice have the same length, so that there is no padding. These are the sections of
  /// JDS-ELL. Requires sorting_window = 0 and lanes_per_row = 1.
  bool one_length_per_slice = false;

  /// The sorting window of the sorted variants (see docs/performance.md, "Sorting window of SELL").
  static constexpr std::int64_t sorted_window = 4096;

  /// The variants: unsorted and sorted, with and without short columns, several lanes per row, and JDS-ELL.
  static std::vector<NamedOptions<SellOptions>> variants() {
    std::vector<NamedOptions<SellOptions>> result(1);
    const auto add = [&](int lanes, std::int64_t window, bool short_columns) {
      result.push_back({std::string("sell") + (lanes > 1 ? "_lanes" + std::to_string(lanes) : "") +
                        (window != 1 ? "_sorted" : "") + (short_columns ? "_short" : "")});
      result.back().options.lanes_per_row = lanes;
      result.back().options.sorting_window = window;
      result.back().options.short_columns = short_columns;
    };
    add(1, sorted_window, false);
    add(1, 1, true);
    for (const int lanes : {1, 2, 4, 8, 32})
      add(lanes, sorted_window, true);
    result.push_back({"jds_ell"});
    result.back().options.sorting_window = 0;
    result.back().options.one_length_per_slice = true;
    return result;
  }
};

/// Sliced ELL: rows are stored in slices of, by default, 32 rows. Each slice is padded to its own longest
/// row.
///
/// It suits matrices of any pattern without very long rows. As with ELL, a product reads whole cache lines,
/// but a long row only makes its own slice wide. If row lengths vary, sorted rows need less padding. If the
/// entries of a slice lie within 65535 columns, short columns save 2 bytes per stored element (with 32-bit
/// ordinals). Several lanes per row suit long rows.
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
/// With slice height h and T lanes per row, entry k of row r of slice s is at slice_offsets[s] + p, where p =
/// (k / T) * (h * T) + r * T + k % T. The width of a slice is the length of its longest row, rounded up to a
/// multiple of T. The entries of a row keep the order of the CRS matrix. Duplicates stay separate entries.
/// Row r of slice s is stored row i = s * slice_height() + r. It is matrix row permutation[i], or i if there
/// is no permutation.
///
/// With SellOptions::one_length_per_slice, row r of slice s is matrix row permutation[slice_rows[s] + r], and
/// the height h of slice s in the positions above is slice_rows[s + 1] - slice_rows[s].
///
/// With short columns, the column at slice_offsets[s] + p is column_bases[s] +
/// short_entries[column_offsets[s] + p], and a short entry of 65535 is padding. If column_bases[s] is -1, it
/// is entries[column_offsets[s] + p].
///
/// Bytes: sizeof(Scalar) + sizeof(Ordinal) per stored element (sizeof(Scalar) + 2 if its column is short), 8
/// + sizeof(Ordinal) per slice plus 8, sizeof(Ordinal) per row if rows are sorted, (slices + 1) *
/// sizeof(Ordinal) with one length per slice, and 8 + sizeof(Ordinal) per slice with short columns.
///
/// Sources: sliced ELLPACK; sorted sections, Kirk and Hwu, chapter 10, section 10.5; several lanes per row,
/// Vazquez, Fernandez and Garzon 2011, section 3.2.
///
/// The template parameters are those of KokkosSparse::CrsMatrix. Offsets of slices always have 64 bits.
template <class Scalar, class Ordinal, class Device, class MemoryTraits = void, class SizeType = std::size_t>
class SellMatrix : public MatrixBase<Scalar, Ordinal, Device, MemoryTraits, SizeType> {
  using base_type = MatrixBase<Scalar, Ordinal, Device, MemoryTraits, SizeType>;

  static_assert(std::is_signed<Ordinal>::value,
                "Filigree::SellMatrix: Ordinal must be signed, as padding has column -1.");

 public:
  using options_type = SellOptions;            ///< options of the conversion
  static constexpr bool keeps_entries = true;  ///< see MatrixTraits::keeps_entries
  using typename base_type::device_type;
  using typename base_type::entries_type;
  using typename base_type::values_type;
  /// The View type of short columns.
  using short_entries_type = Kokkos::View<std::uint16_t*, device_type, MemoryTraits>;
  /// The View type of positions.
  using offsets_type = Kokkos::View<std::int64_t*, device_type, MemoryTraits>;

  /// The name of the format in labels and tables.
  static constexpr const char* name() { return "sell"; }

  /// A matrix without rows.
  SellMatrix() = default;
  /// A matrix with empty Views. The caller must set them as the class comment describes. Only check() checks
  /// them.
  SellMatrix(Ordinal rows, Ordinal columns, SizeType nnz, int slice_height, int lanes_per_row)
      : base_type(rows, columns, nnz), m_slice_height(slice_height), m_lanes_per_row(lanes_per_row) {}

  /// The number of slices.
  KOKKOS_INLINE_FUNCTION std::int64_t numSlices() const {
    return static_cast<std::int64_t>(slice_widths.extent(0));
  }
  /// The slice height, in rows.
  KOKKOS_INLINE_FUNCTION int slice_height() const { return m_slice_height; }
  /// T: the lanes for which the entries of a row are interleaved.
  KOKKOS_INLINE_FUNCTION int lanes_per_row() const { return m_lanes_per_row; }
  /// Bytes of all Views.
  std::size_t storage_bytes() const {
    return Impl::bytes_of(values, entries, short_entries, slice_offsets, slice_widths, permutation,
                          slice_rows, column_bases, column_offsets);
  }

  values_type values;                ///< the slices, one after another; 0 for padding
  entries_type entries;              ///< columns of the slices without short columns, -1 for padding
  short_entries_type short_entries;  ///< columns of the slices with short columns
  offsets_type slice_offsets;        ///< position of each slice in values, then the length of values
  entries_type slice_widths;         ///< width of each slice
  entries_type permutation;          ///< matrix row of each sorted row, or empty if rows are not sorted
  entries_type slice_rows;           ///< first sorted row of each slice, then the number of rows, or empty
  entries_type column_bases;    ///< smallest column of each slice, -1 if its columns are not short, or empty
  offsets_type column_offsets;  ///< position of each slice in entries or short_entries, or empty

 private:
  int m_slice_height = 32;
  int m_lanes_per_row = 1;
};

}  // namespace Filigree

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
#include "filigree/core/matrix_base.hpp"

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
class SellMatrix : public MatrixBase<Scalar, Ordinal, Device, MemoryTraits, SizeType> {
  using base_type = MatrixBase<Scalar, Ordinal, Device, MemoryTraits, SizeType>;

  static_assert(std::is_signed<Ordinal>::value,
                "Filigree::SellMatrix: Ordinal must be signed, as padding has column -1.");

 public:
  using typename base_type::device_type;
  using options_type = SellOptions;
  static constexpr bool keeps_entries = true;

  using typename base_type::entries_type;
  using typename base_type::values_type;
  using short_entries_type = Kokkos::View<std::uint16_t*, device_type, MemoryTraits>;
  using offsets_type = Kokkos::View<std::int64_t*, device_type, MemoryTraits>;

  static constexpr const char* name() { return "sell"; }

  /// A matrix without rows.
  SellMatrix() = default;
  /// A matrix whose Views the caller sets, as the class comment describes them.
  SellMatrix(Ordinal rows, Ordinal columns, SizeType nnz, int slice_height, int lanes_per_row)
      : base_type(rows, columns, nnz), m_slice_height(slice_height), m_lanes_per_row(lanes_per_row) {}

  KOKKOS_INLINE_FUNCTION std::int64_t numSlices() const {
    return static_cast<std::int64_t>(slice_widths.extent(0));
  }
  /// Rows of a slice.
  KOKKOS_INLINE_FUNCTION int slice_height() const { return m_slice_height; }
  /// L: the interleaving of a slice.
  KOKKOS_INLINE_FUNCTION int lanes_per_row() const { return m_lanes_per_row; }
  /// Bytes of all Views.
  std::size_t storage_bytes() const {
    return Impl::bytes_of(values, entries, short_entries, slice_offsets, slice_widths, permutation,
                          slice_rows, column_bases, column_offsets);
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
  int m_slice_height = 32;
  int m_lanes_per_row = 1;
};

}  // namespace Filigree

#endif

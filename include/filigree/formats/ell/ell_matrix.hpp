// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FILIGREE_FORMATS_ELL_ELL_MATRIX_HPP
#define FILIGREE_FORMATS_ELL_ELL_MATRIX_HPP

#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

#include "filigree/core/convert_options.hpp"
#include "filigree/core/error.hpp"
#include "filigree/core/kokkos_versions.hpp"
#include "filigree/core/row_tile.hpp"
#include "filigree/core/rows.hpp"

namespace Filigree {

/// Options of a conversion to EllMatrix: which member of the ELLPACK family it becomes.
struct EllOptions : ConvertOptions {
  /// Whether the true length of each row is kept, so that a product reads no padding. Without it (ELLPACK) a
  /// product reads all padding, and no lengths.
  bool row_lengths = true;
  /// T, the lanes of a GPU that multiply one row together: 1, 2, 4, 8, 16 or 32. More than one is ELLR-T.
  int lanes_per_row = 1;
  /// BS, the lanes of a team on a GPU: a power of two from 32 to 1024. Of the launch alone; see
  /// EllMatrix::set_lanes_per_team.
  int lanes_per_team = 256;

  /// The members of the family that are worth a comparison.
  static std::vector<NamedOptions<EllOptions>> variants() {
    std::vector<NamedOptions<EllOptions>> result(2);
    result[1].name = "ellpack";
    result[1].options.row_lengths = false;
    for (const int lanes : {2, 4, 8, 16, 32}) {
      NamedOptions<EllOptions> lanes_variant;
      lanes_variant.name = "ellr_t" + std::to_string(lanes);
      lanes_variant.options.lanes_per_row = lanes;
      result.push_back(lanes_variant);
    }
    return result;
  }
};

namespace Impl {
/// Throws std::invalid_argument for a size that no team of lanes can have.
inline void check_lanes_per_team(const char* function, const char* what, int lanes) {
  if (lanes < 32 || lanes > 1024 || (lanes & (lanes - 1)) != 0)
    fail<std::invalid_argument>(function, ": ", what, " is ", lanes,
                                "; it must be a power of two from 32 to 1024.");
}
}  // namespace Impl

/// The ELLPACK family: every row padded to the length of the longest, stored column by column, by default
/// with the true row lengths (ELLPACK-R), and with the entries of a row interleaved for T lanes (ELLR-T).
///
/// For matrices whose rows have about the same length: a product reads the values and columns of 32
/// neighbouring rows as whole cache lines, and nothing is lost to a row map. One long row makes every row
/// long: the conversion refuses a matrix that padding would make larger than
/// ConvertOptions::max_storage_ratio times its CRS. T lanes a row are for long rows and for matrices with too
/// few rows to fill a GPU.
///
/// Storage, for the 4 x 4 example
///
///     3 0 1 0        width = 3, stride = 4 rows rounded up to 16, `.` is padding (value 0, column -1)
///     0 0 0 0
///     0 2 4 1        values       3 . 2 1 ...12 more... | 1 . 4 1 ... | . . 1 . ...
///     1 0 0 1        entries      0 . 1 0 ...           | 2 . 2 3 ... | . . 3 . ...
///                    row_lengths  2 0 3 2
///     with T = 2, width = 4
///                    values       3 1 . . 2 4 1 1 ...24 more... | . . . . 1 . . . ...
///
/// Entry k of row i is at (k / T) * (stride * T) + i * T + k % T, in the order that the CRS has; duplicates
/// stay apart. The width is the longest row rounded up to T. row_lengths is empty for EllOptions::row_lengths
/// = false.
/// Bytes: width * stride * (sizeof(Scalar) + sizeof(Ordinal)), and rows * sizeof(Ordinal) for the lengths.
///
/// Sources: ELLPACK by padding and transposition, Kirk and Hwu, chapter 10, section 10.3; ELLPACK-R with its
/// row lengths, and ELLR-T with rows padded to a multiple of 16, Vazquez, Fernandez and Garzon 2011, sections
/// 3.1 and 3.2.
///
/// The parameters are those of KokkosSparse::CrsMatrix. SizeType counts the padded entries; places are
/// computed in 64 bits.
template <class Scalar, class Ordinal, class Device, class MemoryTraits = void, class SizeType = std::size_t>
class EllMatrix {
  static_assert(std::is_signed<Ordinal>::value,
                "Filigree::EllMatrix: Ordinal must be signed, as padding has column -1.");

 public:
  using value_type = Scalar;
  using ordinal_type = Ordinal;
  using size_type = SizeType;
  using memory_traits = MemoryTraits;
  using execution_space = typename Device::execution_space;
  using memory_space = typename Device::memory_space;
  using device_type = Kokkos::Device<execution_space, memory_space>;
  using options_type = EllOptions;
  static constexpr bool keeps_entries = true;

  using values_type = Kokkos::View<Scalar*, device_type, MemoryTraits>;
  using entries_type = Kokkos::View<Ordinal*, device_type, MemoryTraits>;
  using row_lengths_type = Kokkos::View<Ordinal*, device_type, MemoryTraits>;

  /// Rows are padded to a multiple of this, so that every column of the storage starts on a 64-byte boundary.
  static constexpr int row_alignment = 16;

  static constexpr const char* name() { return "ell"; }

  /// A matrix without rows.
  EllMatrix() = default;
  /// Wraps Views that already hold a matrix as the class comment describes it; nothing is checked or copied.
  EllMatrix(Ordinal rows, Ordinal columns, SizeType entry_count, Ordinal width, SizeType stride,
            values_type values_, entries_type entries_, row_lengths_type row_lengths_, int lanes_per_row = 1)
      : values(values_),
        entries(entries_),
        row_lengths(row_lengths_),
        m_rows(rows),
        m_columns(columns),
        m_nnz(entry_count),
        m_width(width),
        m_stride(stride),
        m_lanes_per_row(lanes_per_row) {}

  KOKKOS_INLINE_FUNCTION Ordinal numRows() const { return m_rows; }
  KOKKOS_INLINE_FUNCTION Ordinal numCols() const { return m_columns; }
  /// Entries of the CRS matrix that this one was converted from, duplicates and explicit zeros included.
  KOKKOS_INLINE_FUNCTION SizeType nnz() const { return m_nnz; }
  /// Length of the longest row, rounded up to a multiple of lanes_per_row().
  KOKKOS_INLINE_FUNCTION Ordinal width() const { return m_width; }
  /// Rows rounded up to a multiple of row_alignment.
  KOKKOS_INLINE_FUNCTION SizeType stride() const { return m_stride; }
  /// T: the interleaving of the storage.
  KOKKOS_INLINE_FUNCTION int lanes_per_row() const { return m_lanes_per_row; }
  /// BS: lanes of a team on a GPU.
  int lanes_per_team() const { return m_lanes_per_team; }
  /// Sets BS for the products of this object to come. Throws std::invalid_argument for any but a power of two
  /// from 32 to 1024.
  void set_lanes_per_team(int lanes) {
    Impl::check_lanes_per_team("Filigree::EllMatrix::set_lanes_per_team", "lanes", lanes);
    m_lanes_per_team = lanes;
  }
  /// Bytes of all Views.
  std::size_t storage_bytes() const {
    return values.extent(0) * sizeof(Scalar) + entries.extent(0) * sizeof(Ordinal) +
           row_lengths.extent(0) * sizeof(Ordinal);
  }

  values_type values;            ///< width * stride
  entries_type entries;          ///< width * stride column indices, -1 where padded
  row_lengths_type row_lengths;  ///< one a row, or none

 private:
  Ordinal m_rows = 0;
  Ordinal m_columns = 0;
  SizeType m_nnz = 0;
  Ordinal m_width = 0;
  SizeType m_stride = 0;
  int m_lanes_per_row = 1;
  int m_lanes_per_team = 256;
};

namespace Impl {

/// The Rows (core/rows.hpp) of ELL: where it puts its entries. Without row lengths all rows have the full
/// width, and there are places for the rows that only fill the last 16. A row may be longer than the width
/// where ELL is part of a hybrid, which holds the rest elsewhere.
template <class Scalar, class Ordinal, bool RowLengths>
struct EllRows {
  using scalar_type = Scalar;
  using ordinal_type = Ordinal;
  using place_type = place_t<Ordinal>;
  using length_type = length_t<Ordinal>;
  static constexpr bool padded = !RowLengths;
  static constexpr bool has_lanes = true;

  Scalar* values;
  Ordinal* entries;
  const Ordinal* row_lengths;
  std::int64_t rows;
  std::int64_t stride;
  length_type width;
  int log2_lanes;

  template <class Ell>
  explicit EllRows(const Ell& ell)
      : values(ell.values.data()),
        entries(ell.entries.data()),
        row_lengths(ell.row_lengths.data()),
        rows(static_cast<std::int64_t>(ell.numRows())),
        stride(static_cast<std::int64_t>(ell.stride())),
        width(static_cast<length_type>(ell.width())),
        log2_lanes(log2_of(ell.lanes_per_row())) {}

  KOKKOS_FORCEINLINE_FUNCTION std::int64_t count() const { return RowLengths ? rows : stride; }
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t target(std::int64_t i) const { return i < rows ? i : -1; }
  KOKKOS_FORCEINLINE_FUNCTION int lanes() const { return 1 << log2_lanes; }
  KOKKOS_FORCEINLINE_FUNCTION length_type length(place_type i) const {
    const length_type length = RowLengths ? static_cast<length_type>(row_lengths[i]) : width;
    return length < width ? length : width;
  }
  KOKKOS_FORCEINLINE_FUNCTION StridedRun<Scalar, Ordinal, length_type> run(place_type i, int lane) const {
    const std::int64_t start = (static_cast<std::int64_t>(i) << log2_lanes) + lane;
    return {values + start, entries + start, stride << log2_lanes,
            entries_of_lane(length(i), lane, log2_lanes)};
  }

  /// Slots are numbered as if they were in slices of 32 places, so that lanes that are near each other read
  /// rows of the CRS that are.
  static constexpr int log2_slice = 5;
  static constexpr int fill_batch = 4;
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t slots() const { return slice_begin(slices()); }
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t slices() const {
    return (stride + (1 << log2_slice) - 1) >> log2_slice;
  }
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t slice_begin(std::int64_t slice) const {
    return (slice << log2_slice) * width;
  }
  KOKKOS_FORCEINLINE_FUNCTION SlotGroup group(std::int64_t slot, std::int64_t) const {
    const std::int64_t slice = slot / slice_begin(1);
    return {slice, slice_begin(slice), slice_begin(slice + 1)};
  }
  KOKKOS_FORCEINLINE_FUNCTION SlotEntry entry(const SlotGroup& slice, std::int64_t slot) const {
    const std::int64_t in_slice = slot - slice.begin;
    const int lane = static_cast<int>(in_slice & (lanes() - 1));
    const std::int64_t j = in_slice >> (log2_slice + log2_lanes);
    const std::int64_t i =
        (slice.number << log2_slice) + ((in_slice >> log2_lanes) & ((1 << log2_slice) - 1));
    return {i < count() ? i : -1, (j << log2_lanes) + lane, ((j * stride + i) << log2_lanes) + lane};
  }
  /// The length of the arrays.
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t elements() const { return stride * width; }
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
    const std::int64_t start = i << log2_lanes;
    visit_row_tile<RowLengths>(values + start, entries + start, EntryIsColumn(), stride << log2_lanes,
                               log2_lanes, count, width, RowLengths ? row_lengths + i : nullptr,
                               row_tile_places_ahead << log2_lanes, visit);
  }
};

/// Calls visit(rows) with the Rows of an ELL matrix, with or without lengths.
template <class S, class O, class D, class M, class Z, class Visit>
auto with_rows(const EllMatrix<S, O, D, M, Z>& ell, const Visit& visit) {
  if (ell.row_lengths.extent(0) > 0) return visit(EllRows<S, O, true>(ell));
  return visit(EllRows<S, O, false>(ell));
}

}  // namespace Impl

}  // namespace Filigree

#endif

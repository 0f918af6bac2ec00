// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "filigree/core/launch.hpp"
#include "filigree/core/load_once.hpp"
#include "filigree/core/scalar.hpp"

namespace Filigree::Impl {

/// Turns an element of HostTile::entries into a column index, if `entries` holds column indices.
struct EntryIsColumn {
  /// The column, or -1 for padding.
  template <class Ordinal>
  KOKKOS_FORCEINLINE_FUNCTION Ordinal operator()(Ordinal entry) const {
    return entry;
  }
  /// The column of an element that is not padding.
  template <class Ordinal>
  KOKKOS_FORCEINLINE_FUNCTION Ordinal of_entry(Ordinal entry) const {
    return entry;
  }
  /// The column of an element, or the first column for padding. Written as a maximum: compilers would turn
  /// is_padding(entry) ? 0 : entry into a branch.
  template <class Ordinal>
  KOKKOS_FORCEINLINE_FUNCTION Ordinal of_entry_or_first(Ordinal entry) const {
    return entry > 0 ? entry : Ordinal(0);
  }
  template <class Ordinal>
  KOKKOS_FORCEINLINE_FUNCTION bool is_padding(Ordinal entry) const {
    return entry < 0;
  }
  /// What of_entry_or_first() returns for padding.
  KOKKOS_FORCEINLINE_FUNCTION int first_column() const { return 0; }
};

/// In a tile of more rows each column is a stream of memory of its own. A team never cuts a slice of at most
/// this many rows (RowLaunch::chunk_unit), so its thread reads such slices one after the other, as one stream.
constexpr std::int64_t most_rows_of_one_stream = 64;

/// The prefetch distance, in rows, if each column or jagged diagonal is a stream of its own: in ELL, in slices of more
/// than most_rows_of_one_stream rows, and in JDS with one column of x (see docs/performance.md, "Prefetching on
/// hosts").
constexpr std::int64_t host_tile_rows_ahead = 96;
/// The same in HostTile with one column of x and one lane per row (see docs/performance.md, "One column after the other
/// on hosts").
constexpr std::int64_t host_column_rows_ahead = 192;

/// A tile of neighbouring stored rows of ELL or SELL, and the loops in which a host thread multiplies it.
///
/// Entry k of row i of the tile is at position offset(k) + i * T from the tile's first entry, so the entries
/// of the T lanes of a row are neighbours. UnitStep is whether T is 1. Lengths is whether the row lengths are
/// known; if not, a row ends with its first padding, which has column -1.
///
/// With one lane per row and one column of x, the loop takes groups of 32 rows and goes through them column
/// by column, so that it reads a slice of 32 rows as one stream of memory. Otherwise it takes a band of
/// columns and goes through it row by row. docs/performance.md, "Columns and rows of a tile on hosts", compares
/// both.
template <class Scalar, class Entry, class Column, bool Lengths, bool UnitStep>
struct HostTile {
  const Scalar* values;  ///< first value of the tile
  const Entry* entries;  ///< first element of the columns of the tile, in the form that `column` takes
  Column column;         ///< EntryIsColumn, or EntryIsDistance of SELL
  std::int64_t stride;   ///< positions from entry k to entry k + T
  int log2_lanes;        ///< T = 2^log2_lanes
  std::int64_t row_count;
  std::int64_t width;    ///< entries per row, padding included
  const Entry* lengths;  ///< if Lengths: row lengths, which may exceed the width
  std::int64_t ahead;    ///< prefetch distance in elements, unless host_column_rows_ahead is used

  /// Adds the products of all rows of the tile: sums[i] += row i * x.
  template <bool Conjugate, class Operands>
  KOKKOS_FORCEINLINE_FUNCTION void add(const Operands& operands, typename Operands::sums_type* sums) const {
    if constexpr (UnitStep && Operands::most_columns == 1)
      add_groups<Conjugate>(operands, sums);
    else
      add_bands<8, Conjugate>(operands, sums, 0);
  }

 private:
  /// Rows of a group, whose sums stay in registers.
  static constexpr int group_rows = 32;
  static constexpr int columns_per_step = 4;
  /// The rows that have an entry left are counted before every 16th column in a tile of one stream, otherwise before
  /// every fourth one.
  static constexpr int columns_per_test = 16;

  template <bool Conjugate, class Operands>
  KOKKOS_FORCEINLINE_FUNCTION void add_groups(const Operands& operands,
                                              typename Operands::sums_type* sums) const {
    if (row_count == 0 || width == 0) return;
    // Padding has the value 0 and is multiplied too, with this element of x. The product changes at most the sign of a
    // sum that is 0, unless the element is Inf or NaN.
    using accumulator_type = typename Operands::accumulator_type;
    const auto product = accumulator_type(0) * widen<accumulator_type>(operands.x(column.first_column(), 0));
    if (!assumes_finite_math && product == decltype(product)(0))
      add_groups_as<false, Conjugate>(operands, sums);
    else
      add_groups_as<true, Conjugate>(operands, sums);
  }

  /// Masked is whether padding is multiplied with 0 instead of an element of x.
  template <bool Masked, bool Conjugate, class Operands>
  KOKKOS_FORCEINLINE_FUNCTION void add_groups_as(const Operands& operands,
                                                 typename Operands::sums_type* sums) const {
    if (row_count <= most_rows_of_one_stream)
      add_groups_in_bands<false, Masked, Conjugate>(operands, sums, width);
    else  // No other number of columns was faster (see docs/performance.md, "One column after the other on hosts").
      add_groups_in_bands<true, Masked, Conjugate>(operands, sums, columns_per_step);
  }

  /// Adds `band` columns of all groups, then the next ones. Streams is whether each column is a stream of its own.
  template <bool Streams, bool Masked, bool Conjugate, class Operands>
  KOKKOS_FORCEINLINE_FUNCTION void add_groups_in_bands(const Operands& operands,
                                                       typename Operands::sums_type* sums,
                                                       const std::int64_t band) const {
    for (std::int64_t k = 0; k < width; k += band) {
      const std::int64_t end = k + band < width ? k + band : width;
      std::int64_t i = 0;
      for (; i + group_rows <= row_count; i += group_rows)
        add_group<group_rows, Streams, Masked, Conjugate>(operands, sums + i, i, group_rows, k, end);
      if (i < row_count)
        add_group<0, Streams, Masked, Conjugate>(operands, sums + i, i, static_cast<int>(row_count - i), k,
                                                 end);
    }
  }

  /// Adds entries k to end - 1 of the rows i to i + run_time_rows - 1. Rows is the number of these rows if it is
  /// known at compile time, so that the compiler can use vector registers; otherwise it is 0.
  template <int Rows, bool Streams, bool Masked, bool Conjugate, class Operands>
  KOKKOS_FORCEINLINE_FUNCTION void add_group(const Operands& operands,
                                             typename Operands::sums_type* KOKKOS_RESTRICT sums,
                                             std::int64_t i, int run_time_rows, std::int64_t k,
                                             std::int64_t end) const {
    const int rows = Rows > 0 ? Rows : run_time_rows;
    // With one column of x the sums of the rows are contiguous.
    static_assert(Operands::most_columns == 1, "A group has one column of x.");
    auto* const sums_of_group = reinterpret_cast<typename Operands::accumulator_type*>(sums);
    int rows_left = rows;
    while (k < end) {
      // Counting takes time (see docs/performance.md, "Columns and rows of a tile on hosts").
      if (Streams || (k > 0 && k % columns_per_test == 0)) {
        rows_left = rows_with_entry(i, rows, k);
        if (rows_left * 8 < rows) break;
      }
      const std::int64_t step_end = k + columns_per_step < end ? k + columns_per_step : end;
      add_columns<Rows, Streams, Masked, Conjugate>(operands, sums_of_group, i, rows, k, step_end);
      k = step_end;
    }
    // Less than an eighth of the rows are left. Added row by row, they do not read the padding of the others.
    if (k < end && rows_left > 0) add_rows<Conjugate>(operands, sums, i, rows, k, end);
  }

  /// The number of the rows i to i + rows - 1 that have an entry k.
  KOKKOS_FORCEINLINE_FUNCTION int rows_with_entry(std::int64_t i, int rows, std::int64_t k) const {
    int result = 0;
    if constexpr (Lengths) {
      for (int r = 0; r < rows; ++r)
        result += lengths[i + r] > static_cast<Entry>(k) ? 1 : 0;
    } else {
      const Entry* const entry = entries + k * stride + i;
      for (int r = 0; r < rows; ++r)
        result += column.is_padding(entry[r]) ? 0 : 1;
    }
    return result;
  }

  /// Adds entries k to end - 1, up to four, of the rows i to i + rows - 1, one column after the other.
  template <int Rows, bool Streams, bool Masked, bool Conjugate, class Operands>
  KOKKOS_FORCEINLINE_FUNCTION void add_columns(const Operands& operands,
                                               typename Operands::accumulator_type* KOKKOS_RESTRICT sums,
                                               std::int64_t i, int rows, std::int64_t k,
                                               std::int64_t end) const {
    const Scalar* KOKKOS_RESTRICT value = values + k * stride + i;
    const Entry* KOKKOS_RESTRICT entry = entries + k * stride + i;
    for (; k < end; ++k, value += stride, entry += stride) {
      // Not for fewer rows: a slice of few rows is one stream of memory, which the hardware prefetches.
      if constexpr (Rows > 0) {
        const std::int64_t distance = Streams ? host_column_rows_ahead : ahead;
        prefetch_elements(value, Rows, distance);
        prefetch_elements(entry, Rows, distance);
      }
      for (int r = 0; r < rows; ++r)
        sums[r] += product_of<Masked, Conjugate>(operands, value[r], entry[r]);
    }
  }

  /// The value of an entry times its element of x. Padding has the value 0. If Masked, its element of x is replaced by
  /// 0, too. There is no branch, which would often be predicted wrongly and prevent the use of vector registers.
  template <bool Masked, bool Conjugate, class Operands>
  KOKKOS_FORCEINLINE_FUNCTION auto product_of(const Operands& operands, const Scalar value,
                                              const Entry entry) const {
    using accumulator_type = typename Operands::accumulator_type;
    const auto a = widen<accumulator_type>(conjugate_if<Conjugate>(value));
    const auto x = widen<accumulator_type>(operands.x(column.of_entry_or_first(entry), 0));
    return a * (Masked && column.is_padding(entry) ? decltype(x)(0) : x);
  }

  /// Adds entries k to end - 1 of the rows i to i + rows - 1, row by row. Each row ends with its first padding.
  template <bool Conjugate, class Operands>
  KOKKOS_INLINE_FUNCTION void add_rows(const Operands& operands, typename Operands::sums_type* sums,
                                       std::int64_t i, int rows, std::int64_t k, std::int64_t end) const {
    for (int r = 0; r < rows; ++r)
      for (std::int64_t at = k * stride + i + r, e = k; e < end && !column.is_padding(entries[at]);
           ++e, at += stride)
        operands.add(sums[r], conjugate_if<Conjugate>(values[at]), column.of_entry(entries[at]));
  }

  /// Rows that are added and prefetched together: 16 column indices of 32 bits are one cache line.
  static constexpr std::int64_t rows_per_step = 16;

  /// Adds entries k to width - 1 of each row, in bands of Band entries per row.
  template <int Band, bool Conjugate, class Operands>
  KOKKOS_FORCEINLINE_FUNCTION void add_bands(const Operands& operands, typename Operands::sums_type* sums,
                                             std::int64_t k) const {
    for (; Lengths ? k < width : k + Band <= width; k += Band) {
      const Scalar* const band_values = values + offset(k);
      const Entry* const band_entries = entries + offset(k);
      const std::int64_t last_offset = offset(k + Band - 1) - offset(k);
      const std::int64_t most = width - k < Band ? width - k : Band;
      for (std::int64_t first = 0; first < row_count; first += rows_per_step) {
        const std::int64_t end = first + rows_per_step < row_count ? first + rows_per_step : row_count;
        // A slice of fewer rows is one stream of memory, which the hardware prefetches.
        if (row_count >= rows_per_step) prefetch(first, k, most);
        for (std::int64_t i = first; i < end; ++i) {
          std::int64_t count = most;
          if constexpr (Lengths) count = lengths[i] - k < most ? lengths[i] - k : most;
          const bool is_whole =
              count == Band && (Lengths || column(band_entries[last_offset + i * lanes()]) >= 0);
          const Scalar* value = band_values + i * lanes();
          const Entry* entry = band_entries + i * lanes();
          typename Operands::sums_type sums_of_row;
          for (int c = 0; c < Operands::most_columns; ++c)
            sums_of_row[c] = sums[i][c];
          // Two loops, because a branch per entry is predicted better than a loop that ends after `count`.
          if (is_whole) {
            FILIGREE_UNROLL(8)
            for (int e = 0; e < Band; ++e) {
              operands.add(sums_of_row, conjugate_if<Conjugate>(*value), column(*entry));
              value += step_to(k + e + 1);
              entry += step_to(k + e + 1);
            }
          } else {
            FILIGREE_UNROLL(8)
            for (int e = 0; e < Band; ++e) {
              if (e >= count) break;
              const auto column_of_entry = column(*entry);
              if (!Lengths && column_of_entry < 0) break;
              operands.add(sums_of_row, conjugate_if<Conjugate>(*value), column_of_entry);
              value += step_to(k + e + 1);
              entry += step_to(k + e + 1);
            }
          }
          for (int c = 0; c < Operands::most_columns; ++c)
            sums[i][c] = sums_of_row[c];
        }
      }
    }
    // Without lengths most rows have the full width: smaller bands for the rest save counting the entries of
    // each row.
    if constexpr (!Lengths && Band > 1)
      if (k < width) add_bands<Band / 2, Conjugate>(operands, sums, k);
  }

  /// Prefetches the elements that lie `ahead` elements after entries k to k + count - 1 of the rows first to
  /// first + rows_per_step - 1. If the row lengths are known, it leaves out columns with only padding.
  KOKKOS_FORCEINLINE_FUNCTION void prefetch(std::int64_t first, std::int64_t k, std::int64_t count) const {
    std::int64_t end_of_entries = k + count;
    if constexpr (Lengths) {
      const std::int64_t begin = first + (ahead >> log2_lanes);
      const std::int64_t end = begin + rows_per_step < row_count ? begin + rows_per_step : row_count;
      end_of_entries = 0;
      for (std::int64_t i = begin; i < end; ++i)
        end_of_entries = lengths[i] > end_of_entries ? static_cast<std::int64_t>(lengths[i]) : end_of_entries;
    }
    for (std::int64_t e = 0; e < count && k + e < end_of_entries; ++e) {
      // The entries of the T lanes of a row are neighbours, so one prefetch serves them all.
      if (!UnitStep && ((k + e) & (lanes() - 1)) != 0) continue;
      // A constant number of elements: the compiler unrolls it.
      prefetch_elements(values + offset(k + e) + first * lanes(), rows_per_step * lanes(), ahead);
      prefetch_elements(entries + offset(k + e) + first * lanes(), rows_per_step * lanes(), ahead);
    }
  }

  KOKKOS_FORCEINLINE_FUNCTION std::int64_t lanes() const {
    return UnitStep ? 1 : std::int64_t(1) << log2_lanes;
  }
  /// Position of entry k of the first row.
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t offset(std::int64_t k) const {
    return UnitStep ? k * stride : (k >> log2_lanes) * stride + (k & (lanes() - 1));
  }
  /// Positions from entry k - 1 of a row to entry k.
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t step_to(std::int64_t k) const {
    if (UnitStep) return stride;
    return (k & (lanes() - 1)) == 0 ? stride - (lanes() - 1) : 1;
  }
};

}  // namespace Filigree::Impl

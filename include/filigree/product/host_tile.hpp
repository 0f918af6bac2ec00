// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FILIGREE_PRODUCT_HOST_TILE_HPP
#define FILIGREE_PRODUCT_HOST_TILE_HPP

#include <cstdint>

#include "filigree/core/kokkos_versions.hpp"
#include "filigree/core/launch.hpp"
#include "filigree/core/load_once.hpp"
#include "filigree/core/scalar.hpp"

namespace Filigree {
namespace Impl {

/// Reads the column from an entry that is the column itself.
struct EntryIsColumn {
  template <class Ordinal>
  KOKKOS_FORCEINLINE_FUNCTION Ordinal operator()(Ordinal entry) const {
    return entry;
  }
};

/// RowTile::ahead in places where each column is a stream of its own: 32 to 192 took about as long.
constexpr std::int64_t row_tile_places_ahead = 96;

/// Neighbouring places of ELL or SELL as a host adds them: entry k of place i is at(k) + i * T elements from
/// the first one, so that those of T lanes of one row are neighbours. UnitStep: T is 1. Lengths: how many
/// entries each place has is known; else the first of padding, which has column -1, ends it.
///
/// A core goes through a band of columns row by row. Four columns of all places at a time, as streams, take
/// longer (times of Kokkos Kernels' CRS, one core of a Xeon and of an EPYC, ELL of qh1484 3273 times along
/// the diagonal 1.2 and 1.3, by columns 1.7 and 2.1, of 27-point 60^3 0.7 and 1.1, by columns 0.9 and 1.5).
template <class Scalar, class Entry, class Column, bool Lengths, bool UnitStep>
struct RowTile {
  const Scalar* first_value;
  const Entry* first_entry;
  /// Gives the column of an entry.
  Column column;
  /// From entry k to entry k + T.
  std::int64_t stride;
  int log2_lanes;
  std::int64_t element_count;
  /// Entries of a place, padding included.
  std::int64_t width;
  /// Entries of each place, those beyond the width included, where known.
  const Entry* lengths;
  /// How many elements ahead of those that it adds a core asks for as many: the prefetchers of a host end
  /// with each page, and it then waits for each of many short streams.
  std::int64_t ahead;

  /// Places that are added, and asked for, together: a cache line of columns in 32 bits.
  static constexpr std::int64_t chunk = 16;

  KOKKOS_FORCEINLINE_FUNCTION std::int64_t lanes() const {
    return UnitStep ? 1 : std::int64_t(1) << log2_lanes;
  }
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t at(std::int64_t k) const {
    return UnitStep ? k * stride : (k >> log2_lanes) * stride + (k & (lanes() - 1));
  }
  /// From entry k - 1 of a place to entry k.
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t step_to(std::int64_t k) const {
    if (UnitStep) return stride;
    return (k & (lanes() - 1)) == 0 ? stride - (lanes() - 1) : 1;
  }

  /// Asks for what is `ahead` of the entries k to k + count - 1 of a chunk; where lengths are known not for
  /// what is padding in all of its places, nor for what is behind the last place. (As many elements for each
  /// chunk: with a number that the compiler does not know ELL of 7-point 64^3 with four unknowns took 1.3
  /// times CRS on the EPYC, not 1.05.)
  KOKKOS_FORCEINLINE_FUNCTION void ask_ahead(std::int64_t first, std::int64_t k, std::int64_t count) const {
    std::int64_t end_of_entries = k + count;
    if constexpr (Lengths) {
      const std::int64_t begin = first + (ahead >> log2_lanes);
      const std::int64_t end = begin + chunk < element_count ? begin + chunk : element_count;
      end_of_entries = 0;
      for (std::int64_t i = begin; i < end; ++i)
        end_of_entries = lengths[i] > end_of_entries ? static_cast<std::int64_t>(lengths[i]) : end_of_entries;
    }
    for (std::int64_t e = 0; e < count && k + e < end_of_entries; ++e) {
      // Entries of T lanes are asked for together.
      if (!UnitStep && ((k + e) & (lanes() - 1)) != 0) continue;
      prefetch_run(first_value + at(k + e) + first * lanes(), chunk * lanes(), ahead);
      prefetch_run(first_entry + at(k + e) + first * lanes(), chunk * lanes(), ahead);
    }
  }

  /// sums += the products of the first `count` entries, at most Band, of a place, from its entry k on, which
  /// is the given one; of all Band if is_whole. Without lengths the first of padding ends them.
  template <int Band, bool Conjugate, class Operands>
  KOKKOS_FORCEINLINE_FUNCTION void add_place(const Operands& operands, typename Operands::sums_type& sums,
                                             const Scalar* value, const Entry* entry, std::int64_t k,
                                             std::int64_t count, bool is_whole) const {
    // A branch for each entry is predicted better than one that is taken `count` times.
    if (is_whole) {
      FILIGREE_UNROLL(16)
      for (int e = 0; e < Band; ++e) {
        operands.add(sums, conjugate_if<Conjugate>(*value), column(*entry));
        value += step_to(k + e + 1);
        entry += step_to(k + e + 1);
      }
    } else {
      FILIGREE_UNROLL(16)
      for (int e = 0; e < Band; ++e) {
        if (e >= count) break;
        const auto column_of_entry = column(*entry);
        if (!Lengths && column_of_entry < 0) break;
        operands.add(sums, conjugate_if<Conjugate>(*value), column_of_entry);
        value += step_to(k + e + 1);
        entry += step_to(k + e + 1);
      }
    }
  }

  /// sums[i] += the products of the entries of place i from k on, Band by Band. Without lengths, where places
  /// mostly have all of the width, its rest is added by smaller bands, so that no entry is counted (SELL,
  /// sorted, of 7-point 64^3 with four unknowns, one core of an EPYC: 0.90 times CRS, counted 1.04).
  template <int Band, bool Conjugate, class Operands>
  KOKKOS_FORCEINLINE_FUNCTION void add_bands(const Operands& operands, typename Operands::sums_type* sums,
                                             std::int64_t k = 0) const {
    for (; Lengths ? k < width : k + Band <= width; k += Band) {
      const Scalar* const values = first_value + at(k);
      const Entry* const entries = first_entry + at(k);
      const std::int64_t last = at(k + Band - 1) - at(k);
      const std::int64_t most = width - k < Band ? width - k : Band;
      for (std::int64_t first = 0; first < element_count; first += chunk) {
        const std::int64_t end = first + chunk < element_count ? first + chunk : element_count;
        // A slice with less is a line or two of one stream.
        if (element_count >= chunk) ask_ahead(first, k, most);
        for (std::int64_t i = first; i < end; ++i) {
          std::int64_t count = most;
          if constexpr (Lengths) count = lengths[i] - k < most ? lengths[i] - k : most;
          const bool is_whole = count == Band && (Lengths || column(entries[last + i * lanes()]) >= 0);
          typename Operands::sums_type sums_of_place;
          for (int c = 0; c < Operands::most_columns; ++c)
            sums_of_place[c] = sums[i][c];
          add_place<Band, Conjugate>(operands, sums_of_place, values + i * lanes(), entries + i * lanes(), k,
                                     count, is_whole);
          for (int c = 0; c < Operands::most_columns; ++c)
            sums[i][c] = sums_of_place[c];
        }
      }
    }
    if constexpr (!Lengths && Band > 1)
      if (k < width) add_bands<Band / 2, Conjugate>(operands, sums, k);
  }

  /// Adds the products of all entries of place i to sums[i].
  template <bool Conjugate, class Operands>
  KOKKOS_FORCEINLINE_FUNCTION void add(const Operands& operands, typename Operands::sums_type* sums) const {
    // A wide band goes through short rows once, but reads twice as many streams, which takes longer where
    // rows are long (ELL on the EPYC: of qh1484 1.3 times CRS, 1.6 with eight; of 7-point 64^3 with four
    // unknowns 1.4 times, 1.0 with eight). For more columns of x it gains less and takes long to compile.
    constexpr int wide = 16;
    if constexpr (Lengths && Operands::most_columns == 1)
      if (width <= wide) {
        add_bands<wide, Conjugate>(operands, sums);
        return;
      }
    add_bands<8, Conjugate>(operands, sums);
  }
};

/// Calls visit(tile) with the RowTile that begins at the given entries.
template <bool Lengths, class Scalar, class Entry, class Column, class Visit>
KOKKOS_FORCEINLINE_FUNCTION void visit_row_tile(const Scalar* value, const Entry* entry, const Column& column,
                                                std::int64_t stride, int log2_lanes,
                                                std::int64_t element_count, std::int64_t width,
                                                const Entry* lengths, std::int64_t ahead,
                                                const Visit& visit) {
  if (log2_lanes == 0)
    visit(RowTile<Scalar, Entry, Column, Lengths, true>{value, entry, column, stride, 0, element_count, width,
                                                        lengths, ahead});
  else
    visit(RowTile<Scalar, Entry, Column, Lengths, false>{value, entry, column, stride, log2_lanes,
                                                         element_count, width, lengths, ahead});
}

}  // namespace Impl
}  // namespace Filigree

#endif

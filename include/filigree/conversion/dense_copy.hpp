// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Conversion, refill and the way back for formats that have a place for each row and column of their pattern
// and cannot tell a zero there from padding: those of diagonals and of blocks. Each describes its places by a
// small struct of raw pointers, its Places:
//
//   scalar_type, ordinal_type
//   rows_are_contiguous           constexpr: whether the places of a row are neighbours
//   position(row, column)         where in values() that entry is stored, -1 where it has no place
//   values()
//   element_count(row)              places of a row
//   for_each_element(row, first, end, visit)
//                                 calls visit(column, position) for those of them from first to end - 1, by
//                                 ascending column; a place that is outside the matrix has a column that is,
//                                 and holds 0
#ifndef FILIGREE_CONVERSION_DENSE_COPY_HPP
#define FILIGREE_CONVERSION_DENSE_COPY_HPP

#include <cstdint>
#include <limits>

#include "filigree/conversion/build_crs.hpp"
#include "filigree/conversion/check_crs.hpp"
#include "filigree/core/binary_search.hpp"
#include "filigree/core/integer.hpp"
#include "filigree/core/launch.hpp"
#include "filigree/core/region.hpp"

namespace Filigree {
namespace Impl {

/// Writes the values of a CRS matrix to Places, T lanes a row. Mostly a row of the CRS ascends, as its places
/// do: each lane goes through a part of the places and through the entries that belong there, and writes each
/// place once, zeros too. So a lane reads a few neighbours at once: with whole rows, the caches of an H200
/// lost what it had not yet read (CDS of 7pt 64^3 b=8: 7.8 products in place of 1.5).
template <class ExecutionSpace, class Places, class Views>
struct DenseFill {
  using scalar_type = typename Places::scalar_type;
  using launch = RowLaunch<ExecutionSpace>;
  using member_type = typename launch::member_type;

  Places places;
  Views crs;
  std::int64_t row_count;
  int lanes;
  std::int64_t rows_per_gpu_team;

  /// T, for a mean number of entries a row. Where places of a column are neighbours at most so many that the
  /// neighbouring rows of 32 lanes have 32 bytes of it, which memory is written in: DIA of 7pt 80^3 b=8 in
  /// float took 3.7 products with 8 lanes a row.
  static int lanes_per_row(double entries_per_row) {
    const int most = Places::rows_are_contiguous ? 8 : static_cast<int>(sizeof(scalar_type));
    int lanes = 1;
    while (launch::gpu && lanes < most && entries_per_row > 12 * lanes)
      lanes *= 2;
    return lanes;
  }

  KOKKOS_INLINE_FUNCTION void operator()(const member_type& team) const {
    const std::int64_t of_team = launch::team_rows(team, row_count, rows_per_gpu_team);
    const std::int64_t first = team.league_rank() * of_team;
    const std::int64_t count = row_count - first < of_team ? row_count - first : of_team;
    Kokkos::parallel_for(Kokkos::TeamThreadRange(team, static_cast<int>(count)), [&](const int i) {
      const std::int64_t row = first + i;
      if (fill_full_row(team, row)) return;
      if (fill(team, row) == crs.end(row) - crs.begin(row)) return;
      wait(team);
      Kokkos::single(Kokkos::PerThread(team), [&]() { fill_in_any_order(row); });
    });
  }

  /// What the lanes of a row wrote is there before one goes on: a fence, and a sum for which all wait.
  KOKKOS_FORCEINLINE_FUNCTION void wait(const member_type& team) const {
    Kokkos::memory_fence();
    int arrived = 0;
    Kokkos::parallel_reduce(
        Kokkos::ThreadVectorRange(team, lanes), [](const int, int& sum) { ++sum; }, arrived);
  }

  /// On a GPU, where places of a row are neighbours and it has an entry in each, as a matrix of blocks mostly
  /// does, its lanes copy neighbours (refill of BSR of 7pt 80^3 b=8 in float, H200: 1.6 products, 2.1
  /// without). Returns whether that was so; else it may have written what does not count.
  KOKKOS_FORCEINLINE_FUNCTION bool fill_full_row(const member_type& team, const std::int64_t row) const {
    if constexpr (Places::rows_are_contiguous && launch::gpu) {
      const std::int64_t begin = crs.begin(row);
      const std::int64_t length = crs.end(row) - begin;
      if (length != places.element_count(row)) return false;
      std::int64_t found = 0;
      Kokkos::parallel_reduce(
          Kokkos::ThreadVectorRange(team, lanes),
          [&](const int lane, std::int64_t& sum) {
            for (std::int64_t k = lane; k < length; k += lanes)
              places.for_each_element(row, k, k + 1, [&](std::int64_t column, std::int64_t position) {
                if (static_cast<std::int64_t>(crs.entries[begin + k]) == column) ++sum;
                places.values()[position] = crs.values[begin + k];
              });
          },
          found);
      if (found == length) return true;
      wait(team);
    }
    return false;
  }

  /// Returns the number of entries that were written.
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t fill(const member_type& team, const std::int64_t row) const {
    const std::int64_t element_count = places.element_count(row);
    const std::int64_t share = quotient<typename Places::ordinal_type>(element_count + lanes - 1, lanes);
    std::int64_t found = 0;
    Kokkos::parallel_reduce(
        Kokkos::ThreadVectorRange(team, lanes),
        [&](const int lane, std::int64_t& sum) {
          const std::int64_t end = lane * share + share;
          sum += fill_part(row, lane * share, end < element_count ? end : element_count);
        },
        found);
    return found;
  }

  KOKKOS_FORCEINLINE_FUNCTION std::int64_t fill_part(const std::int64_t row, std::int64_t first_place,
                                                     std::int64_t end_place) const {
    const std::int64_t begin = crs.begin(row);
    const std::int64_t end = crs.end(row);
    constexpr std::int64_t no_column = std::numeric_limits<std::int64_t>::min();
    const auto column_of = [&](std::int64_t i) {
      return i < end ? static_cast<std::int64_t>(crs.entries[i]) : no_column;
    };
    std::int64_t i = first_place == 0 ? begin : -1;
    std::int64_t next_column = i < 0 ? no_column : column_of(i);
    std::int64_t found = 0;
    places.for_each_element(row, first_place, end_place, [&](std::int64_t column, std::int64_t position) {
      if (i < 0) {
        i = first_where(begin, end, [&](std::int64_t entry) { return column_of(entry) >= column; });
        next_column = column_of(i);
      }
      scalar_type value(0);
      while (column == next_column) {
        value += crs.values[i];
        ++found;
        next_column = column_of(++i);
      }
      places.values()[position] = value;
    });
    return found;
  }

  /// For a row that does not ascend, or names what has no place, which is left out. Clears what the row holds
  /// before adding, so that duplicates are summed in the order of the CRS.
  KOKKOS_INLINE_FUNCTION void fill_in_any_order(const std::int64_t row) const {
    for (std::int64_t i = crs.begin(row); i < crs.end(row); ++i) {
      const std::int64_t at = places.position(row, static_cast<std::int64_t>(crs.entries[i]));
      if (at >= 0) places.values()[at] = scalar_type(0);
    }
    for (std::int64_t i = crs.begin(row); i < crs.end(row); ++i) {
      const std::int64_t at = places.position(row, static_cast<std::int64_t>(crs.entries[i]));
      if (at >= 0) places.values()[at] += crs.values[i];
    }
  }
};

/// Compares a CRS matrix with Places and copies it from there, one lane a row.
template <class ExecutionSpace, class Places, class SizeType>
struct DenseCopy {
  using execution_space = ExecutionSpace;
  using scalar_type = typename Places::scalar_type;
  using ordinal_type = typename Places::ordinal_type;

  struct Compare {};
  struct Count {};
  struct Extract {};

  Places places;
  CrsViews<scalar_type, ordinal_type, SizeType> crs;
  // Set by build_crs.
  SizeType* crs_row_map = nullptr;
  ordinal_type* crs_entries = nullptr;
  scalar_type* crs_values = nullptr;

  template <class Crs>
  DenseCopy(const Places& places_, const Crs& crs_) : places(places_), crs(crs_) {}

  /// Differs where a stored value is not zero in a place that the CRS does not name, or the CRS names a place
  /// that is not stored.
  KOKKOS_INLINE_FUNCTION void operator()(Compare, const std::int64_t row, std::int64_t& first_bad) const {
    const std::int64_t begin = crs.begin(row);
    const std::int64_t length = crs.end(row) - begin;
    bool same = true;
    for (std::int64_t i = 0; same && i < length; ++i)
      same = places.position(row, static_cast<std::int64_t>(crs.entries[begin + i])) >= 0;
    // Both are mostly in the same order: looking on from the last find makes this one pass over each.
    std::int64_t cursor = 0;
    for_each_stored(row, [&](std::int64_t column, const scalar_type&) {
      std::int64_t tried = 0;
      while (tried < length && static_cast<std::int64_t>(crs.entries[begin + cursor]) != column) {
        cursor = cursor + 1 == length ? 0 : cursor + 1;
        ++tried;
      }
      same = same && tried < length;
    });
    if (!same && row < first_bad) first_bad = row;
  }

  KOKKOS_INLINE_FUNCTION void operator()(Count, const std::int64_t row) const {
    SizeType count = 0;
    for_each_stored(row, [&](std::int64_t, const scalar_type&) { ++count; });
    crs_row_map[row] = count;
  }

  KOKKOS_INLINE_FUNCTION void operator()(Extract, const std::int64_t row) const {
    std::int64_t at = static_cast<std::int64_t>(crs_row_map[row]);
    for_each_stored(row, [&](std::int64_t column, const scalar_type& value) {
      crs_entries[at] = static_cast<ordinal_type>(column);
      crs_values[at] = value;
      ++at;
    });
  }

  /// Calls visit(column, value) for the values of a row that are not zero.
  template <class Visit>
  KOKKOS_INLINE_FUNCTION void for_each_stored(const std::int64_t row, const Visit& visit) const {
    places.for_each_element(row, 0, places.element_count(row),
                            [&](std::int64_t column, std::int64_t position) {
                              const scalar_type value = places.values()[position];
                              if (value != scalar_type(0)) visit(column, value);
                            });
  }
};

/// The values of crs in their places: one kernel, "Filigree::<what>[<format>]". Writes all places, zeros
/// where the CRS has no entry.
template <class ExecutionSpace, class Crs, class Places>
void fill_dense(const ExecutionSpace& exec, const char* what, const char* format, const Places& places,
                const Crs& crs) {
  using Fill = DenseFill<ExecutionSpace, Places, crs_views_t<Crs>>;
  using launch = typename Fill::launch;
  const std::int64_t rows = static_cast<std::int64_t>(crs.numRows());
  if (rows == 0) return;
  const int lanes = Fill::lanes_per_row(static_cast<double>(crs.nnz()) / static_cast<double>(rows));
  Kokkos::parallel_for(label(what, format), launch::policy(exec, rows, launch::team_size, lanes),
                       Fill{places, crs_views_t<Crs>(crs), rows, lanes, launch::team_size / lanes});
}

/// The first row in which the patterns differ, or a number past all rows. Fences exec.
template <class ExecutionSpace, class Crs, class Places>
std::int64_t first_different_row_of_dense(const ExecutionSpace& exec, const char* format,
                                          const Places& places, const Crs& crs) {
  using Copy = DenseCopy<ExecutionSpace, Places, typename Crs::non_const_size_type>;
  std::int64_t row = std::numeric_limits<std::int64_t>::max();
  Kokkos::parallel_reduce(label("compare_pattern", format),
                          row_range<typename Copy::Compare>(exec, static_cast<std::int64_t>(crs.numRows())),
                          Copy(places, crs), Kokkos::Min<std::int64_t>(row));
  exec.fence();
  return row;
}

/// A CRS matrix of the values that are not zero.
template <class Crs, class ExecutionSpace, class Places>
Crs crs_of_dense(const ExecutionSpace& exec, const char* format, const Places& places,
                 typename Crs::non_const_ordinal_type rows, typename Crs::non_const_ordinal_type columns) {
  using Copy = DenseCopy<ExecutionSpace, Places, typename Crs::non_const_size_type>;
  return build_crs<Crs, typename Copy::Count, typename Copy::Extract>(exec, format, rows, columns,
                                                                      Copy(places, Crs()));
}

}  // namespace Impl
}  // namespace Filigree

#endif

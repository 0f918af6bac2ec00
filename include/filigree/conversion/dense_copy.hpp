// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Conversion from CRS, refill, and conversion to CRS for dense formats: the CDS formats, DIA, blocked ELL and
// BSR. They store an element for each (row, column) of their diagonals or blocks, whether or not the matrix
// has an entry there. A zero element cannot be told from padding.
//
// Each format describes its elements by a small struct of raw pointers (CdsElements, SymCdsElements,
// DictCdsElements, BellElements, BsrElements). The kernels of this file call it Elements:
//
//   scalar_type, ordinal_type
//   rows_are_contiguous       constexpr: whether the elements of a row are neighbours in memory
//   values()                  the array of values
//   value(position)           the value of an element
//   position(row, column)     the position of the element in values(), or no_position if there is none. If the
//                             format stores only the mirror image of the element, at position p, the result
//                             is mirror(p), which is negative
//   element_count(row)        the number of elements of a row
//   for_each_element(row, first, end, visit)
//                             calls visit(column, position) for the elements first to end - 1 of a row, by
//                             ascending column. A padding element holds 0; its column may lie outside the
//                             matrix, and then it may be left out.
#pragma once

#include <algorithm>

#include "filigree/conversion/block_elements.hpp"
#include "filigree/conversion/build_crs.hpp"
#include "filigree/conversion/check_crs.hpp"
#include "filigree/core/binary_search.hpp"

namespace Filigree::Impl {

/// Writes the values of a CRS matrix to the elements of a dense format, T lanes per row. Each lane takes an
/// equal part of a row's elements and the CRS entries that belong to them. It writes each element once, zeros
/// too. This needs rows sorted by column; other rows are detected and written again by one lane. One lane per
/// row would read so many rows of the CRS matrix at once that the caches of a GPU lose data before it is used
/// (see docs/performance.md, "Conversion to dense formats: lanes per row").
template <class ExecutionSpace, class Elements, class Views>
struct DenseFill {
  using scalar_type = typename Elements::scalar_type;
  using launch = RowLaunch<ExecutionSpace>;
  using member_type = typename launch::member_type;

  Elements elements;
  Views crs;
  std::int64_t row_count;
  int lanes;
  std::int64_t rows_per_gpu_team;

  /// T for a mean row length. If the elements of a column are neighbours in memory, T is limited so that 32
  /// lanes hold enough neighbouring rows to write 32 bytes, the unit in which a GPU writes memory (see
  /// docs/performance.md, "Conversion to dense formats: lanes per row").
  static int lanes_per_row(double entries_per_row) {
    const int most = Elements::rows_are_contiguous ? 8 : static_cast<int>(sizeof(scalar_type));
    int lanes = 1;
    while (launch::gpu && lanes < most && entries_per_row > 12 * lanes)
      lanes *= 2;
    return lanes;
  }

  KOKKOS_INLINE_FUNCTION void operator()(const member_type& team) const {
    const auto rows = launch::rows_of_team(team, row_count, rows_per_gpu_team);
    Kokkos::parallel_for(Kokkos::TeamThreadRange(team, rows.count), [&](const int i) {
      const std::int64_t row = rows.first + i;
      if (fill_full_row(team, row)) return;
      if (fill_sorted_row(team, row) == crs.length(row)) return;
      wait(team);
      Kokkos::single(Kokkos::PerThread(team), [&]() { fill_in_any_order(row); });
    });
  }

  /// Waits until all writes of the lanes of this row are visible to all of them: a fence, and a reduction as
  /// the barrier.
  KOKKOS_FORCEINLINE_FUNCTION void wait(const member_type& team) const {
    Kokkos::memory_fence();
    int arrived = 0;
    Kokkos::parallel_reduce(
        Kokkos::ThreadVectorRange(team, lanes), [](const int, int& sum) { ++sum; }, arrived);
  }

  /// A faster path on a GPU for formats in which the elements of a row are neighbours in memory. If the row
  /// has an entry for each element, in the same order, neighbouring lanes copy neighbouring elements (see
  /// docs/performance.md, "Conversion to dense formats: lanes per row"). Returns whether the row has these
  /// entries. If not, all its elements must be written again.
  KOKKOS_FORCEINLINE_FUNCTION bool fill_full_row(const member_type& team, const std::int64_t row) const {
    if constexpr (Elements::rows_are_contiguous && launch::gpu) {
      const std::int64_t begin = crs.begin(row);
      const std::int64_t length = crs.length(row);
      if (length != elements.element_count(row)) return false;
      std::int64_t found = 0;
      Kokkos::parallel_reduce(
          Kokkos::ThreadVectorRange(team, lanes),
          [&](const int lane, std::int64_t& sum) {
            for (std::int64_t k = lane; k < length; k += lanes)
              elements.for_each_element(row, k, k + 1, [&](std::int64_t column, std::int64_t position) {
                if (static_cast<std::int64_t>(crs.entries[begin + k]) == column) ++sum;
                elements.values()[position] = crs.values[begin + k];
              });
          },
          found);
      if (found == length) return true;
      wait(team);
    }
    return false;
  }

  /// Writes all elements of a row. Returns the number of entries that were found, which is less than the row
  /// length if the row is not sorted or has an entry without an element.
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t fill_sorted_row(const member_type& team,
                                                           const std::int64_t row) const {
    const std::int64_t element_count = elements.element_count(row);
    const std::int64_t elements_per_lane =
        quotient<typename Elements::ordinal_type>(element_count + lanes - 1, lanes);
    std::int64_t found = 0;
    Kokkos::parallel_reduce(
        Kokkos::ThreadVectorRange(team, lanes),
        [&](const int lane, std::int64_t& sum) {
          const std::int64_t end = lane * elements_per_lane + elements_per_lane;
          sum += fill_part(row, lane * elements_per_lane, end < element_count ? end : element_count);
        },
        found);
    return found;
  }

  /// The part of fill_sorted_row for the elements first_element to end_element - 1.
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t fill_part(const std::int64_t row, std::int64_t first_element,
                                                     std::int64_t end_element) const {
    const std::int64_t begin = crs.begin(row);
    const std::int64_t end = crs.end(row);
    // Not std::numeric_limits, about which nvcc warns in device code.
    constexpr std::int64_t no_column = INT64_MIN;
    const auto column_of = [&](std::int64_t i) {
      return i < end ? static_cast<std::int64_t>(crs.entries[i]) : no_column;
    };
    std::int64_t i = first_element == 0 ? begin : -1;
    std::int64_t next_column = i < 0 ? no_column : column_of(i);
    std::int64_t found = 0;
    elements.for_each_element(
        row, first_element, end_element, [&](std::int64_t column, std::int64_t position) {
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
          // A mirror image is written by the row that stores it.
          if (position >= 0) elements.values()[position] = value;
        });
    return found;
  }

  /// Writes a row that is not sorted or has entries without an element, which it leaves out. It clears
  /// elements before it adds to them, so that duplicates are summed in the order of the CRS matrix.
  KOKKOS_INLINE_FUNCTION void fill_in_any_order(const std::int64_t row) const {
    for (std::int64_t i = crs.begin(row); i < crs.end(row); ++i) {
      const std::int64_t position = elements.position(row, static_cast<std::int64_t>(crs.entries[i]));
      if (position >= 0) elements.values()[position] = scalar_type(0);
    }
    for (std::int64_t i = crs.begin(row); i < crs.end(row); ++i) {
      const std::int64_t position = elements.position(row, static_cast<std::int64_t>(crs.entries[i]));
      if (position >= 0) elements.values()[position] += crs.values[i];
    }
  }
};

/// Compares a CRS matrix with the elements of a dense format (Mark, then FindUnmarked), or copies the
/// elements that are not zero to a CRS matrix (Count, then Extract). One lane per row.
template <class Elements, class Views>
struct DenseCopy {
  using scalar_type = typename Elements::scalar_type;
  using ordinal_type = typename Views::ordinal_type;
  using size_type = typename Views::size_type;

  struct Mark {};
  struct FindUnmarked {};
  struct Count {};
  struct Extract {};

  Elements elements;
  Views crs;
  /// For each element 1 if the CRS matrix has an entry for it, else 0. Marks make the comparison one pass
  /// over entries and elements, in whatever order the entries are.
  unsigned char* marks = nullptr;
  // build_crs sets these three.
  size_type* crs_row_map = nullptr;
  ordinal_type* crs_entries = nullptr;
  scalar_type* crs_values = nullptr;

  template <class Crs>
  DenseCopy(const Elements& elements_, const Crs& crs_) : elements(elements_), crs(crs_) {}

  /// The numbers of calls of Count and of Extract.
  std::int64_t count_calls(std::int64_t rows) const { return rows; }
  std::int64_t extract_calls(std::int64_t rows) const { return rows; }

  /// Marks the elements of all entries, and finds the first row with an entry that has no element.
  KOKKOS_INLINE_FUNCTION void operator()(Mark, const std::int64_t row, std::int64_t& first_bad) const {
    for (std::int64_t i = crs.begin(row); i < crs.end(row); ++i) {
      const std::int64_t position = elements.position(row, static_cast<std::int64_t>(crs.entries[i]));
      if (position == no_position)
        first_bad = row < first_bad ? row : first_bad;
      else if (position >= 0)
        marks[position] = 1;
    }
  }

  /// Finds the first row with an element that is not zero and not marked.
  KOKKOS_INLINE_FUNCTION void operator()(FindUnmarked, const std::int64_t row,
                                         std::int64_t& first_bad) const {
    for_each_nonzero(row, [&](std::int64_t, std::int64_t position) {
      if (marks[position < 0 ? mirror(position) : position] == 0 && row < first_bad) first_bad = row;
    });
  }

  KOKKOS_INLINE_FUNCTION void operator()(Count, const std::int64_t row) const {
    size_type count = 0;
    for_each_nonzero(row, [&](std::int64_t, std::int64_t) { ++count; });
    crs_row_map[row] = count;
  }

  KOKKOS_INLINE_FUNCTION void operator()(Extract, const std::int64_t row) const {
    std::int64_t i = static_cast<std::int64_t>(crs_row_map[row]);
    for_each_nonzero(row, [&](std::int64_t column, std::int64_t position) {
      crs_entries[i] = static_cast<ordinal_type>(column);
      crs_values[i] = elements.value(position);
      ++i;
    });
  }

  /// Calls visit(column, position) for the elements of a row that are not zero.
  template <class Visit>
  KOKKOS_INLINE_FUNCTION void for_each_nonzero(const std::int64_t row, const Visit& visit) const {
    elements.for_each_element(row, 0, elements.element_count(row),
                              [&](std::int64_t column, std::int64_t position) {
                                if (elements.value(position) != scalar_type(0)) visit(column, position);
                              });
  }
};

/// The first row in which the pattern of a CRS matrix differs from that of A, a matrix of a dense format: an
/// entry has no element, or an element that is not zero has no entry. If the patterns agree, none_found.
/// Takes one byte per value of A while it runs. Fences exec.
template <class ExecutionSpace, class Matrix, class Elements, class Crs>
std::int64_t first_different_dense_row(const ExecutionSpace& exec, const char* format, const Matrix& A,
                                       const Elements& elements, const Crs& crs) {
  using Copy = DenseCopy<Elements, crs_views_t<Crs>>;
  const std::int64_t rows = static_cast<std::int64_t>(crs.numRows());
  const Kokkos::View<unsigned char*, typename Crs::device_type> marks(
      Kokkos::view_alloc(exec, label("marks", format)), A.values.extent(0));
  Copy copy(elements, crs);
  copy.marks = marks.data();
  const std::int64_t row = find_first<typename Copy::Mark>(exec, "compare_pattern", format, rows, copy);
  return std::min(row, find_first<typename Copy::FindUnmarked>(exec, "compare_pattern", format, rows, copy));
}

/// Writes the values of a CRS matrix to all elements, and zeros to elements without an entry. One kernel,
/// "Filigree::<what>[<format>]", and no fence.
template <class ExecutionSpace, class Crs, class Elements>
void fill_dense(const ExecutionSpace& exec, const char* what, const char* format, const Elements& elements,
                const Crs& crs) {
  using Fill = DenseFill<ExecutionSpace, Elements, crs_views_t<Crs>>;
  using launch = typename Fill::launch;
  const std::int64_t rows = static_cast<std::int64_t>(crs.numRows());
  if (rows == 0) return;
  const int lanes = Fill::lanes_per_row(static_cast<double>(crs.nnz()) / static_cast<double>(rows));
  Kokkos::parallel_for(label(what, format), launch::policy(exec, rows, launch::team_size, lanes),
                       Fill{elements, crs_views_t<Crs>(crs), rows, lanes, launch::team_size / lanes});
}

}  // namespace Filigree::Impl

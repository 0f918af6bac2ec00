// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "filigree/conversion/check_crs.hpp"
#include "filigree/conversion/slots.hpp"
#include "filigree/core/allocate_view.hpp"

namespace Filigree::Impl {

/// Counts or lists the rows that have at least `least` and at most `most` entries.
template <class Views, class Ordinal>
struct ListRows {
  using value_type = std::int64_t;
  struct Count {};
  struct List {};

  Views crs;
  std::int64_t least;
  std::int64_t most;
  Ordinal* list;

  KOKKOS_FORCEINLINE_FUNCTION bool listed(std::int64_t row) const {
    return crs.length(row) >= least && crs.length(row) <= most;
  }
  KOKKOS_INLINE_FUNCTION void operator()(Count, const std::int64_t row, std::int64_t& count) const {
    if (listed(row)) ++count;
  }
  KOKKOS_INLINE_FUNCTION void operator()(List, const std::int64_t row, std::int64_t& count,
                                         const bool final) const {
    if (!listed(row)) return;
    if (final) list[count] = static_cast<Ordinal>(row);
    ++count;
  }
};

/// The number of rows that have at least `least` and at most `most` entries. Fences exec.
template <class ExecutionSpace, class Crs>
std::int64_t count_rows(const ExecutionSpace& exec, const char* format, const Crs& crs, std::int64_t least,
                        std::int64_t most) {
  using Work = ListRows<crs_views_t<Crs>, typename Crs::non_const_ordinal_type>;
  std::int64_t count = 0;
  Kokkos::parallel_reduce(label("count_rows", format),
                          row_range<typename Work::Count>(exec, static_cast<std::int64_t>(crs.numRows())),
                          Work{crs_views_t<Crs>(crs), least, most, nullptr}, count);
  exec.fence();
  return count;
}

/// Writes the rows that have at least `least` and at most `most` entries to list, in ascending order. list
/// needs room for count_rows() elements.
template <class ExecutionSpace, class Crs, class Ordinal>
void list_rows(const ExecutionSpace& exec, const char* format, const Crs& crs, std::int64_t least,
               std::int64_t most, Ordinal* list) {
  using Work = ListRows<crs_views_t<Crs>, Ordinal>;
  Kokkos::parallel_scan(label("list_rows", format),
                        row_range<typename Work::List>(exec, static_cast<std::int64_t>(crs.numRows())),
                        Work{crs_views_t<Crs>(crs), least, most, list});
}

/// The rows without entries, in ascending order. `count` is their number.
template <class EntriesView, class ExecutionSpace, class Crs>
EntriesView empty_rows(const ExecutionSpace& exec, const char* format, const Crs& crs, std::int64_t count) {
  const auto list = allocate_view<EntriesView>(exec, "empty_rows", format, count);
  if (count > 0) list_rows(exec, format, crs, 0, 0, list.data());
  return list;
}

/// Finds the rows without entries from the sorted rows of the entries, without a row map. Gap i lies between
/// the rows of entries i - 1 and i; gap 0 lies before the first entry, and gap nnz after the last one. Begins
/// is a scan that counts the rows in the gaps before each gap. List writes the rows, with one lane per strip
/// of the list, because a few gaps may have all the rows.
template <class ExecutionSpace, class Ordinal>
struct RowGaps {
  using execution_space = ExecutionSpace;
  using value_type = std::int64_t;
  struct Begins {};
  struct List {};

  const Ordinal* rows;
  std::int64_t nnz;
  std::int64_t row_count;
  std::int64_t* begins;
  std::int64_t list_length = 0;
  Ordinal* list = nullptr;

  KOKKOS_FORCEINLINE_FUNCTION std::int64_t row_before(std::int64_t gap) const {
    return gap > 0 ? static_cast<std::int64_t>(rows[gap - 1]) : -1;
  }
  KOKKOS_INLINE_FUNCTION void operator()(Begins, const std::int64_t gap, std::int64_t& count,
                                         const bool final) const {
    if (final) begins[gap] = count;
    const std::int64_t row = gap < nnz ? static_cast<std::int64_t>(rows[gap]) : row_count;
    if (row > row_before(gap)) count += row - row_before(gap) - 1;
  }
  KOKKOS_INLINE_FUNCTION void operator()(List, const std::int64_t strip) const {
    SlotGroup gap;
    SlotStrip<ExecutionSpace>::for_each(strip, list_length, [&](std::int64_t i) {
      if (!gap.has(i))
        gap = find_group(gap.number, nnz + 1, i,
                         [&](std::int64_t g) { return g <= nnz ? begins[g] : list_length; });
      list[i] = static_cast<Ordinal>(row_before(gap.number) + 1 + i - gap.begin);
    });
  }
};

/// The rows without entries, in ascending order. `rows` are the sorted rows of the entries. Fences exec.
/// Besides the result it takes 8 bytes per entry, plus 8.
template <class Rows, class ExecutionSpace>
Rows empty_rows_of_sorted(const ExecutionSpace& exec, const char* format, const Rows& rows,
                          std::int64_t row_count) {
  using Gaps = RowGaps<ExecutionSpace, typename Rows::non_const_value_type>;
  const std::int64_t nnz = static_cast<std::int64_t>(rows.extent(0));
  const auto begins = allocate_view<Kokkos::View<std::int64_t*, typename Rows::device_type>>(
      exec, "gap_begins", format, nnz + 1);
  Gaps gaps{rows.data(), nnz, row_count, begins.data()};
  std::int64_t count = 0;
  Kokkos::parallel_scan(label("gap_begins", format), row_range<typename Gaps::Begins>(exec, nnz + 1), gaps,
                        count);
  exec.fence();
  const auto list = allocate_view<Rows>(exec, "empty_rows", format, count);
  gaps.list_length = count;
  gaps.list = list.data();
  for_each_strip<typename Gaps::List>(exec, "empty_rows", format, count, gaps);
  // The kernel must end before begins is freed.
  exec.fence();
  return list;
}

}  // namespace Filigree::Impl

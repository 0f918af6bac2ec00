// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "filigree/conversion/check_crs.hpp"
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

}  // namespace Filigree::Impl

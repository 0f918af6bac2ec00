// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Conversion, refill and the way back for formats that keep the entries of a CRS matrix as they came.
#ifndef FILIGREE_CORE_ROW_COPY_HPP
#define FILIGREE_CORE_ROW_COPY_HPP

#include <cstdint>
#include <limits>

#include "filigree/core/check_crs.hpp"
#include "filigree/core/launch.hpp"
#include "filigree/core/region.hpp"
#include "filigree/core/row_map.hpp"
#include "filigree/core/rows.hpp"

namespace Filigree {
namespace Impl {

/// Copies between a CRS matrix and Rows (rows.hpp), a lane a strip of slots.
template <class ExecutionSpace, class Rows, class SizeType>
struct RowCopy {
  using execution_space = ExecutionSpace;
  using scalar_type = typename Rows::scalar_type;
  using ordinal_type = typename Rows::ordinal_type;

  struct Fill {};
  struct Refill {};
  struct CompareLengths {};
  struct CompareColumns {};
  struct Count {};
  struct Extract {};

  Rows rows;
  CrsViews<scalar_type, ordinal_type, SizeType> crs;
  // Set by build_crs.
  SizeType* crs_row_map = nullptr;
  ordinal_type* crs_entries = nullptr;
  scalar_type* crs_values = nullptr;

  template <class Crs>
  RowCopy(const Rows& rows_, const Crs& crs_) : rows(rows_), crs(crs_) {}

  /// Calls visit(group, at, row, i) for the slots of a strip: i is the entry of the CRS that belongs there,
  /// -1 if none does, and row is its row.
  template <class Visit>
  KOKKOS_FORCEINLINE_FUNCTION void for_each_slot(const SizeType* row_map, std::int64_t strip,
                                                 const Visit& visit) const {
    SlotGroup group;
    std::int64_t place = -1;
    std::int64_t row = -1;
    std::int64_t begin = 0;
    std::int64_t length = 0;
    SlotStrip<ExecutionSpace>::for_each(strip, rows.slots(), [&](std::int64_t slot) {
      if (!group.has(slot)) group = rows.group(slot, group.number);
      const SlotEntry entry = rows.entry(group, slot);
      if (entry.place != place) {
        place = entry.place;
        row = place < 0 ? -1 : rows.target(place);
        begin = row < 0 ? 0 : static_cast<std::int64_t>(row_map[row]);
        length = row < 0 ? 0 : static_cast<std::int64_t>(row_map[row + 1]) - begin;
      }
      if (place >= 0) visit(group, entry.at, row, entry.k < length ? begin + entry.k : -1);
    });
  }

  /// Writes the padding too, also that of places without a row.
  KOKKOS_INLINE_FUNCTION void operator()(Fill, const std::int64_t strip) const {
    for_each_slot(crs.row_map, strip,
                  [&](const SlotGroup& group, std::int64_t at, std::int64_t, std::int64_t i) {
                    rows.value_at(at) = i < 0 ? scalar_type(0) : crs.values[i];
                    rows.set_column_at(group, at, i < 0 ? -1 : static_cast<std::int64_t>(crs.entries[i]));
                  });
  }

  KOKKOS_INLINE_FUNCTION void operator()(Refill, const std::int64_t strip) const {
    for_each_slot(crs.row_map, strip, [&](const SlotGroup&, std::int64_t at, std::int64_t, std::int64_t i) {
      if (i >= 0) rows.value_at(at) = crs.values[i];
    });
  }

  KOKKOS_INLINE_FUNCTION void operator()(CompareLengths, const std::int64_t i,
                                         std::int64_t& first_bad) const {
    const std::int64_t row = rows.target(i);
    if (row >= 0 && row < first_bad && crs.end(row) - crs.begin(row) != row_length(rows, i)) first_bad = row;
  }

  /// Where all lengths are the same.
  KOKKOS_INLINE_FUNCTION void operator()(CompareColumns, const std::int64_t strip,
                                         std::int64_t& first_bad) const {
    for_each_slot(
        crs.row_map, strip, [&](const SlotGroup& group, std::int64_t at, std::int64_t row, std::int64_t i) {
          const bool same = i < 0 || rows.column_at(group, at) == static_cast<std::int64_t>(crs.entries[i]);
          if (!same && row < first_bad) first_bad = row;
        });
  }

  KOKKOS_INLINE_FUNCTION void operator()(Count, const std::int64_t i) const {
    const std::int64_t row = rows.target(i);
    if (row >= 0) crs_row_map[row] = static_cast<SizeType>(row_length(rows, i));
  }

  KOKKOS_INLINE_FUNCTION void operator()(Extract, const std::int64_t strip) const {
    for_each_slot(crs_row_map, strip,
                  [&](const SlotGroup& group, std::int64_t at, std::int64_t, std::int64_t i) {
                    if (i < 0) return;
                    crs_values[i] = rows.value_at(at);
                    crs_entries[i] = static_cast<ordinal_type>(rows.column_at(group, at));
                  });
  }
};

/// Writes all entries and all padding of a new matrix.
template <class ExecutionSpace, class Crs, class Rows>
void fill_rows(const ExecutionSpace& exec, const char* format, const Rows& rows, const Crs& crs) {
  using Copy = RowCopy<ExecutionSpace, Rows, typename Crs::non_const_size_type>;
  for_each_strip<typename Copy::Fill>(exec, "convert", format, rows.slots(), Copy(rows, crs));
}

/// The first row that has another length, or if there is none another column, or a number past all rows.
/// Fences exec.
template <class ExecutionSpace, class Crs, class Rows>
std::int64_t first_different_row_of(const ExecutionSpace& exec, const char* format, const Rows& rows,
                                    const Crs& crs) {
  using Copy = RowCopy<ExecutionSpace, Rows, typename Crs::non_const_size_type>;
  const std::int64_t none = std::numeric_limits<std::int64_t>::max();
  std::int64_t row = none;
  const auto compare = [&](auto tag, std::int64_t count) {
    Kokkos::parallel_reduce(label("compare_pattern", format), row_range<decltype(tag)>(exec, count),
                            Copy(rows, crs), Kokkos::Min<std::int64_t>(row));
    exec.fence();
  };
  compare(typename Copy::CompareLengths(), rows.count());
  if (row == none) compare(typename Copy::CompareColumns(), SlotStrip<ExecutionSpace>::strips(rows.slots()));
  return row;
}

/// The values of crs in their places: one kernel.
template <class ExecutionSpace, class Crs, class Rows>
void refill_rows(const ExecutionSpace& exec, const char* format, const Rows& rows, const Crs& crs) {
  using Copy = RowCopy<ExecutionSpace, Rows, typename Crs::non_const_size_type>;
  for_each_strip<typename Copy::Refill>(exec, "refill", format, rows.slots(), Copy(rows, crs));
}

template <class ExecutionSpace, class Scalar>
struct CopyValues {
  using execution_space = ExecutionSpace;
  const Scalar* from;
  Scalar* to;

  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t i) const { to[i] = from[i]; }
};

/// The same for formats that keep the entries in the order of the CRS.
template <class ExecutionSpace, class Crs, class Values>
void copy_values(const ExecutionSpace& exec, const char* format, const Crs& crs, const Values& values) {
  using Copy = CopyValues<ExecutionSpace, typename Values::non_const_value_type>;
  Kokkos::parallel_for(label("refill", format),
                       row_range<void>(exec, static_cast<std::int64_t>(values.extent(0))),
                       Copy{crs.values.data(), values.data()});
}

/// A CRS matrix of the extents of A, which is stored as Rows: the entries of a row in the order that A was
/// converted from.
template <class Crs, class ExecutionSpace, class Matrix, class Rows>
Crs crs_of_rows(const ExecutionSpace& exec, const Matrix& A, const Rows& rows) {
  using Copy = RowCopy<ExecutionSpace, Rows, typename Crs::non_const_size_type>;
  return build_crs<Crs, typename Copy::Count, typename Copy::Extract>(
      exec, A.name(), A.numRows(), A.numCols(), Copy(rows, Crs()), rows.count(),
      SlotStrip<ExecutionSpace>::strips(rows.slots()));
}

}  // namespace Impl
}  // namespace Filigree

#endif

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Copies the excess entries of a CRS matrix: the entries of each row beyond the width of the ELL part of a
// hybrid format.
#pragma once

#include <cstdint>

#include "filigree/conversion/build_crs.hpp"
#include "filigree/conversion/check_crs.hpp"
#include "filigree/conversion/row_list.hpp"
#include "filigree/conversion/slots.hpp"
#include "filigree/core/launch.hpp"
#include "filigree/core/region.hpp"

namespace Filigree::Impl {

/// Writes the number of excess entries of each row of a list.
template <class ExecutionSpace, class Views, class Ordinal, class Offset>
struct CountExcess {
  using execution_space = ExecutionSpace;
  Views crs;
  const Ordinal* list;
  std::int64_t width;
  Offset* counts;

  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t i) const {
    const std::int64_t row = static_cast<std::int64_t>(list[i]);
    counts[i] = static_cast<Offset>(crs.end(row) - crs.begin(row) - width);
  }
};

/// The offsets of the excess entries of the rows of a list, as a row map: one element per listed row, and one
/// more with the number of all excess entries. Each listed row must be longer than the width.
template <class Offset, class ExecutionSpace, class Crs, class RowList>
auto excess_offsets(const ExecutionSpace& exec, const char* format, const Crs& crs, const RowList& list,
                    std::int64_t width) {
  using Views = crs_views_t<Crs>;
  using Count = CountExcess<ExecutionSpace, Views, typename RowList::non_const_value_type, Offset>;
  const std::int64_t rows = static_cast<std::int64_t>(list.extent(0));
  Kokkos::View<Offset*, typename RowList::device_type> offsets(
      Kokkos::view_alloc(exec, label("excess_row_map", format)), static_cast<std::size_t>(rows) + 1);
  Kokkos::parallel_for(label("count_excess", format), row_range<void>(exec, rows),
                       Count{Views(crs), list.data(), width, offsets.data()});
  Kokkos::parallel_scan(label("excess_row_map", format), row_range<void>(exec, rows + 1),
                        ExclusiveSum<ExecutionSpace, Offset>{offsets.data()});
  return offsets;
}

/// Copies the excess entries of the rows of a list, with one lane per strip of excess entries. If `rows` is
/// not null, also writes the row of each excess entry.
template <class ExecutionSpace, class Views, class Scalar, class Ordinal, class Offset>
struct CopyExcess {
  using execution_space = ExecutionSpace;
  Views crs;
  const Ordinal* list;
  std::int64_t list_length;
  const Offset* offsets;
  std::int64_t nnz;
  std::int64_t width;
  Scalar* values;
  Ordinal* entries;
  Ordinal* rows;

  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t strip) const {
    SlotGroup group;
    SlotStrip<ExecutionSpace>::for_each(strip, nnz, [&](std::int64_t slot) {
      if (!group.has(slot))
        group = find_group(group.number, list_length, slot,
                           [&](std::int64_t listed) { return static_cast<std::int64_t>(offsets[listed]); });
      const Ordinal row = list[group.number];
      const std::int64_t i = crs.begin(static_cast<std::int64_t>(row)) + width + (slot - group.begin);
      values[slot] = crs.values[i];
      entries[slot] = crs.entries[i];
      if (rows != nullptr) rows[slot] = row;
    });
  }
};

/// Launches CopyExcess for the rows of a list. offsets are the excess_offsets of the list.
template <class ExecutionSpace, class Crs, class RowList, class Offsets, class Values, class Entries>
void copy_excess(const ExecutionSpace& exec, const char* format, const Crs& crs, const RowList& list,
                 const Offsets& offsets, std::int64_t width, const Values& values, const Entries& entries,
                 typename Entries::non_const_value_type* rows) {
  using Scalar = typename Values::non_const_value_type;
  using Ordinal = typename Entries::non_const_value_type;
  using Copy =
      CopyExcess<ExecutionSpace, crs_views_t<Crs>, Scalar, Ordinal, typename Offsets::non_const_value_type>;
  const auto nnz = static_cast<std::int64_t>(values.extent(0));
  for_each_strip<void>(exec, "convert_excess", format, nnz,
                       Copy{crs_views_t<Crs>(crs), list.data(), static_cast<std::int64_t>(list.extent(0)),
                            offsets.data(), nnz, width, values.data(), entries.data(), rows});
}

}  // namespace Filigree::Impl

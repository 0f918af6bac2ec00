// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Code that the conversions to the hybrid formats (HYB, HEC) have in common: it chooses the width and copies
// the excess entries.
#pragma once

#include "filigree/conversion/row_histogram.hpp"
#include "filigree/conversion/row_list.hpp"
#include "filigree/formats/ell/ell_convert.hpp"
#include "filigree/formats/hybrid/hybrid_width.hpp"

namespace Filigree::Impl {

/// How the entries of a CRS matrix are divided between the ELL part of a hybrid format and the excess
/// entries.
struct HybridPlan {
  std::int64_t longest_row = 0;  ///< length of the longest row
  std::int64_t width = 0;        ///< width of the ELL part
  std::int64_t excess_nnz = 0;   ///< number of excess entries
  std::int64_t excess_rows = 0;  ///< number of rows that have excess entries
};

/// Chooses the width of the ELL part by the rule of the options, and checks the size of the result
/// (check_count, check_storage). excess_bytes(n, r) is the size of the part that holds n excess entries of r
/// rows. Error messages begin with `function`. Fences exec.
///
/// While it runs, it takes 8 bytes on the host, and on a GPU 8 more on the device, for each width that the
/// rule may choose: the given width, or about 3 times the mean row length, and never more than the length of
/// the longest row.
template <class Ell, class ExecutionSpace, class Crs, class Options, class ExcessBytes>
HybridPlan plan_hybrid(const ExecutionSpace& exec, const char* function, const char* format, const Crs& crs,
                       const Options& options, const ExcessBytes& excess_bytes) {
  const std::int64_t rows = static_cast<std::int64_t>(crs.numRows());
  const std::int64_t nnz = static_cast<std::int64_t>(crs.nnz());
  const auto ell_part_bytes = [&](std::int64_t width) { return ell_bytes<Ell>(rows, width); };
  HybridPlan plan;
  plan.longest_row = longest_row(exec, format, crs);
  check_count<typename Ell::ordinal_type>(function, plan.longest_row, "entries in its longest row");
  const std::int64_t most = most_hybrid_width(options.width_rule, options.width, rows, nnz, plan.longest_row,
                                              excess_bytes(nnz, rows), ell_part_bytes);
  const auto within = host_copy(exec, entries_within<Kokkos::View<std::int64_t*, typename Crs::device_type>>(
                                          exec, "entries_within", format, crs, most + 1));
  const auto reaching = [&](std::int64_t length) {
    return length == 0 ? rows : within(length) - within(length - 1);
  };
  const auto bytes = [&](std::int64_t width) {
    return ell_part_bytes(width) + excess_bytes(nnz - within(width), reaching(width + 1));
  };
  plan.width =
      hybrid_width(function, options.width_rule, options.width, most, reaching, bytes, ell_part_bytes);
  plan.excess_nnz = nnz - within(plan.width);
  plan.excess_rows = reaching(plan.width + 1);
  check_storage<typename Ell::size_type>(function, ell_largest_offset<Ell>(rows, plan.width),
                                         bytes(plan.width), crs, options, [&](std::ostream& why) {
                                           explain_longest_row(why, crs, plan.longest_row);
                                           why << ", and the ELL part is " << plan.width << " wide";
                                         });
  return plan;
}

/// Makes the ELL part of the plan.
template <class Ell, class ExecutionSpace, class Crs>
Ell convert_ell_part(const ExecutionSpace& exec, const char* format, const Crs& crs, const HybridPlan& plan) {
  const std::int64_t nnz = static_cast<std::int64_t>(crs.nnz()) - plan.excess_nnz;
  return make_ell<Ell>(exec, format, crs, nnz, plan.width, 1, true);
}

/// Writes the number of excess entries of each row of a list.
template <class Views, class Ordinal, class Offset>
struct CountExcess {
  Views crs;
  const Ordinal* list;
  std::int64_t width;
  Offset* counts;

  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t i) const {
    counts[i] = static_cast<Offset>(crs.length(static_cast<std::int64_t>(list[i])) - width);
  }
};

/// The offsets of the excess entries of the rows of a list, as a row map: one element per listed row, and one
/// more with the number of all excess entries. Each listed row must be longer than the width.
template <class Offset, class ExecutionSpace, class Crs, class RowList>
auto excess_offsets(const ExecutionSpace& exec, const char* format, const Crs& crs, const RowList& list,
                    std::int64_t width) {
  using Count = CountExcess<crs_views_t<Crs>, typename RowList::non_const_value_type, Offset>;
  const std::int64_t rows = static_cast<std::int64_t>(list.extent(0));
  Kokkos::View<Offset*, typename RowList::device_type> offsets(
      Kokkos::view_alloc(exec, label("excess_row_map", format)), static_cast<std::size_t>(rows) + 1);
  Kokkos::parallel_for(label("count_excess", format), row_range<void>(exec, rows),
                       Count{crs_views_t<Crs>(crs), list.data(), width, offsets.data()});
  Kokkos::parallel_scan(label("excess_row_map", format), row_range<void>(exec, rows + 1),
                        ExclusiveSum<Offset>{offsets.data()});
  return offsets;
}

/// Copies the excess entries of the rows of a list, with one lane per strip of excess entries. If `rows` is
/// not null, also writes the row of each excess entry.
template <class ExecutionSpace, class Views, class Scalar, class Ordinal, class Offset>
struct CopyExcess {
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
template <class ExecutionSpace, class Crs, class Offsets, class Values, class Entries>
void copy_excess(const ExecutionSpace& exec, const char* format, const Crs& crs, const Entries& list,
                 const Offsets& offsets, std::int64_t width, const Values& values, const Entries& entries,
                 typename Entries::non_const_value_type* rows) {
  using Copy = CopyExcess<ExecutionSpace, crs_views_t<Crs>, typename Values::non_const_value_type,
                          typename Entries::non_const_value_type, typename Offsets::non_const_value_type>;
  const auto nnz = static_cast<std::int64_t>(values.extent(0));
  for_each_strip<void>(exec, "convert_excess", format, nnz,
                       Copy{crs_views_t<Crs>(crs), list.data(), static_cast<std::int64_t>(list.extent(0)),
                            offsets.data(), nnz, width, values.data(), entries.data(), rows});
}

}  // namespace Filigree::Impl

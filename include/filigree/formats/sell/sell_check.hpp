// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "filigree/core/view_checker.hpp"
#include "filigree/formats/sell/sell_layout.hpp"

namespace Filigree::Impl {

/// The first stored row of each slice of a SELL matrix, then the number of stored rows. Checks the Views that
/// have one element per row or slice.
template <class ExecutionSpace, class Sell>
std::vector<std::int64_t> check_sell_slices(const ViewChecker<ExecutionSpace>& checker, const Sell& sell) {
  const auto rows = static_cast<std::int64_t>(sell.numRows());
  const std::int64_t height = sell.slice_height();
  const std::int64_t slices = sell.numSlices();
  checker.extents(sell);
  checker.power_of_two("slice_height()", height, 1024);
  checker.power_of_two("lanes_per_row()", sell.lanes_per_row(), sell.slice_rows.extent(0) > 0 ? 1 : 32);
  if (sell.permutation.extent(0) > 0) checker.permutation("permutation", sell.permutation, rows);

  std::vector<std::int64_t> first_rows;
  if (sell.slice_rows.extent(0) > 0) {
    checker.size("slice_rows", sell.slice_rows, slices + 1, "one per slice and one more");
    const auto list = checker.elements(sell.slice_rows);
    checker.offsets("slice_rows", list, rows);
    for (std::size_t slice = 0; slice < list.extent(0); ++slice)
      first_rows.push_back(static_cast<std::int64_t>(list(slice)));
    for (std::size_t slice = 0; slice + 1 < list.extent(0); ++slice)
      if (list(slice + 1) - list(slice) < 1 || list(slice + 1) - list(slice) > height)
        checker.refuse("slice_rows", " gives slice ", slice, " ", list(slice + 1) - list(slice),
                       " rows; it must have 1 to ", height);
  } else {
    checker.size("slice_widths", sell.slice_widths, (rows + height - 1) / height, "one per slice");
    for (std::int64_t slice = 0; slice <= slices; ++slice)
      first_rows.push_back(slice * height);
  }

  const auto widths = checker.elements(sell.slice_widths);
  checker.range("slice_widths", widths, 0, static_cast<std::int64_t>(sell.values.extent(0)));
  const auto size = static_cast<std::int64_t>(sell.values.extent(0));
  if (slices == 0 && sell.slice_offsets.extent(0) == 0) return first_rows;
  checker.size("slice_offsets", sell.slice_offsets, slices + 1, "one per slice and one more");
  const auto offsets = checker.elements(sell.slice_offsets);
  checker.offsets("slice_offsets", offsets, size);
  for (std::size_t slice = 0; slice < widths.extent(0); ++slice) {
    const auto width = static_cast<std::int64_t>(widths(slice));
    const std::int64_t rows_of_slice = first_rows[slice + 1] - first_rows[slice];
    if (width % sell.lanes_per_row() != 0)
      checker.refuse("slice_widths", "(", slice, ") is ", width, "; it must be a multiple of the ",
                     sell.lanes_per_row(), " lanes per row");
    if (offsets(slice + 1) - offsets(slice) != width * rows_of_slice)
      checker.refuse("slice_offsets", " gives slice ", slice, " ", offsets(slice + 1) - offsets(slice),
                     " elements; it must have ", width * rows_of_slice, ", its width ", width, " times its ",
                     rows_of_slice, " rows");
  }
  return first_rows;
}

/// Checks the Views of SellOptions::short_columns. The slices must be right.
template <class ExecutionSpace, class Sell>
void check_short_columns(const ViewChecker<ExecutionSpace>& checker, const Sell& sell) {
  const std::int64_t slices = sell.numSlices();
  checker.size("column_bases", sell.column_bases, slices, "one per slice");
  checker.size("column_offsets", sell.column_offsets, slices, "one per slice");
  const auto bases = checker.elements(sell.column_bases);
  const auto starts = checker.elements(sell.column_offsets);
  const auto offsets = checker.elements(sell.slice_offsets);
  for (std::size_t slice = 0; slice < bases.extent(0); ++slice) {
    const std::int64_t size = offsets(slice + 1) - offsets(slice);
    const bool is_short = bases(slice) >= 0;
    const auto room =
        static_cast<std::int64_t>(is_short ? sell.short_entries.extent(0) : sell.entries.extent(0));
    if (bases(slice) < -1)
      checker.refuse("column_bases", "(", slice, ") is ", bases(slice),
                     "; it must be the smallest column of the slice, or -1");
    if (starts(slice) < 0 || starts(slice) > room - size)
      checker.refuse("column_offsets", "(", slice, ") is ", starts(slice), "; the ", size,
                     " elements of the slice must lie in the ", room, " elements of ",
                     is_short ? "short_entries" : "entries");
  }
}

/// check() of a SELL matrix.
template <class ExecutionSpace, class S, class O, class D, class M, class Z>
void check_matrix(const ViewChecker<ExecutionSpace>& checker, const SellMatrix<S, O, D, M, Z>& sell) {
  const std::vector<std::int64_t> first_rows = check_sell_slices(checker, sell);
  const bool has_short_columns = sell.column_bases.extent(0) > 0;
  if (has_short_columns)
    check_short_columns(checker, sell);
  else
    checker.size("entries", sell.entries, static_cast<std::int64_t>(sell.values.extent(0)), "one per value");

  const auto values = checker.elements(sell.values);
  const auto entries = checker.elements(sell.entries);
  const auto short_entries = checker.elements(sell.short_entries);
  const auto offsets = checker.elements(sell.slice_offsets);
  const auto widths = checker.elements(sell.slice_widths);
  const auto bases = checker.elements(sell.column_bases);
  const auto starts = checker.elements(sell.column_offsets);
  const std::int64_t lanes = sell.lanes_per_row();
  std::int64_t nnz = 0;
  for (std::size_t slice = 0; slice < widths.extent(0); ++slice)
    for (std::int64_t row = first_rows[slice]; row < first_rows[slice + 1]; ++row) {
      const std::int64_t height = first_rows[slice + 1] - first_rows[slice];
      const auto in_slice = [&](std::int64_t k) {
        return (k / lanes) * (height * lanes) + (row - first_rows[slice]) * lanes + k % lanes;
      };
      const auto column = [&](std::int64_t k) -> std::int64_t {
        if (!has_short_columns) return entries(static_cast<std::size_t>(offsets(slice) + in_slice(k)));
        const auto at = static_cast<std::size_t>(starts(slice) + in_slice(k));
        return bases(slice) < 0 ? entries(at)
                                : EntryIsDistance<std::int64_t>{bases(slice)}(short_entries(at));
      };
      // Stored rows beyond the last row of the matrix only fill a slice.
      const std::int64_t length = row < static_cast<std::int64_t>(sell.numRows()) ? -1 : 0;
      nnz +=
          checker.padded_row(row, static_cast<std::int64_t>(widths(slice)), length,
                             static_cast<std::int64_t>(sell.numCols()), column, [&](std::int64_t k) {
                               return values(static_cast<std::size_t>(offsets(slice) + in_slice(k))) == S(0);
                             });
    }
  checker.number("nnz()", static_cast<std::int64_t>(sell.nnz()), nnz, nnz, "the number of entries");
}

}  // namespace Filigree::Impl

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How a host thread multiplies one chunk of a balanced product. balanced_product.hpp describes the algorithm.
#pragma once

#include "filigree/product/balanced_join.hpp"
#include "filigree/product/row_product.hpp"

namespace Filigree::Impl {

/// Multiplies the entries of `chunk`, which are begin to end - 1, one row after the other. Product is a
/// ChunkProduct. If UnitStride is true, x has unit stride.
///
/// A row often has the length of the row before it. If that row was long, known_end() finds most entries of
/// this row at once. The rest is found entry by entry, or by known_end() again if the layout knows the ends of
/// rows. Entries are prefetched for each row (see docs/performance.md, "Balanced product on hosts"). The rows
/// between two rows with entries have none.
template <bool UnitStride, bool Conjugate, class Product>
KOKKOS_INLINE_FUNCTION void multiply_chunk_on_host(const Product& product, const std::int64_t chunk,
                                                   const std::int64_t begin, const std::int64_t end) {
  using operands_type = typename Product::operands_type;
  using accumulator_type = typename Product::accumulator_type;
  using layout_type = typename Product::layout_type;
  using entries_of_row = StridedEntries<std::remove_pointer_t<decltype(layout_type::values)>,
                                        std::remove_pointer_t<decltype(layout_type::entries)>>;
  constexpr std::int64_t most_short = 16;

  const layout_type& entries = product.entries;
  const operands_type operands = product.operands.template with_stride<UnitStride>();
  typename operands_type::sums_type sums = {};
  std::int64_t row = entries.first_row(chunk);
  bool begun_here = entries.row_begins_at(row, begin);
  const auto finish_row = [&](bool ends_here) {
    for (int c = 0; c < operands_type::most_columns && product.operands.has(c); ++c) {
      if (!begun_here)
        product.carry.head(chunk, c) = sums[c];
      else if (!ends_here)
        product.carry.tail(chunk, c) = sums[c];
      else
        product.operands.store(sums[c], row, c);
      sums[c] = accumulator_type(0);
    }
  };
  // Scales y in rows without entries: rows first to last - 1, as far as they are in rows_to_scale().
  const RowRange to_scale = entries.rows_to_scale(chunk, end);
  const auto scale_rows = [&](std::int64_t first, std::int64_t last) {
    const std::int64_t stop = last < to_scale.end ? last : to_scale.end;
    for (std::int64_t r = first > to_scale.begin ? first : to_scale.begin; r < stop; ++r)
      product.operands.store(typename operands_type::sums_type{}, r);
  };
  scale_rows(0, row);
  // The length of the previous row. The first row counts as short, because nothing is known of it.
  std::int64_t length = 1;
  for (std::int64_t i = begin;;) {
    const std::int64_t first = i;
    if (length > most_short) {
      entries.prefetch(first, length);
      i = entries.known_end(row, first, end, length);
      add_on_host<false, Conjugate>(
          operands, sums, entries_of_row{entries.values + first, entries.entries + first, 1, i - first});
    } else {
      entries.prefetch(first, 1);
    }
    if constexpr (layout_type::knows_row_ends) {
      for (const std::int64_t row_end = entries.known_end(row, i, end, length); i < row_end; ++i)
        operands.add(sums, conjugate_if<Conjugate>(entries.values[i]), entries.entries[i]);
    } else {
      for (; i < end && entries.row_has(row, i); ++i)
        operands.add(sums, conjugate_if<Conjugate>(entries.values[i]), entries.entries[i]);
    }
    length = i - first;
    if (i == end) break;
    finish_row(true);
    const std::int64_t next_row = entries.row_after(row, i);
    scale_rows(row + 1, next_row);
    row = next_row;
    begun_here = true;
  }
  finish_row(end == entries.nnz || !entries.row_has(row, end));
  scale_rows(row + 1, to_scale.end);
}

}  // namespace Filigree::Impl

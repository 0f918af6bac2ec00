// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How a host thread multiplies one chunk of a balanced product. balanced_product.hpp describes the algorithm.
#pragma once

#include "filigree/product/balanced_join.hpp"
#include "filigree/product/row_product.hpp"

namespace Filigree::Impl {

/// Leaves the partial sums of a cut row in the carry, as the head or as the tail of a chunk.
template <class Product, class Sums>
KOKKOS_FORCEINLINE_FUNCTION void leave_partial_sums(const Product& product, const std::int64_t chunk,
                                                    const bool is_head, const Sums& sums) {
  for (int c = 0; c < Product::operands_type::most_columns && product.operands.has(c); ++c)
    (is_head ? product.carry.head(chunk, c) : product.carry.tail(chunk, c)) = sums[c];
}

/// Multiplies the entries begin to end - 1, which are a part of a cut row. Like multiply_rows_on_host(), it is not
/// inlined by force.
template <bool UnitStride, bool Conjugate, class Product>
KOKKOS_FUNCTION void multiply_part_on_host(const Product& product, const std::int64_t chunk,
                                           const bool is_head, const std::int64_t begin,
                                           const std::int64_t end) {
  const auto operands = product.operands.template with_stride<UnitStride>();
  typename Product::operands_type::sums_type sums = {};
  add_row_on_host<Conjugate>(operands, sums,
                             neighbours(product.entries.values, product.entries.entries, begin, end));
  leave_partial_sums(product, chunk, is_head, sums);
}

/// multiply_rows_on_host(), but rows without entries are left out.
template <bool UnitStride, bool Conjugate, class Layout, class Operands>
KOKKOS_FUNCTION void multiply_rows_with_entries_on_host(const Layout& layout, const Operands& operands,
                                                        const std::int64_t first, const std::int64_t end) {
  // Local copies as in multiply_rows_on_host().
  const Layout rows = layout;
  const Operands of_product = operands.template with_stride<UnitStride>();
  for (std::int64_t row = rows.next_with_entries(first); row < end; row = rows.next_with_entries(row + 1)) {
    typename Operands::sums_type sums = {};
    add_row_on_host<Conjugate>(
        of_product, sums, neighbours(rows.values, rows.entries, rows.begin_of(row), rows.begin_of(row + 1)));
    of_product.store(sums, row);
  }
}

/// Multiplies the entries begin to end - 1 of a layout with a row map. The row of the first entry may begin in an
/// earlier chunk, and the row of the last entry may end in a later one. The rows between are multiplied as in the
/// product with one lane per row.
template <bool UnitStride, bool Conjugate, class Product>
KOKKOS_INLINE_FUNCTION void multiply_chunk_with_row_map(const Product& product, const std::int64_t chunk,
                                                        const std::int64_t begin, const std::int64_t end) {
  const auto& entries = product.entries;
  const RowRange rows = entries.rows_of_chunk(chunk, end);
  std::int64_t row = rows.begin;
  if (entries.begin_of(row) < begin) {
    const std::int64_t row_end = entries.begin_of(row + 1);
    multiply_part_on_host<UnitStride, Conjugate>(product, chunk, true, begin, row_end < end ? row_end : end);
    if (row_end > end) return;
    ++row;
  }
  // The rows from `row` to stop - 1 lie in this chunk. A chunk with too many rows leaves out those without entries:
  // empty_rows has them.
  const std::int64_t stop = end < entries.nnz ? rows.end - 1 : rows.end;
  if (entries.are_many(rows))
    multiply_rows_with_entries_on_host<UnitStride, Conjugate>(entries, product.operands, row, stop);
  else
    multiply_rows_on_host<UnitStride, Conjugate>(entries, product.operands, row, stop);
  if (stop < rows.end && entries.begin_of(stop) < end)
    multiply_part_on_host<UnitStride, Conjugate>(product, chunk, false, entries.begin_of(stop), end);
}

/// Multiplies the entries begin to end - 1 of a layout that stores the row of each entry, in steps of four entries. If
/// the last of them is in the row of the first, the others are too, because entries are sorted by row.
template <bool UnitStride, bool Conjugate, class Product>
KOKKOS_INLINE_FUNCTION void multiply_chunk_with_rows(const Product& product, const std::int64_t chunk,
                                                     const std::int64_t begin, const std::int64_t end) {
  using operands_type = typename Product::operands_type;
  using sums_type = typename operands_type::sums_type;
  constexpr bool one_column = operands_type::most_columns == 1;
  // A reference, because COO was not faster with a copy.
  const auto& entries = product.entries;
  const auto operands = product.operands.template with_stride<UnitStride>();
  const auto all = neighbours(entries.values, entries.entries, 0, end);
  bool begun_here = entries.row_begins_at(entries.row_of(begin), begin);
  for (std::int64_t i = begin; i < end; begun_here = true) {
    const std::int64_t row = entries.row_of(i);
    sums_type sums = {};
    [[maybe_unused]] sums_type others[3] = {};
    entries.prefetch(i);
    for (; i + 4 <= end && entries.row_of(i + 3) == row; i += 4) {
      entries.prefetch(i + 4);
      if constexpr (one_column)
        add_four_on_host<Conjugate>(operands, sums, others, all, i);
      else
        for (int k = 0; k < 4; ++k)
          operands.add(sums, conjugate_if<Conjugate>(all.value(i + k)), all.column(i + k));
    }
    if constexpr (one_column) join_four_sums<operands_type>(sums, others);
    for (; i < end && entries.row_of(i) == row; ++i)
      operands.add(sums, conjugate_if<Conjugate>(all.value(i)), all.column(i));
    const bool ends_here = i < end || end == entries.nnz || entries.row_of(end) != row;
    if (begun_here && ends_here)
      operands.store(sums, row);
    else
      leave_partial_sums(product, chunk, !begun_here, sums);
  }
}

/// Multiplies the entries of `chunk`, which are begin to end - 1. Product is a ChunkProduct. If UnitStride is true, x
/// has unit stride. Entries are prefetched (see docs/performance.md, "Prefetching on hosts").
template <bool UnitStride, bool Conjugate, class Product>
KOKKOS_INLINE_FUNCTION void multiply_chunk_on_host(const Product& product, const std::int64_t chunk,
                                                   const std::int64_t begin, const std::int64_t end) {
  if constexpr (Product::layout_type::has_row_map)
    multiply_chunk_with_row_map<UnitStride, Conjugate>(product, chunk, begin, end);
  else
    multiply_chunk_with_rows<UnitStride, Conjugate>(product, chunk, begin, end);
}

}  // namespace Filigree::Impl

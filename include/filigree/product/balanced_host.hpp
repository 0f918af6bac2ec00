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

/// Multiplies the entries begin to end - 1, which are a part of a cut row. The compiler may leave it out of line: the
/// loop over whole rows is faster if it is alone in its function (see docs/performance.md, "Balanced product on
/// hosts").
template <bool Conjugate, class Product, class Operands>
KOKKOS_FUNCTION void multiply_part_on_host(const Product& product, const Operands& operands,
                                           const std::int64_t chunk, const bool is_head,
                                           const std::int64_t begin, const std::int64_t end) {
  typename Operands::sums_type sums = {};
  add_row_on_host<Conjugate>(operands, sums,
                             neighbours(product.entries.values, product.entries.entries, begin, end));
  leave_partial_sums(product, chunk, is_head, sums);
}

/// Multiplies the entries begin to end - 1 of a layout with a row map. The row of the first entry may begin in an
/// earlier chunk, and the row of the last entry may end in a later one. The rows between are multiplied as in the
/// product with one lane per row.
template <bool UnitStride, bool Conjugate, class Product>
KOKKOS_INLINE_FUNCTION void multiply_chunk_with_row_map(const Product& product, const std::int64_t chunk,
                                                        const std::int64_t begin, const std::int64_t end) {
  // Local copies, because after a store to y the compiler loads members of `product` again.
  const auto entries = product.entries;
  const auto operands = product.operands.template with_stride<UnitStride>();
  const RowRange rows = entries.rows_of_chunk(chunk, end);
  std::int64_t row = rows.begin;
  if (entries.begin_of(row) < begin) {
    const std::int64_t row_end = entries.begin_of(row + 1);
    multiply_part_on_host<Conjugate>(product, operands, chunk, true, begin, row_end < end ? row_end : end);
    if (row_end > end) return;
    ++row;
  }
  // The rows from `row` to stop - 1 lie in this chunk. A chunk with too many rows leaves out those without entries:
  // empty_rows has them.
  const std::int64_t stop = end < entries.nnz ? rows.end - 1 : rows.end;
  const bool skips_empty = entries.are_many(rows);
  for (;; ++row) {
    if (skips_empty) row = entries.next_with_entries(row);
    if (row >= stop) break;
    typename Product::operands_type::sums_type sums = {};
    add_row_on_host<Conjugate>(operands, sums, entries.entries_of_row(row));
    operands.store(sums, row);
  }
  if (stop < rows.end && entries.begin_of(stop) < end)
    multiply_part_on_host<Conjugate>(product, operands, chunk, false, entries.begin_of(stop), end);
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

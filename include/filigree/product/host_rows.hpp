// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The loops of a host over the entries of rows:
//
//   add_on_host            one row of any layout
//   add_row_on_host        one row of CRS
//   add_row_in_vectors     one row of CRS with fewer branches. The order of the additions is another one
//   multiply_rows_on_host  neighbouring rows of CRS
#pragma once

#include <cstring>

#include "filigree/core/four.hpp"
#include "filigree/core/mode.hpp"
#include "filigree/product/operands.hpp"
#include "filigree/product/row_layout.hpp"

namespace Filigree::Impl {

/// Adds the products of entries j to j + 3 to four sums, which are `sums` and `others`: entry j + i to sum i.
template <bool Conjugate, class Operands, class Entries>
KOKKOS_FORCEINLINE_FUNCTION void add_four_on_host(const Operands& operands,
                                                  typename Operands::sums_type& sums,
                                                  typename Operands::sums_type (&others)[3],
                                                  const Entries& entries,
                                                  const std::decay_t<decltype(Entries::count)> j) {
  operands.add(sums, conjugate_if<Conjugate>(entries.value(j)), entries.column_once(j));
  FILIGREE_UNROLL(3)
  for (int i = 0; i < 3; ++i)
    operands.add(others[i], conjugate_if<Conjugate>(entries.value(j + 1 + i)),
                 entries.column_once(j + 1 + i));
}

/// The sum of four sums, in `sums`.
template <class Operands>
KOKKOS_FORCEINLINE_FUNCTION void join_four_sums(typename Operands::sums_type& sums,
                                                const typename Operands::sums_type (&others)[3]) {
  sums[0] += others[1][0] + (others[0][0] + others[2][0]);
}

/// The loop over the entries of one row on a host: sums += value(j) * x(column(j), :).
///
/// Without padding and with one column of x there are four sums: entry j of the groups of four is added to sum j % 4.
/// Then the sums are joined, and the last one to three entries are added. With one sum, each addition would wait for
/// the one before (see docs/performance.md, "Four sums per row on hosts").
template <bool Padded, bool Conjugate, class Operands, class Entries>
KOKKOS_FORCEINLINE_FUNCTION void add_on_host(const Operands& operands, typename Operands::sums_type& sums,
                                             const Entries& entries) {
  std::decay_t<decltype(entries.count)> j = 0;
  if constexpr (!Padded && Operands::most_columns == 1) {
    typename Operands::sums_type others[3] = {};
    for (; j + 4 <= entries.count; j += 4)
      add_four_on_host<Conjugate>(operands, sums, others, entries, j);
    join_four_sums<Operands>(sums, others);
  }
  for (; j < entries.count; ++j) {
    const auto column = entries.column_once(j);
    if (!Padded || column >= 0) operands.add(sums, conjugate_if<Conjugate>(entries.value(j)), column);
  }
}

/// Adds the products of all entries, which are one to three, in their order. It is not a lambda, because GCC does not
/// always inline a lambda early enough to keep the sums in registers (see docs/performance.md, "Short rows of CRS on
/// hosts").
template <bool Conjugate, class Operands, class Entries>
KOKKOS_FORCEINLINE_FUNCTION void add_up_to_three_on_host(const Operands& operands,
                                                         typename Operands::sums_type& sums,
                                                         const Entries& entries) {
  operands.add(sums, conjugate_if<Conjugate>(entries.value(0)), entries.column_once(0));
  if (entries.count == 1) return;
  operands.add(sums, conjugate_if<Conjugate>(entries.value(1)), entries.column_once(1));
  if (entries.count == 2) return;
  operands.add(sums, conjugate_if<Conjugate>(entries.value(2)), entries.column_once(2));
}

/// add_on_host() for a row of CRS without padding: its entries are neighbours, and those of the next row follow. The
/// order of the additions is the same. It prefetches entries of later rows (see docs/performance.md, "Prefetching on
/// hosts"). For speed, pointers move from step to step, and rows of less than four entries have a path of their own
/// (see docs/performance.md, "Rows of CRS on hosts").
template <bool Conjugate, class Operands, class Scalar, class Ordinal>
KOKKOS_FORCEINLINE_FUNCTION void add_row_on_host(const Operands& operands, typename Operands::sums_type& sums,
                                                 NeighbourEntries<Scalar, Ordinal> entries) {
  if constexpr (Operands::most_columns > 1) {
    prefetch_ahead(entries.values, entries.count);
    prefetch_ahead(entries.entries, entries.count);
    add_on_host<false, Conjugate>(operands, sums, entries);
  } else {
    if (entries.count == 0) return;
    constexpr int block = 8;
    prefetch_ahead(entries.values, block);
    // A row of less than four entries prefetches no column indices, and its code comes first. Both make it faster (see
    // docs/performance.md, "Short rows of CRS on hosts").
    if (expect(entries.count < 4)) return add_up_to_three_on_host<Conjugate>(operands, sums, entries);
    prefetch_ahead(entries.entries, block);
    typename Operands::sums_type others[3] = {};
    for (; entries.count >= block; entries.skip(block)) {
      prefetch_ahead(entries.values + block, block);
      prefetch_ahead(entries.entries + block, block);
      add_four_on_host<Conjugate>(operands, sums, others, entries, 0);
      add_four_on_host<Conjugate>(operands, sums, others, entries, 4);
    }
    if (entries.count >= 4) {
      add_four_on_host<Conjugate>(operands, sums, others, entries, 0);
      entries.skip(4);
    }
    join_four_sums<Operands>(sums, others);
    if (entries.count > 0) add_up_to_three_on_host<Conjugate>(operands, sums, entries);
  }
}

/// Whether add_row_in_vectors() exists for a product: one column of x, and A, x and the sums are all float or all double.
template <class Operands, class Scalar>
constexpr bool has_vectors = std::conjunction_v<
    std::bool_constant<Four<Scalar>::exists>, std::bool_constant<Operands::most_columns == 1>,
    std::bool_constant<Operands::x_is_in_memory>, std::is_same<Scalar, typename Operands::x_type>,
    std::is_same<Scalar, typename Operands::accumulator_type>>;

/// products = values[i] * x(columns[i]) for i = 0 to 3. It has no result, because GCC warns about functions that return
/// such a vector if the processor has no registers of that size.
template <class Operands, class Scalar, class Ordinal>
KOKKOS_FORCEINLINE_FUNCTION void multiply_four(typename Four<Scalar>::type& products,
                                               const Operands& operands, const Scalar* const values,
                                               const Ordinal* const columns) {
  std::memcpy(&products, values, sizeof(products));
  products *= typename Four<Scalar>::type{operands.x(columns[0], 0), operands.x(columns[1], 0),
                                          operands.x(columns[2], 0), operands.x(columns[3], 0)};
}

/// The entries that add_row_in_vectors() multiplies in one step. Its last step may load up to so many entries after the
/// end of the row: all of them if the row is empty.
constexpr int vector_group = 8;

/// Adds the products of one row of CRS on a host: entry j is added to sum j % 4. If a processor cannot predict the row
/// lengths, it cannot predict the branches of add_row_on_host(), and a branch that it predicts wrong takes as long as
/// several entries. Here only the loop over the groups of entries branches. The last group may reach beyond the row: it
/// multiplies the entries there, and adds 0 instead of their products (see docs/performance.md, "Rows of differing
/// length on hosts").
template <class Operands, class Scalar, class Ordinal>
KOKKOS_FORCEINLINE_FUNCTION void add_row_in_vectors(const Operands& operands,
                                                    typename Operands::sums_type& sums,
                                                    NeighbourEntries<const Scalar, Ordinal> entries) {
  using vector_type = typename Four<Scalar>::type;
  vector_type sum = {};
  vector_type products;
  prefetch_ahead(entries.values, vector_group);
  prefetch_ahead(entries.entries, vector_group);
  for (; entries.count > vector_group; entries.skip(vector_group)) {
    prefetch_ahead(entries.values + vector_group, vector_group);
    prefetch_ahead(entries.entries + vector_group, vector_group);
    multiply_four(products, operands, entries.values, entries.entries);
    sum += products;
    multiply_four(products, operands, entries.values + 4, entries.entries + 4);
    sum += products;
  }
  const vector_type zeros = {};
  const vector_type first_numbers = {0, 1, 2, 3};
  const vector_type last_numbers = {4, 5, 6, 7};
  const auto count = static_cast<Scalar>(entries.count);
  multiply_four(products, operands, entries.values, entries.entries);
  sum += first_numbers < count ? products : zeros;
  multiply_four(products, operands, entries.values + 4, entries.entries + 4);
  sum += last_numbers < count ? products : zeros;
  sums[0] += (sum[0] + sum[2]) + (sum[1] + sum[3]);
}

/// Multiplies rows first to end - 1 one after the other; `first` must be less than `end`. If InVectors is true, it uses
/// add_row_in_vectors(), and stops before the first row that ends after entry nnz - vector_group, because that function
/// may load entries after the row, which do not exist there. Returns the first row that is left.
template <bool InVectors, bool Conjugate, class Layout, class Operands>
KOKKOS_FORCEINLINE_FUNCTION std::int64_t multiply_each_row_on_host(const Layout& rows,
                                                                   const Operands& operands,
                                                                   const std::int64_t first,
                                                                   const std::int64_t end,
                                                                   const std::int64_t nnz) {
  std::int64_t begin = rows.begin_of(first);
  std::int64_t row = first;
  for (; row < end; ++row) {
    const std::int64_t row_end = rows.begin_of(row + 1);
    if (InVectors && row_end > nnz - vector_group) break;
    const auto entries = neighbours(rows.values, rows.entries, begin, row_end);
    typename Operands::sums_type sums = {};
    if constexpr (InVectors)
      add_row_in_vectors(operands, sums, entries);
    else
      add_row_on_host<Conjugate>(operands, sums, entries);
    operands.store(sums, row);
    begin = row_end;
  }
  return row;
}

/// Multiplies rows first to end - 1 of a layout with begin_of(row) on a host. If UnitStride is true, x has unit stride.
/// The function is not inlined by force, because balanced CRS is faster if this loop is alone in a function (see
/// docs/performance.md, "Short rows of CRS on hosts").
template <bool UnitStride, bool Conjugate, class Layout, class Operands>
KOKKOS_FUNCTION void multiply_rows_on_host(const Layout& layout, const Operands& operands,
                                           const std::int64_t first, const std::int64_t end) {
  // After a store to y the compiler loads members of `layout` and `operands` again, but not those of local copies.
  const Layout rows = layout;
  const Operands of_product = operands.template with_stride<UnitStride>();
  if (first >= end) return;
  const std::int64_t nnz = rows.begin_of(rows.row_count);
  std::int64_t row = first;
  if constexpr (has_vectors<Operands, typename Layout::scalar_type>)
    if (rows.in_vectors) row = multiply_each_row_on_host<true, Conjugate>(rows, of_product, row, end, nnz);
  if (row < end) multiply_each_row_on_host<false, Conjugate>(rows, of_product, row, end, nnz);
}

}  // namespace Filigree::Impl

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "filigree/conversion/check_crs.hpp"
#include "filigree/conversion/row_copy.hpp"
#include "filigree/conversion/row_list.hpp"
#include "filigree/conversion/stable_sort.hpp"
#include "filigree/core/allocate_view.hpp"
#include "filigree/core/initialized.hpp"
#include "filigree/formats/coo/coo_layout.hpp"

namespace Filigree {
namespace Impl {

/// Writes the row of each entry of a CRS matrix. One lane writes one strip of entries.
template <class ExecutionSpace, class Views, class Ordinal>
struct WriteRows {
  using execution_space = ExecutionSpace;
  Views crs;
  std::int64_t row_count;
  std::int64_t nnz;
  Ordinal* rows;

  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t strip) const {
    SlotGroup row;
    SlotStrip<ExecutionSpace>::for_each(strip, nnz, [&](std::int64_t i) {
      if (!row.has(i))
        row = find_group(row.number, row_count, i, [&](std::int64_t r) { return crs.begin(r); });
      rows[i] = static_cast<Ordinal>(row.number);
    });
  }
};

/// Sets the chunks of a COO matrix or of the COO part of another format. Fences exec.
template <class ExecutionSpace, class S, class O, class D, class M, class Z>
void find_chunks(const ExecutionSpace& exec, const char* format, CooMatrix<S, O, D, M, Z>& coo) {
  using Layout = CooLayout<ExecutionSpace, S, O>;
  find_chunk_begins(exec, format, Layout(coo), coo.chunks);
  find_cut_rows(exec, format, Layout(coo), coo.chunks);
}

/// convert<CooMatrix> of a checked CRS matrix. Fences exec to read the number of rows without entries. Takes
/// no memory besides the result.
template <class ExecutionSpace, class Crs, class S, class O, class D, class M, class Z>
void convert_from_crs(const ExecutionSpace& exec, const Crs& crs, const CooOptions& options,
                      CooMatrix<S, O, D, M, Z>& result) {
  using Coo = CooMatrix<S, O, D, M, Z>;
  using Views = CrsViews<S, O, Z>;
  const std::int64_t rows = static_cast<std::int64_t>(crs.numRows());
  const std::int64_t nnz = static_cast<std::int64_t>(crs.nnz());
  const std::int64_t empty = count_rows(exec, Coo::name(), crs, 0, 0);
  check_storage<Z>("Filigree::convert<CooMatrix>", static_cast<double>(nnz),
                   static_cast<double>(nnz) * (sizeof(S) + 2 * sizeof(O)) +
                       static_cast<double>(empty) * sizeof(O) +
                       static_cast<double>(chunk_bytes<ExecutionSpace>(nnz)),
                   crs, options, [&](std::ostream& why) {
                     why << "a row index for each of the " << nnz << " entries of " << rows << " rows";
                   });
  result = Coo(crs.numRows(), crs.numCols(),
               allocate_view<typename Coo::values_type>(exec, "values", Coo::name(), nnz),
               allocate_view<typename Coo::entries_type>(exec, "entries", Coo::name(), nnz),
               allocate_view<typename Coo::entries_type>(exec, "rows", Coo::name(), nnz),
               empty_rows<typename Coo::entries_type>(exec, Coo::name(), crs, empty), {});
  if (nnz == 0) return;
  Kokkos::deep_copy(exec, result.values, crs.values);
  Kokkos::deep_copy(exec, result.entries, crs.graph.entries);
  for_each_strip<void>(exec, "convert", Coo::name(), nnz,
                       WriteRows<ExecutionSpace, Views, O>{Views(crs), rows, nnz, result.rows.data()});
  find_chunks(exec, Coo::name(), result);
}

/// refill from a checked CRS matrix. A plain copy, because both matrices store the entries in the same order.
template <class ExecutionSpace, class Crs, class S, class O, class D, class M, class Z>
void refill_from_crs(const ExecutionSpace& exec, const CooMatrix<S, O, D, M, Z>& coo, const Crs& crs) {
  copy_values(exec, coo.name(), crs, coo.values);
}

/// The kernels of make_coo. Check writes the sort keys and finds the first triplet outside of the matrix.
/// Move writes the triplets in sorted order.
template <class ExecutionSpace, class RowView, class ColumnView, class ValueView>
struct SortTriplets {
  using execution_space = ExecutionSpace;
  using ordinal_type = typename RowView::non_const_value_type;
  struct Check {};
  struct Move {};

  RowView rows;
  ColumnView columns;
  ValueView values;
  std::int64_t row_count;
  std::int64_t column_count;
  std::uint64_t* keys;
  const std::int64_t* order = nullptr;
  ordinal_type* sorted_rows = nullptr;
  ordinal_type* sorted_columns = nullptr;
  typename ValueView::non_const_value_type* sorted_values = nullptr;

  KOKKOS_INLINE_FUNCTION void operator()(Check, const std::int64_t i, std::int64_t& first_bad) const {
    const std::int64_t row = static_cast<std::int64_t>(rows(i));
    const std::int64_t column = static_cast<std::int64_t>(columns(i));
    keys[i] = static_cast<std::uint64_t>(row);
    if ((row < 0 || row >= row_count || column < 0 || column >= column_count) && i < first_bad) first_bad = i;
  }
  KOKKOS_INLINE_FUNCTION void operator()(Move, const std::int64_t i) const {
    sorted_rows[i] = rows(order[i]);
    sorted_columns[i] = columns(order[i]);
    sorted_values[i] = values(order[i]);
  }
};

/// Writes the row map of a COO matrix.
template <class ExecutionSpace, class EntryLayout, class SizeType>
struct CooRowMap {
  using execution_space = ExecutionSpace;
  EntryLayout entries;
  SizeType* row_map;

  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t row) const {
    row_map[row] = static_cast<SizeType>(entries.begin_of(row));
  }
};

/// A CRS matrix that shares the values and columns of a COO matrix. Only its row map is new.
template <class ExecutionSpace, class S, class O, class D, class M, class Z>
KokkosSparse::CrsMatrix<S, O, D, void, Z> crs_that_shares(const ExecutionSpace& exec,
                                                          const CooMatrix<S, O, D, M, Z>& coo) {
  using Crs = KokkosSparse::CrsMatrix<S, O, D, void, Z>;
  using Layout = CooLayout<ExecutionSpace, S, O>;
  const std::int64_t rows = static_cast<std::int64_t>(coo.numRows());
  typename Crs::row_map_type::non_const_type row_map(
      Kokkos::view_alloc(exec, Kokkos::WithoutInitializing, label("row_map", coo.name())),
      static_cast<std::size_t>(rows) + 1);
  Kokkos::parallel_for(label("row_map", coo.name()), row_range<void>(exec, rows + 1),
                       CooRowMap<ExecutionSpace, Layout, Z>{Layout(coo), row_map.data()});
  return Crs(label("crs", coo.name()), coo.numRows(), coo.numCols(), coo.nnz(), coo.values, row_map,
             coo.entries);
}

/// The CRS matrix from which convert() of a COO matrix starts. Its row map takes rows + 1 offsets.
template <class ExecutionSpace, class S, class O, class D, class M, class Z>
KokkosSparse::CrsMatrix<S, O, D, void, Z> crs_of(const ExecutionSpace& exec,
                                                 const CooMatrix<S, O, D, M, Z>& coo) {
  return crs_that_shares(exec, coo);
}

/// Checks the Views of triplets. Throws std::invalid_argument if they differ in length or if an extent is
/// negative, and std::length_error if SizeType cannot count the entries. The message begins with `function`.
template <class ExecutionSpace, class SizeType, class Ordinal, class RowView, class ColumnView,
          class ValueView>
void check_triplets(const char* function, Ordinal row_count, Ordinal column_count, const RowView& rows,
                    const ColumnView& columns, const ValueView& values) {
  static_assert(std::is_same<Ordinal, typename ColumnView::non_const_value_type>::value,
                "Filigree::make_coo, Filigree::wrap_coo: rows and columns must have the same integer type.");
  static_assert(static_cast<int>(RowView::rank) == 1 && static_cast<int>(ColumnView::rank) == 1 &&
                    static_cast<int>(ValueView::rank) == 1,
                "Filigree::make_coo, Filigree::wrap_coo: rows, columns and values must be Views of rank 1.");
  static_assert(
      Kokkos::SpaceAccessibility<ExecutionSpace, typename RowView::memory_space>::accessible &&
          Kokkos::SpaceAccessibility<ExecutionSpace, typename ColumnView::memory_space>::accessible &&
          Kokkos::SpaceAccessibility<ExecutionSpace, typename ValueView::memory_space>::accessible,
      "Filigree::make_coo, Filigree::wrap_coo: rows, columns and values must be in memory that the execution "
      "space can access.");
  if (rows.extent(0) != values.extent(0) || columns.extent(0) != values.extent(0))
    fail<std::invalid_argument>(function, ": there are ", rows.extent(0), " rows, ", columns.extent(0),
                                " columns and ", values.extent(0),
                                " values; all three must have the same length.");
  constexpr std::uint64_t most = static_cast<std::uint64_t>(std::numeric_limits<SizeType>::max());
  if (static_cast<std::uint64_t>(values.extent(0)) > most)
    fail<std::length_error>(function, ": there are ", values.extent(0),
                            " entries, but SizeType can count only ", most, ". Use a wider SizeType.");
  if (row_count < 0 || column_count < 0)
    fail<std::invalid_argument>(function, ": the matrix is ", row_count, " x ", column_count,
                                "; neither number may be negative.");
}

/// The COO matrix of triplets, whose Views have been checked. Throws std::invalid_argument for the first
/// entry outside of the matrix. The message begins with `function`. Fences exec.
template <class Coo, class ExecutionSpace, class RowView, class ColumnView, class ValueView>
Coo sorted_coo(const ExecutionSpace& exec, const char* function, typename Coo::ordinal_type row_count,
               typename Coo::ordinal_type column_count, const RowView& rows, const ColumnView& columns,
               const ValueView& values) {
  using Sort = SortTriplets<ExecutionSpace, RowView, ColumnView, ValueView>;
  const char* const format = Coo::name();
  const std::int64_t nnz = static_cast<std::int64_t>(values.extent(0));
  auto keys =
      allocate_view<Kokkos::View<std::uint64_t*, typename Coo::device_type>>(exec, "keys", format, nnz);
  Sort work{rows,
            columns,
            values,
            static_cast<std::int64_t>(row_count),
            static_cast<std::int64_t>(column_count),
            keys.data()};
  const std::int64_t bad = find_first<typename Sort::Check>(exec, "check", format, nnz, work);
  if (bad != none_found)
    fail<std::invalid_argument>(function, ": entry ", bad, " is in row ", read_element(exec, rows, bad),
                                " and column ", read_element(exec, columns, bad), "; the matrix is ",
                                row_count, " x ", column_count, ".");

  auto order = stable_order<std::int64_t>(exec, format, keys);
  keys = {};
  work.order = order.data();
  Coo result(row_count, column_count, allocate_view<typename Coo::values_type>(exec, "values", format, nnz),
             allocate_view<typename Coo::entries_type>(exec, "entries", format, nnz),
             allocate_view<typename Coo::entries_type>(exec, "rows", format, nnz), {}, {});
  work.sorted_rows = result.rows.data();
  work.sorted_columns = result.entries.data();
  work.sorted_values = result.values.data();
  Kokkos::parallel_for(label("sort", format), row_range<typename Sort::Move>(exec, nnz), work);
  // The kernel must end before the order is freed.
  exec.fence();
  order = {};
  result.empty_rows = empty_rows_of_sorted(exec, format, result.rows, static_cast<std::int64_t>(row_count));
  find_chunks(exec, format, result);
  return result;
}

}  // namespace Impl

/// Makes a row_count x column_count COO matrix from triplets in any order, with or without duplicates. Entry
/// i has the value values(i) and is in row rows(i) and column columns(i). The three Views have rank 1 and one
/// length. They may have any stride and are copied. Entries of one row keep their order.
///
/// Runs on the given execution space instance and fences it. Sorting takes two kernels for each bit in which
/// the rows of the triplets differ. Memory while it runs: 32 bytes per entry to sort, before the result is
/// allocated, and then 8 bytes per entry besides the result.
///
/// Only the list of the rows without entries grows with the number of rows: it takes sizeof(Ordinal) bytes
/// per such row, and the time to write it. A product needs the list to scale y, which has an element for each
/// of these rows too.
///
/// Throws std::invalid_argument if the Views differ in length or an extent is negative, and for the first
/// entry outside of the matrix. Throws std::length_error if SizeType cannot count the entries.
template <class SizeType = std::size_t, class ExecutionSpace, class RowView, class ColumnView,
          class ValueView>
auto make_coo(const ExecutionSpace& exec, typename RowView::non_const_value_type row_count,
              typename RowView::non_const_value_type column_count, const RowView& rows,
              const ColumnView& columns, const ValueView& values) {
  using Ordinal = typename RowView::non_const_value_type;
  using Coo = CooMatrix<typename ValueView::non_const_value_type, Ordinal, typename ValueView::device_type,
                        void, SizeType>;
  Impl::check_initialized("Filigree::make_coo");
  Impl::ScopedRegion region(Impl::label("make_coo", Coo::name()));
  Impl::check_triplets<ExecutionSpace, SizeType>("Filigree::make_coo", row_count, column_count, rows, columns,
                                                 values);
  return Impl::sorted_coo<Coo>(exec, "Filigree::make_coo", row_count, column_count, rows, columns, values);
}

/// make_coo on the default instance of the execution space of the values.
template <class SizeType = std::size_t, class RowView, class ColumnView, class ValueView>
auto make_coo(typename RowView::non_const_value_type row_count,
              typename RowView::non_const_value_type column_count, const RowView& rows,
              const ColumnView& columns, const ValueView& values) {
  Impl::check_initialized("Filigree::make_coo");
  return make_coo<SizeType>(typename ValueView::execution_space(), row_count, column_count, rows, columns,
                            values);
}

}  // namespace Filigree

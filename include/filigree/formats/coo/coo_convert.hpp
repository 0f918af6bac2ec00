// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FILIGREE_FORMATS_COO_COO_CONVERT_HPP
#define FILIGREE_FORMATS_COO_COO_CONVERT_HPP

#include <cstdint>
#include <limits>

#include "filigree/conversion/check_crs.hpp"
#include "filigree/conversion/row_copy.hpp"
#include "filigree/conversion/row_list.hpp"
#include "filigree/conversion/stable_sort.hpp"
#include "filigree/core/allocate_view.hpp"
#include "filigree/formats/coo/coo_layout.hpp"
#include "filigree/formats/coo/coo_matrix.hpp"
#include "filigree/product/multi_vector.hpp"

namespace Filigree {
namespace Impl {

/// Writes the row of each entry of a CRS matrix, a lane a strip of entries.
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

/// Sets where the chunks of a COO matrix begin, or of the COO part of another format, and the rows that are
/// cut. Fences exec.
template <class ExecutionSpace, class S, class O, class D, class M, class Z>
void find_chunks(const ExecutionSpace& exec, const char* format, CooMatrix<S, O, D, M, Z>& coo) {
  using Entries = CooLayout<ExecutionSpace, S, O>;
  using chunk_offsets_type = typename CooMatrix<S, O, D, M, Z>::chunk_offsets_type;
  coo.chunk_begins = find_chunk_begins<chunk_offsets_type>(exec, format, Entries(coo));
  find_cut_rows(exec, format, Entries(coo), coo);
}

/// convert<CooMatrix>, its input checked. Fences exec to learn the number of empty rows.
template <class ExecutionSpace, class Crs, class S, class O, class D, class M, class Z>
void convert_from_crs(const ExecutionSpace& exec, const Crs& crs, const CooOptions& options,
                      CooMatrix<S, O, D, M, Z>& result) {
  using Coo = CooMatrix<S, O, D, M, Z>;
  using Views = CrsViews<S, O, Z>;
  const std::int64_t rows = static_cast<std::int64_t>(crs.numRows());
  const std::int64_t entries = static_cast<std::int64_t>(crs.nnz());
  const std::int64_t empty = count_rows(exec, Coo::name(), crs, 0, 0);
  check_storage<Z>("Filigree::convert<CooMatrix>", static_cast<double>(entries),
                   static_cast<double>(entries) * (sizeof(S) + 2 * sizeof(O)) +
                       static_cast<double>(empty) * sizeof(O) +
                       static_cast<double>(chunk_bytes<ExecutionSpace>(entries)),
                   crs, options, [&](std::ostream& why) {
                     why << "a row index for each of the " << entries << " entries of " << rows << " rows";
                   });
  result = Coo(crs.numRows(), crs.numCols(),
               allocate_view<typename Coo::values_type>(exec, "values", Coo::name(), entries),
               allocate_view<typename Coo::entries_type>(exec, "entries", Coo::name(), entries),
               allocate_view<typename Coo::entries_type>(exec, "rows", Coo::name(), entries),
               empty_rows<typename Coo::entries_type>(exec, Coo::name(), crs, empty), {}, {}, 0,
               allocate_carry<ExecutionSpace, typename Coo::device_type>(exec, Coo::name(), entries));
  if (entries == 0) return;
  Kokkos::deep_copy(exec, result.values, crs.values);
  Kokkos::deep_copy(exec, result.entries, crs.graph.entries);
  for_each_strip<void>(exec, "convert", Coo::name(), entries,
                       WriteRows<ExecutionSpace, Views, O>{Views(crs), rows, entries, result.rows.data()});
  find_chunks(exec, Coo::name(), result);
}

/// refill, its input checked. One kernel: both have the same order.
template <class ExecutionSpace, class Crs, class S, class O, class D, class M, class Z>
void refill_from_crs(const ExecutionSpace& exec, const CooMatrix<S, O, D, M, Z>& coo, const Crs& crs) {
  copy_values(exec, coo.name(), crs, coo.values);
}

/// Checks and sorts triplets.
template <class ExecutionSpace, class Scalar, class Ordinal>
struct SortTriplets {
  using execution_space = ExecutionSpace;
  struct Check {};
  struct MakeKeys {};
  struct Move {};

  MultiVector<const Ordinal> rows;
  MultiVector<const Ordinal> columns;
  MultiVector<const Scalar> values;
  std::int64_t row_count;
  std::int64_t column_count;
  std::uint64_t* keys = nullptr;
  const std::int64_t* order = nullptr;
  Ordinal* sorted_rows = nullptr;
  Ordinal* sorted_columns = nullptr;
  Scalar* sorted_values = nullptr;

  KOKKOS_INLINE_FUNCTION void operator()(Check, const std::int64_t i, std::int64_t& first_bad) const {
    const std::int64_t row = static_cast<std::int64_t>(rows(i, 0));
    const std::int64_t column = static_cast<std::int64_t>(columns(i, 0));
    if ((row < 0 || row >= row_count || column < 0 || column >= column_count) && i < first_bad) first_bad = i;
  }
  KOKKOS_INLINE_FUNCTION void operator()(MakeKeys, const std::int64_t i) const {
    keys[i] = static_cast<std::uint64_t>(rows(i, 0));
  }
  KOKKOS_INLINE_FUNCTION void operator()(Move, const std::int64_t i) const {
    sorted_rows[i] = rows(order[i], 0);
    sorted_columns[i] = columns(order[i], 0);
    sorted_values[i] = values(order[i], 0);
  }
};

template <class ExecutionSpace, class Entries, class SizeType>
struct CooRowMap {
  using execution_space = ExecutionSpace;
  Entries entries;
  SizeType* row_map;

  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t row) const {
    row_map[row] = static_cast<SizeType>(entries.begin_of(row));
  }
};

/// A CRS matrix that chunks the values and columns of a COO matrix.
template <class ExecutionSpace, class S, class O, class D, class M, class Z>
KokkosSparse::CrsMatrix<S, O, D, void, Z> crs_that_shares(const ExecutionSpace& exec,
                                                          const CooMatrix<S, O, D, M, Z>& coo) {
  using Crs = KokkosSparse::CrsMatrix<S, O, D, void, Z>;
  using Entries = CooLayout<ExecutionSpace, S, O>;
  const std::int64_t rows = static_cast<std::int64_t>(coo.numRows());
  typename Crs::row_map_type::non_const_type row_map(
      Kokkos::view_alloc(exec, Kokkos::WithoutInitializing, label("row_map", coo.name())),
      static_cast<std::size_t>(rows) + 1);
  Kokkos::parallel_for(label("row_map", coo.name()), row_range<void>(exec, rows + 1),
                       CooRowMap<ExecutionSpace, Entries, Z>{Entries(coo), row_map.data()});
  return Crs(label("crs", coo.name()), coo.numRows(), coo.numCols(), coo.nnz(), coo.values, row_map,
             coo.entries);
}

}  // namespace Impl

/// A COO matrix of triplets in any order, with duplicates or without, made by kernels on the given execution
/// space instance: entry i is values(i) in row rows(i) and
/// column columns(i); the Views may have any stride. Entries of one row keep their order. Made on the device
/// of the Views, which are copied; sorting takes two kernels for each bit of row_count and 32 bytes an entry
/// while it runs. Fences exec.
///
/// Throws std::invalid_argument where the Views have not the same length, and for the first entry outside of
/// a row_count x column_count matrix; std::length_error for more entries than SizeType can count.
template <class SizeType = std::size_t, class ExecutionSpace, class RowView, class ColumnView,
          class ValueView>
auto make_coo(const ExecutionSpace& exec, typename RowView::non_const_value_type row_count,
              typename RowView::non_const_value_type column_count, const RowView& rows,
              const ColumnView& columns, const ValueView& values) {
  using Scalar = typename ValueView::non_const_value_type;
  using Ordinal = typename RowView::non_const_value_type;
  using Device = typename ValueView::device_type;
  using Coo = CooMatrix<Scalar, Ordinal, Device, void, SizeType>;
  using Sort = Impl::SortTriplets<ExecutionSpace, Scalar, Ordinal>;
  static_assert(std::is_same<Ordinal, typename ColumnView::non_const_value_type>::value,
                "Filigree::make_coo: rows and columns must have the same integer type.");
  static_assert(static_cast<int>(RowView::rank) == 1 && static_cast<int>(ColumnView::rank) == 1 &&
                    static_cast<int>(ValueView::rank) == 1,
                "Filigree::make_coo: rows, columns and values must be Views of rank 1.");
  static_assert(
      Kokkos::SpaceAccessibility<ExecutionSpace, typename RowView::memory_space>::accessible &&
          Kokkos::SpaceAccessibility<ExecutionSpace, typename ColumnView::memory_space>::accessible &&
          Kokkos::SpaceAccessibility<ExecutionSpace, typename ValueView::memory_space>::accessible,
      "Filigree::make_coo: rows, columns and values must be in memory that the execution space can access.");
  Impl::ScopedRegion region(Impl::label("make_coo", Coo::name()));
  const std::int64_t entries = static_cast<std::int64_t>(values.extent(0));
  if (rows.extent(0) != values.extent(0) || columns.extent(0) != values.extent(0))
    Impl::fail<std::invalid_argument>("Filigree::make_coo: there are ", rows.extent(0), " rows, ",
                                      columns.extent(0), " columns and ", values.extent(0),
                                      " values; each entry must have one of each.");
  if (static_cast<std::uint64_t>(entries) > static_cast<std::uint64_t>(std::numeric_limits<SizeType>::max()))
    Impl::fail<std::length_error>("Filigree::make_coo: there are ", entries,
                                  " entries, more than the size_type of the matrix can count, ",
                                  std::numeric_limits<SizeType>::max(), "; give a wider one.");
  if (row_count < 0 || column_count < 0)
    Impl::fail<std::invalid_argument>("Filigree::make_coo: the matrix is ", row_count, " x ", column_count,
                                      "; it must have no negative extent.");
  Impl::check_row_stride("Filigree::make_coo", "rows", rows);
  Impl::check_row_stride("Filigree::make_coo", "columns", columns);
  Impl::check_row_stride("Filigree::make_coo", "values", values);
  const auto read_only = [](const auto& view) {
    const auto vector = Impl::multi_vector(view);
    return Impl::MultiVector<const std::remove_pointer_t<decltype(vector.data)>>{
        vector.data, vector.row_bytes, vector.column_stride};
  };
  Sort work{read_only(rows), read_only(columns), read_only(values), static_cast<std::int64_t>(row_count),
            static_cast<std::int64_t>(column_count)};
  std::int64_t bad = std::numeric_limits<std::int64_t>::max();
  Kokkos::parallel_reduce(Impl::label("check", Coo::name()),
                          Impl::row_range<typename Sort::Check>(exec, entries), work,
                          Kokkos::Min<std::int64_t>(bad));
  exec.fence();
  if (bad < entries)
    Impl::fail<std::invalid_argument>(
        "Filigree::make_coo: entry ", bad, " is in row ", Impl::read_element(rows, bad), " and column ",
        Impl::read_element(columns, bad), "; the matrix is ", row_count, " x ", column_count, ".");

  const auto keys =
      Impl::allocate_view<Kokkos::View<std::uint64_t*, Device>>(exec, "keys", Coo::name(), entries);
  work.keys = keys.data();
  Kokkos::parallel_for(Impl::label("make_keys", Coo::name()),
                       Impl::row_range<typename Sort::MakeKeys>(exec, entries), work);
  const auto order = Impl::stable_order<std::int64_t>(
      exec, Coo::name(), keys, row_count > 0 ? static_cast<std::uint64_t>(row_count - 1) : 0);
  work.order = order.data();
  Coo result(row_count, column_count,
             Impl::allocate_view<typename Coo::values_type>(exec, "values", Coo::name(), entries),
             Impl::allocate_view<typename Coo::entries_type>(exec, "entries", Coo::name(), entries),
             Impl::allocate_view<typename Coo::entries_type>(exec, "rows", Coo::name(), entries), {}, {}, {},
             0, Impl::allocate_carry<ExecutionSpace, typename Coo::device_type>(exec, Coo::name(), entries));
  work.sorted_rows = result.rows.data();
  work.sorted_columns = result.entries.data();
  work.sorted_values = result.values.data();
  Kokkos::parallel_for(Impl::label("sort", Coo::name()), Impl::row_range<typename Sort::Move>(exec, entries),
                       work);
  const auto crs = Impl::crs_that_shares(exec, result);
  result.empty_rows = Impl::empty_rows<typename Coo::entries_type>(
      exec, Coo::name(), crs, Impl::count_rows(exec, Coo::name(), crs, 0, 0));
  Impl::find_chunks(exec, Coo::name(), result);
  // The row map is freed on return, which is no event of exec.
  exec.fence();
  return result;
}

/// The same on the default instance of the execution space of the values.
template <class SizeType = std::size_t, class RowView, class ColumnView, class ValueView>
auto make_coo(typename RowView::non_const_value_type row_count,
              typename RowView::non_const_value_type column_count, const RowView& rows,
              const ColumnView& columns, const ValueView& values) {
  return make_coo<SizeType>(typename ValueView::execution_space(), row_count, column_count, rows, columns,
                            values);
}

}  // namespace Filigree

#endif

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "filigree/conversion/build_crs.hpp"
#include "filigree/core/allocate_view.hpp"

namespace Filigree::Impl {

/// The columns of a rank's part of a distributed matrix: owned(c) is true if the rank owns the element of x
/// for column c, and place(c) is the index of the column among the owned columns or among the remote ones.
template <class Ordinal, class Device>
class ColumnPlaces {
 public:
  ColumnPlaces() = default;
  /// `signed_places` holds the place of an owned column, and -1 - place of a remote one, which is negative
  /// for place 0, too.
  explicit ColumnPlaces(Kokkos::View<const Ordinal*, Device> signed_places) : m_places(signed_places) {}

  KOKKOS_FORCEINLINE_FUNCTION bool owned(Ordinal column) const { return m_places(column) >= 0; }
  KOKKOS_FORCEINLINE_FUNCTION Ordinal place(Ordinal column) const {
    const Ordinal place = m_places(column);
    return place >= 0 ? place : -1 - place;
  }

 private:
  Kokkos::View<const Ordinal*, Device> m_places;
};

/// Lists the rows that have an entry in a remote column.
template <class Crs, class Places>
struct BoundaryRows {
  using ordinal = typename Crs::non_const_ordinal_type;
  using value_type = std::int64_t;

  Crs crs;
  Places places;
  ordinal* list;  ///< null: only count

  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t row, std::int64_t& count,
                                         const bool final) const {
    for (auto k = crs.graph.row_map(row); k < crs.graph.row_map(row + 1); ++k)
      if (!places.owned(crs.graph.entries(k))) {
        if (final && list != nullptr) list[count] = static_cast<ordinal>(row);
        ++count;
        return;
      }
  }
};

/// Which columns a part of a matrix has.
enum class Columns { owned, remote };

/// Fills a part of a matrix. The part of the remote columns has the rows of `rows`, the other one has all
/// rows.
template <class Crs, class Places, class Rows>
struct PartOfColumns {
  struct Count {};
  struct Fill {};
  using ordinal = typename Crs::non_const_ordinal_type;

  Crs crs;
  Places places;
  Rows rows;
  Columns columns;
  // build_crs sets these.
  typename Crs::non_const_size_type* crs_row_map = nullptr;
  typename Crs::non_const_ordinal_type* crs_entries = nullptr;
  typename Crs::non_const_value_type* crs_values = nullptr;

  KOKKOS_FORCEINLINE_FUNCTION std::int64_t source_row(const std::int64_t row) const {
    return columns == Columns::remote ? static_cast<std::int64_t>(rows(row)) : row;
  }
  KOKKOS_FORCEINLINE_FUNCTION bool has(const ordinal column) const {
    return places.owned(column) == (columns == Columns::owned);
  }
  KOKKOS_INLINE_FUNCTION void operator()(Count, const std::int64_t row) const {
    const std::int64_t source = source_row(row);
    typename Crs::non_const_size_type count = 0;
    for (auto k = crs.graph.row_map(source); k < crs.graph.row_map(source + 1); ++k)
      if (has(crs.graph.entries(k))) ++count;
    crs_row_map[row] = count;
  }
  KOKKOS_INLINE_FUNCTION void operator()(Fill, const std::int64_t row) const {
    const std::int64_t source = source_row(row);
    auto at = crs_row_map[row];
    for (auto k = crs.graph.row_map(source); k < crs.graph.row_map(source + 1); ++k) {
      const auto column = crs.graph.entries(k);
      if (!has(column)) continue;
      crs_entries[at] = places.place(column);
      crs_values[at] = crs.values(k);
      ++at;
    }
  }
};

/// The rows of a CRS matrix with an entry in a remote column, in ascending order. Fences exec.
template <class ExecutionSpace, class Crs, class Places>
auto boundary_rows(const ExecutionSpace& exec, const Crs& crs, const Places& places) {
  using ordinal = typename Crs::non_const_ordinal_type;
  using list_type = Kokkos::View<ordinal*, typename Crs::device_type>;
  const auto range = row_range<void>(exec, static_cast<std::int64_t>(crs.numRows()));
  std::int64_t count = 0;
  Kokkos::parallel_scan(label("count_boundary_rows", "distributed"), range,
                        BoundaryRows<Crs, Places>{crs, places, nullptr}, count);
  exec.fence();
  const auto list = allocate_view<list_type>(exec, "boundary_rows", "distributed", count);
  Kokkos::parallel_scan(label("boundary_rows", "distributed"), range,
                        BoundaryRows<Crs, Places>{crs, places, list.data()}, count);
  exec.fence();
  return list;
}

/// A part of the columns as a CRS matrix of its own with `width` columns. The entries of a row keep their
/// order. Fences exec.
template <class ExecutionSpace, class Crs, class Places, class Rows>
Crs part_of_columns(const ExecutionSpace& exec, const Crs& crs, const Places& places, const Rows& rows,
                    Columns columns, typename Crs::non_const_ordinal_type width) {
  using Part = PartOfColumns<Crs, Places, Rows>;
  using ordinal = typename Crs::non_const_ordinal_type;
  const ordinal count = columns == Columns::remote ? static_cast<ordinal>(rows.extent(0)) : crs.numRows();
  return build_crs<Crs, typename Part::Count, typename Part::Fill>(
      exec, "distributed", count, width, Part{crs, places, rows, columns}, count, count);
}

/// Copies some rows of a multivector, or adds to them. The columns are the second index.
template <class Rows, class From, class To>
struct RowsOfVectors {
  struct Gather {};
  struct Add {};

  Rows rows;
  From from;
  To to;

  KOKKOS_INLINE_FUNCTION void operator()(Gather, const std::int64_t i) const {
    for (std::size_t column = 0; column < to.extent(1); ++column)
      to(i, column) = from(rows(i), column);
  }
  KOKKOS_INLINE_FUNCTION void operator()(Add, const std::int64_t i) const {
    for (std::size_t column = 0; column < from.extent(1); ++column)
      to(rows(i), column) += from(i, column);
  }
};

template <class Tag, class ExecutionSpace, class Work>
void run_on_rows(const ExecutionSpace& exec, const char* what, const Work& work) {
  Kokkos::parallel_for(label(what, "distributed"),
                       row_range<Tag>(exec, static_cast<std::int64_t>(work.rows.extent(0))), work);
}

/// to(i, c) = from(rows(i), c)
template <class ExecutionSpace, class Rows, class From, class To>
void gather_rows(const ExecutionSpace& exec, const Rows& rows, const From& from, const To& to) {
  using Work = RowsOfVectors<Rows, From, To>;
  run_on_rows<typename Work::Gather>(exec, "gather_rows", Work{rows, from, to});
}

/// to(rows(i), c) += from(i, c)
template <class ExecutionSpace, class Rows, class From, class To>
void add_to_rows(const ExecutionSpace& exec, const Rows& rows, const From& from, const To& to) {
  using Work = RowsOfVectors<Rows, From, To>;
  run_on_rows<typename Work::Add>(exec, "add_to_rows", Work{rows, from, to});
}

}  // namespace Filigree::Impl

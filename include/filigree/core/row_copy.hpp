// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Conversion, refill and the way back for formats that keep the entries of a CRS matrix as they came.
#ifndef FILIGREE_CORE_ROW_COPY_HPP
#define FILIGREE_CORE_ROW_COPY_HPP

#include <cstdint>
#include <limits>

#include "filigree/core/check_crs.hpp"
#include "filigree/core/launch.hpp"
#include "filigree/core/region.hpp"
#include "filigree/core/row_map.hpp"
#include "filigree/core/rows.hpp"

namespace Filigree {
namespace Impl {

/// Copies between a CRS matrix and Rows (rows.hpp), one lane a row.
template <class ExecutionSpace, class Rows, class SizeType>
struct RowCopy {
  using execution_space = ExecutionSpace;
  using scalar_type = typename Rows::scalar_type;
  using ordinal_type = typename Rows::ordinal_type;

  struct Fill {};
  struct Refill {};
  struct Compare {};
  struct Count {};
  struct Extract {};

  Rows rows;
  CrsViews<scalar_type, ordinal_type, SizeType> crs;
  // Set by build_crs.
  SizeType* crs_row_map = nullptr;
  ordinal_type* crs_entries = nullptr;
  scalar_type* crs_values = nullptr;

  template <class Crs>
  RowCopy(const Rows& rows_, const Crs& crs_) : rows(rows_), crs(crs_) {}

  /// Writes the padding too, also that of places without a row.
  KOKKOS_INLINE_FUNCTION void operator()(Fill, const std::int64_t i) const {
    const std::int64_t row = rows.target(i);
    const std::int64_t begin = row < 0 ? 0 : crs.begin(row);
    const std::int64_t length = row < 0 ? 0 : crs.end(row) - begin;
    for (int lane = 0; lane < rows.lanes(); ++lane) {
      const auto run = rows.run(i, lane);
      for (std::int64_t j = 0; j < run.count; ++j) {
        const std::int64_t k = j * rows.lanes() + lane;
        run.value(j) = k < length ? crs.values[begin + k] : scalar_type(0);
        run.set_column(j, k < length ? static_cast<std::int64_t>(crs.entries[begin + k]) : -1);
      }
    }
  }

  KOKKOS_INLINE_FUNCTION void operator()(Refill, const std::int64_t i) const {
    const std::int64_t row = rows.target(i);
    if (row < 0) return;
    const std::int64_t begin = crs.begin(row);
    const std::int64_t length = crs.end(row) - begin;
    for (int lane = 0; lane < rows.lanes(); ++lane) {
      const auto run = rows.run(i, lane);
      for (std::int64_t j = 0; j < run.count; ++j) {
        const std::int64_t k = j * rows.lanes() + lane;
        if (k < length) run.value(j) = crs.values[begin + k];
      }
    }
  }

  KOKKOS_INLINE_FUNCTION void operator()(Compare, const std::int64_t i, std::int64_t& first_bad) const {
    const std::int64_t row = rows.target(i);
    if (row < 0) return;
    const std::int64_t begin = crs.begin(row);
    const std::int64_t length = crs.end(row) - begin;
    bool same = length == row_length(rows, i);
    for (int lane = 0; same && lane < rows.lanes(); ++lane) {
      const auto run = rows.run(i, lane);
      for (std::int64_t j = 0; same && j < run.count; ++j) {
        const std::int64_t k = j * rows.lanes() + lane;
        if (k < length) same = run.column(j) == static_cast<std::int64_t>(crs.entries[begin + k]);
      }
    }
    if (!same && row < first_bad) first_bad = row;
  }

  KOKKOS_INLINE_FUNCTION void operator()(Count, const std::int64_t i) const {
    const std::int64_t row = rows.target(i);
    if (row >= 0) crs_row_map[row] = static_cast<SizeType>(row_length(rows, i));
  }

  KOKKOS_INLINE_FUNCTION void operator()(Extract, const std::int64_t i) const {
    const std::int64_t row = rows.target(i);
    if (row < 0) return;
    const std::int64_t begin = static_cast<std::int64_t>(crs_row_map[row]);
    const std::int64_t length = static_cast<std::int64_t>(crs_row_map[row + 1]) - begin;
    for (int lane = 0; lane < rows.lanes(); ++lane) {
      const auto run = rows.run(i, lane);
      for (std::int64_t j = 0; j < run.count; ++j) {
        const std::int64_t k = j * rows.lanes() + lane;
        if (k >= length) break;
        crs_values[begin + k] = run.value(j);
        crs_entries[begin + k] = static_cast<ordinal_type>(run.column(j));
      }
    }
  }
};

/// Writes all entries and all padding of a new matrix.
template <class ExecutionSpace, class Crs, class Rows>
void fill_rows(const ExecutionSpace& exec, const char* format, const Rows& rows, const Crs& crs) {
  using Copy = RowCopy<ExecutionSpace, Rows, typename Crs::non_const_size_type>;
  Kokkos::parallel_for(label("convert", format), row_range<typename Copy::Fill>(exec, rows.count()),
                       Copy(rows, crs));
}

/// The first row in which the patterns differ, or a number past all rows. Fences exec.
template <class ExecutionSpace, class Crs, class Rows>
std::int64_t first_different_row_of(const ExecutionSpace& exec, const char* format, const Rows& rows,
                                    const Crs& crs) {
  using Copy = RowCopy<ExecutionSpace, Rows, typename Crs::non_const_size_type>;
  std::int64_t row = std::numeric_limits<std::int64_t>::max();
  Kokkos::parallel_reduce(label("compare_pattern", format),
                          row_range<typename Copy::Compare>(exec, rows.count()), Copy(rows, crs),
                          Kokkos::Min<std::int64_t>(row));
  exec.fence();
  return row;
}

/// The values of crs in their places: one kernel.
template <class ExecutionSpace, class Crs, class Rows>
void refill_rows(const ExecutionSpace& exec, const char* format, const Rows& rows, const Crs& crs) {
  using Copy = RowCopy<ExecutionSpace, Rows, typename Crs::non_const_size_type>;
  Kokkos::parallel_for(label("refill", format), row_range<typename Copy::Refill>(exec, rows.count()),
                       Copy(rows, crs));
}

/// A CRS matrix of the extents of A, which is stored as Rows: the entries of a row in the order that A was
/// converted from.
template <class Crs, class ExecutionSpace, class Matrix, class Rows>
Crs crs_of_rows(const ExecutionSpace& exec, const Matrix& A, const Rows& rows) {
  using Copy = RowCopy<ExecutionSpace, Rows, typename Crs::non_const_size_type>;
  return build_crs<Crs, typename Copy::Count, typename Copy::Extract>(
      exec, A.name(), A.numRows(), A.numCols(), Copy(rows, Crs()), rows.count());
}

}  // namespace Impl
}  // namespace Filigree

#endif

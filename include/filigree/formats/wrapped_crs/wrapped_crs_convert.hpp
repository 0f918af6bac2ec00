// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "filigree/conversion/row_copy.hpp"
#include "filigree/conversion/unpredicted_rows.hpp"
#include "filigree/formats/crs/crs_convert.hpp"
#include "filigree/formats/wrapped_crs/wrapped_crs_layout.hpp"

namespace Filigree::Impl {

/// Writes the row of the first entry of each chunk.
template <class ExecutionSpace, class EntryLayout, class Ordinal>
struct FindFirstRows {
  using execution_space = ExecutionSpace;
  EntryLayout entries;
  Ordinal* first_rows;

  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t chunk) const {
    first_rows[chunk] = static_cast<Ordinal>(entries.row_of(chunk_begin(entries, chunk)));
  }
};

/// Counts or lists the rows without entries in which no chunk scales y.
template <class ExecutionSpace, class EntryLayout, class Ordinal>
struct ListRowsToScale {
  using value_type = std::int64_t;
  struct CountChunks {};
  struct ListRows {};

  EntryLayout entries;
  std::int64_t chunk_count;
  Ordinal* list = nullptr;  ///< if it is nullptr, ListRows only counts

  /// Counts the chunks that scale no rows because they reach over too many.
  KOKKOS_INLINE_FUNCTION void operator()(CountChunks, const std::int64_t chunk, std::int64_t& count) const {
    if (entries.are_many(entries.rows_of_chunk(chunk, chunk_begin(entries, chunk + 1)))) ++count;
  }
  KOKKOS_INLINE_FUNCTION void operator()(ListRows, const std::int64_t row, std::int64_t& count,
                                         const bool final) const {
    if (entries.begin_of(row + 1) > entries.begin_of(row)) return;
    // The row lies in the last chunk whose first entry is in a row before it, or before all entries.
    const std::int64_t next =
        first_where(1, chunk_count, [&](std::int64_t chunk) { return entries.first_row(chunk) > row; });
    if (!entries.are_many(entries.rows_of_chunk(next - 1, chunk_begin(entries, next)))) return;
    if (final && list != nullptr) list[count] = static_cast<Ordinal>(row);
    ++count;
  }

  /// The number of rows to list. Fences exec.
  std::int64_t count(const ExecutionSpace& exec, const char* format) const {
    std::int64_t result = 0;
    Kokkos::parallel_reduce(label("count_chunks", format), row_range<CountChunks>(exec, chunk_count), *this,
                            result);
    exec.fence();
    if (result > 0) result = scan(exec, format);
    return result;
  }
  /// Writes the rows to list if it is set. Returns their number. Fences exec.
  std::int64_t scan(const ExecutionSpace& exec, const char* format) const {
    std::int64_t result = 0;
    Kokkos::parallel_scan(label("empty_rows", format), row_range<ListRows>(exec, entries.row_count), *this,
                          result);
    exec.fence();
    return result;
  }
};

/// convert<WrappedCrsMatrix> of a checked CRS matrix, whose Views it shares, except const ones. For
/// CrsKernel::balanced it finds the chunks and fences exec. On a host with more than 8192 rows it also looks at row
/// lengths and fences exec (see unpredicted_rows()).
template <class ExecutionSpace, class Crs, class S, class O, class D, class M, class Z>
void convert_from_crs(const ExecutionSpace& exec, const Crs& crs, const WrappedCrsOptions& options,
                      WrappedCrsMatrix<S, O, D, M, Z>& result) {
  using Result = WrappedCrsMatrix<S, O, D, M, Z>;
  using Layout = CrsEntryLayout<ExecutionSpace, S, O, Z>;
  using RowList = typename Result::row_list_type;
  const char* const function = "Filigree::convert<WrappedCrsMatrix>";
  const char* const format = Result::name();
  check_wrapped_crs_options(function, options);
  const bool in_vectors = multiplies_in_vectors(
      unpredicted_rows(exec, crs_views_t<Crs>(crs), static_cast<std::int64_t>(crs.numRows())));
  if (options.kernel == CrsKernel::lanes) {
    result =
        Result(share_crs<typename Result::crs_type>(exec, format, crs), options.lanes_per_row, in_vectors);
    return;
  }
  const std::int64_t nnz = static_cast<std::int64_t>(crs.nnz());
  const std::int64_t chunk_count = ChunkLaunch<ExecutionSpace>::chunk_count(nnz);
  const auto check_bytes = [&](std::int64_t listed) {
    check_storage<Z>(function, static_cast<double>(nnz),
                     crs_bytes(crs) + static_cast<double>(chunk_count + listed) * sizeof(O) +
                         static_cast<double>(chunk_bytes<ExecutionSpace>(nnz)),
                     crs, options, [&](std::ostream& why) {
                       why << "the CRS matrix, " << chunk_count << " chunks of its entries and " << listed
                           << " rows without entries";
                     });
  };
  check_bytes(0);
  const auto first_rows = allocate_view<RowList>(exec, "first_rows", format, chunk_count);
  typename Result::chunks_type chunks;
  find_chunk_begins(exec, format, Layout(crs, first_rows, chunks), chunks);
  const Layout entries(crs, first_rows, chunks);
  Kokkos::parallel_for(label("first_rows", format), row_range<void>(exec, chunk_count),
                       FindFirstRows<ExecutionSpace, Layout, O>{entries, first_rows.data()});
  ListRowsToScale<ExecutionSpace, Layout, O> to_scale{entries, chunk_count};
  const std::int64_t listed = to_scale.count(exec, format);
  check_bytes(listed);
  const auto empty_rows = allocate_view<RowList>(exec, "empty_rows", format, listed);
  to_scale.list = empty_rows.data();
  if (listed > 0) to_scale.scan(exec, format);
  find_cut_rows(exec, format, entries, chunks);
  result = Result(share_crs<typename Result::crs_type>(exec, format, crs), first_rows, empty_rows, chunks,
                  in_vectors);
}

/// The first row in which the patterns differ, or a number greater than that of every row. Fences exec.
template <class ExecutionSpace, class Crs, class S, class O, class D, class M, class Z>
std::int64_t first_different_row(const ExecutionSpace& exec, const WrappedCrsMatrix<S, O, D, M, Z>& A,
                                 const Crs& crs) {
  return first_different_row(exec, A.crs, crs);
}

/// refill from a checked CRS matrix. The shared CRS matrix gets the new values too. One kernel.
template <class ExecutionSpace, class Crs, class S, class O, class D, class M, class Z>
void refill_from_crs(const ExecutionSpace& exec, const WrappedCrsMatrix<S, O, D, M, Z>& A, const Crs& crs) {
  copy_values(exec, A.name(), crs, A.crs.values);
}

/// to_crs: returns the shared CRS matrix.
template <class Crs, class ExecutionSpace, class S, class O, class D, class M, class Z>
Crs convert_to_crs(const ExecutionSpace&, const WrappedCrsMatrix<S, O, D, M, Z>& A) {
  return A.crs;
}

}  // namespace Filigree::Impl

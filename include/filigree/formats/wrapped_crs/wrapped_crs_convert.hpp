// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "filigree/conversion/row_copy.hpp"
#include "filigree/conversion/row_list.hpp"
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

/// convert<WrappedCrsMatrix> of a checked CRS matrix, whose Views it shares, except const ones. For
/// CrsKernel::balanced it finds the chunks and fences exec.
template <class ExecutionSpace, class Crs, class S, class O, class D, class M, class Z>
void convert_from_crs(const ExecutionSpace& exec, const Crs& crs, const WrappedCrsOptions& options,
                      WrappedCrsMatrix<S, O, D, M, Z>& result) {
  using Result = WrappedCrsMatrix<S, O, D, M, Z>;
  using Layout = CrsEntryLayout<ExecutionSpace, S, O, Z>;
  using RowList = typename Result::row_list_type;
  const char* const function = "Filigree::convert<WrappedCrsMatrix>";
  const char* const format = Result::name();
  check_wrapped_crs_options(function, options);
  if (options.kernel == CrsKernel::lanes) {
    result = Result(share_crs<typename Result::crs_type>(exec, format, crs), options.lanes_per_row);
    return;
  }
  const std::int64_t nnz = static_cast<std::int64_t>(crs.nnz());
  const std::int64_t chunk_count = ChunkLaunch<ExecutionSpace>::chunk_count(nnz);
  const std::int64_t empty = count_rows(exec, format, crs, 0, 0);
  check_storage<Z>(function, static_cast<double>(nnz),
                   crs_bytes(crs) + static_cast<double>(chunk_count + empty) * sizeof(O) +
                       static_cast<double>(chunk_bytes<ExecutionSpace>(nnz)),
                   crs, options, [&](std::ostream& why) {
                     why << "the CRS matrix, " << chunk_count << " chunks of its entries and " << empty
                         << " empty rows";
                   });
  const auto first_rows = allocate_view<RowList>(exec, "first_rows", format, chunk_count);
  typename Result::chunks_type chunks;
  find_chunk_begins(exec, format, Layout(crs, first_rows, chunks), chunks);
  const Layout entries(crs, first_rows, chunks);
  Kokkos::parallel_for(label("first_rows", format), row_range<void>(exec, chunk_count),
                       FindFirstRows<ExecutionSpace, Layout, O>{entries, first_rows.data()});
  const auto empty_list = empty_rows<RowList>(exec, format, crs, empty);
  find_cut_rows(exec, format, entries, chunks);
  result = Result(share_crs<typename Result::crs_type>(exec, format, crs), first_rows, empty_list, chunks);
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

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FILIGREE_FORMATS_WRAPPED_CRS_WRAPPED_CRS_CONVERT_HPP
#define FILIGREE_FORMATS_WRAPPED_CRS_WRAPPED_CRS_CONVERT_HPP

#include <cstdint>

#include "filigree/conversion/check_crs.hpp"
#include "filigree/conversion/check_lanes.hpp"
#include "filigree/conversion/row_copy.hpp"
#include "filigree/conversion/row_list.hpp"
#include "filigree/formats/crs/crs_convert.hpp"
#include "filigree/formats/wrapped_crs/wrapped_crs_layout.hpp"
#include "filigree/formats/wrapped_crs/wrapped_crs_matrix.hpp"

namespace Filigree {
namespace Impl {

/// Finds the row of the first entry of each chunk.
template <class ExecutionSpace, class Entries, class Ordinal>
struct FindFirstRows {
  using execution_space = ExecutionSpace;
  Entries entries;
  Ordinal* first_rows;

  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t chunk) const {
    first_rows[chunk] = static_cast<Ordinal>(entries.row_of(chunk_begin(entries, chunk)));
  }
};

/// convert<WrappedCrsMatrix>, its input checked: copies nothing; finds the chunks of the balanced kernel.
template <class ExecutionSpace, class Crs, class S, class O, class D, class M, class Z>
void convert_from_crs(const ExecutionSpace& exec, const Crs& crs, const WrappedCrsOptions& options,
                      WrappedCrsMatrix<S, O, D, M, Z>& result) {
  using Result = WrappedCrsMatrix<S, O, D, M, Z>;
  using Entries = CrsEntryLayout<ExecutionSpace, S, O, Z>;
  const char* function = "Filigree::convert<WrappedCrsMatrix>";
  check_lanes_per_row(function, options.lanes_per_row);
  if (options.kernel == CrsKernel::lanes) {
    result = Result(crs, options);
    return;
  }
  const std::int64_t entries = static_cast<std::int64_t>(crs.nnz());
  const std::int64_t chunks = ChunkLaunch<ExecutionSpace>::chunks(entries);
  const std::int64_t empty = count_rows(exec, Result::name(), crs, 0, 0);
  check_storage<Z>(function, static_cast<double>(entries),
                   crs_bytes(crs) + static_cast<double>(chunks + empty) * sizeof(O) +
                       static_cast<double>(chunk_bytes<ExecutionSpace>(entries)),
                   crs, options, [&](std::ostream& why) {
                     why << "the CRS matrix, " << chunks << " chunks of its entries and " << empty
                         << " empty rows";
                   });
  const typename Result::row_list_type first_rows(
      Kokkos::view_alloc(exec, Kokkos::WithoutInitializing, label("first_rows", Result::name())),
      static_cast<std::size_t>(chunks));
  Entries shared{crs.values.data(),
                 crs.graph.entries.data(),
                 crs.graph.row_map.data(),
                 first_rows.data(),
                 nullptr,
                 entries,
                 static_cast<std::int64_t>(crs.numRows())};
  const auto chunk_begins =
      find_chunk_begins<typename Result::chunk_offsets_type>(exec, Result::name(), shared);
  if (chunk_begins.extent(0) > 0) shared.chunk_begins = chunk_begins.data();
  Kokkos::parallel_for(label("first_rows", Result::name()), row_range<void>(exec, chunks),
                       FindFirstRows<ExecutionSpace, Entries, O>{shared, first_rows.data()});
  result =
      Result(crs, options, first_rows,
             empty_rows<typename Result::row_list_type>(exec, Result::name(), crs, empty), chunk_begins, {},
             0, allocate_carry<ExecutionSpace, typename Result::device_type>(exec, Result::name(), entries));
  find_cut_rows(exec, Result::name(), shared, result);
}

/// The first row in which the patterns differ, or a number past all rows. Fences exec.
template <class ExecutionSpace, class Crs, class S, class O, class D, class M, class Z>
std::int64_t first_different_row(const ExecutionSpace& exec, const WrappedCrsMatrix<S, O, D, M, Z>& A,
                                 const Crs& crs) {
  return first_different_row(exec, A.crs, crs);
}

/// refill, its input checked: new values for the CRS matrix that is shared, too. One kernel.
template <class ExecutionSpace, class Crs, class S, class O, class D, class M, class Z>
void refill_from_crs(const ExecutionSpace& exec, const WrappedCrsMatrix<S, O, D, M, Z>& A, const Crs& crs) {
  copy_values(exec, A.name(), crs, A.values);
}

/// to_crs: the matrix that is shared.
template <class Crs, class ExecutionSpace, class S, class O, class D, class M, class Z>
Crs convert_to_crs(const ExecutionSpace&, const WrappedCrsMatrix<S, O, D, M, Z>& A) {
  return A.crs;
}

}  // namespace Impl
}  // namespace Filigree

#endif

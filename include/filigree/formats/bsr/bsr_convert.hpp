// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "filigree/formats/bsr/bsr_layout.hpp"

#if FILIGREE_HAS_BSR
#include "filigree/conversion/block_columns.hpp"
#include "filigree/conversion/build_crs.hpp"
#include "filigree/conversion/check_crs.hpp"
#include "filigree/conversion/dense_copy.hpp"
#include "filigree/core/allocate_view.hpp"

namespace Filigree::Impl {

/// Counts the blocks of each block row (Count), then lists their block columns (List).
template <class ExecutionSpace, class Views, class Ordinal, class SizeType>
struct BsrPattern {
  using execution_space = ExecutionSpace;
  struct Count {};
  struct List {};

  BlockColumns<Views> columns;
  SizeType* row_map;
  Ordinal* entries;

  KOKKOS_INLINE_FUNCTION void operator()(Count, const std::int64_t block_row) const {
    SizeType count = 0;
    columns.for_each_block(block_row, [&](std::int64_t) { ++count; });
    row_map[block_row] = count;
  }
  KOKKOS_INLINE_FUNCTION void operator()(List, const std::int64_t block_row) const {
    std::int64_t position = static_cast<std::int64_t>(row_map[block_row]);
    columns.for_each_block(block_row,
                           [&](std::int64_t block) { entries[position++] = static_cast<Ordinal>(block); });
  }
};

/// convert<BsrMatrix> of a checked CRS matrix. It runs on the device, unlike the constructor of the class,
/// and sums duplicates. Fences exec to read the number of blocks. If some row is not sorted by column, it
/// takes sizeof(Ordinal) bytes per entry while it runs.
template <class ExecutionSpace, class Crs, class S, class O, class D, class M, class Z>
void convert_from_crs(const ExecutionSpace& exec, const Crs& crs, const BsrOptions& options,
                      KokkosSparse::Experimental::BsrMatrix<S, O, D, M, Z>& result) {
  using Bsr = KokkosSparse::Experimental::BsrMatrix<S, O, D, M, Z>;
  using Pattern = BsrPattern<ExecutionSpace, crs_views_t<Crs>, O, Z>;
  const char* function = "Filigree::convert<BsrMatrix>";
  const std::int64_t rows = static_cast<std::int64_t>(crs.numRows());
  const std::int64_t columns = static_cast<std::int64_t>(crs.numCols());
  const std::int64_t b = options.block_size;
  if (b < 1 || rows % b != 0 || columns % b != 0)
    fail<std::invalid_argument>(function, ": options.block_size is ", b, " for a ", rows, " x ", columns,
                                " matrix; it must be at least 1 and divide both extents.");
  check_count<O>(function, b, "rows per block");
  const std::int64_t block_rows = rows / b;

  using RowMap = typename Bsr::row_map_type::non_const_type;
  const RowMap row_map(Kokkos::view_alloc(exec, label("row_map", "bsr")),
                       static_cast<std::size_t>(block_rows) + 1);
  const auto sorted = sorted_entries(exec, function, "bsr", crs);
  Pattern pattern{block_columns(crs, sorted, b), row_map.data(), nullptr};
  Kokkos::parallel_for(label("count_blocks", "bsr"), row_range<typename Pattern::Count>(exec, block_rows),
                       pattern);
  Kokkos::parallel_scan(label("row_map", "bsr"), row_range<void>(exec, block_rows + 1),
                        ExclusiveSum<Z>{row_map.data()});
  const Z blocks = read_element(exec, row_map, static_cast<std::size_t>(block_rows));

  const double elements = static_cast<double>(blocks) * static_cast<double>(b * b);
  check_storage<Z>(function, elements,
                   elements * sizeof(S) + static_cast<double>(blocks) * sizeof(O) +
                       static_cast<double>(block_rows + 1) * sizeof(Z),
                   crs, options, [&](std::ostream& why) {
                     why << blocks << " blocks of " << b << " x " << b << " hold " << crs.nnz() << " entries";
                   });
  const auto entries = allocate_view<typename Bsr::index_type::non_const_type>(
      exec, "entries", "bsr", static_cast<std::int64_t>(blocks));
  const auto values = allocate_view<typename Bsr::values_type::non_const_type>(
      exec, "values", "bsr", static_cast<std::int64_t>(blocks) * b * b);
  pattern.entries = entries.data();
  Kokkos::parallel_for(label("list_blocks", "bsr"), row_range<typename Pattern::List>(exec, block_rows),
                       pattern);
  result = Bsr(label("bsr", "bsr"), static_cast<O>(block_rows), static_cast<O>(columns / b), blocks, values,
               row_map, entries, static_cast<O>(b));
  fill_dense(exec, "convert", "bsr", BsrElements<S, O, Z>(result), crs);
  // The kernels that read the sorted entries must end before these are freed on return.
  if (sorted.extent(0) > 0) exec.fence();
}

}  // namespace Filigree::Impl
#endif

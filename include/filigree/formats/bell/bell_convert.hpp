// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "filigree/conversion/block_columns.hpp"
#include "filigree/conversion/check_crs.hpp"
#include "filigree/conversion/dense_copy.hpp"
#include "filigree/core/allocate_view.hpp"
#include "filigree/formats/bell/bell_layout.hpp"

namespace Filigree::Impl {

/// Longest finds the length of the longest block row. List writes the block columns of each block row.
template <class ExecutionSpace, class Views, class Ordinal>
struct BellPattern {
  using execution_space = ExecutionSpace;
  struct Longest {};
  struct List {};

  BlockColumns<Views> columns;
  std::int64_t block_rows;
  std::int64_t block_width;
  Ordinal* block_entries;

  KOKKOS_INLINE_FUNCTION void operator()(Longest, const std::int64_t block_row, std::int64_t& longest) const {
    std::int64_t count = 0;
    columns.for_each_block(block_row, [&](std::int64_t) { ++count; });
    if (count > longest) longest = count;
  }
  KOKKOS_INLINE_FUNCTION void operator()(List, const std::int64_t block_row) const {
    std::int64_t k = 0;
    columns.for_each_block(block_row, [&](std::int64_t block) {
      block_entries[k * block_rows + block_row] = static_cast<Ordinal>(block);
      ++k;
    });
    for (; k < block_width; ++k)
      block_entries[k * block_rows + block_row] = static_cast<Ordinal>(-1);
  }
};

/// convert<BellMatrix> of a checked CRS matrix. Fences exec to read the length of the longest block row. If
/// some row is not sorted by column, it takes sizeof(Ordinal) bytes per entry while it runs.
template <class ExecutionSpace, class Crs, class S, class O, class D, class M, class Z>
void convert_from_crs(const ExecutionSpace& exec, const Crs& crs, const BellOptions& options,
                      BellMatrix<S, O, D, M, Z>& result) {
  using Bell = BellMatrix<S, O, D, M, Z>;
  using Pattern = BellPattern<ExecutionSpace, crs_views_t<Crs>, O>;
  const char* function = "Filigree::convert<BellMatrix>";
  const char* name = Bell::name();
  const std::int64_t b = options.block_size;
  if (b < 1 || b > BellOptions::largest_block_size)
    fail<std::invalid_argument>(function, ": options.block_size is ", b, "; it must be 1 to ",
                                BellOptions::largest_block_size, ".");
  const std::int64_t rows = static_cast<std::int64_t>(crs.numRows());
  const auto sorted = sorted_entries(exec, function, name, crs);
  Pattern pattern{block_columns(crs, sorted, b), (rows + b - 1) / b, 0, nullptr};
  if (rows > 0)
    Kokkos::parallel_reduce(label("longest_row", name),
                            row_range<typename Pattern::Longest>(exec, pattern.block_rows), pattern,
                            Kokkos::Max<std::int64_t>(pattern.block_width));
  exec.fence();
  const double elements =
      static_cast<double>(pattern.block_width) * static_cast<double>(b) * static_cast<double>(rows);
  const std::int64_t blocks = pattern.block_width * pattern.block_rows;
  check_storage<Z>(function, elements, elements * sizeof(S) + static_cast<double>(blocks) * sizeof(O), crs,
                   options, [&](std::ostream& why) {
                     why << "the longest block row has " << pattern.block_width << " blocks of " << b << " x "
                         << b << ", and a mean row has "
                         << static_cast<double>(crs.nnz()) / static_cast<double>(rows) << " entries";
                   });
  result =
      Bell(crs.numRows(), crs.numCols(), static_cast<Z>(crs.nnz()), options.block_size,
           static_cast<O>(pattern.block_width),
           allocate_view<typename Bell::values_type>(exec, "values", name, pattern.block_width * b * rows),
           allocate_view<typename Bell::entries_type>(exec, "block_entries", name, blocks));
  pattern.block_entries = result.block_entries.data();
  Kokkos::parallel_for(label("list_blocks", name),
                       row_range<typename Pattern::List>(exec, pattern.block_rows), pattern);
  fill_dense(exec, "convert", name, BellElements<S, O>(result), crs);
  // The kernels that read the sorted entries must end before these are freed on return.
  if (sorted.extent(0) > 0) exec.fence();
}

}  // namespace Filigree::Impl

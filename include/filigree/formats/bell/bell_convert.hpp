// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FILIGREE_FORMATS_BELL_BELL_CONVERT_HPP
#define FILIGREE_FORMATS_BELL_BELL_CONVERT_HPP

#include <cstdint>

#include "filigree/conversion/block_columns.hpp"
#include "filigree/conversion/check_crs.hpp"
#include "filigree/conversion/dense_copy.hpp"
#include "filigree/core/allocate_view.hpp"
#include "filigree/core/binary_search.hpp"
#include "filigree/core/block_size.hpp"
#include "filigree/core/region.hpp"
#include "filigree/formats/bell/bell_matrix.hpp"

namespace Filigree {
namespace Impl {

/// Finds the longest row of blocks, then lists the block columns of each.
template <class ExecutionSpace, class Columns, class Ordinal>
struct BellPattern {
  using execution_space = ExecutionSpace;
  struct Longest {};
  struct List {};

  Columns columns;
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

/// The Places (core/place_copy.hpp) of a blocked ELL matrix.
template <class Scalar, class Ordinal>
struct BellElements {
  using scalar_type = Scalar;
  using ordinal_type = Ordinal;
  static constexpr bool is_dense = true;
  static constexpr bool rows_are_contiguous = false;

  Scalar* block_values;
  const Ordinal* block_entries;
  std::int64_t rows;
  std::int64_t block_rows;
  std::int64_t block_width;
  std::int64_t block_size;

  template <class Bell>
  explicit BellElements(const Bell& bell)
      : block_values(bell.values.data()),
        block_entries(bell.block_entries.data()),
        rows(static_cast<std::int64_t>(bell.numRows())),
        block_rows(static_cast<std::int64_t>(bell.numBlockRows())),
        block_width(static_cast<std::int64_t>(bell.block_width())),
        block_size(bell.block_size()) {}

  KOKKOS_FORCEINLINE_FUNCTION Scalar* values() const { return block_values; }
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t block_column(std::int64_t block_row, std::int64_t k) const {
    return static_cast<std::int64_t>(block_entries[k * block_rows + block_row]);
  }

  /// Columns ascend and padding, which is -1, comes last.
  KOKKOS_INLINE_FUNCTION std::int64_t position(std::int64_t row, std::int64_t column) const {
    const std::int64_t block_row = quotient<Ordinal>(row, block_size);
    const std::int64_t wanted = quotient<Ordinal>(column, block_size);
    const std::int64_t low = first_where(0, block_width, [&](std::int64_t k) {
      const std::int64_t at = block_column(block_row, k);
      return at < 0 || at >= wanted;
    });
    if (low == block_width || block_column(block_row, low) != wanted) return -1;
    return (low * block_size + column - wanted * block_size) * rows + row;
  }

  KOKKOS_FORCEINLINE_FUNCTION std::int64_t element_count(std::int64_t) const {
    return block_width * block_size;
  }
  template <class Visit>
  KOKKOS_INLINE_FUNCTION void for_each_element(const std::int64_t row, const std::int64_t first,
                                               const std::int64_t end, const Visit& visit) const {
    const std::int64_t block_row = quotient<Ordinal>(row, block_size);
    std::int64_t k = quotient<Ordinal>(first, block_size);
    std::int64_t c = first - k * block_size;
    for (std::int64_t place = first; place < end; ++place) {
      const std::int64_t block = block_column(block_row, k);
      visit(block < 0 ? -1 : block * block_size + c, place * rows + row);
      if (++c == block_size) {
        c = 0;
        ++k;
      }
    }
  }
};

/// Calls visit(layout) with the layout of the matrix.
template <class ExecutionSpace, class S, class O, class D, class M, class Z, class Visit>
auto with_layout(const ExecutionSpace&, const BellMatrix<S, O, D, M, Z>& bell, const Visit& visit) {
  return visit(BellElements<S, O>(bell));
}

/// convert<BellMatrix>, its input checked. Fences exec to learn the width.
template <class ExecutionSpace, class Crs, class S, class O, class D, class M, class Z>
void convert_from_crs(const ExecutionSpace& exec, const Crs& crs, const BellOptions& options,
                      BellMatrix<S, O, D, M, Z>& result) {
  using Bell = BellMatrix<S, O, D, M, Z>;
  using Columns = BlockColumns<CrsViews<S, O, Z>>;
  using Pattern = BellPattern<ExecutionSpace, Columns, O>;
  const char* function = "Filigree::convert<BellMatrix>";
  const char* name = Bell::name();
  const std::int64_t b = options.block_size;
  if (b < 1 || b > largest_compiled_block_size)
    fail<std::invalid_argument>(function, ": options.block_size is ", b, "; it must be 1 to ",
                                largest_compiled_block_size, ".");
  const std::int64_t rows = static_cast<std::int64_t>(crs.numRows());
  Pattern pattern{Columns{CrsViews<S, O, Z>(crs), rows, b}, (rows + b - 1) / b, 0, nullptr};
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
                     why << "the longest row of " << b << " x " << b << " blocks has " << pattern.block_width
                         << " of them for " << static_cast<double>(crs.nnz()) / static_cast<double>(rows)
                         << " entries a row";
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
}

}  // namespace Impl
}  // namespace Filigree

#endif

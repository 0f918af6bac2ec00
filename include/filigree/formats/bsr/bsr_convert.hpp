// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FILIGREE_FORMATS_BSR_BSR_CONVERT_HPP
#define FILIGREE_FORMATS_BSR_BSR_CONVERT_HPP

#include "filigree/formats/bsr/bsr_matrix.hpp"

#if FILIGREE_HAS_BSR
#include <limits>

#include "filigree/core/region.hpp"
#include "filigree/core/row_map.hpp"

namespace Filigree {
namespace Impl {

/// Copies between a CRS matrix and the Views of a BSR matrix.
template <class ExecutionSpace, class Scalar, class Ordinal, class SizeType>
struct BsrCopy {
  using execution_space = ExecutionSpace;
  struct CountUnsorted {};
  struct CountBlocks {};
  struct ListBlocks {};
  struct Fill {};
  struct Compare {};
  struct Count {};
  struct Extract {};

  std::int64_t block_size;
  CrsViews<Scalar, Ordinal, SizeType> crs;
  /// Whether the rows of the CRS matrix are sorted.
  bool sorted = false;
  // Of the BSR matrix.
  SizeType* row_map = nullptr;
  Ordinal* entries = nullptr;
  Scalar* values = nullptr;
  // Of the CRS matrix that build_crs makes.
  SizeType* crs_row_map = nullptr;
  Ordinal* crs_entries = nullptr;
  Scalar* crs_values = nullptr;

  /// The smallest block column greater than `last` in a block row, or -1. In sorted rows a binary search of
  /// each; in others a read of all, which takes the square of the length of a long row.
  KOKKOS_INLINE_FUNCTION std::int64_t next_block(std::int64_t block_row, std::int64_t last) const {
    std::int64_t next = -1;
    for (std::int64_t row = block_row * block_size; row < (block_row + 1) * block_size; ++row) {
      std::int64_t begin = crs.begin(row);
      std::int64_t end = crs.end(row);
      if (sorted) {
        const std::int64_t row_end = end;
        while (begin < end) {
          const std::int64_t middle = (begin + end) / 2;
          if (static_cast<std::int64_t>(crs.entries[middle]) / block_size > last)
            end = middle;
          else
            begin = middle + 1;
        }
        end = begin < row_end ? begin + 1 : begin;
      }
      for (std::int64_t i = begin; i < end; ++i) {
        const std::int64_t block = static_cast<std::int64_t>(crs.entries[i]) / block_size;
        if (block > last && (next < 0 || block < next)) next = block;
      }
    }
    return next;
  }

  KOKKOS_INLINE_FUNCTION void operator()(CountUnsorted, const std::int64_t row, std::int64_t& count) const {
    for (std::int64_t i = crs.begin(row) + 1; i < crs.end(row); ++i)
      if (crs.entries[i] < crs.entries[i - 1]) ++count;
  }

  KOKKOS_INLINE_FUNCTION void operator()(CountBlocks, const std::int64_t block_row) const {
    SizeType count = 0;
    for (std::int64_t block = next_block(block_row, -1); block >= 0; block = next_block(block_row, block))
      ++count;
    row_map[block_row] = count;
  }

  KOKKOS_INLINE_FUNCTION void operator()(ListBlocks, const std::int64_t block_row) const {
    std::int64_t at = static_cast<std::int64_t>(row_map[block_row]);
    for (std::int64_t block = next_block(block_row, -1); block >= 0; block = next_block(block_row, block))
      entries[at++] = static_cast<Ordinal>(block);
  }

  /// Where the value of a row and column is stored, -1 where its block is not. The blocks of a row are
  /// sorted.
  KOKKOS_INLINE_FUNCTION std::int64_t position(std::int64_t row, std::int64_t column) const {
    const std::int64_t block_row = row / block_size;
    const std::int64_t block_column = column / block_size;
    std::int64_t block = static_cast<std::int64_t>(row_map[block_row]);
    std::int64_t end = static_cast<std::int64_t>(row_map[block_row + 1]);
    const std::int64_t row_end = end;
    while (block < end) {
      const std::int64_t middle = (block + end) / 2;
      if (static_cast<std::int64_t>(entries[middle]) < block_column)
        block = middle + 1;
      else
        end = middle;
    }
    if (block == row_end || static_cast<std::int64_t>(entries[block]) != block_column) return -1;
    return (block * block_size + row - block_row * block_size) * block_size + column -
           block_column * block_size;
  }

  KOKKOS_INLINE_FUNCTION void operator()(Fill, const std::int64_t row) const {
    for (std::int64_t i = crs.begin(row); i < crs.end(row); ++i) {
      const std::int64_t at = position(row, static_cast<std::int64_t>(crs.entries[i]));
      if (at >= 0) values[at] = Scalar(0);
    }
    for (std::int64_t i = crs.begin(row); i < crs.end(row); ++i) {
      const std::int64_t at = position(row, static_cast<std::int64_t>(crs.entries[i]));
      if (at >= 0) values[at] += crs.values[i];
    }
  }

  KOKKOS_INLINE_FUNCTION void operator()(Compare, const std::int64_t row, std::int64_t& first_bad) const {
    bool same = true;
    for (std::int64_t i = crs.begin(row); same && i < crs.end(row); ++i)
      same = position(row, static_cast<std::int64_t>(crs.entries[i])) >= 0;
    // Both are mostly in the same order: looking on from the last find makes this one pass over each.
    std::int64_t cursor = 0;
    const std::int64_t length = crs.end(row) - crs.begin(row);
    for_each_stored(row, [&](std::int64_t column, const Scalar&) {
      std::int64_t tried = 0;
      while (tried < length && static_cast<std::int64_t>(crs.entries[crs.begin(row) + cursor]) != column) {
        cursor = cursor + 1 == length ? 0 : cursor + 1;
        ++tried;
      }
      same = same && tried < length;
    });
    if (!same && row < first_bad) first_bad = row;
  }

  KOKKOS_INLINE_FUNCTION void operator()(Count, const std::int64_t row) const {
    SizeType count = 0;
    for_each_stored(row, [&](std::int64_t, const Scalar&) { ++count; });
    crs_row_map[row] = count;
  }

  KOKKOS_INLINE_FUNCTION void operator()(Extract, const std::int64_t row) const {
    std::int64_t at = static_cast<std::int64_t>(crs_row_map[row]);
    for_each_stored(row, [&](std::int64_t column, const Scalar& value) {
      crs_entries[at] = static_cast<Ordinal>(column);
      crs_values[at] = value;
      ++at;
    });
  }

  /// Calls visit(column, value) for the values of a row that are not zero, in the order of its blocks.
  template <class Visit>
  KOKKOS_INLINE_FUNCTION void for_each_stored(const std::int64_t row, const Visit& visit) const {
    const std::int64_t block_row = row / block_size;
    const std::int64_t end = static_cast<std::int64_t>(row_map[block_row + 1]);
    for (std::int64_t block = static_cast<std::int64_t>(row_map[block_row]); block < end; ++block)
      for (std::int64_t c = 0; c < block_size; ++c) {
        const Scalar value = values[(block * block_size + row - block_row * block_size) * block_size + c];
        if (value != Scalar(0)) visit(static_cast<std::int64_t>(entries[block]) * block_size + c, value);
      }
  }
};

/// BsrCopy on the Views of an existing matrix. Its row map is const as the class has it; nothing here writes
/// to it.
template <class ExecutionSpace, class S, class O, class D, class M, class Z, class Crs>
BsrCopy<ExecutionSpace, S, O, Z> bsr_copy(const KokkosSparse::Experimental::BsrMatrix<S, O, D, M, Z>& A,
                                          const Crs& crs) {
  BsrCopy<ExecutionSpace, S, O, Z> copy{static_cast<std::int64_t>(A.blockDim()), CrsViews<S, O, Z>(crs)};
  copy.row_map = const_cast<Z*>(A.graph.row_map.data());
  copy.entries = A.graph.entries.data();
  copy.values = A.values.data();
  return copy;
}

/// convert<BsrMatrix>, its input checked; on the device, unlike the constructor of the class. Duplicates are
/// summed. Fences exec to learn the number of blocks.
template <class ExecutionSpace, class Crs, class S, class O, class D, class M, class Z>
void convert_from_crs(const ExecutionSpace& exec, const Crs& crs, const BsrOptions& options,
                      KokkosSparse::Experimental::BsrMatrix<S, O, D, M, Z>& result) {
  using Bsr = KokkosSparse::Experimental::BsrMatrix<S, O, D, M, Z>;
  using Copy = BsrCopy<ExecutionSpace, S, O, Z>;
  const std::int64_t rows = static_cast<std::int64_t>(crs.numRows());
  const std::int64_t columns = static_cast<std::int64_t>(crs.numCols());
  const std::int64_t b = options.block_size;
  if (b < 1 || rows % b != 0 || columns % b != 0)
    fail<std::invalid_argument>("Filigree::convert<BsrMatrix>: options.block_size is ", b, " for a ", rows,
                                " x ", columns, " matrix; it must be at least 1 and divide both extents.");
  const std::int64_t block_rows = rows / b;

  typename Bsr::row_map_type::non_const_type row_map(Kokkos::view_alloc(exec, label("row_map", "bsr")),
                                                     static_cast<std::size_t>(block_rows) + 1);
  Copy copy{b, CrsViews<S, O, Z>(crs)};
  copy.row_map = row_map.data();
  std::int64_t unsorted = 0;
  Kokkos::parallel_reduce("Filigree::count_unsorted[bsr]",
                          row_range<typename Copy::CountUnsorted>(exec, rows), copy, unsorted);
  exec.fence();
  copy.sorted = unsorted == 0;
  Kokkos::parallel_for("Filigree::count_blocks[bsr]", row_range<typename Copy::CountBlocks>(exec, block_rows),
                       copy);
  Kokkos::parallel_scan("Filigree::row_map[bsr]", row_range<void>(exec, block_rows + 1),
                        ExclusiveSum<ExecutionSpace, Z>{row_map.data()});
  exec.fence();
  const Z blocks = read_element(row_map, static_cast<std::size_t>(block_rows));

  const double elements = static_cast<double>(blocks) * static_cast<double>(b * b);
  check_storage<Z>("Filigree::convert<BsrMatrix>", elements,
                   elements * sizeof(S) + static_cast<double>(blocks) * sizeof(O) +
                       static_cast<double>(block_rows + 1) * sizeof(Z),
                   crs, options, [&](std::ostream& why) {
                     why << blocks << " blocks of " << b << " x " << b << " hold " << crs.nnz() << " entries";
                   });
  typename Bsr::index_type::non_const_type entries(
      Kokkos::view_alloc(exec, Kokkos::WithoutInitializing, label("entries", "bsr")), blocks);
  typename Bsr::values_type::non_const_type values(Kokkos::view_alloc(exec, label("values", "bsr")),
                                                   static_cast<std::size_t>(elements));
  copy.entries = entries.data();
  copy.values = values.data();
  Kokkos::parallel_for("Filigree::list_blocks[bsr]", row_range<typename Copy::ListBlocks>(exec, block_rows),
                       copy);
  Kokkos::parallel_for("Filigree::convert[bsr]", row_range<typename Copy::Fill>(exec, rows), copy);
  result = Bsr(label("bsr", "bsr"), static_cast<O>(block_rows), static_cast<O>(columns / b), blocks, values,
               row_map, entries, static_cast<O>(b));
}

/// The first row in which the patterns differ, or a number past all rows. Fences exec.
template <class ExecutionSpace, class Crs, class S, class O, class D, class M, class Z>
std::int64_t first_different_row(const ExecutionSpace& exec,
                                 const KokkosSparse::Experimental::BsrMatrix<S, O, D, M, Z>& A,
                                 const Crs& crs) {
  using Copy = BsrCopy<ExecutionSpace, S, O, Z>;
  std::int64_t row = std::numeric_limits<std::int64_t>::max();
  Kokkos::parallel_reduce("Filigree::compare_pattern[bsr]",
                          row_range<typename Copy::Compare>(exec, static_cast<std::int64_t>(crs.numRows())),
                          bsr_copy<ExecutionSpace>(A, crs), Kokkos::Min<std::int64_t>(row));
  exec.fence();
  return row;
}

/// refill, its input checked. One kernel.
template <class ExecutionSpace, class Crs, class S, class O, class D, class M, class Z>
void refill_from_crs(const ExecutionSpace& exec,
                     const KokkosSparse::Experimental::BsrMatrix<S, O, D, M, Z>& A, const Crs& crs) {
  using Copy = BsrCopy<ExecutionSpace, S, O, Z>;
  Kokkos::parallel_for("Filigree::refill[bsr]",
                       row_range<typename Copy::Fill>(exec, static_cast<std::int64_t>(crs.numRows())),
                       bsr_copy<ExecutionSpace>(A, crs));
}

/// to_crs: the values that are not zero.
template <class Crs, class ExecutionSpace, class S, class O, class D, class M, class Z>
Crs convert_to_crs(const ExecutionSpace& exec,
                   const KokkosSparse::Experimental::BsrMatrix<S, O, D, M, Z>& A) {
  using Copy = BsrCopy<ExecutionSpace, S, O, Z>;
  return build_crs<Crs, typename Copy::Count, typename Copy::Extract>(
      exec, "bsr", static_cast<O>(A.numRows() * A.blockDim()), static_cast<O>(A.numCols() * A.blockDim()),
      bsr_copy<ExecutionSpace>(A, Crs()));
}

}  // namespace Impl
}  // namespace Filigree
#endif

#endif

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FILIGREE_FORMATS_CDS_CDS_CONVERT_HPP
#define FILIGREE_FORMATS_CDS_CDS_CONVERT_HPP

#include <cstdint>
#include <limits>
#include <string>

#include "filigree/core/check_crs.hpp"
#include "filigree/core/region.hpp"
#include "filigree/core/row_map.hpp"
#include "filigree/formats/cds/cds_matrix.hpp"

namespace Filigree {
namespace Impl {

/// Finds the block diagonals that have an entry: Mark raises the flag of each, List writes the offsets of
/// those raised in ascending order. Diagonal j of the flags has the offset j - (block rows - 1).
template <class ExecutionSpace, class Views, class Ordinal>
struct CdsDiagonals {
  using execution_space = ExecutionSpace;
  using value_type = std::int64_t;
  struct Mark {};
  struct Count {};
  struct List {};

  Views crs;
  std::int64_t block_size;
  std::int64_t block_rows;
  int* flags;
  Ordinal* offsets;

  KOKKOS_INLINE_FUNCTION void operator()(Mark, const std::int64_t row) const {
    const std::int64_t shift = block_rows - 1 - row / block_size;
    std::int64_t last = -1;
    for (std::int64_t i = crs.begin(row); i < crs.end(row); ++i) {
      const std::int64_t diagonal = static_cast<std::int64_t>(crs.entries[i]) / block_size + shift;
      // Looking first, past the L1 cache, keeps all lanes from queueing at the flag of the main diagonal.
      const volatile int* flag = flags + diagonal;
      if (diagonal != last && *flag == 0) Kokkos::atomic_exchange(flags + diagonal, 1);
      last = diagonal;
    }
  }
  KOKKOS_INLINE_FUNCTION void operator()(Count, const std::int64_t diagonal, std::int64_t& count) const {
    count += flags[diagonal];
  }
  KOKKOS_INLINE_FUNCTION void operator()(List, const std::int64_t diagonal, std::int64_t& count,
                                         const bool final) const {
    if (final && flags[diagonal] != 0) offsets[count] = static_cast<Ordinal>(diagonal - (block_rows - 1));
    count += flags[diagonal];
  }
};

/// Copies between a CRS matrix and a CDS matrix, one lane a row.
template <class ExecutionSpace, class Cds>
struct CdsCopy {
  using execution_space = ExecutionSpace;
  using scalar_type = typename Cds::value_type;
  using ordinal_type = typename Cds::ordinal_type;
  using size_type = typename Cds::size_type;

  struct Fill {};
  struct Compare {};
  struct Count {};
  struct Extract {};

  Cds cds;
  CrsViews<scalar_type, ordinal_type, size_type> crs;
  // Set by build_crs.
  size_type* crs_row_map = nullptr;
  ordinal_type* crs_entries = nullptr;
  scalar_type* crs_values = nullptr;

  template <class Crs>
  CdsCopy(const Cds& cds_, const Crs& crs_) : cds(cds_), crs(crs_) {}

  /// Where the value of a row and column is stored, -1 where its block diagonal is not.
  KOKKOS_INLINE_FUNCTION std::int64_t position(std::int64_t row, std::int64_t column) const {
    const std::int64_t block_size = cds.block_size();
    const std::int64_t block_column = column / block_size;
    const std::int64_t offset = block_column - row / block_size;
    const ordinal_type* offsets = cds.offsets.data();
    std::int64_t low = 0;
    std::int64_t high = static_cast<std::int64_t>(cds.numDiagonals());
    while (low < high) {
      const std::int64_t middle = (low + high) / 2;
      if (static_cast<std::int64_t>(offsets[middle]) < offset)
        low = middle + 1;
      else
        high = middle;
    }
    if (low == static_cast<std::int64_t>(cds.numDiagonals()) ||
        static_cast<std::int64_t>(offsets[low]) != offset)
      return -1;
    return (low * block_size + column - block_column * block_size) *
               static_cast<std::int64_t>(cds.numRows()) +
           row;
  }

  /// Clears what the row holds before adding, so that duplicates are summed, in the order of the CRS, on a
  /// matrix that is new and on one that is refilled. Leaves out what has no place.
  KOKKOS_INLINE_FUNCTION void operator()(Fill, const std::int64_t row) const {
    for (std::int64_t i = crs.begin(row); i < crs.end(row); ++i) {
      const std::int64_t at = position(row, static_cast<std::int64_t>(crs.entries[i]));
      if (at >= 0) cds.values.data()[at] = scalar_type(0);
    }
    for (std::int64_t i = crs.begin(row); i < crs.end(row); ++i) {
      const std::int64_t at = position(row, static_cast<std::int64_t>(crs.entries[i]));
      if (at >= 0) cds.values.data()[at] += crs.values[i];
    }
  }

  /// Differs where a stored value is not zero in a place that the CRS does not name, or the CRS names a place
  /// that is not stored.
  KOKKOS_INLINE_FUNCTION void operator()(Compare, const std::int64_t row, std::int64_t& first_bad) const {
    bool same = true;
    for (std::int64_t i = crs.begin(row); same && i < crs.end(row); ++i)
      same = position(row, static_cast<std::int64_t>(crs.entries[i])) >= 0;
    // Both are mostly in the same order: looking on from the last find makes this one pass over each.
    std::int64_t cursor = 0;
    const std::int64_t length = crs.end(row) - crs.begin(row);
    for_each_stored(row, [&](std::int64_t column, const scalar_type&) {
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
    size_type count = 0;
    for_each_stored(row, [&](std::int64_t, const scalar_type&) { ++count; });
    crs_row_map[row] = count;
  }

  KOKKOS_INLINE_FUNCTION void operator()(Extract, const std::int64_t row) const {
    std::int64_t at = static_cast<std::int64_t>(crs_row_map[row]);
    for_each_stored(row, [&](std::int64_t column, const scalar_type& value) {
      crs_entries[at] = static_cast<ordinal_type>(column);
      crs_values[at] = value;
      ++at;
    });
  }

  /// Calls visit(column, value) for the values of a row that are not zero, by ascending column.
  template <class Visit>
  KOKKOS_INLINE_FUNCTION void for_each_stored(const std::int64_t row, const Visit& visit) const {
    const std::int64_t block_size = cds.block_size();
    const std::int64_t rows = static_cast<std::int64_t>(cds.numRows());
    for (std::int64_t d = 0; d < static_cast<std::int64_t>(cds.numDiagonals()); ++d) {
      const std::int64_t block_column = row / block_size + static_cast<std::int64_t>(cds.offsets.data()[d]);
      for (std::int64_t c = 0; c < block_size; ++c) {
        const std::int64_t column = block_column * block_size + c;
        if (column < 0 || column >= static_cast<std::int64_t>(cds.numCols())) continue;
        const scalar_type value = cds.values.data()[(d * block_size + c) * rows + row];
        if (value != scalar_type(0)) visit(column, value);
      }
    }
  }
};

/// Allocates a CDS matrix of zeros for the given number of block diagonals, whose offsets the caller then
/// writes.
template <class Cds, class ExecutionSpace>
Cds allocate_cds(const ExecutionSpace& exec, typename Cds::ordinal_type rows,
                 typename Cds::ordinal_type columns, typename Cds::size_type entry_count, int block_size,
                 std::int64_t diagonals) {
  const std::size_t size = static_cast<std::size_t>(diagonals) * static_cast<std::size_t>(block_size) *
                           static_cast<std::size_t>(rows);
  return Cds(rows, columns, entry_count, block_size,
             typename Cds::values_type(Kokkos::view_alloc(exec, label("values", Cds::name())), size),
             typename Cds::offsets_type(
                 Kokkos::view_alloc(exec, Kokkos::WithoutInitializing, label("offsets", Cds::name())),
                 static_cast<std::size_t>(diagonals)));
}

/// convert<CdsMatrix>, its input checked. Fences exec to learn the number of diagonals. Needs 4 bytes for
/// each block row and block column while it runs.
template <class ExecutionSpace, class Crs, class S, class O, class D, class M, class Z>
void convert_from_crs(const ExecutionSpace& exec, const Crs& crs, const CdsOptions& options,
                      CdsMatrix<S, O, D, M, Z>& result) {
  using Cds = CdsMatrix<S, O, D, M, Z>;
  using Copy = CdsCopy<ExecutionSpace, Cds>;
  using Diagonals = CdsDiagonals<ExecutionSpace, CrsViews<S, O, Z>, O>;
  if (options.block_size < 1)
    fail<std::invalid_argument>("Filigree::convert<CdsMatrix>: options.block_size is ", options.block_size,
                                "; it must be the unknowns a grid cell, at least 1.");
  const std::int64_t rows = static_cast<std::int64_t>(crs.numRows());
  const std::int64_t block_size = options.block_size;
  const std::int64_t block_rows = (rows + block_size - 1) / block_size;
  const std::int64_t block_columns = (static_cast<std::int64_t>(crs.numCols()) + block_size - 1) / block_size;
  const std::int64_t candidates = block_rows > 0 && block_columns > 0 ? block_rows + block_columns - 1 : 0;

  Kokkos::View<int*, D> flags(Kokkos::view_alloc(exec, label("flags", Cds::name())),
                              static_cast<std::size_t>(candidates));
  Diagonals work{CrsViews<S, O, Z>(crs), block_size, block_rows, flags.data(), nullptr};
  std::int64_t diagonals = 0;
  if (candidates > 0) {
    Kokkos::parallel_for("Filigree::mark_diagonals[cds]", row_range<typename Diagonals::Mark>(exec, rows),
                         work);
    Kokkos::parallel_reduce("Filigree::count_diagonals[cds]",
                            row_range<typename Diagonals::Count>(exec, candidates), work, diagonals);
  }
  exec.fence();

  const double elements =
      static_cast<double>(diagonals) * static_cast<double>(block_size) * static_cast<double>(rows);
  check_storage<Z>("Filigree::convert<CdsMatrix>", elements,
                   elements * sizeof(S) + static_cast<double>(diagonals) * sizeof(O), crs, options,
                   [&](std::ostream& why) {
                     why << diagonals << " diagonals of " << block_size << " x " << block_size
                         << " blocks for " << static_cast<double>(crs.nnz()) / static_cast<double>(rows)
                         << " entries a row";
                   });

  result = allocate_cds<Cds>(exec, crs.numRows(), crs.numCols(), static_cast<Z>(crs.nnz()),
                             options.block_size, diagonals);
  if (diagonals == 0) return;
  work.offsets = result.offsets.data();
  Kokkos::parallel_scan("Filigree::list_diagonals[cds]",
                        row_range<typename Diagonals::List>(exec, candidates), work);
  Kokkos::parallel_for("Filigree::convert[cds]", row_range<typename Copy::Fill>(exec, rows),
                       Copy(result, crs));
  // The flags are freed on return, which is no event of exec.
  exec.fence();
}

/// The first row in which the patterns differ, or a number past all rows. Fences exec.
template <class ExecutionSpace, class Crs, class S, class O, class D, class M, class Z>
std::int64_t first_different_row(const ExecutionSpace& exec, const CdsMatrix<S, O, D, M, Z>& cds,
                                 const Crs& crs) {
  using Copy = CdsCopy<ExecutionSpace, CdsMatrix<S, O, D, M, Z>>;
  std::int64_t row = std::numeric_limits<std::int64_t>::max();
  Kokkos::parallel_reduce("Filigree::compare_pattern[cds]",
                          row_range<typename Copy::Compare>(exec, static_cast<std::int64_t>(cds.numRows())),
                          Copy(cds, crs), Kokkos::Min<std::int64_t>(row));
  exec.fence();
  return row;
}

/// refill, its input checked. One kernel.
template <class ExecutionSpace, class Crs, class S, class O, class D, class M, class Z>
void refill_from_crs(const ExecutionSpace& exec, const CdsMatrix<S, O, D, M, Z>& cds, const Crs& crs) {
  using Copy = CdsCopy<ExecutionSpace, CdsMatrix<S, O, D, M, Z>>;
  static const std::string name = label("refill", "cds");
  Kokkos::parallel_for(name, row_range<typename Copy::Fill>(exec, static_cast<std::int64_t>(cds.numRows())),
                       Copy(cds, crs));
}

/// to_crs: the values that are not zero, by ascending column.
template <class Crs, class ExecutionSpace, class S, class O, class D, class M, class Z>
Crs convert_to_crs(const ExecutionSpace& exec, const CdsMatrix<S, O, D, M, Z>& cds) {
  using Copy = CdsCopy<ExecutionSpace, CdsMatrix<S, O, D, M, Z>>;
  return build_crs<Crs, typename Copy::Count, typename Copy::Extract>(exec, cds.name(), cds.numRows(),
                                                                      cds.numCols(), Copy(cds, Crs()));
}

}  // namespace Impl
}  // namespace Filigree

#endif

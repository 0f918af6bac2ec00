// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FILIGREE_FORMATS_CDS_CDS_CONVERT_HPP
#define FILIGREE_FORMATS_CDS_CDS_CONVERT_HPP

#include <cstdint>
#include <string>

#include "filigree/core/allocate_view.hpp"
#include "filigree/core/binary_search.hpp"
#include "filigree/core/check_crs.hpp"
#include "filigree/core/place_copy.hpp"
#include "filigree/core/region.hpp"
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
  /// A row has 1 << lane_bits lanes: shifts, as a GPU divides slowly.
  int lane_bits;
  std::int64_t block_size;
  std::int64_t block_rows;
  int* flags;
  Ordinal* offsets;

  /// A lane of those of a row.
  KOKKOS_INLINE_FUNCTION void operator()(Mark, const std::int64_t lane) const {
    const std::int64_t row = lane >> lane_bits;
    const std::int64_t shift = block_rows - 1 - quotient<Ordinal>(row, block_size);
    const std::int64_t lanes = std::int64_t(1) << lane_bits;
    for (std::int64_t i = crs.begin(row) + lane - row * lanes; i < crs.end(row); i += lanes) {
      const std::int64_t diagonal = quotient<Ordinal>(crs.entries[i], block_size) + shift;
      // Looking first keeps lanes from queueing at the flag of the main diagonal. The L1 cache may not
      // have seen it raised, what is past it has.
      const volatile int* flag = flags + diagonal;
      if (flags[diagonal] == 0 && *flag == 0) Kokkos::atomic_exchange(flags + diagonal, 1);
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

/// The block diagonals of a CRS matrix that have an entry, for `work` to list.
template <class ExecutionSpace, class Crs>
struct FoundDiagonals {
  using work_type = CdsDiagonals<ExecutionSpace, crs_views_t<Crs>, typename Crs::non_const_ordinal_type>;
  Kokkos::View<int*, typename Crs::device_type> flags;
  work_type work;
  std::int64_t candidates;
  std::int64_t count;
};

/// Finds the diagonals. Fences exec to learn their number. Needs 4 bytes for each block row and block column.
template <class ExecutionSpace, class Crs>
FoundDiagonals<ExecutionSpace, Crs> find_diagonals(const ExecutionSpace& exec, const char* format,
                                                   const Crs& crs, std::int64_t block_size) {
  using Found = FoundDiagonals<ExecutionSpace, Crs>;
  using Diagonals = typename Found::work_type;
  const std::int64_t rows = static_cast<std::int64_t>(crs.numRows());
  const std::int64_t entries = static_cast<std::int64_t>(crs.nnz());
  const std::int64_t block_rows = (rows + block_size - 1) / block_size;
  const std::int64_t block_columns = (static_cast<std::int64_t>(crs.numCols()) + block_size - 1) / block_size;
  const std::int64_t candidates = block_rows > 0 && block_columns > 0 ? block_rows + block_columns - 1 : 0;
  const decltype(Found::flags) flags(Kokkos::view_alloc(exec, label("flags", format)),
                                     static_cast<std::size_t>(candidates));
  // On a GPU as many lanes as a row has entries on average, so that neighbours read together (in place of one
  // lane on an H200: conversion of 7pt 80^3 b=8 in float 3.1 ms in place of 4.8, of 256^3 b=1 the same).
  int lane_bits = 0;
  while (runs_on_gpu_v<ExecutionSpace> && lane_bits < 5 && rows << (lane_bits + 1) <= entries)
    ++lane_bits;
  Found found{flags,
              {crs_views_t<Crs>(crs), lane_bits, block_size, block_rows, flags.data(), nullptr},
              candidates,
              0};
  if (candidates > 0) {
    Kokkos::parallel_for(label("mark_diagonals", format),
                         row_range<typename Diagonals::Mark>(exec, rows << lane_bits), found.work);
    Kokkos::parallel_reduce(label("count_diagonals", format),
                            row_range<typename Diagonals::Count>(exec, candidates), found.work, found.count);
  }
  exec.fence();
  return found;
}

/// The Places (core/place_copy.hpp) of a CDS matrix.
template <class Scalar, class Ordinal>
struct CdsPlaces {
  using scalar_type = Scalar;
  using ordinal_type = Ordinal;
  static constexpr bool rows_are_contiguous = false;

  Scalar* diagonal_values;
  const Ordinal* offsets;
  std::int64_t diagonals;
  std::int64_t rows;
  std::int64_t block_size;

  template <class Cds>
  explicit CdsPlaces(const Cds& cds)
      : diagonal_values(cds.values.data()),
        offsets(cds.offsets.data()),
        diagonals(static_cast<std::int64_t>(cds.numDiagonals())),
        rows(static_cast<std::int64_t>(cds.numRows())),
        block_size(cds.block_size()) {}

  KOKKOS_FORCEINLINE_FUNCTION Scalar* values() const { return diagonal_values; }

  KOKKOS_INLINE_FUNCTION std::int64_t position(std::int64_t row, std::int64_t column) const {
    const std::int64_t block_column = quotient<Ordinal>(column, block_size);
    const std::int64_t offset = block_column - quotient<Ordinal>(row, block_size);
    const std::int64_t low = first_where(
        0, diagonals, [&](std::int64_t d) { return static_cast<std::int64_t>(offsets[d]) >= offset; });
    if (low == diagonals || static_cast<std::int64_t>(offsets[low]) != offset) return -1;
    return (low * block_size + column - block_column * block_size) * rows + row;
  }

  KOKKOS_FORCEINLINE_FUNCTION std::int64_t place_count(std::int64_t) const { return diagonals * block_size; }
  template <class Visit>
  KOKKOS_INLINE_FUNCTION void for_each_place(const std::int64_t row, const std::int64_t first,
                                             const std::int64_t end, const Visit& visit) const {
    const std::int64_t block_row = quotient<Ordinal>(row, block_size);
    std::int64_t d = quotient<Ordinal>(first, block_size);
    std::int64_t c = first - d * block_size;
    for (std::int64_t place = first; place < end; ++place) {
      const std::int64_t column = (block_row + static_cast<std::int64_t>(offsets[d])) * block_size + c;
      visit(column, place * rows + row);
      if (++c == block_size) {
        c = 0;
        ++d;
      }
    }
  }
};

/// Allocates a CDS matrix for the given number of block diagonals, whose values and offsets the caller then
/// writes.
template <class Cds, class ExecutionSpace>
Cds allocate_cds(const ExecutionSpace& exec, const char* format, typename Cds::ordinal_type rows,
                 typename Cds::ordinal_type columns, typename Cds::size_type entry_count, int block_size,
                 std::int64_t diagonals) {
  const std::int64_t size = diagonals * block_size * static_cast<std::int64_t>(rows);
  return Cds(rows, columns, entry_count, block_size,
             allocate_view<typename Cds::values_type>(exec, "values", format, size),
             allocate_view<typename Cds::offsets_type>(exec, "offsets", format, diagonals));
}

/// A CRS matrix, its content checked, as diagonals of blocks; function and format are those that messages and
/// labels name. Fences exec to learn the number of diagonals.
template <class Cds, class ExecutionSpace, class Crs>
Cds diagonals_of_crs(const ExecutionSpace& exec, const char* function, const char* format, const Crs& crs,
                     const ConvertOptions& options, int block_size) {
  using S = typename Cds::value_type;
  using O = typename Cds::ordinal_type;
  using Z = typename Cds::size_type;
  const std::int64_t rows = static_cast<std::int64_t>(crs.numRows());
  auto found = find_diagonals(exec, format, crs, block_size);
  const std::int64_t diagonals = found.count;

  const double elements =
      static_cast<double>(diagonals) * static_cast<double>(block_size) * static_cast<double>(rows);
  check_storage<Z>(function, elements, elements * sizeof(S) + static_cast<double>(diagonals) * sizeof(O), crs,
                   options, [&](std::ostream& why) {
                     why << diagonals << " diagonals of " << block_size << " x " << block_size
                         << " blocks for " << static_cast<double>(crs.nnz()) / static_cast<double>(rows)
                         << " entries a row";
                   });

  const Cds result = allocate_cds<Cds>(exec, format, crs.numRows(), crs.numCols(), static_cast<Z>(crs.nnz()),
                                       block_size, diagonals);
  if (diagonals == 0) return result;
  found.work.offsets = result.offsets.data();
  Kokkos::parallel_scan(label("list_diagonals", format),
                        row_range<typename decltype(found.work)::List>(exec, found.candidates), found.work);
  fill_places(exec, "convert", format, CdsPlaces<S, O>(result), crs);
  // The flags are freed on return, which is no event of exec.
  exec.fence();
  return result;
}

/// convert<CdsMatrix>, its input checked. Fences exec.
template <class ExecutionSpace, class Crs, class S, class O, class D, class M, class Z>
void convert_from_crs(const ExecutionSpace& exec, const Crs& crs, const CdsOptions& options,
                      CdsMatrix<S, O, D, M, Z>& result) {
  const char* function = "Filigree::convert<CdsMatrix>";
  if (options.block_size < 1)
    fail<std::invalid_argument>(function, ": options.block_size is ", options.block_size,
                                "; it must be the unknowns a grid cell, at least 1.");
  result =
      diagonals_of_crs<CdsMatrix<S, O, D, M, Z>>(exec, function, "cds", crs, options, options.block_size);
}

/// The first row in which the patterns differ, or a number past all rows. Fences exec.
template <class ExecutionSpace, class Crs, class S, class O, class D, class M, class Z>
std::int64_t first_different_row(const ExecutionSpace& exec, const CdsMatrix<S, O, D, M, Z>& cds,
                                 const Crs& crs) {
  return first_different_row_of_places(exec, "cds", CdsPlaces<S, O>(cds), crs);
}

/// refill, its input checked. One kernel.
template <class ExecutionSpace, class Crs, class S, class O, class D, class M, class Z>
void refill_from_crs(const ExecutionSpace& exec, const CdsMatrix<S, O, D, M, Z>& cds, const Crs& crs) {
  fill_places(exec, "refill", "cds", CdsPlaces<S, O>(cds), crs);
}

/// to_crs: the values that are not zero, by ascending column.
template <class Crs, class ExecutionSpace, class S, class O, class D, class M, class Z>
Crs convert_to_crs(const ExecutionSpace& exec, const CdsMatrix<S, O, D, M, Z>& cds) {
  return crs_of_places<Crs>(exec, "cds", CdsPlaces<S, O>(cds), cds.numRows(), cds.numCols());
}

}  // namespace Impl
}  // namespace Filigree

#endif

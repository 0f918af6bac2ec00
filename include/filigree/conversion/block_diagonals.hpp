// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FILIGREE_CONVERSION_BLOCK_DIAGONALS_HPP
#define FILIGREE_CONVERSION_BLOCK_DIAGONALS_HPP

#include <cstdint>

#include "filigree/conversion/crs_views.hpp"
#include "filigree/core/integer.hpp"
#include "filigree/core/launch.hpp"
#include "filigree/core/region.hpp"

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

}  // namespace Impl
}  // namespace Filigree

#endif

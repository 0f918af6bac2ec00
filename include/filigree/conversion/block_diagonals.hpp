// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "filigree/conversion/crs_views.hpp"
#include "filigree/conversion/stable_sort.hpp"
#include "filigree/core/launch.hpp"
#include "filigree/core/region.hpp"

namespace Filigree::Impl {

/// The kernels that find the block diagonals with an entry. Block diagonal j of a full matrix has the offset
/// j - (block rows - 1). To find them there are two ways. Either each of these diagonals has a flag, and Mark
/// sets the flags of those with an entry. Or Mark writes the number of the diagonal of each entry to `keys`,
/// which are then sorted. Count counts the diagonals with an entry, and List writes their offsets in
/// ascending order. The candidates of Count and List are the flags or the sorted keys.
template <class Views, class Ordinal>
struct BlockDiagonalKernels {
  using value_type = std::int64_t;
  struct Mark {};
  struct Count {};
  struct List {};

  Views crs;
  /// Mark has 1 << log2_lanes lanes per row. The number is a power of two, because a GPU divides slowly.
  int log2_lanes;
  std::int64_t block_size;
  std::int64_t block_rows;
  int* flags = nullptr;           ///< null if there are keys
  std::uint64_t* keys = nullptr;  ///< null if there are flags
  Ordinal* offsets = nullptr;

  /// `lane` counts the lanes of all rows.
  KOKKOS_INLINE_FUNCTION void operator()(Mark, const std::int64_t lane) const {
    const std::int64_t row = lane >> log2_lanes;
    const std::int64_t shift = block_rows - 1 - quotient<Ordinal>(row, block_size);
    const std::int64_t lanes = std::int64_t(1) << log2_lanes;
    for (std::int64_t i = crs.begin(row) + lane - row * lanes; i < crs.end(row); i += lanes) {
      const std::int64_t diagonal = quotient<Ordinal>(crs.entries[i], block_size) + shift;
      if (keys != nullptr) {
        keys[i] = static_cast<std::uint64_t>(diagonal);
        continue;
      }
      // Atomics on one flag wait for each other, so only lanes that find it unset write it. A volatile read
      // bypasses the L1 cache, which may hold an old value.
      const volatile int* flag = flags + diagonal;
      if (flags[diagonal] == 0 && *flag == 0) Kokkos::atomic_exchange(flags + diagonal, 1);
    }
  }
  /// Whether a candidate is a diagonal with an entry. Of equal keys only the first is.
  KOKKOS_FORCEINLINE_FUNCTION bool is_found(std::int64_t candidate) const {
    if (keys == nullptr) return flags[candidate] != 0;
    return candidate == 0 || keys[candidate] != keys[candidate - 1];
  }
  KOKKOS_INLINE_FUNCTION void operator()(Count, const std::int64_t candidate, std::int64_t& count) const {
    if (is_found(candidate)) ++count;
  }
  KOKKOS_INLINE_FUNCTION void operator()(List, const std::int64_t candidate, std::int64_t& count,
                                         const bool final) const {
    if (!is_found(candidate)) return;
    if (final) {
      const auto diagonal = keys == nullptr ? candidate : static_cast<std::int64_t>(keys[candidate]);
      offsets[count] = static_cast<Ordinal>(diagonal - (block_rows - 1));
    }
    ++count;
  }
};

/// The block diagonals of a CRS matrix that have an entry. list_offsets() gives their offsets.
template <class Crs>
struct FoundDiagonals {
  using kernels_type = BlockDiagonalKernels<crs_views_t<Crs>, typename Crs::non_const_ordinal_type>;
  Kokkos::View<int*, typename Crs::device_type> flags;
  Kokkos::View<std::uint64_t*, typename Crs::device_type> keys;
  kernels_type kernels;
  std::int64_t candidates = 0;  ///< number of flags or keys
  std::int64_t count = 0;       ///< diagonals with an entry
};

/// Finds the block diagonals that have an entry. Fences exec to read their number.
///
/// Flags take 4 bytes per block row and per block column. If that is more than 32 bytes per entry, the
/// diagonals of the entries are sorted instead. This takes 32 bytes per entry while it runs, and the result
/// keeps 8 of them.
template <class ExecutionSpace, class Crs>
FoundDiagonals<Crs> find_diagonals(const ExecutionSpace& exec, const char* format, const Crs& crs,
                                   std::int64_t block_size) {
  using Kernels = typename FoundDiagonals<Crs>::kernels_type;
  const std::int64_t rows = static_cast<std::int64_t>(crs.numRows());
  const std::int64_t nnz = static_cast<std::int64_t>(crs.nnz());
  const std::int64_t block_rows = (rows + block_size - 1) / block_size;
  const std::int64_t block_columns = (static_cast<std::int64_t>(crs.numCols()) + block_size - 1) / block_size;
  const std::int64_t diagonals = block_rows > 0 && block_columns > 0 ? block_rows + block_columns - 1 : 0;
  const bool sorts = diagonals / 8 >= nnz;
  const int log2_lanes = log2_lanes_per_row<ExecutionSpace>(rows, nnz);
  FoundDiagonals<Crs> found{{}, {}, {crs_views_t<Crs>(crs), log2_lanes, block_size, block_rows}};
  if (nnz == 0) return found;
  if (sorts)
    found.keys = allocate_view<decltype(found.keys)>(exec, "diagonals", format, nnz);
  else
    found.flags = decltype(found.flags)(Kokkos::view_alloc(exec, label("flags", format)),
                                        static_cast<std::size_t>(diagonals));
  found.candidates = sorts ? nnz : diagonals;
  found.kernels.flags = found.flags.data();
  found.kernels.keys = found.keys.data();
  Kokkos::parallel_for(label("mark_diagonals", format),
                       row_range<typename Kernels::Mark>(exec, rows << log2_lanes), found.kernels);
  if (sorts) {
    stable_order<std::int64_t>(exec, format, found.keys);
    found.kernels.keys = found.keys.data();
  }
  Kokkos::parallel_reduce(label("count_diagonals", format),
                          row_range<typename Kernels::Count>(exec, found.candidates), found.kernels,
                          found.count);
  exec.fence();
  return found;
}

/// Writes the offsets of the found diagonals in ascending order; there is one element for each. `found` must
/// live until the kernel has run.
template <class ExecutionSpace, class Crs, class Offsets>
void list_offsets(const ExecutionSpace& exec, const char* format, const FoundDiagonals<Crs>& found,
                  const Offsets& offsets) {
  if (found.count == 0) return;
  auto kernels = found.kernels;
  kernels.offsets = offsets.data();
  Kokkos::parallel_scan(label("list_diagonals", format),
                        row_range<typename decltype(kernels)::List>(exec, found.candidates), kernels);
}

}  // namespace Filigree::Impl

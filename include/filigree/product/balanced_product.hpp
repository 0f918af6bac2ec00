// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The balanced product: y = beta*y + alpha*A*x in which every team multiplies about equally many entries,
// however long the rows are. COO and the balanced kernel of WrappedCrsMatrix use it.
//
// Algorithm
//
// 1. Set-up cuts the entries, which are sorted by row, into chunks of at most 2048 (balanced_chunks.hpp).
// 2. Each team multiplies one chunk (balanced_device.hpp, balanced_host.hpp).
// 3. If a row lies in one chunk, the team sums it and stores y.
// 4. If a row is cut, that is, if it lies in several chunks, each of them has a partial sum of it: the tail
//    in the chunk in which the row begins, a head in each later chunk. Teams leave tails and heads in the
//    carry, which lies in a workspace that the product borrows (core/workspace.hpp).
// 5. The tail and the heads of each cut row are joined (balanced_join.hpp). The order of the additions is
//    fixed, so every run gives the same bits. Who joins depends on the matrix:
//    a. Up to 2^20 entries: chunks begin with a row if possible ("row-aligned"), so that only rows of more
//       than 512 entries may be cut. The team that ends last joins all cut rows.
//    b. More entries: chunk c begins with entry 2048 * c. A second kernel, JoinCutRows, joins the cut rows.
//       It is not launched if it has no rows to join or to scale.
//    c. As b, for CRS on a GPU with one column of x and sums of at most 8 bytes: if a row lies in two chunks,
//       these meet. They exchange their partial sums through one atomic word, and the second of them stores
//       the row. The second kernel joins only the rows in three or more chunks.
//    docs/performance.md, "How cut rows are joined", gives the reasons.
// 6. In rows without entries y is only scaled. A chunk of CRS scales y in such rows between its own rows,
//    because its team reads the row map there anyway. The rows that no chunk scales are in the list
//    empty_rows: all rows without entries of a COO matrix; in CRS those that lie in a chunk with more than
//    most_crs_rows rows (ChunkLaunch). Additional teams of the first kernel (case a) or the second kernel
//    (cases b and c) scale y in the rows of the list.
//
// Source: segmented sums over COO, Bell and Garland 2009, section 4.3, which Vazquez et al. 2011 and Liu et
// al. 2012 use too. They join the partial sums in a third, serial kernel; step 5 replaces it.
//
// The EntryLayout concept
//
// A layout tells the kernels where a format stores its entries, sorted by row. CooLayout and CrsEntryLayout
// are layouts. Members:
//
//   scalar_type, ordinal_type
//   chunk_launch                  ChunkLaunch of the execution space
//   values, entries               pointers to the value and the column of each entry
//   nnz                           number of entries
//   chunk_begins                  pointer to EntryChunks::chunk_begins; nullptr if chunk c begins with entry
//                                 2048 * c
//   row_of(i)                     row of entry i, by a search if necessary
//   begin_of(row)                 first entry of a row, by a search if necessary
//   first_row(chunk)              row of the first entry of a chunk
//   row_begins_at(row, i)         whether entry i, which is in `row`, is the first entry of that row
//   may_meet                      constexpr: whether chunks may meet (5c), which takes more registers
// On a GPU:
//   RowBegins(entries, chunk, begin, end, lane)
//                                 searches a chunk, whose entries are begin to end - 1, as one lane of a
//                                 team. All lanes first call its member load(), because lanes may exchange
//                                 rows there. visit(v) calls v(i - begin, row) for each entry i that
//                                 begins a row and that this lane found. visit_rows(v) also calls v(-1, row)
//                                 for rows in which the chunk scales y (step 6). Together the lanes find
//                                 each of them once. Kernels may call both several times
//   row_begins_in_registers       constexpr: whether RowBegins keeps the rows that it found in registers
// On a host:
//   has_row_map                   constexpr: whether begin_of() takes constant time. If not, row_of() does
//   With a row map:
//   rows_of_chunk(chunk, end)     RowRange: the rows that a chunk, whose last entry is end - 1, reaches over: those of
//                                 its entries, and the row of entry `end` if there is such an entry. The first chunk
//                                 begins with row 0, and the last one ends with the last row
//   are_many(rows)                whether these are so many rows that those without entries are in empty_rows (step 6)
//   next_with_entries(row)        the first row with entries that is not before `row`; the number of rows if there
//                                 is none
//   Without one:
//   prefetch(i)                   prefetches one cache line of the values, the columns and the rows of the entries that
//                                 lie prefetch_distance entries after entry i
#pragma once

#include "filigree/product/balanced_device.hpp"
#include "filigree/product/balanced_host.hpp"
#include "filigree/product/launch_product.hpp"

namespace Filigree::Impl {

/// The kernel: multiplies one chunk per team, stores the rows that lie in it and leaves heads and tails of
/// the cut rows. RowAligned selects case a of step 5. Otherwise a team computes where its chunk begins
/// instead of loading it, and needs fewer registers.
template <class ExecutionSpace, class EntryLayout, class Operands, bool Conjugate, bool RowAligned>
struct BalancedSpmv {
  using launch = ChunkLaunch<ExecutionSpace>;
  using product_type = ChunkProduct<ExecutionSpace, EntryLayout, Operands>;
  using accumulator_type = typename Operands::accumulator_type;

  /// Teams that one multiprocessor must be able to run at once, which limits the registers per lane (see
  /// docs/performance.md, "Lanes per multiprocessor").
  static constexpr int teams_per_sm = Operands::most_columns > 1 || sizeof(accumulator_type) > 8 ? 1
                                      : EntryLayout::row_begins_in_registers || RowAligned       ? 4
                                                                                                 : 6;
  /// Dynamic, because host threads need different times for chunks of equally many entries (see
  /// docs/performance.md, "Balanced product on hosts").
  using policy_type = Kokkos::TeamPolicy<ExecutionSpace, Kokkos::Schedule<Kokkos::Dynamic>,
                                         Kokkos::LaunchBounds<launch::lanes, teams_per_sm>>;

  /// Whether chunks meet: case c of step 5. Not if the Epilogue reduces, because it depends on the run which of two
  /// teams stores their row.
  static constexpr bool reduces = target_reduces<typename Operands::y_vector>;
  static constexpr bool chunks_meet = launch::gpu && EntryLayout::may_meet && !RowAligned && !reduces &&
                                      Operands::most_columns == 1 &&
                                      SumAsWord<accumulator_type>::fits_one_word;
  using device_chunk = DeviceChunk<product_type, Conjugate, chunks_meet>;

  product_type product;

  /// The partial results of a lane. It depends on the run which team joins the cut rows, so these have a partial
  /// result of their own. All lanes but one add zeros to it, so that the bits do not depend on the run.
  static constexpr int partials_per_lane = RowAligned ? 2 : 1;

  static constexpr std::size_t scratch_bytes() {
    if constexpr (launch::gpu)
      return sizeof(typename device_chunk::Scratch);
    else
      return 0;
  }

  /// Scales y in the rows of chunk_size elements of empty_rows, from element `first` on.
  KOKKOS_INLINE_FUNCTION void scale_empty_rows(const typename launch::member_type& team,
                                               const std::int64_t first) const {
    const std::int64_t rest = product.empty_row_count - first;
    const int count = static_cast<int>(rest < launch::chunk_size ? rest : launch::chunk_size);
    Kokkos::parallel_for(Kokkos::TeamThreadRange(team, count),
                         [&](const int i) { product.scale_empty_row(first + i); });
  }

  KOKKOS_INLINE_FUNCTION void operator()(const typename launch::member_type& team) const {
    using LastTeam = JoinInLastTeam<product_type>;
    const std::int64_t chunk = team.league_rank();
    if constexpr (RowAligned)
      if (chunk >= product.chunk_count) {
        scale_empty_rows(team, (chunk - product.chunk_count) * launch::chunk_size);
        return;
      }
    const std::int64_t nnz = product.entries.nnz;
    std::int64_t begin = chunk * launch::chunk_size;
    std::int64_t end = begin + launch::chunk_size < nnz ? begin + launch::chunk_size : nnz;
    if constexpr (RowAligned) {
      begin = product.entries.chunk_begins[chunk];
      end = product.entries.chunk_begins[chunk + 1];
    }
    [[maybe_unused]] accumulator_type* scratch_sums = nullptr;
    if constexpr (launch::gpu) {
      using Scratch = typename device_chunk::Scratch;
      Scratch& scratch =
          *static_cast<Scratch*>(team.team_shmem().get_shmem_aligned(sizeof(Scratch), alignof(Scratch)));
      device_chunk::multiply_chunk(product, team, scratch, chunk, begin, end);
      scratch_sums = scratch.sums;
    } else if (product.operands.x.has_unit_stride()) {
      multiply_chunk_on_host<true, Conjugate>(product, chunk, begin, end);
    } else {
      multiply_chunk_on_host<false, Conjugate>(product, chunk, begin, end);
    }
    if constexpr (RowAligned)
      if (product.cut_row_count > 0 && LastTeam::ends_last(product, team)) {
        if constexpr (reduces) {
          product_type joining = product;
          joining.operands.y.partial += 1;
          LastTeam::join_all(joining, team, scratch_sums);
          // In one number. Several would be added in an order that depends on where the team is in the league.
          using Partial = typename Operands::y_vector::partial_type;
          Partial& mine = *joining.operands.y.partial;
          Partial all;
          Kokkos::parallel_reduce(
              Kokkos::TeamThreadRange(team, launch::lanes), [&](const int, Partial& sum) { sum += mine; },
              all);
          mine = team.team_rank() == 0 ? all : Partial();
        } else {
          LastTeam::join_all(product, team, scratch_sums);
        }
      }
  }
};

/// Allocates the workspace of balanced_spmv() if there is none. If this throws, nothing has been launched.
template <class ExecutionSpace, class GivenOperands>
void prepare_balanced_spmv(const ExecutionSpace& exec, const GivenOperands& given, std::int64_t nnz) {
  using Operands = decltype(given.with_any_count());
  using ProductCarry = Carry<typename Operands::accumulator_type, Operands::most_columns>;
  auto& workspace = ProductCarry::borrow(exec, ChunkLaunch<ExecutionSpace>::chunk_count(nnz));
  WorkspacePool<ExecutionSpace>::get().give_back(workspace);
}

/// The balanced product, for modes N and C. `entries` is the layout of the matrix. `chunks` and `empty_rows`
/// (the rows without entries that no chunk scales) are its Views. `name` and `join_name` name the kernels.
/// Neither fences nor allocates, unless no workspace is free (see WorkspacePool).
template <class ExecutionSpace, class EntryLayout, class GivenOperands, class Device, class RowList>
void balanced_spmv(const ExecutionSpace& exec, const std::string& name, const std::string& join_name,
                   Mode mode, const EntryLayout& entries, const GivenOperands& given,
                   const EntryChunks<Device>& chunks, const RowList& empty_rows) {
  // The kernel multiplies one column of x after the other.
  const auto operands = given.with_any_count();
  using Operands = decltype(given.with_any_count());
  using Launch = ChunkLaunch<ExecutionSpace>;
  using Product = ChunkProduct<ExecutionSpace, EntryLayout, Operands>;
  const bool row_aligned = chunks.chunk_begins.extent(0) > 0;
  using ProductCarry = Carry<typename Operands::accumulator_type, Operands::most_columns>;
  const std::int64_t chunk_count = Launch::chunk_count(entries.nnz);
  auto& workspace = ProductCarry::borrow(exec, chunk_count);
  Product product{entries,
                  operands,
                  ProductCarry(workspace),
                  chunk_count,
                  chunks.cut_rows.data(),
                  chunks.cut_row_count,
                  empty_rows.data(),
                  static_cast<std::int64_t>(empty_rows.extent(0))};
  const auto launch = [&](auto conjugate, auto is_row_aligned) {
    constexpr bool aligned = decltype(is_row_aligned)::value;
    using Kernel = BalancedSpmv<ExecutionSpace, EntryLayout, Operands, decltype(conjugate)::value, aligned>;
    const std::int64_t scaling_teams =
        aligned ? (product.empty_row_count + Launch::chunk_size - 1) / Launch::chunk_size : 0;
    auto policy =
        typename Kernel::policy_type(exec, static_cast<int>(chunk_count + scaling_teams), Launch::lanes, 1);
    // 16 bytes more for the alignment of Scratch.
    policy.set_scratch_size(0, Kokkos::PerTeam(static_cast<int>(Kernel::scratch_bytes() + 16)));
    launch_product(exec, name, policy, Kernel{product});
  };
  with_conjugate<typename EntryLayout::scalar_type>(mode, [&](auto conjugate) {
    if (row_aligned)
      launch(conjugate, std::true_type());
    else
      launch(conjugate, std::false_type());
  });
  if constexpr (BalancedSpmv<ExecutionSpace, EntryLayout, Operands, false, false>::chunks_meet)
    product.cut_row_count = chunks.long_row_count;
  if (!row_aligned && product.cut_row_count + product.empty_row_count > 0) {
    const JoinCutRows<ExecutionSpace, Product> join{product};
    launch_product(exec, join_name, join.policy(exec), join);
  }
  WorkspacePool<ExecutionSpace>::get().give_back(workspace);
}

}  // namespace Filigree::Impl

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How a balanced product joins the partial sums of cut rows. The chunk in which a cut row begins contributes
// the tail, each later chunk of the row contributes a head. balanced_product.hpp says which of the three ways
// is used when: two chunks meet, the team that ends last joins all cut rows, or a second kernel does.
#pragma once

#include <cstring>

#include "filigree/product/balanced_chunks.hpp"

namespace Filigree::Impl {

/// The carry: where the chunks of a product with up to Columns columns of x leave the partial sums of cut
/// rows. It lies in a workspace.
template <class Accumulator, int Columns>
struct Carry {
  Accumulator* sums;             ///< head and tail of each chunk, each for Columns columns of x
  int* ended_chunks;             ///< a counter of the chunks that have ended; 0 between products
  std::uint64_t* meeting_words;  ///< one per chunk: a sum for the next chunk; 0 between products

  template <class Workspace>
  explicit Carry(const Workspace& workspace)
      : sums(reinterpret_cast<Accumulator*>(workspace.sums.data())),
        ended_chunks(reinterpret_cast<int*>(workspace.zeros.data())),
        meeting_words(workspace.zeros.data() + 1) {}

  /// The workspace that it needs.
  template <class ExecutionSpace>
  static auto& borrow(const ExecutionSpace& exec, std::int64_t chunk_count) {
    static_assert(alignof(Accumulator) <= 16 && sizeof(Accumulator) <= 16,
                  "Filigree::spmv: sums must not be wider than complex<double>.");
    const auto chunks = static_cast<std::size_t>(chunk_count);
    const std::size_t bytes = chunks * 2 * Columns * sizeof(Accumulator);
    return WorkspacePool<ExecutionSpace>::get().borrow(exec, chunks + 1, (bytes + 7) / 8);
  }

  /// Partial sum of the row that enters a chunk from the chunk before it.
  KOKKOS_FORCEINLINE_FUNCTION Accumulator& head(std::int64_t chunk, int column) const {
    return sums[(chunk * 2) * Columns + column];
  }
  /// Partial sum of the row that begins in a chunk and continues in the next one.
  KOKKOS_FORCEINLINE_FUNCTION Accumulator& tail(std::int64_t chunk, int column) const {
    return sums[(chunk * 2 + 1) * Columns + column];
  }
};

/// The data of the kernels of one balanced product.
template <class ExecutionSpace, class EntryLayout, class Operands>
struct ChunkProduct {
  using launch = ChunkLaunch<ExecutionSpace>;
  using layout_type = EntryLayout;
  using operands_type = Operands;
  using accumulator_type = typename Operands::accumulator_type;

  EntryLayout entries;
  Operands operands;
  Carry<accumulator_type, Operands::most_columns> carry;
  std::int64_t chunk_count;
  const std::int64_t* cut_rows;
  std::int64_t cut_row_count;
  /// The rows without entries in which no chunk scales y.
  const typename EntryLayout::ordinal_type* empty_rows;
  std::int64_t empty_row_count;

  /// y = beta * y for element i of empty_rows.
  KOKKOS_FORCEINLINE_FUNCTION void scale_empty_row(std::int64_t i) const {
    const typename Operands::sums_type nothing = {};
    operands.store(nothing, static_cast<std::int64_t>(empty_rows[i]));
  }
};

/// Converts a sum to a 64-bit word and back. The word is the complement of the bits of the sum. It is never
/// 0, because 0 says that no sum is stored: a NaN whose bits are all ones gets another NaN payload.
template <class Sum>
struct SumAsWord {
  /// Whether one word can hold a sum. Integers are excluded because the bits of -1 are all ones.
  static constexpr bool fits_one_word = sizeof(Sum) <= sizeof(std::uint64_t) && !std::is_integral_v<Sum>;

  KOKKOS_FORCEINLINE_FUNCTION static std::uint64_t of(const Sum& sum) {
    std::uint64_t bits = 0;
    memcpy(&bits, &sum, sizeof(sum));
    return ~bits != 0 ? ~bits : 1;
  }
  KOKKOS_FORCEINLINE_FUNCTION static Sum sum(std::uint64_t word) {
    const std::uint64_t bits = ~word;
    Sum result;
    memcpy(static_cast<void*>(&result), &bits, sizeof(result));
    return result;
  }
};

/// Two chunks meet if they have a cut row in common that lies in no third chunk. They exchange their partial
/// sums through one atomic word: the chunk that comes first leaves its sum there, the chunk that comes second
/// adds the two and stores the row. `chunk` is the number of the first of the two chunks.
///
/// The word itself holds the sum, so no fence is needed. A sum of two numbers does not depend on their order,
/// so every run gives the same bits.
template <class Product>
KOKKOS_FORCEINLINE_FUNCTION void meet(const Product& product, const std::int64_t chunk,
                                      const typename Product::accumulator_type& part,
                                      const std::int64_t row) {
  using Word = SumAsWord<typename Product::accumulator_type>;
  std::uint64_t* const word = &product.carry.meeting_words[chunk];
  const std::uint64_t other = Kokkos::atomic_compare_exchange(word, std::uint64_t(0), Word::of(part));
  if (other == 0) return;
  *word = 0;
  product.operands.store(part + Word::sum(other), row, 0);
}

/// For a row that begins in a chunk and continues in the next one: whether it ends there.
template <class Product>
KOKKOS_FORCEINLINE_FUNCTION bool ends_in_next(const Product& product, const std::int64_t chunk,
                                              const std::int64_t row) {
  return chunk + 2 >= product.chunk_count || product.entries.first_row(chunk + 2) != row;
}

/// Hands over the tail of a chunk: the partial sum of the row that begins in it and continues in the next
/// one.
template <bool ChunksMeet, class Product>
KOKKOS_FORCEINLINE_FUNCTION void leave_tail(const Product& product, const std::int64_t chunk,
                                            const typename Product::accumulator_type& sum,
                                            const std::int64_t row, const int column) {
  if constexpr (ChunksMeet) {
    if (ends_in_next(product, chunk, row)) {
      meet(product, chunk, sum, row);
      return;
    }
  }
  product.carry.tail(chunk, column) = sum;
}

/// Hands over the head of a chunk whose first entry is `begin`, if a row enters it. For chunks that meet.
template <class Product>
KOKKOS_FORCEINLINE_FUNCTION void leave_head(const Product& product, const std::int64_t chunk,
                                            const typename Product::accumulator_type& sum,
                                            const std::int64_t begin) {
  const std::int64_t row = product.entries.first_row(chunk);
  if (chunk == 0 || product.entries.row_begins_at(row, begin)) return;
  if (ends_in_next(product, chunk - 1, row) && row_begins_in(product.entries, chunk - 1, row))
    meet(product, chunk - 1, sum, row);
  else
    product.carry.head(chunk, 0) = sum;
}

/// Joins the cut rows in the team that ends last, for row-aligned chunks.
template <class Product>
struct JoinInLastTeam {
  using launch = typename Product::launch;
  using accumulator_type = typename Product::accumulator_type;
  using operands_type = typename Product::operands_type;
  using member_type = typename launch::member_type;

  /// Counts the chunk of this team as ended. Returns whether it is the last one; then the team sees the heads
  /// and tails of all chunks.
  static KOKKOS_INLINE_FUNCTION bool ends_last(const Product& product, const member_type& team) {
    Kokkos::memory_fence();
    team.team_barrier();
    int is_last = 0;
    Kokkos::single(
        Kokkos::PerTeam(team),
        [&](int& mine) {
          int* const ended = product.carry.ended_chunks;
          const int count = static_cast<int>(product.chunk_count);
          mine = Kokkos::atomic_fetch_add(ended, 1) == count - 1 ? 1 : 0;
          if (mine != 0) *ended = 0;
        },
        is_last);
    Kokkos::memory_fence();
    return is_last != 0;
  }

  /// The heads of a cut row are added to this many sums in turn. JoinCutRows has one lane per sum instead.
  static constexpr int sum_count = 8;

  /// Stores one cut row. `carried` holds the head and the tail of each chunk; neighbours are `stride` apart.
  static KOKKOS_FORCEINLINE_FUNCTION void join(const Product& product, const accumulator_type* carried,
                                               const std::int64_t stride, const std::int64_t cut_row,
                                               const int column) {
    const std::int64_t first = product.cut_rows[2 * cut_row];
    const std::int64_t last = product.cut_rows[2 * cut_row + 1];
    accumulator_type sums[sum_count] = {};
    for (std::int64_t chunk = first + 1; chunk <= last; chunk += sum_count) {
      FILIGREE_UNROLL(8)
      for (int i = 0; i < sum_count; ++i)
        if (chunk + i <= last) sums[i] += carried[2 * (chunk + i) * stride];
    }
    const accumulator_type heads =
        ((sums[0] + sums[4]) + (sums[2] + sums[6])) + ((sums[1] + sums[5]) + (sums[3] + sums[7]));
    product.operands.store(carried[(2 * first + 1) * stride] + heads, product.entries.first_row(last),
                           column);
  }

  /// Stores all cut rows. On a GPU the team first copies heads and tails to scratch memory, which has room
  /// for chunk_size of them; otherwise one lane would wait for global memory for each head of a long row.
  static KOKKOS_INLINE_FUNCTION void join_all(const Product& product, const member_type& team,
                                              [[maybe_unused]] accumulator_type* scratch_sums) {
    static_assert(!launch::gpu || 2 * (launch::most_aligned / launch::pitch(1) + 1) <= launch::chunk_size,
                  "The heads and tails of all chunks must fit in the scratch memory.");
    for (int c = 0; c < operands_type::most_columns && product.operands.has(c); ++c) {
      const accumulator_type* carried = product.carry.sums + c;
      std::int64_t stride = operands_type::most_columns;
      if constexpr (launch::gpu) {
        Kokkos::parallel_for(
            Kokkos::TeamThreadRange(team, static_cast<int>(2 * product.chunk_count)),
            [&](const int i) { scratch_sums[i] = carried[i * operands_type::most_columns]; });
        team.team_barrier();
        carried = scratch_sums;
        stride = 1;
      }
      Kokkos::parallel_for(Kokkos::TeamThreadRange(team, static_cast<int>(product.cut_row_count)),
                           [&](const int i) { join(product, carried, stride, i, c); });
      team.team_barrier();
    }
  }
};

/// The second kernel: joins the cut rows, with eight lanes per row, and scales y in the rows of empty_rows.
template <class ExecutionSpace, class Product>
struct JoinCutRows {
  using accumulator_type = typename Product::accumulator_type;
  using operands_type = typename Product::operands_type;
  static constexpr bool gpu = runs_on_gpu_v<ExecutionSpace>;
  /// Lanes per cut row. Few rows lie in more than eight chunks, so more lanes would mostly be idle (see
  /// docs/performance.md, "Lanes of the kernel that joins cut rows").
  static constexpr int lanes = 8;
  /// Work items per team. One item is a cut row or `lanes` elements of empty_rows.
  static constexpr int items_per_team = gpu ? 32 : 64;
  using policy_type = Kokkos::TeamPolicy<ExecutionSpace, Kokkos::LaunchBounds<256, 1>>;
  using member_type = typename policy_type::member_type;

  Product product;

  policy_type policy(const ExecutionSpace& exec) const {
    const std::int64_t items = product.cut_row_count + (product.empty_row_count + lanes - 1) / lanes;
    return policy_type(exec, static_cast<int>((items + items_per_team - 1) / items_per_team),
                       gpu ? items_per_team : 1, gpu ? lanes : 1);
  }

  /// Stores the cut row that begins in chunk `first` and ends in chunk `last`.
  KOKKOS_FORCEINLINE_FUNCTION void join(const member_type& team, const std::int64_t first,
                                        const std::int64_t last) const {
    const std::int64_t row = product.entries.first_row(last);
    for (int c = 0; c < operands_type::most_columns && product.operands.has(c); ++c) {
      const accumulator_type tail = product.carry.tail(first, c);
      accumulator_type heads(0);
      Kokkos::parallel_reduce(
          Kokkos::ThreadVectorRange(team, lanes),
          [&](const int lane, accumulator_type& sum) {
            for (std::int64_t chunk = first + 1 + lane; chunk <= last; chunk += lanes)
              sum += product.carry.head(chunk, c);
          },
          heads);
      Kokkos::single(Kokkos::PerThread(team), [&]() { product.operands.store(tail + heads, row, c); });
    }
  }

  KOKKOS_INLINE_FUNCTION void operator()(const member_type& team) const {
    Kokkos::parallel_for(Kokkos::TeamThreadRange(team, items_per_team), [&](const int i) {
      const std::int64_t item = static_cast<std::int64_t>(team.league_rank()) * items_per_team + i;
      if (item < product.cut_row_count) {
        join(team, product.cut_rows[2 * item], product.cut_rows[2 * item + 1]);
        return;
      }
      const std::int64_t first = (item - product.cut_row_count) * lanes;
      Kokkos::parallel_for(Kokkos::ThreadVectorRange(team, lanes), [&](const int lane) {
        if (first + lane < product.empty_row_count) product.scale_empty_row(first + lane);
      });
    });
  }
};

}  // namespace Filigree::Impl

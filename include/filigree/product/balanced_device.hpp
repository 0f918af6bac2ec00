// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How a team of a GPU multiplies one chunk of a balanced product. The steps:
//
// 1. Each lane loads 8 entries. Entry numbers of one lane are 256 apart, so that neighbouring lanes load
//    neighbours in memory. The lane stores the products in scratch memory.
// 2. Each lane sums the 8 products of the consecutive entries 8 * lane to 8 * lane + 7, row by row. The head
//    of a lane is its sum of the row that enters the lane, that is, of the products before the first entry
//    that begins a row.
// 3. The first 32 lanes add up the heads of groups of 8 lanes, because a long row crosses many lanes.
// 4. Each lane completes its last row: it adds the heads of the following lanes until that row ends.
// 5. Neighbouring lanes store the sums of neighbouring rows, and scale y in the rows without entries between
//    them. If each lane stored the rows it summed, there would be more writes (see docs/performance.md, "Who
//    stores the sums of a chunk").
//
// balanced_product.hpp describes the whole algorithm.
#pragma once

#include "filigree/core/load_once.hpp"
#include "filigree/core/scalar.hpp"
#include "filigree/product/balanced_join.hpp"

namespace Filigree::Impl {

/// The product of one chunk on a GPU. Product is a ChunkProduct. ChunksMeet says whether two chunks with a
/// cut row in common exchange their partial sums (see meet()); it requires one column of x.
template <class Product, bool Conjugate, bool ChunksMeet>
struct DeviceChunk {
  using layout_type = typename Product::layout_type;
  using operands_type = typename Product::operands_type;
  using accumulator_type = typename Product::accumulator_type;
  using launch = typename Product::launch;

  static constexpr int lanes = launch::lanes;
  static constexpr int entries_per_lane = launch::entries_per_lane;
  /// Lanes whose heads are added up together.
  static constexpr int group = 8;
  /// Flags of a lane. row_passes: no row begins in the lane, so the row that enters it also leaves it.
  static constexpr std::uint8_t row_passes = 1;
  /// no_head: a row begins with the first entry of the lane.
  static constexpr std::uint8_t no_head = 2;

  static_assert(entries_per_lane == sizeof(std::uint64_t), "begins_row of one lane must fill 64 bits.");
  static_assert(sizeof(accumulator_type) % 4 == 0, "multiply() requires sums of a multiple of 4 bytes.");

  /// The scratch memory of a team. All of it must fit in 48 KB. It has no extra array for the heads, because
  /// the first-level cache would then be smaller (see docs/performance.md, "Scratch memory of the balanced
  /// product").
  struct Scratch {
    /// First the products. Then the sum of a row replaces the product of its first entry in the lane in which
    /// it begins, and the head of a lane replaces its first product, unless a row begins there.
    accumulator_type sums[lanes * entries_per_lane];
    /// Sum of the heads of a group for the row that enters the group.
    accumulator_type group_heads[lanes / group];
    /// 1 for an entry that begins a row, else 0. The eight elements of a lane are read as one word.
    alignas(8) std::uint8_t begins_row[lanes * entries_per_lane];
    /// row_passes and no_head of each lane. The elements of a group are read as one word.
    alignas(8) std::uint8_t lane_flags[lanes];
    /// Whether no row begins in the group.
    bool row_passes_group[lanes / group];

    /// The position of an entry in sums. The 8 positions of a lane are consecutive. Their order within these
    /// 8 differs from lane to lane, by an exclusive or, to avoid bank conflicts: lanes that read their own
    /// sums at the same time access different banks. Lanes that read the heads of a group, one group per
    /// lane, need two turns, or four for sums of 4 bytes.
    static KOKKOS_FORCEINLINE_FUNCTION int position(int entry) {
      const int lane = entry / entries_per_lane;
      return entry ^
             (static_cast<int>(lane * sizeof(accumulator_type) / 16 ^ lane / group) % entries_per_lane);
    }
  };

  /// The entries that a lane loads: lane, lane + lanes, and so on. If Whole is false, the chunk may have
  /// fewer than chunk_size entries. Its first entry is then loaded instead of each missing entry.
  struct LoadedEntries {
    std::remove_const_t<typename layout_type::scalar_type> values[entries_per_lane];
    typename layout_type::ordinal_type columns[entries_per_lane];

    template <bool Whole>
    KOKKOS_FORCEINLINE_FUNCTION void load(const layout_type& entries, std::int64_t begin, int count,
                                          int lane) {
      const auto* value = entries.values + begin;
      const auto* column = entries.entries + begin;
      FILIGREE_UNROLL(8)
      for (int j = 0; j < entries_per_lane; ++j) {
        const int entry = Whole || j * lanes + lane < count ? j * lanes + lane : 0;
        values[j] = load_once(value + entry);
        columns[j] = load_once(column + entry);
      }
    }
  };

  /// Stores the products with one column of x in scratch memory, and zeros after the last entry, because the
  /// sum of the last row includes them. All elements of x are loaded before the first product is stored,
  /// because the compiler must assume that a store changes memory that is loaded later.
  static KOKKOS_FORCEINLINE_FUNCTION void multiply(const Product& product, Scratch& scratch,
                                                   const LoadedEntries& mine, int count, int lane,
                                                   int column_of_x) {
    accumulator_type products[entries_per_lane];
    FILIGREE_UNROLL(8)
    for (int j = 0; j < entries_per_lane; ++j)
      products[j] =
          product.operands.product(conjugate_if<Conjugate>(mine.values[j]), mine.columns[j], column_of_x);
    // Entry j * lanes + lane belongs to lane j * 32 + lane / 8, so its exclusive or differs from that of
    // entry `lane` by 4 if j is odd.
    const int position = Scratch::position(lane);
    FILIGREE_UNROLL(8)
    for (int j = 0; j < entries_per_lane; ++j)
      scratch.sums[j * lanes + (j % 2 == 0 ? position : position ^ 4)] =
          j * lanes + lane < count ? products[j] : accumulator_type(0);
  }

  /// Sums the consecutive products of a lane: its head and each row that begins there. The last row may
  /// continue in the next lane. Returns the position of the sum of the last row, or -1 if no row begins here.
  static KOKKOS_FORCEINLINE_FUNCTION int sum_entries(Scratch& scratch, int lane) {
    // Byte j is begins_row of entry j, because GPUs are little-endian.
    const std::uint64_t begins = reinterpret_cast<const std::uint64_t*>(scratch.begins_row)[lane];
    const int first = Scratch::position(lane * entries_per_lane);
    accumulator_type sum(0);
    int position = first;
    FILIGREE_UNROLL(8)
    for (int j = 0; j < entries_per_lane; ++j) {
      const accumulator_type product = scratch.sums[first ^ j];
      if ((begins >> (8 * j) & 1) != 0) {
        if (j > 0) scratch.sums[position] = sum;
        position = first ^ j;
        sum = accumulator_type(0);
      }
      sum += product;
    }
    scratch.sums[position] = sum;
    scratch.lane_flags[lane] = begins == 0 ? row_passes : (begins & 1) != 0 ? no_head : 0;
    return begins == 0 ? -1 : position;
  }

  /// Sums the heads of one group of lanes up to the lane in which a row begins.
  static KOKKOS_FORCEINLINE_FUNCTION void sum_group(Scratch& scratch, int g) {
    accumulator_type group_head(0);
    bool passes = true;
    const std::uint64_t flags = reinterpret_cast<const std::uint64_t*>(scratch.lane_flags)[g];
    FILIGREE_UNROLL(8)
    for (int i = 0; i < group; ++i) {
      // Selected without a branch, so that no load waits for the previous one.
      const accumulator_type head = scratch.sums[Scratch::position((g * group + i) * entries_per_lane)];
      const bool adds = passes && (flags >> (8 * i) & no_head) == 0;
      group_head = adds ? group_head + head : group_head;
      passes = passes && (flags >> (8 * i) & row_passes) != 0;
    }
    scratch.group_heads[g] = group_head;
    scratch.row_passes_group[g] = passes;
  }

  /// Adds the head of a lane to sum. Returns whether the row continues after the lane.
  static KOKKOS_FORCEINLINE_FUNCTION bool add_head(const Scratch& scratch, int lane, accumulator_type& sum) {
    const std::uint8_t flags = scratch.lane_flags[lane];
    if ((flags & no_head) == 0) sum += scratch.sums[Scratch::position(lane * entries_per_lane)];
    return (flags & row_passes) != 0;
  }
  /// Adds the heads of `lane` and the following lanes to sum until the row ends: lane by lane up to the next
  /// group, then group by group.
  static KOKKOS_FORCEINLINE_FUNCTION void add_heads(const Scratch& scratch, int lane, accumulator_type& sum) {
    for (; lane % group != 0 && lane < lanes; ++lane)
      if (!add_head(scratch, lane, sum)) return;
    for (int g = lane / group; g < lanes / group; ++g) {
      sum += scratch.group_heads[g];
      if (!scratch.row_passes_group[g]) return;
    }
  }

  /// Multiplies the entries of `chunk`, which are begin to end - 1.
  static KOKKOS_INLINE_FUNCTION void multiply_chunk(const Product& product,
                                                    const typename launch::member_type& team,
                                                    Scratch& scratch, const std::int64_t chunk,
                                                    const std::int64_t begin, const std::int64_t end) {
    const layout_type& entries = product.entries;
    const operands_type& operands = product.operands;
    const int lane = team.team_rank();
    const int count = static_cast<int>(end - begin);
    const typename layout_type::RowBegins row_begins(entries, chunk, begin, end, lane);
    LoadedEntries mine;
    if (count == launch::chunk_size)
      mine.template load<true>(entries, begin, count, lane);
    else
      mine.template load<false>(entries, begin, count, lane);
    reinterpret_cast<std::uint64_t*>(scratch.begins_row)[lane] = 0;
    team.team_barrier();
    row_begins.visit([&](const int entry, std::int64_t) { scratch.begins_row[entry] = 1; });
    // cut_row is the row that continues in the next chunk, or -1.
    const std::int64_t next_row = end < entries.nnz ? entries.first_row(chunk + 1) : -1;
    const std::int64_t cut_row = next_row >= 0 && !entries.row_begins_at(next_row, end) ? next_row : -1;

    for (int c = 0; c < operands_type::most_columns && operands.has(c); ++c) {
      if (c > 0) team.team_barrier();
      multiply(product, scratch, mine, count, lane, c);
      team.team_barrier();
      const int last_position = sum_entries(scratch, lane);
      team.team_barrier();
      if (lane < lanes / group) sum_group(scratch, lane);
      team.team_barrier();

      if (last_position >= 0) {
        accumulator_type sum = scratch.sums[last_position];
        add_heads(scratch, lane + 1, sum);
        scratch.sums[last_position] = sum;
      }
      if (lane == 0) {
        accumulator_type entering(0);
        add_heads(scratch, 0, entering);
        if constexpr (ChunksMeet)
          scratch.group_heads[0] = entering;  // no other lane reads this element
        else
          product.carry.head(chunk, c) = entering;
      }
      team.team_barrier();
      // By the last lane, because its warp has the fewest rows to store.
      if constexpr (ChunksMeet)
        if (lane == lanes - 1) leave_head(product, chunk, scratch.group_heads[0], begin);
      row_begins.visit_rows([&](const int entry, const std::int64_t row) {
        const accumulator_type sum =
            entry >= 0 ? scratch.sums[Scratch::position(entry)] : accumulator_type(0);
        if (row == cut_row)
          leave_tail<ChunksMeet>(product, chunk, sum, row, c);
        else
          operands.store(sum, row, c);
      });
    }
  }
};

}  // namespace Filigree::Impl

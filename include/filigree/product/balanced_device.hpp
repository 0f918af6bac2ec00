// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How a team of a GPU multiplies one chunk of a balanced product. The lanes of a team form groups that can exchange
// numbers without scratch memory: the warps of an NVIDIA GPU (core/lane_group.hpp). The steps:
//
// 1. Each lane loads 8 entries. Entry numbers of one lane are 256 apart, so that neighbouring lanes load
//    neighbours in memory. The lane stores the products in scratch memory. It also searches its share of the chunk for
//    entries that begin rows, and marks these in scratch memory.
// 2. Each lane sums the 8 products of the consecutive entries 8 * lane to 8 * lane + 7, row by row. The head
//    of a lane is its sum of the row that enters the lane, that is, of the products before the first entry
//    that begins a row.
// 3. A lane adds to the sum of its last row the heads of the following lanes of its group, up to and including the
//    first lane in which a row begins. The head of a group is the same sum from its first lane on.
// 4. A row that leaves its group also gets the heads of the following groups until it ends. The last lane adds up the
//    heads from the first group on: the head of the chunk.
// 5. Neighbouring lanes store the sums of neighbouring rows, and scale y in the rows without entries between
//    them. If each lane stored the rows it summed, there would be more writes (see docs/performance.md, "Who
//    stores the sums of a chunk").
//
// balanced_product.hpp describes the whole algorithm.
#pragma once

#include "filigree/core/lane_group.hpp"
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
  /// Lanes of a group. Without groups each lane is a group of its own.
  static constexpr int group = launch::group;
  static constexpr int groups = lanes / group;

  static_assert(entries_per_lane == sizeof(std::uint64_t), "begins_row of one lane must fill 64 bits.");
  static_assert(sizeof(accumulator_type) % 4 == 0, "multiply() requires sums of a multiple of 4 bytes.");

  /// The scratch memory of a team. All of it must fit in 48 KB. The more it takes, the smaller is the first-level
  /// cache (see docs/performance.md, "Scratch memory of the balanced product").
  struct Scratch {
    /// First the products. Then the sum of a row replaces the product of its first entry in the lane in which
    /// it begins. If the first row of a lane begins later, the first position of the lane holds its head for a moment.
    accumulator_type sums[lanes * entries_per_lane];
    accumulator_type group_heads[groups];
    /// 1 for an entry that begins a row, else 0. The eight elements of a lane are read as one word.
    alignas(8) std::uint8_t begins_row[lanes * entries_per_lane];
    /// Whether no row begins in the group, so that the row that enters it also leaves it.
    bool row_passes_group[groups];

    /// The position of an entry in sums. The 8 positions of a lane are consecutive. Their order within these
    /// 8 differs from lane to lane, by an exclusive or, to avoid bank conflicts: lanes that read their own
    /// sums at the same time access different banks.
    static KOKKOS_FORCEINLINE_FUNCTION int position(int entry) {
      const int lane = entry / entries_per_lane;
      return entry ^ (static_cast<int>(lane * sizeof(accumulator_type) / 16) % entries_per_lane);
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

  /// Step 1 for column `column` of x: stores the products in scratch memory, and zeros after the last entry, because
  /// the sum of the last row includes them. All elements of x are loaded before the first product is stored, because
  /// the compiler must assume that a store changes memory that is loaded later.
  ///
  /// For the first column this also loads the entries. Kernels visit the rows afterwards. Between the loads of the
  /// entries and the products the entries would stay in registers during the visit, and the compiler would move some
  /// to local memory (see docs/performance.md, "Exchange between lanes of the balanced product").
  template <bool Whole>
  static KOKKOS_FORCEINLINE_FUNCTION void multiply(const Product& product, Scratch& scratch,
                                                   LoadedEntries& mine,
                                                   typename layout_type::RowBegins& row_begins,
                                                   std::int64_t begin, int count, int lane, int column) {
    if (column == 0) {
      mine.template load<Whole>(product.entries, begin, count, lane);
      row_begins.load();
    }
    accumulator_type products[entries_per_lane];
    FILIGREE_UNROLL(8)
    for (int j = 0; j < entries_per_lane; ++j)
      products[j] =
          product.operands.product(conjugate_if<Conjugate>(mine.values[j]), mine.columns[j], column);
    // Entry j * lanes + lane has the same exclusive or for all j, because sums have a multiple of 4 bytes.
    const int position = Scratch::position(lane);
    FILIGREE_UNROLL(8)
    for (int j = 0; j < entries_per_lane; ++j)
      scratch.sums[j * lanes + position] =
          Whole || j * lanes + lane < count ? products[j] : accumulator_type(0);
  }

  /// The sums of the consecutive entries of a lane.
  struct LaneSums {
    bool begins_row;        ///< whether a row begins in the lane
    accumulator_type head;  ///< of the row that enters the lane; 0 if a row begins with the first entry
    accumulator_type last;  ///< of the last row that begins in the lane
    int position;           ///< of `last` in Scratch::sums
  };
  /// Step 2. Stores the sums of the rows that begin in the lane, but not the last one.
  static KOKKOS_FORCEINLINE_FUNCTION LaneSums sum_entries(Scratch& scratch, int lane) {
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
    // If no row begins in the lane, `sum` is the head. If a row begins with the first entry, there is no head. Else the
    // loop has stored the head at `first`.
    accumulator_type head = sum;
    if (begins != 0) head = (begins & 1) != 0 ? accumulator_type(0) : scratch.sums[first];
    return {begins != 0, head, sum, position};
  }

  /// Step 3. Stores the head of the group. Stores the sum of the last row of the lane if that row ends in the group.
  /// Returns true if it may continue in the next group.
  static KOKKOS_FORCEINLINE_FUNCTION bool add_lanes(Scratch& scratch, LaneSums& mine, int lane) {
    const int lane_of_group = lane % group;
    const std::uint32_t begins = bits_of_group(mine.begins_row);
    // Bit i says whether a row begins in the i-th lane after this one. Bit 0 is this lane.
    const std::uint32_t following = begins >> lane_of_group;
    // `head` becomes the sum of the heads of this lane and of the lanes_to_add lanes after it, as a tree. The last of
    // them is the first one in which a row begins.
    const int lanes_to_add = following != 0 ? trailing_zeros(following) : group - 1 - lane_of_group;
    accumulator_type head = mine.head;
    FILIGREE_UNROLL(5)
    for (int distance = 1; distance < group; distance *= 2) {
      const accumulator_type other = of_following_lane(head, distance);
      if (distance <= lanes_to_add) head += other;
    }
    if (lane_of_group == 0) {
      scratch.group_heads[lane / group] = head;
      scratch.row_passes_group[lane / group] = begins == 0;
    }
    const accumulator_type next_head = of_following_lane(head, 1);
    if (lane_of_group < group - 1) mine.last += next_head;
    // A row begins in this lane and in no later lane of the group.
    const bool may_leave_group = following == 1;
    if (mine.begins_row && !may_leave_group) scratch.sums[mine.position] = mine.last;
    return may_leave_group;
  }

  /// Adds the heads of group g and the following groups to sum until the row ends.
  static KOKKOS_FORCEINLINE_FUNCTION void add_groups(const Scratch& scratch, int g, accumulator_type& sum) {
    FILIGREE_UNROLL(1)
    for (; g < groups; ++g) {
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
    typename layout_type::RowBegins row_begins(entries, chunk, begin, end, lane);
    LoadedEntries mine;
    reinterpret_cast<std::uint64_t*>(scratch.begins_row)[lane] = 0;
    team.team_barrier();
    std::int64_t cut_row = -1;  // the row that continues in the next chunk, or -1

    for (int c = 0; c < operands_type::most_columns && operands.has(c); ++c) {
      if (c > 0) team.team_barrier();
      if (count == launch::chunk_size)
        multiply<true>(product, scratch, mine, row_begins, begin, count, lane, c);
      else
        multiply<false>(product, scratch, mine, row_begins, begin, count, lane, c);
      if (c == 0) {
        row_begins.visit([&](const int entry, std::int64_t) { scratch.begins_row[entry] = 1; });
        const std::int64_t next_row = end < entries.nnz ? entries.first_row(chunk + 1) : -1;
        cut_row = next_row >= 0 && !entries.row_begins_at(next_row, end) ? next_row : -1;
      }
      team.team_barrier();
      LaneSums sums = sum_entries(scratch, lane);
      const bool may_leave_group = add_lanes(scratch, sums, lane);
      team.team_barrier();
      if (may_leave_group) {
        add_groups(scratch, lane / group + 1, sums.last);
        scratch.sums[sums.position] = sums.last;
      }
      team.team_barrier();
      // By the last lane, because in CRS its group has the fewest rows to store.
      if (lane == lanes - 1) {
        accumulator_type entering(0);
        add_groups(scratch, 0, entering);
        if constexpr (ChunksMeet)
          leave_head(product, chunk, entering, begin);
        else
          product.carry.head(chunk, c) = entering;
      }
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

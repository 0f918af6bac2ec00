// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// y = beta*y + alpha*A*x by about equal chunks of the entries of A, whatever the lengths of its rows: the
// product of COO and of the balanced CRS kernel. A chunk is what one team multiplies. It begins with a row
// where that is near, so that just long rows are cut. A row inside a chunk is summed and stored there; of one
// that is cut each chunk carries its partial sum out to a small array, and a second kernel, where there are
// such rows, adds these in an order of its own that is fixed: the same bits on every run. Of small matrices
// the chunk that ends last does that, in place of a second kernel; which one it is makes no difference.
// (For large ones a fence and a count a chunk took longer than the second kernel: memplus 158 times along the
// diagonal, H200, 0.122 ms in place of 0.107, when the kernels took 5 % longer than now.)
// Of large CRS matrices a row that is cut once needs no second kernel either: of its two chunks the one that
// comes second finds the sum of the first (meet()), and a sum of two numbers has the same bits in either
// order. (H200, repeated to 20M entries: memplus 0.099 ms in place of 0.103, astro-ph 0.106 in place of
// 0.110; filigree_targets --only=long_rows times them.)
//
// Source: segmented sums over COO, Bell and Garland 2009, section 4.3, as papers 001 and 002 use them; the
// carry in place of their serial third kernel is ours.
//
// A format describes its entries, which are sorted by row, by a small struct of raw pointers, its Entries:
//
//   scalar_type, ordinal_type, chunk_launch (its ChunkLaunch)
//   values, entries               value and column of each entry
//   nnz
//   row_of(i), begin_of(row)      row of entry i, first entry of a row, by whatever search that takes
//   chunk_begins                  first entry of each chunk, and nnz; or null where these are
//                                 multiples of 2048
//   RowBegins(entries, chunk, begin, end, lane)
//                                 on a GPU: what a lane has to do with the rows of the chunk, of the entries
//                                 from begin to end - 1. Its visit(v) calls v(i - begin, row) for entries i
//                                 that are the first of their row; the lanes chunk the work
//   keeps_rows                    (constexpr) whether RowBegins takes registers
//   may_meet                      (constexpr) whether chunks of a row that is cut once may meet, which takes
//                                 registers too
//   is_in(row, i)                 on a host: whether entry i, of row or the first after it, is of row
//   known_end(row, i, end, guess) on a host: an entry, at most end, before which all from i on are of row, by
//                                 a look or two; i itself if that does not say. The row may have guess
//                                 entries from i on
//   prefetch(i, length)           on a host: asks for entries ahead of those of a row, by prefetch_ahead
//   row_after(row, i)             on a host: row of entry i, the first that is not of row
//   first_row(chunk)              row of the first entry of a chunk
//   begins(row, i)                whether entry i is the first of its row, row
#ifndef FILIGREE_PRODUCT_BALANCED_PRODUCT_HPP
#define FILIGREE_PRODUCT_BALANCED_PRODUCT_HPP

#include <cstdint>
#include <cstring>
#include <string>
#include <type_traits>

#include "filigree/core/allocate_view.hpp"
#include "filigree/core/launch.hpp"
#include "filigree/core/load_once.hpp"
#include "filigree/core/mode.hpp"
#include "filigree/core/region.hpp"
#include "filigree/product/operands.hpp"
#include "filigree/product/row_product.hpp"

namespace Filigree {
namespace Impl {

/// The launch of one team a chunk.
template <class ExecutionSpace>
struct ChunkLaunch {
  static constexpr bool gpu = runs_on_gpu_v<ExecutionSpace>;
  static constexpr int lanes = gpu ? 256 : 1;
  /// Eight products a lane, whose loads do not wait for each other, are 21 KB of scratch memory a team in
  /// double: the six teams of balanced CRS that have registers on an SM of an H200 leave 124 KB of its 256 to
  /// the first cache.
  static constexpr int entries_per_lane = gpu ? 8 : 2048;
  /// The most entries of a chunk.
  static constexpr std::int64_t chunk = lanes * entries_per_lane;
  using member_type = typename Kokkos::TeamPolicy<ExecutionSpace>::member_type;

  /// The most entries of a matrix whose chunks begin with rows.
  static constexpr std::int64_t most_aligned = std::int64_t(1) << 20;
  /// A chunk begins up to this many entries early to begin with a row, so shorter rows are never cut. 0 for
  /// large matrices, whose chunks begin with multiples of 2048: a team that first has to load where its chunk
  /// begins costs more there (memplus 158 times along the diagonal: 0.1225 ms in place of 0.1109, H200).
  KOKKOS_FORCEINLINE_FUNCTION static constexpr std::int64_t slack(std::int64_t nnz) {
    return nnz <= most_aligned ? 512 : 0;
  }
  /// Entries from where one chunk begins, or would without its row, to where the next does.
  KOKKOS_FORCEINLINE_FUNCTION static constexpr std::int64_t pitch(std::int64_t nnz) {
    return chunk - slack(nnz);
  }
  static std::int64_t chunks(std::int64_t nnz) { return (nnz + pitch(nnz) - 1) / pitch(nnz); }
};

/// The partial sums that chunks carry out, two a chunk, for up to 16 columns of the widest scalar type; then
/// a word of 64 bits a chunk where it meets the next one, and an int that counts the chunks that have ended,
/// both 0 between products. Memory of the matrix, as spmv must not allocate.
template <class Device>
using carry_t = Kokkos::View<Kokkos::complex<double>*, Device>;

constexpr int most_carried_columns = 16;

/// The sums alone.
inline std::int64_t carried_sums(std::int64_t chunks) {
  return chunks * 2 * most_carried_columns;
}
template <class ExecutionSpace>
std::int64_t carry_elements(std::int64_t nnz) {
  const std::int64_t chunks = ChunkLaunch<ExecutionSpace>::chunks(nnz);
  return carried_sums(chunks) + (chunks + 1) / 2 + 1;
}
/// Bytes of chunk_begins, carry and cut_rows.
template <class ExecutionSpace>
std::int64_t chunk_bytes(std::int64_t nnz) {
  const std::int64_t chunks = ChunkLaunch<ExecutionSpace>::chunks(nnz);
  const bool has_begins = ChunkLaunch<ExecutionSpace>::slack(nnz) > 0;
  return ((has_begins ? chunks + 1 : 0) + 2 * chunks) * static_cast<std::int64_t>(sizeof(std::int64_t)) +
         carry_elements<ExecutionSpace>(nnz) * static_cast<std::int64_t>(sizeof(Kokkos::complex<double>));
}
template <class ExecutionSpace, class Device>
carry_t<Device> allocate_carry(const ExecutionSpace& exec, const char* format, std::int64_t nnz) {
  return carry_t<Device>(Kokkos::view_alloc(exec, label("carry", format)),
                         static_cast<std::size_t>(carry_elements<ExecutionSpace>(nnz)));
}

/// The first entry of a chunk.
template <class Entries>
KOKKOS_FORCEINLINE_FUNCTION std::int64_t chunk_begin(const Entries& entries, std::int64_t chunk) {
  if (entries.chunk_begins != nullptr) return entries.chunk_begins[chunk];
  const std::int64_t begin = chunk * Entries::chunk_launch::chunk;
  return begin < entries.nnz ? begin : entries.nnz;
}

/// Whether a row that enters the next chunk begins in this one: it is not the first row here, or begins with
/// the first entry.
template <class Entries>
KOKKOS_FORCEINLINE_FUNCTION bool begins_in(const Entries& entries, std::int64_t chunk, std::int64_t row) {
  return entries.first_row(chunk) != row || entries.begins(row, chunk_begin(entries, chunk));
}

/// Whether a row begins in a chunk that the next one goes on with.
template <class Entries>
KOKKOS_FORCEINLINE_FUNCTION bool begins_cut_row(const Entries& entries, std::int64_t chunk) {
  const std::int64_t end = chunk_begin(entries, chunk + 1);
  if (end == entries.nnz) return false;
  const std::int64_t row = entries.first_row(chunk + 1);
  return !entries.begins(row, end) && begins_in(entries, chunk, row);
}

/// Finds where the chunks begin, and lists the cut rows.
template <class ExecutionSpace, class Entries>
struct FindChunks {
  using execution_space = ExecutionSpace;
  struct Begins {};
  struct CutRows {};
  using value_type = std::int64_t;

  Entries entries;
  std::int64_t chunks;
  std::int64_t* list;
  /// Cut rows in so many chunks are listed.
  std::int64_t fewest = 2;
  std::int64_t most = chunks;

  KOKKOS_INLINE_FUNCTION void operator()(Begins, const std::int64_t chunk) const {
    using launch = ChunkLaunch<ExecutionSpace>;
    if (chunk == chunks) {
      list[chunk] = entries.nnz;
      return;
    }
    const std::int64_t begin = chunk * launch::pitch(entries.nnz);
    const std::int64_t row_begin = entries.begin_of(entries.row_of(begin));
    list[chunk] = begin - row_begin <= launch::slack(entries.nnz) ? row_begin : begin;
  }
  KOKKOS_INLINE_FUNCTION void operator()(CutRows, const std::int64_t chunk, std::int64_t& count,
                                         const bool final) const {
    if (!begins_cut_row(entries, chunk)) return;
    const std::int64_t row = entries.first_row(chunk + 1);
    const std::int64_t end =
        first_where(chunk + 2, chunks, [&](std::int64_t s) { return entries.first_row(s) != row; });
    if (end - chunk < fewest || end - chunk > most) return;
    if (final) {
      list[2 * count] = chunk;
      list[2 * count + 1] = end - 1;
    }
    ++count;
  }
};

/// The chunk_begins of a matrix, or none where these are multiples.
template <class View, class ExecutionSpace, class Entries>
View find_chunk_begins(const ExecutionSpace& exec, const char* format, const Entries& entries) {
  using launch = ChunkLaunch<ExecutionSpace>;
  using Find = FindChunks<ExecutionSpace, Entries>;
  if (launch::slack(entries.nnz) == 0) return View();
  const std::int64_t chunks = launch::chunks(entries.nnz);
  const auto begins = allocate_view<View>(exec, "chunk_begins", format, chunks + 1);
  Kokkos::parallel_for(label("chunk_begins", format), row_range<typename Find::Begins>(exec, chunks + 1),
                       Find{entries, chunks, begins.data()});
  return begins;
}

/// Sets the cut rows of a matrix: of each the chunk that it begins in and the last that it enters. There is
/// room for one a chunk. Where the chunks of a row can meet, those of more than two come first. Fences exec.
template <class ExecutionSpace, class Entries, class Matrix>
void find_cut_rows(const ExecutionSpace& exec, const char* format, const Entries& entries, Matrix& A) {
  using Find = FindChunks<ExecutionSpace, Entries>;
  using View = typename Matrix::chunk_offsets_type;
  const std::int64_t chunks = ChunkLaunch<ExecutionSpace>::chunks(entries.nnz);
  A.cut_rows = allocate_view<View>(exec, "cut_rows", format, 2 * chunks);
  const auto list = [&](std::int64_t first, std::int64_t fewest, std::int64_t most) {
    std::int64_t count = 0;
    if (chunks > 1)
      Kokkos::parallel_scan(label("cut_rows", format), row_range<typename Find::CutRows>(exec, chunks),
                            Find{entries, chunks, A.cut_rows.data() + 2 * first, fewest, most}, count);
    return count;
  };
  if constexpr (Entries::may_meet) {
    A.long_row_count = list(0, 3, chunks);
    A.cut_row_count = A.long_row_count + list(A.long_row_count, 2, 2);
  } else {
    A.cut_row_count = list(0, 2, chunks);
  }
  exec.fence();
}

/// Where the partial sums are, where chunks meet, and how many have ended.
template <class Accumulator>
struct Carry {
  static_assert(sizeof(Accumulator) <= sizeof(Kokkos::complex<double>),
                "Filigree::spmv: sums wider than complex<double> have no place in the carry.");
  Accumulator* data;
  std::uint64_t* meetings;
  int* ended;

  /// Of the row that enters a chunk from the one before it.
  KOKKOS_FORCEINLINE_FUNCTION Accumulator& head(std::int64_t chunk, int column) const {
    return data[(chunk * 2) * most_carried_columns + column];
  }
  /// Of the row that begins in a chunk and leaves it.
  KOKKOS_FORCEINLINE_FUNCTION Accumulator& tail(std::int64_t chunk, int column) const {
    return data[(chunk * 2 + 1) * most_carried_columns + column];
  }
};

/// A sum as a word that is not 0, which says that there is none: the complement of its bits, as 0 itself is a
/// sum. That of a NaN whose bits are all ones would be 0; it gets another payload.
template <class Sum>
struct SumAsWord {
  static constexpr bool exists = sizeof(Sum) <= sizeof(std::uint64_t) && !std::is_integral_v<Sum>;

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

/// Stores the sums of all rows that lie in one chunk and carries out the others.
///
/// RowAligned is whether chunks begin with rows where they can (chunk_begins), the last one to end joins the
/// cut rows, and teams behind those of the chunks scale the rows without entries. Else chunks begin with
/// multiples of 2048, those of a row that is cut once meet where they may, and JoinCutRows does the rest: a
/// load less before all others, and few enough registers for six teams an SM.
template <class ExecutionSpace, class Entries, class Operands, bool Conjugate, bool RowAligned>
struct BalancedSpmv {
  using launch = ChunkLaunch<ExecutionSpace>;
  using accumulator_type = typename Operands::accumulator_type;

  Entries entries;
  Operands operands;
  Carry<accumulator_type> carry;
  std::int64_t chunks;
  const std::int64_t* cut_rows;
  std::int64_t cut_row_count;
  const typename Entries::ordinal_type* empty_rows;
  std::int64_t empty_row_count;

  /// As in ProductLaunch: what was fastest on an H200.
  static constexpr int teams_per_sm = Operands::most_columns > 1 || sizeof(accumulator_type) > 8 ? 1
                                      : Entries::keeps_rows || RowAligned                        ? 4
                                                                                                 : 6;
  /// Dynamic: chunks have as many entries, yet threads of a host do not take as long (six cores of a Xeon,
  /// times of Kokkos Kernels' CRS: COO of qh1484 3273 times along the diagonal 1.05, 1.38 without).
  using policy_type = Kokkos::TeamPolicy<ExecutionSpace, Kokkos::Schedule<Kokkos::Dynamic>,
                                         Kokkos::LaunchBounds<launch::lanes, teams_per_sm>>;

  /// Where a sum is in the word that chunks exchange, no fence is needed to order the two.
  static constexpr bool meets = launch::gpu && Entries::may_meet && !RowAligned &&
                                Operands::most_columns == 1 && SumAsWord<accumulator_type>::exists;

  static constexpr int lanes = launch::lanes;
  static constexpr int entries_per_lane = launch::entries_per_lane;
  /// Lanes whose heads are added up together, so that a long row is walked along by group.
  static constexpr int group = 8;

  /// What a team has in scratch memory, all of it in 48 KB. An array for the heads would take 2 KB more, and
  /// 32 KB of the first cache (ms, memplus, astro-ph: 0.101, 0.111 with it, 0.103, 0.109 without).
  struct Scratch {
    /// The products. In the place of the first one of a row its sum follows, and in that of the first one of
    /// a lane its head, unless a row begins there.
    accumulator_type sums[lanes * entries_per_lane];
    accumulator_type group_heads[lanes / group];
    /// 1 for an entry that begins a row, else 0; those of a lane are read at once.
    alignas(8) std::uint8_t begins_row[lanes * entries_per_lane];
    /// What is known of the rows of each lane; those of a group are read at once.
    alignas(8) std::uint8_t of_lane[lanes];
    bool group_passes[lanes / group];

    /// Where the product of an entry is. A lane's are next to each other, turned round by an amount that lets
    /// lanes that read theirs at once find them in different banks, and lanes that read the heads of a group
    /// each in two, of four bytes in four, turns.
    static KOKKOS_FORCEINLINE_FUNCTION int place(int entry) {
      const int lane = entry / entries_per_lane;
      return entry ^
             (static_cast<int>(lane * sizeof(accumulator_type) / 16 ^ lane / group) % entries_per_lane);
    }
  };
  static constexpr std::size_t scratch_bytes = launch::gpu ? sizeof(Scratch) : 0;
  static constexpr std::uint8_t passes = 1;       ///< no row begins in the lane
  static constexpr std::uint8_t has_no_head = 2;  ///< one begins with its first entry
  static_assert(!launch::gpu || entries_per_lane == sizeof(std::uint64_t),
                "What begins_row has for a lane must fill 64 bits.");
  static_assert(!launch::gpu || sizeof(accumulator_type) % 4 == 0, "See the places in multiply().");

  /// Adds the head of a lane. Returns whether the row goes on after the lane.
  static KOKKOS_FORCEINLINE_FUNCTION bool add_head(const Scratch& scratch, int lane, accumulator_type& sum) {
    const std::uint8_t known = scratch.of_lane[lane];
    if ((known & has_no_head) == 0) sum += scratch.sums[Scratch::place(lane * entries_per_lane)];
    return (known & passes) != 0;
  }

  /// Adds the heads from a lane on until the row ends.
  KOKKOS_FORCEINLINE_FUNCTION void add_heads(const Scratch& scratch, int lane, accumulator_type& sum) const {
    for (; lane % group != 0 && lane < lanes; ++lane)
      if (!add_head(scratch, lane, sum)) return;
    for (int g = lane / group; g < lanes / group; ++g) {
      sum += scratch.group_heads[g];
      if (!scratch.group_passes[g]) return;
    }
  }

  /// The entries of a lane, `lanes` apart, so that neighbouring lanes load what is next to each other. Where
  /// not Whole, those past the last are taken for the first one.
  struct LaneEntries {
    std::remove_const_t<typename Entries::scalar_type> values[entries_per_lane];
    typename Entries::ordinal_type columns[entries_per_lane];

    template <bool Whole>
    KOKKOS_FORCEINLINE_FUNCTION void load(const Entries& entries, std::int64_t begin, int count, int lane) {
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

  /// Puts the products with one column of x into scratch memory, and zeros behind the last, which the sum of
  /// the last row goes through. First all of x is loaded, then all is stored: the compiler cannot know that a
  /// store does not write what is loaded next.
  KOKKOS_FORCEINLINE_FUNCTION void multiply(Scratch& scratch, const LaneEntries& mine, int count, int lane,
                                            int column_of_x) const {
    accumulator_type products[entries_per_lane];
    FILIGREE_UNROLL(8)
    for (int j = 0; j < entries_per_lane; ++j)
      products[j] = operands.product(conjugate_if<Conjugate>(mine.values[j]), mine.columns[j], column_of_x);
    // The places of the entries j * lanes + lane differ in what 32 lanes more turn them round by.
    const int place = Scratch::place(lane);
    FILIGREE_UNROLL(8)
    for (int j = 0; j < entries_per_lane; ++j)
      scratch.sums[j * lanes + (j % 2 == 0 ? place : place ^ 4)] =
          j * lanes + lane < count ? products[j] : accumulator_type(0);
  }

  /// Sums the consecutive products of a lane: the sum of each row that begins there, of which the last may go
  /// on in the next lane, and the head, which is what comes before the first. Returns the place of the last.
  KOKKOS_FORCEINLINE_FUNCTION int sum_entries(Scratch& scratch, int lane) const {
    const std::uint64_t begins = reinterpret_cast<const std::uint64_t*>(scratch.begins_row)[lane];
    const int first = Scratch::place(lane * entries_per_lane);
    accumulator_type sum(0);
    int place = first;
    FILIGREE_UNROLL(8)
    for (int j = 0; j < entries_per_lane; ++j) {
      const accumulator_type product = scratch.sums[first ^ j];
      if ((begins >> (8 * j) & 1) != 0) {  // of little endian, as all GPUs are
        if (j > 0) scratch.sums[place] = sum;
        place = first ^ j;
        sum = accumulator_type(0);
      }
      sum += product;
    }
    scratch.sums[place] = sum;
    scratch.of_lane[lane] = begins == 0 ? passes : (begins & 1) != 0 ? has_no_head : 0;
    return begins == 0 ? -1 : place;
  }

  /// Stores the sum of a row that begins in a chunk and ends in the next, if the other of the two has been
  /// here, and else leaves this one's part there.
  KOKKOS_FORCEINLINE_FUNCTION void meet(const std::int64_t chunk, const accumulator_type& part,
                                        const std::int64_t row) const {
    using Word = SumAsWord<accumulator_type>;
    std::uint64_t* const word = &carry.meetings[chunk];
    if (Kokkos::atomic_compare_exchange(word, std::uint64_t(0), Word::of(part)) == 0) return;
    // Not stored: what another product leaves meanwhile, which there must not be, would be lost for good.
    const std::uint64_t other = Kokkos::atomic_exchange(word, std::uint64_t(0));
    operands.store(part + Word::sum(other), row, 0);
  }
  /// Whether a row that begins in a chunk and enters the next ends there.
  KOKKOS_FORCEINLINE_FUNCTION bool ends_in_next(const std::int64_t chunk, const std::int64_t row) const {
    return chunk + 2 >= chunks || entries.first_row(chunk + 2) != row;
  }
  /// Carries out the sum of the row that begins in a chunk and enters the next, or meets that.
  KOKKOS_FORCEINLINE_FUNCTION void leave_tail(const std::int64_t chunk, const accumulator_type& sum,
                                              const std::int64_t row, const int column) const {
    if constexpr (meets) {
      if (ends_in_next(chunk, row)) {
        meet(chunk, sum, row);
        return;
      }
    }
    carry.tail(chunk, column) = sum;
  }
  /// Carries out the sum of the row that enters a chunk, if there is one, or meets the chunk before.
  KOKKOS_FORCEINLINE_FUNCTION void leave_head(const std::int64_t chunk, const accumulator_type& sum,
                                              const std::int64_t begin) const {
    const std::int64_t row = entries.first_row(chunk);
    if (chunk == 0 || entries.begins(row, begin)) return;
    if (ends_in_next(chunk - 1, row) && begins_in(entries, chunk - 1, row))
      meet(chunk - 1, sum, row);
    else
      carry.head(chunk, 0) = sum;
  }

  /// On a GPU. All loads of values and columns are of neighbouring lanes, the products go through scratch
  /// memory, and each lane then sums consecutive ones. The lane in which a row begins adds the heads of those
  /// that it goes on in. At last the sums are stored by neighbouring lanes again: lanes that store the rows
  /// that they have summed make up to three times the writes and 1.4 times the instructions (memplus 158
  /// times along the diagonal, H200: 0.108 ms in place of 0.103).
  KOKKOS_INLINE_FUNCTION void device_chunk(const typename launch::member_type& team, Scratch& scratch,
                                           const std::int64_t chunk, const std::int64_t begin,
                                           const std::int64_t end) const {
    const int lane = team.team_rank();
    const int count = static_cast<int>(end - begin);
    const typename Entries::RowBegins row_begins(entries, chunk, begin, end, lane);
    LaneEntries mine;
    if (count == launch::chunk)
      mine.template load<true>(entries, begin, count, lane);
    else
      mine.template load<false>(entries, begin, count, lane);
    reinterpret_cast<std::uint64_t*>(scratch.begins_row)[lane] = 0;
    team.team_barrier();
    row_begins.visit([&](const int entry, std::int64_t) { scratch.begins_row[entry] = 1; });
    // The row that leaves the chunk, if there is one.
    const std::int64_t next_row = end < entries.nnz ? entries.first_row(chunk + 1) : -1;
    const std::int64_t cut_row = next_row >= 0 && !entries.begins(next_row, end) ? next_row : -1;

    for (int c = 0; c < Operands::most_columns && operands.has(c); ++c) {
      if (c > 0) team.team_barrier();
      multiply(scratch, mine, count, lane, c);
      team.team_barrier();
      const int last_place = sum_entries(scratch, lane);
      team.team_barrier();
      if (lane < lanes / group) {
        accumulator_type group_head(0);
        bool group_passes = true;
        const std::uint64_t known = reinterpret_cast<const std::uint64_t*>(scratch.of_lane)[lane];
        FILIGREE_UNROLL(8)
        for (int i = 0; i < group; ++i) {
          // Chosen, not branched to, so that no load waits for the one before.
          const accumulator_type head = scratch.sums[Scratch::place((lane * group + i) * entries_per_lane)];
          const bool adds = group_passes && (known >> (8 * i) & has_no_head) == 0;
          group_head = adds ? group_head + head : group_head;
          group_passes = group_passes && (known >> (8 * i) & passes) != 0;
        }
        scratch.group_heads[lane] = group_head;
        scratch.group_passes[lane] = group_passes;
      }
      team.team_barrier();

      if (last_place >= 0) {
        accumulator_type sum = scratch.sums[last_place];
        add_heads(scratch, lane + 1, sum);
        scratch.sums[last_place] = sum;
      }
      if (lane == 0) {
        accumulator_type entering(0);
        add_heads(scratch, 0, entering);
        if constexpr (meets)
          scratch.group_heads[0] = entering;  // which no other lane reads
        else
          carry.head(chunk, c) = entering;
      }
      team.team_barrier();
      // By the last lane, whose warp has the fewest rows to store.
      if constexpr (meets)
        if (lane == lanes - 1) leave_head(chunk, scratch.group_heads[0], begin);
      row_begins.visit([&](const int entry, const std::int64_t row) {
        const accumulator_type sum = scratch.sums[Scratch::place(entry)];
        if (row == cut_row)
          leave_tail(chunk, sum, row, c);
        else
          operands.store(sum, row, c);
      });
    }
  }

  /// On a host: one row after the other.
  template <bool UnitStride>
  KOKKOS_INLINE_FUNCTION void host_chunk(const std::int64_t chunk, const std::int64_t begin,
                                         const std::int64_t end) const {
    const Operands of_product = operands.template with_stride<UnitStride>();
    typename Operands::sums_type sums = {};
    std::int64_t row = entries.first_row(chunk);
    bool begun_here = entries.begins(row, begin);
    const auto finish = [&](bool complete) {
      for (int c = 0; c < Operands::most_columns && operands.has(c); ++c) {
        if (!begun_here)
          carry.head(chunk, c) = sums[c];
        else if (!complete)
          carry.tail(chunk, c) = sums[c];
        else
          operands.store(sums[c], row, c);
        sums[c] = accumulator_type(0);
      }
    };
    using run_type = StridedEntries<std::remove_pointer_t<decltype(entries.values)>,
                                    std::remove_pointer_t<decltype(entries.entries)>>;
    // A row is often as long as the one before; the end of one that may be short is looked for entry by
    // entry. Each asks for entries ahead (times of Kokkos Kernels' CRS, 27-point 60^3 and bcsstk33 33 times
    // along the diagonal: balanced CRS on one core of a Xeon 0.78 and 0.70, without 0.98 and 1.03; COO on six
    // 0.98 and 0.93, without 1.16 and 1.35).
    constexpr std::int64_t most_short = 16;
    // To look for the end of the first row, of which nothing is known, took 8 % longer for COO.
    std::int64_t length = 1;
    for (std::int64_t i = begin;;) {
      const std::int64_t first = i;
      if (length > most_short) {
        entries.prefetch(first, length);
        i = entries.known_end(row, first, end, length);
        add_on_host<false, Conjugate>(
            of_product, sums, run_type{entries.values + first, entries.entries + first, 1, i - first});
      } else {
        entries.prefetch(first, 1);  // with a line more COO of qh1484 took 1.3 times CRS, not 1.2
      }
      for (; i < end && entries.is_in(row, i); ++i)
        of_product.add(sums, conjugate_if<Conjugate>(entries.values[i]), entries.entries[i]);
      length = i - first;
      if (i == end) break;
      finish(true);
      row = entries.row_after(row, i);
      begun_here = true;
    }
    finish(end == entries.nnz || !entries.is_in(row, end));
  }

  /// y = beta * y for the rows without entries, from one of the list on.
  KOKKOS_INLINE_FUNCTION void scale_empty_rows(const typename launch::member_type& team,
                                               const std::int64_t first) const {
    const std::int64_t rest = empty_row_count - first;
    Kokkos::parallel_for(
        Kokkos::TeamThreadRange(team, static_cast<int>(rest < launch::chunk ? rest : launch::chunk)),
        [&](const int i) {
          const typename Operands::sums_type nothing = {};
          operands.store(nothing, static_cast<std::int64_t>(empty_rows[first + i]));
        });
  }

  /// Counts this chunk. Whether it is the last, so that the team sees what all others have carried out.
  KOKKOS_INLINE_FUNCTION bool ends_last(const typename launch::member_type& team) const {
    Kokkos::memory_fence();
    team.team_barrier();
    int is_last = 0;
    Kokkos::single(
        Kokkos::PerTeam(team),
        [&](int& mine) {
          mine = Kokkos::atomic_fetch_add(carry.ended, 1) == static_cast<int>(chunks) - 1 ? 1 : 0;
          // Not stored: what another product adds meanwhile, which there must not be, would be lost for good.
          if (mine != 0) Kokkos::atomic_add(carry.ended, -static_cast<int>(chunks));
        },
        is_last);
    Kokkos::memory_fence();
    return is_last != 0;
  }

  /// Heads of a cut row that are added up apart from each other, as by the lanes of JoinCutRows.
  static constexpr int ways = 8;

  /// Stores the sum of a cut row; the sums that chunks carried out are `stride` apart.
  KOKKOS_FORCEINLINE_FUNCTION void join(const accumulator_type* carried, const std::int64_t stride,
                                        const std::int64_t cut_row, const int column) const {
    const std::int64_t first = cut_rows[2 * cut_row];
    const std::int64_t last = cut_rows[2 * cut_row + 1];
    accumulator_type sums[ways];
    FILIGREE_UNROLL(8)
    for (int way = 0; way < ways; ++way)
      sums[way] = accumulator_type(0);
    for (std::int64_t chunk = first + 1; chunk <= last; chunk += ways) {
      FILIGREE_UNROLL(8)
      for (int way = 0; way < ways; ++way)
        if (chunk + way <= last) sums[way] += carried[2 * (chunk + way) * stride];
    }
    const accumulator_type rest =
        ((sums[0] + sums[4]) + (sums[2] + sums[6])) + ((sums[1] + sums[5]) + (sums[3] + sums[7]));
    operands.store(carried[(2 * first + 1) * stride] + rest, entries.first_row(last), column);
  }

  /// On a GPU by way of scratch memory, as a lane alone would wait for each sum of a long row.
  KOKKOS_INLINE_FUNCTION void join_cut_rows(const typename launch::member_type& team,
                                            [[maybe_unused]] Scratch* scratch) const {
    static_assert(!launch::gpu || 2 * (launch::most_aligned / launch::pitch(1) + 1) <= launch::chunk,
                  "What chunks carry out has no room in the scratch memory.");
    for (int c = 0; c < Operands::most_columns && operands.has(c); ++c) {
      const accumulator_type* carried = carry.data + c;
      std::int64_t stride = most_carried_columns;
      if constexpr (launch::gpu) {
        Kokkos::parallel_for(Kokkos::TeamThreadRange(team, static_cast<int>(2 * chunks)),
                             [&](const int i) { scratch->sums[i] = carried[i * most_carried_columns]; });
        team.team_barrier();
        carried = scratch->sums;
        stride = 1;
      }
      Kokkos::parallel_for(Kokkos::TeamThreadRange(team, static_cast<int>(cut_row_count)),
                           [&](const int i) { join(carried, stride, i, c); });
      team.team_barrier();
    }
  }

  KOKKOS_INLINE_FUNCTION void operator()(const typename launch::member_type& team) const {
    const std::int64_t chunk = team.league_rank();
    if constexpr (RowAligned)
      if (chunk >= chunks) {
        scale_empty_rows(team, (chunk - chunks) * launch::chunk);
        return;
      }
    std::int64_t begin = chunk * launch::chunk;
    std::int64_t end = begin + launch::chunk < entries.nnz ? begin + launch::chunk : entries.nnz;
    if constexpr (RowAligned) {
      begin = entries.chunk_begins[chunk];
      end = entries.chunk_begins[chunk + 1];
    }
    Scratch* scratch = nullptr;
    if constexpr (launch::gpu) {
      scratch = static_cast<Scratch*>(team.team_shmem().get_shmem_aligned(sizeof(Scratch), alignof(Scratch)));
      device_chunk(team, *scratch, chunk, begin, end);
    } else if (operands.x.has_unit_stride()) {
      host_chunk<true>(chunk, begin, end);
    } else {
      host_chunk<false>(chunk, begin, end);
    }
    if constexpr (RowAligned)
      if (cut_row_count > 0 && ends_last(team)) join_cut_rows(team, scratch);
  }
};

/// Adds what the chunks carried out, 8 lanes a row that is cut, and scales rows of y that have no entries.
template <class ExecutionSpace, class Entries, class Operands>
struct JoinCutRows {
  using accumulator_type = typename Operands::accumulator_type;
  static constexpr bool gpu = runs_on_gpu_v<ExecutionSpace>;
  /// Few rows are in more than eight chunks: with 32 lanes a matrix that has them waits for idle ones
  /// (astro-ph 86 times along the diagonal, H200, both kernels: 0.113 ms in place of 0.111).
  static constexpr int lanes = 8;
  /// Cut rows, or groups of 8 empty rows, a team.
  static constexpr int items_per_team = gpu ? 32 : 64;
  using policy_type = Kokkos::TeamPolicy<ExecutionSpace, Kokkos::LaunchBounds<256, 1>>;
  using member_type = typename policy_type::member_type;

  Entries entries;
  Operands operands;
  Carry<accumulator_type> carry;
  const std::int64_t* cut_rows;
  std::int64_t cut_row_count;
  const typename Entries::ordinal_type* empty_rows;
  std::int64_t empty_row_count;

  policy_type policy(const ExecutionSpace& exec) const {
    const std::int64_t items = cut_row_count + (empty_row_count + lanes - 1) / lanes;
    return policy_type(exec, static_cast<int>((items + items_per_team - 1) / items_per_team),
                       gpu ? items_per_team : 1, gpu ? lanes : 1);
  }

  /// A cut row, from the chunk that it begins in to the last that it enters.
  KOKKOS_FORCEINLINE_FUNCTION void join(const member_type& team, const std::int64_t first,
                                        const std::int64_t last) const {
    const std::int64_t row = entries.first_row(last);
    for (int c = 0; c < Operands::most_columns && operands.has(c); ++c) {
      const accumulator_type tail = carry.tail(first, c);
      accumulator_type rest(0);
      Kokkos::parallel_reduce(
          Kokkos::ThreadVectorRange(team, lanes),
          [&](const int lane, accumulator_type& sum) {
            for (std::int64_t chunk = first + 1 + lane; chunk <= last; chunk += lanes)
              sum += carry.head(chunk, c);
          },
          rest);
      Kokkos::single(Kokkos::PerThread(team), [&]() { operands.store(tail + rest, row, c); });
    }
  }

  KOKKOS_INLINE_FUNCTION void operator()(const member_type& team) const {
    Kokkos::parallel_for(Kokkos::TeamThreadRange(team, items_per_team), [&](const int i) {
      const std::int64_t item = static_cast<std::int64_t>(team.league_rank()) * items_per_team + i;
      if (item < cut_row_count) {
        join(team, cut_rows[2 * item], cut_rows[2 * item + 1]);
        return;
      }
      const std::int64_t first = (item - cut_row_count) * lanes;
      Kokkos::parallel_for(Kokkos::ThreadVectorRange(team, lanes), [&](const int lane) {
        const typename Operands::sums_type nothing = {};
        if (first + lane < empty_row_count)
          operands.store(nothing, static_cast<std::int64_t>(empty_rows[first + lane]));
      });
    });
  }
};

/// Modes N and C. One kernel for matrices of up to 2^20 entries, else two where rows are cut, and their
/// chunks do not meet, or empty.
template <class ExecutionSpace, class Entries, class Operands, class Matrix>
void balanced_spmv(const ExecutionSpace& exec, const std::string& name, const std::string& join_name,
                   Mode mode, const Entries& entries, const Operands& operands, const Matrix& A) {
  static_assert(Operands::most_columns <= most_carried_columns, "The carry has no room for the columns.");
  using Launch = ChunkLaunch<ExecutionSpace>;
  using Join = JoinCutRows<ExecutionSpace, Entries, Operands>;
  using accumulator_type = typename Operands::accumulator_type;
  const std::int64_t sums = carried_sums(Launch::chunks(entries.nnz));
  const Carry<accumulator_type> carry{reinterpret_cast<accumulator_type*>(A.carry.data()),
                                      reinterpret_cast<std::uint64_t*>(A.carry.data() + sums),
                                      reinterpret_cast<int*>(A.carry.data() + A.carry.extent(0) - 1)};
  const std::int64_t empty_row_count = static_cast<std::int64_t>(A.empty_rows.extent(0));
  const bool row_aligned = A.chunk_begins.extent(0) > 0;
  const std::int64_t chunks = row_aligned ? static_cast<std::int64_t>(A.chunk_begins.extent(0)) - 1
                                          : (entries.nnz + Launch::chunk - 1) / Launch::chunk;
  const auto launch = [&](auto conjugate, auto is_row_aligned) {
    constexpr bool aligned = decltype(is_row_aligned)::value;
    using Kernel = BalancedSpmv<ExecutionSpace, Entries, Operands, decltype(conjugate)::value, aligned>;
    const std::int64_t teams = chunks + (aligned ? (empty_row_count + Launch::chunk - 1) / Launch::chunk : 0);
    auto policy = typename Kernel::policy_type(exec, static_cast<int>(teams), Launch::lanes, 1);
    policy.set_scratch_size(0, Kokkos::PerTeam(static_cast<int>(Kernel::scratch_bytes + 16)));
    Kokkos::parallel_for(name, policy,
                         Kernel{entries, operands, carry, chunks, A.cut_rows.data(), A.cut_row_count,
                                A.empty_rows.data(), empty_row_count});
  };
  with_mode<typename Entries::scalar_type>(mode, [&](auto, auto conjugate) {
    if (row_aligned)
      launch(conjugate, std::true_type());
    else
      launch(conjugate, std::false_type());
  });
  std::int64_t left_to_join = A.cut_row_count;
  if constexpr (BalancedSpmv<ExecutionSpace, Entries, Operands, false, false>::meets)
    left_to_join = A.long_row_count;
  if (row_aligned || (left_to_join == 0 && empty_row_count == 0)) return;
  const Join join{entries,        operands, carry, A.cut_rows.data(), left_to_join, A.empty_rows.data(),
                  empty_row_count};
  Kokkos::parallel_for(join_name, join.policy(exec), join);
}

}  // namespace Impl
}  // namespace Filigree

#endif

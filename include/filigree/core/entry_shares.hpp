// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// y = beta*y + alpha*A*x by about equal shares of the entries of A, whatever the lengths of its rows: the
// product of COO and of the balanced CRS kernel. A share is what one team multiplies. It begins with a row
// where that is near, so that just long rows are cut. A row inside a share is summed and stored there; of one
// that is cut each share carries its partial sum out to a small array, and a second kernel, where there are
// such rows, adds these in an order of its own that is fixed: the same bits on every run. Of small matrices
// the share that ends last does that, in place of a second kernel; which one it is makes no difference.
// (For large ones a fence and a count a share took longer than the second kernel: memplus 158 times along the
// diagonal, H200, 0.122 ms in place of 0.107, when the kernels took 5 % longer than now.)
// Of large CRS matrices a row that is cut once needs no second kernel either: of its two shares the one that
// comes second finds the sum of the first (meet()), and a sum of two numbers has the same bits in either
// order. (H200, repeated to 20M entries: memplus 0.099 ms in place of 0.103, astro-ph 0.106 in place of
// 0.110; filigree_targets --only=long_rows times them.)
//
// Source: segmented sums over COO, Bell and Garland 2009, section 4.3, as papers 001 and 002 use them; the
// carry in place of their serial third kernel is ours.
//
// A format describes its entries, which are sorted by row, by a small struct of raw pointers, its Entries:
//
//   scalar_type, ordinal_type, share_launch (its ShareLaunch)
//   values, entries               value and column of each entry
//   entry_count
//   row_of(i), begin_of(row)      row of entry i, first entry of a row, by whatever search that takes
//   share_begins                  first entry of each share, and entry_count; or null where these are
//                                 multiples of 2048
//   RowBegins(entries, share, begin, end, lane)
//                                 on a GPU: what a lane has to do with the rows of the share, of the entries
//                                 from begin to end - 1. Its visit(v) calls v(i - begin, row) for entries i
//                                 that are the first of their row; the lanes share the work
//   keeps_rows                    (constexpr) whether RowBegins takes registers
//   may_meet                      (constexpr) whether shares of a row that is cut once may meet, which takes
//                                 registers too
//   is_in(row, i)                 on a host: whether entry i, of row or the first after it, is of row
//   known_end(row, i, end, guess) on a host: an entry, at most end, before which all from i on are of row, by
//                                 a look or two; i itself if that does not say. The row may have guess
//                                 entries from i on
//   prefetch(i, length)           on a host: asks for entries ahead of those of a row, by prefetch_ahead
//   row_after(row, i)             on a host: row of entry i, the first that is not of row
//   first_row(share)              row of the first entry of a share
//   begins(row, i)                whether entry i is the first of its row, row
#ifndef FILIGREE_CORE_ENTRY_SHARES_HPP
#define FILIGREE_CORE_ENTRY_SHARES_HPP

#include <cstdint>
#include <cstring>
#include <string>
#include <type_traits>

#include "filigree/core/allocate_view.hpp"
#include "filigree/core/launch.hpp"
#include "filigree/core/load_once.hpp"
#include "filigree/core/mode.hpp"
#include "filigree/core/region.hpp"
#include "filigree/core/row_product.hpp"
#include "filigree/core/spmv_operands.hpp"

namespace Filigree {
namespace Impl {

/// The launch of one team a share.
template <class ExecutionSpace>
struct ShareLaunch {
  static constexpr bool gpu = runs_on_gpu_v<ExecutionSpace>;
  static constexpr int lanes = gpu ? 256 : 1;
  /// Eight products a lane, whose loads do not wait for each other, are 21 KB of scratch memory a team in
  /// double: the six teams of balanced CRS that have registers on an SM of an H200 leave 124 KB of its 256 to
  /// the first cache.
  static constexpr int entries_per_lane = gpu ? 8 : 2048;
  /// The most entries of a share.
  static constexpr std::int64_t share = lanes * entries_per_lane;
  using member_type = typename Kokkos::TeamPolicy<ExecutionSpace>::member_type;

  /// The most entries of a matrix whose shares begin with rows.
  static constexpr std::int64_t most_aligned = std::int64_t(1) << 20;
  /// A share begins up to this many entries early to begin with a row, so shorter rows are never cut. 0 for
  /// large matrices, whose shares begin with multiples of 2048: a team that first has to load where its share
  /// begins costs more there (memplus 158 times along the diagonal: 0.1225 ms in place of 0.1109, H200).
  KOKKOS_FORCEINLINE_FUNCTION static constexpr std::int64_t slack(std::int64_t entry_count) {
    return entry_count <= most_aligned ? 512 : 0;
  }
  /// Entries from where one share begins, or would without its row, to where the next does.
  KOKKOS_FORCEINLINE_FUNCTION static constexpr std::int64_t pitch(std::int64_t entry_count) {
    return share - slack(entry_count);
  }
  static std::int64_t shares(std::int64_t entry_count) {
    return (entry_count + pitch(entry_count) - 1) / pitch(entry_count);
  }
};

/// The partial sums that shares carry out, two a share, for up to 16 columns of the widest scalar type; then
/// a word of 64 bits a share where it meets the next one, and an int that counts the shares that have ended,
/// both 0 between products. Memory of the matrix, as spmv must not allocate.
template <class Device>
using carry_t = Kokkos::View<Kokkos::complex<double>*, Device>;

constexpr int most_carried_columns = 16;

/// The sums alone.
inline std::int64_t carried_sums(std::int64_t shares) {
  return shares * 2 * most_carried_columns;
}
template <class ExecutionSpace>
std::int64_t carry_elements(std::int64_t entry_count) {
  const std::int64_t shares = ShareLaunch<ExecutionSpace>::shares(entry_count);
  return carried_sums(shares) + (shares + 1) / 2 + 1;
}
/// Bytes of share_begins, carry and cut_rows.
template <class ExecutionSpace>
std::int64_t share_bytes(std::int64_t entry_count) {
  const std::int64_t shares = ShareLaunch<ExecutionSpace>::shares(entry_count);
  const bool has_begins = ShareLaunch<ExecutionSpace>::slack(entry_count) > 0;
  return ((has_begins ? shares + 1 : 0) + 2 * shares) * static_cast<std::int64_t>(sizeof(std::int64_t)) +
         carry_elements<ExecutionSpace>(entry_count) *
             static_cast<std::int64_t>(sizeof(Kokkos::complex<double>));
}
template <class ExecutionSpace, class Device>
carry_t<Device> allocate_carry(const ExecutionSpace& exec, const char* format, std::int64_t entry_count) {
  return carry_t<Device>(Kokkos::view_alloc(exec, label("carry", format)),
                         static_cast<std::size_t>(carry_elements<ExecutionSpace>(entry_count)));
}

/// The first entry of a share.
template <class Entries>
KOKKOS_FORCEINLINE_FUNCTION std::int64_t share_begin(const Entries& entries, std::int64_t share) {
  if (entries.share_begins != nullptr) return entries.share_begins[share];
  const std::int64_t begin = share * Entries::share_launch::share;
  return begin < entries.entry_count ? begin : entries.entry_count;
}

/// Whether a row that enters the next share begins in this one: it is not the first row here, or begins with
/// the first entry.
template <class Entries>
KOKKOS_FORCEINLINE_FUNCTION bool begins_in(const Entries& entries, std::int64_t share, std::int64_t row) {
  return entries.first_row(share) != row || entries.begins(row, share_begin(entries, share));
}

/// Whether a row begins in a share that the next one goes on with.
template <class Entries>
KOKKOS_FORCEINLINE_FUNCTION bool begins_cut_row(const Entries& entries, std::int64_t share) {
  const std::int64_t end = share_begin(entries, share + 1);
  if (end == entries.entry_count) return false;
  const std::int64_t row = entries.first_row(share + 1);
  return !entries.begins(row, end) && begins_in(entries, share, row);
}

/// Finds where the shares begin, and lists the cut rows.
template <class ExecutionSpace, class Entries>
struct FindShares {
  using execution_space = ExecutionSpace;
  struct Begins {};
  struct CutRows {};
  using value_type = std::int64_t;

  Entries entries;
  std::int64_t shares;
  std::int64_t* list;
  /// Cut rows in so many shares are listed.
  std::int64_t fewest = 2;
  std::int64_t most = shares;

  KOKKOS_INLINE_FUNCTION void operator()(Begins, const std::int64_t share) const {
    using launch = ShareLaunch<ExecutionSpace>;
    if (share == shares) {
      list[share] = entries.entry_count;
      return;
    }
    const std::int64_t begin = share * launch::pitch(entries.entry_count);
    const std::int64_t row_begin = entries.begin_of(entries.row_of(begin));
    list[share] = begin - row_begin <= launch::slack(entries.entry_count) ? row_begin : begin;
  }
  KOKKOS_INLINE_FUNCTION void operator()(CutRows, const std::int64_t share, std::int64_t& count,
                                         const bool final) const {
    if (!begins_cut_row(entries, share)) return;
    const std::int64_t row = entries.first_row(share + 1);
    const std::int64_t end =
        first_where(share + 2, shares, [&](std::int64_t s) { return entries.first_row(s) != row; });
    if (end - share < fewest || end - share > most) return;
    if (final) {
      list[2 * count] = share;
      list[2 * count + 1] = end - 1;
    }
    ++count;
  }
};

/// The share_begins of a matrix, or none where these are multiples.
template <class View, class ExecutionSpace, class Entries>
View find_share_begins(const ExecutionSpace& exec, const char* format, const Entries& entries) {
  using launch = ShareLaunch<ExecutionSpace>;
  using Find = FindShares<ExecutionSpace, Entries>;
  if (launch::slack(entries.entry_count) == 0) return View();
  const std::int64_t shares = launch::shares(entries.entry_count);
  const auto begins = allocate_view<View>(exec, "share_begins", format, shares + 1);
  Kokkos::parallel_for(label("share_begins", format), row_range<typename Find::Begins>(exec, shares + 1),
                       Find{entries, shares, begins.data()});
  return begins;
}

/// Sets the cut rows of a matrix: of each the share that it begins in and the last that it enters. There is
/// room for one a share. Where the shares of a row can meet, those of more than two come first. Fences exec.
template <class ExecutionSpace, class Entries, class Matrix>
void find_cut_rows(const ExecutionSpace& exec, const char* format, const Entries& entries, Matrix& A) {
  using Find = FindShares<ExecutionSpace, Entries>;
  using View = typename Matrix::shares_type;
  const std::int64_t shares = ShareLaunch<ExecutionSpace>::shares(entries.entry_count);
  A.cut_rows = allocate_view<View>(exec, "cut_rows", format, 2 * shares);
  const auto list = [&](std::int64_t first, std::int64_t fewest, std::int64_t most) {
    std::int64_t count = 0;
    if (shares > 1)
      Kokkos::parallel_scan(label("cut_rows", format), row_range<typename Find::CutRows>(exec, shares),
                            Find{entries, shares, A.cut_rows.data() + 2 * first, fewest, most}, count);
    return count;
  };
  if constexpr (Entries::may_meet) {
    A.long_row_count = list(0, 3, shares);
    A.cut_row_count = A.long_row_count + list(A.long_row_count, 2, 2);
  } else {
    A.cut_row_count = list(0, 2, shares);
  }
  exec.fence();
}

/// Where the partial sums are, where shares meet, and how many have ended.
template <class Accumulator>
struct Carry {
  static_assert(sizeof(Accumulator) <= sizeof(Kokkos::complex<double>),
                "Filigree::spmv: sums wider than complex<double> have no place in the carry.");
  Accumulator* data;
  std::uint64_t* meetings;
  int* ended;

  /// Of the row that enters a share from the one before it.
  KOKKOS_FORCEINLINE_FUNCTION Accumulator& head(std::int64_t share, int column) const {
    return data[(share * 2) * most_carried_columns + column];
  }
  /// Of the row that begins in a share and leaves it.
  KOKKOS_FORCEINLINE_FUNCTION Accumulator& tail(std::int64_t share, int column) const {
    return data[(share * 2 + 1) * most_carried_columns + column];
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

/// Stores the sums of all rows that lie in one share and carries out the others.
///
/// RowAligned is whether shares begin with rows where they can (share_begins), the last one to end joins the
/// cut rows, and teams behind those of the shares scale the rows without entries. Else shares begin with
/// multiples of 2048, those of a row that is cut once meet where they may, and JoinShares does the rest: a
/// load less before all others, and few enough registers for six teams an SM.
template <class ExecutionSpace, class Entries, class Operands, bool Conjugate, bool RowAligned>
struct ShareSpmv {
  using launch = ShareLaunch<ExecutionSpace>;
  using accumulator_type = typename Operands::accumulator_type;

  Entries entries;
  Operands operands;
  Carry<accumulator_type> carry;
  std::int64_t shares;
  const std::int64_t* cut_rows;
  std::int64_t cut_row_count;
  const typename Entries::ordinal_type* empty_rows;
  std::int64_t empty_row_count;

  /// As in ProductLaunch: what was fastest on an H200.
  static constexpr int teams_per_sm = Operands::most_columns > 1 || sizeof(accumulator_type) > 8 ? 1
                                      : Entries::keeps_rows || RowAligned                        ? 4
                                                                                                 : 6;
  /// Dynamic: shares have as many entries, yet threads of a host do not take as long (six cores of a Xeon,
  /// times of Kokkos Kernels' CRS: COO of qh1484 3273 times along the diagonal 1.05, 1.38 without).
  using policy_type = Kokkos::TeamPolicy<ExecutionSpace, Kokkos::Schedule<Kokkos::Dynamic>,
                                         Kokkos::LaunchBounds<launch::lanes, teams_per_sm>>;

  /// Where a sum is in the word that shares exchange, no fence is needed to order the two.
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

  /// Stores the sum of a row that begins in a share and ends in the next, if the other of the two has been
  /// here, and else leaves this one's part there.
  KOKKOS_FORCEINLINE_FUNCTION void meet(const std::int64_t share, const accumulator_type& part,
                                        const std::int64_t row) const {
    using Word = SumAsWord<accumulator_type>;
    std::uint64_t* const word = &carry.meetings[share];
    if (Kokkos::atomic_compare_exchange(word, std::uint64_t(0), Word::of(part)) == 0) return;
    // Not stored: what another product leaves meanwhile, which there must not be, would be lost for good.
    const std::uint64_t other = Kokkos::atomic_exchange(word, std::uint64_t(0));
    operands.store(part + Word::sum(other), row, 0);
  }
  /// Whether a row that begins in a share and enters the next ends there.
  KOKKOS_FORCEINLINE_FUNCTION bool ends_in_next(const std::int64_t share, const std::int64_t row) const {
    return share + 2 >= shares || entries.first_row(share + 2) != row;
  }
  /// Carries out the sum of the row that begins in a share and enters the next, or meets that.
  KOKKOS_FORCEINLINE_FUNCTION void leave_tail(const std::int64_t share, const accumulator_type& sum,
                                              const std::int64_t row, const int column) const {
    if constexpr (meets) {
      if (ends_in_next(share, row)) {
        meet(share, sum, row);
        return;
      }
    }
    carry.tail(share, column) = sum;
  }
  /// Carries out the sum of the row that enters a share, if there is one, or meets the share before.
  KOKKOS_FORCEINLINE_FUNCTION void leave_head(const std::int64_t share, const accumulator_type& sum,
                                              const std::int64_t begin) const {
    const std::int64_t row = entries.first_row(share);
    if (share == 0 || entries.begins(row, begin)) return;
    if (ends_in_next(share - 1, row) && begins_in(entries, share - 1, row))
      meet(share - 1, sum, row);
    else
      carry.head(share, 0) = sum;
  }

  /// On a GPU. All loads of values and columns are of neighbouring lanes, the products go through scratch
  /// memory, and each lane then sums consecutive ones. The lane in which a row begins adds the heads of those
  /// that it goes on in. At last the sums are stored by neighbouring lanes again: lanes that store the rows
  /// that they have summed make up to three times the writes and 1.4 times the instructions (memplus 158
  /// times along the diagonal, H200: 0.108 ms in place of 0.103).
  KOKKOS_INLINE_FUNCTION void device_share(const typename launch::member_type& team, Scratch& scratch,
                                           const std::int64_t share, const std::int64_t begin,
                                           const std::int64_t end) const {
    const int lane = team.team_rank();
    const int count = static_cast<int>(end - begin);
    const typename Entries::RowBegins row_begins(entries, share, begin, end, lane);
    LaneEntries mine;
    if (count == launch::share)
      mine.template load<true>(entries, begin, count, lane);
    else
      mine.template load<false>(entries, begin, count, lane);
    reinterpret_cast<std::uint64_t*>(scratch.begins_row)[lane] = 0;
    team.team_barrier();
    row_begins.visit([&](const int entry, std::int64_t) { scratch.begins_row[entry] = 1; });
    // The row that leaves the share, if there is one.
    const std::int64_t next_row = end < entries.entry_count ? entries.first_row(share + 1) : -1;
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
          carry.head(share, c) = entering;
      }
      team.team_barrier();
      // By the last lane, whose warp has the fewest rows to store.
      if constexpr (meets)
        if (lane == lanes - 1) leave_head(share, scratch.group_heads[0], begin);
      row_begins.visit([&](const int entry, const std::int64_t row) {
        const accumulator_type sum = scratch.sums[Scratch::place(entry)];
        if (row == cut_row)
          leave_tail(share, sum, row, c);
        else
          operands.store(sum, row, c);
      });
    }
  }

  /// On a host: one row after the other.
  template <bool UnitStride>
  KOKKOS_INLINE_FUNCTION void host_share(const std::int64_t share, const std::int64_t begin,
                                         const std::int64_t end) const {
    const Operands of_product = operands.template with_stride<UnitStride>();
    typename Operands::sums_type sums = {};
    std::int64_t row = entries.first_row(share);
    bool begun_here = entries.begins(row, begin);
    const auto finish = [&](bool complete) {
      for (int c = 0; c < Operands::most_columns && operands.has(c); ++c) {
        if (!begun_here)
          carry.head(share, c) = sums[c];
        else if (!complete)
          carry.tail(share, c) = sums[c];
        else
          operands.store(sums[c], row, c);
        sums[c] = accumulator_type(0);
      }
    };
    using run_type = StridedRun<std::remove_pointer_t<decltype(entries.values)>,
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
        add_run<false, false, Conjugate>(
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
    finish(end == entries.entry_count || !entries.is_in(row, end));
  }

  /// y = beta * y for the rows without entries, from one of the list on.
  KOKKOS_INLINE_FUNCTION void scale_empty_rows(const typename launch::member_type& team,
                                               const std::int64_t first) const {
    const std::int64_t rest = empty_row_count - first;
    Kokkos::parallel_for(
        Kokkos::TeamThreadRange(team, static_cast<int>(rest < launch::share ? rest : launch::share)),
        [&](const int i) {
          const typename Operands::sums_type nothing = {};
          operands.store(nothing, static_cast<std::int64_t>(empty_rows[first + i]));
        });
  }

  /// Counts this share. Whether it is the last, so that the team sees what all others have carried out.
  KOKKOS_INLINE_FUNCTION bool ends_last(const typename launch::member_type& team) const {
    Kokkos::memory_fence();
    team.team_barrier();
    int is_last = 0;
    Kokkos::single(
        Kokkos::PerTeam(team),
        [&](int& mine) {
          mine = Kokkos::atomic_fetch_add(carry.ended, 1) == static_cast<int>(shares) - 1 ? 1 : 0;
          // Not stored: what another product adds meanwhile, which there must not be, would be lost for good.
          if (mine != 0) Kokkos::atomic_add(carry.ended, -static_cast<int>(shares));
        },
        is_last);
    Kokkos::memory_fence();
    return is_last != 0;
  }

  /// Heads of a cut row that are added up apart from each other, as by the lanes of JoinShares.
  static constexpr int ways = 8;

  /// Stores the sum of a cut row; the sums that shares carried out are `stride` apart.
  KOKKOS_FORCEINLINE_FUNCTION void join(const accumulator_type* carried, const std::int64_t stride,
                                        const std::int64_t cut_row, const int column) const {
    const std::int64_t first = cut_rows[2 * cut_row];
    const std::int64_t last = cut_rows[2 * cut_row + 1];
    accumulator_type sums[ways];
    FILIGREE_UNROLL(8)
    for (int way = 0; way < ways; ++way)
      sums[way] = accumulator_type(0);
    for (std::int64_t share = first + 1; share <= last; share += ways) {
      FILIGREE_UNROLL(8)
      for (int way = 0; way < ways; ++way)
        if (share + way <= last) sums[way] += carried[2 * (share + way) * stride];
    }
    const accumulator_type rest =
        ((sums[0] + sums[4]) + (sums[2] + sums[6])) + ((sums[1] + sums[5]) + (sums[3] + sums[7]));
    operands.store(carried[(2 * first + 1) * stride] + rest, entries.first_row(last), column);
  }

  /// On a GPU by way of scratch memory, as a lane alone would wait for each sum of a long row.
  KOKKOS_INLINE_FUNCTION void join_cut_rows(const typename launch::member_type& team,
                                            [[maybe_unused]] Scratch* scratch) const {
    static_assert(!launch::gpu || 2 * (launch::most_aligned / launch::pitch(1) + 1) <= launch::share,
                  "What shares carry out has no room in the scratch memory.");
    for (int c = 0; c < Operands::most_columns && operands.has(c); ++c) {
      const accumulator_type* carried = carry.data + c;
      std::int64_t stride = most_carried_columns;
      if constexpr (launch::gpu) {
        Kokkos::parallel_for(Kokkos::TeamThreadRange(team, static_cast<int>(2 * shares)),
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
    const std::int64_t share = team.league_rank();
    if constexpr (RowAligned)
      if (share >= shares) {
        scale_empty_rows(team, (share - shares) * launch::share);
        return;
      }
    std::int64_t begin = share * launch::share;
    std::int64_t end =
        begin + launch::share < entries.entry_count ? begin + launch::share : entries.entry_count;
    if constexpr (RowAligned) {
      begin = entries.share_begins[share];
      end = entries.share_begins[share + 1];
    }
    Scratch* scratch = nullptr;
    if constexpr (launch::gpu) {
      scratch = static_cast<Scratch*>(team.team_shmem().get_shmem_aligned(sizeof(Scratch), alignof(Scratch)));
      device_share(team, *scratch, share, begin, end);
    } else if (operands.x.has_unit_stride()) {
      host_share<true>(share, begin, end);
    } else {
      host_share<false>(share, begin, end);
    }
    if constexpr (RowAligned)
      if (cut_row_count > 0 && ends_last(team)) join_cut_rows(team, scratch);
  }
};

/// Adds what the shares carried out, 8 lanes a row that is cut, and scales rows of y that have no entries.
template <class ExecutionSpace, class Entries, class Operands>
struct JoinShares {
  using accumulator_type = typename Operands::accumulator_type;
  static constexpr bool gpu = runs_on_gpu_v<ExecutionSpace>;
  /// Few rows are in more than eight shares: with 32 lanes a matrix that has them waits for idle ones
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

  /// A cut row, from the share that it begins in to the last that it enters.
  KOKKOS_FORCEINLINE_FUNCTION void join(const member_type& team, const std::int64_t first,
                                        const std::int64_t last) const {
    const std::int64_t row = entries.first_row(last);
    for (int c = 0; c < Operands::most_columns && operands.has(c); ++c) {
      const accumulator_type tail = carry.tail(first, c);
      accumulator_type rest(0);
      Kokkos::parallel_reduce(
          Kokkos::ThreadVectorRange(team, lanes),
          [&](const int lane, accumulator_type& sum) {
            for (std::int64_t share = first + 1 + lane; share <= last; share += lanes)
              sum += carry.head(share, c);
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
/// shares do not meet, or empty.
template <class ExecutionSpace, class Entries, class Operands, class Matrix>
void share_spmv(const ExecutionSpace& exec, const std::string& name, const std::string& join_name, Mode mode,
                const Entries& entries, const Operands& operands, const Matrix& A) {
  static_assert(Operands::most_columns <= most_carried_columns, "The carry has no room for the columns.");
  using Launch = ShareLaunch<ExecutionSpace>;
  using Join = JoinShares<ExecutionSpace, Entries, Operands>;
  using accumulator_type = typename Operands::accumulator_type;
  const std::int64_t sums = carried_sums(Launch::shares(entries.entry_count));
  const Carry<accumulator_type> carry{reinterpret_cast<accumulator_type*>(A.carry.data()),
                                      reinterpret_cast<std::uint64_t*>(A.carry.data() + sums),
                                      reinterpret_cast<int*>(A.carry.data() + A.carry.extent(0) - 1)};
  const std::int64_t empty_row_count = static_cast<std::int64_t>(A.empty_rows.extent(0));
  const bool row_aligned = A.share_begins.extent(0) > 0;
  const std::int64_t shares = row_aligned ? static_cast<std::int64_t>(A.share_begins.extent(0)) - 1
                                          : (entries.entry_count + Launch::share - 1) / Launch::share;
  const auto launch = [&](auto conjugate, auto is_row_aligned) {
    constexpr bool aligned = decltype(is_row_aligned)::value;
    using Kernel = ShareSpmv<ExecutionSpace, Entries, Operands, decltype(conjugate)::value, aligned>;
    const std::int64_t teams = shares + (aligned ? (empty_row_count + Launch::share - 1) / Launch::share : 0);
    auto policy = typename Kernel::policy_type(exec, static_cast<int>(teams), Launch::lanes, 1);
    policy.set_scratch_size(0, Kokkos::PerTeam(static_cast<int>(Kernel::scratch_bytes + 16)));
    Kokkos::parallel_for(name, policy,
                         Kernel{entries, operands, carry, shares, A.cut_rows.data(), A.cut_row_count,
                                A.empty_rows.data(), empty_row_count});
  };
  with_mode<typename Entries::scalar_type>(mode, [&](auto, auto conjugate) {
    if (row_aligned)
      launch(conjugate, std::true_type());
    else
      launch(conjugate, std::false_type());
  });
  std::int64_t left_to_join = A.cut_row_count;
  if constexpr (ShareSpmv<ExecutionSpace, Entries, Operands, false, false>::meets)
    left_to_join = A.long_row_count;
  if (row_aligned || (left_to_join == 0 && empty_row_count == 0)) return;
  const Join join{entries,        operands, carry, A.cut_rows.data(), left_to_join, A.empty_rows.data(),
                  empty_row_count};
  Kokkos::parallel_for(join_name, join.policy(exec), join);
}

}  // namespace Impl
}  // namespace Filigree

#endif

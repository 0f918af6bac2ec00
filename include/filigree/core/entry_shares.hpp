// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// y = beta*y + alpha*A*x by equal shares of the entries of A, whatever the lengths of its rows: the product
// of COO and of the balanced CRS kernel. A share is what one team multiplies. A row inside a share is summed
// and stored there; of a row that crosses shares each share carries its partial sum out to a small array, and
// a second kernel adds these in the order of the shares. No atomics: the same bits on every run.
//
// Source: segmented sums over COO, Bell and Garland 2009, section 4.3, as papers 001 and 002 use them; the
// carry in place of their serial third kernel is ours.
//
// A format describes its entries, which are sorted by row, by a small struct of raw pointers, its Entries:
//
//   scalar_type, ordinal_type
//   values, entries               value and column of each entry
//   entry_count
//   row_of(i)                     row of entry i, found by whatever search that takes
//   row_after(row, i)             row of entry i, row being that of entry i - 1
//   first_row(share)              row of the first entry of a share
//   begins(row, i)                whether entry i is the first of its row, row
//   ends(row, i)                  whether the row of entry i - 1, row, has no entry i
#ifndef FILIGREE_CORE_ENTRY_SHARES_HPP
#define FILIGREE_CORE_ENTRY_SHARES_HPP

#include <cstdint>
#include <string>

#include "filigree/core/allocate_view.hpp"
#include "filigree/core/launch.hpp"
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
  /// double: the 228 KB of an SM of an H200 hold the eight teams that its lanes can run.
  static constexpr int entries_per_lane = gpu ? 8 : 2048;
  static constexpr std::int64_t share = lanes * entries_per_lane;
  using policy_type = Kokkos::TeamPolicy<ExecutionSpace, Kokkos::LaunchBounds<lanes, 1>>;
  using member_type = typename policy_type::member_type;

  static std::int64_t shares(std::int64_t entry_count) { return (entry_count + share - 1) / share; }
};

/// The partial sums that shares carry out, two a share, for up to four columns of the widest scalar type.
/// Memory of the matrix, as spmv must not allocate.
template <class Device>
using carry_t = Kokkos::View<Kokkos::complex<double>*, Device>;

constexpr int most_carried_columns = 4;

template <class ExecutionSpace>
std::int64_t carry_elements(std::int64_t entry_count) {
  return ShareLaunch<ExecutionSpace>::shares(entry_count) * 2 * most_carried_columns;
}
template <class ExecutionSpace>
std::int64_t carry_bytes(std::int64_t entry_count) {
  return carry_elements<ExecutionSpace>(entry_count) *
         static_cast<std::int64_t>(sizeof(Kokkos::complex<double>));
}
template <class ExecutionSpace, class Device>
carry_t<Device> allocate_carry(const ExecutionSpace& exec, const char* format, std::int64_t entry_count) {
  return allocate_view<carry_t<Device>>(exec, "carry", format, carry_elements<ExecutionSpace>(entry_count));
}

/// Where the partial sums are.
template <class Accumulator>
struct Carry {
  static_assert(sizeof(Accumulator) <= sizeof(Kokkos::complex<double>),
                "Filigree::spmv: sums wider than complex<double> have no place in the carry.");
  Accumulator* data;

  /// Of the row that enters a share from the one before it.
  KOKKOS_FORCEINLINE_FUNCTION Accumulator& head(std::int64_t share, int column) const {
    return data[(share * 2) * most_carried_columns + column];
  }
  /// Of the row that begins in a share and leaves it.
  KOKKOS_FORCEINLINE_FUNCTION Accumulator& tail(std::int64_t share, int column) const {
    return data[(share * 2 + 1) * most_carried_columns + column];
  }
};

/// Stores the sums of all rows that lie in one share and carries out the others.
template <class ExecutionSpace, class Entries, class Operands, bool Conjugate>
struct ShareSpmv {
  using launch = ShareLaunch<ExecutionSpace>;
  using accumulator_type = typename Operands::accumulator_type;

  Entries entries;
  Operands operands;
  Carry<accumulator_type> carry;

  static constexpr int lanes = launch::lanes;
  static constexpr int entries_per_lane = launch::entries_per_lane;

  /// Products lie in scratch memory with a gap after those of each lane: without it, lanes that read theirs
  /// at once would wait for each other at the same banks.
  static KOKKOS_FORCEINLINE_FUNCTION int place(int entry) { return entry + entry / entries_per_lane; }
  static constexpr std::size_t product_bytes = sizeof(accumulator_type) * lanes * (entries_per_lane + 1);
  static constexpr std::size_t scratch_bytes =
      launch::gpu ? product_bytes + lanes * (sizeof(accumulator_type) + sizeof(int)) : 0;

  /// On a GPU. All loads of values and columns are of neighbouring lanes, the products go through scratch
  /// memory, and each lane then sums consecutive ones.
  KOKKOS_INLINE_FUNCTION void device_share(const typename launch::member_type& team, const std::int64_t share,
                                           const std::int64_t begin, const std::int64_t end) const {
    // A copy, as device code has no address of a static member.
    const std::size_t bytes = scratch_bytes;
    char* scratch = static_cast<char*>(team.team_shmem().get_shmem_aligned(bytes, alignof(accumulator_type)));
    auto* products = reinterpret_cast<accumulator_type*>(scratch);
    auto* heads = reinterpret_cast<accumulator_type*>(scratch + product_bytes);
    int* passes = reinterpret_cast<int*>(heads + lanes);
    const int lane = team.team_rank();
    const std::int64_t first = begin + lane * entries_per_lane;
    const std::int64_t last = first + entries_per_lane < end ? first + entries_per_lane : end;

    for (int c = 0; c < Operands::most_columns && operands.has(c); ++c) {
      FILIGREE_UNROLL(8)
      for (int j = 0; j < entries_per_lane; ++j) {
        const int entry = j * lanes + lane;
        if (begin + entry < end)
          products[place(entry)] =
              operands.product(conjugate_if<Conjugate>(entries.values[begin + entry]),
                               static_cast<std::int64_t>(entries.entries[begin + entry]), c);
      }
      team.team_barrier();

      // Of the row that enters from the lane before: its sum here, and whether it passes through to the next.
      accumulator_type head(0);
      bool pass = false;
      // Of the row that begins here and leaves.
      accumulator_type tail(0);
      std::int64_t tail_row = -1;
      if (first < last) {
        std::int64_t row = entries.row_of(first);
        bool begun_here = entries.begins(row, first);
        accumulator_type sum(0);
        for (std::int64_t i = first; i < last; ++i) {
          const std::int64_t row_of_i = i == first ? row : entries.row_after(row, i);
          if (row_of_i != row) {
            if (begun_here)
              operands.store(sum, row, c);
            else
              head = sum;
            row = row_of_i;
            begun_here = true;
            sum = accumulator_type(0);
          }
          sum += products[place(static_cast<int>(i - begin))];
        }
        if (!begun_here) {
          head = sum;
          pass = !entries.ends(row, last);
        } else if (entries.ends(row, last)) {
          operands.store(sum, row, c);
        } else {
          tail = sum;
          tail_row = row;
        }
      }

      // Each head becomes the sum of the heads from there on until the row ends, in log2(lanes) steps.
      heads[lane] = head;
      passes[lane] = pass;
      team.team_barrier();
      for (int distance = 1; distance < lanes; distance *= 2) {
        const bool adds = pass && lane + distance < lanes;
        const accumulator_type other = adds ? heads[lane + distance] : accumulator_type(0);
        const bool other_passes = adds ? passes[lane + distance] != 0 : pass;
        team.team_barrier();
        head += other;
        pass = other_passes;
        heads[lane] = head;
        passes[lane] = pass;
        team.team_barrier();
      }
      if (tail_row >= 0) {
        const accumulator_type sum = lane + 1 < lanes ? tail + heads[lane + 1] : tail;
        if (lane + 1 < lanes && passes[lane + 1] == 0)
          operands.store(sum, tail_row, c);
        else
          carry.tail(share, c) = sum;
      }
      if (lane == 0) carry.head(share, c) = head;
      team.team_barrier();
    }
  }

  /// On a host: one entry after the other.
  KOKKOS_INLINE_FUNCTION void host_share(const std::int64_t share, const std::int64_t begin,
                                         const std::int64_t end) const {
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
    for (std::int64_t i = begin; i < end; ++i) {
      const std::int64_t row_of_i = i == begin ? row : entries.row_after(row, i);
      if (row_of_i != row) {
        finish(true);
        row = row_of_i;
        begun_here = true;
      }
      operands.add(sums, conjugate_if<Conjugate>(entries.values[i]),
                   static_cast<std::int64_t>(entries.entries[i]));
    }
    finish(entries.ends(row, end));
  }

  KOKKOS_INLINE_FUNCTION void operator()(const typename launch::member_type& team) const {
    const std::int64_t share = team.league_rank();
    const std::int64_t begin = share * launch::share;
    const std::int64_t end =
        begin + launch::share < entries.entry_count ? begin + launch::share : entries.entry_count;
    if constexpr (launch::gpu)
      device_share(team, share, begin, end);
    else
      host_share(share, begin, end);
  }
};

/// Adds what the shares carried out, 32 lanes a share, and scales the rows of y that have no entries.
template <class ExecutionSpace, class Entries, class Operands>
struct JoinShares {
  using accumulator_type = typename Operands::accumulator_type;
  using ordinal_type = typename Entries::ordinal_type;
  static constexpr bool gpu = runs_on_gpu_v<ExecutionSpace>;
  static constexpr int lanes = 32;
  /// Shares, or groups of 32 empty rows, a team.
  static constexpr int items_per_team = gpu ? 8 : 64;
  using policy_type = Kokkos::TeamPolicy<ExecutionSpace, Kokkos::LaunchBounds<256, 1>>;
  using member_type = typename policy_type::member_type;

  Entries entries;
  Operands operands;
  Carry<accumulator_type> carry;
  std::int64_t shares;
  const ordinal_type* empty_rows;
  std::int64_t empty_row_count;

  static policy_type policy(const ExecutionSpace& exec, std::int64_t shares, std::int64_t empty_row_count) {
    const std::int64_t items = shares + (empty_row_count + lanes - 1) / lanes;
    return policy_type(exec, static_cast<int>((items + items_per_team - 1) / items_per_team),
                       gpu ? items_per_team : 1, gpu ? lanes : 1);
  }

  /// The row that begins in a share and leaves it, if there is one.
  KOKKOS_FORCEINLINE_FUNCTION void join(const member_type& team, const std::int64_t share) const {
    constexpr std::int64_t size = ShareLaunch<ExecutionSpace>::share;
    const std::int64_t end = (share + 1) * size;
    if (end >= entries.entry_count) return;
    const std::int64_t row = entries.first_row(share + 1);
    if (entries.begins(row, end)) return;
    // The row enters the next share. It begins in this one if it does not enter it, or if it is not its
    // first.
    if (entries.first_row(share) == row && !entries.begins(row, share * size)) return;
    for (int c = 0; c < Operands::most_columns && operands.has(c); ++c) {
      accumulator_type rest(0);
      Kokkos::parallel_reduce(
          Kokkos::ThreadVectorRange(team, lanes),
          [&](const int lane, accumulator_type& sum) {
            for (std::int64_t s = share + 1 + lane; s < shares && entries.first_row(s) == row; s += lanes)
              sum += carry.head(s, c);
          },
          rest);
      Kokkos::single(Kokkos::PerThread(team), [&]() { operands.store(carry.tail(share, c) + rest, row, c); });
    }
  }

  KOKKOS_INLINE_FUNCTION void operator()(const member_type& team) const {
    Kokkos::parallel_for(Kokkos::TeamThreadRange(team, items_per_team), [&](const int i) {
      const std::int64_t item = static_cast<std::int64_t>(team.league_rank()) * items_per_team + i;
      if (item < shares) {
        join(team, item);
        return;
      }
      const std::int64_t first = (item - shares) * lanes;
      Kokkos::parallel_for(Kokkos::ThreadVectorRange(team, lanes), [&](const int lane) {
        const typename Operands::sums_type nothing = {};
        if (first + lane < empty_row_count)
          operands.store(nothing, static_cast<std::int64_t>(empty_rows[first + lane]));
      });
    });
  }
};

/// Modes N and C. Two kernels; the second also scales the rows of y in empty_rows, which have no entries.
template <class ExecutionSpace, class Entries, class Operands, class CarryView, class RowList>
void share_spmv(const ExecutionSpace& exec, const std::string& name, const std::string& join_name, Mode mode,
                const Entries& entries, const Operands& operands, const CarryView& carry_view,
                const RowList& empty_rows) {
  static_assert(Operands::most_columns <= most_carried_columns, "The carry has no room for the columns.");
  using Launch = ShareLaunch<ExecutionSpace>;
  using accumulator_type = typename Operands::accumulator_type;
  const Carry<accumulator_type> carry{reinterpret_cast<accumulator_type*>(carry_view.data())};
  const std::int64_t shares = Launch::shares(entries.entry_count);
  const std::int64_t empty_row_count = static_cast<std::int64_t>(empty_rows.extent(0));
  const auto launch = [&](auto conjugate) {
    using Kernel = ShareSpmv<ExecutionSpace, Entries, Operands, decltype(conjugate)::value>;
    auto policy = typename Launch::policy_type(exec, static_cast<int>(shares), Launch::lanes, 1);
    policy.set_scratch_size(
        0, Kokkos::PerTeam(static_cast<int>(Kernel::scratch_bytes + alignof(accumulator_type))));
    Kokkos::parallel_for(name, policy, Kernel{entries, operands, carry});
  };
  if constexpr (is_complex_v<typename Entries::scalar_type>)
    is_conjugate(mode) ? launch(std::true_type()) : launch(std::false_type());
  else
    launch(std::false_type());
  using Join = JoinShares<ExecutionSpace, Entries, Operands>;
  if (shares < 2 && empty_row_count == 0) return;
  Kokkos::parallel_for(join_name, Join::policy(exec, shares, empty_row_count),
                       Join{entries, operands, carry, shares, empty_rows.data(), empty_row_count});
}

}  // namespace Impl
}  // namespace Filigree

#endif

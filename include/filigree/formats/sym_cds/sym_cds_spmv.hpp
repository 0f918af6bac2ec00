// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <limits>

#include "filigree/core/block_size.hpp"
#include "filigree/core/mode.hpp"
#include "filigree/formats/sym_cds/sym_cds_matrix.hpp"
#include "filigree/formats/sym_cds/sym_cds_terms.hpp"
#include "filigree/product/block_row_product.hpp"

namespace Filigree::Impl {

/// The product on a GPU for one column of x and a compiled block size. A lane multiplies the block rows R, R +
/// plane, R + 2 * plane, ..., where plane is the offset of the march diagonal. It reads the block of that
/// diagonal once, for its own block row, and carries what its transpose adds to the next block row in
/// registers. Blocks of the other diagonals are read a second time for their mirror images, usually from a
/// cache. Without a march diagonal, a lane multiplies one block row and plane is the number of block rows.
///
/// If OtherCount is not 0, there are so many diagonals above the main one besides the march diagonal, which is
/// the last. A lane then keeps their offsets in registers. If it is 0, offsets are read for each block row.
template <class ExecutionSpace, class Terms, class Operands, int BlockSize, int OtherCount>
struct SymCdsMarchSpmv : BlockRowProduct<Terms, Operands, BlockSize> {
  using base = BlockRowProduct<Terms, Operands, BlockSize>;
  using typename base::block_sums_type;
  using typename base::factors_type;
  using typename base::ordinal_type;
  using typename base::scalar_type;
  /// Lanes of the largest team. With block size 1, the lanes of a large team find more of the elements of x in
  /// their L1 cache (see docs/performance.md, "Symmetric CDS").
  static constexpr int largest_team = BlockSize == 1 ? 1024 : 128;
  /// Lanes that a multiprocessor can run, for the block sizes 1 to 8: more would leave too few registers for
  /// the sums and for the loads that keep the memory busy. Narrow values need more lanes, because each load
  /// brings fewer bytes (see docs/performance.md, "Symmetric CDS").
  static constexpr int lanes_of_wide[] = {2048, 1024, 512, 384, 384, 256, 256, 256};
  static constexpr int lanes_of_narrow[] = {2048, 1536, 640, 512, 512, 384, 384, 384};
  static constexpr int lanes_per_sm =
      sizeof(scalar_type) < 8 ? lanes_of_narrow[BlockSize - 1] : lanes_of_wide[BlockSize - 1];
  using launch = RowLaunch<ExecutionSpace, largest_team, lanes_per_sm / largest_team>;

  const scalar_type* first_diagonal;  ///< values of the first diagonal above the main one
  const scalar_type* march_values;    ///< values of the march diagonal
  std::int64_t diagonal_size;         ///< values of a diagonal
  ordinal_type diagonals;             ///< diagonals above the main one
  ordinal_type march_index;           ///< index of the march diagonal, or -1 if there is none
  ordinal_type plane;
  ordinal_type last_block;  ///< the last block row
  int length = 1;           ///< block rows per lane
  int team_size = largest_team;
  int tiles = 1;  ///< teams per plane

  SymCdsMarchSpmv(const Terms& terms, const Operands& operands, const MarchDiagonal& march)
      : base{terms, operands},
        first_diagonal(terms.diagonal(0)),
        march_values(terms.diagonal(march.index < 0 ? 0 : march.index)),
        diagonal_size(terms.component_position(BlockPlace::own, BlockSize, 0, BlockSize)),
        diagonals(static_cast<ordinal_type>(terms.diagonals)),
        march_index(static_cast<ordinal_type>(march.index)),
        plane(static_cast<ordinal_type>(march.index < 0 ? terms.y_blocks : march.offset)),
        last_block(static_cast<ordinal_type>(terms.y_blocks - 1)) {
    // The lanes after the end of the plane have no work: at most an eighth of them.
    while (team_size > 128 && (-static_cast<std::int64_t>(plane) & (team_size - 1)) * 8 > plane)
      team_size /= 2;
    tiles = static_cast<int>((static_cast<std::int64_t>(plane) + team_size - 1) / team_size);
  }

  void launch_on(const ExecutionSpace& exec, const std::string& name) {
    const std::int64_t planes = (this->terms.y_blocks + plane - 1) / plane;
    // A multiprocessor of current GPUs has room for 2048 lanes.
    length = march_length(planes, std::max(1, exec.concurrency() / 2048 * (lanes_per_sm / team_size)));
    const std::int64_t teams = tiles * ((planes + length - 1) / length);
    launch_product(exec, name, launch::policy(exec, teams * team_size, team_size), *this);
  }

  /// The length of a march of `planes` block rows in all. A short march reads more blocks of the march diagonal
  /// twice. A long one may leave multiprocessors without work at the end. Both are counted in block rows that
  /// one lane multiplies. If the planes are small, long marches of all teams together read from many places of
  /// memory at once, which is slower with block size 1 (see docs/performance.md, "Symmetric CDS").
  int march_length(std::int64_t planes, std::int64_t resident_teams) const {
    constexpr double start = 0.5;
    const int longest = BlockSize == 1 && plane < 16384 ? 4 : 128;
    int best = 1;
    double least = std::numeric_limits<double>::max();
    for (int candidate = 1; candidate <= longest && candidate <= planes; ++candidate) {
      const std::int64_t teams = tiles * ((planes + candidate - 1) / candidate);
      const std::int64_t waves = (teams + resident_teams - 1) / resident_teams;
      const double steps = static_cast<double>(waves) * (candidate + start);
      if (steps < least) {
        least = steps;
        best = candidate;
      }
    }
    return best;
  }

  KOKKOS_INLINE_FUNCTION void operator()(const typename launch::member_type& team) const {
    const int part = team.league_rank() / tiles;
    const int tile = team.league_rank() - part * tiles;
    const ordinal_type first_of_part = static_cast<ordinal_type>(part * length) * plane;
    const ordinal_type in_plane = static_cast<ordinal_type>(tile) * team_size + team.team_rank();
    if (in_plane < plane && in_plane <= last_block - first_of_part) march_from(first_of_part + in_plane);
  }

  /// The product of the block rows first, first + plane, ..., at most `length` of them.
  KOKKOS_FORCEINLINE_FUNCTION void march_from(const ordinal_type first) const {
    const bool marches = OtherCount > 0 || march_index >= 0;
    ordinal_type offsets[OtherCount > 0 ? OtherCount : 1];
    for (int u = 0; u < OtherCount; ++u)
      offsets[u] = this->terms.offsets[u];
    block_sums_type carried;
    set_to_zero(carried);
    factors_type own;
    if (marches && first >= plane) {
      this->load_x(own, first - plane);
      this->template add_block<BlockPlace::mirrored, false>(carried, march_values + (first - plane), own);
    }
    this->load_x(own, first);
    // The march ends with the last block row that is not after this one.
    const std::int64_t longest = first + static_cast<std::int64_t>(length - 1) * plane;
    const auto end = static_cast<ordinal_type>(longest < last_block ? longest : last_block);
    for (ordinal_type block_row = first;; block_row += plane) {
      block_sums_type sums;
      FILIGREE_UNROLL(8)
      for (int i = 0; i < BlockSize; ++i)
        sums[i] = carried[i];
      add_others<BlockPlace::mirrored>(sums, block_row, offsets);
      this->template add_block<BlockPlace::packed, true>(sums, this->terms.values + block_row, own);
      add_others<BlockPlace::own>(sums, block_row, offsets);
      if (marches) {
        factors_type next;
        this->load_x(next, block_row + within(block_row, plane));
        set_to_zero(carried);
        add_march_block(sums, carried, march_values + block_row, own, next);
        FILIGREE_UNROLL(8)
        for (int i = 0; i < BlockSize; ++i)
          own[i] = next[i];
      }
      this->store(sums, block_row);
      if (end - block_row < plane) return;
    }
  }

  /// The offset of a diagonal, or less if the block of that block row would lie after the last block. Such a
  /// block holds only zeros, so any elements of x will do.
  KOKKOS_FORCEINLINE_FUNCTION ordinal_type within(ordinal_type block_row, ordinal_type offset) const {
    return offset < last_block - block_row ? offset : last_block - block_row;
  }

  /// Adds the blocks of all diagonals but the march diagonal, on one side of the main diagonal: above it if
  /// Place is own, below it if Place is mirrored. They ascend by block of x. `own_offsets` are the offsets if
  /// OtherCount is not 0.
  template <BlockPlace Place, int Size>
  KOKKOS_FORCEINLINE_FUNCTION void add_others(block_sums_type& sums, const ordinal_type block_row,
                                              const ordinal_type (&own_offsets)[Size]) const {
    constexpr bool descending = Place == BlockPlace::mirrored;
    if constexpr (OtherCount > 0) {
      FILIGREE_UNROLL(8)
      for (int u = 0; u < OtherCount; ++u) {
        const int d = descending ? OtherCount - 1 - u : u;
        add_other<Place>(sums, block_row, own_offsets[d], first_diagonal + d * diagonal_size);
      }
    } else {
      if constexpr (BlockSize <= 2) {
        FILIGREE_UNROLL(2)
        for (ordinal_type u = 0; u < diagonals; ++u)
          add_other_number<Place>(sums, block_row, u);
      } else {
        FILIGREE_UNROLL(1)
        for (ordinal_type u = 0; u < diagonals; ++u)
          add_other_number<Place>(sums, block_row, u);
      }
    }
  }

  /// Adds diagonal u, counted by ascending block of x, unless it is the march diagonal.
  template <BlockPlace Place>
  KOKKOS_FORCEINLINE_FUNCTION void add_other_number(block_sums_type& sums, const ordinal_type block_row,
                                                    const ordinal_type u) const {
    const ordinal_type d = Place == BlockPlace::mirrored ? diagonals - 1 - u : u;
    if (d == march_index) return;
    add_other<Place>(sums, block_row, this->terms.offsets[d], first_diagonal + d * diagonal_size);
  }

  /// Adds the block of one diagonal.
  template <BlockPlace Place>
  KOKKOS_FORCEINLINE_FUNCTION void add_other(block_sums_type& sums, const ordinal_type block_row,
                                             const ordinal_type offset, const scalar_type* values) const {
    factors_type factors;
    if constexpr (Place == BlockPlace::mirrored) {
      if (block_row < offset) return;
      this->load_x(factors, block_row - offset);
      this->template add_block<Place, false>(sums, values + (block_row - offset), factors);
    } else {
      this->load_x(factors, block_row + within(block_row, offset));
      this->template add_block<Place, false>(sums, values + block_row, factors);
    }
  }

  static KOKKOS_FORCEINLINE_FUNCTION void set_to_zero(block_sums_type& sums) {
    FILIGREE_UNROLL(8)
    for (int i = 0; i < BlockSize; ++i)
      sums[i] = typename base::accumulator_type(0);
  }

  /// sums += block * next, and carried += transposed block * own.
  KOKKOS_FORCEINLINE_FUNCTION void add_march_block(block_sums_type& sums, block_sums_type& carried,
                                                   const scalar_type* KOKKOS_RESTRICT value,
                                                   const factors_type& own, const factors_type& next) const {
    FILIGREE_UNROLL(8)
    for (int i = 0; i < BlockSize; ++i) {
      FILIGREE_UNROLL(8)
      for (int j = 0; j < BlockSize; ++j) {
        constexpr BlockPlace place = BlockPlace::own;
        const scalar_type a = load_once(value + this->terms.component_position(place, i, j, BlockSize));
        Operands::add_unless_zero(sums[i], this->terms.value(place, i, j, a), next[j]);
        Operands::add_unless_zero(carried[j], this->terms.value(BlockPlace::mirrored, j, i, a), own[i]);
      }
    }
  }
};

/// The product of a symmetric matrix that is read as it is, or conjugated if Conjugate is true.
template <bool Conjugate, bool Hermitian, class ExecutionSpace, class S, class O, class D, class M, class Z,
          class Operands>
void symmetric_spmv(const ExecutionSpace& exec, const std::string& name, const SymCdsMatrix<S, O, D, M, Z>& A,
                    const Operands& operands) {
  using Terms = SymCdsTerms<S, O, Conjugate, Hermitian>;
  const Terms terms(A);
  constexpr bool can_march = runs_on_gpu_v<ExecutionSpace> && Operands::most_columns == 1;
  with_block_size<can_march ? largest_compiled_block_size : 0>(A.block_size(), [&](auto block_size) {
    constexpr int size = decltype(block_size)::value;
    if constexpr (size > 0) {
      const auto launch = [&](auto others) {
        SymCdsMarchSpmv<ExecutionSpace, Terms, Operands, size, decltype(others)::value>(terms, operands,
                                                                                        A.march())
            .launch_on(exec, name);
      };
      // Complex numbers have enough loads in flight without unrolling over diagonals.
      if constexpr (!is_complex_v<S>)
        if (A.march().index >= 1 && A.march().index == terms.diagonals - 1 && terms.diagonals <= 3) {
          terms.diagonals == 2 ? launch(std::integral_constant<int, 1>())
                               : launch(std::integral_constant<int, 2>());
          return;
        }
      launch(std::integral_constant<int, 0>());
    } else {
      block_terms_spmv(exec, name, terms, operands);
    }
  });
}

/// The product of a SymCdsMatrix. The arguments are checked, and A has entries.
template <class ExecutionSpace, class S, class O, class D, class M, class Z, class Operands>
void spmv_kernel(const ExecutionSpace& exec, const std::string& name, Mode mode,
                 const SymCdsMatrix<S, O, D, M, Z>& A, const Operands& operands) {
  if constexpr (!is_complex_v<S>) {
    symmetric_spmv<false, false>(exec, name, A, operands);
  } else {
    // The transpose of a symmetric matrix is the matrix, and that of a Hermitian one is its conjugate.
    const bool hermitian = A.symmetry() == Symmetry::hermitian;
    if ((hermitian && is_transpose(mode)) != is_conjugate(mode))
      hermitian ? symmetric_spmv<true, true>(exec, name, A, operands)
                : symmetric_spmv<true, false>(exec, name, A, operands);
    else
      hermitian ? symmetric_spmv<false, true>(exec, name, A, operands)
                : symmetric_spmv<false, false>(exec, name, A, operands);
  }
}

}  // namespace Filigree::Impl

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>

#include "filigree/core/block_size.hpp"
#include "filigree/core/gpu_properties.hpp"
#include "filigree/core/mode.hpp"
#include "filigree/formats/dict_cds/dict_cds_matrix.hpp"
#include "filigree/product/block_row_product.hpp"

namespace Filigree::Impl {

/// The block diagonals of a product with a DictCdsMatrix, or with its transpose if Transpose is true. Terms
/// ascend by their block of x.
template <class Scalar_, class Ordinal_, class Index, bool Transpose, bool Conjugate>
struct DictCdsTerms : BlockTerms<Scalar_, Ordinal_> {
  using base = BlockTerms<Scalar_, Ordinal_>;
  using Scalar = Scalar_;
  using base::diagonals;
  static constexpr BlockPlace place = Transpose ? BlockPlace::mirrored : BlockPlace::own;

  const Index* indices;
  std::int64_t block_rows;

  template <class Matrix>
  DictCdsTerms(const Matrix& A, const Index* indices_)
      : base(A, Transpose), indices(indices_), block_rows(Transpose ? base::x_blocks : base::y_blocks) {
    // The elements of a block are neighbours.
    base::stride = 1;
  }

  /// The diagonal of term k.
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t diagonal_of_term(std::int64_t k) const {
    return Transpose ? diagonals - 1 - k : k;
  }
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t count() const { return diagonals; }
  KOKKOS_FORCEINLINE_FUNCTION BlockTerm<Index> term(std::int64_t k) const {
    const std::int64_t d = diagonal_of_term(k);
    const auto offset = static_cast<std::int64_t>(this->offsets[d]);
    return {indices + d * block_rows, Transpose ? -offset : offset, place};
  }
  KOKKOS_FORCEINLINE_FUNCTION const Scalar* block(const BlockTerm<Index>& term,
                                                  std::int64_t block_row) const {
    const std::int64_t b = this->block_size;
    return this->values + static_cast<std::int64_t>(*term.stored(block_row)) * b * b;
  }
  /// Neighbouring items are neighbouring rows, so that stores to y are neighbours.
  KOKKOS_FORCEINLINE_FUNCTION void row_of_item(std::int64_t item, std::int64_t& block_row, int& i) const {
    block_row = quotient<Ordinal_>(item, this->block_size);
    i = static_cast<int>(item - block_row * this->block_size);
  }
  KOKKOS_FORCEINLINE_FUNCTION Scalar value(BlockPlace, int, int, const Scalar& value) const {
    return conjugate_if<Conjugate>(value);
  }
};

/// The product for one column of x and a compiled block size: one lane per block of y. If IsShared is true,
/// each team of a GPU copies the dictionary to its shared memory first, and multiplies many blocks of y.
template <class ExecutionSpace, class Terms, class Operands, int BlockSize, bool IsShared>
struct DictCdsBlockRowSpmv : BlockRowProduct<Terms, Operands, BlockSize> {
  using base = BlockRowProduct<Terms, Operands, BlockSize>;
  using typename base::block_sums_type;
  using typename base::factors_type;
  using typename base::ordinal_type;
  using typename base::scalar_type;
  /// Teams that a multiprocessor must be able to run: more would leave too few registers for the sums.
  static constexpr int teams_per_sm = BlockSize == 1 ? 8 : BlockSize == 2 ? 5 : BlockSize <= 4 ? 4 : 2;
  using launch = RowLaunch<ExecutionSpace, 256, teams_per_sm>;
  using member_type = typename launch::member_type;
  static constexpr int block_values = BlockSize * BlockSize;
  /// Positions from a block in shared memory to the next. It is no multiple of the number of banks, so that
  /// lanes with different blocks read from different banks.
  static constexpr int pitch = BlockSize == 1 ? 1 : block_values + (BlockSize % 2 == 0 ? 2 : 1);
  /// The most bytes of shared memory that the dictionary may take. Kokkos allows a team 40 KB.
  static constexpr std::int64_t most_shared_bytes = 40 * 1024 - 64;
  /// Further bytes of shared memory of a team: for the alignment of the dictionary, for Kokkos, which needs a double per
  /// lane and two per team, and for the GPU, which needs 1 KB per team.
  static constexpr std::int64_t other_shared_bytes = 16 + 8 * (launch::team_size + 2) + 1024;
  /// Diagonals whose block numbers are loaded together. The code for each of them is compiled separately, so
  /// there is one on a host, which hardly gains by more.
  static constexpr int batch = !runs_on_gpu_v<ExecutionSpace> ? 1 : BlockSize == 1 ? 8 : 4;

  int blocks;  ///< distinct blocks
  int count;   ///< diagonals
  ordinal_type x_blocks;

  DictCdsBlockRowSpmv(const Terms& terms, const Operands& operands, int blocks_)
      : base{terms, operands},
        blocks(blocks_),
        count(static_cast<int>(terms.diagonals)),
        x_blocks(static_cast<ordinal_type>(terms.x_blocks)) {}

  static KOKKOS_INLINE_FUNCTION constexpr std::int64_t shared_bytes(std::int64_t blocks) {
    return blocks * pitch * static_cast<std::int64_t>(sizeof(scalar_type));
  }

  /// Whether teams_per_sm teams with a dictionary of so many blocks fit into a multiprocessor. Kokkos throws if they do
  /// not.
  static bool fits_shared_memory(const ExecutionSpace& exec, std::int64_t blocks) {
    const std::int64_t bytes = shared_bytes(blocks);
    return bytes <= most_shared_bytes &&
           teams_per_sm * (bytes + other_shared_bytes) <= shared_bytes_per_multiprocessor(exec);
  }

  void launch_on(const ExecutionSpace& exec, const std::string& name) const {
    auto policy = launch::policy(exec, this->terms.y_blocks);
    if constexpr (IsShared) {
      // A multiprocessor of current GPUs has room for 2048 lanes.
      const int resident = std::max(1, exec.concurrency() / 2048 * teams_per_sm);
      policy =
          typename launch::policy_type(exec, std::min(resident, policy.league_size()), launch::team_size, 1);
      policy.set_scratch_size(0, Kokkos::PerTeam(static_cast<int>(shared_bytes(blocks)) + 16));
    }
    launch_product(exec, name, policy, *this);
  }

  KOKKOS_INLINE_FUNCTION void operator()(const member_type& team) const {
    if constexpr (IsShared) {
      auto* const shared = static_cast<scalar_type*>(team.team_scratch(0).get_shmem_aligned(
          static_cast<std::size_t>(shared_bytes(blocks)), alignof(scalar_type)));
      for (int k = team.team_rank(); k < blocks * block_values; k += team.team_size())
        shared[k / block_values * pitch + k % block_values] = this->terms.values[k];
      team.team_barrier();
      const std::int64_t step = static_cast<std::int64_t>(team.league_size()) * team.team_size();
      for (std::int64_t block =
               static_cast<std::int64_t>(team.league_rank()) * team.team_size() + team.team_rank();
           block < this->terms.y_blocks; block += step)
        block_row_product(shared, static_cast<ordinal_type>(block));
    } else {
      launch::for_each_row(team, this->terms.y_blocks, [&](const std::int64_t block) {
        block_row_product(this->terms.values, static_cast<ordinal_type>(block));
      });
    }
  }

  /// The product of a block of y, with the dictionary at `dictionary`.
  KOKKOS_FORCEINLINE_FUNCTION void block_row_product(const scalar_type* dictionary,
                                                     const ordinal_type block) const {
    block_sums_type sums;
    FILIGREE_UNROLL(8)
    for (int i = 0; i < BlockSize; ++i)
      sums[i] = typename base::accumulator_type(0);
    int k = 0;
    if constexpr (BlockSize <= 4) {
      for (; k + batch <= count; k += batch)
        add_terms<batch, true>(sums, dictionary, block, k);
      add_last_terms<batch - 1>(sums, dictionary, block, k);
    } else {
      // As fast for large blocks, and less to compile.
      for (; k < count; k += batch)
        add_terms<batch, false>(sums, dictionary, block, k);
    }
    this->store(sums, block);
  }

  /// Adds the terms from k to the last one, at most Most of them, in one batch of exactly that size.
  template <int Most>
  KOKKOS_FORCEINLINE_FUNCTION void add_last_terms(block_sums_type& sums, const scalar_type* dictionary,
                                                  const ordinal_type block, const int k) const {
    if constexpr (Most > 0) {
      if (count - k == Most)
        add_terms<Most, true>(sums, dictionary, block, k);
      else
        add_last_terms<Most - 1>(sums, dictionary, block, k);
    }
  }

  /// Adds Count terms, beginning with term k, or those of them that exist if Whole is false. The numbers of
  /// their blocks are loaded together.
  template <int Count, bool Whole>
  KOKKOS_FORCEINLINE_FUNCTION void add_terms(block_sums_type& sums, const scalar_type* dictionary,
                                             const ordinal_type block, const int k) const {
    constexpr bool transpose = Terms::place == BlockPlace::mirrored;
    constexpr int step = IsShared ? pitch : block_values;
    ordinal_type x_blocks_of_terms[Count];
    int numbers[Count];
    FILIGREE_UNROLL(8)
    for (int u = 0; u < Count; ++u) {
      const bool exists = Whole || k + u < count;
      const int d = static_cast<int>(this->terms.diagonal_of_term(exists ? k + u : 0));
      const ordinal_type offset = transpose ? -this->terms.offsets[d] : this->terms.offsets[d];
      const bool is_inside = exists && offset >= -block && offset < x_blocks - block;
      x_blocks_of_terms[u] = is_inside ? block + offset : -1;
      const ordinal_type stored = transpose ? x_blocks_of_terms[u] : block;
      numbers[u] = is_inside ? static_cast<int>(this->terms.indices[d * this->terms.block_rows + stored]) : 0;
    }
    FILIGREE_UNROLL(8)
    for (int u = 0; u < Count; ++u) {
      if (x_blocks_of_terms[u] < 0) continue;
      factors_type factors;
      this->load_x(factors, x_blocks_of_terms[u]);
      this->template add_block<Terms::place, false>(sums, dictionary + numbers[u] * step, factors);
    }
  }
};

/// The product of a matrix or of its transpose.
template <bool Transpose, bool Conjugate, class ExecutionSpace, class S, class O, class D, class M, class Z,
          class Operands>
void dictionary_spmv(const ExecutionSpace& exec, const std::string& name,
                     const DictCdsMatrix<S, O, D, M, Z>& A, const Operands& operands) {
  with_indices(A, [&](const auto* indices) {
    using Index = std::decay_t<decltype(*indices)>;
    using Terms = DictCdsTerms<S, O, Index, Transpose, Conjugate>;
    const Terms terms(A, indices);
    const int blocks = A.numBlocks();
    with_block_size<Operands::most_columns == 1 ? largest_compiled_block_size : 0>(
        A.block_size(), [&](auto block_size) {
          constexpr int size = decltype(block_size)::value;
          if constexpr (size > 0) {
            using Shared =
                DictCdsBlockRowSpmv<ExecutionSpace, Terms, Operands, size, runs_on_gpu_v<ExecutionSpace>>;
            using Direct = DictCdsBlockRowSpmv<ExecutionSpace, Terms, Operands, size, false>;
            if (runs_on_gpu_v<ExecutionSpace> && Shared::fits_shared_memory(exec, blocks))
              Shared(terms, operands, blocks).launch_on(exec, name);
            else
              Direct(terms, operands, blocks).launch_on(exec, name);
          } else {
            BlockTermsRowSpmv<ExecutionSpace, Terms, Operands>{terms, operands}.launch_on(exec, name);
          }
        });
  });
}

/// The product of a DictCdsMatrix. The arguments are checked, and A has entries.
template <class ExecutionSpace, class S, class O, class D, class M, class Z, class Operands>
void spmv_kernel(const ExecutionSpace& exec, const std::string& name, Mode mode,
                 const DictCdsMatrix<S, O, D, M, Z>& A, const Operands& operands) {
  operands.with_mode(mode, [&](auto transpose, auto conjugate) {
    dictionary_spmv<decltype(transpose)::value, decltype(conjugate)::value>(exec, name, A, operands);
  });
}

}  // namespace Filigree::Impl

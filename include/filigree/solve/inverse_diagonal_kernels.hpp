// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The kernels of inverse_diagonal() and inverse_diagonal_blocks().
#pragma once

#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>

#include "filigree/core/block_size.hpp"
#include "filigree/core/error.hpp"
#include "filigree/core/launch.hpp"
#include "filigree/core/read_view.hpp"
#include "filigree/core/region.hpp"
#include "filigree/core/scalar.hpp"

namespace Filigree {

/// The largest block size of inverse_diagonal_blocks().
constexpr int largest_inverse_block_size = 32;

namespace Impl {

/// What an inversion found: the number of elements or blocks without an inverse, and the first of them.
template <class MemorySpace>
struct SingularBlocks {
  /// Their number, and the largest difference of `blocks` and the number of one of them: both 0 at first.
  Kokkos::View<std::int64_t[2], MemorySpace> found;
  std::int64_t blocks;

  template <class ExecutionSpace>
  SingularBlocks(const ExecutionSpace& exec, std::int64_t blocks_)
      : found(Kokkos::view_alloc(exec, label("singular", "blocks", ""))), blocks(blocks_) {}

  KOKKOS_FORCEINLINE_FUNCTION void add(std::int64_t block) const {
    Kokkos::atomic_add(&found(0), std::int64_t(1));
    Kokkos::atomic_fetch_max(&found(1), blocks - block);
  }
  /// Fences, and returns the first of the blocks, or -1 if there are none.
  template <class ExecutionSpace>
  std::int64_t first(const ExecutionSpace& exec) const {
    const auto host = host_copy(exec, found);
    return host(0) == 0 ? -1 : blocks - host(1);
  }
  /// Fences, and throws std::runtime_error if there are some. A block has `size` rows, but the last one ends with
  /// row rows - 1.
  template <class ExecutionSpace>
  void check(const ExecutionSpace& exec, const char* function, std::int64_t size, std::int64_t rows) const {
    const auto host = host_copy(exec, found);
    if (host(0) == 0) return;
    const std::int64_t block = blocks - host(1);
    const std::int64_t first = block * size;
    const std::int64_t last = first + size < rows ? first + size - 1 : rows - 1;
    if (size == 1)
      fail<std::runtime_error>(function, ": the diagonal element of row ", first,
                               " or its inverse, as it is stored, is 0 or not finite. This holds for ",
                               host(0), " of ", rows, " rows.");
    fail<std::runtime_error>(
        function, ": block ", block, " on the diagonal (rows ", first, " to ", last,
        ") is singular, or it or its inverse, as it is stored, is not finite. This holds for ", host(0),
        " of ", blocks, " blocks.");
  }
};

/// Whether a number is neither NaN nor infinite.
template <class T>
KOKKOS_FORCEINLINE_FUNCTION bool is_finite_number(const T& value) {
  const auto size = magnitude(value);
  return size <= RealTraits<real_t<T>>::largest;
}

/// inverse = 1 / diagonal. Both may be the same memory.
template <class Scalar, class Stored, class MemorySpace>
struct InvertElements {
  const Scalar* diagonal;
  Stored* inverse;
  SingularBlocks<MemorySpace> singular;

  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t row) const {
    using Sum = wider_t<Scalar, Stored>;
    const Scalar element = diagonal[row];
    const Stored stored = convert_scalar<Stored>(Sum(Sum(1) / Sum(widen<Sum>(element))));
    const Sum kept = Sum(widen<Sum>(stored));
    if (element == Scalar(0) || !is_finite_number(kept) || kept == Sum(0)) singular.add(row);
    inverse[row] = stored;
  }
};

/// Where the blocks of an inversion and their inverses lie, and what they have in common.
template <class Scalar_, class Stored_, class MemorySpace>
struct BlocksToInvert {
  using Scalar = Scalar_;
  using Stored = Stored_;
  using Sum = wider_t<Scalar, Stored>;
  using Real = real_t<Sum>;
  static constexpr Real epsilon = static_cast<Real>(std::numeric_limits<sum_t<Scalar>>::epsilon());

  const Scalar* values;         ///< of the blocks, as in a CDS matrix
  std::int64_t stride;          ///< from a column of a block to the next
  Stored* inverse;              ///< values of the inverses; may be those of the blocks
  std::int64_t inverse_stride;  ///< from a column of an inverse to the next
  std::int64_t count;           ///< of the blocks
  std::int64_t rows;            ///< of the matrix; the last block may have fewer than the others
  int block_size;               ///< b
  SingularBlocks<MemorySpace> singular;

  KOKKOS_FORCEINLINE_FUNCTION int rows_of(std::int64_t block) const {
    const std::int64_t rest = rows - block * block_size;
    return rest < block_size ? static_cast<int>(rest) : block_size;
  }
  /// Element (i, j) of a block. Elements after the last row or column are those of the identity.
  KOKKOS_FORCEINLINE_FUNCTION Sum padded(std::int64_t block, int own_rows, int i, int j) const {
    if (i < own_rows && j < own_rows) return Sum(widen<Sum>(values[j * stride + block * block_size + i]));
    return Sum(i == j ? 1 : 0);
  }
  /// Stores element (i, j) of an inverse.
  KOKKOS_FORCEINLINE_FUNCTION void store(std::int64_t block, int i, int j, const Sum& value) const {
    inverse[j * inverse_stride + block * block_size + i] = convert_scalar<Stored>(value);
  }
  /// Whether a pivot is large enough in a block with this largest element. False for NaN.
  KOKKOS_FORCEINLINE_FUNCTION bool is_large_enough(const Sum& pivot, Real largest) const {
    return magnitude(pivot) > static_cast<Real>(block_size) * epsilon * largest && is_finite_number(pivot);
  }
  /// Whether a number is finite in the type of the inverses.
  static KOKKOS_FORCEINLINE_FUNCTION bool is_finite_as_stored(const Sum& value) {
    return is_finite_number(Sum(widen<Sum>(convert_scalar<Stored>(value))));
  }
  static KOKKOS_FORCEINLINE_FUNCTION void exchange_if(bool condition, Sum& p, Sum& q) {
    const Sum other = p;
    p = condition ? q : p;
    q = condition ? other : q;
  }
};

/// Inverts blocks by Gauss-Jordan elimination with row pivoting: one lane per block, which it has in registers on a
/// GPU if it is small. The block is padded to Size rows by rows of the identity. An exchange of two rows selects one of
/// two numbers for each element, because registers have no index.
template <class Blocks, int Size>
struct InvertByOneLane {
  using Sum = typename Blocks::Sum;
  using Real = typename Blocks::Real;

  Blocks blocks;

  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t block) const {
    const int own_rows = blocks.rows_of(block);
    Sum a[Size][Size];
    // Bit i of exchanged[k]: whether the rows k and i were exchanged in step k.
    std::uint32_t exchanged[Size];
    Real largest(0);
    FILIGREE_UNROLL(8)
    for (int j = 0; j < Size; ++j)
      FILIGREE_UNROLL(8)
    for (int i = 0; i < Size; ++i) {
      a[i][j] = blocks.padded(block, own_rows, i, j);
      const Real size = magnitude(a[i][j]);
      if (i < own_rows && j < own_rows) largest = size > largest || size != size ? size : largest;
    }
    bool is_regular = is_finite_number(largest);
    FILIGREE_UNROLL(8)
    for (int k = 0; k < Size; ++k) {
      exchanged[k] = 0;
      FILIGREE_UNROLL(8)
      for (int i = k + 1; i < Size; ++i) {
        const bool larger = magnitude(a[i][k]) > magnitude(a[k][k]);
        exchanged[k] |= static_cast<std::uint32_t>(larger) << i;
        FILIGREE_UNROLL(8)
        for (int j = 0; j < Size; ++j)
          Blocks::exchange_if(larger, a[k][j], a[i][j]);
      }
      is_regular = is_regular && (k >= own_rows || blocks.is_large_enough(a[k][k], largest));
      const Sum inverse = Sum(1) / a[k][k];
      FILIGREE_UNROLL(8)
      for (int j = 0; j < Size; ++j) {
        if (j == k) continue;
        a[k][j] *= inverse;
        FILIGREE_UNROLL(8)
        for (int i = 0; i < Size; ++i)
          if (i != k) a[i][j] -= a[i][k] * a[k][j];
      }
      FILIGREE_UNROLL(8)
      for (int i = 0; i < Size; ++i)
        a[i][k] = i == k ? inverse : Sum(-(a[i][k] * inverse));
    }
    FILIGREE_UNROLL(8)
    for (int j = 0; j < Size; ++j)
      FILIGREE_UNROLL(8)
    for (int i = 0; i < Size; ++i)
      is_regular = is_regular && Blocks::is_finite_as_stored(a[i][j]);
    if (!is_regular) {
      blocks.singular.add(block);
      return;
    }
    FILIGREE_UNROLL(8)
    for (int k = Size - 1; k >= 0; --k)
      FILIGREE_UNROLL(8)
    for (int i = Size - 1; i > k; --i)
      FILIGREE_UNROLL(8)
    for (int r = 0; r < Size; ++r)
      Blocks::exchange_if((exchanged[k] >> i & 1) != 0, a[r][k], a[r][i]);
    FILIGREE_UNROLL(8)
    for (int j = 0; j < Size; ++j)
      FILIGREE_UNROLL(8)
    for (int i = 0; i < Size; ++i)
      if (i < own_rows && j < blocks.block_size) blocks.store(block, i, j, j < own_rows ? a[i][j] : Sum(0));
  }
};

/// The same on a GPU for larger blocks: a thread of a team inverts one block, and each of its vector lanes has one
/// column of up to Size rows in registers. In step k the lane of column k writes it to scratch memory, where all lanes
/// read it.
///
/// Variables of operator() belong to a lane, and ThreadVectorRange gives each lane one index, because there are as
/// many lanes as indices. The end of such a loop lets the lanes see what the others wrote in it. Two columns of
/// scratch memory are used in turns, so that no lane writes what another one still reads.
template <class ExecutionSpace, class Blocks, int Size>
struct InvertByLanes {
  using Sum = typename Blocks::Sum;
  using Real = typename Blocks::Real;
  static constexpr int lanes = Size <= 16 ? 16 : 32;
  static constexpr int threads_per_team = 128 / lanes;
  using policy_type = Kokkos::TeamPolicy<ExecutionSpace, Kokkos::LaunchBounds<128, 1>>;
  using member_type = typename policy_type::member_type;
  static constexpr std::size_t scratch_bytes = 2 * Size * sizeof(Sum);

  Blocks blocks;

  void launch_on(const ExecutionSpace& exec, const std::string& name) const {
    const std::int64_t teams = (blocks.count + threads_per_team - 1) / threads_per_team;
    policy_type policy(exec, static_cast<int>(teams), threads_per_team, lanes);
    policy.set_scratch_size(0, Kokkos::PerThread(static_cast<int>(scratch_bytes + 16)));
    Kokkos::parallel_for(name, policy, *this);
  }

  KOKKOS_INLINE_FUNCTION void operator()(const member_type& team) const {
    const std::int64_t block =
        static_cast<std::int64_t>(team.league_rank()) * threads_per_team + team.team_rank();
    if (block >= blocks.count) return;
    Sum* const shared = static_cast<Sum*>(
        team.thread_scratch(0).get_shmem_aligned(static_cast<std::size_t>(scratch_bytes), alignof(Sum)));
    const int own_rows = blocks.rows_of(block);
    int lane = 0;
    Sum column[Size];
    Real largest(0);
    Kokkos::parallel_reduce(
        Kokkos::ThreadVectorRange(team, lanes),
        [&](const int j, Real& most) {
          lane = j;
          FILIGREE_UNROLL(32)
          for (int i = 0; i < Size; ++i) {
            column[i] = blocks.padded(block, own_rows, i, j);
            const Real size = magnitude(column[i]);
            if (i < own_rows && j < own_rows) most = size > most || size != size ? size : most;
          }
        },
        Kokkos::Max<Real>(largest));
    bool is_regular = is_finite_number(largest);
    // The row with which row k was exchanged in step k.
    int exchanges[Size] = {};
    FILIGREE_UNROLL(32)
    for (int k = 0; k < Size; ++k) {
      // All lanes agree. The other steps would not change anything.
      if (k >= own_rows) continue;
      Sum* const pivots = shared + k % 2 * Size;
      Kokkos::parallel_for(Kokkos::ThreadVectorRange(team, lanes), [&](const int j) {
        if (j == k) {
          FILIGREE_UNROLL(32)
          for (int i = 0; i < Size; ++i)
            pivots[i] = column[i];
        }
      });
      Sum factors[Size];
      FILIGREE_UNROLL(32)
      for (int i = 0; i < Size; ++i)
        factors[i] = pivots[i];
      int p = k;
      Real best = magnitude(factors[k]);
      FILIGREE_UNROLL(32)
      for (int i = k + 1; i < Size; ++i) {
        const Real size = magnitude(factors[i]);
        p = size > best ? i : p;
        best = size > best ? size : best;
      }
      exchanges[k] = p;
      if (p != k) {
        FILIGREE_UNROLL(32)
        for (int i = k + 1; i < Size; ++i) {
          Blocks::exchange_if(i == p, factors[k], factors[i]);
          Blocks::exchange_if(i == p, column[k], column[i]);
        }
      }
      is_regular = is_regular && blocks.is_large_enough(factors[k], largest);
      const Sum inverse = Sum(1) / factors[k];
      const Sum scaled = lane == k ? inverse : Sum(column[k] * inverse);
      FILIGREE_UNROLL(32)
      for (int i = 0; i < Size; ++i)
        column[i] = i == k ? scaled : Sum((lane == k ? Sum(0) : column[i]) - factors[i] * scaled);
    }
    bool is_kept = true;
    FILIGREE_UNROLL(32)
    for (int i = 0; i < Size; ++i)
      is_kept = is_kept && (lane >= own_rows || Blocks::is_finite_as_stored(column[i]));
    int lanes_with_infinity = 0;
    Kokkos::parallel_reduce(
        Kokkos::ThreadVectorRange(team, lanes), [&](const int, int& sum) { sum += is_kept ? 0 : 1; },
        lanes_with_infinity);
    if (!is_regular || lanes_with_infinity > 0) {
      Kokkos::single(Kokkos::PerThread(team), [&]() { blocks.singular.add(block); });
      return;
    }
    int at = lane;
    FILIGREE_UNROLL(32)
    for (int k = Size - 1; k >= 0; --k)
      if (k < own_rows) at = at == k ? exchanges[k] : at == exchanges[k] ? k : at;
    FILIGREE_UNROLL(32)
    for (int i = 0; i < Size; ++i)
      if (i < own_rows && at < blocks.block_size)
        blocks.store(block, i, at, at < own_rows ? column[i] : Sum(0));
  }
};

/// Inverts all blocks in the way that suits their size.
template <class ExecutionSpace, class Blocks>
void invert_blocks(const ExecutionSpace& exec, const std::string& name, const Blocks& blocks) {
  const auto launch = [&](auto size) {
    constexpr int most_rows = decltype(size)::value;
    if constexpr (most_rows > largest_compiled_block_size && runs_on_gpu_v<ExecutionSpace>)
      InvertByLanes<ExecutionSpace, Blocks, most_rows>{blocks}.launch_on(exec, name);
    else
      Kokkos::parallel_for(name, row_range<void>(exec, blocks.count),
                           InvertByOneLane<Blocks, most_rows>{blocks});
  };
  with_block_size(blocks.block_size, [&](auto size) {
    if constexpr (decltype(size)::value > 0)
      launch(size);
    else if (blocks.block_size <= 12)
      launch(std::integral_constant<int, 12>());
    else if (blocks.block_size <= 16)
      launch(std::integral_constant<int, 16>());
    else if (blocks.block_size <= 24)
      launch(std::integral_constant<int, 24>());
    else
      launch(std::integral_constant<int, largest_inverse_block_size>());
  });
}

}  // namespace Impl

}  // namespace Filigree

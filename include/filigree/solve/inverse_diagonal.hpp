// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <limits>
#include <stdexcept>

#include "filigree/core/block_size.hpp"
#include "filigree/core/read_view.hpp"
#include "filigree/diagonal.hpp"
#include "filigree/formats/cds/cds_matrix.hpp"
#include "filigree/solve/square.hpp"
#include "filigree/solve/with_format.hpp"

namespace Filigree {

/// The inverse of each element of the diagonal of a matrix: a View of rank 1 of Stored in the memory of the matrix.
template <class Matrix, class Stored = typename MatrixTraits<Matrix>::entry_type>
using inverse_diagonal_t = Kokkos::View<Stored*, typename diagonal_t<Matrix>::device_type>;

/// The inverse of the diagonal blocks of a matrix: a CdsMatrix of Stored with the one diagonal of blocks of offset
/// 0. So its product with a vector applies the inverse, for every block size as fast as memory allows.
template <class Matrix, class Stored = typename MatrixTraits<Matrix>::entry_type>
using inverse_blocks_t =
    CdsMatrix<Stored, std::make_signed_t<std::remove_const_t<typename Matrix::ordinal_type>>,
              typename Matrix::device_type, void, std::size_t>;

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

/// False for an execution space or a matrix. Calls with the explicit type of one of these mean the overload without
/// Stored.
template <class Stored>
constexpr bool is_type_of_inverse_v =
    !Kokkos::is_execution_space<Stored>::value && !MatrixTraits<Stored>::is_matrix;

/// The static check of the type in which inverses are stored.
template <class Entry, class Stored>
void check_type_of_inverse() {
  static_assert(
      is_complex_v<Entry> == is_complex_v<Stored>,
      "Filigree: an inverse must be stored as real numbers if the matrix is real, and as complex numbers if "
      "it is complex.");
}

/// Writes the inverse of each element of the diagonal of A to `inverse`, and fences.
template <class ExecutionSpace, class Matrix, class Stored>
void invert_diagonal(const ExecutionSpace& exec, const char* function, const Matrix& A,
                     const inverse_diagonal_t<Matrix, Stored>& inverse) {
  using Traits = MatrixTraits<Matrix>;
  using Entry = typename Traits::entry_type;
  using memory_space = typename Traits::memory_space;
  check_type_of_inverse<Entry, Stored>();
  const std::int64_t rows = Traits::num_rows(A);
  if (rows == 0) return;
  const SingularBlocks<memory_space> singular(exec, rows);
  diagonal_t<Matrix> diagonal;
  if constexpr (std::is_same_v<Stored, Entry>)
    diagonal = inverse;
  else
    diagonal = diagonal_t<Matrix>(
        Kokkos::view_alloc(exec, Kokkos::WithoutInitializing, label("diagonal", Traits::name())),
        static_cast<std::size_t>(rows));
  Kokkos::deep_copy(exec, diagonal, Entry(0));
  with_format(A, [&](const auto& matrix) {
    add_diagonal_blocks(exec, "inverse_diagonal", matrix, diagonal.data(), 1, 1, 1, rows);
  });
  Kokkos::parallel_for(
      label("inverse_diagonal", Traits::name()), row_range<void>(exec, rows),
      InvertElements<Entry, Stored, memory_space>{diagonal.data(), inverse.data(), singular});
  singular.check(exec, function, 1, rows);
}

/// A matrix for the inverse of the b x b blocks on the diagonal of A.
template <class Inverse, class ExecutionSpace, class Matrix>
Inverse allocate_inverse_blocks(const ExecutionSpace& exec, const Matrix& A, int b) {
  const auto rows = static_cast<typename Inverse::ordinal_type>(MatrixTraits<Matrix>::num_rows(A));
  return allocate_cds<Inverse>(exec, "inverse_blocks", rows, rows,
                               static_cast<typename Inverse::size_type>(rows) * b, b, 1, CdsLayout::columns);
}

/// Writes the inverse of each block on the diagonal of A to `inverse`, and fences.
template <class ExecutionSpace, class Matrix, class Stored>
void invert_diagonal_blocks(const ExecutionSpace& exec, const char* function, const Matrix& A,
                            const inverse_blocks_t<Matrix, Stored>& inverse) {
  using Traits = MatrixTraits<Matrix>;
  using Entry = typename Traits::entry_type;
  using memory_space = typename Traits::memory_space;
  check_type_of_inverse<Entry, Stored>();
  const std::int64_t rows = Traits::num_rows(A);
  const int b = inverse.block_size();
  if (rows == 0) return;
  const std::int64_t count = (rows + b - 1) / b;
  const SingularBlocks<memory_space> singular(exec, count);
  inverse_blocks_t<Matrix> blocks;
  if constexpr (std::is_same_v<Stored, Entry>)
    blocks = inverse;
  else
    blocks = allocate_inverse_blocks<inverse_blocks_t<Matrix>>(exec, A, b);
  Kokkos::deep_copy(exec, blocks.values, Entry(0));
  with_format(A, [&](const auto& matrix) {
    add_diagonal_blocks(exec, "inverse_diagonal_blocks", matrix, blocks.values.data(), 1,
                        blocks.column_stride(), b, rows);
  });
  invert_blocks(exec, label("inverse_diagonal_blocks", Traits::name()),
                BlocksToInvert<Entry, Stored, memory_space>{blocks.values.data(), blocks.column_stride(),
                                                            inverse.values.data(), inverse.column_stride(),
                                                            count, rows, b, singular});
  singular.check(exec, function, b, rows);
}

}  // namespace Impl

/// The inverse of each element of the diagonal of a square matrix, as a View of one element per row.
///
/// Stored, the first template argument, is the type of the result; the default is the type of the entries of A. A
/// preconditioner need not be exact: with `inverse_diagonal<float>(exec, A)` a solver with vectors of double reads 4
/// bytes per row instead of 8. The inverse is computed in the wider of both types and rounded once.
///
/// Allocates the result, and the diagonal for the time of the call if Stored is another type. Fences exec to find out
/// whether there are inverses. Cost: as of diagonal(), and one more pass over the result.
///
/// Throws std::invalid_argument if A is not square, and std::runtime_error with the number of the first row whose
/// diagonal element, or its inverse in Stored, is 0 or not finite.
///
/// @param exec execution space instance on which the kernels run
/// @param A    matrix of any format, an AnyMatrix or a ScaledMatrix
template <class Stored, class ExecutionSpace, class Matrix>
std::enable_if_t<Impl::is_type_of_inverse_v<Stored> && Kokkos::is_execution_space<ExecutionSpace>::value,
                 inverse_diagonal_t<Matrix, Stored>>
inverse_diagonal(const ExecutionSpace& exec, const Matrix& A) {
  constexpr const char* function = "Filigree::inverse_diagonal";
  Impl::check_initialized(function);
  Impl::check_square(function, A);
  const auto rows = static_cast<std::size_t>(MatrixTraits<Matrix>::num_rows(A));
  const inverse_diagonal_t<Matrix, Stored> result(
      Kokkos::view_alloc(exec, Kokkos::WithoutInitializing,
                         Impl::label("inverse_diagonal", MatrixTraits<Matrix>::name())),
      rows);
  Impl::invert_diagonal<ExecutionSpace, Matrix, Stored>(exec, function, A, result);
  return result;
}

/// inverse_diagonal() in the type of the entries of A.
template <class ExecutionSpace, class Matrix>
std::enable_if_t<Kokkos::is_execution_space<ExecutionSpace>::value, inverse_diagonal_t<Matrix>>
inverse_diagonal(const ExecutionSpace& exec, const Matrix& A) {
  return inverse_diagonal<typename MatrixTraits<Matrix>::entry_type>(exec, A);
}

/// The inverse of each b x b block on the diagonal of a square matrix. If b does not divide the matrix, the last
/// block is smaller.
///
/// Stored is the type of the values of the result, as for inverse_diagonal(). With float instead of double,
/// applying the inverse moves little more than half of the bytes. Elements of the inverse that are too small for
/// Stored become 0.
///
/// Allocates the result, and the blocks for the time of the call if Stored is another type. Fences exec to find out
/// whether all blocks have an inverse. Cost: as of diagonal_blocks(), and b^3 multiplications per block. Elimination
/// with row pivoting, in the wider of Stored and the type for sums of A's scalar type.
///
/// Throws std::invalid_argument if A is not square or b is not 1 to 32, and std::runtime_error with the number of the
/// first block that is singular, that is, whose largest possible pivot is at most b * epsilon times the largest
/// element of the block, or whose inverse is not finite in Stored.
///
/// @param exec       execution space instance on which the kernels run
/// @param A          matrix of any format, an AnyMatrix or a ScaledMatrix
/// @param block_size b
template <class Stored, class ExecutionSpace, class Matrix>
std::enable_if_t<Impl::is_type_of_inverse_v<Stored> && Kokkos::is_execution_space<ExecutionSpace>::value,
                 inverse_blocks_t<Matrix, Stored>>
inverse_diagonal_blocks(const ExecutionSpace& exec, const Matrix& A, int block_size) {
  constexpr const char* function = "Filigree::inverse_diagonal_blocks";
  using Result = inverse_blocks_t<Matrix, Stored>;
  Impl::check_initialized(function);
  Impl::check_square(function, A);
  if (block_size < 1 || block_size > largest_inverse_block_size)
    Impl::fail<std::invalid_argument>(function, ": block_size is ", block_size, "; it must be 1 to ",
                                      largest_inverse_block_size, ".");
  const Result result = Impl::allocate_inverse_blocks<Result>(exec, A, block_size);
  Kokkos::deep_copy(exec, result.offsets, typename Result::ordinal_type(0));
  Impl::invert_diagonal_blocks<ExecutionSpace, Matrix, Stored>(exec, function, A, result);
  return result;
}

/// inverse_diagonal_blocks() in the type of the entries of A.
template <class ExecutionSpace, class Matrix>
std::enable_if_t<Kokkos::is_execution_space<ExecutionSpace>::value, inverse_blocks_t<Matrix>>
inverse_diagonal_blocks(const ExecutionSpace& exec, const Matrix& A, int block_size) {
  return inverse_diagonal_blocks<typename MatrixTraits<Matrix>::entry_type>(exec, A, block_size);
}

/// inverse_diagonal() on the default instance of the execution space of A.
/// @{
template <class Stored, class Matrix>
std::enable_if_t<Impl::is_type_of_inverse_v<Stored>, inverse_diagonal_t<Matrix, Stored>> inverse_diagonal(
    const Matrix& A) {
  Impl::check_initialized("Filigree::inverse_diagonal");
  return inverse_diagonal<Stored>(typename MatrixTraits<Matrix>::execution_space(), A);
}
template <class Matrix>
inverse_diagonal_t<Matrix> inverse_diagonal(const Matrix& A) {
  return inverse_diagonal<typename MatrixTraits<Matrix>::entry_type>(A);
}
/// @}

/// inverse_diagonal_blocks() on the default instance of the execution space of A.
/// @{
template <class Stored, class Matrix>
std::enable_if_t<Impl::is_type_of_inverse_v<Stored>, inverse_blocks_t<Matrix, Stored>>
inverse_diagonal_blocks(const Matrix& A, int block_size) {
  Impl::check_initialized("Filigree::inverse_diagonal_blocks");
  return inverse_diagonal_blocks<Stored>(typename MatrixTraits<Matrix>::execution_space(), A, block_size);
}
template <class Matrix>
inverse_blocks_t<Matrix> inverse_diagonal_blocks(const Matrix& A, int block_size) {
  return inverse_diagonal_blocks<typename MatrixTraits<Matrix>::entry_type>(A, block_size);
}
/// @}

}  // namespace Filigree

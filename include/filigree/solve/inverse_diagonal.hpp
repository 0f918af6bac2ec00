// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <stdexcept>

#include "filigree/diagonal.hpp"
#include "filigree/formats/cds/cds_matrix.hpp"
#include "filigree/solve/inverse_diagonal_kernels.hpp"
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

namespace Impl {

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

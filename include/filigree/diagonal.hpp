// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <limits>

#include "filigree/core/error.hpp"
#include "filigree/core/initialized.hpp"
#include "filigree/core/launch.hpp"
#include "filigree/core/matrix_traits.hpp"
#include "filigree/core/region.hpp"
#include "filigree/formats.hpp"
#include "filigree/product/scaling.hpp"

namespace Filigree {
namespace Impl {

/// The entries of a matrix that is stored as it is.
struct StoredEntries {
  template <class Scalar>
  KOKKOS_FORCEINLINE_FUNCTION const Scalar& operator()(const Scalar& value, std::int64_t,
                                                       std::int64_t) const {
    return value;
  }
};

template <class Matrix>
auto entries_of([[maybe_unused]] const Matrix& A) {
  if constexpr (is_scaled_v<Matrix>)
    return UnscaledEntries<typename Matrix::entry_type>{A.row_exponents.data(), A.column_exponents.data()};
  else
    return StoredEntries();
}

/// Adds the entries of a matrix in the b x b blocks on its diagonal to `blocks`, which holds zeros. Row i of the
/// matrix is stored from position i * row_stride on. One lane adds all entries of a row, in the order of the
/// format, so that every run gives the same bits.
template <class ExecutionSpace, class Layout, class Entries, class Entry>
struct DiagonalBlocks {
  using execution_space = ExecutionSpace;

  Layout layout;
  Entries entry;  ///< StoredEntries or UnscaledEntries
  Entry* blocks;
  std::int64_t row_stride;
  std::int64_t column_stride;
  std::int64_t block_size;
  std::int64_t rows;     ///< rows with elements in the blocks
  std::int64_t columns;  ///< columns of the matrix

  /// Column c of the block, in row `row` of the matrix.
  KOKKOS_FORCEINLINE_FUNCTION Entry& element(std::int64_t row, std::int64_t c) const {
    return blocks[row * row_stride + c * column_stride];
  }

  /// Stored row i or, of a dense format, matrix row i.
  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t i) const {
    if constexpr (Layout::is_dense) {
      const std::int64_t first = i / block_size * block_size;
      for (std::int64_t c = 0; c < block_size && first + c < columns; ++c) {
        const std::int64_t position = layout.position(i, first + c);
        if (position != no_position) element(i, c) = entry(layout.value(position), i, first + c);
      }
    } else {
      const std::int64_t row = layout.matrix_row(i);
      if (row < 0 || row >= rows) return;
      const std::int64_t first = row / block_size * block_size;
      for (int lane = 0; lane < layout.lanes(); ++lane)
        layout.visit_lane_entries(i, lane, [&](const auto& entries) {
          for (std::int64_t j = 0; j < entries.count; ++j) {
            const std::int64_t column = static_cast<std::int64_t>(entries.column(j));
            if (column >= first && column < first + block_size)
              element(row, column - first) += entry(entries.value(j), row, column);
          }
        });
    }
  }
};

/// Launches the kernel "Filigree::<what>[<format>]" that adds the entries in the diagonal blocks of A to
/// `blocks`. See DiagonalBlocks for the strides.
template <class ExecutionSpace, class Matrix>
void add_diagonal_blocks(const ExecutionSpace& exec, const char* what, const Matrix& A,
                         typename MatrixTraits<Matrix>::entry_type* blocks, std::int64_t row_stride,
                         std::int64_t column_stride, std::int64_t block_size, std::int64_t rows) {
  using Traits = MatrixTraits<Matrix>;
  using Entry = typename Traits::entry_type;
  const auto entries = entries_of(A);
  using Entries = std::decay_t<decltype(entries)>;
  with_layout(exec, stored_matrix(A), [&](const auto& layout) {
    using Layout = std::decay_t<decltype(layout)>;
    std::int64_t calls = rows;
    if constexpr (!Layout::is_dense) calls = layout.stored_row_count();
    Kokkos::parallel_for(
        label(what, Traits::name()), row_range<void>(exec, calls),
        DiagonalBlocks<ExecutionSpace, Layout, Entries, Entry>{
            layout, entries, blocks, row_stride, column_stride, block_size, rows, Traits::num_cols(A)});
  });
}

/// A View of zeros in the memory of A, with the label "Filigree::<what>[<format>]".
template <class View, class Matrix, class ExecutionSpace, class... Extents>
View zeros_for(const ExecutionSpace& exec, const char* what, Extents... extents) {
  return View(Kokkos::view_alloc(exec, label(what, MatrixTraits<Matrix>::name())),
              static_cast<std::size_t>(extents)...);
}

/// The static checks of diagonal() and diagonal_blocks().
template <class ExecutionSpace, class Matrix>
void check_types_of_diagonal() {
  static_assert(MatrixTraits<Matrix>::is_matrix,
                "Filigree::diagonal: A must be a matrix of a Filigree format, or a KokkosSparse CrsMatrix or "
                "BsrMatrix.");
  static_assert(
      Kokkos::SpaceAccessibility<ExecutionSpace, typename MatrixTraits<Matrix>::memory_space>::accessible,
      "Filigree::diagonal: the execution space must be able to access the memory of A.");
}

}  // namespace Impl

/// The type of the result of diagonal(A): a View of rank 1 of MatrixTraits::entry_type in the memory of A.
template <class Matrix>
using diagonal_t = Kokkos::View<typename MatrixTraits<Matrix>::entry_type*,
                                Kokkos::Device<typename MatrixTraits<Matrix>::execution_space,
                                               typename MatrixTraits<Matrix>::memory_space>>;

/// The type of the result of diagonal_blocks(A): a View of rank 3 of MatrixTraits::entry_type in the memory of
/// A. Each block is stored by rows, and the blocks follow each other.
template <class Matrix>
using diagonal_blocks_t = Kokkos::View<typename MatrixTraits<Matrix>::entry_type***, Kokkos::LayoutRight,
                                       Kokkos::Device<typename MatrixTraits<Matrix>::execution_space,
                                                      typename MatrixTraits<Matrix>::memory_space>>;

/// The diagonal of a matrix of any format: a View of length min(rows, columns) whose element i is A(i, i). It
/// is 0 if the matrix has no such entry, and the sum of all of them if it has several.
///
/// Allocates the result on exec. One kernel, which may still run on return; it reads the pattern of all rows,
/// and of a dense format (CDS formats, DIA, blocked ELL, BSR) only the elements on the diagonal. Every run
/// gives the same bits.
///
/// @param exec execution space instance on which the kernel runs
/// @param A    matrix of any format, an AnyMatrix or a ScaledMatrix
template <class ExecutionSpace, class Matrix>
std::enable_if_t<Kokkos::is_execution_space<ExecutionSpace>::value, diagonal_t<Matrix>> diagonal(
    const ExecutionSpace& exec, const Matrix& A) {
  using Traits = MatrixTraits<Matrix>;
  Impl::check_types_of_diagonal<ExecutionSpace, Matrix>();
  Impl::check_initialized("Filigree::diagonal");
  const Impl::LabelScope scope(Impl::label_of(A));
  Impl::ScopedRegion region(Impl::label("diagonal", Traits::name()));
  const std::int64_t length = std::min(Traits::num_rows(A), Traits::num_cols(A));
  const auto result = Impl::zeros_for<diagonal_t<Matrix>, Matrix>(exec, "diagonal", length);
  if (length > 0) Impl::add_diagonal_blocks(exec, "diagonal", A, result.data(), 1, 1, 1, length);
  return result;
}

/// diagonal(exec, A) on the default instance of the execution space of A.
template <class Matrix>
auto diagonal(const Matrix& A) {
  Impl::check_initialized("Filigree::diagonal");
  return diagonal(typename MatrixTraits<Matrix>::execution_space(), A);
}

/// The blocks on the diagonal of a matrix of any format: a View of extents (blocks, b, b), with blocks =
/// min(rows, columns) / b, rounded up. Element (k, i, j) is A(k * b + i, k * b + j). It is 0 if the matrix
/// has no such entry, and the sum of all of them if it has several. If b does not divide the matrix, the
/// elements of the last block that lie outside of the matrix are 0 too.
///
/// b need not be the block size of a format with blocks. Cost and errors: as of diagonal(). Every run gives
/// the same bits.
///
/// Throws std::invalid_argument unless b is at least 1 and, in a matrix with rows and columns, at most the
/// smaller extent. Throws std::length_error if 64 bits cannot count the bytes of the result.
///
/// @param exec       execution space instance on which the kernel runs
/// @param A          matrix of any format, an AnyMatrix or a ScaledMatrix
/// @param block_size b, the rows and columns of a block
template <class ExecutionSpace, class Matrix>
std::enable_if_t<Kokkos::is_execution_space<ExecutionSpace>::value, diagonal_blocks_t<Matrix>>
diagonal_blocks(const ExecutionSpace& exec, const Matrix& A, int block_size) {
  using Traits = MatrixTraits<Matrix>;
  Impl::check_types_of_diagonal<ExecutionSpace, Matrix>();
  const char* const function = "Filigree::diagonal_blocks";
  Impl::check_initialized(function);
  const std::int64_t length = std::min(Traits::num_rows(A), Traits::num_cols(A));
  const std::int64_t b = block_size;
  if (b < 1 || (length > 0 && b > length))
    Impl::fail<std::invalid_argument>(
        function, ": block_size is ", b, " for a ", Traits::num_rows(A), " x ", Traits::num_cols(A),
        " matrix; it must be at least 1 and, unless the matrix is empty, at most the smaller extent.");
  const std::int64_t blocks = (length + b - 1) / b;
  const double bytes =
      static_cast<double>(blocks * b) * static_cast<double>(b) * sizeof(typename Traits::entry_type);
  if (bytes >= static_cast<double>(std::numeric_limits<std::int64_t>::max()))
    Impl::fail<std::length_error>(function, ": ", blocks, " blocks of ", b, " x ", b, " take ", bytes,
                                  " bytes, more than 64 bits can count; use a smaller block_size.");
  const Impl::LabelScope scope(Impl::label_of(A));
  Impl::ScopedRegion region(Impl::label("diagonal_blocks", Traits::name()));
  const auto result =
      Impl::zeros_for<diagonal_blocks_t<Matrix>, Matrix>(exec, "diagonal_blocks", blocks, b, b);
  if (blocks > 0)
    Impl::add_diagonal_blocks(exec, "diagonal_blocks", A, result.data(), b, 1, b,
                              std::min(Traits::num_rows(A), blocks * b));
  return result;
}

/// diagonal_blocks(exec, A, block_size) on the default instance of the execution space of A.
template <class Matrix>
auto diagonal_blocks(const Matrix& A, int block_size) {
  Impl::check_initialized("Filigree::diagonal_blocks");
  return diagonal_blocks(typename MatrixTraits<Matrix>::execution_space(), A, block_size);
}

}  // namespace Filigree

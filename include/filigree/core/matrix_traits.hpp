// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "filigree/core/require_cxx17.hpp"

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

namespace Filigree {
namespace Impl {
/// Matrix::shares_crs, or false if the class has no such member.
template <class Matrix, class = void>
constexpr bool shares_crs_v = false;
template <class Matrix>
constexpr bool shares_crs_v<Matrix, std::void_t<decltype(Matrix::shares_crs)>> = Matrix::shares_crs;

/// Matrix::is_symmetric, or false if the class has no such member.
template <class Matrix, class = void>
constexpr bool is_symmetric_v = false;
template <class Matrix>
constexpr bool is_symmetric_v<Matrix, std::void_t<decltype(Matrix::is_symmetric)>> = Matrix::is_symmetric;

/// Matrix::has_dictionary, or false if the class has no such member.
template <class Matrix, class = void>
constexpr bool has_dictionary_v = false;
template <class Matrix>
constexpr bool has_dictionary_v<Matrix, std::void_t<decltype(Matrix::has_dictionary)>> =
    Matrix::has_dictionary;

/// Whether Matrix is a ScaledMatrix.
template <class Matrix, class = void>
constexpr bool is_scaled_v = false;
template <class Matrix>
constexpr bool is_scaled_v<Matrix, std::void_t<decltype(std::declval<const Matrix&>().row_exponents)>> = true;

/// A, or the matrix in it whose Views hold the values if A is a ScaledMatrix.
template <class Matrix>
const auto& stored_matrix(const Matrix& A) {
  if constexpr (is_scaled_v<Matrix>)
    return A.matrix;
  else
    return A;
}
}  // namespace Impl

/// The properties of a matrix of any format that generic code needs. This template takes them from the class
/// of the matrix. The classes of Kokkos Kernels have specializations, because their members differ: numRows()
/// of a BSR matrix counts block rows.
template <class Matrix, class = void>
struct MatrixTraits {
  static constexpr bool is_matrix = false;  ///< whether Matrix is a matrix of any format
};

/// The properties of a matrix whose class has the members that CONTRIBUTING.md asks of a format. The
/// specializations for CrsMatrix and BsrMatrix have the same members.
template <class Matrix>
struct MatrixTraits<Matrix, std::void_t<typename Matrix::options_type>> {
  using value_type = std::remove_const_t<typename Matrix::value_type>;  ///< type of a stored value, not const
  /// Type of an entry of the matrix, not const: value_type, but double or complex double for a ScaledMatrix.
  using entry_type = typename Matrix::entry_type;
  using memory_space = typename Matrix::memory_space;        ///< where the Views lie
  using execution_space = typename Matrix::execution_space;  ///< default for products
  using options_type = typename Matrix::options_type;        ///< options of the conversion
  static constexpr bool is_matrix = true;                    ///< Matrix is a matrix
  /// Whether nnz() is the number of entries of the CRS matrix that this one was made from.
  static constexpr bool counts_nnz = true;
  /// Whether to_crs gives back the entries of that CRS matrix in their order, with duplicates and zeros.
  static constexpr bool keeps_entries = Matrix::keeps_entries;
  /// Whether the matrix shares the Views of the CRS matrix and stores nothing else of their size.
  static constexpr bool shares_crs = Impl::shares_crs_v<Matrix>;
  /// Whether the format can hold only symmetric or Hermitian matrices.
  static constexpr bool is_symmetric = Impl::is_symmetric_v<Matrix>;
  /// Whether the format stores equal blocks once, so that refill() can refuse other values.
  static constexpr bool has_dictionary = Impl::has_dictionary_v<Matrix>;

  /// Short lower-case name of the format.
  static constexpr const char* name() { return Matrix::name(); }
  /// The number of rows. Also for BSR it counts rows and not block rows.
  static std::int64_t num_rows(const Matrix& A) { return static_cast<std::int64_t>(A.numRows()); }
  /// The number of columns.
  static std::int64_t num_cols(const Matrix& A) { return static_cast<std::int64_t>(A.numCols()); }
  /// The number of entries if counts_nnz, else of stored values.
  static std::int64_t nnz(const Matrix& A) { return static_cast<std::int64_t>(A.nnz()); }
  /// Bytes of all Views.
  static std::size_t storage_bytes(const Matrix& A) { return A.storage_bytes(); }
};

}  // namespace Filigree

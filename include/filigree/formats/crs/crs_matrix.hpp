// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "filigree/core/require_cxx17.hpp"

#include <KokkosSparse_CrsMatrix.hpp>

#include "filigree/conversion/check_crs.hpp"
#include "filigree/core/matrix_traits.hpp"

namespace Filigree {

/// Options of the conversion to CrsMatrix, which copies only const Views.
struct CrsOptions : ConvertOptions {};

/// Compressed Row Storage, a class of Kokkos Kernels: `values` and `graph.entries` hold the entries row by
/// row, `graph.row_map` rows + 1 offsets (Kirk and Hwu, chapter 10, section 10.1). The 4 x 4 example:
///
///     3 0 1 0        graph.row_map  0 2 2 5 7
///     0 0 0 0        graph.entries  0 2 1 2 3 0 3
///     0 2 4 1        values         3 1 2 4 1 1 1
///     1 0 0 1
template <class Scalar, class Ordinal, class Device, class MemoryTraits = void, class SizeType = std::size_t>
using CrsMatrix = KokkosSparse::CrsMatrix<Scalar, Ordinal, Device, MemoryTraits, SizeType>;

/// @cond specializations
// The members are those that MatrixTraits documents.
template <class S, class O, class D, class M, class Z>
struct MatrixTraits<KokkosSparse::CrsMatrix<S, O, D, M, Z>> {
  using matrix_type = KokkosSparse::CrsMatrix<S, O, D, M, Z>;
  using value_type = typename matrix_type::non_const_value_type;
  using entry_type = value_type;
  using memory_space = typename matrix_type::memory_space;
  using execution_space = typename matrix_type::execution_space;
  using options_type = CrsOptions;
  static constexpr bool is_matrix = true;
  static constexpr bool counts_nnz = true;
  static constexpr bool keeps_entries = true;
  static constexpr bool shares_crs = true;
  static constexpr bool is_symmetric = false;
  static constexpr bool has_dictionary = false;

  static constexpr const char* name() { return "crs"; }
  static std::int64_t num_rows(const matrix_type& A) { return static_cast<std::int64_t>(A.numRows()); }
  static std::int64_t num_cols(const matrix_type& A) { return static_cast<std::int64_t>(A.numCols()); }
  static std::int64_t nnz(const matrix_type& A) { return static_cast<std::int64_t>(A.nnz()); }
  static std::size_t storage_bytes(const matrix_type& A) {
    return static_cast<std::size_t>(Impl::crs_bytes(A));
  }
};
/// @endcond

namespace Impl {
/// Whether Matrix is a class of Kokkos Kernels, so that KokkosSparse::spmv can multiply it.
template <class Matrix>
constexpr bool is_kokkos_kernels_matrix_v = false;
template <class S, class O, class D, class M, class Z>
constexpr bool is_kokkos_kernels_matrix_v<KokkosSparse::CrsMatrix<S, O, D, M, Z>> = true;

}  // namespace Impl

}  // namespace Filigree

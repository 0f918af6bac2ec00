// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "filigree/core/convert_options.hpp"
#include "filigree/core/kokkos_versions.hpp"

namespace Filigree {

/// Options of a conversion to BsrMatrix.
struct BsrOptions : ConvertOptions {
  /// b, the number of rows and columns of a block. At least 1. It must divide both extents of the matrix.
  int block_size = 1;

  /// The largest block size that optimize() tries. A conversion takes larger ones too.
  static constexpr int largest_block_size = 16;
  /// Whether block_size must divide both extents of the matrix.
  static constexpr bool block_size_must_divide = true;
  /// Whether a product multiplies the padding of its blocks like entries.
  static constexpr bool multiplies_padding = true;
};

}  // namespace Filigree

#if FILIGREE_HAS_BSR
#include <KokkosSparse_BsrMatrix.hpp>

#include "filigree/conversion/crs_views.hpp"
#include "filigree/core/matrix_traits.hpp"
#include "filigree/formats/crs/crs_matrix.hpp"

namespace Filigree {

/// Block Sparse Row storage: a CRS matrix of dense b x b blocks, each stored by rows. It suits matrices whose
/// entries form such blocks, in block rows of different lengths. It is a class of Kokkos Kernels 3.6 and
/// newer (FILIGREE_HAS_BSR), whose numRows() and numCols() count blocks. A product multiplies all values of a
/// block, also padding: an Inf in x can produce a NaN in rows without an entry in that column.
///
/// Storage, for the 4 x 4 example and b = 2
///
///     3 0|1 0        graph.row_map  0 2 4
///     0 0|0 0        graph.entries  0 1 0 1
///     ---+---        values         3 0 0 0 | 1 0 0 0 | 0 2 1 0 | 4 1 0 1
///     0 2|4 1
///     1 0|0 1
template <class Scalar, class Ordinal, class Device, class MemoryTraits = void, class SizeType = std::size_t>
using BsrMatrix = KokkosSparse::Experimental::BsrMatrix<Scalar, Ordinal, Device, MemoryTraits, SizeType>;

/// @cond specializations
// The members are those that MatrixTraits documents.
template <class S, class O, class D, class M, class Z>
struct MatrixTraits<KokkosSparse::Experimental::BsrMatrix<S, O, D, M, Z>> {
  using matrix_type = KokkosSparse::Experimental::BsrMatrix<S, O, D, M, Z>;
  using value_type = typename matrix_type::non_const_value_type;
  using entry_type = value_type;
  using memory_space = typename matrix_type::memory_space;
  using execution_space = typename matrix_type::execution_space;
  using options_type = BsrOptions;
  static constexpr bool is_matrix = true;
  static constexpr bool counts_nnz = false;
  static constexpr bool keeps_entries = false;
  static constexpr bool shares_crs = false;
  static constexpr bool is_symmetric = false;
  static constexpr bool has_dictionary = false;

  static constexpr const char* name() { return "bsr"; }
  static std::int64_t num_rows(const matrix_type& A) {
    return static_cast<std::int64_t>(A.numRows()) * static_cast<std::int64_t>(A.blockDim());
  }
  static std::int64_t num_cols(const matrix_type& A) {
    return static_cast<std::int64_t>(A.numCols()) * static_cast<std::int64_t>(A.blockDim());
  }
  /// The number of values of all blocks, padding included. The class does not keep the number of entries.
  static std::int64_t nnz(const matrix_type& A) { return static_cast<std::int64_t>(A.values.extent(0)); }
  static std::size_t storage_bytes(const matrix_type& A) {
    return static_cast<std::size_t>(Impl::crs_bytes(A));
  }
};
/// @endcond

namespace Impl {
template <class S, class O, class D, class M, class Z>
constexpr bool is_kokkos_kernels_matrix_v<KokkosSparse::Experimental::BsrMatrix<S, O, D, M, Z>> = true;
}  // namespace Impl

}  // namespace Filigree
#endif

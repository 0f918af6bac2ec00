// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FILIGREE_FORMATS_BSR_BSR_SPMV_HPP
#define FILIGREE_FORMATS_BSR_BSR_SPMV_HPP

#include "filigree/formats/bsr/bsr_matrix.hpp"

#if FILIGREE_HAS_BSR
#include <cstdint>
#include <string>
#include <type_traits>

#include "filigree/core/mode.hpp"
#include "filigree/core/region.hpp"
#include "filigree/core/row_product.hpp"
#include "filigree/core/rows.hpp"

namespace Filigree {
namespace Impl {

/// A row of a BSR matrix: b neighbouring values of each of its blocks.
template <class Scalar, class Ordinal>
struct BsrRun {
  const Scalar* values;
  const Ordinal* block_entries;
  std::int64_t block_size;
  std::int64_t count;

  KOKKOS_FORCEINLINE_FUNCTION const Scalar& value(std::int64_t j) const {
    const std::int64_t block = quotient<Ordinal>(j, block_size);
    return values[block * block_size * (block_size - 1) + j];
  }
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t column(std::int64_t j) const {
    const std::int64_t block = quotient<Ordinal>(j, block_size);
    return static_cast<std::int64_t>(block_entries[block]) * block_size + j - block * block_size;
  }
  KOKKOS_FORCEINLINE_FUNCTION Scalar value_once(std::int64_t j) const { return value(j); }
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t column_once(std::int64_t j) const { return column(j); }
};

/// The Rows (core/rows.hpp) of a BSR matrix.
template <class Scalar, class Ordinal, class SizeType>
struct BsrRows {
  using scalar_type = Scalar;
  /// Ordinals number block rows, of which a matrix may have more rows than they can tell.
  using ordinal_type = std::int64_t;
  static constexpr bool padded = false;
  static constexpr bool has_lanes = false;

  const Scalar* values;
  const Ordinal* entries;
  const SizeType* row_map;
  std::int64_t row_count;
  std::int64_t block_size;

  template <class Bsr>
  explicit BsrRows(const Bsr& bsr)
      : values(bsr.values.data()),
        entries(bsr.graph.entries.data()),
        row_map(bsr.graph.row_map.data()),
        row_count(MatrixTraits<Bsr>::rows(bsr)),
        block_size(static_cast<std::int64_t>(bsr.blockDim())) {}

  KOKKOS_FORCEINLINE_FUNCTION std::int64_t count() const { return row_count; }
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t target(std::int64_t i) const { return i; }
  KOKKOS_FORCEINLINE_FUNCTION int lanes() const { return 1; }
  KOKKOS_FORCEINLINE_FUNCTION BsrRun<Scalar, Ordinal> run(std::int64_t row, int) const {
    const std::int64_t block_row = quotient<ordinal_type>(row, block_size);
    const std::int64_t first = static_cast<std::int64_t>(row_map[block_row]);
    const std::int64_t blocks = static_cast<std::int64_t>(row_map[block_row + 1]) - first;
    return {values + (first * block_size + row - block_row * block_size) * block_size, entries + first,
            block_size, blocks * block_size};
  }
};

/// The product of a BSR matrix where Kokkos Kernels do not take it (crs_spmv.hpp), everything checked and A
/// with entries: one lane a row; modes T and H with atomics.
template <class ExecutionSpace, class S, class O, class D, class M, class Z, class Operands>
void spmv_kernel(const ExecutionSpace& exec, Mode mode,
                 const KokkosSparse::Experimental::BsrMatrix<S, O, D, M, Z>& A, const Operands& operands) {
  using Rows = BsrRows<std::remove_const_t<S>, std::remove_const_t<O>, std::remove_const_t<Z>>;
  static const std::string name = label("spmv", "bsr");
  row_spmv(exec, name, mode, Rows(A), operands, MatrixTraits<std::decay_t<decltype(A)>>::columns(A));
}

}  // namespace Impl
}  // namespace Filigree
#endif

#endif

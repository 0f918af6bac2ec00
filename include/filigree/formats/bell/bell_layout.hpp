// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "filigree/conversion/block_elements.hpp"
#include "filigree/formats/bell/bell_matrix.hpp"

namespace Filigree::Impl {

/// The elements of a blocked ELL matrix for copies (see conversion/dense_copy.hpp).
template <class Scalar, class Ordinal>
struct BellElements : BlockElements<BellElements<Scalar, Ordinal>, Scalar, Ordinal, false> {
  const Ordinal* block_entries;
  std::int64_t columns;
  std::int64_t block_rows;
  std::int64_t block_width;

  template <class Bell>
  explicit BellElements(const Bell& bell)
      : BellElements::BlockElements{bell.values.data(), bell.block_size(), bell.numRows()},
        block_entries(bell.block_entries.data()),
        columns(bell.numCols()),
        block_rows(bell.numBlockRows()),
        block_width(bell.block_width()) {}

  KOKKOS_FORCEINLINE_FUNCTION std::int64_t blocks_begin(std::int64_t) const { return 0; }
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t blocks_end(std::int64_t) const { return block_width; }
  /// Block columns must ascend, and padding comes last. It gets the number of columns, a larger value.
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t block_column(std::int64_t block_row, std::int64_t k) const {
    const std::int64_t block = static_cast<std::int64_t>(block_entries[k * block_rows + block_row]);
    return block < 0 ? columns : block;
  }
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t block_position(std::int64_t, std::int64_t row,
                                                          std::int64_t k) const {
    return k * this->block_size * this->column_stride + row;
  }
};

/// Calls visit(elements) with the elements of the matrix.
template <class ExecutionSpace, class S, class O, class D, class M, class Z, class Visit>
auto with_layout(const ExecutionSpace&, const BellMatrix<S, O, D, M, Z>& bell, const Visit& visit) {
  return visit(BellElements<S, O>(bell));
}

}  // namespace Filigree::Impl

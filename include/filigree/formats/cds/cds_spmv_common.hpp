// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "filigree/product/launch_product.hpp"
#include "filigree/product/operands.hpp"
#include "filigree/product/split_pointer.hpp"

namespace Filigree::Impl {

/// Whether the values of a CDS matrix are split (SplitCdsMatrix).
template <class Cds, class = void>
constexpr bool is_split_v = false;
template <class Cds>
constexpr bool is_split_v<Cds, std::void_t<decltype(std::declval<const Cds&>().trailing)>> = true;

/// The CdsMatrix with the offsets and the block size: the matrix itself, or the leading half if it is split.
template <class Cds>
const auto& leading_matrix(const Cds& cds) {
  if constexpr (is_split_v<Cds>)
    return cds.leading;
  else
    return cds;
}

/// A pointer to the values, or what stands for it.
template <class Cds>
auto value_pointer_of(const Cds& cds) {
  if constexpr (is_split_v<Cds>)
    return SplitPointer{cds.leading.values.data(), cds.trailing.data()};
  else
    return static_cast<const typename Cds::value_type*>(cds.values.data());
}

/// The data of every CDS kernel. BlockSize is b if a kernel is compiled for it, or 0 if b is read at run
/// time.
template <class ExecutionSpace, class Cds, class Operands, int BlockSize>
struct CdsProduct {
  /// A lane needs longer for a large block size that is read at run time. Small teams then let the last team
  /// end earlier (see docs/performance.md, "CDS: lanes per team").
  using launch =
      ProductLaunch<ExecutionSpace, Operands, BlockSize == 0 ? 128 : 256, host_rows_of_long_streams>;
  using scalar_type = typename Cds::value_type;
  using ordinal_type = typename Cds::ordinal_type;
  using sums_type = typename Operands::sums_type;
  using value_pointer =
      std::conditional_t<is_split_v<Cds>, SplitPointer, const scalar_type * KOKKOS_RESTRICT>;

  value_pointer values;
  const ordinal_type* offsets;
  std::int64_t diagonals;
  std::int64_t rows;
  std::int64_t stride;  ///< from a value to that of the same row in the next column
  std::int64_t columns;
  int run_time_block_size;
  Operands operands;

  CdsProduct(const Cds& cds, const Operands& operands_)
      : values(value_pointer_of(cds)),
        offsets(leading_matrix(cds).offsets.data()),
        diagonals(static_cast<std::int64_t>(leading_matrix(cds).numDiagonals())),
        rows(static_cast<std::int64_t>(cds.numRows())),
        stride(leading_matrix(cds).column_stride()),
        columns(static_cast<std::int64_t>(cds.numCols())),
        run_time_block_size(leading_matrix(cds).block_size()),
        operands(operands_) {}

  KOKKOS_FORCEINLINE_FUNCTION int block_size() const {
    return BlockSize > 0 ? BlockSize : run_time_block_size;
  }

  /// See BlockColumnsProduct.
  static constexpr bool has_column_per_block = false;
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t value_stride() const { return stride; }
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t block_count() const { return diagonals; }
  KOKKOS_FORCEINLINE_FUNCTION ordinal_type block_column(ordinal_type block_row, std::int64_t d) const {
    return clipped_column(block_row, offsets[d]);
  }

  /// The first column of the block in which a block row meets the diagonal with the given offset. A block
  /// outside the matrix holds only zeros, so its column is clipped to any column inside; that costs less than
  /// a branch. All differences fit into the ordinal type, and 32-bit ordinals need fewer registers.
  KOKKOS_FORCEINLINE_FUNCTION ordinal_type clipped_column(ordinal_type block_row, ordinal_type offset) const {
    const ordinal_type b = static_cast<ordinal_type>(block_size());
    const ordinal_type last_block = static_cast<ordinal_type>(columns - 1) / b;
    offset = offset < -block_row ? -block_row : offset;
    offset = offset > last_block - block_row ? last_block - block_row : offset;
    return (block_row + offset) * b;
  }
};

}  // namespace Filigree::Impl

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <limits>

#include "filigree/core/binary_search.hpp"
#include "filigree/core/block_size.hpp"
#include "filigree/core/mode.hpp"
#include "filigree/formats/cds/cds_matrix.hpp"
#include "filigree/formats/cds/cds_spmv_ahead.hpp"
#include "filigree/formats/cds/cds_spmv_components.hpp"
#include "filigree/formats/cds/cds_spmv_device.hpp"
#include "filigree/formats/cds/cds_spmv_host.hpp"
#include "filigree/formats/cds/cds_spmv_row_pairs.hpp"
#include "filigree/formats/cds/cds_spmv_runs.hpp"
#include "filigree/product/block_columns_product.hpp"

namespace Filigree::Impl {

/// Modes T and H: one lane per element of y, which belongs to a column of A. Per diagonal, the lane reads one
/// column of a block, whose values are neighbours in memory. It needs no atomics, so every run gives the same
/// bits. With BlockSize 0 the lane first finds the diagonals that meet its column, by binary search.
template <class ExecutionSpace, class Cds, class Operands, int BlockSize, bool Conjugate>
struct CdsSpmvTranspose : CdsProduct<ExecutionSpace, Cds, Operands, BlockSize> {
  using base = CdsProduct<ExecutionSpace, Cds, Operands, BlockSize>;
  using base::base;
  using typename base::launch;
  using typename base::scalar_type;
  using typename base::sums_type;

  KOKKOS_FORCEINLINE_FUNCTION void column_product(const std::int64_t column) const {
    const int b = this->block_size();
    const std::int64_t block_column = column / b;
    const std::int64_t column_in_block = column - block_column * b;
    sums_type sums = {};
    std::int64_t begin = 0;
    std::int64_t end = this->diagonals;
    // Most diagonals of a wide matrix do not meet this column. They are not looked at.
    if constexpr (BlockSize == 0) {
      const auto first_offset_above = [&](std::int64_t limit, std::int64_t from) {
        return first_where(
            from, end, [&](std::int64_t d) { return static_cast<std::int64_t>(this->offsets[d]) > limit; });
      };
      begin = first_offset_above(block_column - (this->rows + b - 1) / b, 0);
      end = first_offset_above(block_column, begin);
    }
    for (std::int64_t d = begin; d < end; ++d) {
      const std::int64_t row = (block_column - static_cast<std::int64_t>(this->offsets[d])) * b;
      if (row < 0 || row >= this->rows) continue;
      const auto value = this->values + (d * b + column_in_block) * this->stride + row;
      const int count = this->rows - row < b ? static_cast<int>(this->rows - row) : b;
      FILIGREE_UNROLL(8)
      for (int r = 0; r < count; ++r)
        this->operands.add_unless_zero(sums, conjugate_if<Conjugate>(value[r]), row + r);
    }
    this->operands.store(sums, column);
  }

  KOKKOS_INLINE_FUNCTION void operator()(const typename launch::member_type& team) const {
    launch::for_each_row(team, this->columns, [&](const std::int64_t column) { column_product(column); });
  }
};

/// Modes N and C on a GPU by CdsDeviceSpmv, with as many rows per lane as the values allow.
template <int BlockSize, bool Conjugate, class ExecutionSpace, class Cds, class Operands>
void launch_cds_device_spmv(const ExecutionSpace& exec, const std::string& name, const Cds& cds,
                            const Operands& operands) {
  const std::int64_t rows = static_cast<std::int64_t>(cds.numRows());
  constexpr int packed_rows =
      cds_rows_per_lane<typename std::decay_t<decltype(leading_matrix(cds))>::value_type, BlockSize,
                        Operands::most_columns>();
  if constexpr (packed_rows > 1)
    if (leading_matrix(cds).column_stride() % packed_rows == 0 &&
        is_aligned_to_pack<packed_rows>(value_pointer_of(cds)) &&
        rows <= std::numeric_limits<typename Cds::ordinal_type>::max() - packed_rows) {
      using Packed = CdsDeviceSpmv<ExecutionSpace, Cds, Operands, BlockSize, Conjugate, packed_rows>;
      launch_product(exec, name, Packed::launch::policy(exec, Packed::lane_count(rows)),
                     Packed(cds, operands));
      return;
    }
  const auto launch = [&](const auto& kernel) {
    using launch_type = typename std::decay_t<decltype(kernel)>::launch;
    launch_product(exec, name, launch_type::policy(exec, rows << operands.log2_column_lanes()), kernel);
  };
  if constexpr (BlockSize == 1 && Operands::most_columns == 1 && !is_split_v<Cds> &&
                std::is_same_v<typename Cds::value_type, double>)
    // A whole batch has 8 diagonals. With fewer, joined words were as fast or faster.
    if (cds.offsets.extent(0) < 8)
      return launch(CdsDeviceSpmv<ExecutionSpace, Cds, Operands, 1, Conjugate, 1, true>(cds, operands));
  launch(CdsDeviceSpmv<ExecutionSpace, Cds, Operands, BlockSize, Conjugate, 1>(cds, operands));
}

/// Modes N and C on a GPU: chooses the kernel and launches it.
template <int BlockSize, bool Conjugate, class ExecutionSpace, class Cds, class Operands>
void diagonal_spmv_on_gpu(const ExecutionSpace& exec, const std::string& name, const Cds& cds,
                          const Operands& operands) {
  if constexpr (BlockSize == 1) {
    if (launch_cds_runs(exec, name, cds, operands) || launch_cds_row_pairs(exec, name, cds, operands) ||
        launch_cds_ahead(exec, name, cds, operands))
      return;
  } else {
    const CdsProduct<ExecutionSpace, Cds, Operands, BlockSize> product(cds, operands);
    if (launch_block_columns<BlockSize, Conjugate>(exec, name, product)) return;
  }
  launch_cds_device_spmv<BlockSize, Conjugate>(exec, name, cds, operands);
}

/// The product of a matrix whose block size is BlockSize, or is read at run time if BlockSize is 0. The
/// arguments are checked, and A has entries.
template <int BlockSize, class ExecutionSpace, class Cds, class Operands>
void diagonal_spmv(const ExecutionSpace& exec, const std::string& name, Mode mode, const Cds& cds,
                   const Operands& operands) {
  operands.with_mode(mode, [&](auto transpose, auto conjugate) {
    constexpr bool c = decltype(conjugate)::value;
    if constexpr (decltype(transpose)::value) {
      const std::int64_t rows = static_cast<std::int64_t>(cds.numRows());
      const std::int64_t columns = static_cast<std::int64_t>(cds.numCols());
      const auto launch = [&](auto kernel) {
        launch_product(exec, name, decltype(kernel)::launch::policy(exec, columns), kernel);
      };
      const auto any_count = operands.with_any_count();
      using AnyCount = std::decay_t<decltype(any_count)>;
      // With many more columns than rows the work would be columns times diagonals, not the stored blocks.
      if (columns > 4 * rows)
        launch(CdsSpmvTranspose<ExecutionSpace, Cds, AnyCount, 0, c>(cds, any_count));
      else
        launch(CdsSpmvTranspose<ExecutionSpace, Cds, AnyCount, BlockSize, c>(cds, any_count));
    } else if constexpr (runs_on_gpu_v<ExecutionSpace>) {
      diagonal_spmv_on_gpu<BlockSize, c>(exec, name, cds, operands);
    } else {
      using Kernel = CdsHostSpmv<ExecutionSpace, Cds, Operands, BlockSize, c>;
      launch_product(exec, name, Kernel::launch::policy(exec, static_cast<std::int64_t>(cds.numRows())),
                     Kernel(cds, operands));
    }
  });
}

/// The product of a CDS matrix. The arguments are checked, and A has entries.
template <class ExecutionSpace, class S, class O, class D, class M, class Z, class Operands>
void spmv_kernel(const ExecutionSpace& exec, const std::string& name, Mode mode,
                 const CdsMatrix<S, O, D, M, Z>& cds, const Operands& operands) {
  if (cds.layout() == CdsLayout::components && cds.block_size() > 1) {
    operands.with_mode(mode, [&](auto transpose, auto conjugate) {
      component_spmv<decltype(transpose)::value, decltype(conjugate)::value>(exec, name, cds, operands);
    });
    return;
  }
  with_block_size(cds.block_size(), [&](auto block_size) {
    diagonal_spmv<decltype(block_size)::value>(exec, name, mode, cds, operands);
  });
}

}  // namespace Filigree::Impl

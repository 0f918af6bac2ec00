// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "filigree/formats/bsr/bsr_matrix.hpp"

#if FILIGREE_HAS_BSR
#include "filigree/core/mode.hpp"
#include "filigree/product/launch_product.hpp"
#include "filigree/product/operands.hpp"

namespace Filigree::Impl {

/// The product of a BSR matrix, one lane per matrix row. Modes N and C add a row's products in the order of
/// the blocks. Modes T and H add to y with atomics. The order of the additions, and with it the last bits,
/// may then change from run to run, and each addition rounds to the type of y.
template <class ExecutionSpace, class Bsr, class Operands, bool Transpose, bool Conjugate>
struct BsrSpmv {
  using launch = ProductLaunch<ExecutionSpace, Operands>;
  using scalar_type = typename Bsr::non_const_value_type;
  using ordinal_type = typename Bsr::non_const_ordinal_type;
  using size_type = typename Bsr::non_const_size_type;
  using sums_type = typename Operands::sums_type;

  const scalar_type* values;
  const ordinal_type* entries;
  const size_type* row_map;
  std::int64_t rows;
  std::int64_t block_size;
  Operands operands;

  BsrSpmv(const Bsr& bsr, const Operands& operands_)
      : values(bsr.values.data()),
        entries(bsr.graph.entries.data()),
        row_map(bsr.graph.row_map.data()),
        rows(MatrixTraits<Bsr>::num_rows(bsr)),
        block_size(static_cast<std::int64_t>(bsr.blockDim())),
        operands(operands_) {}

  KOKKOS_FORCEINLINE_FUNCTION void row_product(const std::int64_t row) const {
    const std::int64_t block_row = row / block_size;
    const std::int64_t end = static_cast<std::int64_t>(row_map[block_row + 1]);
    sums_type sums = {};
    for (std::int64_t block = static_cast<std::int64_t>(row_map[block_row]); block < end; ++block) {
      const std::int64_t column = static_cast<std::int64_t>(entries[block]) * block_size;
      const scalar_type* const value =
          values + (block * block_size + row - block_row * block_size) * block_size;
      for (std::int64_t c = 0; c < block_size; ++c) {
        const scalar_type a = conjugate_if<Conjugate>(value[c]);
        if constexpr (Transpose)
          operands.scatter(row, a, column + c);
        else
          operands.add(sums, a, column + c);
      }
    }
    if constexpr (!Transpose) operands.store(sums, row);
  }

  KOKKOS_INLINE_FUNCTION void operator()(const typename launch::member_type& team) const {
    launch::for_each_row(team, rows, [&](const std::int64_t row) { row_product(row); });
  }
};

/// The product of a BSR matrix for operands that KokkosSparse::spmv does not take (see
/// formats/crs/crs_spmv.hpp). The arguments are checked, and A has entries.
template <class ExecutionSpace, class S, class O, class D, class M, class Z, class Operands>
void spmv_kernel(const ExecutionSpace& exec, const std::string& name, Mode mode,
                 const KokkosSparse::Experimental::BsrMatrix<S, O, D, M, Z>& A, const Operands& operands) {
  using Bsr = KokkosSparse::Experimental::BsrMatrix<S, O, D, M, Z>;
  if (is_transpose(mode)) operands.scale(exec, MatrixTraits<Bsr>::num_cols(A));
  const auto any_count = operands.with_any_count();
  operands.with_mode(mode, [&](auto transpose, auto conjugate) {
    using Kernel = BsrSpmv<ExecutionSpace, Bsr, std::decay_t<decltype(any_count)>, decltype(transpose)::value,
                           decltype(conjugate)::value>;
    launch_product(exec, name, Kernel::launch::policy(exec, MatrixTraits<Bsr>::num_rows(A)),
                   Kernel(A, any_count));
  });
}

}  // namespace Filigree::Impl
#endif

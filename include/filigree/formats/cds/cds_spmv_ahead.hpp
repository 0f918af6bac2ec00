// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "filigree/formats/cds/cds_spmv_common.hpp"
#include "filigree/product/add_batch.hpp"
#include "filigree/product/multiply_block_elements.hpp"
#include "filigree/product/values_ahead.hpp"

namespace Filigree::Impl {

/// The product of a CDS matrix of double with b = 1 and 16 columns of x on a GPU, in modes N and C: one lane per row,
/// with all columns of x. The products of a row are added by ascending column of A.
///
/// A lane multiplies its elements of A in batches. At the end of a batch it loads the values of the next one, and then
/// the elements of x for these values. The loads of x need the offsets of the diagonals, but not the values, so that the
/// lane waits for values and x at the same time (see docs/performance.md, "Values loaded ahead"). It adds the products of
/// padding too, and multiplies a row again if one of its sums is NaN (see docs/performance.md, "Padding that is added").
///
/// Diagonals are counted in an int. 2^31 of them would belong to a matrix with more than 2^60 values, because the access
/// `exact` keeps a column of x below 2^32 bytes.
template <class ExecutionSpace, class Cds, class Operands, int Batch>
struct CdsAheadSpmv : CdsProduct<ExecutionSpace, Cds, Operands, 1> {
  static_assert(runs_on_gpu_v<ExecutionSpace>, "One lane per row is right for a GPU only.");
  using base = CdsProduct<ExecutionSpace, Cds, Operands, 1>;
  using base::base;
  using typename base::ordinal_type;
  using typename base::scalar_type;
  using typename base::sums_type;
  using row_type = stored_row_t<ordinal_type>;
  using launch = ValuesAheadLaunch<ExecutionSpace, Operands>;

  void launch_on(const ExecutionSpace& exec, const std::string& name) const {
    launch_product(exec, name, launch::policy(exec, this->rows), *this);
  }

  KOKKOS_INLINE_FUNCTION void operator()(const typename launch::member_type& team) const {
    const std::int64_t row =
        static_cast<std::int64_t>(team.league_rank()) * launch::team_size + team.team_rank();
    if (row < this->rows) multiply(static_cast<row_type>(row));
  }

 private:
  /// Loads the values of a batch from the given diagonal on. After the last diagonal they are 0.
  KOKKOS_FORCEINLINE_FUNCTION void load(scalar_type (&values)[Batch], row_type row, int first) const {
    const int count = static_cast<int>(this->diagonals);
    FILIGREE_UNROLL(8)
    for (int i = 0; i < Batch; ++i) {
      const int k = first + i;
      values[i] = k < count ? load_once(this->values + (k * this->stride + row)) : scalar_type(0);
    }
  }

  KOKKOS_FORCEINLINE_FUNCTION void multiply(const row_type row) const {
    const int count = static_cast<int>(this->diagonals);
    sums_type sums = {};
    scalar_type values[Batch];
    load(values, row, 0);
    FILIGREE_UNROLL(1)
    for (int first = 0; first < count; first += Batch) {
      ordinal_type columns[Batch];
      FILIGREE_UNROLL(8)
      for (int i = 0; i < Batch; ++i) {
        const ordinal_type* const offset = this->offsets + (first + i < count ? first + i : count - 1);
        columns[i] = this->clipped_column(static_cast<ordinal_type>(row), load_constant(offset));
      }
      add_batch<Operands::column_group>(
          this->operands, sums, columns, [](int) { return true; },
          [&](scalar_type& sum, int i, const scalar_type& factor) {
            Operands::template add_product<true>(sum, values[i], factor);
          });
      load(values, row, first + Batch);
    }
    if (Operands::has_nan(sums)) multiply_block_elements<1>(sums, *this, row, this->operands);
    this->operands.store(sums, row);
  }
};

/// Multiplies with CdsAheadSpmv if the diagonals of A fill its batches. Returns whether it has. CdsRowPairsSpmv
/// multiplies fewer columns and float.
template <class ExecutionSpace, class Cds, class Operands>
bool launch_cds_ahead(const ExecutionSpace& exec, const std::string& name, const Cds& cds,
                      const Operands& operands) {
  if constexpr (!is_split_v<Cds> && has_exact_columns<Cds, Operands, double>() &&
                Operands::most_columns > 8) {
    const auto launch = [&](auto batch) {
      constexpr int count = decltype(batch)::value;
      const CdsAheadSpmv<ExecutionSpace, Cds, Operands, count> kernel(cds, operands);
      if (!batches_are_full(kernel.diagonals, count)) return false;
      kernel.launch_on(exec, name);
      return true;
    };
    return launch(std::integral_constant<int, 7>()) || launch(std::integral_constant<int, 5>());
  }
  return false;
}

}  // namespace Filigree::Impl

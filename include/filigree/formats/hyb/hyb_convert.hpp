// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "filigree/formats/coo/coo_convert.hpp"
#include "filigree/formats/hyb/hyb_layout.hpp"
#include "filigree/formats/hybrid/hybrid_convert.hpp"

namespace Filigree::Impl {

/// convert<HybMatrix> of a checked CRS matrix. Fences exec. It takes the memory of plan_hybrid() before the
/// result is allocated, and then 8 + sizeof(Ordinal) bytes per row that has excess entries, plus 8.
template <class ExecutionSpace, class Crs, class S, class O, class D, class M, class Z>
void convert_from_crs(const ExecutionSpace& exec, const Crs& crs, const HybOptions& options,
                      HybMatrix<S, O, D, M, Z>& result) {
  using Hyb = HybMatrix<S, O, D, M, Z>;
  using Ell = typename Hyb::ell_type;
  using Coo = typename Hyb::coo_type;
  const char* name = Hyb::name();
  const auto coo_bytes = [](std::int64_t nnz, std::int64_t) {
    return static_cast<double>(nnz) * (sizeof(S) + 2 * sizeof(O)) +
           static_cast<double>(chunk_bytes<ExecutionSpace>(nnz));
  };
  const HybridPlan plan =
      plan_hybrid<Ell>(exec, "Filigree::convert<HybMatrix>", name, crs, options, coo_bytes);
  const std::int64_t nnz = plan.excess_nnz;
  Coo coo(crs.numRows(), crs.numCols(),
          allocate_view<typename Coo::values_type>(exec, "coo_values", name, nnz),
          allocate_view<typename Coo::entries_type>(exec, "coo_entries", name, nnz),
          allocate_view<typename Coo::entries_type>(exec, "coo_rows", name, nnz), {}, {});
  const Ell ell = convert_ell_part<Ell>(exec, name, crs, plan);
  if (nnz > 0) {
    const auto list = allocate_view<typename Coo::entries_type>(exec, "excess_rows", name, plan.excess_rows);
    list_rows(exec, name, crs, plan.width + 1, plan.longest_row, list.data());
    const auto offsets = excess_offsets<std::int64_t>(exec, name, crs, list, plan.width);
    copy_excess(exec, name, crs, list, offsets, plan.width, coo.values, coo.entries, coo.rows.data());
    find_chunks(exec, name, coo);
    // The kernels must end before list and offsets are freed.
    exec.fence();
  }
  result = Hyb(static_cast<Z>(crs.nnz()), static_cast<O>(plan.longest_row), ell, coo);
}

}  // namespace Filigree::Impl

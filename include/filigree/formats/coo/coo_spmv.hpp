// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "filigree/formats/coo/coo_layout.hpp"
#include "filigree/product/operands.hpp"

namespace Filigree::Impl {

/// Modes T and H: one lane per entry adds its product to y with an atomic. The order of the additions, and
/// with it the last bits, may change from run to run. Each addition rounds to the type of y.
template <class ExecutionSpace, class EntryLayout, class Operands, bool Conjugate>
struct CooSpmvTranspose {
  using launch = RowLaunch<ExecutionSpace>;

  EntryLayout entries;
  Operands operands;

  KOKKOS_INLINE_FUNCTION void operator()(const typename launch::member_type& team) const {
    launch::for_each_row(team, entries.nnz, [&](const std::int64_t i) {
      operands.scatter(entries.row_of(i), conjugate_if<Conjugate>(entries.values[i]),
                       static_cast<std::int64_t>(entries.entries[i]));
    });
  }
};

/// The product of a COO matrix, or of the COO part of HYB. `name` names the kernel of the product,
/// `join_name` the kernel that joins cut rows in modes N and C.
template <class ExecutionSpace, class S, class O, class D, class M, class Z, class Operands>
void coo_spmv(const ExecutionSpace& exec, const std::string& name, const std::string& join_name, Mode mode,
              const CooMatrix<S, O, D, M, Z>& coo, const Operands& operands) {
  using Layout = CooLayout<ExecutionSpace, S, O>;
  const Layout entries(coo);
  if (!is_transpose(mode)) {
    balanced_spmv(exec, name, join_name, mode, entries, operands, coo.chunks, coo.empty_rows);
    return;
  }
  if constexpr (Operands::y_is_in_memory) {
    operands.scale(exec, static_cast<std::int64_t>(coo.numCols()));
    with_conjugate<S>(mode, [&](auto conjugate) {
      const auto any_count = operands.with_any_count();
      using Kernel = CooSpmvTranspose<ExecutionSpace, Layout, std::decay_t<decltype(any_count)>,
                                      decltype(conjugate)::value>;
      Kokkos::parallel_for(name, Kernel::launch::policy(exec, entries.nnz), Kernel{entries, any_count});
    });
  }
}

/// The product of a COO matrix. The arguments are checked, and A has entries.
template <class ExecutionSpace, class S, class O, class D, class M, class Z, class Operands>
void spmv_kernel(const ExecutionSpace& exec, const std::string& name, Mode mode,
                 const CooMatrix<S, O, D, M, Z>& coo, const Operands& operands) {
  coo_spmv(exec, name, product_names(coo).join, mode, coo, operands);
}

}  // namespace Filigree::Impl

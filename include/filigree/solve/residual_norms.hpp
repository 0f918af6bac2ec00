// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "filigree/solve/fused_product.hpp"

namespace Filigree::Impl {

/// r = b - sum, and the sums of conj(r) r and conj(b) b. The first sum is that of r as it is stored.
template <class B, class R>
struct StoreResidualAndNorms {
  using scalar_type = wider_t<B, R>;
  MultiVector<const B> b;
  R* r;

  template <class Sum, class T>
  KOKKOS_FORCEINLINE_FUNCTION void operator()(std::int64_t row, int, const Sum& sum,
                                              Sums<T, 2>& norms) const {
    const T right = T(widen<T>(b(row, 0)));
    r[row] = convert_scalar<R>(Sum(widen<Sum>(b(row, 0)) - sum));
    const T stored = T(widen<T>(r[row]));
    norms[0] += conjugate_if<true>(stored) * stored;
    norms[1] += conjugate_if<true>(right) * right;
  }
};

/// r = b - A x, and the squares of the 2-norms of r and of b, in one pass over A. r has unit stride. The caller has
/// checked the extents and that r shares no memory with x and b.
template <class ExecutionSpace, class Matrix, class XView, class BView, class RView, class NormsView>
void residual_and_norms(const ExecutionSpace& exec, const Matrix& A, const XView& x, const BView& b,
                        const RView& r, const NormsView& norms) {
  using B = typename BView::non_const_value_type;
  using R = typename RView::value_type;
  fused_product(exec, "N", A, x, StoreResidualAndNorms<B, R>{multi_vector<BView, const B>(b), r.data()},
                norms);
}

/// The static checks of the arguments of solve(). Rank is 2 for solvers for several right-hand sides.
template <class ExecutionSpace, class BView, class XView, int Rank>
void check_types_of_solve() {
  static_assert(Kokkos::is_view<BView>::value && Kokkos::is_view<XView>::value,
                "Filigree: b and x of a solver must be Kokkos::Views.");
  static_assert(
      static_cast<int>(BView::rank) == Rank && static_cast<int>(XView::rank) == Rank,
      "Filigree: b and x of a solver must have rank 1, or rank 2 if it has several right-hand sides.");
  static_assert(Kokkos::SpaceAccessibility<ExecutionSpace, typename BView::memory_space>::accessible &&
                    Kokkos::SpaceAccessibility<ExecutionSpace, typename XView::memory_space>::accessible,
                "Filigree: b and x of a solver must be in memory that its execution space can access.");
  static_assert(!std::is_const_v<typename XView::value_type>,
                "Filigree: x of a solver must not be const, because the solution is written to it.");
}

}  // namespace Filigree::Impl

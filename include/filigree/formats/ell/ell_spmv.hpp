// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FILIGREE_FORMATS_ELL_ELL_SPMV_HPP
#define FILIGREE_FORMATS_ELL_ELL_SPMV_HPP

#include <cstdint>
#include <string>

#include "filigree/core/launch.hpp"
#include "filigree/core/mode.hpp"
#include "filigree/core/region.hpp"
#include "filigree/core/scalar.hpp"
#include "filigree/core/spmv_operands.hpp"
#include "filigree/formats/ell/ell_matrix.hpp"

namespace Filigree {
namespace Impl {

/// What the kernels of ELL share.
template <class ExecutionSpace, class Ell, class Operands>
struct EllProduct {
  using launch = RowLaunch<ExecutionSpace>;
  using scalar_type = typename Ell::value_type;
  using ordinal_type = typename Ell::ordinal_type;
  using sums_type = typename Operands::sums_type;

  const scalar_type* values;
  const ordinal_type* entries;
  const ordinal_type* row_lengths;
  std::int64_t stride;
  std::int64_t rows;
  Operands operands;

  EllProduct(const Ell& ell, const Operands& operands_)
      : values(ell.values.data()),
        entries(ell.entries.data()),
        row_lengths(ell.row_lengths.data()),
        stride(static_cast<std::int64_t>(ell.stride())),
        rows(static_cast<std::int64_t>(ell.numRows())),
        operands(operands_) {}

  KOKKOS_FORCEINLINE_FUNCTION std::int64_t row_length(std::int64_t row) const {
    return static_cast<std::int64_t>(row_lengths[row]);
  }
};

/// Modes N and C: one lane a row (Vazquez et al. 2011, section 3.2, with T = 1). The entries of a row are
/// added in the order in which they are stored.
template <class ExecutionSpace, class Ell, class Operands, bool Conjugate>
struct EllSpmv : EllProduct<ExecutionSpace, Ell, Operands> {
  using base = EllProduct<ExecutionSpace, Ell, Operands>;
  using base::base;
  using typename base::launch;
  using typename base::ordinal_type;
  using typename base::scalar_type;
  using typename base::sums_type;

  KOKKOS_FORCEINLINE_FUNCTION void row_product(const std::int64_t row) const {
    const std::int64_t length = this->row_length(row);
    const scalar_type* KOKKOS_RESTRICT value = this->values + row;
    const ordinal_type* KOKKOS_RESTRICT entry = this->entries + row;
    sums_type sums = {};
    // Four entries a turn: their loads do not wait for each other.
    FILIGREE_UNROLL(4)
    for (std::int64_t k = 0; k < length; ++k)
      this->operands.add(sums, conjugate_if<Conjugate>(value[k * this->stride]),
                         static_cast<std::int64_t>(entry[k * this->stride]));
    this->operands.store(sums, row);
  }

  /// The same sums, in the same order, for the rows first to first + count - 1 on a host: there a core reads
  /// the storage column by column, as a stream, into sums that stay in its first cache.
  KOKKOS_INLINE_FUNCTION void tile_product(const std::int64_t first, const std::int64_t count) const {
    sums_type sums[launch::tile] = {};
    std::int64_t width = 0;
    for (std::int64_t row = 0; row < count; ++row) {
      const std::int64_t length = this->row_length(first + row);
      width = length > width ? length : width;
    }
    for (std::int64_t k = 0; k < width; ++k) {
      const scalar_type* KOKKOS_RESTRICT value = this->values + k * this->stride + first;
      const ordinal_type* KOKKOS_RESTRICT entry = this->entries + k * this->stride + first;
      for (std::int64_t row = 0; row < count; ++row)
        if (k < this->row_length(first + row))
          this->operands.add(sums[row], conjugate_if<Conjugate>(value[row]),
                             static_cast<std::int64_t>(entry[row]));
    }
    for (std::int64_t row = 0; row < count; ++row)
      this->operands.store(sums[row], first + row);
  }

  KOKKOS_INLINE_FUNCTION void operator()(const typename launch::member_type& team) const {
    if constexpr (launch::gpu)
      launch::for_each_row(team, this->rows, [&](const std::int64_t row) { row_product(row); });
    else
      launch::for_each_tile(team, this->rows, [&](const std::int64_t first, const std::int64_t count) {
        tile_product(first, count);
      });
  }
};

/// Modes T and H: one lane a row of A, which adds its products to y with atomics, so the order of the sums,
/// and with it the last bits, may change from run to run. Each addition rounds to the type of y.
template <class ExecutionSpace, class Ell, class Operands, bool Conjugate>
struct EllSpmvTranspose : EllProduct<ExecutionSpace, Ell, Operands> {
  using base = EllProduct<ExecutionSpace, Ell, Operands>;
  using base::base;
  using typename base::launch;

  KOKKOS_FORCEINLINE_FUNCTION void row_product(const std::int64_t row) const {
    const std::int64_t length = this->row_length(row);
    for (std::int64_t k = 0; k < length; ++k)
      this->operands.scatter(row, conjugate_if<Conjugate>(this->values[k * this->stride + row]),
                             static_cast<std::int64_t>(this->entries[k * this->stride + row]));
  }

  KOKKOS_INLINE_FUNCTION void operator()(const typename launch::member_type& team) const {
    launch::for_each_row(team, this->rows, [&](const std::int64_t row) { row_product(row); });
  }
};

/// The product, everything checked and A with entries.
template <class ExecutionSpace, class S, class O, class D, class M, class Z, class Operands>
void spmv_kernel(const ExecutionSpace& exec, Mode mode, const EllMatrix<S, O, D, M, Z>& ell,
                 const Operands& operands) {
  using Ell = EllMatrix<S, O, D, M, Z>;
  static const std::string name = label("spmv", Ell::name());
  if (is_transpose(mode)) operands.scale(exec, static_cast<std::int64_t>(ell.numCols()));
  with_mode<S>(mode, [&](auto transpose, auto conjugate) {
    using Kernel =
        std::conditional_t<decltype(transpose)::value,
                           EllSpmvTranspose<ExecutionSpace, Ell, Operands, decltype(conjugate)::value>,
                           EllSpmv<ExecutionSpace, Ell, Operands, decltype(conjugate)::value>>;
    Kokkos::parallel_for(name, Kernel::launch::policy(exec, static_cast<std::int64_t>(ell.numRows())),
                         Kernel(ell, operands));
  });
}

}  // namespace Impl
}  // namespace Filigree

#endif

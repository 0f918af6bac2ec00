// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FILIGREE_FORMATS_ELL_ELL_SPMV_HPP
#define FILIGREE_FORMATS_ELL_ELL_SPMV_HPP

#include <cstdint>
#include <string>

#include "filigree/core/launch.hpp"
#include "filigree/core/mode.hpp"
#include "filigree/core/multi_vector.hpp"
#include "filigree/core/region.hpp"
#include "filigree/core/scalar.hpp"
#include "filigree/core/scale.hpp"
#include "filigree/formats/ell/ell_matrix.hpp"

namespace Filigree {
namespace Impl {

/// Modes N and C: one lane a row (Vazquez et al. 2011, section 3.1, ELLPACK-R), for up to Columns columns of
/// x and y at once. The entries of a row are added in the order in which they are stored.
template <class ExecutionSpace, class Ell, class X, class Y, int Columns, bool Conjugate>
struct EllSpmv {
  using launch = RowLaunch<ExecutionSpace>;
  using scalar_type = typename Ell::value_type;
  using ordinal_type = typename Ell::ordinal_type;
  using accumulator_type = wider_t<scalar_type, X, Y>;

  const scalar_type* values;
  const ordinal_type* entries;
  const ordinal_type* row_lengths;
  std::int64_t stride;
  std::int64_t rows;
  MultiVector<const X> x;
  MultiVector<Y> y;
  int columns;
  accumulator_type alpha;
  accumulator_type beta;

  KOKKOS_FORCEINLINE_FUNCTION void row_product(const std::int64_t row) const {
    const std::int64_t length = static_cast<std::int64_t>(row_lengths[row]);
    const scalar_type* KOKKOS_RESTRICT value = values + row;
    const ordinal_type* KOKKOS_RESTRICT entry = entries + row;
    accumulator_type sum[Columns] = {};
    // Four entries a turn: their loads do not wait for each other.
    FILIGREE_UNROLL(4)
    for (std::int64_t k = 0; k < length; ++k) {
      const auto a = widen<accumulator_type>(conjugate_if<Conjugate>(value[k * stride]));
      const std::int64_t column = static_cast<std::int64_t>(entry[k * stride]);
      for (int c = 0; c < Columns; ++c)
        if (Columns == 1 || c < columns) sum[c] += a * widen<accumulator_type>(x(column, c));
    }
    for (int c = 0; c < Columns; ++c)
      if (Columns == 1 || c < columns) update(y(row, c), beta, accumulator_type(alpha * sum[c]));
  }

  /// The same sums, in the same order, for the rows first to first + count - 1 on a host: there a core reads
  /// the storage column by column, as a stream, into sums that stay in its first cache.
  KOKKOS_INLINE_FUNCTION void tile_product(const std::int64_t first, const std::int64_t count) const {
    accumulator_type sums[launch::tile][Columns] = {};
    std::int64_t width = 0;
    for (std::int64_t row = 0; row < count; ++row) {
      const std::int64_t length = static_cast<std::int64_t>(row_lengths[first + row]);
      width = length > width ? length : width;
    }
    for (std::int64_t k = 0; k < width; ++k) {
      const scalar_type* KOKKOS_RESTRICT value = values + k * stride + first;
      const ordinal_type* KOKKOS_RESTRICT entry = entries + k * stride + first;
      for (std::int64_t row = 0; row < count; ++row) {
        if (k >= static_cast<std::int64_t>(row_lengths[first + row])) continue;
        const auto a = widen<accumulator_type>(conjugate_if<Conjugate>(value[row]));
        for (int c = 0; c < Columns; ++c)
          if (Columns == 1 || c < columns)
            sums[row][c] += a * widen<accumulator_type>(x(static_cast<std::int64_t>(entry[row]), c));
      }
    }
    for (std::int64_t row = 0; row < count; ++row)
      for (int c = 0; c < Columns; ++c)
        if (Columns == 1 || c < columns)
          update(y(first + row, c), beta, accumulator_type(alpha * sums[row][c]));
  }

  KOKKOS_INLINE_FUNCTION void operator()(const typename launch::member_type& team) const {
    if constexpr (launch::gpu)
      launch::for_each_row(team, rows, [&](const std::int64_t row) { row_product(row); });
    else
      launch::for_each_tile(team, rows, [&](const std::int64_t first, const std::int64_t count) {
        tile_product(first, count);
      });
  }
};

/// Modes T and H: one lane a row of A, which adds its products to y with atomics, so the order of the sums,
/// and with it the last bits, may change from run to run. Each addition rounds to the type of y.
template <class ExecutionSpace, class Ell, class X, class Y, int Columns, bool Conjugate>
struct EllSpmvTranspose {
  using launch = RowLaunch<ExecutionSpace>;
  using scalar_type = typename Ell::value_type;
  using ordinal_type = typename Ell::ordinal_type;
  using accumulator_type = wider_t<scalar_type, X, Y>;

  const scalar_type* values;
  const ordinal_type* entries;
  const ordinal_type* row_lengths;
  std::int64_t stride;
  std::int64_t rows;
  MultiVector<const X> x;
  MultiVector<Y> y;
  int columns;
  accumulator_type alpha;
  accumulator_type beta;

  KOKKOS_FORCEINLINE_FUNCTION void row_product(const std::int64_t row) const {
    const std::int64_t length = static_cast<std::int64_t>(row_lengths[row]);
    accumulator_type factor[Columns] = {};
    for (int c = 0; c < Columns; ++c)
      if (Columns == 1 || c < columns) factor[c] = alpha * widen<accumulator_type>(x(row, c));
    for (std::int64_t k = 0; k < length; ++k) {
      const auto a = widen<accumulator_type>(conjugate_if<Conjugate>(values[k * stride + row]));
      const std::int64_t column = static_cast<std::int64_t>(entries[k * stride + row]);
      for (int c = 0; c < Columns; ++c)
        if (Columns == 1 || c < columns)
          atomic_add(&y(column, c), narrow<Y>(accumulator_type(a * factor[c])));
    }
  }

  KOKKOS_INLINE_FUNCTION void operator()(const typename launch::member_type& team) const {
    launch::for_each_row(team, rows, [&](const std::int64_t row) { row_product(row); });
  }
};

template <template <class, class, class, class, int, bool> class Kernel, int Columns, bool Conjugate,
          class ExecutionSpace, class Ell, class X, class Y, class Accumulator>
void launch_ell(const ExecutionSpace& exec, const Ell& ell, const MultiVector<const X>& x,
                const MultiVector<Y>& y, int columns, const Accumulator& alpha, const Accumulator& beta) {
  static const std::string name = label("spmv", Ell::name());
  using kernel_type = Kernel<ExecutionSpace, Ell, X, Y, Columns, Conjugate>;
  const std::int64_t rows = static_cast<std::int64_t>(ell.numRows());
  Kokkos::parallel_for(
      name, kernel_type::launch::policy(exec, rows),
      kernel_type{ell.values.data(), ell.entries.data(), ell.row_lengths.data(),
                  static_cast<std::int64_t>(ell.stride()), rows, x, y, columns, alpha, beta});
}

/// The product for up to Columns columns of x and y; spmv has checked everything and A has entries.
template <int Columns, class ExecutionSpace, class S, class O, class D, class M, class Z, class X, class Y,
          class Accumulator>
void spmv_columns(const ExecutionSpace& exec, Mode mode, const Accumulator& alpha,
                  const EllMatrix<S, O, D, M, Z>& ell, const MultiVector<const X>& x, const Accumulator& beta,
                  const MultiVector<Y>& y, int columns) {
  if (is_transpose(mode)) {
    scale(exec, beta, y, static_cast<std::int64_t>(ell.numCols()), columns);
    if (is_conjugate(mode) && is_complex_v<S>)
      launch_ell<EllSpmvTranspose, Columns, is_complex_v<S>>(exec, ell, x, y, columns, alpha, beta);
    else
      launch_ell<EllSpmvTranspose, Columns, false>(exec, ell, x, y, columns, alpha, beta);
  } else {
    if (is_conjugate(mode) && is_complex_v<S>)
      launch_ell<EllSpmv, Columns, is_complex_v<S>>(exec, ell, x, y, columns, alpha, beta);
    else
      launch_ell<EllSpmv, Columns, false>(exec, ell, x, y, columns, alpha, beta);
  }
}

}  // namespace Impl
}  // namespace Filigree

#endif

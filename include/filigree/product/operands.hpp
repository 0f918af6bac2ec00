// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FILIGREE_PRODUCT_OPERANDS_HPP
#define FILIGREE_PRODUCT_OPERANDS_HPP

#include "filigree/core/launch.hpp"
#include "filigree/core/load_once.hpp"
#include "filigree/core/scalar.hpp"
#include "filigree/product/multi_vector.hpp"
#include "filigree/product/scale.hpp"

namespace Filigree {
namespace Impl {

/// All of y = beta*y + alpha*op(A)*x but A and its mode, for up to Columns columns of x and y: what the
/// front door hands to the kernels of every format.
template <class Scalar, class X, class Y, int Columns>
struct ProductOperands {
  using x_type = X;
  using y_type = Y;
  using accumulator_type = wider_t<Scalar, X, Y>;
  static constexpr int most_columns = Columns;
  /// The sums of one row, one a column.
  using sums_type = accumulator_type[Columns];

  MultiVector<const X> x;
  MultiVector<Y> y;
  int columns;
  accumulator_type alpha;
  accumulator_type beta;

  /// Whether this launch has the column; that it has its only one is known at compile time.
  KOKKOS_FORCEINLINE_FUNCTION bool has(int column) const { return Columns == 1 || column < columns; }

  /// The same, where UnitStride of an x whose stride the compiler knows: a host, which has no instruction for
  /// an address in rows of any size, computes one for each entry.
  template <bool UnitStride>
  KOKKOS_FORCEINLINE_FUNCTION ProductOperands with_stride() const {
    ProductOperands result = *this;
    if (UnitStride) result.x.row_bytes = static_cast<int>(sizeof(X));
    return result;
  }

  /// The columns from the given one on, at most Most of them.
  template <int Most>
  KOKKOS_FORCEINLINE_FUNCTION ProductOperands<Scalar, X, Y, Most> from_column(int first) const {
    return {x.from_column(first), y.from_column(first), columns - first < Most ? columns - first : Most,
            alpha, beta};
  }

  /// Columns whose loads of x are under way at once. A launch of fewer columns than Columns leaves out whole
  /// groups of them.
  static constexpr int column_group = 4;

  /// Calls visit(c, column) for each sum: column is c, or the last one where a group has no column c, so that
  /// no load waits for a branch.
  template <int First = 0, class Visit>
  KOKKOS_FORCEINLINE_FUNCTION void for_each_column(const Visit& visit) const {
    if constexpr (First < Columns) {
      if (First > 0 && First >= columns) return;
      FILIGREE_UNROLL(4)
      for (int c = First; c < Columns && c < First + column_group; ++c)
        visit(c, has(c) ? c : columns - 1);
      for_each_column<First + column_group>(visit);
    }
  }

  /// sums += a * x(row, :)
  template <class Row>
  KOKKOS_FORCEINLINE_FUNCTION void add(sums_type& sums, const Scalar& a, Row row) const {
    const auto wide_a = widen<accumulator_type>(a);
    for_each_column([&](int c, int column) { sums[c] += wide_a * widen<accumulator_type>(x(row, column)); });
  }

  /// The same for formats that cannot tell a stored zero from padding: a zero adds nothing, whatever x holds.
  /// The sum is chosen, and not the load of x left out, so that this load does not wait for that of the
  /// value.
  template <class Row>
  KOKKOS_FORCEINLINE_FUNCTION void add_unless_zero(sums_type& sums, const Scalar& a, Row row) const {
    for_each_column([&](int c, int column) { add_unless_zero(sums[c], a, x(row, column)); });
  }

  /// sums += values[i] * x(columns[i], :) for all i in turn: all columns of x share one load of A. With Gaps
  /// a column of -1 reads no x, and its value must be 0. Without ZerosCount a value of 0 adds nothing.
  template <bool Gaps, bool ZerosCount, int Size, class Ordinal>
  KOKKOS_FORCEINLINE_FUNCTION void add_batch(sums_type& sums, const Scalar (&values)[Size],
                                             const Ordinal (&columns_of_a)[Size]) const {
    for_each_column([&](int c, int column) {
      X factors[Size];
      FILIGREE_UNROLL(8)
      for (int i = 0; i < Size; ++i)
        factors[i] = !Gaps || columns_of_a[i] >= 0 ? x(columns_of_a[i], column) : X(0);
      FILIGREE_UNROLL(8)
      for (int i = 0; i < Size; ++i)
        if constexpr (ZerosCount)
          sums[c] += widen<accumulator_type>(values[i]) * widen<accumulator_type>(factors[i]);
        else
          add_unless_zero(sums[c], values[i], factors[i]);
    });
  }

  /// y(column, :) += alpha * a * x(row, :) with atomics, for transposed products; scale comes first.
  KOKKOS_FORCEINLINE_FUNCTION void scatter(std::int64_t row, const Scalar& a, std::int64_t column) const {
    const auto wide_a = widen<accumulator_type>(a);
    for (int c = 0; c < columns; ++c)
      atomic_add(&y(column, c), convert_scalar<Y>(times(
                                    alpha, accumulator_type(wide_a * widen<accumulator_type>(x(row, c))))));
  }

  /// sum += a * factor, unless a is 0.
  KOKKOS_FORCEINLINE_FUNCTION static void add_unless_zero(accumulator_type& sum, const Scalar& a,
                                                          const X& factor) {
    accumulator_type with_product = sum;
    with_product += widen<accumulator_type>(a) * widen<accumulator_type>(factor);
    sum = a == Scalar(0) ? sum : with_product;
  }

  /// y = beta * y for all of its rows, as a kernel of its own.
  template <class ExecutionSpace>
  void scale(const ExecutionSpace& exec, std::int64_t rows) const {
    Impl::scale(exec, beta, y, rows, columns);
  }

  /// a * x(row, column)
  template <class Row>
  KOKKOS_FORCEINLINE_FUNCTION accumulator_type product(const Scalar& a, Row row, int column) const {
    return accumulator_type(widen<accumulator_type>(a) * widen<accumulator_type>(x(row, column)));
  }

  /// y(row, column) = beta * y(row, column) + alpha * sum
  KOKKOS_FORCEINLINE_FUNCTION void store(const accumulator_type& sum, std::int64_t row, int column) const {
    update(y(row, column), beta, times(alpha, sum));
  }

  /// The same for neighbouring rows, the first of which is a multiple of Rows: written at once where they are
  /// neighbours in memory. One by one, lanes write every second element of what they write together, and the
  /// second cache of a GPU takes twice as many (float CDS of 7pt 256^3, H200: 0.92 of the read bandwidth in
  /// place of 0.98).
  template <int Rows>
  KOKKOS_FORCEINLINE_FUNCTION void store_rows(const sums_type (&sums)[Rows], std::int64_t row) const {
    if constexpr (Rows == 1) {
      store(sums[0], row);
      return;
    }
    for (int c = 0; c < Columns; ++c) {
      if (!has(c)) continue;
      Y* const first = &y(row, c);
      using pack_type = Pack<Y, Rows>;
      if (y.row_bytes == static_cast<int>(sizeof(Y)) &&
          reinterpret_cast<std::uintptr_t>(first) % sizeof(pack_type) == 0) {
        pack_type pack = {};
        if (beta != accumulator_type(0)) pack = *reinterpret_cast<const pack_type*>(first);
        for (int r = 0; r < Rows; ++r)
          update(pack.values[r], beta, times(alpha, sums[r][c]));
        *reinterpret_cast<pack_type*>(first) = pack;
      } else {
        for (int r = 0; r < Rows; ++r)
          store(sums[r][c], row + r, c);
      }
    }
  }

  /// y(row, :) = beta * y(row, :) + alpha * sums
  KOKKOS_FORCEINLINE_FUNCTION void store(const sums_type& sums, std::int64_t row) const {
    for (int c = 0; c < Columns; ++c)
      if (has(c)) update(y(row, c), beta, times(alpha, sums[c]));
  }
};

/// The launch of a product. 1280 lanes an SM leave 48 registers a lane, in which sums of one column and the
/// loads that keep the memory of an H200 busy have room: of four and six teams of 256 either loses on some
/// matrices (sell_short, ms, with four, five and six: qh1484 0.134, 0.108, 0.117; bcsstk33 0.077, 0.073,
/// 0.084). Wider sums need more registers.
template <class ExecutionSpace, class Operands, int Lanes = 256>
using ProductLaunch =
    RowLaunch<ExecutionSpace, Lanes,
              Operands::most_columns == 1 && sizeof(typename Operands::accumulator_type) <= 8 ? 1280 / Lanes
                                                                                              : 1>;

}  // namespace Impl
}  // namespace Filigree

#endif

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "filigree/core/load_once.hpp"
#include "filigree/product/scale.hpp"
#include "filigree/product/scaling.hpp"

namespace Filigree::Impl {

/// x, y, alpha and beta of y = beta*y + alpha*op(A)*x, for up to Columns columns of x and y. spmv() makes
/// them and hands them to the kernels of every format. Scalar is the scalar type of A. Scaling is NoScaling or
/// PowerScaling.
template <class Scalar, class X, class Y, int Columns, class Scaling = NoScaling>
struct ProductOperands : Scaling {
  using y_type = Y;
  using accumulator_type = wider_t<Scalar, X, Y>;
  using x_vector = typename Scaling::template x_vector<X, accumulator_type>;
  using x_type = typename x_vector::value_type;
  /// A pointer to an element of x, or what stands for it.
  using x_pointer = typename x_vector::pointer_type;
  /// Whether kernels may load several elements of x at once from memory.
  static constexpr bool x_is_in_memory = std::is_same_v<Scaling, NoScaling>;
  static constexpr int most_columns = Columns;
  /// The sums of one row, one per column of x.
  using sums_type = accumulator_type[Columns];

  x_vector x;
  MultiVector<Y> y;
  int columns;
  accumulator_type alpha;
  accumulator_type beta;

  /// Whether this launch has the given column of x. With Columns == 1 that is known at compile time.
  KOKKOS_FORCEINLINE_FUNCTION bool has(int column) const { return Columns == 1 || column < columns; }

  /// The same operands. If UnitStride is true, x must have unit stride, and the compiler knows it. An address
  /// with a stride that the compiler does not know takes a host more instructions.
  template <bool UnitStride>
  KOKKOS_FORCEINLINE_FUNCTION ProductOperands with_stride() const {
    ProductOperands result = *this;
    if (UnitStride) result.x.row_bytes = static_cast<int>(sizeof(X));
    return result;
  }

  /// The columns of x and y from `first` on, at most Most of them.
  template <int Most>
  KOKKOS_FORCEINLINE_FUNCTION ProductOperands<Scalar, X, Y, Most, Scaling> from_column(int first) const {
    return {static_cast<const Scaling&>(*this),
            x.from_column(first),
            y.from_column(first),
            columns - first < Most ? columns - first : Most,
            alpha,
            beta};
  }

  /// Columns of x whose loads are in flight together.
  static constexpr int column_group = 4;

  /// Calls visit(c, column) for c = 0 to Columns - 1, where c is the index of a sum and column the column of
  /// x to load. If there is no column c, the last column is loaded instead, so that no load waits for a
  /// branch. That sum is never stored. Groups without any column are left out.
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

  /// sums += a * x(row, :), unless a is 0. For dense formats, in which a zero may be padding, which must not
  /// read x.
  template <class Row>
  KOKKOS_FORCEINLINE_FUNCTION void add_unless_zero(sums_type& sums, const Scalar& a, Row row) const {
    for_each_column([&](int c, int column) { add_unless_zero(sums[c], a, x(row, column)); });
  }

  /// sum += a * factor, unless a is 0. It selects one of two sums and does not branch, so that the load of x
  /// does not wait for the load of a.
  KOKKOS_FORCEINLINE_FUNCTION static void add_unless_zero(accumulator_type& sum, const Scalar& a,
                                                          const x_type& factor) {
    accumulator_type with_product = sum;
    with_product += widen<accumulator_type>(a) * widen<accumulator_type>(factor);
    sum = a == Scalar(0) ? sum : with_product;
  }

  /// sums += values[i] * x(columns_of_a[i], :) for all i in order, unless values[i] is 0. All elements of x
  /// are loaded before the first addition.
  template <int Size, class Ordinal>
  KOKKOS_FORCEINLINE_FUNCTION void add_batch_unless_zero(sums_type& sums, const Scalar (&values)[Size],
                                                         const Ordinal (&columns_of_a)[Size]) const {
    for_each_column([&](int c, int column) {
      x_type factors[Size];
      FILIGREE_UNROLL(8)
      for (int i = 0; i < Size; ++i)
        factors[i] = x(columns_of_a[i], column);
      FILIGREE_UNROLL(8)
      for (int i = 0; i < Size; ++i)
        add_unless_zero(sums[c], values[i], factors[i]);
    });
  }

  /// a * x(row, column)
  template <class Row>
  KOKKOS_FORCEINLINE_FUNCTION accumulator_type product(const Scalar& a, Row row, int column) const {
    return accumulator_type(widen<accumulator_type>(a) * widen<accumulator_type>(x(row, column)));
  }

  /// y(column, :) += alpha * a * x(row, :) with atomics, for modes T and H. y must have been scaled before.
  KOKKOS_FORCEINLINE_FUNCTION void scatter(std::int64_t row, const Scalar& a, std::int64_t column) const {
    const auto wide_a = widen<accumulator_type>(a);
    for (int c = 0; c < columns; ++c)
      atomic_add(&y(column, c),
                 convert_scalar<Y>(this->scaled_sum(
                     times(alpha, accumulator_type(wide_a * widen<accumulator_type>(x(row, c)))), column)));
  }

  /// y = beta * y for all `rows` rows of y, in a kernel of its own.
  template <class ExecutionSpace>
  void scale(const ExecutionSpace& exec, std::int64_t rows) const {
    Impl::scale(exec, beta, y, rows, columns);
  }

  /// y(row, column) = beta * y(row, column) + alpha * sum
  template <class Row>
  KOKKOS_FORCEINLINE_FUNCTION void store(const accumulator_type& sum, Row row, int column) const {
    update(y(row, column), beta, times(alpha, this->scaled_sum(sum, row)));
  }

  /// y(row, :) = beta * y(row, :) + alpha * sums
  template <class Row>
  KOKKOS_FORCEINLINE_FUNCTION void store(const sums_type& sums, Row row) const {
    for (int c = 0; c < Columns; ++c)
      if (has(c)) store(sums[c], row, c);
  }

  /// Stores the sums of Rows neighbouring rows; `row`, the first, is a multiple of Rows. If the elements of y
  /// are neighbours in memory and aligned, one store writes them all, because several narrow stores per lane
  /// make the cache of a GPU handle twice as many writes (see docs/performance.md, "CDS: rows per lane").
  template <int Rows, class Row>
  KOKKOS_FORCEINLINE_FUNCTION void store_rows(const sums_type (&sums)[Rows], Row row) const {
    if constexpr (Rows == 1) {
      store(sums[0], row);
    } else {
      for (int c = 0; c < Columns; ++c) {
        if (!has(c)) continue;
        Y* const first = &y(row, c);
        using pack_type = Pack<Y, Rows>;
        if (y.row_bytes == static_cast<int>(sizeof(Y)) &&
            reinterpret_cast<std::uintptr_t>(first) % sizeof(pack_type) == 0) {
          pack_type pack = {};
          if (beta != accumulator_type(0)) pack = *reinterpret_cast<const pack_type*>(first);
          for (int r = 0; r < Rows; ++r)
            update(pack.values[r], beta, times(alpha, this->scaled_sum(sums[r][c], row + r)));
          *reinterpret_cast<pack_type*>(first) = pack;
        } else {
          for (int r = 0; r < Rows; ++r)
            store(sums[r][c], row + r, c);
        }
      }
    }
  }
};

/// The launch of a product. A GPU must be able to run 1280 lanes per multiprocessor, which leaves 48
/// registers per lane: enough for the sums of one column of x and for the loads that keep memory busy. Wider
/// sums need more registers (see docs/performance.md, "Lanes per multiprocessor").
template <class ExecutionSpace, class Operands, int Lanes = 256>
using ProductLaunch =
    RowLaunch<ExecutionSpace, Lanes,
              Operands::most_columns == 1 && sizeof(typename Operands::accumulator_type) <= 8 ? 1280 / Lanes
                                                                                              : 1>;

}  // namespace Filigree::Impl

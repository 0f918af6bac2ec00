// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The scaling of x and y in a product. All kernels read x and store sums through ProductOperands, which has one
// of these as a base class.
#pragma once

#include "filigree/core/double_bits.hpp"
#include "filigree/core/scalar.hpp"
#include "filigree/product/multi_vector.hpp"

namespace Filigree::Impl {

/// 2^exponent, for exponents from -1022 to 1023.
KOKKOS_FORCEINLINE_FUNCTION double power_of_two(int exponent) {
  return double_of_bits(static_cast<std::uint64_t>(exponent + 1023) << 52);
}

/// value * 2^exponent, for exponents from -2044 to 2044. It multiplies twice, because 2^exponent may be out of
/// range. The number in between lies between `value` and the result.
template <class T>
KOKKOS_FORCEINLINE_FUNCTION T scaled_by_power(const T& value, int exponent) {
  static_assert(std::is_same_v<real_t<T>, double>, "The powers need the range of double.");
  return value * power_of_two(exponent / 2) * power_of_two(exponent - exponent / 2);
}

/// value * 2^(first + second), for exponents from -2044 to 2044.
template <class T>
KOKKOS_FORCEINLINE_FUNCTION T scaled_twice(const T& value, int first, int second) {
  const int sum = first + second;
  return scaled_by_power(scaled_by_power(value, sum / 2), sum - sum / 2);
}

/// The entries of a ScaledMatrix.
template <class Entry>
struct UnscaledEntries {
  const std::int16_t* row_exponents;
  const std::int16_t* column_exponents;

  /// The entry that is stored as `value`.
  template <class Scalar>
  KOKKOS_FORCEINLINE_FUNCTION Entry operator()(const Scalar& value, std::int64_t row,
                                               std::int64_t column) const {
    return scaled_twice(convert_scalar<Entry>(value), row_exponents[row], column_exponents[column]);
  }
};

/// The product of a matrix that is stored as it is.
struct NoScaling {
  /// x as kernels see it, for sums of type Sum.
  template <class X, class Sum>
  using x_vector = MultiVector<const X>;

  template <class Sum, class X>
  MultiVector<const X> scaled_x(const MultiVector<const X>& x) const {
    return x;
  }
  /// The sum of a row of the product, from that of the stored matrix.
  template <class Sum, class Row>
  KOKKOS_FORCEINLINE_FUNCTION const Sum& scaled_sum(const Sum& sum, Row) const {
    return sum;
  }
};

/// x(row, :) * 2^exponents[row], in the precision of Sum. It has no elements in memory, so it returns values.
template <class X, class Sum>
struct ScaledVector : MultiVector<const X> {
  using base = MultiVector<const X>;
  using value_type = std::conditional_t<is_complex_v<X>, Kokkos::complex<real_t<Sum>>, real_t<Sum>>;

  /// Stands for a pointer to an element. An index counts rows.
  struct Pointer {
    const X* first;
    const std::int16_t* exponents;
    std::int64_t elements_per_row;
    KOKKOS_FORCEINLINE_FUNCTION value_type operator[](std::int64_t i) const {
      return scaled_by_power(value_type(widen<Sum>(first[i * elements_per_row])), exponents[i]);
    }
  };
  using pointer_type = Pointer;

  const std::int16_t* exponents;

  template <class Row>
  KOKKOS_FORCEINLINE_FUNCTION value_type operator()(Row row, std::int64_t column) const {
    return scaled_by_power(value_type(widen<Sum>(base::operator()(row, column))), exponents[row]);
  }
  template <class Row>
  KOKKOS_FORCEINLINE_FUNCTION Pointer pointer(Row row, std::int64_t column) const {
    return {base::pointer(row, column), exponents + row, base::row_stride()};
  }
  /// From a row to the next one, in the unit of an index of Pointer.
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t row_stride() const { return 1; }
  KOKKOS_FORCEINLINE_FUNCTION ScaledVector from_column(std::int64_t column) const {
    return {base::from_column(column), exponents};
  }
};

/// The product of a matrix whose entry (i, j) is stored multiplied by 2^-(row exponent i + column exponent j).
struct PowerScaling {
  const std::int16_t* x_exponents;
  const std::int16_t* y_exponents;

  template <class X, class Sum>
  using x_vector = ScaledVector<X, Sum>;

  template <class Sum, class X>
  ScaledVector<X, Sum> scaled_x(const MultiVector<const X>& x) const {
    return {x, x_exponents};
  }
  template <class Sum, class Row>
  KOKKOS_FORCEINLINE_FUNCTION Sum scaled_sum(const Sum& sum, Row row) const {
    return scaled_by_power(sum, y_exponents[row]);
  }
};

}  // namespace Filigree::Impl

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <complex>
#include <string>

#include "filigree/core/half.hpp"

namespace Filigree::Impl {

/// Whether a scalar type is complex, and the type of its real part.
template <class T>
struct ScalarTraits {
  static constexpr bool is_complex = false;
  using real_type = T;
};
template <class Real>
struct ScalarTraits<Kokkos::complex<Real>> {
  static constexpr bool is_complex = true;
  using real_type = Real;
};
// On the host, alpha and beta may be std::complex.
template <class Real>
struct ScalarTraits<std::complex<Real>> : ScalarTraits<Kokkos::complex<Real>> {};

template <class T>
constexpr bool is_complex_v = ScalarTraits<std::remove_cv_t<T>>::is_complex;
template <class T>
using real_t = typename ScalarTraits<std::remove_cv_t<T>>::real_type;

/// The real type for sums of numbers of type T: its own real type, or float if that has 16 bits.
template <class T>
using sum_t = typename RealTraits<real_t<T>>::sum_type;

/// The type for sums of products of the given types. It has the widest of the real types for their sums, and
/// is complex if one of them is.
template <class... Ts>
using wider_t =
    std::conditional_t<(is_complex_v<Ts> || ...), Kokkos::complex<std::common_type_t<sum_t<Ts>...>>,
                       std::common_type_t<sum_t<Ts>...>>;

/// Converts a value to the precision of Wide. A real value stays real, because an imaginary part of zero
/// would turn an Inf in the other factor of a product into NaN.
template <class Wide, class T>
KOKKOS_FORCEINLINE_FUNCTION auto widen(const T& value) {
  if constexpr (is_complex_v<T>)
    return Kokkos::complex<real_t<Wide>>(value.real(), value.imag());
  else
    return static_cast<real_t<Wide>>(value);
}

/// The name of a scalar type for people.
template <class T>
std::string name_of_scalar() {
  const std::string real = RealTraits<real_t<T>>::name;
  return is_complex_v<T> ? "complex<" + real + ">" : real;
}

/// A value as a type that operator<< can print.
template <class T>
auto printable(const T& value) {
  if constexpr (RealTraits<real_t<T>>::is_short)
    return static_cast<float>(value);
  else
    return value;
}

/// The complex conjugate of the value if Conjugate is true, else the value. Real values do not change.
template <bool Conjugate, class T>
KOKKOS_FORCEINLINE_FUNCTION T conjugate_if(const T& value) {
  if constexpr (Conjugate && is_complex_v<T>)
    return T(value.real(), -value.imag());
  else
    return value;
}

/// The absolute value of a real or complex number, as a real one.
template <class T>
KOKKOS_FORCEINLINE_FUNCTION real_t<T> magnitude(const T& value) {
  if constexpr (is_complex_v<T>)
    return Kokkos::abs(value);
  else
    return value < T(0) ? -value : value;
}

/// Whether two values are equal. Two NaN are.
template <class T>
KOKKOS_FORCEINLINE_FUNCTION bool are_equal(const T& a, const T& b) {
  if constexpr (is_complex_v<T>)
    return are_equal(a.real(), b.real()) && are_equal(a.imag(), b.imag());
  else
    return a == b || (a != a && b != b);
}

/// Whether `a` is the mirror image of `b` in a symmetric matrix, or in a Hermitian one, up to a difference of
/// `tolerance` relative to the larger absolute value. Two NaN are equal. An infinite difference is above any
/// tolerance.
template <class T>
KOKKOS_FORCEINLINE_FUNCTION bool are_mirror_images(const T& a, const T& b, bool is_hermitian,
                                                   double tolerance) {
  const T image = is_hermitian ? conjugate_if<true>(b) : b;
  if (are_equal(a, image)) return true;
  const auto size_of = [](const T& value) {
    return static_cast<double>(static_cast<sum_t<T>>(magnitude(value)));
  };
  const double size_a = size_of(a);
  const double size_b = size_of(b);
  const double difference = size_of(a - image);
  return difference <= RealTraits<double>::largest &&
         difference <= tolerance * (size_a > size_b ? size_a : size_b);
}

/// Casts a value to another scalar type. A cast from complex to real does not compile.
template <class To, class From>
KOKKOS_FORCEINLINE_FUNCTION To convert_scalar(const From& value) {
  if constexpr (is_complex_v<To> && is_complex_v<From>)
    return To(static_cast<real_t<To>>(value.real()), static_cast<real_t<To>>(value.imag()));
  else if constexpr (is_complex_v<To>)
    return To(static_cast<real_t<To>>(value), real_t<To>(0));
  else
    return static_cast<To>(value);
}

/// factor * value. A factor with imaginary part zero multiplies as a real number, because alpha = 1 must not
/// turn an Inf in one part of a sum into NaN in the other part.
template <class T>
KOKKOS_FORCEINLINE_FUNCTION T times(const T& factor, const T& value) {
  if constexpr (is_complex_v<T>)
    return factor.imag() == real_t<T>(0) ? T(factor.real() * value.real(), factor.real() * value.imag())
                                         : factor * value;
  else
    return factor * value;
}

/// Adds a value to *target atomically. The real and the imaginary part of a complex number are added
/// separately, because two small atomics are faster than a lock for 16 bytes.
template <class T>
KOKKOS_FORCEINLINE_FUNCTION void atomic_add(T* target, const T& value) {
  if constexpr (is_complex_v<T>) {
    real_t<T>* parts = reinterpret_cast<real_t<T>*>(target);
    Kokkos::atomic_add(parts, value.real());
    Kokkos::atomic_add(parts + 1, value.imag());
  } else {
    Kokkos::atomic_add(target, value);
  }
}

}  // namespace Filigree::Impl

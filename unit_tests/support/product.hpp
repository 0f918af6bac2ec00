// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Products on the device, compared with a reference in long double that has an error bound per element.
#pragma once

#include <gtest/gtest.h>

#include <filigree/convert.hpp>
#include <filigree/spmv.hpp>
#include <limits>

#include "reference.hpp"

namespace FiligreeTest {

constexpr Mode all_modes[] = {Mode::NoTranspose, Mode::Transpose, Mode::Conjugate, Mode::ConjugateTranspose};

template <class T>
constexpr T not_a_number() {
  return T(std::numeric_limits<Filigree::Impl::real_t<T>>::quiet_NaN());
}
template <class T>
constexpr T infinity() {
  return T(std::numeric_limits<Filigree::Impl::real_t<T>>::infinity());
}

/// A factor that is neither 0 nor 1. It is complex if T is.
template <class T>
T other_factor(double real) {
  if constexpr (Filigree::Impl::is_complex_v<T>)
    return T(static_cast<Filigree::Impl::real_t<T>>(real), Filigree::Impl::real_t<T>(-0.75));
  else
    return static_cast<T>(real);
}

/// A new View of rank 1 or 2 with the numbers of the host.
template <class View, class T>
View device_view(const HostVectors<T>& host) {
  View view = [&]() {
    if constexpr (static_cast<int>(View::rank) == 1)
      return View("vector", host.rows);
    else
      return View("vectors", host.rows, host.columns);
  }();
  auto mirror = Kokkos::create_mirror_view(view);
  for (std::int64_t c = 0; c < host.columns; ++c)
    for (std::int64_t row = 0; row < host.rows; ++row)
      if constexpr (static_cast<int>(View::rank) == 1)
        mirror(row) = host(row, c);
      else
        mirror(row, c) = host(row, c);
  Kokkos::deep_copy(view, mirror);
  return view;
}

/// A View of rank 1 or 2 copied to the host. Fences.
template <class View>
HostVectors<typename View::non_const_value_type> host_vectors(const View& view) {
  Kokkos::fence();
  auto mirror = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), view);
  HostVectors<typename View::non_const_value_type> host(view.extent(0), Filigree::Impl::column_count(view));
  for (std::int64_t c = 0; c < host.columns; ++c)
    for (std::int64_t row = 0; row < host.rows; ++row)
      if constexpr (static_cast<int>(View::rank) == 1)
        host(row, c) = mirror(row);
      else
        host(row, c) = mirror(row, c);
  return host;
}

template <class T, class Layout>
using View1 = Kokkos::View<T*, Layout, Device>;
template <class T, class Layout>
using View2 = Kokkos::View<T**, Layout, Device>;

/// Calls spmv on new Views of rank 1 or 2 and returns y.
template <template <class, class> class View, class Layout, class Matrix, class X, class Y, class Factor>
HostVectors<Y> multiply(Mode mode, const Factor& alpha, const Matrix& A, const HostVectors<X>& x,
                        const Factor& beta, const HostVectors<Y>& y) {
  auto x_view = device_view<View<X, Layout>>(x);
  auto y_view = device_view<View<Y, Layout>>(y);
  Filigree::spmv(mode, alpha, A, x_view, beta, y_view);
  return host_vectors(y_view);
}

/// The mode, factors and rank of a product.
template <class Scalar>
struct Product {
  Mode mode = Mode::NoTranspose;
  Scalar alpha = Scalar(1);
  Scalar beta = Scalar(0);
  int columns = 0;  ///< columns of Views of rank 2; 0 means Views of rank 1

  friend std::ostream& operator<<(std::ostream& out, const Product& product) {
    return out << "mode " << static_cast<char>(product.mode) << ", alpha " << product.alpha << ", beta "
               << product.beta << ", "
               << (product.columns == 0 ? std::string("rank 1")
                                        : std::to_string(product.columns) + " columns");
  }
};

/// The number of rows that x must have; y_rows is that of y.
template <class Scalar>
std::int64_t x_rows(const HostMatrix<Scalar>& A, Mode mode) {
  return Filigree::Impl::is_transpose(mode) ? A.row_count() : A.columns;
}
template <class Scalar>
std::int64_t y_rows(const HostMatrix<Scalar>& A, Mode mode) {
  return Filigree::Impl::is_transpose(mode) ? A.columns : A.row_count();
}

/// The vectors x and y before a product, and the expected y.
template <class X>
struct Expectation {
  HostVectors<X> x;
  HostVectors<X> y;
  Reference reference;
};

/// The expected product with the given x. If beta is 0, y is filled with NaN before the product.
template <class Scalar, class X, class Factor>
Expectation<X> expect_product(const HostMatrix<Scalar>& host, const Product<Factor>& product,
                              const HostVectors<X>& x, long double entry_rounding = 0) {
  HostVectors<X> y(y_rows(host, product.mode), x.columns, not_a_number<X>());
  if (product.beta != Factor(0)) y = Random(11).vectors<X>(y.rows, y.columns);
  return {
      x, y,
      reference_product(product.mode, wide(product.alpha), host, x, wide(product.beta), y, entry_rounding)};
}

/// The expected product with a random x. If alpha is 0, x is filled with NaN.
template <class Scalar>
Expectation<Scalar> expect_product(const HostMatrix<Scalar>& host, const Product<Scalar>& product) {
  const std::int64_t rows = x_rows(host, product.mode);
  const std::int64_t columns = product.columns == 0 ? 1 : product.columns;
  if (product.alpha == Scalar(0))
    return expect_product(host, product, HostVectors<Scalar>(rows, columns, not_a_number<Scalar>()));
  return expect_product(host, product, Random(5).vectors<Scalar>(rows, columns));
}

/// Whether spmv of A gives the expected y.
template <class Layout, class Matrix, class X, class Factor>
testing::AssertionResult multiplies_as_expected(const Matrix& A, const Product<Factor>& product,
                                                const Expectation<X>& expected) {
  const auto result =
      product.columns == 0
          ? multiply<View1, Layout>(product.mode, product.alpha, A, expected.x, product.beta, expected.y)
          : multiply<View2, Layout>(product.mode, product.alpha, A, expected.x, product.beta, expected.y);
  const auto same = agrees(result, expected.reference);
  if (same) return same;
  return testing::AssertionFailure() << product << ": " << same.message();
}

/// Whether spmv of A and the given x gives the product of the host matrix.
template <class Layout, class Matrix, class Scalar, class X, class Factor>
testing::AssertionResult multiplies_vectors(const Matrix& A, const HostMatrix<Scalar>& host,
                                            const Product<Factor>& product, const HostVectors<X>& x) {
  return multiplies_as_expected<Layout>(A, product, expect_product(host, product, x));
}

/// Whether spmv of A and a random x gives the product of the host matrix.
template <class Layout, class Matrix, class Scalar>
testing::AssertionResult multiplies(const Matrix& A, const HostMatrix<Scalar>& host,
                                    const Product<Scalar>& product) {
  return multiplies_as_expected<Layout>(A, product, expect_product(host, product));
}

/// Expects products in all modes that differ from those of the host matrix by at most `entry_rounding`, relative
/// to |A||x|, besides the rounding of sums in double.
template <class Matrix>
void expect_rounded_products(const Matrix& A, const HostMatrix<double>& host, double entry_rounding) {
  for (const Mode mode : all_modes)
    for (const int columns : {0, 3, 4})
      for (const double beta : {0.0, 0.1}) {
        const Product<double> product{mode, 1.1, beta, columns};
        const auto x = Random(5).vectors<double>(x_rows(host, mode), columns == 0 ? 1 : columns);
        const auto expected = expect_product(host, product, x, entry_rounding);
        EXPECT_TRUE(multiplies_as_expected<Kokkos::LayoutLeft>(A, product, expected));
        if (columns == 4) {
          EXPECT_TRUE(multiplies_as_expected<Kokkos::LayoutRight>(A, product, expected));
        }
      }
}

/// Expects correct products of A by a vector and by three columns, in mode N.
template <class Matrix>
void expect_products(const Matrix& A, const HostMatrix<double>& host) {
  for (const int columns : {0, 3})
    EXPECT_TRUE(
        multiplies<Kokkos::LayoutLeft>(A, host, Product<double>{Mode::NoTranspose, 1.5, 0.5, columns}))
        << Filigree::MatrixTraits<Matrix>::name();
}

}  // namespace FiligreeTest

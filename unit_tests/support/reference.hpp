// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Products in long double, with which the products on the device are compared.
#pragma once

#include <gtest/gtest.h>

#include <complex>
#include <filigree/core/mode.hpp>
#include <limits>
#include <vector>

#include "host_matrix.hpp"

namespace FiligreeTest {

using Filigree::Mode;
using Wide = std::complex<long double>;

template <class T>
Wide wide(const T& value) {
  if constexpr (Filigree::Impl::is_complex_v<T>)
    return {value.real(), value.imag()};
  else
    return {value, 0};
}

template <class T>
HostVectors<Wide> wide_vectors(const HostVectors<T>& vectors) {
  HostVectors<Wide> result(vectors.rows, vectors.columns);
  for (std::size_t i = 0; i < vectors.data.size(); ++i)
    result.data[i] = wide(vectors.data[i]);
  return result;
}

/// beta*y + alpha*op(A)*x in long double, and per element the largest error that a correct product may have.
struct Reference {
  HostVectors<Wide> value;
  HostVectors<long double> bound;
};

/// An entry of op(A).
struct WideEntry {
  std::int64_t row;
  std::int64_t column;
  Wide value;
};

/// The reference of a product with these entries. `epsilon` is that of the elements of the product.
Reference reference_of_entries(const Wide& alpha, const std::vector<WideEntry>& entries,
                               const HostVectors<Wide>& x, const Wide& beta, const HostVectors<Wide>& y,
                               long double epsilon, long double entry_rounding);

/// An element is the sum of n products and of beta*y. Each of the at most n + 1 additions rounds by eps/2 of
/// the partial sum, and each of the up to three complex multiplications by sqrt(5) eps/2. Together this is
/// less than (n + 3) eps times the sum of all magnitudes, for any order of the additions. eps is that of Y,
/// which must be the least precise of the types. If the product uses rounded entries, `entry_rounding` is how
/// much an entry may be rounded, relative to its value.
template <class Scalar, class X, class Y>
Reference reference_product(Mode mode, const Wide& alpha, const HostMatrix<Scalar>& A,
                            const HostVectors<X>& x, const Wide& beta, const HostVectors<Y>& y,
                            long double entry_rounding = 0) {
  const bool transpose = mode == Mode::Transpose || mode == Mode::ConjugateTranspose;
  const bool conjugate = mode == Mode::Conjugate || mode == Mode::ConjugateTranspose;
  std::vector<WideEntry> entries;
  entries.reserve(static_cast<std::size_t>(A.nnz()));
  for (std::int64_t row = 0; row < A.row_count(); ++row)
    for (const auto& entry : A.rows[static_cast<std::size_t>(row)]) {
      const Wide value = wide(entry.value);
      entries.push_back({transpose ? entry.column : row, transpose ? row : entry.column,
                         conjugate ? std::conj(value) : value});
    }
  return reference_of_entries(alpha, entries, wide_vectors(x), beta, wide_vectors(y),
                              std::numeric_limits<Filigree::Impl::real_t<Y>>::epsilon(), entry_rounding);
}

/// Whether each element of a product is within the bound of its reference. An element whose reference is not
/// finite must not be finite either.
testing::AssertionResult agrees(const HostVectors<Wide>& product, const Reference& reference);

template <class Y>
testing::AssertionResult agrees(const HostVectors<Y>& product, const Reference& reference) {
  return agrees(wide_vectors(product), reference);
}

}  // namespace FiligreeTest

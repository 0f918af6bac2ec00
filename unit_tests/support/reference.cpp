// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "reference.hpp"

#include <algorithm>
#include <cmath>
#include <type_traits>

namespace FiligreeTest {
namespace {

bool is_finite(const Wide& value) {
  return std::isfinite(value.real()) && std::isfinite(value.imag());
}

// Faster than std::abs, which scales its argument so that its square cannot overflow. On x86, and on ARM with Linux, the
// square of the largest double does not overflow in long double either.
long double magnitude(const Wide& value) {
  return std::sqrt(std::norm(value));
}
long double magnitude(long double value) {
  return std::abs(value);
}

bool is_real(const Wide& value) {
  return value.imag() == 0;
}
bool is_real(const HostVectors<Wide>& vectors) {
  return std::all_of(vectors.data.begin(), vectors.data.end(),
                     [](const Wide& value) { return is_real(value); });
}

template <class Number>
Number number(const Wide& value) {
  if constexpr (std::is_same_v<Number, Wide>)
    return value;
  else
    return value.real();
}

// Number is long double, which is faster, if all numbers are real, else Wide.
template <class Number>
Reference reference_of_numbers(const Wide& wide_alpha, const std::vector<WideEntry>& entries,
                               const HostVectors<Wide>& x, const Wide& wide_beta, const HostVectors<Wide>& y,
                               long double epsilon, long double entry_rounding) {
  const auto alpha = number<Number>(wide_alpha);
  const auto beta = number<Number>(wide_beta);
  Reference result{HostVectors<Wide>(y.rows, y.columns), HostVectors<long double>(y.rows, y.columns)};
  for (std::int64_t c = 0; c < y.columns; ++c) {
    std::vector<std::int64_t> terms(static_cast<std::size_t>(y.rows), 0);
    if (alpha != Number(0))
      for (const WideEntry& entry : entries) {
        const Number product = alpha * number<Number>(entry.value) * number<Number>(x(entry.column, c));
        result.value(entry.row, c) += product;
        result.bound(entry.row, c) += magnitude(product);
        ++terms[static_cast<std::size_t>(entry.row)];
      }
    for (std::int64_t row = 0; row < y.rows; ++row) {
      if (beta != Number(0)) {
        const Number product = beta * number<Number>(y(row, c));
        result.value(row, c) += product;
        result.bound(row, c) += magnitude(product);
      }
      result.bound(row, c) *=
          entry_rounding + static_cast<long double>(terms[static_cast<std::size_t>(row)] + 3) * epsilon;
    }
  }
  return result;
}

}  // namespace

Reference reference_of_entries(const Wide& alpha, const std::vector<WideEntry>& entries,
                               const HostVectors<Wide>& x, const Wide& beta, const HostVectors<Wide>& y,
                               long double epsilon, long double entry_rounding) {
  const bool has_real_entries = std::all_of(entries.begin(), entries.end(),
                                            [](const WideEntry& entry) { return is_real(entry.value); });
  if (has_real_entries && is_real(alpha) && is_real(x) && is_real(beta) && is_real(y))
    return reference_of_numbers<long double>(alpha, entries, x, beta, y, epsilon, entry_rounding);
  return reference_of_numbers<Wide>(alpha, entries, x, beta, y, epsilon, entry_rounding);
}

testing::AssertionResult agrees(const HostVectors<Wide>& product, const Reference& reference) {
  for (std::int64_t c = 0; c < product.columns; ++c)
    for (std::int64_t row = 0; row < product.rows; ++row) {
      const Wide got = product(row, c);
      const Wide expected = reference.value(row, c);
      const bool right =
          is_finite(expected) ? magnitude(got - expected) <= reference.bound(row, c) : !is_finite(got);
      if (!right)
        return testing::AssertionFailure() << "y(" << row << ", " << c << ") is " << got << "; expected "
                                           << expected << " +- " << reference.bound(row, c);
    }
  return testing::AssertionSuccess();
}

}  // namespace FiligreeTest

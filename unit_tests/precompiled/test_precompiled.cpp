// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Calls everything that a library with FILIGREE_PRECOMPILE has, for float and int. check_object.sh checks that
// the object of this file refers to it and does not contain it.
#include <filigree/tune/optimize.hpp>

#include "../support/formats.hpp"

#ifndef FILIGREE_PRECOMPILED_FLOAT_INT
#error This file must be compiled for a library that has float_int.
#endif

namespace FiligreeTest {
namespace {

using FloatCrs = Crs<float>;

/// Expects that A is the matrix `host`, by its products with one and with three columns and by its entries.
template <class Matrix>
void expect_equal(const Matrix& A, const HostMatrix<float>& host) {
  for (const int columns : {0, 3}) {
    const Product<float> product{Mode::NoTranspose, 2.0F, -0.5F, columns};
    EXPECT_TRUE(multiplies_as_expected<Kokkos::LayoutLeft>(A, product, expect_product(host, product)));
  }
  EXPECT_EQ(host_matrix(Filigree::to_crs(A)), canonical(host));
}

template <class Convert>
void expect_conversion(const Convert& convert) {
  auto host = block_banded<float>(12, 12, 2);
  // Symmetric, for the symmetric formats.
  HostMatrix<float> symmetric(12, 12);
  for (std::size_t row = 0; row < 12; ++row)
    for (const auto& entry : host.rows[row])
      if (entry.column >= static_cast<std::int64_t>(row)) {
        symmetric.rows[row].push_back(entry);
        if (entry.column > static_cast<std::int64_t>(row))
          symmetric.rows[static_cast<std::size_t>(entry.column)].push_back(
              {static_cast<std::int64_t>(row), entry.value});
      }
  const auto sorted = canonical(symmetric);
  const FloatCrs crs = device_crs(sorted);
  const auto A = convert(crs);
  expect_equal(A, sorted);
  auto twice = sorted;
  for (auto& row : twice.rows)
    for (auto& entry : row)
      entry.value *= 2;
  Filigree::refill(A, FloatCrs(device_crs(twice)));
  expect_equal(A, twice);
}

TEST(Precompiled, ConvertsMultipliesAndRefillsEveryFormat) {
  Filigree::for_each_format(Filigree::AllFormats(), [](auto format) {
    using FormatTag = decltype(format);
    using Options = Filigree::convert_options_t<FormatTag::template matrix, FloatCrs>;
    expect_conversion([](const FloatCrs& crs) {
      return Filigree::convert<FormatTag::template matrix>(crs, any_padding<Options>(2));
    });
  });
}

TEST(Precompiled, Optimizes) {
  expect_conversion([](const FloatCrs& crs) { return Filigree::optimize(crs); });
}

}  // namespace
}  // namespace FiligreeTest

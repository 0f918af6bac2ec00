// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Products of matrices and vectors of different scalar types. Sums have the widest of them.
#include <algorithm>
#include <limits>

#include "../support/formats.hpp"

namespace FiligreeTest {

template <class Case>
class FloatMatrix : public testing::Test {};
template <class Case>
class DoubleMatrix : public testing::Test {};

TYPED_TEST_SUITE(FloatMatrix, AllFormatsOf<float>, CaseName);
TYPED_TEST_SUITE(DoubleMatrix, AllFormatsOf<double>, CaseName);

/// The error bound is that of double; sums or factors in float would exceed it by orders of magnitude. The
/// matrix has no duplicates because some formats sum these in the type of A.
TYPED_TEST(FloatMatrix, MultipliesDoubleVectorsInDouble) {
  const auto host = suited<TypeParam>(canonical(scattered<float>(37, 29, 7)));
  for_each_variant<TypeParam>(host, 1, [&](const std::string& name, const auto& A) {
    for (const Mode mode : all_modes)
      for (const int columns : {0, 3})
        for (const double beta : {0.0, 0.1})
          EXPECT_TRUE(multiplies_vectors<typename TypeParam::Layout>(
              A, host, Product<double>{mode, 1.1, beta, columns},
              Random(5).vectors<double>(x_rows(host, mode), columns == 0 ? 1 : columns)))
              << name;
  });
}

TYPED_TEST(FloatMatrix, MultipliesBlocksByDoubleVectors) {
  if constexpr (has_block_size_v<typename TypeParam::Options>) {
    for (const int b : {2, 3, 8}) {
      const auto host = suited<TypeParam>(block_banded<float>(7 * b, 6 * b, b));
      const auto A = converted<TypeParam>(host, b);
      for (const Mode mode : all_modes)
        for (const int columns : {0, 3})
          EXPECT_TRUE(multiplies_vectors<typename TypeParam::Layout>(
              A, host, Product<double>{mode, 1.1, 0.1, columns},
              Random(5).vectors<double>(x_rows(host, mode), columns == 0 ? 1 : columns)))
              << "block size " << b;
    }
  } else {
    GTEST_SKIP() << TypeParam::Traits::name() << " has no blocks.";
  }
}

/// The partial sum 2^24 + 1 cannot be represented in float.
TYPED_TEST(FloatMatrix, SumsInDoubleForDoubleVectors) {
  HostMatrix<float> first_row(3, 3);
  first_row.rows[0] = {{0, 16777216.0f}, {1, 1.0f}, {2, -16777216.0f}};
  const auto host = suited<TypeParam>(first_row);
  for_each_variant<TypeParam>(host, 1, [&](const std::string& name, const auto& A) {
    const auto y = multiply<View1, Kokkos::LayoutLeft>(
        Mode::NoTranspose, 1.0, A, HostVectors<double>(3, 1, 1.0), 0.0, HostVectors<double>(3, 1));
    EXPECT_EQ(y.data[0], 1.0) << name;
  });
}

/// A and x are of float, y is of double. The product of two floats is exact in double.
TYPED_TEST(FloatMatrix, WritesDoubleFromFloatVectors) {
  const auto host = suited<TypeParam>(canonical(scattered<float>(37, 29, 7)));
  for_each_variant<TypeParam>(host, 1, [&](const std::string& name, const auto& A) {
    for (const Mode mode : all_modes) {
      const auto x = Random(5).vectors<float>(x_rows(host, mode), 1);
      const HostVectors<double> y(y_rows(host, mode), 1, 2.0);
      EXPECT_TRUE(agrees(multiply<View1, Kokkos::LayoutLeft>(mode, 1.1, A, x, 0.1, y),
                         reference_product(mode, wide(1.1), host, x, wide(0.1), y)))
          << name;
    }
  });
}

TYPED_TEST(DoubleMatrix, SumsInDoubleForFloatVectors) {
  HostMatrix<double> first_row(5, 5);
  first_row.rows[0] = {{0, 1e9}, {1, 1.0}, {2, 3.0}, {3, 0.5}, {4, -1e9}};
  const auto host = suited<TypeParam>(first_row);
  for_each_variant<TypeParam>(host, 1, [&](const std::string& name, const auto& A) {
    const auto y = multiply<View1, Kokkos::LayoutLeft>(
        Mode::NoTranspose, 1.0f, A, HostVectors<float>(5, 1, 1.0f), 0.0f, HostVectors<float>(5, 1));
    EXPECT_EQ(y.data[0], 4.5f) << name;
  });
}

TYPED_TEST(DoubleMatrix, MultipliesComplexVectors) {
  using Complex = Kokkos::complex<double>;
  const auto host = suited<TypeParam>(canonical(scattered<double>(37, 29, 7)));
  for_each_variant<TypeParam>(host, 1, [&](const std::string& name, const auto& A) {
    for (const Mode mode : all_modes)
      for (const int columns : {0, 3})
        EXPECT_TRUE(multiplies_vectors<typename TypeParam::Layout>(
            A, host, Product<Complex>{mode, Complex(1.1, 0.3), Complex(0.2, -0.7), columns},
            Random(5).vectors<Complex>(x_rows(host, mode), columns == 0 ? 1 : columns)))
            << name;
  });
}

TYPED_TEST(DoubleMatrix, KeepsRealProductsReal) {
  using Complex = Kokkos::complex<double>;
  const double infinity = std::numeric_limits<double>::infinity();
  constexpr int rows = 64;
  HostMatrix<double> banded(rows, rows);
  for (int row = 0; row < rows; ++row)
    for (int column = std::max(0, row - 3); column <= std::min(rows - 1, row + 3); ++column)
      banded.rows[static_cast<std::size_t>(row)].push_back({column, row == 30 ? infinity : 1.0});
  const auto host = suited<TypeParam>(banded);
  for_each_variant<TypeParam>(host, 1, [&](const std::string& name, const auto& A) {
    const auto y = multiply<View1, Kokkos::LayoutLeft>(Mode::NoTranspose, Complex(1), A,
                                                       HostVectors<double>(rows, 1, 2.0), Complex(0),
                                                       HostVectors<Complex>(rows, 1));
    // Inf * 2 is Inf. If x were widened to complex, Inf * (2, 0) would have NaN as imaginary part.
    EXPECT_EQ(y.data[30], Complex(infinity, 0)) << name;
    EXPECT_EQ(y.data[26], Complex(14, 0)) << name;
  });
}

#if FILIGREE_HAS_BSR
/// These products use Filigree's kernel: Kokkos Kernels does not take vectors of another type than A.
TEST(Bsr, MultipliesComplexBlocksOfWideOrdinalsInEveryMode) {
  using Complex = Kokkos::complex<double>;
  using Case = FormatCase<Filigree::Format<Filigree::BsrMatrix>, Kokkos::complex<float>, Kokkos::LayoutLeft,
                          std::int64_t, std::int64_t>;
  for (const int b : {1, 2, 3, 8}) {
    const auto host = block_banded<Kokkos::complex<float>>(7 * b, 6 * b, b);
    const auto A = converted<Case>(host, b);
    for (const Mode mode : all_modes)
      for (const int columns : {0, 3, 18})
        EXPECT_TRUE(multiplies_vectors<Kokkos::LayoutLeft>(
            A, host, Product<Complex>{mode, Complex(1.1, 0.3), Complex(0.2, -0.7), columns},
            Random(5).vectors<Complex>(x_rows(host, mode), columns == 0 ? 1 : columns)))
            << "block size " << b;
  }
}
#endif

}  // namespace FiligreeTest

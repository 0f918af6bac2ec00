// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tests of the product that every format must pass. There is one .cpp file per scalar type that instantiates
// them.
#pragma once

#include "../support/formats.hpp"
#include "../support/product.hpp"

namespace FiligreeTest {

template <class Case>
class AllFormats : public testing::Test {
 public:
  using Scalar = typename Case::Scalar;
  using Matrix = typename Case::Matrix;

  static testing::AssertionResult is_correct(const Matrix& A, const HostMatrix<Scalar>& host,
                                             const Product<Scalar>& product) {
    return multiplies<typename Case::Layout>(A, host, product);
  }

  /// Expects correct products of all variants of the format, in every mode, for x and y of rank 1 and of rank
  /// 2 with several numbers of columns.
  static void expect_correct(const std::string& name, const HostMatrix<Scalar>& host, int block_size = 1) {
    std::vector<std::pair<std::string, Matrix>> variants;
    for_each_variant<Case>(host, block_size, [&](const std::string& variant, const Matrix& A) {
      variants.emplace_back(variant, A);
    });
    for (const Mode mode : all_modes)
      for (const int columns : {0, 1, 3, 6})
        for (const bool plain : {true, false}) {
          const Product<Scalar> product{mode, plain ? Scalar(1) : other_factor<Scalar>(1.5),
                                        plain ? Scalar(0) : other_factor<Scalar>(-0.4), columns};
          const auto expected = expect_product(host, product);
          for (const auto& [variant, A] : variants)
            EXPECT_TRUE(multiplies_as_expected<typename Case::Layout>(A, product, expected))
                << variant << ", " << name;
        }
  }

  /// Calls expect_no_leak for all variants of the format.
  static void expect_no_leaks(const std::string& name, const HostMatrix<Scalar>& host, int block_size = 1) {
    for_each_variant<Case>(host, block_size, [&](const std::string& variant, const Matrix& A) {
      expect_no_leak(variant + ", " + name, A, host);
    });
  }

  /// Sets one element of x after the other to Inf or NaN. Only elements of y whose sums contain that element
  /// may become Inf or NaN.
  static void expect_no_leak(const std::string& name, const Matrix& A, const HostMatrix<Scalar>& host) {
    for (const Mode mode : all_modes)
      for (std::int64_t at = 0; at < x_rows(host, mode); ++at)
        for (const int columns : {0, 3, 4}) {
          auto x = Random(3).vectors<Scalar>(x_rows(host, mode), columns == 0 ? 1 : columns);
          x(at, x.columns / 2) = at % 2 == 0 ? infinity<Scalar>() : not_a_number<Scalar>();
          EXPECT_TRUE(multiplies_vectors<typename Case::Layout>(
              A, host, Product<Scalar>{mode, Scalar(1), Scalar(0), columns}, x))
              << name << ", x(" << at << ") is not finite";
        }
  }
};

TYPED_TEST_SUITE_P(AllFormats);

TYPED_TEST_P(AllFormats, MultipliesInEveryModeWithEveryRankAndFactor) {
  using Scalar = typename TypeParam::Scalar;
  const auto host = suited<TypeParam>(scattered<Scalar>(37, 29, 7));
  const auto A = converted<TypeParam>(host);
  for (const Mode mode : all_modes)
    for (const int columns : {0, 1, 2, 3, 4, 5, 7, 8})
      for (const Scalar& alpha : {Scalar(0), Scalar(1), other_factor<Scalar>(1.5)})
        for (const Scalar& beta : {Scalar(0), Scalar(1), other_factor<Scalar>(-0.4)})
          EXPECT_TRUE(this->is_correct(A, host, {mode, alpha, beta, columns}));
}

TYPED_TEST_P(AllFormats, MultipliesMatricesOfEveryShape) {
  using Scalar = typename TypeParam::Scalar;
  for (const auto& [name, host] : all_shapes<Scalar>())
    this->expect_correct(name, suited<TypeParam>(host));
}

TYPED_TEST_P(AllFormats, MultipliesBlocksOfEverySize) {
  using Scalar = typename TypeParam::Scalar;
  if constexpr (has_block_size_v<typename TypeParam::Options>) {
    for (int b = 1; b <= largest_block_size<TypeParam>(); ++b) {
      const auto divisible = suited<TypeParam>(block_banded<Scalar>(7 * b, 6 * b, b));
      this->expect_correct("block size " + std::to_string(b), divisible, b);
      if constexpr (!dense_blocks_v<TypeParam>) {
        const auto cut = suited<TypeParam>(block_banded<Scalar>(7 * b - b / 2, 6 * b + (b + 1) / 2, b));
        this->expect_correct("block size " + std::to_string(b) + ", last blocks cut", cut, b);
      }
    }
    if constexpr (!dense_blocks_v<TypeParam>) {
      const auto smaller_than_a_block = suited<TypeParam>(scattered<Scalar>(3, 2, 2));
      this->expect_correct("matrix smaller than a block", smaller_than_a_block, 4);
    }
  } else {
    GTEST_SKIP() << TypeParam::Traits::name() << " has no blocks.";
  }
}

TYPED_TEST_P(AllFormats, MultipliesManyColumns) {
  using Scalar = typename TypeParam::Scalar;
  const auto expect_correct = [&](const HostMatrix<Scalar>& host, int block_size) {
    const auto A = converted<TypeParam>(host, block_size);
    for (const Mode mode : all_modes)
      for (const int columns : {9, 12, 16, 17, 18, 24})
        EXPECT_TRUE(this->is_correct(A, host, {mode, other_factor<Scalar>(1.5), Scalar(1), columns}))
            << "block size " << block_size;
  };
  expect_correct(suited<TypeParam>(scattered<Scalar>(70, 60, 7)), 1);
  if constexpr (has_block_size_v<typename TypeParam::Options>)
    for (const int b : {2, 3, 4, 6, 8, 10}) {
      if (b > largest_block_size<TypeParam>()) continue;
      const auto host = suited<TypeParam>(block_banded<Scalar>(7 * b, 6 * b, b));
      expect_correct(host, b);
      // BSR multiplies the zeros of its blocks, so Inf in x spreads to the whole block.
      if (!dense_blocks_v<TypeParam>)
        this->expect_no_leak("block size " + std::to_string(b), converted<TypeParam>(host, b), host);
    }
}

TYPED_TEST_P(AllFormats, PaddingDoesNotReadX) {
  using Scalar = typename TypeParam::Scalar;
  const auto unsorted = suited<TypeParam>(scattered<Scalar>(14, 17, 4));
  this->expect_no_leaks("scattered", unsorted);
  if constexpr (has_block_size_v<typename TypeParam::Options> && !dense_blocks_v<TypeParam>)
    for (const int b : {2, 3, 5, 9}) {
      if (b > largest_block_size<TypeParam>()) continue;
      const auto host = suited<TypeParam>(block_banded<Scalar>(4 * b + 1, 5 * b - 1, b));
      this->expect_no_leak("block size " + std::to_string(b), converted<TypeParam>(host, b), host);
    }
}

TYPED_TEST_P(AllFormats, AlphaZeroReadsNeitherMatrixNorX) {
  using Scalar = typename TypeParam::Scalar;
  auto host = scattered<Scalar>(12, 12, 3);
  for (auto& row : host.rows)
    for (auto& entry : row)
      entry.value = not_a_number<Scalar>();
  auto options = any_padding<typename TypeParam::Options>();
  if constexpr (is_symmetric_v<TypeParam>) options.check_symmetry = false;
  const auto A = TypeParam::convert_with(device_crs<typename TypeParam::Crs>(host), options);
  for (const Mode mode : all_modes)
    for (const int columns : {0, 3})
      for (const Scalar& beta : {Scalar(0), Scalar(1), other_factor<Scalar>(-0.4)})
        EXPECT_TRUE(this->is_correct(A, host, {mode, Scalar(0), beta, columns}));
}

TYPED_TEST_P(AllFormats, ModesNAndCGiveTheSameBitsOnEveryRun) {
  using Scalar = typename TypeParam::Scalar;
  // In mode C real numbers have the kernels of mode N.
  const std::vector<Mode> modes = Filigree::Impl::is_complex_v<Scalar>
                                      ? std::vector<Mode>{Mode::NoTranspose, Mode::Conjugate}
                                      : std::vector<Mode>{Mode::NoTranspose};
  // A scattered matrix of this size would fill nearly all diagonals and blocks.
  const int b = has_block_size_v<typename TypeParam::Options> ? 3 : 1;
  const auto host = suited<TypeParam>(keeps_entries_v<TypeParam> ? scattered<Scalar>(3000, 3000, 9)
                                                                 : block_banded<Scalar>(3000, 3000, b));
  const auto x = Random(1).vectors<Scalar>(3000, 2);
  const auto y = Random(2).vectors<Scalar>(3000, 2);
  for_each_variant<TypeParam>(host, b, [&](const std::string& name, const auto& A) {
    for (const Mode mode : modes) {
      const auto product = [&]() {
        return multiply<View2, typename TypeParam::Layout>(mode, other_factor<Scalar>(1.5), A, x,
                                                           other_factor<Scalar>(-0.4), y);
      };
      const auto first = product();
      for (int run = 0; run < 10; ++run)
        ASSERT_EQ(first.data, product().data) << name << ", run " << run;
    }
  });
}

REGISTER_TYPED_TEST_SUITE_P(AllFormats, MultipliesInEveryModeWithEveryRankAndFactor,
                            MultipliesMatricesOfEveryShape, MultipliesBlocksOfEverySize,
                            MultipliesManyColumns, PaddingDoesNotReadX, AlphaZeroReadsNeitherMatrixNorX,
                            ModesNAndCGiveTheSameBitsOnEveryRun);

}  // namespace FiligreeTest

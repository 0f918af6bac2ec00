// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tests of the products of CDS and blocked ELL with several columns of x. On a GPU their kernels depend on the block
// size, on the layout of x, on how x is aligned, and on whether the last block is whole.
#include "../support/formats.hpp"
#include "../support/product.hpp"

namespace FiligreeTest {
namespace {

template <class Case>
class BlockColumns : public testing::Test {
 public:
  static auto converted(const HostMatrix<typename Case::Scalar>& host, int b) {
    return Case::convert_with(device_crs(host), any_padding<typename Case::Options>(b));
  }
};

using Cds = Filigree::Format<Filigree::CdsMatrix>;
using Bell = Filigree::Format<Filigree::BellMatrix>;
using Left = Kokkos::LayoutLeft;
using Right = Kokkos::LayoutRight;
using Complex = Kokkos::complex<double>;
using Cases = testing::Types<FormatCase<Cds, double, Left>, FormatCase<Cds, double, Right>,
                             FormatCase<Cds, float, Left>, FormatCase<Cds, float, Right>,
                             FormatCase<Cds, Complex, Left>, FormatCase<Cds, Complex, Right>,
                             FormatCase<Bell, double, Left>, FormatCase<Bell, double, Right>,
                             FormatCase<Bell, float, Left>, FormatCase<Bell, float, Right>>;
TYPED_TEST_SUITE(BlockColumns, Cases);

TYPED_TEST(BlockColumns, MultipliesAnyNumberOfColumns) {
  using Scalar = typename TypeParam::Scalar;
  for (int b = 1; b <= 8; ++b) {
    const auto host = block_banded<Scalar>(40 * b, 40 * b, b);
    const auto A = this->converted(host, b);
    for (const int columns : {2, 3, 4, 5, 8, 11, 12, 16, 17, 20})
      for (const Mode mode : {Mode::NoTranspose, Mode::Conjugate})
        EXPECT_TRUE(multiplies<typename TypeParam::Layout>(
            A, host, Product<Scalar>{mode, Scalar(2), Scalar(columns % 2 == 0 ? 0 : -3), columns}))
            << "b = " << b;
  }
}

TYPED_TEST(BlockColumns, MultipliesCutBlocks) {
  using Scalar = typename TypeParam::Scalar;
  for (int b = 2; b <= 8; ++b)
    for (const int rows : {30 * b, 30 * b + 1})
      for (const int cols : {30 * b, 30 * b + 1, 31 * b - 1}) {
        const auto host = block_banded<Scalar>(rows, cols, b);
        const auto A = this->converted(host, b);
        for (const int columns : {4, 8, 16})
          EXPECT_TRUE(multiplies<typename TypeParam::Layout>(
              A, host, Product<Scalar>{Mode::NoTranspose, Scalar(1), Scalar(1), columns}))
              << "b = " << b << ", " << rows << " rows, " << cols << " columns";
      }
}

/// The kernels must not need the alignment that the memory of a whole View has.
TYPED_TEST(BlockColumns, MultipliesPartsOfViews) {
  using Scalar = typename TypeParam::Scalar;
  using View = View2<Scalar, typename TypeParam::Layout>;
  for (int b = 1; b <= 8; ++b) {
    const auto host = block_banded<Scalar>(24 * b, 24 * b, b);
    const auto A = this->converted(host, b);
    for (const int columns : {4, 8}) {
      const auto expected =
          expect_product(host, Product<Scalar>{Mode::NoTranspose, Scalar(1), Scalar(0), columns});
      for (const int first : {0, 1, 2, 4})
        for (const int first_column : {0, 1, 2, 4}) {
          const auto part = [&](const View& view) {
            return Kokkos::subview(view, std::make_pair(first, first + 24 * b),
                                   std::make_pair(first_column, first_column + columns));
          };
          const View x("x", 24 * b + 5, columns + 5), y("y", 24 * b + 5, columns + 5);
          Kokkos::deep_copy(x, not_a_number<Scalar>());
          Kokkos::deep_copy(y, Scalar(77));
          const auto whole = device_view<View>(expected.x);
          Kokkos::deep_copy(part(x), whole);
          Filigree::spmv(Mode::NoTranspose, Scalar(1), A, part(x), Scalar(0), part(y));
          const View result("result", 24 * b, columns);
          Kokkos::deep_copy(result, part(y));
          EXPECT_TRUE(agrees(host_vectors(result), expected.reference))
              << "b = " << b << ", " << columns << " columns, from row " << first << " and column "
              << first_column;
          const auto all = host_vectors(y);
          std::int64_t others = 0;
          for (std::int64_t c = 0; c < all.columns; ++c)
            for (std::int64_t row = 0; row < all.rows; ++row)
              if (all(row, c) == Scalar(77)) ++others;
          EXPECT_EQ(others, all.rows * all.columns - std::int64_t(24) * b * columns);
        }
    }
  }
}

/// A zero in a block may be padding, which must not read x.
TYPED_TEST(BlockColumns, DoesNotMultiplyPadding) {
  using Scalar = typename TypeParam::Scalar;
  for (int b = 2; b <= 8; ++b) {
    HostMatrix<Scalar> host(20 * b, 20 * b);
    for (std::int64_t row = 0; row < 20 * b; ++row)
      host.rows[static_cast<std::size_t>(row)].push_back({row / b * b, Scalar(3)});
    const auto A = this->converted(host, b);
    auto x = Random(5).vectors<Scalar>(20 * b, 8);
    for (std::int64_t row = 0; row < 20 * b; ++row)
      if (row % b != 0)
        for (int c = 0; c < 8; ++c)
          x(row, c) = not_a_number<Scalar>();
    EXPECT_TRUE(multiplies_vectors<typename TypeParam::Layout>(
        A, host, Product<Scalar>{Mode::NoTranspose, Scalar(1), Scalar(0), 8}, x))
        << "b = " << b;
  }
}

}  // namespace
}  // namespace FiligreeTest

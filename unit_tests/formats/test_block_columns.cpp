// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tests of the products of CDS and blocked ELL with several columns of x. On a GPU their kernels depend on the block
// size, on the layout of x, on how x is aligned, and on whether the last block is whole.
#include <algorithm>
#include <limits>

#include "../support/formats.hpp"
#include "../support/product.hpp"

namespace FiligreeTest {
namespace {

/// A matrix with full diagonals.
template <class Scalar>
HostMatrix<Scalar> with_diagonals(std::int64_t rows, std::int64_t columns,
                                  const std::vector<std::int64_t>& offsets) {
  HostMatrix<Scalar> host(rows, columns);
  for (std::int64_t row = 0; row < rows; ++row)
    for (const std::int64_t offset : offsets)
      if (row + offset >= 0 && row + offset < columns)
        host.rows[static_cast<std::size_t>(row)].push_back(
            {row + offset, static_cast<Scalar>((row * 7 + offset * 3) % 11 + 1) / 4});
  return host;
}

/// A banded matrix with the given number of diagonals, every third of which is a long way from the others.
template <class Scalar>
HostMatrix<Scalar> banded(std::int64_t rows, std::int64_t columns, int diagonals) {
  std::vector<std::int64_t> offsets;
  for (int d = 0; d < diagonals; ++d)
    offsets.push_back(d % 3 == 0 ? 40 + d : d - diagonals / 2);
  std::sort(offsets.begin(), offsets.end());
  return with_diagonals<Scalar>(rows, columns, offsets);
}

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
using Cases = testing::Types<
    FormatCase<Cds, double, Left>, FormatCase<Cds, double, Right>, FormatCase<Cds, float, Left>,
    FormatCase<Cds, float, Right>, FormatCase<Cds, Complex, Left>, FormatCase<Cds, Complex, Right>,
    FormatCase<Cds, Kokkos::complex<float>, Left>, FormatCase<Bell, double, Left>,
    FormatCase<Bell, double, Right>, FormatCase<Bell, float, Left>, FormatCase<Bell, float, Right>>;
TYPED_TEST_SUITE(BlockColumns, Cases);

TYPED_TEST(BlockColumns, MultipliesAnyNumberOfColumns) {
  using Scalar = typename TypeParam::Scalar;
  for (int b = 1; b <= 8; ++b) {
    const auto host = block_banded<Scalar>(150 * b, 150 * b, b);
    const auto A = this->converted(host, b);
    for (const int columns : {2, 3, 4, 5, 8, 11, 12, 16, 17, 20})
      for (const Mode mode : {Mode::NoTranspose, Mode::Conjugate})
        EXPECT_TRUE(multiplies<typename TypeParam::Layout>(
            A, host, Product<Scalar>{mode, Scalar(2), Scalar(columns % 2 == 0 ? 0 : -3), columns}))
            << "b = " << b;
  }
}

/// The columns of CDS have padding from 8 KiB on.
TYPED_TEST(BlockColumns, MultipliesPaddedColumns) {
  using Scalar = typename TypeParam::Scalar;
  for (const int b : {2, 3, 4, 8}) {
    const std::int64_t rows = 2048 / b * b + b;
    const auto host = block_banded<Scalar>(rows, rows, b);
    const auto A = this->converted(host, b);
    for (const int columns : {4, 8})
      EXPECT_TRUE(multiplies<typename TypeParam::Layout>(
          A, host, Product<Scalar>{Mode::NoTranspose, Scalar(2), Scalar(-3), columns}))
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
    const auto host = b == 1 ? with_diagonals<Scalar>(24, 24, {-15, -5, -4, -3, 0, 1, 2, 3, 20})
                             : block_banded<Scalar>(24 * b, 24 * b, b);
    const auto A = this->converted(host, b);
    for (const int columns : {4, 8, 16}) {
      const auto expect_product_of_parts = [&](int x_first, int y_first, int first_column, int beta) {
        const auto expected =
            expect_product(host, Product<Scalar>{Mode::NoTranspose, Scalar(1), Scalar(beta), columns});
        const auto part = [&](const View& view, int first) {
          return Kokkos::subview(view, std::make_pair(first, first + 24 * b),
                                 std::make_pair(first_column, first_column + columns));
        };
        // With 8 columns the columns of a View with LayoutLeft are not aligned.
        const int rows = 24 * b + (columns == 8 ? 9 : 8);
        const View x("x", rows, columns + 8), y("y", rows, columns + 8);
        Kokkos::deep_copy(x, not_a_number<Scalar>());
        Kokkos::deep_copy(y, Scalar(77));
        Kokkos::deep_copy(part(x, x_first), device_view<View>(expected.x));
        Kokkos::deep_copy(part(y, y_first), device_view<View>(expected.y));
        Filigree::spmv(Mode::NoTranspose, Scalar(1), A, part(x, x_first), Scalar(beta), part(y, y_first));
        const View result("result", 24 * b, columns);
        Kokkos::deep_copy(result, part(y, y_first));
        EXPECT_TRUE(agrees(host_vectors(result), expected.reference))
            << "b = " << b << ", " << columns << " columns, x from row " << x_first << ", y from row "
            << y_first << ", both from column " << first_column << ", beta = " << beta;
        Kokkos::deep_copy(part(y, y_first), not_a_number<Scalar>());
        const auto all = host_vectors(y);
        std::int64_t others = 0;
        for (std::int64_t c = 0; c < all.columns; ++c)
          for (std::int64_t row = 0; row < all.rows; ++row)
            if (all(row, c) == Scalar(77)) ++others;
        EXPECT_EQ(others, all.rows * all.columns - std::int64_t(24) * b * columns);
      };
      for (const int first_column : {0, 1, 2, 4}) {
        for (const int first : {0, 1, 2, 4})
          expect_product_of_parts(first, first, first_column, first == 2 ? -3 : 0);
        expect_product_of_parts(0, 1, first_column, -3);
        expect_product_of_parts(1, 0, first_column, 0);
      }
    }
  }
}

/// x has one layout and y the other.
TYPED_TEST(BlockColumns, MultipliesVectorsOfTwoLayouts) {
  using Scalar = typename TypeParam::Scalar;
  using Layout = typename TypeParam::Layout;
  using Other = std::conditional_t<std::is_same_v<Layout, Left>, Right, Left>;
  for (int b = 1; b <= 8; ++b) {
    const auto host = block_banded<Scalar>(30 * b, 30 * b, b);
    const auto A = this->converted(host, b);
    for (const int columns : {4, 8, 16}) {
      const auto expected =
          expect_product(host, Product<Scalar>{Mode::NoTranspose, Scalar(1), Scalar(-3), columns});
      const auto x = device_view<View2<Scalar, Layout>>(expected.x);
      const auto y = device_view<View2<Scalar, Other>>(expected.y);
      Filigree::spmv(Mode::NoTranspose, Scalar(1), A, x, Scalar(-3), y);
      EXPECT_TRUE(agrees(host_vectors(y), expected.reference))
          << "b = " << b << ", " << columns << " columns";
    }
  }
}

/// A of float, x and y of double.
TYPED_TEST(BlockColumns, MultipliesWiderVectors) {
  using Scalar = typename TypeParam::Scalar;
  if constexpr (std::is_same_v<Scalar, float>) {
    for (int b = 2; b <= 8; ++b) {
      const auto host = block_banded<float>(30 * b, 30 * b, b);
      const auto A = this->converted(host, b);
      for (const int columns : {4, 8, 11, 16})
        EXPECT_TRUE(multiplies_vectors<typename TypeParam::Layout>(
            A, host, Product<double>{Mode::NoTranspose, 1.1, 0.1, columns},
            Random(5).vectors<double>(30 * b, columns)))
            << "b = " << b;
    }
  } else {
    GTEST_SKIP() << "Matrices of float are enough.";
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
    for (const int columns : {4, 8, 11, 12, 16}) {
      auto x = Random(5).vectors<Scalar>(20 * b, columns);
      for (std::int64_t row = 0; row < 20 * b; ++row)
        if (row % b != 0)
          for (int c = 0; c < columns; ++c)
            x(row, c) = not_a_number<Scalar>();
      for (const int beta : {0, -3})
        EXPECT_TRUE(multiplies_vectors<typename TypeParam::Layout>(
            A, host,
            Product<Scalar>{beta == 0 ? Mode::NoTranspose : Mode::Conjugate, Scalar(2), Scalar(beta),
                            columns},
            x))
            << "b = " << b << ", " << columns << " columns, beta = " << beta;
    }
  }
}

/// The same with block size 1: three of four rows have no entry, and their padding must not read x.
TYPED_TEST(BlockColumns, DoesNotMultiplyPaddingOfEmptyRows) {
  using Scalar = typename TypeParam::Scalar;
  constexpr std::int64_t size = 600;
  HostMatrix<Scalar> host(size, size);
  for (std::int64_t row = 0; row + 1 < size; row += 4)
    host.rows[static_cast<std::size_t>(row)].push_back({row + 1, Scalar(3)});
  const auto A = this->converted(host, 1);
  for (const int columns : {4, 8, 16}) {
    auto x = Random(6).vectors<Scalar>(size, columns);
    for (std::int64_t row = 0; row < size; ++row)
      if (row % 4 != 1)
        for (int c = 0; c < columns; ++c)
          x(row, c) = not_a_number<Scalar>();
    EXPECT_TRUE(multiplies_vectors<typename TypeParam::Layout>(
        A, host, Product<Scalar>{Mode::NoTranspose, Scalar(1), Scalar(0), columns}, x));
  }
}

/// Two of three rows have no entry. Where a block has no entry, an Inf or NaN of x must not appear in y. 840 has whole
/// blocks of all sizes up to 8. The last column of x, which cut blocks are clipped to, has NaN too.
TYPED_TEST(BlockColumns, DoesNotMultiplyPaddingOfBands) {
  using Scalar = typename TypeParam::Scalar;
  for (const std::int64_t size : {840, 599})
    for (const int diagonals : {5, 14}) {
      auto host = banded<Scalar>(size, size, diagonals);
      for (std::int64_t row = 0; row < size; ++row)
        if (row % 3 != 0) host.rows[static_cast<std::size_t>(row)].clear();
      for (int b = 1; b <= 8; ++b) {
        const auto A = this->converted(host, b);
        for (const std::int64_t columns : {4, 8, 11, 16}) {
          auto x = Random(7).vectors<Scalar>(size, columns);
          for (std::int64_t row = size - 1; row >= 0; row -= 25)
            for (std::int64_t c = row % 2; c < columns; c += 2)
              x(row, c) = row % 3 == 0 ? infinity<Scalar>() : not_a_number<Scalar>();
          EXPECT_TRUE(multiplies_vectors<typename TypeParam::Layout>(
              A, host, Product<Scalar>{Mode::NoTranspose, Scalar(1), Scalar(0), static_cast<int>(columns)},
              x))
              << size << " rows, " << diagonals << " diagonals, b = " << b;
        }
      }
    }
}

/// An entry times Inf stays Inf, also if the row has padding where x is NaN.
TYPED_TEST(BlockColumns, KeepInfinityBesidePadding) {
  using Scalar = typename TypeParam::Scalar;
  if constexpr (std::is_floating_point_v<Scalar>) {
    for (int b = 1; b <= 8; ++b) {
      const std::int64_t size = 20 * b;
      HostMatrix<Scalar> host(size, size);
      for (std::int64_t row = 0; row < size; ++row)
        for (std::int64_t block = row / b; block < std::min<std::int64_t>(row / b + 7, 20); ++block)
          if (b > 1 || (row + block) % 2 == 0)
            host.rows[static_cast<std::size_t>(row)].push_back({block * b, Scalar(3)});
      const auto A = this->converted(host, b);
      for (const std::int64_t columns : {4, 8, 16}) {
        HostVectors<Scalar> x(size, columns, infinity<Scalar>());
        for (std::int64_t row = 0; row < size; ++row)
          if (b > 1 ? row % b != 0 : row % 2 != 0)
            for (std::int64_t c = 0; c < columns; ++c)
              x(row, c) = not_a_number<Scalar>();
        const auto y = multiply<View2, typename TypeParam::Layout>(
            Mode::NoTranspose, Scalar(1), A, x, Scalar(0), HostVectors<Scalar>(size, columns));
        for (std::int64_t c = 0; c < columns; ++c)
          for (std::int64_t row = 0; row<size; row += b> 1 ? 1 : 2)
            EXPECT_TRUE(std::isinf(y(row, c))) << y(row, c) << ", row " << row << ", b = " << b;
      }
    }
  } else {
    GTEST_SKIP() << "A complex product with Inf has NaN.";
  }
}

using Filigree::Impl::ColumnAccess;

template <class Scalar, ColumnAccess Access, int Columns = 4>
using SeveralColumns =
    Filigree::Impl::ProductOperands<Scalar, Scalar, Scalar, Columns, Filigree::Impl::NoScaling, Access>;

template <class Operands, class Vectors>
Operands operands_of(const Vectors& x, const Vectors& y) {
  return {{},
          Filigree::Impl::multi_vector<Vectors, const typename Vectors::value_type>(x),
          Filigree::Impl::multi_vector(y),
          static_cast<int>(x.extent(1)),
          1,
          0};
}

/// New x and y of a product with A.
template <class Layout, class Matrix>
auto vectors_of(const Matrix& A, int columns) {
  using Vectors = View2<typename Matrix::value_type, Layout>;
  return std::pair(Vectors("x", static_cast<std::size_t>(A.numCols()), columns),
                   Vectors("y", static_cast<std::size_t>(A.numRows()), columns));
}

template <class Format, class Scalar, class Ordinal, int BlockSize, class Operands, class Layout>
void expect_kernel_for_whole_blocks(int columns) {
  if constexpr (Filigree::Impl::runs_on_gpu_v<ExecutionSpace>) {
    constexpr int b = BlockSize;
    using Case = FormatCase<Format, Scalar, Layout, Ordinal>;
    const auto converted = [](int rows, int columns_of_a) {
      return Case::convert_with(device_crs<typename Case::Crs>(block_banded<Scalar>(rows, columns_of_a, b)),
                                any_padding<typename Case::Options>(b));
    };
    const auto whole = converted(16 * b, 16 * b);
    using Matrix = std::decay_t<decltype(whole)>;
    using Product = std::conditional_t<std::is_same_v<Format, Bell>,
                                       Filigree::Impl::BellSpmv<ExecutionSpace, Matrix, Operands, b, false>,
                                       Filigree::Impl::CdsProduct<ExecutionSpace, Matrix, Operands, b>>;
    constexpr int per_lane = Filigree::Impl::columns_per_block_lane<Operands, b>(4);
    if constexpr (per_lane == 0) {
      EXPECT_TRUE(b == 7 && Filigree::Impl::is_complex_v<Scalar>);
    } else {
      using Kernel =
          Filigree::Impl::BlockColumnsProduct<ExecutionSpace, Product, Operands, b, false, per_lane>;
      const auto fits = [&](const Matrix& A, std::int64_t rows = 0) {
        const auto [x, y] = vectors_of<Layout>(A, columns);
        Product product(A, operands_of<Operands>(x, y));
        if (rows > 0) product.rows = rows;
        return Kernel{product}.fits();
      };
      EXPECT_TRUE(fits(whole)) << b;
      EXPECT_FALSE(fits(converted(16 * b, 16 * b + 1))) << b;
      EXPECT_FALSE(fits(converted(16 * b + 1, 16 * b))) << b;
      // The lanes of the last team count rows in an ordinal, also those after the last row.
      const std::int64_t most = std::numeric_limits<Ordinal>::max() / b * b;
      EXPECT_TRUE(fits(whole, most / 2 / b * b)) << b;
      EXPECT_FALSE(fits(whole, most)) << b;
    }
  }
}

template <class Format, class Scalar, class Ordinal, int BlockSize>
void expect_kernels_for_whole_blocks() {
  expect_kernel_for_whole_blocks<Format, Scalar, Ordinal, BlockSize,
                                 SeveralColumns<Scalar, ColumnAccess::row_major>, Right>(8);
  expect_kernel_for_whole_blocks<Format, Scalar, Ordinal, BlockSize,
                                 SeveralColumns<Scalar, ColumnAccess::exact, 8>, Left>(8);
  expect_kernel_for_whole_blocks<Format, Scalar, Ordinal, BlockSize,
                                 SeveralColumns<Scalar, ColumnAccess::any, 16>, Left>(11);
}

template <class Format, class Scalar, class Ordinal = int>
void expect_kernels_for_all_block_sizes() {
  if (!Filigree::Impl::runs_on_gpu_v<ExecutionSpace>) GTEST_SKIP() << "It is a kernel for a GPU.";
  expect_kernels_for_whole_blocks<Format, Scalar, Ordinal, 2>();
  expect_kernels_for_whole_blocks<Format, Scalar, Ordinal, 3>();
  expect_kernels_for_whole_blocks<Format, Scalar, Ordinal, 4>();
  expect_kernels_for_whole_blocks<Format, Scalar, Ordinal, 5>();
  expect_kernels_for_whole_blocks<Format, Scalar, Ordinal, 6>();
  expect_kernels_for_whole_blocks<Format, Scalar, Ordinal, 7>();
  expect_kernels_for_whole_blocks<Format, Scalar, Ordinal, 8>();
}

TEST(BlockColumnsKernel, MultipliesWholeBlocksOfCds) {
  expect_kernels_for_all_block_sizes<Cds, double>();
}
TEST(BlockColumnsKernel, MultipliesWholeBlocksOfFloat) {
  expect_kernels_for_all_block_sizes<Cds, float>();
}
TEST(BlockColumnsKernel, MultipliesWholeBlocksOfComplex) {
  expect_kernels_for_all_block_sizes<Cds, Complex>();
}
TEST(BlockColumnsKernel, MultipliesWholeBlocksOfBell) {
  expect_kernels_for_all_block_sizes<Bell, double>();
}
TEST(BlockColumnsKernel, MultipliesWholeBlocksOfLongOrdinals) {
  expect_kernels_for_all_block_sizes<Cds, double, std::int64_t>();
}

/// Whether a kernel for several columns multiplies a CDS matrix of double with block size BlockSize and LayoutLeft: for
/// b = 1 CdsAheadSpmv with 16 columns of x, otherwise BlockColumnsProduct with 8.
template <int BlockSize, class Matrix>
bool is_multiplied(const Matrix& A) {
  constexpr int columns = BlockSize == 1 ? 16 : 8;
  using Operands = SeveralColumns<double, ColumnAccess::exact, columns>;
  const auto [x, y] = vectors_of<Left>(A, columns);
  const auto operands = operands_of<Operands>(x, y);
  bool result = false;
  if constexpr (!Filigree::Impl::runs_on_gpu_v<ExecutionSpace>) {
    // The kernels do not exist.
  } else if constexpr (BlockSize == 1) {
    result = Filigree::Impl::launch_cds_ahead(ExecutionSpace(), "Filigree::spmv/cds", A, operands);
  } else {
    result = Filigree::Impl::launch_block_columns<BlockSize, false>(
        ExecutionSpace(), "Filigree::spmv/cds",
        Filigree::Impl::CdsProduct<ExecutionSpace, Matrix, Operands, BlockSize>(A, operands));
  }
  ExecutionSpace().fence();
  return result;
}

TEST(BlockColumnsKernel, IsLaunchedIfItFits) {
  if (!Filigree::Impl::runs_on_gpu_v<ExecutionSpace>) GTEST_SKIP() << "It is a kernel for a GPU.";
  const auto cds = [](const HostMatrix<double>& host, int b) {
    return Filigree::convert<Filigree::CdsMatrix>(device_crs(host), any_padding<Filigree::CdsOptions>(b));
  };
  EXPECT_TRUE(is_multiplied<3>(cds(block_banded<double>(48, 48, 3), 3)));
  EXPECT_FALSE(is_multiplied<3>(cds(block_banded<double>(49, 49, 3), 3)));
  EXPECT_TRUE(is_multiplied<8>(cds(block_banded<double>(64, 64, 8), 8)));
  EXPECT_FALSE(is_multiplied<8>(cds(block_banded<double>(63, 64, 8), 8)));
  auto empty = cds(block_banded<double>(48, 48, 3), 3);
  empty.offsets = {};
  empty.values = {};
  EXPECT_FALSE(is_multiplied<3>(empty));
  // Seven diagonals fill a batch of CdsAheadSpmv, and six do not.
  EXPECT_TRUE(is_multiplied<1>(cds(with_diagonals<double>(200, 200, {-50, -10, -1, 0, 1, 10, 50}), 1)));
  EXPECT_FALSE(is_multiplied<1>(cds(with_diagonals<double>(200, 200, {-50, -10, -1, 0, 1, 10}), 1)));
}

template <class Case>
class Diagonals : public testing::Test {};
using DiagonalCases =
    testing::Types<FormatCase<Cds, double, Left>, FormatCase<Cds, double, Left, std::int64_t>,
                   FormatCase<Cds, float, Left>, FormatCase<Cds, double, Right, std::int64_t>>;
TYPED_TEST_SUITE(Diagonals, DiagonalCases);

/// With b = 1 a GPU multiplies the diagonals of some matrices in batches of 7, 5 or 8. These are fewer diagonals, whole
/// batches, and more. With b > 1 it multiplies block after block, also with ordinals of 64 bits.
TYPED_TEST(Diagonals, AreMultipliedInBatches) {
  using Case = TypeParam;
  using Scalar = typename Case::Scalar;
  for (const int diagonals : {1, 3, 5, 6, 7, 8, 9, 10, 12, 13, 14, 15, 19, 27})
    for (const auto& [rows, columns] : {std::pair(600, 600), std::pair(600, 300), std::pair(301, 599)}) {
      const auto host = banded<Scalar>(rows, columns, diagonals);
      const auto crs = device_crs<typename Case::Crs>(host);
      for (const int b : {1, 3, 4}) {
        const auto A = Case::convert_with(crs, any_padding<typename Case::Options>(b));
        if (b == 1) {
          ASSERT_EQ(static_cast<int>(A.numDiagonals()), diagonals);
        }
        for (const int columns_of_x : {4, 8, 16})
          for (const int beta : {0, -3})
            EXPECT_TRUE(multiplies<typename Case::Layout>(
                A, host, Product<Scalar>{Mode::NoTranspose, Scalar(2), Scalar(beta), columns_of_x}))
                << diagonals << " diagonals, " << rows << " x " << columns << ", b = " << b;
      }
    }
}

template <class Case>
class RunsOfDiagonals : public testing::Test {};
using RunCases = testing::Types<FormatCase<Cds, double, Left>, FormatCase<Cds, double, Right>,
                                FormatCase<Cds, float, Left>, FormatCase<Cds, float, Right>>;
TYPED_TEST_SUITE(RunsOfDiagonals, RunCases);

const std::vector<std::vector<std::int64_t>> patterns_of_offsets = {
    {-70, -50, -30, -10, 0, 10, 30, 50, 70},               // no neighbours
    {-41, -40, -21, -20, -1, 0, 20, 21, 60, 61},           // pairs
    {-51, -50, -49, -1, 0, 1, 49, 50, 51},                 // runs
    {-60, -31, -30, -29, 0, 31, 32, 33, 60},               // single diagonals before and after runs
    {-60, -50, -31, -30, -29, -28, 7, 20, 21, 22, 23, 24}  // runs with one and two more diagonals
};

/// A GPU multiplies three diagonals with neighbouring offsets together, others in pairs or alone, in 2 or 4 rows per
/// lane. A team has at most 512 rows. With an odd number of columns, the columns of x are not aligned with LayoutLeft.
TYPED_TEST(RunsOfDiagonals, AreMultipliedTogether) {
  using Case = TypeParam;
  using Scalar = typename Case::Scalar;
  for (const auto& offsets : patterns_of_offsets)
    for (const auto& [rows, columns] :
         {std::pair(600, 600), std::pair(601, 602), std::pair(602, 131), std::pair(131, 203),
          std::pair(3, 60), std::pair(64, 2), std::pair(64, 1), std::pair(1, 64), std::pair(2060, 2061),
          std::pair(2063, 2060), std::pair(2064, 2063)}) {
      const auto host = with_diagonals<Scalar>(rows, columns, offsets);
      const auto A =
          Case::convert_with(device_crs<typename Case::Crs>(host), any_padding<typename Case::Options>(1));
      for (const int columns_of_x : {4, 8, 16, 24})
        for (const int beta : {0, -3})
          EXPECT_TRUE(multiplies<typename Case::Layout>(
              A, host, Product<Scalar>{Mode::NoTranspose, Scalar(2), Scalar(beta), columns_of_x}))
              << rows << " x " << columns << ", first offset " << offsets[0] << ", " << offsets.size()
              << " offsets";
    }
}

/// x and y are parts of Views. With LayoutLeft their columns are aligned, every second one is aligned, or none, because
/// the first row of the part and the number of rows of the View are even or odd. In x the elements outside of the part
/// are large numbers, so that a product with one of them shows. (A kernel that adds padding multiplies a row again if
/// there is a NaN.)
TYPED_TEST(RunsOfDiagonals, MultiplyPartsOfViews) {
  using Case = TypeParam;
  using Scalar = typename Case::Scalar;
  using View = View2<Scalar, typename Case::Layout>;
  // 1023 rows are not padded.
  for (const int size : {1023, 2063})
    for (const auto& offsets : patterns_of_offsets) {
      const auto host = with_diagonals<Scalar>(size, size, offsets);
      const auto A =
          Case::convert_with(device_crs<typename Case::Crs>(host), any_padding<typename Case::Options>(1));
      for (const int columns : {4, 8, 16}) {
        for (const int beta : {0, -3}) {
          const auto expected =
              expect_product(host, Product<Scalar>{Mode::NoTranspose, Scalar(1), Scalar(beta), columns});
          for (const int rows : {size + 4, size + 5})
            for (const auto& [x_first, y_first] : {std::pair(0, 0), std::pair(1, 0), std::pair(2, 1)})
              for (const int first_column : {0, 1}) {
                const View x("x", rows, columns + 2), y("y", rows, columns + 2);
                const auto part = [&](const View& view, int first) {
                  return Kokkos::subview(view, std::make_pair(first, first + size),
                                         std::make_pair(first_column, first_column + columns));
                };
                Kokkos::deep_copy(x, Scalar(1e6));
                Kokkos::deep_copy(y, Scalar(77));
                Kokkos::deep_copy(part(x, x_first), device_view<View>(expected.x));
                Kokkos::deep_copy(part(y, y_first), device_view<View>(expected.y));
                Filigree::spmv(Mode::NoTranspose, Scalar(1), A, part(x, x_first), Scalar(beta),
                               part(y, y_first));
                const View result("result", size, columns);
                Kokkos::deep_copy(result, part(y, y_first));
                EXPECT_TRUE(agrees(host_vectors(result), expected.reference))
                    << columns << " columns of Views with " << rows << " rows, x from row " << x_first
                    << ", y from row " << y_first << ", both from column " << first_column
                    << ", first offset " << offsets[0];
                Kokkos::deep_copy(part(y, y_first), not_a_number<Scalar>());
                const auto all = host_vectors(y);
                const auto others = std::count(all.data.begin(), all.data.end(), Scalar(77));
                EXPECT_EQ(others, std::int64_t(rows) * (columns + 2) - std::int64_t(size) * columns);
              }
        }
      }
    }
}

/// Two of three rows have no entry. In their padding an Inf or NaN of x must not appear in y, also not by the first and
/// the last row of x, which a lane loads in place of rows outside of the matrix. An entry times Inf stays Inf.
TYPED_TEST(RunsOfDiagonals, DoNotMultiplyPadding) {
  using Case = TypeParam;
  using Scalar = typename Case::Scalar;
  for (const std::int64_t size : {599, 2062, 2063})
    for (const auto& offsets : patterns_of_offsets) {
      auto host = with_diagonals<Scalar>(size, size, offsets);
      for (std::int64_t row = 0; row < size; ++row)
        if (row % 3 != 0) host.rows[static_cast<std::size_t>(row)].clear();
      const auto A =
          Case::convert_with(device_crs<typename Case::Crs>(host), any_padding<typename Case::Options>(1));
      for (const int columns : {4, 8, 16}) {
        auto x = Random(7).vectors<Scalar>(size, columns);
        for (std::int64_t i = 0; i < size + 25; i += 25) {
          const std::int64_t row = std::min(i, size - 1);
          for (std::int64_t c = row % 2; c < columns; c += 2)
            x(row, c) = row % 3 == 0 ? infinity<Scalar>() : not_a_number<Scalar>();
        }
        EXPECT_TRUE(multiplies_vectors<typename Case::Layout>(
            A, host, Product<Scalar>{Mode::NoTranspose, Scalar(1), Scalar(0), columns}, x))
            << "first offset " << offsets[0] << ", " << offsets.size() << " offsets";
      }
    }
}

/// Whether CdsRunsSpmv multiplies a matrix with these offsets, and then also if it had so many rows that an int does
/// not count those of the last team.
template <class Scalar>
std::pair<bool, bool> runs_kernel_multiplies(const std::vector<std::int64_t>& offsets, int columns) {
  if constexpr (Filigree::Impl::runs_on_gpu_v<ExecutionSpace>) {
    using Operands = SeveralColumns<Scalar, ColumnAccess::row_major>;
    const auto A = Filigree::convert<Filigree::CdsMatrix>(
        device_crs(with_diagonals<Scalar>(200, 200, offsets)), any_padding<Filigree::CdsOptions>(1));
    const auto [x, y] = vectors_of<Right>(A, columns);
    const auto operands = operands_of<Operands>(x, y);
    Filigree::Impl::CdsRunsSpmv<ExecutionSpace, std::decay_t<decltype(A)>, Operands, 16> kernel(A, operands);
    EXPECT_TRUE(kernel.fits());
    kernel.rows = std::numeric_limits<int>::max() - 300;
    const bool fits = kernel.fits();
    const bool multiplied =
        Filigree::Impl::launch_cds_runs(ExecutionSpace(), "Filigree::spmv/cds", A, operands);
    ExecutionSpace().fence();
    return {multiplied, fits};
  } else {
    return {false, false};
  }
}

TEST(RunsOfDiagonalsKernel, MultipliesWhereItIsFaster) {
  if (!Filigree::Impl::runs_on_gpu_v<ExecutionSpace>) GTEST_SKIP() << "It is a kernel for a GPU.";
  const std::vector<std::int64_t> seven = {-50, -10, -1, 0, 1, 10, 50},
                                  nine = {-11, -10, -9, -1, 0, 1, 9, 10, 11};
  for (const auto& offsets : {seven, nine}) {
    for (const int columns : {4, 8, 16})
      EXPECT_EQ(runs_kernel_multiplies<float>(offsets, columns), std::pair(true, false)) << columns;
    EXPECT_EQ(runs_kernel_multiplies<double>(offsets, 8), std::pair(offsets == nine, false));
    EXPECT_EQ(runs_kernel_multiplies<double>(offsets, 16), std::pair(true, false));
    EXPECT_EQ(runs_kernel_multiplies<double>(offsets, 4), std::pair(false, false));
    EXPECT_EQ(runs_kernel_multiplies<double>(offsets, 12), std::pair(false, false));
    EXPECT_EQ(runs_kernel_multiplies<float>(offsets, 12), std::pair(false, false));
  }
}

/// Whether CdsRowPairsSpmv multiplies a tridiagonal matrix with Columns columns of x, which are contiguous or not.
template <class Scalar, int Columns>
bool row_pairs_multiply(int rows, bool x_is_contiguous = true) {
  bool result = false;
  if constexpr (Filigree::Impl::runs_on_gpu_v<ExecutionSpace>) {
    using Operands = SeveralColumns<Scalar, ColumnAccess::exact, Columns>;
    const auto A = Filigree::convert<Filigree::CdsMatrix>(
        device_crs(with_diagonals<Scalar>(rows, rows, {-1, 0, 1})), any_padding<Filigree::CdsOptions>(1));
    // Every second row of x is used if the columns are not contiguous.
    const View2<Scalar, Left> x("x", 2 * rows, Columns), y("y", rows, Columns);
    auto operands = operands_of<Operands>(x, y);
    if (!x_is_contiguous) operands.x.row_bytes *= 2;
    using Kernel = Filigree::Impl::CdsRowPairsSpmv<ExecutionSpace, std::decay_t<decltype(A)>, Operands, true>;
    Kernel kernel(A, operands);
    EXPECT_EQ(kernel.fits(), x_is_contiguous);
    // The last row of the last team must be an int.
    kernel.rows = std::numeric_limits<int>::max() - Kernel::rows_per_team - rows;
    EXPECT_EQ(kernel.fits(), x_is_contiguous);
    ++kernel.rows;
    EXPECT_FALSE(kernel.fits());
    result = Filigree::Impl::launch_cds_row_pairs(ExecutionSpace(), "Filigree::spmv/cds", A, operands);
    ExecutionSpace().fence();
  }
  return result;
}

TEST(RowPairsKernel, MultipliesWhereItIsFaster) {
  if (!Filigree::Impl::runs_on_gpu_v<ExecutionSpace>) GTEST_SKIP() << "It is a kernel for a GPU.";
  for (const int rows : {2060, 2061, 200, 201}) {
    EXPECT_TRUE((row_pairs_multiply<float, 4>(rows)));
    EXPECT_TRUE((row_pairs_multiply<float, 8>(rows)));
    EXPECT_TRUE((row_pairs_multiply<float, 16>(rows)));
    EXPECT_TRUE((row_pairs_multiply<double, 4>(rows)));
    EXPECT_TRUE((row_pairs_multiply<double, 8>(rows)));
    EXPECT_FALSE((row_pairs_multiply<float, 8>(rows, false)));
  }
}

/// Whether CdsRowPairsSpmv finds aligned values, and 8 columns of x that begin and end with aligned packs. x begins with
/// the given row of a View with x_rows rows.
template <class Scalar>
bool row_pairs_are_aligned(int rows, int x_rows, int first_row) {
  bool result = false;
  if constexpr (Filigree::Impl::runs_on_gpu_v<ExecutionSpace>) {
    using Operands = SeveralColumns<Scalar, ColumnAccess::exact, 8>;
    const auto A = Filigree::convert<Filigree::CdsMatrix>(
        device_crs(with_diagonals<Scalar>(rows, rows, {-1, 0, 1})), any_padding<Filigree::CdsOptions>(1));
    const View2<Scalar, Left> x("x", x_rows, 8), y("y", rows, 8);
    auto operands = operands_of<Operands>(x, y);
    operands.x.data += first_row;
    result = Filigree::Impl::CdsRowPairsSpmv<ExecutionSpace, std::decay_t<decltype(A)>, Operands, true>(
                 A, operands)
                 .is_aligned();
  }
  return result;
}

TEST(RowPairsKernel, KnowsWhatIsAligned) {
  if (!Filigree::Impl::runs_on_gpu_v<ExecutionSpace>) GTEST_SKIP() << "It is a kernel for a GPU.";
  EXPECT_TRUE(row_pairs_are_aligned<float>(1200, 1200, 0));
  EXPECT_TRUE(row_pairs_are_aligned<float>(1200, 1204, 2));
  EXPECT_FALSE(row_pairs_are_aligned<float>(1200, 1204, 1)) << "x begins in the middle of a pack.";
  EXPECT_FALSE(row_pairs_are_aligned<float>(1200, 1201, 0)) << "Every second column begins in the middle.";
  EXPECT_FALSE(row_pairs_are_aligned<float>(2061, 2062, 0)) << "Columns of x end in the middle of a pack.";
  EXPECT_FALSE(row_pairs_are_aligned<float>(1201, 1202, 0)) << "So do those of A, which have no padding.";
  EXPECT_TRUE(row_pairs_are_aligned<double>(202, 202, 0));
}

/// The Views of a caller may have columns of an odd number of values, so that values of every second diagonal are not aligned.
TEST(RunsOfDiagonalsOfViews, AreMultipliedWithValuesThatAreNotAligned) {
  constexpr int rows = 2061;
  const std::vector<std::int64_t> offsets = {-40, -1, 0, 1, 39, 40, 41};
  const auto host = with_diagonals<float>(rows, rows, offsets);
  const auto converted =
      Filigree::convert<Filigree::CdsMatrix>(device_crs(host), any_padding<Filigree::CdsOptions>(1));
  using Matrix = std::decay_t<decltype(converted)>;
  const typename Matrix::values_type values("values", offsets.size() * rows);
  const auto stride = converted.column_stride();
  ASSERT_GT(stride, rows);
  for (std::size_t d = 0; d < offsets.size(); ++d) {
    const auto part = [&](const typename Matrix::values_type& view, std::int64_t first) {
      return Kokkos::subview(view, std::make_pair(first, first + rows));
    };
    Kokkos::deep_copy(part(values, static_cast<std::int64_t>(d) * rows),
                      part(converted.values, static_cast<std::int64_t>(d) * stride));
  }
  const Matrix A(rows, rows, converted.nnz(), 1, values, converted.offsets);
  for (const int columns : {4, 8, 16})
    EXPECT_TRUE(multiplies<Left>(A, host, Product<float>{Mode::NoTranspose, 2, -3, columns}));
}

/// The numbers of diagonals in docs/performance.md, "Values loaded ahead".
TEST(BatchesOfDiagonals, AreFull) {
  using Filigree::Impl::batches_are_full;
  for (const int diagonals : {7, 13, 14, 19, 20, 21, 27})
    EXPECT_TRUE(batches_are_full(diagonals, 7)) << diagonals;
  for (const int diagonals : {5, 9, 10, 15, 18}) {
    EXPECT_FALSE(batches_are_full(diagonals, 7)) << diagonals;
    EXPECT_TRUE(batches_are_full(diagonals, 5)) << diagonals;
  }
  for (const int diagonals : {1, 2, 3, 4, 6, 8, 11, 12, 16, 17})
    EXPECT_FALSE(batches_are_full(diagonals, 7) || batches_are_full(diagonals, 5)) << diagonals;
  for (int diagonals = 18; diagonals < 1000; ++diagonals)
    EXPECT_TRUE(batches_are_full(diagonals, 7) || batches_are_full(diagonals, 5)) << diagonals;
}

}  // namespace
}  // namespace FiligreeTest

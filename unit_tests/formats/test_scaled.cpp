// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Matrices whose rows and columns are scaled by powers of two.
#include <cmath>
#include <filigree/check.hpp>
#include <filigree/diagonal.hpp>
#include <filigree/scaled.hpp>

#include "../support/errors.hpp"
#include "../support/formats.hpp"

namespace FiligreeTest {
namespace {

#if FILIGREE_HAS_HALF
using Stored = Filigree::half_t;
constexpr double unit_roundoff = 0x1p-11;
#else
using Stored = float;
constexpr double unit_roundoff = 0x1p-24;
#endif

template <class Case>
class Scaled : public testing::Test {};
using ScaledCases = CasesOf<Filigree::AllFormats, double>::one_layout;
TYPED_TEST_SUITE(Scaled, ScaledCases, CaseName);

/// The matrix with row i multiplied by 2^(power of i) and column j by 2^(power of j). Powers reach from -700 to
/// 700 for rows, and from -200 to 200 for columns. A symmetric matrix gets the same powers, from -150 to 150,
/// for both.
HostMatrix<double> badly_scaled(HostMatrix<double> host, bool is_symmetric) {
  const auto power = [](std::int64_t i, int most) {
    return static_cast<int>(i * 37 % (2 * most + 1)) - most;
  };
  for (std::int64_t row = 0; row < host.row_count(); ++row)
    for (auto& entry : host.rows[static_cast<std::size_t>(row)])
      entry.value = std::ldexp(entry.value, is_symmetric ? power(row, 150) + power(entry.column, 150)
                                                         : power(row, 700) + power(entry.column, 200));
  return host;
}

/// A matrix with entries of about one size. A symmetric one has a diagonal, on which its scaling can rely.
template <class Case>
HostMatrix<double> well_scaled(std::int64_t rows = 37, std::int64_t columns = 29) {
  auto host = canonical(scattered<double>(rows, columns, 7));
  if (is_symmetric_v<Case>)
    for (std::int64_t i = 0; i < columns; ++i)
      host.rows[static_cast<std::size_t>(i)].push_back({i, 1.5});
  return canonical(suited<Case>(host));
}

template <class Case>
auto convert_scaled(const HostMatrix<double>& host, typename Case::Options options) {
  return Case::template convert_scaled_to<Stored>(device_crs(host), options);
}

template <class Matrix>
void expect_scaled_products(const Matrix& A, const HostMatrix<double>& host) {
  expect_rounded_products(A, host, unit_roundoff);
}

TYPED_TEST(Scaled, MultipliesAnyRange) {
  const auto host = badly_scaled(well_scaled<TypeParam>(), is_symmetric_v<TypeParam>);
  EXPECT_THROW(
      TypeParam::template convert_to<Stored>(device_crs(host), any_padding<typename TypeParam::Options>()),
      std::overflow_error);
  for (const auto& variant : all_variants<TypeParam>()) {
    SCOPED_TRACE(variant.name);
    Filigree::Rounding rounding;
    auto options = any_padding(1, variant.options);
    options.rounding = &rounding;
    const auto A = convert_scaled<TypeParam>(host, options);
    EXPECT_LE(rounding.largest, unit_roundoff);
    EXPECT_EQ(rounding.zeros, 0);
    expect_scaled_products(A, host);
  }
}

TYPED_TEST(Scaled, MultipliesBlocks) {
  if constexpr (has_block_size_v<typename TypeParam::Options>) {
    for (const int b : {2, 3, 4, 5, 8}) {
      const auto host =
          badly_scaled(suited<TypeParam>(block_banded<double>(8 * b, 6 * b, b)), is_symmetric_v<TypeParam>);
      for (const auto& variant : all_variants<TypeParam>()) {
        SCOPED_TRACE(variant.name + ", block size " + std::to_string(b));
        expect_scaled_products(convert_scaled<TypeParam>(host, any_padding(b, variant.options)), host);
      }
    }
  } else {
    GTEST_SKIP() << TypeParam::Traits::name() << " has no blocks.";
  }
}

/// With a row stride of 0 all rows of x are one element in memory, but each has an exponent of its own.
TYPED_TEST(Scaled, MultipliesAnyStrideOfX) {
  using Device = typename ExecutionSpace::device_type;
  using Column = Kokkos::View<double*, Device>;
  for (const int block_size : {1, 2}) {
    // BSR needs whole blocks. With the others the last block is cut.
    constexpr bool is_bsr = std::is_same_v<typename TypeParam::Options, Filigree::BsrOptions>;
    const auto host = badly_scaled(is_bsr ? well_scaled<TypeParam>(38, 30) : well_scaled<TypeParam>(),
                                   is_symmetric_v<TypeParam>);
    const auto A = convert_scaled<TypeParam>(host, any_padding<typename TypeParam::Options>(block_size));
    for (const std::size_t stride : {0, 1, 3}) {
      const auto memory =
          device_view<View2<double, Kokkos::LayoutLeft>>(Random(5).vectors<double>(3 * host.columns, 1));
      const Kokkos::View<const double*, Kokkos::LayoutStride, Device> x(
          memory.data(), Kokkos::LayoutStride(static_cast<std::size_t>(host.columns), stride));
      const Column same("same", static_cast<std::size_t>(host.columns));
      Kokkos::deep_copy(same, x);
      const Column y("y", host.rows.size()), expected("expected", host.rows.size());
      Filigree::spmv("N", 1.0, A, x, 0.0, y);
      Filigree::spmv("N", 1.0, A, same, 0.0, expected);
      const auto y_host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), y);
      const auto expected_host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), expected);
      for (std::size_t i = 0; i < host.rows.size(); ++i)
        EXPECT_NEAR(y_host(i), expected_host(i), 1e-10 * std::abs(expected_host(i)))
            << "row " << i << ", stride " << stride << ", b = " << block_size;
    }
  }
}

/// The entries are powers of two, so that no cast rounds them.
TYPED_TEST(Scaled, IsRefilledAndConvertedBack) {
  auto host = well_scaled<TypeParam>();
  for (auto& row : host.rows)
    for (auto& entry : row)
      entry.value = entry.value < 0 ? -2 : 1;
  const auto first = badly_scaled(host, is_symmetric_v<TypeParam>);
  const auto A = convert_scaled<TypeParam>(first, any_padding<typename TypeParam::Options>());
  EXPECT_EQ(canonical(host_matrix(Filigree::to_crs(A))), canonical(first));
  Filigree::refill(A, device_crs(host));
  EXPECT_EQ(canonical(host_matrix(Filigree::to_crs(A))), canonical(host));
  // A refill that is refused changes nothing, the exponents included.
  auto other = first;
  ASSERT_FALSE(other.rows[6].empty());
  other.rows[6].front().column = (other.rows[6].front().column + 1) % host.columns;
  const auto crs = device_crs(other);
  EXPECT_THROW(Filigree::refill(A, crs), std::invalid_argument);
  EXPECT_THROW(Filigree::refill(A, device_crs(HostMatrix<double>(3, 3))), std::invalid_argument);
  EXPECT_EQ(canonical(host_matrix(Filigree::to_crs(A))), canonical(host));
}

/// Expects that a View of rank 3 holds the b x b blocks on the diagonal, up to the cast of each entry.
template <class Blocks>
void expect_blocks(const Blocks& blocks, const HostMatrix<double>& host, std::int64_t b) {
  static_assert(std::is_same_v<typename Blocks::non_const_value_type, double>,
                "The range of double is needed.");
  const std::int64_t length = std::min(host.row_count(), host.columns);
  ASSERT_EQ(static_cast<std::int64_t>(blocks.extent(0)), (length + b - 1) / b);
  const auto found = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), blocks);
  std::vector<double> expected(found.size(), 0);
  for (std::int64_t row = 0; row < std::min(host.row_count(), (length + b - 1) / b * b); ++row)
    for (const auto& entry : host.rows[static_cast<std::size_t>(row)])
      if (entry.column / b == row / b)
        expected[static_cast<std::size_t>(row * b + entry.column % b)] = entry.value;
  for (std::size_t i = 0; i < expected.size(); ++i)
    EXPECT_LE(std::abs(found.data()[i] - expected[i]), unit_roundoff * std::abs(expected[i]))
        << "element " << i << " of blocks of " << b << ": " << found.data()[i] << ", expected "
        << expected[i];
}

TYPED_TEST(Scaled, HasADiagonalAndIsChecked) {
  // Its diagonal spans hundreds of powers of two, so that the narrow type could not hold it.
  const auto host = badly_scaled(well_scaled<TypeParam>(), is_symmetric_v<TypeParam>);
  for (const auto& variant : all_variants<TypeParam>()) {
    SCOPED_TRACE(variant.name);
    const auto A = convert_scaled<TypeParam>(host, any_padding(1, variant.options));
    EXPECT_NO_THROW(Filigree::check(A));
    const auto diagonal = Filigree::diagonal(A);
    const Kokkos::View<const double***, Kokkos::LayoutRight, Device> as_blocks(diagonal.data(),
                                                                               diagonal.extent(0), 1, 1);
    expect_blocks(as_blocks, host, 1);
    expect_blocks(Filigree::diagonal_blocks(A, 3), host, 3);
  }
}

TEST(ScaledMatrix, IsCheckedForItsExponents) {
  const auto refusal = [](const auto& A) {
    return message<std::invalid_argument>([&]() { Filigree::check(A); });
  };
  const auto crs = device_crs(canonical(scattered<double>(37, 29, 7)));
  auto A = Filigree::convert_scaled<Filigree::SellMatrix, Stored>(crs);
  EXPECT_EQ(refusal(A), "nothing");
  const auto exponents = A.column_exponents;
  A.column_exponents = A.row_exponents;
  EXPECT_TRUE(holds(refusal(A), {"column_exponents has 37 elements", "29", "one per column"}));
  A.column_exponents = exponents;
  Kokkos::deep_copy(Kokkos::subview(A.row_exponents, 5), std::int16_t(2045));
  EXPECT_TRUE(holds(refusal(A), {"row_exponents(5) is 2045", "-2044 to 2044"}));
  Kokkos::deep_copy(Kokkos::subview(A.row_exponents, 5), std::int16_t(0));
  Kokkos::deep_copy(Kokkos::subview(exponents, 3), std::int16_t(-2045));
  EXPECT_TRUE(holds(refusal(A), {"column_exponents(3) is -2045", "-2044 to 2044"}));
  // A fault of the scaled matrix itself.
  Kokkos::deep_copy(Kokkos::subview(exponents, 3), std::int16_t(0));
  EXPECT_EQ(refusal(A), "nothing");
  A.matrix.entries = decltype(A.matrix.entries)();
  A.matrix.short_entries = decltype(A.matrix.short_entries)();
  EXPECT_TRUE(holds(refusal(A), {"matrix.", "entries", "sell"}));
}

TEST(ScaledMatrix, HasAComplexDiagonal) {
  using Complex = Kokkos::complex<double>;
  HostMatrix<Complex> host(2, 2);
  host.rows = {{{0, Complex(1e300, -1e299)}, {1, Complex(1, 0)}}, {{1, Complex(0, 1e-300)}}};
  const auto A = Filigree::convert_scaled<Filigree::SellMatrix, Kokkos::complex<float>>(device_crs(host));
  const auto diagonal = Filigree::diagonal(A);
  static_assert(std::is_same_v<std::decay_t<decltype(diagonal)>::value_type, Complex>);
  const auto found = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), diagonal);
  EXPECT_NEAR(found(0).real() / 1e300, 1, 0x1p-24);
  EXPECT_NEAR(found(0).imag() / 1e299, -1, 0x1p-24);
  EXPECT_EQ(found(1).real(), 0);
  EXPECT_NEAR(found(1).imag() / 1e-300, 1, 0x1p-24);
}

TEST(ScaledMatrix, CountsItsExponents) {
  const auto crs = device_crs(canonical(scattered<double>(37, 29, 7)));
  const auto A = Filigree::convert_scaled<Filigree::SellMatrix, Stored>(crs);
  EXPECT_EQ(A.row_exponents.extent(0), 37u);
  EXPECT_EQ(A.column_exponents.extent(0), 29u);
  EXPECT_EQ(Filigree::MatrixTraits<std::decay_t<decltype(A)>>::storage_bytes(A),
            A.matrix.storage_bytes() + 2 * (37 + 29));
}

/// Zeros, infinities and entries that no scaling can hold do not disturb the scaling of the others.
TEST(ScaledMatrix, KeepsSpecialValues) {
  const double infinity = std::numeric_limits<double>::infinity();
  HostMatrix<double> host(5, 4);
  host.rows = {
      {{0, 1e300}, {1, 1e-300}}, {{0, 1e-300}, {1, 1e300}}, {{2, infinity}, {3, 4.0}}, {}, {{3, 0.0}}};
  Filigree::Rounding rounding;
  Filigree::CrsOptions options;
  options.rounding = &rounding;
  const auto A = Filigree::convert_scaled<Filigree::CrsMatrix, Stored>(device_crs(host), options);
  const auto again = host_matrix(Filigree::to_crs(A));
  EXPECT_NEAR(again.rows[0][0].value / 1e300, 1, unit_roundoff);
  EXPECT_EQ(again.rows[0][1].value, 0);
  EXPECT_EQ(again.rows[1][0].value, 0);
  EXPECT_NEAR(again.rows[1][1].value / 1e300, 1, unit_roundoff);
  EXPECT_EQ(rounding.zeros, 2);
  EXPECT_EQ(rounding.largest, 1);
  EXPECT_EQ(again.rows[2][0].value, infinity);
  EXPECT_EQ(again.rows[2][1].value, 4);
  EXPECT_EQ(again.rows[4][0].value, 0);
}

/// Intermediate powers must not overflow, and row scaling alone must be enough for the largest entry of each row.
TEST(ScaledMatrix, HoldsExtremeRanges) {
  const auto two_to = [](int exponent) { return std::ldexp(1.0, exponent); };
  HostMatrix<double> wide(1, 2);
  wide.rows = {{{0, 1e305}, {1, 1e-305}}};
  HostMatrix<double> bidiagonal(5, 5);
  for (std::int64_t i = 0; i < 5; ++i) {
    bidiagonal.rows[static_cast<std::size_t>(i)].push_back({i, two_to(700)});
    if (i > 0)
      bidiagonal.rows[static_cast<std::size_t>(i)].insert(
          bidiagonal.rows[static_cast<std::size_t>(i)].begin(), {i - 1, two_to(-700)});
  }
  for (const auto& host : {wide, bidiagonal}) {
    const auto again = host_matrix(
        Filigree::to_crs(Filigree::convert_scaled<Filigree::CrsMatrix, Stored>(device_crs(host))));
    for (std::size_t row = 0; row < host.rows.size(); ++row)
      for (std::size_t i = 0; i < host.rows[row].size(); ++i) {
        const double value = host.rows[row][i].value;
        if (value > 1) {
          EXPECT_NEAR(again.rows[row][i].value / value, 1, unit_roundoff) << row << ' ' << i;
        }
      }
  }
}

/// Formats that sum duplicates do so in the stored type.
TEST(ScaledMatrix, HasRoomForDuplicates) {
  HostMatrix<double> host(2, 2);
  for (int i = 0; i < 100; ++i)
    host.rows[0].push_back({0, 1.0});
  host.rows[1].push_back({1, 3.0});
  const auto again =
      host_matrix(Filigree::to_crs(Filigree::convert_scaled<Filigree::CdsMatrix, Stored>(device_crs(host))));
  EXPECT_EQ(again.rows[0][0].value, 100);
  EXPECT_EQ(again.rows[1][0].value, 3);
}

TEST(ScaledMatrix, MayBeEmpty) {
  for (const auto& host : {HostMatrix<double>(0, 5), HostMatrix<double>(5, 0), HostMatrix<double>(4, 6)}) {
    Filigree::Rounding rounding{7, 7};
    Filigree::SellOptions options;
    options.rounding = &rounding;
    const auto A = Filigree::convert_scaled<Filigree::SellMatrix, Stored>(device_crs(host), options);
    EXPECT_EQ(host_matrix(Filigree::to_crs(A)), host);
    EXPECT_EQ(rounding.largest, 0);
    EXPECT_EQ(rounding.zeros, 0);
    expect_scaled_products(A, host);
  }
}

TEST(ScaledMatrix, OfCooIsTheSame) {
  const auto host = badly_scaled(canonical(scattered<double>(37, 29, 7)), false);
  const auto coo = Filigree::convert<Filigree::CooMatrix>(device_crs(host));
  expect_scaled_products(Filigree::convert_scaled<Filigree::SellMatrix, Stored>(coo), host);
}

TEST(ScaledMatrix, RefusesARectangularSymmetricMatrix) {
  const auto crs = device_crs(canonical(scattered<double>(37, 29, 7)));
  EXPECT_TRUE(holds(message<std::invalid_argument>(
                        [&]() { Filigree::convert_scaled<Filigree::SymCdsMatrix, Stored>(crs); }),
                    {"37 x 29", "square"}));
}

}  // namespace
}  // namespace FiligreeTest

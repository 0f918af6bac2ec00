// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Matrices of double whose values are stored in a narrower type.
#include <cmath>

#include "../support/errors.hpp"
#include "../support/formats.hpp"

namespace FiligreeTest {

/// The unit roundoff and the largest number of a type in which values are stored.
template <class Narrow>
struct NarrowLimits;
template <>
struct NarrowLimits<float> {
  static constexpr int significant_bits = 24;
  static constexpr double largest = 0x1.fffffep127;
  static constexpr double smallest = 0x1p-149;
  static constexpr const char* name = "float";
};
#if FILIGREE_HAS_HALF
template <>
struct NarrowLimits<Filigree::half_t> {
  static constexpr int significant_bits = 11;
  static constexpr double largest = 65504;
  static constexpr double smallest = 0x1p-24;
  static constexpr const char* name = "half";
};
#endif
#if FILIGREE_HAS_BHALF
template <>
struct NarrowLimits<Filigree::bhalf_t> {
  static constexpr int significant_bits = 8;
  static constexpr double largest = 0x1.fep127;
  static constexpr double smallest = 0x1p-133;
  static constexpr const char* name = "bhalf";
};
#endif

/// A format whose values have the type Narrow. Case is that of the matrix of double.
template <class Case_, class Narrow_>
struct NarrowCase {
  using Case = Case_;
  using Narrow = Narrow_;
  using Limits = NarrowLimits<Narrow>;
  static double unit_roundoff() { return std::ldexp(1.0, -Limits::significant_bits); }
};

template <class... Lists>
struct JoinedTypes;
template <class... Types>
struct JoinedTypes<testing::Types<Types...>> {
  using type = testing::Types<Types...>;
};
template <class... Left, class... Right, class... Rest>
struct JoinedTypes<testing::Types<Left...>, testing::Types<Right...>, Rest...> {
  using type = typename JoinedTypes<testing::Types<Left..., Right...>, Rest...>::type;
};

template <class Narrow, class List>
struct NarrowCasesOf;
template <class Narrow, class... Cases>
struct NarrowCasesOf<Narrow, testing::Types<Cases...>> {
  using type = testing::Types<NarrowCase<Cases, Narrow>...>;
};
/// All formats that can have other scalar types than double.
template <class Narrow>
using all_cases_t = typename NarrowCasesOf<Narrow, CasesOf<Filigree::AllFormats, double>::one_layout>::type;
/// One format for each way to load values, because each type and format takes long to compile.
template <class Narrow>
using some_cases_t =
    testing::Types<NarrowCase<FormatCase<Filigree::Format<Filigree::SellMatrix>, double>, Narrow>,
                   NarrowCase<FormatCase<Filigree::Format<Filigree::CdsMatrix>, double>, Narrow>,
                   NarrowCase<FormatCase<Filigree::Format<Filigree::SymCdsMatrix>, double>, Narrow>>;

// Float matrices of all formats are tested with double vectors in test_mixed_precision.cpp.
using AllNarrowCases = typename JoinedTypes<some_cases_t<float>
#if FILIGREE_HAS_HALF
                                            ,
                                            all_cases_t<Filigree::half_t>
#endif
#if FILIGREE_HAS_BHALF
                                            ,
                                            some_cases_t<Filigree::bhalf_t>
#endif
                                            >::type;

struct NarrowCaseName {
  template <class Test>
  static std::string GetName(int) {
    return std::string(Test::Case::Traits::name()) + "_" + Test::Limits::name;
  }
};

template <class Test>
class NarrowValues : public testing::Test {};
TYPED_TEST_SUITE(NarrowValues, AllNarrowCases, NarrowCaseName);

/// The entries of a matrix of any format, widened to double.
template <class Matrix>
HostMatrix<double> entries_of(const Matrix& A) {
  return host_matrix(Filigree::convert<Filigree::CrsMatrix, double>(Filigree::to_crs(A)));
}

TYPED_TEST(NarrowValues, MultiplyWithinTheErrorBound) {
  using Case = typename TypeParam::Case;
  using Narrow = typename TypeParam::Narrow;
  const auto host = suited<Case>(canonical(scattered<double>(37, 29, 7)));
  for (const auto& variant : all_variants<Case>()) {
    SCOPED_TRACE(variant.name);
    Filigree::Rounding rounding;
    auto options = any_padding(1, variant.options);
    options.rounding = &rounding;
    const auto A = Case::template convert_to<Narrow>(device_crs(host), options);
    static_assert(
        std::is_same_v<typename Filigree::MatrixTraits<std::decay_t<decltype(A)>>::value_type, Narrow>);
    EXPECT_LE(rounding.largest, TypeParam::unit_roundoff());
    // Random values need all bits of double, so some of them are rounded by almost the unit roundoff.
    EXPECT_GE(rounding.largest, 0.5 * TypeParam::unit_roundoff());
    EXPECT_EQ(rounding.zeros, 0);
    expect_rounded_products(A, host, TypeParam::unit_roundoff());
  }
}

TYPED_TEST(NarrowValues, MultiplyBlocksWithinTheErrorBound) {
  using Case = typename TypeParam::Case;
  if constexpr (has_block_size_v<typename Case::Options>) {
    // A lane of a GPU loads several rows at once if their number divides the stride of the columns. With odd
    // block sizes they can lie in two blocks. Above 8 the last batch of a row has 0 to 7 elements.
    for (const int b : {2, 3, 4, 5, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}) {
      if (b > Case::Options::largest_block_size) continue;
      const auto host = suited<Case>(block_banded<double>(8 * b, 6 * b, b));
      for (const auto& variant : all_variants<Case>()) {
        SCOPED_TRACE(variant.name + ", block size " + std::to_string(b));
        expect_rounded_products(Case::template convert_to<typename TypeParam::Narrow>(
                                    device_crs(host), any_padding(b, variant.options)),
                                host, TypeParam::unit_roundoff());
      }
    }
    // The last block row is smaller, and its rows lie in one load with those of the block row before.
    for (const auto& [rows, b] : {std::pair(20, 3), std::pair(12, 5)}) {
      if (dense_blocks_v<Case>) continue;
      const auto host = suited<Case>(block_banded<double>(rows, rows - 2, b));
      expect_rounded_products(Case::template convert_to<typename TypeParam::Narrow>(
                                  device_crs(host), any_padding<typename Case::Options>(b)),
                              host, TypeParam::unit_roundoff());
    }
  } else {
    GTEST_SKIP() << Case::Traits::name() << " has no blocks.";
  }
}

/// Only the entry of the narrow type is rounded: its product with x and the sum are of double. The sum of the
/// products in float would be 0.
TYPED_TEST(NarrowValues, AreSummedInDouble) {
  using Case = typename TypeParam::Case;
  HostMatrix<double> host(3, 3);
  host.rows = {{{0, 1024.0}, {1, 1.0}, {2, -1024.0}}, {{0, 1.0}}, {{0, -1024.0}}};
  const auto A = Case::template convert_to<typename TypeParam::Narrow>(device_crs(host),
                                                                       any_padding<typename Case::Options>());
  HostVectors<double> x(3, 1, 1048576.0);
  x(1, 0) = 1.0;
  const auto y =
      multiply<View1, Kokkos::LayoutLeft>(Mode::NoTranspose, 1.0, A, x, 0.0, HostVectors<double>(3, 1));
  EXPECT_EQ(y(0, 0), 1.0);
}

TYPED_TEST(NarrowValues, MultiplyFloatVectorsInFloat) {
  using Case = typename TypeParam::Case;
  const auto host = suited<Case>(canonical(scattered<double>(37, 29, 7)));
  const auto A = Case::template convert_to<typename TypeParam::Narrow>(device_crs(host),
                                                                       any_padding<typename Case::Options>());
  for (const Mode mode : all_modes) {
    const Product<float> product{mode, 1.1f, 0.1f, 0};
    const auto x = Random(5).vectors<float>(x_rows(host, mode), 1);
    EXPECT_TRUE(multiplies_as_expected<Kokkos::LayoutLeft>(
        A, product, expect_product(host, product, x, TypeParam::unit_roundoff())));
  }
}

/// The rounding of 1 + u is u / (1 + u), because the tie is rounded to even.
TYPED_TEST(NarrowValues, ReportTheLargestRounding) {
  using Case = typename TypeParam::Case;
  using Narrow = typename TypeParam::Narrow;
  const double u = TypeParam::unit_roundoff();
  const double smallest = TypeParam::Limits::smallest;
  HostMatrix<double> host(5, 5);
  host.rows = {{{0, 1.0}, {1, 1 + u}}, {{0, 1 + u}}, {}, {}, {{4, 3.0}}};
  Filigree::Rounding rounding;
  auto options = any_padding<typename Case::Options>();
  options.rounding = &rounding;
  const auto A = Case::template convert_to<Narrow>(device_crs(host), options);
  EXPECT_DOUBLE_EQ(rounding.largest, u / (1 + u));
  EXPECT_EQ(rounding.zeros, 0);
  auto expected = host;
  expected.rows[0][1].value = 1;
  expected.rows[1][0].value = 1;
  EXPECT_EQ(entries_of(A), expected);

  // A refill reports too. An entry that becomes 0 has lost all of its value. A zero and an infinity are kept.
  host.rows[0][1].value = 2 * u;
  host.rows[1][0].value = 2 * u;
  host.rows[4][0].value = smallest / 4;
  Filigree::RefillOptions refill_options;
  refill_options.rounding = &rounding;
  Filigree::refill(A, device_crs(host), refill_options);
  EXPECT_EQ(rounding.largest, 1);
  EXPECT_EQ(rounding.zeros, 1);
  host.rows[0][0].value = std::numeric_limits<double>::infinity();
  host.rows[4][0].value = 0;
  Filigree::refill(A, device_crs(host), refill_options);
  EXPECT_EQ(rounding.largest, 0);
  EXPECT_EQ(rounding.zeros, 0);

  // Without a cast nothing is rounded.
  rounding.largest = 7;
  Case::convert_with(device_crs(host), options);
  EXPECT_EQ(rounding.largest, 0);
}

TYPED_TEST(NarrowValues, ThatOverflowAreRefused) {
  using Case = typename TypeParam::Case;
  using Narrow = typename TypeParam::Narrow;
  const double largest = TypeParam::Limits::largest;
  HostMatrix<double> host(4, 4);
  host.rows = {{{0, 1.0}}, {{1, 1.0}}, {{2, -largest}}, {{3, 1.0}}};
  Filigree::Rounding rounding;
  auto options = any_padding<typename Case::Options>();
  options.rounding = &rounding;
  const auto A = Case::template convert_to<Narrow>(device_crs(host), options);
  EXPECT_EQ(entries_of(A), host);
  EXPECT_EQ(rounding.largest, 0);
  auto too_large = host;
  too_large.rows[2][0].value = -largest * (1 + TypeParam::unit_roundoff());
  rounding.largest = 7;
  const auto refused = [&](const auto& call, const std::string& function) {
    const std::string text = message<std::overflow_error>(call);
    EXPECT_EQ(text.find(function + ": "), 0u) << text;
    EXPECT_TRUE(holds(text, {"row 2 and column 2"}));
  };
  const auto crs = device_crs(too_large);
  refused([&]() { Case::template convert_to<Narrow>(crs, options); }, "Filigree::convert");
  Filigree::RefillOptions refill_options;
  refill_options.rounding = &rounding;
  refused([&]() { Filigree::refill(A, crs, refill_options); }, "Filigree::refill");
  EXPECT_EQ(rounding.largest, 7);
  EXPECT_EQ(entries_of(A), host);
}

TEST(NarrowComplexValues, ReportTheLargestRounding) {
  using Complex = Kokkos::complex<double>;
  const double u = 0x1p-24;
  HostMatrix<Complex> host(2, 2);
  host.rows = {{{0, Complex(1e-50, 1 + u)}}, {{1, Complex(1e-50, 0)}}};
  Filigree::Rounding rounding;
  Filigree::CdsOptions options;
  options.rounding = &rounding;
  Filigree::convert<Filigree::CdsMatrix, Kokkos::complex<float>>(device_crs(host), options);
  EXPECT_EQ(rounding.largest, 1);
  EXPECT_EQ(rounding.zeros, 1);
  host.rows[1][0].value = Complex(0, 0);
  Filigree::convert<Filigree::CdsMatrix, Kokkos::complex<float>>(device_crs(host), options);
  // The real part, which becomes 0, is small beside the imaginary part.
  EXPECT_DOUBLE_EQ(rounding.largest, u / (1 + u));
  EXPECT_EQ(rounding.zeros, 0);
}

}  // namespace FiligreeTest

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Matrices of every format with 64-bit ordinals and offsets, and with 16-bit ordinals, which cannot hold all
// widths and counts.
#include <set>

#include "../support/errors.hpp"
#include "../support/formats.hpp"
#include "../support/tools.hpp"

namespace FiligreeTest {

template <class Case>
class WideTypes : public testing::Test {};

using WideCases = AllFormatsOf<double, std::int64_t, std::size_t>;
TYPED_TEST_SUITE(WideTypes, WideCases, CaseName);

TYPED_TEST(WideTypes, ConvertMultiplyRefillAndReturn) {
  const auto host = suited<TypeParam>(scattered<double>(37, 29, 7));
  const auto new_host = suited_new_values<TypeParam>(host, 3);
  for_each_variant<TypeParam>(host, 1, [&](const std::string& name, const auto& A) {
    SCOPED_TRACE(name);
    for (const Mode mode : all_modes)
      for (const int columns : {0, 3})
        EXPECT_TRUE(multiplies<Kokkos::LayoutLeft>(A, host, {mode, 1.5, 0.5, columns}));
    EXPECT_EQ(canonical(host_matrix(Filigree::to_crs(A))), canonical(host));
    Filigree::refill(A, device_crs<typename TypeParam::Crs>(new_host));
    EXPECT_TRUE(multiplies<Kokkos::LayoutLeft>(A, new_host, {Mode::NoTranspose, 1.5, 0.5, 0}));
    Filigree::refill(A, device_crs<typename TypeParam::Crs>(host));
  });
}

template <class Case>
class ShortOrdinals : public testing::Test {};

/// A symmetric format has fewer diagonals than rows, so that its ordinals can always count them.
using ShortCases = UnsymmetricFormatsOf<short, int>;
TYPED_TEST_SUITE(ShortOrdinals, ShortCases, CaseName);

constexpr std::int64_t most_of_short = 32767;

/// Matrices that reach the limits of 16-bit ordinals.
std::vector<NamedMatrix<double>> matrices_at_the_limits() {
  HostMatrix<double> full_row(3, most_of_short);
  HostMatrix<double> full(3, most_of_short);
  HostMatrix<double> duplicates(2, 5);
  HostMatrix<double> tall(most_of_short, 3);
  Random random(3);
  for (std::int64_t column = 0; column < most_of_short; ++column) {
    full_row.rows[1].push_back({column, random.value<double>()});
    for (auto& row : full.rows)
      row.push_back({column, random.value<double>()});
  }
  for (std::int64_t i = 0; i < 40000; ++i)
    duplicates.rows[1].push_back({i / 8000, random.value<double>()});
  for (std::size_t row = 0; row < tall.rows.size(); row += 1000)
    tall.rows[row].push_back({random.below(3), random.value<double>()});
  return {{"full row", full_row},
          {"32769 diagonals", full},
          {"row of 40000 entries", duplicates},
          {"32767 rows", tall}};
}

std::int64_t longest_row(const HostMatrix<double>& host) {
  std::size_t longest = 0;
  for (const auto& row : host.rows)
    longest = std::max(longest, row.size());
  return static_cast<std::int64_t>(longest);
}

std::int64_t count_diagonals(const HostMatrix<double>& host) {
  std::set<std::int64_t> diagonals;
  for (std::int64_t row = 0; row < host.row_count(); ++row)
    for (const auto& entry : host.rows[static_cast<std::size_t>(row)])
      diagonals.insert(entry.column - row);
  return static_cast<std::int64_t>(diagonals.size());
}

/// The largest number that a format keeps in an ordinal, besides rows and columns.
template <class Options>
std::int64_t largest_count(const std::string& format, const Options& options, std::int64_t longest,
                           std::int64_t diagonals) {
  if (format == "dia" || format.find("cds") != std::string::npos) return diagonals;
  if constexpr (std::is_same_v<Options, Filigree::EllOptions> ||
                std::is_same_v<Options, Filigree::SellOptions>)
    return Filigree::Impl::round_up(longest, options.lanes_per_row);
  return format == "jds" || format == "hyb" || format == "hec" ? longest : 0;
}

TYPED_TEST(ShortOrdinals, HoldAMatrixCompletelyOrRefuseIt) {
  const std::string format = TypeParam::Traits::name();
  for (const auto& [name, host] : matrices_at_the_limits()) {
    const auto crs = device_crs<typename TypeParam::Crs>(host);
    const auto x = Random(5).vectors<double>(host.columns, 1);
    const HostVectors<double> y(host.row_count(), 1, 1.0);
    const auto expected = reference_product(Mode::NoTranspose, 1.5, host, x, 0.5, y);
    const auto same = canonical(host);
    const std::int64_t longest = longest_row(host);
    const std::int64_t diagonals = count_diagonals(host);
    for (const auto& variant : all_variants<TypeParam>()) {
      SCOPED_TRACE(name + ", " + variant.name);
      typename TypeParam::Matrix A;
      const KokkosRecorder recorder;
      const std::string text = message<std::length_error>(
          [&]() { A = TypeParam::convert_with(crs, any_padding(1, variant.options)); });
      const std::int64_t count = largest_count(format, variant.options, longest, diagonals);
      if (count > most_of_short) {
        EXPECT_TRUE(
            holds(text, {"Filigree::convert", std::to_string(count), "16-bit ordinal_type", "32767"}));
        EXPECT_LT(recorder.events().allocated_bytes, 300000u);
        continue;
      }
      ASSERT_EQ(text, "nothing");
      EXPECT_TRUE(canonical(host_matrix(Filigree::to_crs(A))) == same);
      EXPECT_TRUE(
          agrees(multiply<View1, Kokkos::LayoutLeft>(Mode::NoTranspose, 1.5, A, x, 0.5, y), expected));
    }
  }
}

TYPED_TEST(ShortOrdinals, RefuseLargerBlocks) {
  if constexpr (has_block_size_v<typename TypeParam::Options>) {
    using Options = typename TypeParam::Options;
    const auto refused = [&](int block_size) {
      try {
        TypeParam::convert_with(device_crs<typename TypeParam::Crs>(HostMatrix<double>(0, 0)),
                                any_padding<Options>(block_size));
      } catch (const std::exception& error) {
        return std::string(error.what());
      }
      return std::string("nothing");
    };
    EXPECT_TRUE(holds(refused(32768), {"Filigree::convert", "32768"}));
    if (largest_block_size<TypeParam>() > 8) {
      EXPECT_EQ(refused(32767), "nothing");
    }
  } else {
    GTEST_SKIP() << TypeParam::Traits::name() << " has no blocks.";
  }
}

/// ELL rounds the number of rows up to its stride, 513 * 64 here, which size_type must be able to hold even if the ELL
/// part is empty.
TEST(ShortOffsets, MustHoldTheStrideOfEll) {
  HostMatrix<double> host(32760, 3);
  host.rows[7].push_back({1, 2.0});
  const auto crs = device_crs<Crs<double, int, short>>(host);
  const auto refused = [&](auto convert) { return message<std::length_error>(convert); };
  const auto hec = given_width<Filigree::HecOptions>(0);
  EXPECT_TRUE(holds(refused([&]() { Filigree::convert<Filigree::HecMatrix>(crs, hec); }),
                    {"Filigree::convert<HecMatrix>", "32832", "16-bit size_type"}));
  const auto hyb = given_width<Filigree::HybOptions>(0);
  EXPECT_TRUE(holds(refused([&]() { Filigree::convert<Filigree::HybMatrix>(crs, hyb); }),
                    {"Filigree::convert<HybMatrix>", "32832", "16-bit size_type"}));
}

/// Rows that are so long that a kernel with 32-bit lengths would overflow. The refusal must come before the
/// entries are read: there is only one.
TEST(LongRows, AreRefusedIfLengthsCouldOverflow) {
  using LongCrs = Crs<double, int, std::int64_t>;
  const Kokkos::View<double*, Device> value("value", 1);
  const Kokkos::View<int*, Device> column("column", 1);
  for (const std::int64_t length : {2147482625, 2147483647}) {
    const LongCrs crs(
        "long", 1, 5, length, LongCrs::values_type(value.data(), static_cast<std::size_t>(length)),
        device_list<LongCrs::row_map_type::non_const_type>(std::vector<std::int64_t>{0, length}),
        LongCrs::index_type(column.data(), static_cast<std::size_t>(length)));
    const auto expect_refusal = [&](const std::string& format, auto options, auto convert) {
      options.check_input = false;
      const KokkosRecorder recorder;
      EXPECT_TRUE(holds(message<std::length_error>([&]() { convert(options); }),
                        {"Filigree::convert<" + format + ">", std::to_string(length), "2147482624"}));
      EXPECT_LT(recorder.events().allocated_bytes, 300000u);
    };
    expect_refusal("EllMatrix", Filigree::EllOptions(),
                   [&](const auto& options) { Filigree::convert<Filigree::EllMatrix>(crs, options); });
    expect_refusal("SellMatrix", Filigree::SellOptions(),
                   [&](const auto& options) { Filigree::convert<Filigree::SellMatrix>(crs, options); });
    expect_refusal("JdsMatrix", Filigree::JdsOptions(),
                   [&](const auto& options) { Filigree::convert<Filigree::JdsMatrix>(crs, options); });
    expect_refusal("HybMatrix", Filigree::HybOptions(),
                   [&](const auto& options) { Filigree::convert<Filigree::HybMatrix>(crs, options); });
    expect_refusal("HecMatrix", Filigree::HecOptions(),
                   [&](const auto& options) { Filigree::convert<Filigree::HecMatrix>(crs, options); });
  }
}

}  // namespace FiligreeTest

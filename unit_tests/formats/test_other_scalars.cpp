// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Conversions to another scalar type, and refills from a matrix of another scalar type.
#include <filigree/tune/optimize.hpp>

#include "../support/errors.hpp"
#include "../support/formats.hpp"

namespace FiligreeTest {

/// The matrix with its values cast to another type.
template <class To, class From>
HostMatrix<To> cast(const HostMatrix<From>& host) {
  HostMatrix<To> result(host.row_count(), host.columns);
  for (std::size_t row = 0; row < host.rows.size(); ++row)
    for (const auto& entry : host.rows[row])
      result.rows[row].push_back({entry.column, Filigree::Impl::convert_scalar<To>(entry.value)});
  return result;
}

/// The typed tests name a format by its matrix of floats.
template <class Case>
class OtherScalars : public testing::Test {};
TYPED_TEST_SUITE(OtherScalars, AllFormatsOf<float>, CaseName);

/// A matrix without duplicates: dense formats sum them, and the sum of rounded values is not the rounded sum.
template <class Scalar>
HostMatrix<Scalar> without_duplicates(std::int64_t rows, std::int64_t columns) {
  return canonical(scattered<Scalar>(rows, columns, 6));
}

template <class Case, class To, class From>
void expect_conversion(const HostMatrix<From>& any) {
  const auto host = canonical(suited<Case>(any));
  const auto new_host = suited_new_values<Case>(host, 3);
  const auto crs = device_crs(host);
  const auto new_crs = device_crs(new_host);
  for (const auto& variant : all_variants<Case>()) {
    SCOPED_TRACE(variant.name);
    const auto options = any_padding(1, variant.options);
    const auto A = Case::template convert_to<To>(crs, options);
    using value_type = typename Filigree::MatrixTraits<std::decay_t<decltype(A)>>::value_type;
    static_assert(std::is_same_v<value_type, To>);
    EXPECT_EQ(host_matrix(Filigree::to_crs(A)), cast<To>(host));
    Filigree::refill(A, new_crs);
    EXPECT_EQ(host_matrix(Filigree::to_crs(A)), cast<To>(new_host));
    Filigree::RefillOptions unchecked;
    unchecked.check_pattern = false;
    Filigree::refill(ExecutionSpace(), A, crs, unchecked);
    EXPECT_EQ(host_matrix(Filigree::to_crs(A)), cast<To>(host));
    // The CRS matrix is unchanged, also if the result shares its pattern.
    EXPECT_EQ(host_matrix(crs), host);
  }
}

TYPED_TEST(OtherScalars, AreRounded) {
  for (const auto& host : {without_duplicates<double>(37, 29), without_duplicates<double>(29, 37),
                           HostMatrix<double>(0, 5), HostMatrix<double>(5, 0), HostMatrix<double>(4, 6)})
    expect_conversion<TypeParam, float>(host);
}

TYPED_TEST(OtherScalars, MayBeWiderOrComplex) {
  const auto host = without_duplicates<float>(37, 29);
  expect_conversion<TypeParam, double>(host);
  expect_conversion<TypeParam, Kokkos::complex<float>>(host);
}

/// Sets the last entry of a row. It is above the diagonal, so that a symmetric format has its value.
void set_last(HostMatrix<double>& host, std::size_t row, double value) {
  ASSERT_GT(host.rows[row].back().column, static_cast<std::int64_t>(row));
  host.rows[row].back().value = value;
}

TYPED_TEST(OtherScalars, KeepInfinityAndNaN) {
  auto host = without_duplicates<double>(20, 20);
  const double inf = std::numeric_limits<double>::infinity();
  set_last(host, 0, inf);
  set_last(host, 1, -inf);
  set_last(host, 2, std::numeric_limits<double>::quiet_NaN());
  set_last(host, 4, std::numeric_limits<float>::max());
  set_last(host, 5, 1e-60);  // becomes 0
  const auto A = TypeParam::template convert_to<float>(device_crs(suited<TypeParam>(host)),
                                                       any_padding<typename TypeParam::Options>());
  const auto again = canonical(host_matrix(Filigree::to_crs(A)));
  EXPECT_EQ(again.rows[0].back().value, std::numeric_limits<float>::infinity());
  EXPECT_EQ(again.rows[1].back().value, -std::numeric_limits<float>::infinity());
  EXPECT_TRUE(std::isnan(again.rows[2].back().value));
  EXPECT_EQ(again.rows[4].back().value, std::numeric_limits<float>::max());
  if (TypeParam::Traits::keeps_entries) {
    EXPECT_EQ(host_matrix(Filigree::to_crs(A)).rows[5].back().value, 0.0f);
  }
}

TYPED_TEST(OtherScalars, ThatOverflowAreRefused) {
  const auto any = without_duplicates<double>(20, 20);
  const auto host = canonical(suited<TypeParam>(any));
  const auto options = any_padding<typename TypeParam::Options>();
  const auto A = TypeParam::template convert_to<float>(device_crs(host), options);
  for (const double large : {1e39, -3.5e38}) {
    auto too_large = any;
    set_last(too_large, 7, large);
    set_last(too_large, 9, large);
    const auto crs = device_crs(canonical(suited<TypeParam>(too_large)));
    const std::vector<std::string> parts = {"row 7 and column " + std::to_string(host.rows[7].back().column),
                                            large > 0 ? "1e+39" : "-3.5e+38", "3.40282e+38"};
    const auto refused = [&](const auto& call, const std::string& function) {
      const std::string text = message<std::overflow_error>(call);
      EXPECT_EQ(text.find(function + ": "), 0u) << text;
      EXPECT_TRUE(holds(text, parts));
    };
    refused([&]() { TypeParam::template convert_to<float>(crs, options); }, "Filigree::convert");
    refused([&]() { Filigree::refill(A, crs); }, "Filigree::refill");
    // A is unchanged.
    EXPECT_EQ(host_matrix(Filigree::to_crs(A)), cast<float>(host));
  }
}

TYPED_TEST(OtherScalars, ChecksTheRefill) {
  const auto any = without_duplicates<double>(20, 20);
  const auto host = canonical(suited<TypeParam>(any));
  const auto A =
      TypeParam::template convert_to<float>(device_crs(host), any_padding<typename TypeParam::Options>());
  auto other = any;
  auto& moved = other.rows[6].back();
  ASSERT_GT(moved.column, 7);
  moved.column = moved.column == 19 ? 18 : moved.column + 1;
  const auto crs = device_crs(canonical(suited<TypeParam>(other)));
  EXPECT_TRUE(holds(message<std::invalid_argument>([&]() { Filigree::refill(A, crs); }),
                    {"Filigree::refill", "row 6"}));
  EXPECT_EQ(host_matrix(Filigree::to_crs(A)), cast<float>(host));
}

TEST(OtherScalarsOfCoo, AreRounded) {
  const auto host = without_duplicates<double>(20, 20);
  const auto coo = Filigree::convert<Filigree::CooMatrix>(device_crs(host));
  EXPECT_EQ(host_matrix(Filigree::to_crs(Filigree::convert<Filigree::CrsMatrix, float>(coo))),
            cast<float>(host));
  EXPECT_EQ(host_matrix(Filigree::to_crs(Filigree::convert<Filigree::SellMatrix, float>(coo))),
            cast<float>(host));
}

TEST(OtherScalarsOfCrs, SharesThePattern) {
  const auto crs = device_crs(without_duplicates<double>(20, 20));
  const auto A = Filigree::convert<Filigree::CrsMatrix, float>(crs);
  EXPECT_EQ(A.graph.entries.data(), crs.graph.entries.data());
  EXPECT_EQ(A.graph.row_map.data(), crs.graph.row_map.data());
}

TEST(OtherScalarsOfAnyMatrix, AreRefilled) {
  const auto host = without_duplicates<float>(100, 100);
  const auto new_host = with_new_values(cast<double>(host), 3);
  const auto A = Filigree::optimize(device_crs(host));
  Filigree::refill(A, device_crs(new_host));
  EXPECT_EQ(host_matrix(Filigree::to_crs(A)), cast<float>(new_host));
}

}  // namespace FiligreeTest

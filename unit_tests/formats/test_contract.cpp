// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The arguments that spmv refuses, and the texts of its errors.
#include "../support/errors.hpp"
#include "../support/formats.hpp"

namespace FiligreeTest {

template <class Case>
class Contract : public testing::Test {};

TYPED_TEST_SUITE(Contract, AllFormatsOf<double>, CaseName);

/// The text of the std::invalid_argument that a call throws, or "nothing".
template <class Call>
std::string refusal(const Call& call) {
  return message<std::invalid_argument>(call);
}

TYPED_TEST(Contract, RefusesWrongExtents) {
  using View = View2<double, Kokkos::LayoutLeft>;
  const auto host = suited<TypeParam>(scattered<double>(5, 7, 3));
  const auto A = converted<TypeParam>(host);
  const auto m = static_cast<int>(host.row_count());
  const auto n = static_cast<int>(host.columns);
  const std::string extents = "A is " + std::to_string(m) + " x " + std::to_string(n);
  struct Extents {
    Mode mode;
    int x_rows, x_columns, y_rows, y_columns;
  };
  std::vector<Extents> wrong = {{Mode::NoTranspose, n - 1, 3, m, 3}, {Mode::NoTranspose, n + 1, 3, m, 3},
                                {Mode::NoTranspose, n, 3, m - 1, 3}, {Mode::NoTranspose, n, 3, m + 1, 3},
                                {Mode::NoTranspose, n, 3, m, 2},     {Mode::NoTranspose, n, 0, m, 3},
                                {Mode::Transpose, m, 3, n - 1, 3},   {Mode::Transpose, m - 1, 3, n, 3},
                                {Mode::Conjugate, 0, 2, m, 2},       {Mode::ConjugateTranspose, m, 1, n, 4},
                                {Mode::NoTranspose, n, 3, 0, 3}};
  if (m != n)
    for (const Mode mode : {Mode::NoTranspose, Mode::Conjugate})
      wrong.push_back({mode, m, 3, n, 3});
  if (m != n) wrong.push_back({Mode::Transpose, n, 3, m, 3});
  for (const auto& e : wrong) {
    const View x("x", e.x_rows, e.x_columns);
    const auto y = device_view<View>(HostVectors<double>(e.y_rows, e.y_columns, 77.0));
    for (const double alpha : {1.0, 0.0}) {
      const std::string text = refusal([&]() { Filigree::spmv(e.mode, alpha, A, x, 0.0, y); });
      EXPECT_TRUE(holds(text, {"Filigree::spmv", extents, std::string("mode is ") + char(e.mode),
                               "x is " + std::to_string(e.x_rows) + " x " + std::to_string(e.x_columns),
                               "y is " + std::to_string(e.y_rows) + " x " + std::to_string(e.y_columns)}));
    }
    EXPECT_EQ(host_vectors(y).data, HostVectors<double>(e.y_rows, e.y_columns, 77.0).data);
  }
  const Kokkos::View<double*, Device> x("x", 6);
  const Kokkos::View<double*, Device> y("y", 5);
  EXPECT_TRUE(holds(refusal([&]() { Filigree::spmv("N", 1.0, A, x, 0.0, y); }),
                    {"Filigree::spmv", extents, "x is 6 x 1", "y is 5 x 1"}));
}

TYPED_TEST(Contract, AcceptsVectorsWithoutColumns) {
  const auto host = suited<TypeParam>(scattered<double>(5, 7, 3));
  const auto A = converted<TypeParam>(host);
  const View2<double, Kokkos::LayoutLeft> x("x", static_cast<std::size_t>(host.columns), 0);
  const View2<double, Kokkos::LayoutLeft> y("y", static_cast<std::size_t>(host.row_count()), 0);
  EXPECT_NO_THROW(Filigree::spmv("N", 1.0, A, x, 0.0, y));
}

TYPED_TEST(Contract, RefusesOverlap) {
  const auto A = converted<TypeParam>(suited<TypeParam>(scattered<double>(5, 5, 3)));
  const auto x = device_view<Kokkos::View<double*, Device>>(HostVectors<double>(5, 1, 77.0));
  EXPECT_TRUE(holds(refusal([&]() { Filigree::spmv("N", 1.0, A, x, 0.0, x); }),
                    {"Filigree::spmv", "share memory", "A is 5 x 5", "x is 5 x 1", "y is 5 x 1"}));
  EXPECT_EQ(host_list(x), std::vector<double>(5, 77.0));
}

TYPED_TEST(Contract, TakesModesAsStringsLettersOrEnumerators) {
  const auto host = suited<TypeParam>(scattered<double>(6, 6, 3));
  const auto A = converted<TypeParam>(host);
  const auto x = Random(1).vectors<double>(6, 1);
  const auto x_view = device_view<Kokkos::View<double*, Device>>(x);
  const HostVectors<double> ones(6, 1, 1.0);
  const char* texts[] = {"N", "T", "C", "H"};
  for (int i = 0; i < 4; ++i) {
    const auto y = device_view<Kokkos::View<double*, Device>>(ones);
    Filigree::spmv(texts[i], 1.5, A, x_view, 1.0, y);
    const auto y_of_letter = device_view<Kokkos::View<double*, Device>>(ones);
    Filigree::spmv(texts[i][0], 1.5, A, x_view, 1.0, y_of_letter);
    const auto expected = reference_product(all_modes[i], 1.5, host, x, 1.0, ones);
    EXPECT_TRUE(agrees(host_vectors(y), expected));
    EXPECT_TRUE(agrees(host_vectors(y_of_letter), expected));
    const auto y_of_string = device_view<Kokkos::View<double*, Device>>(ones);
    Filigree::spmv(std::string(texts[i]), 1.5, A, x_view, 1.0, y_of_string);
    EXPECT_TRUE(agrees(host_vectors(y_of_string), expected));
  }
  const auto y = device_view<Kokkos::View<double*, Device>>(ones);
  for (const char* text : {"X", "", "n", "NT", "N ", static_cast<const char*>(nullptr)})
    EXPECT_TRUE(holds(refusal([&]() { Filigree::spmv(text, 1.5, A, x_view, 0.0, y); }),
                      {"Filigree::spmv", "mode is \"" + std::string(text == nullptr ? "" : text) + "\""}));
  EXPECT_TRUE(holds(refusal([&]() { Filigree::spmv(static_cast<Mode>('x'), 1.5, A, x_view, 0.0, y); }),
                    {"Filigree::spmv", "mode is \"x\""}));
  EXPECT_TRUE(holds(refusal([&]() { Filigree::spmv('n', 1.5, A, x_view, 0.0, y); }),
                    {"Filigree::spmv", "mode is \"n\""}));
  EXPECT_EQ(host_vectors(y).data, ones.data);
}

TEST(MatrixBase, HasTheMemberTypesThatTemplatesUse) {
  using Sell = Filigree::SellMatrix<double, int, Device, void, std::size_t>;
  static_assert(std::is_same_v<Sell::const_value_type, const double> &&
                std::is_same_v<Sell::non_const_value_type, double> &&
                std::is_same_v<Sell::non_const_ordinal_type, int> &&
                std::is_same_v<Sell::non_const_size_type, std::size_t>);
  const auto A = Filigree::convert<Filigree::SellMatrix>(device_crs(scattered<double>(6, 4, 2)));
  EXPECT_EQ(A.numPointRows(), 6);
  EXPECT_EQ(A.numPointCols(), 4);
}

}  // namespace FiligreeTest

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Products of matrices with rows of many lengths.
#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "../support/formats.hpp"
#include "../support/tools.hpp"

namespace FiligreeTest {
namespace {

/// A matrix with rows of up to `most` entries. In every other thousand of rows the length is random; in the
/// rest, hundreds of neighbouring rows have the same length. The first and the last column are empty.
template <class Scalar = double>
HostMatrix<Scalar> rows_of_many_lengths(std::int64_t rows, std::int64_t most) {
  HostMatrix<Scalar> host(rows, 200);
  Random random(11);
  for (std::int64_t row = 0; row < rows; ++row) {
    const std::int64_t length = row / 1000 % 2 == 0 ? random.below(most + 1) : row / 100 % (most + 1);
    for (std::int64_t i = 0; i < length; ++i)
      host.rows[static_cast<std::size_t>(row)].push_back({1 + random.below(198), random.value<Scalar>()});
  }
  return host;
}

/// Expects correct products of all variants of a format. The first and the last element of each column of x
/// are Inf. Padding has column -1; if a kernel read x there, it would read the last element of the column of
/// x before, and Inf would appear in y. If it multiplied padding by the first element, Inf would appear, too.
template <template <class...> class Format, class Layout = Kokkos::LayoutLeft, class Scalar>
void expect_correct(const HostMatrix<Scalar>& host, const std::vector<int>& numbers_of_columns = {0, 3}) {
  const auto crs = device_crs(host);
  using Options = typename decltype(Filigree::convert<Format>(crs))::options_type;
  for (const int columns : numbers_of_columns) {
    auto x = Random(5).vectors<Scalar>(host.columns, std::max(columns, 1));
    for (std::int64_t c = 0; c < x.columns; ++c)
      x(0, c) = x(host.columns - 1, c) = infinity<Scalar>();
    const Product<Scalar> product{Mode::NoTranspose, Scalar(1.5), Scalar(0.5), columns};
    const auto expected = expect_product(host, product, x);
    for (const auto& variants : {Filigree::variants_of<Options>(), small_variants(Options())})
      for (const auto& variant : variants)
        EXPECT_TRUE(multiplies_as_expected<Layout>(
            Filigree::convert<Format>(crs, any_padding(1, variant.options)), product, expected))
            << variant.name;
  }
}

TEST(RowsOfManyLengths, AreMultipliedCompletely) {
  for (const std::int64_t most : {1, 3, 6, 13, 16, 20, 41}) {
    const auto host = rows_of_many_lengths(9000, most);
    expect_correct<Filigree::EllMatrix>(host);
    expect_correct<Filigree::SellMatrix>(host);
    expect_correct<Filigree::HybMatrix>(host);
    expect_correct<Filigree::HecMatrix>(host);
    expect_correct<Filigree::JdsMatrix>(host);
  }
}

/// A matrix in which most rows have `most` entries. Every tenth row is shorter, and some of these are empty. The mean
/// length, rounded up, is `most`.
template <class Scalar>
HostMatrix<Scalar> rows_of_nearly_one_length(std::int64_t most) {
  HostMatrix<Scalar> host(500, 200);
  Random random(13);
  for (std::size_t row = 0; row < 500; ++row) {
    const std::int64_t length = row % 10 == 3 ? static_cast<std::int64_t>(row / 10) % most : most;
    for (std::int64_t i = 0; i < length; ++i)
      host.rows[row].push_back({1 + random.below(198), random.value<Scalar>()});
  }
  return host;
}

template <class Scalar>
void expect_correct_batches() {
  const std::vector<int> numbers_of_columns = {4, 8, 16, 20};
  for (const std::int64_t most : {4, 9, 13, 16, 27, 41})
    expect_correct<Filigree::EllMatrix>(rows_of_many_lengths<Scalar>(3000, most), numbers_of_columns);
  for (const std::int64_t most : {1, 5, 6, 7, 10, 14})
    expect_correct<Filigree::EllMatrix>(rows_of_nearly_one_length<Scalar>(most), numbers_of_columns);
}

/// On a GPU 4, 8 and 16 columns have kernels of their own, which multiply 7 or 5 entries of a row at a time if the mean
/// length, rounded up, fills such batches. Of the lengths here 1, 2 and 6 do not. For padding these kernels load the
/// first element of a column of x, which is Inf.
TEST(RowsOfManyLengths, OfEllAreMultipliedInBatches) {
  expect_correct_batches<double>();
  expect_correct_batches<float>();
}

template <class Scalar>
void expect_correct_shares() {
  const std::vector<int> numbers_of_columns = {4, 8, 12, 16, 24};
  for (const std::int64_t most : {3, 8, 9, 27}) {
    const auto host = rows_of_many_lengths<Scalar>(2003, most);
    expect_correct<Filigree::EllMatrix, Kokkos::LayoutRight>(host, numbers_of_columns);
    expect_correct<Filigree::SellMatrix, Kokkos::LayoutRight>(host, numbers_of_columns);
  }
}

/// On a GPU one, two or four lanes multiply a row with 4, 8 or 16 columns of LayoutRight, and give each other entries.
/// Rows of neighbouring lanes differ in length, and the last warp has lanes without a row.
TEST(RowsOfManyLengths, OfEllAndSellAreSharedByLanes) {
  expect_correct_shares<double>();
  expect_correct_shares<float>();
}

/// On a GPU a row has as many lanes as there are groups of four columns of LayoutRight, rounded up to a power of two.
/// With 12 columns one of four lanes has no column.
TEST(RowsOfManyLengths, OfEllAreMultipliedByTeamsOfAnySize) {
  const auto host = rows_of_many_lengths<double>(2003, 9);
  for (const int lanes : {32, 128, 512, 1024}) {
    Filigree::EllOptions options;
    options.lanes_per_team = lanes;
    const auto A = Filigree::convert<Filigree::EllMatrix>(device_crs(host), options);
    ASSERT_EQ(A.lanes_per_team(), lanes);
    for (const int columns : {4, 8, 12, 16})
      EXPECT_TRUE(
          multiplies<Kokkos::LayoutRight>(A, host, Product<double>{Mode::NoTranspose, 1.5, 0.5, columns}))
          << lanes << " lanes per team";
  }
}

template <class Scalar>
void expect_correct_excess_rows() {
  // The mean number of excess entries of rows that are not long, and the lanes per row that it leads to.
  for (const auto& [excess, lanes] :
       std::vector<std::pair<std::int64_t, int>>{{8, 1}, {16, 2}, {32, 4}, {80, 8}}) {
    HostMatrix<Scalar> host(1003, 300);
    Random random(19);
    for (std::int64_t row = 0; row < 1003; ++row) {
      std::int64_t length = row % 4 == 0 ? random.below(3) : 3 + random.below(2 * excess - 1);
      if (row == 501 || row == 1001) length = 5000;
      for (std::int64_t i = 0; i < length; ++i)
        host.rows[static_cast<std::size_t>(row)].push_back({random.below(300), random.value<Scalar>()});
    }
    Filigree::HecOptions options;
    options.width_rule = Filigree::HybridWidth::given;
    options.width = 2;
    options.long_row = 2 * excess;
    const auto A = Filigree::convert<Filigree::HecMatrix>(device_crs(host), options);
    ASSERT_EQ(A.numLongRows(), 2);
    ASSERT_EQ(A.lanes_per_excess_row(), lanes);
    for (const int columns : {0, 3, 16})
      EXPECT_TRUE(multiplies<Kokkos::LayoutLeft>(
          A, host, Product<Scalar>{Mode::NoTranspose, Scalar(1.5), Scalar(0.5), columns}))
          << excess << " excess entries per row";
  }
}

/// On a GPU one, two, four or eight lanes multiply a row of HEC with excess entries, if x has one column. Some rows
/// have fewer entries than lanes, two long rows have a team each, and the last team has lanes without a row.
TEST(RowsOfManyLengths, OfHecAreMultipliedBySeveralLanes) {
  expect_correct_excess_rows<double>();
  expect_correct_excess_rows<Kokkos::complex<float>>();
}

/// On a GPU the ELL kernel with row lengths multiplies HEC without excess entries.
TEST(RowsOfManyLengths, OfHecMayHaveNoExcessEntries) {
  const auto host = rows_of_nearly_one_length<double>(6);
  const auto A = Filigree::convert<Filigree::HecMatrix>(device_crs(host));
  ASSERT_EQ(A.excess_rows.extent(0), 0u);
  ASSERT_EQ(A.lanes_per_excess_row(), 1);
  const std::vector<int> numbers_of_columns = {0, 3, 4, 8, 16};
  expect_correct<Filigree::HecMatrix>(host, numbers_of_columns);
  expect_correct<Filigree::HecMatrix, Kokkos::LayoutRight>(host, numbers_of_columns);
}

template <class Scalar>
void expect_correct_short_and_whole_columns() {
  HostMatrix<Scalar> host(403, 70000);
  Random random(17);
  for (std::int64_t row = 0; row < 403; ++row) {
    const bool wide = row / 4 % 3 == 1;
    for (std::int64_t i = 0; i < 1 + row % 11; ++i)
      host.rows[static_cast<std::size_t>(row)].push_back(
          {wide ? i * 6999 : 5 * row + 3 * i, random.value<Scalar>()});
    if (wide) host.rows[static_cast<std::size_t>(row)].push_back({69999, random.value<Scalar>()});
  }
  Filigree::SellOptions options;
  options.slice_height = 4;
  options.short_columns = true;
  const auto A = Filigree::convert<Filigree::SellMatrix>(device_crs(host), options);
  EXPECT_GT(A.entries.extent(0), 0u);
  EXPECT_GT(A.short_entries.extent(0), 0u);
  for (const int columns : {8, 16})
    EXPECT_TRUE(multiplies<Kokkos::LayoutRight>(
        A, host, Product<Scalar>{Mode::NoTranspose, Scalar(1.5), Scalar(0.5), columns}));
}

/// Slices of four rows, of which every third is too wide for short columns: one warp of a GPU has slices of both kinds.
TEST(RowsOfManyLengths, HaveShortAndWholeColumnsInOneWarp) {
  expect_correct_short_and_whole_columns<float>();
  expect_correct_short_and_whole_columns<double>();
}

/// Four neighbouring columns of a LayoutRight View: neither is x unit-stride, nor are its rows aligned.
TEST(RowsOfManyLengths, OfEllAreMultipliedByPartsOfViews) {
  const auto host = rows_of_nearly_one_length<double>(14);
  const auto A = Filigree::convert<Filigree::EllMatrix>(device_crs(host));
  const auto expected = expect_product(host, Product<double>{Mode::NoTranspose, 1, 0, 4});
  using View = View2<double, Kokkos::LayoutRight>;
  const View x("x", host.columns, 9), y("y", host.row_count(), 9), result("result", host.row_count(), 4);
  const auto columns = std::make_pair(3, 7);
  Kokkos::deep_copy(x, not_a_number<double>());
  Kokkos::deep_copy(Kokkos::subview(x, Kokkos::ALL, columns), device_view<View>(expected.x));
  Filigree::spmv(Mode::NoTranspose, 1.0, A, Kokkos::subview(x, Kokkos::ALL, columns), 0.0,
                 Kokkos::subview(y, Kokkos::ALL, columns));
  Kokkos::deep_copy(result, Kokkos::subview(y, Kokkos::ALL, columns));
  EXPECT_TRUE(agrees(host_vectors(result), expected.reference));
}

/// The ELL part of a hybrid matrix has the lengths of whole rows, which may exceed its width.
TEST(RowsOfManyLengths, OfTheEllPartAloneEndAtItsWidth) {
  const auto host = rows_of_nearly_one_length<double>(21);
  const auto hyb =
      Filigree::convert<Filigree::HybMatrix>(device_crs(host), given_width<Filigree::HybOptions>(14));
  HostMatrix<double> part = host;
  for (auto& row : part.rows)
    row.resize(std::min<std::size_t>(row.size(), 14));
  for (const int columns : {1, 4, 8, 16}) {
    auto x = Random(5).vectors<double>(host.columns, columns);
    for (std::int64_t c = 0; c < columns; ++c)
      x(0, c) = infinity<double>();  // no row has an entry there
    const Product<double> product{Mode::NoTranspose, 1, 0, columns};
    EXPECT_TRUE(multiplies_vectors<Kokkos::LayoutLeft>(hyb.ell, part, product, x));
    EXPECT_TRUE(multiplies_vectors<Kokkos::LayoutRight>(hyb.ell, part, product, x));
  }
}

/// Expects that a stored zero adds NaN where x is Inf.
template <class Layout, class Matrix>
void expect_nan_of_stored_zeros(const Matrix& A) {
  using Scalar = typename Matrix::value_type;
  for (const int columns : {1, 3, 4, 8, 16}) {
    HostVectors<Scalar> x(40, columns, 1);
    for (std::int64_t c = 0; c < columns; ++c)
      x(20, c) = infinity<Scalar>();
    const auto y = multiply<View2, Layout>(Mode::NoTranspose, Scalar(1), A, x, Scalar(0),
                                           HostVectors<Scalar>(40, columns));
    for (std::int64_t c = 0; c < columns; ++c)
      for (std::int64_t row = 0; row < 40; ++row) {
        const std::int64_t i = (20 - row + 40) % 40;
        EXPECT_EQ(std::isnan(y(row, c)), i == 3) << row;
        EXPECT_EQ(std::isinf(y(row, c)), i < 7 && i != 3) << row;
      }
  }
}

/// A stored zero is not padding: its product with Inf is NaN, for any number of columns.
TEST(StoredZeros, AreMultiplied) {
  HostMatrix<double> host(40, 40);
  HostMatrix<float> host_of_float(40, 40);
  for (std::int64_t row = 0; row < 40; ++row)
    for (std::int64_t i = 0; i < 7; ++i) {
      host.rows[static_cast<std::size_t>(row)].push_back({(row + i) % 40, i == 3 ? 0.0 : 1.0});
      host_of_float.rows[static_cast<std::size_t>(row)].push_back({(row + i) % 40, i == 3 ? 0.0f : 1.0f});
    }
  const auto ell = Filigree::convert<Filigree::EllMatrix>(device_crs(host));
  expect_nan_of_stored_zeros<Kokkos::LayoutLeft>(ell);
  expect_nan_of_stored_zeros<Kokkos::LayoutRight>(ell);
  expect_nan_of_stored_zeros<Kokkos::LayoutRight>(
      Filigree::convert<Filigree::SellMatrix>(device_crs(host_of_float)));
  expect_nan_of_stored_zeros<Kokkos::LayoutRight>(Filigree::convert<Filigree::SellMatrix>(device_crs(host)));
}

/// A host multiplies both parts of HYB in one kernel, unless the longest row has more than eight times as
/// many entries as the ELL part is wide.
TEST(HybLongestRow, DecidesTheNumberOfKernelsOnHosts) {
  for (const std::int64_t longest : {16, 17, 5000}) {
    auto host = rows_of_many_lengths(9000, 3);
    Random random(7);
    for (const std::size_t row : {0, 5000, 8999})
      while (static_cast<std::int64_t>(host.rows[row].size()) < longest)
        host.rows[row].push_back({1 + random.below(198), random.value<double>()});
    const auto A =
        Filigree::convert<Filigree::HybMatrix>(device_crs(host), given_width<Filigree::HybOptions>(2));
    EXPECT_EQ(A.longestRow(), longest);
    expect_products(A, host);
    const View1<double, Kokkos::LayoutLeft> x("x", 200);
    const View1<double, Kokkos::LayoutLeft> y("y", 9000);
    Kokkos::fence();
    const KokkosRecorder recorder;
    Filigree::spmv(ExecutionSpace(), "N", 1.0, A, x, 0.0, y);
    const bool one_kernel = longest <= 16 && !Filigree::Impl::runs_on_gpu_v<ExecutionSpace>;
    EXPECT_EQ(recorder.events().kernels.size(), one_kernel ? 1u : 2u) << "longest row " << longest;
  }
}

}  // namespace
}  // namespace FiligreeTest

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tests of the padding at the end of each column that CDS and DIA have for values of less than 8 bytes.
#include "../support/errors.hpp"
#include "../support/formats.hpp"

namespace FiligreeTest {
namespace {

template <class Scalar>
using CdsOf = Filigree::CdsMatrix<Scalar, int, Device, void, int>;
using Cds = CdsOf<float>;
using Values = typename Cds::values_type;

template <class Scalar = float>
CdsOf<Scalar> padded_cds(const HostMatrix<float>& host, int b) {
  return Filigree::convert<Filigree::CdsMatrix, Scalar>(device_crs(host),
                                                        any_padding<Filigree::CdsOptions>(b));
}

/// The matrix with columns that are `rows` apart, as in the source.
template <class Scalar>
CdsOf<Scalar> without_padding(const CdsOf<Scalar>& A) {
  const auto padded = host_list(A.values);
  const auto rows = static_cast<std::size_t>(A.numRows());
  const auto stride = static_cast<std::size_t>(A.column_stride());
  const typename CdsOf<Scalar>::values_type values("values", padded.size() / stride * rows);
  const auto host = Kokkos::create_mirror_view(values);
  for (std::size_t column = 0; column < padded.size() / stride; ++column)
    for (std::size_t row = 0; row < rows; ++row)
      host(column * rows + row) = padded[column * stride + row];
  Kokkos::deep_copy(values, host);
  return CdsOf<Scalar>(A.numRows(), A.numCols(), A.nnz(), A.block_size(), values, A.offsets);
}

/// The values of stored rows that the matrix does not have.
std::vector<float> padding(const Cds& A, const std::vector<float>& values) {
  std::vector<float> result;
  for (std::size_t i = 0; i < values.size(); ++i)
    if (static_cast<std::int64_t>(i) % A.column_stride() >= static_cast<std::int64_t>(A.numRows()))
      result.push_back(values[i]);
  return result;
}

TEST(CdsPadding, RoundsColumnsUpTo16Bytes) {
  const auto stride = [](auto scalar, std::int64_t rows) {
    using S = decltype(scalar);
    return Filigree::convert<Filigree::DiaMatrix>(device_crs(block_banded<S>(rows, rows, 1))).column_stride();
  };
  EXPECT_EQ(stride(float(), 1023), 1023);
  EXPECT_EQ(stride(float(), 1024), 1024);
  EXPECT_EQ(stride(float(), 1025), 1028);
  EXPECT_EQ(stride(float(), 1028), 1028);
  EXPECT_EQ(stride(double(), 1025), 1025);
  EXPECT_EQ(stride(Kokkos::complex<float>(), 1025), 1025);
  const Cds A = padded_cds(block_banded<float>(1026, 1030, 5), 5);
  EXPECT_EQ(A.column_stride(), 1028);
  EXPECT_EQ(A.values.extent(0), static_cast<std::size_t>(A.numDiagonals()) * 5 * 1028);
  EXPECT_EQ(padding(A, host_list(A.values)),
            std::vector<float>(static_cast<std::size_t>(A.numDiagonals()) * 10));
  EXPECT_EQ(without_padding<float>(A).column_stride(), 1026);
  EXPECT_EQ(Cds().column_stride(), 0);
}

/// The padding must change no product, and a product must not write behind the end of y.
template <class Scalar>
void expect_products_without_padding() {
  constexpr float guard = 77;
  for (const int b : {1, 2, 3, 5, 9})
    for (const std::int64_t rows : {1025, 1026, 1027, 1028}) {
      const auto A = padded_cds<Scalar>(block_banded<float>(rows, rows + 2, b), b);
      const auto B = without_padding<Scalar>(A);
      EXPECT_EQ(A.column_stride() % (16 / static_cast<std::int64_t>(sizeof(Scalar))), 0);
      EXPECT_NO_THROW(Filigree::check(A));
      EXPECT_NO_THROW(Filigree::check(B));
      const Kokkos::View<float*, Device> x("x", 1032), y("y", 1032), expected("expected", 1032);
      const auto host_x = Kokkos::create_mirror_view(x);
      Random random(3);
      for (std::size_t i = 0; i < 1032; ++i)
        host_x(i) = random.value<float>();
      Kokkos::deep_copy(x, host_x);
      for (const char* mode : {"N", "T"})
        for (const std::size_t first : {0, 1})
          for (const float beta : {0.0F, 2.0F}) {
            const std::size_t y_rows = static_cast<std::size_t>(mode[0] == 'N' ? A.numRows() : A.numCols());
            const std::size_t x_rows = static_cast<std::size_t>(mode[0] == 'N' ? A.numCols() : A.numRows());
            const auto part = [&](const auto& view, std::size_t count) {
              return Kokkos::subview(view, std::make_pair(first, first + count));
            };
            Kokkos::deep_copy(y, guard);
            Kokkos::deep_copy(expected, guard);
            Filigree::spmv(mode, 3.0F, A, part(x, x_rows), beta, part(y, y_rows));
            Filigree::spmv(mode, 3.0F, B, part(x, x_rows), beta, part(expected, y_rows));
            EXPECT_EQ(host_list(y), host_list(expected)) << mode << b << " " << rows << " " << first;
            EXPECT_NE(host_list(y)[first + y_rows - 1], guard);
            EXPECT_EQ(host_list(y)[first + y_rows], guard);
          }
    }
}

TEST(CdsPadding, ProductsDoNotSeeIt) {
  expect_products_without_padding<float>();
}
TEST(CdsPadding, ProductsOf16BitsDoNotSeeIt) {
  expect_products_without_padding<Filigree::half_t>();
}

TEST(CdsPadding, SurvivesConversions) {
  const auto host = block_banded<float>(1027, 1027, 3);
  for (const Cds& A : {padded_cds(host, 3), without_padding<float>(padded_cds(host, 3))}) {
    EXPECT_EQ(host_matrix(Filigree::to_crs(A)), canonical(host));
    auto other = host;
    for (auto& row : other.rows)
      for (auto& entry : row)
        entry.value = 2 * entry.value;
    Filigree::refill(A, device_crs(other));
    EXPECT_EQ(host_matrix(Filigree::to_crs(A)), canonical(other));
    EXPECT_NO_THROW(Filigree::check(A));
  }
}

TEST(CdsPadding, IsZeroInBothHalvesOfSplitCds) {
  const auto host = block_banded<double>(1027, 1027, 3);
  const auto crs = device_crs(host);
  const auto A = Filigree::convert<Filigree::SplitCdsMatrix>(crs, any_padding<Filigree::SplitCdsOptions>(3));
  EXPECT_EQ(A.leading.column_stride(), 1028);
  EXPECT_NO_THROW(Filigree::check(A));
  Filigree::refill(A, crs);
  EXPECT_NO_THROW(Filigree::check(A));
  EXPECT_EQ(host_matrix(Filigree::to_crs(A)), canonical(host));
}

TEST(CdsPadding, CheckFindsValuesInItAndColumnsThatAreTooShort) {
  const Cds A = padded_cds(block_banded<float>(1025, 1025, 1), 1);
  const auto with_values = [&](const Values& values) {
    return Cds(A.numRows(), A.numCols(), A.nnz(), 1, values, A.offsets);
  };
  const auto refusal = [&](const Values& values) {
    return message<std::invalid_argument>([&]() { Filigree::check(with_values(values)); });
  };
  EXPECT_TRUE(holds(refusal(changed(A.values, 1025, 5)), {"values(1025) is 5", "row 1025", "padding"}));
  EXPECT_TRUE(holds(refusal(Values("values", 5 * 1024)), {"values has 5120 elements", "5125"}));
  EXPECT_TRUE(holds(refusal(Values("values", 5 * 1028 + 2)), {"values has 5142 elements", "5140"}));
}

}  // namespace
}  // namespace FiligreeTest

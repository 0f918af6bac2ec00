// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tests of the padding at the end of each column that CDS and DIA have for columns of at least 8 KiB.
#include <filigree/grid/stencil_problem.hpp>

#include "../support/column_stride.hpp"
#include "../support/errors.hpp"
#include "../support/formats.hpp"

namespace FiligreeTest {
namespace {

template <class Scalar>
using CdsOf = Filigree::CdsMatrix<Scalar, int, Device, void, int>;
using Cds = CdsOf<float>;
using Values = typename Cds::values_type;

/// The memory that the next allocations get may have been zero before.
void fill_free_memory() {
  const Kokkos::View<float*, Device> values("values", 1 << 20);
  Kokkos::deep_copy(values, std::numeric_limits<float>::quiet_NaN());
}

template <class Scalar = float>
CdsOf<Scalar> padded_cds(const HostMatrix<float>& host, int b) {
  fill_free_memory();
  return Filigree::convert<Filigree::CdsMatrix, Scalar>(device_crs(host),
                                                        any_padding<Filigree::CdsOptions>(b));
}

/// The values of stored rows that the matrix does not have.
std::vector<float> padding(const Cds& A) {
  const auto values = host_list(A.values);
  std::vector<float> result;
  for (std::size_t i = 0; i < values.size(); ++i)
    if (static_cast<std::int64_t>(i) % A.column_stride() >= static_cast<std::int64_t>(A.numRows()))
      result.push_back(values[i]);
  return result;
}

TEST(CdsPadding, RoundsLongColumnsUpToAnOddMultipleOf256Bytes) {
  const auto stride = [](auto scalar, std::int64_t rows) {
    using S = decltype(scalar);
    return Filigree::convert<Filigree::DiaMatrix>(device_crs(block_banded<S>(rows, rows, 1))).column_stride();
  };
  EXPECT_EQ(stride(float(), 2047), 2047);
  EXPECT_EQ(stride(float(), 2048), 33 * 64);
  EXPECT_EQ(stride(float(), 33 * 64), 33 * 64);
  EXPECT_EQ(stride(float(), 33 * 64 + 1), 35 * 64);
  EXPECT_EQ(stride(double(), 1023), 1023);
  EXPECT_EQ(stride(double(), 1024), 33 * 32);
  EXPECT_EQ(stride(Kokkos::complex<double>(), 512), 33 * 16);
  EXPECT_EQ(padded_cds<Filigree::half_t>(block_banded<float>(4097, 4097, 1), 1).column_stride(), 33 * 128);
  const Cds A = padded_cds(block_banded<float>(2051, 2060, 5), 5);
  EXPECT_EQ(A.column_stride(), 2112);
  EXPECT_EQ(A.values.extent(0), static_cast<std::size_t>(A.numDiagonals()) * 5 * 2112);
  EXPECT_EQ(padding(A), std::vector<float>(static_cast<std::size_t>(A.numDiagonals()) * 5 * 61));
  EXPECT_EQ(without_padding(A).column_stride(), 2051);
  EXPECT_EQ(Cds().column_stride(), 0);
}

/// Also of sizes that do not divide 256, and of more bytes than a column without padding may have.
TEST(ColumnStride, TakesElementsOfAnySize) {
  EXPECT_EQ(Filigree::Impl::column_stride(10, 1024), 11);
  EXPECT_EQ(Filigree::Impl::column_stride(10, 16384), 11);
  EXPECT_EQ(Filigree::Impl::column_stride(682, 12), 682);
  EXPECT_EQ(Filigree::Impl::column_stride(1000, 12), 21 * 49);
  for (const std::size_t bytes : {8, 16384})
    EXPECT_EQ(Filigree::Impl::column_stride(0, bytes), 0);
}

template <class T>
using Vectors = Kokkos::View<T**, Kokkos::LayoutLeft, Device>;

/// Expects the bits of y = 2*op(A)*x + beta*y of the matrix B for A, and that y is not written outside of its
/// rows. alpha and beta are powers of two or 0, so that kernels round alike, whether or not the compiler joins a
/// multiplication and an addition.
template <class Matrix>
void expect_equal_products(const Matrix& A, const Matrix& B, const std::string& name) {
  constexpr float guard = 77;
  const auto most = static_cast<std::size_t>(std::max(A.numRows(), A.numCols())) + 9;
  using T = std::conditional_t<std::is_same_v<typename Matrix::value_type, double>, double, float>;
  const Vectors<T> x("x", most, 4), y("y", most, 4), expected("expected", most, 4);
  const auto host_x = Kokkos::create_mirror_view(x);
  Random random(3);
  for (std::size_t i = 0; i < most; ++i)
    for (std::size_t c = 0; c < 4; ++c)
      host_x(i, c) = random.value<T>();
  Kokkos::deep_copy(x, host_x);
  const auto expect_equal_vectors = [&](const std::string& what, std::size_t y_end) {
    const auto host_y = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), y);
    const auto host_expected = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), expected);
    for (std::size_t i = 0; i < most; ++i)
      for (std::size_t c = 0; c < 4; ++c)
        ASSERT_EQ(host_y(i, c), host_expected(i, c)) << what << ", y(" << i << ", " << c << ")";
    EXPECT_EQ(host_y(y_end, 0), guard) << what;
    EXPECT_NE(host_y(y_end - 1, 0), guard) << what;
  };
  for (const char* mode : {"N", "T"})
    for (const std::size_t first : {0, 1}) {
      const auto y_rows = static_cast<std::size_t>(mode[0] == 'N' ? A.numRows() : A.numCols());
      const auto x_rows = static_cast<std::size_t>(mode[0] == 'N' ? A.numCols() : A.numRows());
      const auto part = [&](const auto& view, std::size_t count, auto columns) {
        return Kokkos::subview(view, std::make_pair(first, first + count), columns);
      };
      for (const float beta : {0.0F, 2.0F}) {
        const auto multiply = [&](const Matrix& matrix, const Vectors<T>& into, auto columns) {
          Kokkos::deep_copy(into, T(guard));
          Filigree::spmv(mode, T(2), matrix, part(x, x_rows, columns), T(beta), part(into, y_rows, columns));
        };
        const std::string what = name + ", mode " + mode + ", from row " + std::to_string(first);
        multiply(A, y, 0);
        multiply(B, expected, 0);
        expect_equal_vectors(what, first + y_rows);
        for (const int columns : {3, 4}) {
          multiply(A, y, std::make_pair(0, columns));
          multiply(B, expected, std::make_pair(0, columns));
          expect_equal_vectors(what + ", " + std::to_string(columns) + " columns", first + y_rows);
        }
      }
    }
}

template <class Scalar>
void expect_products_without_padding() {
  const std::int64_t padded_rows = 8192 / sizeof(Scalar);
  for (const int b : {1, 2, 3, 4, 5, 9})
    for (const std::int64_t rows : {padded_rows + 1, padded_rows + 2, padded_rows + 3, padded_rows + 4}) {
      const auto A = padded_cds<Scalar>(block_banded<float>(rows, rows + 2, b), b);
      const auto B = without_padding(A);
      const std::string name = "b = " + std::to_string(b) + ", " + std::to_string(rows) + " rows, stride ";
      EXPECT_NO_THROW(Filigree::check(A));
      EXPECT_NO_THROW(Filigree::check(B));
      for (const std::int64_t stride : {padded_rows + 7, padded_rows + 8})
        expect_equal_products(with_column_stride(A, static_cast<std::size_t>(stride)), B,
                              name + std::to_string(stride));
      expect_equal_products(A, B, name + std::to_string(A.column_stride()));
    }
}
TEST(CdsPadding, ProductsDoNotSeeIt) {
  expect_products_without_padding<float>();
}
TEST(CdsPadding, ProductsOf16BitsDoNotSeeIt) {
  expect_products_without_padding<Filigree::half_t>();
}
TEST(CdsPadding, ProductsOfDoublesDoNotSeeIt) {
  expect_products_without_padding<double>();
}

TEST(CdsPadding, ProductsOfSplitCdsDoNotSeeIt) {
  for (const int b : {1, 3, 5, 9}) {
    const auto crs = device_crs(block_banded<double>(2051, 2051, b));
    const auto A =
        Filigree::convert<Filigree::SplitCdsMatrix>(crs, any_padding<Filigree::SplitCdsOptions>(b));
    const auto full = Filigree::convert<Filigree::CdsMatrix>(crs, any_padding<Filigree::CdsOptions>(b));
    const Kokkos::View<double*, Device> x("x", 2051), y("y", 2051), expected("expected", 2051);
    Kokkos::deep_copy(x, 0.7);
    Filigree::spmv("N", 1.0, A, x, 0.0, y);
    Filigree::spmv("N", 1.0, full, x, 0.0, expected);
    EXPECT_EQ(host_list(y), host_list(expected)) << b;
  }
}

TEST(CdsPadding, SurvivesConversions) {
  const auto host = block_banded<float>(2051, 2051, 3);
  for (const Cds& A : {padded_cds(host, 3), without_padding(padded_cds(host, 3))}) {
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
  const auto host = block_banded<double>(2051, 2051, 3);
  const auto crs = device_crs(host);
  fill_free_memory();
  const auto A = Filigree::convert<Filigree::SplitCdsMatrix>(crs, any_padding<Filigree::SplitCdsOptions>(3));
  EXPECT_EQ(A.leading.column_stride(), 2112);
  EXPECT_NO_THROW(Filigree::check(A));
  fill_free_memory();
  Filigree::refill(A, crs);
  EXPECT_NO_THROW(Filigree::check(A));
  EXPECT_EQ(host_matrix(Filigree::to_crs(A)), canonical(host));
}

TEST(CdsPadding, GridsHaveIt) {
  const Filigree::StencilProblem problem({46, 46, 1}, Filigree::Stencil::five_point(), 1);
  const auto A = problem.cds<Cds>();
  EXPECT_EQ(A.column_stride(), 35 * 64);
  EXPECT_EQ(padding(A), std::vector<float>(5 * (35 * 64 - 46 * 46)));
  EXPECT_NO_THROW(Filigree::check(A));
}

TEST(CdsPadding, CheckFindsValuesInItAndColumnsThatAreTooShort) {
  const Cds A = padded_cds(block_banded<float>(2049, 2049, 1), 1);
  const auto refusal = [&](const Values& values) {
    const Cds wrapped(A.numRows(), A.numCols(), A.nnz(), 1, values, A.offsets);
    return message<std::invalid_argument>([&]() { Filigree::check(wrapped); });
  };
  EXPECT_TRUE(holds(refusal(changed(A.values, 2049, 5)), {"values(2049) is 5", "row 2049", "padding"}));
  EXPECT_TRUE(holds(refusal(Values("values", 5 * 2048)), {"values has 10240 elements", "10245"}));
  EXPECT_TRUE(holds(refusal(Values("values", 5 * 2112 + 2)), {"values has 10562 elements", "10560"}));
}

/// check() accepts such a matrix, because nnz() may count stored zeros.
TEST(CdsWithoutDiagonals, IsZero) {
  for (const int b : {1, 4, 9}) {
    const Cds A(20, 20, 1, b, Values(), Cds::offsets_type());
    EXPECT_NO_THROW(Filigree::check(A));
    const Kokkos::View<float*, Device> x("x", 20), y("y", 20);
    Kokkos::deep_copy(y, 3.0F);
    Filigree::spmv("N", 1.0F, A, x, 2.0F, y);
    EXPECT_EQ(host_list(y), std::vector<float>(20, 6.0F)) << b;
  }
}

/// check() accepts a diagonal outside of the matrix. x has no element that its product could read.
TEST(CdsWithoutColumns, IsZero) {
  const auto offsets = device_list<Cds::offsets_type>(std::vector<std::int64_t>{-1});
  const Cds A(20, 0, 1, 1, Values("values", 20), offsets);
  EXPECT_NO_THROW(Filigree::check(A));
  for (const int columns : {1, 4, 5}) {
    const Kokkos::View<float**, Kokkos::LayoutLeft, Device> x("x", 0, columns), y("y", 20, columns);
    Kokkos::deep_copy(y, 3.0F);
    Filigree::spmv("N", 1.0F, A, x, 2.0F, y);
    Kokkos::fence();
    const auto found = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), y);
    for (int c = 0; c < columns; ++c)
      for (int row = 0; row < 20; ++row)
        EXPECT_EQ(found(row, c), 6.0F) << row << ' ' << c;
  }
}

}  // namespace
}  // namespace FiligreeTest

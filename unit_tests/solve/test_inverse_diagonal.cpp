// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <filigree/solve/preconditioner.hpp>
#include <filigree/tune/optimize.hpp>

#include "../support/errors.hpp"
#include "../support/formats.hpp"
#include "dense.hpp"

namespace FiligreeTest {
namespace {

/// A matrix of full blocks of random numbers, whose diagonal is 0 if `needs_exchange`, and a few entries outside.
template <class Scalar>
HostMatrix<Scalar> blocks_and_more(std::int64_t rows, std::int64_t b, bool needs_exchange) {
  Random random(static_cast<unsigned>(100 * rows + b));
  HostMatrix<Scalar> result(rows, rows);
  for (std::int64_t row = 0; row < rows; ++row) {
    const std::int64_t first = row / b * b;
    const std::int64_t end = std::min(rows, first + b);
    auto& entries = result.rows[static_cast<std::size_t>(row)];
    if (first >= b) entries.push_back({first - b, random.value<Scalar>()});
    for (std::int64_t column = first; column < end; ++column)
      if (column != row || !needs_exchange || end - first == 1)
        entries.push_back({column, random.value<Scalar>()});
  }
  return result;
}

/// Whether D^-1 of a matrix times its diagonal blocks is the identity, up to rounding of ill-conditioned blocks.
template <class Scalar, class Inverse>
testing::AssertionResult inverts(const Inverse& inverse, const HostMatrix<Scalar>& host, std::int64_t b) {
  const std::int64_t rows = host.row_count();
  const auto values = host_list(inverse.values);
  const auto stride = inverse.column_stride();
  for (std::int64_t first = 0; first < rows; first += b) {
    const std::int64_t size = std::min(b, rows - first);
    HostMatrix<Scalar> block(size, size);
    for (std::int64_t i = 0; i < size; ++i)
      for (const auto& entry : host.rows[static_cast<std::size_t>(first + i)])
        if (entry.column >= first && entry.column < first + size)
          block.rows[static_cast<std::size_t>(i)].push_back({entry.column - first, entry.value});
    const Dense A(block);
    const long double condition = dense_norm(A) * inverse_norm(A);
    using Stored = Filigree::Impl::real_t<typename Inverse::value_type>;
    const long double bound =
        10 * static_cast<long double>(size * size) * condition *
        std::max<long double>(std::numeric_limits<Filigree::Impl::real_t<Scalar>>::epsilon(),
                              std::numeric_limits<Stored>::epsilon());
    for (std::int64_t c = 0; c < b; ++c) {
      std::vector<Wide> column(static_cast<std::size_t>(size));
      for (std::int64_t i = 0; i < size; ++i) {
        const Wide value = wide(values[static_cast<std::size_t>(c * stride + first + i)]);
        if (c < size)
          column[static_cast<std::size_t>(i)] = value;
        else if (value != Wide(0))
          return testing::AssertionFailure() << "column " << c << " of a block of " << size << " is not 0";
      }
      if (c >= size) continue;
      auto product = dense_product(A, column);
      product[static_cast<std::size_t>(c)] -= 1;
      if (!(norm(product) <= bound))
        return testing::AssertionFailure() << "block at row " << first << ", column " << c
                                           << ": the error is " << norm(product) << ", larger than " << bound;
    }
  }
  return testing::AssertionSuccess();
}

template <class Scalar>
void expect_inverses() {
  for (const int b : {1, 2, 3, 4, 5, 7, 8, 9, 11, 16, 17, 31, 32})
    for (const bool needs_exchange : {false, true}) {
      SCOPED_TRACE("b = " + std::to_string(b) + (needs_exchange ? ", zeros on the diagonal" : ""));
      // The last block has fewer rows.
      const auto host = blocks_and_more<Scalar>(5 * b + (b > 2 ? b - 1 : 0), b, needs_exchange && b > 1);
      const auto crs = device_crs(host);
      EXPECT_TRUE(inverts(Filigree::inverse_diagonal_blocks(ExecutionSpace(), crs, b), host, b));
    }
}

TEST(InverseDiagonal, InvertsBlocksOfDouble) {
  expect_inverses<double>();
}
TEST(InverseDiagonal, InvertsBlocksOfFloat) {
  expect_inverses<float>();
}
TEST(InverseDiagonal, InvertsBlocksOfComplexDouble) {
  expect_inverses<Kokkos::complex<double>>();
}

template <class Case>
class InverseOfFormat : public testing::Test {};
TYPED_TEST_SUITE(InverseOfFormat, AllFormatsOf<double>, CaseName);

TYPED_TEST(InverseOfFormat, IsThatOfTheBlocks) {
  const auto host = suited<TypeParam>(blocks_and_more<double>(60, 4, false));
  for_each_variant<TypeParam>(host, 4, [&](const std::string& name, const auto& A) {
    SCOPED_TRACE(name);
    for (const int b : {1, 4, 12})
      EXPECT_TRUE(inverts(Filigree::inverse_diagonal_blocks(ExecutionSpace(), A, b), host, b)) << b;
    const auto inverse = host_list(Filigree::inverse_diagonal(ExecutionSpace(), A));
    const auto diagonal = host_list(Filigree::diagonal(A));
    ASSERT_EQ(inverse.size(), diagonal.size());
    for (std::size_t i = 0; i < inverse.size(); ++i)
      EXPECT_EQ(inverse[i], 1 / diagonal[i]) << i;
  });
}

TEST(InverseDiagonal, NamesTheFirstSingularBlock) {
  for (const int b : {3, 4, 12}) {
    auto host = blocks_and_more<double>(6 * b, b, false);
    for (const int block : {4, 2}) {
      auto& row = host.rows[static_cast<std::size_t>(block * b + 1)];
      for (auto& entry : row)
        entry.value = 0;
    }
    const auto crs = device_crs(host);
    const auto text =
        message<std::runtime_error>([&]() { Filigree::inverse_diagonal_blocks(ExecutionSpace(), crs, b); });
    EXPECT_TRUE(
        holds(text, {"block 2 on the diagonal",
                     "rows " + std::to_string(2 * b) + " to " + std::to_string(3 * b - 1), "2 of 6 blocks"}))
        << text;
  }
}

TEST(InverseDiagonal, FindsBlocksThatAreSingularButForRounding) {
  // The third row is the sum of the others.
  HostMatrix<double> host(3, 3);
  host.rows[0] = {{0, 0.1}, {1, 0.7}, {2, 0.3}};
  host.rows[1] = {{0, 1.3}, {1, -0.2}, {2, 0.9}};
  for (int i = 0; i < 3; ++i)
    host.rows[2].push_back({i, host.rows[0][static_cast<std::size_t>(i)].value +
                                   host.rows[1][static_cast<std::size_t>(i)].value});
  const auto crs = device_crs(host);
  EXPECT_THROW(Filigree::inverse_diagonal_blocks(ExecutionSpace(), crs, 3), std::runtime_error);
}

TEST(InverseDiagonal, RefusesInversesThatAreNotFinite) {
  // The inverse of the first element of each block is infinite.
  for (const int b : {1, 4, 12}) {
    HostMatrix<double> host(3 * b, 3 * b);
    for (std::int64_t row = 0; row < 3 * b; ++row)
      host.rows[static_cast<std::size_t>(row)].push_back({row, row / b == 1 ? 2e-310 : 1.0});
    const auto crs = device_crs(host);
    const auto text =
        message<std::runtime_error>([&]() { Filigree::inverse_diagonal_blocks(ExecutionSpace(), crs, b); });
    EXPECT_TRUE(holds(text, {b == 1 ? "element of row 1 " : "block 1 on the diagonal"})) << text;
    EXPECT_THROW(Filigree::inverse_diagonal(ExecutionSpace(), crs), std::runtime_error);
  }
}

TEST(InverseDiagonal, IsRoundedToTheTypeInWhichItIsStored) {
  for (const int b : {1, 2, 3, 4, 8, 9, 16, 17, 32}) {
    SCOPED_TRACE(b);
    // The stride is 2080 in double and 2112 in float.
    const std::int64_t rows = 2050;
    const auto host = blocks_and_more<double>(rows, b, false);
    const auto crs = device_crs(host);
    const auto in_double = Filigree::inverse_diagonal_blocks(ExecutionSpace(), crs, b);
    const auto in_float = Filigree::inverse_diagonal_blocks<float>(ExecutionSpace(), crs, b);
    static_assert(std::is_same_v<decltype(in_float.values)::value_type, float>);
    const auto exact = host_list(in_double.values);
    const auto rounded = host_list(in_float.values);
    ASSERT_GT(in_float.column_stride(), in_double.column_stride());
    for (std::int64_t c = 0; c < b; ++c)
      for (std::int64_t row = 0; row < rows; ++row)
        ASSERT_EQ(rounded[static_cast<std::size_t>(c * in_float.column_stride() + row)],
                  static_cast<float>(exact[static_cast<std::size_t>(c * in_double.column_stride() + row)]))
            << "row " << row << ", column " << c;
    EXPECT_TRUE(inverts(in_float, host, b));
  }
  const auto crs = device_crs(blocks_and_more<double>(50, 4, false));
  const auto exact = host_list(Filigree::inverse_diagonal(ExecutionSpace(), crs));
  const auto rounded = host_list(Filigree::inverse_diagonal<float>(ExecutionSpace(), crs));
  ASSERT_EQ(rounded.size(), exact.size());
  for (std::size_t i = 0; i < exact.size(); ++i)
    EXPECT_EQ(rounded[i], static_cast<float>(exact[i])) << i;
}

template <class Matrix>
void expect_rounded_inverses(const Matrix& A) {
  const auto exact = host_list(Filigree::inverse_diagonal(A));
  const auto rounded = host_list(Filigree::inverse_diagonal<float>(A));
  ASSERT_EQ(rounded.size(), exact.size());
  for (std::size_t i = 0; i < exact.size(); ++i)
    EXPECT_EQ(rounded[i], static_cast<float>(exact[i])) << i;
}

TEST(InverseDiagonal, IsRoundedForMatricesOfAnyKind) {
  const auto crs = device_crs(blocks_and_more<double>(60, 4, false));
  expect_rounded_inverses(Filigree::optimize(ExecutionSpace(), crs));
  expect_rounded_inverses(Filigree::convert_scaled<Filigree::CdsMatrix, float>(ExecutionSpace(), crs));
  // The former explicit template arguments still mean the matrix and the execution space.
  using Matrix = std::decay_t<decltype(crs)>;
  EXPECT_EQ(host_list(Filigree::inverse_diagonal<Matrix>(crs)),
            host_list(Filigree::inverse_diagonal<ExecutionSpace>(ExecutionSpace(), crs)));
}

TEST(InverseDiagonal, OfComplexMatricesIsRounded) {
  using Complex = Kokkos::complex<double>;
  using Rounded = Kokkos::complex<float>;
  const auto host = blocks_and_more<Complex>(1201, 4, false);
  const auto crs = device_crs(host);
  EXPECT_TRUE(inverts(Filigree::inverse_diagonal_blocks<Rounded>(ExecutionSpace(), crs, 4), host, 4));
  const auto exact = host_list(Filigree::inverse_diagonal(crs));
  const auto rounded = host_list(Filigree::inverse_diagonal<Rounded>(crs));
  ASSERT_EQ(rounded.size(), exact.size());
  for (std::size_t i = 0; i < exact.size(); ++i) {
    EXPECT_EQ(rounded[i].real(), static_cast<float>(exact[i].real())) << i;
    EXPECT_EQ(rounded[i].imag(), static_cast<float>(exact[i].imag())) << i;
  }
}

TEST(InverseDiagonal, OfFloatCanBeStoredInDouble) {
  const auto crs = device_crs(blocks_and_more<float>(50, 4, false));
  const auto inverse = host_list(Filigree::inverse_diagonal<double>(ExecutionSpace(), crs));
  const auto diagonal = host_list(Filigree::diagonal(crs));
  ASSERT_EQ(inverse.size(), diagonal.size());
  for (std::size_t i = 0; i < inverse.size(); ++i)
    EXPECT_EQ(inverse[i], 1 / static_cast<double>(diagonal[i])) << i;
}

TEST(InverseDiagonal, RefusesInversesThatFloatCannotHold) {
  // The inverse of row 5 is infinite in float for the first of these, and 0 for the second.
  for (const double value : {1e-40, 1e50}) {
    SCOPED_TRACE(value);
    for (const int b : {1, 2, 12}) {
      SCOPED_TRACE(b);
      HostMatrix<double> host(24, 24);
      for (std::int64_t row = 0; row < 24; ++row)
        host.rows[static_cast<std::size_t>(row)].push_back({row, row / b == 5 / b ? value : 2.0});
      const auto crs = device_crs(host);
      EXPECT_NO_THROW(Filigree::inverse_diagonal_blocks(ExecutionSpace(), crs, b));
      EXPECT_NO_THROW(Filigree::inverse_diagonal(ExecutionSpace(), crs));
      const std::string first = std::to_string(5 / b * b);
      EXPECT_TRUE(holds(
          message<std::runtime_error>([&]() { Filigree::inverse_diagonal<float>(ExecutionSpace(), crs); }),
          {"element of row " + first + " or its inverse, as it is stored, is 0 or not finite",
           std::to_string(b) + " of 24 rows"}));
      if (value > 1) {
        // In blocks, elements that are too small become 0.
        const auto inverse = Filigree::inverse_diagonal_blocks<float>(ExecutionSpace(), crs, b);
        EXPECT_EQ(host_list(inverse.values)[static_cast<std::size_t>(5 % b * inverse.column_stride() + 5)],
                  0.0f);
        continue;
      }
      EXPECT_TRUE(holds(message<std::runtime_error>(
                            [&]() { Filigree::inverse_diagonal_blocks<float>(ExecutionSpace(), crs, b); }),
                        {b == 1 ? "element of row 5 " : "rows " + first + " to ", "as it is stored"}));
    }
  }
}

TEST(InverseDiagonal, OfAnEmptyMatrixIsEmpty) {
  const auto crs = device_crs(HostMatrix<double>(0, 0));
  EXPECT_EQ(Filigree::inverse_diagonal(ExecutionSpace(), crs).extent(0), 0u);
  EXPECT_EQ(Filigree::inverse_diagonal_blocks(ExecutionSpace(), crs, 4).numRows(), 0);
}

class Preconditioner : public testing::Test {
 protected:
  using Matrix = Crs<double>;
  using Vector = Kokkos::View<double*, Device>;
  const HostMatrix<double> host = blocks_and_more<double>(43, 4, false);
  const Matrix crs = device_crs(host);
  const std::vector<double> r = Random(3).vectors<double>(43, 1).data;
  const Vector r_view = device_list<Vector>(r);
  const Vector z = Vector("z", 43);
};

TEST_F(Preconditioner, AppliesTheInverse) {
  const Filigree::JacobiPreconditioner<Matrix> jacobi(ExecutionSpace(), crs);
  jacobi.apply(ExecutionSpace(), r_view, z);
  const auto diagonal = host_list(Filigree::diagonal(crs));
  const auto of_jacobi = host_list(z);
  for (std::size_t i = 0; i < 43; ++i)
    EXPECT_NEAR(of_jacobi[i] * diagonal[i], r[i], 1e-14) << i;
  Filigree::BlockJacobiPreconditioner<Matrix> blocks(ExecutionSpace(), crs, 4);
  blocks.refill(ExecutionSpace(), crs);
  blocks.apply(ExecutionSpace(), r_view, z);
  const auto of_blocks = host_list(z);
  for (std::int64_t row = 0; row < 43; ++row) {
    double sum = 0;
    for (const auto& entry : host.rows[static_cast<std::size_t>(row)])
      if (entry.column / 4 == row / 4) sum += entry.value * of_blocks[static_cast<std::size_t>(entry.column)];
    EXPECT_NEAR(sum, r[static_cast<std::size_t>(row)], 1e-10) << row;
  }
  Filigree::NoPreconditioner().apply(ExecutionSpace(), r_view, z);
  EXPECT_EQ(host_list(z), r);
}

TEST_F(Preconditioner, AppliesAnInverseInFloat) {
  Filigree::JacobiPreconditioner<Matrix, float> jacobi(ExecutionSpace(), crs);
  jacobi.apply(ExecutionSpace(), r_view, z);
  const auto inverse = host_list(jacobi.inverse());
  const auto of_jacobi = host_list(z);
  for (std::size_t i = 0; i < 43; ++i)
    EXPECT_EQ(of_jacobi[i], static_cast<double>(inverse[i]) * r[i]) << i;
  Filigree::BlockJacobiPreconditioner<Matrix, float> blocks(ExecutionSpace(), crs, 4);
  blocks.apply(ExecutionSpace(), r_view, z);
  const auto of_blocks = host_list(z);
  const auto values = host_list(blocks.inverse().values);
  for (std::size_t row = 0; row < 43; ++row) {
    double sum = 0;
    for (std::size_t c = 0; c < 4 && row / 4 * 4 + c < 43; ++c)
      sum +=
          static_cast<double>(values[c * static_cast<std::size_t>(blocks.inverse().column_stride()) + row]) *
          r[row / 4 * 4 + c];
    EXPECT_NEAR(of_blocks[row], sum, 1e-13 * (1 + std::abs(sum))) << row;
  }
  // Twice the matrix has half of the inverse, also in float.
  const auto before = host_list(z);
  const auto twice = device_crs(host);
  auto twice_values = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), twice.values);
  for (std::size_t i = 0; i < twice_values.extent(0); ++i)
    twice_values(i) *= 2;
  Kokkos::deep_copy(twice.values, twice_values);
  jacobi.refill(ExecutionSpace(), twice);
  blocks.refill(ExecutionSpace(), twice);
  blocks.apply(ExecutionSpace(), r_view, z);
  const auto halved = host_list(z);
  for (std::size_t i = 0; i < 43; ++i)
    EXPECT_EQ(2 * halved[i], before[i]) << i;
  jacobi.apply(ExecutionSpace(), r_view, z);
  const auto halved_by_jacobi = host_list(z);
  for (std::size_t i = 0; i < 43; ++i)
    EXPECT_EQ(2 * halved_by_jacobi[i], of_jacobi[i]) << i;
}

}  // namespace
}  // namespace FiligreeTest

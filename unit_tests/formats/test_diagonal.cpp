// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The diagonal and the diagonal blocks of matrices of every format.
#include <filigree/tune/optimize.hpp>

#include "../support/errors.hpp"
#include "../support/formats.hpp"

namespace FiligreeTest {

/// Element (block, i, j) of the diagonal blocks of a host matrix: the sum of its entries, and of their
/// magnitudes.
template <class Scalar>
struct BlockElement {
  Scalar sum = Scalar(0);
  double magnitude = 0;
};

/// The elements of the b x b diagonal blocks, block by block and row by row.
template <class Scalar>
std::vector<BlockElement<Scalar>> diagonal_blocks_of(const HostMatrix<Scalar>& host, std::int64_t b) {
  const std::int64_t length = std::min(host.row_count(), host.columns);
  const std::int64_t blocks = (length + b - 1) / b;
  std::vector<BlockElement<Scalar>> result(static_cast<std::size_t>(blocks * b * b));
  for (std::int64_t row = 0; row < std::min(host.row_count(), blocks * b); ++row)
    for (const auto& entry : host.rows[static_cast<std::size_t>(row)])
      if (entry.column / b == row / b) {
        auto& element = result[static_cast<std::size_t>(row * b + entry.column % b)];
        element.sum += entry.value;
        element.magnitude += std::abs(std::complex<double>(entry.value));
      }
  return result;
}

/// Whether a View holds the elements, up to the rounding of their sums.
template <class View, class Scalar>
testing::AssertionResult holds_elements(const View& view, const std::vector<BlockElement<Scalar>>& expected) {
  Kokkos::fence();
  const auto found = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), view);
  if (found.size() != expected.size())
    return testing::AssertionFailure() << found.size() << " elements instead of " << expected.size();
  using Real = typename Filigree::Impl::real_t<Scalar>;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const double error =
        std::abs(std::complex<double>(found.data()[i]) - std::complex<double>(expected[i].sum));
    if (!(error <= 100 * std::numeric_limits<Real>::epsilon() * expected[i].magnitude))
      return testing::AssertionFailure()
             << "element " << i << " is " << found.data()[i] << " instead of " << expected[i].sum;
  }
  return testing::AssertionSuccess();
}

/// Whether two Views have the same bits.
template <class View>
bool same_bits(const View& a, const View& b) {
  Kokkos::fence();
  const auto host_a = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), a);
  const auto host_b = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), b);
  return host_a.size() == host_b.size() &&
         (host_a.size() == 0 ||
          std::memcmp(host_a.data(), host_b.data(), host_a.size() * sizeof(*host_a.data())) == 0);
}

/// Checks diagonal() and diagonal_blocks() of a matrix with the entries of `host`.
template <class Matrix, class Scalar>
void expect_diagonals(const Matrix& A, const HostMatrix<Scalar>& host) {
  const std::int64_t length = std::min(host.row_count(), host.columns);
  const auto diagonal = Filigree::diagonal(A);
  static_assert(std::is_same_v<std::decay_t<decltype(diagonal)>, Filigree::diagonal_t<Matrix>>);
  ASSERT_EQ(static_cast<std::int64_t>(diagonal.extent(0)), length);
  EXPECT_TRUE(holds_elements(diagonal, diagonal_blocks_of(host, 1)));
  EXPECT_TRUE(same_bits(diagonal, Filigree::diagonal(ExecutionSpace(), A)));
  for (const int b : {1, 2, 3, 4, 7}) {
    if (b > length && length > 0) continue;
    SCOPED_TRACE("b = " + std::to_string(b));
    const auto blocks = Filigree::diagonal_blocks(A, b);
    static_assert(std::is_same_v<std::decay_t<decltype(blocks)>, Filigree::diagonal_blocks_t<Matrix>>);
    ASSERT_EQ(static_cast<std::int64_t>(blocks.extent(0)), (length + b - 1) / b);
    ASSERT_EQ(static_cast<int>(blocks.extent(1)), b);
    ASSERT_EQ(static_cast<int>(blocks.extent(2)), b);
    EXPECT_TRUE(holds_elements(blocks, diagonal_blocks_of(host, b)));
    EXPECT_TRUE(same_bits(blocks, Filigree::diagonal_blocks(ExecutionSpace(), A, b)));
  }
}

template <class Case>
class Diagonal : public testing::Test {};
TYPED_TEST_SUITE(Diagonal, AllFormatsOf<double>, CaseName);

TYPED_TEST(Diagonal, HasTheEntriesOfAllShapes) {
  for (const auto& shape : all_shapes<double>()) {
    const auto host = suited<TypeParam>(shape.matrix);
    for_each_variant<TypeParam>(host, 1, [&](const std::string& name, const auto& A) {
      SCOPED_TRACE(shape.name + ", " + name);
      expect_diagonals(A, host);
    });
  }
}

TYPED_TEST(Diagonal, IsThatOfFormatsWithBlocks) {
  for (const int block_size : {2, 4, 5}) {
    // Only BSR needs extents that the block size divides.
    const int cut = dense_blocks_v<TypeParam> ? 0 : 1;
    for (const auto& [rows, columns] :
         {std::pair(60, 60), std::pair(60 - cut, 80 - cut), std::pair(80, 60 - cut)}) {
      const auto host = suited<TypeParam>(block_banded<double>(rows, columns, block_size));
      SCOPED_TRACE(std::to_string(rows) + " x " + std::to_string(columns) + ", blocks of " +
                   std::to_string(block_size));
      for_each_variant<TypeParam>(host, block_size, [&](const std::string& name, const auto& A) {
        SCOPED_TRACE(name);
        expect_diagonals(A, host);
      });
    }
  }
}

TYPED_TEST(Diagonal, RefusesBlockSizesThatDoNotFit) {
  const auto refusal = [](const auto& A, int b) {
    return message<std::invalid_argument>([&]() { Filigree::diagonal_blocks(A, b); });
  };
  const auto A = converted<TypeParam>(suited<TypeParam>(scattered<double>(5, 5, 3)));
  for (const int b : {-1, 0, 6})
    EXPECT_TRUE(
        holds(refusal(A, b), {"Filigree::diagonal_blocks", "block_size is " + std::to_string(b), "5 x 5",
                              "at least 1", "unless the matrix is empty, at most the smaller extent"}));
  EXPECT_EQ(refusal(A, 5), "nothing");
  EXPECT_EQ(refusal(converted<TypeParam>(HostMatrix<double>(0, 0)), 9), "nothing");
}

template <class Case>
class ComplexDiagonal : public testing::Test {};
TYPED_TEST_SUITE(ComplexDiagonal, AllFormatsOf<Kokkos::complex<float>>, CaseName);

TYPED_TEST(ComplexDiagonal, HasTheEntries) {
  using Scalar = Kokkos::complex<float>;
  const auto host = suited<TypeParam>(block_banded<Scalar>(61, 61, 1));
  for_each_variant<TypeParam>(host, 1, [&](const std::string& name, const auto& A) {
    SCOPED_TRACE(name);
    expect_diagonals(A, host);
  });
}

TEST(DiagonalOfAnyMatrix, IsThatOfTheMatrixThatItHolds) {
  const auto host = block_banded<double>(300, 280, 1);
  expect_diagonals(Filigree::optimize(device_crs(host)), host);
}

TEST(DiagonalOfCrs, MayBeOfAConstMatrix) {
  const auto host = scattered<double>(30, 30, 5);
  const KokkosSparse::CrsMatrix<const double, const int, Device, void, const int> crs(device_crs(host));
  expect_diagonals(crs, host);
}

}  // namespace FiligreeTest

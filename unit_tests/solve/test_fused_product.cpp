// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Products whose sums go to a function, for every format.
#include <cstring>
#include <filigree/solve/residual.hpp>
#include <filigree/tune/optimize.hpp>

#include "../support/errors.hpp"
#include "../support/formats.hpp"

namespace FiligreeTest {
namespace {

/// Stores the sums and counts the calls for each row and column.
template <class Scalar>
struct StoreAndCount {
  View2<Scalar, Kokkos::LayoutLeft> sums;
  View2<int, Kokkos::LayoutLeft> calls;
  template <class Sum>
  KOKKOS_FUNCTION void operator()(std::int64_t row, int column, const Sum& sum) const {
    sums(row, column) = Filigree::Impl::convert_scalar<Scalar>(sum);
    calls(row, column) += 1;
  }
};

/// Adds up row + 1 and (row + 1) * sum.
template <class Scalar>
struct AddUp {
  template <class Sum>
  KOKKOS_FUNCTION void operator()(std::int64_t row, int column, const Sum& sum,
                                  Filigree::Sums<Scalar, 2>& partial) const {
    partial[0] += Scalar(static_cast<Filigree::Impl::real_t<Scalar>>(row + 1));
    partial[1] += Scalar(static_cast<Filigree::Impl::real_t<Scalar>>(row + 1 + 1000 * column)) * Scalar(sum);
  }
};

constexpr Mode row_modes[] = {Mode::NoTranspose, Mode::Conjugate};

/// Whether the function of a fused product is called once per row and column with the right sum.
template <class Layout, class Matrix, class Scalar>
testing::AssertionResult calls_once(const Matrix& A, const HostMatrix<Scalar>& host, Mode mode, int columns) {
  Product<Scalar> product;
  product.mode = mode;
  product.columns = columns;
  const auto expected = expect_product(host, product);
  const int column_count = columns == 0 ? 1 : columns;
  const auto rows = static_cast<std::size_t>(host.row_count());
  StoreAndCount<Scalar> store;
  store.sums = View2<Scalar, Kokkos::LayoutLeft>("sums", rows, column_count);
  store.calls = View2<int, Kokkos::LayoutLeft>("calls", rows, column_count);
  if (columns == 0)
    Filigree::fused_product(ExecutionSpace(), mode, A, device_view<View1<Scalar, Layout>>(expected.x), store);
  else
    Filigree::fused_product(ExecutionSpace(), mode, A, device_view<View2<Scalar, Layout>>(expected.x), store);
  const auto calls = host_vectors(store.calls);
  for (std::size_t i = 0; i < calls.data.size(); ++i)
    if (calls.data[i] != 1)
      return testing::AssertionFailure()
             << product << ": element " << i << " got " << calls.data[i] << " calls";
  const auto same = agrees(host_vectors(store.sums), expected.reference);
  if (same) return same;
  return testing::AssertionFailure() << product << ": " << same.message();
}

/// Whether a fused product adds up what the rows contribute, with the same bits each time.
template <class Matrix, class Scalar>
testing::AssertionResult adds_up(const Matrix& A, const HostMatrix<Scalar>& host, int columns) {
  using Result = Filigree::Sums<Scalar, 2>;
  Product<Scalar> product;
  product.columns = columns;
  const auto expected = expect_product(host, product);
  const int column_count = columns == 0 ? 1 : columns;
  const auto run = [&]() {
    std::vector<Result> results(static_cast<std::size_t>(column_count));
    if (columns == 0) {
      const Kokkos::View<Result, Device> result("result");
      Filigree::fused_product(ExecutionSpace(), "N", A,
                              device_view<View1<Scalar, Kokkos::LayoutLeft>>(expected.x), AddUp<Scalar>(),
                              result);
      Kokkos::fence();
      Kokkos::deep_copy(results[0], result);
    } else {
      const Kokkos::View<Result*, Device> result("result", columns);
      Filigree::fused_product(ExecutionSpace(), "N", A,
                              device_view<View2<Scalar, Kokkos::LayoutRight>>(expected.x), AddUp<Scalar>(),
                              result);
      Kokkos::fence();
      const auto copy = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), result);
      for (int c = 0; c < columns; ++c)
        results[static_cast<std::size_t>(c)] = copy(c);
    }
    return results;
  };
  const auto results = run();
  const auto again = run();
  if (std::memcmp(results.data(), again.data(), results.size() * sizeof(Result)) != 0)
    return testing::AssertionFailure() << product << ": two runs differ";
  for (int c = 0; c < column_count; ++c) {
    Wide sum = 0;
    long double bound = 0;
    for (std::int64_t row = 0; row < host.row_count(); ++row) {
      const long double factor = static_cast<long double>(row + 1 + 1000 * c);
      sum += factor * expected.reference.value(row, c);
      bound += factor * (expected.reference.bound(row, c) +
                         static_cast<long double>(host.row_count() + 3) *
                             std::numeric_limits<Filigree::Impl::real_t<Scalar>>::epsilon() *
                             std::abs(expected.reference.value(row, c)));
    }
    const Result& result = results[static_cast<std::size_t>(c)];
    const long double rows = static_cast<long double>(host.row_count());
    if (wide(result[0]) != Wide(rows * (rows + 1) / 2))
      return testing::AssertionFailure() << product << ": the rows add up to " << result[0];
    if (!(std::abs(wide(result[1]) - sum) <= bound))
      return testing::AssertionFailure()
             << product << ": the sums add up to " << result[1] << "; expected " << sum << " +- " << bound;
  }
  return testing::AssertionSuccess();
}

template <class Case>
class FusedProduct : public testing::Test {};
TYPED_TEST_SUITE(FusedProduct, AllFormatsOf<double>, CaseName);

TYPED_TEST(FusedProduct, CallsTheFunctionOncePerRow) {
  for (const auto& shape : all_shapes<double>()) {
    const auto host = suited<TypeParam>(shape.matrix);
    for_each_variant<TypeParam>(host, 1, [&](const std::string& name, const auto& A) {
      SCOPED_TRACE(shape.name + ", " + name);
      for (const int columns : {0, 1, 3, 4, 8, 17})
        EXPECT_TRUE(calls_once<Kokkos::LayoutLeft>(A, host, Mode::NoTranspose, columns));
      for (const int columns : {4, 16})
        EXPECT_TRUE(calls_once<Kokkos::LayoutRight>(A, host, Mode::Conjugate, columns));
    });
  }
}

TYPED_TEST(FusedProduct, MultipliesDenseBlocks) {
  for (const int block_size : {2, 3, 4, 8, 9}) {
    if (block_size > largest_block_size<TypeParam>()) continue;
    const auto host = suited<TypeParam>(block_banded<double>(720, 720, block_size));
    for_each_variant<TypeParam>(host, block_size, [&](const std::string& name, const auto& A) {
      SCOPED_TRACE("blocks of " + std::to_string(block_size) + ", " + name);
      for (const int columns : {0, 4, 5})
        EXPECT_TRUE(calls_once<Kokkos::LayoutLeft>(A, host, Mode::NoTranspose, columns));
      for (const int columns : {8, 20})
        EXPECT_TRUE(calls_once<Kokkos::LayoutRight>(A, host, Mode::NoTranspose, columns));
      EXPECT_TRUE(adds_up(A, host, 0));
    });
  }
}

TYPED_TEST(FusedProduct, AddsUpWhatRowsContribute) {
  for (const auto& shape : all_shapes<double>()) {
    const auto host = suited<TypeParam>(shape.matrix);
    for_each_variant<TypeParam>(host, 1, [&](const std::string& name, const auto& A) {
      SCOPED_TRACE(shape.name + ", " + name);
      EXPECT_TRUE(adds_up(A, host, 0));
      EXPECT_TRUE(adds_up(A, host, 3));
    });
  }
}

TEST(FusedProductOfLongRows, GivesTheSameBits) {
  // So few entries that the team that ends last joins the rows that are cut, and so many cut rows that all of its warps
  // have some.
  const auto host = scattered<double>(690, 4000, 1500);
  const auto crs = device_crs(host);
  const auto coo = Filigree::convert<Filigree::CooMatrix>(crs);
  using Result = Filigree::Sums<double, 2>;
  const auto x = device_view<View1<double, Kokkos::LayoutLeft>>(Random(3).vectors<double>(4000, 1));
  const Kokkos::View<Result, Device> result("result");
  std::vector<Result> results(50);
  for (Result& one : results) {
    Filigree::fused_product(ExecutionSpace(), "N", coo, x, AddUp<double>(), result);
    Kokkos::fence();
    Kokkos::deep_copy(one, result);
    EXPECT_EQ(std::memcmp(&one, results.data(), sizeof(Result)), 0);
  }
  EXPECT_TRUE(adds_up(coo, host, 0));
}

template <class Case>
class ComplexFusedProduct : public testing::Test {};
TYPED_TEST_SUITE(ComplexFusedProduct, AllFormatsOf<Kokkos::complex<double>>, CaseName);

TYPED_TEST(ComplexFusedProduct, HasTheModesNAndC) {
  using Scalar = Kokkos::complex<double>;
  const auto host = suited<TypeParam>(block_banded<Scalar>(90, 90, 1));
  for_each_variant<TypeParam>(host, 1, [&](const std::string& name, const auto& A) {
    SCOPED_TRACE(name);
    for (const Mode mode : row_modes)
      for (const int columns : {0, 4})
        EXPECT_TRUE(calls_once<Kokkos::LayoutLeft>(A, host, mode, columns));
    EXPECT_TRUE(adds_up(A, host, 0));
  });
}

}  // namespace
}  // namespace FiligreeTest

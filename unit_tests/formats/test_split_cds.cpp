// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tests of SplitCdsMatrix, besides those that all formats pass.
#include <limits>

#include "../support/errors.hpp"
#include "../support/formats.hpp"

namespace FiligreeTest {
namespace {

using SplitCds = Filigree::SplitCdsMatrix<double, int, Device, void, int>;
using Doubles = std::vector<double>;

SplitCds split_cds(const HostMatrix<double>& host, int block_size = 1) {
  return Filigree::convert<Filigree::SplitCdsMatrix>(device_crs(host),
                                                     any_padding<Filigree::SplitCdsOptions>(block_size));
}

/// A diagonal matrix whose element i is values[i].
HostMatrix<double> diagonal_matrix(const Doubles& values) {
  const auto size = static_cast<std::int64_t>(values.size());
  HostMatrix<double> host(size, size);
  for (std::int64_t row = 0; row < size; ++row)
    host.rows[static_cast<std::size_t>(row)].push_back({row, values[static_cast<std::size_t>(row)]});
  return host;
}

/// Numbers of all sizes that can be split, also those next to powers of two and next to numbers of float.
Doubles numbers() {
  Doubles result = {0, 1, 1.0 / 3, 0.1, 2.0 / 3};
  Random random(5);
  for (int exponent = -126; exponent <= 127; ++exponent) {
    const double power = std::ldexp(1.0, exponent);
    const double number = power * (1 + 0.4 * std::abs(random.value<double>()));
    for (const double value : {power, number})
      for (const double next : {value, std::nextafter(value, 0.0), std::nextafter(value, 2 * value)})
        result.push_back(next);
    // Halfway between two floats.
    result.push_back(power * (1 + std::ldexp(1.0, -24)));
  }
  const std::size_t count = result.size();
  for (std::size_t i = 1; i < count; ++i)
    result.push_back(-result[i]);
  return result;
}

TEST(SplitCds, HoldsDoublesExactly) {
  const Doubles values = numbers();
  const auto host = diagonal_matrix(values);
  const SplitCds A = split_cds(host);
  Filigree::check(A);
  const auto leading = host_list(A.leading.values);
  const auto trailing = host_list(A.trailing);
  for (std::size_t i = 0; i < values.size(); ++i) {
    EXPECT_EQ(leading[i], static_cast<float>(values[i]));
    EXPECT_LE(std::abs(static_cast<double>(trailing[i])), std::ldexp(1.0, 28)) << values[i];
    EXPECT_EQ(Filigree::Impl::joined_halves(leading[i], trailing[i]), values[i]);
  }
  EXPECT_EQ(A.storage_bytes(), 8 * static_cast<std::size_t>(A.leading.column_stride()) + sizeof(int));
  EXPECT_EQ(host_matrix(Filigree::to_crs(A)), canonical(host));
}

TEST(SplitCds, HoldsInfinityAndNan) {
  const double inf = std::numeric_limits<double>::infinity();
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const auto again = host_matrix(Filigree::to_crs(split_cds(diagonal_matrix({inf, -inf, nan, -0.0, 1}))));
  EXPECT_EQ(again.rows[0][0].value, inf);
  EXPECT_EQ(again.rows[1][0].value, -inf);
  EXPECT_TRUE(std::isnan(again.rows[2][0].value));
  EXPECT_TRUE(again.rows[3].empty());
}

TEST(SplitCds, TheLeadingHalfIsTheMatrixOfFloat) {
  for (const int b : {1, 2, 3, 4, 9}) {
    const auto host = block_banded<double>(6 * b, 6 * b, b);
    const SplitCds A = split_cds(host, b);
    const auto narrow =
        Filigree::convert<Filigree::CdsMatrix, float>(device_crs(host), any_padding<Filigree::CdsOptions>(b));
    EXPECT_EQ(A.block_size(), b);
    EXPECT_EQ(A.leading.nnz(), narrow.nnz());
    EXPECT_EQ(host_list(A.leading.values), host_list(narrow.values));
    EXPECT_EQ(host_list(A.leading.offsets), host_list(narrow.offsets));
    EXPECT_EQ(A.numDiagonals(), narrow.numDiagonals());
  }
}

/// The products of both halves must be those of CDS with values of double, bit by bit.
TEST(SplitCds, MultipliesLikeCdsOfDouble) {
  for (const int b : {1, 2, 3, 4, 5, 8, 9})
    for (const std::int64_t rows : {std::int64_t(6 * b), std::int64_t(6 * b + b / 2)}) {
      const auto crs = device_crs(block_banded<double>(rows, rows, b));
      const auto split =
          Filigree::convert<Filigree::SplitCdsMatrix>(crs, any_padding<Filigree::SplitCdsOptions>(b));
      const auto full = Filigree::convert<Filigree::CdsMatrix>(crs, any_padding<Filigree::CdsOptions>(b));
      for (const int columns : {1, 3}) {
        using Vectors = Kokkos::View<double**, Kokkos::LayoutLeft, Device>;
        const auto size = static_cast<std::size_t>(rows);
        const Vectors x("x", size, columns), y("y", size, columns), expected("expected", size, columns);
        auto host_x = Kokkos::create_mirror_view(x);
        Random random(3);
        for (std::size_t i = 0; i < size; ++i)
          for (int c = 0; c < columns; ++c)
            host_x(i, c) = random.value<double>();
        Kokkos::deep_copy(x, host_x);
        for (const char* mode : {"N", "T"}) {
          Filigree::spmv(mode, 1.0, split, x, 0.0, y);
          Filigree::spmv(mode, 1.0, full, x, 0.0, expected);
          const auto host_y = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), y);
          const auto host_expected = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), expected);
          for (std::size_t i = 0; i < size; ++i)
            for (int c = 0; c < columns; ++c)
              EXPECT_EQ(host_y(i, c), host_expected(i, c)) << mode << " " << b << " " << rows;
        }
      }
    }
}

TEST(SplitCds, RefusesNumbersOutsideOfFloat) {
  for (const double bad : {1e39, -1e300, 1e-60, -1e-310, 1e-320, 3.4028235678e38}) {
    auto host = diagonal_matrix({1, 2, 3, 4, 5, 6});
    host.rows[4].insert(host.rows[4].begin(), {2, bad});
    EXPECT_TRUE(holds(message<std::range_error>([&]() { split_cds(host, 3); }),
                      {"convert<SplitCdsMatrix>", "row 4 and column 2", "3.4e38"}))
        << bad;
  }
  // Each entry can be split, but not their sum.
  auto duplicates = diagonal_matrix({1, 2, 3});
  duplicates.rows[1] = {{1, 3e38}, {1, 3e38}};
  EXPECT_TRUE(holds(message<std::range_error>([&]() { split_cds(duplicates); }), {"row 1 and column 1"}));
  // Also if the row is not sorted, and if the sum could be split.
  duplicates.rows[1] = {{1, 1e-50}, {1, 1.0}, {0, 5.0}};
  EXPECT_TRUE(holds(message<std::range_error>([&]() { split_cds(duplicates); }), {"row 1 and column 1"}));
}

TEST(SplitCds, RefillsUnmanagedViews) {
  using Unmanaged =
      Filigree::SplitCdsMatrix<double, int, Device, Kokkos::MemoryTraits<Kokkos::Unmanaged>, int>;
  const SplitCds A = split_cds(diagonal_matrix({1, 2, 3}));
  const typename Unmanaged::leading_type leading(3, 3, 3, 1, A.leading.values, A.leading.offsets);
  const auto host = diagonal_matrix({0.1, 0.2, 0.3});
  Filigree::refill(Unmanaged(leading, A.trailing), device_crs(host));
  EXPECT_EQ(host_matrix(Filigree::to_crs(A)), host);
}

TEST(SplitCds, RefillChangesNothingIfItRefuses) {
  const auto host = diagonal_matrix({0.1, 0.2, 0.3});
  const SplitCds A = split_cds(host);
  for (const bool check : {true, false}) {
    Filigree::RefillOptions options;
    options.check_pattern = check;
    EXPECT_TRUE(holds(message<std::range_error>([&]() {
                        Filigree::refill(A, device_crs(diagonal_matrix({1, 1e40, 1})), options);
                      }),
                      {"Filigree::refill", "row 1 and column 1"}));
    EXPECT_EQ(host_matrix(Filigree::to_crs(A)), host);
  }
}

}  // namespace
}  // namespace FiligreeTest

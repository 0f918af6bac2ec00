// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// This file is compiled with -ffast-math: the compiler assumes that there is no Inf and no NaN, and removes tests for
// them. Also then an Inf in x must not reach y through padding or a value 0.
#include <cstdint>
#include <cstring>

#include "../support/formats.hpp"

namespace FiligreeTest {
namespace {

/// Not std::isfinite(), which the compiler takes for true.
bool is_finite(double value) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof(bits));
  return (bits >> 52 & 2047) != 2047;
}

TEST(FastMath, HidesInfiniteElements) {
  static_assert(Filigree::Impl::assumes_finite_math, "This file must be compiled with -ffast-math.");
  constexpr std::int64_t rows = 2016;
  HostMatrix<double> host(rows, rows);
  const auto has_entry = [](std::int64_t row, std::int64_t column) {
    return column >= 0 && column < rows && !(row == 500 && column == 540);
  };
  for (std::int64_t row = 0; row < rows; ++row)
    for (const std::int64_t offset : {-40, 0, 40})
      if (has_entry(row, row + offset))
        host.rows[static_cast<std::size_t>(row)].push_back(
            {row + offset, 1.0 + static_cast<double>(row % 3)});
  const Kokkos::View<double*, Device> x("x", rows);
  const Kokkos::View<double*, Device> y("y", rows);
  const auto x_on_host = Kokkos::create_mirror_view(x);
  Kokkos::deep_copy(x_on_host, 1.0);
  constexpr std::uint64_t infinite = 2047ULL << 52;
  std::memcpy(&x_on_host(0), &infinite, sizeof(infinite));
  std::memcpy(&x_on_host(540), &infinite, sizeof(infinite));
  Kokkos::deep_copy(x, x_on_host);
  const auto expect_hidden = [&](const auto& A, const char* name) {
    Filigree::spmv("N", 1.0, A, x, 0.0, y);
    const auto sums = host_list(y);
    for (std::int64_t row = 0; row < rows; ++row) {
      bool expected = true;
      for (const auto& entry : host.rows[static_cast<std::size_t>(row)])
        expected = expected && entry.column != 0 && entry.column != 540;
      EXPECT_EQ(is_finite(sums[static_cast<std::size_t>(row)]), expected) << name << ", row " << row;
    }
  };
  const auto crs = device_crs(host);
  expect_hidden(Filigree::convert<Filigree::CdsMatrix>(crs, any_padding(1, Filigree::CdsOptions())), "cds");
  expect_hidden(Filigree::convert<Filigree::BellMatrix>(crs, any_padding(4, Filigree::BellOptions())),
                "bell");
  expect_hidden(Filigree::convert<Filigree::SellMatrix>(crs), "sell");
  expect_hidden(Filigree::convert<Filigree::EllMatrix>(crs, any_padding(1, Filigree::EllOptions())), "ell");
}

/// On a host CRS multiplies rows whose lengths cannot be predicted together with entries of the next row. Odd rows have
/// the columns with Inf.
TEST(FastMath, HidesInfiniteElementsOfTheNextRow) {
  constexpr std::int64_t rows = 17000;
  HostMatrix<double> host(rows, 100);
  Random random(28);
  for (std::int64_t row = 0; row < rows; ++row)
    for (std::int64_t k = 0, length = 2 + random.below(7); k < length; ++k)
      host.rows[static_cast<std::size_t>(row)].push_back({2 * k + row % 2, 1.0});
  const Kokkos::View<double*, Device> x("x", 100);
  const Kokkos::View<double*, Device> y("y", rows);
  const auto x_on_host = Kokkos::create_mirror_view(x);
  Kokkos::deep_copy(x_on_host, 1.0);
  constexpr std::uint64_t infinite = 2047ULL << 52;
  for (int column = 1; column < 100; column += 2)
    std::memcpy(&x_on_host(column), &infinite, sizeof(infinite));
  Kokkos::deep_copy(x, x_on_host);
  Filigree::WrappedCrsOptions one_lane;
  one_lane.kernel = Filigree::CrsKernel::lanes;
  one_lane.lanes_per_row = 1;
  const auto crs = device_crs(host);
  for (const auto& options : {Filigree::WrappedCrsOptions(), one_lane}) {
    const auto A = Filigree::convert<Filigree::WrappedCrsMatrix>(crs, options);
    EXPECT_EQ(A.in_vectors(), !Filigree::Impl::runs_on_gpu_v<ExecutionSpace>);
    Filigree::spmv("N", 1.0, A, x, 0.0, y);
    const auto sums = host_list(y);
    for (std::int64_t row = 0; row < rows; ++row)
      ASSERT_EQ(is_finite(sums[static_cast<std::size_t>(row)]), row % 2 == 0) << "row " << row;
  }
}

}  // namespace
}  // namespace FiligreeTest

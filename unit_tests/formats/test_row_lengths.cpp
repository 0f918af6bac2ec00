// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Products of matrices with rows of many lengths.
#include <algorithm>

#include "../support/formats.hpp"
#include "../support/tools.hpp"

namespace FiligreeTest {
namespace {

/// A matrix with rows of up to `most` entries. In every other thousand of rows the length is random; in the
/// rest, hundreds of neighbouring rows have the same length. The first and the last column are empty.
HostMatrix<double> rows_of_many_lengths(std::int64_t rows, std::int64_t most) {
  HostMatrix<double> host(rows, 200);
  Random random(11);
  for (std::int64_t row = 0; row < rows; ++row) {
    const std::int64_t length = row / 1000 % 2 == 0 ? random.below(most + 1) : row / 100 % (most + 1);
    for (std::int64_t i = 0; i < length; ++i)
      host.rows[static_cast<std::size_t>(row)].push_back({1 + random.below(198), random.value<double>()});
  }
  return host;
}

/// Expects correct products of all variants of a format. The first and the last element of each column of x
/// are Inf. Padding has column -1; if a kernel read x there, it would read the last element of the column of
/// x before, and Inf would appear in y.
template <template <class...> class Format>
void expect_correct(const HostMatrix<double>& host) {
  const auto crs = device_crs(host);
  using Options = typename decltype(Filigree::convert<Format>(crs))::options_type;
  for (const int columns : {0, 3}) {
    auto x = Random(5).vectors<double>(host.columns, std::max(columns, 1));
    for (std::int64_t c = 0; c < x.columns; ++c)
      x(0, c) = x(host.columns - 1, c) = infinity<double>();
    const Product<double> product{Mode::NoTranspose, 1.5, 0.5, columns};
    const auto expected = expect_product(host, product, x);
    for (const auto& variants : {Filigree::variants_of<Options>(), small_variants(Options())})
      for (const auto& variant : variants)
        EXPECT_TRUE(multiplies_as_expected<Kokkos::LayoutLeft>(
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

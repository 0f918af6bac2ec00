// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Products of matrices with more rows than a thread of a host multiplies at once, of many lengths.
#include <algorithm>

#include "../support/formats.hpp"
#include "../support/tools.hpp"

namespace FiligreeTest {
namespace {

/// Rows of up to `most` entries, neighbours alike or not, none of them in the first or the last column.
HostMatrix<double> of_many_lengths(std::int64_t rows, std::int64_t most) {
  HostMatrix<double> host(rows, 200);
  Random random(11);
  for (std::int64_t row = 0; row < rows; ++row) {
    const std::int64_t length = row / 1000 % 2 == 0 ? random.below(most + 1) : row / 100 % (most + 1);
    for (std::int64_t i = 0; i < length; ++i)
      host.rows[static_cast<std::size_t>(row)].push_back({1 + random.below(198), random.value<double>()});
  }
  return host;
}

/// Padding, whose column is -1, must not read x: of the second column of x on, that is the last element of
/// the one before, which is Inf, like the first.
template <template <class...> class Format>
void expect_right(const HostMatrix<double>& host) {
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

TEST(RowsOfManyLengths, AreMultipliedWhole) {
  for (const std::int64_t most : {1, 3, 6, 13, 16, 20, 41}) {
    const auto host = of_many_lengths(9000, most);
    expect_right<Filigree::EllMatrix>(host);
    expect_right<Filigree::SellMatrix>(host);
    expect_right<Filigree::HybMatrix>(host);
    expect_right<Filigree::HecMatrix>(host);
    expect_right<Filigree::JdsMatrix>(host);
  }
}

/// A host multiplies both parts of HYB in one kernel, unless a row has more than eight times the width.
TEST(LongestRow, MayBeShared) {
  for (const std::int64_t longest : {16, 17, 5000}) {
    auto host = of_many_lengths(9000, 3);
    Random random(7);
    for (const std::size_t row : {0, 5000, 8999})
      while (static_cast<std::int64_t>(host.rows[row].size()) < longest)
        host.rows[row].push_back({1 + random.below(198), random.value<double>()});
    Filigree::HybOptions options;
    options.width_rule = Filigree::HybridWidth::given;
    options.width = 2;
    const auto A = Filigree::convert<Filigree::HybMatrix>(device_crs(host), options);
    EXPECT_EQ(A.longestRow(), longest);
    for (const int columns : {0, 3})
      EXPECT_TRUE(
          multiplies<Kokkos::LayoutLeft>(A, host, Product<double>{Mode::NoTranspose, 1.5, 0.5, columns}));
    const View1<double, Kokkos::LayoutLeft> x("x", 200);
    const View1<double, Kokkos::LayoutLeft> y("y", 9000);
    Kokkos::fence();
    const KokkosRecorder recorder;
    Filigree::spmv(ExecutionSpace(), "N", 1.0, A, x, 0.0, y);
    const bool is_one = longest <= 16 && !Filigree::Impl::runs_on_gpu_v<ExecutionSpace>;
    EXPECT_EQ(recorder.events().kernels.size(), is_one ? 1u : 2u) << longest;
  }
}

}  // namespace
}  // namespace FiligreeTest

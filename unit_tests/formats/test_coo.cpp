// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tests of COO: matrices from triplets and conversions from COO. Tests of the balanced product, which COO and
// WrappedCrsMatrix use.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "../support/errors.hpp"
#include "../support/formats.hpp"
#include "../support/instances.hpp"
#include "../support/tools.hpp"

namespace FiligreeTest {

using IntView = Kokkos::View<int*, Device>;
using DoubleView = Kokkos::View<double*, Device>;

/// The entries of a matrix with their rows in random order. The entries of a row keep their order.
struct Triplets {
  std::vector<int> rows;
  std::vector<int> columns;
  std::vector<double> values;

  explicit Triplets(const HostMatrix<double>& host) {
    std::vector<std::size_t> next(host.rows.size(), 0);
    Random random(17);
    for (std::int64_t left = host.nnz(); left > 0;) {
      const auto row = static_cast<std::size_t>(random.below(host.row_count()));
      if (next[row] == host.rows[row].size()) continue;
      const auto& entry = host.rows[row][next[row]++];
      rows.push_back(static_cast<int>(row));
      columns.push_back(static_cast<int>(entry.column));
      values.push_back(entry.value);
      --left;
    }
  }
};

/// Calls make_coo with the triplets.
auto coo_of(int rows, int columns, const Triplets& triplets) {
  return Filigree::make_coo<int>(rows, columns, device_list<IntView>(triplets.rows),
                                 device_list<IntView>(triplets.columns),
                                 device_list<DoubleView>(triplets.values));
}

TEST(MakeCoo, SortsTripletsByRow) {
  for (const auto& [name, host] : all_shapes<double>()) {
    const auto A = coo_of(static_cast<int>(host.row_count()), static_cast<int>(host.columns), Triplets(host));
    EXPECT_EQ(host_matrix(Filigree::to_crs(A)), host) << name;
    SCOPED_TRACE(name);
    expect_products(A, host);
  }
}

/// The rows and the columns of the triplets are the two columns of one View.
TEST(MakeCoo, TakesStridedViews) {
  const auto host = scattered<double>(37, 29, 7);
  const Triplets triplets(host);
  const Kokkos::View<int**, Kokkos::LayoutRight, Device> pairs("pairs", triplets.rows.size(), 2);
  auto mirror = Kokkos::create_mirror_view(pairs);
  for (std::size_t i = 0; i < triplets.rows.size(); ++i) {
    mirror(i, 0) = triplets.rows[i];
    mirror(i, 1) = triplets.columns[i];
  }
  Kokkos::deep_copy(pairs, mirror);
  const auto A = Filigree::make_coo<int>(ExecutionSpace(), 37, 29, Kokkos::subview(pairs, Kokkos::ALL, 0),
                                         Kokkos::subview(pairs, Kokkos::ALL, 1),
                                         device_list<DoubleView>(triplets.values));
  EXPECT_EQ(host_matrix(Filigree::to_crs(A)), host);
}

TEST(MakeCoo, RefusesMoreEntriesThanSizeTypeCanCount) {
  HostMatrix<double> host(5, 70);
  for (std::int64_t i = 0; i < 200; ++i)
    host.rows[static_cast<std::size_t>(i % 5)].push_back({i % 70, 1.0});
  const Triplets triplets(host);
  EXPECT_THROW(Filigree::make_coo<signed char>(ExecutionSpace(), 5, 70, device_list<IntView>(triplets.rows),
                                               device_list<IntView>(triplets.columns),
                                               device_list<DoubleView>(triplets.values)),
               std::length_error);
}

TEST(MakeCoo, RefusesEntriesOutsideOfTheMatrix) {
  HostMatrix<double> host(5, 7);
  host.rows[4].push_back({6, 1.0});
  const Triplets triplets(host);
  const auto refusal = [&](int rows, int columns) {
    return message<std::invalid_argument>([&]() { coo_of(rows, columns, triplets); });
  };
  EXPECT_EQ(refusal(5, 7), "nothing");
  for (const auto& text : {refusal(4, 7), refusal(5, 6)})
    EXPECT_TRUE(holds(text, {"Filigree::make_coo: entry 0 is in row 4 and column 6"}));
  Triplets negative(host);
  negative.columns[0] = -1;
  EXPECT_THROW(coo_of(5, 7, negative), std::invalid_argument);
  Triplets too_few(host);
  too_few.values.clear();
  EXPECT_THROW(coo_of(5, 7, too_few), std::invalid_argument);
  EXPECT_THROW(coo_of(-1, 7, too_few), std::invalid_argument);
}

template <class Case>
class FromCoo : public testing::Test {};
TYPED_TEST_SUITE(FromCoo, AllFormatsOf<double>, CaseName);

/// Converts a COO matrix to the format of a FormatCase.
template <class Case>
struct ConvertCoo;
template <class Format, class Scalar, class Layout, class Ordinal, class SizeType>
struct ConvertCoo<FormatCase<Format, Scalar, Layout, Ordinal, SizeType>> {
  template <class Coo, class Options>
  static auto convert(const Coo& coo, const Options& options) {
    return Filigree::convert<Format::template matrix>(coo, options);
  }
};

TYPED_TEST(FromCoo, ConvertsToEveryFormat) {
  for (const auto& [name, any] : all_shapes<double>()) {
    const auto host = suited<TypeParam>(any);
    const auto coo =
        Filigree::convert<Filigree::CooMatrix>(device_crs(host), any_padding<Filigree::CooOptions>());
    const auto A = ConvertCoo<TypeParam>::convert(coo, any_padding<typename TypeParam::Options>());
    EXPECT_EQ(canonical(host_matrix(Filigree::to_crs(A))), canonical(host)) << name;
  }
}

TEST(MakeCoo, FencesItsInstanceAlone) {
  const ExecutionSpace exec = another_instance();
  const Triplets triplets(scattered<double>(37, 29, 4));
  const auto rows = device_list<IntView>(triplets.rows);
  const auto columns = device_list<IntView>(triplets.columns);
  const auto values = device_list<DoubleView>(triplets.values);
  Filigree::make_coo<int>(exec, 37, 29, rows, columns, values);
  const KokkosRecorder recorder;
  Filigree::make_coo<int>(exec, 37, 29, rows, columns, values);
  EXPECT_EQ(recorder.events().global_fences, std::vector<std::string>());
}

/// Two rows that are cut into many chunks, between short rows.
TEST(BalancedProduct, MultipliesVeryLongRows) {
  HostMatrix<double> host(5, 1000);
  Random random(3);
  const std::int64_t lengths[] = {3, 150001, 0, 70000, 1};
  for (std::size_t row = 0; row < 5; ++row)
    for (std::int64_t i = 0; i < lengths[row]; ++i)
      host.rows[row].push_back({random.below(1000), random.value<double>()});
  const auto crs = device_crs(host);
  const auto balanced = Filigree::convert<Filigree::WrappedCrsMatrix>(crs);
  // Also on a host, because a GPU may multiply a matrix that was converted there.
  EXPECT_EQ(balanced.chunks.long_row_count, 2);
  expect_products(balanced, host);
  expect_products(Filigree::convert<Filigree::CooMatrix>(crs), host);
  expect_products(Filigree::convert<Filigree::HybMatrix>(crs), host);
  expect_products(Filigree::convert<Filigree::HecMatrix>(crs), host);
}

/// A matrix with more than 2^20 entries, so that its chunks need not begin with rows. Rows begin and end at
/// any position in a chunk, some rows are empty, and two rows are cut into hundreds of chunks.
TEST(BalancedProduct, MultipliesEveryRowOnce) {
  HostMatrix<double> host(4000, 1000);
  Random random(5);
  for (std::size_t row = 0; row < 4000; ++row)
    for (std::int64_t i = row == 1500 || row == 3999 ? 550000 : random.below(9); i > 0; --i)
      host.rows[row].push_back({random.below(1000), random.value<double>()});
  ASSERT_GT(host.nnz(), 1 << 20);
  const auto crs = device_crs(host);
  expect_products(Filigree::convert<Filigree::CooMatrix>(crs), host);
  expect_products(Filigree::convert<Filigree::WrappedCrsMatrix>(crs), host);
}

template <class Scalar>
class RowsInChunks : public testing::Test {};
using ScalarsInChunks = testing::Types<float, double, Kokkos::complex<float>, Kokkos::complex<double>>;
TYPED_TEST_SUITE(RowsInChunks, ScalarsInChunks);

/// Rows that begin and end at the first or last entry of a lane, of a group of lanes or of a chunk, or one
/// entry before or after it. Between them are thousands of empty rows, and some elements of x are Inf. The
/// first two numbers of entries give chunks that may begin with rows; the second is the largest such number.
/// The third gives chunks of 2048 entries each.
TYPED_TEST(RowsInChunks, MayEndAtAnyEntry) {
  using Scalar = TypeParam;
  using WideCrs = KokkosSparse::CrsMatrix<Scalar, std::int64_t, Device, void, std::size_t>;
  const std::int64_t lengths[] = {0,  1,  1,  2,  3,  4,   5,   6,   7,   8,   9,    12,   15,
                                  16, 17, 63, 64, 65, 255, 256, 257, 511, 513, 2047, 2048, 2049};
  const std::int64_t columns = 20000;
  Random random(23);
  for (const std::int64_t nnz : {30000, 1 << 20, (1 << 20) + 2048}) {
    HostMatrix<Scalar> host(0, columns);
    for (std::int64_t left = nnz; left > 0;) {
      const std::int64_t length = std::min(left, lengths[random.below(26)]);
      host.rows.emplace_back();
      for (std::int64_t i = 0; i < length; ++i)
        host.rows.back().push_back({random.below(columns), random.value<Scalar>()});
      left -= length;
      if (host.rows.size() == 10) host.rows.resize(20000);
    }
    ASSERT_EQ(host.nnz(), nnz);
    const auto crs = device_crs(host);
    const auto wide_crs = device_crs<WideCrs>(host);
    const auto coo = Filigree::convert<Filigree::CooMatrix>(crs);
    const auto balanced = Filigree::convert<Filigree::WrappedCrsMatrix>(crs);
    const auto wide_coo = Filigree::convert<Filigree::CooMatrix>(wide_crs);
    const auto wide_balanced = Filigree::convert<Filigree::WrappedCrsMatrix>(wide_crs);
    for (const Mode mode : {Mode::NoTranspose, Mode::Conjugate})
      for (const int columns_of_x : {0, nnz < 100000 ? 18 : 2}) {
        const Product<Scalar> product{mode, other_factor<Scalar>(1.5), other_factor<Scalar>(0.5),
                                      columns_of_x};
        auto x = Random(5).vectors<Scalar>(columns, std::max(columns_of_x, 1));
        for (std::int64_t c = 0; c < x.columns; ++c)
          x(7, c) = x(15000 + c, c) = infinity<Scalar>();
        const auto expected = expect_product(host, product, x);
        SCOPED_TRACE(std::to_string(nnz) + " entries");
        EXPECT_TRUE(multiplies_as_expected<Kokkos::LayoutLeft>(coo, product, expected));
        EXPECT_TRUE(multiplies_as_expected<Kokkos::LayoutLeft>(balanced, product, expected));
        EXPECT_TRUE(multiplies_as_expected<Kokkos::LayoutLeft>(wide_coo, product, expected));
        EXPECT_TRUE(multiplies_as_expected<Kokkos::LayoutLeft>(wide_balanced, product, expected));
      }
  }
}

/// Rows without entries before, between and after rows with entries, in gaps around the largest number of
/// rows that the team of a CRS chunk looks at. If y were scaled twice in a row, or not at all, it would
/// differ.
TEST(BalancedProduct, ScalesRowsWithoutEntriesOnce) {
  const std::int64_t gaps[] = {0, 0, 0, 0, 0, 0, 0, 1, 300, 5000, 16381, 16382, 16383, 16384, 40000};
  for (const std::int64_t nnz : {30000, (1 << 20) + 2048})
    for (const std::size_t outer_gap : {0, 5, 20000}) {
      HostMatrix<double> host(0, 100);
      host.rows.resize(outer_gap);
      Random random(31);
      std::size_t empty = 2 * outer_gap;
      for (std::int64_t left = nnz; left > 0;) {
        // Some rows are longer than 2048 entries, so that they are cut.
        const std::int64_t length = std::min(left, 1 + random.below(nnz < 100000 ? 3000 : nnz / 64));
        host.rows.emplace_back();
        for (std::int64_t i = 0; i < length; ++i)
          host.rows.back().push_back({random.below(100), random.value<double>()});
        left -= length;
        const auto gap = left > 0 ? static_cast<std::size_t>(gaps[random.below(15)]) : 0;
        host.rows.resize(host.rows.size() + gap);
        empty += gap;
      }
      host.rows.resize(host.rows.size() + outer_gap);
      SCOPED_TRACE(std::to_string(nnz) + " entries, " + std::to_string(outer_gap) + " empty rows outside");
      const auto crs = device_crs(host);
      const auto balanced = Filigree::convert<Filigree::WrappedCrsMatrix>(crs);
      const auto coo = Filigree::convert<Filigree::CooMatrix>(crs);
      EXPECT_NO_THROW(Filigree::check(balanced));
      EXPECT_GT(balanced.empty_rows.extent(0), 0u);
      EXPECT_LT(balanced.empty_rows.extent(0), empty);
      EXPECT_EQ(coo.empty_rows.extent(0), empty);
      for (const int columns : {0, 3, 4})
        for (const double beta : {0.0, 0.5}) {
          const Product<double> product{Mode::NoTranspose, 1.5, beta, columns};
          EXPECT_TRUE(multiplies<Kokkos::LayoutRight>(balanced, host, product));
          EXPECT_TRUE(multiplies<Kokkos::LayoutLeft>(coo, host, product));
        }
    }
}

/// Up to 2^20 entries a product is one kernel. Chunks begin with rows if these have at most 512 entries, and
/// the chunk that ends last adds the partial sums of cut rows. Larger matrices need a second kernel for that.
TEST(BalancedProduct, IsOneKernelForSmallMatrices) {
  HostMatrix<double> host(900, 600);
  Random random(9);
  for (std::size_t row = 0; row < 900; ++row)
    for (std::int64_t i = row % 50 == 0 ? 512 : random.below(40); i > 0; --i)
      host.rows[row].push_back({random.below(600), random.value<double>()});
  const auto crs = device_crs(host);
  const auto expect_kernels = [&](const auto& A, std::size_t kernels) {
    EXPECT_TRUE(multiplies<Kokkos::LayoutLeft>(A, host, Product<double>{Mode::NoTranspose, 1.5, 0.5, 0}));
    View1<double, Kokkos::LayoutLeft> x("x", 600);
    View1<double, Kokkos::LayoutLeft> y("y", 900);
    Kokkos::fence();
    const KokkosRecorder recorder;
    Filigree::spmv(ExecutionSpace(), "N", 1.0, A, x, 0.0, y);
    EXPECT_EQ(recorder.events().kernels.size(), kernels);
  };
  expect_kernels(Filigree::convert<Filigree::CooMatrix>(crs), 1);
  expect_kernels(Filigree::convert<Filigree::WrappedCrsMatrix>(crs), 1);
  host.rows[450].resize(2049, {3, 1.0});
  const auto with_long_row = device_crs(host);
  expect_kernels(Filigree::convert<Filigree::CooMatrix>(with_long_row), 1);
  expect_kernels(Filigree::convert<Filigree::WrappedCrsMatrix>(with_long_row), 1);
  host.rows[450].resize((1 << 20) + 1, {3, 1.0});
  const auto large = device_crs(host);
  expect_kernels(Filigree::convert<Filigree::CooMatrix>(large), 2);
  expect_kernels(Filigree::convert<Filigree::WrappedCrsMatrix>(large), 2);
}

/// Expects that a sum is not stored as the word 0, and that it has the same bits when read back.
template <class Sum>
void expect_same_as_word(const Sum& sum) {
  using Word = Filigree::Impl::SumAsWord<Sum>;
  EXPECT_NE(Word::of(sum), 0u);
  const Sum again = Word::sum(Word::of(sum));
  EXPECT_EQ(std::memcmp(&again, &sum, sizeof(sum)), 0);
}

TEST(SumAsWord, IsNeverZero) {
  for (const double sum : {0.0, -0.0, 1.5, -1e300, infinity<double>(), std::nan("")}) {
    expect_same_as_word(sum);
    expect_same_as_word(static_cast<float>(sum));
    expect_same_as_word(Kokkos::complex<float>(static_cast<float>(sum), -0.0f));
  }
  double all_bits_set;
  std::memset(&all_bits_set, 0xff, sizeof(all_bits_set));
  using Word = Filigree::Impl::SumAsWord<double>;
  EXPECT_NE(Word::of(all_bits_set), 0u);
  EXPECT_TRUE(std::isnan(Word::sum(Word::of(all_bits_set))));
  EXPECT_FALSE(Filigree::Impl::SumAsWord<Kokkos::complex<double>>::fits_one_word);
}

/// Rows of a large matrix that lie in two chunks. On a GPU the balanced CRS kernel adds their two partial
/// sums itself, in whichever order the chunks end; no second kernel is launched. This must also work if a
/// partial sum is the NaN with all bits set, which a word without a sum would be read as, and after products
/// with other numbers of columns of x.
TEST(BalancedProduct, JoinsRowsCutOnceWithoutASecondKernel) {
  const std::int64_t lengths[] = {700, 1, 2048, 300};
  double all_bits_set;
  std::memset(&all_bits_set, 0xff, sizeof(all_bits_set));
  Random random(15);
  HostMatrix<double> host(1400, 1000);
  for (std::size_t row = 0; row < 1400; ++row)
    for (std::int64_t i = 0; i < lengths[row % 4]; ++i)
      host.rows[row].push_back({random.below(1000), random.value<double>()});
  ASSERT_GT(host.nnz(), 1 << 20);
  const auto balanced = Filigree::convert<Filigree::WrappedCrsMatrix>(device_crs(host));
  EXPECT_GT(balanced.chunks.cut_row_count, 0);
  EXPECT_EQ(balanced.chunks.long_row_count, 0);
  for (const int columns : {0, 16, 0, 3})
    EXPECT_TRUE(multiplies<Kokkos::LayoutLeft>(balanced, host,
                                               Product<double>{Mode::NoTranspose, 1.5, 0.5, columns}));
  for (std::size_t row = 0; row < 1400; row += 8)
    for (auto& entry : host.rows[row])
      entry.value = all_bits_set;
  const auto with_nan = Filigree::convert<Filigree::WrappedCrsMatrix>(device_crs(host));
  const View1<double, Kokkos::LayoutLeft> x("x", 1000);
  const View1<double, Kokkos::LayoutLeft> y("y", 1400);
  Kokkos::deep_copy(x, 1.0);
  Kokkos::fence();
  const KokkosRecorder recorder;
  for (int run = 0; run < 3; ++run) {
    Kokkos::deep_copy(y, 7.0);
    Filigree::spmv(ExecutionSpace(), "N", 1.0, with_nan, x, 0.0, y);
    const auto host_y = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), y);
    for (std::size_t row = 0; row < 1400; ++row) {
      EXPECT_EQ(std::isnan(host_y(row)), row % 8 == 0) << "row " << row << ", run " << run;
      EXPECT_NE(host_y(row), 7.0) << "row " << row << ", run " << run;
    }
  }
  const auto joins =
      std::count_if(recorder.events().kernels.begin(), recorder.events().kernels.end(),
                    [](const std::string& kernel) { return kernel.find("join") != std::string::npos; });
  EXPECT_EQ(joins, Filigree::Impl::runs_on_gpu_v<ExecutionSpace> ? 0 : 3);
}

}  // namespace FiligreeTest

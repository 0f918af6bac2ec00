// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tests of convert, to_crs and refill for every format, and of the errors that they throw.
#include <algorithm>
#include <cstring>
#include <limits>

#include "../support/errors.hpp"
#include "../support/formats.hpp"
#include "../support/tools.hpp"

namespace FiligreeTest {

template <class Case>
class RoundTrip : public testing::Test {
 public:
  using Scalar = typename Case::Scalar;

  /// Expects that to_crs returns the matrix after a conversion to each variant of the format.
  static void expect_same(const HostMatrix<Scalar>& any, int block_size, const std::string& name) {
    const auto host = suited<Case>(any);
    for_each_variant<Case>(host, block_size, [&](const std::string& variant, const auto& A) {
      SCOPED_TRACE(variant + ", " + name + ", block size " + std::to_string(block_size));
      EXPECT_EQ(Case::Traits::num_rows(A), host.row_count());
      EXPECT_EQ(Case::Traits::num_cols(A), host.columns);
      if (Case::Traits::counts_nnz) {
        EXPECT_EQ(Case::Traits::nnz(A), host.nnz());
      }
      const auto again = host_matrix(Filigree::to_crs(A));
      if (keeps_entries_v<Case>)
        EXPECT_EQ(again, host);
      else
        EXPECT_EQ(again, canonical(host));
    });
  }

  /// Refills each variant of the format with new values, with zeros and with new values again.
  static void expect_refills(const HostMatrix<Scalar>& any, int block_size) {
    const auto host = suited<Case>(any);
    for_each_variant<Case>(host, block_size, [&](const std::string& variant, const auto& A) {
      SCOPED_TRACE(variant + ", block size " + std::to_string(block_size));
      expect_refills(A, host);
    });
  }

  static void expect_refills(const typename Case::Matrix& A, const HostMatrix<Scalar>& host) {
    auto zeros = host;
    for (auto& row : zeros.rows)
      for (auto& entry : row)
        entry.value = Scalar(0);
    Filigree::RefillOptions unchecked;
    unchecked.check_pattern = false;
    unsigned seed = 1;
    for (const bool check : {true, false})
      for (const auto& values :
           {suited_new_values<Case>(host, ++seed), zeros, suited_new_values<Case>(host, ++seed)}) {
        const auto crs = device_crs<typename Case::Crs>(values);
        if (check)
          Filigree::refill(A, crs);
        else
          Filigree::refill(A, crs, unchecked);
        EXPECT_EQ(canonical(host_matrix(Filigree::to_crs(A))), canonical(values)) << "checked " << check;
      }
  }
};

TYPED_TEST_SUITE_P(RoundTrip);

TYPED_TEST_P(RoundTrip, ReturnsTheMatrix) {
  using Scalar = typename TypeParam::Scalar;
  for (const auto& [name, host] : all_shapes<Scalar>())
    this->expect_same(host, 1, name);
  this->expect_same(scattered<Scalar>(37, 29, 7), 1, "scattered");
  if constexpr (has_block_size_v<typename TypeParam::Options>)
    for (const int b : {2, 3, 5, 8, 10}) {
      if (b > largest_block_size<TypeParam>()) continue;
      this->expect_same(scattered<Scalar>(4 * b, 6 * b, 5), b, "divisible");
      if (!dense_blocks_v<TypeParam>)
        this->expect_same(scattered<Scalar>(4 * b + 1, 6 * b - 1, 5), b, "last blocks cut");
    }
}

TYPED_TEST_P(RoundTrip, RefillGivesNewValues) {
  using Scalar = typename TypeParam::Scalar;
  for (const auto& [name, host] : all_shapes<Scalar>()) {
    SCOPED_TRACE(name);
    this->expect_refills(host, 1);
  }
  if (!has_block_size_v<typename TypeParam::Options>) return;
  this->expect_refills(scattered<Scalar>(12, 18, 5), 3);
  if (!dense_blocks_v<TypeParam>) this->expect_refills(scattered<Scalar>(13, 19, 5), 4);
}

/// A copy kernel gives each lane a strip of neighbouring slots, not a row. In these matrices rows and slices
/// begin and end inside of strips, and there are thousands of empty rows.
TYPED_TEST_P(RoundTrip, CopiesRowsOfAnyLengths) {
  using Scalar = typename TypeParam::Scalar;
  Random random(11);
  if (keeps_entries_v<TypeParam>) {
    HostMatrix<Scalar> uneven(5000, 300);
    for (std::int64_t row = 0; row < 5000; ++row)
      if (row < 700 || row > 4100)
        for (std::int64_t k = row % 97 == 0 ? 250 : random.below(13); k > 0; --k)
          uneven.rows[static_cast<std::size_t>(row)].push_back({random.below(300), random.value<Scalar>()});
    this->expect_same(uneven, 1, "uneven");
    this->expect_refills(uneven, 1);
    return;
  }
  // `ascending` has sorted rows, in which duplicates are neighbours. In every third row of `mixed` the
  // entries follow a second time, in descending order, so that duplicates are apart.
  HostMatrix<Scalar> ascending(72, 80);
  for (auto& row : ascending.rows)
    for (std::int64_t column = 0; column < 80; ++column)
      for (std::int64_t copies = random.below(3); copies > 0; --copies)
        row.push_back({column, random.value<Scalar>()});
  HostMatrix<Scalar> mixed = ascending;
  for (std::size_t row = 0; row < mixed.rows.size(); row += 3) {
    auto reversed = mixed.rows[row];
    std::reverse(reversed.begin(), reversed.end());
    mixed.rows[row].insert(mixed.rows[row].end(), reversed.begin(), reversed.end());
  }
  for (const int b : {1, 4, 8}) {
    if (b > largest_block_size<TypeParam>()) continue;
    this->expect_same(ascending, b, "ascending");
    this->expect_same(mixed, b, "mixed");
    this->expect_refills(ascending, b);
    this->expect_refills(mixed, b);
  }
}

REGISTER_TYPED_TEST_SUITE_P(RoundTrip, ReturnsTheMatrix, RefillGivesNewValues, CopiesRowsOfAnyLengths);
INSTANTIATE_TYPED_TEST_SUITE_P(Double, RoundTrip, AllFormatsOf<double>, CaseName);
INSTANTIATE_TYPED_TEST_SUITE_P(ComplexFloat, RoundTrip, AllFormatsOf<Kokkos::complex<float>>, CaseName);

template <class Case>
class Convert : public testing::Test {
 public:
  static std::string refused_input(const typename Case::Crs& crs) {
    return message<std::invalid_argument>(
        [&]() { Case::convert_with(crs, any_padding<typename Case::Options>()); });
  }
};

/// The matrices of most of these tests are not square. test_sym_cds.cpp has the errors of symmetric formats.
TYPED_TEST_SUITE(Convert, UnsymmetricFormatsOf<>, CaseName);

TYPED_TEST(Convert, RefusesInvalidMatrices) {
  using Crs = typename TypeParam::Crs;
  const std::vector<double> three = {1, 2, 3};
  const auto refused = [&](const std::vector<std::int64_t>& row_map,
                           const std::vector<std::int64_t>& entries) {
    return this->refused_input(crs_of_lists<Crs>(3, 4, row_map, entries, three));
  };
  EXPECT_EQ(refused({0, 1, 2, 3}, {0, 3, 2}), "nothing");
  EXPECT_TRUE(holds(refused({0, 2, 1, 3}, {0, 1, 2}), {"Filigree::convert", "row 1", "2 to 1", "decrease"}));
  EXPECT_TRUE(holds(refused({0, 4, 4, 3}, {0, 1, 2}), {"Filigree::convert", "row 0", "0 to 4 of 3"}));
  EXPECT_TRUE(holds(refused({0, -1, 2, 3}, {0, 1, 2}), {"Filigree::convert", "row 0", "-1"}));
  EXPECT_TRUE(holds(refused({1, 1, 2, 3}, {0, 1, 2}), {"Filigree::convert", "starts with 1"}));
  EXPECT_TRUE(holds(refused({0, 1, 2, 2}, {0, 1, 2}), {"Filigree::convert", "ends with 2", "3"}));
  EXPECT_TRUE(holds(refused({0, 1, 2, 4}, {0, 1, 2}), {"Filigree::convert", "ends with 4", "3"}));
  EXPECT_TRUE(
      holds(refused({0, 1, 2, 3}, {0, -1, 2}), {"Filigree::convert", "row 1", "column -1", "0 to 3"}));
  EXPECT_TRUE(holds(refused({0, 1, 1, 3}, {0, 1, 4}), {"Filigree::convert", "row 2", "column 4", "3 x 4"}));
  // Of several errors one is reported: first the ends of the row map, then the first wrong row of the row
  // map, then the first wrong column.
  EXPECT_TRUE(holds(refused({0, 2, 1, 4}, {0, 1, 2}), {"Filigree::convert", "ends with 4", "3"}));
  EXPECT_TRUE(holds(refused({0, 2, 1, 3}, {4, 1, 2}), {"Filigree::convert", "row 1", "2 to 1", "decrease"}));
  EXPECT_TRUE(holds(refused({0, 1, 2, 3}, {0, 7, -1}), {"Filigree::convert", "row 1", "column 7", "0 to 3"}));
  const auto without_rows = crs_of_lists<Crs>(0, 4, {0}, {0, 1, 2}, three);
  EXPECT_TRUE(holds(this->refused_input(without_rows), {"Filigree::convert", "ends with 0", "3"}));
  const auto without_columns = crs_of_lists<Crs>(3, 0, {0, 1, 2, 3}, {0, 0, 0}, three);
  EXPECT_TRUE(
      holds(this->refused_input(without_columns), {"Filigree::convert", "row 0", "column 0", "3 x 0"}));
}

/// The check looks at several columns at once. It must find a wrong one at any position.
TYPED_TEST(Convert, FindsErrorsAtAnyPosition) {
  using Crs = typename TypeParam::Crs;
  for (const std::size_t count : {1, 2, 3, 4, 5, 1000, 1001, 1002, 1003}) {
    const std::vector<double> values(count, 1.0);
    const auto size = static_cast<std::int64_t>(count);
    for (const std::size_t bad : {std::size_t(0), count / 2, count - 1}) {
      std::vector<std::int64_t> entries(count);
      for (std::size_t i = 0; i < count; ++i)
        entries[i] = static_cast<std::int64_t>(i);
      entries[bad] = size;
      const auto crs = crs_of_lists<Crs>(1, size, {0, size}, entries, values);
      EXPECT_TRUE(
          holds(this->refused_input(crs), {"row 0", "column " + std::to_string(count), "columns of a"}));
    }
  }
  // Errors in rows that the first team does not check.
  const std::size_t rows = 6000;
  const std::vector<double> values(rows, 1.0);
  std::vector<std::int64_t> row_map(rows + 1);
  for (std::size_t row = 0; row <= rows; ++row)
    row_map[row] = static_cast<std::int64_t>(row);
  std::vector<std::int64_t> entries(rows, 0);
  const auto refused = [&]() {
    return this->refused_input(crs_of_lists<Crs>(6000, 4, row_map, entries, values));
  };
  entries[5990] = -1;
  EXPECT_TRUE(holds(refused(), {"row 5990", "column -1"}));
  row_map[5001] = 4999;
  EXPECT_TRUE(holds(refused(), {"row 5000", "5000 to 4999", "decrease"}));
}

TYPED_TEST(Convert, RefusesInvalidBlockSizes) {
  if constexpr (has_block_size_v<typename TypeParam::Options>) {
    const auto crs = device_crs(scattered<double>(12, 18, 3));
    const auto refused = [&](int block_size) {
      return message<std::invalid_argument>(
          [&]() { TypeParam::convert_with(crs, any_padding<typename TypeParam::Options>(block_size)); });
    };
    EXPECT_TRUE(holds(refused(0), {"Filigree::convert", "block_size is 0"}));
    EXPECT_TRUE(holds(refused(-1), {"Filigree::convert", "block_size is -1"}));
    if (dense_blocks_v<TypeParam>) {
      EXPECT_TRUE(holds(refused(4), {"Filigree::convert", "block_size is 4", "12 x 18", "divide"}));
      EXPECT_TRUE(holds(refused(9), {"Filigree::convert", "block_size is 9", "12 x 18", "divide"}));
    } else if (largest_block_size<TypeParam>() < 9) {
      EXPECT_TRUE(holds(refused(9), {"Filigree::convert", "block_size is 9", "1 to 8"}));
    } else {
      EXPECT_EQ(refused(9), "nothing");
    }
  } else {
    GTEST_SKIP() << TypeParam::Traits::name() << " has no blocks.";
  }
}

/// Whether a conversion with these options stores nothing in addition to the CRS matrix.
template <class Options>
bool is_plain_crs(const Options&) {
  return false;
}
bool is_plain_crs(const Filigree::WrappedCrsOptions& options) {
  return options.kernel == Filigree::CrsKernel::lanes;
}

TYPED_TEST(Convert, RefusesTooMuchPadding) {
  if (is_kokkos_kernels_v<TypeParam> && keeps_entries_v<TypeParam>) GTEST_SKIP() << "CRS has no padding.";
  using Options = typename TypeParam::Options;
  // The result is larger than ConvertOptions::never_refused_bytes. The long row is alone in the last slice,
  // so the rows that fill this slice must be counted as well.
  auto host = scattered<double>(2561, 2600, 2);
  host.rows.back().clear();
  for (std::int64_t column = 0; column < 2600; ++column)
    host.rows.back().push_back({column, 1.0});
  if (dense_blocks_v<TypeParam>) host.rows.resize(2560);
  const auto crs = device_crs(host);
  const double crs_bytes =
      static_cast<double>(Filigree::MatrixTraits<typename TypeParam::Crs>::storage_bytes(crs));
  for (const auto& variant : all_variants<TypeParam>()) {
    SCOPED_TRACE(variant.name);
    Options options = any_padding(8, variant.options);
    if (is_plain_crs(options)) continue;
    const auto A = TypeParam::convert_with(crs, options);
    const double bytes = static_cast<double>(TypeParam::Traits::storage_bytes(A));
    std::ostringstream numbers;
    numbers << bytes << " bytes, " << bytes / crs_bytes << " times the " << crs_bytes << " bytes";
    const auto refused = [&](double ratio) {
      options.max_storage_ratio = ratio;
      return message<std::length_error>([&]() { TypeParam::convert_with(crs, options); });
    };
    // The limit itself is allowed.
    EXPECT_EQ(refused(bytes / crs_bytes * (1 + 1e-9)), "nothing");
    EXPECT_TRUE(holds(refused(bytes / crs_bytes * (1 - 1e-9)),
                      {"Filigree::convert", numbers.str(), "max_storage_ratio allows"}));
    const std::string by_default = refused(Options().max_storage_ratio);
    if (bytes > 3 * crs_bytes)
      EXPECT_TRUE(holds(by_default, {numbers.str(), "max_storage_ratio allows 3."}));
    else
      EXPECT_EQ(by_default, "nothing");
    if (pads_all_rows<TypeParam>()) {
      EXPECT_GT(bytes, 3 * crs_bytes);
    }
  }
}

TYPED_TEST(Convert, RefusesSizesBeyondSizeTypeBeforeItAllocates) {
  if (is_kokkos_kernels_v<TypeParam>) GTEST_SKIP() << "The format has no padding with block size 1.";
  constexpr std::int64_t rows = 3000000;
  std::vector<std::int64_t> row_map(rows + 1, 800);
  row_map[0] = 0;
  std::vector<std::int64_t> entries(800);
  for (std::int64_t i = 0; i < 800; ++i)
    entries[static_cast<std::size_t>(i)] = i;
  const auto crs =
      crs_of_lists<typename TypeParam::Crs>(rows, 800, row_map, entries, std::vector<double>(800, 1.0));
  const KokkosRecorder recorder;
  const std::string text = message<std::length_error>(
      [&]() { TypeParam::convert_with(crs, any_padding<typename TypeParam::Options>()); });
  if (pads_all_rows<TypeParam>())
    EXPECT_TRUE(holds(
        text, {"Filigree::convert", "the result needs 2.4", "e+09 padded entries", "32-bit size_type"}));
  else
    EXPECT_EQ(text, "nothing");
  EXPECT_LT(recorder.events().allocated_bytes, 100000000u);
}

TYPED_TEST(Convert, StorageBytesCountAllViews) {
  if (is_kokkos_kernels_v<TypeParam>) GTEST_SKIP() << "The format is a class of Kokkos Kernels.";
  const auto crs = device_crs(block_banded<double>(5000, 4000, 1));
  const double shared = std::is_same<typename TypeParam::Options, Filigree::WrappedCrsOptions>::value
                            ? Filigree::Impl::crs_bytes(crs)
                            : 0.0;
  for (const auto& variant : all_variants<TypeParam>()) {
    const KokkosRecorder recorder;
    const auto A = TypeParam::convert_with(crs, any_padding(1, variant.options));
    Kokkos::fence();
    // Kokkos rounds the bytes of a View up to a multiple of 8, and to 128 for an empty View. The values of
    // CDS take 256 bytes more, because they begin at a multiple of that.
    const double views = shared + static_cast<double>(recorder.events().live_bytes);
    const double bytes = static_cast<double>(TypeParam::Traits::storage_bytes(A));
    EXPECT_GE(views, bytes) << variant.name;
    EXPECT_LE(views, bytes + (128 + 256) * recorder.events().live_allocations) << variant.name;
    EXPECT_GT(bytes, 0) << variant.name;
  }
}

TYPED_TEST(Convert, NeverRefusesSmallResults) {
  auto host = HostMatrix<double>(40, 100);
  for (std::int64_t column = 0; column < 100; ++column)
    host.rows[39].push_back({column, 1.0});
  auto options = typename TypeParam::Options();
  options.max_storage_ratio = 1.0;
  EXPECT_EQ(host_matrix(Filigree::to_crs(TypeParam::convert_with(device_crs(host), options))), host);
}

TYPED_TEST(Convert, RefusesStorageRatiosThatAreOutOfRange) {
  const auto crs = device_crs(HostMatrix<double>(3, 3));
  auto options = typename TypeParam::Options();
  for (const double ratio : {-1.0, -1e-300, std::numeric_limits<double>::quiet_NaN()}) {
    options.max_storage_ratio = ratio;
    EXPECT_TRUE(holds(message<std::invalid_argument>([&]() { TypeParam::convert_with(crs, options); }),
                      {"Filigree::convert", "max_storage_ratio is " + std::string(ratio < 0 ? "-1" : "nan"),
                       "at least 0"}));
  }
  for (const double ratio : {0.0, std::numeric_limits<double>::infinity()}) {
    options.max_storage_ratio = ratio;
    EXPECT_EQ(message<std::exception>([&]() { TypeParam::convert_with(crs, options); }), "nothing");
  }
}

/// The text of the error that a conversion with invalid options throws.
template <template <class, class, class, class, class> class Format, class Options>
std::string refused_options(const Options& options) {
  const auto crs = device_crs(scattered<double>(12, 18, 3));
  return message<std::invalid_argument>([&]() { Filigree::convert<Format>(crs, options); });
}

TEST(ConvertOptions, RefuseInvalidValues) {
  for (const int lanes : {-1, 0, 3, 64}) {
    Filigree::EllOptions ell;
    ell.lanes_per_row = lanes;
    EXPECT_TRUE(holds(refused_options<Filigree::EllMatrix>(ell),
                      {"convert<EllMatrix>", "lanes_per_row is " + std::to_string(lanes), "from 1 to 32"}));
    Filigree::SellOptions sell;
    sell.lanes_per_row = lanes;
    EXPECT_TRUE(holds(refused_options<Filigree::SellMatrix>(sell),
                      {"convert<SellMatrix>", "lanes_per_row is " + std::to_string(lanes)}));
    Filigree::WrappedCrsOptions crs;
    crs.kernel = Filigree::CrsKernel::lanes;
    crs.lanes_per_row = lanes;
    EXPECT_TRUE(holds(refused_options<Filigree::WrappedCrsMatrix>(crs),
                      {"convert<WrappedCrsMatrix>", "lanes_per_row is " + std::to_string(lanes)}));
  }
  for (const int lanes : {0, 16, 48, 2048}) {
    Filigree::EllOptions ell;
    ell.lanes_per_team = lanes;
    EXPECT_TRUE(holds(refused_options<Filigree::EllMatrix>(ell),
                      {"lanes_per_team is " + std::to_string(lanes), "32 to 1024"}));
  }
  for (const int height : {-2, 0, 3, 2048}) {
    Filigree::SellOptions sell;
    sell.slice_height = height;
    EXPECT_TRUE(holds(refused_options<Filigree::SellMatrix>(sell),
                      {"convert<SellMatrix>", "slice_height is " + std::to_string(height), "power of two"}));
  }
  Filigree::SellOptions sell;
  sell.sorting_window = -1;
  EXPECT_TRUE(holds(refused_options<Filigree::SellMatrix>(sell), {"sorting_window is -1"}));
  sell.sorting_window = 4;
  sell.one_length_per_slice = true;
  EXPECT_TRUE(holds(refused_options<Filigree::SellMatrix>(sell),
                    {"one_length_per_slice", "sorting_window = 0", "4"}));
  Filigree::HybOptions hyb;
  hyb.width_rule = Filigree::HybridWidth::given;
  hyb.width = -1;
  EXPECT_TRUE(holds(refused_options<Filigree::HybMatrix>(hyb), {"convert<HybMatrix>", "width is -1"}));
  hyb.width_rule = static_cast<Filigree::HybridWidth>(9);
  EXPECT_TRUE(
      holds(refused_options<Filigree::HybMatrix>(hyb), {"convert<HybMatrix>", "HybridWidth(9)", "given"}));
  Filigree::HecOptions hec;
  hec.long_row = -5;
  EXPECT_TRUE(holds(refused_options<Filigree::HecMatrix>(hec), {"convert<HecMatrix>", "long_row is -5"}));
  hec = {};
  hec.width_rule = static_cast<Filigree::HybridWidth>(-1);
  EXPECT_TRUE(holds(refused_options<Filigree::HecMatrix>(hec), {"convert<HecMatrix>", "HybridWidth(-1)"}));
  Filigree::WrappedCrsOptions crs;
  crs.kernel = static_cast<Filigree::CrsKernel>(9);
  EXPECT_TRUE(holds(refused_options<Filigree::WrappedCrsMatrix>(crs),
                    {"convert<WrappedCrsMatrix>", "CrsKernel(9)", "lanes or balanced"}));
}

TYPED_TEST(Convert, RefillRefusesOtherPatterns) {
  const auto host = scattered<double>(12, 18, 3);
  const auto A = converted<TypeParam>(host);
  const auto before = host_matrix(Filigree::to_crs(A));
  const auto values_before = host_list(values_of(A));
  const auto refused = [&](const HostMatrix<double>& other) {
    const auto crs = device_crs(suited_new_values<TypeParam>(other, 4));
    return message<std::invalid_argument>([&]() { Filigree::refill(A, crs); });
  };

  EXPECT_TRUE(holds(refused(scattered<double>(13, 18, 3)), {"Filigree::refill", "12 x 18", "13 x 18"}));
  EXPECT_TRUE(holds(refused(scattered<double>(12, 19, 3)), {"Filigree::refill", "12 x 18", "12 x 19"}));
  auto fewer = host;
  fewer.rows[4].pop_back();
  const auto count = [](const HostMatrix<double>& matrix) {
    return std::to_string(matrix.nnz()) + (TypeParam::Traits::counts_nnz ? " entries" : "");
  };
  EXPECT_TRUE(holds(refused(fewer), {"Filigree::refill"}));
  if (TypeParam::Traits::counts_nnz) {
    EXPECT_TRUE(holds(refused(fewer), {count(fewer).substr(0, 2), count(host)}));
  }
  auto moved = host;
  const std::int64_t old_column = moved.rows[6].front().column;
  for (auto& entry : moved.rows[6])
    if (entry.column == old_column) entry.column = (old_column + 1) % 18;
  EXPECT_TRUE(holds(refused(moved), {"Filigree::refill", "row 6", TypeParam::Traits::name()}));
  auto invalid = host;
  invalid.rows[7].front().column = 18;
  EXPECT_TRUE(holds(refused(invalid), {"Filigree::refill", "row 7", "column 18"}));

  EXPECT_EQ(host_matrix(Filigree::to_crs(A)), before);
  const auto values_after = host_list(values_of(A));
  ASSERT_EQ(values_after.size(), values_before.size());
  // The ELL part of a hybrid format may be empty, and memcmp does not take null pointers.
  if (!values_before.empty()) {
    EXPECT_EQ(
        std::memcmp(values_after.data(), values_before.data(), values_after.size() * sizeof(values_after[0])),
        0);
  }
}

TYPED_TEST(Convert, ConvertsWithoutChecksToo) {
  const auto host = scattered<double>(37, 29, 7);
  auto options = any_padding<typename TypeParam::Options>();
  options.check_input = false;
  const auto A = TypeParam::convert_with(device_crs(host), options);
  EXPECT_EQ(canonical(host_matrix(Filigree::to_crs(A))), canonical(host));
}

}  // namespace FiligreeTest

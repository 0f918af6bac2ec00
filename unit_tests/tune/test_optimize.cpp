// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <set>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "../support/errors.hpp"
#include "../support/host_matrix.hpp"
#include "../support/instances.hpp"
#include "../support/product.hpp"
#include "../support/tools.hpp"
#include "filigree/grid/stencil_problem.hpp"
#include "filigree/tune/optimize.hpp"

namespace {

using namespace FiligreeTest;
using Filigree::OptimizeOptions;
using Filigree::Selection;
using Layout = Kokkos::LayoutLeft;

/// The speed of an H200, so that the tests pick the same formats on every machine.
OptimizeOptions on_h200() {
  OptimizeOptions options;
  options.speed.read_bandwidth = 4300e9;
  options.speed.gpu.multiprocessors = 132;
  options.speed.gpu.cache_bytes = 60e6;
  return options;
}

Crs<double> grid(std::int64_t cells, int dof) {
  return Filigree::StencilProblem<>({cells, cells, cells}, Filigree::Stencil::seven_point(), dof)
      .crs<Crs<double>>();
}

/// Rows of random lengths up to `longest`, some of them empty, and sorted random columns.
HostMatrix<double> random_rows(std::int64_t rows, std::int64_t columns, std::int64_t longest) {
  Random random(4);
  HostMatrix<double> host(rows, columns);
  for (auto& row : host.rows) {
    std::set<std::int64_t> found;
    for (std::int64_t k = random.below(longest + 1); k > 0; --k)
      found.insert(random.below(columns));
    for (const std::int64_t column : found)
      row.push_back({column, random.value<double>()});
  }
  return host;
}

/// Options with which no format is too large.
OptimizeOptions anything() {
  OptimizeOptions options = on_h200();
  options.max_storage_ratio = std::numeric_limits<double>::max();
  return options;
}

using Any = Filigree::AnyMatrix<double, int, Device, void, int>;

/// The matrix in the variant of that name.
Any in_format(const Crs<double>& crs, const std::string& name, int block_size = 1, bool share_crs = false) {
  return {{},
          Filigree::Impl::convert_by_name(ExecutionSpace(), crs, name, block_size,
                                          std::numeric_limits<double>::max(), share_crs),
          crs.nnz()};
}

bool shares_crs(const Any& A) {
  return A.visit(
      [](const auto& matrix) { return Filigree::MatrixTraits<std::decay_t<decltype(matrix)>>::shares_crs; });
}

std::vector<std::string> all_names(const Crs<double>& crs) {
  std::vector<std::string> names;
  for (const auto& one : Filigree::predict_formats(crs, on_h200()).formats)
    names.push_back(one.name);
  return names;
}

TEST(Optimize, PredictsWhatFormatsStore) {
  for (const auto& crs : {grid(24, 3), device_crs(random_rows(40000, 40000, 12))}) {
    const Selection found = Filigree::predict_formats(ExecutionSpace(), crs, anything());
    int compared = 0;
    for (const auto& one : found.formats)
      try {
        const double stored = static_cast<double>(in_format(crs, one.name, one.block_size).storage_bytes());
        EXPECT_NEAR(one.prediction.storage_bytes, stored, 0.05 * stored) << one.name << " of " << crs.nnz();
        ++compared;
      } catch (const std::length_error&) {
        // All diagonals of the random matrix have more elements than an int can count.
        EXPECT_TRUE(one.name == "dia" || one.name.rfind("cds", 0) == 0) << one.name;
      }
    EXPECT_GE(compared, 30);
  }
}

TEST(Optimize, PredictsEveryVariantOfEveryFormat) {
  const Selection found = Filigree::predict_formats(ExecutionSpace(), grid(4, 1), on_h200());
  std::set<std::string> names;
  for (const auto& one : found.formats)
    names.insert(one.name);
  EXPECT_EQ(names.size(), found.formats.size());
  Filigree::for_each_format(Filigree::GeneralFormats(), [&](auto format) {
    using Tag = decltype(format);
    for (const auto& variant :
         Filigree::named_variants<Filigree::converted_t<Tag::template matrix, Crs<double>>>())
      EXPECT_EQ(names.count(variant.name), 1u) << variant.name;
  });
}

/// A symmetric matrix of a grid, which has a strong diagonal.
HostMatrix<double> symmetric_grid(std::int64_t cells, int dof) {
  return mirrored(host_matrix(grid(cells, dof)), true);
}

TEST(Optimize, PicksSymmetricFormatsOnlyIfAllowed) {
  const auto host = symmetric_grid(30, 3);
  const auto crs = device_crs(host);
  EXPECT_EQ(Filigree::optimize(crs, on_h200()).selection().picked, "cds");
  OptimizeOptions options = on_h200();
  options.symmetric = true;
  const auto A = Filigree::optimize(crs, options);
  EXPECT_EQ(A.selection().picked, "sym_cds");
  EXPECT_EQ(A.selection().pick().block_size, 3);
  EXPECT_NEAR(A.selection().pick().prediction.storage_bytes, static_cast<double>(A.storage_bytes()),
              0.01 * static_cast<double>(A.storage_bytes()));
  EXPECT_TRUE(holds(A.explain(), {"Picked sym_cds, blocks of 3", "one half of the symmetric matrix"}));
  for (const Mode mode : all_modes)
    EXPECT_TRUE((multiplies<Layout>(A, host, Product<double>{mode, 2.5, -0.5, 0})));
}

TEST(Optimize, RefusesSymmetricFormatsForOtherMatrices) {
  auto host = symmetric_grid(30, 3);
  auto& entry = host.rows[500].front();
  const double image = entry.value;
  entry.value += 1e-9 * image;
  OptimizeOptions options = on_h200();
  options.symmetric = true;
  const auto A = Filigree::optimize(device_crs(host), options);
  EXPECT_EQ(A.selection().picked, "cds");
  EXPECT_TRUE(holds(A.explain(Filigree::Detail::all), {"refused sym_cds b=3: ", "is not symmetric", "500"}));
  EXPECT_TRUE((multiplies<Layout>(A, host, Product<double>{Mode::NoTranspose, 2.5, -0.5, 0})));
  options.symmetry_tolerance = 1e-8;
  EXPECT_EQ(Filigree::optimize(device_crs(host), options).selection().picked, "sym_cds");
  // For a rectangular matrix it is refused by its prediction.
  const Selection found = Filigree::predict_formats(device_crs(random_rows(300, 200, 9)), options);
  int symmetric = 0;
  for (const auto& one : found.formats) {
    if (!one.is_symmetric) continue;
    ++symmetric;
    EXPECT_FALSE(one.refusal.empty());
  }
  EXPECT_EQ(symmetric, 1);
  options.symmetry_tolerance = -1;
  EXPECT_TRUE(holds(message<std::invalid_argument>([&]() { Filigree::optimize(device_crs(host), options); }),
                    {"symmetry_tolerance is -1", "at least 0"}));
}

/// The matrix of a grid with 3 unknowns per cell and 8 distinct blocks, or with blocks that all differ.
Crs<double> repeated_blocks(bool repeat) {
  const auto cells = grid(30, 3);
  HostMatrix<double> host = host_matrix(cells);
  for (std::size_t row = 0; row < host.rows.size(); ++row)
    for (auto& entry : host.rows[row]) {
      const std::int64_t block_row = static_cast<std::int64_t>(row) / 3;
      const std::int64_t i = static_cast<std::int64_t>(row) % 3;
      entry.value = static_cast<double>(3 * i + entry.column % 3 + 1) +
                    static_cast<double>(entry.column / 3 - block_row) / 16 +
                    (repeat ? 0.0 : static_cast<double>(row) / 1024);
    }
  return device_crs(host);
}

TEST(Optimize, PicksADictionaryOnlyIfAllowed) {
  const auto crs = repeated_blocks(true);
  EXPECT_EQ(Filigree::optimize(crs, on_h200()).selection().picked, "cds");
  OptimizeOptions options = on_h200();
  options.repeated_blocks = true;
  const auto A = Filigree::optimize(crs, options);
  EXPECT_EQ(A.selection().picked, "dict_cds");
  EXPECT_EQ(A.selection().pick().block_size, 3);
  EXPECT_NEAR(A.selection().pick().prediction.storage_bytes, static_cast<double>(A.storage_bytes()),
              0.05 * static_cast<double>(A.storage_bytes()));
  EXPECT_TRUE(holds(A.explain(), {"Picked dict_cds, blocks of 3", "stores equal blocks once"}));
  for (const Mode mode : all_modes)
    EXPECT_TRUE((multiplies<Layout>(A, host_matrix(crs), Product<double>{mode, 2.5, -0.5, 0})));
}

TEST(Optimize, RefusesADictionaryOfManyBlocks) {
  OptimizeOptions options = on_h200();
  options.repeated_blocks = true;
  const auto A = Filigree::optimize(repeated_blocks(false), options);
  EXPECT_EQ(A.selection().picked, "cds");
  EXPECT_TRUE(holds(A.explain(Filigree::Detail::all),
                    {"refused dict_cds b=3: ", "more than 256 distinct blocks of 3 x 3"}));
}

template <class Stored>
void expect_narrow_pick(double unit_roundoff, const std::string& name) {
  const auto host = host_matrix(grid(30, 3));
  const auto crs = device_crs(host);
  Filigree::Rounding rounding;
  OptimizeOptions options = on_h200();
  options.rounding = &rounding;
  const auto A = Filigree::optimize<Stored>(crs, options);
  static_assert(std::is_same_v<typename std::decay_t<decltype(A)>::value_type, Stored>);
  EXPECT_EQ(A.selection().picked, "cds");
  EXPECT_EQ(A.selection().stored, name);
  EXPECT_EQ(A.selection().rounding.largest, rounding.largest);
  EXPECT_LE(rounding.largest, unit_roundoff);
  EXPECT_TRUE(holds(A.explain(), {"All values are stored in " + name, "rounded"}));
  const auto expect_product = [&](const HostMatrix<double>& of) {
    const Product<double> product{Mode::NoTranspose, 2.5, -0.5, 0};
    EXPECT_TRUE(multiplies_as_expected<Layout>(
        A, product,
        FiligreeTest::expect_product(of, product, Random(5).vectors<double>(of.columns, 1), unit_roundoff)));
  };
  expect_product(host);
  // The bytes of x and y count with their own type.
  const double values = static_cast<double>(A.storage_bytes());
  const double vectors = 16.0 * static_cast<double>(host.columns);
  EXPECT_GT(A.selection().pick().prediction.seconds, (values + vectors) / options.speed.read_bandwidth);
  const auto new_host = with_new_values(host, 3);
  Filigree::refill(A, device_crs(new_host));
  expect_product(new_host);
}

TEST(Optimize, StoresNarrowValuesOnRequest) {
  expect_narrow_pick<float>(0x1p-24, "float");
#if FILIGREE_HAS_HALF
  expect_narrow_pick<Filigree::half_t>(0x1p-11, "half_t");
#endif
  EXPECT_TRUE(Filigree::optimize(grid(4, 1), on_h200()).selection().stored.empty());
}

TEST(Optimize, TimesNarrowValuesWithVectorsOfTheMatrix) {
  OptimizeOptions options = on_h200();
  options.speed.has_model = false;
  const auto A = Filigree::optimize<float>(grid(6, 2), options);
  EXPECT_TRUE(A.selection().timed);
  EXPECT_GT(A.selection().pick().measured_seconds, 0);
}

TEST(Optimize, RefusesNarrowValuesThatOverflow) {
  auto host = host_matrix(grid(6, 2));
  host.rows[7].front().value = 1e300;
  EXPECT_TRUE(holds(message<std::overflow_error>([&]() { Filigree::optimize<float>(device_crs(host)); }),
                    {"Filigree::optimize: ", "row 7"}));
}

TEST(Optimize, MultipliesInEveryModeAndRank) {
  for (const auto& host : {host_matrix(grid(6, 2)), random_rows(300, 200, 40)}) {
    const auto A = Filigree::optimize(device_crs(host), on_h200());
    EXPECT_EQ(A.numRows(), host.row_count());
    EXPECT_EQ(A.numCols(), host.columns);
    EXPECT_EQ(A.nnz(), host.nnz());
    for (const Mode mode : all_modes)
      for (const int columns : {0, 3})
        EXPECT_TRUE((multiplies<Layout>(A, host, Product<double>{mode, 2.5, -0.5, columns})))
            << A.selection().picked;
  }
}

TEST(Optimize, FindsTheBlockDiagonalsOfAGrid) {
  const auto A = Filigree::optimize(grid(40, 3), on_h200());
  EXPECT_EQ(A.selection().picked, "cds");
  EXPECT_EQ(A.selection().pick().block_size, 3);
  OptimizeOptions one_unknown = on_h200();
  one_unknown.block_size = 1;
  EXPECT_EQ(Filigree::optimize(grid(40, 3), one_unknown).selection().pick().block_size, 1);
}

#if FILIGREE_HAS_BSR
/// Full b x b blocks in random block columns, up to 12 per block row.
HostMatrix<double> scattered_blocks(std::int64_t block_rows, std::int64_t b) {
  Random random(5);
  HostMatrix<double> host(block_rows * b, block_rows * b);
  for (std::int64_t block_row = 0; block_row < block_rows; ++block_row) {
    std::set<std::int64_t> blocks;
    for (std::int64_t k = 1 + random.below(12); k > 0; --k)
      blocks.insert(random.below(block_rows));
    for (std::int64_t r = 0; r < b; ++r)
      for (const std::int64_t block : blocks)
        for (std::int64_t c = 0; c < b; ++c)
          host.rows[static_cast<std::size_t>(block_row * b + r)].push_back(
              {block * b + c, random.value<double>()});
  }
  return host;
}

TEST(Optimize, TakesBsrOnlyIfAllBlocksAreFull) {
  OptimizeOptions options = on_h200();
  options.products = 1e9;
  // The memory is so slow that bytes decide.
  options.speed.read_bandwidth = 1e11;
  auto host = scattered_blocks(3000, 4);
  const auto A = Filigree::optimize(device_crs(host), options);
  ASSERT_EQ(A.selection().picked, "bsr") << A.explain();
  EXPECT_EQ(A.selection().pick().block_size, 4);
  EXPECT_EQ(A.nnz(), host.nnz());
  EXPECT_TRUE((multiplies<Layout>(A, host, Product<double>{Mode::NoTranspose, 2.0, 0.5, 3})));
  const auto other = with_new_values(host, 8);
  Filigree::refill(A, device_crs(other));
  EXPECT_EQ(canonical(host_matrix(Filigree::to_crs(A))), canonical(other));

  const auto refusal = [&]() {
    const auto found = Filigree::optimize(device_crs(host), options);
    EXPECT_NE(found.selection().picked, "bsr") << found.explain();
    for (const auto& one : found.selection().formats)
      if (one.name == "bsr") return one.refusal;
    return std::string("there is no bsr");
  };
  // One entry is missing, which the samples do not show.
  host.rows[5000].pop_back();
  EXPECT_EQ(refusal(), "would multiply the padding of its blocks like entries");
  // The first column of each block is missing, which the samples show.
  options.block_size = 4;
  for (std::size_t row = 0; row < host.rows.size(); row += 4) {
    auto& entries = host.rows[row];
    entries.erase(std::remove_if(entries.begin(), entries.end(),
                                 [](const auto& entry) { return entry.column % 4 == 0; }),
                  entries.end());
  }
  EXPECT_EQ(refusal(), "would multiply the padding of its blocks like entries");
}

TEST(Optimize, TakesABlockSizeOfBsrThatDividesTheMatrix) {
  auto host = scattered_blocks(300, 8);
  // Four more rows and columns.
  host.columns += 4;
  for (std::int64_t r = 0; r < 4; ++r)
    host.rows.push_back(
        {{host.columns - 4, 1.0}, {host.columns - 3, 1.0}, {host.columns - 2, 1.0}, {host.columns - 1, 1.0}});
  for (const auto& one : Filigree::predict_formats(device_crs(host), on_h200()).formats)
    if (one.name == "bsr") {
      EXPECT_EQ(one.block_size, 4);
      EXPECT_EQ(one.refusal, "");
    }
}
#endif

TEST(Optimize, KeepsCrsForFewProducts) {
  const auto crs = grid(30, 3);
  OptimizeOptions few = on_h200();
  few.products = 1;
  few.share_crs = true;
  const auto A = Filigree::optimize(crs, few);
  EXPECT_TRUE(A.selection().pick().shares_crs) << A.explain();
  EXPECT_EQ(A.selection().pick().prediction.conversion_seconds, 0);
  few.products = 100000;
  EXPECT_EQ(Filigree::optimize(crs, few).selection().picked, "cds");
}

TEST(Optimize, KeepsToItsLimits) {
  // ELL would store 20 times the entries.
  HostMatrix<double> host = random_rows(5000, 5000, 6);
  for (std::int64_t k = 0; k < 120; ++k)
    host.rows[17].push_back({k, 1.0});
  const auto crs = device_crs(host);
  const Selection found = Filigree::predict_formats(ExecutionSpace(), crs, on_h200());
  for (const auto& one : found.formats) {
    if (one.name != "ell") continue;
    EXPECT_TRUE(holds(one.refusal, {"times the bytes of the CRS matrix; at most 1.50 are allowed"}));
  }
  const auto A = Filigree::optimize(crs, on_h200());
  EXPECT_LE(static_cast<double>(A.storage_bytes()), 1.5 * Filigree::Impl::crs_bytes(crs));
  OptimizeOptions nothing = on_h200();
  nothing.most_bytes = 0;
  nothing.share_crs = true;
  EXPECT_TRUE(Filigree::optimize(crs, nothing).selection().pick().shares_crs);
}

TEST(Optimize, TimesTheBestFiveOnRequest) {
  OptimizeOptions options = on_h200();
  options.time_best = true;
  // Without the conversion the fastest product must be picked.
  options.products = std::numeric_limits<double>::infinity();
  const auto host = random_rows(3000, 3000, 9);
  const auto A = Filigree::optimize(device_crs(host), options);
  int timed = 0;
  double least = std::numeric_limits<double>::max();
  for (const auto& one : A.selection().formats)
    if (one.measured_seconds > 0) {
      ++timed;
      least = std::min(least, one.measured_seconds);
    }
  EXPECT_EQ(timed, 5);
  EXPECT_EQ(A.selection().pick().measured_seconds, least);
  EXPECT_TRUE(holds(A.explain(), {"measured ms", "the fastest of all timed formats"}));
  EXPECT_TRUE((multiplies<Layout>(A, host, Product<double>{})));
}

TEST(Optimize, TimesLongProductsOneAtATime) {
  using Filigree::Impl::products_per_sample;
  EXPECT_EQ(products_per_sample(0), 20);
  EXPECT_EQ(products_per_sample(1e-6), 20);
  EXPECT_EQ(products_per_sample(41e-6), 4);
  EXPECT_EQ(products_per_sample(99e-6), 2);
  EXPECT_EQ(products_per_sample(101e-6), 1);
  EXPECT_EQ(products_per_sample(1e6), 1);
}

TEST(Optimize, TimesSeveralProductsOfASmallMatrixTogether) {
  OptimizeOptions options = on_h200();
  options.time_best = true;
  const KokkosRecorder recorder;
  Filigree::optimize(device_crs(random_rows(30, 30, 2)), options);
  const auto& regions = recorder.events().regions;
  const auto products = std::count_if(regions.begin(), regions.end(), [](const std::string& region) {
    return region.rfind("Filigree::spmv[", 0) == 0;
  });
  // Five formats, with one product per sample six products each.
  EXPECT_GT(products, 5 * 6);
}

TEST(Optimize, TimesEqualKernelsOnce) {
  // On a host CRS uses one kernel for all numbers of lanes per row, and few other formats are as fast.
  OptimizeOptions options;
  options.speed.read_bandwidth = 1e10;
  options.time_best = true;
  const auto A = Filigree::optimize(device_crs(random_rows(3000, 3000, 9)), options);
  std::set<std::pair<double, double>> timed;
  for (const auto& one : A.selection().formats)
    if (one.measured_seconds > 0) timed.insert({one.prediction.seconds, one.prediction.storage_bytes});
  EXPECT_EQ(timed.size(), 5u);
}

TEST(Optimize, RefillsAndGivesTheCrsMatrixBack) {
  const auto host = random_rows(400, 300, 20);
  OptimizeOptions options = on_h200();
  options.products = 1e9;
  const auto A = Filigree::optimize(device_crs(host), options);
  const auto other = with_new_values(host, 8);
  Filigree::refill(A, device_crs(other));
  EXPECT_TRUE((multiplies<Layout>(A, other, Product<double>{}))) << A.selection().picked;
  EXPECT_EQ(canonical(host_matrix(Filigree::to_crs(A))), canonical(other));
  EXPECT_TRUE(holds(message<std::invalid_argument>([&]() { Filigree::refill(A, grid(3, 1)); }), {"entries"}));
}

TEST(Optimize, SaysWhy) {
  const auto A = Filigree::optimize(grid(10, 2), on_h200());
  const Selection& found = A.selection();
  EXPECT_EQ(A.explain().find("Picked " + found.picked), 0u);
  EXPECT_TRUE(holds(A.explain(), {"1000 products", "predicted ms", "pays after", "4300 GB/s"}));
  EXPECT_TRUE(holds(A.explain(Filigree::Detail::all),
                    {"crs_balanced", "sell_sorted_short", "jds", "cds b=2", found.device}));
  EXPECT_FALSE(found.device.empty());
  EXPECT_EQ(found.read_bandwidth, 4300e9);
  EXPECT_FALSE(found.assumes_bandwidth);
  const Selection own = Filigree::predict_formats(grid(10, 2));
  EXPECT_EQ(own.read_bandwidth, Filigree::device_speed(ExecutionSpace()).read_bandwidth);
  EXPECT_EQ(own.assumes_bandwidth, !Filigree::Impl::runs_on_gpu_v<ExecutionSpace>);
}

TEST(Optimize, KnowsWhichVariantsAreOneKernel) {
  for (const bool has_model : {true, false}) {
    OptimizeOptions options;
    options.speed.has_model = has_model;
    for (const auto& one : Filigree::predict_formats(grid(4, 1), options).formats) {
      const bool is_same = !Filigree::Impl::runs_on_gpu_v<ExecutionSpace> && one.name != "crs_lanes1" &&
                           one.name.find("crs_lanes") == 0;
      EXPECT_EQ(one.same_as, is_same ? "crs_lanes1" : "") << one.name;
    }
  }
}

TEST(Optimize, PredictsRowsBeyondTheLastCountedLength) {
  HostMatrix<double> host(64, 1500);
  for (auto& row : host.rows)
    for (std::int64_t k = 0; k < 1400; ++k)
      row.push_back({k, 1.0});
  const auto crs = device_crs(host);
  for (const auto& one : Filigree::predict_formats(crs, anything()).formats) {
    EXPECT_FALSE(std::isnan(one.prediction.seconds)) << one.name;
    if (one.name != "hyb_least_bytes" && one.name != "hec" && one.name != "ell") continue;
    const double stored = static_cast<double>(in_format(crs, one.name).storage_bytes());
    EXPECT_NEAR(one.prediction.storage_bytes, stored, 0.05 * stored) << one.name;
  }
}

TEST(Optimize, ConvertsNothingForTheBalancedKernel) {
  // One row has a third of the entries. In the other products of CRS one lane or one warp multiplies it.
  HostMatrix<double> host = random_rows(20000, 20000, 4);
  for (std::int64_t k = 0; k < 20000; ++k)
    host.rows[3].push_back({k, 1.0});
  OptimizeOptions few = on_h200();
  few.products = 3;
  few.share_crs = true;
  EXPECT_EQ(Filigree::optimize(device_crs(host), few).selection().picked, "crs_balanced");
}

TEST(Optimize, TriesTheNextFormatIfAMatrixIsTooLarge) {
  // One row in 4096 is long, except in every fourth window, so that samples may miss the long rows.
  HostMatrix<double> host(64 * 4096, 5000);
  for (std::int64_t row = 0; row < host.row_count(); ++row) {
    const bool is_long = row / 4096 % 4 != 0 && row % 4096 == 0;
    for (std::int64_t k = 0; k < (is_long ? 200 : 3); ++k)
      host.rows[static_cast<std::size_t>(row)].push_back({(row * 7919 + k * 1047) % 5000, 1.0});
  }
  const auto crs = device_crs(host);
  for (const double most : {0.0, 1e5, 2.5e6, 3e6, 5e6, 1e7}) {
    OptimizeOptions options = on_h200();
    options.products = 1e6;
    options.most_bytes = most;
    options.share_crs = true;
    const auto A = Filigree::optimize(crs, options);
    EXPECT_LE(A.selection().pick().shares_crs ? 0 : static_cast<double>(A.storage_bytes()), most);
  }
}

TEST(Optimize, TriesTheNextFormatIfAMatrixStoresMoreThanPredicted) {
  // Three of 4096 rows are long, except in the windows that are sampled. They widen one sorted slice of 32
  // rows.
  constexpr std::int64_t windows = 300;
  std::vector<bool> is_sampled(windows);
  for (const std::int64_t samples : {8, 128})
    for (std::int64_t i = 0; i < samples; ++i)
      is_sampled[static_cast<std::size_t>(Filigree::Impl::sample_index(i, samples, windows))] = true;
  HostMatrix<double> host(windows * 4096, 5000);
  for (std::int64_t row = 0; row < host.row_count(); ++row) {
    const bool is_long = !is_sampled[static_cast<std::size_t>(row / 4096)] && row % 4096 < 3;
    for (std::int64_t k = 0; k < (is_long ? 400 : row % 2 + 2); ++k)
      host.rows[static_cast<std::size_t>(row)].push_back({(row + k) % 5000, 1.0});
  }
  const auto crs = device_crs(host);
  OptimizeOptions options = on_h200();
  options.products = 1e6;
  // The memory is so slow that bytes decide.
  options.speed.read_bandwidth = 1e11;
  ASSERT_EQ(Filigree::predict_formats(crs, options).picked, "sell_sorted_short");
  const auto refusal = [&](double ratio) {
    options.max_storage_ratio = ratio;
    const auto A = Filigree::optimize(crs, options);
    EXPECT_EQ(A.selection().picked, "crs_balanced");
    return A.selection().formats.front().refusal;
  };
  EXPECT_TRUE(holds(refusal(1.2), {"times the", "max_storage_ratio allows 1.2"}));
  EXPECT_TRUE(holds(refusal(10), {"stores ", " bytes, not the predicted ", "another format is better"}));
}

TEST(Optimize, OrdersFormatsForNoProductsAtAll) {
  OptimizeOptions options = on_h200();
  options.products = 0;
  // BSR and blocked ELL cannot have this block size.
  options.block_size = 11;
  for (const auto& one : Filigree::predict_formats(grid(6, 1), options).formats)
    EXPECT_FALSE(std::isnan(one.total_seconds)) << one.name;
}

/// Options with which the memory is so slow that bytes decide.
OptimizeOptions bytes_decide() {
  OptimizeOptions options = on_h200();
  options.products = 1e9;
  options.speed.read_bandwidth = 1e11;
  return options;
}

TEST(Optimize, WeighsTheCopyOfTheCrsMatrix) {
  const auto crs = device_crs(random_rows(20000, 20000, 12));
  const double bytes = Filigree::Impl::crs_bytes(crs);
  OptimizeOptions options = on_h200();
  const auto is_refused = [&](double most_bytes, double ratio) {
    options.most_bytes = most_bytes;
    options.max_storage_ratio = ratio;
    for (const auto& one : Filigree::predict_formats(crs, options).formats)
      if (one.name == "crs") {
        EXPECT_EQ(one.copies_crs, !options.share_crs);
        EXPECT_EQ(one.shares_crs, options.share_crs);
        EXPECT_EQ(one.prediction.storage_bytes, bytes);
        // The copy reads and writes the matrix.
        EXPECT_EQ(one.prediction.conversion_seconds >= 2 * bytes / options.speed.read_bandwidth,
                  !options.share_crs);
        return !one.refusal.empty();
      }
    return false;
  };
  EXPECT_FALSE(is_refused(bytes, 1));
  EXPECT_TRUE(is_refused(bytes - 1, 1));
  EXPECT_TRUE(is_refused(bytes, 0.99));
  options.most_bytes = 100;
  EXPECT_TRUE(holds(message<std::length_error>([&]() { Filigree::optimize(crs, options); }),
                    {"Filigree::optimize", "most_bytes is 100", "share_crs"}));
  EXPECT_EQ(Filigree::predict_formats(crs, options).picked, "");
  options.share_crs = true;
  EXPECT_FALSE(is_refused(0, 0));
  EXPECT_TRUE(Filigree::optimize(crs, options).selection().pick().shares_crs);
}

TEST(Optimize, CopiesTheCrsMatrixUnlessItMayShareIt) {
  // One row has a third of the entries, so that the balanced kernel is picked.
  HostMatrix<double> host = random_rows(20000, 20000, 4);
  for (std::int64_t k = 0; k < 20000; ++k)
    host.rows[3].push_back({k, 1.0});
  const auto other = with_new_values(host, 8);
  for (const bool share : {false, true}) {
    const auto crs = device_crs(host);
    OptimizeOptions options = on_h200();
    options.share_crs = share;
    options.max_storage_ratio = 1.2;
    const auto A = Filigree::optimize(crs, options);
    ASSERT_EQ(A.selection().picked, "crs_balanced");
    EXPECT_TRUE(holds(A.explain(), {share ? "It shares the CRS matrix" : "It is a copy of the CRS matrix"}));
    Filigree::refill(A, device_crs(other));
    EXPECT_TRUE((multiplies<Layout>(A, other, Product<double>{})));
    EXPECT_EQ(host_matrix(crs), share ? other : host);
  }
}

TEST(Optimize, TakesConstAndUnmanagedMatrices) {
  const auto host = random_rows(300, 200, 12);
  const auto crs = device_crs(host);
  using ConstCrs =
      KokkosSparse::CrsMatrix<const double, const int, Device, Kokkos::MemoryTraits<Kokkos::Unmanaged>, int>;
  const ConstCrs view("view", crs.numRows(), crs.numCols(), crs.nnz(), crs.values, crs.graph.row_map,
                      crs.graph.entries);
  OptimizeOptions options = on_h200();
  for (const double products : {1.0, 1e9}) {
    options.products = products;
    const auto A = Filigree::optimize(view, options);
    EXPECT_TRUE((multiplies<Layout>(A, host, Product<double>{}))) << A.selection().picked;
  }
  options.share_crs = true;
  EXPECT_TRUE(holds(message<std::invalid_argument>([&]() { Filigree::optimize(view, options); }),
                    {"Filigree::optimize", "share_crs", "unmanaged", "const"}));
  // A View made from a pointer does not own its memory, although its type does not say so.
  const Kokkos::View<double*, Device> borrowed(crs.values.data(), crs.values.extent(0));
  const Crs<double> of_pointer("crs", crs.numRows(), crs.numCols(), crs.nnz(), borrowed, crs.graph.row_map,
                               crs.graph.entries);
  EXPECT_TRUE(holds(message<std::invalid_argument>([&]() { Filigree::optimize(of_pointer, options); }),
                    {"Filigree::optimize", "share_crs", "unmanaged"}));
}

TEST(Optimize, TimesAllFormatsOnADeviceWithoutAModel) {
  const auto host = random_rows(300, 300, 9);
  const auto crs = device_crs(host);
  OptimizeOptions options;
  options.speed.has_model = false;
  const auto A = Filigree::optimize(crs, options);
  const Selection& found = A.selection();
  EXPECT_FALSE(found.has_model);
  EXPECT_TRUE(found.timed);
  double least = std::numeric_limits<double>::max();
  for (const auto& one : found.formats) {
    EXPECT_TRUE(std::isnan(one.prediction.seconds)) << one.name;
    EXPECT_TRUE(std::isnan(one.prediction.conversion_seconds)) << one.name;
    EXPECT_EQ(one.measured_seconds > 0, one.refusal.empty()) << one.name << ": " << one.refusal;
    EXPECT_EQ(one.measured_conversion_seconds > 0, one.refusal.empty()) << one.name;
    if (one.refusal.empty()) least = std::min(least, one.total_seconds);
  }
  EXPECT_EQ(found.formats.size(), all_names(crs).size());
  EXPECT_EQ(found.pick().total_seconds, least);
  EXPECT_EQ(found.formats.front().name, found.picked);
  EXPECT_TRUE(holds(A.explain(), {"The byte model is not fitted to this device", "measured ms",
                                  "took the least time of all timed formats"}));
  EXPECT_TRUE((multiplies<Layout>(A, host, Product<double>{}))) << found.picked;

  options.most_bytes = 0.9 * Filigree::Impl::crs_bytes(crs);
  const Selection limited = Filigree::predict_formats(crs, options);
  EXPECT_FALSE(limited.has_model);
  for (const auto& one : limited.formats)
    EXPECT_TRUE(!one.refusal.empty() || one.measured_seconds > 0) << one.name;
  options.most_bytes = 0;
  EXPECT_EQ(Filigree::predict_formats(crs, options).picked, "");
  EXPECT_TRUE(
      holds(message<std::length_error>([&]() { Filigree::optimize(crs, options); }), {"most_bytes is 0"}));
}

/// Makes each kernel of the conversion to CDS throw, as Kokkos does if the device has an error.
class CdsConversionThrows {
 public:
  explicit CdsConversionThrows(const std::function<void()>& fail) {
    action() = fail;
    Kokkos::Tools::Experimental::set_begin_parallel_for_callback(begin_kernel);
  }
  ~CdsConversionThrows() { Kokkos::Tools::Experimental::set_begin_parallel_for_callback(nullptr); }

 private:
  static std::function<void()>& action() {
    static std::function<void()> stored;
    return stored;
  }
  static void begin_kernel(const char* name, const std::uint32_t, std::uint64_t*) {
    // Not the kernels that initialise Views: Kokkos itself does not free a View whose initialisation throws.
    const std::string kernel = name;
    if (kernel.find("Filigree::") == 0 && kernel.find("[cds]") != std::string::npos) action()();
  }
};

TEST(Optimize, LetsErrorsThatAreNotAboutSizePass) {
  const auto crs = grid(12, 3);
  const auto before = host_matrix(crs);
  // The first run also allocates what Kokkos keeps.
  ASSERT_EQ(Filigree::optimize(crs, bytes_decide()).selection().picked, "cds");
  Kokkos::fence();
  const KokkosRecorder recorder;
  const auto run = [&]() { Filigree::optimize(crs, bytes_decide()); };
  {
    const CdsConversionThrows fails([]() { throw std::runtime_error("cudaErrorIllegalAddress"); });
    EXPECT_EQ(message<std::runtime_error>(run), "cudaErrorIllegalAddress");
  }
  {
    const CdsConversionThrows fails([]() { throw std::invalid_argument("wrong"); });
    EXPECT_EQ(message<std::invalid_argument>(run), "wrong");
  }
  EXPECT_EQ(recorder.events().live_bytes, 0);
  EXPECT_EQ(recorder.events().open_regions, 0);
  EXPECT_EQ(host_matrix(crs), before);
}

TEST(Optimize, TriesTheNextFormatIfThereIsNoMemory) {
  const auto host = host_matrix(grid(12, 3));
  const auto crs = device_crs(host);
  for (const bool throws_bad_alloc : {false, true}) {
    const CdsConversionThrows fails([&]() {
      if (throws_bad_alloc) throw std::bad_alloc();
      throw std::runtime_error("Kokkos ERROR: Cuda memory space failed to allocate 1 GiB.");
    });
    const auto A = Filigree::optimize(crs, bytes_decide());
    EXPECT_NE(A.selection().picked, "cds");
    EXPECT_FALSE(A.selection().formats.front().refusal.empty());
    EXPECT_TRUE((multiplies<Layout>(A, host, Product<double>{})));
  }
}

TEST(AnyMatrix, SharesNothingWithTheCrsMatrix) {
  const auto host = random_rows(200, 150, 20);
  const auto other = with_new_values(host, 8);
  const auto third = with_new_values(host, 9);
  for (const std::string& name : all_names(device_crs(host))) {
    SCOPED_TRACE(name);
    const auto crs = device_crs(host);
    const Any A = in_format(crs, name, 2);
    Filigree::refill(A, device_crs(other));
    EXPECT_EQ(host_matrix(crs), host);
    const auto back = Filigree::to_crs(A);
    Filigree::refill(A, device_crs(third));
    EXPECT_EQ(canonical(host_matrix(back)), canonical(other));
    // Changes of the CRS matrix do not change A.
    Kokkos::deep_copy(crs.values, 7.0);
    Kokkos::deep_copy(crs.graph.entries, 0);
    EXPECT_TRUE((multiplies<Layout>(A, third, Product<double>{})));
  }
}

TEST(AnyMatrix, SharesTheCrsMatrixOnRequest) {
  const auto host = random_rows(200, 150, 20);
  const auto other = with_new_values(host, 8);
  int sharing = 0;
  for (const std::string& name : all_names(device_crs(host))) {
    const auto crs = device_crs(host);
    const Any A = in_format(crs, name, 2, true);
    if (!shares_crs(A)) continue;
    ++sharing;
    Filigree::refill(A, device_crs(other));
    EXPECT_EQ(host_matrix(crs), other) << name;
    EXPECT_TRUE((multiplies<Layout>(A, other, Product<double>{}))) << name;
  }
  EXPECT_EQ(sharing, 8);
}

TEST(AnyMatrix, HoldsEveryFormat) {
  const auto host = random_rows(200, 150, 20);
  const auto other = with_new_values(host, 8);
  for (const std::string& name : all_names(device_crs(host))) {
    SCOPED_TRACE(name);
    const Any A = in_format(device_crs(host), name, 2);
    EXPECT_EQ(A.numRows(), 200);
    EXPECT_EQ(A.numCols(), 150);
    EXPECT_EQ(A.nnz(), host.nnz());
    EXPECT_TRUE((multiplies<Layout>(A, host, Product<double>{Mode::NoTranspose, 2.0, 0.5, 2})));
    EXPECT_TRUE((multiplies<Layout>(A, host, Product<double>{Mode::Transpose, 2.0, 0.5, 0})));
    Filigree::refill(ExecutionSpace(), A, device_crs(other));
    EXPECT_TRUE((multiplies<Layout>(A, other, Product<double>{})));
    EXPECT_EQ(canonical(host_matrix(Filigree::to_crs(ExecutionSpace(), A))), canonical(other));
  }
}

TEST(AnyMatrix, RefusesValuesOfAnotherPattern) {
  const auto host = random_rows(200, 150, 20);
  auto more = host;
  more.rows[3].push_back({149, 1.0});
  const auto crs = device_crs(host);
  for (const std::string& name : all_names(crs)) {
    const Any A = in_format(crs, name, 2);
    if (shares_crs(A)) continue;
    Filigree::RefillOptions unchecked;
    unchecked.check_pattern = false;
    EXPECT_TRUE(holds(message<std::invalid_argument>(
                          [&]() { Filigree::refill(ExecutionSpace(), A, device_crs(more), unchecked); }),
                      {"Filigree::refill", "entries"}))
        << name;
    EXPECT_TRUE((multiplies<Layout>(A, host, Product<double>{}))) << name;
  }
}

TEST(AnyMatrix, MultipliesWithoutFenceOrAllocation) {
  const auto host = random_rows(300, 300, 30);
  const auto x = device_view<View1<double, Layout>>(HostVectors<double>(300, 1, 1.0));
  const View1<double, Layout> y("y", 300);
  for (const std::string& name : all_names(device_crs(host))) {
    if (name == "crs" || name == "bsr") continue;  // the products of Kokkos Kernels may fence and allocate
    const Any A = in_format(device_crs(host), name);
    Filigree::spmv("N", 1.0, A, x, 0.0, y);
    Kokkos::fence();
    const KokkosRecorder recorder;
    Filigree::spmv("N", 1.0, A, x, 0.0, y);
    EXPECT_TRUE(recorder.events().fences.empty()) << name;
    EXPECT_EQ(recorder.events().allocated_bytes, 0u) << name;
    EXPECT_GE(recorder.events().kernels.size(), 1u) << name;
  }
}

TEST(Optimize, FencesItsInstanceAlone) {
  const ExecutionSpace exec = another_instance();
  const auto crs = device_crs(scattered<double>(300, 300, 4));
  Filigree::optimize(exec, crs, on_h200());
  const KokkosRecorder recorder;
  Filigree::optimize(exec, crs, on_h200());
  EXPECT_EQ(recorder.events().global_fences, std::vector<std::string>());
}

TEST(AnyMatrix, TakesWideTypes) {
  using WideCrs = KokkosSparse::CrsMatrix<Kokkos::complex<float>, std::int64_t, Device, void, std::int64_t>;
  HostMatrix<Kokkos::complex<float>> host(60, 60);
  Random random(6);
  for (std::int64_t row = 0; row < 60; ++row)
    for (const std::int64_t column : {row, (row + 1) % 60, (row + 7) % 60})
      host.rows[static_cast<std::size_t>(row)].push_back({column, random.value<Kokkos::complex<float>>()});
  OptimizeOptions options = on_h200();
  options.products = std::numeric_limits<double>::infinity();
  const auto A = Filigree::optimize(device_crs<WideCrs>(host), options);
  EXPECT_TRUE((multiplies<Layout>(A, host, Product<Kokkos::complex<float>>{Mode::ConjugateTranspose})))
      << A.explain();
}

TEST(Optimize, TakesMatricesWithoutRowsColumnsOrEntries) {
  for (const auto& host : {HostMatrix<double>(0, 0), HostMatrix<double>(0, 5), HostMatrix<double>(7, 5)}) {
    const auto A = Filigree::optimize(device_crs(host), on_h200());
    EXPECT_TRUE((multiplies<Layout>(A, host, Product<double>{Mode::NoTranspose, 1.0, 2.0, 0})));
  }
  const Any none;
  EXPECT_EQ(none.numRows(), 0);
  EXPECT_EQ(none.nnz(), 0);
}

TEST(Optimize, RefusesOptionsThatAreOutOfRange) {
  const auto crs = grid(4, 1);
  const auto refusal = [&](const OptimizeOptions& options) {
    return message<std::invalid_argument>([&]() { Filigree::optimize(crs, options); });
  };
  OptimizeOptions options = on_h200();
  options.products = -1;
  EXPECT_TRUE(holds(refusal(options), {"Filigree::optimize", "products is -1", "at least 0"}));
  options = on_h200();
  options.block_size = 17;
  EXPECT_TRUE(holds(refusal(options), {"block_size is 17", "1 to 16"}));
  options = on_h200();
  options.most_bytes = -5;
  EXPECT_TRUE(holds(refusal(options), {"most_bytes is -5", "at least 0"}));
  options = on_h200();
  options.speed.read_bandwidth = -1;
  EXPECT_TRUE(holds(refusal(options), {"speed.read_bandwidth is -1", "at least 0"}));
  for (const double ratio : {-1.0, std::numeric_limits<double>::quiet_NaN()}) {
    options = on_h200();
    options.max_storage_ratio = ratio;
    EXPECT_TRUE(holds(refusal(options), {"Filigree::optimize", ratio < 0 ? "max_storage_ratio is -1"
                                                                         : "max_storage_ratio is "
                                                                           "nan"}));
  }
  const auto wrong = crs_of_lists<Crs<double>>(2, 2, {0, 1, 2}, {0, 7}, std::vector<double>{1, 1});
  EXPECT_TRUE(holds(message<std::invalid_argument>([&]() { Filigree::optimize(wrong, on_h200()); }),
                    {"Filigree::optimize", "row 1", "column 7"}));
}

TEST(DeviceSpeed, IsNotMeasured) {
  Kokkos::fence();
  const KokkosRecorder recorder;
  const auto speed = Filigree::device_speed(ExecutionSpace());
  EXPECT_EQ(Filigree::device_speed(ExecutionSpace()).read_bandwidth, speed.read_bandwidth);
  EXPECT_TRUE(recorder.events().kernels.empty());
  EXPECT_TRUE(recorder.events().fences.empty());
  EXPECT_TRUE(recorder.events().allocations.empty());
  EXPECT_TRUE(speed.has_model);
  EXPECT_GT(speed.read_bandwidth, 1e9);
  EXPECT_EQ(speed.gpu.multiprocessors > 0, Filigree::Impl::runs_on_gpu_v<ExecutionSpace>);
  EXPECT_EQ(speed.vendor == Filigree::ProcessorVendor::unknown,
            Filigree::Impl::runs_on_gpu_v<ExecutionSpace>);
}

/// The predicted seconds of sorted SELL, relative to those of CRS.
double predicted_time_of_sorted_sell(const Filigree::DeviceSpeed& speed) {
  Filigree::OptimizeOptions options;
  options.speed = speed;
  const Selection selection = Filigree::predict_formats(device_crs(random_rows(300, 300, 9)), options);
  double sorted = 0, crs = 0;
  for (const auto& one : selection.formats) {
    if (one.name == "sell_sorted") sorted = one.prediction.seconds;
    if (one.name == "crs") crs = one.prediction.seconds;
  }
  return sorted / crs;
}

TEST(DeviceSpeed, HasTheVendorOfTheProcessorUnlessGiven) {
  if (Filigree::Impl::runs_on_gpu_v<ExecutionSpace>) GTEST_SKIP() << "The vendor matters on a host only.";
  Filigree::DeviceSpeed speed;
  const double own = predicted_time_of_sorted_sell(speed);
  speed.read_bandwidth = 1e10;
  EXPECT_DOUBLE_EQ(predicted_time_of_sorted_sell(speed), own);
  speed.vendor = Filigree::ProcessorVendor::intel;
  const double intel = predicted_time_of_sorted_sell(speed);
  speed.vendor = Filigree::ProcessorVendor::other;
  const double other = predicted_time_of_sorted_sell(speed);
  EXPECT_GT(other, 1.1 * intel);
  EXPECT_DOUBLE_EQ(own,
                   Filigree::Impl::processor_vendor() == Filigree::ProcessorVendor::intel ? intel : other);
}

TEST(DeviceSpeed, IsMeasuredOnRequest) {
  const double measured = Filigree::measure_read_bandwidth(ExecutionSpace());
  EXPECT_GT(measured, 1e8);
  // On a GPU the properties must tell about the same.
  if (Filigree::Impl::runs_on_gpu_v<ExecutionSpace>) {
    EXPECT_NEAR(Filigree::device_speed(ExecutionSpace()).read_bandwidth, measured, 0.15 * measured);
  }
}

TEST(Optimize, MeasuresNothingUnlessAsked) {
  const auto crs = device_crs(random_rows(300, 300, 9));
  const KokkosRecorder recorder;
  const Selection first = Filigree::predict_formats(crs);
  const Selection second = Filigree::predict_formats(crs);
  for (const auto& kernel : recorder.events().kernels) {
    EXPECT_EQ(kernel.find("read_bandwidth"), std::string::npos);
    EXPECT_EQ(kernel.find("spmv"), std::string::npos);
  }
  EXPECT_EQ(first.explain(), second.explain());
}

}  // namespace

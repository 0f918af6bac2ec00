// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>

#include <limits>
#include <set>
#include <string>

#include "../support/errors.hpp"
#include "../support/host_matrix.hpp"
#include "../support/product.hpp"
#include "filigree/grid/stencil_problem.hpp"
#include "filigree/tune/optimize.hpp"

namespace {

using namespace FiligreeTest;
using Filigree::OptimizeOptions;
using Filigree::Selection;
using Layout = Kokkos::LayoutLeft;

/// Of an H200, so that every machine picks the same.
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

/// All formats fit.
OptimizeOptions anything() {
  OptimizeOptions options = on_h200();
  options.max_storage_ratio = std::numeric_limits<double>::max();
  return options;
}

std::size_t storage_of(const Crs<double>& crs, const std::string& name, int block_size) {
  const Filigree::AnyMatrix<double, int, Device, void, int> any(
      {}, Filigree::Impl::convert_by_name(ExecutionSpace(), crs, name, block_size,
                                          std::numeric_limits<double>::max()));
  return any.storage_bytes();
}

TEST(Optimize, PredictsWhatFormatsStore) {
  for (const auto& crs : {grid(24, 3), device_crs(random_rows(40000, 40000, 12))}) {
    const Selection found = Filigree::predict_formats(ExecutionSpace(), crs, anything());
    int compared = 0;
    for (const auto& one : found.formats)
      try {
        const double stored = static_cast<double>(storage_of(crs, one.name, one.block_size));
        EXPECT_NEAR(one.prediction.storage_bytes, stored, 0.05 * stored) << one.name << " of " << crs.nnz();
        ++compared;
      } catch (const std::length_error&) {
        // Diagonals of the random matrix are more than int can count.
        EXPECT_TRUE(one.name == "dia" || one.name == "cds") << one.name;
      }
    EXPECT_GE(compared, 30);
  }
}

TEST(Optimize, PredictsEveryMemberOfEveryFamily) {
  const Selection found = Filigree::predict_formats(ExecutionSpace(), grid(4, 1), on_h200());
  std::set<std::string> names;
  for (const auto& one : found.formats)
    names.insert(one.name);
  EXPECT_EQ(names.size(), found.formats.size());
  Filigree::for_each_format(Filigree::SelectableFormats(), [&](auto format) {
    using Tag = decltype(format);
    for (const auto& variant :
         Filigree::named_variants<Filigree::converted_t<Tag::template matrix, Crs<double>>>())
      EXPECT_EQ(names.count(variant.name), 1u) << variant.name;
  });
}

TEST(Optimize, MultipliesInEveryModeAndRank) {
  for (const auto& host : {host_matrix(grid(6, 2)), random_rows(300, 200, 40)}) {
    const auto A = Filigree::optimize(device_crs(host), on_h200());
    EXPECT_EQ(A.numRows(), host.row_count());
    EXPECT_EQ(A.numCols(), host.columns);
    EXPECT_EQ(A.nnz(), host.entry_count());
    for (const Mode mode : all_modes)
      for (const int columns : {0, 3})
        EXPECT_TRUE((multiplies<Layout>(A, host, Product<double>{mode, 2.5, -0.5, columns})))
            << A.selection().picked;
  }
}

TEST(Optimize, TakesDiagonalsOfBlocksForAGridThatItWasNotTold) {
  const auto A = Filigree::optimize(grid(40, 3), on_h200());
  EXPECT_EQ(A.selection().picked, "cds");
  EXPECT_EQ(A.selection().pick().block_size, 3);
  OptimizeOptions one_unknown = on_h200();
  one_unknown.block_size = 1;
  EXPECT_EQ(Filigree::optimize(grid(40, 3), one_unknown).selection().pick().block_size, 1);
}

TEST(Optimize, StaysWithTheCrsMatrixForFewProducts) {
  const auto crs = grid(30, 3);
  OptimizeOptions few = on_h200();
  few.products = 1;
  const auto A = Filigree::optimize(crs, few);
  EXPECT_EQ(A.selection().picked.rfind("crs", 0), 0u) << A.explain();
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
    EXPECT_TRUE(holds(one.refusal, {"times the CRS matrix, 1.50 are allowed"}));
  }
  const auto A = Filigree::optimize(crs, on_h200());
  EXPECT_LE(static_cast<double>(A.storage_bytes()), 1.5 * Filigree::Impl::crs_bytes(crs));
  OptimizeOptions nothing = on_h200();
  nothing.most_bytes = 0;
  EXPECT_EQ(Filigree::optimize(crs, nothing).selection().picked.rfind("crs", 0), 0u);
}

TEST(Optimize, TimesTheBestThreeWhereAsked) {
  OptimizeOptions options = on_h200();
  options.time_best = true;
  const auto host = random_rows(3000, 3000, 9);
  const auto A = Filigree::optimize(device_crs(host), options);
  int timed = 0;
  double least = std::numeric_limits<double>::max();
  for (const auto& one : A.selection().formats)
    if (one.measured_seconds > 0) {
      ++timed;
      least = std::min(least, one.measured_seconds);
    }
  EXPECT_EQ(timed, 3);
  EXPECT_EQ(A.selection().pick().measured_seconds, least);
  EXPECT_TRUE(holds(A.explain(), {"measured ms", "the least of those that were timed"}));
  EXPECT_TRUE((multiplies<Layout>(A, host, Product<double>{})));
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
  EXPECT_TRUE(holds(A.explain(), {"format", "stores MB", "predicted ms", "crs_balanced", "sell_sorted_short",
                                  "jds", "Picked " + A.selection().picked, "1000 products"}));
}

TEST(Optimize, TakesMatricesWithoutRowsColumnsOrEntries) {
  for (const auto& host : {HostMatrix<double>(0, 0), HostMatrix<double>(0, 5), HostMatrix<double>(7, 5)}) {
    const auto A = Filigree::optimize(device_crs(host), on_h200());
    EXPECT_TRUE((multiplies<Layout>(A, host, Product<double>{Mode::NoTranspose, 1.0, 2.0, 0})));
  }
  const Filigree::AnyMatrix<double, int, Device> none;
  EXPECT_EQ(none.numRows(), 0);
  EXPECT_EQ(none.nnz(), 0u);
}

TEST(Optimize, RefusesWhatMakesNoSense) {
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
  EXPECT_TRUE(holds(refusal(options), {"most_bytes is -5"}));
  const auto wrong = crs_of_lists<Crs<double>>(2, 2, {0, 1, 2}, {0, 7}, std::vector<double>{1, 1});
  EXPECT_TRUE(holds(message<std::invalid_argument>([&]() { Filigree::optimize(wrong, on_h200()); }),
                    {"Filigree::optimize", "row 1", "column 7"}));
}

TEST(DeviceSpeed, IsMeasuredOnce) {
  const auto& speed = Filigree::device_speed(ExecutionSpace());
  EXPECT_GT(speed.read_bandwidth, 1e8);
  EXPECT_EQ(&speed, &Filigree::device_speed(ExecutionSpace()));
  EXPECT_EQ(speed.gpu.multiprocessors > 0, Filigree::Impl::runs_on_gpu_v<ExecutionSpace>);
}

}  // namespace

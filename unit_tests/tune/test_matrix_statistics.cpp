// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "../support/errors.hpp"
#include "../support/host_matrix.hpp"
#include "filigree/grid/stencil_problem.hpp"
#include "filigree/tune/matrix_statistics.hpp"

namespace {

using namespace FiligreeTest;
using Filigree::MatrixStatistics;

constexpr double cache = 1e6;
constexpr bool runs_on_host = !Filigree::Impl::runs_on_gpu_v<ExecutionSpace>;

template <class Matrix>
MatrixStatistics statistics(const Matrix& crs, double cache_bytes = cache, int block_size = 0) {
  return Filigree::matrix_statistics(ExecutionSpace(), crs, cache_bytes, block_size);
}

/// Rows of the given lengths, entry k of a row in column k.
Crs<double> with_lengths(const std::vector<std::int64_t>& lengths) {
  std::int64_t longest = 1;
  for (const std::int64_t length : lengths)
    longest = std::max(longest, length);
  HostMatrix<double> host(static_cast<std::int64_t>(lengths.size()), longest);
  for (std::size_t row = 0; row < lengths.size(); ++row)
    for (std::int64_t k = 0; k < lengths[row]; ++k)
      host.rows[row].push_back({k, 1.0});
  return device_crs(host);
}

TEST(MatrixStatistics, CountsRowLengths) {
  const MatrixStatistics s = statistics(with_lengths({0, 1, 1, 2, 4, 4, 4, 0}));
  EXPECT_EQ(s.rows, 8);
  EXPECT_EQ(s.columns, 4);
  EXPECT_EQ(s.nnz, 16);
  EXPECT_EQ(s.longest_row, 4);
  EXPECT_EQ(s.empty_rows, 2);
  EXPECT_DOUBLE_EQ(s.mean_row(), 2);
  // Squares: 0 1 1 4 16 16 16 0 are 54, over 8 rows 6.75, less 4.
  EXPECT_DOUBLE_EQ(s.row_deviation, std::sqrt(2.75));
  EXPECT_EQ(s.rows_reaching, (std::vector<std::int64_t>{8, 6, 4, 3, 3, 0}));
  EXPECT_EQ(s.row_quartiles, (std::array<std::int64_t, 3>{0, 1, 4}));
}

/// Rows are predicted if their lengths are equal or repeat, and if there are few rows. Only a host has the figure.
TEST(MatrixStatistics, EstimatesHowManyRowsAreUnpredicted) {
  Random random(24);
  std::vector<std::int64_t> random_lengths(80000);
  for (std::int64_t& length : random_lengths)
    length = random.below(10);
  const auto unpredicted = [](const std::vector<std::int64_t>& lengths) {
    return statistics(with_lengths(lengths)).unpredicted_rows;
  };
  const auto repeated = [&](std::size_t period, std::size_t rows) {
    std::vector<std::int64_t> result;
    for (std::size_t row = 0; row < rows; ++row)
      result.push_back(random_lengths[row % period]);
    return result;
  };
  const auto random_between = [&](std::size_t begin, std::size_t end) {
    std::vector<std::int64_t> result(random_lengths.size(), 3);
    std::copy(random_lengths.begin() + static_cast<std::ptrdiff_t>(begin),
              random_lengths.begin() + static_cast<std::ptrdiff_t>(end),
              result.begin() + static_cast<std::ptrdiff_t>(begin));
    return result;
  };
  if (!runs_on_host) {
    EXPECT_EQ(unpredicted(random_lengths), 0);
    return;
  }
  // Nine of ten lengths differ from the length before, and the same 16 lengths seldom occur twice.
  EXPECT_NEAR(unpredicted(random_lengths), 0.9, 0.02);
  EXPECT_EQ(unpredicted(std::vector<std::int64_t>(80000, 3)), 0);
  EXPECT_EQ(unpredicted(repeated(10, 20000)), 0);
  EXPECT_LT(unpredicted(repeated(1000, 20000)), 0.02);
  EXPECT_LT(unpredicted(repeated(8000, 80000)), 0.1);
  EXPECT_GT(unpredicted(repeated(16384, 80000)), 0.8);
  // It is assumed that a processor learns 8192 rows.
  EXPECT_EQ(unpredicted({5}), 0);
  EXPECT_EQ(unpredicted(repeated(8192, 8192)), 0);
  EXPECT_GT(unpredicted(repeated(12000, 12000)), 0.2);
  // One of four samples lies at the beginning, and one at the end.
  EXPECT_NEAR(unpredicted(random_between(0, 20000)), 0.225, 0.02);
  EXPECT_NEAR(unpredicted(random_between(60000, 80000)), 0.225, 0.02);
  EXPECT_NEAR(unpredicted(random_between(0, 40000)), 0.45, 0.02);
}

TEST(MatrixStatistics, CountsRowsBeyondTheLastCountedLengthWithIt) {
  const MatrixStatistics s = statistics(with_lengths({1500, 1030, 3, 3}));
  EXPECT_EQ(s.longest_row, 1500);
  ASSERT_EQ(s.rows_reaching.size(), 1026u);
  EXPECT_EQ(s.rows_reaching[3], 4);
  EXPECT_EQ(s.rows_reaching[4], 2);
  EXPECT_EQ(s.rows_reaching[1024], 2);
  EXPECT_EQ(s.rows_reaching[1025], 0);
  EXPECT_EQ(s.row_quartiles[2], 1024);
}

TEST(MatrixStatistics, RefusesArgumentsThatAreOutOfRange) {
  for (const auto& crs : {with_lengths({1, 2}), with_lengths({})}) {
    for (const int b : {-1, 17, 1 << 30}) {
      EXPECT_TRUE(holds(message<std::invalid_argument>([&]() { statistics(crs, cache, b); }),
                        {"Filigree::matrix_statistics", "block_size is " + std::to_string(b), "1 to 16"}));
    }
    for (const double bytes : {-1.0, std::numeric_limits<double>::quiet_NaN()}) {
      EXPECT_TRUE(
          holds(message<std::invalid_argument>([&]() { statistics(crs, bytes); }), {"cache_bytes is"}));
    }
    const MatrixStatistics s = statistics(crs, cache, 16);
    EXPECT_GE(s.best_block_size(16), 1);
    for (const int most : {-1, 0, 17, 1 << 30}) {
      EXPECT_TRUE(holds(message<std::invalid_argument>([&]() { s.best_block_size(most); }),
                        {"best_block_size", "most is " + std::to_string(most), "1 to 16"}));
    }
  }
}

TEST(MatrixStatistics, CountsTheStepsOfTheLongestRowOfEachGroup) {
  // 37 rows of 3 entries, but row 2 of 9 and row 33 of 6.
  std::vector<std::int64_t> lengths(37, 3);
  lengths[2] = 9;
  lengths[33] = 6;
  const MatrixStatistics s = statistics(with_lengths(lengths));
  // Ten groups of 4 rows, two of which have a long row.
  EXPECT_EQ(s.group_steps[0][0], 8 * 3 + 9 + 6);
  // Two lanes per row, 19 groups of two rows: 17 take two steps, the others 5 and 3.
  EXPECT_EQ(s.group_steps[0][1], 17 * 2 + 5 + 3);
  // Groups of 32 rows with one lane, of 16 rows with two lanes, and of one row with 32 lanes.
  EXPECT_EQ(s.group_steps[3][0], 9 + 6);
  EXPECT_EQ(s.group_steps[3][1], 5 + 2 + 3);
  EXPECT_EQ(s.group_steps[3][5], 37);
  // Eight lanes per row do not fit in a group of four lanes.
  EXPECT_EQ(s.group_steps[0][3], 0);
}

TEST(MatrixStatistics, ManyTeamsCountLikeASequentialLoop) {
  // Some rows have the length of their neighbours, others have another length.
  std::vector<std::int64_t> lengths(9001);
  for (std::size_t row = 0; row < lengths.size(); ++row)
    lengths[row] = static_cast<std::int64_t>(row / (row % 64 + 1) * 7919 % 13 + (row % 1000 == 77 ? 40 : 0));
  const MatrixStatistics s = statistics(with_lengths(lengths));
  const std::int64_t longest = *std::max_element(lengths.begin(), lengths.end());
  std::vector<std::int64_t> reaching(static_cast<std::size_t>(longest) + 2);
  double squares = 0;
  for (const std::int64_t length : lengths) {
    for (std::int64_t k = 0; k <= length; ++k)
      ++reaching[static_cast<std::size_t>(k)];
    squares += static_cast<double>(length * length);
  }
  EXPECT_EQ(s.longest_row, longest);
  EXPECT_EQ(s.rows_reaching, reaching);
  EXPECT_DOUBLE_EQ(s.row_deviation, std::sqrt(squares / 9001 - s.mean_row() * s.mean_row()));
  EXPECT_EQ(s.empty_rows, std::count(lengths.begin(), lengths.end(), 0));
  for (std::size_t w = 0; w < 4; ++w)
    for (std::size_t t = 0; t < w + 3; ++t) {
      const std::size_t group = (std::size_t(4) << w) >> t;
      std::int64_t steps = 0;
      for (std::size_t first = 0; first < lengths.size(); first += group) {
        const auto begin = lengths.begin() + static_cast<std::ptrdiff_t>(first);
        const auto end =
            lengths.begin() + static_cast<std::ptrdiff_t>(std::min(first + group, lengths.size()));
        steps += (*std::max_element(begin, end) + (1 << t) - 1) >> t;
      }
      EXPECT_EQ(s.group_steps[w][t], steps) << w << ' ' << t;
    }
}

TEST(MatrixStatistics, CountsRowsThatSortingMovesFromTheirNeighbours) {
  // A sector of y has four rows. The first row of each sector always counts as moved.
  EXPECT_DOUBLE_EQ(statistics(with_lengths(std::vector<std::int64_t>(64, 3))).moved_rows, 0.25);
  std::vector<std::int64_t> lengths(64);
  for (std::size_t row = 0; row < lengths.size(); ++row)
    lengths[row] = static_cast<std::int64_t>(row % 2 + 1);
  EXPECT_DOUBLE_EQ(statistics(with_lengths(lengths)).moved_rows, 0.5);
  for (std::size_t row = 0; row < lengths.size(); ++row)
    lengths[row] = static_cast<std::int64_t>(row % 5);
  EXPECT_DOUBLE_EQ(statistics(with_lengths(lengths)).moved_rows, 1);
}

TEST(MatrixStatistics, EstimatesThePaddingOfSortedSlices) {
  // Every 32nd row is long. Unsorted, each slice is padded; sorted, one slice of 32 has the long rows.
  std::vector<std::int64_t> lengths(1024, 2);
  for (std::size_t row = 0; row < lengths.size(); row += 32)
    lengths[row] = 10;
  const MatrixStatistics s = statistics(with_lengths(lengths));
  EXPECT_EQ(s.group_steps[3][0], 32 * 10);
  EXPECT_DOUBLE_EQ(s.sell_padding(), 32 * 320 / 2304.0);
  EXPECT_DOUBLE_EQ(s.ell_padding(), 10 / 2.25);
  // One of two slices begins with a long row in windows of 64 rows, one of 16 in windows of 512 rows.
  EXPECT_DOUBLE_EQ(s.sorted_padding[0][0], (10 + 2) / 4.5);
  EXPECT_DOUBLE_EQ(s.sorted_padding[1][0], (10 + 3 * 2) / 9.0);
  EXPECT_DOUBLE_EQ(s.sorted_padding[3][0], (10 + 15 * 2) / 36.0);
  EXPECT_DOUBLE_EQ(s.sorted_padding[4][0], 1.0);
  EXPECT_DOUBLE_EQ(s.sorted_padding[6][0], 1.0);
  // Eight lanes per row round a width of 2 up to 8, and 10 up to 16.
  EXPECT_DOUBLE_EQ(s.sorted_padding[6][3], (31 * 32 * 8 + 32 * 16.0) / (31 * 32 * 2 + 32 * 10));
}

TEST(MatrixStatistics, CountsSlicesWithShortColumns) {
  // Two slices; the second has one column that is too far away.
  HostMatrix<double> host(64, 200000);
  for (std::int64_t row = 0; row < 64; ++row)
    host.rows[static_cast<std::size_t>(row)] = {{70000 + row, 1.0}, {100000 + row, 1.0}};
  host.rows[40].push_back({5, 1.0});
  const MatrixStatistics s = statistics(device_crs(host));
  EXPECT_DOUBLE_EQ(s.short_slices, 0.5);
  // In sorted order the long row comes first.
  EXPECT_DOUBLE_EQ(s.sorted_short_slices, 0.5);
}

TEST(MatrixStatistics, CountsTheSectorsOfXPerEntry) {
  // 64 dense rows of 64 columns: 4096 entries in 16 sectors of four columns.
  const MatrixStatistics dense = statistics(with_lengths(std::vector<std::int64_t>(64, 64)));
  EXPECT_NEAR(dense.sectors_per_entry, 16 / 4096.0, 1e-6);
  EXPECT_EQ(dense.far_sectors_per_entry, 0);
  // Each entry lies in another sector, and x is larger than the cache.
  HostMatrix<double> host(5000, 200000);
  for (std::int64_t row = 0; row < 5000; ++row)
    host.rows[static_cast<std::size_t>(row)] = {{40 * row, 1.0}, {40 * row + 4, 1.0}};
  const MatrixStatistics apart = statistics(device_crs(host));
  EXPECT_DOUBLE_EQ(apart.sectors_per_entry, 1);
  EXPECT_DOUBLE_EQ(apart.far_sectors_per_entry, 1);
}

TEST(MatrixStatistics, CountsFarSectorsAmongAMillionEntries) {
  // All entries lie in one sector of x. A sample counts all 2^20 entries of its set, or the rest at the end.
  constexpr std::int64_t million = 1 << 20;
  constexpr std::int64_t rest = 40016;
  const auto crs = with_lengths(std::vector<std::int64_t>((million + rest) / 4, 4));
  const std::int64_t samples = runs_on_host ? 8 : 32;
  double mean = 0;
  for (std::int64_t i = 0; i < samples; ++i)
    mean += 1.0 /
            static_cast<double>(Filigree::Impl::sample_index(i, samples, million + rest) < million ? million
                                                                                                   : rest) /
            static_cast<double>(samples);
  EXPECT_NEAR(statistics(crs, 1).far_sectors_per_entry, mean, 1e-9 * mean);
}

TEST(MatrixStatistics, FindsBlocksAndTheirDiagonals) {
  const auto crs =
      Filigree::StencilProblem<>({12, 12, 12}, Filigree::Stencil::seven_point(), 6).crs<Crs<double>>();
  const MatrixStatistics s = statistics(crs);
  EXPECT_EQ(s.best_block_size(), 6);
  for (const std::size_t b : {1, 2, 3, 6})
    EXPECT_NEAR(s.block_fill[b], 1, 1e-5) << b;
  EXPECT_LT(s.block_fill[5], 0.9);
  EXPECT_EQ(s.diagonals[6], 7);
  EXPECT_TRUE(s.diagonals_are_counted[6]);
  // Diagonals of 3 x 3 blocks: -3 to 3, and three around each of the four outer diagonals.
  EXPECT_EQ(statistics(crs, cache, 3).diagonals[3], 7 + 4 * 3);
}

TEST(MatrixStatistics, FindsBlocksInUnsortedRows) {
  auto host = host_matrix(
      Filigree::StencilProblem<>({9, 9, 1}, Filigree::Stencil::five_point(), 4).crs<Crs<double>>());
  for (auto& row : host.rows)
    std::reverse(row.begin(), row.end());
  const MatrixStatistics s = statistics(device_crs(host));
  EXPECT_EQ(s.best_block_size(), 4);
  EXPECT_EQ(s.diagonals[4], 5);
}

TEST(MatrixStatistics, DoesNotCountTooManyDiagonals) {
  Random random(3);
  HostMatrix<double> host(3000, 3000);
  for (auto& row : host.rows)
    for (int k = 0; k < 4; ++k)
      row.push_back({random.below(3000), 1.0});
  const MatrixStatistics s = statistics(device_crs(host));
  EXPECT_EQ(s.best_block_size(), 1);
  EXPECT_FALSE(s.diagonals_are_counted[1]);
  EXPECT_GT(s.diagonals[1], 1000);
}

/// A matrix of `rows` rows with a full band of 2 * reach + 1 diagonals.
Crs<double> band(std::int64_t rows, std::int64_t reach) {
  HostMatrix<double> host(rows, rows);
  for (std::int64_t row = 0; row < rows; ++row)
    for (std::int64_t column = std::max<std::int64_t>(0, row - reach);
         column <= std::min(rows - 1, row + reach); ++column)
      host.rows[static_cast<std::size_t>(row)].push_back({column, 1.0});
  return device_crs(host);
}

/// Samples of many diagonals miss some of them, so that the number on which samples lie is too small.
TEST(MatrixStatistics, EstimatesDiagonalsFromSamples) {
  const auto estimate = [](const Crs<double>& crs) {
    const MatrixStatistics s = Filigree::matrix_statistics(ExecutionSpace(), crs, cache, 1, false);
    EXPECT_FALSE(s.diagonals_are_counted[1]);
    return s.diagonals[1];
  };
  EXPECT_EQ(estimate(band(3000, 0)), 1);
  EXPECT_EQ(estimate(band(3000, 3)), 7);
  // All entries of this matrix are samples.
  EXPECT_EQ(estimate(band(20, 5)), 11);
  EXPECT_NEAR(static_cast<double>(estimate(band(3000, 150))), 301, 60);
  const auto of_dense = estimate(band(600, 599));
  EXPECT_GE(of_dense, 700);
  EXPECT_LE(of_dense, 1199);
}

TEST(MatrixStatistics, TakesMatricesWithoutRowsColumnsOrEntries) {
  for (const auto& host : {HostMatrix<double>(0, 0), HostMatrix<double>(0, 5), HostMatrix<double>(7, 5)}) {
    const MatrixStatistics s = statistics(device_crs(host));
    EXPECT_EQ(s.rows, host.row_count());
    EXPECT_EQ(s.empty_rows, host.row_count());
    EXPECT_EQ(s.nnz, 0);
    EXPECT_EQ(s.longest_row, 0);
  }
}

TEST(MatrixStatistics, IsTheSameOnEveryRun) {
  const auto crs = with_lengths({3, 90, 2, 40, 1, 0, 77});
  const MatrixStatistics first = statistics(crs);
  const MatrixStatistics second = statistics(crs);
  EXPECT_EQ(first.sectors_per_entry, second.sectors_per_entry);
  EXPECT_EQ(first.block_fill, second.block_fill);
  EXPECT_EQ(first.sorted_padding, second.sorted_padding);
}

}  // namespace

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "filigree/tune/matrix_statistics.hpp"

#include <algorithm>
#include <cmath>

namespace Filigree {

int MatrixStatistics::best_block_size(int most, std::int64_t multiple) const {
  if (most < 1 || most > largest_block)
    Impl::fail<std::invalid_argument>("Filigree::MatrixStatistics::best_block_size: most is ", most,
                                      "; it must be 1 to ", largest_block, ".");
  const auto fill = [&](int b) { return multiple % b == 0 ? block_fill[static_cast<std::size_t>(b)] : 0; };
  double fullest = 0.7;
  for (int b = 2; b <= most; ++b)
    fullest = std::max(fullest, 0.98 * fill(b));
  for (int b = most; b > 1; --b)
    if (fill(b) >= fullest) return b;
  return 1;
}

namespace Impl {

void check_statistics_arguments(double cache_bytes, int block_size) {
  const char* function = "Filigree::matrix_statistics";
  if (!(cache_bytes >= 0))
    fail<std::invalid_argument>(function, ": cache_bytes is ", cache_bytes,
                                "; it must be the size of a cache, at least 0.");
  if (block_size < 0 || block_size > MatrixStatistics::largest_block)
    fail<std::invalid_argument>(function, ": block_size is ", block_size, "; it must be 1 to ",
                                MatrixStatistics::largest_block, ", or 0 to derive it from the matrix.");
}

namespace {

/// The number of diagonals of a matrix of which `samples` of `nnz` entries lie on `found` diagonals, if all diagonals
/// have equally many entries. Of k diagonals each has nnz / k entries, and is missed if none of them is a sample.
double estimated_diagonals(double found, double samples, double nnz) {
  if (samples >= nnz) return found;
  const auto expected = [&](double k) { return -k * std::expm1(nnz / k * std::log1p(-samples / nnz)); };
  double low = found;
  double high = nnz;
  for (int i = 0; i < 60; ++i) {
    const double middle = 0.5 * (low + high);
    (expected(middle) < found ? low : high) = middle;
  }
  return low;
}

}  // namespace

std::int64_t sampled_diagonals(const std::int64_t* coordinates, std::int64_t samples, std::int64_t b,
                               const MatrixStatistics& matrix) {
  // Diagonals are told apart by a 16-bit hash of their offsets. Sorting the offsets would take longer than a
  // product (see docs/performance.md, "Statistics of a matrix").
  std::vector<bool> found(std::size_t(1) << 16);
  std::int64_t count = 0;
  for (std::int64_t i = 0; i < samples; ++i) {
    const auto offset = static_cast<std::uint64_t>(coordinates[2 * i + 1] / b - coordinates[2 * i] / b);
    const auto hash = static_cast<std::size_t>(offset * 0x9e3779b97f4a7c15u >> 48);
    if (found[hash]) continue;
    found[hash] = true;
    ++count;
  }
  if (count == 0) return 0;
  const double estimate = estimated_diagonals(static_cast<double>(count), static_cast<double>(samples),
                                              static_cast<double>(matrix.nnz));
  const std::int64_t most = (matrix.rows + b - 1) / b + (matrix.columns + b - 1) / b - 1;
  return std::min(most, static_cast<std::int64_t>(std::llround(estimate)));
}

void read_statistics(const std::int64_t* counts, std::int64_t sector_samples, std::int64_t block_samples,
                     std::int64_t far_samples, MatrixStatistics& result) {
  using Layout = StatisticsLayout;
  const auto ratio = [](std::int64_t a, std::int64_t b) {
    return static_cast<double>(a) / static_cast<double>(b);
  };
  const std::int64_t* lengths = counts + Layout::length_sums;
  const double mean = result.mean_row();
  result.row_deviation = std::sqrt(std::max(0.0, ratio(lengths[0], result.rows) - mean * mean));
  result.empty_rows = lengths[1];
  for (std::size_t w = 0; w < 4; ++w)
    for (std::size_t t = 0; t < 6; ++t)
      result.group_steps[w][t] = lengths[2 + 6 * w + t];
  result.longest_row = counts[Layout::longest];

  const std::int64_t counted = std::min(result.longest_row, MatrixStatistics::most_counted_length);
  std::vector<std::int64_t>& reaching = result.rows_reaching;
  reaching.assign(static_cast<std::size_t>(counted) + 2, 0);
  for (std::int64_t length = Layout::bins - 1; length >= 0; --length)
    reaching[static_cast<std::size_t>(std::min(length, counted))] += counts[Layout::histogram + length];
  for (std::size_t k = reaching.size() - 1; k > 0; --k)
    reaching[k - 1] += reaching[k];
  for (std::size_t q = 0; q < 3; ++q)
    while (4 * (result.rows - reaching[static_cast<std::size_t>(result.row_quartiles[q]) + 1]) <
           static_cast<std::int64_t>(q + 1) * result.rows)
      ++result.row_quartiles[q];

  auto& sorted = result.sorted_padding;
  for (std::size_t w = sorted.size(); w-- > 0;) {
    const std::int64_t* padding =
        counts + Layout::padding_sums + static_cast<std::int64_t>(w) * Layout::padding_sum_count;
    // A window size without samples gets the padding of the next larger size.
    for (std::size_t t = 0; t < 6; ++t)
      if (padding[6] > 0)
        sorted[w][t] = ratio(padding[t], padding[6]);
      else
        sorted[w][t] = w + 1 < sorted.size() ? sorted[w + 1][t] : 1;
  }
  const std::int64_t* windows = counts + Layout::window_sums;
  result.short_slices = ratio(windows[1], windows[0]);
  result.sorted_short_slices = ratio(windows[2], windows[0]);
  result.moved_rows = ratio(windows[4], windows[3]);

  const std::int64_t* sums = counts + Layout::sample_sums;
  result.sectors_per_entry =
      static_cast<double>(sums[0]) / (Layout::one * static_cast<double>(sector_samples));
  for (int b = 1; b <= MatrixStatistics::largest_block; ++b)
    result.block_fill[static_cast<std::size_t>(b)] = Layout::one * static_cast<double>(block_samples) /
                                                     static_cast<double>(sums[b]) /
                                                     static_cast<double>(b * b);
  for (std::int64_t i = 0; i < far_samples; ++i)
    result.far_sectors_per_entry +=
        1 / (static_cast<double>(far_samples) * static_cast<double>(counts[Layout::far_counts + i]));
}

}  // namespace Impl
}  // namespace Filigree

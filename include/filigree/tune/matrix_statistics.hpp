// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <array>

#include "filigree/conversion/block_diagonals.hpp"
#include "filigree/conversion/unpredicted_rows.hpp"
#include "filigree/core/initialized.hpp"
#include "filigree/tune/entry_samples.hpp"
#include "filigree/tune/row_length_statistics.hpp"
#include "filigree/tune/window_statistics.hpp"

namespace Filigree {

/// The properties of a CRS matrix on which the time of its products depends.
///
/// The figures of row lengths but unpredicted_rows are exact: all rows are counted. That one, and the figures
/// that need sorting or columns, are estimates from samples, which are spread evenly over the matrix and are
/// equal on every run. The samples are stretches of 4096 consecutive rows, and single entries. On a GPU there
/// are at most 128 stretches for windows of 4096 rows, 20 stretches for each smaller size of windows, and 4096
/// entries. On a host there are 8 and 2 stretches and 256 entries, and up to four stretches of 16384 rows for
/// unpredicted_rows.
struct MatrixStatistics {
  /// rows_reaching counts longer rows as rows of this length.
  static constexpr std::int64_t most_counted_length = Impl::StatisticsLayout::most_counted_length;
  /// The largest block size of block_fill and diagonals.
  static constexpr int largest_block = Impl::StatisticsLayout::largest_block;
  /// The number of window sizes of sorted_padding: 64, 128 to 4096 rows.
  static constexpr int sorted_windows = Impl::StatisticsLayout::sorted_windows;

  std::int64_t rows = 0;         ///< number of rows
  std::int64_t columns = 0;      ///< number of columns
  std::int64_t nnz = 0;          ///< number of entries
  std::int64_t longest_row = 0;  ///< length of the longest row
  std::int64_t empty_rows = 0;   ///< number of rows without entries
  /// The standard deviation of the row lengths.
  double row_deviation = 0;
  /// The quartiles of the row lengths, at most most_counted_length: a quarter, a half and three quarters of
  /// the rows have at most this many entries.
  std::array<std::int64_t, 3> row_quartiles = {};
  /// rows_reaching[k] is the number of rows with at least k entries. k goes from 0 to the longest row, or to
  /// most_counted_length if that is less; one more element is 0.
  std::vector<std::int64_t> rows_reaching;
  /// group_steps[w][t]: the sum of the steps of all groups of consecutive rows, with 4 << w lanes per group
  /// and 1 << t lanes per row. The steps of a group are the entries that the busiest lane of its longest row
  /// multiplies. 0 if a row has more lanes than a group.
  std::array<std::array<std::int64_t, 6>, 4> group_steps = {};
  /// An estimate of the fraction of the rows whose length a processor predicts wrong. 0 on a GPU, and if there
  /// are at most 8192 rows, because a processor learns these. About 0 if lengths are equal or repeat.
  double unpredicted_rows = 0;

  /// sorted_padding[w][t]: stored elements per entry of SELL in slices of 32 rows, with 1 << t lanes per row
  /// and rows sorted in windows of 64 << w rows.
  std::array<std::array<double, 6>, sorted_windows> sorted_padding = {};
  /// The fraction of the slices of 32 rows whose columns fit in 16 bits.
  double short_slices = 0;
  /// That fraction after sorting the rows in windows of 4096 rows.
  double sorted_short_slices = 0;
  /// The fraction of the rows that would come first in their 32-byte sector of y if all rows were sorted by
  /// length: the row before them would lie in another sector. If all rows have the same length, these are the
  /// first rows of the sectors.
  double moved_rows = 0;

  /// 32-byte sectors of x per entry that 4096 consecutive entries read. It stands for the traffic to a
  /// multiprocessor whose cache keeps x for a while.
  double sectors_per_entry = 1;
  /// 32-byte sectors of x per entry that 2^20 consecutive entries read. It stands for the traffic to the last
  /// cache if x is too large for it. 0 if x takes at most half of that cache.
  double far_sectors_per_entry = 0;
  /// block_fill[b]: the fraction of the elements of nonempty b x b blocks that are entries. Blocks in block
  /// rows with more than 256 entries per row on average count as having one entry.
  std::array<double, largest_block + 1> block_fill = {};
  /// diagonals[b]: the number of nonempty diagonals of b x b blocks, for b = 1 and for the block size that
  /// was asked for; 0 for others. It is an estimate from the samples unless diagonals_are_counted[b].
  std::array<std::int64_t, largest_block + 1> diagonals = {};
  /// Whether diagonals[b] is exact.
  std::array<bool, largest_block + 1> diagonals_are_counted = {};

  /// The largest block size up to `most` that divides `multiple` and whose fill is at least 0.7 and within 2
  /// % of the best fill; 1 if there is none. The largest is taken because, in a matrix of full 4 x 4 blocks,
  /// the 2 x 2 blocks are full too. Throws std::invalid_argument unless `most` is 1 to largest_block.
  int best_block_size(int most = largest_block, std::int64_t multiple = 0) const;
  /// Stored elements per entry of ELL.
  double ell_padding() const { return nnz > 0 ? static_cast<double>(longest_row) / mean_row() : 1; }
  /// Stored elements per entry of SELL in slices of 32 unsorted rows.
  double sell_padding() const {
    return nnz > 0 ? 32 * static_cast<double>(group_steps[3][0]) / static_cast<double>(nnz) : 1;
  }
  /// Entries per row.
  double mean_row() const { return rows > 0 ? static_cast<double>(nnz) / static_cast<double>(rows) : 0; }
};

namespace Impl {

/// Throws std::invalid_argument if an argument of matrix_statistics() is out of range.
void check_statistics_arguments(double cache_bytes, int block_size);

/// An estimate of the number of nonempty diagonals of b x b blocks, from the row and column of each sample. It needs
/// rows, columns and nnz of the matrix. It is exact if all entries are samples.
std::int64_t sampled_diagonals(const std::int64_t* coordinates, std::int64_t samples, std::int64_t b,
                               const MatrixStatistics& matrix);

/// Computes the statistics from the counts of the kernels, whose positions StatisticsLayout has. rows,
/// columns and nnz of the result must be set.
void read_statistics(const std::int64_t* counts, std::int64_t sector_samples, std::int64_t block_samples,
                     std::int64_t far_samples, MatrixStatistics& result);

/// Sets the number of diagonals of b x b blocks from the samples. If is_exact is set, it counts all diagonals
/// instead, unless the estimate already means more than most_per_row values per row.
template <class ExecutionSpace, class Crs>
void count_diagonals(const ExecutionSpace& exec, const Crs& crs, const std::int64_t* coordinates,
                     std::int64_t samples, int b, bool is_exact, double most_per_row,
                     MatrixStatistics& result) {
  std::int64_t& diagonals = result.diagonals[static_cast<std::size_t>(b)];
  diagonals = sampled_diagonals(coordinates, samples, b, result);
  if (!is_exact || static_cast<double>(diagonals) * b > most_per_row) return;
  diagonals = find_diagonals(exec, "statistics", crs, b).count;
  result.diagonals_are_counted[static_cast<std::size_t>(b)] = true;
}

}  // namespace Impl

/// The statistics of a CRS matrix, counted on the device where the matrix lies.
///
/// cache_bytes is the size of the last cache before the memory. block_size, 1 to 16, is the block size whose
/// diagonals are counted; 0 stands for best_block_size(). If in_full is false, the numbers of diagonals are
/// estimates, and windows of fewer than 4096 rows get the padding of windows of 4096 rows.
///
/// Cost: reads the row map once and samples the entries. If x takes more than half of the cache it also reads
/// up to 32 (host: 8) sets of 2^20 consecutive entries. If in_full is true, it reads all entries once to
/// count the diagonals, unless the estimate is more diagonals than a format could store. Counting
/// takes 4 bytes per block row and block column, but at most 32 per entry. Copies 75 KB to the host,
/// allocates 75 KB on the device and, on a host with more than 8192 rows, 512 KB, and fences exec alone.
///
/// The matrix must be a valid CRS matrix (see ConvertOptions::check_input); else the behaviour is undefined.
/// Throws std::invalid_argument if cache_bytes or block_size is out of range.
template <class ExecutionSpace, class Crs>
MatrixStatistics matrix_statistics(const ExecutionSpace& exec, const Crs& crs, double cache_bytes,
                                   int block_size = 0, bool in_full = true) {
  using Layout = Impl::StatisticsLayout;
  using Views = Impl::crs_views_t<Crs>;
  using Windows = Impl::WindowStatistics<ExecutionSpace, Views>;
  using Samples = Impl::EntrySamples<ExecutionSpace, Views>;
  constexpr bool gpu = Impl::runs_on_gpu_v<ExecutionSpace>;
  constexpr const char* name = "statistics";

  Impl::check_initialized("Filigree::matrix_statistics");
  Impl::check_statistics_arguments(cache_bytes, block_size);
  MatrixStatistics result;
  result.rows = static_cast<std::int64_t>(crs.numRows());
  result.columns = static_cast<std::int64_t>(crs.numCols());
  result.nnz = static_cast<std::int64_t>(crs.nnz());
  result.rows_reaching = {result.rows, 0};
  if (result.rows == 0 || result.nnz == 0) {
    result.empty_rows = result.rows;
    return result;
  }
  const Views views(crs);
  const Kokkos::View<std::int64_t*, typename Crs::device_type> counts(
      Kokkos::view_alloc(exec, Impl::label("counts", name)), static_cast<std::size_t>(Layout::size));
  const Impl::RowLengthStatistics<ExecutionSpace, Views> lengths{views, result.rows, counts.data()};
  Kokkos::parallel_for(Impl::label("row_lengths", name), lengths.policy(exec), lengths);
  constexpr int scalar_bytes = sizeof(typename Crs::non_const_value_type);
  constexpr int per_sector = scalar_bytes > 32 ? 1 : 32 / scalar_bytes;
  const std::int64_t stretches = (result.rows + Windows::stretch - 1) / Windows::stretch;
  const std::int64_t largest = std::min<std::int64_t>(stretches, gpu ? 128 : 8);
  const std::int64_t smaller = in_full ? std::min<std::int64_t>(stretches, gpu ? 20 : 2) : 0;
  const Windows windows{views, result.rows, stretches, largest, smaller, per_sector, counts.data()};
  Kokkos::parallel_for(Impl::label("windows", name), windows.policy(exec), windows);
  result.unpredicted_rows = Impl::unpredicted_rows(exec, views, result.rows);

  const std::int64_t samples = std::min<std::int64_t>(result.nnz, gpu ? Layout::samples : 256);
  const Samples entries{views, result.rows, result.nnz, samples, per_sector, counts.data()};
  Kokkos::parallel_for(Impl::label("sample_coordinates", name),
                       Impl::row_range<typename Samples::RecordCoordinates>(exec, samples), entries);
  Kokkos::parallel_for(Impl::label("samples", name), entries.policy(exec), entries);

  std::int64_t far_samples = 0;
  if (static_cast<double>(result.columns) * scalar_bytes > 0.5 * cache_bytes) {
    far_samples = std::min<std::int64_t>(result.nnz, gpu ? Layout::far_samples : 8);
    const Impl::FarSamples<ExecutionSpace, Views> far{views, result.nnz, far_samples, per_sector,
                                                      counts.data()};
    Kokkos::parallel_for(Impl::label("far_samples", name), far.policy(exec), far);
  }
  const auto host = Impl::host_copy(exec, counts);
  Impl::read_statistics(host.data(), entries.sector_samples(), entries.block_samples(), far_samples, result);

  const std::int64_t* const coordinates = host.data() + Layout::coordinates;
  const int best = block_size > 0 ? block_size : result.best_block_size();
  const double most = 3 * result.mean_row() + 1;
  Impl::count_diagonals(exec, crs, coordinates, samples, best, in_full, most, result);
  if (best == 1) return result;
  // DIA can be the better choice only if it stores about as little as block diagonals do.
  const double most_of_dia =
      1.1 * static_cast<double>(result.diagonals[static_cast<std::size_t>(best)]) * best;
  Impl::count_diagonals(exec, crs, coordinates, samples, 1, in_full, std::min(most, most_of_dia), result);
  return result;
}

}  // namespace Filigree

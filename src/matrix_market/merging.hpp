// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <filigree/core/scalar.hpp>
#include <filigree/io/matrix_market.hpp>
#include <limits>
#include <new>
#include <numeric>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "buffer.hpp"
#include "entries.hpp"
#include "host_threads.hpp"

namespace Filigree::Impl::MatrixMarket {

/// Sorts a row by column and keeps the order of entries with equal columns. It sorts indices, which need less
/// memory than copies of the entries, and then moves the entries along the cycles of the permutation.
template <class Index, class Ordinal, class Scalar>
void sort_long_row(Ordinal* entries, Scalar* values, std::int64_t count) {
  std::vector<Index> order(static_cast<std::size_t>(count));
  std::iota(order.begin(), order.end(), Index(0));
  std::stable_sort(order.begin(), order.end(), [&](Index a, Index b) { return entries[a] < entries[b]; });
  for (std::int64_t k = 0; k < count; ++k) {
    const Ordinal entry = entries[k];
    const Scalar value = values[k];
    std::int64_t to = k;
    for (std::int64_t from = order[k]; from != k; from = order[to]) {
      entries[to] = entries[from];
      values[to] = values[from];
      order[to] = static_cast<Index>(to);
      to = from;
    }
    entries[to] = entry;
    values[to] = value;
    order[to] = static_cast<Index>(to);
  }
}

/// Sorts a row by column and keeps the order of entries with equal columns.
template <class Ordinal, class Scalar>
void sort_row(Ordinal* entries, Scalar* values, std::int64_t count) {
  if (std::is_sorted(entries, entries + count)) return;
  // Insertion sort needs no extra memory, and most rows are short.
  constexpr std::int64_t max_insertion_sort = 48;
  if (count > max_insertion_sort) {
    if (count <= std::numeric_limits<std::uint32_t>::max())
      sort_long_row<std::uint32_t>(entries, values, count);
    else
      sort_long_row<std::int64_t>(entries, values, count);
    return;
  }
  for (std::int64_t k = 1; k < count; ++k) {
    const Ordinal entry = entries[k];
    const Scalar value = values[k];
    std::int64_t to = k;
    for (; to > 0 && entries[to - 1] > entry; --to) {
      entries[to] = entries[to - 1];
      values[to] = values[to - 1];
    }
    entries[to] = entry;
    values[to] = value;
  }
}

/// The larger magnitude of the real and the imaginary part.
inline double magnitude(double value) {
  return std::abs(value);
}
template <class Real>
double magnitude(const Kokkos::complex<Real>& value) {
  return std::max(std::abs(static_cast<double>(value.real())), std::abs(static_cast<double>(value.imag())));
}

/// What merge_row() returns.
struct MergedRow {
  std::int64_t length = 0;           ///< entries that remain
  std::int64_t refused_column = -1;  ///< first column whose duplicates or whose sum is refused, or -1
};

/// Replaces the duplicates in a sorted row by their sum, which is computed in double.
template <class Ordinal, class Scalar>
MergedRow merge_row(Ordinal* entries, Scalar* values, std::int64_t count, bool refuse_duplicates,
                    double overflow_threshold) {
  using Wide = std::conditional_t<is_complex_v<Scalar>, Kokkos::complex<double>, double>;
  MergedRow row;
  if (std::adjacent_find(entries, entries + count) == entries + count) {
    row.length = count;
    return row;
  }
  for (std::int64_t k = 0; k < count;) {
    const Ordinal col = entries[k];
    const std::int64_t first = k;
    Wide sum(values[k]);
    bool finite = std::isfinite(magnitude(sum));
    while (++k < count && entries[k] == col) {
      finite = finite && std::isfinite(magnitude(Wide(values[k])));
      sum += Wide(values[k]);
    }
    const bool duplicate = k - first > 1;
    const bool overflows = finite && magnitude(sum) >= overflow_threshold;
    if (duplicate && (refuse_duplicates || overflows) && row.refused_column < 0)
      row.refused_column = static_cast<std::int64_t>(col);
    entries[row.length] = col;
    values[row.length++] = duplicate ? convert_scalar<Scalar>(sum) : values[first];
  }
  return row;
}

/// Throws an error for duplicates that are refused. It reads the text again to find their lines.
template <class Scalar>
[[noreturn]] void fail_duplicate(const EntryReader<Scalar>& reader, std::int64_t row, std::int64_t col,
                                 const std::string& expected) {
  const Text& text = reader.text();
  if (reader.header().is_symmetric() && row < col) std::swap(row, col);
  std::vector<const char*> lines;
  reader.for_each_entry(reader.header().data, text.end,
                        [&](const char* line, std::int64_t r, std::int64_t c, double, double) {
                          if (r == row && c == col) lines.push_back(line);
                        });
  text.fail(lines[1], expected + " (row " + std::to_string(row + 1) + ", column " + std::to_string(col + 1) +
                          " is already in line " + std::to_string(text.line_of(lines[0])) + ")");
}

/// Moves the first row_lengths[row] entries of each row into new arrays without gaps.
template <class Scalar, class Ordinal>
void remove_gaps(MatrixMarketCrs<Scalar, Ordinal>& crs, const std::vector<std::int64_t>& row_lengths,
                 std::int64_t nnz) {
  const auto entries = host_array<Ordinal>("Filigree::entries[matrix_market]", nnz);
  const auto values = host_array<Scalar>("Filigree::values[matrix_market]", nnz);
  std::int64_t to = 0;
  for (std::int64_t row = 0; row < crs.num_rows; ++row) {
    const std::int64_t from = crs.row_map[row];
    const std::int64_t length = row_lengths[static_cast<std::size_t>(row)];
    std::copy_n(crs.entries.data() + from, length, entries.data() + to);
    std::copy_n(crs.values.data() + from, length, values.data() + to);
    crs.row_map[row] = to;
    to += length;
  }
  crs.row_map[crs.num_rows] = to;
  crs.entries = entries;
  crs.values = values;
}

/// Sorts each row by column and sums its duplicates, in the order of the file.
template <class Scalar, class Ordinal>
void sort_and_merge(const EntryReader<Scalar>& reader, const MatrixMarketOptions& options,
                    const MatrixMarketTarget& target, MatrixMarketCrs<Scalar, Ordinal>& crs) {
  const bool refuse = options.duplicates == MatrixMarketOptions::Duplicates::Refuse;
  const std::int64_t threads = Kokkos::DefaultHostExecutionSpace().concurrency();
  const std::int64_t rows_per_task = std::clamp<std::int64_t>(crs.num_rows / (4 * threads), 1, 4096);
  const std::int64_t tasks = (crs.num_rows + rows_per_task - 1) / rows_per_task;
  std::vector<std::int64_t> row_lengths(static_cast<std::size_t>(crs.num_rows), 0);
  // The row and column of the first refused duplicate of each task, or -1.
  std::vector<std::pair<std::int64_t, std::int64_t>> refused(static_cast<std::size_t>(tasks), {-1, -1});
  const bool good = run_on_host_threads("Filigree::sort[matrix_market]", tasks, [&](std::int64_t task) {
    auto& first_refused = refused[static_cast<std::size_t>(task)];
    const std::int64_t end = std::min(crs.num_rows, (task + 1) * rows_per_task);
    for (std::int64_t row = task * rows_per_task; row < end; ++row) {
      const std::int64_t length = crs.row_map[row + 1] - crs.row_map[row];
      Ordinal* entries = crs.entries.data() + crs.row_map[row];
      Scalar* values = crs.values.data() + crs.row_map[row];
      sort_row(entries, values, length);
      const MergedRow merged = merge_row(entries, values, length, refuse, target.overflow_threshold);
      row_lengths[static_cast<std::size_t>(row)] = merged.length;
      if (merged.refused_column >= 0 && first_refused.first < 0) first_refused = {row, merged.refused_column};
    }
  });
  if (!good) throw std::bad_alloc();
  for (const auto& [row, col] : refused)
    if (row >= 0)
      fail_duplicate(reader, row, col,
                     refuse ? "each entry once, as the option duplicates asks"
                            : "a sum of duplicates that the scalar type of the matrix can hold");

  const std::int64_t nnz = std::accumulate(row_lengths.begin(), row_lengths.end(), std::int64_t(0));
  if (nnz > target.max_offset)
    reader.text().fail(reader.header().size_line,
                       "at most " + std::to_string(target.max_offset) +
                           " entries, which the offset type of the matrix can count (it has " +
                           std::to_string(nnz) + ")");
  if (nnz < crs.row_map[crs.num_rows]) remove_gaps(crs, row_lengths, nnz);
}

}  // namespace Filigree::Impl::MatrixMarket

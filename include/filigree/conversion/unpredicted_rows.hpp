// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <vector>

#include "filigree/core/launch.hpp"

namespace Filigree::Impl {

/// An estimate of how well a processor predicts where the rows of a CRS matrix end: the fraction of the rows whose
/// length it does not know in advance. 0 on a GPU.
///
/// A processor learns from the branches that it has seen. This function imitates it with a table: after 16 row lengths
/// follows the length that followed them the last time, or the length of the row before if they are new. 8192 rows
/// from the middle of the matrix fill the table, and the next 8192 rows are counted. After the last row the first one
/// follows, as in products that follow each other. So rows of equal length, periodic lengths and up to 8192 rows of
/// any lengths are predicted. Processors can learn about as many rows (see docs/performance.md, "Rows of differing
/// length on hosts").
///
/// The estimate is the same on each run. Reads at most 16385 elements of the row map. Fences exec.
template <class ExecutionSpace, class Views>
double unpredicted_rows(const ExecutionSpace& exec, const Views& crs, const std::int64_t row_count) {
  if (runs_on_gpu_v<ExecutionSpace> || row_count == 0) return 0;
  constexpr std::int64_t learned = 8192;
  constexpr std::int64_t counted = 8192;
  // Four times the rows that fill it, so that few of them share an element.
  constexpr int log2_table = 15;
  constexpr std::int64_t unknown = -1;
  // The product of this odd number and 16. Multiplied 16 times, a length leaves the 64 bits.
  constexpr std::uint64_t factor = 16 * 0x9e3779b97f4a7c15u;
  exec.fence();
  std::vector<std::int64_t> next_length(std::size_t(1) << log2_table, unknown);
  std::uint64_t history = 0;
  std::int64_t length_before = unknown;
  std::int64_t wrong = 0;
  std::int64_t row = row_count > learned + counted ? (row_count - learned - counted) / 2 : 0;
  for (std::int64_t i = 0; i < learned + counted; ++i) {
    const std::int64_t length = crs.length(row);
    std::int64_t& learned_length = next_length[history >> (64 - log2_table)];
    const std::int64_t predicted = learned_length == unknown ? length_before : learned_length;
    if (i >= learned && predicted != length) ++wrong;
    learned_length = length;
    length_before = length;
    history = history * factor + static_cast<std::uint64_t>(length) * 0x9e3779b97f4a7c15u;
    row = row + 1 < row_count ? row + 1 : 0;
  }
  return static_cast<double>(wrong) / static_cast<double>(counted);
}

/// Whether a host multiplies a CRS matrix in vectors. With fewer unpredicted rows that loop is slower (see
/// docs/performance.md, "Rows of differing length on hosts").
inline bool multiplies_in_vectors(double unpredicted) {
  return unpredicted >= 0.25;
}

}  // namespace Filigree::Impl

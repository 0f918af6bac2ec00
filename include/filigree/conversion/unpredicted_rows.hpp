// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "filigree/core/launch.hpp"

namespace Filigree::Impl {

/// An estimate of the fraction of the rows of a CRS matrix whose length a processor predicts wrong. 0 on a GPU.
///
/// A processor predicts the branch at the end of a row from the branches before it. This function imitates that with a
/// table. The key is a hash of the last 16 row lengths, and the value is the length that followed them the last time.
/// If the key is new, the length of the row before is the prediction.
///
/// Up to four samples of 16384 consecutive rows are spread evenly over the matrix. In each the first 8192 rows fill
/// an empty table, and the others are counted. Smaller matrices have one sample, which begins again with the first row
/// after the last one, as products that follow each other do. The estimate of matrices of up to 8192 rows is 0: it is
/// assumed that a processor learns all their rows. Where irregular rows are rare the estimate is too high, because an
/// irregular length stays in the table until the next time.
///
/// The estimate is the same on each run. Takes 512 KB, reads at most 65540 elements of the row map, and fences exec.
template <class ExecutionSpace, class Views>
double unpredicted_rows(const ExecutionSpace& exec, const Views& crs, const std::int64_t row_count) {
  constexpr std::int64_t learned_rows = 8192;
  constexpr std::int64_t counted_rows = 8192;
  if (runs_on_gpu_v<ExecutionSpace> || row_count <= learned_rows) return 0;
  constexpr std::int64_t sample_rows = learned_rows + counted_rows;
  constexpr int log2_table = 17;
  constexpr int unknown = -1;
  // 2^64 divided by the golden ratio, a common factor of hash functions. Each multiplication with 16 times this number
  // shifts the lengths before by four bits, so that only 16 lengths are left in the hash.
  constexpr std::uint64_t odd = 0x9e3779b97f4a7c15u;
  constexpr std::uint64_t longest = std::numeric_limits<int>::max();
  exec.fence();
  std::vector<int> following(std::size_t(1) << log2_table);
  const std::int64_t samples = std::clamp<std::int64_t>(row_count / sample_rows, 1, 4);
  std::int64_t wrong = 0;
  for (std::int64_t sample = 0; sample < samples; ++sample) {
    std::fill(following.begin(), following.end(), unknown);
    std::int64_t row = samples > 1 ? (row_count - sample_rows) / (samples - 1) * sample : 0;
    std::uint64_t hash = 0;
    int length_before = unknown;
    for (std::int64_t i = 0; i < sample_rows; ++i) {
      const auto length = static_cast<int>(std::min(static_cast<std::uint64_t>(crs.length(row)), longest));
      int& learned = following[hash >> (64 - log2_table)];
      const int predicted = learned == unknown ? length_before : learned;
      if (i >= learned_rows && predicted != length) ++wrong;
      learned = length;
      length_before = length;
      hash = (16 * hash + static_cast<std::uint64_t>(length)) * odd;
      row = row + 1 < row_count ? row + 1 : 0;
    }
  }
  return static_cast<double>(wrong) / static_cast<double>(samples * counted_rows);
}

/// Whether a host multiplies a CRS matrix in vectors. If fewer rows are unpredicted, that loop is slower (see
/// docs/performance.md, "Rows of differing length on hosts").
inline bool multiplies_in_vectors(double unpredicted) {
  return unpredicted >= 0.2;
}

}  // namespace Filigree::Impl

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <vector>

#include "filigree/core/view_checker.hpp"
#include "filigree/product/balanced_chunks.hpp"

namespace Filigree::Impl {

/// The first entry of each chunk of nnz entries, then nnz. Throws std::invalid_argument if chunk_begins does
/// not divide the entries into chunks of a right number and size.
template <class ExecutionSpace, class Device>
std::vector<std::int64_t> checked_chunk_begins(const ViewChecker<ExecutionSpace>& checker,
                                               const EntryChunks<Device>& chunks, std::int64_t nnz) {
  using launch = ChunkLaunch<ExecutionSpace>;
  const std::int64_t count = launch::chunk_count(nnz);
  const bool stored = launch::slack(nnz) > 0;
  checker.size("chunk_begins", chunks.chunk_begins, stored ? count + 1 : 0,
               "one per chunk and one more, or none if there are more than 2^20 entries");
  const auto list = checker.elements(chunks.chunk_begins);
  if (stored) checker.offsets("chunk_begins", list, nnz);
  std::vector<std::int64_t> begins;
  for (std::int64_t chunk = 0; chunk <= count; ++chunk)
    begins.push_back(stored ? list(static_cast<std::size_t>(chunk))
                            : std::min(chunk * launch::chunk_size, nnz));
  for (std::size_t chunk = 0; chunk + 1 < begins.size(); ++chunk) {
    const std::int64_t length = begins[chunk + 1] - begins[chunk];
    if (length < 1 || length > launch::chunk_size)
      checker.refuse("chunk_begins", " gives chunk ", chunk, " the entries ", begins[chunk], " to ",
                     begins[chunk + 1] - 1, "; a chunk must have 1 to ", launch::chunk_size, " entries");
  }
  return begins;
}

/// Throws std::invalid_argument if the chunks are not those of a matrix with nnz entries, for check().
/// row_of(i) is the row of entry i. may_meet is that of the EntryLayout. Returns the first entry of each
/// chunk, then nnz.
template <class ExecutionSpace, class Device, class RowOf>
std::vector<std::int64_t> check_chunks(const ViewChecker<ExecutionSpace>& checker,
                                       const EntryChunks<Device>& chunks, std::int64_t nnz, bool may_meet,
                                       const RowOf& row_of) {
  const auto begins = checked_chunk_begins(checker, chunks, nnz);
  // The first and the last chunk of each row that lies in several chunks.
  std::vector<std::int64_t> cut_rows;
  std::vector<std::int64_t> cut_once;
  const auto chunk_count = begins.size() - 1;
  for (std::size_t chunk = 0; chunk + 1 < chunk_count;) {
    std::size_t last = chunk;
    const std::int64_t row = row_of(begins[chunk + 1] - 1);
    while (last + 1 < chunk_count && row_of(begins[last + 1]) == row)
      ++last;
    if (last > chunk) {
      auto& list = may_meet && last - chunk == 1 ? cut_once : cut_rows;
      list.push_back(static_cast<std::int64_t>(chunk));
      list.push_back(static_cast<std::int64_t>(last));
    }
    chunk = std::max(last, chunk + 1);
  }
  const std::int64_t long_rows = may_meet ? static_cast<std::int64_t>(cut_rows.size() / 2) : 0;
  cut_rows.insert(cut_rows.end(), cut_once.begin(), cut_once.end());
  const auto count = static_cast<std::int64_t>(cut_rows.size() / 2);
  checker.number("cut_row_count", chunks.cut_row_count, count, count, "the rows that lie in several chunks");
  checker.number("long_row_count", chunks.long_row_count, long_rows, long_rows,
                 may_meet ? "the rows that lie in more than two chunks" : "no chunks of this format meet");
  checker.begins_with("cut_rows", chunks.cut_rows, cut_rows, "first and last chunk of each cut row");
  return begins;
}

}  // namespace Filigree::Impl

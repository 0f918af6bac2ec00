// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The chunks of a balanced product: their size, where they begin, which rows they cut, and the kernels that
// find this out during set-up. balanced_product.hpp describes the algorithm and the EntryLayout concept.
#pragma once

#include "filigree/core/allocate_view.hpp"
#include "filigree/core/binary_search.hpp"
#include "filigree/core/lane_group.hpp"
#include "filigree/core/launch.hpp"
#include "filigree/core/matrix_base.hpp"
#include "filigree/core/workspace.hpp"

namespace Filigree {

/// The Views that a matrix holds for its balanced product (see product/balanced_product.hpp). Conversions,
/// make_coo and wrap_coo make them. A cut row is a row whose entries lie in several chunks. Bytes per chunk:
/// 16 for cut_rows and, if the matrix has chunk_begins, 8 for these.
template <class Device>
struct EntryChunks {
  using offsets_type = Kokkos::View<std::int64_t*, Device>;  ///< View type of the members

  /// First entry of each chunk, then the number of entries. Empty if chunk c begins with entry 2048 * c.
  offsets_type chunk_begins;
  /// First and last chunk of each cut row: elements 2 * i and 2 * i + 1, in ascending order. If chunks of the
  /// format may meet, the rows that lie in more than two chunks come first. Conversions leave room for one
  /// cut row per chunk.
  offsets_type cut_rows;
  std::int64_t cut_row_count = 0;  ///< number of cut rows
  /// Number of cut rows in more than two chunks. It is 0 unless EntryLayout::may_meet.
  std::int64_t long_row_count = 0;

  /// Bytes of all Views.
  std::size_t bytes() const { return Impl::bytes_of(chunk_begins, cut_rows); }
};

namespace Impl {

/// The size of chunks, and the launch of a product in which one team multiplies one chunk.
template <class ExecutionSpace>
struct ChunkLaunch {
  static constexpr bool gpu = runs_on_gpu_v<ExecutionSpace>;
  /// Lanes per team.
  static constexpr int lanes = gpu ? 256 : 1;
  /// Lanes of a team that can exchange numbers (core/lane_group.hpp). On a GPU without such groups each lane is a group
  /// of its own, which is slower for long rows.
  static constexpr int group = lanes_per_group<ExecutionSpace> > 0 ? lanes_per_group<ExecutionSpace> : 1;
  /// Entries per lane. A lane of a GPU loads all of them before it uses the first one. More would need more
  /// scratch memory, at the cost of first-level cache (see docs/performance.md, "Scratch memory of the
  /// balanced product").
  static constexpr int entries_per_lane = gpu ? 8 : 2048;
  /// The most entries of a chunk.
  static constexpr std::int64_t chunk_size = lanes * entries_per_lane;
  using member_type = typename Kokkos::TeamPolicy<ExecutionSpace>::member_type;

  /// The most entries of a matrix with row-aligned chunks, which begin with a row if possible.
  static constexpr std::int64_t most_aligned = std::int64_t(1) << 20;
  /// A chunk begins up to this many entries early if it then begins with a row. So rows of at most this many
  /// entries are never cut. It is 0 for larger matrices: a team would lose time if it first loaded where its
  /// chunk begins (see docs/performance.md, "Where the chunks of large matrices begin").
  KOKKOS_FORCEINLINE_FUNCTION static constexpr std::int64_t slack(std::int64_t nnz) {
    return nnz <= most_aligned ? 512 : 0;
  }
  /// Entries from the begin of a chunk to the begin of the next one if neither begins early.
  KOKKOS_FORCEINLINE_FUNCTION static constexpr std::int64_t pitch(std::int64_t nnz) {
    return chunk_size - slack(nnz);
  }
  static std::int64_t chunk_count(std::int64_t nnz) { return (nnz + pitch(nnz) - 1) / pitch(nnz); }

  /// A team looks at the row map of a CRS chunk row by row if the chunk reaches over at most this many rows
  /// (see docs/performance.md, "Balanced CRS with many rows without entries").
  static constexpr std::int64_t most_crs_rows = 8 * chunk_size;
};

/// Rows begin to end - 1.
struct RowRange {
  std::int64_t begin = 0;
  std::int64_t end = 0;
};

/// Bytes of the EntryChunks of a matrix with nnz entries.
template <class ExecutionSpace>
std::int64_t chunk_bytes(std::int64_t nnz) {
  const std::int64_t chunks = ChunkLaunch<ExecutionSpace>::chunk_count(nnz);
  const bool has_begins = ChunkLaunch<ExecutionSpace>::slack(nnz) > 0;
  return ((has_begins ? chunks + 1 : 0) + 2 * chunks) * static_cast<std::int64_t>(sizeof(std::int64_t));
}

/// The first entry of a chunk.
template <class EntryLayout>
KOKKOS_FORCEINLINE_FUNCTION std::int64_t chunk_begin(const EntryLayout& entries, std::int64_t chunk) {
  if (entries.chunk_begins != nullptr) return entries.chunk_begins[chunk];
  const std::int64_t begin = chunk * EntryLayout::chunk_launch::chunk_size;
  return begin < entries.nnz ? begin : entries.nnz;
}

/// For a row that lies in `chunk` and in the next one: whether it begins in `chunk`. It does unless it is the
/// first row of `chunk` and began earlier.
template <class EntryLayout>
KOKKOS_FORCEINLINE_FUNCTION bool row_begins_in(const EntryLayout& entries, std::int64_t chunk,
                                               std::int64_t row) {
  return entries.first_row(chunk) != row || entries.row_begins_at(row, chunk_begin(entries, chunk));
}

/// Whether a row begins in a chunk and continues in the next one.
template <class EntryLayout>
KOKKOS_FORCEINLINE_FUNCTION bool begins_cut_row(const EntryLayout& entries, std::int64_t chunk) {
  const std::int64_t end = chunk_begin(entries, chunk + 1);
  if (end == entries.nnz) return false;
  const std::int64_t row = entries.first_row(chunk + 1);
  return !entries.row_begins_at(row, end) && row_begins_in(entries, chunk, row);
}

/// The kernels of set-up: Begins writes where each chunk begins; CutRows lists the cut rows.
template <class ExecutionSpace, class EntryLayout>
struct FindChunks {
  struct Begins {};
  struct CutRows {};
  using value_type = std::int64_t;

  EntryLayout entries;
  std::int64_t chunk_count;
  std::int64_t* result;
  /// CutRows lists the rows that lie in at least fewest_chunks and at most most_chunks chunks.
  std::int64_t fewest_chunks = 2;
  std::int64_t most_chunks = chunk_count;

  KOKKOS_INLINE_FUNCTION void operator()(Begins, const std::int64_t chunk) const {
    using launch = ChunkLaunch<ExecutionSpace>;
    if (chunk == chunk_count) {
      result[chunk] = entries.nnz;
      return;
    }
    const std::int64_t begin = chunk * launch::pitch(entries.nnz);
    const std::int64_t row_begin = entries.begin_of(entries.row_of(begin));
    result[chunk] = begin - row_begin <= launch::slack(entries.nnz) ? row_begin : begin;
  }
  KOKKOS_INLINE_FUNCTION void operator()(CutRows, const std::int64_t chunk, std::int64_t& count,
                                         const bool final) const {
    if (!begins_cut_row(entries, chunk)) return;
    const std::int64_t row = entries.first_row(chunk + 1);
    const std::int64_t end =
        first_where(chunk + 2, chunk_count, [&](std::int64_t c) { return entries.first_row(c) != row; });
    if (end - chunk < fewest_chunks || end - chunk > most_chunks) return;
    if (final) {
      result[2 * count] = chunk;
      result[2 * count + 1] = end - 1;
    }
    ++count;
  }
};

/// Sets chunks.chunk_begins. Leaves it empty if chunks begin with multiples of chunk_size.
template <class ExecutionSpace, class EntryLayout, class Device>
void find_chunk_begins(const ExecutionSpace& exec, const char* format, const EntryLayout& entries,
                       EntryChunks<Device>& chunks) {
  using launch = ChunkLaunch<ExecutionSpace>;
  using Find = FindChunks<ExecutionSpace, EntryLayout>;
  if (launch::slack(entries.nnz) == 0) return;
  const std::int64_t chunk_count = launch::chunk_count(entries.nnz);
  chunks.chunk_begins =
      allocate_view<decltype(chunks.chunk_begins)>(exec, "chunk_begins", format, chunk_count + 1);
  Kokkos::parallel_for(label("chunk_begins", format), row_range<typename Find::Begins>(exec, chunk_count + 1),
                       Find{entries, chunk_count, chunks.chunk_begins.data()});
}

/// Sets chunks.cut_rows and the two counts, and allocates the workspace of the first product. `entries` must
/// have been made after find_chunk_begins(). Fences exec.
template <class ExecutionSpace, class EntryLayout, class Device>
void find_cut_rows(const ExecutionSpace& exec, const char* format, const EntryLayout& entries,
                   EntryChunks<Device>& chunks) {
  using Find = FindChunks<ExecutionSpace, EntryLayout>;
  const std::int64_t chunk_count = ChunkLaunch<ExecutionSpace>::chunk_count(entries.nnz);
  chunks.cut_rows = allocate_view<decltype(chunks.cut_rows)>(exec, "cut_rows", format, 2 * chunk_count);
  const auto list = [&](std::int64_t first, std::int64_t fewest_chunks, std::int64_t most_chunks) {
    std::int64_t count = 0;
    if (chunk_count > 1)
      Kokkos::parallel_scan(
          label("cut_rows", format), row_range<typename Find::CutRows>(exec, chunk_count),
          Find{entries, chunk_count, chunks.cut_rows.data() + 2 * first, fewest_chunks, most_chunks}, count);
    return count;
  };
  if constexpr (EntryLayout::may_meet) {
    chunks.long_row_count = list(0, 3, chunk_count);
    chunks.cut_row_count = chunks.long_row_count + list(chunks.long_row_count, 2, 2);
  } else {
    chunks.cut_row_count = list(0, 2, chunk_count);
  }
  // A product with one column of x on this instance then finds a workspace: head and tail per chunk.
  auto& pool = WorkspacePool<ExecutionSpace>::get();
  constexpr std::size_t words_per_chunk = 2 * sizeof(Kokkos::complex<double>) / sizeof(std::uint64_t);
  const auto chunk_words = static_cast<std::size_t>(chunk_count);
  pool.give_back(pool.borrow(exec, chunk_words + 1, words_per_chunk * chunk_words));
  exec.fence();
}

}  // namespace Impl
}  // namespace Filigree

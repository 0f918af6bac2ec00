// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "filigree/formats/crs/crs_layout.hpp"
#include "filigree/formats/wrapped_crs/wrapped_crs_matrix.hpp"
#include "filigree/product/balanced_product.hpp"

namespace Filigree::Impl {

/// A CRS matrix as EntryLayout (product/balanced_product.hpp). CRS does not store the row of each entry, so
/// rows are found in the row map, from the first row of a chunk on.
template <class ExecutionSpace, class Scalar, class Ordinal, class SizeType>
struct CrsEntryLayout {
  using scalar_type = Scalar;
  using ordinal_type = Ordinal;
  using chunk_launch = ChunkLaunch<ExecutionSpace>;
  static constexpr bool row_begins_in_registers = false;
  static constexpr bool has_row_map = true;
  static constexpr bool may_meet = true;

  const Scalar* values;
  const Ordinal* entries;
  const SizeType* row_map;
  const Ordinal* first_rows;
  const std::int64_t* chunk_begins;
  std::int64_t nnz;
  std::int64_t row_count;
  bool in_vectors;  ///< see WrappedCrsMatrix::in_vectors()

  template <class Crs, class RowList, class Device>
  CrsEntryLayout(const Crs& crs, const RowList& first_rows_, const EntryChunks<Device>& chunks,
                 bool in_vectors_ = false)
      : values(crs.values.data()),
        entries(crs.graph.entries.data()),
        row_map(crs.graph.row_map.data()),
        first_rows(first_rows_.data()),
        chunk_begins(chunks.chunk_begins.extent(0) > 0 ? chunks.chunk_begins.data() : nullptr),
        nnz(static_cast<std::int64_t>(crs.nnz())),
        row_count(static_cast<std::int64_t>(crs.numRows())),
        in_vectors(in_vectors_) {}

  KOKKOS_FORCEINLINE_FUNCTION std::int64_t begin_of(std::int64_t row) const {
    return static_cast<std::int64_t>(row_map[row]);
  }
  /// The row of entry i, if it is at least `low` and less than `high`: the last row that does not begin after
  /// entry i. A row without entries is never the last one, because it begins where the next row begins.
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t search(std::int64_t low, std::int64_t high, std::int64_t i) const {
    return first_where(low + 1, high, [&](std::int64_t row) { return begin_of(row) > i; }) - 1;
  }
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t row_of(std::int64_t i) const { return search(0, row_count, i); }
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t first_row(std::int64_t chunk) const {
    return static_cast<std::int64_t>(first_rows[chunk]);
  }
  KOKKOS_FORCEINLINE_FUNCTION bool row_begins_at(std::int64_t row, std::int64_t i) const {
    return begin_of(row) == i;
  }
  /// The first row with entries that is not before `row`, or row_count if there is none.
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t next_with_entries(std::int64_t row) const {
    const std::int64_t begin = begin_of(row);
    return first_where_galloping(row, row_count, [&](std::int64_t r) { return begin_of(r + 1) > begin; });
  }

  /// The rows that a chunk reaches over: from the row of its first entry to the row of the first entry after
  /// it, which may begin in the chunk. The first chunk also has the rows without entries before its first
  /// entry, and the last chunk those after its last entry. `end` is the first entry after the chunk.
  KOKKOS_FORCEINLINE_FUNCTION RowRange rows_of_chunk(std::int64_t chunk, std::int64_t end) const {
    return {chunk > 0 ? first_row(chunk) : 0, end < nnz ? first_row(chunk + 1) + 1 : row_count};
  }
  /// Whether a chunk reaches over so many rows that it does not look at each of them.
  KOKKOS_FORCEINLINE_FUNCTION static bool are_many(const RowRange& rows) {
    return rows.end - rows.begin > chunk_launch::most_crs_rows;
  }

  /// Lane l of a team looks at rows l, l + 256, and so on of the chunk. If these are too many, it looks at
  /// entries l, l + 256, and so on instead, and searches for the row of each.
  struct RowBegins {
    using launch = ChunkLaunch<ExecutionSpace>;
    using unsigned_size = std::make_unsigned_t<SizeType>;
    const CrsEntryLayout& layout;
    std::int64_t chunk;
    std::int64_t begin;
    std::int64_t end;
    int lane;
    std::int64_t first_row = 0;  ///< the first row that the chunk reaches over
    int row_count = 0;           ///< number of these rows; -1 if are_many(), so that lanes look at entries

    KOKKOS_FORCEINLINE_FUNCTION RowBegins(const CrsEntryLayout& layout_, std::int64_t chunk_,
                                          std::int64_t begin_, std::int64_t end_, int lane_)
        : layout(layout_), chunk(chunk_), begin(begin_), end(end_), lane(lane_) {}

    /// Sets first_row and row_count.
    KOKKOS_FORCEINLINE_FUNCTION void load() {
      const RowRange rows = layout.rows_of_chunk(chunk, end);
      first_row = rows.begin;
      row_count = are_many(rows) ? -1 : static_cast<int>(rows.end - rows.begin);
    }

    /// The first row of a lane is visited without a loop. Further ones are loaded four at a time, so that the loads do
    /// not wait for each other.
    template <class Visit>
    KOKKOS_FORCEINLINE_FUNCTION void visit(const Visit& visit) const {
      if (row_count < 0) {
        visit_entries(visit);
        return;
      }
      if (lane >= row_count) return;
      const SizeType* const begins = layout.row_map + first_row;
      const auto look = [&](int i, SizeType row_begin, SizeType row_end) {
        const unsigned_size entry = entry_of_chunk(row_begin);
        if (is_in_chunk(entry) && row_end != row_begin) visit(static_cast<int>(entry), first_row + i);
      };
      look(lane, begins[lane], begins[lane + 1]);
      constexpr int batch = 4;
      FILIGREE_UNROLL(1)
      for (int first = lane + launch::lanes; first < row_count; first += batch * launch::lanes) {
        SizeType row_begins[batch];
        SizeType row_ends[batch];
        FILIGREE_UNROLL(4)
        for (int k = 0; k < batch; ++k) {
          // After the last row, the first row of the batch is loaded again.
          const int i = first + k * launch::lanes < row_count ? first + k * launch::lanes : first;
          row_begins[k] = begins[i];
          row_ends[k] = begins[i + 1];
        }
        FILIGREE_UNROLL(4)
        for (int k = 0; k < batch; ++k)
          if (first + k * launch::lanes < row_count)
            look(first + k * launch::lanes, row_begins[k], row_ends[k]);
      }
    }
    template <class Visit>
    KOKKOS_FORCEINLINE_FUNCTION void visit_rows(const Visit& visit) const {
      if (row_count < 0) {
        visit_entries(visit);
        return;
      }
      const SizeType* const begins = layout.row_map + first_row;
      FILIGREE_UNROLL(1)
      for (int i = lane; i < row_count; i += launch::lanes) {
        const unsigned_size entry = entry_of_chunk(begins[i]);
        const bool is_empty = begins[i + 1] == begins[i];
        if (is_empty || is_in_chunk(entry)) visit(is_empty ? -1 : static_cast<int>(entry), first_row + i);
      }
    }

   private:
    /// Entry i counted from the first entry of the chunk. Entries before the chunk get large numbers.
    KOKKOS_FORCEINLINE_FUNCTION unsigned_size entry_of_chunk(SizeType i) const {
      return static_cast<unsigned_size>(i) - static_cast<unsigned_size>(begin);
    }
    KOKKOS_FORCEINLINE_FUNCTION bool is_in_chunk(unsigned_size entry) const {
      return entry < static_cast<unsigned_size>(end - begin);
    }
    template <class Visit>
    KOKKOS_FORCEINLINE_FUNCTION void visit_entries(const Visit& visit) const {
      const RowRange rows = layout.rows_of_chunk(chunk, end);
      FILIGREE_UNROLL(1)
      for (std::int64_t i = begin + lane; i < end; i += launch::lanes) {
        const std::int64_t row = layout.search(rows.begin, rows.end, i);
        if (layout.begin_of(row) == i) visit(static_cast<int>(i - begin), row);
      }
    }
  };
};

/// Calls visit(layout) with the layout of the wrapped CRS matrix.
template <class ExecutionSpace, class S, class O, class D, class M, class Z, class Visit>
auto with_layout(const ExecutionSpace& exec, const WrappedCrsMatrix<S, O, D, M, Z>& A, const Visit& visit) {
  return with_layout(exec, A.crs, visit);
}

}  // namespace Filigree::Impl

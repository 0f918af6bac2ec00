// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <limits>

#include <filigree/conversion/build_crs.hpp>
#include <filigree/core/error.hpp>
#include <filigree/core/random.hpp>

namespace FiligreePerf {

/// Fills the rows of a block diagonal matrix whose blocks are copies of a CRS matrix. If mixes_rows is true, the rows
/// of each group of eight are in a random order.
template <class ExecutionSpace, class Crs>
struct RepeatRows {
  using execution_space = ExecutionSpace;
  struct Count {};
  struct Fill {};

  Crs crs;
  std::int64_t row_count;
  bool mixes_rows;
  // build_crs sets these.
  typename Crs::non_const_size_type* crs_row_map = nullptr;
  typename Crs::non_const_ordinal_type* crs_entries = nullptr;
  typename Crs::non_const_value_type* crs_values = nullptr;

  /// The row of the block diagonal matrix that becomes row i.
  KOKKOS_INLINE_FUNCTION std::int64_t source(const std::int64_t i) const {
    if (!mixes_rows) return i;
    constexpr int group_size = 8;
    const std::int64_t first = i / group_size * group_size;
    const int count = row_count - first < group_size ? static_cast<int>(row_count - first) : group_size;
    int order[group_size] = {0, 1, 2, 3, 4, 5, 6, 7};
    for (int k = count - 1; k > 0; --k) {
      const auto other = Filigree::Impl::random_bits(static_cast<std::uint64_t>(first + k)) %
                         static_cast<std::uint64_t>(k + 1);
      const int moved = order[k];
      order[k] = order[other];
      order[other] = moved;
    }
    return first + order[i - first];
  }
  KOKKOS_INLINE_FUNCTION void operator()(Count, const std::int64_t i) const {
    const auto row = source(i) % crs.numRows();
    crs_row_map[i] = crs.graph.row_map(row + 1) - crs.graph.row_map(row);
  }
  KOKKOS_INLINE_FUNCTION void operator()(Fill, const std::int64_t i) const {
    const std::int64_t from = source(i);
    const auto row = from % crs.numRows();
    const auto shift =
        static_cast<typename Crs::non_const_ordinal_type>(from / crs.numRows() * crs.numCols());
    auto at = crs_row_map[i];
    for (auto k = crs.graph.row_map(row); k < crs.graph.row_map(row + 1); ++k, ++at) {
      crs_entries[at] = crs.graph.entries(k) + shift;
      crs_values[at] = crs.values(k);
    }
  }
};

/// A block diagonal matrix of `times` copies of `crs`: a large matrix with the row lengths of a small one. With
/// mixes_rows the rows of each group of eight are in a random order. Without it a processor may learn the row lengths of
/// one copy, and then predicts where rows end, which it may not in a large matrix (see docs/performance.md, "Rows of
/// differing length on hosts").
/// Throws std::invalid_argument if it has more rows, columns or entries than the types of the matrix can
/// count.
template <class Crs>
Crs repeated(const Crs& crs, std::int64_t times, bool mixes_rows = false) {
  using execution_space = typename Crs::execution_space;
  using Repeat = RepeatRows<execution_space, Crs>;
  const auto refuse = [&](const char* what, double count, double most) {
    if (count > most)
      Filigree::Impl::fail<std::invalid_argument>("repeated: ", times, " copies of the matrix have ", count,
                                                  " ", what, ", but its types can count at most ", most, ".");
  };
  const double most_rows =
      static_cast<double>(std::numeric_limits<typename Crs::non_const_ordinal_type>::max());
  const double most_entries =
      static_cast<double>(std::numeric_limits<typename Crs::non_const_size_type>::max());
  refuse("rows", static_cast<double>(times) * static_cast<double>(crs.numRows()), most_rows);
  refuse("columns", static_cast<double>(times) * static_cast<double>(crs.numCols()), most_rows);
  refuse("entries", static_cast<double>(times) * static_cast<double>(crs.nnz()), most_entries);
  using ordinal = typename Crs::non_const_ordinal_type;
  const auto rows = static_cast<ordinal>(crs.numRows() * times);
  return Filigree::Impl::build_crs<Crs, typename Repeat::Count, typename Repeat::Fill>(
      execution_space(), "repeated", rows, static_cast<ordinal>(crs.numCols() * times),
      Repeat{crs, static_cast<std::int64_t>(rows), mixes_rows}, rows, rows);
}

}  // namespace FiligreePerf

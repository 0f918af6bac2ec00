// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <limits>

#include <filigree/conversion/build_crs.hpp>
#include <filigree/core/error.hpp>

namespace FiligreePerf {

/// Fills the rows of a block diagonal matrix whose blocks are copies of a CRS matrix.
template <class ExecutionSpace, class Crs>
struct RepeatRows {
  using execution_space = ExecutionSpace;
  struct Count {};
  struct Fill {};

  Crs crs;
  // build_crs sets these.
  typename Crs::non_const_size_type* crs_row_map = nullptr;
  typename Crs::non_const_ordinal_type* crs_entries = nullptr;
  typename Crs::non_const_value_type* crs_values = nullptr;

  KOKKOS_INLINE_FUNCTION void operator()(Count, const std::int64_t i) const {
    const auto row = i % crs.numRows();
    crs_row_map[i] = crs.graph.row_map(row + 1) - crs.graph.row_map(row);
  }
  KOKKOS_INLINE_FUNCTION void operator()(Fill, const std::int64_t i) const {
    const auto row = i % crs.numRows();
    const auto shift = static_cast<typename Crs::non_const_ordinal_type>(i / crs.numRows() * crs.numCols());
    auto at = crs_row_map[i];
    for (auto k = crs.graph.row_map(row); k < crs.graph.row_map(row + 1); ++k, ++at) {
      crs_entries[at] = crs.graph.entries(k) + shift;
      crs_values[at] = crs.values(k);
    }
  }
};

/// A block diagonal matrix of `times` copies of `crs`: a large matrix with the row lengths of a small one.
/// Throws std::invalid_argument if it has more rows, columns or entries than the types of the matrix can
/// count.
template <class Crs>
Crs repeated(const Crs& crs, std::int64_t times) {
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
      execution_space(), "repeated", rows, static_cast<ordinal>(crs.numCols() * times), Repeat{crs}, rows,
      rows);
}

}  // namespace FiligreePerf

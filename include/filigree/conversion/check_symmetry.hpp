// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "filigree/conversion/check_crs.hpp"
#include "filigree/conversion/sorted_entries.hpp"
#include "filigree/core/binary_search.hpp"
#include "filigree/core/scalar.hpp"

namespace Filigree::Impl {

/// Throws std::invalid_argument for two entries that are not mirror images of each other.
template <class Scalar>
[[noreturn]] void fail_asymmetric(const char* function, std::int64_t row, std::int64_t column,
                                  const Scalar& value, const Scalar& image, bool is_hermitian,
                                  double tolerance) {
  const char* const expected = is_hermitian && is_complex_v<Scalar> ? "complex conjugates" : "equal";
  fail<std::invalid_argument>(
      function, ": the matrix is not symmetric: the value in row ", row, " and column ", column, " is ",
      printable(value), ", and the value in row ", column, " and column ", row, " is ", printable(image),
      "; they must be ", expected, " up to a relative difference of options.symmetry_tolerance = ", tolerance,
      ". Use Filigree::CdsMatrix for matrices that are not symmetric.");
}

/// Finds the first entry of a CRS matrix that differs from its mirror image.
template <class Views>
struct CheckSymmetry {
  using scalar_type = typename Views::scalar_type;

  Views crs;
  bool is_hermitian;
  double tolerance;
  bool rows_are_sorted;  ///< the columns of no row decrease
  int log2_lanes;        ///< there are 1 << log2_lanes lanes per row

  /// `lane` counts the lanes of all rows.
  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t lane, std::int64_t& first_bad) const {
    const std::int64_t row = lane >> log2_lanes;
    const std::int64_t lanes = std::int64_t(1) << log2_lanes;
    for (std::int64_t i = crs.begin(row) + lane - row * lanes; i < crs.end(row); i += lanes)
      if (i < first_bad && !agrees(row, i)) first_bad = i;
  }

  /// Whether the sum of the entries in the position of entry i agrees with the sum in the mirrored position.
  KOKKOS_FORCEINLINE_FUNCTION bool agrees(const std::int64_t row, const std::int64_t i) const {
    const auto column = static_cast<std::int64_t>(crs.entries[i]);
    return are_mirror_images(sum_of(row, column), sum_of(column, row), is_hermitian, tolerance);
  }

  /// The sum of the entries of a row in a column.
  KOKKOS_FORCEINLINE_FUNCTION scalar_type sum_of(std::int64_t row, std::int64_t column) const {
    const auto column_of = [&](std::int64_t i) { return static_cast<std::int64_t>(crs.entries[i]); };
    const std::int64_t end = crs.end(row);
    std::int64_t i = crs.begin(row);
    if (rows_are_sorted)
      i = first_where(i, end, [&](std::int64_t entry) { return column_of(entry) >= column; });
    scalar_type sum(0);
    for (; i < end && (!rows_are_sorted || column_of(i) == column); ++i)
      if (column_of(i) == column) sum += crs.values[i];
    return sum;
  }
};

/// The sum of the entries of a CRS matrix in a row and column. Fences exec.
template <class ExecutionSpace, class Crs>
auto sum_of_entries(const ExecutionSpace& exec, const Crs& crs, std::int64_t row, std::int64_t column) {
  const auto row_map = host_copy(exec, crs.graph.row_map);
  typename Crs::non_const_value_type sum(0);
  for (auto i = row_map(row); i < row_map(row + 1); ++i)
    if (static_cast<std::int64_t>(read_element(exec, crs.graph.entries, i)) == column)
      sum += read_element(exec, crs.values, i);
  return sum;
}

/// Throws std::invalid_argument, with the first pair of values that differ, unless a square matrix is
/// symmetric, or Hermitian, up to `tolerance`. An entry that does not exist is 0. The message begins with
/// `function`. Fences exec. The work for a row of n entries is in proportion to n * log(n), or to n * n if
/// the columns of some row of the matrix decrease.
template <class ExecutionSpace, class Crs>
void check_symmetry(const ExecutionSpace& exec, const char* function, const char* format, const Crs& crs,
                    bool is_hermitian, double tolerance) {
  using Check = CheckSymmetry<crs_views_t<Crs>>;
  const auto rows = static_cast<std::int64_t>(crs.numRows());
  const auto nnz = static_cast<std::int64_t>(crs.nnz());
  if (nnz == 0) return;
  const Check check{crs_views_t<Crs>(crs), is_hermitian, tolerance, count_unsorted(exec, format, crs) == 0,
                    log2_lanes_per_row<ExecutionSpace>(rows, nnz)};
  const std::int64_t bad = find_first<void>(exec, "check_symmetry", format, rows << check.log2_lanes, check);
  if (bad == none_found) return;
  const std::int64_t row = row_of_entry(exec, crs, bad);
  const auto column =
      static_cast<std::int64_t>(read_element(exec, crs.graph.entries, static_cast<std::size_t>(bad)));
  fail_asymmetric(function, row, column, sum_of_entries(exec, crs, row, column),
                  sum_of_entries(exec, crs, column, row), is_hermitian, tolerance);
}

}  // namespace Filigree::Impl

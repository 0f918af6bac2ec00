// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "filigree/formats/cds/cds_convert.hpp"
#include "filigree/formats/split_cds/split_cds_layout.hpp"

namespace Filigree::Impl {

/// Finds the first row with an element that could not be split (FindRow), and its column (FindColumn).
template <class Elements>
struct FindUnsplit {
  struct FindRow {};
  struct FindColumn {};

  Elements elements;
  std::int64_t bad_row = 0;  ///< for FindColumn

  template <class Visit>
  KOKKOS_FORCEINLINE_FUNCTION void for_each_unsplit(std::int64_t row, const Visit& visit) const {
    elements.for_each_element(row, 0, elements.element_count(row),
                              [&](std::int64_t column, std::int64_t position) {
                                if (elements.trailing[position] == cannot_be_split) visit(column);
                              });
  }
  KOKKOS_INLINE_FUNCTION void operator()(FindRow, const std::int64_t row, std::int64_t& first_bad) const {
    for_each_unsplit(row, [&](std::int64_t) { first_bad = row < first_bad ? row : first_bad; });
  }
  KOKKOS_INLINE_FUNCTION void operator()(FindColumn, const std::int64_t, std::int64_t& first_bad) const {
    for_each_unsplit(bad_row,
                     [&](std::int64_t column) { first_bad = column < first_bad ? column : first_bad; });
  }
};

/// Writes the values of a CRS matrix to both halves of A. Fences exec. Throws std::range_error if a value, or
/// the sum of duplicates, cannot be split.
template <class ExecutionSpace, class Crs, class S, class O, class D, class M, class Z>
void fill_split(const ExecutionSpace& exec, const char* function, const char* what,
                const SplitCdsMatrix<S, O, D, M, Z>& A, const Crs& crs) {
  using Find = FindUnsplit<SplitCdsElements<O>>;
  fill_dense(exec, what, A.name(), SplitCdsElements<O>(A), crs);
  const auto rows = static_cast<std::int64_t>(A.numRows());
  Find find{SplitCdsElements<O>(A)};
  find.bad_row = find_first<typename Find::FindRow>(exec, "find_unsplit", A.name(), rows, find);
  if (find.bad_row == none_found) return;
  const std::int64_t column = find_first<typename Find::FindColumn>(exec, "find_unsplit", A.name(), 1, find);
  fail<std::range_error>(
      function, ": the value in row ", find.bad_row, " and column ", column,
      " cannot be split into a float and a difference of 32 bits; its absolute value must be 0 "
      "or from 1.2e-38 to 3.4e38, the range of float.");
}

/// Allocates a matrix with the offsets of a leading matrix. The caller writes its values.
template <class Matrix, class ExecutionSpace>
Matrix allocate_split_cds(const ExecutionSpace& exec, const typename Matrix::leading_type& leading) {
  const auto trailing = allocate_aligned_view<typename Matrix::trailing_type>(
      exec, "trailing", Matrix::name(), static_cast<std::int64_t>(leading.values.extent(0)));
  // fill_split does not write the padding.
  clear_cds_padding(exec, Matrix::name(), trailing, static_cast<std::int64_t>(leading.numRows()),
                    leading.column_stride());
  return Matrix(leading, trailing);
}

/// convert<SplitCdsMatrix> of a checked CRS matrix. Fences exec. Takes the memory of find_diagonals() besides
/// the result.
template <class ExecutionSpace, class Crs, class S, class O, class D, class M, class Z>
void convert_from_crs(const ExecutionSpace& exec, const Crs& crs, const SplitCdsOptions& options,
                      SplitCdsMatrix<S, O, D, M, Z>& result) {
  using Matrix = SplitCdsMatrix<S, O, D, M, Z>;
  using Leading = typename Matrix::leading_type;
  const char* const function = "Filigree::convert<SplitCdsMatrix>";
  check_block_size(function, options.block_size);
  check_count<O>(function, options.block_size, "rows per block");
  const Leading leading = empty_diagonals_of_crs<Leading>(exec, function, Matrix::name(), crs, options,
                                                          options.block_size, CdsLayout::columns, sizeof(S));
  result = allocate_split_cds<Matrix>(exec, leading);
  fill_split(exec, function, "convert", result, crs);
}

/// See convert.hpp.
template <class ExecutionSpace, class S, class O, class D, class M, class Z, class Crs>
std::int64_t first_different_row(const ExecutionSpace& exec, const SplitCdsMatrix<S, O, D, M, Z>& A,
                                 const Crs& crs) {
  return first_different_dense_row(exec, A.name(), A.leading, SplitCdsElements<O>(A), crs);
}

/// See convert.hpp. It writes the new values to other Views first, because they may be refused, and so takes
/// the memory of another matrix. Fences exec.
template <class ExecutionSpace, class S, class O, class D, class M, class Z, class Crs>
void refill_from_crs(const ExecutionSpace& exec, const SplitCdsMatrix<S, O, D, M, Z>& A, const Crs& crs) {
  // Not of type A, whose Views may be unmanaged.
  using Matrix = SplitCdsMatrix<S, O, D, void, Z>;
  using Leading = typename Matrix::leading_type;
  const auto values = allocate_aligned_view<typename Leading::values_type>(
      exec, "new_leading", A.name(), static_cast<std::int64_t>(A.leading.values.extent(0)));
  clear_cds_padding(exec, A.name(), values, static_cast<std::int64_t>(A.numRows()),
                    A.leading.column_stride());
  const Leading leading(A.numRows(), A.numCols(), A.nnz(), A.block_size(), values, A.leading.offsets);
  const Matrix fresh = allocate_split_cds<Matrix>(exec, leading);
  fill_split(exec, "Filigree::refill", "refill", fresh, crs);
  Kokkos::deep_copy(exec, A.leading.values, fresh.leading.values);
  Kokkos::deep_copy(exec, A.trailing, fresh.trailing);
  // The copies must end before the new Views are freed.
  exec.fence();
}

}  // namespace Filigree::Impl

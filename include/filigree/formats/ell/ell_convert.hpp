// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "filigree/conversion/row_copy.hpp"
#include "filigree/conversion/row_lengths.hpp"
#include "filigree/core/allocate_view.hpp"
#include "filigree/formats/ell/ell_layout.hpp"

namespace Filigree::Impl {

/// The number of values of an ELL matrix, padding included.
template <class Ell>
double ell_elements(std::int64_t rows, std::int64_t width) {
  return static_cast<double>(ell_stride(rows, sizeof(typename Ell::ordinal_type))) *
         static_cast<double>(width);
}

/// The largest number that an ELL matrix keeps in its size_type: the number of its values, or its stride if
/// it has no values.
template <class Ell>
double ell_largest_offset(std::int64_t rows, std::int64_t width) {
  return ell_elements<Ell>(rows, width > 0 ? width : 1);
}

/// Bytes of an ELL matrix with or without row lengths.
template <class Ell>
double ell_bytes(std::int64_t rows, std::int64_t width, bool row_lengths = true) {
  using ordinal_type = typename Ell::ordinal_type;
  return ell_elements<Ell>(rows, width) * (sizeof(typename Ell::value_type) + sizeof(ordinal_type)) +
         (row_lengths ? static_cast<double>(rows) * sizeof(ordinal_type) : 0.0);
}

/// Makes an ELL matrix, or the ELL part of a hybrid format. It holds the first `width` entries of each row of
/// crs, in all nnz entries. The width must be a multiple of lanes_per_row. If row_lengths is true, the View
/// of row lengths holds the lengths of the rows of crs, even if they exceed the width. Otherwise it is empty.
template <class Ell, class ExecutionSpace, class Crs>
Ell make_ell(const ExecutionSpace& exec, const char* format, const Crs& crs, std::int64_t nnz,
             std::int64_t width, int lanes_per_row, bool row_lengths) {
  using ordinal_type = typename Ell::ordinal_type;
  using size_type = typename Ell::size_type;
  const std::int64_t rows = static_cast<std::int64_t>(crs.numRows());
  const std::int64_t stride = ell_stride(rows, sizeof(ordinal_type));
  const Ell ell(
      crs.numRows(), crs.numCols(), static_cast<size_type>(nnz), static_cast<ordinal_type>(width),
      static_cast<size_type>(stride),
      allocate_view<typename Ell::values_type>(exec, "values", format, stride * width),
      allocate_view<typename Ell::entries_type>(exec, "entries", format, stride * width),
      allocate_view<typename Ell::entries_type>(exec, "row_lengths", format, row_lengths ? rows : 0),
      lanes_per_row);
  copy_row_lengths(exec, format, crs, ell.row_lengths);
  fill_rows(exec, format, EllLayout<typename Ell::value_type, ordinal_type, false>(ell), crs);
  return ell;
}

/// convert<EllMatrix> of a checked CRS matrix. Fences exec to read the width. Takes no memory besides the
/// result.
template <class ExecutionSpace, class Crs, class S, class O, class D, class M, class Z>
void convert_from_crs(const ExecutionSpace& exec, const Crs& crs, const EllOptions& options,
                      EllMatrix<S, O, D, M, Z>& result) {
  using Ell = EllMatrix<S, O, D, M, Z>;
  const char* function = "Filigree::convert<EllMatrix>";
  check_lanes_per_row(function, options.lanes_per_row);
  check_power_of_two(function, "options.lanes_per_team", options.lanes_per_team, 32, 1024);
  const std::int64_t rows = static_cast<std::int64_t>(crs.numRows());
  const std::int64_t longest = longest_row(exec, Ell::name(), crs);
  const std::int64_t width = round_up(longest, options.lanes_per_row);
  check_count<O>(function, width, "entries per row, padding included");
  check_storage<Z>(function, ell_largest_offset<Ell>(rows, width),
                   ell_bytes<Ell>(rows, width, options.row_lengths), crs, options,
                   [&](std::ostream& why) { explain_longest_row(why, crs, longest); });
  result = make_ell<Ell>(exec, Ell::name(), crs, static_cast<std::int64_t>(crs.nnz()), width,
                         options.lanes_per_row, options.row_lengths);
  result.set_lanes_per_team(options.lanes_per_team);
}

}  // namespace Filigree::Impl

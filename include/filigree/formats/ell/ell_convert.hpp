// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <string>

#include "filigree/conversion/check_crs.hpp"
#include "filigree/conversion/check_lanes.hpp"
#include "filigree/conversion/row_copy.hpp"
#include "filigree/conversion/row_lengths.hpp"
#include "filigree/core/allocate_view.hpp"
#include "filigree/formats/ell/ell_layout.hpp"
#include "filigree/formats/ell/ell_matrix.hpp"

namespace Filigree::Impl {

/// Allocates an ELL matrix, or the ELL part of a hybrid format, of the given width. The width must be a
/// multiple of lanes_per_row. If row_lengths is false, the View of row lengths is empty.
template <class Ell, class ExecutionSpace>
Ell allocate_ell(const ExecutionSpace& exec, const char* format, typename Ell::ordinal_type rows,
                 typename Ell::ordinal_type columns, typename Ell::size_type nnz, std::int64_t width,
                 int lanes_per_row, bool row_lengths) {
  const std::int64_t stride = round_up(static_cast<std::int64_t>(rows), Ell::row_alignment);
  return Ell(rows, columns, nnz, static_cast<typename Ell::ordinal_type>(width),
             static_cast<typename Ell::size_type>(stride),
             allocate_view<typename Ell::values_type>(exec, "values", format, stride * width),
             allocate_view<typename Ell::entries_type>(exec, "entries", format, stride * width),
             allocate_view<typename Ell::row_lengths_type>(exec, "row_lengths", format,
                                                           row_lengths ? static_cast<std::int64_t>(rows) : 0),
             lanes_per_row);
}

/// Bytes of an ELL matrix with row lengths.
template <class Ell>
double ell_bytes(std::int64_t rows, std::int64_t width) {
  return static_cast<double>(round_up(rows, Ell::row_alignment)) * static_cast<double>(width) *
             (sizeof(typename Ell::value_type) + sizeof(typename Ell::ordinal_type)) +
         static_cast<double>(rows) * sizeof(typename Ell::ordinal_type);
}

/// Writes the first ell.width() entries of each row. The row lengths that it writes are the lengths of the
/// rows of crs, also if they exceed the width.
template <class ExecutionSpace, class Crs, class S, class O, class D, class M, class Z>
void fill_ell(const ExecutionSpace& exec, const char* format, const Crs& crs,
              const EllMatrix<S, O, D, M, Z>& ell) {
  copy_row_lengths(exec, format, crs, ell.row_lengths);
  fill_rows(exec, format, EllLayout<S, O, false>(ell), crs);
}

/// convert<EllMatrix> of a checked CRS matrix. Fences exec to read the width.
template <class ExecutionSpace, class Crs, class S, class O, class D, class M, class Z>
void convert_from_crs(const ExecutionSpace& exec, const Crs& crs, const EllOptions& options,
                      EllMatrix<S, O, D, M, Z>& result) {
  using Ell = EllMatrix<S, O, D, M, Z>;
  const char* function = "Filigree::convert<EllMatrix>";
  check_lanes_per_row(function, options.lanes_per_row);
  check_lanes_per_team(function, "options.lanes_per_team", options.lanes_per_team);
  const std::int64_t rows = static_cast<std::int64_t>(crs.numRows());
  const std::int64_t longest = longest_row(exec, Ell::name(), crs);
  const std::int64_t width = round_up(longest, options.lanes_per_row);
  const std::int64_t stride = round_up(rows, Ell::row_alignment);
  const double elements = static_cast<double>(stride) * static_cast<double>(width);
  const double bytes = elements * (sizeof(S) + sizeof(O)) +
                       (options.row_lengths ? static_cast<double>(rows) * sizeof(O) : 0.0);
  check_storage<Z>(function, elements, bytes, crs, options,
                   [&](std::ostream& why) { explain_longest_row(why, crs, longest); });
  result = allocate_ell<Ell>(exec, Ell::name(), crs.numRows(), crs.numCols(), static_cast<Z>(crs.nnz()),
                             width, options.lanes_per_row, options.row_lengths);
  result.set_lanes_per_team(options.lanes_per_team);
  fill_ell(exec, Ell::name(), crs, result);
}

}  // namespace Filigree::Impl

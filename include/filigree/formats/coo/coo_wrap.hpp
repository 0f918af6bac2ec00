// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "filigree/formats/coo/coo_convert.hpp"

namespace Filigree {

/// Makes a row_count x column_count COO matrix that shares three Views of one length. Entry i has the value
/// values(i) and is in row rows(i) and column columns(i). Entries must be sorted by row; make_coo copies and
/// sorts any triplets.
///
/// It makes two lists. The rows without entries take one Ordinal each. The chunks take 16 or 24 bytes each
/// (see EntryChunks). While it runs, it takes 8 bytes per entry more. It also allocates the workspace of the
/// first product. Fences exec.
///
/// Throws std::invalid_argument if the Views differ in length or an extent is negative, and std::length_error
/// if SizeType cannot count the entries. The content of the Views is not checked: see check().
template <class SizeType = std::size_t, class ExecutionSpace, class RowView, class ColumnView,
          class ValueView>
auto wrap_coo(const ExecutionSpace& exec, typename RowView::non_const_value_type row_count,
              typename RowView::non_const_value_type column_count, const RowView& rows,
              const ColumnView& columns, const ValueView& values) {
  using Ordinal = typename RowView::non_const_value_type;
  using Coo = CooMatrix<typename ValueView::non_const_value_type, Ordinal, typename ValueView::device_type,
                        void, SizeType>;
  static_assert(!std::is_const<typename RowView::value_type>::value &&
                    !std::is_const<typename ColumnView::value_type>::value &&
                    !std::is_const<typename ValueView::value_type>::value,
                "Filigree::wrap_coo: the Views must not be const, because refill() writes to the matrix. "
                "make_coo copies const Views.");
  Impl::check_initialized("Filigree::wrap_coo");
  Impl::ScopedRegion region(Impl::label("wrap_coo", Coo::name()));
  Impl::check_triplets<ExecutionSpace, SizeType>("Filigree::wrap_coo", row_count, column_count, rows, columns,
                                                 values);
  Coo coo(row_count, column_count, values, columns, rows, {}, {});
  coo.empty_rows =
      Impl::empty_rows_of_sorted(exec, coo.name(), coo.rows, static_cast<std::int64_t>(row_count));
  Impl::find_chunks(exec, coo.name(), coo);
  return coo;
}

/// wrap_coo on the default instance of the execution space of the values.
template <class SizeType = std::size_t, class RowView, class ColumnView, class ValueView>
auto wrap_coo(typename RowView::non_const_value_type row_count,
              typename RowView::non_const_value_type column_count, const RowView& rows,
              const ColumnView& columns, const ValueView& values) {
  Impl::check_initialized("Filigree::wrap_coo");
  return wrap_coo<SizeType>(typename ValueView::execution_space(), row_count, column_count, rows, columns,
                            values);
}

}  // namespace Filigree

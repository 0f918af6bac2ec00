// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FILIGREE_CORE_SORT_ROWS_HPP
#define FILIGREE_CORE_SORT_ROWS_HPP

#include <cstdint>

#include "filigree/core/allocate_view.hpp"
#include "filigree/core/check_crs.hpp"
#include "filigree/core/stable_sort.hpp"

namespace Filigree {
namespace Impl {

/// The keys that sort rows by falling length inside windows.
template <class ExecutionSpace, class Views>
struct RowKeys {
  using execution_space = ExecutionSpace;
  Views crs;
  std::int64_t window;
  std::int64_t longest;
  std::uint64_t* keys;

  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t row) const {
    const std::int64_t shorter = longest - (crs.end(row) - crs.begin(row));
    keys[row] = static_cast<std::uint64_t>(row / window * (longest + 1) + shorter);
  }
};

/// The rows of a CRS matrix sorted by falling length inside windows of `window` rows, rows of one length in
/// their order. longest is the length of the longest row. Fences exec.
template <class OrderView, class ExecutionSpace, class Crs>
OrderView rows_by_length(const ExecutionSpace& exec, const char* format, const Crs& crs, std::int64_t window,
                         std::int64_t longest) {
  using Views = crs_views_t<Crs>;
  const std::int64_t rows = static_cast<std::int64_t>(crs.numRows());
  if (rows == 0) return OrderView();
  const auto keys = allocate_view<Kokkos::View<std::uint64_t*, typename OrderView::device_type>>(
      exec, "keys", format, rows);
  Kokkos::parallel_for(label("keys", format), row_range<void>(exec, rows),
                       RowKeys<ExecutionSpace, Views>{Views(crs), window, longest, keys.data()});
  return stable_order<typename OrderView::non_const_value_type>(
      exec, format, keys, static_cast<std::uint64_t>((rows - 1) / window * (longest + 1) + longest));
}

}  // namespace Impl
}  // namespace Filigree

#endif

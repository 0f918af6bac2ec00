// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The slices of SELL for SellOptions::one_length_per_slice: the sections of JDS-ELL.
#pragma once

#include "filigree/conversion/crs_views.hpp"
#include "filigree/core/allocate_view.hpp"
#include "filigree/core/launch.hpp"
#include "filigree/formats/sell/sell_layout.hpp"

namespace Filigree::Impl {

/// Finds the slices for SellOptions::one_length_per_slice. A slice begins at the first sorted row of each
/// length, and then after every slice_height rows of that length. FindFirst, Count and List run one after
/// another, with one lane per sorted row.
template <class Views, class Ordinal>
struct SellSections {
  using value_type = std::int64_t;
  struct FindFirst {};
  struct Count {};
  struct List {};

  Views crs;
  const Ordinal* permutation;
  std::int64_t rows;
  std::int64_t slice_height;
  Ordinal* first_of_length;  ///< first sorted row of each length that occurs
  Ordinal* slice_rows;       ///< result: first sorted row of each slice; last element: number of rows

  KOKKOS_FORCEINLINE_FUNCTION std::int64_t length(std::int64_t i) const {
    return crs.length(static_cast<std::int64_t>(permutation[i]));
  }
  KOKKOS_INLINE_FUNCTION void operator()(FindFirst, const std::int64_t i) const {
    if (i == 0 || length(i - 1) != length(i)) first_of_length[length(i)] = static_cast<Ordinal>(i);
  }
  KOKKOS_FORCEINLINE_FUNCTION bool begins(std::int64_t i) const {
    return (i - static_cast<std::int64_t>(first_of_length[length(i)])) % slice_height == 0;
  }
  KOKKOS_INLINE_FUNCTION void operator()(Count, const std::int64_t i, std::int64_t& count) const {
    if (begins(i)) ++count;
  }
  KOKKOS_INLINE_FUNCTION void operator()(List, const std::int64_t i, std::int64_t& count,
                                         const bool final) const {
    if (begins(i)) {
      if (final) slice_rows[count] = static_cast<Ordinal>(i);
      ++count;
    }
    if (final && i == rows - 1) slice_rows[count] = static_cast<Ordinal>(rows);
  }
};

/// Sets sell.slice_rows for SellOptions::one_length_per_slice and returns the number of slices.
/// sell.permutation must be set, and there must be rows. `longest` is the length of the longest row. Fences
/// exec.
template <class ExecutionSpace, class Crs, class S, class O, class D, class M, class Z>
std::int64_t find_sell_sections(const ExecutionSpace& exec, const Crs& crs, std::int64_t longest,
                                SellMatrix<S, O, D, M, Z>& sell) {
  using Sections = SellSections<CrsViews<S, O, Z>, O>;
  using entries_type = typename SellMatrix<S, O, D, M, Z>::entries_type;
  const char* name = sell.name();
  const std::int64_t rows = static_cast<std::int64_t>(crs.numRows());
  const auto first_of_length = allocate_view<entries_type>(exec, "first_of_length", name, longest + 1);
  Sections sections{CrsViews<S, O, Z>(crs), sell.permutation.data(), rows,
                    sell.slice_height(),    first_of_length.data(),  nullptr};
  std::int64_t slices = 0;
  Kokkos::parallel_for(label("sections", name), row_range<typename Sections::FindFirst>(exec, rows),
                       sections);
  Kokkos::parallel_reduce(label("count_slices", name), row_range<typename Sections::Count>(exec, rows),
                          sections, slices);
  exec.fence();
  sell.slice_rows = allocate_view<entries_type>(exec, "slice_rows", name, slices + 1);
  sections.slice_rows = sell.slice_rows.data();
  Kokkos::parallel_scan(label("slice_rows", name), row_range<typename Sections::List>(exec, rows), sections);
  // The kernel must end before first_of_length is freed.
  exec.fence();
  return slices;
}

}  // namespace Filigree::Impl

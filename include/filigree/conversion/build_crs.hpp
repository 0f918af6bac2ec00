// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "filigree/core/require_cxx17.hpp"

#include <KokkosSparse_CrsMatrix.hpp>

#include "filigree/core/allocate_view.hpp"
#include "filigree/core/launch.hpp"
#include "filigree/core/read_view.hpp"
#include "filigree/core/region.hpp"

namespace Filigree::Impl {

/// Replaces each element by the sum of all elements before it, for a parallel_scan over them. It turns the
/// row lengths of a matrix into its row map. Not Kokkos::Experimental::exclusive_scan, which is missing
/// before Kokkos 3.6, and which allocates and fences.
template <class SizeType>
struct ExclusiveSum {
  using value_type = SizeType;
  SizeType* data;

  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t i, SizeType& sum, const bool final) const {
    const SizeType value = data[i];
    if (final) data[i] = sum;
    sum += value;
  }
};

/// Builds a CRS matrix with a functor `work` that two kernels call. The conversions back to CRS and the
/// assembly of grids use it.
///
/// Tagged CountTag, it is called with 0 to counts - 1 and writes the length of each row to crs_row_map[row].
/// Tagged FillTag, it is called with 0 to fills - 1 and writes the entries of all rows to crs_entries and
/// crs_values. By then crs_row_map holds the row map. Fences exec to read the number of entries.
template <class Crs, class CountTag, class FillTag, class ExecutionSpace, class Work>
Crs build_crs(const ExecutionSpace& exec, const char* format, typename Crs::non_const_ordinal_type rows,
              typename Crs::non_const_ordinal_type columns, Work work, std::int64_t counts,
              std::int64_t fills) {
  using size_type = typename Crs::non_const_size_type;
  typename Crs::row_map_type::non_const_type row_map(Kokkos::view_alloc(exec, label("row_map", format)),
                                                     static_cast<std::size_t>(rows) + 1);
  work.crs_row_map = row_map.data();
  Kokkos::parallel_for(label("count", format), row_range<CountTag>(exec, counts), work);
  Kokkos::parallel_scan(label("row_map", format), row_range<void>(exec, static_cast<std::int64_t>(rows) + 1),
                        ExclusiveSum<size_type>{row_map.data()});
  const size_type nnz = read_element(exec, row_map, static_cast<std::size_t>(rows));

  const auto elements = static_cast<std::int64_t>(nnz);
  const auto entries =
      allocate_view<typename Crs::index_type::non_const_type>(exec, "entries", format, elements);
  const auto values =
      allocate_view<typename Crs::values_type::non_const_type>(exec, "values", format, elements);
  work.crs_entries = entries.data();
  work.crs_values = values.data();
  Kokkos::parallel_for(label("fill", format), row_range<FillTag>(exec, fills), work);
  return Crs(label("crs", format), rows, columns, nnz, values, row_map, entries);
}

}  // namespace Filigree::Impl

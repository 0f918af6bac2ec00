// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FILIGREE_CORE_CHECK_CRS_HPP
#define FILIGREE_CORE_CHECK_CRS_HPP

#include <cstdint>
#include <limits>
#include <string>

#include <KokkosSparse_CrsMatrix.hpp>

#include "filigree/core/convert_options.hpp"
#include "filigree/core/error.hpp"
#include "filigree/core/launch.hpp"

namespace Filigree {
namespace Impl {

/// The Views of a CRS matrix in a form that kernels take, whatever the traits of the matrix.
template <class Scalar, class Ordinal, class SizeType>
struct CrsViews {
  const Scalar* values;
  const Ordinal* entries;
  const SizeType* row_map;

  template <class Crs>
  explicit CrsViews(const Crs& crs)
      : values(crs.values.data()), entries(crs.graph.entries.data()), row_map(crs.graph.row_map.data()) {}

  KOKKOS_FORCEINLINE_FUNCTION std::int64_t begin(std::int64_t row) const {
    return static_cast<std::int64_t>(row_map[row]);
  }
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t end(std::int64_t row) const { return begin(row + 1); }
};

template <class Crs>
using crs_views_t = CrsViews<typename Crs::non_const_value_type, typename Crs::non_const_ordinal_type,
                             typename Crs::non_const_size_type>;

/// Reads one element of a View that may live on a device.
template <class View>
typename View::non_const_value_type read_element(const View& view, std::size_t index) {
  typename View::non_const_value_type value;
  Kokkos::deep_copy(value, Kokkos::subview(view, index));
  return value;
}

/// Whether row breaks a rule of CRS: a row map that falls or leaves the entries, or a column outside the
/// matrix.
template <class ExecutionSpace, class Views>
struct BadCrsRow {
  using execution_space = ExecutionSpace;
  Views crs;
  std::int64_t columns;
  std::int64_t entry_count;

  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t row, std::int64_t& first_bad) const {
    const std::int64_t begin = crs.begin(row);
    const std::int64_t end = crs.end(row);
    bool bad = begin < 0 || end < begin || end > entry_count;
    for (std::int64_t i = begin; !bad && i < end; ++i) {
      const std::int64_t column = static_cast<std::int64_t>(crs.entries[i]);
      bad = column < 0 || column >= columns;
    }
    if (bad && row < first_bad) first_bad = row;
  }
};

/// Throws std::invalid_argument, naming function, for a CRS matrix that is none: Views of the wrong length
/// always, the row map and the columns where check_content is true. Fences exec in the latter case.
template <class ExecutionSpace, class Crs>
void check_crs(const ExecutionSpace& exec, const char* function, const Crs& crs, bool check_content) {
  const std::int64_t rows = static_cast<std::int64_t>(crs.numRows());
  const std::int64_t columns = static_cast<std::int64_t>(crs.numCols());
  const std::int64_t entries = static_cast<std::int64_t>(crs.graph.entries.extent(0));
  const std::int64_t row_map = static_cast<std::int64_t>(crs.graph.row_map.extent(0));
  const std::int64_t values = static_cast<std::int64_t>(crs.values.extent(0));
  if (rows < 0 || columns < 0)
    fail<std::invalid_argument>(function, ": the CRS matrix is ", rows, " x ", columns,
                                "; it must have no negative extent.");
  if (values != entries)
    fail<std::invalid_argument>(function, ": the CRS matrix has ", values, " values and ", entries,
                                " entries; it must have one value an entry.");
  if (rows == 0 && entries == 0) return;
  if (row_map != rows + 1)
    fail<std::invalid_argument>(function, ": the row map of the CRS matrix has ", row_map, " elements for ",
                                rows, " rows; it must have ", rows + 1, ".");
  if (!check_content) return;

  exec.fence();
  const std::int64_t first = static_cast<std::int64_t>(read_element(crs.graph.row_map, 0));
  const std::int64_t last = static_cast<std::int64_t>(read_element(crs.graph.row_map, rows));
  if (first != 0)
    fail<std::invalid_argument>(function, ": the row map of the CRS matrix starts with ", first,
                                "; it must start with 0.");
  if (last != entries)
    fail<std::invalid_argument>(function, ": the row map of the CRS matrix ends with ", last,
                                "; it must end with its number of entries, ", entries, ".");

  std::int64_t bad = std::numeric_limits<std::int64_t>::max();
  Kokkos::parallel_reduce(
      "Filigree::check[crs]", row_range<void>(exec, rows),
      BadCrsRow<ExecutionSpace, crs_views_t<Crs>>{crs_views_t<Crs>(crs), columns, entries},
      Kokkos::Min<std::int64_t>(bad));
  exec.fence();
  if (bad == std::numeric_limits<std::int64_t>::max()) return;

  const std::int64_t begin = static_cast<std::int64_t>(read_element(crs.graph.row_map, bad));
  const std::int64_t end = static_cast<std::int64_t>(read_element(crs.graph.row_map, bad + 1));
  if (begin < 0 || end < begin || end > entries)
    fail<std::invalid_argument>(function, ": the row map of the CRS matrix gives row ", bad, " the entries ",
                                begin, " to ", end, " of ", entries,
                                "; it must not fall and must stay in the entries.");
  for (std::int64_t i = begin; i < end; ++i) {
    const std::int64_t column = static_cast<std::int64_t>(read_element(crs.graph.entries, i));
    if (column < 0 || column >= columns)
      fail<std::invalid_argument>(function, ": row ", bad, " of the CRS matrix has an entry in column ",
                                  column, "; columns of a ", rows, " x ", columns, " matrix are 0 to ",
                                  columns - 1, ".");
  }
}

/// Bytes of the three Views of a CRS matrix.
template <class Crs>
double crs_bytes(const Crs& crs) {
  return static_cast<double>(crs.values.extent(0)) * sizeof(typename Crs::non_const_value_type) +
         static_cast<double>(crs.graph.entries.extent(0)) * sizeof(typename Crs::non_const_ordinal_type) +
         static_cast<double>(crs.graph.row_map.extent(0)) * sizeof(typename Crs::non_const_size_type);
}

/// Throws std::length_error if a View of `elements` elements cannot be indexed with SizeType, or if `bytes`,
/// the size of the whole result, passes the limit of the options. explain(stream) prints what makes it that
/// large.
template <class SizeType, class Crs, class Explain>
void check_storage(const char* function, double elements, double bytes, const Crs& crs,
                   const ConvertOptions& options, const Explain& explain) {
  const double limit = options.max_storage_ratio * crs_bytes(crs);
  const bool counts = elements <= static_cast<double>(std::numeric_limits<SizeType>::max());
  const bool fits = crs.nnz() == 0 || bytes <= limit || bytes <= ConvertOptions::never_refused_bytes;
  if (counts && fits) return;
  std::ostringstream why;
  explain(why);
  if (!counts)
    fail<std::length_error>(function, ": the result needs ", elements, " padded entries, more than the ",
                            8 * sizeof(SizeType), "-bit size_type of the matrix can count (", why.str(),
                            "); convert from a CRS matrix with a wider size_type.");
  fail<std::length_error>(function, ": the result would take ", bytes, " bytes, ", bytes / crs_bytes(crs),
                          " times the ", crs_bytes(crs), " bytes of the CRS matrix (", why.str(),
                          "); options.max_storage_ratio allows ", options.max_storage_ratio, ".");
}

}  // namespace Impl
}  // namespace Filigree

#endif

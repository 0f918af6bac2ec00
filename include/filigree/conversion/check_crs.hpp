// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <limits>

#include "filigree/conversion/crs_views.hpp"
#include "filigree/core/convert_options.hpp"
#include "filigree/core/error.hpp"
#include "filigree/core/launch.hpp"
#include "filigree/core/precompiled.hpp"
#include "filigree/core/region.hpp"

namespace Filigree::Impl {

/// The result of find_first() if no call finds anything.
constexpr std::int64_t none_found = std::numeric_limits<std::int64_t>::max();

/// The smallest number that the calls work(0) to work(count - 1) find, or none_found. The kernel is a
/// reduction and is named "Filigree::<what>[<format>]". Fences exec.
template <class Tag, class ExecutionSpace, class Work>
std::int64_t find_first(const ExecutionSpace& exec, const char* what, const char* format, std::int64_t count,
                        const Work& work) {
  std::int64_t first = none_found;
  Kokkos::parallel_reduce(label(what, format), row_range<Tag>(exec, count), work,
                          Kokkos::Min<std::int64_t>(first));
  exec.fence();
  return first;
}

/// Finds the first fault of a CRS matrix. A fault in the row map is numbered by its row: the entries of the
/// row end before they begin, or lie outside of the entries of the matrix, or row 0 does not begin at 0, or
/// the last row does not end at nnz. Entry i with a column outside the matrix is numbered rows + i.
template <class Views>
struct CheckCrs {
  Views crs;
  std::int64_t rows;
  std::int64_t columns;
  std::int64_t nnz;

  /// Column indices that one call checks. Their loads do not wait for each other, so the memory stays busy.
  static constexpr int batch = 4;
  KOKKOS_INLINE_FUNCTION std::int64_t batches() const { return (nnz + batch - 1) / batch; }

  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t i, std::int64_t& first_bad) const {
    if (i < rows) {
      const std::int64_t begin = crs.begin(i);
      const std::int64_t end = crs.end(i);
      const bool bad =
          begin < 0 || end < begin || end > nnz || (i == 0 && begin != 0) || (i == rows - 1 && end != nnz);
      if (bad && i < first_bad) first_bad = i;
      return;
    }
    std::int64_t found[batch];
    FILIGREE_UNROLL(4)
    for (int b = 0; b < batch; ++b) {
      const std::int64_t entry = (i - rows) * batch + b;
      found[b] = entry < nnz ? static_cast<std::int64_t>(crs.entries[entry]) : 0;
    }
    FILIGREE_UNROLL(4)
    for (int b = 0; b < batch; ++b) {
      const std::int64_t bad = rows + (i - rows) * batch + b;
      if ((found[b] < 0 || found[b] >= columns) && bad < first_bad) first_bad = bad;
    }
  }
};

/// The row of an entry of a CRS matrix with a valid row map, for error texts. Fences exec.
template <class ExecutionSpace, class Crs>
std::int64_t row_of_entry(const ExecutionSpace& exec, const Crs& crs, std::int64_t entry) {
  const auto row_map = host_copy(exec, crs.graph.row_map);
  const auto* const row_ends = row_map.data() + 1;
  return std::upper_bound(row_ends, row_ends + crs.numRows(), static_cast<std::size_t>(entry)) - row_ends;
}

/// The check of CRS matrices of one type. It is not inline, so that it can be precompiled (see
/// core/precompiled.hpp).
template <class ExecutionSpace, class Crs>
struct CrsCheck {
  /// See check_crs().
  static void check(const ExecutionSpace& exec, const char* function, const Crs& crs, bool check_content);
};

/// Throws std::invalid_argument if crs is not a valid CRS matrix. The message begins with `function`. The
/// lengths of the Views are always checked. If check_content is true, one kernel also checks the row map and
/// the columns, and exec is fenced.
template <class ExecutionSpace, class Crs>
void check_crs(const ExecutionSpace& exec, const char* function, const Crs& crs, bool check_content) {
  CrsCheck<ExecutionSpace, Crs>::check(exec, function, crs, check_content);
}

template <class ExecutionSpace, class Crs>
void CrsCheck<ExecutionSpace, Crs>::check(const ExecutionSpace& exec, const char* function, const Crs& crs,
                                          bool check_content) {
  const std::int64_t rows = static_cast<std::int64_t>(crs.numRows());
  const std::int64_t columns = static_cast<std::int64_t>(crs.numCols());
  const std::int64_t entries = static_cast<std::int64_t>(crs.graph.entries.extent(0));
  const std::int64_t row_map = static_cast<std::int64_t>(crs.graph.row_map.extent(0));
  if (rows < 0 || columns < 0)
    fail<std::invalid_argument>(function, ": the CRS matrix is ", rows, " x ", columns,
                                "; it must have no negative extent.");
  if (crs.values.extent(0) != crs.graph.entries.extent(0))
    fail<std::invalid_argument>(function, ": the CRS matrix has ", crs.values.extent(0), " values and ",
                                entries, " entries; it must have one value per entry.");
  if (rows == 0 && entries == 0) return;
  if (row_map != rows + 1)
    fail<std::invalid_argument>(function, ": the row map of the CRS matrix has ", row_map, " elements for ",
                                rows, " rows; it must have ", rows + 1, ".");
  if (!check_content) return;

  const CheckCrs<crs_views_t<Crs>> check{crs_views_t<Crs>(crs), rows, columns, entries};
  const std::int64_t bad = find_first<void>(exec, "check", "crs", rows + check.batches(), check);
  // The kernel reads the row map only if there are rows. Without rows the checks below must read it.
  if (bad == none_found && rows > 0) return;
  const auto first = read_element(exec, crs.graph.row_map, 0);
  const auto last = read_element(exec, crs.graph.row_map, static_cast<std::size_t>(rows));
  if (first != 0)
    fail<std::invalid_argument>(function, ": the row map of the CRS matrix starts with ", first,
                                "; it must start with 0.");
  if (static_cast<std::int64_t>(last) != entries)
    fail<std::invalid_argument>(function, ": the row map of the CRS matrix ends with ", last,
                                "; it must end with its number of entries, ", entries, ".");
  if (bad < rows)
    fail<std::invalid_argument>(function, ": the row map of the CRS matrix gives row ", bad, " the entries ",
                                read_element(exec, crs.graph.row_map, bad), " to ",
                                read_element(exec, crs.graph.row_map, bad + 1), " of ", entries,
                                "; the row map must not decrease and must stay within the entries.");
  const std::int64_t bad_entry = bad - rows;
  fail<std::invalid_argument>(function, ": row ", row_of_entry(exec, crs, bad_entry),
                              " of the CRS matrix has an entry in column ",
                              read_element(exec, crs.graph.entries, bad_entry), "; columns of a ", rows,
                              " x ", columns, " matrix are 0 to ", columns - 1, ".");
}

/// Throws std::length_error if `count`, a number that the result keeps in an Ordinal, exceeds largest_count.
/// `what` says what is counted. Every conversion calls it for its widths and counts, before it allocates the
/// result.
template <class Ordinal>
void check_count(const char* function, std::int64_t count, const char* what) {
  if (count > largest_count<Ordinal>)
    fail<std::length_error>(function, ": the result would have ", count, " ", what,
                            ", but a product with the ", 8 * sizeof(Ordinal),
                            "-bit ordinal_type of the matrix can count at most ", largest_count<Ordinal>,
                            "; convert from a CRS matrix with a wider ordinal_type.");
}

/// Throws std::length_error if SizeType cannot count the `elements` elements of the largest View of a result,
/// or if the result takes more bytes than the options allow. `bytes` is the size of the whole result.
/// explain(stream) prints why the result is large. The message contains this text.
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

}  // namespace Filigree::Impl

// Instantiates or declares the check of a precompiled CRS matrix (see core/precompiled.hpp).
#define FILIGREE_PRECOMPILE_CRS_CHECK(KIND, Scalar, SizeType) \
  KIND struct Filigree::Impl::CrsCheck<                       \
      Filigree::Impl::PrecompiledSpace,                       \
      Filigree::Impl::precompiled_t<KokkosSparse::CrsMatrix, Scalar, SizeType>>;
FILIGREE_DECLARE_PRECOMPILED(FILIGREE_PRECOMPILE_CRS_CHECK)

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FILIGREE_FORMATS_ELL_ELL_CONVERT_HPP
#define FILIGREE_FORMATS_ELL_ELL_CONVERT_HPP

#include <cstdint>
#include <limits>
#include <string>

#include "filigree/core/check_crs.hpp"
#include "filigree/core/region.hpp"
#include "filigree/core/row_map.hpp"
#include "filigree/formats/ell/ell_matrix.hpp"

namespace Filigree {
namespace Impl {

/// Length of the longest row of a CRS matrix.
template <class ExecutionSpace, class Views>
struct LongestRow {
  using execution_space = ExecutionSpace;
  Views crs;

  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t row, std::int64_t& longest) const {
    const std::int64_t length = crs.end(row) - crs.begin(row);
    if (length > longest) longest = length;
  }
};

/// Copies between a CRS matrix and an ELL matrix, one lane a row.
template <class ExecutionSpace, class Ell>
struct EllCopy {
  using execution_space = ExecutionSpace;
  using scalar_type = typename Ell::value_type;
  using ordinal_type = typename Ell::ordinal_type;
  using size_type = typename Ell::size_type;

  struct Fill {};
  struct Refill {};
  struct Compare {};
  struct Count {};
  struct Extract {};

  Ell ell;
  CrsViews<scalar_type, ordinal_type, size_type> crs;
  // Set by build_crs.
  size_type* crs_row_map = nullptr;
  ordinal_type* crs_entries = nullptr;
  scalar_type* crs_values = nullptr;

  template <class Crs>
  EllCopy(const Ell& ell_, const Crs& crs_) : ell(ell_), crs(crs_) {}

  KOKKOS_INLINE_FUNCTION std::int64_t position(std::int64_t row, std::int64_t k) const {
    return k * static_cast<std::int64_t>(ell.stride()) + row;
  }

  /// Runs over the padding rows too.
  KOKKOS_INLINE_FUNCTION void operator()(Fill, const std::int64_t row) const {
    std::int64_t length = 0;
    if (row < static_cast<std::int64_t>(ell.numRows())) {
      const std::int64_t begin = crs.begin(row);
      length = crs.end(row) - begin;
      ell.row_lengths.data()[row] = static_cast<ordinal_type>(length);
      for (std::int64_t k = 0; k < length; ++k) {
        ell.values.data()[position(row, k)] = crs.values[begin + k];
        ell.entries.data()[position(row, k)] = crs.entries[begin + k];
      }
    }
    for (std::int64_t k = length; k < static_cast<std::int64_t>(ell.width()); ++k) {
      ell.values.data()[position(row, k)] = scalar_type(0);
      ell.entries.data()[position(row, k)] = static_cast<ordinal_type>(-1);
    }
  }

  KOKKOS_INLINE_FUNCTION void operator()(Refill, const std::int64_t row) const {
    const std::int64_t begin = crs.begin(row);
    const std::int64_t given = crs.end(row) - begin;
    const std::int64_t stored = static_cast<std::int64_t>(ell.row_lengths.data()[row]);
    for (std::int64_t k = 0; k < stored && k < given; ++k)
      ell.values.data()[position(row, k)] = crs.values[begin + k];
  }

  KOKKOS_INLINE_FUNCTION void operator()(Compare, const std::int64_t row, std::int64_t& first_bad) const {
    const std::int64_t begin = crs.begin(row);
    const std::int64_t length = crs.end(row) - begin;
    bool same = length == static_cast<std::int64_t>(ell.row_lengths.data()[row]);
    for (std::int64_t k = 0; same && k < length; ++k)
      same = ell.entries.data()[position(row, k)] == crs.entries[begin + k];
    if (!same && row < first_bad) first_bad = row;
  }

  KOKKOS_INLINE_FUNCTION void operator()(Count, const std::int64_t row) const {
    crs_row_map[row] = static_cast<size_type>(ell.row_lengths.data()[row]);
  }

  KOKKOS_INLINE_FUNCTION void operator()(Extract, const std::int64_t row) const {
    const std::int64_t begin = static_cast<std::int64_t>(crs_row_map[row]);
    const std::int64_t length = static_cast<std::int64_t>(ell.row_lengths.data()[row]);
    for (std::int64_t k = 0; k < length; ++k) {
      crs_values[begin + k] = ell.values.data()[position(row, k)];
      crs_entries[begin + k] = ell.entries.data()[position(row, k)];
    }
  }
};

/// convert<EllMatrix>, its input checked. Fences exec to learn the width.
template <class ExecutionSpace, class Crs, class S, class O, class D, class M, class Z>
void convert_from_crs(const ExecutionSpace& exec, const Crs& crs, const EllOptions& options,
                      EllMatrix<S, O, D, M, Z>& result) {
  using Ell = EllMatrix<S, O, D, M, Z>;
  using Copy = EllCopy<ExecutionSpace, Ell>;
  const std::int64_t rows = static_cast<std::int64_t>(crs.numRows());

  std::int64_t width = 0;
  if (rows > 0)
    Kokkos::parallel_reduce("Filigree::longest_row[ell]", row_range<void>(exec, rows),
                            LongestRow<ExecutionSpace, CrsViews<S, O, Z>>{CrsViews<S, O, Z>(crs)},
                            Kokkos::Max<std::int64_t>(width));
  exec.fence();

  const std::int64_t stride = (rows + Ell::row_alignment - 1) / Ell::row_alignment * Ell::row_alignment;
  const double elements = static_cast<double>(stride) * static_cast<double>(width);
  // The rows that only fill the last 16 do not count towards the limit: a matrix of two rows is no waste.
  const double bytes_of_rows = static_cast<double>(width) * (sizeof(S) + sizeof(O)) + sizeof(O);
  check_storage<Z>("Filigree::convert<EllMatrix>", elements, static_cast<double>(rows) * bytes_of_rows, crs,
                   options, [&](std::ostream& why) {
                     why << "the longest row has " << width << " entries, the mean row "
                         << static_cast<double>(crs.nnz()) / static_cast<double>(rows);
                   });

  const std::size_t size = static_cast<std::size_t>(stride) * static_cast<std::size_t>(width);
  const auto allocate = [&](const char* what) {
    return Kokkos::view_alloc(exec, Kokkos::WithoutInitializing, label(what, Ell::name()));
  };
  result = Ell(crs.numRows(), crs.numCols(), static_cast<Z>(crs.nnz()), static_cast<O>(width),
               static_cast<Z>(stride), typename Ell::values_type(allocate("values"), size),
               typename Ell::entries_type(allocate("entries"), size),
               typename Ell::row_lengths_type(allocate("row_lengths"), static_cast<std::size_t>(rows)));
  Kokkos::parallel_for("Filigree::convert[ell]", row_range<typename Copy::Fill>(exec, stride),
                       Copy(result, crs));
}

/// The first row in which the patterns differ, or a number past all rows. Fences exec.
template <class ExecutionSpace, class Crs, class S, class O, class D, class M, class Z>
std::int64_t first_different_row(const ExecutionSpace& exec, const EllMatrix<S, O, D, M, Z>& ell,
                                 const Crs& crs) {
  using Copy = EllCopy<ExecutionSpace, EllMatrix<S, O, D, M, Z>>;
  std::int64_t row = std::numeric_limits<std::int64_t>::max();
  Kokkos::parallel_reduce("Filigree::compare_pattern[ell]",
                          row_range<typename Copy::Compare>(exec, static_cast<std::int64_t>(ell.numRows())),
                          Copy(ell, crs), Kokkos::Min<std::int64_t>(row));
  exec.fence();
  return row;
}

/// refill, its input checked. One kernel.
template <class ExecutionSpace, class Crs, class S, class O, class D, class M, class Z>
void refill_from_crs(const ExecutionSpace& exec, const EllMatrix<S, O, D, M, Z>& ell, const Crs& crs) {
  using Copy = EllCopy<ExecutionSpace, EllMatrix<S, O, D, M, Z>>;
  static const std::string name = label("refill", "ell");
  Kokkos::parallel_for(name, row_range<typename Copy::Refill>(exec, static_cast<std::int64_t>(ell.numRows())),
                       Copy(ell, crs));
}

/// to_crs: the entries in the order that the matrix was converted from.
template <class Crs, class ExecutionSpace, class S, class O, class D, class M, class Z>
Crs convert_to_crs(const ExecutionSpace& exec, const EllMatrix<S, O, D, M, Z>& ell) {
  using Copy = EllCopy<ExecutionSpace, EllMatrix<S, O, D, M, Z>>;
  return build_crs<Crs, typename Copy::Count, typename Copy::Extract>(exec, ell.name(), ell.numRows(),
                                                                      ell.numCols(), Copy(ell, Crs()));
}

}  // namespace Impl
}  // namespace Filigree

#endif

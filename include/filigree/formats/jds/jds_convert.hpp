// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "filigree/conversion/row_copy.hpp"
#include "filigree/conversion/row_histogram.hpp"
#include "filigree/conversion/sort_rows.hpp"
#include "filigree/formats/jds/jds_layout.hpp"

namespace Filigree::Impl {

/// convert<JdsMatrix> of a checked CRS matrix. Fences exec. While it runs, it takes 24 bytes per row (32 with
/// 64-bit ordinals) and 8 bytes per entry of the longest row.
template <class ExecutionSpace, class Crs, class S, class O, class D, class M, class Z>
void convert_from_crs(const ExecutionSpace& exec, const Crs& crs, const JdsOptions& options,
                      JdsMatrix<S, O, D, M, Z>& result) {
  using Jds = JdsMatrix<S, O, D, M, Z>;
  const char* function = "Filigree::convert<JdsMatrix>";
  const char* name = Jds::name();
  const std::int64_t rows = static_cast<std::int64_t>(crs.numRows());
  const std::int64_t entries = static_cast<std::int64_t>(crs.nnz());
  const std::int64_t longest = longest_row(exec, name, crs);
  check_count<O>(function, longest, "jagged diagonals");
  const std::vector<std::int64_t> reaching = rows_reaching(exec, name, crs, longest);
  check_storage<Z>(function, static_cast<double>(entries),
                   static_cast<double>(entries) * (sizeof(S) + sizeof(O)) +
                       static_cast<double>(rows) * sizeof(O) + static_cast<double>(longest + 1) * 8,
                   crs, options, [&](std::ostream& why) { explain_longest_row(why, crs, longest); });

  std::vector<std::int64_t> offsets(static_cast<std::size_t>(longest) + 1, 0);
  for (std::size_t k = 0; k + 1 < offsets.size(); ++k)
    offsets[k + 1] = offsets[k] + reaching[k + 1];
  const auto diagonal_offsets =
      allocate_view<typename Jds::offsets_type>(exec, "diagonal_offsets", name, longest + 1);
  Kokkos::deep_copy(
      exec, diagonal_offsets,
      Kokkos::View<const std::int64_t*, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>>(
          offsets.data(), offsets.size()));
  // The copy must end before `offsets` is destroyed.
  exec.fence();
  result = Jds(crs.numRows(), crs.numCols(),
               allocate_view<typename Jds::values_type>(exec, "values", name, entries),
               allocate_view<typename Jds::entries_type>(exec, "entries", name, entries),
               rows_by_length<typename Jds::entries_type>(exec, name, crs, rows, longest), diagonal_offsets);
  fill_rows(exec, name, JdsLayout<S, O>(result), crs);
}

}  // namespace Filigree::Impl

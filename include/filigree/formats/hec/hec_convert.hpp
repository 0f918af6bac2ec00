// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FILIGREE_FORMATS_HEC_HEC_CONVERT_HPP
#define FILIGREE_FORMATS_HEC_HEC_CONVERT_HPP

#include <algorithm>
#include <cstdint>
#include <vector>

#include "filigree/conversion/check_crs.hpp"
#include "filigree/conversion/row_copy.hpp"
#include "filigree/conversion/row_histogram.hpp"
#include "filigree/core/allocate_view.hpp"
#include "filigree/formats/ell/ell_convert.hpp"
#include "filigree/formats/hec/hec_layout.hpp"
#include "filigree/formats/hec/hec_matrix.hpp"
#include "filigree/formats/hybrid/excess_entries.hpp"

namespace Filigree {
namespace Impl {

/// convert<HecMatrix>, its input checked. Fences exec. Takes 8 bytes for each entry of the longest row while
/// it runs.
template <class ExecutionSpace, class Crs, class S, class O, class D, class M, class Z>
void convert_from_crs(const ExecutionSpace& exec, const Crs& crs, const HecOptions& options,
                      HecMatrix<S, O, D, M, Z>& result) {
  using Hec = HecMatrix<S, O, D, M, Z>;
  using Ell = typename Hec::ell_type;
  const char* function = "Filigree::convert<HecMatrix>";
  const char* name = Hec::name();
  check_hybrid_width(function, options.width_rule, options.width);
  if (options.long_row < 0)
    fail<std::invalid_argument>(function, ": options.long_row is ", options.long_row,
                                "; it must be a number of entries, at least 0.");
  const std::int64_t rows = static_cast<std::int64_t>(crs.numRows());
  const std::vector<std::int64_t> reaching = rows_reaching(exec, name, crs);
  const std::vector<std::int64_t> beyond = entries_beyond(reaching);
  const std::int64_t longest = static_cast<std::int64_t>(reaching.size()) - 2;
  const auto bytes = [&](std::int64_t width) {
    const std::int64_t excessing_rows = reaching[static_cast<std::size_t>(width) + 1];
    return ell_bytes<Ell>(rows, width) +
           static_cast<double>(beyond[static_cast<std::size_t>(width)]) * (sizeof(S) + sizeof(O)) +
           static_cast<double>(excessing_rows) * (sizeof(O) + sizeof(Z)) + sizeof(Z);
  };
  const std::int64_t width = hybrid_width(options.width_rule, options.width, reaching, bytes,
                                          [&](std::int64_t k) { return ell_bytes<Ell>(rows, k); });
  const std::int64_t excess = beyond[static_cast<std::size_t>(width)];
  const std::int64_t excessing_rows = reaching[static_cast<std::size_t>(width) + 1];
  const std::int64_t long_length = std::min(options.long_row, longest - width) + width + 1;
  const std::int64_t long_rows = reaching[static_cast<std::size_t>(long_length)];
  const double elements =
      static_cast<double>(round_up(rows, Ell::row_alignment)) * static_cast<double>(width);
  check_storage<Z>(function, elements, bytes(width), crs, options, [&](std::ostream& why) {
    explain_longest_row(why, crs, longest);
    why << ", and the ELL part is " << width << " wide";
  });

  const Ell ell =
      allocate_ell<Ell>(exec, name, crs.numRows(), crs.numCols(),
                        static_cast<Z>(static_cast<std::int64_t>(crs.nnz()) - excess), width, 1, true);
  const auto list = allocate_view<typename Hec::entries_type>(exec, "excess_rows", name, excessing_rows);
  if (excessing_rows > 0) {
    list_rows(exec, name, crs, long_length, longest, list.data());
    list_rows(exec, name, crs, width + 1, long_length - 1, list.data() + long_rows);
  }
  result = Hec(static_cast<Z>(crs.nnz()), static_cast<O>(long_rows), ell,
               allocate_view<typename Hec::values_type>(exec, "excess_values", name, excess),
               allocate_view<typename Hec::entries_type>(exec, "excess_entries", name, excess), list,
               excess_offsets<Z>(exec, name, crs, list, width));
  fill_ell(exec, name, crs, ell);
  copy_excess(exec, name, crs, list, result.excess_row_map, width, result.excess_values,
              result.excess_entries, nullptr);
}

}  // namespace Impl
}  // namespace Filigree

#endif

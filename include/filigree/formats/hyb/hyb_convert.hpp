// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FILIGREE_FORMATS_HYB_HYB_CONVERT_HPP
#define FILIGREE_FORMATS_HYB_HYB_CONVERT_HPP

#include <cstdint>
#include <vector>

#include "filigree/conversion/check_crs.hpp"
#include "filigree/conversion/row_copy.hpp"
#include "filigree/conversion/row_histogram.hpp"
#include "filigree/core/allocate_view.hpp"
#include "filigree/formats/coo/coo_convert.hpp"
#include "filigree/formats/ell/ell_convert.hpp"
#include "filigree/formats/hyb/hyb_layout.hpp"
#include "filigree/formats/hyb/hyb_matrix.hpp"
#include "filigree/formats/hybrid/excess_entries.hpp"

namespace Filigree {
namespace Impl {

/// convert<HybMatrix>, its input checked. Fences exec. Takes 8 bytes for each entry of the longest row and
/// for each row that excesss while it runs.
template <class ExecutionSpace, class Crs, class S, class O, class D, class M, class Z>
void convert_from_crs(const ExecutionSpace& exec, const Crs& crs, const HybOptions& options,
                      HybMatrix<S, O, D, M, Z>& result) {
  using Hyb = HybMatrix<S, O, D, M, Z>;
  using Ell = typename Hyb::ell_type;
  using Coo = typename Hyb::coo_type;
  const char* function = "Filigree::convert<HybMatrix>";
  const char* name = Hyb::name();
  check_hybrid_width(function, options.width_rule, options.width);
  const std::int64_t rows = static_cast<std::int64_t>(crs.numRows());
  const std::vector<std::int64_t> reaching = rows_reaching(exec, name, crs);
  const std::vector<std::int64_t> beyond = entries_beyond(reaching);
  const std::int64_t longest = static_cast<std::int64_t>(reaching.size()) - 2;
  const auto bytes = [&](std::int64_t width) {
    const std::int64_t excess = beyond[static_cast<std::size_t>(width)];
    return ell_bytes<Ell>(rows, width) + static_cast<double>(excess) * (sizeof(S) + 2 * sizeof(O)) +
           static_cast<double>(chunk_bytes<ExecutionSpace>(excess));
  };
  const std::int64_t width = hybrid_width(options.width_rule, options.width, reaching, bytes,
                                          [&](std::int64_t k) { return ell_bytes<Ell>(rows, k); });
  const std::int64_t excess = beyond[static_cast<std::size_t>(width)];
  const double elements =
      static_cast<double>(round_up(rows, Ell::row_alignment)) * static_cast<double>(width);
  check_storage<Z>(function, elements, bytes(width), crs, options, [&](std::ostream& why) {
    explain_longest_row(why, crs, longest);
    why << ", and the ELL part is " << width << " wide";
  });

  const Ell ell =
      allocate_ell<Ell>(exec, name, crs.numRows(), crs.numCols(),
                        static_cast<Z>(static_cast<std::int64_t>(crs.nnz()) - excess), width, 1, true);
  Coo coo(crs.numRows(), crs.numCols(),
          allocate_view<typename Coo::values_type>(exec, "coo_values", name, excess),
          allocate_view<typename Coo::entries_type>(exec, "coo_entries", name, excess),
          allocate_view<typename Coo::entries_type>(exec, "coo_rows", name, excess), {},
          chunks_with_carry<typename Coo::device_type>(exec, name, excess));
  fill_ell(exec, name, crs, ell);
  if (excess == 0) {
    result = Hyb(static_cast<Z>(crs.nnz()), static_cast<O>(longest), ell, coo);
    return;
  }
  const std::int64_t count = reaching[static_cast<std::size_t>(width) + 1];
  const auto list = allocate_view<typename Coo::entries_type>(exec, "excess_rows", name, count);
  list_rows(exec, name, crs, width + 1, longest, list.data());
  const auto offsets = excess_offsets<std::int64_t>(exec, name, crs, list, width);
  copy_excess(exec, name, crs, list, offsets, width, coo.values, coo.entries, coo.rows.data());
  find_chunks(exec, name, coo);
  result = Hyb(static_cast<Z>(crs.nnz()), static_cast<O>(longest), ell, coo);
  // The lists are freed on return, which is no event of exec.
  exec.fence();
}

}  // namespace Impl
}  // namespace Filigree

#endif

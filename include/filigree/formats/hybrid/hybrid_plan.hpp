// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the conversions to the hybrid formats (HYB, HEC) have in common: the choice of the width and the ELL
// part.
#pragma once

#include <cstdint>
#include <vector>

#include "filigree/conversion/check_crs.hpp"
#include "filigree/conversion/row_histogram.hpp"
#include "filigree/core/integer.hpp"
#include "filigree/formats/ell/ell_convert.hpp"
#include "filigree/formats/hybrid/hybrid_width.hpp"

namespace Filigree::Impl {

/// How the entries of a CRS matrix are divided between the ELL part of a hybrid format and the excess
/// entries.
struct HybridPlan {
  std::vector<std::int64_t> reaching;  ///< element k: rows with at least k entries (rows_reaching)
  std::int64_t longest_row = 0;        ///< length of the longest row
  std::int64_t width = 0;              ///< of the ELL part
  std::int64_t excess_nnz = 0;         ///< number of excess entries

  /// The number of rows with at least `length` entries, for a length of at most longest_row + 1.
  std::int64_t rows_from(std::int64_t length) const { return reaching[static_cast<std::size_t>(length)]; }
  /// The number of rows that have excess entries.
  std::int64_t excess_row_count() const { return rows_from(width + 1); }
};

/// For each width from 0 to the length of the longest row, the number of entries beyond that width.
inline std::vector<std::int64_t> entries_beyond(const std::vector<std::int64_t>& reaching) {
  std::vector<std::int64_t> beyond(reaching.size() - 1, 0);
  for (std::size_t width = beyond.size() - 1; width > 0; --width)
    beyond[width - 1] = beyond[width] + reaching[width];
  return beyond;
}

/// Chooses the width of the ELL part by the rule of the options, and checks the size of the result
/// (check_storage). excess_bytes(n, r) is the size of the part that holds n excess entries of r rows. Error
/// messages begin with `function`. Fences exec. While it runs, it takes 8 bytes per entry of the longest row.
template <class Ell, class ExecutionSpace, class Crs, class Options, class ExcessBytes>
HybridPlan plan_hybrid(const ExecutionSpace& exec, const char* function, const char* format, const Crs& crs,
                       const Options& options, const ExcessBytes& excess_bytes) {
  check_hybrid_width(function, options.width_rule, options.width);
  const std::int64_t rows = static_cast<std::int64_t>(crs.numRows());
  HybridPlan plan;
  plan.reaching = rows_reaching(exec, format, crs);
  plan.longest_row = static_cast<std::int64_t>(plan.reaching.size()) - 2;
  const std::vector<std::int64_t> beyond = entries_beyond(plan.reaching);
  const auto bytes = [&](std::int64_t width) {
    return ell_bytes<Ell>(rows, width) +
           excess_bytes(beyond[static_cast<std::size_t>(width)], plan.rows_from(width + 1));
  };
  plan.width = hybrid_width(options.width_rule, options.width, plan.reaching, bytes,
                            [&](std::int64_t width) { return ell_bytes<Ell>(rows, width); });
  plan.excess_nnz = beyond[static_cast<std::size_t>(plan.width)];
  const double elements =
      static_cast<double>(round_up(rows, Ell::row_alignment)) * static_cast<double>(plan.width);
  check_storage<typename Ell::size_type>(function, elements, bytes(plan.width), crs, options,
                                         [&](std::ostream& why) {
                                           explain_longest_row(why, crs, plan.longest_row);
                                           why << ", and the ELL part is " << plan.width << " wide";
                                         });
  return plan;
}

/// Allocates and writes the ELL part: the first plan.width entries of each row.
template <class Ell, class ExecutionSpace, class Crs>
Ell convert_ell_part(const ExecutionSpace& exec, const char* format, const Crs& crs, const HybridPlan& plan) {
  const std::int64_t nnz = static_cast<std::int64_t>(crs.nnz()) - plan.excess_nnz;
  const Ell ell = allocate_ell<Ell>(exec, format, crs.numRows(), crs.numCols(),
                                    static_cast<typename Ell::size_type>(nnz), plan.width, 1, true);
  fill_ell(exec, format, crs, ell);
  return ell;
}

}  // namespace Filigree::Impl

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>

#include "filigree/core/read_view.hpp"
#include "filigree/formats/hec/hec_layout.hpp"
#include "filigree/formats/hybrid/hybrid_convert.hpp"

namespace Filigree::Impl {

/// HecMatrix::lanes_per_excess_row() for `rows` rows that are not long and have `excess` excess entries together (see
/// docs/performance.md, "Lanes per row of HEC").
inline int lanes_per_excess_row(double excess, double rows) {
  return excess < 14 * rows ? 1 : excess < 24 * rows ? 2 : excess < 48 * rows ? 4 : 8;
}

/// Throws std::invalid_argument if the length of long rows is out of range.
inline void check_hec_options(const char* function, const HecOptions& options) {
  if (options.long_row < 0)
    fail<std::invalid_argument>(function, ": options.long_row is ", options.long_row,
                                "; it must be a number of entries, at least 0.");
}

/// convert<HecMatrix> of a checked CRS matrix. Fences exec. It takes the memory of plan_hybrid() before the
/// result is allocated, and then none besides the result.
template <class ExecutionSpace, class Crs, class S, class O, class D, class M, class Z>
void convert_from_crs(const ExecutionSpace& exec, const Crs& crs, const HecOptions& options,
                      HecMatrix<S, O, D, M, Z>& result) {
  using Hec = HecMatrix<S, O, D, M, Z>;
  using Ell = typename Hec::ell_type;
  const char* function = "Filigree::convert<HecMatrix>";
  const char* name = Hec::name();
  check_hec_options(function, options);
  const auto crs_part_bytes = [](std::int64_t nnz, std::int64_t rows) {
    return static_cast<double>(nnz) * (sizeof(S) + sizeof(O)) +
           static_cast<double>(rows) * (sizeof(O) + sizeof(Z)) + sizeof(Z);
  };
  const HybridPlan plan = plan_hybrid<Ell>(exec, function, name, crs, options, crs_part_bytes);
  // The least length of a long row. The minimum keeps the sum from overflowing.
  const std::int64_t long_length = std::min(options.long_row, plan.longest_row - plan.width) + plan.width + 1;
  const std::int64_t long_rows =
      plan.excess_rows > 0 ? count_rows(exec, name, crs, long_length, plan.longest_row) : 0;
  const auto list = allocate_view<typename Hec::entries_type>(exec, "excess_rows", name, plan.excess_rows);
  if (list.extent(0) > 0) {
    list_rows(exec, name, crs, long_length, plan.longest_row, list.data());
    list_rows(exec, name, crs, plan.width + 1, long_length - 1, list.data() + long_rows);
  }
  const auto row_map = excess_offsets<Z>(exec, name, crs, list, plan.width);
  const Z in_long_rows =
      long_rows > 0 ? read_element(exec, row_map, static_cast<std::size_t>(long_rows)) : Z(0);
  const int lanes =
      plan.excess_rows > long_rows
          ? lanes_per_excess_row(static_cast<double>(plan.excess_nnz) - static_cast<double>(in_long_rows),
                                 static_cast<double>(plan.excess_rows - long_rows))
          : 1;
  result =
      Hec(static_cast<Z>(crs.nnz()), static_cast<O>(long_rows), convert_ell_part<Ell>(exec, name, crs, plan),
          allocate_view<typename Hec::values_type>(exec, "excess_values", name, plan.excess_nnz),
          allocate_view<typename Hec::entries_type>(exec, "excess_entries", name, plan.excess_nnz), list,
          row_map, lanes);
  copy_excess(exec, name, crs, list, result.excess_row_map, plan.width, result.excess_values,
              result.excess_entries, nullptr);
}

}  // namespace Filigree::Impl

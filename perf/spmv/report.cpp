// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "spmv/report.hpp"

#include <algorithm>
#include <iomanip>

namespace FiligreePerf {

void print_table(std::ostream& out, std::vector<Row> rows) {
  const auto timed = [](const Row& row) { return row.seconds > 0; };
  std::stable_sort(rows.begin(), rows.end(), [&](const Row& a, const Row& b) {
    return timed(a) && (!timed(b) || a.seconds < b.seconds);
  });
  out << std::left << std::setw(28) << "format" << std::right << std::setw(12) << "time ms" << std::setw(10)
      << "GFLOP/s" << std::setw(10) << "GB/s" << std::setw(10) << "of read" << std::setw(10) << "vs KK"
      << std::setw(12) << "storage MB" << std::setw(12) << "conversion" << std::setw(12) << "refill"
      << std::setw(12) << "error" << '\n';
  for (const Row& row : rows) {
    out << std::left << std::setw(28) << row.format << std::right << std::fixed;
    if (timed(row))
      out << std::setw(12) << std::setprecision(4) << 1e3 * row.seconds << std::setprecision(2)
          << std::setw(10) << row.GFLOPs << std::setw(10) << row.GBps << std::setw(10) << row.fraction_of_read
          << std::setw(10) << row.speedup_vs_kokkos_kernels << std::setw(12) << row.storage_MB
          << std::setw(12) << row.conversion_in_products << std::setw(12) << row.refill_in_products
          << std::scientific << std::setprecision(1) << std::setw(12) << row.max_rel_error << '\n';
    else
      out << "  " << (row.refusal.empty() ? "not timed" : row.refusal) << '\n';
  }
  const auto best = std::find_if(rows.begin(), rows.end(), [&](const Row& row) {
    return timed(row) && !row.is_peer && row.picked.empty();
  });
  if (best == rows.end()) return;
  out << "use " << best->format << std::endl;
  for (const Row& row : rows)
    if (timed(row) && !row.picked.empty())
      out << "auto picked " << row.picked << ": predicted " << std::fixed << std::setprecision(4)
          << 1e3 * row.predicted_seconds << " ms, measured " << 1e3 * row.seconds << " ms, "
          << std::setprecision(2) << best->seconds / row.seconds << " of the best format's speed"
          << std::endl;
}

}  // namespace FiligreePerf

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "spmv/report.hpp"

#include <algorithm>
#include <iomanip>

namespace FiligreePerf {

void print_table(std::ostream& out, std::vector<Result> results) {
  const auto timed = [](const Result& result) { return result.seconds > 0; };
  std::stable_sort(results.begin(), results.end(), [&](const Result& a, const Result& b) {
    return timed(a) && (!timed(b) || a.seconds < b.seconds);
  });
  out << std::left << std::setw(28) << "format" << std::right << std::setw(12) << "time ms" << std::setw(10)
      << "GFLOP/s" << std::setw(10) << "GB/s" << std::setw(10) << "of read" << std::setw(10) << "vs KK"
      << std::setw(12) << "storage MB" << std::setw(12) << "conversion" << std::setw(12) << "refill"
      << std::setw(12) << "error" << '\n';
  for (const Result& result : results) {
    out << std::left << std::setw(28) << result.format << std::right << std::fixed;
    if (timed(result))
      out << std::setw(12) << std::setprecision(4) << 1e3 * result.seconds << std::setprecision(2)
          << std::setw(10) << result.GFLOPs << std::setw(10) << result.GBps << std::setw(10)
          << result.fraction_of_read << std::setw(10) << result.speedup_vs_kokkos_kernels << std::setw(12)
          << result.storage_MB << std::setw(12) << result.conversion_in_products << std::setw(12)
          << result.refill_in_products << std::scientific << std::setprecision(1) << std::setw(12)
          << result.max_rel_error << '\n';
    else
      out << "  " << (result.refusal.empty() ? "not timed" : result.refusal) << '\n';
  }
  const auto best = std::find_if(results.begin(), results.end(), [&](const Result& result) {
    return timed(result) && !result.is_peer && result.picked.empty();
  });
  if (best == results.end()) return;
  out << "use " << best->format << std::endl;
  for (const Result& result : results)
    if (timed(result) && !result.picked.empty())
      out << "auto picked " << result.picked << ": predicted " << std::fixed << std::setprecision(4)
          << 1e3 * result.predicted_seconds << " ms, measured " << 1e3 * result.seconds << " ms, "
          << std::setprecision(2) << best->seconds / result.seconds << " of the best format's speed"
          << std::endl;
}

}  // namespace FiligreePerf

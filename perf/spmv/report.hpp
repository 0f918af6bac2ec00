// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FILIGREE_PERF_SPMV_REPORT_HPP
#define FILIGREE_PERF_SPMV_REPORT_HPP

#include <ostream>
#include <string>
#include <vector>

namespace FiligreePerf {

/// What was measured of one format; a format that refused the matrix has a reason and nothing else.
struct Row {
  std::string format;
  bool is_peer = false;  ///< a product of another library, which "use" does not name
  std::string refusal;
  double seconds = 0;  ///< median of a product; 0 if it was not timed
  double storage_MB = 0;
  double GFLOPs = 0;
  double GBps = 0;
  double fraction_of_read = 0;
  double speedup_vs_kokkos_kernels = 0;
  double max_rel_error = 0;
  double conversion_in_products = 0;
  double refill_in_products = 0;
  std::string picked;  ///< what optimize() picked, where this is "auto"
  double predicted_seconds = 0;
};

/// A plain table of the rows, fastest first, those that refused last, the line "use <format>", and where
/// there is one what optimize() picked.
void print_table(std::ostream& out, std::vector<Row> rows);

}  // namespace FiligreePerf

#endif

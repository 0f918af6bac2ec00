// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <ostream>
#include <string>
#include <vector>

namespace FiligreePerf {

/// The measurements of one variant of a format, or of a peer. A format that refused the matrix has a refusal
/// and no measurements.
struct Result {
  std::string format;
  bool is_peer = false;  ///< a product of another library, which the line "use" never names
  std::string refusal;   ///< the reason of the refusal
  double seconds = 0;    ///< median of a product; 0 if it was not timed
  double storage_MB = 0;
  double GFLOPs = 0;
  double GBps = 0;
  double fraction_of_read = 0;
  double speedup_vs_kokkos_kernels = 0;
  double max_rel_error = 0;
  double conversion_in_products = 0;
  double refill_in_products = 0;
  std::string picked;  ///< name of the format that optimize() picked, only for "auto"
  double predicted_seconds = 0;
};

/// Prints a table of the results, the fastest first and refusals last. The line "use <format>" follows, and a
/// line about the format that optimize() picked if "auto" was measured.
void print_table(std::ostream& out, std::vector<Result> results);

}  // namespace FiligreePerf

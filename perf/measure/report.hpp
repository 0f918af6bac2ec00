// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "measure/recommendation.hpp"
#include "support/machine.hpp"

namespace FiligreePerf {

/// The name of the row for the product of Kokkos Kernels' CRS, with which all others are compared.
inline const std::string reference_name = "kokkos_kernels";

/// Figures by their names in the JSON of Google Benchmark.
using Figures = std::vector<std::pair<std::string, double>>;

/// The measurements of one variant of a format, of a peer, or of the reference. A format that refused the
/// matrix has a refusal and no measurements.
struct Result {
  std::string format;
  bool is_peer = false;  ///< a product of another library, which is never recommended
  std::string stored;    ///< the type of the stored values if it is narrower than the scalar type, else empty
  std::string refusal;   ///< the reason of the refusal
  double storage_bytes = 0;
  double bytes = 0;  ///< bytes that a product must move: the matrix, x and y
  bool fits_cache = false;
  double max_rel_error = 0;
  double conversion_seconds = 0;
  double refill_seconds = 0;
  std::string picked;            ///< name of the format that optimize() picked, only for "auto"
  double predicted_seconds = 0;  ///< of that format
  Figures facts;                 ///< more figures of the converted matrix
  Figures further;               ///< figures that were measured besides the product

  // The samples of the product and, timed in turns with them, those of the reference.
  std::vector<double> samples;
  std::vector<double> reference_samples;

  bool is_timed() const { return !samples.empty(); }
  double seconds() const { return quantile(samples, 0.5); }
  double reference_seconds() const { return quantile(reference_samples, 0.5); }
  /// A time in products of the reference.
  double in_products(double seconds) const { return seconds / reference_seconds(); }
  Contender contender() const {
    return {format, is_peer, speed_up(reference_samples, samples), seconds(), conversion_seconds};
  }
};

/// The machine and the versions by their names in the JSON of Google Benchmark. The bandwidth is in bytes per
/// second.
std::vector<std::pair<std::string, std::string>> machine_context(const Machine& machine,
                                                                 double read_bandwidth);

/// What was measured of one problem, and on what.
struct Report {
  Machine machine;
  std::string program = "spmv";  ///< the first part of the names in the JSON
  std::string problem;           ///< in one word
  std::string problem_flags;     ///< those of the command line
  std::string scalar;
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::int64_t entries = 0;
  int block_size = 1;
  double crs_bytes = 0;
  double read_bandwidth = 0;        ///< bytes per second
  double operations_per_entry = 2;  ///< 8 for complex numbers; times the columns of x
  Figures facts;                    ///< more figures of the problem, which all results have
  std::vector<Result> results;      ///< the first is the reference

  /// The noise of all comparisons: that of the reference against itself.
  double noise() const { return noise_of(results.front().contender().speed_up); }
  /// The figures of a result.
  Figures counters(const Result& result) const;
  /// The machine, the versions and the matrix by their names in the JSON of Google Benchmark.
  std::vector<std::pair<std::string, std::string>> context() const;
  /// Prints the context, a table of the results with the fastest first, its legend, the refusals, a line
  /// about the format that optimize() picked if "auto" was measured, a line about narrower values if they were
  /// measured, and the recommendation. It does not recommend narrower values, because they change the result.
  void print(std::ostream& out) const;
};

}  // namespace FiligreePerf

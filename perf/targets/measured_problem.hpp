// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <iomanip>
#include <limits>
#include <string>
#include <vector>

#include "products/candidates.hpp"
#include "targets/targets.hpp"

namespace FiligreePerf {

/// The measurements of one candidate.
struct Measured {
  std::string name;
  bool is_peer = false;
  double seconds = 0;  ///< median of products with cold caches
  double bytes = 0;    ///< bytes that a product must move
  double conversion_in_products = 0;
  double refill_in_products = 0;
};

/// The measurements of all candidates of one problem.
struct MeasuredProblem {
  std::string problem;
  std::vector<Measured> all;

  /// Smallest time of the candidates for which `matches` is true. NaN if there are none.
  template <class Matches>
  double best(const Matches& matches) const {
    double result = std::numeric_limits<double>::quiet_NaN();
    for (const Measured& one : all)
      if (matches(one) && !(one.seconds >= result)) result = one.seconds;
    return result;
  }
  /// Time of a candidate, NaN if it was not measured.
  double seconds(const std::string& name) const {
    return best([&](const Measured& one) { return one.name == name; });
  }
  double best_cusparse_csr() const {
    return best([](const Measured& one) { return one.name.rfind("cusparse_csr", 0) == 0; });
  }
  /// Bandwidth of a candidate as a fraction of the read bandwidth, NaN if it was not measured.
  double fraction_of_read(const std::string& name, double bandwidth) const {
    for (const Measured& one : all)
      if (one.name == name) return one.bytes / one.seconds / bandwidth;
    return std::numeric_limits<double>::quiet_NaN();
  }
};

/// Whether the name of a candidate is the name of a format, or that name followed by _ and more.
inline bool is_variant_of(const std::string& name, const std::string& format) {
  return name == format || name.rfind(format + "_", 0) == 0;
}

/// Times all candidates for which `wants` is true, and prints the times, fastest first. Caches are cold. If
/// `stored` is not empty, these candidates are also measured with their values stored in that type.
template <class Scalar, class Wants>
MeasuredProblem measure_problem(TargetReport& report, const std::string& name,
                                const typename SpmvProblem<Scalar>::crs_type& crs, int block_size,
                                double bandwidth, bool time_conversions, const Wants& wants,
                                const std::string& stored = "") {
  using execution_space = typename SpmvProblem<Scalar>::execution_space;
  MeasuredProblem result;
  result.problem = name;
  const auto problem = std::make_shared<SpmvProblem<Scalar>>(crs, block_size);
  const double kokkos_kernels = time_conversions ? problem->kokkos_kernels_seconds() : 1;
  const execution_space exec;
  const CacheFlush<execution_space> flush(exec);
  Wanted wanted;
  wanted.symmetric = true;
  wanted.repeated_blocks = true;
  wanted.stored = stored;
  wanted.time_conversions = time_conversions;
  wanted.wants = [&](const std::string& candidate, bool) { return wants(candidate); };
  for_each_candidate(problem, wanted, [&](const Candidate& candidate) {
    if (!candidate.product) return;
    result.all.push_back({candidate.name, candidate.is_peer,
                          median_cold_seconds(exec, flush, candidate.product), candidate.bytes,
                          candidate.conversion_seconds / kokkos_kernels,
                          candidate.refill_seconds / kokkos_kernels});
  });
  std::stable_sort(result.all.begin(), result.all.end(),
                   [](const Measured& p, const Measured& q) { return p.seconds < q.seconds; });
  report.out() << "\n"
               << name << ": " << crs.numRows() << " rows, " << crs.nnz() << " entries\n"
               << std::fixed;
  for (const Measured& one : result.all) {
    report.out() << "  " << std::left << std::setw(22) << one.name << std::right << std::setprecision(4)
                 << std::setw(10) << 1e3 * one.seconds << " ms" << std::setprecision(2) << std::setw(7)
                 << one.bytes / one.seconds / bandwidth << " of read";
    if (time_conversions && !one.is_peer)
      report.out() << "  converts in " << std::setw(6) << one.conversion_in_products
                   << " products, refills in " << std::setw(5) << one.refill_in_products;
    report.out() << '\n';
  }
  report.out() << std::flush;
  return result;
}

}  // namespace FiligreePerf

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <benchmark/benchmark.h>

#include <iostream>
#include <memory>
#include <vector>

#include "products/candidates.hpp"
#include "spmv/options.hpp"
#include "spmv/report.hpp"
#include "support/read_bandwidth.hpp"
#include "support/repeat.hpp"

namespace FiligreePerf {

/// The matrix that the options describe.
template <class Crs>
Crs make_matrix(const Options& options) {
  Progress progress("making the matrix " + options.problem());
  const Crs crs = options.matrix.empty()
                      ? Filigree::StencilProblem<>(options.grid.cells, options.grid.points(),
                                                   options.grid.dof, options.grid.boundaries)
                            .template crs<Crs>()
                      : Filigree::read_matrix_market<Crs>(options.matrix);
  Kokkos::fence();
  if (options.repeat == 1) return crs;
  const Crs larger = repeated(crs, options.repeat);
  Kokkos::fence();
  return larger;
}

/// Registers the benchmark of a candidate. The benchmark fills in the result when it runs.
template <class Scalar>
void register_benchmark(const std::shared_ptr<SpmvProblem<Scalar>>& problem, const Options& options,
                        double bandwidth, const Candidate& candidate, const std::shared_ptr<Result>& result) {
  using execution_space = typename SpmvProblem<Scalar>::execution_space;
  // A multiplication and an addition are 8 operations for complex numbers, 2 for real numbers.
  const double operations =
      (Filigree::Impl::is_complex_v<Scalar> ? 8.0 : 2.0) * static_cast<double>(problem->crs.nnz());
  const double bytes = candidate.bytes;
  const auto product = candidate.product;
  const std::string name = "spmv/" + candidate.name + "/" + options.scalar + "/" + options.problem();
  benchmark::RegisterBenchmark(
      name.c_str(),
      [=](benchmark::State& state) {
        const double before = problem->kokkos_kernels_seconds();
        Timer<execution_space> timer{execution_space()};
        for (int i = 0; i < 3; ++i)
          timer.seconds(product);
        std::vector<double> times;
        for (auto _ : state) {
          times.push_back(timer.seconds(product));
          state.SetIterationTime(times.back());
        }
        const double kokkos_kernels = 0.5 * (before + problem->kokkos_kernels_seconds());
        result->seconds = median(times);
        result->GFLOPs = 1e-9 * operations / result->seconds;
        result->GBps = 1e-9 * bytes / result->seconds;
        result->fraction_of_read = bytes / result->seconds / bandwidth;
        result->speedup_vs_kokkos_kernels = kokkos_kernels / result->seconds;
        state.counters["storage_MB"] = result->storage_MB;
        state.counters["GFLOPs"] = result->GFLOPs;
        state.counters["GBps"] = result->GBps;
        state.counters["fraction_of_read"] = result->fraction_of_read;
        state.counters["speedup_vs_kokkos_kernels"] = result->speedup_vs_kokkos_kernels;
        state.counters["max_rel_error"] = result->max_rel_error;
        state.counters["conversion_in_products"] = result->conversion_in_products;
        state.counters["refill_in_products"] = result->refill_in_products;
      })
      ->UseManualTime()
      ->Unit(benchmark::kMillisecond);
}

/// Makes the problem, checks the product of every candidate, and runs one benchmark per candidate. Throws
/// CLI::ValidationError for an unknown name in --format, and std::runtime_error if a product is wrong.
template <class Scalar>
std::vector<Result> measure(const Options& options) {
  using Problem = SpmvProblem<Scalar>;
  using execution_space = typename Problem::execution_space;
  for (const std::string& name : options.formats)
    check_word("--format", name, candidate_names<Scalar>());
  const auto problem =
      std::make_shared<Problem>(make_matrix<typename Problem::crs_type>(options), options.grid.dof);
  double bandwidth = 0;
  {
    Progress progress("measuring the read bandwidth");
    bandwidth = read_bandwidth(execution_space());
  }
  std::cerr << options.problem() << ": " << problem->crs.numRows() << " x " << problem->crs.numCols() << ", "
            << problem->crs.nnz() << " entries, " << options.scalar << "; read bandwidth " << 1e-9 * bandwidth
            << " GB/s" << std::endl;

  // Benchmarks hold Views. They must be destroyed before Kokkos is finalized.
  struct Registered {
    ~Registered() { benchmark::ClearRegisteredBenchmarks(); }
  } registered;
  std::vector<std::shared_ptr<Result>> results;
  Wanted wanted;
  wanted.wants = [&](const std::string& name, bool is_default) { return options.wants(name, is_default); };
  for_each_candidate<Scalar>(problem, wanted, [&](const Candidate& candidate) {
    const auto result = std::make_shared<Result>();
    results.push_back(result);
    result->format = candidate.name;
    result->is_peer = candidate.is_peer;
    result->refusal = candidate.refusal;
    if (!candidate.product) return;
    const double kokkos_kernels = problem->kokkos_kernels_seconds();
    result->storage_MB = 1e-6 * candidate.storage_bytes;
    result->max_rel_error = candidate.max_rel_error;
    result->conversion_in_products = candidate.conversion_seconds / kokkos_kernels;
    result->refill_in_products = candidate.refill_seconds / kokkos_kernels;
    result->picked = candidate.picked;
    result->predicted_seconds = candidate.predicted_seconds;
    register_benchmark(problem, options, bandwidth, candidate, result);
  });
  benchmark::RunSpecifiedBenchmarks();

  std::vector<Result> copies;
  for (const auto& result : results)
    copies.push_back(*result);
  return copies;
}

}  // namespace FiligreePerf

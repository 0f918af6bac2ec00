// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <benchmark/benchmark.h>

#include <cmath>
#include <memory>

#include "products/candidates.hpp"
#include "spmv/options.hpp"
#include "spmv/report.hpp"
#include "support/read_bandwidth.hpp"
#include "support/repeat.hpp"

namespace FiligreePerf {

/// Each product has at least this many samples, also if one of them takes longer than the time that Google
/// Benchmark plans for all.
constexpr std::size_t least_samples = 25;

/// A sample lasts at least this long, because a clock has ticks: a shorter product is repeated in it.
constexpr double least_sample_seconds = 20e-6;

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

/// Times a product in turns with the reference, and adds the samples to the result.
template <class Scalar>
class Turns {
 public:
  using execution_space = typename SpmvProblem<Scalar>::execution_space;
  using product_type = std::function<void()>;

  Turns(product_type reference, bool reference_fits_cache, product_type product, Result& result)
      : m_reference{std::move(reference), reference_fits_cache},
        m_product{std::move(product), result.fits_cache},
        m_result(result) {
    prepare(m_reference);
    prepare(m_product);
  }

  /// Adds one sample of each, and returns the seconds of the product. The first of a pair is the second of
  /// the next, so that the order favours neither.
  double sample() {
    double seconds[2];
    const std::size_t first = m_result.samples.size() % 2;
    for (const std::size_t which : {first, 1 - first})
      seconds[which] = time(which == 0 ? m_reference : m_product);
    m_result.reference_samples.push_back(seconds[0]);
    m_result.samples.push_back(seconds[1]);
    return seconds[1];
  }

 private:
  struct Product {
    product_type work;
    bool fits_cache;
    int repeats = 1;  ///< in one sample
  };

  /// Runs the product three times and sets the repeats by the shortest time.
  void prepare(Product& product) {
    double seconds = time(product);
    for (int i = 0; i < 2; ++i)
      seconds = std::min(seconds, time(product));
    product.repeats = static_cast<int>(std::clamp(std::ceil(least_sample_seconds / seconds), 1.0, 100.0));
  }

  /// The other product has removed a matrix that fits into the cache. A product that is not timed loads it
  /// again, because the products of a solver also follow each other.
  double time(const Product& product) {
    const auto before = [&]() {
      if (product.fits_cache) product.work();
    };
    const auto work = [&]() {
      for (int i = 0; i < product.repeats; ++i)
        product.work();
    };
    return m_timer.seconds_after(before, work) / product.repeats;
  }

  Product m_reference;
  Product m_product;
  Result& m_result;
  Timer<execution_space> m_timer{execution_space()};
};

/// Measures the products of one problem.
template <class Scalar>
class Measurement {
 public:
  using Problem = SpmvProblem<Scalar>;
  using crs_type = typename Problem::crs_type;
  using execution_space = typename Problem::execution_space;

  /// Makes the problem and measures the read bandwidth.
  explicit Measurement(const Options& options)
      : m_problem(std::make_shared<Problem>(make_matrix<crs_type>(options), options.grid.dof)),
        m_report(std::make_shared<Report>()) {
    const crs_type& crs = m_problem->crs;
    Report& report = *m_report;
    report.machine = machine(execution_space());
    report.problem = options.problem();
    report.problem_flags = options.problem_flags();
    report.scalar = options.scalar;
    report.rows = crs.numRows();
    report.columns = crs.numCols();
    report.entries = static_cast<std::int64_t>(crs.nnz());
    report.block_size = options.grid.dof;
    report.crs_bytes = static_cast<double>(Filigree::MatrixTraits<crs_type>::storage_bytes(crs));
    report.operations_per_entry = Filigree::Impl::is_complex_v<Scalar> ? 8 : 2;
    Progress progress("measuring the read bandwidth");
    report.read_bandwidth = read_bandwidth(execution_space());
  }
  // Benchmarks hold Views, which must be destroyed before Kokkos is finalized.
  ~Measurement() { benchmark::ClearRegisteredBenchmarks(); }
  Measurement(const Measurement&) = delete;
  Measurement& operator=(const Measurement&) = delete;

  /// Converts to the formats, checks their products and registers a benchmark for each, first that of the
  /// reference. Throws std::runtime_error if a product is wrong.
  void register_benchmarks(const Options& options) {
    register_reference();
    Wanted wanted;
    wanted.wants = [&](const std::string& name, bool is_default) { return options.wants(name, is_default); };
    for_each_candidate<Scalar>(m_problem, wanted, [&](const Candidate& candidate) {
      Result result;
      result.format = candidate.name;
      result.is_peer = candidate.is_peer;
      result.refusal = candidate.refusal;
      result.storage_bytes = candidate.storage_bytes;
      result.bytes = candidate.bytes;
      result.max_rel_error = candidate.max_rel_error;
      result.conversion_seconds = candidate.conversion_seconds;
      result.refill_seconds = candidate.refill_seconds;
      result.picked = candidate.picked;
      result.predicted_seconds = candidate.predicted_seconds;
      register_benchmark(std::move(result), candidate.product);
    });
  }

  /// What was measured. Adds the samples of the reference if --benchmark_filter excluded it.
  const Report& report() {
    Result& reference = m_report->results.front();
    if (!reference.is_timed()) {
      Turns<Scalar> turns(m_reference, reference.fits_cache, m_copied, reference);
      for (std::size_t i = 0; i < 2 * least_samples; ++i)
        turns.sample();
    }
    return *m_report;
  }
  const Report& header() const { return *m_report; }
  bool has_samples() const {
    return std::any_of(m_report->results.begin(), m_report->results.end(),
                       [](const Result& result) { return result.is_timed(); });
  }

 private:
  /// The reference and, as its own rival, the product of a copy of the matrix. A rival with the same memory
  /// would hide what the position of a matrix in memory does to the time.
  void register_reference() {
    const auto problem = m_problem;
    crs_type copy = problem->crs;
    try {
      copy = Filigree::Impl::copy_of_crs<crs_type>(execution_space(), problem->crs);
    } catch (const std::exception& error) {
      if (!Filigree::Impl::is_out_of_memory(error)) throw;
    }
    Kokkos::fence();
    m_reference = [problem]() { problem->multiply_by_kokkos_kernels(problem->crs); };
    m_copied = [problem, copy]() { problem->multiply_by_kokkos_kernels(copy); };
    Result result;
    result.format = reference_name;
    result.storage_bytes = m_report->crs_bytes;
    result.bytes = result.storage_bytes +
                   static_cast<double>(problem->x.extent(0) + problem->y.extent(0)) * sizeof(Scalar);
    m_copied();
    result.max_rel_error = problem->check(reference_name);
    m_reference_fits_cache = fits_cache(result.bytes);
    register_benchmark(std::move(result), m_copied);
  }

  bool fits_cache(double bytes) const { return bytes <= m_report->machine.cache_bytes; }

  /// The benchmark adds samples to the result each time it runs.
  void register_benchmark(Result result, const std::function<void()>& product) {
    const std::string name = "spmv/" + result.format + "/" + m_report->scalar + "/" + m_report->problem;
    result.fits_cache = fits_cache(result.bytes);
    const std::size_t at = m_report->results.size();
    m_report->results.push_back(std::move(result));
    const auto report = m_report;
    if (!product) {
      // The JSON then has the reason. The console does not print it, because it stands below the table.
      benchmark::RegisterBenchmark(name.c_str(), [report, at](benchmark::State& state) {
        state.SkipWithError(report->results[at].refusal.c_str());
      });
      return;
    }
    const auto reference = m_reference;
    const bool reference_fits_cache = m_reference_fits_cache;
    benchmark::RegisterBenchmark(name.c_str(),
                                 [=](benchmark::State& state) {
                                   Result& own = report->results[at];
                                   Turns<Scalar> turns(reference, reference_fits_cache, product, own);
                                   for (auto _ : state)
                                     state.SetIterationTime(turns.sample());
                                   while (own.samples.size() < least_samples)
                                     turns.sample();
                                   for (const auto& [counter, value] : report->counters(own))
                                     state.counters[counter] = value;
                                   if (!own.picked.empty()) state.SetLabel(own.picked);
                                 })
        ->UseManualTime()
        ->Unit(benchmark::kMillisecond);
  }

  std::shared_ptr<Problem> m_problem;
  std::shared_ptr<Report> m_report;
  std::function<void()> m_reference;
  std::function<void()> m_copied;
  bool m_reference_fits_cache = false;
};

/// Prints each benchmark that ran on one line, without counters, which the table shows.
class Console : public benchmark::ConsoleReporter {
 public:
  Console() : ConsoleReporter(OO_None) {}
  bool ReportContext(const Context& context) override {
    name_field_width_ = context.name_field_width;
    return true;
  }
  void ReportRuns(const std::vector<Run>& runs) override {
    std::vector<Run> measured;
    for (Run run : runs) {
      if (run.iterations == 0) continue;  // refused
      run.counters.clear();
      measured.push_back(std::move(run));
    }
    if (!measured.empty()) ConsoleReporter::ReportRuns(measured);
  }
};

/// Measures the problem that the options describe, and prints the report to `out`. is_console says that
/// Google Benchmark writes text for people to stdout. Throws std::runtime_error if a product is wrong, and
/// CLI::ValidationError for an unknown name in --format.
template <class Scalar>
void measure(const Options& options, bool is_console, std::ostream& out) {
  for (const std::string& name : options.formats)
    check_word("--format", name, candidate_names<Scalar>());
  Measurement<Scalar> measurement(options);
  for (const auto& [key, value] : measurement.header().context())
    benchmark::AddCustomContext(key, value);
  measurement.register_benchmarks(options);
  Console console;
  if (is_console)
    benchmark::RunSpecifiedBenchmarks(&console);
  else
    benchmark::RunSpecifiedBenchmarks();
  if (measurement.has_samples()) measurement.report().print(out);
}

}  // namespace FiligreePerf

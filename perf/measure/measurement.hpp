// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <benchmark/benchmark.h>

#include <cmath>
#include <memory>

#include "measure/report.hpp"
#include "products/candidates.hpp"

namespace FiligreePerf {

/// Each product has at least this many samples, also if one of them takes longer than the time that Google
/// Benchmark plans for all.
constexpr std::size_t least_samples = 25;

/// A sample lasts at least this long, because a clock has ticks: a shorter product is repeated in it.
constexpr double least_sample_seconds = 20e-6;

/// Times a product in turns with the reference, and adds the samples to the result.
template <class ExecutionSpace>
class Turns {
 public:
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
  Timer<ExecutionSpace> m_timer{ExecutionSpace()};
};

/// Measures the products of one problem.
template <class Scalar, class Vectors = OneColumn<Scalar>>
class Measurement {
 public:
  using Problem = SpmvProblem<Scalar, Vectors>;
  using crs_type = typename Problem::crs_type;
  using execution_space = typename Problem::execution_space;
  using product_type = std::function<void()>;
  /// More figures of a result. It gets the problem, the product of the reference and the product of the
  /// result, both of which multiply the x of the problem into its y.
  using further_type = std::function<Figures(const std::shared_ptr<Problem>& problem, const Result& result,
                                             const product_type& reference, const product_type& product)>;

  /// `header` says what is measured and on which machine. The figures of the matrix are filled in here.
  Measurement(const crs_type& crs, Report header, int columns = 1)
      : m_problem(std::make_shared<Problem>(crs, header.block_size, columns)),
        m_report(std::make_shared<Report>(std::move(header))) {
    Report& report = *m_report;
    report.rows = crs.numRows();
    report.columns = crs.numCols();
    report.entries = static_cast<std::int64_t>(crs.nnz());
    report.crs_bytes = static_cast<double>(Filigree::MatrixTraits<crs_type>::storage_bytes(crs));
    report.operations_per_entry = (Filigree::Impl::is_complex_v<Scalar> ? 8 : 2) * columns;
  }
  // Benchmarks hold Views, which must be destroyed before Kokkos is finalized.
  ~Measurement() { benchmark::ClearRegisteredBenchmarks(); }
  Measurement(const Measurement&) = delete;
  Measurement& operator=(const Measurement&) = delete;

  /// Converts to the wanted formats, checks their products and registers a benchmark for each, first that of
  /// the reference. Throws std::runtime_error if a product is wrong.
  ///
  /// `run`, if there is one, is called after each registration. It must run the benchmark and remove it, so
  /// that only one converted matrix exists at a time.
  void register_benchmarks(const Wanted& wanted, const std::function<void()>& run = {}) {
    register_reference();
    if (run) run();
    for_each_candidate(m_problem, wanted, [&](const Candidate& candidate) {
      register_candidate(candidate);
      if (run) run();
    });
  }
  /// Registers a benchmark of a product that was checked already. Call it after register_benchmarks().
  void register_candidate(const Candidate& candidate) {
    Result result;
    result.format = candidate.name;
    result.is_peer = candidate.is_peer;
    result.stored = candidate.stored;
    result.refusal = candidate.refusal;
    result.storage_bytes = candidate.storage_bytes;
    result.bytes = candidate.bytes;
    result.max_rel_error = candidate.max_rel_error;
    result.conversion_seconds = candidate.conversion_seconds;
    result.refill_seconds = candidate.refill_seconds;
    result.picked = candidate.picked;
    result.predicted_seconds = candidate.predicted_seconds;
    result.facts = candidate.facts;
    register_benchmark(std::move(result), candidate.product);
  }
  const std::shared_ptr<Problem>& problem() const { return m_problem; }

  /// After the products of a benchmark were timed, its further figures are measured, once. Call this before
  /// register_benchmarks().
  void set_further(const further_type& further) { m_further = further; }

  /// Measures each product for this many seconds of wall-clock time, which include the products of the
  /// reference. Otherwise Google Benchmark decides how often a product runs, by the sum of the times of the
  /// product alone. For short products that takes far longer, because each sample also waits for the device.
  /// Call this before register_benchmarks().
  void set_seconds(double seconds) { m_seconds = seconds; }

  /// What was measured.
  const Report& report() {
    time_excluded_reference(*m_report, m_reference, m_copied);
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
    result.bytes = result.storage_bytes + problem->vector_bytes();
    m_copied();
    result.max_rel_error = problem->check(reference_name);
    m_reference_fits_cache = fits_cache(result.bytes);
    register_benchmark(std::move(result), m_copied);
  }

  bool fits_cache(double bytes) const { return bytes <= m_report->machine.cache_bytes; }

  /// Adds samples of the reference if --benchmark_filter excludes it. The noise follows from them.
  static void time_excluded_reference(Report& report, const product_type& reference,
                                      const product_type& copied) {
    Result& result = report.results.front();
    if (result.is_timed()) return;
    Turns<execution_space> turns(reference, result.fits_cache, copied, result);
    for (std::size_t i = 0; i < 2 * least_samples; ++i)
      turns.sample();
  }

  /// The benchmark adds samples to the result each time it runs.
  void register_benchmark(Result result, const std::function<void()>& product) {
    const std::string name =
        m_report->program + "/" + result.format + "/" + m_report->scalar + "/" + m_report->problem;
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
    const auto copied = m_copied;
    const bool reference_fits_cache = m_reference_fits_cache;
    const auto further = m_further;
    const auto problem = m_problem;
    const double seconds = m_seconds;
    auto* registered = benchmark::RegisterBenchmark(name.c_str(), [=](benchmark::State& state) {
      Result& own = report->results[at];
      Turns<execution_space> turns(reference, reference_fits_cache, product, own);
      const Kokkos::Timer timer;
      for (auto _ : state) {
        if (seconds < 0) {
          state.SetIterationTime(turns.sample());
        } else {
          while (own.samples.size() < least_samples || timer.seconds() < seconds)
            turns.sample();
          state.SetIterationTime(own.seconds());
        }
      }
      while (own.samples.size() < least_samples)
        turns.sample();
      if (further && own.further.empty()) own.further = further(problem, own, reference, product);
      time_excluded_reference(*report, reference, copied);
      for (const auto& [counter, value] : report->counters(own))
        state.counters[counter] = value;
      if (!own.picked.empty()) state.SetLabel(own.picked);
    });
    registered->UseManualTime()->Unit(benchmark::kMillisecond);
    if (seconds >= 0) registered->Iterations(1);
  }

  std::shared_ptr<Problem> m_problem;
  std::shared_ptr<Report> m_report;
  product_type m_reference;
  product_type m_copied;
  further_type m_further;
  double m_seconds = -1;  ///< see set_seconds(); negative if it was not called
  bool m_reference_fits_cache = false;
};

}  // namespace FiligreePerf

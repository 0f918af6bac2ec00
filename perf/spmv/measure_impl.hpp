// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FILIGREE_PERF_SPMV_MEASURE_IMPL_HPP
#define FILIGREE_PERF_SPMV_MEASURE_IMPL_HPP

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <Filigree.hpp>
#include <iostream>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>

#include "spmv/measure.hpp"
#include "support/progress.hpp"
#include "support/read_bandwidth.hpp"
#include "support/repeat.hpp"
#include "support/timer.hpp"

namespace FiligreePerf {

/// The problem, its vectors, and the product that every format must give.
template <class Scalar>
class SpmvProblem {
 public:
  using execution_space = Kokkos::DefaultExecutionSpace;
  using device_type = typename execution_space::device_type;
  using crs_type = KokkosSparse::CrsMatrix<Scalar, int, device_type, void, int>;
  using vector_type = Kokkos::View<Scalar*, device_type>;
  using real_type = Filigree::Impl::real_t<Scalar>;
  /// Sums for checks: in a type of more digits.
  using wide_type = std::conditional_t<std::is_same_v<real_type, float>, double, long double>;
  using wide_scalar =
      std::conditional_t<Filigree::Impl::is_complex_v<Scalar>, std::complex<wide_type>, wide_type>;

  crs_type crs;
  vector_type x;
  vector_type y;

  explicit SpmvProblem(const Options& options) {
    {
      Progress progress("making the matrix " + options.problem());
      if (options.matrix.empty())
        crs = Filigree::StencilProblem<>(options.grid.cells, options.grid.points(), options.grid.dof,
                                         options.grid.boundaries)
                  .template crs<crs_type>();
      else
        crs = Filigree::read_matrix_market<crs_type>(options.matrix);
      Kokkos::fence();
      if (options.repeat > 1) {
        const crs_type larger = repeated(crs, options.repeat);
        Kokkos::fence();
        crs = larger;
      }
    }
    Progress progress("making the reference product");
    x = vector_type("FiligreePerf::x", crs.numCols());
    y = vector_type("FiligreePerf::y", crs.numRows());
    auto host_x = Kokkos::create_mirror_view(x);
    std::uint64_t state = 1;
    const auto next = [&]() {
      state = state * 6364136223846793005u + 1442695040888963407u;
      return static_cast<real_type>(
          static_cast<double>(state >> 11) / static_cast<double>(std::int64_t(1) << 52) - 1.0);
    };
    for (std::size_t i = 0; i < host_x.extent(0); ++i) {
      if constexpr (Filigree::Impl::is_complex_v<Scalar>) {
        const real_type real = next();
        host_x(i) = Scalar(real, next());
      } else {
        host_x(i) = next();
      }
    }
    Kokkos::deep_copy(x, host_x);
    make_reference(host_x);
    KokkosSparse::spmv("N", one, crs, x, zero, y);
    Kokkos::fence();
    m_kokkos_kernels = Kokkos::View<Scalar*, Kokkos::HostSpace>("FiligreePerf::kokkos_kernels", y.extent(0));
    Kokkos::deep_copy(m_kokkos_kernels, y);
  }

  /// Largest error of y over the rows, relative to the sum of the sizes of the products of a row. Throws
  /// std::runtime_error where y is further from the wide sum, or from Kokkos Kernels' product, than rounding
  /// allows.
  double check(const std::string& format) const {
    auto host_y = Kokkos::create_mirror_view(y);
    Kokkos::deep_copy(host_y, y);
    double largest = 0;
    for (std::size_t row = 0; row < host_y.extent(0); ++row) {
      const wide_type error = std::abs(widen(host_y(row)) - m_reference[row]);
      const wide_type apart = std::abs(widen(host_y(row)) - widen(m_kokkos_kernels(row)));
      // A row with an Inf or NaN in A has no sum to be near to. Else written so that a NaN fails.
      if (!std::isfinite(m_sizes[row])) continue;
      if (!(error <= m_bound[row]) || !(apart <= 2 * m_bound[row]))
        Filigree::Impl::fail<std::runtime_error>("the product of ", format, " is wrong in row ", row,
                                                 ": it is ", host_y(row), ", Kokkos Kernels have ",
                                                 m_kokkos_kernels(row), ", rounding allows a difference of ",
                                                 static_cast<double>(m_bound[row]), " from the exact sum.");
      if (m_sizes[row] > 0) largest = std::max(largest, static_cast<double>(error / m_sizes[row]));
    }
    return largest;
  }

  /// Median seconds of Kokkos Kernels' product, called as an application calls it. Measured anew beside
  /// whatever it is compared with: clocks and neighbours change.
  double kokkos_kernels_seconds() const {
    return median_seconds(
        execution_space(), [&]() { KokkosSparse::spmv("N", one, crs, x, zero, y); }, 0.1);
  }

  const Scalar one = Scalar(1);
  const Scalar zero = Scalar(0);

 private:
  static wide_scalar widen(const Scalar& value) {
    if constexpr (Filigree::Impl::is_complex_v<Scalar>)
      return wide_scalar(value.real(), value.imag());
    else
      return value;
  }

  template <class HostVector>
  void make_reference(const HostVector& host_x) {
    auto row_map = Kokkos::create_mirror_view(crs.graph.row_map);
    auto entries = Kokkos::create_mirror_view(crs.graph.entries);
    auto values = Kokkos::create_mirror_view(crs.values);
    Kokkos::deep_copy(row_map, crs.graph.row_map);
    Kokkos::deep_copy(entries, crs.graph.entries);
    Kokkos::deep_copy(values, crs.values);
    const std::size_t rows = static_cast<std::size_t>(crs.numRows());
    m_reference.resize(rows);
    m_sizes.resize(rows);
    m_bound.resize(rows);
    for (std::size_t row = 0; row < rows; ++row) {
      wide_scalar sum(0);
      wide_type sizes = 0;
      for (auto i = row_map(row); i < row_map(row + 1); ++i) {
        const wide_scalar product = widen(values(i)) * widen(host_x(entries(i)));
        sum += product;
        sizes += std::abs(product);
      }
      m_reference[row] = sum;
      m_sizes[row] = sizes;
      // Each of the n products and sums of a row rounds once, complex ones a few times, by a share of its
      // size or, where it is tiny, by less than the smallest normal number.
      m_bound[row] =
          static_cast<wide_type>(row_map(row + 1) - row_map(row) + 4) *
          (Filigree::Impl::is_complex_v<Scalar> ? 3 : 1) *
          (std::numeric_limits<real_type>::epsilon() * sizes + std::numeric_limits<real_type>::min());
    }
  }

  std::vector<wide_scalar> m_reference;
  std::vector<wide_type> m_sizes;
  std::vector<wide_type> m_bound;
  Kokkos::View<Scalar*, Kokkos::HostSpace> m_kokkos_kernels;
};

template <class FormatOptions, class = void>
struct HasBlockSize : std::false_type {};
template <class FormatOptions>
struct HasBlockSize<FormatOptions, std::void_t<decltype(FormatOptions::block_size)>> : std::true_type {};

template <class Problem, class FormatTag>
using matrix_of = typename FormatTag::template matrix<typename Problem::crs_type::value_type, int,
                                                      typename Problem::crs_type::device_type, void, int>;

/// The variants of a format that the options ask for, by the name that stands for each.
template <class Problem, class FormatTag>
auto wanted_variants(const Options& options) {
  using Traits = Filigree::MatrixTraits<matrix_of<Problem, FormatTag>>;
  auto variants = Filigree::variants_of<typename Traits::options_type>();
  for (auto& variant : variants)
    if (variant.name.empty()) variant.name = Traits::name();
  const std::string default_name = variants.front().name;
  variants.erase(std::remove_if(variants.begin(), variants.end(),
                                [&](const auto& variant) {
                                  return !options.wants(variant.name, variant.name == default_name);
                                }),
                 variants.end());
  return variants;
}

/// Throws std::invalid_argument for a name in --format that stands for nothing.
template <class Problem>
void check_format_names(const Options& options) {
  std::vector<std::string> known;
  Options all;
  all.variants = true;
  Filigree::for_each_format(Filigree::AllFormats(), [&](auto format) {
    for (const auto& variant : wanted_variants<Problem, decltype(format)>(all))
      known.push_back(variant.name);
  });
  for (const std::string& name : options.formats)
    check_word("--format", name, known);
}

/// One variant of a format: converts, checks, and registers its benchmark, which fills the row when it runs.
template <class Problem, class FormatTag, class FormatOptions>
void add_variant(const std::shared_ptr<Problem>& problem, const Options& options, double bandwidth,
                 std::vector<std::shared_ptr<Row>>& rows, FormatTag, const std::string& name,
                 FormatOptions convert_options) {
  using crs_type = typename Problem::crs_type;
  using matrix_type = matrix_of<Problem, FormatTag>;
  using Traits = Filigree::MatrixTraits<matrix_type>;
  using execution_space = typename Problem::execution_space;
  auto row = std::make_shared<Row>();
  row->format = name;
  rows.push_back(row);

  if constexpr (HasBlockSize<FormatOptions>::value) convert_options.block_size = options.grid.dof;
  const auto convert = [&]() {
    return Filigree::convert<FormatTag::template matrix>(problem->crs, convert_options);
  };
  matrix_type A;
  try {
    Progress progress("converting to " + name);
    A = convert();
  } catch (const std::length_error& refusal) {
    row->refusal = refusal.what();
    return;
  } catch (const std::invalid_argument& refusal) {
    row->refusal = refusal.what();
    return;
  }
  {
    Progress progress("timing the conversion to " + name);
    row->conversion_in_products = median_seconds(
                                      execution_space(), [&]() { convert(); }, 0.1) /
                                  problem->kokkos_kernels_seconds();
  }
  const auto product = [problem, A]() {
    Filigree::spmv("N", problem->one, A, problem->x, problem->zero, problem->y);
  };
  {
    Progress progress("checking the product of " + name);
    Kokkos::deep_copy(problem->y, std::numeric_limits<typename Problem::real_type>::quiet_NaN());
    product();
    row->max_rel_error = problem->check(name);
  }

  row->storage_MB = 1e-6 * static_cast<double>(Traits::storage_bytes(A));
  const double bytes = static_cast<double>(Traits::storage_bytes(A)) +
                       static_cast<double>(problem->x.extent(0) + problem->y.extent(0)) *
                           sizeof(typename crs_type::value_type);
  // A complex product and sum are 8 operations, a real one 2.
  const double operations = (Filigree::Impl::is_complex_v<typename crs_type::value_type> ? 8.0 : 2.0) *
                            static_cast<double>(problem->crs.nnz());
  const std::string benchmark_name = "spmv/" + name + "/" + options.scalar + "/" + options.problem();
  benchmark::RegisterBenchmark(benchmark_name.c_str(),
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
                                 const double kokkos_kernels =
                                     0.5 * (before + problem->kokkos_kernels_seconds());
                                 row->seconds = median(times);
                                 row->GFLOPs = 1e-9 * operations / row->seconds;
                                 row->GBps = 1e-9 * bytes / row->seconds;
                                 row->fraction_of_read = bytes / row->seconds / bandwidth;
                                 row->speedup_vs_kokkos_kernels = kokkos_kernels / row->seconds;
                                 state.counters["storage_MB"] = row->storage_MB;
                                 state.counters["GFLOPs"] = row->GFLOPs;
                                 state.counters["GBps"] = row->GBps;
                                 state.counters["fraction_of_read"] = row->fraction_of_read;
                                 state.counters["speedup_vs_kokkos_kernels"] = row->speedup_vs_kokkos_kernels;
                                 state.counters["max_rel_error"] = row->max_rel_error;
                                 state.counters["conversion_in_products"] = row->conversion_in_products;
                               })
      ->UseManualTime()
      ->Unit(benchmark::kMillisecond);
}

template <class Scalar>
std::vector<Row> measure(const Options& options) {
  using Problem = SpmvProblem<Scalar>;
  check_format_names<Problem>(options);
  auto problem = std::make_shared<Problem>(options);
  double bandwidth = 0;
  {
    Progress progress("measuring the read bandwidth");
    bandwidth = read_bandwidth(typename Problem::execution_space());
  }
  std::cerr << options.problem() << ": " << problem->crs.numRows() << " x " << problem->crs.numCols() << ", "
            << problem->crs.nnz() << " entries, " << options.scalar << "; read bandwidth " << 1e-9 * bandwidth
            << " GB/s" << std::endl;

  // Benchmarks hold Views, which must be gone before Kokkos is.
  struct Registered {
    ~Registered() { benchmark::ClearRegisteredBenchmarks(); }
  } registered;
  std::vector<std::shared_ptr<Row>> rows;
  Filigree::for_each_format(Filigree::AllFormats(), [&](auto format) {
    for (const auto& variant : wanted_variants<Problem, decltype(format)>(options))
      add_variant(problem, options, bandwidth, rows, format, variant.name, variant.options);
  });
  benchmark::RunSpecifiedBenchmarks();

  std::vector<Row> results;
  for (const auto& row : rows)
    results.push_back(*row);
  return results;
}

}  // namespace FiligreePerf

#endif

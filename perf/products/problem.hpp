// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FILIGREE_PERF_PRODUCTS_PROBLEM_HPP
#define FILIGREE_PERF_PRODUCTS_PROBLEM_HPP

#include <algorithm>
#include <cmath>
#include <complex>
#include <Filigree.hpp>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

#include "support/progress.hpp"
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
  int block_size;
  vector_type x;
  vector_type y;

  /// The product with a matrix that the caller made; block_size is that of its dense blocks.
  SpmvProblem(const crs_type& crs_, int block_size_) : crs(crs_), block_size(block_size_) {
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

// Compiled with the candidates of each scalar.
extern template class SpmvProblem<float>;
extern template class SpmvProblem<double>;
extern template class SpmvProblem<Kokkos::complex<float>>;
extern template class SpmvProblem<Kokkos::complex<double>>;

}  // namespace FiligreePerf

#endif

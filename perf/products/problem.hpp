// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

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

/// A matrix, the vectors x and y, and the reference product that checks the result of every format.
template <class Scalar>
class SpmvProblem {
 public:
  using execution_space = Kokkos::DefaultExecutionSpace;
  using device_type = typename execution_space::device_type;
  using crs_type = KokkosSparse::CrsMatrix<Scalar, int, device_type, void, int>;
  using vector_type = Kokkos::View<Scalar*, device_type>;
  using real_type = Filigree::Impl::real_t<Scalar>;
  /// The type of the reference sums, which has more digits.
  using wide_type = std::conditional_t<std::is_same_v<real_type, float>, double, long double>;
  using wide_scalar =
      std::conditional_t<Filigree::Impl::is_complex_v<Scalar>, std::complex<wide_type>, wide_type>;

  crs_type crs;
  int block_size;
  vector_type x;
  vector_type y;

  /// block_size is the size of the dense blocks of the matrix. x gets random values in [-1, 1).
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
    multiply_by_kokkos_kernels(crs);
    Kokkos::fence();
    m_kokkos_kernels = Kokkos::View<Scalar*, Kokkos::HostSpace>("FiligreePerf::kokkos_kernels", y.extent(0));
    Kokkos::deep_copy(m_kokkos_kernels, y);
  }

  /// Largest error of y over all rows. The error of a row is relative to the sum of the absolute values of
  /// its products. Throws std::runtime_error if y differs from the reference sum, or from Kokkos Kernels'
  /// product, by more than rounding allows. `entry_rounding` is how much the entries of A were rounded, relative
  /// to their values.
  double check(const std::string& format, double entry_rounding = 0) const {
    auto host_y = Kokkos::create_mirror_view(y);
    Kokkos::deep_copy(host_y, y);
    double largest = 0;
    for (std::size_t row = 0; row < host_y.extent(0); ++row) {
      const wide_type error = std::abs(widen(host_y(row)) - m_reference[row]);
      const wide_type difference = std::abs(widen(host_y(row)) - widen(m_kokkos_kernels(row)));
      const wide_type bound = m_bound[row] + static_cast<wide_type>(entry_rounding) * m_magnitudes[row];
      // A row with an Inf or NaN in A has no finite reference.
      if (!std::isfinite(m_magnitudes[row])) continue;
      // The comparisons are negated so that a NaN in y is an error.
      if (!(error <= bound) || !(difference <= 2 * bound))
        Filigree::Impl::fail<std::runtime_error>("the product of ", format, " is wrong in row ", row,
                                                 ": it is ", host_y(row), ", Kokkos Kernels computes ",
                                                 m_kokkos_kernels(row), ", and rounding allows an error of ",
                                                 static_cast<double>(bound), ".");
      if (m_magnitudes[row] > 0) largest = std::max(largest, static_cast<double>(error / m_magnitudes[row]));
    }
    return largest;
  }

  /// The product of Kokkos Kernels, without a handle, with the matrix of the problem or a copy of it.
  void multiply_by_kokkos_kernels(const crs_type& matrix) const {
    KokkosSparse::spmv("N", one, matrix, x, zero, y);
  }

  /// Median seconds of Kokkos Kernels' product. Call it next to the measurement that it is compared with,
  /// because clock rates and the load of the machine change.
  double kokkos_kernels_seconds() const {
    return median_seconds(
        execution_space(), [&]() { multiply_by_kokkos_kernels(crs); }, 0.1);
  }

  // alpha and beta of all products.
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
    m_magnitudes.resize(rows);
    m_bound.resize(rows);
    for (std::size_t row = 0; row < rows; ++row) {
      wide_scalar sum(0);
      wide_type magnitudes = 0;
      for (auto i = row_map(row); i < row_map(row + 1); ++i) {
        const wide_scalar product = widen(values(i)) * widen(host_x(entries(i)));
        sum += product;
        magnitudes += std::abs(product);
      }
      m_reference[row] = sum;
      m_magnitudes[row] = magnitudes;
      // Each of the n products and additions of a row rounds once, or about three times for complex numbers.
      // The error of one rounding is at most epsilon times the value, or the smallest normal number.
      m_bound[row] =
          static_cast<wide_type>(row_map(row + 1) - row_map(row) + 4) *
          (Filigree::Impl::is_complex_v<Scalar> ? 3 : 1) *
          (std::numeric_limits<real_type>::epsilon() * magnitudes + std::numeric_limits<real_type>::min());
    }
  }

  std::vector<wide_scalar> m_reference;
  std::vector<wide_type> m_magnitudes;
  std::vector<wide_type> m_bound;
  Kokkos::View<Scalar*, Kokkos::HostSpace> m_kokkos_kernels;
};

// The source files candidates_<scalar>.cpp instantiate these.
extern template class SpmvProblem<float>;
extern template class SpmvProblem<double>;
extern template class SpmvProblem<Kokkos::complex<float>>;
extern template class SpmvProblem<Kokkos::complex<double>>;

}  // namespace FiligreePerf

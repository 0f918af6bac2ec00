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

/// The type of x and y: a View of rank 1, or of rank 2 with one of the two layouts for several columns.
template <class Scalar>
using OneColumn = Kokkos::View<Scalar*, Kokkos::DefaultExecutionSpace::device_type>;
template <class Scalar, class Layout>
using SeveralColumns = Kokkos::View<Scalar**, Layout, Kokkos::DefaultExecutionSpace::device_type>;

/// A matrix, x and y, and the reference product that checks the result of every format.
template <class Scalar, class Vectors = OneColumn<Scalar>>
class SpmvProblem {
 public:
  using scalar_type = Scalar;
  using execution_space = Kokkos::DefaultExecutionSpace;
  using device_type = typename execution_space::device_type;
  static constexpr bool has_several_columns = static_cast<int>(Vectors::rank) == 2;
  using crs_type = KokkosSparse::CrsMatrix<Scalar, int, device_type, void, int>;
  using vector_type = Vectors;
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
  SpmvProblem(const crs_type& crs_, int block_size_, int columns_ = 1)
      : crs(crs_), block_size(block_size_), m_columns(columns_) {
    Progress progress("making the reference product");
    x = make_vectors("FiligreePerf::x", crs.numCols());
    y = make_vectors("FiligreePerf::y", crs.numRows());
    const auto host_x = Kokkos::create_mirror_view(x);
    std::uint64_t state = 1;
    const auto next = [&]() {
      state = state * 6364136223846793005u + 1442695040888963407u;
      return static_cast<real_type>(
          static_cast<double>(state >> 11) / static_cast<double>(std::int64_t(1) << 52) - 1.0);
    };
    for (int column = 0; column < m_columns; ++column)
      for (std::size_t i = 0; i < host_x.extent(0); ++i) {
        if constexpr (Filigree::Impl::is_complex_v<Scalar>) {
          const real_type real = next();
          element(host_x, i, column) = Scalar(real, next());
        } else {
          element(host_x, i, column) = next();
        }
      }
    Kokkos::deep_copy(x, host_x);
    make_reference(host_x);
    multiply_by_kokkos_kernels(crs);
    Kokkos::fence();
    m_kokkos_kernels = Kokkos::create_mirror(y);
    Kokkos::deep_copy(m_kokkos_kernels, y);
  }

  /// The number of columns of x and y.
  int columns() const { return m_columns; }
  /// Bytes of x and y.
  double vector_bytes() const { return static_cast<double>(x.size() + y.size()) * sizeof(Scalar); }

  /// Largest error of y over all rows and columns. The error of a row is relative to the sum of the absolute
  /// values of its products. Throws std::runtime_error if y differs from the reference sum, or from Kokkos
  /// Kernels' product, by more than rounding allows. `entry_rounding` is how much the entries of A were rounded,
  /// relative to their values.
  double check(const std::string& format, double entry_rounding = 0) const {
    const auto host_y = Kokkos::create_mirror_view(y);
    Kokkos::deep_copy(host_y, y);
    const std::size_t rows = host_y.extent(0);
    double largest = 0;
    for (std::size_t i = 0; i < rows * static_cast<std::size_t>(m_columns); ++i) {
      const std::size_t row = i % rows;
      const int column = static_cast<int>(i / rows);
      const Scalar result = element(host_y, row, column);
      const Scalar kokkos_kernels = element(m_kokkos_kernels, row, column);
      const wide_type error = std::abs(widen(result) - m_reference[i]);
      const wide_type difference = std::abs(widen(result) - widen(kokkos_kernels));
      const wide_type bound = m_bound[i] + static_cast<wide_type>(entry_rounding) * m_magnitudes[i];
      // A row with an Inf or NaN in A has no finite reference.
      if (!std::isfinite(m_magnitudes[i])) continue;
      // The comparisons are negated so that a NaN in y is an error.
      if (!(error <= bound) || !(difference <= 2 * bound))
        Filigree::Impl::fail<std::runtime_error>(
            "the product of ", format, " is wrong in row ", row, " of column ", column, ": it is ", result,
            ", Kokkos Kernels computes ", kokkos_kernels, ", and rounding allows an error of ",
            static_cast<double>(bound), ".");
      if (m_magnitudes[i] > 0) largest = std::max(largest, static_cast<double>(error / m_magnitudes[i]));
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
  vector_type make_vectors(const std::string& label, std::int64_t rows) const {
    if constexpr (has_several_columns)
      return vector_type(label, static_cast<std::size_t>(rows), static_cast<std::size_t>(m_columns));
    else
      return vector_type(label, static_cast<std::size_t>(rows));
  }
  template <class View>
  static auto& element(const View& view, std::size_t row, [[maybe_unused]] int column) {
    if constexpr (has_several_columns)
      return view(row, column);
    else
      return view(row);
  }

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
    const std::size_t size = rows * static_cast<std::size_t>(m_columns);
    m_reference.resize(size);
    m_magnitudes.resize(size);
    m_bound.resize(size);
    for (std::size_t at = 0; at < size; ++at) {
      const std::size_t row = at % rows;
      const int column = static_cast<int>(at / rows);
      wide_scalar sum(0);
      wide_type magnitudes = 0;
      for (auto i = row_map(row); i < row_map(row + 1); ++i) {
        const wide_scalar product = widen(values(i)) * widen(element(host_x, entries(i), column));
        sum += product;
        magnitudes += std::abs(product);
      }
      m_reference[at] = sum;
      m_magnitudes[at] = magnitudes;
      // Each of the n products and additions of a row rounds once, or about three times for complex numbers.
      // The error of one rounding is at most epsilon times the value, or the smallest normal number.
      m_bound[at] =
          static_cast<wide_type>(row_map(row + 1) - row_map(row) + 4) *
          (Filigree::Impl::is_complex_v<Scalar> ? 3 : 1) *
          (std::numeric_limits<real_type>::epsilon() * magnitudes + std::numeric_limits<real_type>::min());
    }
  }

  int m_columns;
  // Elements of y, column after column.
  std::vector<wide_scalar> m_reference;
  std::vector<wide_type> m_magnitudes;
  std::vector<wide_type> m_bound;
  decltype(Kokkos::create_mirror(std::declval<const vector_type&>())) m_kokkos_kernels;
};

// The source files candidates_<scalar>.cpp instantiate these.
extern template class SpmvProblem<float>;
extern template class SpmvProblem<double>;
extern template class SpmvProblem<Kokkos::complex<float>>;
extern template class SpmvProblem<Kokkos::complex<double>>;
extern template class SpmvProblem<float, SeveralColumns<float, Kokkos::LayoutLeft>>;
extern template class SpmvProblem<float, SeveralColumns<float, Kokkos::LayoutRight>>;
extern template class SpmvProblem<double, SeveralColumns<double, Kokkos::LayoutLeft>>;
extern template class SpmvProblem<double, SeveralColumns<double, Kokkos::LayoutRight>>;

}  // namespace FiligreePerf

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <limits>

#include "filigree/convert.hpp"
#include "filigree/core/double_bits.hpp"
#include "filigree/core/view_checker.hpp"
#include "filigree/spmv.hpp"

namespace Filigree {

/// A matrix whose rows and columns are scaled by powers of two, for values of 16 bits. half_t holds numbers
/// from 2^-24 to 65504 only. A scaling removes the differences in size between rows and between columns.
///
/// Entry (i, j) of the matrix is the entry (i, j) of `matrix`, times 2^(row_exponents(i) +
/// column_exponents(j)). A product multiplies x and the sums by these powers. That is exact as long as x and
/// the sums, multiplied by their powers, are in the range of double. x or y must therefore be of double. A
/// product reads 2 bytes more per row and per column than that of `matrix`.
///
/// convert_scaled() makes it. spmv(), refill(), to_crs(), check(), diagonal(), fused products, Krylov methods, all
/// preconditioners but GaussSeidelPreconditioner and LinePreconditioner, and MatrixTraits take it like a matrix of
/// another format.
template <class Matrix>
struct ScaledMatrix {
  using value_type = typename MatrixTraits<Matrix>::value_type;            ///< type of a stored value
  using ordinal_type = typename Matrix::ordinal_type;                      ///< type of a row or column number
  using device_type = typename Matrix::device_type;                        ///< both spaces together
  using memory_space = typename MatrixTraits<Matrix>::memory_space;        ///< where the Views lie
  using execution_space = typename MatrixTraits<Matrix>::execution_space;  ///< default for products
  using options_type = typename MatrixTraits<Matrix>::options_type;        ///< options of the conversion
  /// The View type of the exponents.
  using exponents_type = Kokkos::View<std::int16_t*, Kokkos::Device<execution_space, memory_space>>;
  /// Type of an entry: double or complex double, whose range holds the entries of convert_scaled().
  using entry_type = std::conditional_t<Impl::is_complex_v<value_type>, Kokkos::complex<double>, double>;
  static constexpr bool keeps_entries = MatrixTraits<Matrix>::keeps_entries;    ///< see MatrixTraits
  static constexpr bool is_symmetric = MatrixTraits<Matrix>::is_symmetric;      ///< see MatrixTraits
  static constexpr bool has_dictionary = MatrixTraits<Matrix>::has_dictionary;  ///< see MatrixTraits

  /// The name of the format of `matrix`.
  static constexpr const char* name() { return MatrixTraits<Matrix>::name(); }
  /// The number of rows.
  std::int64_t numRows() const { return MatrixTraits<Matrix>::num_rows(matrix); }
  /// The number of columns.
  std::int64_t numCols() const { return MatrixTraits<Matrix>::num_cols(matrix); }
  /// MatrixTraits::nnz of `matrix`.
  std::int64_t nnz() const { return MatrixTraits<Matrix>::nnz(matrix); }
  /// Bytes of all Views.
  std::size_t storage_bytes() const {
    return MatrixTraits<Matrix>::storage_bytes(matrix) + Impl::bytes_of(row_exponents, column_exponents);
  }

  Matrix matrix;                    ///< the scaled matrix
  exponents_type row_exponents;     ///< one per row, -2044 to 2044
  exponents_type column_exponents;  ///< one per column; the same View for a symmetric format
};

namespace Impl {

/// The exponent e of a finite number with 2^e <= |value| < 2^(e + 1), or no_exponent for other numbers and 0.
/// A subnormal number counts as one of -1023.
constexpr int no_exponent = -32768;
/// The largest magnitude of an exponent of a row or column.
constexpr int largest_exponent = 2044;
KOKKOS_FORCEINLINE_FUNCTION int exponent_of(double value) {
  const int biased = static_cast<int>(bits_of_double(value) >> 52 & 0x7ff);
  return value == 0 || biased == 0x7ff ? no_exponent : biased - 1023;
}

/// The exponent of the largest entry of a row after scaling, for values of type Scalar. half_t holds numbers
/// from 2^-14 with all bits up to 2^16. This leaves room for small entries, and for sums of up to 127
/// duplicates. Other types have the range of float.
template <class Scalar>
constexpr int largest_scaled_exponent() {
  constexpr bool has_range_of_float = RealTraits<real_t<Scalar>>::largest > 1e30f;
  return has_range_of_float ? 0 : 8;
}

/// Finds the exponents of the entries of rows and columns with the present scaling, and applies a scaling.
template <class Views>
struct Scaling {
  using scalar_type = typename Views::scalar_type;
  using wide_type = std::conditional_t<is_complex_v<scalar_type>, Kokkos::complex<double>, double>;
  struct RangesOfRows {};
  struct RangesOfColumns {};
  struct Apply {};

  Views crs;
  // 32 bits wide, for the sums of exponents and for atomic operations.
  const int* row_exponents;
  const int* column_exponents;
  int* largest;   ///< exponent of the entries of each row or column
  int* smallest;  ///< exponent of the entries of each row or column
  wide_type* scaled = nullptr;

  static KOKKOS_FORCEINLINE_FUNCTION int exponent(const scalar_type& value) {
    if constexpr (is_complex_v<scalar_type>) {
      const int real = exponent_of(static_cast<double>(value.real()));
      const int imag = exponent_of(static_cast<double>(value.imag()));
      return real > imag ? real : imag;
    } else {
      return exponent_of(static_cast<double>(value));
    }
  }
  /// Calls visit(column, exponent) for the entries of a row that are finite and not 0.
  template <class Visit>
  KOKKOS_FORCEINLINE_FUNCTION void for_each_exponent(std::int64_t row, const Visit& visit) const {
    for (std::int64_t i = crs.begin(row); i < crs.end(row); ++i) {
      const int e = exponent(crs.values[i]);
      const auto column = static_cast<std::int64_t>(crs.entries[i]);
      if (e != no_exponent) visit(column, e - row_exponents[row] - column_exponents[column]);
    }
  }

  /// Also finds the widest range of a row.
  KOKKOS_INLINE_FUNCTION void operator()(RangesOfRows, const std::int64_t row, int& widest) const {
    int most = no_exponent;
    int least = -no_exponent;
    for_each_exponent(row, [&](std::int64_t, int e) {
      most = e > most ? e : most;
      least = e < least ? e : least;
    });
    largest[row] = most;
    smallest[row] = least;
    if (most - least > widest) widest = most - least;
  }
  KOKKOS_INLINE_FUNCTION void operator()(RangesOfColumns, const std::int64_t row) const {
    for_each_exponent(row, [&](std::int64_t column, int e) {
      Kokkos::atomic_fetch_max(&largest[column], e);
      Kokkos::atomic_fetch_min(&smallest[column], e);
    });
  }
  KOKKOS_INLINE_FUNCTION void operator()(Apply, const std::int64_t row) const {
    for (std::int64_t i = crs.begin(row); i < crs.end(row); ++i) {
      const int row_power = -row_exponents[row];
      const int column_power = -column_exponents[static_cast<std::int64_t>(crs.entries[i])];
      const scalar_type value = crs.values[i];
      if constexpr (is_complex_v<scalar_type>)
        scaled[i] = wide_type(scale(static_cast<double>(value.real()), row_power, column_power),
                              scale(static_cast<double>(value.imag()), row_power, column_power));
      else
        scaled[i] = scale(static_cast<double>(value), row_power, column_power);
    }
  }
  /// A number that is too small for double becomes the smallest normal number and not 0, so that the cast to
  /// the stored type, which makes it 0, counts it.
  static KOKKOS_FORCEINLINE_FUNCTION double scale(double value, int row_power, int column_power) {
    constexpr double least = 2.2250738585072014e-308;
    const double result = scaled_twice(value, row_power, column_power);
    if (value == 0 || !(magnitude(result) < least)) return result;
    return value < 0 ? -least : least;
  }
};

/// Changes the exponents of rows or columns so that the exponents of their entries get the middle 0 (Centre),
/// or so that the largest of them becomes `wanted` (Limit).
struct MoveExponents {
  struct Centre {};
  struct Limit {};

  int* exponents;
  const int* largest;
  const int* smallest;
  int wanted;
  bool by_half;  ///< the other half comes from the column, which has the same exponents

  KOKKOS_INLINE_FUNCTION void operator()(Centre, const std::int64_t i) const {
    if (largest[i] != no_exponent) move(i, (largest[i] + smallest[i]) / 2, 1022);
  }
  KOKKOS_INLINE_FUNCTION void operator()(Limit, const std::int64_t i) const {
    if (largest[i] != no_exponent) move(i, largest[i] - wanted, largest_exponent);
  }
  /// All exponents stay within `most` = 1022 before the last step, so that those of the rows then fit into
  /// 2044.
  KOKKOS_FORCEINLINE_FUNCTION void move(const std::int64_t i, const int change, const int most) const {
    // Rounded up, so that no entry exceeds the limit.
    const int sum = exponents[i] + (by_half ? (change > 0 ? change + 1 : change) / 2 : change);
    exponents[i] = sum < -most ? -most : sum > most ? most : sum;
  }
};

/// check() of a ScaledMatrix.
template <class ExecutionSpace, class Matrix>
void check_matrix(const ViewChecker<ExecutionSpace>& checker, const ScaledMatrix<Matrix>& A) {
  check_matrix(checker.part("matrix"), A.matrix);
  checker.size("row_exponents", A.row_exponents, A.numRows(), "one per row");
  checker.size("column_exponents", A.column_exponents, A.numCols(), "one per column");
  const auto rows = checker.elements(A.row_exponents);
  const auto columns = checker.elements(A.column_exponents);
  checker.range("row_exponents", rows, -largest_exponent, largest_exponent);
  checker.range("column_exponents", columns, -largest_exponent, largest_exponent);
  if constexpr (ScaledMatrix<Matrix>::is_symmetric)
    for (std::size_t i = 0; i < columns.extent(0); ++i)
      if (columns(i) != rows(i))
        checker.refuse("column_exponents", "(", i, ") is ", columns(i), "; it must be ", rows(i),
                       ": row_exponents(", i, "), because the format is symmetric");
}

/// The values of a CRS matrix, scaled back to a wider type.
template <class Views, class Wide>
struct Unscale {
  Views crs;
  UnscaledEntries<Wide> entry;
  Wide* values;

  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t row) const {
    for (std::int64_t i = crs.begin(row); i < crs.end(row); ++i)
      values[i] = entry(crs.values[i], row, static_cast<std::int64_t>(crs.entries[i]));
  }
};

/// A CRS matrix whose rows and columns are scaled, and the exponents of the scaling.
///
/// Rows and columns are centred in turns: the middle of the exponents of each becomes 0, until the widest
/// range of a row is narrow or no longer shrinks. This is geometric scaling, as linear programming uses it.
/// It finds a scaling that a user has applied to a matrix with entries of one size, which scaling rows and
/// columns by their largest entries does not. At the end each row is scaled once more, so that its largest
/// entry has the wanted exponent.
template <class Crs>
struct ScaledCrs {
  using work_type = Scaling<crs_views_t<Crs>>;
  /// Of double, whose range holds all values meanwhile.
  using matrix_type = KokkosSparse::CrsMatrix<typename work_type::wide_type, typename Crs::ordinal_type,
                                              typename Crs::device_type, void, typename Crs::size_type>;
  using exponents_type = Kokkos::View<int*, typename Crs::device_type>;
  /// Entries of a row whose exponents differ by so much have all bits in half precision: after the scaling
  /// they are at least 2^(8 - 20) = 2^-12, and half precision has all bits from 2^-14 on.
  static constexpr int narrow_range = 20;
  static constexpr int most_passes = 20;

  matrix_type matrix;
  exponents_type row_exponents;
  exponents_type column_exponents;

  /// Runs kernels on exec, and fences it. If `symmetric`, rows and columns get the same exponents.
  template <class ExecutionSpace>
  ScaledCrs(const ExecutionSpace& exec, const char* format, const Crs& crs, int wanted, bool symmetric) {
    const auto rows = static_cast<std::int64_t>(crs.numRows());
    const auto columns = static_cast<std::int64_t>(crs.numCols());
    const auto zeros = [&](const char* what, std::int64_t size) {
      return exponents_type(Kokkos::view_alloc(exec, label(what, format)), static_cast<std::size_t>(size));
    };
    row_exponents = zeros("row_exponents", rows);
    column_exponents = symmetric ? row_exponents : zeros("column_exponents", columns);
    const auto largest = zeros("largest", rows > columns ? rows : columns);
    const auto smallest = zeros("smallest", rows > columns ? rows : columns);
    work_type work{crs_views_t<Crs>(crs), row_exponents.data(), column_exponents.data(), largest.data(),
                   smallest.data()};
    const auto move = [&](auto tag, const exponents_type& exponents) {
      Kokkos::parallel_for(
          label("move_exponents", format),
          row_range<decltype(tag)>(exec, static_cast<std::int64_t>(exponents.extent(0))),
          MoveExponents{exponents.data(), largest.data(), smallest.data(), wanted, symmetric});
    };
    int before = std::numeric_limits<int>::max();
    for (int pass = 0;; ++pass) {
      int widest = 0;
      Kokkos::parallel_reduce(label("ranges_of_rows", format),
                              row_range<typename work_type::RangesOfRows>(exec, rows), work,
                              Kokkos::Max<int>(widest));
      exec.fence();
      if (widest <= narrow_range || widest >= before || pass == most_passes) break;
      before = widest;
      move(MoveExponents::Centre(), row_exponents);
      if (symmetric) continue;
      Kokkos::deep_copy(exec, largest, no_exponent);
      Kokkos::deep_copy(exec, smallest, -no_exponent);
      Kokkos::parallel_for(label("ranges_of_columns", format),
                           row_range<typename work_type::RangesOfColumns>(exec, rows), work);
      move(MoveExponents::Centre(), column_exponents);
    }
    move(MoveExponents::Limit(), row_exponents);
    const auto values = allocate_view<typename matrix_type::values_type>(
        exec, "scaled_values", format, static_cast<std::int64_t>(crs.nnz()));
    work.scaled = values.data();
    Kokkos::parallel_for(label("scale_values", format), row_range<typename work_type::Apply>(exec, rows),
                         work);
    matrix = matrix_type(label("scaled", format), crs.numRows(), crs.numCols(), crs.nnz(), values,
                         crs.graph.row_map, crs.graph.entries);
    // The kernels must end before the Views of ranges are freed.
    exec.fence();
  }

  /// Copies the exponents to Views of 16 bits.
  template <class ExecutionSpace, class View>
  void copy_exponents(const ExecutionSpace& exec, const View& rows, const View& columns) const {
    Kokkos::deep_copy(exec, rows, row_exponents);
    if (columns.data() != rows.data()) Kokkos::deep_copy(exec, columns, column_exponents);
  }
};

}  // namespace Impl

/// Converts a CRS or COO matrix to another format with values of type Scalar, and scales its rows and columns
/// by powers of two, so that its entries fit into the range of Scalar:
///
///     auto A = convert_scaled<SellMatrix, half_t>(exec, crs);
///
/// The scaling of a row or column is exact, so that only the cast to Scalar rounds; ConvertOptions::rounding
/// says how much. No scaling suits every matrix: half_t cannot hold [[1, 1e-20], [1e-20, 1]] without making
/// zeros of the small entries. A symmetric matrix stays symmetric in a symmetric format.
///
/// Takes the parameters and memory of convert(), and throws its errors; values in messages are scaled. Takes
/// also 8 bytes per entry, 16 if it is complex, and 12 bytes per row and column while it runs. Reads the
/// matrix twice more if the largest and smallest entries of each row differ by less than 2^21, else up to 42
/// times. Fences exec.
template <template <class, class, class, class, class> class Format, class Scalar, class ExecutionSpace,
          class Matrix, class Options = Impl::options_of_convert_t<Format, Matrix>,
          std::enable_if_t<Kokkos::is_execution_space<ExecutionSpace>::value, int> = 0>
auto convert_scaled(const ExecutionSpace& exec, const Matrix& A, const Options& options = {}) {
  const char* const function = "Filigree::convert_scaled";
  Impl::check_initialized(function);
  decltype(auto) crs = Impl::crs_of(exec, A);
  using Crs = std::decay_t<decltype(crs)>;
  using Stored = converted_t<Format, Crs, Scalar>;
  static_assert(!std::is_same_v<Impl::real_t<Scalar>, double>,
                "Filigree::convert_scaled: Scalar must be narrower than double.");
  const char* const format = MatrixTraits<Stored>::name();
  convert_options_t<Format, Crs> format_options = options;
  const Impl::LabelScope scope(format_options.label);
  Impl::ScopedRegion region(Impl::label("convert_scaled", format));
  Impl::check_crs(exec, function, crs, format_options.check_input);
  format_options.check_input = false;
  // The conversion refuses a symmetric matrix that is not square.
  const bool symmetric = MatrixTraits<Stored>::is_symmetric && crs.numRows() == crs.numCols();
  const Impl::ScaledCrs<Crs> scaled(exec, format, crs, Impl::largest_scaled_exponent<Scalar>(), symmetric);
  using Result = ScaledMatrix<Stored>;
  using exponents_type = typename Result::exponents_type;
  Result result;
  result.matrix = convert<Format, Scalar>(exec, scaled.matrix, format_options);
  result.row_exponents =
      Impl::allocate_view<exponents_type>(exec, "row_exponents", format, scaled.row_exponents.extent(0));
  result.column_exponents = symmetric
                                ? result.row_exponents
                                : Impl::allocate_view<exponents_type>(exec, "column_exponents", format,
                                                                      scaled.column_exponents.extent(0));
  scaled.copy_exponents(exec, result.row_exponents, result.column_exponents);
  // The kernels must end before the Views of `scaled` are freed on return.
  exec.fence();
  return result;
}

/// convert_scaled<Format, Scalar>(exec, A, options) on the default instance of the execution space of A.
template <template <class, class, class, class, class> class Format, class Scalar, class Matrix,
          class Options = Impl::options_of_convert_t<Format, Matrix>,
          std::enable_if_t<!Kokkos::is_execution_space<Matrix>::value, int> = 0>
auto convert_scaled(const Matrix& A, const Options& options = {}) {
  Impl::check_initialized("Filigree::convert_scaled");
  return convert_scaled<Format, Scalar>(typename Impl::crs_of_t<Matrix>::execution_space(), A, options);
}

/// refill() of a ScaledMatrix. The exponents are found again. Takes the memory of convert_scaled() while it
/// runs, and fences exec. If it throws, A is unchanged.
template <class ExecutionSpace, class Matrix, class S, class O, class D, class M, class Z>
std::enable_if_t<Kokkos::is_execution_space<ExecutionSpace>::value> refill(
    const ExecutionSpace& exec, const ScaledMatrix<Matrix>& A,
    const KokkosSparse::CrsMatrix<S, O, D, M, Z>& crs, const RefillOptions& options = {}) {
  const char* const function = "Filigree::refill";
  Impl::check_initialized(function);
  const Impl::LabelScope scope(Impl::label_of(A));
  Impl::check_crs(exec, function, crs, options.check_pattern);
  Impl::check_extents_of_refill(function, A.matrix, crs);
  using Crs = KokkosSparse::CrsMatrix<S, O, D, M, Z>;
  const Impl::ScaledCrs<Crs> scaled(
      exec, A.name(), crs, Impl::largest_scaled_exponent<typename ScaledMatrix<Matrix>::value_type>(),
      A.is_symmetric);
  refill(exec, A.matrix, scaled.matrix, options);
  scaled.copy_exponents(exec, A.row_exponents, A.column_exponents);
  // The kernels must end before the Views of `scaled` are freed on return.
  exec.fence();
}

/// The entries of a ScaledMatrix as a CRS matrix of double or of complex double with new values. It shares
/// the pattern if A.matrix is a CRS matrix. Fences exec.
template <class ExecutionSpace, class Matrix>
auto to_crs(const ExecutionSpace& exec, const ScaledMatrix<Matrix>& A) {
  Impl::check_initialized("Filigree::to_crs");
  const Impl::LabelScope scope(Impl::label_of(A));
  using wide_type = typename ScaledMatrix<Matrix>::entry_type;
  const auto stored = to_crs(exec, A.matrix);
  using Stored = std::decay_t<decltype(stored)>;
  using Result = KokkosSparse::CrsMatrix<wide_type, typename Stored::ordinal_type,
                                         typename Stored::device_type, void, typename Stored::size_type>;
  const auto values = Impl::allocate_view<typename Result::values_type>(
      exec, "values", "crs", static_cast<std::int64_t>(stored.nnz()));
  using Views = Impl::crs_views_t<Stored>;
  Kokkos::parallel_for(
      Impl::label("unscale", A.name()), Impl::row_range<void>(exec, A.numRows()),
      Impl::Unscale<Views, wide_type>{
          Views(stored), {A.row_exponents.data(), A.column_exponents.data()}, values.data()});
  // The kernel must end before the values of `stored` are freed on return.
  exec.fence();
  return Result(Impl::label("crs", "scaled"), stored.numRows(), stored.numCols(), stored.nnz(), values,
                stored.graph.row_map, stored.graph.entries);
}

}  // namespace Filigree

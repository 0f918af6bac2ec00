// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FILIGREE_IO_MATRIX_MARKET_HPP
#define FILIGREE_IO_MATRIX_MARKET_HPP

#include <complex>
#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <limits>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <Kokkos_Core.hpp>
#include <KokkosSparse_CrsMatrix.hpp>

namespace Filigree {

/// What read_matrix_market() does where the format leaves a choice.
struct MatrixMarketOptions {
  /// What to do with a place (row, column) that the file gives more than once.
  enum class Duplicates {
    Sum,    ///< Add the values in the order of the file.
    Refuse  ///< Throw an error that names the place and both lines.
  };

  Duplicates duplicates = Duplicates::Sum;

  /// Whether a complex file may fill a real matrix with its real parts. Without it such a file is an error.
  bool complex_to_real = false;
};

/// A file that could not be read as a Matrix Market file, or that the matrix to fill cannot hold.
///
/// what() names the function, the file, the line, what was expected, what stood there and the line
/// (shortened).
class MatrixMarketError : public std::runtime_error {
 public:
  /// @param file    the path, or the name given with a stream
  /// @param line    the line, from 1; 0 where no line is to blame (a missing file, broken gzip data)
  /// @param problem what was wrong and what would be right
  MatrixMarketError(const std::string& file, std::int64_t line, const std::string& problem)
      : std::runtime_error("Filigree::read_matrix_market: " + file +
                           (line > 0 ? ", line " + std::to_string(line) : "") + ": " + problem),
        m_file(file),
        m_line(line) {}

  /// The path, or the name given with the stream.
  const std::string& file() const { return m_file; }

  /// The line, counted from 1; 0 where no line is to blame.
  std::int64_t line() const { return m_line; }

 private:
  std::string m_file;
  std::int64_t m_line;
};

namespace Impl {

/// What the types of the matrix to fill can hold.
struct MatrixMarketTarget {
  std::int64_t max_ordinal;  ///< largest number of rows or columns
  std::int64_t max_offset;   ///< largest number of entries
  double overflow;           ///< smallest finite magnitude that would become infinite; infinity for double
};

/// A compressed row matrix of plain types: columns sorted and unique in each row. V is double or
/// std::complex<double>.
template <class V>
struct MatrixMarketCrs {
  std::int64_t num_rows = 0;
  std::int64_t num_cols = 0;
  std::vector<std::int64_t> row_map;
  std::vector<std::int64_t> entries;
  std::vector<V> values;
};

/// Does the whole reading but for the Views. Defined and instantiated for double and std::complex<double> in
/// src/matrix_market.cpp, so that neither zlib nor the parser reaches the files that include this header.
template <class V>
MatrixMarketCrs<V> load_matrix_market(const std::string& path, const MatrixMarketOptions& options,
                                      const MatrixMarketTarget& target);
template <class V>
MatrixMarketCrs<V> load_matrix_market(std::istream& stream, const std::string& name,
                                      const MatrixMarketOptions& options, const MatrixMarketTarget& target);

template <class Scalar>
struct MatrixMarketScalar {
  static constexpr bool supported = false;
  using parsed_type = double;
  static constexpr double overflow() { return 0; }
};

template <>
struct MatrixMarketScalar<double> {
  static constexpr bool supported = true;
  using parsed_type = double;
  static constexpr double overflow() { return std::numeric_limits<double>::infinity(); }
};

template <>
struct MatrixMarketScalar<float> {
  static constexpr bool supported = true;
  using parsed_type = double;
  // Half a unit in the last place above the largest float: from here on rounding to nearest gives infinity.
  static constexpr double overflow() { return 0x1.ffffffp127; }
};

template <class Real>
struct MatrixMarketScalar<Kokkos::complex<Real>> {
  static constexpr bool supported = MatrixMarketScalar<Real>::supported;
  using parsed_type = std::complex<double>;
  static constexpr double overflow() { return MatrixMarketScalar<Real>::overflow(); }
};

template <class To, class From>
To matrix_market_cast(const From& from) {
  return static_cast<To>(from);
}

template <class To>
To matrix_market_cast(const std::complex<double>& from) {
  using Real = typename To::value_type;
  return To(static_cast<Real>(from.real()), static_cast<Real>(from.imag()));
}

template <class Integer>
constexpr std::int64_t matrix_market_max() {
  constexpr auto max = static_cast<std::uintmax_t>(std::numeric_limits<Integer>::max());
  return max < static_cast<std::uintmax_t>(INT64_MAX) ? static_cast<std::int64_t>(max) : INT64_MAX;
}

/// A labelled View of the numbers in `from`, which is taken by value to be released as soon as it is copied.
template <class View, class From>
View matrix_market_view(const char* label, std::vector<From> from) {
  View view(Kokkos::view_alloc(Kokkos::WithoutInitializing, std::string(label)), from.size());
  auto host = Kokkos::create_mirror_view(view);
  for (std::size_t i = 0; i < from.size(); ++i)
    host(i) = matrix_market_cast<typename View::non_const_value_type>(from[i]);
  Kokkos::deep_copy(view, host);
  return view;
}

template <class Crs>
constexpr MatrixMarketTarget matrix_market_target() {
  using Scalar = typename Crs::non_const_value_type;
  static_assert(MatrixMarketScalar<Scalar>::supported,
                "Filigree::read_matrix_market fills matrices of float, double, Kokkos::complex<float> and "
                "Kokkos::complex<double>; this CrsMatrix has another scalar type.");
  return {matrix_market_max<typename Crs::non_const_ordinal_type>(),
          matrix_market_max<typename Crs::non_const_size_type>(), MatrixMarketScalar<Scalar>::overflow()};
}

template <class Crs, class V>
Crs matrix_market_to_crs(MatrixMarketCrs<V> from) {
  using Ordinal = typename Crs::non_const_ordinal_type;
  using Size = typename Crs::non_const_size_type;
  const auto rows = static_cast<Ordinal>(from.num_rows);
  const auto cols = static_cast<Ordinal>(from.num_cols);
  const auto nnz = static_cast<Size>(from.entries.size());
  auto row_map = matrix_market_view<typename Crs::row_map_type::non_const_type>(
      "Filigree::row_map[matrix_market]", std::move(from.row_map));
  auto entries = matrix_market_view<typename Crs::index_type::non_const_type>(
      "Filigree::entries[matrix_market]", std::move(from.entries));
  auto values = matrix_market_view<typename Crs::values_type::non_const_type>(
      "Filigree::values[matrix_market]", std::move(from.values));
  return Crs("Filigree::crs[matrix_market]", rows, cols, nnz, values, row_map, entries);
}

}  // namespace Impl

/// Reads a Matrix Market file (.mtx or .mtx.gz) into a compressed row matrix.
///
///     using Crs = KokkosSparse::CrsMatrix<double, int, Device, void, size_t>;
///     Crs a     = Filigree::read_matrix_market<Crs>("matrix.mtx.gz");
///
/// Reads the objects `matrix` and `vector` (a vector of n becomes n x 1), the formats `coordinate` and
/// `array`, the fields `real`, `double`, `integer`, `unsigned-integer`, `complex` and `pattern`, and the
/// symmetries `general`, `symmetric`, `skew-symmetric` and `hermitian`, in all the combinations that the
/// format defines. gzip is recognised by its first bytes, not by the name of the file, and may have several
/// members. The words of the banner may be in any case; blanks, tabs, carriage returns, blank lines and lines
/// of comment may stand anywhere after the banner.
///
/// The matrix has the shape of the size line. Each row holds its columns in rising order, each column once.
/// - The triangle that a file of a symmetric kind leaves out is filled in. The diagonal is never doubled.
/// - Entries of a pattern have the value 1.
/// - Explicit zeros of a coordinate file stay entries; of an array only what is not zero becomes an entry.
/// - A place given more than once holds the sum in the order of the file, or is refused: MatrixMarketOptions.
/// - Numbers are read as double, so an integer beyond 2^53 is rounded, and then rounded to the scalar type.
///   `inf` and `nan` are read, Fortran's exponents (1.5D+03) too. What is too small for the type becomes 0.
///
/// Anything else is an error, and nothing is returned: an unknown or missing word in the banner, too few or
/// too many entries, fewer or more numbers on a line, text for a number, a fraction in an integer file, an
/// index that is not from 1 to the size, an entry above the diagonal of a file of a symmetric kind, one on
/// the diagonal of a skew-symmetric file (the format stores only what is below), a diagonal of a hermitian
/// file that is not real, a number or a size that the types of the matrix cannot hold, gzip data that is
/// broken, cut off or followed by other bytes.
///
/// Cost: reading is one pass over the text on one core of the host, then O(entries) to sort by rows; rows
/// whose columns are out of order in the file are sorted, which costs O(n log n) for a row of n. Memory on
/// the host, at the most: the text (of a plain file mapped, not copied; the file must not shrink meanwhile),
/// 32 bytes for each entry in the file, and 16 (real) or 24 (complex) bytes for each entry and 8 bytes for
/// each row of the matrix. A size line that announces more entries than the text after it can hold is refused
/// before anything is allocated; the row map is not: it has as many elements as the file announces rows.
///
/// Source: R. F. Boisvert, R. Pozo, K. A. Remington, The Matrix Market Exchange Formats: Initial Design,
/// NISTIR 5935, 1996.
///
/// @tparam Crs  a KokkosSparse::CrsMatrix of float, double, Kokkos::complex<float> or Kokkos::complex<double>
///              on any device; its Views are labelled Filigree::row_map[matrix_market], ::entries, ::values
/// @param path  the file
/// @throws MatrixMarketError for all that is wrong with the file, see there
template <class Crs>
Crs read_matrix_market(const std::string& path, const MatrixMarketOptions& options = {}) {
  using V = typename Impl::MatrixMarketScalar<typename Crs::non_const_value_type>::parsed_type;
  return Impl::matrix_market_to_crs<Crs>(
      Impl::load_matrix_market<V>(path, options, Impl::matrix_market_target<Crs>()));
}

/// The same from a stream, plain or gzip, which is read to its end.
///
/// @param stream a stream; open it in binary mode if it may hold gzip data
/// @param name   what the errors call it
template <class Crs>
Crs read_matrix_market(std::istream& stream, const std::string& name,
                       const MatrixMarketOptions& options = {}) {
  using V = typename Impl::MatrixMarketScalar<typename Crs::non_const_value_type>::parsed_type;
  return Impl::matrix_market_to_crs<Crs>(
      Impl::load_matrix_market<V>(stream, name, options, Impl::matrix_market_target<Crs>()));
}

}  // namespace Filigree

#endif

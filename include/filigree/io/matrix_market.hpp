// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FILIGREE_IO_MATRIX_MARKET_HPP
#define FILIGREE_IO_MATRIX_MARKET_HPP

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

#include "filigree/conversion/check_crs.hpp"

namespace Filigree {

/// What read_matrix_market() does where the format leaves a choice.
struct MatrixMarketOptions {
  /// What to do with a place (row, column) that the file gives more than once.
  enum class Duplicates {
    Sum,    ///< Add the values in the order of the file.
    Refuse  ///< Throw an error that names the first such place, by row, and its first two lines.
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
  std::int64_t pieces = 0;   ///< pieces to read the text in; 0 for one a thread, which tests change
};

/// A compressed row matrix on the host: columns sorted and unique in each row.
template <class Scalar, class Ordinal>
struct MatrixMarketCrs {
  std::int64_t num_rows = 0;
  std::int64_t num_cols = 0;
  Kokkos::View<std::int64_t*, Kokkos::HostSpace> row_map;
  Kokkos::View<Ordinal*, Kokkos::HostSpace> entries;
  Kokkos::View<Scalar*, Kokkos::HostSpace> values;
};

/// Does the whole reading. Defined and instantiated in src/ for the four scalar types and
/// for ordinals of 32 and 64 bits, so that neither zlib nor the parser reaches the files that include this
/// header.
template <class Scalar, class Ordinal>
MatrixMarketCrs<Scalar, Ordinal> load_matrix_market(const std::string& path,
                                                    const MatrixMarketOptions& options,
                                                    const MatrixMarketTarget& target);
template <class Scalar, class Ordinal>
MatrixMarketCrs<Scalar, Ordinal> load_matrix_market(std::istream& stream, const std::string& name,
                                                    const MatrixMarketOptions& options,
                                                    const MatrixMarketTarget& target);

/// Does the whole writing, plain or, where gzip is true, compressed.
template <class Scalar, class Ordinal>
void store_matrix_market(const std::string& path, bool gzip, const MatrixMarketCrs<Scalar, Ordinal>& crs);
template <class Scalar, class Ordinal>
void store_matrix_market(std::ostream& stream, const MatrixMarketCrs<Scalar, Ordinal>& crs);

template <class Scalar>
struct MatrixMarketScalar {
  static constexpr bool supported = false;
  static constexpr double overflow() { return 0; }
};

template <>
struct MatrixMarketScalar<double> {
  static constexpr bool supported = true;
  static constexpr double overflow() { return std::numeric_limits<double>::infinity(); }
};

template <>
struct MatrixMarketScalar<float> {
  static constexpr bool supported = true;
  // Half a unit in the last place above the largest float: from here on rounding to nearest gives infinity.
  static constexpr double overflow() { return 0x1.ffffffp127; }
};

template <class Real>
struct MatrixMarketScalar<Kokkos::complex<Real>> {
  static constexpr bool supported = MatrixMarketScalar<Real>::supported;
  static constexpr double overflow() { return MatrixMarketScalar<Real>::overflow(); }
};

template <class Integer>
constexpr std::int64_t matrix_market_max() {
  constexpr auto max = static_cast<std::uintmax_t>(std::numeric_limits<Integer>::max());
  return max < static_cast<std::uintmax_t>(INT64_MAX) ? static_cast<std::int64_t>(max) : INT64_MAX;
}

/// The ordinal type of the reader that holds as much as that of the matrix.
template <class Ordinal>
using matrix_market_ordinal_t =
    std::conditional_t<matrix_market_max<Ordinal>() <= INT32_MAX, std::int32_t, std::int64_t>;

/// The numbers of a host View in a View of the matrix: the View itself where types and spaces are the same.
template <class View, class From>
View matrix_market_view(const From& from) {
  using to_type = typename View::non_const_value_type;
  if constexpr (std::is_same<to_type, typename From::value_type>::value) {
    if constexpr (std::is_same<typename View::memory_space, Kokkos::HostSpace>::value) {
      return from;
    } else {
      View view(Kokkos::view_alloc(Kokkos::WithoutInitializing, from.label()), from.extent(0));
      Kokkos::deep_copy(view, from);
      return view;
    }
  } else {
    View view(Kokkos::view_alloc(Kokkos::WithoutInitializing, from.label()), from.extent(0));
    auto host = Kokkos::create_mirror_view(view);
    for (std::size_t i = 0; i < from.extent(0); ++i)
      host(i) = static_cast<to_type>(from(i));
    Kokkos::deep_copy(view, host);
    return view;
  }
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

template <class Crs, class Scalar, class Ordinal>
Crs matrix_market_to_crs(MatrixMarketCrs<Scalar, Ordinal> from) {
  const auto nnz = static_cast<typename Crs::non_const_size_type>(from.entries.extent(0));
  // Each array is let go as soon as it is copied, where it is.
  const auto take = [](auto& view) { return std::exchange(view, {}); };
  auto row_map = matrix_market_view<typename Crs::row_map_type::non_const_type>(take(from.row_map));
  auto entries = matrix_market_view<typename Crs::index_type::non_const_type>(take(from.entries));
  auto values = matrix_market_view<typename Crs::values_type::non_const_type>(take(from.values));
  using ordinal_type = typename Crs::non_const_ordinal_type;
  return Crs("Filigree::crs[matrix_market]", static_cast<ordinal_type>(from.num_rows),
             static_cast<ordinal_type>(from.num_cols), nnz, values, row_map, entries);
}

/// What is written of a CRS matrix, on the host; throws std::invalid_argument for one that is none.
template <class Crs>
auto matrix_market_of(const Crs& crs) {
  using Scalar = typename Crs::non_const_value_type;
  using Ordinal = matrix_market_ordinal_t<typename Crs::non_const_ordinal_type>;
  static_assert(MatrixMarketScalar<Scalar>::supported,
                "Filigree::write_matrix_market writes matrices of float, double, Kokkos::complex<float> and "
                "Kokkos::complex<double>; this CrsMatrix has another scalar type.");
  check_crs(typename Crs::execution_space(), "Filigree::write_matrix_market", crs, true);
  Kokkos::fence();
  const auto copy = [](auto to, const char* label, const auto& from) {
    const auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), from);
    using View = decltype(to);
    View view(Kokkos::view_alloc(Kokkos::WithoutInitializing, std::string(label)), host.extent(0));
    for (std::size_t i = 0; i < host.extent(0); ++i)
      view(i) = static_cast<typename View::value_type>(host(i));
    return view;
  };
  MatrixMarketCrs<Scalar, Ordinal> result;
  result.num_rows = static_cast<std::int64_t>(crs.numRows());
  result.num_cols = static_cast<std::int64_t>(crs.numCols());
  result.row_map = copy(result.row_map, "Filigree::row_map[matrix_market]", crs.graph.row_map);
  result.entries = copy(result.entries, "Filigree::entries[matrix_market]", crs.graph.entries);
  result.values = copy(result.values, "Filigree::values[matrix_market]", crs.values);
  return result;
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
/// - Numbers are rounded once, to the scalar type. Duplicates are summed in double.
///   `inf` and `nan` are read, Fortran's exponents (1.5D+03) too. What is too small for the type becomes 0.
///
/// Anything else is an error, and nothing is returned: an unknown or missing word in the banner, too few or
/// too many entries, fewer or more numbers on a line, text for a number, a fraction in an integer file, an
/// index that is not from 1 to the size, an entry above the diagonal of a file of a symmetric kind, one on
/// the diagonal of a skew-symmetric file (the format stores only what is below), a diagonal of a hermitian
/// file that is not real, a number or a size that the types of the matrix cannot hold, gzip data that is
/// broken, cut off or followed by other bytes.
///
/// Cost: two passes over the text, the first of which reads the row indices alone, and one over the rows, on
/// all threads of the default host execution space (an array on one; gzip data are inflated on one first).
/// Rows whose columns are out of order in the file are sorted, which costs O(n log n) for a row of n. Memory
/// on the host, at the most: the text (of a plain file mapped, not copied; the file must not shrink
/// meanwhile), the matrix, 16 bytes a row, and for each thread 8 bytes a row, of which there are no more
/// threads than keep that below the size of the matrix; and the matrix again where duplicates are summed. A
/// size line that announces more entries than the text after it can hold is refused before anything is
/// allocated; the row map is not: it has as many elements as the file announces rows.
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
  using Ordinal = Impl::matrix_market_ordinal_t<typename Crs::non_const_ordinal_type>;
  return Impl::matrix_market_to_crs<Crs>(
      Impl::load_matrix_market<typename Crs::non_const_value_type, Ordinal>(
          path, options, Impl::matrix_market_target<Crs>()));
}

/// The same from a stream, plain or gzip, which is read to its end.
///
/// @param stream a stream; open it in binary mode if it may hold gzip data
/// @param name   what the errors call it
template <class Crs>
Crs read_matrix_market(std::istream& stream, const std::string& name,
                       const MatrixMarketOptions& options = {}) {
  using Ordinal = Impl::matrix_market_ordinal_t<typename Crs::non_const_ordinal_type>;
  return Impl::matrix_market_to_crs<Crs>(
      Impl::load_matrix_market<typename Crs::non_const_value_type, Ordinal>(
          stream, name, options, Impl::matrix_market_target<Crs>()));
}

/// Writes a compressed row matrix as a Matrix Market file, `coordinate`, `real` or `complex`, `general`, that
/// read_matrix_market() reads back with the same bits: each number has the fewest digits that give it back
/// (of a NaN, only that it is one). Entries stand row by row in the order of the matrix; of unsorted rows
/// reading gives back sorted ones, of duplicates their sum.
///
/// Of a NaN only that it is one is written. Cost: numbers are printed on all threads of the default host
/// execution space and compressed on one. Memory on the host: a copy of the matrix and about 4 MB a thread.
///
/// @param path  the file; compressed where it ends in ".gz". It is written under the name path + ".part" and
///              renamed when it is whole, so that an error leaves what was there before; what is no regular
///              file, such as a pipe, is written in place.
/// @throws std::invalid_argument for a matrix that is none, std::runtime_error where the file cannot be
/// written
template <class Crs>
void write_matrix_market(const std::string& path, const Crs& crs) {
  const bool gzip = path.size() > 3 && path.compare(path.size() - 3, 3, ".gz") == 0;
  Impl::store_matrix_market(path, gzip, Impl::matrix_market_of(crs));
}

/// The same to a stream, not compressed.
///
/// @throws std::runtime_error where the stream fails
template <class Crs>
void write_matrix_market(std::ostream& stream, const Crs& crs) {
  Impl::store_matrix_market(stream, Impl::matrix_market_of(crs));
}

}  // namespace Filigree

#endif

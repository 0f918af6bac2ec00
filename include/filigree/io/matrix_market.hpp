// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <iosfwd>
#include <limits>
#include <stdexcept>
#include <utility>

#include "filigree/conversion/check_crs.hpp"
#include "filigree/core/initialized.hpp"
#include "filigree/core/scalar.hpp"

namespace Filigree {

/// Options of read_matrix_market().
struct MatrixMarketOptions {
  /// What to do with several entries of one row and column.
  enum class Duplicates {
    Sum,    ///< Add their values in the order of the file.
    Refuse  ///< Throw an error that names the first duplicate, by row and column, and its first two lines.
  };

  Duplicates duplicates = Duplicates::Sum;  ///< what to do with duplicates

  /// If true, a real matrix receives the real parts of a complex file. If false, a complex file is an error.
  bool complex_to_real = false;
};

/// The error for a file that is not a valid Matrix Market file, or that the matrix to fill cannot hold.
///
/// what() contains the function, the file, the line number, the expected text, the text that was found, and
/// the line, shortened.
class MatrixMarketError : public std::runtime_error {
 public:
  /// @param file    the path, or the name given with a stream
  /// @param line    the line, from 1; 0 if the error belongs to no line (a missing or changed file, corrupt
  ///                gzip data)
  /// @param problem the expected text and the text that was found
  MatrixMarketError(const std::string& file, std::int64_t line, const std::string& problem)
      : std::runtime_error("Filigree::read_matrix_market: " + file +
                           (line > 0 ? ", line " + std::to_string(line) : "") + ": " + problem),
        m_file(file),
        m_line(line) {}

  /// The path, or the name given with the stream.
  const std::string& file() const { return m_file; }

  /// The line, counted from 1; 0 if the error belongs to no line.
  std::int64_t line() const { return m_line; }

 private:
  std::string m_file;
  std::int64_t m_line;
};

namespace Impl {

/// The limits of the types of the matrix to fill.
struct MatrixMarketTarget {
  std::int64_t max_ordinal;  ///< largest number of rows or columns
  std::int64_t max_offset;   ///< largest number of entries
  /// The number of pieces in which threads read the text; 0 for one per thread. Tests set it.
  std::int64_t pieces = 0;
};

/// A CRS matrix on the host. In a matrix that was read, the columns of each row are sorted and unique.
template <class Scalar, class Ordinal>
struct MatrixMarketCrs {
  static_assert(std::is_same<Scalar, float>::value || std::is_same<Scalar, double>::value ||
                    std::is_same<Scalar, Kokkos::complex<float>>::value ||
                    std::is_same<Scalar, Kokkos::complex<double>>::value,
                "Filigree reads and writes Matrix Market files for matrices of float, double, "
                "Kokkos::complex<float> and Kokkos::complex<double>. This CrsMatrix has another type.");
  std::int64_t num_rows = 0;
  std::int64_t num_cols = 0;
  Kokkos::View<std::int64_t*, Kokkos::HostSpace> row_map;
  Kokkos::View<Ordinal*, Kokkos::HostSpace> entries;
  Kokkos::View<Scalar*, Kokkos::HostSpace> values;
};

/// Reads a file. It is defined in src/matrix_market/ and instantiated for the four scalar types and for
/// 32-bit and 64-bit ordinals, so that users of this header do not compile the parser or include zlib.
template <class Scalar, class Ordinal>
MatrixMarketCrs<Scalar, Ordinal> load_matrix_market(const std::string& path,
                                                    const MatrixMarketOptions& options,
                                                    const MatrixMarketTarget& target);
template <class Scalar, class Ordinal>
MatrixMarketCrs<Scalar, Ordinal> load_matrix_market(std::istream& stream, const std::string& name,
                                                    const MatrixMarketOptions& options,
                                                    const MatrixMarketTarget& target);

/// Writes a file, compressed if gzip is true.
template <class Scalar, class Ordinal>
void store_matrix_market(const std::string& path, bool gzip, const MatrixMarketCrs<Scalar, Ordinal>& crs);
template <class Scalar, class Ordinal>
void store_matrix_market(std::ostream& stream, const MatrixMarketCrs<Scalar, Ordinal>& crs);

/// The largest number of an integer type, at most that of int64_t.
template <class Integer>
constexpr std::int64_t matrix_market_max =
    sizeof(Integer) < 8 ? static_cast<std::int64_t>(std::numeric_limits<Integer>::max()) : INT64_MAX;

/// The ordinal type of the matrix on the host: the smallest that holds all numbers of Ordinal.
template <class Ordinal>
using matrix_market_ordinal_t =
    std::conditional_t<matrix_market_max<Ordinal> <= INT32_MAX, std::int32_t, std::int64_t>;

/// A View of another type with the elements of `from`. It shares the memory of `from` if the value types and
/// memory spaces are equal.
template <class View, class From>
View matrix_market_view(const From& from) {
  using value_type = typename View::non_const_value_type;
  if constexpr (std::is_same<value_type, typename From::value_type>::value) {
    return Kokkos::create_mirror_view_and_copy(typename View::memory_space(), from);
  } else {
    View view(Kokkos::view_alloc(Kokkos::WithoutInitializing, from.label()), from.extent(0));
    const auto host = Kokkos::create_mirror_view(view);
    const auto host_from = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), from);
    for (std::size_t i = 0; i < host.extent(0); ++i)
      host(i) = static_cast<value_type>(host_from(i));
    Kokkos::deep_copy(view, host);
    return view;
  }
}

/// Reads a file into a CRS matrix on its device. `source` is a path, or a stream and its name.
template <class Crs, class... Source>
Crs read_matrix_market_crs(const MatrixMarketOptions& options, Source&... source) {
  using ordinal_type = typename Crs::non_const_ordinal_type;
  using size_type = typename Crs::non_const_size_type;
  auto from = load_matrix_market<typename Crs::non_const_value_type, matrix_market_ordinal_t<ordinal_type>>(
      source..., options, MatrixMarketTarget{matrix_market_max<ordinal_type>, matrix_market_max<size_type>});
  const auto nnz = static_cast<size_type>(from.entries.extent(0));
  // Each array on the host is freed as soon as it is copied.
  const auto take = [](auto& view) { return std::exchange(view, {}); };
  auto row_map = matrix_market_view<typename Crs::row_map_type::non_const_type>(take(from.row_map));
  auto entries = matrix_market_view<typename Crs::index_type::non_const_type>(take(from.entries));
  auto values = matrix_market_view<typename Crs::values_type::non_const_type>(take(from.values));
  return Crs("Filigree::crs[matrix_market]", static_cast<ordinal_type>(from.num_rows),
             static_cast<ordinal_type>(from.num_cols), nnz, values, row_map, entries);
}

/// Copies a CRS matrix to the host. Shares Views that are on the host and have the type of the result. Throws
/// std::invalid_argument if crs is not a valid CRS matrix.
template <class Crs>
auto matrix_market_from_crs(const Crs& crs) {
  using Result = MatrixMarketCrs<typename Crs::non_const_value_type,
                                 matrix_market_ordinal_t<typename Crs::non_const_ordinal_type>>;
  // The kernels that write crs may run on any instance.
  Kokkos::fence();
  check_crs(typename Crs::execution_space(), "Filigree::write_matrix_market", crs, true);
  return Result{static_cast<std::int64_t>(crs.numRows()), static_cast<std::int64_t>(crs.numCols()),
                matrix_market_view<decltype(Result::row_map)>(crs.graph.row_map),
                matrix_market_view<decltype(Result::entries)>(crs.graph.entries),
                matrix_market_view<decltype(Result::values)>(crs.values)};
}

}  // namespace Impl

/// Reads a Matrix Market file (.mtx or .mtx.gz) into a CRS matrix.
///
///     using Crs = KokkosSparse::CrsMatrix<double, int, Device, void, size_t>;
///     Crs a     = Filigree::read_matrix_market<Crs>("matrix.mtx.gz");
///
/// Supported are the objects `matrix` and `vector` (a vector of length n becomes an n x 1 matrix), the
/// formats `coordinate` and `array`, the fields `real`, `double`, `integer`, `unsigned-integer`, `complex`
/// and `pattern`, and the symmetries `general`, `symmetric`, `skew-symmetric` and `hermitian`, in all
/// combinations that the format defines. gzip data is recognised by its first bytes, not by the name of the
/// file, and may have several members. The words of the banner may be in upper or lower case. Blanks, tabs,
/// carriage returns, blank lines and comment lines may be anywhere after the banner.
///
/// The matrix has the shape of the size line. The columns of each row are sorted and unique.
/// - If the banner names a symmetry, the file lists one triangle, and the other one is added.
/// - The entries of a pattern have the value 1.
/// - Zeros of a coordinate file become entries. Zeros of an array do not.
/// - Duplicate entries are summed in double, in the order of the file, or refused; see MatrixMarketOptions.
/// - Each number is rounded once, to the scalar type. A number too small for the type becomes 0. `inf`, `nan`
///   and Fortran's exponents (1.5D+03) are valid.
///
/// Every other file is an error, for example one with
/// - an unknown or missing word in the banner,
/// - too few or too many entries, or a line with too few or too many numbers,
/// - a word that is not a number, or a fraction in an integer file,
/// - an index outside the matrix,
/// - an entry above the diagonal if the banner names a symmetry,
/// - a diagonal entry in a skew-symmetric file, or one that is not real in a hermitian file,
/// - a number or a size that the types of the matrix cannot hold,
/// - gzip data that is corrupt, truncated or followed by other bytes,
/// - a file that changes while it is read.
///
/// Time: the text is parsed twice, the first time only the row indices, and then each row is sorted, in O(n
/// log n) for a row of n entries that is not sorted in the file. All threads of the default host execution
/// space take part, except that one thread decompresses gzip data and one reads an array.
///
/// Copies to a device with Kokkos::deep_copy, which waits for all instances. The matrix is complete on
/// return.
///
/// Memory on the host: the text of the file (and the file itself if it is gzip data), the matrix, 16 bytes
/// per row, 8 bytes per row and thread (the number of threads is limited so that this is less than the
/// matrix), and a second copy of the matrix if it has duplicates. If the size line announces more entries
/// than the rest of the text can hold, the file is refused before the matrix is allocated. The row map is not
/// checked in this way: it has one element per announced row.
///
/// The file is copied into memory before it is parsed. It is an error if its size or its time of modification
/// changes until the matrix is complete. Many file systems count that time in steps of some milliseconds, so
/// a second change within one step is not noticed. The result is then what the copy contains: a valid matrix
/// or an error. If the file is replaced by another one or removed, the file that was opened is read to its
/// end.
///
/// Source: R. F. Boisvert, R. Pozo, K. A. Remington, The Matrix Market Exchange Formats: Initial Design,
/// NISTIR 5935, 1996.
///
/// @tparam Crs  a KokkosSparse::CrsMatrix of float, double, Kokkos::complex<float> or Kokkos::complex<double>
///              on any device. Its Views have the labels `Filigree::<view>[matrix_market]`, in which `<view>`
///              is row_map, entries or values
/// @param path  the file
/// @throws MatrixMarketError if the file cannot be read, is not valid or does not fit the matrix type;
///         std::logic_error if Kokkos is not initialized
template <class Crs>
Crs read_matrix_market(const std::string& path, const MatrixMarketOptions& options = {}) {
  Impl::check_initialized("Filigree::read_matrix_market");
  return Impl::read_matrix_market_crs<Crs>(options, path);
}

/// Reads a stream, plain or gzip, to its end.
///
/// @param stream the stream; open it in binary mode if it may contain gzip data
/// @param name   the name of the stream in error texts
template <class Crs>
Crs read_matrix_market(std::istream& stream, const std::string& name,
                       const MatrixMarketOptions& options = {}) {
  Impl::check_initialized("Filigree::read_matrix_market");
  return Impl::read_matrix_market_crs<Crs>(options, stream, name);
}

/// Writes a CRS matrix as a Matrix Market file, with the words `coordinate`, `real` or `complex`, `general`.
///
/// Each number has the fewest digits from which read_matrix_market() restores its bits. Only the bits of a
/// NaN are not restored. The entries have the order of the matrix. If rows are not sorted or have duplicates,
/// reading the file gives sorted rows and the sums of the duplicates.
///
/// First waits for all instances, because any of them may still write crs.
///
/// Cost: all threads of the default host execution space print numbers, and one thread compresses them.
/// Memory on the host: at most a copy of the matrix and about 4 MB per thread.
///
/// The file has the name path + ".part" until it is complete (".part2" and so on if there is such a file), so
/// that an existing file stays unchanged if an error occurs. A complete file replaces an existing one.
/// - It gets the mode and the owner of the existing file.
/// - If the path is a symbolic link, the file that it points to is replaced. A link to nothing is an error.
/// - If the existing file has several hard links, or another owner whom the process cannot set, the complete
///   text is copied into it. If that fails, the complete file stays and the error names it.
/// - A device or a pipe is written directly.
///
/// @param path  the file; it is compressed if its name ends in ".gz"
/// @throws std::invalid_argument if crs is not a valid matrix, std::runtime_error if the file cannot be
///         written
template <class Crs>
void write_matrix_market(const std::string& path, const Crs& crs) {
  Impl::check_initialized("Filigree::write_matrix_market");
  const bool gzip = path.size() > 3 && path.compare(path.size() - 3, 3, ".gz") == 0;
  Impl::store_matrix_market(path, gzip, Impl::matrix_market_from_crs(crs));
}

/// Writes a CRS matrix to a stream, without compression.
///
/// @throws std::invalid_argument if crs is not a valid matrix, std::runtime_error if the stream fails
template <class Crs>
void write_matrix_market(std::ostream& stream, const Crs& crs) {
  Impl::check_initialized("Filigree::write_matrix_market");
  Impl::store_matrix_market(stream, Impl::matrix_market_from_crs(crs));
}

}  // namespace Filigree

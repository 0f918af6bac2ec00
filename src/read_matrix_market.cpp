// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filigree/core/scalar.hpp>
#include <filigree/io/matrix_market.hpp>
#include <fstream>
#include <initializer_list>
#include <istream>
#include <memory>
#include <new>
#include <numeric>
#include <string_view>

#if FILIGREE_USE_FAST_FLOAT
#include <fast_float/fast_float.h>
#endif

#include "buffer.hpp"
#include "host_threads.hpp"

namespace Filigree {
namespace Impl {
namespace {

// ---- where the bytes come from --------------------------------------------------------------------------

std::string cannot_open() {
  return std::string("cannot open the file: ") + std::strerror(errno);
}

/// A file in memory. begin() is null where it cannot be mapped (a pipe, an empty file): read it as a stream.
class MappedFile {
 public:
  explicit MappedFile(const std::string& path) {
    struct stat status;
    if (::stat(path.c_str(), &status) != 0) throw MatrixMarketError(path, 0, cannot_open());
    if (S_ISDIR(status.st_mode)) throw MatrixMarketError(path, 0, "expected a file, found a directory");
    if (!S_ISREG(status.st_mode) || status.st_size == 0) return;
    const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (descriptor < 0) throw MatrixMarketError(path, 0, cannot_open());
    const auto size = static_cast<std::size_t>(status.st_size);
    void* data = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, descriptor, 0);
    ::close(descriptor);
    if (data == MAP_FAILED) return;
    m_data = static_cast<char*>(data);
    m_size = size;
  }
  ~MappedFile() {
    if (m_data != nullptr) ::munmap(m_data, m_size);
  }
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  const char* begin() const { return m_data; }
  const char* end() const { return m_data + m_size; }

 private:
  char* m_data = nullptr;
  std::size_t m_size = 0;
};

Buffer read_stream(std::istream& stream, const std::string& name) {
  constexpr std::size_t block = std::size_t(1) << 20;
  Buffer bytes;
  // Reading to the end sets failbit, for which a stream may be asked to throw.
  const std::ios::iostate throws = stream.exceptions();
  stream.exceptions(std::ios::goodbit);
  while (stream.good()) {
    char* room = bytes.room(block);
    stream.read(room, static_cast<std::streamsize>(bytes.free_space()));
    bytes.commit(static_cast<std::size_t>(stream.gcount()));
  }
  // Reading to the end sets both eof and fail; fail alone says that the stream was broken before.
  const bool whole = !stream.bad() && stream.eof();
  stream.clear(whole ? std::ios::eofbit : stream.rdstate());
  if (whole) stream.exceptions(throws & ~std::ios::eofbit);
  if (!whole) throw MatrixMarketError(name, 0, "cannot read the stream to its end");
  bytes.shrink();
  return bytes;
}

bool is_gzip(const char* begin, const char* end) {
  return end - begin >= 2 && begin[0] == '\x1f' && begin[1] == '\x8b';
}

Buffer inflate_gzip(const char* begin, const char* end, const std::string& name) {
  // zlib counts in unsigned int, so larger pieces than this have to be fed one after the other.
  constexpr std::size_t most = std::size_t(1) << 30;
  z_stream stream{};
  if (inflateInit2(&stream, 15 + 16) != Z_OK) throw std::bad_alloc();
  const std::unique_ptr<z_stream, int (*)(z_stream*)> guard(&stream, inflateEnd);
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(begin));

  Buffer text;
  while (true) {
    const auto next = reinterpret_cast<const char*>(stream.next_in);
    stream.avail_in = static_cast<uInt>(std::min(most, static_cast<std::size_t>(end - next)));
    char* room = text.room(std::size_t(1) << 18);
    const auto size = static_cast<uInt>(std::min(most, text.free_space()));
    stream.next_out = reinterpret_cast<Bytef*>(room);
    stream.avail_out = size;
    const int status = inflate(&stream, Z_NO_FLUSH);
    text.commit(size - stream.avail_out);

    const auto rest = reinterpret_cast<const char*>(stream.next_in);
    if (status == Z_STREAM_END) {
      if (rest == end) {
        text.shrink();
        return text;
      }
      if (!is_gzip(rest, end))
        throw MatrixMarketError(name, 0,
                                "expected the end of the file after the gzip data, found " +
                                    std::to_string(end - rest) + " bytes more");
      inflateReset(&stream);
    } else if (status == Z_MEM_ERROR) {
      throw std::bad_alloc();
    } else if (status != Z_OK && status != Z_BUF_ERROR) {
      throw MatrixMarketError(name, 0,
                              std::string("the gzip data is broken: ") +
                                  (stream.msg != nullptr ? stream.msg : "unknown zlib error"));
    } else if (rest == end && stream.avail_out != 0) {
      throw MatrixMarketError(name, 0, "the gzip data is truncated: its end is missing");
    }
  }
}

// ---- words and numbers ----------------------------------------------------------------------------------

bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\r';
}
bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

const char* skip_blanks(const char* p, const char* end) {
  while (p < end && is_blank(*p))
    ++p;
  return p;
}

const char* skip_word(const char* p, const char* end) {
  while (p < end && !is_blank(*p) && *p != '\n')
    ++p;
  return p;
}

const char* line_end(const char* p, const char* end) {
  const void* found = p < end ? std::memchr(p, '\n', static_cast<std::size_t>(end - p)) : nullptr;
  return found != nullptr ? static_cast<const char*>(found) : end;
}

/// The first word of the next line that is neither blank nor a comment, or the end.
const char* skip_to_data(const char* p, const char* end) {
  while (true) {
    p = skip_blanks(p, end);
    if (p < end && *p == '%') p = line_end(p, end);
    if (p == end || *p != '\n') return p;
    ++p;
  }
}

bool at_word_end(const char* p, const char* end) {
  return p == end || is_blank(*p) || *p == '\n';
}

/// std::from_chars takes no plus.
const char* skip_plus(const char* p, const char* end) {
  return end - p >= 2 && p[0] == '+' && p[1] != '-' && p[1] != '+' ? p + 1 : p;
}

/// Moves p past a whole number of one to seven digits that a word ends after, and gives back whether there is
/// one. Indices are most of the numbers of a file: with this, filigree_read went from 333 to 357 MB/s
/// (medians of three runs).
bool parse_short_integer(const char*& p, const char* end, std::int64_t& value) {
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
  if (end - p < 8) return false;
  std::uint64_t digits = 0;
  std::memcpy(&digits, p, 8);
  digits ^= 0x3030303030303030u;
  // The highest bit of each byte that is no digit, and of some behind the first such.
  const std::uint64_t others = ((digits + 0x7676767676767676u) | digits) & 0x8080808080808080u;
  if (others == 0) return false;
  const int count = __builtin_ctzll(others) / 8;
  if (count == 0 || !at_word_end(p + count, end)) return false;
  // The first digit is in the lowest byte: as many zeros before it as make eight, then pairs, fours and
  // eights.
  digits <<= 64 - 8 * count;
  digits = (10 * digits + (digits >> 8)) & 0x00ff00ff00ff00ffu;
  digits = (100 * digits + (digits >> 16)) & 0x0000ffff0000ffffu;
  digits = (10000 * digits + (digits >> 32)) & 0x00000000ffffffffu;
  value = static_cast<std::int64_t>(digits);
  p += count;
  return true;
#else
  return false;
#endif
}

/// Moves p past a whole number that int64_t holds; leaves it where there is none.
bool parse_integer(const char*& p, const char* end, std::int64_t& value) {
  const char* first = skip_blanks(p, end);
  if (parse_short_integer(first, end, value)) {
    p = first;
    return true;
  }
  first = skip_plus(first, end);
  const auto result = std::from_chars(first, end, value);
  if (result.ec != std::errc() || !at_word_end(result.ptr, end)) return false;
  p = result.ptr;
  return true;
}

/// std::from_chars for a double, or, where the compiler has none, fast_float's. Up to version 3 the latter
/// makes what is too large infinite without an error; the text of an infinity has no digit.
std::from_chars_result parse_double(const char* first, const char* end, double& value) {
#if FILIGREE_USE_FAST_FLOAT
  const auto result = fast_float::from_chars(first, end, value);
  const bool too_large = result.ec == std::errc() && std::isinf(value) &&
                         std::find_if(first, result.ptr, is_digit) != result.ptr;
  return {result.ptr, too_large ? std::errc::result_out_of_range : result.ec};
#else
  return std::from_chars(first, end, value);
#endif
}

/// Whether a number that no double holds is too large rather than too small: std::from_chars does not tell.
bool is_too_large(const char* p, const char* end) {
  std::int64_t magnitude = 0;
  bool fraction = false;
  bool leading = true;
  for (; p < end && *p != 'e' && *p != 'E'; ++p) {
    if (*p == '.') fraction = true;
    if (!is_digit(*p)) continue;
    if (*p != '0') leading = false;
    if (leading && fraction) --magnitude;
    if (!leading && !fraction) ++magnitude;
  }
  if (p == end) return magnitude > 0;
  const char* first = skip_plus(p + 1, end);
  int exponent = 0;
  if (std::from_chars(first, end, exponent).ec != std::errc()) return *first != '-';
  return magnitude + exponent > 0;
}

/// What a number that was read as a double is as a float. Only where the double lies half-way between two
/// floats is its text read again, as it may have been rounded to there.
double rounded_to_float(const char* begin, const char* end, double value) {
  const auto nearest = static_cast<float>(value);
  if (static_cast<double>(nearest) == value || !std::isfinite(nearest)) return value;
  const float next = std::nextafter(nearest, value > nearest ? HUGE_VALF : -HUGE_VALF);
  if (value - nearest != static_cast<double>(next) - value) return value;
  const char* first = skip_plus(skip_blanks(begin, end), end);
  std::string word(first, end);
  std::replace_if(
      word.begin(), word.end(), [](char c) { return c == 'd' || c == 'D'; }, 'e');
  float exact = nearest;
#if FILIGREE_USE_FAST_FLOAT
  fast_float::from_chars(word.data(), word.data() + word.size(), exact);
#else
  std::from_chars(word.data(), word.data() + word.size(), exact);
#endif
  return exact;
}

enum class Parsed { Good, NoNumber, TooLarge };

/// Moves p past a real number; leaves it where there is none that a double holds.
Parsed parse_real(const char*& p, const char* end, double& value) {
  const char* first = skip_plus(skip_blanks(p, end), end);
  const auto result = parse_double(first, end, value);
  const char* last = result.ptr;
  if (!at_word_end(last, end)) {
    if (*last != 'd' && *last != 'D') return Parsed::NoNumber;
    last = skip_word(first, end);
    std::string word(first, last);
    std::replace_if(
        word.begin(), word.end(), [](char c) { return c == 'd' || c == 'D'; }, 'e');
    const char* copy = word.data();
    const Parsed parsed = parse_real(copy, copy + word.size(), value);
    if (parsed == Parsed::Good) p = last;
    return parsed;
  }
  if (result.ec == std::errc::invalid_argument) return Parsed::NoNumber;
  if (result.ec == std::errc::result_out_of_range) {
    if (is_too_large(first, last)) return Parsed::TooLarge;
    value = 0;
  }
  p = last;
  return Parsed::Good;
}

// ---- the text -------------------------------------------------------------------------------------------

// The order of the names is the order of the words in read_header().
enum class Object { Matrix, Vector };
enum class Format { Coordinate, Array };
enum class Field { Real, Double, Integer, UnsignedInteger, Complex, Pattern };
enum class Symmetry { General, Symmetric, SkewSymmetric, Hermitian };

template <class Scalar>
Scalar make_value(double real, double imag) {
  if constexpr (is_complex_v<Scalar>)
    return Scalar(static_cast<real_t<Scalar>>(real), static_cast<real_t<Scalar>>(imag));
  else
    return static_cast<Scalar>(real);
}

double magnitude(double value) {
  return std::abs(value);
}
template <class Real>
double magnitude(const Kokkos::complex<Real>& value) {
  return std::max(std::abs(static_cast<double>(value.real())), std::abs(static_cast<double>(value.imag())));
}

/// A piece of the text that begins and ends where a line does, and what one thread finds out about it.
struct Piece {
  const char* begin = nullptr;
  const char* end = nullptr;
  std::int64_t lines = 0;  // with an entry
  /// First how many entries it gives each row, then where the next of these goes.
  std::vector<std::int64_t> rows;
};

/// Reads in passes over the text and keeps nothing but the matrix, so that memory stays near to that of the
/// matrix: the first pass counts the entries of each row, the second puts each where it belongs, the last
/// sorts rows. Passes go through the text in pieces, one a thread, and throw no error of their own: where one
/// finds something wrong, the text is read once more from the beginning, by one thread, which throws the
/// first.
template <class Scalar, class Ordinal>
class Reader {
 public:
  Reader(const char* begin, const char* end, const std::string& name, const MatrixMarketOptions& options,
         const MatrixMarketTarget& target)
      : m_begin(begin), m_end(end), m_name(name), m_options(options), m_target(target) {}

  MatrixMarketCrs<Scalar, Ordinal> read() {
    read_header();
    std::vector<Piece> pieces = cut();
    MatrixMarketCrs<Scalar, Ordinal> crs = count(pieces);
    put(pieces, crs);
    pieces.clear();
    sort_and_merge(crs);
    return crs;
  }

 private:
  static constexpr bool real_target = !is_complex_v<Scalar>;

  // -- errors --

  static std::string quote(const char* begin, const char* end) {
    constexpr std::ptrdiff_t most = 60;
    std::string text(begin, std::min(end, begin + most));
    for (char& c : text)
      if (static_cast<unsigned char>(c) < 32 || static_cast<unsigned char>(c) > 126)
        c = c == '\t' ? ' ' : '?';
    return '"' + text + (end - begin > most ? "...\"" : "\"");
  }

  /// Lines are counted only here, so that reading need not count them.
  std::int64_t line_of(const char* at) const { return 1 + std::count(m_begin, at, '\n'); }

  [[noreturn]] void fail(const char* at, const std::string& expected) const {
    at = skip_blanks(at, m_end);
    std::string found("the end of the file");
    if (at < m_end) {
      const char* first = at;
      while (first > m_begin && first[-1] != '\n')
        --first;
      const char* last = line_end(at, m_end);
      if (last > first && last[-1] == '\r') --last;
      found = *at == '\n' ? "the end of the line" : quote(at, skip_word(at, m_end));
      found += " in the line " + quote(first, last);
    }
    throw MatrixMarketError(m_name, line_of(at), "expected " + expected + ", found " + found);
  }

  // -- banner and size line --

  static bool same_word(const char* begin, const char* end, std::string_view lower) {
    const auto same = [](char c, char l) { return (c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c) == l; };
    return static_cast<std::size_t>(end - begin) == lower.size() &&
           std::equal(begin, end, lower.begin(), same);
  }

  /// Moves p past one of the words, in any case, and gives back its place in the list.
  template <class Enum>
  Enum read_word(const char*& p, const char* what, std::initializer_list<const char*> words) const {
    const char* first = skip_blanks(p, m_end);
    const char* last = skip_word(first, m_end);
    int place = 0;
    std::string list;
    for (const char* word : words) {
      if (same_word(first, last, word)) {
        p = last;
        return static_cast<Enum>(place);
      }
      list += place == 0 ? "" : place + 1 == static_cast<int>(words.size()) ? " or " : ", ";
      list += word;
      ++place;
    }
    fail(p, std::string(what) + " " + list);
  }

  std::int64_t read_size(const char*& p, const char* what, std::int64_t most) const {
    const char* at = p;
    std::int64_t value = 0;
    if (!parse_integer(p, m_end, value) || value < 0 || value > most)
      fail(at,
           std::string(what) + " from 0 to " + std::to_string(most) + ", the most that its type can hold");
    return value;
  }

  void expect_line_end(const char* p, const char* after) const {
    p = skip_blanks(p, m_end);
    if (p < m_end && *p != '\n') fail(p, std::string("the end of the line after ") + after);
  }

  bool is_integer() const { return m_field == Field::Integer || m_field == Field::UnsignedInteger; }
  bool is_symmetric() const { return m_symmetry != Symmetry::General; }
  int numbers_per_line() const {
    const int indices = m_format == Format::Array ? 0 : m_object == Object::Vector ? 1 : 2;
    return indices + (m_field == Field::Pattern ? 0 : m_field == Field::Complex ? 2 : 1);
  }

  void read_header() {
    const char* p = skip_word(m_begin, m_end);
    if (!same_word(m_begin, p, "%%matrixmarket")) fail(m_begin, "the banner \"%%MatrixMarket\"");
    m_object = read_word<Object>(p, "the object", {"matrix", "vector"});
    m_format = read_word<Format>(p, "the format", {"coordinate", "array"});
    const char* field = p;
    m_field = read_word<Field>(p, "the field",
                               {"real", "double", "integer", "unsigned-integer", "complex", "pattern"});
    const char* kind = p;
    m_symmetry =
        read_word<Symmetry>(p, "the symmetry", {"general", "symmetric", "skew-symmetric", "hermitian"});
    expect_line_end(p, "the five words of the banner");

    if (m_field == Field::Pattern && m_format == Format::Array)
      fail(field, "a field with values, since an array has no pattern");
    if (m_field == Field::Complex && real_target && !m_options.complex_to_real)
      fail(field,
           "a field of real values, since the matrix to fill is real (the option complex_to_real takes the "
           "real parts)");
    if (m_object == Object::Vector && is_symmetric()) fail(kind, "general, since a vector has no symmetry");
    if (m_symmetry == Symmetry::Hermitian && m_field != Field::Complex)
      fail(kind, "general, symmetric or skew-symmetric, since only complex matrices are hermitian");
    if (m_symmetry == Symmetry::SkewSymmetric && m_field == Field::Pattern)
      fail(kind, "general or symmetric, since a pattern has no values to negate");

    p = skip_to_data(line_end(p, m_end), m_end);
    m_size_line = p;
    m_rows = read_size(p, "the number of rows", m_target.max_ordinal);
    m_cols = 1;
    const char* cols = p;
    if (m_object == Object::Matrix) m_cols = read_size(p, "the number of columns", m_target.max_ordinal);
    if (is_symmetric() && m_rows != m_cols)
      fail(cols,
           "as many columns as rows, " + std::to_string(m_rows) + ", since the banner names a symmetry");
    const char* count = p;
    if (m_format == Format::Coordinate)
      m_count = read_size(p, "the number of entries", INT64_MAX);
    else
      m_count = array_count();
    expect_line_end(p, "the sizes");
    m_data = p;

    // Each number takes a digit and a blank or line end at least; the last line end may be missing.
    const std::int64_t most = (m_end - m_data + 1) / (2 * numbers_per_line());
    if (m_count > most)
      fail(m_format == Format::Coordinate ? count : m_size_line,
           "no more than the " + std::to_string(most) + " entries that the " +
               std::to_string(m_end - m_data) + " bytes after the size line can hold (too few entries: " +
               std::to_string(m_count) + " announced)");
  }

  /// How many values an array has; the largest number there is where int64_t cannot hold it.
  std::int64_t array_count() const {
    if (m_cols != 0 && m_rows > INT64_MAX / m_cols) return INT64_MAX;
    const std::int64_t all = m_rows * m_cols;
    if (!is_symmetric()) return all;
    const std::int64_t below = (all - m_rows) / 2;
    return m_symmetry == Symmetry::SkewSymmetric ? below : below + m_rows;
  }

  // -- entries --

  std::int64_t read_index(const char*& p, const char* end, const char* what, std::int64_t most) const {
    const char* at = p;
    std::int64_t value = 0;
    if (!parse_integer(p, end, value) || value < 1 || value > most)
      fail(at, most > 0 ? std::string("a ") + what + " index from 1 to " + std::to_string(most)
                        : std::string("no entry, since the matrix has no ") + what);
    return value - 1;
  }

  /// A number as the scalar type of the matrix rounds it, once: by way of a double it would be rounded twice.
  double read_value(const char*& p, const char* end, const char* what) const {
    const char* at = p;
    if (is_integer()) {
      const char* first = skip_plus(skip_blanks(p, end), end);
      if (first < end && *first == '-' && m_field == Field::Integer) ++first;
      const char* last = std::find_if_not(first, end, is_digit);
      if (first == last || !at_word_end(last, end))
        fail(at, m_field == Field::Integer ? "an integer" : "an integer without a sign");
    }
    double value = 0;
    const Parsed parsed = parse_real(p, end, value);
    if constexpr (std::is_same<real_t<Scalar>, float>::value)
      if (parsed == Parsed::Good && std::isfinite(value)) value = rounded_to_float(at, p, value);
    if (parsed == Parsed::NoNumber) fail(at, what);
    if (parsed == Parsed::TooLarge || (std::abs(value) >= m_target.overflow && !std::isinf(value)))
      fail(at, "a number that the scalar type of the matrix can hold");
    return value;
  }

  /// Calls visit(line, row, column, real part, imaginary part) for the entries of the lines in [p, end),
  /// which begins and ends where a line does; an array must begin with its first value. Throws the first
  /// error, but for a wrong number of entries. Gives back the number of lines with an entry.
  template <class Visit>
  std::int64_t for_each_entry(const char* p, const char* end, const Visit& visit) const {
    const bool coordinate = m_format == Format::Coordinate;
    const std::int64_t gap = m_symmetry == Symmetry::SkewSymmetric ? 1 : 0;
    std::int64_t lines = 0;
    // The place of the next value of an array, which stands column by column.
    std::int64_t array_row = gap;
    std::int64_t array_col = 0;
    while ((p = skip_to_data(p, end)) != end) {
      const char* line = p;
      std::int64_t row = array_row;
      std::int64_t col = array_col;
      if (coordinate) {
        col = 0;
        row = read_index(p, end, "row", m_rows);
        if (m_object == Object::Matrix) col = read_index(p, end, "column", m_cols);
        if (is_symmetric() && col + gap > row)
          fail(line, gap == 0 ? "an entry on or below the diagonal, since the banner names a symmetry"
                              : "an entry below the diagonal, since the matrix is skew-symmetric");
      } else if (lines == m_count) {
        return lines + 1;
      }
      double real = 1;
      double imag = 0;
      if (m_field == Field::Complex) {
        real = read_value(p, end, "the real part of a complex number");
        const char* at = p;
        imag = read_value(p, end, "the imaginary part of a complex number");
        if (m_symmetry == Symmetry::Hermitian && row == col && imag != 0)
          fail(at, "the imaginary part 0 on the diagonal of a hermitian matrix");
      } else if (m_field != Field::Pattern) {
        real = read_value(p, end, "a real number");
      }
      expect_line_end(p, coordinate ? "an entry" : "a value");
      // Of an array only what is not zero becomes an entry.
      if (coordinate || make_value<Scalar>(real, imag) != Scalar()) visit(line, row, col, real, imag);
      ++lines;
      if (!coordinate && ++array_row == m_rows) {
        ++array_col;
        array_row = is_symmetric() ? array_col + gap : 0;
      }
    }
    return lines;
  }

  /// The same for the rows, and the columns of a symmetric kind, alone: calls visit(row, column). What
  /// follows on a line is read by the second pass only.
  template <class Visit>
  std::int64_t for_each_place(const char* p, const char* end, const Visit& visit) const {
    if (m_format == Format::Array)
      return for_each_entry(
          p, end, [&](const char*, std::int64_t row, std::int64_t col, double, double) { visit(row, col); });
    std::int64_t lines = 0;
    while ((p = skip_to_data(p, end)) != end) {
      const std::int64_t row = read_index(p, end, "row", m_rows);
      visit(row, is_symmetric() ? read_index(p, end, "column", m_cols) : row);
      p = line_end(p, end);
      ++lines;
    }
    return lines;
  }

  /// Throws the first error of the text. Called where a pass found one.
  [[noreturn]] void fail_at_first_error() const {
    std::int64_t lines = 0;
    for (const char* p = skip_to_data(m_data, m_end); p != m_end; p = skip_to_data(p, m_end)) {
      if (lines == m_count) fail(p, "the end of the file after " + std::to_string(m_count) + " entries");
      if (m_format == Format::Array) {
        // All at once: the place of a value follows from those before it.
        lines = for_each_entry(m_data, m_end, [](const char*, std::int64_t, std::int64_t, double, double) {});
        if (lines > m_count) {
          p = line_of_entry(m_count);
          fail(p, "the end of the file after " + std::to_string(m_count) + " entries");
        }
        break;
      }
      const char* end = line_end(p, m_end);
      for_each_entry(p, end, [](const char*, std::int64_t, std::int64_t, double, double) {});
      p = end;
      ++lines;
    }
    fail(m_end,
         "entry " + std::to_string(lines + 1) + " of " + std::to_string(m_count) + " (too few entries)");
  }

  const char* line_of_entry(std::int64_t number) const {
    const char* p = skip_to_data(m_data, m_end);
    for (; number > 0; --number)
      p = skip_to_data(line_end(p, m_end), m_end);
    return p;
  }

  // -- rows --

  /// Cuts the text at line ends into a piece a thread. Each counts rows, so there are no more than keep these
  /// counts below the size of the matrix, and none smaller than is worth a thread. An array is one.
  std::vector<Piece> cut() const {
    const std::int64_t bytes = m_end - m_data;
    const std::int64_t entry_bytes = sizeof(Scalar) + sizeof(Ordinal);
    std::int64_t count = Kokkos::DefaultHostExecutionSpace().concurrency();
    // In floating point, as the size line may have the largest numbers there are.
    const double most = static_cast<double>(m_count) * static_cast<double>(entry_bytes) /
                        (8.0 * (static_cast<double>(m_rows) + 1.0));
    if (most < static_cast<double>(count)) count = static_cast<std::int64_t>(most);
    count = std::min(count, bytes / (std::int64_t(1) << 18));
    if (m_target.pieces > 0) count = m_target.pieces;
    if (m_format == Format::Array || count < 1) count = 1;
    std::vector<Piece> pieces(static_cast<std::size_t>(count));
    const char* begin = m_data;
    for (std::int64_t i = 0; i < count; ++i) {
      const char* end = i + 1 < count ? line_end(m_data + bytes / count * (i + 1), m_end) : m_end;
      pieces[static_cast<std::size_t>(i)].begin = begin;
      pieces[static_cast<std::size_t>(i)].end = std::max(begin, end);
      begin = pieces[static_cast<std::size_t>(i)].end;
    }
    return pieces;
  }

  /// Counts the entries of each row and allocates the matrix.
  MatrixMarketCrs<Scalar, Ordinal> count(std::vector<Piece>& pieces) const {
    const bool good = on_all_threads(
        "Filigree::count[matrix_market]", static_cast<std::int64_t>(pieces.size()), [&](std::int64_t i) {
          Piece& piece = pieces[static_cast<std::size_t>(i)];
          piece.rows.resize(static_cast<std::size_t>(m_rows));
          std::int64_t* rows = piece.rows.data();
          const bool symmetric = is_symmetric();
          piece.lines = for_each_place(piece.begin, piece.end, [&](std::int64_t row, std::int64_t col) {
            ++rows[row];
            if (symmetric && row != col) ++rows[col];
          });
        });
    std::int64_t lines = 0;
    for (const Piece& piece : pieces)
      lines += piece.lines;
    if (!good) rethrow_lack_of_memory(pieces);
    if (!good || lines != m_count) fail_at_first_error();

    MatrixMarketCrs<Scalar, Ordinal> crs;
    crs.num_rows = m_rows;
    crs.num_cols = m_cols;
    crs.row_map = host_array<std::int64_t>("Filigree::row_map[matrix_market]", m_rows + 1);
    std::int64_t sum = 0;
    for (std::int64_t row = 0; row < m_rows; ++row) {
      crs.row_map[row] = sum;
      for (Piece& piece : pieces) {
        const std::int64_t entries = piece.rows[static_cast<std::size_t>(row)];
        piece.rows[static_cast<std::size_t>(row)] = sum;
        sum += entries;
      }
    }
    crs.row_map[m_rows] = sum;
    crs.entries = host_array<Ordinal>("Filigree::entries[matrix_market]", sum);
    crs.values = host_array<Scalar>("Filigree::values[matrix_market]", sum);
    return crs;
  }

  /// Where a thread could not allocate its counts the text is not to blame.
  void rethrow_lack_of_memory(const std::vector<Piece>& pieces) const {
    for (const Piece& piece : pieces)
      if (static_cast<std::int64_t>(piece.rows.size()) != m_rows) throw std::bad_alloc();
  }

  template <class T>
  static Kokkos::View<T*, Kokkos::HostSpace> host_array(const char* label, std::int64_t size) {
    // Kokkos ends the program in some versions where it cannot allocate, and this is a size that a file
    // gives.
    if (size > 0) {
      void* probe = std::malloc(static_cast<std::size_t>(size) * sizeof(T));
      if (probe == nullptr) throw std::bad_alloc();
      std::free(probe);
    }
    return Kokkos::View<T*, Kokkos::HostSpace>(
        Kokkos::view_alloc(Kokkos::WithoutInitializing, std::string(label)), static_cast<std::size_t>(size));
  }

  /// Puts every entry and its mirror image into its row, in the order of the file.
  void put(std::vector<Piece>& pieces, const MatrixMarketCrs<Scalar, Ordinal>& crs) const {
    const bool symmetric = is_symmetric();
    const double real_sign = m_symmetry == Symmetry::SkewSymmetric ? -1 : 1;
    const double imag_sign = m_symmetry == Symmetry::Symmetric ? 1 : -1;
    Ordinal* const entries = crs.entries.data();
    Scalar* const values = crs.values.data();
    const bool good = on_all_threads(
        "Filigree::read[matrix_market]", static_cast<std::int64_t>(pieces.size()), [&](std::int64_t i) {
          Piece& piece = pieces[static_cast<std::size_t>(i)];
          std::int64_t* const rows = piece.rows.data();
          for_each_entry(piece.begin, piece.end,
                         [&](const char*, std::int64_t row, std::int64_t col, double real, double imag) {
                           std::int64_t place = rows[row]++;
                           entries[place] = static_cast<Ordinal>(col);
                           values[place] = make_value<Scalar>(real, imag);
                           if (!symmetric || row == col) return;
                           place = rows[col]++;
                           entries[place] = static_cast<Ordinal>(row);
                           values[place] = make_value<Scalar>(real_sign * real, imag_sign * imag);
                         });
        });
    if (!good) fail_at_first_error();
  }

  /// Refuses the place of an entry that is given twice; looks for both lines only now.
  [[noreturn]] void fail_duplicate(std::int64_t row, std::int64_t col, const std::string& expected) const {
    if (is_symmetric() && row < col) std::swap(row, col);
    std::vector<const char*> lines;
    for_each_entry(m_data, m_end, [&](const char* line, std::int64_t r, std::int64_t c, double, double) {
      if (r == row && c == col) lines.push_back(line);
    });
    fail(lines[1], expected + " (row " + std::to_string(row + 1) + ", column " + std::to_string(col + 1) +
                       " stands in line " + std::to_string(line_of(lines[0])) + " already)");
  }

  /// Sorts each row by column, keeping the order of the file among equals, and makes one entry of equals.
  void sort_and_merge(MatrixMarketCrs<Scalar, Ordinal>& crs) const {
    const std::int64_t threads = Kokkos::DefaultHostExecutionSpace().concurrency();
    const std::int64_t rows_of_a_task = std::clamp<std::int64_t>(m_rows / (4 * threads), 1, 4096);
    const std::int64_t tasks = (m_rows + rows_of_a_task - 1) / rows_of_a_task;
    std::vector<std::int64_t> kept(static_cast<std::size_t>(m_rows), 0);
    // Of each task the first place that is refused, or -1.
    std::vector<std::pair<std::int64_t, std::int64_t>> refused(static_cast<std::size_t>(tasks), {-1, -1});
    const bool good = on_all_threads("Filigree::sort[matrix_market]", tasks, [&](std::int64_t task) {
      const std::int64_t end = std::min(m_rows, (task + 1) * rows_of_a_task);
      for (std::int64_t row = task * rows_of_a_task; row < end; ++row) {
        const std::int64_t begin = crs.row_map[row];
        sort_row(crs.entries.data() + begin, crs.values.data() + begin, crs.row_map[row + 1] - begin);
        std::int64_t refused_column = -1;
        kept[static_cast<std::size_t>(row)] = merge_row(crs.entries.data() + begin, crs.values.data() + begin,
                                                        crs.row_map[row + 1] - begin, refused_column);
        if (refused_column >= 0 && refused[static_cast<std::size_t>(task)].first < 0)
          refused[static_cast<std::size_t>(task)] = {row, refused_column};
      }
    });
    if (!good) throw std::bad_alloc();
    for (const auto& [row, col] : refused)
      if (row >= 0)
        fail_duplicate(row, col,
                       m_options.duplicates == MatrixMarketOptions::Duplicates::Refuse
                           ? "each place once, as the option duplicates asks"
                           : "a sum of duplicates that the scalar type of the matrix can hold");

    std::int64_t all = 0;
    for (const std::int64_t entries : kept)
      all += entries;
    if (all > m_target.max_offset)
      fail(m_size_line, "at most " + std::to_string(m_target.max_offset) +
                            " entries, which the offset type of the matrix can count (it has " +
                            std::to_string(all) + ")");
    if (all == crs.row_map[m_rows]) return;
    const auto entries = host_array<Ordinal>("Filigree::entries[matrix_market]", all);
    const auto values = host_array<Scalar>("Filigree::values[matrix_market]", all);
    std::int64_t to = 0;
    for (std::int64_t row = 0; row < m_rows; ++row) {
      const std::int64_t from = crs.row_map[row];
      std::copy_n(crs.entries.data() + from, kept[static_cast<std::size_t>(row)], entries.data() + to);
      std::copy_n(crs.values.data() + from, kept[static_cast<std::size_t>(row)], values.data() + to);
      crs.row_map[row] = to;
      to += kept[static_cast<std::size_t>(row)];
    }
    crs.row_map[m_rows] = to;
    crs.entries = entries;
    crs.values = values;
  }

  static void sort_row(Ordinal* entries, Scalar* values, std::int64_t count) {
    if (std::is_sorted(entries, entries + count)) return;
    // Most rows are too short to be worth a copy.
    constexpr std::int64_t longest_inserted = 48;
    if (count <= longest_inserted) {
      for (std::int64_t k = 1; k < count; ++k) {
        const Ordinal entry = entries[k];
        const Scalar value = values[k];
        std::int64_t to = k;
        for (; to > 0 && entries[to - 1] > entry; --to) {
          entries[to] = entries[to - 1];
          values[to] = values[to - 1];
        }
        entries[to] = entry;
        values[to] = value;
      }
      return;
    }
    if (count <= std::numeric_limits<std::uint32_t>::max())
      sort_long_row<std::uint32_t>(entries, values, count);
    else
      sort_long_row<std::int64_t>(entries, values, count);
  }

  /// Sorts numbers of places, which take less memory than the entries would, then moves the entries along the
  /// cycles of their order.
  template <class Place>
  static void sort_long_row(Ordinal* entries, Scalar* values, std::int64_t count) {
    std::vector<Place> order(static_cast<std::size_t>(count));
    std::iota(order.begin(), order.end(), Place(0));
    std::stable_sort(order.begin(), order.end(), [&](Place a, Place b) { return entries[a] < entries[b]; });
    for (std::int64_t k = 0; k < count; ++k) {
      const Ordinal entry = entries[k];
      const Scalar value = values[k];
      std::int64_t to = k;
      for (std::int64_t from = order[k]; from != k; from = order[to]) {
        entries[to] = entries[from];
        values[to] = values[from];
        order[to] = static_cast<Place>(to);
        to = from;
      }
      entries[to] = entry;
      values[to] = value;
      order[to] = static_cast<Place>(to);
    }
  }

  /// Makes one entry of those of a sorted row that have the same column, and gives back how many are left.
  /// Sums are made in double. Sets `refused` to the first column whose duplicates or whose sum is refused.
  std::int64_t merge_row(Ordinal* entries, Scalar* values, std::int64_t count, std::int64_t& refused) const {
    using Wide = std::conditional_t<real_target, double, Kokkos::complex<double>>;
    if (std::adjacent_find(entries, entries + count) == entries + count) return count;
    std::int64_t kept = 0;
    for (std::int64_t k = 0; k < count;) {
      const Ordinal col = entries[k];
      const std::int64_t first = k;
      Wide sum(values[k]);
      bool finite = std::isfinite(magnitude(sum));
      while (++k < count && entries[k] == col) {
        finite = finite && std::isfinite(magnitude(Wide(values[k])));
        sum += Wide(values[k]);
      }
      const bool duplicate = k - first > 1;
      const bool refuse = duplicate && m_options.duplicates == MatrixMarketOptions::Duplicates::Refuse;
      if ((refuse || (duplicate && finite && magnitude(sum) >= m_target.overflow)) && refused < 0)
        refused = static_cast<std::int64_t>(col);
      entries[kept] = col;
      values[kept++] = duplicate ? convert_scalar<Scalar>(sum) : values[first];
    }
    return kept;
  }

  const char* m_begin;
  const char* m_end;
  const std::string& m_name;
  const MatrixMarketOptions& m_options;
  const MatrixMarketTarget& m_target;

  Object m_object = Object::Matrix;
  Format m_format = Format::Coordinate;
  Field m_field = Field::Real;
  Symmetry m_symmetry = Symmetry::General;
  std::int64_t m_rows = 0;
  std::int64_t m_cols = 0;
  std::int64_t m_count = 0;  // entries, or values of an array, that stand in the file
  const char* m_size_line = nullptr;
  const char* m_data = nullptr;  // where the size line ends
};

template <class Scalar, class Ordinal>
MatrixMarketCrs<Scalar, Ordinal> read_bytes(const char* begin, const char* end, const std::string& name,
                                            const MatrixMarketOptions& options,
                                            const MatrixMarketTarget& target) {
  using FileReader = Reader<Scalar, Ordinal>;
  if (!is_gzip(begin, end)) return FileReader(begin, end, name, options, target).read();
  const Buffer text = inflate_gzip(begin, end, name);
  return FileReader(text.begin(), text.end(), name, options, target).read();
}

/// What read() gives back, with lack of memory made an error of the file that asks for it.
template <class Read>
auto with_memory_errors(const std::string& name, const Read& read) {
  try {
    return read();
  } catch (const std::bad_alloc&) {
  } catch (const std::length_error&) {
  }
  throw MatrixMarketError(name, 0, "the memory for this matrix could not be allocated");
}

}  // namespace

template <class Scalar, class Ordinal>
MatrixMarketCrs<Scalar, Ordinal> load_matrix_market(const std::string& path,
                                                    const MatrixMarketOptions& options,
                                                    const MatrixMarketTarget& target) {
  const MappedFile file(path);
  if (file.begin() == nullptr) {
    std::ifstream stream(path, std::ios::binary);
    if (!stream) throw MatrixMarketError(path, 0, cannot_open());
    return load_matrix_market<Scalar, Ordinal>(stream, path, options, target);
  }
  return with_memory_errors(
      path, [&] { return read_bytes<Scalar, Ordinal>(file.begin(), file.end(), path, options, target); });
}

template <class Scalar, class Ordinal>
MatrixMarketCrs<Scalar, Ordinal> load_matrix_market(std::istream& stream, const std::string& name,
                                                    const MatrixMarketOptions& options,
                                                    const MatrixMarketTarget& target) {
  return with_memory_errors(name, [&] {
    const Buffer bytes = read_stream(stream, name);
    return read_bytes<Scalar, Ordinal>(bytes.begin(), bytes.end(), name, options, target);
  });
}

#define FILIGREE_INSTANTIATE(Scalar, Ordinal)                                     \
  template MatrixMarketCrs<Scalar, Ordinal> load_matrix_market(                   \
      const std::string&, const MatrixMarketOptions&, const MatrixMarketTarget&); \
  template MatrixMarketCrs<Scalar, Ordinal> load_matrix_market(                   \
      std::istream&, const std::string&, const MatrixMarketOptions&, const MatrixMarketTarget&);
FILIGREE_INSTANTIATE(float, std::int32_t)
FILIGREE_INSTANTIATE(double, std::int32_t)
FILIGREE_INSTANTIATE(Kokkos::complex<float>, std::int32_t)
FILIGREE_INSTANTIATE(Kokkos::complex<double>, std::int32_t)
FILIGREE_INSTANTIATE(float, std::int64_t)
FILIGREE_INSTANTIATE(double, std::int64_t)
FILIGREE_INSTANTIATE(Kokkos::complex<float>, std::int64_t)
FILIGREE_INSTANTIATE(Kokkos::complex<double>, std::int64_t)

}  // namespace Impl
}  // namespace Filigree

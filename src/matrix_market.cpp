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
#include <filigree/io/matrix_market.hpp>
#include <fstream>
#include <initializer_list>
#include <istream>
#include <memory>
#include <new>
#include <string_view>
#include <tuple>

namespace Filigree {
namespace Impl {
namespace {

// ---- where the bytes come from --------------------------------------------------------------------------

/// Bytes that grow. Not a std::vector, which would write zeros over all memory before the data comes.
class Buffer {
 public:
  const char* begin() const { return m_data.get(); }
  const char* end() const { return m_data.get() + m_size; }
  std::size_t free_space() const { return m_capacity - m_size; }
  void commit(std::size_t bytes) { m_size += bytes; }

  /// Where at least `bytes` can be written; what is written counts after commit().
  char* room(std::size_t bytes) {
    if (free_space() < bytes) {
      const std::size_t capacity = std::max(m_size + bytes, m_capacity + m_capacity / 2);
      void* data = std::realloc(m_data.get(), capacity);
      if (data == nullptr) throw std::bad_alloc();
      m_data.release();
      m_data.reset(static_cast<char*>(data));
      m_capacity = capacity;
    }
    return m_data.get() + m_size;
  }

 private:
  struct Free {
    void operator()(char* data) const { std::free(data); }
  };
  std::unique_ptr<char, Free> m_data;
  std::size_t m_size = 0;
  std::size_t m_capacity = 0;
};

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
  while (stream.good()) {
    char* room = bytes.room(block);
    stream.read(room, static_cast<std::streamsize>(bytes.free_space()));
    bytes.commit(static_cast<std::size_t>(stream.gcount()));
  }
  // Reading to the end sets both eof and fail; fail alone says that the stream was broken before.
  if (stream.bad() || !stream.eof()) throw MatrixMarketError(name, 0, "cannot read the stream to its end");
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
      if (rest == end) return text;
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

/// Moves p past a whole number that int64_t holds; leaves it where there is none.
bool parse_integer(const char*& p, const char* end, std::int64_t& value) {
  const char* first = skip_plus(skip_blanks(p, end), end);
  const auto result = std::from_chars(first, end, value);
  if (result.ec != std::errc() || !at_word_end(result.ptr, end)) return false;
  p = result.ptr;
  return true;
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

enum class Parsed { Good, NoNumber, TooLarge };

/// Moves p past a real number; leaves it where there is none that a double holds.
Parsed parse_real(const char*& p, const char* end, double& value) {
  const char* first = skip_plus(skip_blanks(p, end), end);
  const auto result = std::from_chars(first, end, value);
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

struct Entry {
  std::int64_t row;  // from 0
  std::int64_t col;
  double real;
  double imag;
};

double make_value(double real, double, double) {
  return real;
}
std::complex<double> make_value(double real, double imag, std::complex<double>) {
  return {real, imag};
}

template <class V>
class Reader {
 public:
  Reader(const char* begin, const char* end, const std::string& name, const MatrixMarketOptions& options,
         const MatrixMarketTarget& target)
      : m_begin(begin), m_end(end), m_name(name), m_options(options), m_target(target) {}

  MatrixMarketCrs<V> read() {
    read_header();
    std::vector<Entry> entries = read_entries();
    if (m_format == Format::Array) place_array(entries);
    return to_rows(entries);
  }

 private:
  static constexpr bool real_target = std::is_same<V, double>::value;

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
    if (parsed == Parsed::NoNumber) fail(at, what);
    if (parsed == Parsed::TooLarge || (std::abs(value) >= m_target.overflow && !std::isinf(value)))
      fail(at, "a number that the scalar type of the matrix can hold");
    return value;
  }

  /// Appends the entries of the lines in [p, end), which begins and ends where a line does. Uses nothing but
  /// what read_header() has set, so that several pieces can be read at the same time.
  void read_lines(const char* p, const char* end, std::vector<Entry>& entries) const {
    const bool coordinate = m_format == Format::Coordinate;
    const std::int64_t gap = m_symmetry == Symmetry::SkewSymmetric ? 1 : 0;
    while ((p = skip_to_data(p, end)) != end) {
      const char* first = p;
      if (static_cast<std::int64_t>(entries.size()) == m_count)
        fail(first, "the end of the file after " + std::to_string(m_count) + " entries");
      Entry entry{0, 0, 1, 0};
      if (coordinate) {
        entry.row = read_index(p, end, "row", m_rows);
        if (m_object == Object::Matrix) entry.col = read_index(p, end, "column", m_cols);
        if (is_symmetric() && entry.col + gap > entry.row)
          fail(first, gap == 0 ? "an entry on or below the diagonal, since the banner names a symmetry"
                               : "an entry below the diagonal, since the matrix is skew-symmetric");
      }
      if (m_field == Field::Complex) {
        entry.real = read_value(p, end, "the real part of a complex number");
        const char* at = p;
        entry.imag = read_value(p, end, "the imaginary part of a complex number");
        if (coordinate && is_bad_diagonal(entry)) fail_diagonal(at);
      } else if (m_field != Field::Pattern) {
        entry.real = read_value(p, end, "a real number");
      }
      expect_line_end(p, coordinate ? "an entry" : "a value");
      entries.push_back(entry);
    }
  }

  bool is_bad_diagonal(const Entry& entry) const {
    return m_symmetry == Symmetry::Hermitian && entry.row == entry.col && entry.imag != 0;
  }

  [[noreturn]] void fail_diagonal(const char* imaginary_part) const {
    fail(imaginary_part, "the imaginary part 0 on the diagonal of a hermitian matrix");
  }

  std::vector<Entry> read_entries() const {
    std::vector<Entry> entries;
    entries.reserve(static_cast<std::size_t>(m_count));
    read_lines(m_data, m_end, entries);
    if (static_cast<std::int64_t>(entries.size()) < m_count)
      fail(m_end, "entry " + std::to_string(entries.size() + 1) + " of " + std::to_string(m_count) +
                      " (too few entries)");
    return entries;
  }

  const char* line_of_entry(std::size_t number) const {
    const char* p = skip_to_data(m_data, m_end);
    for (; number > 0; --number)
      p = skip_to_data(line_end(p, m_end), m_end);
    return p;
  }

  /// Gives the values of an array, which stand column by column, their places, and drops the zeros.
  void place_array(std::vector<Entry>& entries) const {
    std::size_t number = 0;
    std::size_t kept = 0;
    for (std::int64_t col = 0; number < entries.size(); ++col) {
      const std::int64_t first = !is_symmetric() ? 0 : m_symmetry == Symmetry::SkewSymmetric ? col + 1 : col;
      for (std::int64_t row = first; row < m_rows; ++row, ++number) {
        Entry entry = entries[number];
        entry.row = row;
        entry.col = col;
        if (is_bad_diagonal(entry)) fail_diagonal(skip_word(line_of_entry(number), m_end));
        if (make_value(entry.real, entry.imag, V()) != V()) entries[kept++] = entry;
      }
    }
    entries.resize(kept);
  }

  // -- rows --

  /// Refuses the place of an entry that is given twice; looks for both lines only now.
  [[noreturn]] void fail_duplicate(const std::vector<Entry>& entries, std::int64_t row, std::int64_t col,
                                   const std::string& expected) const {
    if (is_symmetric() && row < col) std::swap(row, col);
    const auto same = [=](const Entry& e) { return e.row == row && e.col == col; };
    const auto first = std::find_if(entries.begin(), entries.end(), same);
    const auto second = std::find_if(first + 1, entries.end(), same);
    const auto line = line_of_entry(static_cast<std::size_t>(second - entries.begin()));
    fail(line, expected + " (row " + std::to_string(row + 1) + ", column " + std::to_string(col + 1) +
                   " stands in line " +
                   std::to_string(line_of(line_of_entry(static_cast<std::size_t>(first - entries.begin())))) +
                   " already)");
  }

  static double magnitude(double value) { return std::abs(value); }
  static double magnitude(const std::complex<double>& value) {
    return std::max(std::abs(value.real()), std::abs(value.imag()));
  }

  MatrixMarketCrs<V> to_rows(const std::vector<Entry>& entries) const {
    MatrixMarketCrs<V> crs;
    crs.num_rows = m_rows;
    crs.num_cols = m_cols;
    scatter(entries, crs);
    sort_and_merge(entries, crs);
    if (crs.row_map.back() > m_target.max_offset)
      fail(m_size_line, "at most " + std::to_string(m_target.max_offset) +
                            " entries, which the offset type of the matrix can count (it has " +
                            std::to_string(crs.row_map.back()) + ")");
    return crs;
  }

  /// Puts every entry and its mirror image into its row, in the order of the file.
  void scatter(const std::vector<Entry>& entries, MatrixMarketCrs<V>& crs) const {
    // Counts stand two places further on than usual: after the sum, place r + 1 says where row r begins, and
    // scattering moves it on to where row r ends, which is what a row map holds there.
    std::vector<std::int64_t>& row_map = crs.row_map;
    row_map.resize(static_cast<std::size_t>(m_rows) + 2);
    const bool symmetric = is_symmetric();
    for (const Entry& e : entries) {
      ++row_map[e.row + 2];
      if (symmetric && e.row != e.col) ++row_map[e.col + 2];
    }
    for (std::size_t i = 1; i < row_map.size(); ++i)
      row_map[i] += row_map[i - 1];
    crs.entries.resize(static_cast<std::size_t>(row_map.back()));
    crs.values.resize(static_cast<std::size_t>(row_map.back()));
    row_map.pop_back();

    const double real_sign = m_symmetry == Symmetry::SkewSymmetric ? -1 : 1;
    const double imag_sign = m_symmetry == Symmetry::Symmetric ? 1 : -1;
    const auto put = [&](std::int64_t row, std::int64_t col, double real, double imag) {
      const std::int64_t place = row_map[row + 1]++;
      crs.entries[place] = col;
      crs.values[place] = make_value(real, imag, V());
    };
    for (const Entry& e : entries) {
      put(e.row, e.col, e.real, e.imag);
      if (symmetric && e.row != e.col) put(e.col, e.row, real_sign * e.real, imag_sign * e.imag);
    }
  }

  /// Sorts each row by column, keeping the order of the file among equals, and makes one entry of equals.
  void sort_and_merge(const std::vector<Entry>& entries, MatrixMarketCrs<V>& crs) const {
    std::vector<std::pair<std::int64_t, V>> row_entries;
    std::int64_t begin = 0;
    std::int64_t kept = 0;
    for (std::int64_t row = 0; row < m_rows; ++row) {
      const std::int64_t end = crs.row_map[row + 1];
      const auto cols = crs.entries.begin();
      if (!std::is_sorted(cols + begin, cols + end)) {
        row_entries.clear();
        for (std::int64_t k = begin; k < end; ++k)
          row_entries.emplace_back(crs.entries[k], crs.values[k]);
        std::stable_sort(row_entries.begin(), row_entries.end(),
                         [](const auto& a, const auto& b) { return a.first < b.first; });
        for (std::int64_t k = begin; k < end; ++k)
          std::tie(crs.entries[k], crs.values[k]) = row_entries[static_cast<std::size_t>(k - begin)];
      }
      for (std::int64_t k = begin; k < end;) {
        const std::int64_t col = crs.entries[k];
        V sum = crs.values[k];
        bool finite = std::isfinite(magnitude(sum));
        while (++k < end && crs.entries[k] == col) {
          if (m_options.duplicates == MatrixMarketOptions::Duplicates::Refuse)
            fail_duplicate(entries, row, col, "each place once, as the option duplicates asks");
          finite = finite && std::isfinite(magnitude(crs.values[k]));
          sum += crs.values[k];
        }
        if (finite && magnitude(sum) >= m_target.overflow)
          fail_duplicate(entries, row, col,
                         "a sum of duplicates that the scalar type of the matrix can hold");
        crs.entries[kept] = col;
        crs.values[kept++] = sum;
      }
      begin = end;
      crs.row_map[row + 1] = kept;
    }
    crs.entries.resize(static_cast<std::size_t>(kept));
    crs.values.resize(static_cast<std::size_t>(kept));
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

template <class V>
MatrixMarketCrs<V> read_bytes(const char* begin, const char* end, const std::string& name,
                              const MatrixMarketOptions& options, const MatrixMarketTarget& target) {
  if (!is_gzip(begin, end)) return Reader<V>(begin, end, name, options, target).read();
  const Buffer text = inflate_gzip(begin, end, name);
  return Reader<V>(text.begin(), text.end(), name, options, target).read();
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

template <class V>
MatrixMarketCrs<V> load_matrix_market(const std::string& path, const MatrixMarketOptions& options,
                                      const MatrixMarketTarget& target) {
  const MappedFile file(path);
  if (file.begin() == nullptr) {
    std::ifstream stream(path, std::ios::binary);
    if (!stream) throw MatrixMarketError(path, 0, cannot_open());
    return load_matrix_market<V>(stream, path, options, target);
  }
  return with_memory_errors(path,
                            [&] { return read_bytes<V>(file.begin(), file.end(), path, options, target); });
}

template <class V>
MatrixMarketCrs<V> load_matrix_market(std::istream& stream, const std::string& name,
                                      const MatrixMarketOptions& options, const MatrixMarketTarget& target) {
  return with_memory_errors(name, [&] {
    const Buffer bytes = read_stream(stream, name);
    return read_bytes<V>(bytes.begin(), bytes.end(), name, options, target);
  });
}

template MatrixMarketCrs<double> load_matrix_market(const std::string&, const MatrixMarketOptions&,
                                                    const MatrixMarketTarget&);
template MatrixMarketCrs<double> load_matrix_market(std::istream&, const std::string&,
                                                    const MatrixMarketOptions&, const MatrixMarketTarget&);
template MatrixMarketCrs<std::complex<double>> load_matrix_market(const std::string&,
                                                                  const MatrixMarketOptions&,
                                                                  const MatrixMarketTarget&);
template MatrixMarketCrs<std::complex<double>> load_matrix_market(std::istream&, const std::string&,
                                                                  const MatrixMarketOptions&,
                                                                  const MatrixMarketTarget&);

}  // namespace Impl
}  // namespace Filigree

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <filigree/core/scalar.hpp>

#include "header.hpp"

namespace Filigree::Impl::MatrixMarket {

template <class Scalar>
Scalar make_value(double real, double imag) {
  if constexpr (is_complex_v<Scalar>)
    return Scalar(static_cast<real_t<Scalar>>(real), static_cast<real_t<Scalar>>(imag));
  else
    return static_cast<Scalar>(real);
}

/// The smallest finite magnitude that a scalar type rounds to infinity; infinity for double. For float it is
/// the largest number plus half a unit in its last bit.
template <class Scalar>
constexpr double overflow_threshold = std::is_same<real_t<Scalar>, float>::value
                                          ? 0x1.ffffffp127
                                          : std::numeric_limits<double>::infinity();

/// Reads the entries after the size line for a matrix of type Scalar.
template <class Scalar>
class EntryReader {
 public:
  EntryReader(const Text& text, const Header& header) : m_text(text), m_header(header) {}

  /// Calls visit(line, row, column, real part, imaginary part) for the entries in [p, end), where `line` is
  /// the first word of the line. [p, end) consists of whole lines; for an array it begins with the first
  /// value. Returns the number of lines with an entry. Throws the first error, except a wrong number of
  /// entries.
  template <class Visit>
  std::int64_t for_each_entry(const char* p, const char* end, const Visit& visit) const {
    const bool coordinate = !m_header.is_array();
    std::int64_t lines = 0;
    // Arrays list their values column by column.
    std::int64_t array_row = m_header.min_diagonal();
    std::int64_t array_col = 0;
    while ((p = skip_to_data(p, end)) != end) {
      const char* line = p;
      std::int64_t row = array_row;
      std::int64_t col = array_col;
      if (coordinate)
        read_indices(p, end, row, col);
      else if (lines == m_header.num_entries)
        return lines + 1;
      double real = 1;
      double imag = 0;
      if (m_header.field == Field::Complex) {
        real = read_value(p, end, "the real part of a complex number");
        const char* imag_word = p;
        imag = read_value(p, end, "the imaginary part of a complex number");
        if (m_header.symmetry == Symmetry::Hermitian && row == col && imag != 0)
          m_text.fail(imag_word, "the imaginary part 0 on the diagonal of a hermitian matrix");
      } else if (m_header.field != Field::Pattern) {
        real = read_value(p, end, "a real number");
      }
      m_text.expect_line_end(p, coordinate ? "an entry" : "a value");
      // Zeros of an array do not become entries.
      if (coordinate || make_value<Scalar>(real, imag) != Scalar()) visit(line, row, col, real, imag);
      ++lines;
      if (!coordinate && ++array_row == m_header.num_rows) {
        ++array_col;
        array_row = m_header.is_symmetric() ? array_col + m_header.min_diagonal() : 0;
      }
    }
    return lines;
  }

  /// Calls visit(row, column) for the entries in [p, end), as for_each_entry() does. It parses no more than
  /// is needed to count the entries of each row: in a coordinate file of general symmetry only the row, which
  /// it also passes as the column. It leaves errors on the rest of a line to for_each_entry().
  template <class Visit>
  std::int64_t for_each_row_index(const char* p, const char* end, const Visit& visit) const {
    if (m_header.is_array())
      return for_each_entry(
          p, end, [&](const char*, std::int64_t row, std::int64_t col, double, double) { visit(row, col); });
    std::int64_t lines = 0;
    while ((p = skip_to_data(p, end)) != end) {
      const std::int64_t row = read_index(p, end, "row", m_header.num_rows);
      visit(row, m_header.is_symmetric() ? read_index(p, end, "column", m_header.num_cols) : row);
      p = line_end(p, end);
      ++lines;
    }
    return lines;
  }

  /// Throws the first error in the text. It is called after a pass over the text has failed.
  [[noreturn]] void fail_at_first_error() const {
    const auto ignore = [](const char*, std::int64_t, std::int64_t, double, double) {};
    const char* p = skip_to_data(m_header.data, m_text.end);
    // The row and column of a value depend on all values before it, so an array is read in one call.
    if (m_header.is_array()) for_each_entry(p, m_text.end, ignore);
    for (std::int64_t lines = 0;; ++lines) {
      if (p == m_text.end)
        m_text.fail(p, "entry " + std::to_string(lines + 1) + " of " + std::to_string(m_header.num_entries) +
                           ", as the size line announces");
      if (lines == m_header.num_entries)
        m_text.fail(p, "the end of the file after " + std::to_string(lines) + " entries");
      const char* end = line_end(p, m_text.end);
      if (!m_header.is_array()) for_each_entry(p, end, ignore);
      p = skip_to_data(end, m_text.end);
    }
  }

 private:
  void read_indices(const char*& p, const char* end, std::int64_t& row, std::int64_t& col) const {
    const char* line = p;
    row = read_index(p, end, "row", m_header.num_rows);
    col = m_header.object == Object::Matrix ? read_index(p, end, "column", m_header.num_cols) : 0;
    if (m_header.is_symmetric() && col + m_header.min_diagonal() > row)
      m_text.fail(line, m_header.min_diagonal() == 0
                            ? "an entry on or below the diagonal, since the banner names a symmetry"
                            : "an entry below the diagonal, since the matrix is skew-symmetric");
  }

  /// Reads an index and returns it counted from 0.
  std::int64_t read_index(const char*& p, const char* end, const char* what, std::int64_t max) const {
    const char* word = p;
    std::int64_t value = 0;
    if (!parse_integer(p, end, value) || value < 1 || value > max)
      m_text.fail(word, max > 0 ? std::string("a ") + what + " index from 1 to " + std::to_string(max)
                                : std::string("no entry, since the matrix has no ") + what);
    return value - 1;
  }

  /// Reads a number and rounds it once, to the precision of Scalar.
  double read_value(const char*& p, const char* end, const char* what) const {
    const char* word = p;
    if (m_header.is_integer()) expect_integer(p, end);
    double value = 0;
    const ParseResult parsed = parse_real(p, end, value);
    if constexpr (std::is_same<real_t<Scalar>, float>::value)
      if (parsed == ParseResult::Good && std::isfinite(value)) value = rounded_to_float(word, p, value);
    if (parsed == ParseResult::NoNumber) m_text.fail(word, what);
    if (parsed == ParseResult::TooLarge ||
        (std::abs(value) >= overflow_threshold<Scalar> && !std::isinf(value)))
      m_text.fail(word, "a number that the scalar type of the matrix can hold");
    return value;
  }

  /// Throws unless the next word is an integer that the field of the file allows.
  void expect_integer(const char* p, const char* end) const {
    const char* first = skip_plus(skip_blanks(p, end), end);
    if (first < end && *first == '-' && m_header.field == Field::Integer) ++first;
    const char* last = std::find_if_not(first, end, is_digit);
    if (first == last || !at_word_end(last, end))
      m_text.fail(p, m_header.field == Field::Integer ? "an integer" : "an integer without a sign");
  }

  Text m_text;
  Header m_header;
};

}  // namespace Filigree::Impl::MatrixMarket

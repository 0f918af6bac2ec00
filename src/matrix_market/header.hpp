// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <initializer_list>
#include <string_view>

#include "numbers.hpp"

namespace Filigree::Impl::MatrixMarket {

// The enumerators have the order of the words in read_banner().
enum class Object { Matrix, Vector };
enum class Format { Coordinate, Array };
enum class Field { Real, Double, Integer, UnsignedInteger, Complex, Pattern };
enum class Symmetry { General, Symmetric, SkewSymmetric, Hermitian };

/// What the banner and the size line of a file say.
struct Header {
  Object object = Object::Matrix;
  Format format = Format::Coordinate;
  Field field = Field::Real;
  Symmetry symmetry = Symmetry::General;
  std::int64_t num_rows = 0;
  std::int64_t num_cols = 0;
  std::int64_t num_entries = 0;     ///< entries that a coordinate file lists, or values that an array lists
  const char* size_line = nullptr;  ///< the first word of the size line
  const char* data = nullptr;       ///< the end of the size line

  bool is_array() const { return format == Format::Array; }
  bool is_integer() const { return field == Field::Integer || field == Field::UnsignedInteger; }
  /// Whether the file lists only one triangle of the matrix.
  bool is_symmetric() const { return symmetry != Symmetry::General; }
  /// The smallest value of row - column among the entries that a symmetric file lists. It is 1 for a
  /// skew-symmetric matrix, because its diagonal is zero.
  std::int64_t min_diagonal() const { return symmetry == Symmetry::SkewSymmetric ? 1 : 0; }
};

/// Whether [begin, end) is the word `lower`, in upper or lower case.
inline bool equals_word(const char* begin, const char* end, std::string_view lower) {
  const auto same = [](char c, char l) { return (c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c) == l; };
  return static_cast<std::size_t>(end - begin) == lower.size() && std::equal(begin, end, lower.begin(), same);
}

/// Reads one of the words and moves p past it. Returns the enumerator with the index of the word in the list.
template <class Enum>
Enum read_word(const Text& text, const char*& p, const char* what, std::initializer_list<const char*> words) {
  const char* first = skip_blanks(p, text.end);
  const char* last = skip_word(first, text.end);
  int index = 0;
  std::string list;
  for (const char* word : words) {
    if (equals_word(first, last, word)) {
      p = last;
      return static_cast<Enum>(index);
    }
    list += index == 0 ? "" : index + 1 == static_cast<int>(words.size()) ? " or " : ", ";
    list += word;
    ++index;
  }
  text.fail(p, std::string(what) + " " + list);
}

inline std::int64_t read_size(const Text& text, const char*& p, const char* what, std::int64_t max) {
  const char* word = p;
  std::int64_t value = 0;
  if (!parse_integer(p, text.end, value) || value < 0 || value > max)
    text.fail(word, std::string(what) + " from 0 to " + std::to_string(max) +
                        ", the largest that its type can hold");
  return value;
}

/// The byte order mark at the beginning of a text, for error texts; empty if there is none.
inline std::string byte_order_mark(const Text& text) {
  const std::string_view bytes(text.begin, static_cast<std::size_t>(text.end - text.begin));
  using namespace std::string_view_literals;
  // The mark of UTF-16 is the beginning of one of UTF-32, so it comes last.
  const std::pair<std::string_view, const char*> marks[] = {{"\xef\xbb\xbf"sv, "UTF-8 (bytes EF BB BF)"},
                                                            {"\xff\xfe\0\0"sv, "UTF-32 (bytes FF FE 00 00)"},
                                                            {"\0\0\xfe\xff"sv, "UTF-32 (bytes 00 00 FE FF)"},
                                                            {"\xff\xfe"sv, "UTF-16 (bytes FF FE)"},
                                                            {"\xfe\xff"sv, "UTF-16 (bytes FE FF)"}};
  for (const auto& [mark, name] : marks)
    if (bytes.substr(0, mark.size()) == mark) return name;
  return {};
}

/// Reads the five words of the banner and returns their end. Refuses undefined combinations.
inline const char* read_banner(const Text& text, const MatrixMarketOptions& options, bool real_target,
                               Header& header) {
  const char* p = skip_word(text.begin, text.end);
  if (!equals_word(text.begin, p, "%%matrixmarket")) {
    const std::string banner("the banner \"%%MatrixMarket\"");
    const std::string mark = byte_order_mark(text);
    if (mark.empty()) text.fail(text.begin, banner);
    throw MatrixMarketError(text.name, 1,
                            "expected " + banner + ", found the byte order mark of " + mark +
                                "; save the file as plain ASCII without it");
  }
  header.object = read_word<Object>(text, p, "the object", {"matrix", "vector"});
  header.format = read_word<Format>(text, p, "the format", {"coordinate", "array"});
  const char* field = p;
  header.field = read_word<Field>(text, p, "the field",
                                  {"real", "double", "integer", "unsigned-integer", "complex", "pattern"});
  const char* symmetry = p;
  header.symmetry =
      read_word<Symmetry>(text, p, "the symmetry", {"general", "symmetric", "skew-symmetric", "hermitian"});
  text.expect_line_end(p, "the five words of the banner");

  if (header.field == Field::Pattern && header.is_array())
    text.fail(field, "a field with values, since an array has no pattern");
  if (header.field == Field::Complex && real_target && !options.complex_to_real)
    text.fail(
        field,
        "a field of real values, since the matrix to fill is real (the option complex_to_real takes the "
        "real parts)");
  if (header.object == Object::Vector && header.is_symmetric())
    text.fail(symmetry, "general, since a vector has no symmetry");
  if (header.symmetry == Symmetry::Hermitian && header.field != Field::Complex)
    text.fail(symmetry, "general, symmetric or skew-symmetric, since only complex matrices are hermitian");
  if (header.symmetry == Symmetry::SkewSymmetric && header.field == Field::Pattern)
    text.fail(symmetry, "general or symmetric, since a pattern has no values to negate");
  return p;
}

/// The number of values that an array lists, or the largest int64_t if that cannot hold the number.
inline std::int64_t array_values(const Header& header) {
  if (header.num_cols != 0 && header.num_rows > INT64_MAX / header.num_cols) return INT64_MAX;
  const std::int64_t all = header.num_rows * header.num_cols;
  if (!header.is_symmetric()) return all;
  const std::int64_t below_diagonal = (all - header.num_rows) / 2;
  return header.symmetry == Symmetry::SkewSymmetric ? below_diagonal : below_diagonal + header.num_rows;
}

/// Reads the banner and the size line. Throws MatrixMarketError if they are wrong, if the matrix to fill
/// cannot hold a matrix of this kind or size, or if the text is too short for the number of entries.
///
/// @param real_target whether the matrix to fill has real values
inline Header read_header(const Text& text, const MatrixMarketOptions& options,
                          const MatrixMarketTarget& target, bool real_target) {
  Header header;
  const char* p = read_banner(text, options, real_target, header);
  p = skip_to_data(line_end(p, text.end), text.end);
  header.size_line = p;
  header.num_rows = read_size(text, p, "the number of rows", target.max_ordinal);
  header.num_cols = 1;
  const char* columns = p;
  if (header.object == Object::Matrix)
    header.num_cols = read_size(text, p, "the number of columns", target.max_ordinal);
  if (header.is_symmetric() && header.num_rows != header.num_cols)
    text.fail(columns, "the same number of columns as rows, " + std::to_string(header.num_rows) +
                           ", since the banner names a symmetry");
  const char* entries = header.is_array() ? header.size_line : p;
  header.num_entries =
      header.is_array() ? array_values(header) : read_size(text, p, "the number of entries", INT64_MAX);
  text.expect_line_end(p, "the sizes");
  header.data = p;

  const int indices = header.is_array() ? 0 : header.object == Object::Vector ? 1 : 2;
  const int numbers_per_line = indices + (header.field == Field::Pattern   ? 0
                                          : header.field == Field::Complex ? 2
                                                                           : 1);
  // A number takes at least a digit and a blank or line end. Only the last line end may be missing.
  const std::int64_t bytes = text.end - header.data;
  const std::int64_t max_entries = (bytes + 1) / (2 * numbers_per_line);
  if (header.num_entries > max_entries)
    text.fail(entries, "no more than the " + std::to_string(max_entries) + " entries that the " +
                           std::to_string(bytes) +
                           " bytes after the size line can hold (the file is truncated, or the size line "
                           "is wrong)");
  return header;
}

}  // namespace Filigree::Impl::MatrixMarket

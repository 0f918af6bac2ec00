// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cstring>
#include <filigree/io/matrix_market.hpp>

namespace Filigree::Impl::MatrixMarket {

// A word is a sequence of characters other than blanks and line ends. Blanks are spaces, tabs and carriage
// returns. The functions take the next character and the end of the text.

inline bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\r';
}

inline bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

inline bool at_word_end(const char* p, const char* end) {
  return p == end || is_blank(*p) || *p == '\n';
}

inline const char* skip_blanks(const char* p, const char* end) {
  while (p < end && is_blank(*p))
    ++p;
  return p;
}

inline const char* skip_word(const char* p, const char* end) {
  while (p < end && !is_blank(*p) && *p != '\n')
    ++p;
  return p;
}

/// The next line end, or the end of the text.
inline const char* line_end(const char* p, const char* end) {
  const void* found = p < end ? std::memchr(p, '\n', static_cast<std::size_t>(end - p)) : nullptr;
  return found != nullptr ? static_cast<const char*>(found) : end;
}

/// The first word of the next line that is neither blank nor a comment, or the end of the text.
inline const char* skip_to_data(const char* p, const char* end) {
  while (true) {
    p = skip_blanks(p, end);
    if (p < end && *p == '%') p = line_end(p, end);
    if (p == end || *p != '\n') return p;
    ++p;
  }
}

/// The whole text of a file and the name of the file for error texts.
struct Text {
  const char* begin;
  const char* end;
  const std::string& name;

  /// The number of the line of a character, from 1. It is slow and meant for errors, because it counts line
  /// ends from the beginning of the text.
  std::int64_t line_of(const char* p) const { return 1 + std::count(begin, p, '\n'); }

  /// Throws a MatrixMarketError that says what was expected and quotes the word found at p and its line.
  [[noreturn]] void fail(const char* p, const std::string& expected) const {
    p = skip_blanks(p, end);
    std::string found =
        begin == end ? "nothing: the file is empty" : "the end of the file: the file is truncated";
    if (p < end) {
      const char* first = p;
      while (first > begin && first[-1] != '\n')
        --first;
      const char* last = line_end(p, end);
      if (last > first && last[-1] == '\r') --last;
      found = *p == '\n' ? "the end of the line" : quote(p, skip_word(p, end));
      found += " in the line " + quote(first, last);
    }
    throw MatrixMarketError(name, line_of(p), "expected " + expected + ", found " + found);
  }

  /// Throws if another word follows p on its line. `last_item` names the item before p.
  void expect_line_end(const char* p, const char* last_item) const {
    p = skip_blanks(p, end);
    if (p < end && *p != '\n') fail(p, std::string("the end of the line after ") + last_item);
  }

 private:
  /// The characters in quotation marks: at most 60 of them, and '?' for those that cannot be printed.
  static std::string quote(const char* first, const char* last) {
    constexpr std::ptrdiff_t max_length = 60;
    std::string text(first, std::min(last, first + max_length));
    for (char& c : text)
      if (static_cast<unsigned char>(c) < 32 || static_cast<unsigned char>(c) > 126)
        c = c == '\t' ? ' ' : '?';
    return '"' + text + (last - first > max_length ? "...\"" : "\"");
  }
};

}  // namespace Filigree::Impl::MatrixMarket

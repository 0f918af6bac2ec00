// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "text.hpp"

#include <algorithm>
#include <filigree/io/matrix_market.hpp>

namespace Filigree::Impl::MatrixMarket {

namespace {

/// The characters in quotation marks: at most 60 of them, and '?' for those that cannot be printed.
std::string quote(const char* begin, const char* end) {
  constexpr std::ptrdiff_t max_length = 60;
  std::string text(begin, std::min(end, begin + max_length));
  for (char& c : text)
    if (static_cast<unsigned char>(c) < 32 || static_cast<unsigned char>(c) > 126) c = c == '\t' ? ' ' : '?';
  return '"' + text + (end - begin > max_length ? "...\"" : "\"");
}

}  // namespace

std::int64_t Text::line_of(const char* p) const {
  return 1 + std::count(begin, p, '\n');
}

void Text::fail(const char* p, const std::string& expected) const {
  p = skip_blanks(p, end);
  std::string found("the end of the file");
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

}  // namespace Filigree::Impl::MatrixMarket

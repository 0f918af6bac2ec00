// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <charconv>
#include <cmath>
#include <system_error>

#include "text.hpp"

#if FILIGREE_USE_FAST_FLOAT
#include <fast_float/fast_float.h>
#endif

namespace Filigree::Impl::MatrixMarket {

/// Skips the plus sign of a number, because std::from_chars refuses it.
inline const char* skip_plus(const char* p, const char* end) {
  return end - p >= 2 && p[0] == '+' && p[1] != '-' && p[1] != '+' ? p + 1 : p;
}

/// Parses a word of one to seven digits and moves p past it. Returns false, and leaves p, for any other word.
///
/// Most numbers of a file are indices of this length. This function parses all digits at once, which makes
/// reading faster (see docs/performance.md, "Parsing indices").
inline bool parse_short_integer(const char*& p, const char* end, std::int64_t& value) {
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
  if (end - p < 8) return false;
  std::uint64_t digits = 0;
  std::memcpy(&digits, p, 8);
  digits ^= 0x3030303030303030u;
  // The lowest bit set belongs to the first byte that is not a digit. Bits above it may be set wrongly.
  const std::uint64_t non_digits = ((digits + 0x7676767676767676u) | digits) & 0x8080808080808080u;
  if (non_digits == 0) return false;
  const int count = __builtin_ctzll(non_digits) / 8;
  if (count == 0 || !at_word_end(p + count, end)) return false;
  // The first digit is in the lowest byte. The shift puts zeros before it, so that there are eight digits.
  // Each step then joins neighbouring numbers: digits to pairs, pairs to fours, fours to the value.
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

/// Parses a whole number and moves p past it. Returns false, and leaves p, if the next word is not a whole
/// number that int64_t can hold.
inline bool parse_integer(const char*& p, const char* end, std::int64_t& value) {
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

/// std::from_chars for double and float, or that of fast_float if the compiler has none.
template <class Real>
std::from_chars_result from_chars(const char* first, const char* end, Real& value) {
#if FILIGREE_USE_FAST_FLOAT
  // Up to version 3 fast_float returns infinity without an error for a number that is too large. The text of
  // a true infinity contains no digit.
  const auto result = fast_float::from_chars(first, end, value);
  const bool too_large = result.ec == std::errc() && std::isinf(value) &&
                         std::find_if(first, result.ptr, is_digit) != result.ptr;
  return {result.ptr, too_large ? std::errc::result_out_of_range : result.ec};
#else
  return std::from_chars(first, end, value);
#endif
}

/// The word with Fortran's exponent letter d, as in 1.5D+03, replaced by e.
inline std::string with_c_exponent(const char* first, const char* last) {
  std::string word(first, last);
  std::replace_if(
      word.begin(), word.end(), [](char c) { return c == 'd' || c == 'D'; }, 'e');
  return word;
}

/// Whether a number that double cannot hold is too large. If not, it is too small. std::from_chars reports
/// both with the same error.
inline bool is_too_large(const char* p, const char* end) {
  // The decimal exponent of the first digit that is not zero, plus one.
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

/// The word [begin, end) rounded to float, given its value as a double.
///
/// Rounding first to double and then to float can be wrong only if the double is half-way between two floats.
/// Only then is the word parsed again.
inline double rounded_to_float(const char* begin, const char* end, double value) {
  const auto nearest = static_cast<float>(value);
  if (static_cast<double>(nearest) == value || !std::isfinite(nearest)) return value;
  const float next = std::nextafter(nearest, value > nearest ? HUGE_VALF : -HUGE_VALF);
  if (value - nearest != static_cast<double>(next) - value) return value;
  const std::string word = with_c_exponent(skip_plus(skip_blanks(begin, end), end), end);
  float exact = nearest;
  from_chars(word.data(), word.data() + word.size(), exact);
  return exact;
}

enum class ParseResult { Good, NoNumber, TooLarge };

/// Parses a real number and moves p past it. A number too small for double becomes zero. If the next word is
/// not a number, or too large for double, p stays.
inline ParseResult parse_real(const char*& p, const char* end, double& value) {
  const char* first = skip_plus(skip_blanks(p, end), end);
  const auto result = from_chars(first, end, value);
  const char* last = result.ptr;
  if (!at_word_end(last, end)) {
    if (*last != 'd' && *last != 'D') return ParseResult::NoNumber;
    last = skip_word(first, end);
    const std::string word = with_c_exponent(first, last);
    const char* copy = word.data();
    const ParseResult parsed = parse_real(copy, copy + word.size(), value);
    if (parsed == ParseResult::Good) p = last;
    return parsed;
  }
  if (result.ec == std::errc::invalid_argument) return ParseResult::NoNumber;
  if (result.ec == std::errc::result_out_of_range) {
    if (is_too_large(first, last)) return ParseResult::TooLarge;
    value = 0;
  }
  p = last;
  return ParseResult::Good;
}

}  // namespace Filigree::Impl::MatrixMarket

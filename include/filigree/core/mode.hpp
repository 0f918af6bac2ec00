// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <stdexcept>
#include <string>

#include "filigree/core/scalar.hpp"

namespace Filigree {

/// The meaning of op(A) in y = beta*y + alpha*op(A)*x.
enum class Mode : char {
  NoTranspose = 'N',        ///< A
  Transpose = 'T',          ///< transpose of A
  Conjugate = 'C',          ///< complex conjugate of A; equal to A for real scalars
  ConjugateTranspose = 'H'  ///< conjugate transpose of A; equal to the transpose for real scalars
};

/// The mode argument of spmv: a Mode, or one of the letters N, T, C and H, as a string as in
/// KokkosSparse::spmv, or as a std::string or a char. Any other string or char throws std::invalid_argument.
class ModeArgument {
 public:
  /// Throws std::invalid_argument if `mode` is no enumerator.
  ModeArgument(Mode mode) : ModeArgument(static_cast<char>(mode)) {}
  /// Throws std::invalid_argument unless `letter` is 'N', 'T', 'C' or 'H'.
  ModeArgument(char letter) : m_mode(checked(std::string(1, letter))) {}
  /// Throws std::invalid_argument unless `text` is "N", "T", "C" or "H".
  ModeArgument(const char* text) : m_mode(checked(text == nullptr ? "" : text)) {}
  /// Throws std::invalid_argument unless `text` is "N", "T", "C" or "H".
  ModeArgument(const std::string& text) : m_mode(checked(text)) {}

  /// The mode.
  operator Mode() const { return m_mode; }

 private:
  static Mode checked(const std::string& text) {
    if (text == "N" || text == "T" || text == "C" || text == "H") return static_cast<Mode>(text[0]);
    throw std::invalid_argument("Filigree::spmv: mode is \"" + text +
                                "\"; it must be \"N\", \"T\", \"C\" or \"H\".");
  }

  Mode m_mode;
};

namespace Impl {
/// Whether op(A) transposes A.
constexpr bool is_transpose(Mode mode) {
  return mode == Mode::Transpose || mode == Mode::ConjugateTranspose;
}
/// Whether op(A) conjugates the values of A.
constexpr bool is_conjugate(Mode mode) {
  return mode == Mode::Conjugate || mode == Mode::ConjugateTranspose;
}

/// Calls visit(conjugate) with std::true_type if the mode conjugates complex scalars, else with std::false_type.
template <class Scalar, class Visit>
void with_conjugate(Mode mode, const Visit& visit) {
  is_conjugate(mode) ? visit(std::bool_constant<is_complex_v<Scalar>>()) : visit(std::false_type());
}

/// Calls visit(transpose, conjugate) with std::true_type or std::false_type, so that a kernel can be compiled
/// for each mode. For real scalars `conjugate` is always false, which avoids duplicate kernels.
template <class Scalar, class Visit>
void with_mode(Mode mode, const Visit& visit) {
  with_conjugate<Scalar>(mode, [&](auto conjugate) {
    is_transpose(mode) ? visit(std::true_type(), conjugate) : visit(std::false_type(), conjugate);
  });
}
}  // namespace Impl

}  // namespace Filigree

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FILIGREE_CORE_MODE_HPP
#define FILIGREE_CORE_MODE_HPP

#include <stdexcept>
#include <string>

namespace Filigree {

/// What op(A) is in y = beta*y + alpha*op(A)*x.
enum class Mode : char {
  NoTranspose = 'N',        ///< A
  Transpose = 'T',          ///< transpose of A
  Conjugate = 'C',          ///< complex conjugate of A; the same as N for real scalars
  ConjugateTranspose = 'H'  ///< conjugate transpose of A; the same as T for real scalars
};

/// A mode as the caller of spmv may write it: a Mode, or the string "N", "T", "C" or "H" that
/// KokkosSparse::spmv takes. Throws std::invalid_argument for any other string.
class ModeArgument {
 public:
  ModeArgument(Mode mode) : m_mode(checked(std::string(1, static_cast<char>(mode)))) {}
  ModeArgument(const char* text) : m_mode(checked(text == nullptr ? "" : text)) {}

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
/// Whether op(A) has the rows of A as its columns.
constexpr bool is_transpose(Mode mode) {
  return mode == Mode::Transpose || mode == Mode::ConjugateTranspose;
}
/// Whether op(A) takes the conjugate of the values of A.
constexpr bool is_conjugate(Mode mode) {
  return mode == Mode::Conjugate || mode == Mode::ConjugateTranspose;
}
}  // namespace Impl

}  // namespace Filigree

#endif

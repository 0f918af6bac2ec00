// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sstream>
#include <stdexcept>

namespace Filigree::Impl {

/// Throws an Exception whose text consists of all parts, printed with operator<<.
template <class Exception, class... Parts>
[[noreturn]] void fail(const Parts&... parts) {
  std::ostringstream text;
  (text << ... << parts);
  throw Exception(text.str());
}

}  // namespace Filigree::Impl

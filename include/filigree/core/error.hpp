// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FILIGREE_CORE_ERROR_HPP
#define FILIGREE_CORE_ERROR_HPP

#include <sstream>
#include <stdexcept>

namespace Filigree {
namespace Impl {

/// Throws Exception with all parts printed one after the other.
template <class Exception, class... Parts>
[[noreturn]] void fail(const Parts&... parts) {
  std::ostringstream text;
  (text << ... << parts);
  throw Exception(text.str());
}

}  // namespace Impl
}  // namespace Filigree

#endif

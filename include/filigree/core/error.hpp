// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "filigree/core/require_cxx17.hpp"

#include <cstring>
#include <new>
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

/// Whether an exception says that memory could not be allocated. If a View cannot be allocated, Kokkos throws
/// std::bad_alloc or std::runtime_error, depending on its version. Errors of a device are std::runtime_error
/// too, so that only the text tells the two apart.
inline bool is_out_of_memory(const std::exception& error) {
  return dynamic_cast<const std::bad_alloc*>(&error) != nullptr ||
         std::strstr(error.what(), "failed to allocate") != nullptr;
}

}  // namespace Filigree::Impl

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>

#include "filigree/core/kokkos_versions.hpp"

namespace Filigree::Impl {

/// "Filigree::<what>[<format>]": the label of every View, kernel and region of this library.
inline std::string label(const char* what, const char* format) {
  return std::string("Filigree::") + what + "[" + format + "]";
}

/// A Kokkos Tools region that ends when the object is destroyed, also if an exception is thrown.
class ScopedRegion {
 public:
  explicit ScopedRegion(const std::string& name) { Kokkos::Profiling::pushRegion(name); }
  ~ScopedRegion() { Kokkos::Profiling::popRegion(); }
  ScopedRegion(const ScopedRegion&) = delete;
  ScopedRegion& operator=(const ScopedRegion&) = delete;
};

}  // namespace Filigree::Impl

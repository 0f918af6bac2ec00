// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The names of Views, kernels and regions that Kokkos Tools show.
#pragma once

#include <map>
#include <mutex>
#include <string>
#include <utility>

#include "filigree/core/kokkos_versions.hpp"

namespace Filigree::Impl {

/// The label of the matrix that the calling thread makes, converts or refills; see LabelScope.
inline std::string& current_label() {
  static thread_local std::string label;
  return label;
}

/// While it lives, label() adds a label of a matrix (ConvertOptions::label) to all names. An empty label
/// changes nothing, so that optimize() can set the label of the conversions that it calls.
class LabelScope {
 public:
  explicit LabelScope(const std::string& label) : m_outer(current_label()) {
    if (!label.empty()) current_label() = label;
  }
  ~LabelScope() { current_label().swap(m_outer); }
  LabelScope(const LabelScope&) = delete;
  LabelScope& operator=(const LabelScope&) = delete;

 private:
  std::string m_outer;
};

/// "Filigree::<what>[<format>]", or "Filigree::<what>[<format>:<matrix>]" for a matrix with a label.
inline std::string label(const char* what, const char* format, const std::string& matrix) {
  return std::string("Filigree::") + what + "[" + format + (matrix.empty() ? "" : ":" + matrix) + "]";
}

/// The name of every View, kernel and region of this library, except for those of products (ProductNames).
inline std::string label(const char* what, const char* format) {
  return label(what, format, current_label());
}

/// The names in a product. They are made once, because a product must not take time for strings.
struct ProductNames {
  std::string label;
  std::string spmv;  ///< of the region and of the main kernel
  std::string coo;   ///< of the kernel of the COO part of HYB
  std::string join;  ///< of the kernel that joins cut rows

  ProductNames(const char* format, const std::string& matrix)
      : label(matrix),
        spmv(Impl::label("spmv", format, matrix)),
        coo(Impl::label("spmv_coo", format, matrix)),
        join(Impl::label("join", format, matrix)) {}
};

/// The names in a product of a matrix with a label. They live until the process ends, so that a matrix needs
/// only a pointer to them and can still be copied to a device.
inline const ProductNames* labelled_names(const char* format, const std::string& matrix) {
  static std::mutex mutex;
  static auto& all = *new std::map<std::pair<std::string, std::string>, ProductNames>();
  const std::lock_guard<std::mutex> lock(mutex);
  return &all.try_emplace({format, matrix}, format, matrix).first->second;
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

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "filigree/core/require_cxx17.hpp"

#include <cstddef>
#include <cstdint>

#if defined(__linux__)
#include <sys/mman.h>
#include <unistd.h>
#endif

namespace Filigree::Impl {

/// Asks Linux for huge pages for an array on the heap of a host. Call it before the array is written: fewer pages are
/// faster to write for the first time and to read (see docs/performance.md, "Huge pages on hosts"). It has no effect if
/// the system always uses huge pages, or never. Arrays of less than 32 MiB are left alone, because malloc() may keep
/// other data in the same mapping.
inline void prefer_huge_pages([[maybe_unused]] const void* data, [[maybe_unused]] std::size_t bytes) {
#if defined(__linux__) && defined(MADV_HUGEPAGE)
  constexpr std::size_t least_bytes = std::size_t(1) << 25;
  if (bytes < least_bytes) return;
  const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  const auto address = reinterpret_cast<std::uintptr_t>(data);
  const std::uintptr_t past_page = address % page;
  // It is advice: if the system refuses it, the array has small pages.
  static_cast<void>(
      ::madvise(reinterpret_cast<void*>(address - past_page), bytes + past_page, MADV_HUGEPAGE));
#endif
}

}  // namespace Filigree::Impl

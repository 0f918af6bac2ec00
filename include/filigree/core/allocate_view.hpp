// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FILIGREE_CORE_ALLOCATE_VIEW_HPP
#define FILIGREE_CORE_ALLOCATE_VIEW_HPP

#include <cstddef>
#include <cstdint>

#include "filigree/core/region.hpp"

namespace Filigree {
namespace Impl {

/// A View of rank 1 named "Filigree::<what>[<format>]", not initialised.
template <class View, class ExecutionSpace>
View allocate_view(const ExecutionSpace& exec, const char* what, const char* format, std::int64_t size) {
  return View(Kokkos::view_alloc(exec, Kokkos::WithoutInitializing, label(what, format)),
              static_cast<std::size_t>(size));
}

}  // namespace Impl
}  // namespace Filigree

#endif

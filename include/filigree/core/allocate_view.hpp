// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "filigree/core/region.hpp"

namespace Filigree::Impl {

/// An uninitialised View of rank 1 with `size` elements and the label "Filigree::<what>[<format>]".
template <class View, class ExecutionSpace>
View allocate_view(const ExecutionSpace& exec, const char* what, const char* format, std::int64_t size) {
  return View(Kokkos::view_alloc(exec, Kokkos::WithoutInitializing, label(what, format)),
              static_cast<std::size_t>(size));
}

}  // namespace Filigree::Impl

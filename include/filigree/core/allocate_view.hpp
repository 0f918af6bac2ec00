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

/// A View with the elements of a View of rank 1, and the label "Filigree::<what>[<format>]". The copy is
/// queued on exec.
template <class Result, class ExecutionSpace, class View>
Result copy_view(const ExecutionSpace& exec, const char* what, const char* format, const View& view) {
  const auto copy = allocate_view<Result>(exec, what, format, static_cast<std::int64_t>(view.extent(0)));
  Kokkos::deep_copy(exec, copy, view);
  return copy;
}

}  // namespace Filigree::Impl

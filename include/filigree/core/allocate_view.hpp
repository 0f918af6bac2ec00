// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <type_traits>
#include <utility>

#include "filigree/core/huge_pages.hpp"
#include "filigree/core/region.hpp"

namespace Filigree::Impl {

/// An uninitialised View of rank 1 with `size` elements and the label "Filigree::<what>[<format>]". On a host it
/// prefers huge pages.
template <class View, class ExecutionSpace>
View allocate_view(const ExecutionSpace& exec, const char* what, const char* format, std::int64_t size) {
  const View view(Kokkos::view_alloc(exec, Kokkos::WithoutInitializing, label(what, format)),
                  static_cast<std::size_t>(size));
  if constexpr (std::is_same_v<typename View::memory_space, Kokkos::HostSpace>)
    prefer_huge_pages(view.data(), view.span() * sizeof(typename View::value_type));
  return view;
}

/// A View with the elements of a View of rank 1, and the label "Filigree::<what>[<format>]". The copy is
/// queued on exec.
template <class Result, class ExecutionSpace, class View>
Result copy_view(const ExecutionSpace& exec, const char* what, const char* format, const View& view) {
  const auto copy = allocate_view<Result>(exec, what, format, static_cast<std::int64_t>(view.extent(0)));
  Kokkos::deep_copy(exec, copy, view);
  return copy;
}

/// Copies numbers from the host to a View with as many elements. Fences exec.
template <class ExecutionSpace, class Numbers, class View>
void copy_numbers(const ExecutionSpace& exec, const Numbers& numbers, const View& view) {
  const auto mirror = Kokkos::create_mirror_view(view);
  for (std::size_t i = 0; i < numbers.size(); ++i)
    mirror(i) = static_cast<typename View::value_type>(numbers[i]);
  Kokkos::deep_copy(exec, view, mirror);
  // The copy must end before the mirror View is destroyed.
  exec.fence();
}

/// allocate_view() whose first element has an address that is a multiple of 256 bytes, if sizeof of an element
/// divides 256. A View of Kokkos begins 128 bytes after such an address (see docs/performance.md,
/// "CDS: alignment of values"). It takes 256 bytes more.
template <class View, class ExecutionSpace>
View allocate_aligned_view(const ExecutionSpace& exec, const char* what, const char* format,
                           std::int64_t size) {
  if (size == 0) return allocate_view<View>(exec, what, format, 0);
  constexpr std::size_t alignment = 256;
  constexpr std::size_t element = sizeof(typename View::value_type);
  const View longer =
      allocate_view<View>(exec, what, format, size + static_cast<std::int64_t>(alignment / element));
  const std::size_t beyond = reinterpret_cast<std::uintptr_t>(longer.data()) % alignment;
  const std::size_t skipped = (alignment - beyond) % alignment / element;
  return Kokkos::subview(longer, std::make_pair(skipped, skipped + static_cast<std::size_t>(size)));
}

}  // namespace Filigree::Impl

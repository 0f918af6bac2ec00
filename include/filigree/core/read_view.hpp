// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Elements of Views on the host. Kokkos::deep_copy without an instance would fence all instances of the
// process.
#pragma once

#include "filigree/core/kokkos_versions.hpp"

namespace Filigree::Impl {

/// One element of a View of rank 1, after all earlier kernels on exec. Fences exec alone.
template <class ExecutionSpace, class View>
typename View::non_const_value_type read_element(const ExecutionSpace& exec, const View& view,
                                                 std::size_t index) {
  typename View::non_const_value_type value;
  Kokkos::deep_copy(exec, value, Kokkos::subview(view, index));
  exec.fence();
  return value;
}

/// A View of rank 1 in host memory with the elements of `view`, after all earlier kernels on exec. It is
/// `view` itself if the host can access that. Fences exec alone.
template <class ExecutionSpace, class View>
auto host_copy(const ExecutionSpace& exec, const View& view) {
  if constexpr (Kokkos::SpaceAccessibility<Kokkos::HostSpace, typename View::memory_space>::accessible) {
    exec.fence();
    return view;
  } else {
    Kokkos::View<typename View::non_const_value_type*, Kokkos::HostSpace> result(
        Kokkos::view_alloc(Kokkos::WithoutInitializing, view.label()), view.extent(0));
    Kokkos::deep_copy(exec, result, view);
    exec.fence();
    return result;
  }
}

}  // namespace Filigree::Impl

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "filigree/core/error.hpp"
#include "filigree/core/kokkos_versions.hpp"

namespace Filigree::Impl {

/// Throws std::logic_error if Kokkos is not initialized. The message begins with `function`. Every public
/// function that launches kernels or allocates Views calls it first, also before it makes a default instance.
inline void check_initialized(const char* function) {
  if (!Kokkos::is_initialized())
    fail<std::logic_error>(
        function,
        ": Kokkos is not initialized; call it after Kokkos::initialize and before Kokkos::finalize.");
}

}  // namespace Filigree::Impl

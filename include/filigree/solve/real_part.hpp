// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "filigree/core/kokkos_versions.hpp"
#include "filigree/core/scalar.hpp"

namespace Filigree::Impl {

/// The real part of a number.
template <class T>
KOKKOS_FORCEINLINE_FUNCTION real_t<T> real_part(const T& value) {
  if constexpr (is_complex_v<T>)
    return value.real();
  else
    return value;
}

}  // namespace Filigree::Impl

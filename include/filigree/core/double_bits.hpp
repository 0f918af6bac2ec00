// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <cstring>

#include "filigree/core/kokkos_versions.hpp"

namespace Filigree::Impl {

/// The bits of a double as a number. For finite numbers of one sign, neighbouring doubles have neighbouring
/// bits.
KOKKOS_FORCEINLINE_FUNCTION std::uint64_t bits_of_double(double value) {
  std::uint64_t bits;
  memcpy(&bits, &value, sizeof(bits));
  return bits;
}

/// The double with these bits.
KOKKOS_FORCEINLINE_FUNCTION double double_of_bits(std::uint64_t bits) {
  double value;
  memcpy(&value, &bits, sizeof(value));
  return value;
}

}  // namespace Filigree::Impl

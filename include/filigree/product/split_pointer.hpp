// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "filigree/core/double_bits.hpp"
#include "filigree/core/load_once.hpp"

namespace Filigree::Impl {

/// The double that consists of two halves.
KOKKOS_FORCEINLINE_FUNCTION double joined_halves(float leading, int trailing) {
  const auto difference = static_cast<std::uint64_t>(static_cast<std::int64_t>(trailing));
  return double_of_bits(bits_of_double(leading) + difference);
}

/// Stands for a pointer to constant doubles whose halves lie in two arrays.
struct SplitPointer {
  const float* leading;
  const int* trailing;

  KOKKOS_FORCEINLINE_FUNCTION double operator[](std::int64_t i) const {
    return joined_halves(leading[i], trailing[i]);
  }
  KOKKOS_FORCEINLINE_FUNCTION SplitPointer operator+(std::int64_t i) const {
    return {leading + i, trailing + i};
  }
  KOKKOS_FORCEINLINE_FUNCTION SplitPointer& operator+=(std::int64_t i) { return *this = *this + i; }
};

/// load_once() of both halves.
KOKKOS_FORCEINLINE_FUNCTION double load_once(const SplitPointer& pointer) {
  return joined_halves(load_once(pointer.leading), load_once(pointer.trailing));
}
template <int Count>
KOKKOS_FORCEINLINE_FUNCTION Pack<double, Count> load_pack(const SplitPointer& pointer) {
  const auto leading = load_pack<Count>(pointer.leading);
  const auto trailing = load_pack<Count>(pointer.trailing);
  Pack<double, Count> result;
  for (int i = 0; i < Count; ++i)
    result.values[i] = joined_halves(leading.values[i], trailing.values[i]);
  return result;
}
template <int Count>
bool is_aligned_to_pack(const SplitPointer& pointer) {
  return is_aligned_to_pack<Count>(pointer.leading) && is_aligned_to_pack<Count>(pointer.trailing);
}

}  // namespace Filigree::Impl

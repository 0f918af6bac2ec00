// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "filigree/core/kokkos_versions.hpp"

namespace Filigree::Impl {

/// 64 pseudo-random bits that depend only on `state`: one step of SplitMix64 (Steele, Lea and Flood 2014). No two states
/// give the same bits.
/// The generators of Kokkos have a sequence per lane, so a matrix would depend on which lane computes an
/// entry.
KOKKOS_INLINE_FUNCTION std::uint64_t random_bits(std::uint64_t state) {
  state += 0x9e3779b97f4a7c15u;
  state = (state ^ (state >> 30)) * 0xbf58476d1ce4e5b9u;
  state = (state ^ (state >> 27)) * 0x94d049bb133111ebu;
  return state ^ (state >> 31);
}

}  // namespace Filigree::Impl

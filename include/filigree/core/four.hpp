// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

namespace Filigree::Impl {

/// Four elements in the vector registers of a host. Such a vector has operators like + and [], and compares to a vector
/// of masks. GCC and Clang have them for all processors, and make several instructions of one if necessary. nvcc refuses
/// them when it compiles for a GPU, also in code that only a host runs.
template <class T>
struct Four {
  static constexpr bool exists = false;
};

#if defined(__GNUC__) && !defined(__CUDA_ARCH__)
template <>
struct Four<double> {
  static constexpr bool exists = true;
  using type __attribute__((vector_size(32))) = double;
};

template <>
struct Four<float> {
  static constexpr bool exists = true;
  using type __attribute__((vector_size(16))) = float;
};
#endif

}  // namespace Filigree::Impl

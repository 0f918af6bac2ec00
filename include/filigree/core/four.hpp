// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "filigree/core/require_cxx17.hpp"

namespace Filigree::Impl {

/// Four elements in the vector registers of a host. Operators like + and [] work on such a vector, and a comparison gives
/// a vector of masks. GCC and Clang have them for all processors, and split an operation into several instructions if
/// necessary. nvcc refuses them when it compiles for a GPU, also in code that only a host runs. Other compilers that
/// define __GNUC__ were not tried.
template <class T>
struct Four {
  static constexpr bool exists = false;
};

#if defined(__GNUC__) && !defined(__CUDA_ARCH__) && !defined(__NVCOMPILER) && !defined(__INTEL_COMPILER) && \
    !defined(__SYCL_DEVICE_ONLY__)
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

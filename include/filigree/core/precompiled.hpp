// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The lists of what the library holds precompiled if it was built with FILIGREE_PRECOMPILE.
//
// Products, conversions and optimize() are members of class templates, and these members are not inline. A
// header that defines such a class also defines a macro FILIGREE_PRECOMPILE_<WHAT>(KIND, Scalar, SizeType). With
// `template` as KIND it instantiates the class for a scalar and an offset type; src/precompiled.cpp.in uses it
// so. With `extern template` it declares that the library has the instantiation. The compiler of an application
// then leaves these members, and with them all kernels, out. A type must be in this file and in
// cmake/FiligreePrecompile.cmake, a format in this file and in formats.hpp, which compares both lists.
#pragma once

#include "filigree/core/kokkos_versions.hpp"

// CMake defines these macros for all who link a library with the types that they name.
#ifdef FILIGREE_PRECOMPILED_DOUBLE_INT
#define FILIGREE_IF_DOUBLE_INT(PRECOMPILE) PRECOMPILE(extern template, double, int)
#else
#define FILIGREE_IF_DOUBLE_INT(PRECOMPILE)
#endif
#ifdef FILIGREE_PRECOMPILED_DOUBLE_SIZE_T
#define FILIGREE_IF_DOUBLE_SIZE_T(PRECOMPILE) PRECOMPILE(extern template, double, std::size_t)
#else
#define FILIGREE_IF_DOUBLE_SIZE_T(PRECOMPILE)
#endif
#ifdef FILIGREE_PRECOMPILED_FLOAT_INT
#define FILIGREE_IF_FLOAT_INT(PRECOMPILE) PRECOMPILE(extern template, float, int)
#else
#define FILIGREE_IF_FLOAT_INT(PRECOMPILE)
#endif
#ifdef FILIGREE_PRECOMPILED_FLOAT_SIZE_T
#define FILIGREE_IF_FLOAT_SIZE_T(PRECOMPILE) PRECOMPILE(extern template, float, std::size_t)
#else
#define FILIGREE_IF_FLOAT_SIZE_T(PRECOMPILE)
#endif

/// Declares what the library has precompiled: calls PRECOMPILE(extern template, Scalar, SizeType) for its types.
#define FILIGREE_DECLARE_PRECOMPILED(PRECOMPILE) \
  FILIGREE_IF_DOUBLE_INT(PRECOMPILE)             \
  FILIGREE_IF_DOUBLE_SIZE_T(PRECOMPILE)          \
  FILIGREE_IF_FLOAT_INT(PRECOMPILE)              \
  FILIGREE_IF_FLOAT_SIZE_T(PRECOMPILE)

#if FILIGREE_HAS_BSR
#define FILIGREE_IF_BSR(PRECOMPILE, KIND, Scalar, SizeType) PRECOMPILE(KIND, BsrMatrix, Scalar, SizeType)
#else
#define FILIGREE_IF_BSR(PRECOMPILE, KIND, Scalar, SizeType)
#endif

/// Calls PRECOMPILE(KIND, Format, Scalar, SizeType) for the formats of AllFormats, in their order. formats.hpp
/// checks that they are the same.
#define FILIGREE_FOR_PRECOMPILED_FORMATS(PRECOMPILE, KIND, Scalar, SizeType) \
  PRECOMPILE(KIND, CrsMatrix, Scalar, SizeType)                              \
  FILIGREE_IF_BSR(PRECOMPILE, KIND, Scalar, SizeType)                        \
  PRECOMPILE(KIND, WrappedCrsMatrix, Scalar, SizeType)                       \
  PRECOMPILE(KIND, CooMatrix, Scalar, SizeType)                              \
  PRECOMPILE(KIND, EllMatrix, Scalar, SizeType)                              \
  PRECOMPILE(KIND, SellMatrix, Scalar, SizeType)                             \
  PRECOMPILE(KIND, HybMatrix, Scalar, SizeType)                              \
  PRECOMPILE(KIND, HecMatrix, Scalar, SizeType)                              \
  PRECOMPILE(KIND, JdsMatrix, Scalar, SizeType)                              \
  PRECOMPILE(KIND, DiaMatrix, Scalar, SizeType)                              \
  PRECOMPILE(KIND, CdsMatrix, Scalar, SizeType)                              \
  PRECOMPILE(KIND, BellMatrix, Scalar, SizeType)                             \
  PRECOMPILE(KIND, SymCdsMatrix, Scalar, SizeType)                           \
  PRECOMPILE(KIND, DictCdsMatrix, Scalar, SizeType)

namespace Filigree::Impl {

/// The execution space whose products and conversions are precompiled.
using PrecompiledSpace = Kokkos::DefaultExecutionSpace;

/// The matrix of a format whose products and conversions are precompiled.
template <template <class, class, class, class, class> class Format, class Scalar, class SizeType>
using precompiled_t = Format<Scalar, int, PrecompiledSpace::device_type, void, SizeType>;

}  // namespace Filigree::Impl

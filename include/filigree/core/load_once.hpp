// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "filigree/core/kokkos_versions.hpp"

namespace Filigree::Impl {

#if defined(__CUDA_ARCH__)
template <std::size_t Bytes>
struct StreamedWord {
  using type = void;
};
template <>
struct StreamedWord<2> {
  using type = unsigned short;
};
template <>
struct StreamedWord<4> {
  using type = unsigned int;
};
template <>
struct StreamedWord<8> {
  using type = uint2;
};
template <>
struct StreamedWord<16> {
  using type = uint4;
};
/// 32 bytes take two loads.
template <>
struct StreamedWord<32> {
  struct type {
    uint4 halves[2];
  };
};
template <class Word>
__device__ __forceinline__ Word load_streamed(const Word* pointer) {
  return __ldcs(pointer);
}
__device__ __forceinline__ StreamedWord<32>::type load_streamed(const StreamedWord<32>::type* pointer) {
  return {{__ldcs(&pointer->halves[0]), __ldcs(&pointer->halves[1])}};
}
#endif

/// *pointer, for an element that the kernel reads only once. On an NVIDIA GPU it is a streaming load: caches
/// evict the element first and keep x. `pointer` must be aligned to the size of T. Elements of other sizes
/// than 2, 4, 8, 16 and 32 bytes are loaded normally.
template <class T>
KOKKOS_FORCEINLINE_FUNCTION T load_once(const T* pointer) {
#if defined(__CUDA_ARCH__)
  using word = typename StreamedWord<sizeof(T)>::type;
  if constexpr (std::is_void<word>::value) {
    return *pointer;
  } else {
    const word loaded = load_streamed(reinterpret_cast<const word*>(pointer));
    T result;
    memcpy(&result, &loaded, sizeof(T));
    return result;
  }
#else
  return *pointer;
#endif
}

/// Prefetches `count` elements that begin `ahead` elements after `first` into the caches of a host. The
/// elements need not exist: a prefetch of an invalid address has no effect.
template <class T>
KOKKOS_FORCEINLINE_FUNCTION void prefetch_elements(const T* first, std::int64_t count,
                                                   std::int64_t ahead = 0) {
#if defined(__GNUC__) && !defined(__CUDA_ARCH__)
  constexpr std::int64_t cache_line = 64;
  // A pointer, because the compiler computes integer addresses one by one.
  const char* const bytes = reinterpret_cast<const char*>(first + ahead);
  for (std::int64_t at = 0; at < count * static_cast<std::int64_t>(sizeof(T)); at += cache_line)
    __builtin_prefetch(bytes + at);
#else
  (void)first;
  (void)count;
  (void)ahead;
#endif
}

/// The prefetch distance, in elements, of a stream of entries on a host, and the most elements that one
/// prefetch asks for, so that they stay in the cache until they are used.
constexpr std::int64_t prefetch_distance = 512;

/// Prefetches as many elements as a row has, prefetch_distance elements ahead of it. The hardware prefetcher
/// of a core stops at the end of each page (see docs/performance.md, "Prefetching on hosts").
template <class T>
KOKKOS_FORCEINLINE_FUNCTION void prefetch_ahead(const T* row, std::int64_t length) {
  prefetch_elements(row, length < prefetch_distance ? length : prefetch_distance, prefetch_distance);
}

/// Count neighbouring elements that one instruction loads or stores, if they have at most 16 bytes.
template <class T, int Count>
struct alignas(sizeof(T) * Count) Pack {
  T values[Count];
};

}  // namespace Filigree::Impl

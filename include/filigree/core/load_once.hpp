// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FILIGREE_CORE_LOAD_ONCE_HPP
#define FILIGREE_CORE_LOAD_ONCE_HPP

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "filigree/core/kokkos_versions.hpp"

namespace Filigree {
namespace Impl {

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
/// Two loads.
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

/// *pointer, aligned to its size, that this kernel reads just once: on an NVIDIA GPU the caches drop it first
/// and keep x, if it has 2, 4, 8, 16 or 32 bytes; else a load like any other.
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

/// Asks for `count` elements, `ahead` elements from the first one on, that a host loads soon, into its
/// caches. They need not exist.
template <class T>
KOKKOS_FORCEINLINE_FUNCTION void prefetch_run(const T* first, std::int64_t count, std::int64_t ahead = 0) {
#if defined(__GNUC__) && !defined(__CUDA_ARCH__)
  constexpr std::int64_t cache_line = 64;
  // As integers the addresses would be computed one by one: COO of qh1484 1.18 times CRS in place of 1.08.
  const char* const bytes = reinterpret_cast<const char*>(first + ahead);
  for (std::int64_t at = 0; at < count * static_cast<std::int64_t>(sizeof(T)); at += cache_line)
    __builtin_prefetch(bytes + at);
#else
  (void)first;
  (void)count;
  (void)ahead;
#endif
}

/// How many elements ahead of a row that it adds a host asks for as many: the prefetchers of a core stop at
/// the end of each page. Of a longer row it asks for so many, which its caches hold.
constexpr std::int64_t prefetch_distance = 512;
template <class T>
KOKKOS_FORCEINLINE_FUNCTION void prefetch_ahead(const T* row, std::int64_t length) {
  prefetch_run(row, length < prefetch_distance ? length : prefetch_distance, prefetch_distance);
}

/// Neighbours in memory that are loaded together, 16 bytes at once where Count is chosen for that.
template <class T, int Count>
struct alignas(sizeof(T) * Count) Pack {
  T values[Count];
};

}  // namespace Impl
}  // namespace Filigree

#endif

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstring>
#include <type_traits>

#include "filigree/core/kokkos_versions.hpp"

namespace Filigree::Impl {

/// *pointer, for an element that the kernel reads only once. On an NVIDIA GPU it is a streaming load: caches
/// evict the element first and keep x. It loads words and joins them. `pointer` must be aligned to the size of T. An
/// element whose size is not 2, 4, 8, 16 or 32 bytes is loaded normally.
template <class T>
KOKKOS_FORCEINLINE_FUNCTION T load_words_once(const T* pointer) {
#if defined(__CUDA_ARCH__)
  constexpr int size = sizeof(T);
  if constexpr (size == 2 || size == 4 || size == 8 || size == 16 || size == 32) {
    using small_word = std::conditional_t<size == 2, unsigned short, unsigned int>;
    using large_word = std::conditional_t<size == 8, uint2, uint4>;
    using word = std::conditional_t<size <= 4, small_word, large_word>;
    constexpr int count = size / sizeof(word);
    word words[count];
    for (int i = 0; i < count; ++i)
      words[i] = __ldcs(reinterpret_cast<const word*>(pointer) + i);
    T result;
    memcpy(&result, words, size);
    return result;
  } else {
    return *pointer;
  }
#else
  return *pointer;
#endif
}

/// load_words_once(), except that a double or float is loaded by an instruction of its type. The compiler orders the
/// loads of a kernel differently then (see docs/performance.md, "Loads of values that are read once").
template <class T>
KOKKOS_FORCEINLINE_FUNCTION T load_once(const T* pointer) {
#if defined(__CUDA_ARCH__)
  if constexpr (std::is_same_v<T, double> || std::is_same_v<T, float>)
    return __ldcs(pointer);
  else
    return load_words_once(pointer);
#else
  return *pointer;
#endif
}

/// *pointer, for an element that does not change while the kernel runs: a load through the read-only path of an NVIDIA
/// GPU. T must be a type that __ldg takes.
template <class T>
KOKKOS_FORCEINLINE_FUNCTION T load_constant(const T* pointer) {
#if defined(__CUDA_ARCH__)
  return __ldg(pointer);
#else
  return *pointer;
#endif
}

/// Prefetches `count` elements that begin `ahead` elements after `first` into the caches of a host, from the
/// given level on: 1 or 2. The elements need not exist: a prefetch of an invalid address has no effect.
template <int Level = 2, class T>
KOKKOS_FORCEINLINE_FUNCTION void prefetch_elements([[maybe_unused]] const T* first,
                                                   [[maybe_unused]] std::int64_t count,
                                                   [[maybe_unused]] std::int64_t ahead = 0) {
#if defined(__GNUC__) && !defined(__CUDA_ARCH__)
  constexpr std::int64_t cache_line = 64;
  // A pointer, because the compiler computes integer addresses one by one.
  const char* const bytes = reinterpret_cast<const char*>(first + ahead);
  for (std::int64_t at = 0; at < count * static_cast<std::int64_t>(sizeof(T)); at += cache_line)
    __builtin_prefetch(bytes + at, 0, 4 - Level);
#endif
}

/// The prefetch distance, in elements, of a stream of entries on a host. One call of prefetch_ahead() also
/// prefetches at most this number of elements, so that they stay in the cache until they are used.
constexpr std::int64_t prefetch_distance = 512;

/// Prefetches the elements that lie prefetch_distance elements after the `length` elements of a row. Hardware
/// prefetchers stop at the end of each page (see docs/performance.md, "Prefetching on hosts").
template <class T>
KOKKOS_FORCEINLINE_FUNCTION void prefetch_ahead(const T* row, std::int64_t length) {
  prefetch_elements<1>(row, length < prefetch_distance ? length : prefetch_distance, prefetch_distance);
}

/// Count neighbouring elements that one instruction loads or stores, if they have at most 16 bytes.
template <class T, int Count>
struct alignas(sizeof(T) * Count) Pack {
  T values[Count];
};

/// load_once() of Count neighbouring elements. `pointer` must be aligned to the size of all of them.
template <int Count, class T>
KOKKOS_FORCEINLINE_FUNCTION Pack<T, Count> load_pack(const T* pointer) {
  if constexpr (Count == 1)
    return {load_once(pointer)};
  else
    return load_once(reinterpret_cast<const Pack<T, Count>*>(pointer));
}

/// Whether a pointer is aligned for load_pack().
template <int Count, class T>
bool is_aligned_to_pack(const T* pointer) {
  return reinterpret_cast<std::uintptr_t>(pointer) % sizeof(Pack<T, Count>) == 0;
}

}  // namespace Filigree::Impl

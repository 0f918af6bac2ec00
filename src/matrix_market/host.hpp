// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Memory and threads of the host.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include <Kokkos_Core.hpp>

#include "filigree/core/huge_pages.hpp"

namespace Filigree::Impl::MatrixMarket {

/// An array of bytes that grows. std::vector would fill all new memory with zeros before the data arrives.
class Buffer {
 public:
  const char* begin() const { return m_data.get(); }
  const char* end() const { return m_data.get() + m_size; }

  /// Memory after the end for at least `bytes` bytes. Bytes written there belong to the buffer after
  /// commit().
  char* reserve(std::size_t bytes) {
    if (free_space() < bytes && !reallocate(std::max(m_size + bytes, m_capacity + m_capacity / 2)))
      throw std::bad_alloc();
    return m_data.get() + m_size;
  }
  /// The number of bytes that can be written after the end.
  std::size_t free_space() const { return m_capacity - m_size; }
  void commit(std::size_t bytes) { m_size += bytes; }
  void clear() { m_size = 0; }

  /// Returns unused memory if possible. After this an address sanitizer also reports reads past the end.
  void shrink() {
    if (m_size > 0) reallocate(m_size);
  }

 private:
  struct Free {
    void operator()(char* data) const { std::free(data); }
  };

  /// Returns false, and changes nothing, if there is not enough memory.
  bool reallocate(std::size_t capacity) {
    void* data = std::realloc(m_data.get(), capacity);
    if (data == nullptr) return false;
    static_cast<void>(m_data.release());  // realloc has freed it
    m_data.reset(static_cast<char*>(data));
    m_capacity = capacity;
    prefer_huge_pages(m_data.get(), m_capacity);
    return true;
  }

  std::unique_ptr<char, Free> m_data;
  std::size_t m_size = 0;
  std::size_t m_capacity = 0;
};

/// An uninitialised View on the host. Throws std::bad_alloc if there is not enough memory.
template <class T>
Kokkos::View<T*, Kokkos::HostSpace> host_array(const char* label, std::int64_t size) {
  // Some versions of Kokkos end the program if an allocation fails. The size comes from a file, so an
  // allocation is tried first.
  if (size > 0) {
    void* probe = std::malloc(static_cast<std::size_t>(size) * sizeof(T));
    if (probe == nullptr) throw std::bad_alloc();
    std::free(probe);
  }
  const Kokkos::View<T*, Kokkos::HostSpace> array(
      Kokkos::view_alloc(Kokkos::WithoutInitializing, std::string(label)), static_cast<std::size_t>(size));
  prefer_huge_pages(array.data(), array.span() * sizeof(T));
  return array;
}

/// Calls task(i) for i from 0 to count - 1 on the threads of the default host execution space. Returns false
/// if a task threw an exception, because exceptions cannot leave a parallel region.
template <class Task>
bool run_on_host_threads(const char* label, std::int64_t count, const Task& task) {
  std::vector<char> failed(static_cast<std::size_t>(count), 0);
  const auto guarded_task = [&](const std::int64_t i) {
    try {
      task(i);
    } catch (...) {
      failed[static_cast<std::size_t>(i)] = 1;
    }
  };
  if (count == 1) {
    guarded_task(0);
  } else {
    using Host = Kokkos::DefaultHostExecutionSpace;
    Kokkos::parallel_for(label, Kokkos::RangePolicy<Host, Kokkos::IndexType<std::int64_t>>(0, count),
                         guarded_task);
    Host().fence();
  }
  return std::count(failed.begin(), failed.end(), 1) == 0;
}

}  // namespace Filigree::Impl::MatrixMarket

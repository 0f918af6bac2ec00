// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>
#include <string>

#include <Kokkos_Core.hpp>

namespace Filigree::Impl::MatrixMarket {

/// An array of bytes that grows. std::vector would fill all new memory with zeros before the data arrives.
class Buffer {
 public:
  const char* begin() const { return m_data.get(); }
  const char* end() const { return m_data.get() + m_size; }

  /// Memory after the end for at least `bytes` bytes. Bytes written there belong to the buffer after
  /// commit().
  char* reserve(std::size_t bytes) {
    if (free_space() < bytes) reallocate(std::max(m_size + bytes, m_capacity + m_capacity / 2));
    return m_data.get() + m_size;
  }
  /// The number of bytes that can be written after the end.
  std::size_t free_space() const { return m_capacity - m_size; }
  void commit(std::size_t bytes) { m_size += bytes; }

  void clear() { m_size = 0; }

  /// Returns unused memory. After this an address sanitizer also reports reads past the end.
  void shrink() {
    if (m_size > 0) reallocate(m_size);
  }

 private:
  struct Free {
    void operator()(char* data) const { std::free(data); }
  };

  void reallocate(std::size_t capacity) {
    void* data = std::realloc(m_data.get(), capacity);
    if (data == nullptr) throw std::bad_alloc();
    m_data.release();
    m_data.reset(static_cast<char*>(data));
    m_capacity = capacity;
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
  return Kokkos::View<T*, Kokkos::HostSpace>(
      Kokkos::view_alloc(Kokkos::WithoutInitializing, std::string(label)), static_cast<std::size_t>(size));
}

}  // namespace Filigree::Impl::MatrixMarket

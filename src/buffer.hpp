// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FILIGREE_SRC_BUFFER_HPP
#define FILIGREE_SRC_BUFFER_HPP

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <memory>
#include <new>

namespace Filigree {
namespace Impl {

/// Bytes that grow. Not a std::vector, which would write zeros over all memory before the data comes.
class Buffer {
 public:
  const char* begin() const { return m_data.get(); }
  const char* end() const { return m_data.get() + m_size; }
  std::size_t free_space() const { return m_capacity - m_size; }
  void commit(std::size_t bytes) { m_size += bytes; }
  void clear() { m_size = 0; }
  /// Gives back what is not used: memory, and, under a sanitizer, the chance to read past the end unseen.
  void shrink() {
    if (m_size == 0) return;
    void* data = std::realloc(m_data.get(), m_size);
    if (data == nullptr) return;
    m_data.release();
    m_data.reset(static_cast<char*>(data));
    m_capacity = m_size;
  }

  /// Where at least `bytes` can be written; what is written counts after commit().
  char* room(std::size_t bytes) {
    if (free_space() < bytes) {
      const std::size_t capacity = std::max(m_size + bytes, m_capacity + m_capacity / 2);
      void* data = std::realloc(m_data.get(), capacity);
      if (data == nullptr) throw std::bad_alloc();
      m_data.release();
      m_data.reset(static_cast<char*>(data));
      m_capacity = capacity;
    }
    return m_data.get() + m_size;
  }

 private:
  struct Free {
    void operator()(char* data) const { std::free(data); }
  };
  std::unique_ptr<char, Free> m_data;
  std::size_t m_size = 0;
  std::size_t m_capacity = 0;
};

}  // namespace Impl
}  // namespace Filigree

#endif

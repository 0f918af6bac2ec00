// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <iosfwd>
#include <string>

#include "buffer.hpp"

namespace Filigree::Impl::MatrixMarket {

/// The error text for a file that cannot be opened, with the reason from errno.
std::string cannot_open();

/// A file mapped into memory. Throws MatrixMarketError if the file does not exist or is a directory.
class MappedFile {
 public:
  explicit MappedFile(const std::string& path);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  /// Null if the file cannot be mapped, for example a pipe or an empty file. It must be read as a stream
  /// then.
  const char* begin() const { return m_data; }
  const char* end() const { return m_data + m_size; }

 private:
  char* m_data = nullptr;
  std::size_t m_size = 0;
};

/// Reads a stream to its end. Throws MatrixMarketError, with the name, if the stream fails earlier.
Buffer read_stream(std::istream& stream, const std::string& name);

/// Whether the bytes begin with the signature of gzip.
bool is_gzip(const char* begin, const char* end);

/// Decompresses gzip data of one or more members. Throws MatrixMarketError, with the name, if the data is
/// corrupt, truncated or followed by other bytes.
Buffer inflate_gzip(const char* begin, const char* end, const std::string& name);

}  // namespace Filigree::Impl::MatrixMarket

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "byte_source.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filigree/io/matrix_market.hpp>
#include <istream>
#include <memory>
#include <new>

namespace Filigree::Impl::MatrixMarket {

std::string cannot_open() {
  return std::string("cannot open the file: ") + std::strerror(errno);
}

MappedFile::MappedFile(const std::string& path) {
  struct stat status;
  if (::stat(path.c_str(), &status) != 0) throw MatrixMarketError(path, 0, cannot_open());
  if (S_ISDIR(status.st_mode)) throw MatrixMarketError(path, 0, "expected a file, found a directory");
  if (!S_ISREG(status.st_mode) || status.st_size == 0) return;
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) throw MatrixMarketError(path, 0, cannot_open());
  const auto size = static_cast<std::size_t>(status.st_size);
  void* data = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, descriptor, 0);
  ::close(descriptor);
  if (data == MAP_FAILED) return;
  m_data = static_cast<char*>(data);
  m_size = size;
}

MappedFile::~MappedFile() {
  if (m_data != nullptr) ::munmap(m_data, m_size);
}

Buffer read_stream(std::istream& stream, const std::string& name) {
  constexpr std::size_t block = std::size_t(1) << 20;
  Buffer bytes;
  // The caller's stream may throw on failbit, and reading to the end sets failbit.
  const std::ios::iostate exceptions = stream.exceptions();
  stream.exceptions(std::ios::goodbit);
  while (stream.good()) {
    char* space = bytes.reserve(block);
    stream.read(space, static_cast<std::streamsize>(bytes.free_space()));
    bytes.commit(static_cast<std::size_t>(stream.gcount()));
  }
  // The end of a stream sets eofbit and failbit. failbit alone means that the stream had failed before.
  if (stream.bad() || !stream.eof()) throw MatrixMarketError(name, 0, "cannot read the stream to its end");
  stream.clear(std::ios::eofbit);
  stream.exceptions(exceptions & ~std::ios::eofbit);
  bytes.shrink();
  return bytes;
}

bool is_gzip(const char* begin, const char* end) {
  return end - begin >= 2 && begin[0] == '\x1f' && begin[1] == '\x8b';
}

// This does not use zlib's gzread: gzread cannot read from a std::istream, and it silently ignores bytes
// after the gzip data, which must be an error.
Buffer inflate_gzip(const char* begin, const char* end, const std::string& name) {
  // zlib counts bytes in unsigned int, so longer data is passed in parts of at most this size.
  constexpr std::size_t max_part = std::size_t(1) << 30;
  z_stream stream{};
  constexpr int gzip_window_bits = 15 + 16;
  if (inflateInit2(&stream, gzip_window_bits) != Z_OK) throw std::bad_alloc();
  const std::unique_ptr<z_stream, int (*)(z_stream*)> guard(&stream, inflateEnd);

  Buffer text;
  const char* next = begin;
  int status = Z_OK;
  while (status != Z_STREAM_END || next != end) {
    if (status == Z_STREAM_END) {
      if (!is_gzip(next, end))
        throw MatrixMarketError(name, 0,
                                "expected the end of the file after the gzip data, found " +
                                    std::to_string(end - next) + " bytes more");
      inflateReset(&stream);
    }
    char* space = text.reserve(std::size_t(1) << 18);
    const auto input = static_cast<uInt>(std::min(max_part, static_cast<std::size_t>(end - next)));
    const auto output = static_cast<uInt>(std::min(max_part, text.free_space()));
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(next));
    stream.avail_in = input;
    stream.next_out = reinterpret_cast<Bytef*>(space);
    stream.avail_out = output;
    status = inflate(&stream, Z_NO_FLUSH);
    next += input - stream.avail_in;
    text.commit(output - stream.avail_out);

    if (status == Z_MEM_ERROR) throw std::bad_alloc();
    if (status != Z_STREAM_END && status != Z_OK && status != Z_BUF_ERROR)
      throw MatrixMarketError(name, 0,
                              std::string("the gzip data is corrupt: ") +
                                  (stream.msg != nullptr ? stream.msg : "unknown zlib error"));
    if (status != Z_STREAM_END && next == end && stream.avail_out != 0)
      throw MatrixMarketError(name, 0, "the gzip data is truncated: its end is missing");
  }
  text.shrink();
  return text;
}

}  // namespace Filigree::Impl::MatrixMarket

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <cerrno>
#include <fstream>

#include "matrix_reader.hpp"

namespace Filigree::Impl {

namespace {

/// The error for a file that cannot be opened, with the reason from errno.
MatrixMarketError cannot_open(const std::string& path) {
  return {path, 0, std::string("cannot open the file: ") + std::strerror(errno)};
}

/// A copy of a regular file in memory. Throws MatrixMarketError if the file cannot be read.
///
/// The file is not mapped, because other programs may write to it or truncate it. A mapped text would then
/// differ between two passes, and a pass over a truncated file would end the program.
class FileCopy {
 public:
  explicit FileCopy(const std::string& path) : m_path(path) {
    if (m_file.descriptor < 0 || ::fstat(m_file.descriptor, &m_status) != 0) throw cannot_open(path);
    const auto size = static_cast<std::int64_t>(m_status.st_size);
    constexpr std::int64_t block = std::int64_t(1) << 22;
    char* const to = m_bytes.reserve(static_cast<std::size_t>(size));
    const bool good = MatrixMarket::run_on_host_threads(
        "Filigree::copy[matrix_market]", (size + block - 1) / block,
        [&](std::int64_t i) { copy(to, i * block, std::min(size, (i + 1) * block)); });
    if (!good) {
      check_unchanged();
      throw MatrixMarketError(path, 0, "cannot read the file to its end");
    }
    m_bytes.commit(static_cast<std::size_t>(size));
  }

  FileCopy(const FileCopy&) = delete;
  FileCopy& operator=(const FileCopy&) = delete;

  const char* begin() const { return m_bytes.begin(); }
  const char* end() const { return m_bytes.end(); }

  /// Throws MatrixMarketError if the file has another size or time of modification than before it was copied.
  void check_unchanged() const {
    struct stat now;
    if (::fstat(m_file.descriptor, &now) != 0 || now.st_size != m_status.st_size ||
        now.st_mtim.tv_sec != m_status.st_mtim.tv_sec || now.st_mtim.tv_nsec != m_status.st_mtim.tv_nsec)
      throw MatrixMarketError(m_path, 0,
                              "expected a file that stays the same, but it changed while it was read");
  }

 private:
  struct OpenFile {
    int descriptor;
    ~OpenFile() {
      if (descriptor >= 0) ::close(descriptor);
    }
  };

  /// Copies the bytes [begin, end) of the file. Throws if it cannot read all of them.
  void copy(char* to, std::int64_t begin, std::int64_t end) const {
    while (begin < end) {
      const ssize_t count =
          ::pread(m_file.descriptor, to + begin, static_cast<std::size_t>(end - begin), begin);
      if (count < 0 && errno == EINTR) continue;
      if (count <= 0) throw std::runtime_error("pread");
      begin += count;
    }
  }

  std::string m_path;
  OpenFile m_file{::open(m_path.c_str(), O_RDONLY | O_CLOEXEC)};
  struct stat m_status;
  MatrixMarket::Buffer m_bytes;
};

/// Reads a stream to its end. Throws MatrixMarketError, with the name, if the stream fails earlier.
MatrixMarket::Buffer read_stream(std::istream& stream, const std::string& name) {
  constexpr std::size_t block = std::size_t(1) << 20;
  MatrixMarket::Buffer bytes;
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

/// Whether the bytes begin with the signature of gzip.
bool is_gzip(const char* begin, const char* end) {
  return end - begin >= 2 && begin[0] == '\x1f' && begin[1] == '\x8b';
}

/// Decompresses gzip data of one or more members. Throws MatrixMarketError, with the name, if the data is
/// corrupt, truncated or followed by other bytes.
///
/// This does not use zlib's gzread, which cannot read from a std::istream and silently ignores bytes after
/// the gzip data (see docs/performance.md, "gzip data").
MatrixMarket::Buffer inflate_gzip(const char* begin, const char* end, const std::string& name) {
  // zlib counts bytes in unsigned int, so longer data is passed in parts of at most this size.
  constexpr std::size_t max_part = std::size_t(1) << 30;
  z_stream stream{};
  constexpr int gzip_window_bits = 15 + 16;
  if (inflateInit2(&stream, gzip_window_bits) != Z_OK) throw std::bad_alloc();
  const std::unique_ptr<z_stream, int (*)(z_stream*)> guard(&stream, inflateEnd);

  MatrixMarket::Buffer text;
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

template <class Scalar, class Ordinal>
MatrixMarketCrs<Scalar, Ordinal> read_bytes(const char* begin, const char* end, const std::string& name,
                                            const MatrixMarketOptions& options,
                                            const MatrixMarketTarget& target) {
  using Reader = MatrixMarket::MatrixReader<Scalar, Ordinal>;
  if (!is_gzip(begin, end)) return Reader({begin, end, name}, options, target).read();
  const MatrixMarket::Buffer text = inflate_gzip(begin, end, name);
  return Reader({text.begin(), text.end(), name}, options, target).read();
}

/// Calls read() and reports failed allocations as errors of the file.
template <class Read>
auto with_memory_errors(const std::string& name, const Read& read) {
  try {
    return read();
  } catch (const std::bad_alloc&) {
  } catch (const std::length_error&) {
  }
  throw MatrixMarketError(name, 0, "the memory for this matrix could not be allocated");
}

}  // namespace

template <class Scalar, class Ordinal>
MatrixMarketCrs<Scalar, Ordinal> load_matrix_market(const std::string& path,
                                                    const MatrixMarketOptions& options,
                                                    const MatrixMarketTarget& target) {
  struct stat status;
  if (::stat(path.c_str(), &status) != 0) throw cannot_open(path);
  if (S_ISDIR(status.st_mode)) throw MatrixMarketError(path, 0, "expected a file, found a directory");
  // A pipe cannot be read in blocks. Some file systems say that all their files have size 0.
  if (!S_ISREG(status.st_mode) || status.st_size == 0) {
    std::ifstream stream(path, std::ios::binary);
    if (!stream) throw cannot_open(path);
    return load_matrix_market<Scalar, Ordinal>(stream, path, options, target);
  }
  return with_memory_errors(path, [&] {
    const FileCopy file(path);
    MatrixMarketCrs<Scalar, Ordinal> crs;
    try {
      crs = read_bytes<Scalar, Ordinal>(file.begin(), file.end(), path, options, target);
    } catch (const MatrixMarketError&) {
      file.check_unchanged();
      throw;
    }
    file.check_unchanged();
    return crs;
  });
}

template <class Scalar, class Ordinal>
MatrixMarketCrs<Scalar, Ordinal> load_matrix_market(std::istream& stream, const std::string& name,
                                                    const MatrixMarketOptions& options,
                                                    const MatrixMarketTarget& target) {
  return with_memory_errors(name, [&] {
    const MatrixMarket::Buffer bytes = read_stream(stream, name);
    return read_bytes<Scalar, Ordinal>(bytes.begin(), bytes.end(), name, options, target);
  });
}

#define FILIGREE_INSTANTIATE(Scalar, Ordinal)                                     \
  template MatrixMarketCrs<Scalar, Ordinal> load_matrix_market(                   \
      const std::string&, const MatrixMarketOptions&, const MatrixMarketTarget&); \
  template MatrixMarketCrs<Scalar, Ordinal> load_matrix_market(                   \
      std::istream&, const std::string&, const MatrixMarketOptions&, const MatrixMarketTarget&);
FILIGREE_INSTANTIATE(float, std::int32_t)
FILIGREE_INSTANTIATE(double, std::int32_t)
FILIGREE_INSTANTIATE(Kokkos::complex<float>, std::int32_t)
FILIGREE_INSTANTIATE(Kokkos::complex<double>, std::int32_t)
FILIGREE_INSTANTIATE(float, std::int64_t)
FILIGREE_INSTANTIATE(double, std::int64_t)
FILIGREE_INSTANTIATE(Kokkos::complex<float>, std::int64_t)
FILIGREE_INSTANTIATE(Kokkos::complex<double>, std::int64_t)

}  // namespace Filigree::Impl

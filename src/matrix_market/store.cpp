// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <filigree/io/matrix_market.hpp>
#include <fstream>
#include <utility>

#include "host.hpp"

namespace Filigree::Impl {
namespace {

/// An upper bound of the characters of a number: the shortest form of a double, or an index.
constexpr std::size_t max_number_length = 32;

template <class Real>
char* print(char* to, const Real& value) {
  return std::to_chars(to, to + max_number_length, value).ptr;
}
template <class Real>
char* print(char* to, const Kokkos::complex<Real>& value) {
  to = print(to, value.real());
  *to++ = ' ';
  return print(to, value.imag());
}

/// Prints the entries [begin, end) of the matrix, one per line.
template <class Scalar, class Ordinal>
void print_entries(const MatrixMarketCrs<Scalar, Ordinal>& crs, std::int64_t begin, std::int64_t end,
                   MatrixMarket::Buffer& text) {
  const std::int64_t* row_map = crs.row_map.data();
  std::int64_t row = std::upper_bound(row_map, row_map + crs.num_rows, begin) - row_map - 1;
  for (std::int64_t k = begin; k < end; ++k) {
    while (row_map[row + 1] <= k)
      ++row;
    char* const line = text.reserve(4 * max_number_length);
    char* to = print(line, row + 1);
    *to++ = ' ';
    to = print(to, static_cast<std::int64_t>(crs.entries[k]) + 1);
    *to++ = ' ';
    to = print(to, crs.values[k]);
    *to++ = '\n';
    text.commit(static_cast<std::size_t>(to - line));
  }
}

/// Prints a matrix and calls write(begin, end) for the parts of its text, in order.
template <class Scalar, class Ordinal, class Write>
void print_matrix(const MatrixMarketCrs<Scalar, Ordinal>& crs, const Write& write) {
  const std::int64_t nnz = static_cast<std::int64_t>(crs.entries.extent(0));
  const std::string header = std::string("%%MatrixMarket matrix coordinate ") +
                             (is_complex_v<Scalar> ? "complex" : "real") + " general\n" +
                             std::to_string(crs.num_rows) + ' ' + std::to_string(crs.num_cols) + ' ' +
                             std::to_string(nnz) + '\n';
  write(header.data(), header.data() + header.size());

  // In each step the threads print some pieces, and then one thread writes them in order.
  constexpr std::int64_t piece_entries = 1 << 14;
  const std::int64_t threads = std::max(1, Kokkos::DefaultHostExecutionSpace().concurrency());
  const std::int64_t pieces = std::min(threads * 4, (nnz + piece_entries - 1) / piece_entries);
  std::vector<MatrixMarket::Buffer> texts(static_cast<std::size_t>(pieces));
  for (std::int64_t first = 0; first < nnz; first += pieces * piece_entries) {
    const bool good =
        MatrixMarket::run_on_host_threads("Filigree::write[matrix_market]", pieces, [&](std::int64_t i) {
          const std::int64_t begin = std::min(nnz, first + i * piece_entries);
          const std::int64_t end = std::min(nnz, begin + piece_entries);
          texts[static_cast<std::size_t>(i)].clear();
          print_entries(crs, begin, end, texts[static_cast<std::size_t>(i)]);
        });
    if (!good) throw std::bad_alloc();
    for (const MatrixMarket::Buffer& text : texts)
      write(text.begin(), text.end());
  }
}

[[noreturn]] void fail_to_write(const std::string& file, const std::string& why) {
  throw std::runtime_error("Filigree::write_matrix_market: " + file + ": " + why);
}

/// The file that a matrix is written to.
///
/// The text goes to a new file with a temporary name. finish() renames it to the path. Without finish() the
/// new file is removed and nothing else has changed. A device or a pipe, such as /dev/stdout, cannot be
/// replaced, so it is written directly.
class OutputFile {
 public:
  OutputFile(const std::string& path, bool gzip) : m_path(path) {
    const int descriptor = open();
    // With "T" zlib writes a plain file.
    m_file.reset(gzdopen(descriptor, gzip ? "wb6" : "wbT"));
    if (m_file != nullptr) return;
    ::close(descriptor);
    throw std::bad_alloc();
  }
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  void write(const char* begin, const char* end) {
    if (begin == end || gzwrite(m_file.get(), begin, static_cast<unsigned>(end - begin)) != 0) return;
    int number = 0;
    const char* text = gzerror(m_file.get(), &number);
    fail_to_write(m_path, std::string("cannot write: ") + (number == Z_ERRNO ? std::strerror(errno) : text));
  }

  void finish() {
    if (gzclose(m_file.release()) != Z_OK) fail_to_write(m_path, "cannot write its last bytes");
    if (m_temporary.path.empty()) return;
    if (!m_rename) return copy_to_old_file();
    if (std::rename(m_temporary.path.c_str(), m_path.c_str()) != 0)
      fail_to_write(m_path, "cannot rename " + m_temporary.path + " to it: " + std::strerror(errno));
    m_temporary.path.clear();
  }

 private:
  struct TemporaryName {
    std::string path;  // empty if there is no temporary file
    ~TemporaryName() {
      if (!path.empty()) std::remove(path.c_str());
    }
  };

  /// Opens the temporary file, or the device or pipe. Returns its descriptor.
  int open() {
    struct stat old;
    if (::stat(m_path.c_str(), &old) != 0) {
      const std::string why = std::strerror(errno);
      std::error_code error;
      const auto target = std::filesystem::read_symlink(m_path, error);
      if (!error)
        fail_to_write(m_path, "it is a symbolic link to \"" + target.string() +
                                  "\", which cannot be found (" + why +
                                  "); remove the link or create the file that it names");
      return open_temporary(0666);
    }
    if (S_ISDIR(old.st_mode)) fail_to_write(m_path, "expected a file, found a directory");
    // Renaming does not need write permission for the old file, but the caller may have protected it.
    if (::access(m_path.c_str(), W_OK) != 0)
      fail_to_write(m_path, std::string("cannot write to it: ") + std::strerror(errno));
    if (!S_ISREG(old.st_mode)) {
      const int descriptor = ::open(m_path.c_str(), O_WRONLY | O_CLOEXEC);
      if (descriptor < 0) fail_to_write(m_path, std::string("cannot open it: ") + std::strerror(errno));
      return descriptor;
    }
    // If the path is a link, the file that it points to is replaced and the link stays.
    m_path = std::filesystem::canonical(m_path).string();
    const int descriptor = open_temporary(0600);
    // fchown() may clear bits of the mode, so it runs before fchmod().
    m_rename = old.st_nlink == 1 && ::fchown(descriptor, old.st_uid, old.st_gid) == 0 &&
               ::fchmod(descriptor, old.st_mode & 07777) == 0;
    return descriptor;
  }

  /// Creates a file with the first of the names path + ".part", path + ".part2", ... that does not exist.
  int open_temporary(mode_t mode) {
    for (int i = 1;; ++i) {
      const std::string name = m_path + ".part" + (i > 1 ? std::to_string(i) : std::string());
      const int descriptor = ::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
      if (descriptor < 0 && errno == EEXIST) continue;
      if (descriptor < 0) fail_to_write(m_path, "cannot create " + name + ": " + std::strerror(errno));
      m_temporary.path = name;
      return descriptor;
    }
  }

  /// Copies the text into the old file, which keeps its hard links, owner and mode in this way. If this
  /// fails, the temporary file stays, because no other file has the complete text.
  void copy_to_old_file() {
    std::ifstream from(m_temporary.path, std::ios::binary);
    std::ofstream to;
    if (from) to.open(m_path, std::ios::binary);
    to << from.rdbuf();
    to.close();
    if (to) return;
    const std::string why = std::strerror(errno);
    fail_to_write(m_path, "cannot write to it: " + why + "; the complete text is in " +
                              std::exchange(m_temporary.path, std::string()));
  }

  std::string m_path;
  bool m_rename = true;  // whether the temporary file can take the place of the old file
  TemporaryName m_temporary;
  std::unique_ptr<gzFile_s, int (*)(gzFile)> m_file{nullptr, gzclose};
};

}  // namespace

template <class Scalar, class Ordinal>
void store_matrix_market(std::ostream& stream, const MatrixMarketCrs<Scalar, Ordinal>& crs) {
  print_matrix(crs, [&](const char* begin, const char* end) {
    stream.write(begin, end - begin);
    if (!stream.good()) fail_to_write("stream", "cannot write to it");
  });
  if (!stream.flush()) fail_to_write("stream", "cannot write to it");
}

template <class Scalar, class Ordinal>
void store_matrix_market(const std::string& path, bool gzip, const MatrixMarketCrs<Scalar, Ordinal>& crs) {
  OutputFile file(path, gzip);
  print_matrix(crs, [&](const char* begin, const char* end) { file.write(begin, end); });
  file.finish();
}

#define FILIGREE_INSTANTIATE(Scalar, Ordinal)                                                           \
  template void store_matrix_market(const std::string&, bool, const MatrixMarketCrs<Scalar, Ordinal>&); \
  template void store_matrix_market(std::ostream&, const MatrixMarketCrs<Scalar, Ordinal>&);
FILIGREE_INSTANTIATE(float, std::int32_t)
FILIGREE_INSTANTIATE(double, std::int32_t)
FILIGREE_INSTANTIATE(Kokkos::complex<float>, std::int32_t)
FILIGREE_INSTANTIATE(Kokkos::complex<double>, std::int32_t)
FILIGREE_INSTANTIATE(float, std::int64_t)
FILIGREE_INSTANTIATE(double, std::int64_t)
FILIGREE_INSTANTIATE(Kokkos::complex<float>, std::int64_t)
FILIGREE_INSTANTIATE(Kokkos::complex<double>, std::int64_t)

}  // namespace Filigree::Impl

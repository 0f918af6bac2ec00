// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <zlib.h>

#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <filigree/io/matrix_market.hpp>
#include <ostream>

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

/// A file that has a temporary name until it is complete. If finish() is not called, it is removed.
class TemporaryFile {
 public:
  explicit TemporaryFile(const std::string& path) : m_path(path), m_temporary_path(path + ".part") {
    // If the path is a link, the file that it points to is replaced and the link stays. A device or a pipe,
    // such as /dev/stdout, cannot be replaced, so it is written directly.
    std::error_code error;
    const auto status = std::filesystem::status(path, error);
    if (std::filesystem::is_regular_file(status)) {
      m_path = std::filesystem::canonical(path, error).string();
      m_temporary_path = m_path + ".part";
    } else if (std::filesystem::exists(status) && !std::filesystem::is_directory(status)) {
      m_temporary_path = path;
      m_has_final_name = true;
    }
  }
  ~TemporaryFile() {
    if (!m_has_final_name) std::remove(m_temporary_path.c_str());
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  const std::string& path() const { return m_temporary_path; }
  void finish() {
    if (m_has_final_name) return;
    if (std::rename(m_temporary_path.c_str(), m_path.c_str()) != 0)
      fail_to_write(m_path,
                    std::string("cannot rename ") + m_temporary_path + " to it: " + std::strerror(errno));
    m_has_final_name = true;
  }

 private:
  std::string m_path;
  std::string m_temporary_path;
  bool m_has_final_name = false;  // if true, the file is neither renamed nor removed
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
  TemporaryFile temporary(path);
  // In mode T zlib writes a plain file.
  std::unique_ptr<gzFile_s, int (*)(gzFile)> file(gzopen(temporary.path().c_str(), gzip ? "wb6" : "wbT"),
                                                  gzclose);
  if (file == nullptr)
    fail_to_write(path, std::string("cannot open ") + temporary.path() + ": " + std::strerror(errno));
  const auto fail = [&] {
    int number = 0;
    const char* text = gzerror(file.get(), &number);
    fail_to_write(path, std::string("cannot write: ") + (number == Z_ERRNO ? std::strerror(errno) : text));
  };
  print_matrix(crs, [&](const char* begin, const char* end) {
    if (end > begin && gzwrite(file.get(), begin, static_cast<unsigned>(end - begin)) == 0) fail();
  });
  if (gzclose(file.release()) != Z_OK) fail_to_write(path, "cannot write its last bytes");
  temporary.finish();
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

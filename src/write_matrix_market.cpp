// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <filigree/core/scalar.hpp>
#include <filigree/io/matrix_market.hpp>
#include <memory>
#include <ostream>

#include "buffer.hpp"
#include "host_threads.hpp"

namespace Filigree {
namespace Impl {
namespace {

/// The most characters that a number takes: the shortest form of a double, and an index.
constexpr std::size_t longest_number = 32;

template <class Real>
char* print(char* to, const Real& value) {
  return std::to_chars(to, to + longest_number, value).ptr;
}
template <class Real>
char* print(char* to, const Kokkos::complex<Real>& value) {
  to = print(to, value.real());
  *to++ = ' ';
  return print(to, value.imag());
}

/// Calls write(begin, end) for the text of a matrix, piece after piece.
template <class Scalar, class Ordinal, class Write>
void print_matrix(const MatrixMarketCrs<Scalar, Ordinal>& crs, const Write& write) {
  const std::int64_t all = static_cast<std::int64_t>(crs.entries.extent(0));
  const std::string header = std::string("%%MatrixMarket matrix coordinate ") +
                             (is_complex_v<Scalar> ? "complex" : "real") + " general\n" +
                             std::to_string(crs.num_rows) + ' ' + std::to_string(crs.num_cols) + ' ' +
                             std::to_string(all) + '\n';
  write(header.data(), header.data() + header.size());

  // Each thread prints a piece, then all are written in their order.
  constexpr std::int64_t piece = 1 << 14;
  const std::int64_t threads = std::max(1, Kokkos::DefaultHostExecutionSpace().concurrency());
  const std::int64_t pieces = std::min(threads * 4, (all + piece - 1) / piece);
  std::vector<Buffer> texts(static_cast<std::size_t>(pieces));
  for (std::int64_t first = 0; first < all; first += pieces * piece) {
    const bool good = on_all_threads("Filigree::write[matrix_market]", pieces, [&](std::int64_t i) {
      Buffer& text = texts[static_cast<std::size_t>(i)];
      text.clear();
      const std::int64_t begin = std::min(all, first + i * piece);
      const std::int64_t end = std::min(all, begin + piece);
      const std::int64_t* row_map = crs.row_map.data();
      std::int64_t row = std::upper_bound(row_map, row_map + crs.num_rows, begin) - row_map - 1;
      for (std::int64_t k = begin; k < end; ++k) {
        while (row_map[row + 1] <= k)
          ++row;
        char* const room = text.room(4 * longest_number);
        char* to = print(room, row + 1);
        *to++ = ' ';
        to = print(to, static_cast<std::int64_t>(crs.entries[k]) + 1);
        *to++ = ' ';
        to = print(to, crs.values[k]);
        *to++ = '\n';
        text.commit(static_cast<std::size_t>(to - room));
      }
    });
    if (!good) throw std::bad_alloc();
    for (const Buffer& text : texts)
      write(text.begin(), text.end());
  }
}

[[noreturn]] void fail_to_write(const std::string& file, const std::string& why) {
  throw std::runtime_error("Filigree::write_matrix_market: " + file + ": " + why);
}

/// A file under another name until it is whole.
class PartFile {
 public:
  explicit PartFile(const std::string& path) : m_path(path), m_part(path + ".part") {
    // A link stays one, and what is no regular file, such as /dev/stdout or a pipe, is written in place.
    std::error_code error;
    const auto status = std::filesystem::status(path, error);
    if (std::filesystem::is_regular_file(status)) {
      m_path = std::filesystem::canonical(path, error).string();
      m_part = m_path + ".part";
    } else if (std::filesystem::exists(status) && !std::filesystem::is_directory(status)) {
      m_part = path;
      m_whole = true;
    }
  }
  ~PartFile() {
    if (!m_whole) std::remove(m_part.c_str());
  }
  PartFile(const PartFile&) = delete;
  PartFile& operator=(const PartFile&) = delete;

  const std::string& name() const { return m_part; }
  void finish() {
    if (m_whole) return;
    if (std::rename(m_part.c_str(), m_path.c_str()) != 0)
      fail_to_write(m_path, std::string("cannot rename ") + m_part + " to it: " + std::strerror(errno));
    m_whole = true;
  }

 private:
  std::string m_path;
  std::string m_part;
  bool m_whole = false;
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
  PartFile part(path);
  // zlib writes plain files too, in mode T.
  std::unique_ptr<gzFile_s, int (*)(gzFile)> file(gzopen(part.name().c_str(), gzip ? "wb6" : "wbT"), gzclose);
  if (file == nullptr)
    fail_to_write(path, std::string("cannot open ") + part.name() + ": " + std::strerror(errno));
  const auto fail = [&] {
    int number = 0;
    const char* text = gzerror(file.get(), &number);
    fail_to_write(path, std::string("cannot write: ") + (number == Z_ERRNO ? std::strerror(errno) : text));
  };
  print_matrix(crs, [&](const char* begin, const char* end) {
    if (end > begin && gzwrite(file.get(), begin, static_cast<unsigned>(end - begin)) == 0) fail();
  });
  if (gzclose(file.release()) != Z_OK) fail_to_write(path, "cannot write its end");
  part.finish();
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

}  // namespace Impl
}  // namespace Filigree

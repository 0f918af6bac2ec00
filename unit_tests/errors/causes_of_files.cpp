// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <chrono>
#include <cstring>
#include <filesystem>
#include <filigree/io/matrix_market.hpp>
#include <fstream>
#include <sstream>

#include "../support/host_matrix.hpp"
#include "causes.hpp"

namespace FiligreeTest {
namespace {

namespace fs = std::filesystem;

/// A folder that is removed at the end.
struct Folder {
  fs::path path = fs::temp_directory_path() / ("filigree_errors_" + std::to_string(::getpid()));
  Folder() { fs::create_directory(path); }
  ~Folder() { fs::remove_all(path); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  std::string operator/(const char* name) const { return (path / name).string(); }
  std::string write(const std::string& bytes) const {
    std::ofstream(*this / "a.mtx", std::ios::binary) << bytes;
    return *this / "a.mtx";
  }
};

/// Calls a function once, before the first kernel of a pass over a file.
class BeforeKernel {
 public:
  BeforeKernel(const std::string& name, const std::function<void()>& call) {
    pending() = [=](const std::string& kernel) {
      if (kernel != name) return;
      pending() = nullptr;
      call();
    };
    Kokkos::Tools::Experimental::set_begin_parallel_for_callback(
        [](const char* kernel, const std::uint32_t, std::uint64_t*) {
          if (const auto now = pending()) now(kernel);
        });
  }
  ~BeforeKernel() { Kokkos::Tools::Experimental::set_begin_parallel_for_callback(nullptr); }
  BeforeKernel(const BeforeKernel&) = delete;
  BeforeKernel& operator=(const BeforeKernel&) = delete;

 private:
  static std::function<void(const std::string&)>& pending() {
    static std::function<void(const std::string&)> function;
    return function;
  }
};

template <class Matrix>
void read_text(const std::string& text, const Filigree::MatrixMarketOptions& options) {
  std::istringstream stream(text);
  Filigree::read_matrix_market<Matrix>(stream, "stream", options);
}

/// Reads a text whose banner ends with `words`.
template <class Scalar = double, class Offset = int>
std::function<void()> reads(const std::string& words, const std::string& rest,
                            const Filigree::MatrixMarketOptions& options = {}) {
  return [=]() {
    read_text<Crs<Scalar, std::int64_t, Offset>>("%%MatrixMarket " + words + '\n' + rest, options);
  };
}

/// Reads a file with these bytes.
std::function<void()> reads_file(const std::string& bytes) {
  return [=]() {
    const Folder folder;
    Filigree::read_matrix_market<Crs<double>>(folder.write(bytes));
  };
}

void read_changing_file() {
  const Folder folder;
  std::string text = "%%MatrixMarket matrix coordinate real general\n30000 30000 30000\n";
  for (int i = 1; i <= 30000; ++i)
    text += std::to_string(i) + " 1 2\n";
  const std::string path = folder.write(text);
  const Filigree::Impl::MatrixMarketTarget in_two_pieces{INT32_MAX, INT64_MAX, 2};
  const BeforeKernel change("Filigree::read[matrix_market]", [=]() { fs::resize_file(path, 5000); });
  Filigree::Impl::load_matrix_market<double, std::int32_t>(path, {}, in_two_pieces);
}

/// Files of the system may be shorter than their size says.
void read_short_file() {
  const char* const path = "/sys/devices/system/cpu/possible";
  std::error_code error;
  if (fs::file_size(path, error) < 1000 || error)
    throw NotHere{"there is no file that is shorter than its size says"};
  Filigree::read_matrix_market<Crs<double>>(path);
}

void read_failed_stream() {
  std::istringstream stream("%%MatrixMarket");
  stream.setstate(std::ios::badbit);
  Filigree::read_matrix_market<Crs<double>>(stream, "stream");
}

/// The gzip data of an empty text: the header, an empty block, and a checksum and a length of 0.
const std::string gzip("\x1f\x8b\x08\0\0\0\0\0\0\x03\x03\0\0\0\0\0\0\0\0\0", 20);

/// A matrix whose text is printed in several pieces, by a kernel.
Crs<double> large_matrix() {
  return device_crs(block_banded<double>(20000, 20000, 1));
}

/// Writes a matrix to a path that `prepare` gets ready.
template <class Prepare>
std::function<void()> writes(const char* name, const Prepare& prepare) {
  return [=]() {
    const Folder folder;
    prepare(folder / name);
    Filigree::write_matrix_market(folder / name, device_crs(HostMatrix<double>(3, 3)));
  };
}

void write_to_protected_file() {
  const Folder folder;
  const std::string own = folder.write("protected");
  fs::permissions(own, fs::perms::owner_read);
  // Root may write to any file, except on a file system that is mounted to be read.
  for (const std::string& path :
       {own, std::string("/sys/devices/system/cpu/possible"), std::string("/proc/sys/kernel/ostype")})
    if (fs::is_regular_file(path) && ::access(path.c_str(), W_OK) != 0)
      Filigree::write_matrix_market(path, device_crs(HostMatrix<double>(3, 3)));
  throw NotHere{"this user may write to all files"};
}

/// A socket has a name, but it cannot be opened.
void make_socket(const std::string& path) {
  struct sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof(address.sun_path)) throw NotHere{"the name of the folder is too long"};
  std::memcpy(address.sun_path, path.c_str(), path.size());
  const int descriptor = ::socket(AF_UNIX, SOCK_STREAM, 0);
  const int bound = ::bind(descriptor, reinterpret_cast<const struct sockaddr*>(&address), sizeof(address));
  ::close(descriptor);
  if (bound != 0) throw NotHere{"a socket cannot be made"};
}

void write_to_full_device(bool is_large) {
  if (!fs::exists("/dev/full")) throw NotHere{"there is no /dev/full"};
  Filigree::write_matrix_market("/dev/full",
                                is_large ? large_matrix() : device_crs(HostMatrix<double>(3, 3)));
}

/// Replaces the path by a folder while the temporary file is written.
void write_and_replace(bool has_two_links) {
  const Folder folder;
  const std::string path = folder.write("old");
  if (has_two_links) fs::create_hard_link(path, folder / "link.mtx");
  const BeforeKernel change("Filigree::write[matrix_market]", [=]() {
    fs::remove(path);
    fs::create_directories(path + "/in/it");
  });
  Filigree::write_matrix_market(path, large_matrix());
}

void add_reading(Causes& causes) {
  const auto add = [&](const char* row, const std::function<void()>& call) { causes.push_back({row, call}); };
  add("read-open", []() { Filigree::read_matrix_market<Crs<double>>("/no folder/a.mtx"); });
  add("read-directory", []() { Filigree::read_matrix_market<Crs<double>>("/"); });
  add("read-file", read_short_file);
  add("read-changed", read_changing_file);
  add("read-stream", read_failed_stream);
  add("read-memory", reads("matrix coordinate real general", "9223372036854775807 5 0\n"));
  add("read-gzip-corrupt", reads_file("\x1f\x8b this is no gzip"));
  add("read-gzip-truncated", reads_file(gzip.substr(0, 12)));
  add("read-gzip-rest", reads_file(gzip + "abc"));
  add("read-banner", reads_file(""));
  add("read-banner", reads_file(gzip));
  add("read-banner", reads_file("1 1 1\n"));
  for (const std::string mark : {"\xef\xbb\xbf", "\xff\xfe", "\xfe\xff"})
    add("read-byte-order-mark", reads_file(mark + "%%MatrixMarket matrix coordinate real general\n1 1 0\n"));
}

void add_banners(Causes& causes) {
  const auto add = [&](const char* row, const std::string& words) {
    causes.push_back({row, reads(words, "2 2 0\n")});
  };
  add("read-object", "tensor coordinate real general");
  add("read-object", "");
  add("read-format", "matrix dense real general");
  add("read-field", "matrix coordinate float general");
  add("read-symmetry", "matrix coordinate real lower");
  add("read-line-end", "matrix coordinate real general matrix");
  add("read-array-pattern", "matrix array pattern general");
  add("read-complex", "matrix coordinate complex general");
  add("read-vector-symmetry", "vector coordinate real symmetric");
  add("read-hermitian-field", "matrix coordinate real hermitian");
  add("read-skew-pattern", "matrix coordinate pattern skew-symmetric");
}

void add_entries(Causes& causes) {
  using complex = Kokkos::complex<double>;
  const auto add = [&](const char* row, const std::function<void()>& call) { causes.push_back({row, call}); };
  const std::string general = "matrix coordinate real general";
  const std::string symmetric = "matrix coordinate real symmetric";
  add("read-size", reads(general, "2 -2 1\n1 1 1\n"));
  add("read-size", reads(general, "x 2 1\n1 1 1\n"));
  add("read-size", []() {
    read_text<Crs<double, short>>("%%MatrixMarket matrix coordinate real general\n40000 2 0\n", {});
  });
  add("read-square", reads(symmetric, "2 3 0\n"));
  add("read-announced", reads(general, "2 2 100\n1 1 1\n"));
  add("read-too-few", reads(general, "2 2 2\n1 1 1\n% a comment\n"));
  add("read-too-many", reads(general, "2 2 1\n1 1 1\n2 2 1\n"));
  add("read-line-end", reads(general, "2 2 1 1\n1 1 1\n"));
  add("read-line-end", reads(general, "2 2 1\n1 1 1 1\n"));
  add("read-line-end", reads("matrix array real general", "1 1\n1 1\n"));
  add("read-index", reads(general, "2 2 1\n0 1 1\n"));
  add("read-index", reads(general, "2 2 1\n1 3 1\n"));
  add("read-no-entry", reads(general, "0 2 1\n1 1 1\n"));
  add("read-triangle", reads(symmetric, "2 2 1\n1 2 1\n"));
  add("read-skew-triangle", reads("matrix coordinate real skew-symmetric", "2 2 1\n1 1 1\n"));
  add("read-real", reads(general, "2 2 1\n1 1 one\n"));
  add("read-complex-part", reads<complex>("matrix coordinate complex general", "2 2 1\n1 1 x 1\n"));
  add("read-complex-part", reads<complex>("matrix coordinate complex general", "2 2 1\n1 1 1    \n"));
  add("read-integer", reads("matrix coordinate integer general", "2 2 1\n1 1 1.5\n"));
  add("read-unsigned", reads("matrix coordinate unsigned-integer general", "2 2 1\n1 1 -1\n"));
  add("read-range", reads(general, "2 2 1\n1 1 1e999\n"));
  add("read-range", reads<float>(general, "2 2 1\n1 1 1e39\n"));
  add("read-hermitian-diagonal", reads<complex>("matrix coordinate complex hermitian", "2 2 1\n1 1 1 1\n"));
  Filigree::MatrixMarketOptions refuse;
  refuse.duplicates = Filigree::MatrixMarketOptions::Duplicates::Refuse;
  add("read-duplicate", reads(general, "2 2 2\n1 1 1\n1 1 1\n", refuse));
  add("read-duplicate-sum", reads<float>(general, "2 2 2\n1 1 3e38\n1 1 3e38\n"));
  add("read-offset-type", []() {
    std::string lines;
    for (int i = 1; i <= 40000; ++i)
      lines += std::to_string(i) + " 1 1\n";
    reads<double, short>("matrix coordinate real general", "40000 1 40000\n" + lines)();
  });
}

void add_writing(Causes& causes) {
  const auto add = [&](const char* row, const std::function<void()>& call) { causes.push_back({row, call}); };
  add("write-create", writes("no/a.mtx", [](const std::string&) {}));
  add("write-directory", writes("a.mtx", [](const std::string& path) { fs::create_directory(path); }));
  add("write-link", writes("a.mtx", [](const std::string& path) { fs::create_symlink("nothing", path); }));
  add("write-protected", write_to_protected_file);
  add("write-open", writes("socket", make_socket));
  add("write-bytes", []() { write_to_full_device(true); });
  add("write-last-bytes", []() { write_to_full_device(false); });
  add("write-rename", []() { write_and_replace(false); });
  add("write-copy", []() { write_and_replace(true); });
  add("write-stream", []() {
    std::ostringstream stream;
    stream.setstate(std::ios::badbit);
    Filigree::write_matrix_market(stream, device_crs(HostMatrix<double>(3, 3)));
  });
}

}  // namespace

Causes causes_of_files() {
  Causes causes;
  add_reading(causes);
  add_banners(causes);
  add_entries(causes);
  add_writing(causes);
  return causes;
}

}  // namespace FiligreeTest

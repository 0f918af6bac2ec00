// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// read_matrix_market() must read what write_matrix_market() writes with the same bits.
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <filigree/io/matrix_market.hpp>
#include <fstream>
#include <sstream>

#include "../support/formats.hpp"

namespace FiligreeTest {

template <class Scalar>
class WriteMatrixMarket : public testing::Test {};
using Scalars = testing::Types<float, double, Kokkos::complex<float>, Kokkos::complex<double>>;
TYPED_TEST_SUITE(WriteMatrixMarket, Scalars);

template <class Matrix>
std::string written(const Matrix& crs) {
  std::ostringstream stream;
  Filigree::write_matrix_market(stream, crs);
  return stream.str();
}

template <class Matrix>
Matrix read_back(const std::string& text) {
  std::istringstream stream(text);
  return Filigree::read_matrix_market<Matrix>(stream, "test.mtx");
}

/// Compares bits, because 0 == -0 and because a NaN does not equal itself.
template <class Matrix>
void expect_same_bits(const Matrix& a, const Matrix& b) {
  ASSERT_EQ(a.numRows(), b.numRows());
  ASSERT_EQ(a.numCols(), b.numCols());
  ASSERT_EQ(a.nnz(), b.nnz());
  EXPECT_EQ(host_list(a.graph.row_map), host_list(b.graph.row_map));
  EXPECT_EQ(host_list(a.graph.entries), host_list(b.graph.entries));
  const auto va = host_list(a.values);
  const auto vb = host_list(b.values);
  for (std::size_t i = 0; i < va.size(); ++i)
    ASSERT_EQ(std::memcmp(&va[i], &vb[i], sizeof(va[i])), 0) << va[i] << " and " << vb[i];
}

/// Values that need an exact printer: extreme, negative zero, and many digits.
template <class Scalar>
std::vector<Scalar> hard_values() {
  using Real = Filigree::Impl::real_t<Scalar>;
  using Limits = std::numeric_limits<Real>;
  std::vector<Real> reals = {Real(0.1), Real(-0.0), Real(0), Real(1) / 3, Real(-7), Limits::max(),
                             Limits::lowest(), Limits::min(), Limits::denorm_min(),
                             std::nextafter(Real(1), Real(2)), Limits::infinity(), -Limits::infinity(),
                             Real(123456789.125), Real(1e22),
                             // Its shortest text, parsed as a double, is half-way between two floats.
                             Real(7.038531e-26f)};
  std::vector<Scalar> values;
  for (std::size_t i = 0; i < reals.size(); ++i)
    if constexpr (Filigree::Impl::is_complex_v<Scalar>)
      values.emplace_back(reals[i], reals[(i + 3) % reals.size()]);
    else
      values.push_back(reals[i]);
  return values;
}

TYPED_TEST(WriteMatrixMarket, ReadsBackWithTheSameBits) {
  const auto values = hard_values<TypeParam>();
  HostMatrix<TypeParam> host(7, 40);
  for (std::size_t i = 0; i < values.size(); ++i)
    host.rows[i % 5].push_back({static_cast<std::int64_t>(2 * i), values[i]});
  const auto crs = device_crs(host);
  expect_same_bits(read_back<Crs<TypeParam>>(written(crs)), crs);
  const auto wide = device_crs<Crs<TypeParam, std::int64_t, std::size_t>>(host);
  expect_same_bits(read_back<Crs<TypeParam, std::int64_t, std::size_t>>(written(wide)), wide);
}

TYPED_TEST(WriteMatrixMarket, WritesMatricesOfEveryShape) {
  for (const auto& [name, host] : all_shapes<TypeParam>()) {
    HostMatrix<TypeParam> sorted(host.row_count(), host.columns);
    for (std::size_t row = 0; row < host.rows.size(); ++row)
      for (const auto& entry : host.rows[row])
        if (sorted.rows[row].empty() || sorted.rows[row].back().column < entry.column)
          sorted.rows[row].push_back(entry);
    const auto crs = device_crs(sorted);
    SCOPED_TRACE(name);
    expect_same_bits(read_back<Crs<TypeParam>>(written(crs)), crs);
  }
}

TEST(WriteMatrixMarketFile, HasTheFewestDigits) {
  HostMatrix<double> host(2, 3);
  host.rows = {{{0, 0.1}, {2, -2}}, {{1, 1e300}}};
  EXPECT_EQ(written(device_crs(host)),
            "%%MatrixMarket matrix coordinate real general\n2 3 3\n1 1 0.1\n1 3 -2\n2 2 1e+300\n");
  HostMatrix<Kokkos::complex<float>> complex(1, 1);
  complex.rows = {{{0, Kokkos::complex<float>(0.1f, -1)}}};
  EXPECT_EQ(written(device_crs(complex)),
            "%%MatrixMarket matrix coordinate complex general\n1 1 1\n1 1 0.1 -1\n");
}

/// Large enough for more than one piece per thread.
TEST(WriteMatrixMarketFile, HoldsLargeMatrices) {
  const auto crs = device_crs(block_banded<double>(60000, 60000, 1));
  expect_same_bits(read_back<Crs<double>>(written(crs)), crs);
}

class WriteToFolder : public testing::Test {
 protected:
  std::filesystem::path folder =
      std::filesystem::temp_directory_path() / ("filigree_write_" + std::to_string(::getpid()));
  void SetUp() override { std::filesystem::create_directory(folder); }
  void TearDown() override { std::filesystem::remove_all(folder); }

  void write(const std::string& name, const Crs<double>& crs) const {
    Filigree::write_matrix_market((folder / name).string(), crs);
  }
  Crs<double> read(const std::string& name) const {
    return Filigree::read_matrix_market<Crs<double>>((folder / name).string());
  }
  /// The error of write(), or "nothing".
  std::string refusal(const std::string& name, const Crs<double>& crs) const {
    try {
      write(name, crs);
    } catch (const std::runtime_error& error) {
      return error.what();
    }
    return "nothing";
  }
  void put(const std::string& name, const std::string& text) const { std::ofstream(folder / name) << text; }
  std::string text_of(const std::string& name) const {
    std::ostringstream text;
    text << std::ifstream(folder / name).rdbuf();
    return text.str();
  }
  /// The names of all files in the folder, sorted.
  std::vector<std::string> names() const {
    std::vector<std::string> result;
    for (const auto& entry : std::filesystem::directory_iterator(folder))
      result.push_back(entry.path().filename().string());
    std::sort(result.begin(), result.end());
    return result;
  }
};

TEST_F(WriteToFolder, CompressesIfTheNameEndsInGz) {
  const auto crs = device_crs(block_banded<double>(500, 400, 1));
  const std::string plain = (folder / "a.mtx").string();
  const std::string gzip = (folder / "a.mtx.gz").string();
  Filigree::write_matrix_market(plain, crs);
  Filigree::write_matrix_market(gzip, crs);
  expect_same_bits(Filigree::read_matrix_market<Crs<double>>(plain), crs);
  expect_same_bits(Filigree::read_matrix_market<Crs<double>>(gzip), crs);
  EXPECT_LT(std::filesystem::file_size(gzip), std::filesystem::file_size(plain) / 2);
  std::ifstream stream(gzip, std::ios::binary);
  EXPECT_EQ(stream.get(), 0x1f);
  std::ifstream text(plain);
  std::string banner;
  std::getline(text, banner);
  EXPECT_EQ(banner, "%%MatrixMarket matrix coordinate real general");
}

TEST_F(WriteToFolder, KeepsLinksAndWritesIntoPipes) {
  const auto crs = device_crs(block_banded<double>(50, 40, 1));
  Filigree::write_matrix_market((folder / "target.mtx").string(), device_crs(scattered<double>(3, 3, 2)));
  std::filesystem::create_symlink(folder / "target.mtx", folder / "link.mtx");
  Filigree::write_matrix_market((folder / "link.mtx").string(), crs);
  EXPECT_TRUE(std::filesystem::is_symlink(folder / "link.mtx"));
  expect_same_bits(Filigree::read_matrix_market<Crs<double>>((folder / "target.mtx").string()), crs);
  Filigree::write_matrix_market("/dev/null", crs);
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/null"));
}

TEST_F(WriteToFolder, KeepsModeAndOwnerOfAFileThatItReplaces) {
  namespace fs = std::filesystem;
  const auto mode = [&](const char* name) {
    return static_cast<unsigned>(fs::status(folder / name).permissions());
  };
  const auto crs = device_crs(block_banded<double>(50, 40, 1));
  const mode_t old_mask = ::umask(027);
  write("new.mtx", crs);
  EXPECT_EQ(mode("new.mtx"), 0640u);
  for (const unsigned old_mode : {0600u, 0666u, 0604u, 0751u}) {
    for (const char* name : {"a.mtx", "a.mtx.gz"}) {
      put(name, "old");
      fs::permissions(folder / name, static_cast<fs::perms>(old_mode));
      write(name, crs);
      EXPECT_EQ(mode(name), old_mode) << name;
      expect_same_bits(read(name), crs);
    }
  }
  ::umask(old_mask);
  // Only root can give a file away.
  if (::chown((folder / "a.mtx").c_str(), 12345, 54321) != 0) return;
  write("a.mtx", crs);
  struct stat status;
  ASSERT_EQ(::stat((folder / "a.mtx").c_str(), &status), 0);
  EXPECT_EQ(status.st_uid, 12345u);
  EXPECT_EQ(status.st_gid, 54321u);
  EXPECT_EQ(mode("a.mtx"), 0751u);
}

TEST_F(WriteToFolder, KeepsHardLinks) {
  const auto crs = device_crs(block_banded<double>(50, 40, 1));
  for (const std::string name : {"a.mtx", "a.mtx.gz"}) {
    // The old file is longer, so its end must go.
    put(name, std::string(100000, 'x'));
    std::filesystem::create_hard_link(folder / name, folder / ("b" + name));
    write(name, crs);
    EXPECT_EQ(std::filesystem::hard_link_count(folder / name), 2u);
    expect_same_bits(read(name), crs);
    expect_same_bits(read("b" + name), crs);
  }
  EXPECT_EQ(names(), (std::vector<std::string>{"a.mtx", "a.mtx.gz", "ba.mtx", "ba.mtx.gz"}));
}

TEST_F(WriteToFolder, RefusesLinksThatLeadNowhere) {
  const auto crs = device_crs(block_banded<double>(50, 40, 1));
  std::filesystem::create_symlink("nothing.mtx", folder / "dangling.mtx");
  std::filesystem::create_symlink("loop.mtx", folder / "loop.mtx");
  EXPECT_NE(refusal("dangling.mtx", crs).find("symbolic link to \"nothing.mtx\", which cannot be found"),
            std::string::npos)
      << refusal("dangling.mtx", crs);
  EXPECT_NE(refusal("loop.mtx", crs), "nothing");
  EXPECT_EQ(names(), (std::vector<std::string>{"dangling.mtx", "loop.mtx"}));
  EXPECT_EQ(std::filesystem::read_symlink(folder / "dangling.mtx"), "nothing.mtx");
}

TEST_F(WriteToFolder, LeavesPartFilesOfOthersAlone) {
  const auto crs = device_crs(block_banded<double>(50, 40, 1));
  put("a.mtx.part", "mine");
  put("a.mtx.part2", "mine too");
  std::filesystem::create_symlink(folder / "target", folder / "b.mtx.part");
  std::filesystem::create_directory(folder / "c.mtx.part");
  for (const std::string name : {"a.mtx", "b.mtx", "c.mtx"}) {
    write(name, crs);
    expect_same_bits(read(name), crs);
  }
  EXPECT_EQ(text_of("a.mtx.part"), "mine");
  EXPECT_EQ(text_of("a.mtx.part2"), "mine too");
  EXPECT_EQ(names(), (std::vector<std::string>{"a.mtx", "a.mtx.part", "a.mtx.part2", "b.mtx", "b.mtx.part",
                                               "c.mtx", "c.mtx.part"}));
}

TEST_F(WriteToFolder, LeavesExistingFilesUnchangedOnErrors) {
  const auto crs = device_crs(block_banded<double>(50, 40, 1));
  const std::string missing = (folder / "missing" / "a.mtx").string();
  EXPECT_NE(
      refusal("missing/a.mtx", crs).find("Filigree::write_matrix_market: " + missing + ": cannot create"),
      std::string::npos)
      << refusal("missing/a.mtx", crs);
  std::filesystem::create_directories(folder / "b.mtx" / "kept");
  EXPECT_NE(refusal("b.mtx", crs).find("found a directory"), std::string::npos) << refusal("b.mtx", crs);
  EXPECT_EQ(names(), (std::vector<std::string>{"b.mtx"}));
  EXPECT_TRUE(std::filesystem::is_directory(folder / "b.mtx" / "kept"));

  auto bad = block_banded<double>(50, 40, 1);
  bad.rows[3][0].column = 40;
  EXPECT_THROW(write("c.mtx", device_crs(bad)), std::invalid_argument);
  EXPECT_FALSE(std::filesystem::exists(folder / "c.mtx"));
}

/// The limit of the size of files makes the program fail to write them to their end.
TEST_F(WriteToFolder, LeavesExistingFilesUnchangedIfTheDiskIsFull) {
  const auto crs = device_crs(block_banded<double>(5000, 4000, 1));
  put("a.mtx", "old");
  put("a.mtx.part", "mine");
  put("linked.mtx", "old");
  std::filesystem::create_hard_link(folder / "linked.mtx", folder / "link.mtx");
  struct rlimit old_limit;
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &old_limit), 0);
  const auto old_handler = std::signal(SIGXFSZ, SIG_IGN);
  struct rlimit limit = old_limit;
  limit.rlim_cur = 10000;
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &limit), 0);
  std::vector<std::string> errors;
  for (const char* name : {"a.mtx", "a.mtx.gz", "linked.mtx"})
    errors.push_back(refusal(name, crs));
  ::setrlimit(RLIMIT_FSIZE, &old_limit);
  std::signal(SIGXFSZ, old_handler);
  for (const std::string& error : errors)
    EXPECT_NE(error.find("cannot write"), std::string::npos) << error;
  EXPECT_EQ(text_of("a.mtx"), "old");
  EXPECT_EQ(text_of("a.mtx.part"), "mine");
  EXPECT_EQ(text_of("linked.mtx"), "old");
  EXPECT_EQ(names(), (std::vector<std::string>{"a.mtx", "a.mtx.part", "link.mtx", "linked.mtx"}));
}

TEST(WriteMatrixMarketFile, RefusesAStreamThatFails) {
  std::ostringstream stream;
  stream.setstate(std::ios::badbit);
  EXPECT_THROW(Filigree::write_matrix_market(stream, device_crs(scattered<double>(5, 5, 2))),
               std::runtime_error);
}

}  // namespace FiligreeTest

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// read_matrix_market() must read what write_matrix_market() writes with the same bits.
#include <unistd.h>

#include <cmath>
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

TEST_F(WriteToFolder, LeavesExistingFilesUnchangedOnErrors) {
  const auto crs = device_crs(block_banded<double>(50, 40, 1));
  const auto refusal = [&](const std::filesystem::path& path) {
    try {
      Filigree::write_matrix_market(path.string(), crs);
    } catch (const std::runtime_error& error) {
      return std::string(error.what());
    }
    return std::string("nothing");
  };
  const auto missing = folder / "missing" / "a.mtx";
  EXPECT_NE(refusal(missing).find("Filigree::write_matrix_market: " + missing.string() + ": cannot open"),
            std::string::npos);
  // The path is a folder, so a file cannot be renamed to it.
  std::filesystem::create_directories(folder / "b.mtx" / "kept");
  EXPECT_NE(refusal(folder / "b.mtx").find("cannot rename"), std::string::npos);
  EXPECT_TRUE(std::filesystem::is_directory(folder / "b.mtx" / "kept"));
  EXPECT_FALSE(std::filesystem::exists(folder / "b.mtx.part"));

  auto bad = block_banded<double>(50, 40, 1);
  bad.rows[3][0].column = 40;
  EXPECT_THROW(Filigree::write_matrix_market((folder / "c.mtx").string(), device_crs(bad)),
               std::invalid_argument);
  EXPECT_FALSE(std::filesystem::exists(folder / "c.mtx"));
}

TEST(WriteMatrixMarketFile, RefusesAStreamThatFails) {
  std::ostringstream stream;
  stream.setstate(std::ios::badbit);
  EXPECT_THROW(Filigree::write_matrix_market(stream, device_crs(scattered<double>(5, 5, 2))),
               std::runtime_error);
}

}  // namespace FiligreeTest

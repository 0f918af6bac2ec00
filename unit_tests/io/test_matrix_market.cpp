// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>
#include <unistd.h>
#include <zlib.h>

#include <cmath>
#include <cstdint>
#include <filesystem>
#include <filigree/io/matrix_market.hpp>
#include <fstream>
#include <limits>
#include <sstream>
#include <string>
#include <vector>

namespace {

using Device = Kokkos::DefaultExecutionSpace::device_type;
using Duplicates = Filigree::MatrixMarketOptions::Duplicates;

template <class Scalar, class Ordinal = int, class Size = std::size_t>
using Crs = KokkosSparse::CrsMatrix<Scalar, Ordinal, Device, void, Size>;

std::string to_text(double value) {
  std::ostringstream out;
  out.precision(17);
  out << value;
  return out.str();
}

template <class Real>
std::string to_text(const Kokkos::complex<Real>& value) {
  return to_text(value.real()) + "i" + to_text(value.imag());
}

/// The shape and the entries of a matrix in stored order, with indices from 1: "2x3: 1,1=5 2,3=7".
template <class Matrix>
std::string describe(const Matrix& a) {
  auto row_map = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), a.graph.row_map);
  auto entries = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), a.graph.entries);
  auto values = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), a.values);
  EXPECT_EQ(row_map.extent(0), static_cast<std::size_t>(a.numRows()) + 1);
  EXPECT_EQ(values.extent(0), entries.extent(0));
  EXPECT_EQ(static_cast<std::size_t>(row_map(a.numRows())), entries.extent(0));
  std::string text = std::to_string(a.numRows()) + "x" + std::to_string(a.numCols()) + ":";
  for (std::int64_t row = 0; row < static_cast<std::int64_t>(a.numRows()); ++row)
    for (auto k = row_map(row); k < row_map(row + 1); ++k)
      text += " " + std::to_string(row + 1) + "," + std::to_string(entries(k) + 1) + "=" + to_text(values(k));
  return text;
}

template <class Matrix = Crs<double>>
Matrix read(const std::string& text, const Filigree::MatrixMarketOptions& options = {}) {
  std::istringstream stream(text);
  return Filigree::read_matrix_market<Matrix>(stream, "test.mtx", options);
}

template <class Matrix = Crs<double>>
std::string described(const std::string& text, const Filigree::MatrixMarketOptions& options = {}) {
  return describe(read<Matrix>(text, options));
}

/// Expects an error that names the function, the file and the line (0 for no line) and contains all parts.
template <class Read>
void expect_error_from(const Read& read_it, const std::string& file, std::int64_t line,
                       const std::vector<std::string>& parts) {
  try {
    read_it();
    ADD_FAILURE() << "no error for " << file << ", expected: " << ::testing::PrintToString(parts);
  } catch (const Filigree::MatrixMarketError& error) {
    const std::string what = error.what();
    EXPECT_EQ(error.file(), file) << what;
    EXPECT_EQ(error.line(), line) << what;
    EXPECT_EQ(what.rfind("Filigree::read_matrix_market: " + file, 0), 0u) << what;
    EXPECT_EQ(what.find(", line " + std::to_string(line)) != std::string::npos, line > 0) << what;
    EXPECT_LT(what.size(), 500u) << what;
    for (const std::string& part : parts)
      EXPECT_NE(what.find(part), std::string::npos) << part << "\n" << what;
  }
}

template <class Matrix = Crs<double>>
void expect_error(const std::string& text, std::int64_t line, const std::vector<std::string>& parts,
                  const Filigree::MatrixMarketOptions& options = {}) {
  SCOPED_TRACE(text.substr(0, 200));
  expect_error_from([&] { read<Matrix>(text, options); }, "test.mtx", line, parts);
}

std::string general(const std::string& rest) {
  return "%%MatrixMarket matrix coordinate real general\n" + rest;
}

class MatrixMarketFile : public ::testing::Test {
 protected:
  void SetUp() override {
    const std::string name = ::testing::UnitTest::GetInstance()->current_test_info()->name();
    m_folder = std::filesystem::temp_directory_path() / ("filigree_" + std::to_string(getpid()) + "_" + name);
    std::filesystem::create_directories(m_folder);
  }
  void TearDown() override { std::filesystem::remove_all(m_folder); }

  std::string write(const std::string& name, const std::string& bytes) const {
    const std::string path = (m_folder / name).string();
    std::ofstream(path, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    return path;
  }

  static std::string gzip(const std::string& text) {
    z_stream stream{};
    EXPECT_EQ(deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
    std::string bytes(deflateBound(&stream, text.size()), '\0');
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
    stream.avail_in = static_cast<uInt>(text.size());
    stream.next_out = reinterpret_cast<Bytef*>(&bytes[0]);
    stream.avail_out = static_cast<uInt>(bytes.size());
    EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
    bytes.resize(stream.total_out);
    deflateEnd(&stream);
    return bytes;
  }

  static void expect_file_error(const std::string& path, std::int64_t line,
                                const std::vector<std::string>& parts) {
    expect_error_from([&] { Filigree::read_matrix_market<Crs<double>>(path); }, path, line, parts);
  }

  std::filesystem::path m_folder;
};

const std::string small = general("2 3 3\n1 1 5\n2 3 7\n1 2 -1.5\n");
const std::string small_read = "2x3: 1,1=5 1,2=-1.5 2,3=7";

}  // namespace

// ---- types ----------------------------------------------------------------------------------------------

template <class Scalar>
class MatrixMarketScalars : public ::testing::Test {};
using Scalars = ::testing::Types<float, double, Kokkos::complex<float>, Kokkos::complex<double>>;
TYPED_TEST_SUITE(MatrixMarketScalars, Scalars);

TYPED_TEST(MatrixMarketScalars, RealFileFillsEveryScalarAndIndexType) {
  const bool real = std::is_arithmetic<TypeParam>::value;
  const std::string expected = real ? small_read : "2x3: 1,1=5i0 1,2=-1.5i0 2,3=7i0";
  EXPECT_EQ((described<Crs<TypeParam, int, int>>(small)), expected);
  EXPECT_EQ((described<Crs<TypeParam, int, std::size_t>>(small)), expected);
  EXPECT_EQ((described<Crs<TypeParam, std::int64_t, std::size_t>>(small)), expected);
}

TYPED_TEST(MatrixMarketScalars, ViewsCarryTheLabelsOfTheLibrary) {
  const auto a = read<Crs<TypeParam>>(small);
  EXPECT_EQ(a.values.label(), "Filigree::values[matrix_market]");
  EXPECT_EQ(a.graph.row_map.label(), "Filigree::row_map[matrix_market]");
  EXPECT_EQ(a.graph.entries.label(), "Filigree::entries[matrix_market]");
}

TEST(MatrixMarket, FillsHostMatrices) {
  using Host =
      KokkosSparse::CrsMatrix<double, int, Kokkos::DefaultHostExecutionSpace::device_type, void, int>;
  EXPECT_EQ(described<Host>(small), small_read);
}

TEST(MatrixMarket, SizesMustFitTheOrdinal) {
  using Short = Crs<double, short, int>;
  EXPECT_EQ(read<Short>(general("32767 1 1\n32767 1 4\n")).numRows(), 32767);
  expect_error<Short>(general("32768 1 1\n1 1 4\n"), 2,
                      {"number of rows from 0 to 32767", "found \"32768\""});
  expect_error<Short>(general("1 32768 1\n1 1 4\n"), 2, {"number of columns from 0 to 32767"});
  expect_error(general("2147483648 1 0\n"), 2, {"number of rows from 0 to 2147483647"});
  expect_error<Crs<double, std::int64_t>>(general("9223372036854775808 1 0\n"), 2,
                                          {"from 0 to 9223372036854775807"});
}

TEST(MatrixMarket, EntriesMustFitTheOffset) {
  using Small = Crs<double, int, short>;
  const auto symmetric = [](int n) {
    std::string text = "%%MatrixMarket matrix coordinate pattern symmetric\n";
    text += std::to_string(n + 1) + " " + std::to_string(n + 1) + " " + std::to_string(n) + "\n";
    for (int row = 2; row <= n + 1; ++row)
      text += std::to_string(row) + " 1\n";
    return text;
  };
  EXPECT_EQ(read<Small>(symmetric(16383)).nnz(), 32766u);
  expect_error<Small>(symmetric(16384), 2, {"at most 32767 entries", "it has 32768"});
  std::string duplicates = general("2 2 40000\n");
  for (int k = 0; k < 40000; ++k)
    duplicates += "1 1 1\n";
  EXPECT_EQ(described<Small>(duplicates), "2x2: 1,1=40000");
}

TEST(MatrixMarket, ValuesMustFitTheScalar) {
  EXPECT_EQ(described(general("1 1 1\n1 1 1.7976931348623157e308\n")), "1x1: 1,1=1.7976931348623157e+308");
  expect_error(general("1 1 1\n1 1 1.8e308\n"), 3, {"scalar type", "found \"1.8e308\""});
  expect_error(general("1 1 1\n1 1 -1e99999999999999999999\n"), 3, {"scalar type"});
  expect_error(general("1 1 1\n1 1 1" + std::string(400, '0') + "\n"), 3, {"scalar type", "..."});

  EXPECT_EQ(described<Crs<float>>(general("1 1 1\n1 1 3.4028235677973362e38\n")),
            "1x1: 1,1=3.4028234663852886e+38");
  expect_error<Crs<float>>(general("1 1 1\n1 1 3.4028235677973367e38\n"), 3, {"scalar type"});
  expect_error<Crs<float>>(general("1 1 1\n1 1 -1e39\n"), 3, {"scalar type", "found \"-1e39\""});
  expect_error<Crs<Kokkos::complex<float>>>(
      "%%MatrixMarket matrix coordinate complex general\n1 1 1\n1 1 0 1e39\n", 3,
      {"scalar type", "found \"1e39\""});
  EXPECT_EQ(described<Crs<float>>(general("1 3 3\n1 1 inf\n1 2 -infinity\n1 3 nan\n")),
            "1x3: 1,1=inf 1,2=-inf 1,3=nan");
}

TEST(MatrixMarket, NumbersTooSmallBecomeZeroOrDenormal) {
  EXPECT_EQ(
      described(general("1 4 4\n1 1 1e-400\n1 2 0.00001e-320\n1 3 5e-324\n1 4 1e-99999999999999999999\n")),
      "1x4: 1,1=0 1,2=0 1,3=4.9406564584124654e-324 1,4=0");
  EXPECT_EQ(described(general("1 1 1\n1 1 0." + std::string(400, '0') + "1e401\n")), "1x1: 1,1=1");
  EXPECT_EQ(described<Crs<float>>(general("1 1 1\n1 1 1e-50\n")), "1x1: 1,1=0");
}

// ---- banner ---------------------------------------------------------------------------------------------

TEST(MatrixMarket, BannerMayHaveAnyCaseAndBlanks) {
  EXPECT_EQ(described("%%MatrixMarket\tMATRIX   Coordinate\t Real GENERAL  \n1 1 1\n1 1 2\n"), "1x1: 1,1=2");
  EXPECT_EQ(described("%%matrixmarket matrix coordinate double general\r\n1 1 1\r\n1 1 2\r\n"), "1x1: 1,1=2");
}

TEST(MatrixMarket, BannerErrors) {
  expect_error("", 1, {"the banner", "the file is empty"});
  expect_error("\n", 1, {"the banner", "end of the line"});
  expect_error("1 1 1\n1 1 2\n", 1, {"the banner \"%%MatrixMarket\"", "found \"1\" in the line \"1 1 1\""});
  expect_error("%MatrixMarket matrix coordinate real general\n1 1 0\n", 1, {"the banner"});
  expect_error("%%MatrixMarket\n", 1, {"the object", "end of the line"});
  expect_error("%%MatrixMarket tensor coordinate real general\n1 1 0\n", 1,
               {"matrix or vector", "\"tensor\""});
  expect_error("%%MatrixMarket matrix sparse real general\n1 1 0\n", 1,
               {"coordinate or array", "\"sparse\""});
  expect_error("%%MatrixMarket matrix coordinate quaternion general\n1 1 0\n", 1,
               {"the field", "\"quaternion\""});
  expect_error("%%MatrixMarket matrix coordinate real symetric\n1 1 0\n", 1,
               {"the symmetry", "\"symetric\""});
  expect_error("%%MatrixMarket matrix coordinate real\n1 1 0\n", 1, {"the symmetry", "end of the line"});
  expect_error("%%MatrixMarket matrix coordinate real", 1, {"the symmetry", "end of the file"});
  expect_error("%%MatrixMarket matrix coordinate real general 5\n1 1 0\n", 1,
               {"end of the line", "found \"5\""});
  expect_error(std::string("\x7f\0\1\2ELF", 7), 1, {"the banner", "\"????ELF\""});
}

TEST(MatrixMarket, ByteOrderMarksAreNamed) {
  const auto with_mark = [](const std::string& mark) { return mark + general("1 1 1\n1 1 2\n"); };
  expect_error(with_mark("\xef\xbb\xbf"), 1, {"the banner", "byte order mark of UTF-8", "EF BB BF"});
  expect_error(with_mark("\xff\xfe"), 1, {"the banner", "byte order mark of UTF-16", "FF FE"});
  expect_error(with_mark("\xfe\xff"), 1, {"the banner", "byte order mark of UTF-16", "FE FF"});
  expect_error(with_mark(std::string("\xff\xfe\0\0", 4)), 1,
               {"the banner", "byte order mark of UTF-32", "FF FE 00 00"});
  expect_error(with_mark(std::string("\0\0\xfe\xff", 4)), 1,
               {"the banner", "byte order mark of UTF-32", "00 00 FE FF"});
  expect_error("\xef\xbb\xbf", 1, {"byte order mark of UTF-8"});
  // The first bytes of a mark are not a mark.
  expect_error("\xef\xbb", 1, {"the banner", "\"??\""});
}

/// A file that was cut off after any number of whole lines.
TEST(MatrixMarket, FilesCutOffAtALineEndAreTruncated) {
  const std::string files[] = {general("% a comment\n3 3 4\n1 1 1.25\n2 2 2\n3 3 3\n1 3 -1e-3\n"),
                               "%%MatrixMarket matrix coordinate pattern symmetric\n3 3 3\n1 1\n2 2\n3 1\n",
                               "%%MatrixMarket matrix array real general\n2 2\n1.125\n2\n3\n4\n",
                               "%%MatrixMarket vector array integer general\n3\n100\n2\n3\n"};
  for (const std::string& file : files) {
    EXPECT_NO_THROW(read(file));
    for (std::size_t size = file.find('\n') + 1; size < file.size(); size = file.find('\n', size) + 1) {
      SCOPED_TRACE(file.substr(0, size));
      try {
        read(file.substr(0, size));
        ADD_FAILURE() << "no error";
      } catch (const Filigree::MatrixMarketError& error) {
        EXPECT_NE(std::string(error.what()).find("truncated"), std::string::npos) << error.what();
      }
    }
  }
  // A complete file with a wrong line is not truncated, nor is one with too many entries.
  for (const char* rest : {"2 2 2\n1 1 1.0\n3 2 1.0\n", "2 2 1\n1 1 1\n2 2 2\n", "2 2\n1 1 1\n"})
    try {
      read(general(rest));
      ADD_FAILURE() << "no error";
    } catch (const Filigree::MatrixMarketError& error) {
      EXPECT_EQ(std::string(error.what()).find("truncated"), std::string::npos) << error.what();
    }
}

TEST(MatrixMarket, UndefinedCombinationsAreErrors) {
  const auto file = [](const std::string& words) { return "%%MatrixMarket " + words + "\n1 1 1\n1 1 1\n"; };
  expect_error(file("matrix array pattern general"), 1, {"an array has no pattern", "\"pattern\""});
  expect_error(file("matrix coordinate real hermitian"), 1, {"only complex matrices are hermitian"});
  expect_error(file("matrix coordinate pattern hermitian"), 1, {"only complex matrices are hermitian"});
  expect_error(file("matrix coordinate pattern skew-symmetric"), 1, {"no values to negate"});
  expect_error(file("vector coordinate real symmetric"), 1, {"a vector has no symmetry"});
}

// ---- size line ------------------------------------------------------------------------------------------

TEST(MatrixMarket, EmptyMatrices) {
  EXPECT_EQ(described(general("0 0 0\n")), "0x0:");
  EXPECT_EQ(described(general("3 0 0")), "3x0:");
  EXPECT_EQ(described(general("0 5 0\n\n% nothing\n")), "0x5:");
  EXPECT_EQ(described(general("3 4 0\n")), "3x4:");
  EXPECT_EQ(described("%%MatrixMarket matrix array real general\n3 0\n"), "3x0:");
  EXPECT_EQ((described<Crs<double, std::int64_t>>(
                "%%MatrixMarket matrix array real general\n0 9000000000000000000\n")),
            "0x9000000000000000000:");
  EXPECT_EQ(described("%%MatrixMarket matrix array real skew-symmetric\n1 1\n"), "1x1:");
}

TEST(MatrixMarket, SizeLineErrors) {
  expect_error(general(""), 2, {"number of rows", "end of the file"});
  expect_error(general("% only a comment\n"), 3, {"number of rows", "end of the file"});
  expect_error(general("3 3\n1 1 1\n"), 2, {"number of entries", "end of the line"});
  expect_error(general("3\n3 1\n1 1 1\n"), 2, {"number of columns", "end of the line"});
  expect_error(general("3 3 1 1\n1 1 1\n"), 2, {"end of the line after the sizes", "found \"1\""});
  expect_error(general("-3 3 1\n1 1 1\n"), 2, {"number of rows", "\"-3\""});
  expect_error(general("3 3 -1\n1 1 1\n"), 2, {"number of entries", "\"-1\""});
  expect_error(general("3.0 3 1\n1 1 1\n"), 2, {"number of rows", "\"3.0\""});
  expect_error(general("three 3 1\n1 1 1\n"), 2, {"number of rows", "\"three\""});
  expect_error(general("% note\n\n3 x 1\n1 1 1\n"), 4, {"number of columns", "\"x\" in the line \"3 x 1\""});
  expect_error("%%MatrixMarket matrix array real general\n2 2 4\n1\n2\n3\n4\n", 2,
               {"end of the line after the sizes"});
}

TEST(MatrixMarket, SymmetricKindsMustBeSquare) {
  for (const char* kind : {"real symmetric", "real skew-symmetric", "complex hermitian"}) {
    for (const char* format : {"coordinate", "array"}) {
      const std::string count = format[0] == 'c' ? " 1" : "";
      expect_error<Crs<Kokkos::complex<double>>>(
          std::string("%%MatrixMarket matrix ") + format + " " + kind + "\n2 3" + count + "\n1 1 1 0\n", 2,
          {"the same number of columns as rows, 2", "found \"3\""});
    }
  }
}

TEST(MatrixMarket, CountsThatTheTextCannotHoldAreRefusedBeforeAllocation) {
  expect_error(general("3 3 9000000000000000000\n1 1 1\n"), 2,
               {"truncated, or the size line", "\"9000000000000000000\""});
  expect_error(general("3 3 2\n1 1 1\n"), 2, {"no more than the 1 entries", "truncated", "size line"});
  expect_error("%%MatrixMarket matrix array real general\n2000000000 2000000000\n1\n", 2,
               {"truncated, or the size line"});
  expect_error<Crs<double, std::int64_t>>(
      "%%MatrixMarket matrix array real general\n4000000000 4000000000\n1\n", 2,
      {"truncated, or the size line"});
}

// ---- entries --------------------------------------------------------------------------------------------

TEST(MatrixMarket, RowsAreSortedAndMatricesMayBeRectangular) {
  EXPECT_EQ(described(general("4 2 5\n4 2 1\n2 2 2\n4 1 3\n2 1 4\n1 2 5\n")),
            "4x2: 1,2=5 2,1=4 2,2=2 4,1=3 4,2=1");
  std::string text = general("2 500 1000\n");
  for (int k = 0; k < 1000; ++k)
    text += std::to_string(1 + k % 2) + " " + std::to_string(1 + (k / 2) * 123 % 500) + " " +
            std::to_string(k) + "\n";
  const auto a = read(text);
  const auto entries = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), a.graph.entries);
  const auto values = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), a.values);
  ASSERT_EQ(a.nnz(), 1000u);
  for (int k = 0; k < 1000; ++k) {
    EXPECT_EQ(entries(k), k % 500);
    EXPECT_EQ((static_cast<int>(values(k)) / 2) * 123 % 500, k % 500);
  }
}

TEST(MatrixMarket, CommentsBlanksAndLineEndsMayBeAnywhere) {
  EXPECT_EQ(described(general(
                "% c\n\n  % indented\n\t\n  2\t3  3 \n%%in between\n 1 1\t5\n\n2   3 7  \n  1 2 -1.5\n"
                "\n% the end\n  \n")),
            small_read);
  EXPECT_EQ(
      described(
          "%%MatrixMarket matrix coordinate real general\r\n% c\r\n2 3 3\r\n\r\n1 1 5\r\n2 3 7\r\n1 2 -1.5"),
      small_read);
  EXPECT_EQ(described(general("2 3 3\n1 1 5\n2 3 7\n1 2 -1.5")), small_read);
  EXPECT_EQ(described(general("2 3 3\n1 1 5\n2 3 7\n1 2 -1.5\n%")), small_read);
}

TEST(MatrixMarket, FreeFormatNumbers) {
  EXPECT_EQ(
      described(general("1 9 9\n1 1 +1.5\n1 2 .5\n1 3 5.\n1 4 -2.8E2\n1 5 1e+2\n+1 +6 1.5D+03\n1 7 25d-2\n"
                        "1 8 +.5D0\n1 9 -0\n")),
      "1x9: 1,1=1.5 1,2=0.5 1,3=5 1,4=-280 1,5=100 1,6=1500 1,7=0.25 1,8=0.5 1,9=-0");
  for (const char* bad : {"+-1", "--1", "++1", "1e", "1.5.2", "0x10", "1,5", "abc", "1d", "1D5D6", "D5",
                          "nand", "infd", "-", "+", ".", "1_000", "1e5e5", "+D1"})
    expect_error(general(std::string("1 1 1\n1 1 ") + bad + "\n"), 3,
                 {"a real number", std::string("\"") + bad + "\""});
  expect_error(general("1 1 1\n1 1 1D400\n"), 3, {"scalar type", "\"1D400\""});
}

/// The row is too long for insertion sort. Its permutation has long and short cycles, and the sum of its
/// duplicates depends on their order.
TEST(MatrixMarket, LongRowsAreSortedInFileOrder) {
  constexpr int count = 1000;
  std::string text =
      "%%MatrixMarket matrix coordinate real general\n2 1000 " + std::to_string(count + 3) + "\n";
  for (int i = 0; i < count; ++i)
    text += "2 " + std::to_string(i * 377 % count + 1) + " " + std::to_string(i) + "\n";
  text += "2 500 1e17\n2 500 1\n2 500 -1e17\n";
  const auto a = read(text);
  const auto entries = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), a.graph.entries);
  const auto values = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), a.values);
  ASSERT_EQ(entries.extent(0), static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i) {
    const int column = i * 377 % count;
    EXPECT_EQ(entries(column), column);
    EXPECT_EQ(values(column), column == 499 ? ((i + 1e17) + 1) - 1e17 : i);
  }
}

/// There is no memory for so many rows. The size computations must not overflow before that is noticed.
TEST(MatrixMarket, HugeSizesAreErrors) {
  using Wide = Crs<double, std::int64_t>;
  for (const char* size : {"2305843009213693951 1 0", "9223372036854775807 0 0", "9223372036854775807 5 0"})
    EXPECT_THROW(read<Wide>("%%MatrixMarket matrix coordinate real general\n" + std::string(size) + "\n"),
                 Filigree::MatrixMarketError)
        << size;
  EXPECT_THROW(read<Wide>("%%MatrixMarket matrix array real general\n9223372036854775807 0\n"),
               Filigree::MatrixMarketError);
}

TEST(MatrixMarket, ReadsStreamsThatThrowOnFailbit) {
  std::istringstream stream("%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 2\n");
  stream.exceptions(std::ios::failbit | std::ios::badbit);
  EXPECT_EQ(describe(Filigree::read_matrix_market<Crs<double>>(stream, "test.mtx")), "1x1: 1,1=2");
}

/// Indices of 1 to 15 digits, followed by a blank, a tab, a line end or the end of the text; and words that
/// begin like an index but are not one.
TEST(MatrixMarket, IndicesOfEveryLength) {
  using Wide = Crs<double, std::int64_t>;
  std::int64_t column = 1;
  for (int digits = 1; digits <= 15; ++digits, column = column * 10 + digits % 10) {
    const std::string index = std::to_string(column);
    const std::string size =
        "%%MatrixMarket matrix coordinate pattern general\n1 " + std::to_string(column) + " 1\n";
    const std::string expected = "1x" + index + ": 1," + index + "=1";
    EXPECT_EQ(described<Wide>(size + "1 " + index), expected);
    EXPECT_EQ(described<Wide>(size + "1\t" + index + "\n"), expected);
    EXPECT_EQ(described<Wide>(size + "  1   " + index + "  \r\n"), expected);
    EXPECT_EQ(
        described<Wide>(size + "+1 +" + index + "\n % a comment that is longer than eight characters\n"),
        expected);
    EXPECT_EQ(described<Wide>(size + "1 000" + index + "\n"), expected);
    for (const char* wrong : {"x", ".", ":", "/", "-", "e1", "%"})
      EXPECT_THROW(read<Wide>(size + "1 " + index + wrong + "\n           "), Filigree::MatrixMarketError)
          << wrong;
  }
}

TEST(MatrixMarket, IntegerFields) {
  const std::string integer = "%%MatrixMarket matrix coordinate integer general\n";
  EXPECT_EQ(described(integer + "1 4 4\n1 1 -7\n1 2 +8\n1 3 9007199254740993\n1 4 100000000000000000000\n"),
            "1x4: 1,1=-7 1,2=8 1,3=9007199254740992 1,4=1e+20");
  for (const char* bad : {"1.5", "1.0", "1e3", "inf", "nan", "x", "-", "+-4"})
    expect_error(integer + "1 1 1\n1 1 " + bad + "\n", 3, {"an integer", std::string("\"") + bad + "\""});

  const std::string natural = "%%MatrixMarket matrix coordinate unsigned-integer general\n";
  EXPECT_EQ(described(natural + "1 1 1\n1 1 18446744073709551615\n"), "1x1: 1,1=1.8446744073709552e+19");
  expect_error(natural + "1 1 1\n1 1 -1\n", 3, {"an integer without a sign", "\"-1\""});
}

TEST(MatrixMarket, PatternValuesAreOne) {
  EXPECT_EQ(described("%%MatrixMarket matrix coordinate pattern general\n2 2 2\n1 2\n2 1\n"),
            "2x2: 1,2=1 2,1=1");
  EXPECT_EQ(described("%%MatrixMarket matrix coordinate pattern symmetric\n2 2 2\n1 1 \n2 1 \n"),
            "2x2: 1,1=1 1,2=1 2,1=1");
  expect_error("%%MatrixMarket matrix coordinate pattern general\n2 2 1\n1 2 1\n", 3,
               {"end of the line after an entry"});
}

TEST(MatrixMarket, ComplexValues) {
  const std::string file =
      "%%MatrixMarket matrix coordinate complex general\n2 2 3\n2 1 1 -2\n1 1 .5 0\n2 2 0 4\n";
  EXPECT_EQ(described<Crs<Kokkos::complex<double>>>(file), "2x2: 1,1=0.5i0 2,1=1i-2 2,2=0i4");
  EXPECT_EQ(described<Crs<Kokkos::complex<float>>>(file), "2x2: 1,1=0.5i0 2,1=1i-2 2,2=0i4");
  expect_error(file, 1, {"a field of real values", "complex_to_real", "found \"complex\""});
  Filigree::MatrixMarketOptions options;
  options.complex_to_real = true;
  EXPECT_EQ(described(file, options), "2x2: 1,1=0.5 2,1=1 2,2=0");
  expect_error<Crs<Kokkos::complex<double>>>(
      "%%MatrixMarket matrix coordinate complex general\n1 1 1\n1 1 1.5\n", 3,
      {"imaginary part", "end of the line"});
}

TEST(MatrixMarket, Symmetries) {
  using Complex = Crs<Kokkos::complex<double>>;
  EXPECT_EQ(
      described("%%MatrixMarket matrix coordinate real symmetric\n3 3 4\n3 1 2\n1 1 5\n3 2 4\n3 3 -1\n"),
      "3x3: 1,1=5 1,3=2 2,3=4 3,1=2 3,2=4 3,3=-1");
  EXPECT_EQ(described("%%MatrixMarket matrix coordinate real skew-symmetric\n3 3 2\n3 1 2\n3 2 -4\n"),
            "3x3: 1,3=-2 2,3=4 3,1=2 3,2=-4");
  EXPECT_EQ(
      described<Complex>("%%MatrixMarket matrix coordinate complex hermitian\n2 2 2\n2 1 2 3\n2 2 7 0\n"),
      "2x2: 1,2=2i-3 2,1=2i3 2,2=7i0");
  EXPECT_EQ(
      described<Complex>("%%MatrixMarket matrix coordinate complex symmetric\n2 2 2\n2 1 2 3\n2 2 7 1\n"),
      "2x2: 1,2=2i3 2,1=2i3 2,2=7i1");
  EXPECT_EQ(described<Complex>("%%MatrixMarket matrix coordinate complex skew-symmetric\n2 2 1\n2 1 2 3\n"),
            "2x2: 1,2=-2i-3 2,1=2i3");
}

TEST(MatrixMarket, SymmetryErrors) {
  using Complex = Crs<Kokkos::complex<double>>;
  expect_error("%%MatrixMarket matrix coordinate real symmetric\n2 2 1\n1 2 3\n", 3,
               {"on or below the diagonal"});
  expect_error("%%MatrixMarket matrix coordinate real skew-symmetric\n2 2 1\n1 2 3\n", 3,
               {"below the diagonal"});
  expect_error("%%MatrixMarket matrix coordinate real skew-symmetric\n2 2 1\n2 2 0\n", 3,
               {"below the diagonal", "in the line \"2 2 0\""});
  expect_error<Complex>("%%MatrixMarket matrix coordinate complex hermitian\n2 2 2\n2 1 3 1\n2 2 3 1\n", 4,
                        {"imaginary part 0", "found \"1\" in the line \"2 2 3 1\""});
  expect_error<Complex>("%%MatrixMarket matrix array complex hermitian\n2 2\n1 0\n% c\n3 1\n3 5\n", 6,
                        {"imaginary part 0", "found \"5\" in the line \"3 5\""});
}

TEST(MatrixMarket, Arrays) {
  EXPECT_EQ(described("%%MatrixMarket matrix array real general\n2 3\n1\n2\n\n3\n% c\n4\n5\n6\n"),
            "2x3: 1,1=1 1,2=3 1,3=5 2,1=2 2,2=4 2,3=6");
  EXPECT_EQ(described("%%MatrixMarket matrix array integer general\n2 2\n0\n-1\n-0\n4\n"),
            "2x2: 2,1=-1 2,2=4");
  EXPECT_EQ(described("%%MatrixMarket matrix array real symmetric\n3 3\n1\n2\n3\n4\n5\n6\n"),
            "3x3: 1,1=1 1,2=2 1,3=3 2,1=2 2,2=4 2,3=5 3,1=3 3,2=5 3,3=6");
  EXPECT_EQ(described("%%MatrixMarket matrix array real skew-symmetric\n3 3\n1\n2\n3\n"),
            "3x3: 1,2=-1 1,3=-2 2,1=1 2,3=-3 3,1=2 3,2=3");
  EXPECT_EQ(described<Crs<Kokkos::complex<double>>>(
                "%%MatrixMarket matrix array complex hermitian\n2 2\n1 0\n2 3\n4 0"),
            "2x2: 1,1=1i0 1,2=2i-3 2,1=2i3 2,2=4i0");
  expect_error("%%MatrixMarket matrix array real general\n2 2\n1.00\n2\n3\n", 6,
               {"entry 4 of 4", "end of the file"});
  expect_error("%%MatrixMarket matrix array real general\n2 2\n1\n2\n3\n4\n5\n", 7,
               {"end of the file after 4 entries"});
  expect_error("%%MatrixMarket matrix array real general\n2 2\n1 2\n3 4\n", 3,
               {"end of the line after a value"});
}

TEST(MatrixMarket, VectorsAreMatricesOfOneColumn) {
  EXPECT_EQ(described("%%MatrixMarket vector coordinate real general\n4 2\n3 7\n1 5\n"), "4x1: 1,1=5 3,1=7");
  EXPECT_EQ(described("%%MatrixMarket vector array integer general\n3\n4\n0\n6\n"), "3x1: 1,1=4 3,1=6");
  EXPECT_EQ(described("%%MatrixMarket vector coordinate pattern general\n4 1\n3\n"), "4x1: 3,1=1");
  expect_error("%%MatrixMarket vector coordinate real general\n4 1\n5 7\n", 3,
               {"a row index from 1 to 4", "\"5\""});
}

TEST(MatrixMarket, TooFewAndTooManyEntriesAreErrors) {
  expect_error(general("2 2 2\n1 1 1.0000\n"), 4,
               {"entry 2 of 2", "the size line announces, found the end of the file: the file is truncated"});
  expect_error(general("2 2 1\n1 1 1\n2 2 2\n"), 4, {"end of the file after 1 entries", "\"2 2 2\""});
  expect_error(general("2 2 1\n1 1 1\nrubbish\n"), 4, {"end of the file after 1 entries", "\"rubbish\""});
}

TEST(MatrixMarket, LineErrors) {
  expect_error(general("2 2 2\n1 1\n1 1 1.000\n"), 3,
               {"a real number", "found the end of the line in the line \"1 1\""});
  expect_error(general("2 2 2\n1 1 1.0000\n1"), 4, {"a column index", "end of the file"});
  expect_error(general("2 2 1\n1 1 1 1\n"), 3,
               {"end of the line after an entry", "found \"1\" in the line \"1 1 1 1\""});
  expect_error(general("2 2 1\n1 1 1 % note\n"), 3, {"end of the line after an entry", "\"%\""});
  expect_error(general("2 2 1\n1.0 1 1\n"), 3, {"a row index", "\"1.0\""});
  expect_error(general("2 2 1\n1 b 1\n"), 3, {"a column index from 1 to 2", "\"b\""});
  expect_error(general("2 2 1\n0 1 1\n"), 3, {"a row index from 1 to 2", "\"0\""});
  expect_error(general("2 2 1\n1 -1 1\n"), 3, {"a column index from 1 to 2", "\"-1\""});
  expect_error(general("2 2 1\n3 1 1\n"), 3, {"a row index from 1 to 2", "\"3\""});
  expect_error(general("2 2 1\n1 99999999999999999999 1\n"), 3,
               {"a column index", "\"99999999999999999999\""});
  expect_error(general("0 2 1\n1 1 1\n"), 3, {"no entry, since the matrix has no row"});
  expect_error(general("2 2 1\n1 1 " + std::string(100000, 'x') + "\n"), 3, {"a real number", "xxx...\""});
}

// ---- duplicates -----------------------------------------------------------------------------------------

TEST(MatrixMarket, DuplicatesAreSummedInFileOrder) {
  EXPECT_EQ(described(general("2 2 5\n1 2 1e16\n2 2 8\n1 2 1\n1 1 3\n1 2 -1e16\n")),
            "2x2: 1,1=3 1,2=0 2,2=8");
  EXPECT_EQ(
      described("%%MatrixMarket matrix coordinate integer symmetric\n2 2 4\n1 1 1\n2 1 2\n1 1 3\n2 1 4\n"),
      "2x2: 1,1=4 1,2=6 2,1=6");
  EXPECT_EQ(described("%%MatrixMarket matrix coordinate pattern general\n1 1 3\n1 1\n1 1\n1 1\n"),
            "1x1: 1,1=3");
  EXPECT_EQ(described(general("1 1 2\n1 1 1\n1 1 -1\n")), "1x1: 1,1=0");
}

TEST(MatrixMarket, DuplicatesCanBeRefused) {
  Filigree::MatrixMarketOptions options;
  options.duplicates = Duplicates::Refuse;
  EXPECT_EQ(described(small, options), small_read);
  expect_error(general("2 2 4\n1 2 1\n% c\n2 2 8\n\n1 2 1\n2 1 1\n"), 7,
               {"each entry once", "row 1, column 2 is already in line 3", "in the line \"1 2 1\""}, options);
  expect_error("%%MatrixMarket matrix coordinate real symmetric\n2 2 3\n2 1 1\n2 2 8\n2 1 5\n", 5,
               {"each entry once", "row 2, column 1 is already in line 3"}, options);
}

TEST(MatrixMarket, SumsMustFitTheScalar) {
  expect_error(general("1 1 2\n1 1 1e308\n1 1 1e308\n"), 4, {"a sum of duplicates", "row 1, column 1"});
  expect_error<Crs<float>>(general("1 1 2\n1 1 3e38\n1 1 3e38\n"), 4, {"a sum of duplicates"});
  EXPECT_EQ(described(general("1 1 2\n1 1 3e38\n1 1 3e38\n")), "1x1: 1,1=6.0000000000000002e+38");
  EXPECT_EQ(described(general("1 1 2\n1 1 inf\n1 1 1\n")), "1x1: 1,1=inf");
}

/// A part that is infinite or not a number does not hide that the other part overflows.
TEST(MatrixMarket, BothPartsOfASumMustFitTheScalar) {
  const auto twice = [](const std::string& value) {
    return "%%MatrixMarket matrix coordinate complex general\n1 1 2\n1 1 " + value + "\n1 1 " + value + "\n";
  };
  using Double = Crs<Kokkos::complex<double>>;
  using Float = Crs<Kokkos::complex<float>>;
  for (const char* other : {"1", "nan", "inf", "-inf"}) {
    for (const std::string& value : {std::string(other) + " 1e308", "1e308 " + std::string(other)})
      expect_error<Double>(twice(value), 4, {"a sum of duplicates", "row 1, column 1"});
    for (const std::string& value : {std::string(other) + " -3e38", "-3e38 " + std::string(other)})
      expect_error<Float>(twice(value), 4, {"a sum of duplicates", "row 1, column 1"});
  }
  EXPECT_EQ(described<Double>(twice("nan 1e300")), "1x1: 1,1=nani2.0000000000000001e+300");
  EXPECT_EQ(described<Double>(twice("3 -inf")), "1x1: 1,1=6i-inf");
}

// ---- files and streams ----------------------------------------------------------------------------------

TEST_F(MatrixMarketFile, GzipIsRecognisedByContentNotByName) {
  const auto from = [](const std::string& path) {
    return describe(Filigree::read_matrix_market<Crs<double>>(path));
  };
  EXPECT_EQ(from(write("a.mtx", small)), small_read);
  EXPECT_EQ(from(write("b.mtx.gz", gzip(small))), small_read);
  EXPECT_EQ(from(write("c.mtx", gzip(small))), small_read);
  EXPECT_EQ(from(write("d.mtx.gz", small)), small_read);
  EXPECT_EQ(from(write("e.gz", gzip(small.substr(0, 40)) + gzip("") + gzip(small.substr(40)))), small_read);
  std::istringstream stream(gzip(small));
  EXPECT_EQ(describe(Filigree::read_matrix_market<Crs<double>>(stream, "stream")), small_read);
}

TEST_F(MatrixMarketFile, TextMayEndAtTheEndOfAPage) {
  // After a mapped file of whole pages no byte can be read.
  for (const std::string last : {"\n1 2 -1.5\n", "\n1 2 -1.5 ", "\n1 2 -1.50", "\n1 2 -1.5%"}) {
    std::string text = general("2 3 3\n1 1 5\n2 3 7\n%");
    text += std::string(65536 - text.size() - last.size(), 'c') + last;
    const std::string path = write("page.mtx", text);
    if (last.back() == '%')
      expect_file_error(path, 6, {"a real number", "\"-1.5%\""});
    else
      EXPECT_EQ(describe(Filigree::read_matrix_market<Crs<double>>(path)), small_read);
  }
}

TEST_F(MatrixMarketFile, FilesMayBeLargerThanTheBuffers) {
  const int n = 200000;
  std::string text = general(std::to_string(n) + " " + std::to_string(n) + " " + std::to_string(n) + "\n");
  for (int k = n; k > 0; --k)
    text += std::to_string(k) + " " + std::to_string(k) + " " + std::to_string(k) + ".5\n";
  for (const std::string& bytes : {text, gzip(text)}) {
    std::istringstream stream(bytes);
    for (const auto& a : {Filigree::read_matrix_market<Crs<double>>(write("large", bytes)),
                          Filigree::read_matrix_market<Crs<double>>(stream, "large")}) {
      ASSERT_EQ(a.nnz(), static_cast<std::size_t>(n));
      const auto values = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), a.values);
      for (int k = 0; k < n; ++k)
        ASSERT_EQ(values(k), k + 1.5);
    }
  }
}

TEST_F(MatrixMarketFile, GzipErrors) {
  const std::string good = gzip(small);
  for (std::size_t size : {std::size_t(2), std::size_t(9), good.size() / 2, good.size() - 8, good.size() - 1})
    expect_file_error(write("short.gz", good.substr(0, size)), 0, {"truncated"});
  std::string bad = good;
  bad[bad.size() - 6] = static_cast<char>(bad[bad.size() - 6] ^ 1);
  const std::string header = std::string("\x1f\x8b") + "this is no gzip";
  expect_file_error(write("checksum.gz", bad), 0, {"gzip data is corrupt"});
  expect_file_error(write("header.gz", header), 0, {"gzip data is corrupt"});
  expect_file_error(write("garbage.gz", good + "abc"), 0,
                    {"end of the file after the gzip data", "3 bytes more"});
  expect_file_error(write("member.gz", good + header), 0, {"gzip data is corrupt"});
  expect_file_error(write("second.gz", good + good.substr(0, 12)), 0, {"truncated"});
  expect_file_error(write("empty.gz", gzip("")), 1, {"the banner"});
  expect_file_error(write("line.gz", gzip(general("1 1 1\n2 1 1\n"))), 3, {"a row index from 1 to 1"});
}

TEST_F(MatrixMarketFile, FileErrors) {
  expect_file_error((m_folder / "missing.mtx").string(), 0, {"cannot open the file", "No such file"});
  expect_file_error(m_folder.string(), 0, {"found a directory"});
  expect_file_error(write("empty.mtx", ""), 1, {"the banner", "the file is empty"});
  expect_file_error(write("bad.mtx", general("2 2 1\n1 1 x\n")), 3, {"\"x\""});
}

TEST(MatrixMarket, StreamsThatFailAreErrors) {
  std::istringstream stream(small);
  stream.setstate(std::ios::badbit);
  expect_error_from([&] { Filigree::read_matrix_market<Crs<double>>(stream, "pipe"); }, "pipe", 0,
                    {"cannot read"});
}

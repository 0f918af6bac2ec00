// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <map>

#include "support/paper_matrices.hpp"

namespace {

using namespace FiligreePerf;

using Crs = KokkosSparse::CrsMatrix<double, int, Kokkos::DefaultExecutionSpace::device_type, void, int>;

/// A CRS matrix on the host.
struct HostCrs {
  explicit HostCrs(const Crs& crs) : rows(crs.numRows()) {
    const auto copy = [](const auto& view) {
      return Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), view);
    };
    const auto from_row_map = copy(crs.graph.row_map);
    const auto from_entries = copy(crs.graph.entries);
    const auto from_values = copy(crs.values);
    row_map.assign(from_row_map.data(), from_row_map.data() + from_row_map.extent(0));
    entries.assign(from_entries.data(), from_entries.data() + from_entries.extent(0));
    values.assign(from_values.data(), from_values.data() + from_values.extent(0));
  }
  std::size_t begin(std::int64_t row) const {
    return static_cast<std::size_t>(row_map[static_cast<std::size_t>(row)]);
  }
  std::size_t end(std::int64_t row) const { return begin(row + 1); }

  std::int64_t rows;
  std::vector<int> row_map;
  std::vector<int> entries;
  std::vector<double> values;
};

/// The rows and entries of the table of the paper.
PaperMatrix in_table(const std::string& name) {
  for (const PaperMatrix& one : paper_matrices)
    if (one.name == name) return one;
  throw std::logic_error("not in the table: " + name);
}

TEST(PaperMatrices, EpidemicHasTheSizesOfThePaper) {
  const HostCrs A(epidemic_matrix<Crs>());
  EXPECT_EQ(A.rows, in_table("mc2depi").rows);
  EXPECT_EQ(static_cast<std::int64_t>(A.entries.size()), in_table("mc2depi").entries);
  std::int64_t below = 0, above = 0;
  for (std::int64_t row = 0; row < A.rows; ++row) {
    double sum = 0;
    for (std::size_t i = A.begin(row); i < A.end(row); ++i) {
      if (i > A.begin(row)) {
        ASSERT_LT(A.entries[i - 1], A.entries[i]) << "row " << row;
      }
      below = std::max(below, row - A.entries[i]);
      above = std::max(above, A.entries[i] - row);
      sum += A.values[i];
      if (A.entries[i] == row) {
        ASSERT_LT(A.values[i], 0);
      } else {
        ASSERT_GT(A.values[i], 0);
      }
    }
    ASSERT_EQ(sum, 0) << "row " << row;
  }
  // The bandwidths of the matrix in the collection.
  EXPECT_EQ(below, 513);
  EXPECT_EQ(above, 257);
}

TEST(PaperMatrices, SmallEpidemicHasTheRatesOfItsStates) {
  // The states in their order: (0,0), (1,0), (0,1), (1,1).
  const HostCrs A(epidemic_matrix<Crs>(1, 1));
  const std::vector<std::map<int, double>> expected = {
      {{0, -2025}, {1, 2025}}, {{1, -1}, {2, 1}}, {{0, 1}, {2, -2026}, {3, 2025}}, {{1, 1}, {3, -1}}};
  ASSERT_EQ(A.rows, 4);
  for (std::int64_t row = 0; row < 4; ++row) {
    std::map<int, double> found;
    for (std::size_t i = A.begin(row); i < A.end(row); ++i)
      found[A.entries[i]] = A.values[i];
    EXPECT_EQ(found, expected[static_cast<std::size_t>(row)]) << "row " << row;
  }
}

TEST(PaperMatrices, RandomLinksAreInSu3) {
  std::mt19937_64 generator(7);
  for (int n = 0; n < 10; ++n) {
    const Link U = random_link(generator);
    for (std::size_t i = 0; i < 3; ++i)
      for (std::size_t j = 0; j < 3; ++j) {
        std::complex<double> product = 0;
        for (std::size_t k = 0; k < 3; ++k)
          product += U[i][k] * std::conj(U[j][k]);
        EXPECT_LT(std::abs(product - (i == j ? 1.0 : 0.0)), 1e-14);
      }
    std::complex<double> determinant = 0;
    for (std::size_t k = 0; k < 3; ++k)
      determinant +=
          U[0][k] * (U[1][(k + 1) % 3] * U[2][(k + 2) % 3] - U[1][(k + 2) % 3] * U[2][(k + 1) % 3]);
    EXPECT_LT(std::abs(determinant - 1.0), 1e-14);
  }
}

TEST(PaperMatrices, LatticeHasTheSizesOfThePaper) {
  const HostCrs A(lattice_matrix<Crs>());
  EXPECT_EQ(A.rows, in_table("qcd5_4").rows);
  EXPECT_EQ(static_cast<std::int64_t>(A.entries.size()), in_table("qcd5_4").entries);
  for (std::int64_t row = 0; row < A.rows; ++row)
    ASSERT_EQ(A.end(row) - A.begin(row), 39u) << "row " << row;
}

TEST(PaperMatrices, LatticeHasTheSymmetryOfTheWilsonOperator) {
  // gamma_5 M gamma_5 is the conjugate transpose of M. In the Dirac representation gamma_5 exchanges spins 0
  // and 2, and 1 and 3. The real part of M therefore has A(g(i), g(j)) = A(j, i).
  const HostCrs A(lattice_matrix<Crs>(3));
  const auto exchanged = [](std::int64_t row) { return row / 12 * 12 + (row % 12 + 6) % 12; };
  std::map<std::pair<std::int64_t, std::int64_t>, double> all;
  for (std::int64_t row = 0; row < A.rows; ++row)
    for (std::size_t i = A.begin(row); i < A.end(row); ++i)
      all[{row, A.entries[i]}] = A.values[i];
  ASSERT_EQ(all.size(), A.entries.size());
  for (const auto& [at, value] : all) {
    const auto other = all.find({exchanged(at.second), exchanged(at.first)});
    ASSERT_NE(other, all.end()) << at.first << ", " << at.second;
    ASSERT_EQ(other->second, value) << at.first << ", " << at.second;
  }
}

TEST(PaperMatrices, FindsFilesUnderTheirOtherNames) {
  const auto folder =
      std::filesystem::temp_directory_path() / ("filigree_test_paper_matrices_" + std::to_string(getpid()));
  std::filesystem::create_directory(folder);
  EXPECT_TRUE(file_of("mac_econ", folder).empty());
  for (const char* name : {"mac_econ_fwd500.mtx.gz", "qcd5_4.mtx"})
    std::ofstream(folder / name) << "%";
  EXPECT_EQ(file_of("mac_econ", folder), folder / "mac_econ_fwd500.mtx.gz");
  EXPECT_EQ(file_of("qcd5_4", folder), folder / "qcd5_4.mtx");
  std::filesystem::remove_all(folder);
}

}  // namespace

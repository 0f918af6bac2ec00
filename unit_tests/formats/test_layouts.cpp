// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What ELL and CDS store, element by element, against the drawings in their class comments.
#include "../support/formats.hpp"

namespace FiligreeTest {

using Ell = Filigree::EllMatrix<double, int, Device, void, int>;
using Cds = Filigree::CdsMatrix<double, int, Device, void, int>;

TEST(EllLayout, IsThatOfTheDrawing) {
  HostMatrix<double> host(4, 4);
  host.rows = {{{0, 3}, {2, 1}}, {}, {{1, 2}, {2, 4}, {3, 1}}, {{0, 1}, {3, 1}}};
  const Ell A = Filigree::convert<Filigree::EllMatrix>(device_crs(host));
  EXPECT_EQ(A.width(), 3);
  EXPECT_EQ(A.stride(), 16);
  EXPECT_EQ(A.nnz(), 7);
  EXPECT_EQ(host_list(A.row_lengths), (std::vector<int>{2, 0, 3, 2}));
  std::vector<double> values(48, 0.0);
  std::vector<int> entries(48, -1);
  const double drawn_values[3][4] = {{3, 0, 2, 1}, {1, 0, 4, 1}, {0, 0, 1, 0}};
  const int drawn_entries[3][4] = {{0, -1, 1, 0}, {2, -1, 2, 3}, {-1, -1, 3, -1}};
  for (std::size_t k = 0; k < 3; ++k)
    for (std::size_t row = 0; row < 4; ++row) {
      values[k * 16 + row] = drawn_values[k][row];
      entries[k * 16 + row] = drawn_entries[k][row];
    }
  EXPECT_EQ(host_list(A.values), values);
  EXPECT_EQ(host_list(A.entries), entries);
  EXPECT_EQ(A.storage_bytes(), 3u * 16 * (sizeof(double) + sizeof(int)) + 4 * sizeof(int));
}

TEST(EllLayout, RoundsRowsUpToSixteen) {
  for (const auto& [rows, stride] : {std::pair<int, int>{1, 16}, {15, 16}, {16, 16}, {17, 32}, {33, 48}}) {
    const Ell A =
        converted<FormatCase<Filigree::Format<Filigree::EllMatrix>, double>>(scattered<double>(rows, 20, 4));
    EXPECT_EQ(A.stride(), stride);
    EXPECT_EQ(A.values.extent(0), static_cast<std::size_t>(A.width() * A.stride()));
    EXPECT_EQ(A.storage_bytes(), A.values.extent(0) * sizeof(double) + A.entries.extent(0) * sizeof(int) +
                                     A.row_lengths.extent(0) * sizeof(int));
  }
}

TEST(CdsLayout, IsThatOfTheDrawing) {
  // The letters of the drawing as numbers: a is 1, b is 2, ...
  HostMatrix<double> host(4, 4);
  host.rows = {{{0, 1}, {1, 2}, {2, 5}, {3, 6}},
               {{0, 3}, {1, 4}, {2, 7}, {3, 8}},
               {{0, 9}, {1, 10}, {2, 13}, {3, 14}},
               {{0, 11}, {1, 12}, {2, 15}, {3, 16}}};
  Filigree::CdsOptions options;
  options.block_size = 2;
  const Cds A = Filigree::convert<Filigree::CdsMatrix>(device_crs(host), options);
  EXPECT_EQ(A.block_size(), 2);
  EXPECT_EQ(A.numDiagonals(), 3);
  EXPECT_EQ(A.nnz(), 16);
  EXPECT_EQ(host_list(A.offsets), (std::vector<int>{-1, 0, 1}));
  EXPECT_EQ(host_list(A.values), (std::vector<double>{0, 0, 9,  11, 0, 0, 10, 12, 1, 3, 13, 15,
                                                      2, 4, 14, 16, 5, 7, 0,  0,  6, 8, 0,  0}));
}

TEST(CdsLayout, StoresTheFormulaOfTheSource) {
  for (const int b : {1, 2, 3, 4, 7})
    for (const int rows : {5 * b, 5 * b + b / 2}) {
      const Cds A = converted<FormatCase<Filigree::Format<Filigree::CdsMatrix>, double>>(
          block_banded<double>(rows, 6 * b, b), b);
      const auto offsets = host_list(A.offsets);
      EXPECT_EQ(offsets, (std::vector<int>{-3, -1, 0, 1, 4})) << "block size " << b;
      EXPECT_EQ(A.values.extent(0), 5u * static_cast<unsigned>(b * rows));
      EXPECT_EQ(A.storage_bytes(), A.values.extent(0) * sizeof(double) + 5 * sizeof(int));
    }
}

TEST(CdsLayout, HasNoDiagonalsWithoutEntries) {
  const Cds A =
      converted<FormatCase<Filigree::Format<Filigree::CdsMatrix>, double>>(HostMatrix<double>(6, 4));
  EXPECT_EQ(A.numDiagonals(), 0);
  EXPECT_EQ(A.storage_bytes(), 0u);
}

}  // namespace FiligreeTest

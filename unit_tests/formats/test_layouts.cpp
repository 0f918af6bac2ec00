// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tests of what each format stores, compared with the drawing in its class comment.
#include "../support/errors.hpp"
#include "../support/formats.hpp"

namespace FiligreeTest {

using Ell = Filigree::EllMatrix<double, int, Device, void, int>;
using Cds = Filigree::CdsMatrix<double, int, Device, void, int>;

using Doubles = std::vector<double>;
using Ints = std::vector<int>;
using Offsets = std::vector<std::int64_t>;

using EllCase = FormatCase<Filigree::Format<Filigree::EllMatrix>, double>;
using CdsCase = FormatCase<Filigree::Format<Filigree::CdsMatrix>, double>;

/// The 4 x 4 matrix of the drawings, from Kirk and Hwu, chapter 10.
Crs<double> example() {
  HostMatrix<double> host(4, 4);
  host.rows = {{{0, 3}, {2, 1}}, {}, {{1, 2}, {2, 4}, {3, 1}}, {{0, 1}, {3, 1}}};
  return device_crs(host);
}

/// The first elements of a list.
template <class T>
std::vector<T> first(const std::vector<T>& list, std::size_t count) {
  return {list.begin(), list.begin() + static_cast<std::ptrdiff_t>(count)};
}

TEST(EllLayout, MatchesTheDrawing) {
  const Ell A = Filigree::convert<Filigree::EllMatrix>(example());
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

TEST(EllLayout, InterleavesEntriesForSeveralLanes) {
  Filigree::EllOptions options = any_padding<Filigree::EllOptions>();
  options.lanes_per_row = 2;
  const Ell A = Filigree::convert<Filigree::EllMatrix>(example(), options);
  EXPECT_EQ(A.width(), 4);
  EXPECT_EQ(A.lanes_per_row(), 2);
  const Doubles values = host_list(A.values);
  ASSERT_EQ(values.size(), 64u);
  EXPECT_EQ(first(values, 8), (Doubles{3, 1, 0, 0, 2, 4, 1, 1}));
  EXPECT_EQ(Doubles(values.begin() + 32, values.begin() + 40), (Doubles{0, 0, 0, 0, 1, 0, 0, 0}));
  const Ints entries = host_list(A.entries);
  EXPECT_EQ(first(entries, 8), (Ints{0, 2, -1, -1, 1, 2, 0, 3}));
  EXPECT_EQ(Ints(entries.begin() + 32, entries.begin() + 40), (Ints{-1, -1, -1, -1, 3, -1, -1, -1}));
}

TEST(EllLayout, StoresNoRowLengthsOnRequest) {
  Filigree::EllOptions options = any_padding<Filigree::EllOptions>();
  options.row_lengths = false;
  const Ell A = Filigree::convert<Filigree::EllMatrix>(example(), options);
  EXPECT_EQ(A.row_lengths.extent(0), 0u);
  EXPECT_EQ(A.storage_bytes(), 3u * 16 * (sizeof(double) + sizeof(int)));
}

TEST(EllLayout, PadsRowsToAMultipleOf16) {
  for (const auto& [rows, stride] : {std::pair<int, int>{1, 16}, {15, 16}, {16, 16}, {17, 32}, {33, 48}}) {
    const Ell A = converted<EllCase>(scattered<double>(rows, 20, 4));
    EXPECT_EQ(A.stride(), stride);
    EXPECT_EQ(A.values.extent(0), static_cast<std::size_t>(A.width() * A.stride()));
    EXPECT_EQ(A.storage_bytes(), A.values.extent(0) * sizeof(double) + A.entries.extent(0) * sizeof(int) +
                                     A.row_lengths.extent(0) * sizeof(int));
  }
}

/// From 8 KiB of column indices on.
TEST(EllLayout, RoundsLongColumnsUpToAnOddMultipleOf256Bytes) {
  for (const auto& [rows, stride] :
       {std::pair<int, int>{2032, 2032}, {2033, 33 * 64}, {33 * 64, 33 * 64}, {33 * 64 + 1, 35 * 64}}) {
    const Ell A = converted<EllCase>(scattered<double>(rows, 20, 4));
    EXPECT_EQ(A.stride(), stride);
    EXPECT_EQ(A.values.extent(0), static_cast<std::size_t>(A.width() * A.stride()));
    EXPECT_NO_THROW(Filigree::check(A));
  }
}

TEST(CooLayout, MatchesTheDrawing) {
  const auto A = Filigree::convert<Filigree::CooMatrix>(example(), any_padding<Filigree::CooOptions>());
  EXPECT_EQ(host_list(A.rows), (Ints{0, 0, 2, 2, 2, 3, 3}));
  EXPECT_EQ(host_list(A.entries), (Ints{0, 2, 1, 2, 3, 0, 3}));
  EXPECT_EQ(host_list(A.values), (Doubles{3, 1, 2, 4, 1, 1, 1}));
  EXPECT_EQ(host_list(A.empty_rows), (Ints{1}));
}

TEST(WrappedCrsLayout, MatchesTheDrawing) {
  const auto crs = example();
  const auto A =
      Filigree::convert<Filigree::WrappedCrsMatrix>(crs, any_padding<Filigree::WrappedCrsOptions>());
  EXPECT_EQ(A.crs.values.data(), crs.values.data());
  EXPECT_EQ(A.crs.graph.entries.data(), crs.graph.entries.data());
  EXPECT_EQ(A.crs.graph.row_map.data(), crs.graph.row_map.data());
  EXPECT_EQ(host_list(A.first_rows), (Ints{0}));
  EXPECT_EQ(host_list(A.empty_rows), Ints());
}

TEST(SellLayout, MatchesTheDrawing) {
  Filigree::SellOptions options = any_padding<Filigree::SellOptions>();
  options.slice_height = 2;
  const auto A = Filigree::convert<Filigree::SellMatrix>(example(), options);
  EXPECT_EQ(host_list(A.slice_offsets), (Offsets{0, 4, 10}));
  EXPECT_EQ(host_list(A.slice_widths), (Ints{2, 3}));
  EXPECT_EQ(host_list(A.values), (Doubles{3, 0, 1, 0, 2, 1, 4, 1, 1, 0}));
  EXPECT_EQ(host_list(A.entries), (Ints{0, -1, 2, -1, 1, 0, 2, 3, 3, -1}));
  EXPECT_EQ(A.permutation.extent(0), 0u);

  options.sorting_window = 0;
  const auto B = Filigree::convert<Filigree::SellMatrix>(example(), options);
  EXPECT_EQ(host_list(B.permutation), (Ints{2, 0, 3, 1}));
  EXPECT_EQ(host_list(B.slice_offsets), (Offsets{0, 6, 10}));
  EXPECT_EQ(host_list(B.slice_widths), (Ints{3, 2}));
  EXPECT_EQ(host_list(B.values), (Doubles{2, 3, 4, 1, 1, 0, 1, 0, 1, 0}));
  EXPECT_EQ(host_list(B.entries), (Ints{1, 0, 2, 2, 3, -1, 0, -1, 3, -1}));
}

/// Rows are only sorted inside of their window. With windows of two rows, row 1 stays in the first slice.
TEST(SellLayout, SortsRowsInsideWindows) {
  Filigree::SellOptions options = any_padding<Filigree::SellOptions>();
  options.slice_height = 2;
  options.sorting_window = 2;
  HostMatrix<double> host(5, 3);
  host.rows = {{{0, 1}}, {{0, 2}, {1, 3}}, {}, {{2, 4}}, {{1, 5}}};
  const auto A = Filigree::convert<Filigree::SellMatrix>(device_crs(host), options);
  EXPECT_EQ(host_list(A.permutation), (Ints{1, 0, 3, 2, 4}));
  EXPECT_EQ(host_list(A.slice_widths), (Ints{2, 1, 1}));
}

TEST(SellLayout, BeginsANewSliceWhenTheRowLengthChanges) {
  Filigree::SellOptions options = any_padding<Filigree::SellOptions>();
  options.slice_height = 2;
  options.sorting_window = 0;
  options.one_length_per_slice = true;
  const auto A = Filigree::convert<Filigree::SellMatrix>(example(), options);
  EXPECT_EQ(host_list(A.slice_rows), (Ints{0, 1, 3, 4}));
  EXPECT_EQ(host_list(A.slice_widths), (Ints{3, 2, 0}));
  EXPECT_EQ(host_list(A.values), (Doubles{2, 4, 1, 3, 1, 1, 1})) << "there must be no padding";

  // Many rows of one length form several slices.
  const auto B =
      Filigree::convert<Filigree::SellMatrix>(device_crs(block_banded<double>(1000, 1000, 1)), options);
  EXPECT_EQ(B.values.extent(0), static_cast<std::size_t>(B.nnz()));
  const auto slice_rows = host_list(B.slice_rows);
  for (std::size_t slice = 1; slice < slice_rows.size(); ++slice) {
    EXPECT_GT(slice_rows[slice], slice_rows[slice - 1]);
    EXPECT_LE(slice_rows[slice], slice_rows[slice - 1] + 2);
  }
}

/// Slices whose column range fits into 16 bits, one of them exactly, and one slice whose range does not.
TEST(SellLayout, StoresWholeColumnsIf16BitsAreTooFew) {
  Filigree::SellOptions options = any_padding<Filigree::SellOptions>();
  options.slice_height = 1;
  options.short_columns = true;
  HostMatrix<double> host(4, 100000);
  host.rows = {{{3, 1}, {3 + 65534, 2}}, {{7, 3}, {7 + 65535, 4}}, {{99999, 5}}, {}};
  const auto A = Filigree::convert<Filigree::SellMatrix>(device_crs(host), options);
  EXPECT_EQ(host_list(A.column_bases), (Ints{3, -1, 99999, 0}));
  EXPECT_EQ(host_list(A.column_offsets), (Offsets{0, 0, 2, 3}));
  EXPECT_EQ(host_list(A.short_entries), (std::vector<std::uint16_t>{0, 65534, 0}));
  EXPECT_EQ(host_list(A.entries), (Ints{7, 7 + 65535}));
  EXPECT_EQ(host_matrix(Filigree::to_crs(A)), host);
  EXPECT_TRUE((multiplies<Kokkos::LayoutLeft>(A, host, Product<double>{})));
}

TEST(JdsLayout, MatchesTheDrawing) {
  const auto A = Filigree::convert<Filigree::JdsMatrix>(example(), any_padding<Filigree::JdsOptions>());
  EXPECT_EQ(A.numDiagonals(), 3);
  EXPECT_EQ(host_list(A.permutation), (Ints{2, 0, 3, 1}));
  EXPECT_EQ(host_list(A.diagonal_offsets), (Offsets{0, 3, 6, 7}));
  EXPECT_EQ(host_list(A.values), (Doubles{2, 3, 1, 4, 1, 1, 1}));
  EXPECT_EQ(host_list(A.entries), (Ints{1, 0, 0, 2, 2, 3, 3}));
}

TEST(HybLayout, MatchesTheDrawing) {
  const auto options = any_padding(1, given_width<Filigree::HybOptions>(2));
  const auto A = Filigree::convert<Filigree::HybMatrix>(example(), options);
  EXPECT_EQ(A.width(), 2);
  EXPECT_EQ(first(host_list(A.ell.values), 4), (Doubles{3, 0, 2, 1}));
  EXPECT_EQ(first(host_list(A.ell.entries), 4), (Ints{0, -1, 1, 0}));
  EXPECT_EQ(host_list(A.ell.row_lengths), (Ints{2, 0, 3, 2}));
  EXPECT_EQ(host_list(A.coo.values), (Doubles{1}));
  EXPECT_EQ(host_list(A.coo.entries), (Ints{3}));
  EXPECT_EQ(host_list(A.coo.rows), (Ints{2}));
  EXPECT_EQ(A.coo.empty_rows.extent(0), 0u);
}

TEST(HecLayout, MatchesTheDrawing) {
  const auto options = any_padding(1, given_width<Filigree::HecOptions>(2));
  const auto A = Filigree::convert<Filigree::HecMatrix>(example(), options);
  EXPECT_EQ(A.width(), 2);
  EXPECT_EQ(first(host_list(A.ell.values), 4), (Doubles{3, 0, 2, 1}));
  EXPECT_EQ(host_list(A.ell.row_lengths), (Ints{2, 0, 3, 2}));
  EXPECT_EQ(host_list(A.excess_rows), (Ints{2}));
  EXPECT_EQ(host_list(A.excess_row_map), (Ints{0, 1}));
  EXPECT_EQ(host_list(A.excess_entries), (Ints{3}));
  EXPECT_EQ(host_list(A.excess_values), (Doubles{1}));
  EXPECT_EQ(A.numLongRows(), 0);
}

TEST(HecLayout, ListsLongRowsFirst) {
  auto options = any_padding(1, given_width<Filigree::HecOptions>(1));
  options.long_row = 1;
  const auto A = Filigree::convert<Filigree::HecMatrix>(example(), options);
  EXPECT_EQ(A.numLongRows(), 1);
  EXPECT_EQ(host_list(A.excess_rows), (Ints{2, 0, 3}));
  EXPECT_EQ(host_list(A.excess_row_map), (Ints{0, 2, 3, 4}));
  EXPECT_EQ(host_list(A.excess_entries), (Ints{2, 3, 2, 3}));
}

/// within[k] is the number of entries that are among the first k of their row.
TEST(RowHistogram, CountsShortAndLongRowsOfManyTeams) {
  HostMatrix<double> host(9001, 1700);
  std::vector<std::int64_t> within(1701);
  for (std::int64_t row = 0; row < host.row_count(); ++row) {
    // Rows with and without neighbours of equal length. Teams count lengths up to a limit in their own
    // histogram; rows of 1022 to 1025 entries lie on both sides of it.
    const std::int64_t length = row % 1500 == 77 ? 1700 : row % 1500 < 4 ? 1022 + row % 1500 : row / 64 % 5;
    for (std::int64_t k = 0; k < length; ++k)
      host.rows[static_cast<std::size_t>(row)].push_back({k, 1.0});
    for (std::int64_t k = 0; k <= 1700; ++k)
      within[static_cast<std::size_t>(k)] += std::min(k, length);
  }
  const auto counted = [](const HostMatrix<double>& matrix, std::int64_t most) {
    return host_list(Filigree::Impl::entries_within<Kokkos::View<std::int64_t*, Device>>(
        ExecutionSpace(), "within", "test", device_crs(matrix), most));
  };
  for (const std::size_t most : {1700, 1699, 1100, 1023, 4, 1, 0})
    EXPECT_EQ(
        counted(host, static_cast<std::int64_t>(most)),
        std::vector<std::int64_t>(within.begin(), within.begin() + static_cast<std::ptrdiff_t>(most) + 1));
  EXPECT_EQ(counted(HostMatrix<double>(0, 5), 1), (std::vector<std::int64_t>{0, 0}));
}

TEST(SellLayout, StoresTheSmallestColumnOfASliceAsItsBase) {
  Random random(12);
  HostMatrix<double> host(3000, 90000);
  for (std::int64_t row = 0; row < host.row_count(); ++row)
    for (std::int64_t k = row % 7 == 0 ? 100 : row % 4; k > 0; --k)
      host.rows[static_cast<std::size_t>(row)].push_back(
          {20 * row + random.below(row < 1500 ? 900 : 30000), 1.0});
  for (const bool long_rows : {false, true})
    for (const int height : {1, 8, 32, 256, 1024}) {
      // Rows this long make the conversion use one team per slice instead of one warp.
      if (long_rows && host.rows[7].size() < 500)
        for (std::int64_t k = 0; k < 500000; ++k)
          host.rows[static_cast<std::size_t>(k % 1000)].push_back({20 * (k % 1000) + k / 1000, 1.0});
      Filigree::SellOptions options;
      options.slice_height = height;
      options.short_columns = true;
      const auto A = Filigree::convert<Filigree::SellMatrix>(device_crs(host), any_padding(1, options));
      Ints bases;
      for (std::int64_t first = 0; first < host.row_count(); first += height) {
        std::int64_t least = host.columns;
        std::int64_t most = -1;
        for (std::int64_t row = first; row < std::min(first + height, host.row_count()); ++row)
          for (const auto& entry : host.rows[static_cast<std::size_t>(row)]) {
            least = std::min(least, entry.column);
            most = std::max(most, entry.column);
          }
        bases.push_back(static_cast<int>(most < 0 ? 0 : most - least < 65535 ? least : -1));
      }
      EXPECT_EQ(host_list(A.column_bases), bases) << "slice height " << height;
    }
}

/// 12000 rows: all have at least 2 entries, 4500 at least 5, 4095 at least 7, and one has 40.
TEST(HybridWidths, FollowTheRules) {
  HostMatrix<double> host(12000, 50);
  for (std::int64_t row = 0; row < 12000; ++row) {
    const std::int64_t length = row == 0 ? 40 : row < 4095 ? 7 : row < 4500 ? 5 : 2;
    for (std::int64_t k = 0; k < length; ++k)
      host.rows[static_cast<std::size_t>(row)].push_back({k, 1.0});
  }
  const auto crs = device_crs(host);
  Filigree::HybOptions options;
  EXPECT_EQ(Filigree::convert<Filigree::HybMatrix>(crs, options).width(), 5)
      << "fewer than 4096 rows have 7 entries";
  options.width_rule = Filigree::HybridWidth::least_bytes;
  const auto least = Filigree::convert<Filigree::HybMatrix>(crs, options);
  for (options = given_width<Filigree::HybOptions>(0); options.width <= 8; ++options.width) {
    const auto given = Filigree::convert<Filigree::HybMatrix>(crs, options);
    EXPECT_EQ(given.width(), options.width);
    EXPECT_LE(least.storage_bytes(), given.storage_bytes()) << "width " << options.width;
  }
  options.width = 1000;
  EXPECT_EQ(Filigree::convert<Filigree::HybMatrix>(crs, any_padding(1, options)).width(), 40);

  // A third of the rows have all entries.
  HostMatrix<double> third(3 * 4096, 9);
  for (std::size_t row = 0; row < 4096; ++row)
    for (std::int64_t k = 0; k < 9; ++k)
      third.rows[3 * row].push_back({k, 1.0});
  EXPECT_EQ(Filigree::convert<Filigree::HybMatrix>(device_crs(third)).width(), 9);

  // With 4000 rows no width is reached by 4096 rows.
  host.rows.resize(4000);
  EXPECT_EQ(Filigree::convert<Filigree::HybMatrix>(device_crs(host)).width(), 0);

  const auto least_hec = Filigree::convert<Filigree::HecMatrix>(crs);
  for (int width = 0; width <= 8; ++width) {
    const auto given = Filigree::convert<Filigree::HecMatrix>(crs, given_width<Filigree::HecOptions>(width));
    EXPECT_LE(least_hec.storage_bytes(), given.storage_bytes()) << "width " << width;
  }
}

TEST(DiaLayout, MatchesTheDrawing) {
  const auto A = Filigree::convert<Filigree::DiaMatrix>(example(), any_padding<Filigree::DiaOptions>());
  EXPECT_EQ(host_list(A.offsets), (Ints{-3, -1, 0, 1, 2}));
  EXPECT_EQ(host_list(A.values), (Doubles{0, 0, 0, 1, 0, 0, 2, 0, 3, 0, 4, 1, 0, 0, 1, 0, 1, 0, 0, 0}));
}

TEST(BellLayout, MatchesTheDrawing) {
  const auto A = Filigree::convert<Filigree::BellMatrix>(example(), any_padding<Filigree::BellOptions>(2));
  EXPECT_EQ(A.block_width(), 2);
  EXPECT_EQ(A.numBlockRows(), 2);
  EXPECT_EQ(host_list(A.block_entries), (Ints{0, 0, 1, 1}));
  EXPECT_EQ(host_list(A.values), (Doubles{3, 0, 0, 1, 0, 0, 2, 0, 1, 0, 4, 0, 0, 0, 1, 1}));
}

TEST(BellLayout, RefusesABlockSizeWithoutAKernel) {
  using Bell = Filigree::BellMatrix<double, int, Device>;
  for (const int b : {-1, 0, 9})
    EXPECT_TRUE(holds(message<std::invalid_argument>(
                          [&]() { Bell(18, 18, 0, b, 0, Bell::values_type(), Bell::entries_type()); }),
                      {"BellMatrix", "block_size is " + std::to_string(b), "1 to 8"}));
}

TEST(CdsLayout, MatchesTheDrawing) {
  // The drawing has letters: a stands for 1, b for 2, and so on.
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

TEST(CdsLayout, StoresTheExample) {
  const Cds A = Filigree::convert<Filigree::CdsMatrix>(example(), any_padding<Filigree::CdsOptions>(2));
  EXPECT_EQ(host_list(A.offsets), (Ints{-1, 0, 1}));
  EXPECT_EQ(host_list(A.values),
            (Doubles{0, 0, 0, 1, 0, 0, 2, 0, 3, 0, 4, 0, 0, 0, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0}));
}

#if FILIGREE_HAS_BSR
TEST(BsrLayout, StoresTheExample) {
  const auto A = Filigree::convert<Filigree::BsrMatrix>(example(), any_padding<Filigree::BsrOptions>(2));
  EXPECT_EQ(host_list(A.graph.row_map), (Ints{0, 2, 4}));
  EXPECT_EQ(host_list(A.graph.entries), (Ints{0, 1, 0, 1}));
  EXPECT_EQ(host_list(A.values), (Doubles{3, 0, 0, 0, 1, 0, 0, 0, 0, 2, 1, 0, 4, 1, 0, 1}));
}
#endif

/// CDS stores k * b * n values and k offsets (Godwin, Holewinski and Sadayappan 2012).
TEST(CdsLayout, StoresAsManyBytesAsTheFormulaSays) {
  for (const int b : {1, 2, 3, 4, 7})
    for (const int rows : {5 * b, 5 * b + b / 2}) {
      const Cds A = converted<CdsCase>(block_banded<double>(rows, 6 * b, b), b);
      const auto offsets = host_list(A.offsets);
      EXPECT_EQ(offsets, (std::vector<int>{-3, -1, 0, 1, 4})) << "block size " << b;
      EXPECT_EQ(A.values.extent(0), 5u * static_cast<unsigned>(b * rows));
      EXPECT_EQ(A.storage_bytes(), A.values.extent(0) * sizeof(double) + 5 * sizeof(int));
    }
}

TEST(CdsLayout, HasNoDiagonalsWithoutEntries) {
  const Cds A = converted<CdsCase>(HostMatrix<double>(6, 4));
  EXPECT_EQ(A.numDiagonals(), 0);
  EXPECT_EQ(A.storage_bytes(), 0u);
}

// The positions in a slice of more than 2^31 elements. The pointers are null, so no memory is needed.
TEST(SellLayout, ComputesPositionsIn64Bits) {
  const Filigree::Impl::StridedEntries<double, int, int, int> whole{nullptr, nullptr, 32768, 70000};
  EXPECT_EQ(whole.position(69999), std::int64_t(69999) * 32768);
  const Filigree::Impl::ShortColumnEntries<double, int> short_columns{nullptr, nullptr, {0}, 32768, 70000};
  EXPECT_EQ(short_columns.position(69999), std::int64_t(69999) * 32768);
}

}  // namespace FiligreeTest

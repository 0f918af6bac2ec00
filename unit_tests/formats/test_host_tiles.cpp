// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Products of matrices with more rows than one tile of a host thread has. The tiles begin and end inside of blocks,
// and some diagonals have no block, or few, in a tile.
#include <algorithm>
#include <cmath>
#include <string>

#include "../support/formats.hpp"
#include "../support/tools.hpp"

namespace FiligreeTest {
namespace {

/// Dense b x b blocks on the given block diagonals, as far as they lie in the matrix. The last block row and the
/// last block column may be incomplete.
HostMatrix<double> blocks_on_diagonals(std::int64_t rows, std::int64_t columns, int b,
                                       const std::vector<std::int64_t>& offsets) {
  HostMatrix<double> host(rows, columns);
  Random random(3);
  for (std::int64_t row = 0; row < rows; ++row)
    for (const std::int64_t offset : offsets)
      for (std::int64_t c = 0; c < b; ++c) {
        const std::int64_t column = (row / b + offset) * b + c;
        if (column >= 0 && column < columns)
          host.rows[static_cast<std::size_t>(row)].push_back({column, random.value<double>()});
      }
  return host;
}

template <template <class...> class Format, class Options>
void expect_correct(const HostMatrix<double>& host, const Options& options) {
  const auto A = Filigree::convert<Format>(device_crs(host), options);
  for (const int columns : {0, 3}) {
    const Product<double> product{Mode::NoTranspose, 1.5, 0.5, columns};
    const auto x = Random(5).vectors<double>(host.columns, std::max(columns, 1));
    const auto expected = expect_product(host, product, x);
    EXPECT_TRUE(multiplies_as_expected<Kokkos::LayoutLeft>(A, product, expected)) << columns;
    EXPECT_TRUE(multiplies_as_expected<Kokkos::LayoutRight>(A, product, expected)) << columns;
  }
}

TEST(HostTiles, CutBlocksAndDiagonalsAnywhere) {
  constexpr std::int64_t rows = 40001;
  struct Case {
    int block_size;
    std::int64_t columns;
  };
  for (const auto& [b, columns] : {Case{1, rows}, Case{1, rows / 2}, Case{2, 2 * rows}, Case{3, rows},
                                   Case{3, rows / 2}, Case{3, 2 * rows}, Case{5, rows}, Case{8, rows}}) {
    const std::int64_t last = rows / b;
    // The corners of a periodic grid have blocks in the first and in the last tile only.
    const std::vector<std::int64_t> offsets = {-last, -700, -1, 0, 1, 2, 700, last / 3, last};
    const auto host = blocks_on_diagonals(rows, columns, b, offsets);
    expect_correct<Filigree::CdsMatrix>(host, any_padding(b, Filigree::CdsOptions()));
    expect_correct<Filigree::BellMatrix>(host, any_padding(b, Filigree::BellOptions()));
  }
}

/// Diagonals begin or end in many rows, in few rows, or near the corners only.
TEST(HostTiles, HaveManyDiagonals) {
  struct Case {
    int block_size;
    std::int64_t rows;
    std::int64_t columns;
    std::int64_t first_offset;
    std::int64_t last_offset;
  };
  for (const auto& [b, rows, columns, first, last] :
       {Case{1, 400, 400, -399, 399}, Case{1, 5000, 5000, -20, 20}, Case{1, 17000, 60, -16999, -16900},
        Case{1, 60, 3000, 0, 2999}, Case{2, 601, 601, -300, 300}, Case{3, 601, 701, -12, 200},
        Case{4, 2000, 2003, -3, 3}, Case{8, 999, 1001, -5, 40}, Case{3, 40000, 40000, -4, 4},
        Case{5, 3000, 3000, -2, 2}, Case{6, 40000, 40001, -1, 1}, Case{7, 3001, 2999, -2, 1}}) {
    SCOPED_TRACE("b = " + std::to_string(b) + ", " + std::to_string(rows) + " x " + std::to_string(columns));
    std::vector<std::int64_t> offsets;
    for (std::int64_t offset = first; offset <= last; ++offset)
      offsets.push_back(offset);
    expect_correct<Filigree::CdsMatrix>(blocks_on_diagonals(rows, columns, b, offsets),
                                        any_padding(b, Filigree::CdsOptions()));
  }
}

/// The first block of x is not whole, and some block rows hold padding only.
TEST(HostTiles, HaveFewerColumnsThanABlock) {
  for (const int b : {2, 3, 5, 8})
    for (std::int64_t columns = 1; columns < b; ++columns) {
      HostMatrix<double> host(4 * b + 1, columns);
      host.rows[static_cast<std::size_t>(2 * b)].push_back({columns - 1, 3.0});
      expect_correct<Filigree::BellMatrix>(host, any_padding(b, Filigree::BellOptions()));
      expect_correct<Filigree::CdsMatrix>(host, any_padding(b, Filigree::CdsOptions()));
    }
}

/// Most rows of a slice have few entries, and a few rows have many.
TEST(HostTiles, HaveFewLongRows) {
  HostMatrix<double> host(20000, 700);
  Random random(7);
  for (std::int64_t row = 0; row < host.row_count(); ++row) {
    const std::int64_t length = row % 37 == 5 ? 300 + row % 300 : row % 11 == 0 ? 0 : 3 + row % 2;
    for (std::int64_t k = 0; k < length; ++k)
      host.rows[static_cast<std::size_t>(row)].push_back({(7 * row + k) % 700, random.value<double>()});
  }
  for (const bool is_short : {false, true}) {
    Filigree::SellOptions sell;
    sell.short_columns = is_short;
    sell.max_storage_ratio = 1000;
    expect_correct<Filigree::SellMatrix>(host, sell);
  }
  Filigree::EllOptions ell;
  ell.max_storage_ratio = 1000;
  for (const bool lengths : {true, false}) {
    ell.row_lengths = lengths;
    expect_correct<Filigree::EllMatrix>(host, ell);
  }
}

/// For padding a host loads x(0) or, with short columns, the element of the smallest column of the slice. Inf there
/// must not reach y.
TEST(HostTiles, PaddingHidesInfiniteElements) {
  HostMatrix<double> host(1000, 1000);
  Random random(9);
  for (std::int64_t row = 0; row < host.row_count(); ++row)
    for (std::int64_t k = 0; k <= row % 9; ++k)
      host.rows[static_cast<std::size_t>(row)].push_back({(row + 3 * k) % 1000, random.value<double>()});
  const auto is_infinite = [](std::int64_t column) { return column % 32 == 0; };
  const auto crs = device_crs(host);
  const auto expect_finite_rows = [&](const auto& A, const std::string& name) {
    const Kokkos::View<double*> x("x", 1000);
    const Kokkos::View<double*> y("y", 1000);
    const auto x_on_host = Kokkos::create_mirror_view(x);
    for (std::int64_t column = 0; column < 1000; ++column)
      x_on_host(column) = is_infinite(column) ? infinity<double>() : 1.0;
    Kokkos::deep_copy(x, x_on_host);
    Filigree::spmv("N", 1.0, A, x, 0.0, y);
    const auto y_on_host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), y);
    for (std::int64_t row = 0; row < 1000; ++row) {
      const auto& entries = host.rows[static_cast<std::size_t>(row)];
      const bool is_finite = std::none_of(entries.begin(), entries.end(),
                                          [&](const auto& entry) { return is_infinite(entry.column); });
      EXPECT_EQ(std::isfinite(y_on_host(row)), is_finite) << name << ", row " << row;
    }
  };
  for (const auto& variant : Filigree::variants_of<Filigree::SellOptions>())
    expect_finite_rows(Filigree::convert<Filigree::SellMatrix>(crs, any_padding(1, variant.options)),
                       variant.name);
  for (const auto& variant : Filigree::variants_of<Filigree::EllOptions>())
    expect_finite_rows(Filigree::convert<Filigree::EllMatrix>(crs, any_padding(1, variant.options)),
                       variant.name);
  for (const int b : {1, 3})
    expect_finite_rows(Filigree::convert<Filigree::BellMatrix>(crs, any_padding(b, Filigree::BellOptions())),
                       "bell");
}

/// A host multiplies values 0 of dense formats too, and multiplies rows again whose sums are NaN. Inf and NaN must not
/// reach y through a value 0, rows that have them in a column must get them, and y must be scaled once.
void expect_hidden_elements(const std::int64_t columns) {
  constexpr std::int64_t rows = 2003;
  HostMatrix<double> host(rows, columns);
  Random random(4);
  for (std::int64_t row = 0; row < rows; ++row)
    for (const std::int64_t offset : {-120, -42, -3, -1, 0, 1, 3, 42, 120})
      if (row + offset >= 0 && row + offset < columns && (row + 2 * offset) % 5 != 0)
        host.rows[static_cast<std::size_t>(row)].push_back({row + offset, random.value<double>()});
  const auto is_special = [](std::int64_t column) {
    return column % 97 == 60 || column == 0 || column == 1999;
  };
  const Kokkos::View<double* [2], Kokkos::LayoutRight, Device> y_of_two("y", rows);
  const auto expect_correct_rows = [&](const auto& A, const auto& y, const std::string& name) {
    const Kokkos::View<double*, Device> x("x", columns);
    const auto x_on_host = Kokkos::create_mirror_view(x);
    // The product of A with finite numbers only, and that with Inf and NaN.
    std::vector<std::vector<double>> results;
    for (const bool is_finite : {true, false}) {
      for (std::int64_t column = 0; column < columns; ++column)
        x_on_host(column) = is_finite || !is_special(column) ? static_cast<double>(column % 7) + 0.5
                            : column % 2 == 0                ? infinity<double>()
                                                             : not_a_number<double>();
      Kokkos::deep_copy(x, x_on_host);
      Kokkos::deep_copy(y, 8.0);
      Filigree::spmv("N", 1.5, A, x, 0.5, y);
      const Kokkos::View<double*, Device> copy("copy", rows);
      Kokkos::deep_copy(copy, y);
      results.push_back(host_list(copy));
    }
    for (std::size_t row = 0; row < results[0].size(); ++row) {
      const auto& entries = host.rows[row];
      if (std::none_of(entries.begin(), entries.end(),
                       [&](const auto& entry) { return is_special(entry.column); }))
        EXPECT_DOUBLE_EQ(results[1][row], results[0][row]) << name << ", row " << row;
      else
        EXPECT_FALSE(std::isfinite(results[1][row])) << name << ", row " << row;
    }
  };
  const auto crs = device_crs(host);
  const Kokkos::View<double*, Device> y("y", rows);
  const auto of_two = Kokkos::subview(y_of_two, Kokkos::ALL(), 1);
  for (const int b : {1, 2, 3, 4, 5, 7, 8}) {
    SCOPED_TRACE(b);
    const auto cds = Filigree::convert<Filigree::CdsMatrix>(crs, any_padding(b, Filigree::CdsOptions()));
    expect_correct_rows(cds, y, "cds");
    expect_correct_rows(cds, of_two, "cds, strided y");
    const auto bell = Filigree::convert<Filigree::BellMatrix>(crs, any_padding(b, Filigree::BellOptions()));
    expect_correct_rows(bell, y, "bell");
    expect_correct_rows(bell, of_two, "bell, strided y");
  }
  const auto sell = Filigree::convert<Filigree::SellMatrix>(crs);
  expect_correct_rows(sell, y, "sell");
  expect_correct_rows(sell, of_two, "sell, strided y");
}

/// All block sizes but 5 divide 2016, so that no block is cut. With 2003 columns those of the last rows are.
TEST(HostTiles, ValuesZeroHideInfiniteElements) {
  for (const std::int64_t columns : {2016, 2003})
    expect_hidden_elements(columns);
}

}  // namespace
}  // namespace FiligreeTest

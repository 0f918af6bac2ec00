// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// If several threads read a text in pieces, the result must be equal to that of one thread: the same matrix
// or the same error.
#include <gtest/gtest.h>

#include <filigree/io/matrix_market.hpp>
#include <random>
#include <sstream>

namespace {

using Loaded = Filigree::Impl::MatrixMarketCrs<double, std::int32_t>;

Loaded load(const std::string& text, std::int64_t pieces, const Filigree::MatrixMarketOptions& options = {}) {
  std::istringstream stream(text);
  const Filigree::Impl::MatrixMarketTarget target{INT32_MAX, INT64_MAX, pieces};
  return Filigree::Impl::load_matrix_market<double, std::int32_t>(stream, "test.mtx", options, target);
}

std::string error_of(const std::string& text, std::int64_t pieces,
                     const Filigree::MatrixMarketOptions& options = {}) {
  try {
    load(text, pieces, options);
  } catch (const Filigree::MatrixMarketError& error) {
    return error.what();
  }
  return "nothing";
}

template <class View>
std::vector<typename View::value_type> list(const View& view) {
  return {view.data(), view.data() + view.extent(0)};
}

/// Entry lines of a 40 x 40 matrix, with duplicates.
std::vector<std::string> some_lines(int count, bool below_diagonal) {
  std::mt19937 random(3);
  std::vector<std::string> lines;
  for (int i = 0; i < count; ++i) {
    unsigned row = random() % 40 + 1;
    unsigned col = random() % 40 + 1;
    if (below_diagonal && col > row) std::swap(row, col);
    lines.push_back(std::to_string(row) + ' ' + std::to_string(col) + ' ' + std::to_string(i) + ".25");
  }
  return lines;
}

/// A file with these entry lines and with comments and blank lines between them.
std::string text_of(const std::string& symmetry, const std::vector<std::string>& lines,
                    std::size_t announced) {
  std::string text =
      "%%MatrixMarket matrix coordinate real " + symmetry + "\n40 40 " + std::to_string(announced) + "\n";
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (i % 7 == 3) text += "% a comment\n";
    if (i % 11 == 5) text += "\r\n  \n";
    text += lines[i] + (i % 5 == 0 ? " \r\n" : "\n");
  }
  return text;
}

}  // namespace

TEST(MatrixMarketPieces, GiveTheMatrixOfOnePiece) {
  for (const std::string symmetry : {"general", "symmetric"}) {
    const auto lines = some_lines(300, symmetry == "symmetric");
    const std::string text = text_of(symmetry, lines, lines.size());
    const Loaded whole = load(text, 1);
    EXPECT_GT(whole.values.extent(0), 200u);
    for (const std::int64_t pieces : {2, 3, 7, 50, 5000}) {
      const Loaded a = load(text, pieces);
      EXPECT_EQ(list(a.row_map), list(whole.row_map)) << pieces;
      EXPECT_EQ(list(a.entries), list(whole.entries)) << pieces;
      // Duplicates must be summed in the order of the file.
      EXPECT_EQ(list(a.values), list(whole.values)) << pieces;
    }
  }
}

/// For each line: this line and a later one are made wrong. The error must name the first.
TEST(MatrixMarketPieces, NameTheFirstErrorOfTheFile) {
  const auto lines = some_lines(60, false);
  const std::vector<std::string> wrongs = {"41 1 1.0", "1 1 x", "1 1", "1 0 2.0", "3 3 1e999", "2 2 2.0 2.0"};
  for (std::size_t at = 0; at < lines.size(); ++at) {
    auto wrong = lines;
    wrong[at] = wrongs[at % wrongs.size()];
    if (at + 20 < wrong.size()) wrong[at + 20] = wrongs[(at + 1) % wrongs.size()];
    const std::string text = text_of("general", wrong, wrong.size());
    const std::string expected = error_of(text, 1);
    EXPECT_NE(expected.find("in the line \"" + wrong[at]), std::string::npos) << expected;
    for (const std::int64_t pieces : {2, 5, 40})
      EXPECT_EQ(error_of(text, pieces), expected);
  }
}

TEST(MatrixMarketPieces, CountTheEntriesOfAllPieces) {
  const auto lines = some_lines(60, false);
  for (const std::size_t announced : {59u, 61u, 0u}) {
    const std::string text = text_of("general", lines, announced);
    const std::string expected = error_of(text, 1);
    EXPECT_NE(expected.find(announced == 61 ? "truncated" : "the end of the file after"), std::string::npos)
        << expected;
    for (const std::int64_t pieces : {2, 5, 40})
      EXPECT_EQ(error_of(text, pieces), expected);
  }
}

TEST(MatrixMarketPieces, RefuseDuplicatesAcrossPieces) {
  std::vector<std::string> lines;
  for (int i = 1; i <= 40; ++i)
    lines.push_back(std::to_string(i) + " 1 1");
  lines[30] = "3 1 2";
  Filigree::MatrixMarketOptions options;
  options.duplicates = Filigree::MatrixMarketOptions::Duplicates::Refuse;
  const std::string text = text_of("general", lines, lines.size());
  const std::string expected = error_of(text, 1, options);
  EXPECT_NE(expected.find("row 3, column 1 is already in line 5"), std::string::npos) << expected;
  for (const std::int64_t pieces : {2, 5, 40})
    EXPECT_EQ(error_of(text, pieces, options), expected);
}

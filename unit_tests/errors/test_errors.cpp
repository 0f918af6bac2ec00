// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every row of docs/errors.md has an exception with this type and text, and every cause has a row.
#include <algorithm>
#include <exception>
#include <filesystem>
#include <filigree/io/matrix_market.hpp>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "../support/errors.hpp"
#include "causes.hpp"

namespace FiligreeTest {
namespace {

/// A row of a table of exceptions.
struct Row {
  std::string name;
  std::string type;
  std::vector<std::string> pieces;  ///< of the text, between {names}
  std::vector<bool> optional;       ///< whether the name behind piece i may stand for nothing
  std::size_t letters = 0;          ///< of all pieces

  /// Whether the whole text consists of the pieces, with something in between.
  bool matches(const std::string& text) const {
    if (text.compare(0, pieces.front().size(), pieces.front()) != 0) return false;
    std::size_t at = pieces.front().size();
    for (std::size_t i = 1; i < pieces.size(); ++i) {
      const std::size_t least = at + (optional[i - 1] ? 0 : 1);
      const bool last = i + 1 == pieces.size();
      if (text.size() < least + pieces[i].size()) return false;
      at = last ? text.size() - pieces[i].size() : text.find(pieces[i], least);
      if (at == std::string::npos || text.compare(at, pieces[i].size(), pieces[i]) != 0) return false;
      at += pieces[i].size();
    }
    return at == text.size();
  }
};

/// The document. Without its folder, as in an installed copy, the tests are skipped.
const std::filesystem::path document = std::filesystem::path(FILIGREE_DOCS_DIR) / "errors.md";

/// The cells of a line of a table, without blanks around them; none if it is no such line.
std::vector<std::string> cells_of(const std::string& line) {
  std::vector<std::string> cells;
  if (line.empty() || line.front() != '|') return cells;
  std::istringstream stream(line.substr(1));
  for (std::string cell; std::getline(stream, cell, '|');) {
    const std::size_t first = cell.find_first_not_of(' ');
    const std::size_t last = cell.find_last_not_of(' ');
    cells.push_back(first == std::string::npos ? "" : cell.substr(first, last - first + 1));
  }
  return cells;
}

/// The text between two backquotes; empty if the cell is not such a text.
std::string code_of(const std::string& cell) {
  const bool is_code = cell.size() > 2 && cell.front() == '`' && cell.find('`', 1) == cell.size() - 1;
  return is_code ? cell.substr(1, cell.size() - 2) : "";
}

Row row_of(const std::vector<std::string>& cells) {
  Row row{code_of(cells[0]), code_of(cells[1]), {}, {}};
  const std::string text = code_of(cells[2]);
  std::size_t at = 0;
  for (std::size_t open = text.find('{'); open != std::string::npos; open = text.find('{', at)) {
    const std::size_t close = text.find('}', open);
    if (close == std::string::npos) break;
    row.pieces.push_back(text.substr(at, open - at));
    row.optional.push_back(text[close - 1] == '?');
    at = close + 1;
  }
  row.pieces.push_back(text.substr(at));
  for (const auto& piece : row.pieces)
    row.letters += piece.size();
  return row;
}

/// All rows. Every table with five columns is one of exceptions.
std::vector<Row> read_rows() {
  std::vector<Row> rows;
  std::ifstream file(document);
  for (std::string line; std::getline(file, line);) {
    const auto cells = cells_of(line);
    if (cells.size() != 5 || cells[0] == "row" || cells[0] == "---") continue;
    rows.push_back(row_of(cells));
    EXPECT_FALSE(rows.back().name.empty() || rows.back().type.empty() || rows.back().letters == 0 ||
                 cells[3].empty() || cells[4].empty())
        << "not a row of five cells, with code in the first three: " << line;
  }
  return rows;
}

/// What the calls throw that are made before main() initializes Kokkos.
Causes thrown_before_main() {
  Causes result;
  for (const Cause& cause : causes_without_kokkos())
    try {
      cause.call();
      result.push_back({cause.row, []() {}});
    } catch (...) {
      result.push_back({cause.row, [error = std::current_exception()]() { std::rethrow_exception(error); }});
    }
  return result;
}
const Causes before_main = thrown_before_main();

Causes all_causes() {
  Causes all = before_main;
  for (const auto& list : {causes_of_products(), causes_of_conversions(), causes_of_checks(),
                           causes_of_choices(), causes_of_grids(), causes_of_files(), causes_of_solvers()})
    all.insert(all.end(), list.begin(), list.end());
  return all;
}

/// The name of the type of an exception that Filigree throws; empty for other types.
std::string type_of(const std::exception& error) {
  const auto is = [&](const auto& type) { return typeid(error) == type; };
  return is(typeid(std::invalid_argument))         ? "std::invalid_argument"
         : is(typeid(std::length_error))           ? "std::length_error"
         : is(typeid(std::overflow_error))         ? "std::overflow_error"
         : is(typeid(std::range_error))            ? "std::range_error"
         : is(typeid(std::runtime_error))          ? "std::runtime_error"
         : is(typeid(std::logic_error))            ? "std::logic_error"
         : is(typeid(Filigree::MatrixMarketError)) ? "Filigree::MatrixMarketError"
                                                   : "";
}

class Errors : public testing::Test {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(document.parent_path()))
      GTEST_SKIP() << "There is no folder " << document.parent_path()
                   << ", so that there is nothing to test.";
    ASSERT_FALSE(rows().empty()) << document << " has no rows.";
  }
  static const std::vector<Row>& rows() {
    static const std::vector<Row> all = read_rows();
    return all;
  }
};

TEST_F(Errors, RowsHaveDifferentNames) {
  std::set<std::string> names;
  for (const Row& row : rows())
    EXPECT_TRUE(names.insert(row.name).second) << "two rows have the name " << row.name;
}

TEST_F(Errors, RowsAndCausesBelongTogether) {
  std::set<std::string> documented;
  std::set<std::string> caused;
  for (const Row& row : rows())
    documented.insert(row.name);
  for (const Cause& cause : all_causes())
    caused.insert(cause.row);
  for (const auto& name : documented)
    EXPECT_EQ(caused.count(name), 1u) << document << " has the row " << name << ", but no test causes it";
  for (const auto& name : caused)
    EXPECT_EQ(documented.count(name), 1u) << name << " is not a row of " << document;
}

/// Of several rows that match a text, the one with the most letters must be that of the cause. The others
/// stand for whatever they match.
TEST_F(Errors, HaveTheTypeAndTextOfTheirRow) {
  std::size_t compared = 0;
  std::map<std::string, int> numbers;
  for (const Cause& cause : all_causes()) {
    SCOPED_TRACE(cause.row + ", cause " + std::to_string(++numbers[cause.row]));
    try {
      cause.call();
      ADD_FAILURE() << "no exception";
    } catch (const NotHere& reason) {
      std::cout << "[ not here ] " << cause.row << ": " << reason.why << '\n';
    } catch (const std::exception& error) {
      ++compared;
      const Row* found = nullptr;
      for (const Row& row : rows())
        if (row.matches(error.what()) && (found == nullptr || row.letters > found->letters)) found = &row;
      if (found == nullptr) {
        ADD_FAILURE() << "no row has the text \"" << error.what() << '"';
        continue;
      }
      EXPECT_EQ(found->name, cause.row) << error.what();
      EXPECT_EQ(found->type, type_of(error)) << error.what();
    }
  }
  EXPECT_GT(compared, rows().size() - 8);
}

}  // namespace
}  // namespace FiligreeTest

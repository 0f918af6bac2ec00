// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// read_tpetra_matrix and product_times. The tests run with 1 to 4 ranks.
#include <cmath>
#include <filigree/tpetra/read_tpetra_matrix.hpp>
#include <filigree/tpetra/tpetra_operator.hpp>
#include <fstream>

#include "errors.hpp"

namespace {

using FiligreeTest::text_on_all_ranks;
using FiligreeTest::world;
using Matrix = Tpetra::CrsMatrix<>;
using Vectors = Tpetra::MultiVector<>;

/// A file that rank 0 writes and removes. All ranks know its name, which depends on the number of ranks,
/// because tests with other numbers may run at the same time.
class File {
 public:
  explicit File(const std::string& text)
      : m_path(testing::TempDir() + "filigree_read_" + std::to_string(world()->getSize()) + ".mtx") {
    if (world()->getRank() == 0) std::ofstream(m_path) << text;
    world()->barrier();
  }
  ~File() {
    world()->barrier();
    if (world()->getRank() == 0) std::remove(m_path.c_str());
  }
  const std::string& path() const { return m_path; }

 private:
  std::string m_path;
};

/// A file of rows with 0 to 4 entries, and one long row. Row i and column j have the value i + j / 1000.
std::string text_of(int rows, int columns) {
  std::ostringstream entries;
  int count = 0;
  const auto add = [&](int row, int column) {
    entries << row + 1 << ' ' << column + 1 << ' ' << row + column / 1000.0 << '\n';
    ++count;
  };
  for (int row = 0; row < rows; ++row)
    for (int k = 0; k < (row == 3 ? columns : std::min(row % 5, columns)); ++k)
      add(row, row == 3 ? k : (row * 7 + k * 11) % columns);
  std::ostringstream text;
  text << "%%MatrixMarket matrix coordinate real general\n"
       << rows << ' ' << columns << ' ' << count << '\n'
       << entries.str();
  return text.str();
}

void check_file(int rows, int columns) {
  SCOPED_TRACE(testing::Message() << rows << " x " << columns);
  const File file(text_of(rows, columns));
  const auto matrix = Filigree::read_tpetra_matrix(file.path(), world());
  const auto whole = Filigree::read_matrix_market<Matrix::local_matrix_device_type>(file.path());
  ASSERT_TRUE(matrix->isFillComplete());
  ASSERT_EQ(static_cast<int>(matrix->getGlobalNumRows()), rows);
  ASSERT_EQ(static_cast<int>(matrix->getDomainMap()->getGlobalNumElements()), columns);
  ASSERT_EQ(matrix->getGlobalNumEntries(), whole.nnz());
  EXPECT_EQ(matrix->getRangeMap()->isSameAs(*matrix->getRowMap()), true);
  if (rows == columns) {
    EXPECT_TRUE(matrix->getDomainMap()->isSameAs(*matrix->getRowMap()));
  }
  const auto crs = matrix->getLocalMatrixHost();
  for (int row = 0; row < crs.numRows(); ++row) {
    const auto global = static_cast<int>(matrix->getRowMap()->getGlobalElement(row));
    std::map<std::int64_t, double> found, expected;
    for (auto k = crs.graph.row_map(row); k < crs.graph.row_map(row + 1); ++k)
      found[matrix->getColMap()->getGlobalElement(crs.graph.entries(k))] += crs.values(k);
    for (auto k = whole.graph.row_map(global); k < whole.graph.row_map(global + 1); ++k)
      expected[whole.graph.entries(k)] += whole.values(k);
    ASSERT_EQ(found, expected) << "row " << global;
  }
  // The operator of the matrix.
  Vectors x(matrix->getDomainMap(), 1), y(matrix->getRangeMap(), 1), expected(matrix->getRangeMap(), 1);
  x.putScalar(1);
  Filigree::TpetraOperator<Matrix>(matrix).apply(x, y);
  matrix->apply(x, expected);
  for (int i = 0; i < crs.numRows(); ++i)
    ASSERT_NEAR(y.getData(0)[i], expected.getData(0)[i], 1e-12 * rows * columns);
}

TEST(ReadTpetraMatrix, RowsAreThoseOfTheFile) {
  check_file(200, 200);
  check_file(200, 30);
  check_file(20, 90);
  check_file(2, 2);  // ranks without rows
  check_file(1, 5);
}

TEST(ReadTpetraMatrix, RanksGetEqualSumsOfRowsAndEntries) {
  // The first 100 of 1000 rows have 100 entries, the others one: with their rows, 10100 + 1800.
  const Kokkos::View<std::size_t*, Kokkos::HostSpace> row_map("row_map", 1001);
  for (std::size_t row = 0; row < 1000; ++row)
    row_map(row + 1) = row_map(row) + (row < 100 ? 100 : 1);
  const auto firsts = Filigree::Impl::balanced_rows(row_map, 4);
  ASSERT_EQ(firsts.size(), 5u);
  EXPECT_EQ(firsts.front(), 0);
  EXPECT_EQ(firsts.back(), 1000);
  for (std::size_t part = 0; part < 4; ++part) {
    const auto first = static_cast<std::size_t>(firsts[part]),
               end = static_cast<std::size_t>(firsts[part + 1]);
    EXPECT_NEAR(static_cast<double>(row_map(end) - row_map(first) + end - first), 11900.0 / 4, 101);
  }
  const Kokkos::View<std::size_t*, Kokkos::HostSpace> empty("empty", 1);
  EXPECT_EQ(Filigree::Impl::balanced_rows(empty, 2), (std::vector<std::int64_t>{0, 0, 0}));
}

TEST(ReadTpetraMatrix, ABadFileIsTheSameErrorOnAllRanks) {
  const File file("%%MatrixMarket matrix coordinate real general\n2 2 1\n1 3 1.0\n");
  const auto text =
      text_on_all_ranks<std::runtime_error>([&]() { Filigree::read_tpetra_matrix(file.path(), world()); });
  EXPECT_CONTAINS(text, "Filigree::read_tpetra_matrix: error on rank 0: Filigree::read_matrix_market: ");
  EXPECT_CONTAINS(text, "line 3");
  const auto missing = text_on_all_ranks<std::runtime_error>(
      [&]() { Filigree::read_tpetra_matrix(file.path() + ".missing", world()); });
  EXPECT_CONTAINS(missing, ".missing");
}

TEST(ProductTimes, TheStepsHaveTimes) {
  const File file(text_of(300, 300));
  const auto matrix = Filigree::read_tpetra_matrix(file.path(), world());
  for (const auto split : {Filigree::TpetraSplit::always, Filigree::TpetraSplit::never}) {
    Filigree::TpetraOptions options;
    options.split = split;
    const Filigree::TpetraOperator<Matrix> op(matrix, options);
    const Filigree::TpetraProductTimes times = op.product_times(2, 3);
    EXPECT_GT(times.apply, 0);
    EXPECT_GT(times.owned, 0);
    EXPECT_EQ(times.exchange > 0, world()->getSize() > 1);
    EXPECT_EQ(times.remote > 0, world()->getSize() > 1 && split == Filigree::TpetraSplit::always);
    EXPECT_EQ(op.importer().is_null(), world()->getSize() == 1);
  }
}

}  // namespace

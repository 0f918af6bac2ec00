// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// TpetraStencilProblem against the StencilProblem of the whole grid. The tests run with 1 to 4 ranks.
#include <gtest/gtest.h>

#include <Tpetra_Core.hpp>

#include <filigree/tpetra/tpetra_stencil_problem.hpp>
#include <map>

#include "../support/all_parts.hpp"
#include "errors.hpp"

namespace {

using Filigree::Boundaries;
using Filigree::Boundary;
using Filigree::GridParts;
using Filigree::RandomCoefficients;
using Filigree::Stencil;
using Filigree::StencilProblem;
using Filigree::TpetraStencilProblem;
using Cells = std::array<std::int64_t, 3>;
using Matrix = Tpetra::CrsMatrix<>;
using LocalCrs = Matrix::local_matrix_device_type;
using Vectors = Tpetra::MultiVector<>;
using FiligreeTest::text_on_all_ranks;
using FiligreeTest::world;

/// All entries of a matrix on the host: the rows, with their columns and values.
using Entries = std::map<std::int64_t, std::map<std::int64_t, double>>;

template <class Coefficients>
Entries entries_of(const StencilProblem<Coefficients>& problem) {
  const auto crs =
      problem
          .template crs<KokkosSparse::CrsMatrix<double, std::int64_t, Kokkos::HostSpace, void, std::int64_t>>(
              Kokkos::DefaultHostExecutionSpace());
  Entries entries;
  for (std::int64_t row = 0; row < crs.numRows(); ++row)
    for (auto k = crs.graph.row_map(row); k < crs.graph.row_map(row + 1); ++k)
      entries[row][crs.graph.entries(k)] = crs.values(k);
  return entries;
}

/// The rows of this rank are those of the whole grid, and the operator has the products of the matrix.
template <class Coefficients>
void check_problem(const StencilProblem<Coefficients>& problem, const Cells& cells, const GridParts& parts) {
  SCOPED_TRACE(testing::Message() << cells[0] << " x " << cells[1] << " x " << cells[2] << " cells in "
                                  << parts.counts[0] << " x " << parts.counts[1] << " x " << parts.counts[2]
                                  << " parts, dof " << problem.dof());
  const TpetraStencilProblem distributed(problem, parts, world());
  const auto matrix = distributed.matrix();
  const Entries expected = entries_of(problem);
  ASSERT_EQ(static_cast<std::int64_t>(matrix->getGlobalNumRows()), problem.numRows());
  ASSERT_EQ(static_cast<std::int64_t>(matrix->getGlobalNumEntries()), problem.nnz());
  const auto crs = matrix->getLocalMatrixHost();
  ASSERT_EQ(crs.numRows(), distributed.box().cells() * problem.dof());
  for (int row = 0; row < crs.numRows(); ++row) {
    std::map<std::int64_t, double> found;
    for (auto k = crs.graph.row_map(row); k < crs.graph.row_map(row + 1); ++k) {
      if (k > crs.graph.row_map(row)) {
        ASSERT_LT(crs.graph.entries(k - 1), crs.graph.entries(k)) << "row " << row << " is not sorted";
      }
      found[matrix->getColMap()->getGlobalElement(crs.graph.entries(k))] = crs.values(k);
    }
    const auto wanted = expected.find(matrix->getRowMap()->getGlobalElement(row));
    ASSERT_EQ(found, wanted == expected.end() ? decltype(found)() : wanted->second) << "row " << row;
  }

  const auto op = distributed.make_operator();
  EXPECT_EQ(op->owned().selection().pick().name, "cds");
  EXPECT_CONTAINS(op->owned().explain(), "cds");
  EXPECT_EQ(op->owned().nnz() + op->remote().nnz(), crs.nnz());
  for (const auto mode : {Teuchos::NO_TRANS, Teuchos::TRANS}) {
    Vectors x(distributed.map(), 2), y(distributed.map(), 2), by_tpetra(distributed.map(), 2);
    for (std::size_t i = 0; i < x.getLocalLength(); ++i)
      for (const std::size_t column : {0, 1}) {
        const auto element = x.getMap()->getGlobalElement(static_cast<int>(i));
        x.replaceLocalValue(static_cast<int>(i), column,
                            std::sin(static_cast<double>(element) + 3.0 * static_cast<double>(column)));
      }
    y.putScalar(2);
    by_tpetra.putScalar(2);
    op->apply(x, y, mode, 0.5, -1);
    matrix->apply(x, by_tpetra, mode, 0.5, -1);
    for (const std::size_t column : {0, 1}) {
      const auto a = y.getData(column), b = by_tpetra.getData(column);
      for (int i = 0; i < a.size(); ++i)
        // A row has at most 27 * dof entries of magnitude 1 and a diagonal of at most 28 * dof.
        ASSERT_NEAR(a[i], b[i], 1e-14 * 100 * problem.dof()) << "element " << i;
    }
  }
}

TEST(TpetraStencilProblem, EqualsTheWholeGrid) {
  for (const GridParts& parts : FiligreeTest::all_parts(world()->getSize()))
    for (const int dof : {1, 3}) {
      const Cells cells = {7, 5, 6};
      for (const Stencil& stencil : {Stencil::seven_point(), Stencil::twenty_seven_point()}) {
        const int points = static_cast<int>(stencil.points.size());
        check_problem(StencilProblem(cells, stencil, dof, RandomCoefficients{points, dof}), cells, parts);
      }
    }
}

TEST(TpetraStencilProblem, EachRuleAtEachBoundary) {
  const Cells cells = {5, 6, 7};
  const std::vector<Boundary> rules = {Boundary::drop(), Boundary::wrap(), Boundary::clamp(),
                                       Boundary::constant(2, -3)};
  Stencil stencil = Stencil::seven_point();
  stencil.points.push_back({2, -1, 0});
  stencil.points.push_back({-1, 2, 3});
  for (const GridParts& parts : FiligreeTest::all_parts(world()->getSize()))
    for (const Boundary& x : rules)
      for (const Boundary& z : rules) {
        const Boundaries boundaries = {x, rules[(parts.counts[1] + 1) % 4], z};
        const StencilProblem problem(cells, stencil, 2, RandomCoefficients{9, 2}, boundaries);
        check_problem(problem, cells, parts);
        // The right-hand side.
        const auto expected = problem.right_hand_side<Kokkos::View<double*, Kokkos::HostSpace>>(
            Kokkos::DefaultHostExecutionSpace());
        const auto found = TpetraStencilProblem(problem, parts, world()).right_hand_side();
        const auto data = found->getData();
        for (int i = 0; i < data.size(); ++i)
          ASSERT_EQ(data[i], expected(found->getMap()->getGlobalElement(i))) << "element " << i;
      }
}

TEST(TpetraStencilProblem, RanksWithoutCellsAndFarPoints) {
  Stencil far;  // reaches beyond the next part
  far.points = {{0, 0, 0}, {0, 0, 5}, {0, 0, -3}, {2, 0, 0}};
  for (const GridParts& parts : FiligreeTest::all_parts(world()->getSize())) {
    for (const Cells& cells : {Cells{3, 1, 1}, Cells{1, 1, 1}, Cells{2, 2, 1}, Cells{1, 3, 2}})
      check_problem(StencilProblem(cells, Stencil::seven_point(), 2, RandomCoefficients{7, 2}), cells, parts);
    const Cells cells = {3, 2, 8};
    check_problem(StencilProblem(cells, far, 2, RandomCoefficients{4, 2}), cells, parts);
  }
}

TEST(TpetraStencilProblem, CellsWithoutNeighbours) {
  Stencil alone;
  alone.points = {{0, 0, 0}};
  const Cells cells = {4, 4, 4};
  const StencilProblem problem(cells, alone, 2, RandomCoefficients{1, 2});
  for (const GridParts& parts : FiligreeTest::all_parts(world()->getSize()))
    check_problem(problem, cells, parts);
}

TEST(TpetraStencilProblem, SlabsAreContiguousAndTheDefaultCoefficientsWork) {
  const Cells cells = {4, 4, 9};
  const StencilProblem problem(cells, Stencil::seven_point(), 2);
  const GridParts slabs = GridParts::slabs(cells, world()->getSize());
  EXPECT_TRUE(TpetraStencilProblem(problem, slabs, world()).map()->isContiguous());
  check_problem(problem, cells, slabs);
  check_problem(problem, cells, GridParts::blocks(cells, world()->getSize()));
}

/// 1 times a factor that can change.
struct Scaled {
  Kokkos::View<double, LocalCrs::device_type> factor;
  KOKKOS_INLINE_FUNCTION double operator()(std::int64_t cell, std::int64_t neighbour, int, int) const {
    return factor() * static_cast<double>(1 + cell + neighbour % 3);
  }
};

TEST(TpetraStencilProblem, NewCoefficientsAreInTheNextOperator) {
  const Cells cells = {4, 3, 5};
  const Scaled coefficients{Kokkos::View<double, LocalCrs::device_type>("factor")};
  Kokkos::deep_copy(coefficients.factor, 1);
  const StencilProblem problem(cells, Stencil::seven_point(), 1, coefficients);
  const TpetraStencilProblem distributed(problem, GridParts::slabs(cells, world()->getSize()), world());
  Vectors x(distributed.map(), 1), before(distributed.map(), 1), after(distributed.map(), 1);
  x.putScalar(1);
  const auto first = distributed.make_operator();
  first->apply(x, before);
  Kokkos::deep_copy(coefficients.factor, 4);
  distributed.make_operator()->apply(x, after);
  for (int i = 0; i < static_cast<int>(x.getLocalLength()); ++i)
    ASSERT_EQ(after.getData(0)[i], 4 * before.getData(0)[i]);
  const auto text = text_on_all_ranks<std::logic_error>([&]() { first->refill(); });
  EXPECT_CONTAINS(text,
                  "made by TpetraStencilProblem and has no Tpetra::CrsMatrix; call make_operator() again");
}

TEST(TpetraStencilProblemErrors, WrongParts) {
  const Cells cells = {4, 4, 4};
  const StencilProblem problem(cells, Stencil::seven_point(), 1);
  const int ranks = world()->getSize();
  const GridParts too_many = GridParts::slabs(cells, ranks + 1);
  auto text =
      text_on_all_ranks<std::runtime_error>([&]() { TpetraStencilProblem(problem, too_many, world()); });
  EXPECT_CONTAINS(text, "Filigree::TpetraStencilProblem: error on rank 0: the grid has 1 x 1 x " +
                            std::to_string(ranks + 1) + " parts, but there are " + std::to_string(ranks));
  const GridParts negative = {{-1, -1, ranks}};
  text = text_on_all_ranks<std::runtime_error>([&]() { TpetraStencilProblem(problem, negative, world()); });
  EXPECT_CONTAINS(text, "the grid has -1 x -1 x ");
  EXPECT_THROW(TpetraStencilProblem(problem, too_many, Teuchos::null), std::invalid_argument);
}

TEST(TpetraStencilProblemErrors, ProblemsThatDiffer) {
  const int ranks = world()->getSize();
  if (ranks == 1) return;
  const Cells cells = {4, 4, world()->getRank() == ranks - 1 ? 5 : 4};
  const StencilProblem problem(cells, Stencil::seven_point(), 1);
  const auto text = text_on_all_ranks<std::runtime_error>(
      [&]() { TpetraStencilProblem(problem, GridParts::slabs(cells, ranks), world()); });
  EXPECT_CONTAINS(text, "error on rank " + std::to_string(ranks - 1) + ": it has 4 x 4 x 5 cells");
  EXPECT_CONTAINS(text, "but rank 0 has 4 x 4 x 4 cells");
  const Cells same = {4, 4, 4};
  const double value = world()->getRank() == ranks - 1 ? 2.5 : 2;
  const StencilProblem other_value(same, Stencil::seven_point(), 1, {Boundary::constant(0, value), {}, {}});
  const auto text_of_values = text_on_all_ranks<std::runtime_error>(
      [&]() { TpetraStencilProblem(other_value, GridParts::slabs(same, ranks), world()); });
  EXPECT_CONTAINS(text_of_values, "(0, 2.5)");
}

TEST(TpetraStencilProblemErrors, WrongOptions) {
  const Cells cells = {4, 4, 4};
  const StencilProblem problem(cells, Stencil::seven_point(), 1);
  const TpetraStencilProblem distributed(problem, GridParts::slabs(cells, world()->getSize()), world());
  Filigree::TpetraOptions options;
  options.format = "ell";
  auto text = text_on_all_ranks<std::runtime_error>([&]() { distributed.make_operator(options); });
  EXPECT_CONTAINS(text,
                  "make_operator: error on rank 0: options.format is \"ell\"; it must be empty or \"cds\"");
  options.format = "";
  options.split = Filigree::TpetraSplit::never;
  text = text_on_all_ranks<std::runtime_error>([&]() { distributed.make_operator(options); });
  EXPECT_CONTAINS(text, "options.split is never, but the owned columns are a CDS matrix of their own");
  options.split = Filigree::TpetraSplit::if_faster;
  if (world()->getSize() == 1) return;
  options.format = world()->getRank() == 0 ? "" : "cds";
  text = text_on_all_ranks<std::runtime_error>([&]() { distributed.make_operator(options); });
  EXPECT_CONTAINS(text, "give the same options on all ranks");
  options.format = "";
  options.remote_format = "none";
  text = text_on_all_ranks<std::runtime_error>([&]() { distributed.make_operator(options); });
  EXPECT_CONTAINS(text, "there is no format \"none\"");
}

TEST(TpetraStencilProblemErrors, MoreColumnsThanTheLocalIndexCounts) {
  const Cells cells = {1 << 11, 1 << 11, 1 << 11};
  const StencilProblem problem(cells, Stencil::seven_point(), 1);
  const auto text = text_on_all_ranks<std::runtime_error>(
      [&]() { TpetraStencilProblem(problem, GridParts::slabs(cells, world()->getSize()), world()); });
  EXPECT_CONTAINS(text, "is more than a 32-bit local");
}

}  // namespace

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// TpetraOperator against Tpetra::CrsMatrix::apply. The tests run with 1 to 4 ranks.
#include <gtest/gtest.h>

#include <Tpetra_Core.hpp>

#include <cmath>
#include <filigree/tpetra/tpetra_operator.hpp>
#include <functional>
#include <limits>

#include "errors.hpp"

namespace {

using Matrix = Tpetra::CrsMatrix<>;
using Scalar = Matrix::scalar_type;
using Global = Matrix::global_ordinal_type;
using Map = Tpetra::Map<>;
using Vectors = Tpetra::MultiVector<>;
using Operator = Filigree::TpetraOperator<Matrix>;
using FiligreeTest::text_on_all_ranks;
using FiligreeTest::world;
using Teuchos::RCP;
using Teuchos::rcp;

RCP<const Map> uniform_map(Global elements) {
  return rcp(new Map(static_cast<Tpetra::global_size_t>(elements), 0, world()));
}

/// A map with these global indices on this rank.
RCP<const Map> map_of(const std::vector<Global>& elements) {
  return rcp(new Map(Teuchos::OrdinalTraits<Tpetra::global_size_t>::invalid(),
                     Teuchos::ArrayView<const Global>(elements.data(), static_cast<int>(elements.size())), 0,
                     world()));
}

/// A number from -1 to 1 that depends on two integers, the same on all ranks.
double noise(Global i, Global j) {
  const auto mixed = static_cast<std::uint64_t>(i) * 6364136223846793005ULL +
                     static_cast<std::uint64_t>(j) * 1442695040888963407ULL;
  return std::sin(static_cast<double>(mixed % 1000003));
}

using Row = std::vector<std::pair<Global, double>>;
using Rows = std::function<Row(Global)>;

/// The matrix whose rows, those of row_map, have these entries.
RCP<Matrix> make_matrix(const RCP<const Map>& row_map, const RCP<const Map>& domain,
                        const RCP<const Map>& range, const Rows& rows, bool absolute = false) {
  std::size_t longest = 1;
  for (std::size_t i = 0; i < Filigree::Impl::local_size(*row_map, 0); ++i)
    longest = std::max(longest, rows(row_map->getGlobalElement(static_cast<int>(i))).size());
  const auto matrix = rcp(new Matrix(row_map, longest));
  for (std::size_t i = 0; i < Filigree::Impl::local_size(*row_map, 0); ++i) {
    const Global row = row_map->getGlobalElement(static_cast<int>(i));
    for (const auto& [column, value] : rows(row)) {
      const Scalar entry = absolute ? std::abs(value) : value;
      matrix->insertGlobalValues(row, Teuchos::tuple(column), Teuchos::tuple(entry));
    }
  }
  matrix->fillComplete(domain, range);
  return matrix;
}

/// A matrix, and the one of the magnitudes of its entries, which gives the bound of the rounding error.
struct Problem {
  RCP<Matrix> matrix;
  RCP<Matrix> magnitudes;

  Problem(const RCP<const Map>& row_map, const RCP<const Map>& domain, const RCP<const Map>& range,
          const Rows& rows)
      : matrix(make_matrix(row_map, domain, range, rows)),
        magnitudes(make_matrix(row_map, domain, range, rows, true)) {}
};

/// A vector element depends on the global index, so that it is the same for each number of ranks.
void fill(Vectors& vectors, Global seed) {
  for (std::size_t column = 0; column < vectors.getNumVectors(); ++column)
    for (std::size_t i = 0; i < vectors.getLocalLength(); ++i)
      vectors.replaceLocalValue(
          static_cast<int>(i), column,
          noise(vectors.getMap()->getGlobalElement(static_cast<int>(i)), seed + static_cast<Global>(column)));
}

/// Element of this rank.
double at(const Vectors& vectors, std::size_t i, std::size_t column) {
  return vectors.getData(column)[static_cast<int>(i)];
}

void take_magnitudes(Vectors& vectors) {
  vectors.abs(vectors);
}

/// y = beta*y + alpha*op(A)*x by the operator and by Tpetra differ by rounding only.
void check_product(const Problem& problem, const Operator& op, Teuchos::ETransp mode, Scalar alpha,
                   Scalar beta, std::size_t vectors) {
  SCOPED_TRACE(testing::Message() << "mode " << mode << ", alpha " << alpha << ", beta " << beta << ", "
                                  << vectors << " vectors");
  const bool is_transposed = mode != Teuchos::NO_TRANS;
  const Matrix& A = *problem.matrix;
  Vectors x(is_transposed ? A.getRangeMap() : A.getDomainMap(), vectors);
  Vectors y(is_transposed ? A.getDomainMap() : A.getRangeMap(), vectors), expected(y.getMap(), vectors),
      bound(y.getMap(), vectors);
  fill(x, 1);
  fill(y, 100);
  Tpetra::deep_copy(expected, y);
  Tpetra::deep_copy(bound, y);
  op.apply(x, y, mode, alpha, beta);
  A.apply(x, expected, mode, alpha, beta);
  take_magnitudes(x);
  take_magnitudes(bound);
  problem.magnitudes->apply(x, bound, mode, std::abs(alpha), std::abs(beta));
  int wrong = 0;
  for (std::size_t column = 0; column < vectors; ++column)
    for (std::size_t i = 0; i < y.getLocalLength(); ++i) {
      const double error = std::abs(at(y, i, column) - at(expected, i, column));
      if (!(error <= 50 * std::numeric_limits<Scalar>::epsilon() * at(bound, i, column)) && ++wrong <= 3)
        ADD_FAILURE() << "element " << y.getMap()->getGlobalElement(static_cast<int>(i)) << " of vector "
                      << column << " is " << at(y, i, column) << " instead of " << at(expected, i, column);
    }
}

void check_products(const Problem& problem, const Operator& op) {
  for (const auto mode : {Teuchos::NO_TRANS, Teuchos::TRANS, Teuchos::CONJ_TRANS})
    for (const std::size_t vectors : {1, 3}) {
      check_product(problem, op, mode, 1, 0, vectors);
      check_product(problem, op, mode, -0.5, 2, vectors);
      check_product(problem, op, mode, 0, 3, vectors);
    }
}

/// With and without a split of the columns.
void check_products(const Problem& problem) {
  for (const auto split :
       {Filigree::TpetraSplit::if_faster, Filigree::TpetraSplit::always, Filigree::TpetraSplit::never}) {
    SCOPED_TRACE(testing::Message() << "split " << static_cast<int>(split));
    Filigree::TpetraOptions options;
    options.split = split;
    const Operator op(problem.matrix, options);
    if (split != Filigree::TpetraSplit::if_faster && !op.importer().is_null()) {
      EXPECT_EQ(op.is_split(), split == Filigree::TpetraSplit::always);
    }
    check_products(problem, op);
  }
}

/// The 7-point stencil on cells^3 cells with dof unknowns per cell, which are all coupled.
Rows grid_rows(Global cells, Global dof) {
  return [=](Global row) {
    Row entries;
    const Global cell = row / dof;
    const Global position[3] = {cell % cells, cell / cells % cells, cell / (cells * cells)};
    const Global strides[3] = {1, cells, cells * cells};
    const auto add = [&](Global to) {
      for (Global unknown = 0; unknown < dof; ++unknown)
        entries.emplace_back(to * dof + unknown,
                             noise(row, to * dof + unknown) + (to * dof + unknown == row ? 10 : 0));
    };
    add(cell);
    for (int axis = 0; axis < 3; ++axis)
      for (const Global step : {-1, 1})
        if (position[axis] + step >= 0 && position[axis] + step < cells) add(cell + step * strides[axis]);
    return entries;
  };
}

Rows random_rows(Global columns, Global seed) {
  return [=](Global row) {
    Row entries;
    const auto length = static_cast<Global>(5 * std::abs(noise(row, seed)));
    for (Global k = 0; k < length; ++k)
      entries.emplace_back(
          static_cast<Global>(std::abs(noise(row, k + seed)) * static_cast<double>(columns - 1)),
          noise(row, k));
    return entries;
  };
}

Problem grid_problem(Global cells = 6, Global dof = 2) {
  const auto map = uniform_map(cells * cells * cells * dof);
  return {map, map, map, grid_rows(cells, dof)};
}

TEST(TpetraOperator, GridInEachFormat) {
  const Problem problem = grid_problem();
  for (const char* format :
       {"", "crs", "crs_balanced", "coo", "ell", "sell", "hyb", "hec", "jds", "dia", "cds", "bell"}) {
    SCOPED_TRACE(format);
    Filigree::TpetraOptions options;
    options.format = format;
    options.remote_format = std::string(format) == "cds" || std::string(format) == "dia" ? "" : format;
    options.optimize.max_storage_ratio = 1000;
    const Operator op(problem.matrix, options);
    if (!options.format.empty()) {
      EXPECT_EQ(op.owned().selection().picked, format);
    }
    check_products(problem, op);
  }
}

TEST(TpetraOperator, OnlyBoundaryRowsHaveRemoteColumns) {
  const Problem problem = grid_problem(12, 1);
  Filigree::TpetraOptions options;
  options.split = Filigree::TpetraSplit::always;
  const Operator op(problem.matrix, options);
  const int ranks = world()->getSize();
  if (ranks == 1) {
    EXPECT_EQ(op.remote().nnz(), 0u);
    EXPECT_EQ(op.boundary_rows().extent(0), 0u);
  } else {
    // A rank has a slab of the grid. Of each neighbour it needs one layer of 144 cells.
    const bool is_outer = world()->getRank() == 0 || world()->getRank() == ranks - 1;
    const std::size_t layers = is_outer ? 1 : 2;
    EXPECT_EQ(op.remote().nnz(), 144 * layers);
    EXPECT_EQ(op.boundary_rows().extent(0), 144 * layers);
    EXPECT_EQ(static_cast<std::size_t>(op.remote().numCols()), 144 * layers);
  }
  EXPECT_EQ(op.owned().nnz() + op.remote().nnz(), problem.matrix->getLocalMatrixDevice().nnz());
}

TEST(TpetraOperator, SplitsIfFewRowsHaveRemoteColumns) {
  // A rank has a slab of 40 layers or more, of which one or two have remote columns.
  const auto map = uniform_map(160 * 20);
  const Problem few(map, map, map, [](Global row) {
    Row entries = {{row, 4.0}};
    if (row >= 20) entries.emplace_back(row - 20, 1.0);
    if (row < 159 * 20) entries.emplace_back(row + 20, 1.0);
    return entries;
  });
  EXPECT_TRUE(Operator(few.matrix).is_split());
  if (world()->getSize() == 1) return;
  // Nearly all rows have remote columns.
  const Problem many(map, map, map, random_rows(160 * 20, 11));
  const Operator joined(many.matrix);
  EXPECT_FALSE(joined.is_split());
  Filigree::TpetraOptions options;
  options.split = Filigree::TpetraSplit::always;
  EXPECT_TRUE(Operator(many.matrix, options).is_split());
  EXPECT_EQ(joined.remote().nnz(), 0u);
  EXPECT_EQ(joined.owned().nnz(), many.matrix->getLocalMatrixDevice().nnz());
  EXPECT_GT(joined.boundary_rows().extent(0), 0u);
}

TEST(TpetraOperator, ScatteredRows) {
  // Row i belongs to rank i % ranks, so that nearly all rows have remote columns.
  const int ranks = world()->getSize(), rank = world()->getRank();
  std::vector<Global> own;
  for (Global i = rank; i < 300; i += ranks)
    own.push_back(i);
  const auto map = map_of(own);
  check_products(Problem(map, map, map, grid_rows(5, 2)));
  check_products(Problem(map, map, map, random_rows(300, 7)));
}

TEST(TpetraOperator, OtherOrderOfColumns) {
  // The domain map has the columns of a rank in descending order, so that they are not the first columns of
  // the column map in the same order.
  const auto rows = uniform_map(200);
  std::vector<Global> own;
  for (std::size_t i = Filigree::Impl::local_size(*rows, 0); i > 0; --i)
    own.push_back(rows->getGlobalElement(static_cast<int>(i - 1)));
  check_products(Problem(rows, map_of(own), rows, random_rows(200, 3)));
  // All columns of a rank belong to another one.
  std::vector<Global> of_other;
  const int ranks = world()->getSize(), other = (world()->getRank() + 1) % ranks;
  for (Global i = other; i < 200; i += ranks)
    of_other.push_back(i);
  check_products(Problem(rows, map_of(of_other), rows, random_rows(200, 4)));
}

TEST(TpetraOperator, RanksWithoutRows) {
  for (int owner = 0; owner < world()->getSize(); ++owner) {
    std::vector<Global> own;
    if (world()->getRank() == owner)
      for (Global i = 0; i < 54; ++i)
        own.push_back(i);
    const auto map = map_of(own);
    check_products(Problem(map, map, map, grid_rows(3, 2)));
    // The rows are on one rank, x and y are distributed.
    const auto uniform = uniform_map(54);
    check_products(Problem(map, uniform, uniform, grid_rows(3, 2)));
    check_products(Problem(uniform, map, map, grid_rows(3, 2)));
  }
  const auto empty = uniform_map(0);
  check_products(Problem(empty, empty, empty, [](Global) { return Row(); }));
}

TEST(TpetraOperator, NoRemoteColumnsAndNoEntries) {
  const auto map = uniform_map(100);
  check_products(Problem(map, map, map, [](Global row) { return Row{{row, 2.0}}; }));
  check_products(Problem(map, map, map, [](Global) { return Row(); }));
  // Only the last rank has remote columns.
  check_products(Problem(map, map, map, [](Global row) {
    return row == 99 ? Row{{0, 2.0}, {99, 1.0}} : Row{{row, 1.0}};
  }));
}

TEST(TpetraOperator, RectangularMatrices) {
  const auto rows = uniform_map(90);
  check_products(Problem(rows, uniform_map(250), rows, random_rows(250, 5)));
  check_products(Problem(rows, uniform_map(17), rows, random_rows(17, 6)));
}

TEST(TpetraOperator, OverlappingRows) {
  // Each rank has its rows and the first ones of the next rank. Both add to the same elements of y.
  const auto uniform = uniform_map(80);
  std::vector<Global> own;
  for (std::size_t i = 0; i < Filigree::Impl::local_size(*uniform, 0); ++i)
    own.push_back(uniform->getGlobalElement(static_cast<int>(i)));
  for (Global i = own.back() + 1; i <= own.back() + 5 && i < 80; ++i)
    own.push_back(i);
  check_products(Problem(map_of(own), uniform, uniform, random_rows(80, 8)));
}

TEST(TpetraOperator, ReplicatedVectors) {
  const RCP<const Map> replicated = rcp(new Map(40, 0, world(), Tpetra::LocallyReplicated));
  const auto rows = uniform_map(90);
  const Problem problem(rows, replicated, rows, random_rows(40, 9));
  // Each rank has entries of its own in the first 40 rows, and the sums of all ranks are on each rank.
  std::vector<Global> first_rows;
  for (Global i = 0; i < 40; ++i)
    first_rows.push_back(i);
  const Global rank = world()->getRank();
  const Problem wide(map_of(first_rows), rows, replicated,
                     [rank](Global row) { return random_rows(90, 2 + rank)(row); });
  for (const auto split : {Filigree::TpetraSplit::always, Filigree::TpetraSplit::never}) {
    Filigree::TpetraOptions options;
    options.split = split;
    const Operator op(problem.matrix, options), wide_op(wide.matrix, options);
    for (const auto mode : {Teuchos::NO_TRANS, Teuchos::TRANS}) {
      check_product(problem, op, mode, 2, 0.5, 2);
      check_product(wide, wide_op, mode, 2, 0.5, 2);
    }
  }
}

TEST(TpetraOperator, AdjacentColumnsOfOneMultivector) {
  const Problem problem = grid_problem();
  const Operator op(problem.matrix);
  const auto map = problem.matrix->getDomainMap();
  for (const auto mode : {Teuchos::NO_TRANS, Teuchos::TRANS}) {
    Vectors all(map, 3), expected(map, 1), x(map, 1);
    fill(all, 1);
    Tpetra::deep_copy(x, *all.getVector(0));
    problem.matrix->apply(x, expected, mode);
    op.apply(*all.getVector(0), *all.getVectorNonConst(1), mode);
    for (std::size_t i = 0; i < expected.getLocalLength(); ++i)
      ASSERT_NEAR(at(all, i, 1), at(expected, i, 0), 1e-12);
  }
}

TEST(TpetraOperator, SameBitsEachTime) {
  const Problem problem = grid_problem();
  const Operator op(problem.matrix);
  Vectors x(problem.matrix->getDomainMap(), 2), first(x.getMap(), 2), again(x.getMap(), 2);
  fill(x, 1);
  op.apply(x, first);
  for (int run = 0; run < 5; ++run) {
    Operator(problem.matrix).apply(x, again);
    for (std::size_t i = 0; i < first.getLocalLength(); ++i)
      ASSERT_EQ(at(again, i, 1), at(first, i, 1)) << i;
  }
}

TEST(TpetraOperator, BetaZeroOverwritesNaN) {
  const Problem problem = grid_problem();
  const Operator op(problem.matrix);
  Vectors x(problem.matrix->getDomainMap(), 1), y(x.getMap(), 1);
  fill(x, 1);
  for (const auto mode : {Teuchos::NO_TRANS, Teuchos::TRANS})
    for (const Scalar alpha : {0.0, 1.0}) {
      y.putScalar(std::numeric_limits<Scalar>::quiet_NaN());
      op.apply(x, y, mode, alpha, 0);
      for (std::size_t i = 0; i < y.getLocalLength(); ++i)
        ASSERT_TRUE(std::isfinite(at(y, i, 0))) << i;
    }
}

TEST(TpetraOperator, RefillTakesNewValues) {
  for (const auto split : {Filigree::TpetraSplit::always, Filigree::TpetraSplit::never}) {
    const Problem problem = grid_problem();
    Filigree::TpetraOptions options;
    options.split = split;
    Operator op(problem.matrix, options);
    const auto scale = [](Matrix& matrix, Scalar factor) {
      matrix.resumeFill();
      matrix.scale(factor);
      matrix.fillComplete(matrix.getDomainMap(), matrix.getRangeMap());
    };
    scale(*problem.matrix, -3);
    scale(*problem.magnitudes, 3);
    op.refill();
    check_products(problem, op);
  }
}

TEST(TpetraOperator, SameVectorAndColumnsOfVectors) {
  const Problem problem = grid_problem();
  const Operator op(problem.matrix);
  const auto map = problem.matrix->getDomainMap();
  for (const auto mode : {Teuchos::NO_TRANS, Teuchos::TRANS}) {
    Vectors x(map, 5), expected(map, 2), y(map, 5);
    fill(x, 1);
    const RCP<Vectors> columns = x.subViewNonConst(Teuchos::tuple<std::size_t>(0, 3));
    Vectors compact(map, 2);
    Tpetra::deep_copy(compact, *columns);
    problem.matrix->apply(compact, expected, mode);
    const RCP<Vectors> to = y.subViewNonConst(Teuchos::tuple<std::size_t>(4, 1));
    to->putScalar(std::numeric_limits<Scalar>::quiet_NaN());
    op.apply(*columns, *to, mode);
    op.apply(*columns, *columns, mode);
    for (std::size_t column = 0; column < 2; ++column)
      for (std::size_t i = 0; i < expected.getLocalLength(); ++i) {
        ASSERT_NEAR(at(*to, i, column), at(expected, i, column), 1e-12);
        ASSERT_NEAR(at(*columns, i, column), at(expected, i, column), 1e-12);
      }
    for (const std::size_t untouched : {0, 2, 3})
      for (std::size_t i = 0; i < expected.getLocalLength(); ++i)
        ASSERT_EQ(at(y, i, untouched), 0);
  }
}

TEST(TpetraOperatorErrors, OptionsThatDiffer) {
  const Problem problem = grid_problem();
  Filigree::TpetraOptions format, symmetric, tolerance, repeated_blocks;
  format.format = "ell";
  symmetric.optimize.symmetric = true;
  tolerance.optimize.symmetry_tolerance = 0.5;
  repeated_blocks.optimize.repeated_blocks = true;
  if (world()->getSize() == 1) return;
  const bool is_last = world()->getRank() == world()->getSize() - 1;
  const auto expect_refused = [&](const Filigree::TpetraOptions& of_last_rank, const char* difference) {
    const Filigree::TpetraOptions options = is_last ? of_last_rank : Filigree::TpetraOptions();
    const auto text =
        text_on_all_ranks<std::runtime_error>([&]() { const Operator op(problem.matrix, options); });
    EXPECT_CONTAINS(text, "error on rank " + std::to_string(world()->getSize() - 1));
    EXPECT_CONTAINS(text, difference);
    EXPECT_CONTAINS(text, "give the same options on all ranks");
  };
  expect_refused(format, "format \"ell\"");
  expect_refused(symmetric, ", symmetric 1");
  expect_refused(tolerance, "symmetry_tolerance 0.5");
  expect_refused(repeated_blocks, "repeated_blocks 1");
}

TEST(TpetraOperatorErrors, UnknownFormat) {
  const Problem problem = grid_problem();
  Filigree::TpetraOptions options;
  options.format = "elll";
  const auto text =
      text_on_all_ranks<std::runtime_error>([&]() { const Operator op(problem.matrix, options); });
  EXPECT_CONTAINS(text, "owned columns: there is no format \"elll\"; the formats are bell, ");
}

TEST(TpetraOperatorErrors, NotFillComplete) {
  const auto map = uniform_map(10);
  const auto matrix = rcp(new Matrix(map, 1));
  const auto text = text_on_all_ranks<std::runtime_error>([&]() { const Operator op(matrix); });
  EXPECT_CONTAINS(text, "error on rank 0: the matrix is not fill-complete");
  EXPECT_THROW(Operator(RCP<const Matrix>()), std::invalid_argument);
}

TEST(TpetraOperatorErrors, RefillAfterOtherChanges) {
  const auto map = uniform_map(60);
  const auto matrix = make_matrix(map, map, map, random_rows(60, 3));
  Operator op(matrix);
  matrix->resumeFill();
  auto text = text_on_all_ranks<std::runtime_error>([&]() { op.refill(); });
  EXPECT_CONTAINS(text, "Filigree::TpetraOperator::refill: error on rank 0: the matrix is not fill-complete");
  std::vector<Global> own;
  for (Global i = world()->getRank(); i < 60; i += world()->getSize())
    own.push_back(i);
  matrix->fillComplete(map_of(own), map);
  if (world()->getSize() > 1) {
    text = text_on_all_ranks<std::runtime_error>([&]() { op.refill(); });
    EXPECT_CONTAINS(text, "error on rank 0: the maps of the matrix have changed; make a new operator.");
  }
  check_product(Problem(map, map, map, random_rows(60, 3)), op, Teuchos::NO_TRANS, 1, 0, 1);
}

TEST(TpetraOperatorErrors, ARefusedRefillKeepsTheOldValuesOnAllRanks) {
  for (const auto split : {Filigree::TpetraSplit::always, Filigree::TpetraSplit::never}) {
    const auto map = uniform_map(60);
    const auto matrix = make_matrix(map, map, map, random_rows(60, 3));
    Filigree::TpetraOptions options;
    options.split = split;
    Operator op(matrix, options);
    Vectors x(map, 1), before(map, 1), after(map, 1);
    fill(x, 1);
    op.apply(x, before);
    // All values change, but only on the last rank a row gets an entry in another column of the column map.
    const auto crs = matrix->getLocalMatrixHost();
    const int rows = crs.numRows();
    matrix->resumeFill();
    matrix->scale(2);
    matrix->fillComplete(map, map);
    const auto device = matrix->getLocalMatrixDevice();
    const bool is_last = world()->getRank() == world()->getSize() - 1;
    if (is_last) {
      // Tpetra cannot change a pattern in this way; it stands for a caller who does.
      auto* entries = const_cast<int*>(device.graph.entries.data());
      for (int row = 0; row < rows; ++row)
        if (crs.graph.row_map(row + 1) > crs.graph.row_map(row)) {
          auto& column = entries[crs.graph.row_map(row)];
          column = column == 0 ? 1 : 0;
          break;
        }
    }
    const auto text = text_on_all_ranks<std::runtime_error>([&]() { op.refill(); });
    EXPECT_CONTAINS(text, "refill: error on rank " + std::to_string(world()->getSize() - 1));
    EXPECT_CONTAINS(text, "make a new operator.");
    op.apply(x, after);
    for (std::size_t i = 0; i < before.getLocalLength(); ++i)
      ASSERT_EQ(at(after, i, 0), at(before, i, 0));
  }
}

/// A part in a format that may refuse values is converted again. The variable for its rounding may be gone then.
TEST(TpetraOperator, RefillDoesNotWriteToTheOptions) {
  const auto map = uniform_map(60000);
  const auto matrix = make_matrix(map, map, map, [](Global row) { return Row{{row, 4.0}}; });
  Filigree::TpetraOptions options;
  options.optimize.repeated_blocks = true;
  options.optimize.most_bytes = 100000;  // the other formats take more on 1 to 3 ranks
  Filigree::Rounding rounding;
  options.optimize.rounding = &rounding;
  Operator op(matrix, options);
  ASSERT_TRUE(op.owned().selection().pick().has_dictionary) << op.owned().explain();
  rounding.zeros = 7;
  op.refill();
  EXPECT_EQ(rounding.zeros, 7);
}

/// CDS with a dictionary cannot take more than 256 distinct blocks.
TEST(TpetraOperatorErrors, ValuesThatADictionaryCannotHoldAreRefusedOnAllRanks) {
  const auto map = uniform_map(3000);
  const auto matrix = make_matrix(map, map, map, [](Global row) { return Row{{row, 4.0}}; });
  Filigree::TpetraOptions options;
  options.format = "dict_cds";
  options.optimize.repeated_blocks = true;
  options.optimize.block_size = 1;
  Operator op(matrix, options);
  Vectors x(map, 1), y(map, 1);
  fill(x, 1);
  const auto set_values = [&](Scalar value, bool distinct) {
    matrix->resumeFill();
    for (std::size_t i = 0; i < Filigree::Impl::local_size(*map, 0); ++i) {
      const Global row = map->getGlobalElement(static_cast<int>(i));
      matrix->replaceGlobalValues(row, Teuchos::tuple<Global>(row),
                                  Teuchos::tuple<Scalar>(distinct ? value + static_cast<Scalar>(i) : value));
    }
    matrix->fillComplete(map, map);
  };
  const auto expect_product = [&](Scalar value) {
    op.apply(x, y);
    for (std::size_t i = 0; i < y.getLocalLength(); ++i)
      ASSERT_EQ(at(y, i, 0), value * at(x, i, 0));
  };
  set_values(5, false);
  op.refill();
  expect_product(5);
  // All values change, but only on the last rank to too many.
  const int last = world()->getSize() - 1;
  set_values(6, world()->getRank() == last);
  const auto text = text_on_all_ranks<std::runtime_error>([&]() { op.refill(); });
  EXPECT_CONTAINS(text, "refill: error on rank " + std::to_string(last));
  EXPECT_CONTAINS(text, "the format dict_cds is refused");
  expect_product(5);
}

TEST(TpetraOperatorErrors, ColumnsThatTheDomainMapLacks) {
  // The columns 50 to 59 are not in the domain map.
  const auto rows = uniform_map(30);
  std::vector<Global> columns;
  for (Global i = 0; i < 60; ++i)
    columns.push_back(i);
  const auto matrix = rcp(new Matrix(rows, map_of(columns), 2));
  for (std::size_t i = 0; i < Filigree::Impl::local_size(*rows, 0); ++i) {
    const Global row = rows->getGlobalElement(static_cast<int>(i));
    matrix->insertGlobalValues(row, Teuchos::tuple<Global>(row, 55), Teuchos::tuple<Scalar>(1, 1));
  }
  matrix->fillComplete(uniform_map(50), rows);
  const auto text = text_on_all_ranks<std::runtime_error>([&]() { const Operator op(matrix); });
  EXPECT_CONTAINS(text,
                  "error on rank 0: the column map of the matrix has columns that its domain map lacks");
}

TEST(TpetraOperatorErrors, ConversionThatFailsOnOneRank) {
  // One row of the last rank has all columns, so that ELL is refused there.
  const auto map = uniform_map(20000);
  const Global last = map->getMaxAllGlobalIndex();
  const Problem problem(map, map, map, [=](Global row) {
    Row entries = {{row, 1.0}};
    if (row == last)
      for (Global column = last - 2000; column < last; ++column)
        entries.emplace_back(column, 1.0);
    return entries;
  });
  Filigree::TpetraOptions options;
  options.format = "ell";
  const auto text =
      text_on_all_ranks<std::runtime_error>([&]() { const Operator op(problem.matrix, options); });
  EXPECT_CONTAINS(text, "error on rank " + std::to_string(world()->getSize() - 1) +
                            ": owned columns: the format ell is refused: ");
}

TEST(TpetraOperatorErrors, WrongVectors) {
  const Problem problem = grid_problem();
  const Operator op(problem.matrix);
  const auto map = problem.matrix->getDomainMap();
  Vectors x(map, 2), y(map, 1), longer(uniform_map(500), 2);
  auto text = text_on_all_ranks<std::invalid_argument>([&]() { op.apply(x, y); });
  EXPECT_CONTAINS(text, "x has 2 vectors, but y has 1");
  text = text_on_all_ranks<std::invalid_argument>([&]() { op.apply(longer, x); });
  EXPECT_CONTAINS(
      text, "the map of x with 500 elements is not the domain map of the matrix, which has 432 elements");
  text = text_on_all_ranks<std::invalid_argument>([&]() { op.apply(longer, x, Teuchos::TRANS); });
  EXPECT_CONTAINS(text, "the map of x with 500 elements is not the range map");
  text = text_on_all_ranks<std::invalid_argument>([&]() { op.apply(x, longer); });
  EXPECT_CONTAINS(text, "the map of y with 500 elements is not the range map");
  Vectors none(map, 0), also_none(map, 0);
  op.apply(none, also_none);
}

}  // namespace

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tests of SymCdsMatrix and of the layouts of CdsMatrix, besides those that all formats pass.
#include <filigree/grid/stencil_problem.hpp>
#include <limits>

#include "../support/errors.hpp"
#include "../support/formats.hpp"

namespace FiligreeTest {
namespace {

using Filigree::Symmetry;
using Complex = Kokkos::complex<double>;
template <class Scalar>
using SymCds = Filigree::SymCdsMatrix<Scalar, int, Device, void, int>;
using Doubles = std::vector<double>;

Filigree::SymCdsOptions sym_options(int block_size, Symmetry symmetry = Symmetry::hermitian) {
  auto options = any_padding<Filigree::SymCdsOptions>(block_size);
  options.symmetry = symmetry;
  return options;
}

template <class Scalar>
SymCds<Scalar> sym_cds(const HostMatrix<Scalar>& host, const Filigree::SymCdsOptions& options) {
  return Filigree::convert<Filigree::SymCdsMatrix>(device_crs(host), options);
}

/// The 4 x 4 matrix of the drawing in the class comment.
HostMatrix<double> drawing() {
  HostMatrix<double> host(4, 4);
  const double a = 1, b = 2, d = 3, e = 4, f = 5, g = 6, h = 7, k = 8, l = 9, n = 10;
  host.rows = {{{0, a}, {1, b}, {2, e}, {3, f}},
               {{0, b}, {1, d}, {2, g}, {3, h}},
               {{0, e}, {1, g}, {2, k}, {3, l}},
               {{0, f}, {1, h}, {2, l}, {3, n}}};
  return host;
}

TEST(SymCdsLayout, MatchesTheDrawing) {
  const auto A = sym_cds(drawing(), sym_options(2));
  EXPECT_EQ(A.block_size(), 2);
  EXPECT_EQ(A.numDiagonals(), 1);
  EXPECT_EQ(A.nnz(), 16);
  EXPECT_EQ(host_list(A.offsets), (std::vector<int>{1}));
  EXPECT_EQ(host_list(A.values), (Doubles{1, 8, 2, 9, 3, 10, 4, 0, 5, 0, 6, 0, 7, 0}));
  EXPECT_EQ(A.storage_bytes(), 14 * sizeof(double) + sizeof(int));
}

TEST(CdsComponents, MatchTheDrawing) {
  // a to p are 1 to 16, in the order of the drawing.
  HostMatrix<double> host(4, 4);
  host.rows = {{{0, 1}, {1, 2}, {2, 5}, {3, 6}},
               {{0, 3}, {1, 4}, {2, 7}, {3, 8}},
               {{0, 9}, {1, 10}, {2, 13}, {3, 14}},
               {{0, 11}, {1, 12}, {2, 15}, {3, 16}}};
  auto options = any_padding<Filigree::CdsOptions>(2);
  options.layout = Filigree::CdsLayout::components;
  const auto A = Filigree::convert<Filigree::CdsMatrix>(device_crs(host), options);
  EXPECT_EQ(A.layout(), Filigree::CdsLayout::components);
  EXPECT_EQ(host_list(A.offsets), (std::vector<int>{-1, 0, 1}));
  EXPECT_EQ(host_list(A.values),
            (Doubles{0, 9, 0, 10, 0, 11, 0, 12, 1, 13, 2, 14, 3, 15, 4, 16, 5, 0, 6, 0, 7, 0, 8, 0}));
}

TEST(SymCds, StoresThePackedMainDiagonalAndTheDiagonalsAbove) {
  for (const int b : {1, 2, 3, 7, 9}) {
    const auto host = mirrored(block_banded<double>(6 * b, 6 * b, b), true);
    const auto A = sym_cds(host, sym_options(b));
    const auto full =
        Filigree::convert<Filigree::CdsMatrix>(device_crs(host), any_padding<Filigree::CdsOptions>(b));
    const auto above = static_cast<std::size_t>(full.numDiagonals() / 2);
    const auto size = static_cast<std::size_t>(b);
    EXPECT_EQ(A.values.extent(0), 6 * (size * (size + 1) / 2 + above * size * size)) << "block size " << b;
  }
}

/// The coefficients of a grid of symmetric blocks that differ from cell to cell.
template <class Scalar>
struct Coupling {
  int dof;
  /// If not -1, the value at this row and column is different.
  std::int64_t wrong_row = -1;
  std::int64_t wrong_column = -1;

  KOKKOS_FUNCTION Scalar operator()(std::int64_t cell, std::int64_t neighbour, int i, int j) const {
    const std::int64_t row = cell * dof + i;
    const std::int64_t column = neighbour * dof + j;
    const std::int64_t low = row < column ? row : column;
    const std::int64_t high = row < column ? column : row;
    double value = static_cast<double>((low * 7919 + high * 104729) % 1000 - 500) / 512;
    if (row == wrong_row && column == wrong_column) value += 1;
    if constexpr (Filigree::Impl::is_complex_v<Scalar>) {
      const double imaginary = static_cast<double>((low * 31 + high * 17) % 100) / 64;
      return Scalar(value, row == column ? 0 : row < column ? imaginary : -imaginary);
    } else {
      return value;
    }
  }
};

struct NamedProblem {
  std::string name;
  std::array<std::int64_t, 3> cells;
  Filigree::Stencil stencil;
  Filigree::Boundaries boundaries;
  bool marches;
};

/// Grids with and without a diagonal along which products march, and with several numbers of diagonals. Planes
/// end inside of teams, and the last march is shorter than the others.
std::vector<NamedProblem> problems() {
  using Filigree::Boundary;
  using Filigree::Stencil;
  const Filigree::Boundaries drop = {};
  return {{"7-point", {13, 9, 6}, Stencil::seven_point(), drop, true},
          {"7-point, large planes", {40, 25, 5}, Stencil::seven_point(), drop, true},
          {"27-point", {13, 9, 5}, Stencil::twenty_seven_point(), drop, true},
          {"periodic",
           {13, 9, 5},
           Stencil::seven_point(),
           {Boundary::wrap(), Boundary::wrap(), Boundary::wrap()},
           true},
          {"5-point", {110, 9, 1}, Stencil::five_point(), drop, true},
          {"1-D", {300, 1, 1}, Stencil::three_point(), drop, false},
          {"few planes", {13, 9, 3}, Stencil::seven_point(), drop, false},
          {"no coupling", {50, 1, 1}, Stencil{{{0, 0, 0}}}, drop, false}};
}

template <class Scalar>
void expect_grid_products(const NamedProblem& named, int dof) {
  SCOPED_TRACE(named.name + ", " + std::to_string(dof) + " unknowns per cell");
  const Filigree::StencilProblem<Coupling<Scalar>> problem(named.cells, named.stencil, dof,
                                                           Coupling<Scalar>{dof}, named.boundaries);
  const auto crs = problem.template crs<Crs<Scalar>>();
  const auto host = host_matrix(crs);
  const auto A = Filigree::convert<Filigree::SymCdsMatrix>(crs, sym_options(dof));
  EXPECT_EQ(A.march().index >= 0, named.marches);
  for (const Mode mode : {Mode::NoTranspose, Mode::Transpose, Mode::Conjugate, Mode::ConjugateTranspose})
    for (const int columns : {0, 3})
      EXPECT_TRUE(multiplies<Kokkos::LayoutLeft>(
          A, host, Product<Scalar>{mode, other_factor<Scalar>(1.5), other_factor<Scalar>(-0.4), columns}));

  const auto direct = problem.template sym_cds<SymCds<Scalar>>();
  Filigree::check(direct);
  EXPECT_EQ(host_list(direct.offsets), host_list(A.offsets));
  EXPECT_EQ(host_list(direct.values), host_list(A.values));
  EXPECT_EQ(direct.nnz(), A.nnz());
  EXPECT_EQ(direct.march().index, A.march().index);

  auto options = any_padding<Filigree::CdsOptions>(dof);
  options.layout = Filigree::CdsLayout::components;
  const auto components = Filigree::convert<Filigree::CdsMatrix>(crs, options);
  using Cds = std::decay_t<decltype(components)>;
  const auto direct_components = problem.template cds<Cds>(ExecutionSpace(), options.layout);
  Filigree::check(direct_components);
  EXPECT_EQ(host_list(direct_components.values), host_list(components.values));
  for (const Mode mode : {Mode::NoTranspose, Mode::Transpose})
    EXPECT_TRUE(
        multiplies<Kokkos::LayoutLeft>(components, host, Product<Scalar>{mode, Scalar(1), Scalar(0), 0}));
}

TEST(SymCds, MultipliesGrids) {
  for (int dof = 1; dof <= 9; ++dof)
    expect_grid_products<double>(problems().front(), dof);
  for (const auto& named : problems())
    for (const int dof : {1, 2, 5})
      expect_grid_products<double>(named, dof);
}

TEST(SymCds, MultipliesHermitianGrids) {
  for (const auto& named : problems())
    for (const int dof : {1, 3})
      expect_grid_products<Complex>(named, dof);
}

TEST(SymCds, MultipliesComplexSymmetricMatricesInEveryMode) {
  for (const int b : {1, 3, 8, 10}) {
    const auto host = mirrored(block_banded<Complex>(7 * b - b / 2, 7 * b - b / 2, b), false);
    const auto A = sym_cds(host, sym_options(b, Symmetry::symmetric));
    for (const Mode mode : {Mode::NoTranspose, Mode::Transpose, Mode::Conjugate, Mode::ConjugateTranspose})
      for (const int columns : {0, 5})
        EXPECT_TRUE(multiplies<Kokkos::LayoutRight>(
            A, host, Product<Complex>{mode, Complex(1.1, 0.3), Complex(0.2, -0.7), columns}))
            << "block size " << b;
    EXPECT_EQ(canonical(host_matrix(Filigree::to_crs(A))), canonical(host));
  }
}

TEST(SymCds, OfFloatsAddsInDouble) {
  for (const int b : {1, 3, 9}) {
    const auto host = mirrored(block_banded<float>(7 * b, 7 * b, b), true);
    HostMatrix<double> in_double(host.row_count(), host.columns);
    for (std::size_t row = 0; row < host.rows.size(); ++row)
      for (const auto& entry : host.rows[row])
        in_double.rows[row].push_back({entry.column, entry.value});
    const auto A = Filigree::convert<Filigree::SymCdsMatrix, float>(device_crs(in_double), sym_options(b));
    static_assert(std::is_same_v<decltype(A.values)::value_type, float>);
    for (const int columns : {0, 3})
      EXPECT_TRUE(multiplies_vectors<Kokkos::LayoutLeft>(
          A, host, Product<double>{Mode::NoTranspose, 1.5, -0.4, columns},
          Random(5).vectors<double>(7 * b, columns == 0 ? 1 : columns)))
          << "block size " << b;
  }
}

/// The message of the exception of a conversion.
template <class Scalar>
std::string refusal(const HostMatrix<Scalar>& host, const Filigree::SymCdsOptions& options) {
  return message<std::invalid_argument>([&]() { sym_cds(host, options); });
}

TEST(SymCds, NamesTheFirstPairOfValuesThatDiffer) {
  auto host = mirrored(block_banded<double>(40, 40, 1), true);
  host.rows[23].front().value = 5;
  const std::int64_t column = host.rows[23].front().column;
  ASSERT_LT(column, 23);
  // Entry (column, 23) comes first.
  EXPECT_TRUE(holds(refusal(host, sym_options(1)),
                    {"Filigree::convert<SymCdsMatrix>", "not symmetric",
                     "row " + std::to_string(column) + " and column 23", " is 5;", "must be equal"}));
  // An entry without a mirror image differs from 0.
  host.rows[23].erase(host.rows[23].begin());
  EXPECT_TRUE(
      holds(refusal(host, sym_options(1)), {"row " + std::to_string(column) + " and column 23",
                                            "row 23 and column " + std::to_string(column) + " is 0;"}));
  HostMatrix<double> below(3, 3);
  below.rows = {{{0, 1.0}}, {}, {{1, 4.0}}};
  EXPECT_TRUE(holds(refusal(below, sym_options(2)), {"row 2 and column 1 is 4", "row 1 and column 2 is 0"}));
}

TEST(SymCds, ComparesSumsOfDuplicatesInUnsortedRows) {
  HostMatrix<double> host(3, 3);
  host.rows = {{{2, 1.0}, {1, 2.0}, {2, 3.0}}, {{0, 2.0}}, {{0, 4.0}, {2, 1.0}}};
  const auto A = sym_cds(host, sym_options(1));
  EXPECT_EQ(canonical(host_matrix(Filigree::to_crs(A))), canonical(host));
  // Each of the two duplicates is equal to the mirror image, but their sum is not.
  host.rows = {{{2, 4.0}, {1, 2.0}, {2, 4.0}}, {{0, 2.0}}, {{0, 4.0}, {2, 1.0}}};
  EXPECT_TRUE(holds(refusal(host, sym_options(1)), {"row 0 and column 2 is 8", "row 2 and column 0 is 4"}));
}

TEST(SymCds, AcceptsDifferencesUpToTheTolerance) {
  HostMatrix<double> host(2, 2);
  host.rows = {{{0, 1.0}, {1, 8.0}}, {{0, 8.0 - 1e-9}, {1, 1.0}}};
  auto options = sym_options(1);
  options.symmetry_tolerance = 1e-10;
  EXPECT_TRUE(holds(refusal(host, options), {"row 0 and column 1", "symmetry_tolerance = 1e-10"}));
  options.symmetry_tolerance = 2e-10;
  const auto A = sym_cds(host, options);
  const auto again = host_matrix(Filigree::to_crs(A));
  EXPECT_EQ(again.rows[0][1].value, 8.0);
  EXPECT_EQ(again.rows[1][0].value, 8.0);
  Filigree::refill(A, device_crs(host));

  host.rows[1][0].value = 3;
  options.check_symmetry = false;
  EXPECT_EQ(host_matrix(Filigree::to_crs(sym_cds(host, options))).rows[1][0].value, 8.0);
}

TEST(SymCds, ComparesInfinityAndNaN) {
  const double inf = std::numeric_limits<double>::infinity();
  const double nan = std::numeric_limits<double>::quiet_NaN();
  HostMatrix<double> host(2, 2);
  auto options = sym_options(1);
  for (const double tolerance : {0.0, 0.5}) {
    options.symmetry_tolerance = tolerance;
    host.rows = {{{0, nan}, {1, nan}}, {{0, nan}, {1, inf}}};
    EXPECT_EQ(refusal(host, options), "nothing");
    host.rows = {{{0, 1.0}, {1, -inf}}, {{0, -inf}, {1, 1.0}}};
    EXPECT_EQ(refusal(host, options), "nothing");
    host.rows = {{{0, 1.0}, {1, inf}}, {{0, 2.0}, {1, 1.0}}};
    EXPECT_TRUE(holds(refusal(host, options), {"row 0 and column 1 is inf", "row 1 and column 0 is 2"}));
    host.rows = {{{0, 1.0}, {1, 2.0}}, {{0, nan}, {1, 1.0}}};
    EXPECT_TRUE(holds(refusal(host, options), {"row 0 and column 1 is 2", "row 1 and column 0 is nan"}));
  }
}

TEST(SymCds, RefusesHermitianMatricesThatAreNot) {
  HostMatrix<Complex> host(2, 2);
  host.rows = {{{0, Complex(1, 0)}, {1, Complex(2, 3)}}, {{0, Complex(2, 3)}, {1, Complex(1, 0)}}};
  EXPECT_TRUE(holds(refusal(host, sym_options(1)), {"row 0 and column 1", "complex conjugates"}));
  EXPECT_EQ(refusal(host, sym_options(1, Symmetry::symmetric)), "nothing");
  host.rows[1][0].value = Complex(2, -3);
  EXPECT_EQ(refusal(host, sym_options(1)), "nothing");
  host.rows[1][1].value = Complex(1, 1e-3);
  EXPECT_TRUE(holds(refusal(host, sym_options(1)), {"row 1 and column 1", "complex conjugates"}));
}

TEST(SymCds, RefusesValuesOfARefillThatAreNotSymmetric) {
  const auto host = mirrored(block_banded<double>(30, 30, 3), true);
  const auto A = sym_cds(host, sym_options(3));
  const auto before = host_list(A.values);
  auto wrong = host;
  wrong.rows[17].back().value += 1;
  EXPECT_TRUE(holds(message<std::invalid_argument>([&]() { Filigree::refill(A, device_crs(wrong)); }),
                    {"Filigree::refill", "not symmetric", "row 17"}));
  EXPECT_EQ(host_list(A.values), before);
}

TEST(SymCds, NamesThePairOfCoefficientsOfAGridThatDiffer) {
  const Filigree::StencilProblem<Coupling<double>> problem({5, 4, 3}, Filigree::Stencil::seven_point(), 2,
                                                           Coupling<double>{2, 25, 15});
  EXPECT_TRUE(holds(message<std::invalid_argument>([&]() { problem.sym_cds<SymCds<double>>(); }),
                    {"Filigree::StencilProblem::sym_cds", "row 25 and column 15", "row 15 and column 25"}));
  Filigree::SymCdsOptions unchecked;
  unchecked.check_symmetry = false;
  EXPECT_EQ(problem.sym_cds<SymCds<double>>(ExecutionSpace(), unchecked).block_size(), 2);
  const Filigree::StencilProblem<Coupling<double>> one_sided({5, 4, 3}, {{{0, 0, 0}, {1, 0, -1}}}, 2,
                                                             Coupling<double>{2});
  EXPECT_TRUE(holds(message<std::invalid_argument>([&]() { one_sided.sym_cds<SymCds<double>>(); }),
                    {"(1, 0, -1)", "(-1, 0, 1)"}));
}

}  // namespace
}  // namespace FiligreeTest

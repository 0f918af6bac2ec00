// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <cmath>
#include <filigree/grid/stencil_problem.hpp>
#include <limits>
#include <map>

#include "../support/errors.hpp"
#include "../support/formats.hpp"

namespace FiligreeTest {
namespace {

using Cells = std::array<std::int64_t, 3>;
using Cds = Filigree::CdsMatrix<double, int, Device, void, int>;
using Filigree::Stencil;
using Filigree::StencilProblem;

using Filigree::Boundaries;
using Filigree::Boundary;
using Filigree::BoundaryRule;

/// The matrix of a grid and the contribution of known values to the right-hand side.
struct Expected {
  HostMatrix<double> matrix;
  std::vector<double> right_hand_side;
};

/// Applies the documented rules directly, cell by cell and point by point.
template <class Coefficients>
Expected brute_force(const Cells& cells, const Stencil& stencil, int dof, const Coefficients& coefficients,
                     const Boundaries& boundaries = {}) {
  const std::int64_t count = cells[0] * cells[1] * cells[2];
  const auto rows = static_cast<std::size_t>(count * dof);
  Expected expected{HostMatrix<double>(count * dof, count * dof), std::vector<double>(rows, 0.0)};
  for (std::int64_t cell = 0; cell < count; ++cell) {
    const Cells position{cell % cells[0], cell / cells[0] % cells[1], cell / cells[0] / cells[1]};
    std::map<std::int64_t, std::vector<double>> blocks;
    for (const auto& point : stencil.points) {
      bool dropped = false;
      bool outside = false;
      std::vector<double> known;
      Cells to;
      for (std::size_t axis = 0; axis < 3; ++axis) {
        to[axis] = position[axis] + point[axis];
        if (to[axis] >= 0 && to[axis] < cells[axis]) continue;
        const bool below = to[axis] < 0;
        if (boundaries[axis].rule == BoundaryRule::drop) dropped = true;
        if (boundaries[axis].rule == BoundaryRule::wrap) to[axis] = (to[axis] + cells[axis]) % cells[axis];
        if (boundaries[axis].rule == BoundaryRule::clamp) {
          to[axis] = below ? 0 : cells[axis] - 1;
          outside = true;
        }
        if (boundaries[axis].rule == BoundaryRule::constant)
          known.push_back(below ? boundaries[axis].low : boundaries[axis].high);
      }
      if (dropped) continue;
      const std::int64_t number = (to[2] * cells[1] + to[1]) * cells[0] + to[0];
      auto& block = blocks[known.empty() ? number : -1];
      block.resize(static_cast<std::size_t>(dof * dof), 0.0);
      for (int i = 0; i < dof; ++i)
        for (int j = 0; j < dof; ++j)
          if (known.empty())
            block[static_cast<std::size_t>(i * dof + j)] += coefficients(cell, outside ? -1 : number, i, j);
          else
            expected.right_hand_side[static_cast<std::size_t>(cell * dof + i)] -=
                coefficients(cell, -1, i, j) * known.front();
    }
    blocks.erase(-1);
    for (const auto& [number, block] : blocks)
      for (int i = 0; i < dof; ++i)
        for (int j = 0; j < dof; ++j)
          expected.matrix.rows[static_cast<std::size_t>(cell * dof + i)].push_back(
              {number * dof + j, block[static_cast<std::size_t>(i * dof + j)]});
  }
  return expected;
}

/// A different number for each combination of arguments.
struct Numbered {
  KOKKOS_INLINE_FUNCTION double operator()(std::int64_t cell, std::int64_t neighbour, int i, int j) const {
    return 1.0 + static_cast<double>(((cell * 1000 + neighbour + 1) * 10 + i) * 10 + j);
  }
};

template <class Coefficients>
void expect_right(const Cells& cells, const Stencil& stencil, int dof, const Coefficients& coefficients,
                  const Boundaries& boundaries = {}) {
  SCOPED_TRACE(std::to_string(cells[0]) + " x " + std::to_string(cells[1]) + " x " +
               std::to_string(cells[2]) + " cells, " + std::to_string(stencil.points.size()) +
               " points, dof " + std::to_string(dof) + ", rules " +
               std::to_string(static_cast<int>(boundaries[0].rule)) +
               std::to_string(static_cast<int>(boundaries[1].rule)) +
               std::to_string(static_cast<int>(boundaries[2].rule)));
  const StencilProblem<Coefficients> problem(cells, stencil, dof, coefficients, boundaries);
  const auto expected = brute_force(cells, stencil, dof, coefficients, boundaries);
  EXPECT_EQ(problem.numRows(), expected.matrix.row_count());
  EXPECT_EQ(problem.dof(), dof);
  EXPECT_EQ(problem.nnz(), expected.matrix.nnz());
  const auto crs = problem.template crs<Crs<double>>();
  // host_matrix() keeps the order of the entries, so this also checks that the rows are sorted.
  EXPECT_EQ(host_matrix(crs), expected.matrix);
  const auto cds = problem.template cds<Cds>();
  EXPECT_EQ(host_matrix(Filigree::to_crs(cds)), canonical(expected.matrix));
  EXPECT_EQ(cds.nnz(), expected.matrix.nnz());
  EXPECT_EQ(cds.block_size(), dof);
  // The assembly must store the same diagonals as the conversion from CRS.
  Filigree::CdsOptions options;
  options.block_size = dof;
  options.max_storage_ratio = 1e9;
  const auto converted_cds = Filigree::convert<Filigree::CdsMatrix>(crs, options);
  EXPECT_EQ(host_list(cds.offsets), host_list(converted_cds.offsets));
  EXPECT_EQ(host_list(cds.values), host_list(converted_cds.values));
  EXPECT_TRUE(multiplies<Kokkos::LayoutLeft>(cds, expected.matrix, {Mode::NoTranspose, 1.5, 0.5, 0}));
  const auto right_hand_side = host_list(problem.template right_hand_side<Kokkos::View<double*, Device>>());
  ASSERT_EQ(right_hand_side.size(), expected.right_hand_side.size());
  for (std::size_t row = 0; row < right_hand_side.size(); ++row)
    EXPECT_DOUBLE_EQ(right_hand_side[row], expected.right_hand_side[row]) << "row " << row;
}

TEST(StencilProblem, EqualsTheBruteForceMatrix) {
  for (int dof = 1; dof <= 5; ++dof) {
    const Filigree::CoupledLaplacian five{5, dof};
    const Filigree::CoupledLaplacian seven{7, dof};
    for (const Cells& cells :
         {Cells{5, 4, 1}, Cells{1, 6, 1}, Cells{6, 1, 1}, Cells{2, 5, 1}, Cells{1, 1, 1}})
      expect_right(cells, Stencil::five_point(), dof, five);
    for (const Cells& cells :
         {Cells{4, 3, 5}, Cells{1, 3, 2}, Cells{2, 2, 2}, Cells{2, 1, 3}, Cells{1, 1, 6}, Cells{3, 2, 1}})
      expect_right(cells, Stencil::seven_point(), dof, seven);
  }
}

/// On a grid with two cells in x, (1, 0) and (-1, 1) are on the same diagonal.
TEST(StencilProblem, PointsMayBeOnOneDiagonal) {
  for (const int dof : {1, 3})
    for (const Cells& cells : {Cells{2, 4, 1}, Cells{3, 4, 1}, Cells{1, 4, 1}, Cells{4, 2, 1}})
      expect_right(cells, Stencil::nine_point(), dof, Numbered());
}

TEST(StencilProblem, AcceptsAnyCoefficientsAndPointsThatReachNoCell) {
  Stencil stencil{{{2, 0, 0}, {0, 0, 0}, {-9, 0, 0}, {0, 1, 1}}};
  expect_right({4, 3, 2}, stencil, 2, Numbered());
  expect_right({4, 3, 2}, Stencil(), 2, Numbered());
}

TEST(StencilProblem, DefaultCoefficientsAreTheLaplacian) {
  const StencilProblem<> problem({3, 3, 1}, Stencil::five_point(), 2);
  EXPECT_EQ(host_matrix(problem.crs<Crs<double>>()),
            brute_force({3, 3, 1}, Stencil::five_point(), 2, Filigree::CoupledLaplacian{5, 2}).matrix);
  const Filigree::CoupledLaplacian laplacian{5, 3};
  EXPECT_EQ(laplacian(4, 4, 1, 1), 5.0);
  EXPECT_EQ(laplacian(4, 5, 1, 1), -1.0);
  double off_diagonal = 0;
  for (int j = 0; j < 3; ++j)
    if (j != 1)
      for (const std::int64_t neighbour : {1, 3, 4, 5, 7})
        off_diagonal += std::abs(laplacian(4, neighbour, 1, j));
  EXPECT_LT(off_diagonal, 5.0 / 2);
}

/// The calls in README.md.
TEST(StencilProblem, NeedsNoTemplateArguments) {
  const Filigree::Boundaries outside = {Boundary::constant(0, 1), Boundary::wrap(), Boundary::clamp()};
  const Filigree::StencilProblem bounded({5, 4, 3}, Filigree::Stencil::seven_point(), 4, outside);
  const Filigree::StencilProblem plain({5, 4, 3}, Filigree::Stencil::seven_point(), 4);
  const Filigree::StencilProblem own({5, 4, 3}, Filigree::Stencil::seven_point(), 4, Numbered(), outside);
  static_assert(std::is_same<decltype(bounded), const StencilProblem<Filigree::CoupledLaplacian>>::value, "");
  static_assert(std::is_same<decltype(plain), const StencilProblem<Filigree::CoupledLaplacian>>::value, "");
  static_assert(std::is_same<decltype(own), const StencilProblem<Numbered>>::value, "");
  // The coefficients may also be written as {}.
  const StencilProblem<Numbered> braces({5, 4, 3}, Filigree::Stencil::seven_point(), 4, {});
  EXPECT_EQ(braces.nnz(), plain.nnz());
  const auto right_hand_side = bounded.right_hand_side<Kokkos::View<double*, Device>>();
  EXPECT_EQ(right_hand_side.extent(0), 240u);
  EXPECT_EQ(own.nnz(), bounded.nnz());
}

TEST(Stencil, HasTheExpectedNumberOfPoints) {
  EXPECT_EQ(Stencil::three_point().points.size(), 3u);
  EXPECT_EQ(Stencil::five_point().points.size(), 5u);
  EXPECT_EQ(Stencil::nine_point().points.size(), 9u);
  EXPECT_EQ(Stencil::seven_point().points.size(), 7u);
  EXPECT_EQ(Stencil::twenty_seven_point().points.size(), 27u);
  EXPECT_EQ(Stencil::box(2, 2).points.size(), 25u);
}

/// All pairs of rules in x and y, with stencils that reach diagonally and further than one cell, on the
/// smallest grids that the rules allow.
TEST(StencilProblem, AppliesEveryRuleOnEveryAxis) {
  const Boundary rules[] = {Boundary::drop(), Boundary::wrap(), Boundary::clamp(),
                            Boundary::constant(2.5, -3)};
  for (const Boundary& x : rules)
    for (const Boundary& y : rules) {
      const Filigree::RandomCoefficients random{9, 2, 7};
      expect_right({4, 3, 1}, Stencil::nine_point(), 2, random, {x, y, Boundary::drop()});
      expect_right({5, 6, 1}, Stencil::box(2, 2), 1, Numbered(), {x, y, Boundary::drop()});
      if (x.rule != BoundaryRule::wrap)
        expect_right({1, 3, 1}, Stencil::nine_point(), 3, Numbered(), {x, y, Boundary::drop()});
      for (const Boundary& z : rules)
        expect_right({3, 4, 3}, Stencil::twenty_seven_point(), 1, Numbered(), {x, y, z});
    }
  for (const Boundary& x : rules) {
    expect_right({6, 1, 1}, Stencil::three_point(), 4, Filigree::CoupledLaplacian{3, 4}, {x, {}, {}});
    expect_right({3, 1, 1}, Stencil::three_point(), 1, Filigree::Laplacian{3}, {x, {}, {}});
  }
}

using Vector = Kokkos::View<double*, Device>;

/// A * x on the device, with the CRS and with the CDS matrix.
template <class Coefficients>
std::vector<std::vector<double>> products(const StencilProblem<Coefficients>& problem,
                                          const std::vector<double>& x) {
  const auto x_view = device_list<Vector>(x);
  std::vector<std::vector<double>> result;
  const Vector y("y", x.size());
  Filigree::spmv("N", 1.0, problem.template crs<Crs<double>>(), x_view, 0.0, y);
  result.push_back(host_list(y));
  Filigree::spmv("N", 1.0, problem.template cds<Cds>(), x_view, 0.0, y);
  result.push_back(host_list(y));
  return result;
}

TEST(KnownAnswers, EigenvaluesOfTheLaplacianInOneDimension) {
  constexpr int n = 20;
  const double pi = std::acos(-1.0);
  const StencilProblem<Filigree::Laplacian> problem({n, 1, 1}, Stencil::three_point(), 1,
                                                    Filigree::Laplacian{3});
  for (int k = 1; k <= n; ++k) {
    std::vector<double> vector(n);
    for (int i = 0; i < n; ++i)
      vector[static_cast<std::size_t>(i)] = std::sin(k * pi * (i + 1) / (n + 1));
    const double eigenvalue = 2 - 2 * std::cos(k * pi / (n + 1));
    for (const auto& product : products(problem, vector))
      for (std::size_t i = 0; i < vector.size(); ++i)
        EXPECT_NEAR(product[i], eigenvalue * vector[i], 1e-13) << "k " << k;
  }
}

TEST(KnownAnswers, LaplacianOfAConstantIsZeroWithWrapAndClamp) {
  for (const Boundary& rule : {Boundary::wrap(), Boundary::clamp()})
    for (const auto& stencil : {Stencil::seven_point(), Stencil::twenty_seven_point()}) {
      const int points = static_cast<int>(stencil.points.size());
      const StencilProblem<Filigree::Laplacian> problem({4, 3, 5}, stencil, 2, Filigree::Laplacian{points},
                                                        {rule, rule, rule});
      for (const auto& product : products(problem, std::vector<double>(120, 1.5)))
        EXPECT_EQ(product, std::vector<double>(120, 0.0));
    }
}

/// u = 3 - 2 x solves the Laplace equation if the known values outside the grid are values of u.
TEST(KnownAnswers, LinearSolutionWithConstantBoundaries) {
  const auto u = [](std::int64_t x) { return 3.0 - 2.0 * static_cast<double>(x); };
  const Boundaries boundaries{Boundary::constant(u(-1), u(7)), Boundary::clamp(), Boundary::wrap()};
  const StencilProblem<Filigree::Laplacian> problem({7, 3, 4}, Stencil::seven_point(), 2,
                                                    Filigree::Laplacian{7}, boundaries);
  std::vector<double> solution;
  for (std::int64_t cell = 0; cell < 7 * 3 * 4; ++cell)
    for (int i = 0; i < 2; ++i)
      solution.push_back(u(cell % 7));
  const auto right_hand_side = host_list(problem.right_hand_side<Vector>());
  for (const auto& product : products(problem, solution))
    for (std::size_t row = 0; row < solution.size(); ++row)
      EXPECT_NEAR(product[row], right_hand_side[row], 1e-13);
}

struct IntegerCoefficients {
  KOKKOS_INLINE_FUNCTION int operator()(std::int64_t cell, std::int64_t neighbour, int, int) const {
    return cell == neighbour ? 2 : -1;
  }
};

TEST(Coefficients, IntegerCoefficientsKeepTheRightHandSideExact) {
  const StencilProblem<IntegerCoefficients> problem(
      {4, 1, 1}, Stencil::three_point(), 1, IntegerCoefficients(), {Boundary::constant(0.5, 0.25), {}, {}});
  EXPECT_EQ(host_list(problem.right_hand_side<Vector>()), (std::vector<double>{0.5, 0, 0, 0.25}));
}

TEST(Coefficients, RandomCoefficientsAreReproducible) {
  const Filigree::RandomCoefficients random{7, 2, 1};
  const Filigree::RandomCoefficients other{7, 2, 2};
  double sum = 0;
  int differ = 0;
  for (std::int64_t cell = 0; cell < 100; ++cell)
    for (std::int64_t neighbour = 0; neighbour < 100; ++neighbour) {
      if (cell == neighbour) continue;
      const double number = random(cell, neighbour, 0, 1);
      EXPECT_GE(number, -1.0);
      EXPECT_LT(number, 1.0);
      sum += number;
      differ += number != other(cell, neighbour, 0, 1);
    }
  EXPECT_LT(std::abs(sum / 9900), 0.05);
  EXPECT_GT(differ, 9800);
  EXPECT_EQ(random(3, 5, 0, 1), random(3, 5, 0, 1));
  EXPECT_GT(random(3, 3, 1, 1), 12.9);
}

template <class Call>
std::string refusal(const Call& call) {
  try {
    call();
  } catch (const std::invalid_argument& error) {
    return std::string("invalid: ") + error.what();
  } catch (const std::length_error& error) {
    return std::string("length: ") + error.what();
  }
  return "nothing";
}

TEST(StencilProblem, RefusesInvalidGrids) {
  const auto refused = [](const Cells& cells, const Stencil& stencil, int dof) {
    return refusal([&]() { StencilProblem<>(cells, stencil, dof); });
  };
  const auto five = Stencil::five_point();
  EXPECT_EQ(refused({1, 1, 1}, five, 1), "nothing");
  EXPECT_EQ(refused({0, 4, 1}, five, 1).find("invalid: Filigree::StencilProblem: the grid has 0 x 4 x 1"),
            0u);
  EXPECT_EQ(refused({4, 4, -1}, five, 1).find("invalid: Filigree::StencilProblem: the grid has 4 x 4 x -1"),
            0u);
  EXPECT_EQ(refused({4, 4, 1}, five, 0).find("invalid: Filigree::StencilProblem: dof is 0"), 0u);
  EXPECT_EQ(refused({4, 4, 1}, Stencil{{{0, 0, 0}, {1, -1, 0}, {1, -1, 0}}}, 1)
                .find("invalid: Filigree::StencilProblem: the stencil has the point (1, -1, 0) twice"),
            0u);
  const Boundaries wrap{Boundary::wrap(), {}, {}};
  EXPECT_EQ(
      refusal([&]() {
        StencilProblem<>({2, 4, 1}, five, 1, wrap);
      }).find("invalid: Filigree::StencilProblem: axis 0 wraps around 2 cells, and the stencil reaches 1"),
      0u);
  EXPECT_EQ(refusal([&]() { StencilProblem<>({3, 1, 1}, five, 1, wrap); }), "nothing");
  EXPECT_EQ(refused({4000000000, 4000000000, 2}, five, 1).find("length: Filigree::StencilProblem"), 0u);
}

TEST(StencilProblem, RefusesPointsAndRulesOutOfRange) {
  const auto refused = [](const Cells& cells, const Stencil& stencil, const Boundaries& boundaries) {
    return refusal([&]() { StencilProblem<>(cells, stencil, 4, boundaries); });
  };
  constexpr int lowest = std::numeric_limits<int>::lowest();
  constexpr int highest = std::numeric_limits<int>::max();
  for (const Boundary& rule :
       {Boundary::drop(), Boundary::wrap(), Boundary::clamp(), Boundary::constant(1, 2)})
    for (const auto& point : {std::array<int, 3>{lowest, 0, 0}, {0, 0, lowest}})
      EXPECT_TRUE(holds(refused({1, 1, 1}, Stencil{{{0, 0, 0}, point}}, {rule, rule, rule}),
                        {"invalid: Filigree::StencilProblem: ", "-2147483648", "at least -2147483647"}));
  for (const int rule : {17, 4, -1})
    for (std::size_t axis = 0; axis < 3; ++axis) {
      Boundaries boundaries;
      boundaries[axis].rule = static_cast<BoundaryRule>(rule);
      EXPECT_TRUE(holds(refused({4, 4, 4}, Stencil::seven_point(), boundaries),
                        {"invalid: Filigree::StencilProblem: ", "axis " + std::to_string(axis),
                         "BoundaryRule(" + std::to_string(rule) + ")", "drop, wrap, clamp or constant"}));
    }
  // Points that reach far beyond the grid are valid.
  const Stencil far{{{0, 0, 0}, {highest, -highest, highest}}};
  expect_right({2, 3, 2}, far, 2, Numbered(), {Boundary::clamp(), Boundary::clamp(), Boundary::clamp()});
  expect_right({2, 3, 2}, far, 2, Numbered(), {Boundary::clamp(), Boundary::constant(2, 3), {}});
  expect_right({2, 3, 2}, far, 1, Numbered(),
               {Boundary::constant(2, 3), Boundary::clamp(), Boundary::clamp()});
}

TEST(StencilProblem, RefusesGridsWithMoreEntriesThan64BitsCount) {
  const auto five = Stencil::five_point();
  const auto refused = [&](const Cells& cells, const Stencil& stencil, int dof) {
    return refusal([&]() { StencilProblem<>(cells, stencil, dof); });
  };
  EXPECT_TRUE(holds(refused({1000000000, 1000000000, 4}, five, 1),
                    {"length: Filigree::StencilProblem: ", "1000000000 x 1000000000 x 4 cells", "5 points",
                     "entries", "64 bits"}));
  // 2^62 cells: two entries per row are 2^63, one too many.
  const std::int64_t half = std::int64_t(1) << 31;
  const Boundaries wrap{Boundary::wrap(), {}, {}};
  const auto entries = [&](const Stencil& stencil, int dof, std::int64_t cells_in_y) {
    std::int64_t count = 0;
    const auto error = refusal([&]() {
      count = StencilProblem<>({half, cells_in_y, 1}, stencil, dof, wrap).nnz();
    });
    return error == "nothing" ? std::to_string(count) : error.substr(0, 7);
  };
  EXPECT_EQ(entries(Stencil{{{0, 0, 0}, {1, 0, 0}}}, 1, half), "length:");
  EXPECT_EQ(entries(Stencil{{{0, 0, 0}, {1, 0, 0}}}, 1, half - 1), "9223372032559808512");
  EXPECT_EQ(entries(Stencil{{{0, 0, 0}}}, 1, half), "4611686018427387904");
  EXPECT_EQ(entries(Stencil{{{0, 0, 0}}}, 2, half), "length:");
  EXPECT_EQ(entries(Stencil{{{0, 0, 0}}}, 2, half / 2), "length:");
  EXPECT_EQ(entries(Stencil{{{0, 0, 0}}}, 2, half / 2 - 1), "9223372028264841216");
  EXPECT_EQ(entries(Stencil(), 1, half), "0");
  // Rows: 3037000500^2 is just above 2^63, 3037000499^2 just below.
  EXPECT_TRUE(holds(refused({3037000500, 3037000500, 1}, Stencil(), 1),
                    {"length: Filigree::StencilProblem: ", "3037000500 x 3037000500 x 1 cells", "rows"}));
  EXPECT_EQ(refused({3037000499, 3037000499, 1}, Stencil(), 1), "nothing");
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(StencilProblem<>({most, 1, 1}, Stencil{{{0, 0, 0}}}, 1).nnz(), most);
  EXPECT_TRUE(holds(refused({most, 1, 1}, Stencil{{{0, 0, 0}}}, 2), {"length: ", "rows"}));
  EXPECT_TRUE(holds(refused({most, most, most}, five, 2), {"length: ", "rows"}));
}

/// A stencil may reach far on a grid with many cells: the count of entries must not visit each cell.
TEST(StencilProblem, CountsEntriesOfFarPoints) {
  const std::int64_t cells = 4000000000;
  const int far = 2000000000;
  const Stencil stencil{{{0, 0, 0}, {far, 0, 0}, {-far, 0, 0}}};
  EXPECT_EQ(StencilProblem<>({cells, 1, 1}, stencil, 1).nnz(), cells + 2 * (cells - far));
  const Boundaries known{Boundary::constant(0, 1), {}, {}};
  EXPECT_EQ(StencilProblem<>({cells - 5, 1, 1}, stencil, 1, known).nnz(),
            3 * (cells - 5) - 2 * std::int64_t(far));
  const Boundaries wrap{Boundary::wrap(), {}, {}};
  EXPECT_EQ(StencilProblem<>({cells + 1, 1, 1}, stencil, 1, wrap).nnz(), 3 * (cells + 1));
}

TEST(StencilProblem, RefusesSizesThatMemoryCannotHold) {
  using Long = KokkosSparse::CrsMatrix<double, std::int64_t, Device, void, std::int64_t>;
  using LongCds = Filigree::CdsMatrix<double, std::int64_t, Device, void, std::int64_t>;
  // 2^61 rows of 8 bytes are 2^64 bytes, which wrap to 0.
  const StencilProblem<> problem({std::int64_t(1) << 61, 1, 1}, Stencil{{{0, 0, 0}}}, 1);
  EXPECT_TRUE(holds(refusal([&]() { problem.crs<Long>(); }),
                    {"length: Filigree::StencilProblem::crs: ", "2305843009213693952", "bytes"}));
  EXPECT_TRUE(holds(refusal([&]() { problem.cds<LongCds>(); }),
                    {"length: Filigree::StencilProblem::cds: ", "2305843009213693952", "bytes"}));
  EXPECT_TRUE(holds(refusal([&]() { problem.right_hand_side<Kokkos::View<double*, Device>>(); }),
                    {"length: Filigree::StencilProblem::right_hand_side: ", "2305843009213693952", "bytes"}));
}

/// With clamp each distance to the end of the grid is a diagonal of its own, so there may be more diagonals
/// than rows.
TEST(StencilProblem, RefusesMoreDiagonalsThanTheOrdinalCounts) {
  using ShortCds = Filigree::CdsMatrix<double, short, Device, void, int>;
  const Stencil ends{{{-20000, 0, 0}, {0, 0, 0}, {20000, 0, 0}}};
  const StencilProblem<> problem({20000, 1, 1}, ends, 1, {Boundary::clamp(), {}, {}});
  EXPECT_EQ(problem.nnz(), 3 * 20000 - 2);
  EXPECT_TRUE(holds(refusal([&]() { problem.cds<ShortCds>(); }),
                    {"length: Filigree::StencilProblem::cds: ", "39999 ", "diagonals", "16-bit"}));
}

TEST(Stencil, BoxRefusesSizesOutOfRange) {
  for (const int dimensions : {0, 4, -1})
    EXPECT_TRUE(holds(refusal([&]() { Stencil::box(dimensions); }),
                      {"invalid: Filigree::Stencil::box: ", std::to_string(dimensions), "1, 2 or 3"}));
  EXPECT_TRUE(holds(refusal([]() { Stencil::box(2, -1); }),
                    {"invalid: Filigree::Stencil::box: ", "-1", "at least 0"}));
  EXPECT_EQ(Stencil::box(3, 0).points.size(), 1u);
  for (const int dimensions : {1, 2, 3})
    EXPECT_TRUE(holds(refusal([&]() { Stencil::box(dimensions, std::numeric_limits<int>::max()); }),
                      {"length: Filigree::Stencil::box: ", "2147483647", std::to_string(dimensions)}));
  EXPECT_TRUE(holds(refusal([]() { Stencil::box(3, 645); }), {"length: "}));
}

TEST(StencilProblem, RefusesMatricesThatTheTypesCannotCount) {
  const Stencil centre{{{0, 0, 0}}};
  const StencilProblem<> rows({3000000000, 1, 1}, centre, 1);
  EXPECT_EQ(rows.numRows(), 3000000000);
  EXPECT_EQ(
      refusal([&]() { rows.crs<Crs<double>>(); }).find("length: Filigree::StencilProblem::crs: 3000000000"),
      0u);
  EXPECT_EQ(refusal([&]() { rows.cds<Cds>(); }).find("length: Filigree::StencilProblem::cds: 3000000000"),
            0u);
  const StencilProblem<> entries({500000000, 1, 1}, Stencil::seven_point(), 3);
  EXPECT_EQ(refusal([&]() { entries.crs<Crs<double>>(); }).find("length: "), 0u);
  EXPECT_EQ(refusal([&]() { entries.cds<Cds>(); }).find("length: "), 0u);
}

}  // namespace
}  // namespace FiligreeTest

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <filigree/grid/stencil_problem.hpp>

#include "../support/formats.hpp"

namespace FiligreeTest {
namespace {

using Cells = std::array<std::int64_t, 3>;
using Cds = Filigree::CdsMatrix<double, int, Device, void, int>;
using Filigree::Stencil;
using Filigree::StencilProblem;

/// Every cell with every other, kept where their distance is a point of the stencil.
template <class Coefficients>
HostMatrix<double> brute_force(const Cells& cells, const Stencil& stencil, int dof,
                               const Coefficients& coefficients) {
  const auto position = [&](std::int64_t cell) {
    return Cells{cell % cells[0], cell / cells[0] % cells[1], cell / cells[0] / cells[1]};
  };
  const std::int64_t count = cells[0] * cells[1] * cells[2];
  HostMatrix<double> matrix(count * dof, count * dof);
  for (std::int64_t from = 0; from < count; ++from)
    for (std::int64_t to = 0; to < count; ++to)
      for (const auto& point : stencil.points) {
        bool is_neighbour = true;
        for (std::size_t axis = 0; axis < 3; ++axis)
          is_neighbour = is_neighbour && position(to)[axis] - position(from)[axis] == point[axis];
        for (int i = 0; is_neighbour && i < dof; ++i)
          for (int j = 0; j < dof; ++j)
            matrix.rows[static_cast<std::size_t>(from * dof + i)].push_back(
                {to * dof + j, coefficients(from, to, i, j)});
      }
  return matrix;
}

Stencil nine_point() {
  Stencil stencil;
  for (int y = -1; y <= 1; ++y)
    for (int x = -1; x <= 1; ++x)
      stencil.points.push_back({x, y, 0});
  return stencil;
}

/// A different number for every argument.
struct Numbered {
  KOKKOS_INLINE_FUNCTION double operator()(std::int64_t cell, std::int64_t neighbour, int i, int j) const {
    return 1.0 + static_cast<double>(((cell * 1000 + neighbour) * 10 + i) * 10 + j);
  }
};

template <class Coefficients>
void expect_right(const Cells& cells, const Stencil& stencil, int dof, const Coefficients& coefficients) {
  SCOPED_TRACE(std::to_string(cells[0]) + " x " + std::to_string(cells[1]) + " x " +
               std::to_string(cells[2]) + " cells, " + std::to_string(stencil.points.size()) +
               " points, dof " + std::to_string(dof));
  const StencilProblem<Coefficients> problem(cells, stencil, dof, coefficients);
  const auto expected = brute_force(cells, stencil, dof, coefficients);
  EXPECT_EQ(problem.numRows(), expected.row_count());
  EXPECT_EQ(problem.dof(), dof);
  EXPECT_EQ(problem.nnz(), expected.entry_count());
  const auto crs = problem.template crs<Crs<double>>();
  EXPECT_EQ(host_matrix(crs), canonical(expected)) << "rows of the CRS are sorted";
  const auto cds = problem.template cds<Cds>();
  EXPECT_EQ(host_matrix(Filigree::to_crs(cds)), canonical(expected));
  EXPECT_EQ(cds.nnz(), expected.entry_count());
  EXPECT_EQ(cds.block_size(), dof);
  // The same matrix, diagonal by diagonal, as the conversion makes.
  Filigree::CdsOptions options;
  options.block_size = dof;
  options.max_storage_ratio = 1e9;
  const auto converted_cds = Filigree::convert<Filigree::CdsMatrix>(crs, options);
  EXPECT_EQ(host_list(cds.offsets), host_list(converted_cds.offsets));
  EXPECT_EQ(host_list(cds.values), host_list(converted_cds.values));
  EXPECT_TRUE(multiplies<Kokkos::LayoutLeft>(cds, expected, {Mode::NoTranspose, 1.5, 0.5, 0}));
}

TEST(StencilProblem, IsTheBruteForceMatrix) {
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

/// Two cells wide, (1, 0) and (-1, 1) are the same diagonal.
TEST(StencilProblem, PointsMayShareADiagonal) {
  for (const int dof : {1, 3})
    for (const Cells& cells : {Cells{2, 4, 1}, Cells{3, 4, 1}, Cells{1, 4, 1}, Cells{4, 2, 1}})
      expect_right(cells, nine_point(), dof, Numbered());
}

TEST(StencilProblem, TakesOtherCoefficientsAndPointsOfNoUse) {
  Stencil stencil{{{2, 0, 0}, {0, 0, 0}, {-9, 0, 0}, {0, 1, 1}}};
  expect_right({4, 3, 2}, stencil, 2, Numbered());
  expect_right({4, 3, 2}, Stencil(), 2, Numbered());
}

TEST(StencilProblem, DefaultCoefficientsAreTheLaplacian) {
  const StencilProblem<> problem({3, 3, 1}, Stencil::five_point(), 2);
  EXPECT_EQ(host_matrix(problem.crs<Crs<double>>()),
            canonical(brute_force({3, 3, 1}, Stencil::five_point(), 2, Filigree::CoupledLaplacian{5, 2})));
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

TEST(StencilProblem, RefusesWhatIsNoGrid) {
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
  EXPECT_EQ(refused({4000000000, 4000000000, 2}, five, 1).find("length: Filigree::StencilProblem"), 0u);
}

TEST(StencilProblem, RefusesWhatItsTypesCannotCount) {
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

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <filigree/grid/stencil.hpp>
#include <filigree/solve/gauss_seidel.hpp>
#include <functional>

#include "grid_systems.hpp"

namespace FiligreeTest {
namespace {

using Filigree::Stencil;
template <class Scalar>
using GaussSeidel = Filigree::GaussSeidelPreconditioner<ExecutionSpace, Cds<Scalar>>;
/// The colour of the cell (x, y, z).
using Color = std::function<std::int64_t(const Cells&)>;

/// Solves the equations of one cell after the other on the host, as the source describes it.
struct Sweeps {
  Dense A;
  Cells cells;
  std::size_t b;
  Color color;
  int count;
  double relaxation;

  void relax(std::size_t cell, const std::vector<Wide>& right, std::vector<Wide>& x) const {
    HostMatrix<std::complex<double>> block(static_cast<std::int64_t>(b), static_cast<std::int64_t>(b));
    Dense diagonal(block);
    std::vector<Wide> rest(b);
    for (std::size_t i = 0; i < b; ++i) {
      rest[i] = right[cell * b + i];
      for (std::size_t column = 0; column < A.size; ++column)
        if (column / b == cell)
          diagonal(i, column % b) = A(cell * b + i, column);
        else
          rest[i] -= A(cell * b + i, column) * x[column];
    }
    const auto solution = solve_dense(diagonal, rest);
    const auto factor = static_cast<long double>(relaxation);
    for (std::size_t i = 0; i < b; ++i)
      x[cell * b + i] = factor * solution[i] + (1 - factor) * x[cell * b + i];
  }
  void relax_color(int wanted, const std::vector<Wide>& right, std::vector<Wide>& x) const {
    for (std::int64_t cell = 0; cell < static_cast<std::int64_t>(A.size / b); ++cell) {
      const std::int64_t line = cell / cells[0];
      if (color({cell % cells[0], line % cells[1], line / cells[1]}) == wanted)
        relax(static_cast<std::size_t>(cell), right, x);
    }
  }
  std::vector<Wide> operator()(int sweeps, const std::vector<Wide>& right, std::vector<Wide> x) const {
    for (int turn = 0; turn < sweeps; ++turn) {
      for (int c = 0; c < count; ++c)
        relax_color(c, right, x);
      for (int c = count - 1; c >= 0; --c)
        relax_color(c, right, x);
    }
    return x;
  }
};

struct Case {
  const char* name;
  Cells cells;
  Points points;
  int count;
  Color color;
};
std::vector<Case> cases() {
  const Color chess_board = [](const Cells& c) { return (c[0] + c[1] + c[2]) % 2; };
  return {
      {"line", {7, 1, 1}, Stencil::three_point().points, 2, chess_board},
      {"line along z", {1, 1, 6}, {{0, 0, -1}, {0, 0, 0}, {0, 0, 1}}, 2, chess_board},
      {"five points", {4, 3, 1}, Stencil::five_point().points, 2, chess_board},
      {"nine points",
       {5, 4, 1},
       Stencil::nine_point().points,
       4,
       [](const Cells& c) { return (c[0] + 2 * c[1]) % 4; }},
      {"seven points", {3, 4, 2}, Stencil::seven_point().points, 2, chess_board},
      {"27 points",
       {3, 3, 3},
       Stencil::twenty_seven_point().points,
       8,
       [](const Cells& c) { return (c[0] + 2 * c[1] + 4 * c[2]) % 8; }},
      {"one cell", {1, 1, 1}, {{0, 0, 0}}, 1, [](const Cells&) { return 0; }},
  };
}

template <class Scalar>
void expect_sweeps(const std::vector<int>& block_sizes, double tolerance) {
  for (const Case& grid : cases())
    for (const int b : block_sizes) {
      SCOPED_TRACE(std::string(grid.name) + ", b = " + std::to_string(b));
      const auto host = hermitian_grid<Scalar>(grid.cells, grid.points, b);
      const auto right = Random(3).vectors<Scalar>(host.row_count(), 1).data;
      const auto before = Random(4).vectors<Scalar>(host.row_count(), 1).data;
      const auto layout = b % 2 == 0 ? Filigree::CdsLayout::components : Filigree::CdsLayout::columns;
      for (const double relaxation : {1.0, 1.3}) {
        Filigree::GaussSeidelOptions options;
        options.relaxation = relaxation;
        options.sweeps = relaxation == 1 ? 2 : 1;
        const GaussSeidel<Scalar> smoother(ExecutionSpace(), device_cds(host, b, layout), grid.cells,
                                           options);
        EXPECT_EQ(smoother.color_count(), grid.count);
        const Sweeps sweeps{Dense(host), grid.cells, static_cast<std::size_t>(b),
                            grid.color,  grid.count, relaxation};
        using Vector = Kokkos::View<Scalar*, Device>;
        const Vector z = device_list<Vector>(std::vector<Scalar>(right.size(), not_a_number<Scalar>()));
        smoother.apply(ExecutionSpace(), device_list<Vector>(right), z);
        expect_near(host_list(z), sweeps(options.sweeps, wide_list(right), std::vector<Wide>(right.size())),
                    tolerance);
        const Vector x = device_list<Vector>(before);
        smoother.smooth(ExecutionSpace(), device_list<Vector>(right), x);
        expect_near(host_list(x), sweeps(options.sweeps, wide_list(right), wide_list(before)), tolerance);
      }
    }
}

TEST(GaussSeidel, MakesTheSweepsOfTheSource) {
  expect_sweeps<double>({1, 2, 3, 9}, 1e-13);
}
TEST(GaussSeidel, MakesTheSweepsInFloat) {
  expect_sweeps<float>({1, 3}, 1e-5);
}
TEST(GaussSeidel, MakesTheSweepsOfComplexMatrices) {
  expect_sweeps<Kokkos::complex<double>>({1, 4}, 1e-13);
}

TEST(GaussSeidel, SeparatesTheCellsOfPeriodicGrids) {
  const auto colors = [](const Cells& cells, const Points& points, unsigned periodic) {
    const auto host = hermitian_grid<double>(cells, points, 1, periodic);
    return GaussSeidel<double>(ExecutionSpace(), device_cds(host, 1), cells).color_count();
  };
  EXPECT_EQ(colors({6, 4, 1}, Stencil::five_point().points, 3), 2);
  // A ring of an odd number of cells needs three colours. The colours of seven cells repeat after four.
  EXPECT_EQ(colors({5, 1, 1}, Stencil::three_point().points, 1), 3);
  EXPECT_EQ(colors({7, 1, 1}, Stencil::three_point().points, 1), 4);
  EXPECT_EQ(colors({5, 5, 1}, Stencil::five_point().points, 3), 3);
  EXPECT_EQ(colors({4, 4, 4}, Stencil::twenty_seven_point().points, 7), 8);
  // A star with arms of two cells.
  EXPECT_EQ(colors({6, 6, 1},
                   {{-2, 0, 0},
                    {-1, 0, 0},
                    {0, 0, 0},
                    {1, 0, 0},
                    {2, 0, 0},
                    {0, -2, 0},
                    {0, -1, 0},
                    {0, 1, 0},
                    {0, 2, 0}},
                   0),
            3);
}

TEST(GaussSeidel, DoesNotSeePadding) {
  expect_that_padding_is_not_seen<GaussSeidel<double>>();
}

TEST(GaussSeidel, IsHermitian) {
  const Cells cells = {4, 3, 3};
  const auto host = hermitian_grid<Kokkos::complex<double>>(cells, Stencil::seven_point().points, 2);
  Filigree::GaussSeidelOptions options;
  for (const double relaxation : {1.0, 0.7, 1.6}) {
    options.relaxation = relaxation;
    options.sweeps = relaxation == 1 ? 1 : 3;
    expect_hermitian(
        GaussSeidel<Kokkos::complex<double>>(ExecutionSpace(), device_cds(host, 2), cells, options));
  }
}

TEST(GaussSeidel, LetsConjugateGradientsTakeFewerIterations) {
  const auto system = with_random_b("diffusion", convection_diffusion<double>(16, 15, 0));
  const auto A = device_cds(system.matrix, 1);
  expect_fewer_iterations(system, A, GaussSeidel<double>(ExecutionSpace(), A, {16, 15, 1}));
}

TEST(GaussSeidel, DoesNotSpreadNumbersThatAreNotFinite) {
  // Two lines of three cells that are not coupled. The diagonals beside the main one lead from one to the other.
  const auto host = hermitian_grid<double>({3, 2, 1}, Stencil::three_point().points, 1);
  const GaussSeidel<double> smoother(ExecutionSpace(), device_cds(host, 1), {3, 2, 1});
  using Vector = Kokkos::View<double*, Device>;
  const auto x = device_list<Vector>(std::vector<double>(6));
  smoother.smooth(ExecutionSpace(),
                  device_list<Vector>(std::vector<double>{1, 1, not_a_number<double>(), 1, 1, 1}), x);
  const auto found = host_list(x);
  for (std::size_t i = 0; i < 6; ++i)
    EXPECT_EQ(std::isfinite(found[i]), i > 2) << i;
}

/// An unknown that is not coupled with another one of its cell does not get its NaN.
TEST(GaussSeidel, DoesNotMultiplyZerosOfABlock) {
  HostMatrix<double> host(4, 4);
  for (std::int64_t row = 0; row < 4; ++row)
    host.rows[static_cast<std::size_t>(row)].push_back({row, 2.0});
  const GaussSeidel<double> smoother(ExecutionSpace(), device_cds(host, 2), {2, 1, 1});
  using Vector = Kokkos::View<double*, Device>;
  const auto x = device_list<Vector>(std::vector<double>(4));
  smoother.smooth(ExecutionSpace(), device_list<Vector>(std::vector<double>{not_a_number<double>(), 1, 1, 1}),
                  x);
  const auto found = host_list(x);
  EXPECT_TRUE(std::isnan(found[0]));
  for (std::size_t i = 1; i < 4; ++i)
    EXPECT_EQ(found[i], 0.5) << i;
}

TEST(GaussSeidel, TakesNewValues) {
  const Cells cells = {5, 4, 1};
  const auto host = hermitian_grid<double>(cells, Stencil::five_point().points, 2);
  auto other = host;
  for (auto& row : other.rows)
    for (auto& entry : row)
      entry.value *= 2;
  using Vector = Kokkos::View<double*, Device>;
  const auto r = device_list<Vector>(Random(3).vectors<double>(host.row_count(), 1).data);
  const auto applied = [&](const GaussSeidel<double>& smoother) {
    const Vector z("z", r.extent(0));
    smoother.apply(ExecutionSpace(), r, z);
    return host_list(z);
  };
  GaussSeidel<double> smoother(ExecutionSpace(), device_cds(host, 2), cells);
  const auto before = applied(smoother);
  smoother.refill(ExecutionSpace(), device_cds(other, 2));
  const auto after = applied(smoother);
  for (std::size_t i = 0; i < before.size(); ++i)
    EXPECT_EQ(after[i], before[i] / 2) << i;

  // Errors keep the old values.
  const auto error = [&](const Cds<double>& A) {
    return message<std::invalid_argument>([&] { smoother.refill(ExecutionSpace(), A); });
  };
  const std::string function = "Filigree::GaussSeidelPreconditioner::refill";
  EXPECT_TRUE(
      holds(error(device_cds(hermitian_grid<double>(cells, Stencil::nine_point().points, 2), 2)),
            {function + ": A has block size 2 and 8 block diagonals besides the main one; it must have block "
                        "size 2 and the same 4 block diagonals"}));
  EXPECT_TRUE(holds(error(device_cds(hermitian_grid<double>({4, 4, 1}, Stencil::five_point().points, 2), 2)),
                    {function + ": A has 32 rows; it must have 40"}));
  auto singular = host;
  for (auto& entry : singular.rows[6])
    entry.value = 0;
  EXPECT_TRUE(
      holds(message<std::runtime_error>([&] { smoother.refill(ExecutionSpace(), device_cds(singular, 2)); }),
            {"block 3 on the diagonal (rows 6 to 7) is singular"}));
  EXPECT_EQ(applied(smoother), after);
}

TEST(GaussSeidel, RefusesNewCouplingsOfOneColor) {
  // A chain of six cells. The values of two more diagonals couple cells that are two apart, at first by 0.
  const Points points = {{-2, 0, 0}, {-1, 0, 0}, {0, 0, 0}, {1, 0, 0}, {2, 0, 0}};
  const auto wider = device_cds(hermitian_grid<double>({6, 1, 1}, points, 1), 1);
  const Cds<double> chain(wider.numRows(), wider.numCols(), wider.nnz(), 1,
                          Cds<double>::values_type("values", wider.values.extent(0)), wider.offsets);
  Kokkos::deep_copy(chain.values, wider.values);
  for (const std::size_t diagonal : {0, 4})
    Kokkos::deep_copy(Kokkos::subview(chain.values, std::make_pair(6 * diagonal, 6 * diagonal + 6)), 0.0);
  GaussSeidel<double> smoother(ExecutionSpace(), chain, {6, 1, 1});
  EXPECT_EQ(smoother.color_count(), 2);
  EXPECT_TRUE(
      holds(message<std::invalid_argument>([&] { smoother.refill(ExecutionSpace(), wider); }),
            {"couples two cells of the same colour, which are", "2, 0 and 0 cells apart along the axes"}));
}

TEST(GaussSeidel, RefusesGridsThatDoNotFit) {
  const std::string function = "Filigree::GaussSeidelPreconditioner";
  const auto A = device_cds(hermitian_grid<double>({4, 3, 1}, Stencil::five_point().points, 2), 2);
  const auto error = [&](const Cells& cells, const Filigree::GaussSeidelOptions& options = {}) {
    return message<std::invalid_argument>([&] { GaussSeidel<double>(ExecutionSpace(), A, cells, options); });
  };
  for (const Cells& cells : {Cells{4, 4, 1}, Cells{4, 3, 0}, Cells{-4, -3, 1}, Cells{24, 1, 1}})
    EXPECT_TRUE(
        holds(error(cells),
              {function + ": A has 24 rows and block size 2, but the grid has",
               "each number must be at least 1, and their product with the block size the number of rows"}));
  Filigree::GaussSeidelOptions options;
  for (const double relaxation : {0.0, 2.0, not_a_number<double>()}) {
    options.relaxation = relaxation;
    EXPECT_TRUE(holds(error({4, 3, 1}, options), {function + ": relaxation is", "must be between 0 and 2"}));
  }
  options = {};
  options.sweeps = 0;
  EXPECT_TRUE(holds(error({4, 3, 1}, options), {"sweeps 0; they must be"}));
  // All cells are coupled.
  Points all;
  for (int x = -69; x < 70; ++x)
    all.push_back({x, 0, 0});
  const auto dense = device_cds(hermitian_grid<double>({70, 1, 1}, all, 1), 1);
  EXPECT_TRUE(holds(message<std::invalid_argument>([&] {
                      GaussSeidel<double>(ExecutionSpace(), dense, {70, 1, 1});
                    }),
                    {function + ": coupled cells need more than 64 different colours"}));

  const GaussSeidel<double> smoother(ExecutionSpace(), A, {4, 3, 1});
  using Vector = Kokkos::View<double*, Device>;
  const Vector r("r", 24), z("z", 23);
  EXPECT_TRUE(holds(message<std::invalid_argument>([&] { smoother.apply(ExecutionSpace(), r, z); }),
                    {function + "::apply: z is 23 x 1; it must be 24 x 1."}));
  EXPECT_TRUE(holds(message<std::invalid_argument>([&] { smoother.smooth(ExecutionSpace(), r, r); }),
                    {function + "::smooth: b and x share memory"}));
}

}  // namespace
}  // namespace FiligreeTest

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>
#include <filigree/grid/stencil.hpp>
#include <filigree/solve/line_preconditioner.hpp>

#include "grid_systems.hpp"

namespace FiligreeTest {
namespace {

using Filigree::Stencil;
template <class Scalar>
using Lines = Filigree::LinePreconditioner<ExecutionSpace, Cds<Scalar>>;

/// The entries of a matrix within the lines of cells along an axis, but not those that couple the ends of a line.
template <class Scalar>
HostMatrix<Scalar> tridiagonal_part(const HostMatrix<Scalar>& host, const Cells& cells, int b, int axis) {
  const auto place = [&](std::int64_t index) {
    const std::int64_t cell = index / b;
    return Cells{cell % cells[0], cell / cells[0] % cells[1], cell / cells[0] / cells[1]};
  };
  HostMatrix<Scalar> result(host.row_count(), host.row_count());
  for (std::int64_t row = 0; row < host.row_count(); ++row)
    for (const auto& entry : host.rows[static_cast<std::size_t>(row)]) {
      const Cells from = place(row), to = place(entry.column);
      bool is_kept = true;
      for (std::size_t i = 0; i < 3; ++i)
        is_kept = is_kept && std::abs(from[i] - to[i]) <= (i == static_cast<std::size_t>(axis) ? 1 : 0);
      if (is_kept) result.rows[static_cast<std::size_t>(row)].push_back(entry);
    }
  return result;
}

template <class Scalar>
void expect_solutions_of_lines(const std::vector<int>& block_sizes, double tolerance) {
  using Vector = Kokkos::View<Scalar*, Device>;
  struct Case {
    Cells cells;
    Points points;
    unsigned periodic;
  };
  for (const auto& grid : {Case{{19, 1, 1}, Stencil::three_point().points, 0},
                           Case{{4, 5, 3}, Stencil::twenty_seven_point().points, 0},
                           Case{{5, 4, 4}, Stencil::seven_point().points, 7}})
    for (const int b : block_sizes)
      for (const int axis : {0, 1, 2}) {
        if (b > 4 && grid.cells[0] == 4) continue;
        SCOPED_TRACE("b = " + std::to_string(b) + ", axis " + std::to_string(axis));
        const auto host = hermitian_grid<Scalar>(grid.cells, grid.points, b, grid.periodic);
        const Dense T(tridiagonal_part(host, grid.cells, b, axis));
        const auto right = Random(3).vectors<Scalar>(host.row_count(), 1).data;
        const auto before = Random(4).vectors<Scalar>(host.row_count(), 1).data;
        const auto layout = b % 2 == 0 ? Filigree::CdsLayout::components : Filigree::CdsLayout::columns;
        Filigree::LineOptions options;
        options.axis = axis;
        options.relaxation = 0.7;
        const Lines<Scalar> lines(ExecutionSpace(), device_cds(host, b, layout), grid.cells, options);
        const auto r = device_list<Vector>(right);
        const Vector z = device_list<Vector>(std::vector<Scalar>(right.size(), not_a_number<Scalar>()));
        lines.apply(ExecutionSpace(), r, z);
        const auto expected = solve_dense(T, wide_list(right));
        expect_near(host_list(z), expected, tolerance);
        const Vector x = device_list<Vector>(before);
        lines.smooth(ExecutionSpace(), r, x);
        const auto change = solve_dense(T, dense_residual(Dense(host), wide_list(before), wide_list(right)));
        expect_near(host_list(x), sum_of(wide_list(before), 0.7L, change), tolerance);
        lines.apply(ExecutionSpace(), r, r);
        expect_near(host_list(r), expected, tolerance);
      }
}

TEST(LinePreconditioner, SolvesTheTridiagonalSystems) {
  expect_solutions_of_lines<double>({1, 2, 3, 9}, 1e-13);
}
TEST(LinePreconditioner, SolvesTheTridiagonalSystemsInFloat) {
  expect_solutions_of_lines<float>({1, 4}, 1e-5);
}
TEST(LinePreconditioner, SolvesComplexTridiagonalSystems) {
  expect_solutions_of_lines<Kokkos::complex<double>>({1, 3}, 1e-13);
}

/// A View whose first element lies `shift` elements after the begin of an allocation. The elements around it are 77.
template <class Scalar>
struct ShiftedVector {
  using View = Kokkos::View<Scalar*, Device>;
  View all;
  std::size_t shift;

  ShiftedVector(const std::vector<Scalar>& elements, std::size_t shift_) : shift(shift_) {
    std::vector<Scalar> list(shift + elements.size() + 8, Scalar(77));
    std::copy(elements.begin(), elements.end(), list.begin() + static_cast<std::ptrdiff_t>(shift));
    all = device_list<View>(list);
  }
  auto view() const { return Kokkos::subview(all, std::make_pair(shift, all.extent(0) - 8)); }
  /// The elements of view(). Expects that the others are as they were.
  std::vector<Scalar> elements() const {
    const auto list = host_list(all);
    const auto first = list.begin() + static_cast<std::ptrdiff_t>(shift);
    EXPECT_EQ(std::count(list.begin(), first, Scalar(77)), static_cast<std::ptrdiff_t>(shift));
    EXPECT_EQ(std::count(list.end() - 8, list.end(), Scalar(77)), 8);
    return {first, list.end() - 8};
  }
};

/// Lines along x with one unknown per cell, whose elements are loaded in packs of 16 bytes if r and z are aligned.
template <class R, class Z>
void expect_solutions_of_packed_lines(std::int64_t length, double tolerance) {
  SCOPED_TRACE("length " + std::to_string(length));
  const Cells cells = {length, 5, 1};
  const auto host = hermitian_grid<R>(cells, Stencil::five_point().points, 1);
  const Lines<R> lines(ExecutionSpace(), device_cds(host, 1), cells);
  const auto right = Random(3).vectors<R>(host.row_count(), 1).data;
  const auto expected = solve_dense(Dense(tridiagonal_part(host, cells, 1, 0)), wide_list(right));
  for (const std::size_t r_shift : {0, 1, 2})
    for (const std::size_t z_shift : {0, 1, 2}) {
      SCOPED_TRACE("shifts " + std::to_string(r_shift) + " and " + std::to_string(z_shift));
      const ShiftedVector<R> r(right, r_shift);
      const ShiftedVector<Z> z(std::vector<Z>(right.size(), not_a_number<Z>()), z_shift);
      const auto from = r.view();
      const auto to = z.view();
      using Kernel = Filigree::Impl::SolvePackedLines<ExecutionSpace, typename Lines<R>::vector_scalar, R, Z>;
      const bool has_packs = sizeof(R) < 16 && sizeof(Z) < 16;
      EXPECT_EQ(Kernel::exists, Filigree::Impl::runs_on_gpu_v<ExecutionSpace> && has_packs);
      if (has_packs) {
        EXPECT_EQ(Kernel::fits({cells, 0, 1}, Filigree::Impl::multi_vector<decltype(from), const R>(from),
                               Filigree::Impl::multi_vector(to)),
                  length >= 16 && r_shift * sizeof(R) % 16 == 0 && z_shift * sizeof(Z) % 16 == 0);
      }
      lines.apply(ExecutionSpace(), from, to);
      expect_near(z.elements(), expected, tolerance);
      if constexpr (std::is_same_v<R, Z>) {
        lines.apply(ExecutionSpace(), from, from);
        expect_near(r.elements(), expected, tolerance);
      }
    }
}

TEST(LinePreconditioner, SolvesLinesOfPacks) {
  // Batches have 8 places. Other places come before and after them.
  for (const std::int64_t length : {3, 15, 16, 25, 30, 31}) {
    expect_solutions_of_packed_lines<double, double>(length, 1e-13);
    expect_solutions_of_packed_lines<float, float>(length, 1e-5);
    expect_solutions_of_packed_lines<double, float>(length, 1e-5);
    expect_solutions_of_packed_lines<float, double>(length, 1e-5);
    expect_solutions_of_packed_lines<Kokkos::complex<double>, Kokkos::complex<double>>(length, 1e-13);
  }
}

TEST(LinePreconditioner, NeedsNoDominantDiagonalOfCells) {
  // The blocks on the diagonal need exchanges of rows.
  HostMatrix<double> host(4, 4);
  host.rows[0] = {{1, 1.0}, {2, 0.5}};
  host.rows[1] = {{0, 1.0}};
  host.rows[2] = {{0, 0.25}, {3, 2.0}};
  host.rows[3] = {{2, 1.0}};
  const Lines<double> lines(ExecutionSpace(), device_cds(host, 2), {2, 1, 1});
  using Vector = Kokkos::View<double*, Device>;
  const Vector z("z", 4);
  lines.apply(ExecutionSpace(), device_list<Vector>(std::vector<double>{1, 2, 3, 4}), z);
  expect_near(host_list(z), solve_dense(Dense(host), {1, 2, 3, 4}), 1e-14);
}

TEST(LinePreconditioner, DoesNotSeePadding) {
  expect_that_padding_is_not_seen<Lines<double>>();
}

TEST(LinePreconditioner, IsHermitian) {
  const Cells cells = {4, 5, 3};
  const auto host = hermitian_grid<Kokkos::complex<double>>(cells, Stencil::seven_point().points, 2);
  Filigree::LineOptions options;
  options.axis = 1;
  expect_hermitian(Lines<Kokkos::complex<double>>(ExecutionSpace(), device_cds(host, 2), cells, options));
}

TEST(LinePreconditioner, LetsConjugateGradientsTakeFewerIterations) {
  const auto system = with_random_b("diffusion", convection_diffusion<double>(16, 15, 0));
  const auto A = device_cds(system.matrix, 1);
  expect_fewer_iterations(system, A, Lines<double>(ExecutionSpace(), A, {16, 15, 1}));
}

TEST(LinePreconditioner, TakesNewValues) {
  const Cells cells = {5, 4, 1};
  const auto host = hermitian_grid<double>(cells, Stencil::five_point().points, 2);
  auto A = device_cds(host, 2);
  using Vector = Kokkos::View<double*, Device>;
  const auto r = device_list<Vector>(Random(3).vectors<double>(host.row_count(), 1).data);
  Lines<double> lines(ExecutionSpace(), A, cells);
  const auto applied = [&]() {
    const Vector z("z", r.extent(0));
    lines.apply(ExecutionSpace(), r, z);
    return host_list(z);
  };
  const auto before = applied();
  auto doubled = host;
  for (auto& row : doubled.rows)
    for (auto& entry : row)
      entry.value *= 2;
  Filigree::refill(A, device_crs(doubled));
  lines.refill(ExecutionSpace());
  const auto after = applied();
  for (std::size_t i = 0; i < before.size(); ++i)
    EXPECT_EQ(after[i], before[i] / 2) << i;
}

TEST(LinePreconditioner, ReportsErrors) {
  const std::string function = "Filigree::LinePreconditioner";
  const Cells cells = {4, 3, 1};
  const auto host = hermitian_grid<double>(cells, Stencil::five_point().points, 2);
  const auto A = device_cds(host, 2);
  const auto error = [&](const Cells& wanted, const Filigree::LineOptions& options = {}) {
    return message<std::invalid_argument>([&] { Lines<double>(ExecutionSpace(), A, wanted, options); });
  };
  EXPECT_TRUE(
      holds(error({4, 4, 1}), {function + ": A has 24 rows and block size 2, but the grid has 4 x 4 x 1"}));
  Filigree::LineOptions options;
  options.axis = 3;
  EXPECT_TRUE(
      holds(error(cells, options), {function + ": axis is 3 and relaxation 0.8; they must be 0, 1 or 2"}));
  options = {};
  options.relaxation = 0;
  EXPECT_TRUE(holds(error(cells, options), {"relaxation 0; they must be"}));
  const auto large = device_cds(hermitian_grid<double>({2, 1, 1}, {{0, 0, 0}}, 33), 33);
  EXPECT_TRUE(holds(message<std::invalid_argument>([&] {
                      Lines<double>(ExecutionSpace(), large, {2, 1, 1});
                    }),
                    {function + ": the block size of A is 33; it must be at most 32."}));

  // The second cell of the second line becomes singular when the first one is eliminated: 1 - 2 * 2 / 4.
  HostMatrix<double> singular(6, 6);
  for (std::int64_t row = 0; row < 6; ++row)
    singular.rows[static_cast<std::size_t>(row)] = {{row, 4.0}};
  singular.rows[3].push_back({4, 2.0});
  singular.rows[4] = {{3, 2.0}, {4, 1.0}};
  EXPECT_TRUE(
      holds(message<std::runtime_error>([&] {
              Lines<double>(ExecutionSpace(), device_cds(singular, 1), {3, 2, 1});
            }),
            {function + ": the block on the diagonal of cell 4 (rows 4 to 4) is singular or not finite after "
                        "the elimination of the 1 cells before it on its line."}));

  const Lines<double> lines(ExecutionSpace(), A, cells);
  using Vector = Kokkos::View<double*, Device>;
  const Vector r("r", 24), z("z", 23);
  EXPECT_TRUE(holds(message<std::invalid_argument>([&] { lines.apply(ExecutionSpace(), r, z); }),
                    {function + "::apply: z is 23 x 1; it must be 24 x 1."}));
  EXPECT_TRUE(holds(message<std::invalid_argument>([&] { lines.smooth(ExecutionSpace(), r, r); }),
                    {function + "::smooth: b and x share memory"}));
}

}  // namespace
}  // namespace FiligreeTest

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Matrices of small grids on the host, for the tests of smoothers.
#pragma once

#include <array>
#include <filigree/convert.hpp>
#include <filigree/formats.hpp>
#include <filigree/solve/conjugate_gradients.hpp>

#include "../support/column_stride.hpp"
#include "krylov_tests.hpp"

namespace FiligreeTest {

using Cells = std::array<std::int64_t, 3>;
using Points = std::vector<std::array<int, 3>>;

template <class Scalar>
using Cds = Filigree::CdsMatrix<Scalar, int, Device, void, typename Crs<Scalar>::non_const_size_type>;

/// A Hermitian diagonally dominant matrix with `b` unknowns per cell. The neighbours of a cell are at `points`, which
/// have for each point the opposite one. An axis is periodic if its bit is set.
template <class Scalar>
HostMatrix<Scalar> hermitian_grid(const Cells& cells, const Points& points, int b, unsigned periodic = 0) {
  const std::int64_t count = cells[0] * cells[1] * cells[2];
  HostMatrix<Scalar> result(count * b, count * b);
  const auto value = [](std::int64_t row, std::int64_t column) {
    Random random(static_cast<unsigned>(std::min(row, column) * 7919 + std::max(row, column)));
    const Scalar drawn = random.value<Scalar>();
    return row < column ? drawn : Filigree::Impl::conjugate_if<true>(drawn);
  };
  const auto diagonal =
      static_cast<Filigree::Impl::real_t<Scalar>>(2 * b * (static_cast<int>(points.size()) + 1));
  for (std::int64_t z = 0; z < cells[2]; ++z)
    for (std::int64_t y = 0; y < cells[1]; ++y)
      for (std::int64_t x = 0; x < cells[0]; ++x) {
        const std::int64_t cell = (z * cells[1] + y) * cells[0] + x;
        for (int i = 0; i < b; ++i)
          for (int j = 0; j < b; ++j) {
            const std::int64_t row = cell * b + i;
            result.rows[static_cast<std::size_t>(row)].push_back(
                {cell * b + j, i == j ? Scalar(diagonal) : value(row, cell * b + j)});
          }
        for (const auto& point : points) {
          Cells other = {x + point[0], y + point[1], z + point[2]};
          bool is_inside = point != std::array<int, 3>{0, 0, 0};
          for (std::size_t axis = 0; axis < 3; ++axis) {
            if ((periodic >> axis & 1u) != 0) other[axis] = (other[axis] + cells[axis]) % cells[axis];
            is_inside = is_inside && other[axis] >= 0 && other[axis] < cells[axis];
          }
          if (!is_inside) continue;
          const std::int64_t neighbour = (other[2] * cells[1] + other[1]) * cells[0] + other[0];
          for (int i = 0; i < b; ++i)
            for (int j = 0; j < b; ++j)
              result.rows[static_cast<std::size_t>(cell * b + i)].push_back(
                  {neighbour * b + j, value(cell * b + i, neighbour * b + j)});
        }
      }
  return canonical(result);
}

template <class Scalar>
Cds<Scalar> device_cds(const HostMatrix<Scalar>& host, int b,
                       Filigree::CdsLayout layout = Filigree::CdsLayout::columns) {
  Filigree::CdsOptions options;
  options.block_size = b;
  options.layout = layout;
  options.max_storage_ratio = 1000;
  return Filigree::convert<Filigree::CdsMatrix>(device_crs(host), options);
}

/// Expects that a preconditioner of a grid gives the same bits for columns with padding, which a matrix of so many rows
/// has, and without, as the Views of a caller may have them.
template <class Preconditioner>
void expect_that_padding_is_not_seen() {
  using Vector = Kokkos::View<double*, Device>;
  const Cells cells = {35, 30, 1};
  const Points points = {{0, 0, 0}, {-1, 0, 0}, {1, 0, 0}, {0, -1, 0}, {0, 1, 0}};
  for (const int b : {1, 3}) {
    const auto host = hermitian_grid<double>(cells, points, b);
    const auto right = Random(3).vectors<double>(host.row_count(), 1).data;
    const auto applied = [&](const Cds<double>& A) {
      const Vector z("z", right.size());
      Preconditioner(ExecutionSpace(), A, cells).apply(ExecutionSpace(), device_list<Vector>(right), z);
      return host_list(z);
    };
    const auto A = device_cds(host, b);
    ASSERT_GT(A.column_stride(), host.row_count());
    EXPECT_EQ(applied(A), applied(without_padding(A))) << "b = " << b;
  }
}

/// Expects that two lists agree up to `tolerance`.
template <class List>
void expect_near(const List& found, const std::vector<Wide>& expected, double tolerance) {
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i)
    EXPECT_LE(std::abs(wide(found[i]) - expected[i]), tolerance) << i;
}

/// Expects that apply() of a preconditioner is Hermitian: u^H M^-1 v is the conjugate of v^H M^-1 u.
template <class Preconditioner>
void expect_hermitian(const Preconditioner& preconditioner) {
  using Scalar = typename Preconditioner::scalar_type;
  using Vector = Kokkos::View<Scalar*, Device>;
  const std::int64_t rows = preconditioner.rows();
  const auto u = Random(5).vectors<Scalar>(rows, 1).data;
  const auto v = Random(6).vectors<Scalar>(rows, 1).data;
  const auto applied = [&](const std::vector<Scalar>& r) {
    const Vector z("z", r.size());
    preconditioner.apply(ExecutionSpace(), device_list<Vector>(r), z);
    return wide_list(host_list(z));
  };
  const Wide first = dot(wide_list(u), applied(v));
  const Wide second = std::conj(dot(wide_list(v), applied(u)));
  EXPECT_GT(std::abs(first), 1e-6L);
  EXPECT_LE(std::abs(first - second), 1e-11L);
}

/// Expects that conjugate gradients take fewer iterations with a preconditioner than with the diagonal, and that a
/// second solution allocates nothing.
template <class Matrix, class Preconditioner>
void expect_fewer_iterations(const HostSystem<double>& system, const Matrix& A,
                             const Preconditioner& preconditioner) {
  using Vector = Kokkos::View<double*, Device>;
  using Jacobi = Filigree::JacobiPreconditioner<Matrix>;
  const auto b = device_list<Vector>(system.b);
  const Vector x("x", system.b.size());
  Filigree::ConjugateGradients<ExecutionSpace, Matrix, Jacobi> with_jacobi(ExecutionSpace(), A,
                                                                           Jacobi(ExecutionSpace(), A));
  const auto usual = with_jacobi.solve(b, x);
  Kokkos::deep_copy(x, 0.0);
  Filigree::ConjugateGradients<ExecutionSpace, Matrix, Preconditioner> solver(ExecutionSpace(), A,
                                                                              preconditioner);
  const auto first = solver.solve(b, x);
  EXPECT_TRUE(is_solved(system, Outcome<double>{first, host_list(x)}, 1e-8));
  EXPECT_LT(first.iterations, usual.iterations);
  const auto bits = host_list(x);
  Kokkos::deep_copy(x, 0.0);
  const KokkosRecorder recorder;
  EXPECT_EQ(solver.solve(b, x).history, first.history);
  EXPECT_EQ(recorder.events().allocations, std::vector<std::string>());
  EXPECT_EQ(recorder.events().global_fences, std::vector<std::string>());
  EXPECT_EQ(host_list(x), bits);
}

}  // namespace FiligreeTest

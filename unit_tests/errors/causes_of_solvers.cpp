// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <filigree/convert.hpp>
#include <filigree/solve/chebyshev.hpp>
#include <filigree/solve/conjugate_gradients.hpp>
#include <filigree/solve/gauss_seidel.hpp>
#include <filigree/solve/gmres.hpp>
#include <filigree/solve/line_preconditioner.hpp>
#include <limits>

#include "../support/host_matrix.hpp"
#include "causes.hpp"

namespace FiligreeTest {
namespace {

using Vector = Kokkos::View<double*, Device>;
using Ell = Filigree::EllMatrix<double, int, Device, void, int>;

Ell ell(int rows, int columns) {
  return Filigree::convert<Filigree::EllMatrix>(device_crs(scattered<double>(rows, columns, 3)));
}

/// The matrix with ones on the diagonal, apart from element `row`, which is `value`.
Ell diagonal_matrix(int rows, int row, double value) {
  HostMatrix<double> host(rows, rows);
  for (int i = 0; i < rows; ++i)
    host.rows[static_cast<std::size_t>(i)].push_back({i, i == row ? value : 1.0});
  return Filigree::convert<Filigree::EllMatrix>(device_crs(host));
}

using Cds = Filigree::CdsMatrix<double, int, Device, void, int>;

/// A chain of cells, each coupled with the next `reach` ones on both sides. Element `row` of the diagonal is `value`.
Cds chain(int cells, int reach, int block_size = 1, int row = 0, double value = 100) {
  HostMatrix<double> host(cells * block_size, cells * block_size);
  for (int i = 0; i < cells * block_size; ++i) {
    auto& entries = host.rows[static_cast<std::size_t>(i)];
    for (int j = 0; j < cells * block_size; ++j)
      if (j == i)
        entries.push_back({j, i == row ? value : 100.0});
      else if (std::abs(i - j) <= reach)
        entries.push_back({j, 1.0});
  }
  Filigree::CdsOptions options;
  options.block_size = block_size;
  options.max_storage_ratio = 1000;
  return Filigree::convert<Filigree::CdsMatrix>(device_crs(host), options);
}

struct DoNothing {
  template <class Sum>
  KOKKOS_FUNCTION void operator()(std::int64_t, int, const Sum&) const {}
};
struct AddNothing {
  template <class Sum, class Partial>
  KOKKOS_FUNCTION void operator()(std::int64_t, int, const Sum&, Partial&) const {}
};

}  // namespace

Causes causes_of_solvers() {
  const ExecutionSpace exec;
  const auto residual = [=](const char* mode, int x_rows, int b_rows, int r_rows) {
    return [=]() {
      Filigree::residual(exec, mode, ell(5, 7), Vector("x", x_rows), Vector("b", b_rows),
                         Vector("r", r_rows));
    };
  };
  const auto step = [=](const auto& A, const auto& inverse) {
    return [=]() {
      const Vector x("x", A.numCols()), b("b", A.numRows()), w("w", A.numRows());
      Filigree::relaxation_step(exec, A, x, b, inverse, Filigree::StepFactors<double>(), w);
    };
  };
  using Cg = Filigree::ConjugateGradients<ExecutionSpace, Ell>;
  const auto solver = [=](double relative, double absolute, int most, int checks) {
    return [=]() {
      Filigree::SolverOptions options;
      options.relative_tolerance = relative;
      options.absolute_tolerance = absolute;
      options.most_iterations = most;
      options.iterations_per_check = checks;
      Cg(exec, diagonal_matrix(4, 0, 2), {}, options);
    };
  };
  const auto solve = [=](int b_rows, int x_rows) {
    return [=]() { Cg(exec, diagonal_matrix(4, 0, 2)).solve(Vector("b", b_rows), Vector("x", x_rows)); };
  };
  const auto chebyshev = [=](double value, int degree, double safety, double part) {
    return [=]() {
      const auto A = diagonal_matrix(4, 0, 2);
      const auto inverse = Filigree::inverse_diagonal(exec, A);
      // The other values stay 1, or all are 0.
      if (value == 0) Kokkos::deep_copy(A.values, 0.0);
      Filigree::ChebyshevOptions options;
      options.degree = degree;
      options.safety = safety;
      options.smallest_over_largest = part;
      Filigree::ChebyshevPreconditioner<ExecutionSpace, Ell, std::decay_t<decltype(inverse)>>(
          exec, A, inverse, options);
    };
  };
  using GaussSeidel = Filigree::GaussSeidelPreconditioner<ExecutionSpace, Cds>;
  using Lines = Filigree::LinePreconditioner<ExecutionSpace, Cds>;
  const auto gauss_seidel = [=](int cells, int reach, int x, double relaxation, int sweeps) {
    return [=]() {
      GaussSeidel(exec, chain(cells, reach), {x, 1, 1}, Filigree::GaussSeidelOptions{relaxation, sweeps});
    };
  };
  const auto lines = [=](int block_size, int x, int axis, double relaxation, double value) {
    return [=]() {
      Lines(exec, chain(4, 1, block_size, 0, value), {x, 1, 1}, Filigree::LineOptions{axis, relaxation});
    };
  };
  // z = P r, where z overlaps r by all elements but one.
  const auto apply = [=](const auto& preconditioner) {
    return [=]() {
      const Vector both("r and z", 5);
      preconditioner.apply(exec, Kokkos::subview(both, std::pair(0, 4)),
                           Kokkos::subview(both, std::pair(1, 5)));
    };
  };
  return {
      {"smoother-cells", gauss_seidel(4, 1, 5, 1, 1)},
      {"smoother-cells", lines(1, 3, 0, 1, 100)},
      {"grid-colors", gauss_seidel(70, 70, 70, 1, 1)},
      {"gauss-seidel-options", gauss_seidel(4, 1, 4, 2, 1)},
      {"gauss-seidel-options", gauss_seidel(4, 1, 4, 1, 0)},
      {"gauss-seidel-diagonals",
       [=]() {
         GaussSeidel(exec, chain(4, 1), {4, 1, 1}).refill(exec, chain(4, 2));
       }},
      {"gauss-seidel-coupling",
       [=]() {
         // The outer diagonals have zeros at first.
         const Cds A = chain(4, 2);
         const Kokkos::View<double*, Device> values("values", A.values.extent(0));
         Kokkos::deep_copy(values, A.values);
         for (const int d : {0, 4})
           Kokkos::deep_copy(Kokkos::subview(A.values, std::make_pair(4 * d, 4 * d + 4)), 0.0);
         GaussSeidel smoother(exec, A, {4, 1, 1});
         Kokkos::deep_copy(A.values, values);
         smoother.refill(exec, A);
       }},
      {"line-options", lines(1, 4, 3, 1, 100)},
      {"line-options", lines(1, 4, 0, 0, 100)},
      {"line-block-size", lines(33, 4, 0, 1, 100)},
      {"line-singular", lines(1, 4, 0, 1, 0)},
      {"gmres-restart",
       [=]() {
         Filigree::GmresOptions options;
         options.restart = 0;
         Filigree::Gmres<ExecutionSpace, Ell>(exec, diagonal_matrix(4, 0, 2), {}, options);
       }},
      {"chebyshev-numbers", chebyshev(1, 0, 1.1, 0.1)},
      {"chebyshev-range", chebyshev(1, 3, 0.9, 0.1)},
      {"chebyshev-range", chebyshev(1, 3, 1.1, 1)},
      {"chebyshev-estimate", chebyshev(0, 3, 1.1, 0.1)},
      {"solve-mode", residual("T", 5, 7, 7)},
      {"solve-mode", residual("H", 5, 7, 7)},
      {"solve-mode", [=]() { Filigree::fused_product(exec, "T", ell(5, 7), Vector("x", 5), DoNothing()); }},
      {"solve-x", residual("N", 5, 5, 5)},
      {"solve-x", [=]() { Filigree::fused_product(exec, "N", ell(5, 7), Vector("x", 8), DoNothing()); }},
      {"solve-result",
       [=]() {
         using Vectors = Kokkos::View<double**, Device>;
         using Result = Kokkos::View<Filigree::Sums<double, 1>*, Device>;
         Filigree::fused_product(exec, "N", ell(5, 7), Vectors("x", 7, 2), AddNothing(), Result("result", 3));
       }},
      {"solve-extents", residual("N", 7, 7, 5)},
      {"solve-extents", residual("N", 7, 5, 7)},
      {"solve-extents", step(diagonal_matrix(4, 0, 2), Vector("inverse", 3))},
      {"solve-extents", solve(3, 4)},
      {"solve-extents", solve(4, 5)},
      {"solve-overlap",
       [=]() {
         const Vector x("x", 4);
         Filigree::residual(exec, "N", diagonal_matrix(4, 0, 2), x, Vector("b", 4), x);
       }},
      {"solve-overlap",
       [=]() {
         const Vector x("x", 4), long_vector("b and r", 6);
         const auto b = Kokkos::subview(long_vector, std::pair(0, 4));
         const auto r = Kokkos::subview(long_vector, std::pair(1, 5));
         Filigree::residual(exec, "N", diagonal_matrix(4, 0, 2), x, b, r);
       }},
      {"solve-overlap",
       [=]() {
         const Vector x("x", 4);
         Cg(exec, diagonal_matrix(4, 0, 2)).solve(x, x);
       }},
      {"solve-overlap", apply(Filigree::NoPreconditioner())},
      {"solve-overlap", apply(Filigree::JacobiPreconditioner<Ell>(exec, diagonal_matrix(4, 0, 2)))},
      {"spmv-stride",
       [=]() {
         const Vector b("b", 5);
         const Kokkos::View<const double*, Kokkos::LayoutStride, Device> far(
             b.data(), Kokkos::LayoutStride(5, std::size_t(1) << 28));
         Filigree::residual(exec, "N", ell(5, 7), Vector("x", 7), far, Vector("r", 5));
       }},
      {"solve-square", [=]() { Filigree::inverse_diagonal(exec, ell(5, 7)); }},
      {"solve-square", [=]() { Cg(exec, ell(5, 7)); }},
      {"solve-square", step(ell(5, 7), Vector("inverse", 5))},
      {"solve-inverse",
       step(diagonal_matrix(4, 0, 2), Filigree::inverse_diagonal_blocks(exec, diagonal_matrix(6, 0, 2), 2))},
      {"inverse-element", [=]() { Filigree::inverse_diagonal(exec, diagonal_matrix(4, 2, 0)); }},
      {"inverse-element",
       [=]() {
         Filigree::inverse_diagonal(exec, diagonal_matrix(4, 1, std::numeric_limits<double>::quiet_NaN()));
       }},
      {"inverse-block", [=]() { Filigree::inverse_diagonal_blocks(exec, diagonal_matrix(7, 6, 0), 2); }},
      {"inverse-block", [=]() { Filigree::inverse_diagonal_blocks(exec, diagonal_matrix(20, 3, 0), 10); }},
      {"inverse-block-size", [=]() { Filigree::inverse_diagonal_blocks(exec, diagonal_matrix(4, 0, 2), 0); }},
      {"inverse-block-size",
       [=]() { Filigree::inverse_diagonal_blocks(exec, diagonal_matrix(4, 0, 2), 33); }},
      {"preconditioner-rows",
       [=]() {
         Filigree::JacobiPreconditioner<Ell> jacobi(exec, diagonal_matrix(4, 0, 2));
         jacobi.refill(exec, diagonal_matrix(5, 0, 2));
       }},
      {"solver-preconditioner",
       [=]() {
         using Jacobi = Filigree::JacobiPreconditioner<Ell>;
         Filigree::ConjugateGradients<ExecutionSpace, Ell, Jacobi>(exec, diagonal_matrix(4, 0, 2),
                                                                   Jacobi(exec, diagonal_matrix(5, 0, 2)));
       }},
      {"solver-tolerances", solver(-1e-8, 0, 10, 1)},
      {"solver-tolerances", solver(0, std::numeric_limits<double>::quiet_NaN(), 10, 1)},
      {"solver-limits", solver(1e-8, 0, -1, 1)},
      {"solver-limits", solver(1e-8, 0, 10, 0)},
  };
}

}  // namespace FiligreeTest

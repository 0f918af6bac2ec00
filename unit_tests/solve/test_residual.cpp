// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Residuals, relaxation steps and products with dot products, compared with long double.
#include <filigree/solve/inverse_diagonal.hpp>
#include <filigree/solve/residual.hpp>
#include <filigree/tune/optimize.hpp>

#include "../support/errors.hpp"
#include "../support/formats.hpp"
#include "../support/instances.hpp"

namespace FiligreeTest {
namespace {

/// A matrix with dense blocks on three block diagonals and a large diagonal.
template <class Scalar>
HostMatrix<Scalar> with_large_diagonal(std::int64_t rows, int b) {
  auto host = block_banded<Scalar>(rows, rows, b);
  for (std::int64_t row = 0; row < rows; ++row)
    host.rows[static_cast<std::size_t>(row)].push_back({row, Scalar(50)});
  return canonical(host);
}

/// b - op(A) x in long double.
template <class Scalar>
HostVectors<Wide> expected_residual(Mode mode, const HostMatrix<Scalar>& A, const HostVectors<Scalar>& x,
                                    const HostVectors<Scalar>& b) {
  return reference_product(mode, Wide(-1), A, x, Wide(1), b).value;
}

/// Expects that a View of rank 1 or 2 has the elements of `expected`, up to rounding.
template <class View>
void expect_near(const View& view, const HostVectors<Wide>& expected, double tolerance) {
  const auto found = host_vectors(view);
  ASSERT_EQ(found.rows, expected.rows);
  ASSERT_EQ(found.columns, expected.columns);
  for (std::int64_t c = 0; c < found.columns; ++c)
    for (std::int64_t row = 0; row < found.rows; ++row)
      EXPECT_LE(std::abs(wide(found(row, c)) - expected(row, c)),
                tolerance * (1 + std::abs(expected(row, c))))
          << row << ", " << c;
}

template <template <class, class> class View, class Layout, class Scalar, class Matrix>
void expect_residual(const Matrix& A, const HostMatrix<Scalar>& host, Mode mode, int columns,
                     double tolerance) {
  using Vectors = View<Scalar, Layout>;
  const auto x = Random(3).vectors<Scalar>(host.columns, columns);
  const auto b = Random(4).vectors<Scalar>(host.row_count(), columns);
  const auto expected = expected_residual(mode, host, x, b);
  const auto r = device_view<Vectors>(HostVectors<Scalar>(host.row_count(), columns, not_a_number<Scalar>()));
  const auto b_view = device_view<Vectors>(b);
  Filigree::residual(ExecutionSpace(), mode, A, device_view<Vectors>(x), b_view, r);
  expect_near(r, expected, tolerance);
  // In place of b.
  Filigree::residual(ExecutionSpace(), mode, A, device_view<Vectors>(x), b_view, b_view);
  expect_near(b_view, expected, tolerance);
}

TEST(Residual, IsThatOfSeveralFormats) {
  const auto host = with_large_diagonal<double>(60, 4);
  const auto crs = device_crs(host);
  Filigree::CdsOptions cds;
  cds.block_size = 4;
  const auto expect = [&](const auto& A) {
    expect_residual<View1, Kokkos::LayoutLeft>(A, host, Mode::NoTranspose, 1, 1e-13);
    for (const int columns : {1, 3, 8})
      expect_residual<View2, Kokkos::LayoutLeft>(A, host, Mode::NoTranspose, columns, 1e-13);
    expect_residual<View2, Kokkos::LayoutRight>(A, host, Mode::NoTranspose, 4, 1e-13);
  };
  expect(crs);
  expect(Filigree::convert<Filigree::CdsMatrix>(crs, cds));
  expect(Filigree::convert<Filigree::SellMatrix>(crs));
  expect(Filigree::convert<Filigree::CooMatrix>(crs));
  expect(Filigree::optimize(crs));
}

TEST(Residual, OfARectangularMatrix) {
  const auto host = scattered<double>(40, 23, 5);
  const auto A = Filigree::convert<Filigree::EllMatrix>(device_crs(host));
  expect_residual<View1, Kokkos::LayoutLeft>(A, host, Mode::NoTranspose, 1, 1e-13);
}

TEST(Residual, OfComplexNumbersInModeC) {
  using Scalar = Kokkos::complex<double>;
  const auto host = with_large_diagonal<Scalar>(60, 4);
  const auto A = Filigree::convert<Filigree::SellMatrix>(device_crs(host));
  for (const Mode mode : {Mode::NoTranspose, Mode::Conjugate})
    expect_residual<View1, Kokkos::LayoutLeft>(A, host, mode, 1, 1e-13);
}

TEST(Residual, OfAScaledMatrixAndOfNarrowValues) {
  const auto host = with_large_diagonal<double>(60, 4);
  const auto crs = device_crs(host);
  Filigree::CdsOptions options;
  options.block_size = 4;
  const auto scaled = Filigree::convert_scaled<Filigree::CdsMatrix, float>(ExecutionSpace(), crs, options);
  expect_residual<View1, Kokkos::LayoutLeft>(scaled, host, Mode::NoTranspose, 1, 1e-4);
  expect_residual<View1, Kokkos::LayoutLeft>(Filigree::convert<Filigree::CdsMatrix, float>(crs, options),
                                             host, Mode::NoTranspose, 1, 1e-4);
}

TEST(Residual, OfAMatrixWithoutEntriesIsB) {
  const HostMatrix<double> host(9, 5);
  expect_residual<View1, Kokkos::LayoutLeft>(Filigree::convert<Filigree::SellMatrix>(device_crs(host)), host,
                                             Mode::NoTranspose, 1, 0);
  expect_residual<View2, Kokkos::LayoutLeft>(Filigree::convert<Filigree::CooMatrix>(device_crs(host)), host,
                                             Mode::NoTranspose, 3, 0);
}

/// w = factors.residual D^-1 (b - A x) + factors.w w + factors.x x, with the b x b blocks on the diagonal as D. The
/// expected elements are those that D times the rest gives.
template <template <class, class> class View, class Matrix, class Inverse>
void expect_step(const Matrix& A, const HostMatrix<double>& host, const Inverse& inverse, int b, int columns,
                 const Filigree::StepFactors<double>& factors) {
  using Vectors = View<double, Kokkos::LayoutLeft>;
  const std::int64_t rows = host.row_count();
  const auto x = Random(3).vectors<double>(rows, columns);
  const auto right = Random(4).vectors<double>(rows, columns);
  auto before = Random(5).vectors<double>(rows, columns);
  if (factors.w == 0) before = HostVectors<double>(rows, columns, not_a_number<double>());
  const auto w = device_view<Vectors>(before);
  Filigree::relaxation_step(ExecutionSpace(), A, device_view<Vectors>(x), device_view<Vectors>(right),
                            inverse, factors, w);
  const auto found = host_vectors(w);
  // D times the correction must be the residual.
  HostVectors<double> correction(rows, columns);
  for (std::int64_t c = 0; c < columns; ++c)
    for (std::int64_t row = 0; row < rows; ++row)
      correction(row, c) =
          (found(row, c) - (factors.w == 0 ? 0 : factors.w * before(row, c)) - factors.x * x(row, c)) /
          factors.residual;
  const auto residual = expected_residual(Mode::NoTranspose, host, x, right);
  for (std::int64_t c = 0; c < columns; ++c)
    for (std::int64_t row = 0; row < rows; ++row) {
      long double sum = 0;
      for (const auto& entry : host.rows[static_cast<std::size_t>(row)])
        if (entry.column / b == row / b)
          sum += static_cast<long double>(entry.value) * correction(entry.column, c);
      EXPECT_NEAR(static_cast<double>(sum), static_cast<double>(residual(row, c).real()), 1e-10)
          << row << ", " << c;
    }
}

TEST(RelaxationStep, DividesByTheDiagonalOrByBlocks) {
  const auto host = with_large_diagonal<double>(62, 4);
  const auto crs = device_crs(host);
  const ExecutionSpace exec;
  const auto diagonal = Filigree::inverse_diagonal(exec, crs);
  const auto blocks = Filigree::inverse_diagonal_blocks(exec, crs, 4);
  Filigree::CdsOptions options;
  options.block_size = 4;
  const auto expect = [&](const auto& A) {
    for (const Filigree::StepFactors<double>& factors :
         {Filigree::StepFactors<double>{1, 0, 0}, Filigree::StepFactors<double>{0.7, 0, 1},
          Filigree::StepFactors<double>{0.5, -0.25, 1.25}, Filigree::StepFactors<double>{-2, 1, 0}}) {
      expect_step<View1>(A, host, diagonal, 1, 1, factors);
      expect_step<View1>(A, host, blocks, 4, 1, factors);
      expect_step<View2>(A, host, diagonal, 1, 4, factors);
      expect_step<View2>(A, host, blocks, 4, 3, factors);
    }
  };
  expect(crs);
  expect(Filigree::convert<Filigree::CdsMatrix>(crs, options));
  expect(Filigree::convert<Filigree::JdsMatrix>(crs));
}

TEST(RelaxationStep, ReadsAnInverseInFloat) {
  using Vector = Kokkos::View<double*, Device>;
  const auto host = with_large_diagonal<double>(62, 4);
  const auto crs = device_crs(host);
  const ExecutionSpace exec;
  const auto x = device_list<Vector>(Random(3).vectors<double>(62, 1).data);
  const auto b = device_list<Vector>(Random(4).vectors<double>(62, 1).data);
  const auto expect_equal = [&](const auto& in_float, const auto& same_in_double) {
    const auto found = device_list<Vector>(Random(5).vectors<double>(62, 1).data);
    const auto expected = device_list<Vector>(Random(5).vectors<double>(62, 1).data);
    const Filigree::StepFactors<double> factors = {0.5, -0.25, 1.25};
    Filigree::relaxation_step(exec, crs, x, b, in_float, factors, found);
    Filigree::relaxation_step(exec, crs, x, b, same_in_double, factors, expected);
    EXPECT_EQ(host_list(found), host_list(expected));
  };
  const auto diagonal = Filigree::inverse_diagonal<float>(crs);
  const Vector same_diagonal("same", 62);
  Kokkos::deep_copy(same_diagonal, diagonal);
  expect_equal(diagonal, same_diagonal);
  const auto blocks = Filigree::inverse_diagonal_blocks<float>(crs, 4);
  auto same_blocks = Filigree::inverse_diagonal_blocks(crs, 4);
  ASSERT_EQ(same_blocks.values.extent(0), blocks.values.extent(0));
  Kokkos::deep_copy(same_blocks.values, blocks.values);
  expect_equal(blocks, same_blocks);
}

template <class Scalar>
void expect_dots(Mode mode) {
  const auto host = with_large_diagonal<Scalar>(500, 4);
  const auto A = Filigree::convert<Filigree::SellMatrix>(device_crs(host));
  using Result = Filigree::Sums<Scalar, 2>;
  const auto x = Random(3).vectors<Scalar>(500, 3);
  const auto expected = reference_product(mode, Wide(1), host, x, Wide(0), HostVectors<Scalar>(500, 3)).value;
  const View2<Scalar, Kokkos::LayoutLeft> y("y", 500, 3);
  const Kokkos::View<Result*, Device> dots("dots", 3);
  Filigree::product_and_dots(ExecutionSpace(), mode, A, device_view<View2<Scalar, Kokkos::LayoutLeft>>(x), y,
                             dots);
  const auto found = host_list(dots);
  for (std::int64_t c = 0; c < 3; ++c) {
    Wide xy = 0, yy = 0;
    long double size = 0;
    for (std::int64_t row = 0; row < 500; ++row) {
      xy += std::conj(wide(x(row, c))) * expected(row, c);
      yy += std::norm(expected(row, c));
      size += std::abs(wide(x(row, c))) * std::abs(expected(row, c));
    }
    EXPECT_LE(std::abs(wide(found[static_cast<std::size_t>(c)][0]) - xy), 1e-13L * size) << c;
    EXPECT_LE(std::abs(wide(found[static_cast<std::size_t>(c)][1]) - yy), 1e-13L * std::abs(yy)) << c;
  }
  expect_near(y, expected, 1e-13);
}

TEST(ProductAndDots, AddsUpInDouble) {
  expect_dots<double>(Mode::NoTranspose);
}
TEST(ProductAndDots, ConjugatesTheFirstFactor) {
  expect_dots<Kokkos::complex<double>>(Mode::NoTranspose);
  expect_dots<Kokkos::complex<double>>(Mode::Conjugate);
}

#if defined(KOKKOS_ENABLE_CUDA)
/// A reduction borrows a workspace besides that of the product. The graphs keep theirs.
TEST(ProductAndDots, CanBeCapturedIntoGraphs) {
  const auto host = with_large_diagonal<double>(20000, 4);
  using Vector = Kokkos::View<double*, Device>;
  const auto x = device_list<Vector>(Random(3).vectors<double>(20000, 1).data);
  const auto expect = [&](const auto& A) {
    const ExecutionSpace exec = another_instance();
    const Vector y("y", 20000);
    const Kokkos::View<Filigree::Sums<double, 2>, Device> dots("dots");
    std::vector<cudaGraphExec_t> graphs;
    for (int i = 0; i < 2; ++i) {
      // A larger product leaves workspaces of which each is large enough for both.
      auto& pool = Filigree::Impl::WorkspacePool<ExecutionSpace>::get();
      pool.give_back(pool.borrow(exec, 1 << 20, 1 << 20));
      Filigree::product_and_dots(exec, "N", A, x, y, dots);
      exec.fence();
      const auto expected_y = host_list(y);
      Filigree::Sums<double, 2> expected_dots, found_dots;
      Kokkos::deep_copy(expected_dots, dots);
      EXPECT_NE(expected_dots[1], 0);
      Kokkos::deep_copy(y, 0.0);
      Kokkos::deep_copy(dots, Filigree::Sums<double, 2>());

      cudaGraph_t graph;
      ASSERT_EQ(cudaStreamBeginCapture(exec.cuda_stream(), cudaStreamCaptureModeThreadLocal), cudaSuccess);
      Filigree::product_and_dots(exec, "N", A, x, y, dots);
      ASSERT_EQ(cudaStreamEndCapture(exec.cuda_stream(), &graph), cudaSuccess);
      graphs.emplace_back();
      ASSERT_EQ(cudaGraphInstantiate(&graphs.back(), graph, 0), cudaSuccess);
      ASSERT_EQ(cudaGraphDestroy(graph), cudaSuccess);
      for (const cudaGraphExec_t one : graphs) {
        Kokkos::deep_copy(y, 0.0);
        Kokkos::deep_copy(dots, Filigree::Sums<double, 2>());
        ASSERT_EQ(cudaGraphLaunch(one, exec.cuda_stream()), cudaSuccess);
        exec.fence();
        EXPECT_EQ(host_list(y), expected_y);
        Kokkos::deep_copy(found_dots, dots);
        EXPECT_EQ(found_dots[0], expected_dots[0]);
        EXPECT_EQ(found_dots[1], expected_dots[1]);
      }
    }
    for (const cudaGraphExec_t one : graphs)
      EXPECT_EQ(cudaGraphExecDestroy(one), cudaSuccess);
  };
  const auto crs = device_crs(host);
  expect(Filigree::convert<Filigree::SellMatrix>(crs));
  expect(Filigree::convert<Filigree::CooMatrix>(crs));
  expect(Filigree::convert<Filigree::HybMatrix>(crs));
}
#endif

struct StoreSum {
  Kokkos::View<double*, Device> y;
  template <class Sum>
  KOKKOS_FUNCTION void operator()(std::int64_t row, int, const Sum& sum) const {
    y(row) = sum;
  }
  template <class Sum>
  KOKKOS_FUNCTION void operator()(std::int64_t row, int, const Sum& sum,
                                  Filigree::Sums<double, 1>& total) const {
    y(row) = sum;
    total[0] += sum;
  }
};

TEST(Solvers, HaveFormsWithoutAnInstance) {
  using Vector = Kokkos::View<double*, Device>;
  const auto host = with_large_diagonal<double>(50, 4);
  const auto A = Filigree::convert<Filigree::EllMatrix>(device_crs(host));
  const ExecutionSpace exec;
  const auto x = device_list<Vector>(Random(3).vectors<double>(50, 1).data);
  const auto b = device_list<Vector>(Random(4).vectors<double>(50, 1).data);
  const Vector found("found", 50), expected("expected", 50);
  const auto expect_equal = [&]() { EXPECT_EQ(host_list(found), host_list(expected)); };
  Filigree::residual("N", A, x, b, found);
  Filigree::residual(exec, "N", A, x, b, expected);
  expect_equal();
  const auto inverse = Filigree::inverse_diagonal(A);
  EXPECT_EQ(host_list(inverse), host_list(Filigree::inverse_diagonal(exec, A)));
  const auto blocks = Filigree::inverse_diagonal_blocks(A, 5);
  EXPECT_EQ(host_list(blocks.values), host_list(Filigree::inverse_diagonal_blocks(exec, A, 5).values));
  const Filigree::StepFactors<double> factors = {0.5, 0, 1};
  Filigree::relaxation_step(A, x, b, inverse, factors, found);
  Filigree::relaxation_step(exec, A, x, b, inverse, factors, expected);
  expect_equal();
  using Dots = Kokkos::View<Filigree::Sums<double, 2>, Device>;
  const Dots dots("dots"), expected_dots("dots");
  Filigree::product_and_dots("N", A, x, found, dots);
  Filigree::product_and_dots(exec, "N", A, x, expected, expected_dots);
  expect_equal();
  Filigree::Sums<double, 2> host_dots, expected_host_dots;
  Kokkos::deep_copy(host_dots, dots);
  Kokkos::deep_copy(expected_host_dots, expected_dots);
  EXPECT_EQ(host_dots[0], expected_host_dots[0]);
  EXPECT_EQ(host_dots[1], expected_host_dots[1]);
  Kokkos::deep_copy(found, 0.0);
  Filigree::fused_product("N", A, x, StoreSum{found});
  expect_equal();
  Kokkos::deep_copy(found, 0.0);
  const Kokkos::View<Filigree::Sums<double, 1>, Device> total("total");
  Filigree::fused_product("N", A, x, StoreSum{found}, total);
  expect_equal();
  Filigree::Sums<double, 1> host_total;
  Kokkos::deep_copy(host_total, total);
  double sum = 0;
  for (const double element : host_list(found))
    sum += element;
  EXPECT_NEAR(host_total[0], sum, 1e-11);
}

}  // namespace
}  // namespace FiligreeTest

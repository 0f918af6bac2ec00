// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every public function says that Kokkos is not initialized, before Kokkos::initialize and after
// Kokkos::finalize. A program of its own, because it must run without Kokkos.
#include <gtest/gtest.h>

#include <Filigree.hpp>
#include <functional>
#include <optional>
#include <sstream>

namespace {

using ExecutionSpace = Kokkos::DefaultExecutionSpace;
using Device = ExecutionSpace::device_type;
using Crs = KokkosSparse::CrsMatrix<double, int, Device, void, int>;
using View = Kokkos::View<double*, Device>;
using Indices = Kokkos::View<int*, Device>;

/// An instance that was made while Kokkos was initialized. Before, there is none.
std::optional<ExecutionSpace> instance;

void expect_refusal(const std::string& function, const std::function<void()>& call) {
  try {
    call();
    ADD_FAILURE() << function << " does not throw.";
  } catch (const std::logic_error& error) {
    const std::string text = error.what();
    EXPECT_EQ(text.find("Filigree::" + function + ": Kokkos is not initialized"), 0u) << text;
  }
}

/// Calls a function without an instance and, if there is one, with an instance.
template <class Call>
void expect_refusals(const std::string& function, const Call& call) {
  SCOPED_TRACE(function);
  expect_refusal(function, [&]() { call(); });
  if (instance) expect_refusal(function, [&]() { call(*instance); });
}

template <class Matrix>
void expect_refusals_of_matrix(const Matrix& A) {
  SCOPED_TRACE(Filigree::MatrixTraits<Matrix>::name());
  const View x, y;
  expect_refusals("spmv", [&](const auto&... exec) { Filigree::spmv(exec..., "N", 1.0, A, x, 0.0, y); });
  expect_refusals("check", [&](const auto&... exec) { Filigree::check(exec..., A); });
  expect_refusals("to_crs", [&](const auto&... exec) { Filigree::to_crs(exec..., A); });
  expect_refusals("refill", [&](const auto&... exec) { Filigree::refill(exec..., A, Crs()); });
  expect_refusals("diagonal", [&](const auto&... exec) { Filigree::diagonal(exec..., A); });
  expect_refusals("diagonal_blocks", [&](const auto&... exec) { Filigree::diagonal_blocks(exec..., A, 2); });
#if FILIGREE_HAS_KOKKOS_COO
  expect_refusals("to_kokkos_coo", [&](const auto&... exec) { Filigree::to_kokkos_coo(exec..., A); });
#endif
}

void expect_refusals_of_all() {
  const Crs crs;
  Filigree::for_each_format(Filigree::AllFormats(), [&](auto format) {
    using FormatTag = decltype(format);
    using Matrix = Filigree::converted_t<FormatTag::template matrix, Crs>;
    expect_refusals_of_matrix(Matrix());
    expect_refusals(
        "convert", [&](const auto&... exec) { Filigree::convert<FormatTag::template matrix>(exec..., crs); });
  });
  expect_refusals_of_matrix(Filigree::converted_t<Filigree::AnyMatrix, Crs>());
  expect_refusals("optimize", [&](const auto&... exec) { Filigree::optimize(exec..., crs); });
  expect_refusals("predict_formats", [&](const auto&... exec) { Filigree::predict_formats(exec..., crs); });
  expect_refusals("make_coo", [](const auto&... exec) {
    Filigree::make_coo(exec..., 2, 2, Indices(), Indices(), View());
  });
  expect_refusals("wrap_coo", [](const auto&... exec) {
    Filigree::wrap_coo(exec..., 2, 2, Indices(), Indices(), View());
  });
  expect_refusal("StencilProblem", []() {
    Filigree::StencilProblem({2, 2, 2}, Filigree::Stencil::seven_point(), 1);
  });
  expect_refusal("row_lengths", [&]() { Filigree::row_lengths(crs); });
  // Not an error of the file, which does not exist.
  expect_refusal("read_matrix_market", []() { Filigree::read_matrix_market<Crs>("/nowhere.mtx"); });
  expect_refusal("read_matrix_market", []() {
    std::istringstream stream("not a matrix");
    Filigree::read_matrix_market<Crs>(stream, "stream");
  });
  expect_refusal("write_matrix_market", [&]() { Filigree::write_matrix_market("/nowhere/a.mtx", crs); });
  expect_refusal("write_matrix_market", [&]() {
    std::ostringstream stream;
    Filigree::write_matrix_market(stream, crs);
  });
  if (instance) {
    expect_refusal("measure_read_bandwidth", [&]() { Filigree::measure_read_bandwidth(*instance); });
    expect_refusal("matrix_statistics", [&]() { Filigree::matrix_statistics(*instance, crs, 1e6); });
  }
}

}  // namespace

// The tests run in this order.

TEST(Uninitialized, BeforeInitialize) {
  ASSERT_FALSE(Kokkos::is_initialized());
  expect_refusals_of_all();
}

TEST(Uninitialized, AfterFinalize) {
  Kokkos::initialize();
  instance = ExecutionSpace();
  Filigree::spmv("N", 1.0, Filigree::EllMatrix<double, int, Device, void, int>(), View(), 0.0, View());
  Kokkos::finalize();
  ASSERT_FALSE(Kokkos::is_initialized());
  expect_refusals_of_all();
  instance.reset();
}

int main(int argc, char* argv[]) {
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// spmv with a handle of Kokkos Kernels: an SPMVHandle, or Controls before version 4.3.
#include <algorithm>
#include <memory>

#include "../support/errors.hpp"
#include "../support/formats.hpp"
#include "../support/tools.hpp"
#include "filigree/tune/any_matrix.hpp"

namespace FiligreeTest {

using Vector = Kokkos::View<double*, Kokkos::LayoutLeft, Device>;
using Vectors = Kokkos::View<double**, Kokkos::LayoutLeft, Device>;

#if FILIGREE_KOKKOS_KERNELS_TAKES_HANDLE
/// The handle of a caller who multiplies A, or who multiplied a CRS matrix before A replaced it.
template <class Matrix, class View>
struct CallersHandle {
  using KernelsMatrix =
      std::conditional_t<Filigree::Impl::is_kokkos_kernels_matrix_v<Matrix>, Matrix, Crs<double>>;
  KokkosSparse::SPMVHandle<ExecutionSpace, KernelsMatrix, View, View> handle;
  auto get() { return &handle; }
};
#else
template <class Matrix, class View>
struct CallersHandle {
  auto get() { return KokkosKernels::Experimental::Controls(); }
};
#endif

template <class Case>
class Handles : public testing::Test {};

TYPED_TEST_SUITE(Handles, AllFormatsOf<double>, CaseName);

/// Expects correct products with a handle, with and without an instance, in all modes.
template <class View, class Handle, class Matrix>
void expect_products_with(const Handle& handle, const Matrix& A, const HostMatrix<double>& host) {
  constexpr int columns = static_cast<int>(View::rank) == 1 ? 0 : 3;
  for (const Mode mode : all_modes)
    for (const double alpha : {1.5, 0.0})
      for (const double beta : {0.0, 0.5}) {
        const char text[] = {static_cast<char>(mode), '\0'};
        const auto expected = expect_product(host, Product<double>{mode, alpha, beta, columns});
        const auto x = device_view<View>(expected.x);
        const auto y = device_view<View>(expected.y);
        Filigree::spmv(ExecutionSpace(), handle, text, alpha, A, x, beta, y);
        EXPECT_TRUE(agrees(host_vectors(y), expected.reference)) << text << ", " << alpha << ", " << beta;
        const auto again = device_view<View>(expected.y);
        Filigree::spmv(handle, text, alpha, A, x, beta, again);
        EXPECT_TRUE(agrees(host_vectors(again), expected.reference)) << text << ", " << alpha;
      }
}

TYPED_TEST(Handles, GiveTheSameProducts) {
  using Matrix = typename TypeParam::Matrix;
  const auto host = suited<TypeParam>(block_banded<double>(48, 36, 3));
  const auto A = converted<TypeParam>(host, 3);
  CallersHandle<Matrix, Vector> handle;
  expect_products_with<Vector>(handle.get(), A, host);
  CallersHandle<Matrix, Vectors> handle_of_vectors;
  expect_products_with<Vectors>(handle_of_vectors.get(), A, host);
}

TYPED_TEST(Handles, ArgumentsAreCheckedToo) {
  const auto A = converted<TypeParam>(suited<TypeParam>(scattered<double>(6, 6, 3)));
  CallersHandle<typename TypeParam::Matrix, Vector> handle;
  const auto six = device_view<Vector>(HostVectors<double>(6, 1, 77.0));
  const auto five = device_view<Vector>(HostVectors<double>(5, 1, 77.0));
  EXPECT_TRUE(holds(
      message<std::invalid_argument>([&]() { Filigree::spmv(handle.get(), "N", 1.0, A, five, 0.0, six); }),
      {"Filigree::spmv", "A is 6 x 6", "x is 5 x 1"}));
  EXPECT_TRUE(holds(
      message<std::invalid_argument>([&]() { Filigree::spmv(handle.get(), "N", 1.0, A, six, 0.0, six); }),
      {"Filigree::spmv", "share memory"}));
  EXPECT_TRUE(holds(
      message<std::invalid_argument>([&]() { Filigree::spmv(handle.get(), "X", 1.0, A, six, 0.0, five); }),
      {"Filigree::spmv", "mode is \"X\""}));
  EXPECT_EQ(host_list(six), std::vector<double>(6, 77.0));
}

template <class Case>
class HandlesOfAnyMatrix : public testing::Test {};

/// The formats that AnyMatrix can hold.
using FormatsOfAnyMatrix = CasesOf<Filigree::AllFormats, double>::one_layout;
TYPED_TEST_SUITE(HandlesOfAnyMatrix, FormatsOfAnyMatrix, CaseName);

TYPED_TEST(HandlesOfAnyMatrix, ReachTheFormat) {
  using Any = Filigree::AnyMatrix<double, int, Device, void, int>;
  const auto host = suited<TypeParam>(scattered<double>(20, 20, 4));
  const Any A({}, converted<TypeParam>(host), static_cast<int>(host.nnz()));
  CallersHandle<Crs<double>, Vector> handle;
  expect_products_with<Vector>(handle.get(), A, host);
}

/// Kokkos Kernels assume a stride of 1 on a host.
TEST(HandlesOfCrs, AreIgnoredForOperandsThatKokkosKernelsMultiplyWrongly) {
  const auto host = scattered<double>(20, 20, 4);
  const auto A = device_crs(host);
  using Strided = Kokkos::View<double**, Kokkos::LayoutRight, Device>;
  using Column = Kokkos::View<double*, Kokkos::LayoutStride, Device>;
  const Strided both("x and y", 20, 2);
  const Column x = Kokkos::subview(both, Kokkos::ALL, 0);
  const Column y = Kokkos::subview(both, Kokkos::ALL, 1);
  const auto expected = expect_product(host, Product<double>{});
  const auto packed = device_view<Vector>(expected.x);
  Kokkos::deep_copy(x, packed);
  CallersHandle<Crs<double>, Column> handle;
  Filigree::spmv(handle.get(), "N", 1.0, A, x, 0.0, y);
  // A strided View cannot be copied from a device to the host.
  Kokkos::deep_copy(packed, y);
  EXPECT_TRUE(agrees(host_vectors(packed), expected.reference));
}

#if FILIGREE_KOKKOS_KERNELS_TAKES_HANDLE
/// Whether a product by the matrix launches the merge kernel of Kokkos Kernels.
template <class Handle, class Matrix>
bool launches_merge_kernel(const Handle& handle, const Matrix& A) {
  const Vector x("x", 20);
  const Vector y("y", 20);
  const KokkosRecorder recorder;
  Filigree::spmv(ExecutionSpace(), handle, "N", 1.0, A, x, 0.0, y);
  const auto& kernels = recorder.events().kernels;
  return std::any_of(kernels.begin(), kernels.end(),
                     [](const std::string& name) { return name.find("Merge") != std::string::npos; });
}

TEST(HandlesOfCrs, ChooseTheKernel) {
  using Any = Filigree::AnyMatrix<double, int, Device, void, int>;
  const auto host = scattered<double>(20, 20, 4);
  const auto A = device_crs(host);
  const Any any({}, A, A.nnz());
  KokkosSparse::SPMVHandle<ExecutionSpace, Crs<double>, Vector, Vector> merge(
      KokkosSparse::SPMV_NATIVE_MERGE_PATH);
  KokkosSparse::SPMVHandle<Device, Crs<double>, Vector, Vector> of_device(
      KokkosSparse::SPMV_NATIVE_MERGE_PATH);
  EXPECT_TRUE(launches_merge_kernel(&merge, A));
  EXPECT_TRUE(launches_merge_kernel(&of_device, A));
  EXPECT_TRUE(launches_merge_kernel(&merge, any));
  expect_products_with<Vector>(&merge, A, host);
  // Without a handle, and with one of other types.
  EXPECT_FALSE(launches_merge_kernel(static_cast<decltype(merge)*>(nullptr), A));
  KokkosSparse::SPMVHandle<ExecutionSpace, Crs<double>, Kokkos::View<const double*, Device>, Vector> of_const(
      KokkosSparse::SPMV_NATIVE_MERGE_PATH);
  EXPECT_FALSE(launches_merge_kernel(&of_const, any));
}
#endif

}  // namespace FiligreeTest

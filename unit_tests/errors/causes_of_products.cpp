// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <filigree/convert.hpp>
#include <filigree/spmv.hpp>
#include <memory>

#include "../support/host_matrix.hpp"
#include "../support/instances.hpp"
#include "causes.hpp"

namespace FiligreeTest {
namespace {

using Vector = Kokkos::View<double*, Device>;

auto ell() {
  return Filigree::convert<Filigree::EllMatrix>(device_crs(scattered<double>(5, 7, 3)));
}

/// Records a product of COO, which needs a workspace, on an instance that has none.
void multiply_while_captured() {
#if defined(KOKKOS_ENABLE_CUDA)
  const auto coo = Filigree::convert<Filigree::CooMatrix>(device_crs(scattered<double>(5000, 5000, 9)));
  const Kokkos::View<double**, Kokkos::LayoutLeft, Device> x("x", 5000, 16), y("y", 5000, 16);
  const ExecutionSpace exec = another_instance();
  Kokkos::fence();
  cudaGraph_t graph = nullptr;
  if (cudaStreamBeginCapture(exec.cuda_stream(), cudaStreamCaptureModeThreadLocal) != cudaSuccess)
    throw NotHere{"the stream cannot be captured"};
  const std::shared_ptr<void> end(nullptr, [&](void*) {
    cudaStreamEndCapture(exec.cuda_stream(), &graph);
    cudaGraphDestroy(graph);
  });
  Filigree::spmv(exec, "N", 1.0, coo, x, 0.0, y);
#else
  throw NotHere{"only CUDA captures streams"};
#endif
}

}  // namespace

Causes causes_of_products() {
  const auto multiply = [](auto mode, int x_rows, int y_rows) {
    return [=]() { Filigree::spmv(mode, 1.0, ell(), Vector("x", x_rows), 0.0, Vector("y", y_rows)); };
  };
  return {
      {"spmv-mode", multiply("n", 7, 5)},
      {"spmv-mode", multiply('x', 7, 5)},
      {"spmv-mode", multiply(static_cast<Filigree::Mode>('x'), 7, 5)},
      {"spmv-extents", multiply("N", 6, 5)},
      {"spmv-extents", multiply("T", 7, 5)},
      {"spmv-extents",
       []() {
         using Vectors = Kokkos::View<double**, Device>;
         Filigree::spmv("N", 1.0, ell(), Vectors("x", 7, 2), 0.0, Vectors("y", 5, 3));
       }},
      {"spmv-stride",
       []() {
         const Vector y("y", 5);
         const Kokkos::View<const double*, Kokkos::LayoutStride, Device> far(
             y.data(), Kokkos::LayoutStride(7, std::size_t(1) << 28));
         Filigree::spmv("N", 1.0, ell(), far, 0.0, y);
       }},
      {"spmv-overlap",
       []() {
         const Vector x("x", 7);
         Filigree::spmv("N", 1.0, ell(), x, 0.0, Kokkos::subview(x, std::make_pair(2, 7)));
       }},
      {"spmv-capture", multiply_while_captured},
  };
}

}  // namespace FiligreeTest

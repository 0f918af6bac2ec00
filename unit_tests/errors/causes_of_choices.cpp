// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <filigree/tune/ellr_t_model.hpp>
#include <filigree/tune/optimize.hpp>
#include <limits>

#include "../support/host_matrix.hpp"
#include "causes.hpp"

namespace FiligreeTest {
namespace {

Crs<double> small_crs() {
  return device_crs(scattered<double>(20, 20, 4));
}

/// Calls optimize() with the options that `set` changes.
template <class Set>
std::function<void()> optimize_with(const Set& set) {
  return [=]() {
    Filigree::OptimizeOptions options;
    set(options);
    Filigree::optimize(small_crs(), options);
  };
}

}  // namespace

Causes causes_of_choices() {
  using namespace Filigree;
  const auto statistics = [](double cache_bytes, int block_size) {
    return [=]() { matrix_statistics(ExecutionSpace(), small_crs(), cache_bytes, block_size); };
  };
  const auto crs = [](const std::vector<std::int64_t>& row_map) {
    return crs_of_lists<Crs<double>>(3, 4, row_map, {0, 1, 2}, std::vector<double>{1, 2, 3});
  };
  return {
      {"crs-row-map-end",
       [=]() {
         optimize(crs({0, 1, 2, 4}));
       }},
      {"crs-row-map-end",
       [=]() {
         predict_formats(crs({0, 1, 2, 4}));
       }},
      {"optimize-none", optimize_with([](auto& options) { options.most_bytes = 0; })},
      {"optimize-share",
       []() {
         OptimizeOptions options;
         options.share_crs = true;
         const auto own = small_crs();
         using Const = KokkosSparse::CrsMatrix<const double, int, Device, void, int>;
         optimize(Const("const", own.numRows(), own.numCols(), own.nnz(), own.values, own.graph.row_map,
                        own.graph.entries),
                  options);
       }},
      {"optimize-products", optimize_with([](auto& options) { options.products = -1; })},
      {"optimize-block-size", optimize_with([](auto& options) { options.block_size = 17; })},
      {"optimize-negative", optimize_with([](auto& options) { options.most_bytes = -1; })},
      {"optimize-negative", optimize_with([](auto& options) { options.speed.read_bandwidth = -1; })},
      {"optimize-negative", optimize_with([](auto& options) { options.max_storage_ratio = -1; })},
      {"optimize-pick", []() { Selection().pick(); }},
      {"refill-entries", []() { refill(optimize(small_crs()), device_crs(HostMatrix<double>(20, 20))); }},
      {"statistics-cache", statistics(std::numeric_limits<double>::quiet_NaN(), 0)},
      {"statistics-block-size", statistics(1e6, 17)},
      {"statistics-most", []() { MatrixStatistics().best_block_size(0); }},
      {"bandwidth-bytes",
       []() { measure_read_bandwidth(ExecutionSpace(), 127, [](const auto&) { return 1.0; }); }},
      {"gpu-shape", []() { gpu_shape(Kokkos::DefaultHostExecutionSpace()); }},
      {"ellr-t-gpu",
       []() {
         pick_ellr_t(EllrTModel::sectors, {1, 2}, GpuShape());
       }},
      {"ellr-t-model",
       []() {
         GpuShape gpu;
         gpu.multiprocessors = 1;
         ellr_t_costs(static_cast<EllrTModel>(7), {1, 2}, gpu);
       }},
      {"convert-power-of-two",
       []() {
         EllOptions options;
         options.lanes_per_row = 3;
         ByteModel(MatrixStatistics(), DeviceSpeed(), 8, 4, 4).predict(options);
       }},
  };
}

}  // namespace FiligreeTest

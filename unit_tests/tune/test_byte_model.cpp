// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "../support/errors.hpp"
#include "../support/host_matrix.hpp"
#include "filigree/convert.hpp"
#include "filigree/grid/stencil_problem.hpp"
#include "filigree/tune/byte_model.hpp"

namespace {

using namespace FiligreeTest;
using Filigree::ByteModel;
using Filigree::DeviceSpeed;
using Filigree::ProcessorVendor;

/// A host with 10 GB/s: the time is the bytes and the factor of the kernel.
DeviceSpeed host_speed(ProcessorVendor vendor = ProcessorVendor::intel) {
  DeviceSpeed speed;
  speed.read_bandwidth = 1e10;
  speed.vendor = vendor;
  return speed;
}

DeviceSpeed h200() {
  DeviceSpeed speed;
  speed.read_bandwidth = 4300e9;
  speed.gpu.multiprocessors = 132;
  speed.gpu.cache_bytes = 60e6;
  return speed;
}

/// The caches of this GPU hold no matrix.
DeviceSpeed h200_without_cache() {
  DeviceSpeed speed = h200();
  speed.gpu.cache_bytes = 0;
  return speed;
}

/// As if a processor predicted all row lengths.
ByteModel model_of(const Crs<double>& crs, const DeviceSpeed& speed, int block_size = 0) {
  Filigree::MatrixStatistics statistics =
      Filigree::matrix_statistics(ExecutionSpace(), crs, 60e6, block_size);
  statistics.unpredicted_rows = 0;
  return {statistics, speed, 8, 4, 4};
}

Crs<double> grid(std::int64_t cells, int dof) {
  return Filigree::StencilProblem<>({cells, cells, cells}, Filigree::Stencil::seven_point(), dof)
      .crs<Crs<double>>();
}

TEST(ByteModel, CountsBytesOnAHost) {
  const auto crs = grid(16, 2);
  const ByteModel model = model_of(crs, host_speed());
  const double n = 2 * 4096;
  const double nnz = static_cast<double>(crs.nnz());
  // CDS stores k b n values of k = 7 block diagonals (Godwin et al. 2012, section 3.1); then x and y. The
  // model assumes 0.75 of the time per byte of CRS. DIA is CDS with blocks of 1.
  Filigree::CdsOptions cds;
  cds.block_size = 2;
  EXPECT_DOUBLE_EQ(model.predict(cds).seconds, 0.75 * (7 * 2 * n * 8 + 2 * n * 8) / 1e10);
  EXPECT_DOUBLE_EQ(model.predict(Filigree::CrsOptions()).seconds,
                   (12 * nnz + 4 * (n + 1) + 2 * n * 8) / 1e10);
  EXPECT_DOUBLE_EQ(model.predict(Filigree::CooOptions()).seconds, 0.75 * (16 * nnz + 2 * n * 8) / 1e10);
  Filigree::CdsOptions cds_of_ones;
  cds_of_ones.block_size = 1;
  EXPECT_DOUBLE_EQ(model.predict(Filigree::DiaOptions()).seconds, model.predict(cds_of_ones).seconds);
  // ELLPACK stores 14 elements for each of the 8192 rows.
  Filigree::EllOptions ellpack;
  ellpack.row_lengths = false;
  EXPECT_DOUBLE_EQ(model.predict(ellpack).seconds, 0.8 * (14 * n * 12 + 2 * n * 8) / 1e10);
  // The model prefers sorted SELL to the CRS of Kokkos Kernels, that CRS to ELL, CRS with lanes per row to blocks of
  // less than four rows, and short columns, which take fewer bytes (see docs/performance.md, "Host factors of the byte
  // model"). On a host CRS has one kernel for all lanes.
  const double crs_seconds = model.predict(Filigree::CrsOptions()).seconds;
  Filigree::SellOptions sell;
  sell.sorting_window = 0;
  const double sell_seconds = model.predict(sell).seconds;
  sell.short_columns = true;
  const double short_seconds = model.predict(sell).seconds;
  EXPECT_NEAR(sell_seconds / crs_seconds, 0.8, 0.02);
  EXPECT_NEAR(short_seconds / sell_seconds, 10.0 / 12, 0.05);
  Filigree::WrappedCrsOptions wrapped;
  wrapped.kernel = Filigree::CrsKernel::lanes;
  for (const int lanes : {1, 8}) {
    wrapped.lanes_per_row = lanes;
    EXPECT_DOUBLE_EQ(model.predict(wrapped).seconds, 0.65 * crs_seconds);
  }
  EXPECT_GT(model.predict(Filigree::EllOptions()).seconds, crs_seconds);
  EXPECT_EQ(model.statistics().best_block_size(), 2);
  Filigree::BellOptions bell;
  bell.block_size = 2;
  EXPECT_GT(model.predict(bell).seconds, model.predict(wrapped).seconds);
  wrapped.kernel = Filigree::CrsKernel::balanced;
  EXPECT_DOUBLE_EQ(model.predict(wrapped).seconds, 0.75 * crs_seconds);
}

TEST(ByteModel, ChargesSmallBlocksMoreOnAHost) {
  for (const int block_size : {2, 4}) {
    // Blocked ELL stores 7 blocks and their columns for each of the 512 block rows.
    const auto crs = grid(8, block_size);
    const double n = 512 * block_size;
    Filigree::BellOptions bell;
    bell.block_size = block_size;
    EXPECT_DOUBLE_EQ(
        model_of(crs, host_speed()).predict(bell).seconds,
        (block_size == 2 ? 1.2 : 0.85) * (7 * (block_size * n * 8 + 512 * 4) + 2 * n * 8) / 1e10);
  }
}

/// CDS and blocked ELL store about as many bytes of a grid, and CDS is faster.
TEST(ByteModel, PrefersCdsToBlockedEllForGridsOnAHost) {
  for (const ProcessorVendor vendor : {ProcessorVendor::intel, ProcessorVendor::other}) {
    const ByteModel model = model_of(grid(16, 4), host_speed(vendor), 4);
    Filigree::CdsOptions cds;
    cds.block_size = 4;
    Filigree::BellOptions bell;
    bell.block_size = 4;
    EXPECT_LT(model.predict(cds).seconds, model.predict(bell).seconds);
  }
}

TEST(ByteModel, ChargesBlockComponentsOnAHost) {
  const ByteModel model = model_of(grid(16, 2), host_speed());
  for (const int block_size : {1, 2}) {
    Filigree::CdsOptions columns;
    columns.block_size = block_size;
    Filigree::CdsOptions components = columns;
    components.layout = Filigree::CdsLayout::components;
    EXPECT_DOUBLE_EQ(model.predict(components).seconds,
                     (block_size == 1 ? 1.03 : 2.5) * model.predict(columns).seconds);
  }
}

TEST(ByteModel, HasOtherFactorsForProcessorsThatAreNotOfIntel) {
  const auto crs = grid(16, 2);
  const ByteModel intel = model_of(crs, host_speed());
  Filigree::SellOptions sorted;
  sorted.sorting_window = Filigree::SellOptions::sorted_window;
  for (const ProcessorVendor vendor : {ProcessorVendor::other, ProcessorVendor::unknown}) {
    const ByteModel model = model_of(crs, host_speed(vendor));
    EXPECT_DOUBLE_EQ(model.predict(sorted).seconds / intel.predict(sorted).seconds, 1.4 / 0.8);
    EXPECT_GT(model.predict(sorted).seconds, 1.2 * model.predict(Filigree::SellOptions()).seconds);
    EXPECT_LT(intel.predict(sorted).seconds, 1.2 * intel.predict(Filigree::SellOptions()).seconds);
    EXPECT_DOUBLE_EQ(
        model.predict(Filigree::SellOptions()).seconds / intel.predict(Filigree::SellOptions()).seconds,
        0.8 / 0.75);
    EXPECT_EQ(model.predict(Filigree::CrsOptions()).seconds, intel.predict(Filigree::CrsOptions()).seconds);
    // The model takes CRS with lanes per row to be faster than that of Kokkos Kernels.
    Filigree::WrappedCrsOptions lanes;
    lanes.kernel = Filigree::CrsKernel::lanes;
    EXPECT_LT(intel.predict(lanes).seconds, intel.predict(Filigree::CrsOptions()).seconds);
    EXPECT_DOUBLE_EQ(model.predict(lanes).seconds / intel.predict(lanes).seconds, 0.7 / 0.65);
    // On other processors short columns multiply the factor of SELL by 1.2.
    Filigree::SellOptions short_columns;
    short_columns.short_columns = true;
    EXPECT_DOUBLE_EQ(model.predict(short_columns).seconds / intel.predict(short_columns).seconds,
                     1.2 * 0.8 / 0.75);
  }
}

TEST(ByteModel, IsALittleMoreThanTheLargestTerm) {
  const auto crs = grid(20, 1);
  // COO has 16 bytes per entry.
  const double bytes = 16 * static_cast<double>(crs.nnz()) + 2 * 8000 * 8;
  const double on_gpu = model_of(crs, h200()).predict(Filigree::CooOptions()).seconds;
  EXPECT_GT(on_gpu, bytes / 4300e9);
  // The memory is so slow that only the launch and the longest row add to its time.
  DeviceSpeed slow = h200_without_cache();
  slow.read_bandwidth = 1e9;
  EXPECT_NEAR(model_of(crs, slow).predict(Filigree::CooOptions()).seconds, bytes / 1e9, 0.01 * bytes / 1e9);
}

/// HEC has one launch of 2.5 us. HYB has three: the ELL part, the excess entries, and the rows that these share.
TEST(ByteModel, CountsTheLaunchesOfHybridFormats) {
  HostMatrix<double> host(320, 320);
  for (std::size_t row = 0; row < 320; ++row)
    for (std::int64_t k = 0; k < (row % 16 == 0 ? 6 : 2); ++k)
      host.rows[row].push_back({k, 1.0});
  const ByteModel model = model_of(device_crs(host), h200());
  const double hec = model.predict(Filigree::HecOptions()).seconds;
  EXPECT_GT(hec, 2.5e-6);
  EXPECT_LT(hec, 5e-6);
  EXPECT_GT(model.predict(Filigree::HybOptions()).seconds, 7.5e-6);
}

/// The row lengths follow a power law, and most excess entries of HEC are in a few long rows. HEC is much slower
/// than balanced CRS then. A model that took the mean over the long rows, too, assumed too many lanes for the other
/// rows, and its prediction was too short.
TEST(ByteModel, KnowsThatLongRowsOfHecHaveTheirOwnTeams) {
  constexpr std::int64_t rows = 150000;
  constexpr std::int64_t prime = 16411;
  HostMatrix<double> host(rows, rows);
  for (std::int64_t i = 0; i < rows; ++i) {
    const double length = 3 * std::pow(static_cast<double>(rows) / static_cast<double>(i + 1), 1 / 1.1);
    const auto count = static_cast<std::int64_t>(std::min(length, 40000.0));
    for (std::int64_t k = 0; k < count; ++k)
      host.rows[static_cast<std::size_t>(i * prime % rows)].push_back({(i + k * prime) % rows, 1.0});
  }
  const ByteModel model = model_of(device_crs(host), h200_without_cache());
  Filigree::WrappedCrsOptions balanced;
  balanced.kernel = Filigree::CrsKernel::balanced;
  Filigree::HecOptions hec;
  EXPECT_GT(model.predict(hec).seconds, 1.25 * model.predict(balanced).seconds);
  // If no row counts as long, the few lanes of the longest row multiply all of its entries.
  const double with_long_rows = model.predict(hec).seconds;
  hec.long_row = rows;
  EXPECT_GT(model.predict(hec).seconds, 2 * with_long_rows);
  hec.long_row = -1;
  EXPECT_TRUE(holds(message<std::invalid_argument>([&]() { model.predict(hec); }),
                    {"Filigree::ByteModel::predict", "options.long_row is -1", "at least 0"}));
}

/// All rows with excess entries are long. Teams of 256 lanes multiply them, so that a lane waits for about 20
/// entries, not for 5000.
TEST(ByteModel, DoesNotChargeOneLaneForALongRowOfHec) {
  constexpr std::int64_t rows = 20000;
  HostMatrix<double> host(rows, rows);
  for (std::int64_t row = 0; row < rows; ++row)
    for (std::int64_t k = 0; k < (row % 2500 == 0 ? 5000 : 4); ++k)
      host.rows[static_cast<std::size_t>(row)].push_back({(row + k) % rows, 1.0});
  const ByteModel model = model_of(device_crs(host), h200_without_cache());
  Filigree::EllOptions one_lane;
  EXPECT_GT(model.predict(one_lane).seconds, 100e-6);
  EXPECT_LT(model.predict(Filigree::HecOptions()).seconds, 10e-6);
}

/// The ratio of the factors for other processors and for those of Intel.
TEST(ByteModel, HasTwoFactorsPerKernelForHosts) {
  const auto crs = grid(16, 2);
  const ByteModel intel = model_of(crs, host_speed());
  const ByteModel other = model_of(crs, host_speed(ProcessorVendor::other));
  const auto ratio = [&](const auto& options) {
    return other.predict(options).seconds / intel.predict(options).seconds;
  };
  EXPECT_DOUBLE_EQ(ratio(Filigree::CrsOptions()), 1);
  EXPECT_DOUBLE_EQ(ratio(Filigree::CooOptions()), 0.9 / 0.75);
  EXPECT_DOUBLE_EQ(ratio(Filigree::EllOptions()), 1.15);
  EXPECT_DOUBLE_EQ(ratio(Filigree::DiaOptions()), 0.8 / 0.75);
  EXPECT_DOUBLE_EQ(ratio(Filigree::JdsOptions()), 1.7 / 1.2);
  Filigree::EllOptions ellpack;
  ellpack.row_lengths = false;
  EXPECT_DOUBLE_EQ(ratio(ellpack), 1 / 0.8);
  Filigree::SellOptions jds_ell;
  jds_ell.sorting_window = 0;
  jds_ell.one_length_per_slice = true;
  EXPECT_DOUBLE_EQ(ratio(jds_ell), 1.6 / 1.2);
  Filigree::WrappedCrsOptions balanced;
  balanced.kernel = Filigree::CrsKernel::balanced;
  EXPECT_DOUBLE_EQ(ratio(balanced), 0.8 / 0.75);
}

/// The loops that branch at the end of a row take time for each row whose length a processor does not predict. CRS with
/// lanes per row and balanced CRS are then multiplied in vectors, which takes time for each row.
TEST(ByteModel, ChargesUnpredictedRowsOnAHost) {
  HostMatrix<double> host(1000, 1000);
  for (std::size_t row = 0; row < 1000; ++row)
    for (std::int64_t k = 0; k < (row % 5 == 0 ? 6 : 3); ++k)
      host.rows[row].push_back({k, 1.0});
  Filigree::MatrixStatistics statistics =
      Filigree::matrix_statistics(ExecutionSpace(), device_crs(host), 60e6, 0);
  Filigree::WrappedCrsOptions balanced;
  Filigree::WrappedCrsOptions lanes;
  lanes.kernel = Filigree::CrsKernel::lanes;
  // 200 rows have excess entries.
  Filigree::HecOptions hec;
  hec.width_rule = Filigree::HybridWidth::given;
  hec.width = 3;
  Filigree::HybOptions hyb;
  hyb.width_rule = hec.width_rule;
  hyb.width = hec.width;
  for (const DeviceSpeed& speed : {host_speed(), h200()})
    for (const double unpredicted : {0.1, 0.5}) {
      statistics.unpredicted_rows = 0;
      const ByteModel without(statistics, speed, 8, 4, 4);
      statistics.unpredicted_rows = unpredicted;
      const ByteModel with(statistics, speed, 8, 4, 4);
      const bool is_host = speed.gpu.multiprocessors == 0;
      const auto expect_bytes = [&](const char* name, const auto& options, double bytes) {
        EXPECT_NEAR(with.predict(options).seconds - without.predict(options).seconds,
                    is_host ? bytes / 1e10 : 0, 1e-12)
            << name << ", " << unpredicted;
      };
      expect_bytes("crs", Filigree::CrsOptions(), 100 * unpredicted * 1000);
      expect_bytes("coo", Filigree::CooOptions(), 100 * unpredicted * 1000);
      expect_bytes("hec", hec, 100 * unpredicted * 200);
      expect_bytes("hyb", hyb, 100 * unpredicted * 200);
      expect_bytes("balanced", balanced, unpredicted < 0.2 ? 0 : 30 * 1000);
      expect_bytes("lanes", lanes, unpredicted < 0.2 ? 0 : 30 * 1000);
      expect_bytes("sell", Filigree::SellOptions(), 0);
      expect_bytes("ell", Filigree::EllOptions(), 0);
    }
}

TEST(ByteModel, ChargesLongRowsThatOneLaneMultiplies) {
  std::vector<std::int64_t> lengths(20000, 3);
  HostMatrix<double> host(20000, 20000);
  for (std::size_t row = 0; row < lengths.size(); ++row)
    for (std::int64_t k = 0; k < (row == 77 ? 15000 : 3); ++k)
      host.rows[row].push_back({k, 1.0});
  const ByteModel model = model_of(device_crs(host), h200_without_cache());
  Filigree::WrappedCrsOptions lanes;
  lanes.kernel = Filigree::CrsKernel::lanes;
  const double one_lane = model.predict(lanes).seconds;
  lanes.lanes_per_row = 32;
  const double warp = model.predict(lanes).seconds;
  const double balanced = model.predict(Filigree::WrappedCrsOptions()).seconds;
  EXPECT_GT(one_lane, 15000 * 100e-9);
  EXPECT_LT(warp, one_lane / 10);
  EXPECT_LT(balanced, warp);
}

/// A cache delivers bytes faster than the memory, and lanes wait less for its loads. The teams of balanced CRS need a
/// few microseconds besides their entries, so that it loses to SELL on small matrices with equal rows.
TEST(ByteModel, KnowsMatricesThatFitTheCache) {
  const auto crs = grid(24, 2);
  const ByteModel cached = model_of(crs, h200());
  const ByteModel from_memory = model_of(crs, h200_without_cache());
  const Filigree::SellOptions sell;
  EXPECT_LT(cached.predict(sell).seconds, 0.95 * from_memory.predict(sell).seconds);
  EXPECT_LT(cached.predict(sell).seconds, cached.predict(Filigree::WrappedCrsOptions()).seconds);
  // The matrix alone would fill this cache.
  DeviceSpeed small_cache = h200();
  small_cache.gpu.cache_bytes = cached.predict(sell).storage_bytes;
  EXPECT_EQ(model_of(crs, small_cache).predict(sell).seconds, from_memory.predict(sell).seconds);
}

/// The memory is so slow that the other times do not matter.
TEST(ByteModel, TakesLessTimeForBytesFromTheCache) {
  const auto crs = grid(24, 2);
  DeviceSpeed slow = h200(), slow_without_cache = h200_without_cache();
  slow.read_bandwidth = slow_without_cache.read_bandwidth = 1e9;
  const auto gain = [&](const auto& options) {
    return model_of(crs, slow).predict(options).seconds /
           model_of(crs, slow_without_cache).predict(options).seconds;
  };
  EXPECT_NEAR(gain(Filigree::SellOptions()), 0.62, 0.01);
  EXPECT_NEAR(gain(Filigree::WrappedCrsOptions()), 0.62, 0.01);
  EXPECT_NEAR(gain(Filigree::CooOptions()), 0.62, 0.01);
}

/// The matrix decides whether the cache holds it, not the vectors alone.
TEST(ByteModel, KnowsThatALargeSymmetricMatrixDoesNotFitTheCache) {
  const auto crs = grid(40, 4);
  DeviceSpeed speed = h200();
  const ByteModel without_cache = model_of(crs, h200_without_cache(), 4);
  Filigree::SymCdsOptions symmetric;
  symmetric.block_size = 4;
  Filigree::DictCdsOptions dictionary;
  dictionary.block_size = 4;
  const double vectors = 2 * 8.0 * static_cast<double>(crs.numRows());
  const auto seconds_with_cache = [&](const auto& options, double cache_bytes) {
    speed.gpu.cache_bytes = cache_bytes;
    return model_of(crs, speed, 4).predict(options).seconds;
  };
  const auto expect = [&](const auto& options) {
    const Filigree::Prediction prediction = without_cache.predict(options);
    EXPECT_EQ(seconds_with_cache(options, vectors + prediction.storage_bytes), prediction.seconds);
    // This cache holds the matrix in all formats, also in CDS, from whose time the others are computed.
    EXPECT_LT(seconds_with_cache(options, 4 * (vectors + 4 * prediction.storage_bytes)), prediction.seconds);
  };
  expect(symmetric);
  expect(dictionary);
}

/// Steps of a warp take less time if the values of A and of the vectors have 4 bytes. Eight lanes per short row need so
/// many warps that the instruction time is the largest.
TEST(ByteModel, ChargesLessForInstructionsOfNarrowValues) {
  const auto statistics = Filigree::matrix_statistics(ExecutionSpace(), grid(40, 1), 60e6);
  Filigree::SellOptions sell;
  sell.lanes_per_row = 8;
  const auto seconds = [&](int scalar_bytes, int vector_bytes) {
    const ByteModel model(statistics, h200_without_cache(), scalar_bytes, 4, 4, vector_bytes);
    return model.predict(sell).seconds;
  };
  EXPECT_LT(seconds(4, 4), 0.9 * seconds(4, 8));
  EXPECT_GT(seconds(8, 4), 0.98 * seconds(8, 8));
  EXPECT_NEAR(seconds(4, 8), seconds(8, 8), 0.01 * seconds(8, 8));
}

/// Short columns save bytes but take instructions. With a slow memory the bytes decide, with a fast one the
/// instructions.
TEST(ByteModel, ChargesShortColumnsForInstructions) {
  const auto crs = grid(40, 1);
  const auto short_per_whole = [&](double bandwidth) {
    DeviceSpeed speed = h200_without_cache();
    speed.read_bandwidth = bandwidth;
    const ByteModel model = model_of(crs, speed);
    Filigree::SellOptions sell;
    const double whole = model.predict(sell).seconds;
    sell.short_columns = true;
    return model.predict(sell).seconds / whole;
  };
  EXPECT_LT(short_per_whole(1e12), 0.95);
  EXPECT_GT(short_per_whole(1e14), 1.02);
}

/// Teams of balanced CRS scale y in rows without entries while they look for their rows. If almost all rows
/// are empty, they search for their rows, and COO, which stores the row of each entry, is faster.
TEST(ByteModel, PrefersCooToBalancedCrsIfAlmostAllRowsAreEmpty) {
  const auto coo_per_crs = [](std::int64_t rows) {
    HostMatrix<double> host(rows, 1000);
    for (std::int64_t row = 0; row < 100000; ++row)
      for (std::int64_t k = 0; k < 12; ++k)
        host.rows[static_cast<std::size_t>(row * (rows / 100000))].push_back({10 * k + row % 10, 1.0});
    const ByteModel model = model_of(device_crs(host), h200());
    return model.predict(Filigree::CooOptions()).seconds /
           model.predict(Filigree::WrappedCrsOptions()).seconds;
  };
  EXPECT_GT(coo_per_crs(200000), 1.1);
  EXPECT_LT(coo_per_crs(10000000), 0.9);
}

/// Warps of rows without entries end early. In this matrix they are together already, so that sorting does not change
/// the padding. Only the discount for such warps differs, which the model gives to sorted SELL.
TEST(ByteModel, ChargesLessForWarpsWithoutEntries) {
  HostMatrix<double> host(1000000, 1000);
  for (std::size_t row = 0; row < 50000; ++row)
    for (std::int64_t k = 0; k < 6; ++k)
      host.rows[row].push_back({k, 1.0});
  const ByteModel model = model_of(device_crs(host), h200_without_cache());
  const auto seconds = [&](std::int64_t window) {
    Filigree::SellOptions sell;
    sell.sorting_window = window;
    return model.predict(sell).seconds;
  };
  // Sorting a window of 32 rows changes nothing.
  EXPECT_LT(seconds(Filigree::SellOptions::sorted_window), 0.8 * seconds(32));
}

/// If the prediction left out the list of rows without entries, optimize() would refuse COO, because the
/// result stores more than was predicted.
TEST(ByteModel, CountsTheListOfEmptyRows) {
  HostMatrix<double> host(1000000, 1000);
  for (std::size_t row = 0; row < 1000000; row += 100)
    for (std::int64_t k = 0; k < 6; ++k)
      host.rows[row].push_back({k, 1.0});
  const auto crs = device_crs(host);
  const ByteModel model = model_of(crs, h200());
  const auto expect_predicted = [&](const auto& options, std::size_t stored) {
    const auto bytes = static_cast<double>(stored);
    EXPECT_NEAR(model.predict(options).storage_bytes, bytes, 0.01 * bytes);
  };
  expect_predicted(Filigree::CooOptions(), Filigree::convert<Filigree::CooMatrix>(crs).storage_bytes());
  const auto balanced = Filigree::convert<Filigree::WrappedCrsMatrix>(crs);
  ASSERT_GT(balanced.empty_rows.extent(0), 900000u);
  expect_predicted(Filigree::WrappedCrsOptions(), balanced.storage_bytes());
}

TEST(ByteModel, ChargesJdsForRowsThatItMoves) {
  // Rows of 2 to 9 entries, `run` consecutive rows of each length.
  const auto seconds = [](std::int64_t run) {
    HostMatrix<double> host(200000, 200000);
    for (std::int64_t row = 0; row < 200000; ++row)
      for (std::int64_t k = 0; k < 2 + row / run % 8; ++k)
        host.rows[static_cast<std::size_t>(row)].push_back({(row + k) % 200000, 1.0});
    return model_of(device_crs(host), h200()).predict(Filigree::JdsOptions()).seconds;
  };
  EXPECT_GT(seconds(1), 1.5 * seconds(1000));
}

TEST(ByteModel, HidesPartOfTheLongestRowIfItComesFirst) {
  const auto seconds = [](std::int64_t longest, const auto& options) {
    HostMatrix<double> host(400000, 10000);
    for (std::int64_t row = 0; row < 400000; ++row)
      for (std::int64_t k = 0; k < (row == 77 ? longest : 5); ++k)
        host.rows[static_cast<std::size_t>(row)].push_back({k, 1.0});
    DeviceSpeed slow = h200_without_cache();
    slow.read_bandwidth /= 10;
    return model_of(device_crs(host), slow).predict(options).seconds;
  };
  const Filigree::JdsOptions jds;
  Filigree::WrappedCrsOptions lanes;
  lanes.kernel = Filigree::CrsKernel::lanes;
  // The wait for 200 more entries is added to the time of CRS, and mostly hidden for JDS.
  EXPECT_LT(seconds(205, jds) - seconds(5, jds), 0.5 * 200 * 0.25e-6);
  EXPECT_GT(seconds(205, lanes) - seconds(5, lanes), 0.9 * 200 * 0.137e-6);
}

/// Random rows: 100 shorter rows, then 100 longer rows, and so on.
Crs<double> uneven_rows() {
  Random random(9);
  HostMatrix<double> host(150000, 400);
  for (std::int64_t row = 0; row < host.row_count(); ++row)
    for (std::int64_t k = 2 + random.below(row / 100 % 2 == 0 ? 4 : 12) * random.below(4); k > 0; --k)
      host.rows[static_cast<std::size_t>(row)].push_back({k, 1.0});
  return device_crs(host);
}

TEST(ByteModel, PredictsThePaddingOfSellForWindowsOfEverySize) {
  const auto crs = uneven_rows();
  const ByteModel model = model_of(crs, h200());
  std::vector<double> predicted;
  for (const int lanes : {1, 4})
    for (const std::int64_t window : {1, 32, 64, 96, 128, 320, 512, 1024, 2048, 4096, 20000, 150000, 0}) {
      Filigree::SellOptions options;
      options.lanes_per_row = lanes;
      options.sorting_window = window;
      options.max_storage_ratio = 10;
      const auto A = Filigree::convert<Filigree::SellMatrix>(crs, options);
      const double stored = static_cast<double>(A.storage_bytes());
      predicted.push_back(model.predict(options).storage_bytes);
      EXPECT_NEAR(predicted.back(), stored, 0.03 * stored) << lanes << " lanes, window " << window;
    }
  // Window 1 sorts nothing, window 0 sorts all rows.
  EXPECT_GT(predicted[0], 1.5 * predicted[12]);
  Filigree::SellOptions options;
  options.sorting_window = -1;
  EXPECT_TRUE(holds(message<std::invalid_argument>([&]() { model.predict(options); }),
                    {"Filigree::ByteModel::predict", "sorting_window is -1"}));
}

TEST(ByteModel, PredictsThePaddingOfSellForRowsBeyondTheLastCountedLength) {
  for (const std::int64_t rows : {7, 3000, 20000}) {
    HostMatrix<double> host(rows, 3000);
    for (std::int64_t row = 0; row < rows; ++row)
      for (std::int64_t k = 0; k < (row == rows / 2 ? 3000 : 3); ++k)
        host.rows[static_cast<std::size_t>(row)].push_back({k, 1.0});
    const auto crs = device_crs(host);
    const ByteModel model = model_of(crs, h200());
    for (const int lanes : {1, 8})
      for (const std::int64_t window : {1, 64, 4096, 15000, 0}) {
        Filigree::SellOptions options;
        options.lanes_per_row = lanes;
        options.sorting_window = window;
        options.max_storage_ratio = 1000;
        const auto A = Filigree::convert<Filigree::SellMatrix>(crs, options);
        // The samples have all of the largest windows, but only a part of the smaller windows.
        if (window == 64 && rows > 4096) continue;
        const double stored = static_cast<double>(A.storage_bytes());
        EXPECT_NEAR(model.predict(options).storage_bytes, stored, 0.05 * stored)
            << rows << " rows, " << lanes << " lanes, window " << window;
      }
  }
}

TEST(ByteModel, TakesAMatrixWithoutEntries) {
  const ByteModel model = model_of(device_crs(HostMatrix<double>(64, 64)), h200());
  for (const std::int64_t window : {1, 64, 4096, 0}) {
    Filigree::SellOptions options;
    options.sorting_window = window;
    EXPECT_EQ(model.predict(options).seconds, 0) << window;
  }
  Filigree::BsrOptions bsr;
  bsr.block_size = 4;
  EXPECT_EQ(model.predict(bsr).seconds, 0);
}

TEST(ByteModel, ChargesSellForRowsThatLargeWindowsMove) {
  const auto crs = uneven_rows();
  DeviceSpeed fast = h200();
  fast.read_bandwidth *= 100;
  const ByteModel model = model_of(crs, fast);
  const auto seconds = [&](std::int64_t window) {
    Filigree::SellOptions options;
    options.sorting_window = window;
    return model.predict(options).seconds;
  };
  EXPECT_GT(seconds(30000), seconds(4096));
  EXPECT_GT(seconds(0), seconds(30000));
}

TEST(ByteModel, CountsTheBlocksOfBsr) {
  const auto crs = grid(16, 2);
  const double n = 2 * 4096;
  const double blocks = static_cast<double>(crs.nnz()) / 4;
  Filigree::BsrOptions options;
  options.block_size = 2;
  const ByteModel model = model_of(crs, host_speed());
  EXPECT_NEAR(model.predict(options).storage_bytes, blocks * (4 * 8 + 4) + (n / 2 + 1) * 4, 1);
  EXPECT_NEAR(model.predict(options).seconds * 1e10,
              1.5 * (blocks * (4 * 8 + 4) + (n / 2 + 1) * 4 + 2 * n * 8), 1);
  // Kokkos Kernels multiplies blocks of size 1 as CRS.
  options.block_size = 1;
  EXPECT_DOUBLE_EQ(model_of(crs, h200()).predict(options).seconds,
                   model_of(crs, h200()).predict(Filigree::CrsOptions()).seconds);
  // Blocks of 3 do not divide 8192 rows, and the statistics have no blocks of 32.
  for (const int b : {0, 3, 32}) {
    options.block_size = b;
    EXPECT_TRUE(std::isinf(model.predict(options).seconds)) << b;
  }
}

TEST(ByteModel, RefusesUnknownEnumerators) {
  const ByteModel model = model_of(grid(4, 1), h200());
  Filigree::HybOptions hyb;
  hyb.width_rule = static_cast<Filigree::HybridWidth>(9);
  EXPECT_TRUE(holds(message<std::invalid_argument>([&]() { model.predict(hyb); }),
                    {"Filigree::ByteModel::predict", "HybridWidth(9)"}));
  Filigree::WrappedCrsOptions crs;
  crs.kernel = static_cast<Filigree::CrsKernel>(9);
  EXPECT_TRUE(holds(message<std::invalid_argument>([&]() { model.predict(crs); }),
                    {"Filigree::ByteModel::predict", "CrsKernel(9)"}));
}

TEST(ByteModel, RefusesBlockSizesThatAFormatDoesNotHave) {
  const ByteModel model = model_of(grid(4, 9), h200());
  EXPECT_EQ(model.statistics().best_block_size(), 9);
  Filigree::BellOptions bell;
  bell.block_size = 9;
  EXPECT_TRUE(std::isinf(model.predict(bell).seconds));
  Filigree::CdsOptions cds;
  cds.block_size = 9;
  EXPECT_TRUE(std::isfinite(model.predict(cds).seconds));
}

}  // namespace

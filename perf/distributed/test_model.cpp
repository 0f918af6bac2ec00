// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>

#include "distributed/model.hpp"

namespace FiligreePerf {
namespace {

using Filigree::GridParts;

TEST(DistributedModel, LoadOfOneRank) {
  const DistributedLoad load = load_of({10, 10, 10}, GridParts(), 0, 4);
  EXPECT_EQ(load.rows, 4000);
  EXPECT_EQ(load.owned_bytes, 8 * 7 * 4 * 4000 + 4 * 7 + 16 * 4000);
  EXPECT_EQ(load.messages, 0);
  EXPECT_EQ(load.halo_elements, 0);
  EXPECT_EQ(load.remote_bytes, 0);
}

TEST(DistributedModel, AdditionalValuesAreStoredAndNotRead) {
  // A column of a block diagonal has 6912 values, which are 216 times 256 bytes, and is stored with 217 times 256 bytes.
  const DistributedLoad load = load_of({12, 12, 12}, GridParts(), 0, 4);
  EXPECT_EQ(load.owned_storage, 7 * 4 * 217 * 256 + 4 * 7);
  EXPECT_EQ(load.owned_bytes, 7 * 4 * 216 * 256 + 4 * 7 + 16 * 6912);
}

TEST(DistributedModel, LoadOfAnInnerPart) {
  // Part (1, 1, 1) of 3 x 3 x 3 parts has 4 x 4 x 4 cells and six neighbours with 16 cells each.
  const DistributedLoad load = load_of({12, 12, 12}, {{3, 3, 3}}, 13, 2);
  EXPECT_EQ(load.rows, 128);
  EXPECT_EQ(load.messages, 6);
  EXPECT_EQ(load.halo_elements, 6 * 16 * 2);
  EXPECT_EQ(load.remote_entries, 6 * 16 * 4);
  EXPECT_EQ(load.boundary_rows, (64 - 8) * 2);
  EXPECT_EQ(load.remote_storage, 12 * 384 + 8 * 113);
  EXPECT_EQ(load.remote_bytes, 12 * 384 + 8 * 113 + 8 * 192 + 36 * 112);
}

TEST(DistributedModel, ThinSlabsHaveNoNeighboursAcross) {
  const DistributedLoad load = load_of({6, 6, 3}, GridParts::slabs({6, 6, 3}, 3), 1, 1);
  EXPECT_EQ(load.owned_bytes, 8 * 5 * 36 + 4 * 5 + 16 * 36);  // two diagonals fewer
  EXPECT_EQ(load.boundary_rows, 36);
}

TEST(DistributedModel, TimesOfTheSteps) {
  DistributedSpeed speed;
  speed.bandwidth = 1e9;
  speed.launch = 1e-6;
  speed.message = 1e-5;
  speed.network = 1e8;
  DistributedLoad load;
  load.owned_bytes = 1e6;
  load.remote_bytes = 2e5;
  load.halo_elements = 1e4;
  load.messages = 3;
  const DistributedTimes times = predict(load, speed);
  EXPECT_DOUBLE_EQ(times.owned, 1e-6 + 1e-3);
  EXPECT_DOUBLE_EQ(times.pack, 1e-6);
  EXPECT_DOUBLE_EQ(times.exchange, 1e-6 + 3e-5 + 8e-4);
  EXPECT_DOUBLE_EQ(times.remote, 2e-6 + 2e-4);
  EXPECT_DOUBLE_EQ(times.one_after_the_other(), times.owned + times.pack + times.exchange + times.remote);
  EXPECT_DOUBLE_EQ(times.overlapped(), times.pack + times.owned + times.remote);
  load.owned_bytes = 1e5;
  EXPECT_DOUBLE_EQ(predict(load, speed).overlapped(), times.pack + times.exchange + times.remote);
  load.messages = 0;
  EXPECT_EQ(predict(load, speed).exchange, 0);
}

TEST(DistributedModel, TheSlowestRankCounts) {
  const DistributedSpeed speed{1e9, 0, 1e-6, 1e9};
  const GridParts parts = GridParts::slabs({8, 8, 10}, 3);  // 3, 3 and 4 layers
  const DistributedTimes times = predict({8, 8, 10}, parts, 1, speed);
  EXPECT_DOUBLE_EQ(times.owned, load_of({8, 8, 10}, parts, 2, 1).owned_bytes / 1e9);
  EXPECT_DOUBLE_EQ(times.exchange, 2e-6 + 2 * 64 * 8 / 1e9);
}

}  // namespace
}  // namespace FiligreePerf

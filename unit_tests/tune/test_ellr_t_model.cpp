// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "../support/errors.hpp"
#include "../support/matrices.hpp"
#include "filigree/io/matrix_market.hpp"
#include "filigree/tune/ellr_t_model.hpp"

namespace {

using Filigree::EllrTLaunch;
using Filigree::EllrTModel;
using Filigree::GpuShape;
using FiligreeTest::holds;
using FiligreeTest::message;
using Lengths = std::vector<std::int64_t>;

/// The GPU of the paper: 30 multiprocessors with at most 1024 lanes in at most 8 teams of at most 512 lanes.
GpuShape gtx_285() {
  return {30, 32, 512, 1024, 8};
}

double cost(const Lengths& lengths, const GpuShape& gpu, int lanes_per_row, int lanes_per_team) {
  for (const EllrTLaunch& launch : Filigree::ellr_t_costs(EllrTModel::half_warps, lengths, gpu))
    if (launch.lanes_per_row == lanes_per_row && launch.lanes_per_team == lanes_per_team) return launch.cost;
  ADD_FAILURE() << "no launch of " << lanes_per_row << " lanes per row in teams of " << lanes_per_team;
  return -1;
}

TEST(EllrTModel, CountsTheLongestRowOfEachHalfWarp) {
  // Rows 0 to 15 are in the first half of the first warp, 16 to 31 in its second half, 32 to 39 in the second
  // warp.
  Lengths lengths(40, 1);
  lengths[3] = 7;
  lengths[20] = 5;
  lengths[39] = 4;
  const GpuShape one = {1, 32, 64, 64, 2};
  EXPECT_EQ(cost(lengths, one, 1, 32), 7 + 5 + 4);
  EXPECT_EQ(cost(lengths, one, 1, 64), 7 + 5 + 4);
  // Two lanes per row, eight rows per half warp: row 3 (7 / 2 rounded up), 1, row 20 (3), 1, then row 39 (2).
  EXPECT_EQ(cost(lengths, one, 2, 32), 4 + 1 + 3 + 1 + 2);
  // One row per warp: both halves wait for it.
  EXPECT_EQ(cost(lengths, one, 32, 32), 40 * 2);
}

TEST(EllrTModel, MultiprocessorsTakeTeamsInTurn) {
  // Five teams of one warp on two multiprocessors: teams 0, 2 and 4 are on the first one.
  Lengths lengths(5 * 32, 2);
  for (int row = 32; row < 64; ++row)
    lengths[row] = 9;
  const GpuShape two = {2, 32, 64, 64, 2};
  EXPECT_EQ(cost(lengths, two, 1, 32), 18 + 4);
  // Three teams of two warps: 0 and 2 are on the first one.
  EXPECT_EQ(cost(lengths, two, 1, 64), 4 + 18 + 4);
}

TEST(EllrTModel, PicksTheFirstLaunchOfTheLowestCost) {
  const Lengths lengths(2000, 2000);
  // The dense matrix of the paper: table 1 has T* = 32.
  const EllrTLaunch pick = Filigree::pick_ellr_t(EllrTModel::half_warps, lengths, gtx_285());
  EXPECT_EQ(pick.lanes_per_row, 32);
  for (const EllrTLaunch& launch : Filigree::ellr_t_costs(EllrTModel::half_warps, lengths, gtx_285())) {
    EXPECT_GE(launch.cost, pick.cost);
    EXPECT_GE(launch.lanes_per_team, 128);
    EXPECT_LE(launch.lanes_per_team, 512);
  }
  EXPECT_EQ(pick.options().lanes_per_row, pick.lanes_per_row);
  EXPECT_EQ(pick.options().lanes_per_team, pick.lanes_per_team);
}

TEST(EllrTModel, TakesAMatrixWithoutRows) {
  EXPECT_EQ(Filigree::pick_ellr_t(EllrTModel::half_warps, {}, gtx_285()).cost, 0);
}

TEST(EllrTModel, RefusesAnImpossibleGpu) {
  for (const GpuShape& gpu : {GpuShape{0, 32, 512, 1024, 8}, GpuShape{30, 64, 512, 1024, 8},
                              GpuShape{30, 32, 64, 1024, 8}, GpuShape{30, 32, 512, 1024, 0}})
    EXPECT_THROW(Filigree::ellr_t_costs(EllrTModel::half_warps, {1, 2}, gpu), std::invalid_argument);
}

TEST(EllrTModel, RefusesAnUnknownModel) {
  EXPECT_TRUE(holds(message<std::invalid_argument>([&]() {
                      Filigree::pick_ellr_t(static_cast<EllrTModel>(9), {1, 2}, GpuShape{132});
                    }),
                    {"Filigree::ellr_t_costs", "EllrTModel(9)", "half_warps or sectors"}));
}

TEST(EllrTModel, SectorsGivesShortRowsOfALargeMatrixOneLaneEach) {
  const GpuShape h200 = {132, 32, 1024, 2048, 32};
  // Seven entries per row: more lanes per row would only add warps.
  EXPECT_EQ(Filigree::pick_ellr_t(EllrTModel::sectors, Lengths(1000000, 7), h200).lanes_per_row, 1);
  // 500 rows fill the GPU only if each row has a whole warp.
  EXPECT_EQ(Filigree::pick_ellr_t(EllrTModel::sectors, Lengths(500, 2000), h200).lanes_per_row, 32);
  // Every 32nd row is long: several lanes per row shorten its wait.
  Lengths uneven(1000000, 2);
  for (std::size_t row = 0; row < uneven.size(); row += 32)
    uneven[row] = 200;
  EXPECT_GT(Filigree::pick_ellr_t(EllrTModel::sectors, uneven, h200).lanes_per_row, 1);
}

TEST(EllrTModel, SectorsOfAKnownMatrix) {
  // Instructions decide: 40 cycles per warp, 40 per team, 14 per step, and then 2 * 1 + 1 waits of 500.
  const GpuShape one = {1, 32, 64, 64, 2};
  for (const EllrTLaunch& launch : Filigree::ellr_t_costs(EllrTModel::sectors, Lengths(32, 3), one))
    if (launch.lanes_per_row == 1 && launch.lanes_per_team == 32) {
      EXPECT_DOUBLE_EQ(launch.cost, 40 + 40 + 3 * 14 + 3 * 500);
    }
}

TEST(EllrTModelCollection, PicksTheLaunchesOfThePaper) {
  FILIGREE_SKIP_WITHOUT_MATRICES();
  using Crs = KokkosSparse::CrsMatrix<double, int, Kokkos::DefaultHostExecutionSpace::device_type, void, int>;
  struct Pick {
    const char* matrix;
    int lanes_per_row;
    bool is_lowest;
  };
  // T* of table 1; BS* is 128 for all of these matrices. The equations give the same T for four of them. The
  // other matrices fill the 30 multiprocessors only a few times, and T* costs more than the lowest by a
  // factor of up to 1.36.
  for (const Pick& paper : {Pick{"qh1484", 4, true}, Pick{"rbs480a", 8, true}, Pick{"mhd3200a", 8, true},
                            Pick{"e20r4000", 8, true}, Pick{"dw2048", 2, false}, Pick{"gemat12", 2, false},
                            Pick{"dw8192", 1, false}, Pick{"bcsstk24", 4, false}}) {
    const std::filesystem::path file = FiligreeTest::matrix_folder / (std::string(paper.matrix) + ".mtx.gz");
    if (!std::filesystem::exists(file)) continue;
    const Lengths lengths = Filigree::row_lengths(Filigree::read_matrix_market<Crs>(file.string()));
    const EllrTLaunch pick = Filigree::pick_ellr_t(EllrTModel::half_warps, lengths, gtx_285());
    EXPECT_EQ(pick.lanes_per_team, 128) << paper.matrix;
    if (paper.is_lowest)
      EXPECT_EQ(pick.lanes_per_row, paper.lanes_per_row) << paper.matrix;
    else
      EXPECT_LE(cost(lengths, gtx_285(), paper.lanes_per_row, 128), 1.36 * pick.cost) << paper.matrix;
  }
}

}  // namespace

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "filigree/tune/ellr_t_model.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "filigree/core/integer.hpp"

namespace Filigree {
namespace {

constexpr int warp_size = 32;
constexpr int half_warp = warp_size / 2;

/// The lanes of a team that lets a multiprocessor have all its lanes under way.
int least_lanes_per_team(const GpuShape& gpu) {
  int lanes = warp_size;
  while (lanes * gpu.teams_per_multiprocessor < gpu.lanes_per_multiprocessor)
    lanes *= 2;
  return lanes;
}

void check(const GpuShape& gpu) {
  if (gpu.multiprocessors < 1 || gpu.warp_size != warp_size || gpu.teams_per_multiprocessor < 1 ||
      gpu.lanes_per_multiprocessor < warp_size || gpu.most_lanes_per_team < least_lanes_per_team(gpu))
    Impl::fail<std::invalid_argument>(
        "Filigree::ellr_t_costs: the GPU has ", gpu.multiprocessors, " multiprocessors, warps of ",
        gpu.warp_size, " lanes, teams of at most ", gpu.most_lanes_per_team, " and a multiprocessor at most ",
        gpu.lanes_per_multiprocessor, " lanes in ", gpu.teams_per_multiprocessor,
        " teams; there must be at least one multiprocessor, warps of 32 lanes, and teams that fill it.");
}

std::int64_t warps_of(std::size_t rows, int lanes_per_row) {
  return (static_cast<std::int64_t>(rows) * lanes_per_row + warp_size - 1) / warp_size;
}

/// Equation 3: for each warp, what its two halves wait for. With 32 lanes a row both halves have the same
/// row, each a half of its entries.
std::vector<std::int64_t> half_warp_waits(const std::vector<std::int64_t>& row_lengths, int lanes_per_row) {
  std::vector<std::int64_t> waits(static_cast<std::size_t>(warps_of(row_lengths.size(), lanes_per_row)));
  const auto rows = static_cast<std::int64_t>(row_lengths.size());
  for (std::size_t warp = 0; warp < waits.size(); ++warp)
    for (int half = 0; half < 2; ++half) {
      const std::int64_t first_lane = static_cast<std::int64_t>(warp) * warp_size + half * half_warp;
      const std::int64_t end_row =
          std::min(rows, (first_lane + half_warp + lanes_per_row - 1) / lanes_per_row);
      std::int64_t longest = 0;
      for (std::int64_t row = first_lane / lanes_per_row; row < end_row; ++row)
        longest = std::max(longest, row_lengths[static_cast<std::size_t>(row)]);
      waits[warp] += (longest + lanes_per_row - 1) / lanes_per_row;
    }
  return waits;
}

/// What a warp does, for the model of sectors.
struct WarpWork {
  std::int64_t steps = 0;    ///< entries of the lane that has most
  std::int64_t sectors = 0;  ///< of values and columns
};

/// The work of the warp whose first lane is the given one. Four lanes share a sector of values, eight one of
/// columns.
WarpWork warp_work(const std::vector<std::int64_t>& row_lengths, int lanes_per_row, std::int64_t first_lane) {
  constexpr int lanes_per_value_sector = 4;
  WarpWork result;
  const int log2_lanes = Impl::log2_of(lanes_per_row);
  std::int64_t steps[warp_size / lanes_per_value_sector] = {};
  for (int lane = 0; lane < warp_size; ++lane) {
    const auto row = static_cast<std::size_t>((first_lane + lane) / lanes_per_row);
    if (row >= row_lengths.size()) break;
    std::int64_t& most = steps[lane / lanes_per_value_sector];
    most = std::max(most, Impl::entries_of_lane(row_lengths[row], lane % lanes_per_row, log2_lanes));
  }
  for (int i = 0; i < warp_size / lanes_per_value_sector; i += 2) {
    const std::int64_t of_columns = std::max(steps[i], steps[i + 1]);
    result.steps = std::max(result.steps, of_columns);
    result.sectors += steps[i] + steps[i + 1] + of_columns;
  }
  return result;
}

/// Figures of an H200, kernels of this library, products of double with cold caches (filigree_ellrt --all on
/// matrices repeated to 20M entries). In cycles of one multiprocessor:
/// a warp whose lanes have a row each, or share one and add up, from T = 4 to 32 on matrices of short rows;
constexpr double cycles_of_warp = 40;
constexpr double cycles_of_shared_warp = 97;
/// a step of it, from rows of 45 entries with T = 8 and 16;
constexpr double cycles_of_step = 14;
/// a sector: 4302 GB/s of 132 multiprocessors at 1.755 GHz;
constexpr double cycles_of_sector = 32 / 18.6;
/// x, whose sectors the row lengths do not tell: 1 byte an entry, as caches hold most of it;
constexpr double sectors_of_x = 0.03;
/// a team that begins;
constexpr double cycles_of_team = 40;
/// a load that nothing hides. A lane has six entries under way, waits for them and then for x.
constexpr double cycles_of_wait = 500;
constexpr double steps_under_way = 6;

/// The part of the speed that the lanes under way reach: teams of more than 256 lanes have kernels with more
/// registers, of which a multiprocessor has room for 1024 lanes in place of 1280.
double speed_of_team(int lanes_per_team) {
  return lanes_per_team > 256 ? 0.8 : 1;
}

double sectors_cost(const WarpWork& all, std::int64_t warps, std::int64_t entries, std::int64_t longest,
                    int lanes_per_row, int lanes_per_team, const GpuShape& gpu) {
  const double per_warp = (lanes_per_row > 1 ? cycles_of_shared_warp : cycles_of_warp) +
                          cycles_of_team * warp_size / lanes_per_team;
  const double instructions =
      (per_warp * static_cast<double>(warps) + cycles_of_step * static_cast<double>(all.steps)) /
      gpu.multiprocessors;
  const double memory = cycles_of_sector *
                        (static_cast<double>(all.sectors) + sectors_of_x * static_cast<double>(entries)) /
                        gpu.multiprocessors;
  const double waits = 2 * std::ceil(static_cast<double>(longest) / steps_under_way) + 1;
  return std::max(instructions, memory) / speed_of_team(lanes_per_team) + cycles_of_wait * waits;
}

/// Equations 1, 2 and 4: teams of `warps` warps dealt to the multiprocessors in turn, and the most that one
/// of these has to wait for.
std::int64_t most_loaded(const std::vector<std::int64_t>& waits, std::size_t warps_per_team,
                         int multiprocessors) {
  std::vector<std::int64_t> loads(static_cast<std::size_t>(multiprocessors));
  for (std::size_t warp = 0; warp < waits.size(); ++warp)
    loads[warp / warps_per_team % loads.size()] += waits[warp];
  return *std::max_element(loads.begin(), loads.end());
}

}  // namespace

std::vector<EllrTLaunch> ellr_t_costs(EllrTModel model, const std::vector<std::int64_t>& row_lengths,
                                      const GpuShape& gpu) {
  check(gpu);
  const std::int64_t entries = std::accumulate(row_lengths.begin(), row_lengths.end(), std::int64_t(0));
  std::vector<EllrTLaunch> result;
  for (const int lanes_per_row : {1, 2, 4, 8, 16, 32}) {
    const std::int64_t warps = warps_of(row_lengths.size(), lanes_per_row);
    std::vector<std::int64_t> waits;
    WarpWork all;
    std::int64_t longest = 0;
    if (model == EllrTModel::half_warps) {
      waits = half_warp_waits(row_lengths, lanes_per_row);
    } else {
      for (std::int64_t warp = 0; warp < warps; ++warp) {
        const WarpWork work = warp_work(row_lengths, lanes_per_row, warp * warp_size);
        all.steps += work.steps;
        all.sectors += work.sectors;
        longest = std::max(longest, work.steps);
      }
    }
    for (int team = least_lanes_per_team(gpu); team <= gpu.most_lanes_per_team; team *= 2) {
      const double cost = model == EllrTModel::half_warps
                              ? static_cast<double>(most_loaded(
                                    waits, static_cast<std::size_t>(team / warp_size), gpu.multiprocessors))
                              : sectors_cost(all, warps, entries, longest, lanes_per_row, team, gpu);
      result.push_back({lanes_per_row, team, cost});
    }
  }
  return result;
}

EllrTLaunch pick_ellr_t(EllrTModel model, const std::vector<std::int64_t>& row_lengths, const GpuShape& gpu) {
  const std::vector<EllrTLaunch> launches = ellr_t_costs(model, row_lengths, gpu);
  return *std::min_element(launches.begin(), launches.end(),
                           [](const EllrTLaunch& p, const EllrTLaunch& q) { return p.cost < q.cost; });
}

}  // namespace Filigree

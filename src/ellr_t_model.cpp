// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "filigree/tune/ellr_t_model.hpp"

#include <cmath>
#include <numeric>

#include "filigree/core/integer.hpp"

namespace Filigree {
namespace {

constexpr int warp_size = 32;

/// The smallest team with which all lanes of a multiprocessor can be resident.
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
        "Filigree::ellr_t_costs: the GPU has ", gpu.multiprocessors, " multiprocessors, ", gpu.warp_size,
        " lanes per warp, at most ", gpu.most_lanes_per_team, " lanes per team, and at most ",
        gpu.lanes_per_multiprocessor, " lanes in ", gpu.teams_per_multiprocessor,
        " teams per multiprocessor. There must be at least one multiprocessor, warps of 32 lanes, and teams "
        "that can fill a multiprocessor.");
}

std::int64_t warps_of(std::size_t rows, int lanes_per_row) {
  return (static_cast<std::int64_t>(rows) * lanes_per_row + warp_size - 1) / warp_size;
}

/// Equation 3: for each warp, the sum of the waits of its two halves. With 32 lanes per row each half
/// multiplies half of the entries of the same row.
std::vector<std::int64_t> half_warp_waits(const std::vector<std::int64_t>& row_lengths, int lanes_per_row) {
  constexpr int half_warp = warp_size / 2;
  std::vector<std::int64_t> waits(static_cast<std::size_t>(warps_of(row_lengths.size(), lanes_per_row)));
  const auto rows = static_cast<std::int64_t>(row_lengths.size());
  for (std::size_t half = 0; half < 2 * waits.size(); ++half) {
    const std::int64_t first_lane = static_cast<std::int64_t>(half) * half_warp;
    const std::int64_t end_row = std::min(rows, (first_lane + half_warp + lanes_per_row - 1) / lanes_per_row);
    std::int64_t longest = 0;
    for (std::int64_t row = first_lane / lanes_per_row; row < end_row; ++row)
      longest = std::max(longest, row_lengths[static_cast<std::size_t>(row)]);
    waits[half / 2] += (longest + lanes_per_row - 1) / lanes_per_row;
  }
  return waits;
}

/// The work of a warp, for EllrTModel::sectors.
struct WarpWork {
  std::int64_t steps = 0;    ///< entries of the busiest lane
  std::int64_t sectors = 0;  ///< sectors of values and column indices
};

/// The work of the warp that begins with the given lane. A sector has the values of four lanes or the column
/// indices of eight lanes.
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

// Figures of EllrTModel::sectors in cycles of one multiprocessor, from measurements (see docs/performance.md,
// "Figures of the ELLR-T model").

/// Cycles per warp with one lane per row. With several lanes per row, the warp also adds up their sums.
constexpr double cycles_of_warp = 40;
constexpr double cycles_of_shared_warp = 97;
/// Cycles per step of a warp.
constexpr double cycles_of_step = 14;
/// Cycles per 32-byte sector that is loaded from memory: a multiprocessor loads 18.6 bytes per cycle.
constexpr double cycles_of_sector = 32 / 18.6;
/// Sectors of x that are loaded per entry: a constant, because the row lengths do not tell it. It is small,
/// because caches hold most of x.
constexpr double sectors_of_x = 0.03;
/// Cycles per team.
constexpr double cycles_of_team = 40;
/// Cycles of a load that nothing hides. A lane loads six entries at once, waits for them and then for x.
constexpr double cycles_of_wait = 500;
constexpr double steps_in_flight = 6;

double sectors_cost(const WarpWork& all, std::int64_t warps, std::int64_t nnz, std::int64_t longest,
                    int lanes_per_row, int lanes_per_team, const GpuShape& gpu) {
  const double per_warp = (lanes_per_row > 1 ? cycles_of_shared_warp : cycles_of_warp) +
                          cycles_of_team * warp_size / lanes_per_team;
  const double instructions =
      (per_warp * static_cast<double>(warps) + cycles_of_step * static_cast<double>(all.steps)) /
      gpu.multiprocessors;
  const double memory = cycles_of_sector *
                        (static_cast<double>(all.sectors) + sectors_of_x * static_cast<double>(nnz)) /
                        gpu.multiprocessors;
  // Kernels for larger teams use more registers, so that fewer lanes are resident on a multiprocessor.
  const double speed_of_team = lanes_per_team > 256 ? 0.8 : 1;
  const double waits = 2 * std::ceil(static_cast<double>(longest) / steps_in_flight) + 1;
  return std::max(instructions, memory) / speed_of_team + cycles_of_wait * waits;
}

/// Equations 1, 2 and 4: the multiprocessors take the teams in turn. Returns the largest sum of waits on one.
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
  if (model != EllrTModel::half_warps && model != EllrTModel::sectors)
    Impl::fail<std::invalid_argument>("Filigree::ellr_t_costs: model is EllrTModel(", static_cast<int>(model),
                                      "); it must be half_warps or sectors.");
  const std::int64_t nnz = std::accumulate(row_lengths.begin(), row_lengths.end(), std::int64_t(0));
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
                              : sectors_cost(all, warps, nnz, longest, lanes_per_row, team, gpu);
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

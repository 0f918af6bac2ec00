// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FILIGREE_TUNE_ELLR_T_MODEL_HPP
#define FILIGREE_TUNE_ELLR_T_MODEL_HPP

#include <cstdint>
#include <vector>

#include "filigree/formats/ell/ell_matrix.hpp"
#include "filigree/tune/gpu_shape.hpp"

namespace Filigree {

/// The models that rank launches of ELLR-T, T lanes a row and teams of BS lanes, by the row lengths alone.
enum class EllrTModel {
  /// M(rl, BS, T) of Vazquez, Fernandez and Garzon 2011, section 3.3, equations 1 to 4: a half warp waits for
  /// the longest of its rows, teams are dealt to the multiprocessors in turn, and the one with most to wait
  /// for decides. A lane reads every T-th entry of a row, so a row of n entries counts as n / T, rounded up.
  half_warps,
  /// Ours, for GPUs of today and values of 8 bytes: the time of a product in cycles of a multiprocessor.
  /// That is the larger of two, as one hides the other: what the instructions of all warps take, and what
  /// the 32-byte sectors take that a warp loads, of which one or more lanes need a part. To it comes what
  /// the warp with the longest row waits for, which nothing hides at the end. The figures are of an H200
  /// (src/ellr_t_model.cpp).
  sectors,
};

/// A launch of ELLR-T and what a model says of it: the lower the better. Costs of one model and one matrix
/// compare with each other and with nothing else.
struct EllrTLaunch {
  int lanes_per_row = 1;
  int lanes_per_team = 256;
  double cost = 0;

  /// The options of a conversion that makes this launch.
  EllOptions options() const {
    EllOptions result;
    result.lanes_per_row = lanes_per_row;
    result.lanes_per_team = lanes_per_team;
    return result;
  }
};

/// The cost of T = lanes_per_row in {1, 2, 4, 8, 16, 32} with each power of two of lanes_per_team from the
/// least with which a multiprocessor can have all its lanes under way to gpu.most_lanes_per_team, in
/// ascending order of both. Time: a few operations for each row and T, on the host. Throws
/// std::invalid_argument for a gpu without multiprocessors, with a warp that is not 32 lanes, or with teams
/// that cannot have a warp or fill a multiprocessor.
std::vector<EllrTLaunch> ellr_t_costs(EllrTModel model, const std::vector<std::int64_t>& row_lengths,
                                      const GpuShape& gpu);

/// The first launch of the lowest cost.
EllrTLaunch pick_ellr_t(EllrTModel model, const std::vector<std::int64_t>& row_lengths, const GpuShape& gpu);

/// The row lengths of a CRS matrix, which is all of it that comes to the host. Fences.
template <class Crs>
std::vector<std::int64_t> row_lengths(const Crs& crs) {
  const auto row_map = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), crs.graph.row_map);
  std::vector<std::int64_t> lengths(static_cast<std::size_t>(crs.numRows()));
  for (std::size_t row = 0; row < lengths.size(); ++row)
    lengths[row] = static_cast<std::int64_t>(row_map(row + 1)) - static_cast<std::int64_t>(row_map(row));
  return lengths;
}

}  // namespace Filigree

#endif

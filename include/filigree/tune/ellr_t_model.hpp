// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "filigree/core/initialized.hpp"
#include "filigree/core/read_view.hpp"
#include "filigree/formats/ell/ell_matrix.hpp"
#include "filigree/tune/gpu_shape.hpp"

namespace Filigree {

/// The models that rank launches of ELLR-T by the row lengths alone. A launch has T lanes per row and teams
/// of BS lanes.
enum class EllrTModel {
  /// M(rl, BS, T) of Vazquez, Fernandez and Garzon 2011, section 3.3, equations 1 to 4. A half warp waits for
  /// its longest row. The wait for a row of n entries is n / T, rounded up. The multiprocessors take the
  /// teams in turn. The cost is the sum of the waits on one multiprocessor, for the one with the largest sum.
  half_warps,
  /// Our own model, for current GPUs and values of 8 bytes. The cost is the time of a product in cycles of a
  /// multiprocessor: the larger of the time for the instructions of all warps and the time for the 32-byte
  /// sectors that the warps load, because one hides the other. The wait of the warp with the longest row is
  /// added, because nothing hides it at the end. src/ellr_t_model.cpp has the figures.
  sectors,
};

/// A launch of ELLR-T and its cost by a model; lower is better. Only costs of the same model and the same
/// matrix can be compared.
struct EllrTLaunch {
  int lanes_per_row = 1;     ///< T
  int lanes_per_team = 256;  ///< BS
  double cost = 0;           ///< by the model

  /// The options of a conversion to EllMatrix whose products use this launch.
  EllOptions options() const {
    EllOptions result;
    result.lanes_per_row = lanes_per_row;
    result.lanes_per_team = lanes_per_team;
    return result;
  }
};

/// The costs of all launches, in ascending order of lanes_per_row, then of lanes_per_team.
///
/// lanes_per_row is 1, 2, 4, 8, 16 or 32. lanes_per_team is a power of two, from the smallest team with which
/// a multiprocessor can be full up to gpu.most_lanes_per_team. Cost: for each lanes_per_row, a few operations
/// per row on the host. Throws std::invalid_argument if the model is no enumerator, if the GPU has no
/// multiprocessors, if its warps do not have 32 lanes, or if its teams cannot fill a multiprocessor.
std::vector<EllrTLaunch> ellr_t_costs(EllrTModel model, const std::vector<std::int64_t>& row_lengths,
                                      const GpuShape& gpu);

/// The first launch with the lowest cost. Throws like ellr_t_costs().
EllrTLaunch pick_ellr_t(EllrTModel model, const std::vector<std::int64_t>& row_lengths, const GpuShape& gpu);

/// The row lengths of a CRS matrix, on the host. Copies the row map to the host, after all earlier kernels of
/// the default instance of its execution space, and fences that instance alone.
template <class Crs>
std::vector<std::int64_t> row_lengths(const Crs& crs) {
  Impl::check_initialized("Filigree::row_lengths");
  const auto row_map = Impl::host_copy(typename Crs::execution_space(), crs.graph.row_map);
  std::vector<std::int64_t> lengths(static_cast<std::size_t>(crs.numRows()));
  for (std::size_t row = 0; row < lengths.size(); ++row)
    lengths[row] = static_cast<std::int64_t>(row_map(row + 1)) - static_cast<std::int64_t>(row_map(row));
  return lengths;
}

}  // namespace Filigree

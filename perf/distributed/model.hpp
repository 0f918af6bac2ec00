// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The model of the time of a distributed product (docs/distributed_model.md).
#pragma once

#include <algorithm>
#include <filigree/formats/cds/cds_matrix.hpp>
#include <filigree/grid/grid_parts.hpp>
#include <string>

namespace FiligreePerf {

/// What a rank does in a product with a 7-point stencil, whose owned part is CDS and whose remote part is CRS.
struct DistributedLoad {
  double rows = 0;
  /// Bytes of the owned part, with the additional values after each column of a block diagonal.
  double owned_storage = 0;
  double owned_bytes = 0;    ///< of the owned part without these values, its elements of x, and y
  double boundary_rows = 0;  ///< rows with remote columns
  double remote_entries = 0;
  double remote_storage = 0;  ///< bytes of the remote part
  double remote_bytes =
      0;  ///< of the remote columns, their elements of x, and the rows of y that they add to
  double halo_elements = 0;  ///< of x, received from other ranks; equally many are sent
  double messages = 0;       ///< received from other ranks

  double halo_bytes() const { return 8 * halo_elements; }
};

/// The load of a part of a grid with `dof` unknowns per cell, in double precision and with 32-bit columns.
/// BoundaryRule::drop holds at the ends of the grid. Each part must have cells.
inline DistributedLoad load_of(const std::array<std::int64_t, 3>& cells, const Filigree::GridParts& parts,
                               int part, int dof) {
  const Filigree::CellBox box = parts.box(cells, part);
  DistributedLoad load;
  double faces = 0;
  double inner = 1;  // cells without remote neighbours
  for (int axis = 0; axis < 3; ++axis) {
    const int neighbours = (box.begin[axis] > 0) + (box.end[axis] < cells[static_cast<std::size_t>(axis)]);
    load.messages += neighbours;
    faces += neighbours * (static_cast<double>(box.cells()) / static_cast<double>(box.extent(axis)));
    inner *= static_cast<double>(std::max<std::int64_t>(0, box.extent(axis) - neighbours));
  }
  // Along an axis with one cell a stencil has no neighbours within the box.
  int diagonals = 1;
  for (int axis = 0; axis < 3; ++axis)
    diagonals += box.extent(axis) > 1 ? 2 : 0;
  load.rows = static_cast<double>(box.cells()) * dof;
  const auto stored_rows = static_cast<double>(
      Filigree::Impl::stored_cds_rows(Filigree::CdsLayout::columns, box.cells() * dof, dof, sizeof(double)));
  load.owned_storage = 8 * diagonals * dof * stored_rows + 4 * diagonals;
  load.owned_bytes = 8 * diagonals * dof * load.rows + 4 * diagonals + 2 * 8 * load.rows;
  load.boundary_rows = (static_cast<double>(box.cells()) - inner) * dof;
  load.remote_entries = faces * dof * dof;
  load.halo_elements = faces * dof;
  if (load.messages == 0) return load;
  load.remote_storage = 12 * load.remote_entries + 8 * (load.boundary_rows + 1);
  // x; the product is written and read, and added to elements of y by a list.
  load.remote_bytes = load.remote_storage + 8 * load.halo_elements + (8 + 8 + 4 + 2 * 8) * load.boundary_rows;
  return load;
}

/// The speed of the ranks and of what connects them.
struct DistributedSpeed {
  double bandwidth = 1;  ///< bytes per second of a rank's products
  double launch = 0;     ///< seconds to launch a kernel
  double message = 0;    ///< seconds per message, whatever its size
  double network = 1;    ///< bytes per second that a rank sends, while it receives as many
};

/// Predicted seconds of a product, and of its steps.
struct DistributedTimes {
  double owned = 0;
  double pack = 0;      ///< the elements for other ranks, before the product of the owned columns can begin
  double exchange = 0;  ///< the rest of the exchange
  double remote = 0;
  /// If nothing is done during the exchange.
  double one_after_the_other() const { return owned + pack + exchange + remote; }
  /// If the exchange goes on during the product of the owned columns.
  double overlapped() const { return pack + std::max(owned, exchange) + remote; }
};

/// The times of a rank.
inline DistributedTimes predict(const DistributedLoad& load, const DistributedSpeed& speed) {
  DistributedTimes times;
  times.owned = speed.launch + load.owned_bytes / speed.bandwidth;
  if (load.messages == 0) return times;
  times.pack = speed.launch;
  times.exchange = speed.launch + load.messages * speed.message + load.halo_bytes() / speed.network;
  times.remote = 2 * speed.launch + load.remote_bytes / speed.bandwidth;
  return times;
}

/// The times of the slowest rank: of each step, the largest of all ranks.
inline DistributedTimes predict(const std::array<std::int64_t, 3>& cells, const Filigree::GridParts& parts,
                                int dof, const DistributedSpeed& speed) {
  DistributedTimes slowest;
  for (int part = 0; part < parts.count(); ++part) {
    const DistributedTimes times = predict(load_of(cells, parts, part, dof), speed);
    slowest.owned = std::max(slowest.owned, times.owned);
    slowest.pack = std::max(slowest.pack, times.pack);
    slowest.exchange = std::max(slowest.exchange, times.exchange);
    slowest.remote = std::max(slowest.remote, times.remote);
  }
  return slowest;
}

}  // namespace FiligreePerf

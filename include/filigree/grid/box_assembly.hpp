// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <limits>
#include <vector>

#include "filigree/core/allocate_view.hpp"
#include "filigree/core/binary_search.hpp"
#include "filigree/core/read_view.hpp"
#include "filigree/grid/stencil_assembly.hpp"

namespace Filigree::Impl {

/// The cells of a rank's box, for StencilAssembly. The block columns are those of the cells of the box, the
/// owned ones, and behind them those of cells of other ranks, the remote ones. Either can be left out.
template <class Ordinal, class Device>
struct BoxPart {
  StencilGrid grid;
  CellBox box;
  bool has_owned = true;
  bool has_remote = true;
  Kokkos::View<const std::int64_t*, Device> remote_cells;  ///< their numbers in the grid, ascending
  Kokkos::View<const Ordinal*, Device> remote_places;      ///< their places among the remote block columns
  Kokkos::View<const Ordinal*, Device> listed_cells;       ///< cells of the block rows; empty for all

  KOKKOS_INLINE_FUNCTION std::int64_t cell(std::int64_t block_row) const {
    return grid.number_of(box, listed_cells.extent(0) > 0 ? listed_cells(block_row) : block_row);
  }

  /// The place of a remote cell.
  KOKKOS_INLINE_FUNCTION std::int64_t place(std::int64_t cell) const {
    const auto at = first_where(0, static_cast<std::int64_t>(remote_cells.extent(0)),
                                [&](std::int64_t i) { return remote_cells(i) >= cell; });
    return remote_places(at);
  }

  /// See WholeGrid.
  template <class Assembly, class Visit>
  KOKKOS_INLINE_FUNCTION void for_each_block(const Assembly& assembly, std::int64_t cell,
                                             const Visit& visit) const {
    if (has_owned)
      assembly.for_each_neighbour(cell, [&](std::int64_t neighbour, const auto& coefficient) {
        const std::int64_t in_box = grid.number_in(box, neighbour);
        if (in_box >= 0) visit(in_box, coefficient);
      });
    if (!has_remote) return;
    // The places are in another order than the cells. Each pass finds the next place.
    const std::int64_t first = has_owned ? box.cells() : 0;
    constexpr std::int64_t none = std::numeric_limits<std::int64_t>::max();
    for (std::int64_t last = -1;;) {
      std::int64_t next = none;
      std::int64_t next_cell = -1;
      assembly.for_each_neighbour(cell, [&](std::int64_t neighbour, const auto&) {
        if (grid.number_in(box, neighbour) >= 0) return;
        const std::int64_t at = place(neighbour);
        if (at <= last || at >= next) return;
        next = at;
        next_cell = neighbour;
      });
      if (next == none) return;
      assembly.for_each_neighbour(cell, [&](std::int64_t neighbour, const auto& coefficient) {
        if (neighbour == next_cell) visit(first + next, coefficient);
      });
      last = next;
    }
  }
};

/// Lists the cells of a box that have a remote neighbour, or the remote neighbours of all cells of a box.
template <class Assembly, class Ordinal>
struct RemoteNeighbours {
  struct Cells {};
  struct Neighbours {};
  using value_type = std::int64_t;

  Assembly assembly;
  CellBox box;
  Ordinal* cells = nullptr;            ///< null: only count
  std::int64_t* neighbours = nullptr;  ///< null: only count

  KOKKOS_INLINE_FUNCTION std::int64_t count_of(std::int64_t in_box, std::int64_t first) const {
    std::int64_t found = 0;
    assembly.for_each_neighbour(assembly.grid.number_of(box, in_box),
                                [&](std::int64_t neighbour, const auto&) {
                                  if (assembly.grid.number_in(box, neighbour) >= 0) return;
                                  if (neighbours != nullptr && first >= 0)
                                    neighbours[first + found] = neighbour;
                                  ++found;
                                });
    return found;
  }
  KOKKOS_INLINE_FUNCTION void operator()(Cells, const std::int64_t in_box, std::int64_t& count,
                                         const bool final) const {
    if (count_of(in_box, -1) == 0) return;
    if (final && cells != nullptr) cells[count] = static_cast<Ordinal>(in_box);
    ++count;
  }
  KOKKOS_INLINE_FUNCTION void operator()(Neighbours, const std::int64_t in_box, std::int64_t& count,
                                         const bool final) const {
    count += count_of(in_box, final ? count : -1);
  }
};

/// The rows of some cells: dof rows per cell.
template <class Rows, class Cells>
struct RowsOfCells {
  Rows rows;
  Cells cells;
  int dof;

  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t i) const {
    rows(i) = static_cast<typename Rows::non_const_value_type>(cells(i / dof) * dof + i % dof);
  }
};

/// The cells of a box that have neighbours outside of it, and these neighbours.
template <class Ordinal, class Device>
struct BoxBoundary {
  using list_type = Kokkos::View<Ordinal*, Device>;
  list_type cells;                   ///< within the box, ascending
  list_type rows;                    ///< of these cells, ascending
  std::vector<std::int64_t> remote;  ///< the neighbours, by their numbers in the grid, ascending
};

/// Finds the boundary of a box. `assembly` is that of the whole grid. Costs four passes over the neighbours of
/// the cells on the device, and a sort of all pairs of a cell and a remote neighbour on the host. Fences exec.
template <class Ordinal, class Device, class ExecutionSpace, class Assembly>
BoxBoundary<Ordinal, Device> box_boundary(const ExecutionSpace& exec, const Assembly& assembly,
                                          const CellBox& box) {
  using Boundary = BoxBoundary<Ordinal, Device>;
  using list_type = typename Boundary::list_type;
  using Work = RemoteNeighbours<Assembly, Ordinal>;
  using cells_type = Kokkos::View<std::int64_t*, Device>;
  Work find{assembly, box};
  const auto scan = [&](const char* what, auto tag) {
    std::int64_t count = 0;
    Kokkos::parallel_scan(label(what, "grid"), row_range<decltype(tag)>(exec, box.cells()), find, count);
    exec.fence();
    return count;
  };
  Boundary result;
  const std::int64_t cells = scan("count_boundary_cells", typename Work::Cells());
  result.cells = allocate_view<list_type>(exec, "boundary_cells", "grid", cells);
  find.cells = result.cells.data();
  scan("boundary_cells", typename Work::Cells());
  result.rows = allocate_view<list_type>(exec, "boundary_rows", "grid", cells * assembly.dof);
  Kokkos::parallel_for(label("boundary_rows", "grid"), row_range<void>(exec, cells * assembly.dof),
                       RowsOfCells<list_type, list_type>{result.rows, result.cells, assembly.dof});

  const std::int64_t neighbours = scan("count_remote_neighbours", typename Work::Neighbours());
  const auto list = allocate_view<cells_type>(exec, "remote_neighbours", "grid", neighbours);
  find.neighbours = list.data();
  scan("remote_neighbours", typename Work::Neighbours());
  const auto on_host = host_copy(exec, list);
  result.remote.assign(on_host.data(), on_host.data() + on_host.extent(0));
  std::sort(result.remote.begin(), result.remote.end());
  result.remote.erase(std::unique(result.remote.begin(), result.remote.end()), result.remote.end());
  return result;
}

}  // namespace Filigree::Impl

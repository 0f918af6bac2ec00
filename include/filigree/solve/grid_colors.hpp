// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Colours of the cells of a grid. Two cells that the matrix couples have different colours, so all cells of one colour
// can be changed at the same time.
#pragma once

#include <array>
#include <cstdint>
#include <stdexcept>
#include <vector>

#include "filigree/convert.hpp"
#include "filigree/core/read_view.hpp"
#include "filigree/formats.hpp"
#include "filigree/solve/square.hpp"

namespace Filigree::Impl {

template <class Matrix>
constexpr bool is_cds_v = false;
template <class S, class O, class D, class M, class Z>
constexpr bool is_cds_v<CdsMatrix<S, O, D, M, Z>> = true;

/// Throws std::invalid_argument unless A is the matrix of a grid with this many cells along each axis and
/// A.block_size() unknowns per cell.
template <class Cds>
void check_cells(const char* function, const Cds& A, const std::array<std::int64_t, 3>& cells) {
  check_square(function, A);
  const auto rows = static_cast<std::int64_t>(A.numRows());
  const int b = A.block_size();
  double count = b;
  for (const std::int64_t along_axis : cells)
    count *= along_axis < 1 ? 0 : static_cast<double>(along_axis);
  if (count == 0 || count != static_cast<double>(rows))
    fail<std::invalid_argument>(
        function, ": A has ", rows, " rows and block size ", b, ", but the grid has ", cells[0], " x ",
        cells[1], " x ", cells[2],
        " cells; each number must be at least 1, and their product with the block size "
        "the number of rows.");
}

/// The distance between two cells along x, y and z.
using CellDistance = std::array<std::int64_t, 3>;

/// Finds the distances between the cells that one diagonal couples. There are at most four, because the diagonal can
/// leave the grid at the high end of x or y and come back at the low end. Bit v of the result is set if variant v
/// occurs: bit 0 of v says that the second cell has the smaller x, bit 1 that it has the smaller y.
template <class Scalar, class Ordinal>
struct FindCouplings {
  CdsElements<Scalar, Ordinal> blocks;
  std::int64_t cells, cells_x, cells_y;
  std::int64_t diagonal;

  KOKKOS_FORCEINLINE_FUNCTION bool has_entry(std::int64_t cell) const {
    const std::int64_t b = blocks.block_size;
    for (std::int64_t row = cell * b; row < (cell + 1) * b; ++row)
      for (std::int64_t c = 0; c < b; ++c)
        if (blocks.value(blocks.block_position(cell, row, diagonal) + c * blocks.column_stride) != Scalar(0))
          return true;
    return false;
  }
  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t cell, int& found) const {
    const std::int64_t other = blocks.block_column(cell, diagonal);
    if (other < 0 || other >= cells || other == cell) return;
    const std::int64_t line = cell / cells_x;
    const std::int64_t other_line = other / cells_x;
    const int variant = (other - other_line * cells_x < cell - line * cells_x ? 1 : 0) +
                        (other_line % cells_y < line % cells_y ? 2 : 0);
    if ((found & 1 << variant) == 0 && has_entry(cell)) found |= 1 << variant;
  }
};

/// The distances between all cells that the entries of A couple. Fences exec. Reads A once.
template <class ExecutionSpace, class Cds>
std::vector<CellDistance> coupled_distances(const ExecutionSpace& exec, const Cds& A,
                                            const std::array<std::int64_t, 3>& cells) {
  using Scalar = typename Cds::value_type;
  using Ordinal = typename Cds::ordinal_type;
  const std::int64_t count = cells[0] * cells[1] * cells[2];
  const auto offsets = host_copy(exec, A.offsets);
  // The remainder that is not negative, and what is left without it.
  const auto split = [](std::int64_t& rest, std::int64_t length, bool is_smaller) {
    std::int64_t distance = (rest % length + length) % length;
    if (is_smaller) distance -= length;
    rest = (rest - distance) / length;
    return distance;
  };
  std::vector<CellDistance> result;
  for (std::size_t d = 0; d < offsets.extent(0); ++d) {
    int found = 0;
    Kokkos::parallel_reduce(label("couplings", "grid_colors", ""), row_range<void>(exec, count),
                            FindCouplings<Scalar, Ordinal>{CdsElements<Scalar, Ordinal>(A), count, cells[0],
                                                           cells[1], static_cast<std::int64_t>(d)},
                            Kokkos::BOr<int>(found));
    for (int variant = 0; variant < 4; ++variant) {
      if ((found & 1 << variant) == 0) continue;
      std::int64_t rest = static_cast<std::int64_t>(offsets(d));
      const std::int64_t x = split(rest, cells[0], (variant & 1) != 0);
      const std::int64_t y = split(rest, cells[1], (variant & 2) != 0);
      result.push_back({x, y, rest});
    }
  }
  return result;
}

/// The colour of cell (x, y, z) is (x + y_factor y + z_factor z) mod count.
struct GridColors {
  int count = 1;
  int y_factor = 0;
  int z_factor = 0;

  /// Whether cells with this distance have one colour.
  bool joins(const CellDistance& distance) const {
    return (distance[0] + y_factor * distance[1] + z_factor * distance[2]) % count == 0;
  }
  /// Whether two cells with one of the distances have one colour.
  bool join_any(const std::vector<CellDistance>& distances) const {
    for (const CellDistance& distance : distances)
      if (joins(distance)) return true;
    return false;
  }
};

/// The most colours of a grid.
constexpr int most_grid_colors = 64;

/// The formula of GridColors with the fewest colours that separates all cells with these distances. 2 suffice for a
/// star of points, 4 for the nine points and 8 for the 27 points around a cell. Throws std::invalid_argument if more
/// than most_grid_colors are needed.
inline GridColors find_grid_colors(const char* function, const std::vector<CellDistance>& distances) {
  for (GridColors colors; colors.count <= most_grid_colors; ++colors.count)
    for (colors.y_factor = 0; colors.y_factor < colors.count; ++colors.y_factor)
      for (colors.z_factor = 0; colors.z_factor < colors.count; ++colors.z_factor)
        if (!colors.join_any(distances)) return colors;
  fail<std::invalid_argument>(function, ": coupled cells need more than ", most_grid_colors,
                              " different colours; A couples cells at ", distances.size(),
                              " different distances. Check the numbers of cells, or use "
                              "BlockJacobiPreconditioner or ChebyshevPreconditioner.");
}

}  // namespace Filigree::Impl

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <Kokkos_Core.hpp>
#include <KokkosSparse_CrsMatrix.hpp>

#include <map>
#include <vector>

using ExecutionSpace = Kokkos::DefaultExecutionSpace;
using Device = ExecutionSpace::device_type;
using Crs = KokkosSparse::CrsMatrix<double, int, Device, void, int>;
using Vector = Kokkos::View<double*, Device>;

/// A copy of a std::vector on the device.
template <class T>
Kokkos::View<T*, Device> on_device(const std::vector<T>& from) {
  Kokkos::View<T*, Device> to("on_device", from.size());
  Kokkos::deep_copy(
      to, Kokkos::View<const T*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged>(from.data(), from.size()));
  return to;
}

/// The pressure equation of a reservoir: n x n x n cells of layers with very different permeabilities, and
/// horizontal wells. A well is one more unknown, which is coupled with the n cells of a line. The row of a
/// cell has up to seven entries, and one more beside a well. The row of a well has n + 1. The matrix is
/// symmetric and positive definite, and its rows are sorted.
inline Crs make_reservoir(int n) {
  const int cells = n * n * n, wells = n / 4 * (n / 4), rows = cells + wells;
  std::vector<std::map<int, double>> matrix(static_cast<std::size_t>(rows));
  const auto add = [&](int row, int column, double value) {
    matrix[static_cast<std::size_t>(row)][column] += value;
  };
  const auto couple = [&](int a, int b, double value) {
    add(a, a, value);
    add(b, b, value);
    add(a, b, -value);
    add(b, a, -value);
  };
  const auto permeability = [](int z) { return z % 5 == 0 ? 100.0 : 1.0; };
  for (int cell = 0; cell < cells; ++cell) {
    const int x = cell % n, y = cell / n % n, z = cell / n / n;
    add(cell, cell, 1e-3);  // the compressibility, which makes the matrix definite
    if (x + 1 < n) couple(cell, cell + 1, permeability(z));
    if (y + 1 < n) couple(cell, cell + n, permeability(z));
    if (z + 1 < n) couple(cell, cell + n * n, 2 / (1 / permeability(z) + 1 / permeability(z + 1)));
  }
  for (int well = 0; well < wells; ++well) {
    const int y = well % (n / 4) * 4 + 1, z = well / (n / 4) * 4 + 1;
    add(cells + well, cells + well, 1e-3);
    for (int x = 0; x < n; ++x)
      couple(cells + well, (z * n + y) * n + x, 10.0);
  }

  std::vector<int> row_map(1, 0), entries;
  std::vector<double> values;
  for (const auto& row : matrix) {
    for (const auto& [column, value] : row) {
      entries.push_back(column);
      values.push_back(value);
    }
    row_map.push_back(static_cast<int>(entries.size()));
  }
  return Crs("reservoir", rows, rows, row_map.back(), on_device(values), on_device(row_map),
             on_device(entries));
}

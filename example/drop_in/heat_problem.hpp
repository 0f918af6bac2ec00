// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The part of the application that does not change: its types, its CRS matrix, and how it fills the matrix.
#pragma once

#include <Kokkos_Core.hpp>
#include <KokkosSparse_CrsMatrix.hpp>

#include <vector>

using ExecutionSpace = Kokkos::DefaultExecutionSpace;
using Device = ExecutionSpace::device_type;
using Crs = KokkosSparse::CrsMatrix<double, int, Device, void, int>;
using Vector = Kokkos::View<double*, Device>;
using Range = Kokkos::RangePolicy<ExecutionSpace>;

/// A copy of a std::vector on the device.
template <class T>
Kokkos::View<T*, Device> on_device(const std::vector<T>& from) {
  Kokkos::View<T*, Device> to("on_device", from.size());
  Kokkos::deep_copy(
      to, Kokkos::View<const T*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged>(from.data(), from.size()));
  return to;
}

/// Heat flows between the cells of a cube, and none leaves it. The conductivity grows with the temperature,
/// so that each time step has another matrix. The matrix is symmetric and positive definite, with rows that
/// add up to 1.
struct HeatProblem {
  Crs matrix;
  int cells;  ///< per axis

  /// The matrix with its pattern. The values are 0.
  explicit HeatProblem(int cells_) : cells(cells_) {
    const int rows = cells * cells * cells;
    std::vector<int> row_map(1, 0), entries;
    for (int row = 0; row < rows; ++row) {
      const int x = row % cells, y = row / cells % cells, z = row / cells / cells;
      if (z > 0) entries.push_back(row - cells * cells);
      if (y > 0) entries.push_back(row - cells);
      if (x > 0) entries.push_back(row - 1);
      entries.push_back(row);
      if (x + 1 < cells) entries.push_back(row + 1);
      if (y + 1 < cells) entries.push_back(row + cells);
      if (z + 1 < cells) entries.push_back(row + cells * cells);
      row_map.push_back(static_cast<int>(entries.size()));
    }
    matrix = Crs("heat", rows, rows, row_map.back(), Vector("values", entries.size()), on_device(row_map),
                 on_device(entries));
  }

  /// Fills the matrix of an implicit time step from the temperatures of the step before.
  void assemble(const Vector& temperature) const {
    const Crs A = matrix;
    Kokkos::parallel_for(
        "drop_in::assemble", Range(0, A.numRows()), KOKKOS_LAMBDA(const int row) {
          double sum = 0;
          int diagonal = 0;
          for (int k = A.graph.row_map(row); k < A.graph.row_map(row + 1); ++k) {
            const int column = A.graph.entries(k);
            if (column == row) {
              diagonal = k;
            } else {
              const double flow = 1.0 + 0.25 * (temperature(row) + temperature(column));
              A.values(k) = -flow;
              sum += flow;
            }
          }
          A.values(diagonal) = 1.0 + sum;
        });
  }

  /// A hot ball in the centre of a cold cube.
  Vector first_temperature() const {
    Vector temperature("temperature", matrix.numRows());
    const int n = cells;
    Kokkos::parallel_for(
        "drop_in::first_temperature", Range(0, matrix.numRows()), KOKKOS_LAMBDA(const int row) {
          const double x = (row % n + 0.5) / n - 0.5, y = (row / n % n + 0.5) / n - 0.5,
                       z = (row / n / n + 0.5) / n - 0.5;
          temperature(row) = x * x + y * y + z * z < 0.0625 ? 10.0 : 1.0;
        });
    return temperature;
  }

  double mean(const Vector& temperature) const {
    double sum = 0;
    Kokkos::parallel_reduce(
        "drop_in::mean", Range(0, temperature.extent(0)),
        KOKKOS_LAMBDA(const int row, double& part) { part += temperature(row); }, sum);
    return sum / static_cast<double>(temperature.extent(0));
  }

  double highest(const Vector& temperature) const {
    double result = 0;
    Kokkos::parallel_reduce(
        "drop_in::highest", Range(0, temperature.extent(0)),
        KOKKOS_LAMBDA(const int row, double& part) {
          part = temperature(row) > part ? temperature(row) : part;
        },
        Kokkos::Max<double>(result));
    return result;
  }
};

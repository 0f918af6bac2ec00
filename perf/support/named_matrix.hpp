// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The matrices that the programs of perf/ measure: files and generated matrices.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <filigree/grid/stencil_problem.hpp>
#include <filigree/io/matrix_market.hpp>
#include <functional>
#include <string>
#include <vector>

#include "support/command_line.hpp"
#include "support/generated.hpp"
#include "support/progress.hpp"
#include "support/repeat.hpp"

namespace FiligreePerf {

/// A matrix that is made only when it is measured. block_size is the size of its dense blocks.
template <class Crs>
struct NamedMatrix {
  std::string name;
  int block_size = 1;
  std::function<Crs()> make;
};

/// A grid of cells^dimensions cells with dof unknowns per cell.
struct GridCase {
  std::int64_t cells;
  int dimensions;
  int dof;

  std::string name() const {
    return (dimensions == 2 ? "5pt " : "7pt ") + std::to_string(cells) + "^" + std::to_string(dimensions) +
           " b=" + std::to_string(dof);
  }
  std::array<std::int64_t, 3> cells_of_axes() const { return {cells, cells, dimensions == 3 ? cells : 1}; }
  Filigree::Stencil stencil() const {
    return dimensions == 3 ? Filigree::Stencil::seven_point() : Filigree::Stencil::five_point();
  }
};

/// The grids that filigree_targets measures in double.
inline std::vector<GridCase> double_grids() {
  return {{256, 3, 1}, {4096, 2, 1}, {160, 3, 2}, {128, 3, 3},
          {100, 3, 4}, {1024, 2, 4}, {100, 3, 5}, {64, 3, 8}};
}

template <class Crs>
Crs grid_matrix(const GridCase& grid, const Filigree::Stencil& stencil) {
  Progress progress("making the matrix " + grid.name());
  const auto crs = Filigree::StencilProblem<>(grid.cells_of_axes(), stencil, grid.dof).template crs<Crs>();
  Kokkos::fence();
  return crs;
}

template <class Crs>
Crs grid_matrix(const GridCase& grid) {
  return grid_matrix<Crs>(grid, grid.stencil());
}

/// The matrix repeated along the diagonal until it has about `entries` entries. 0 means no repeats. mixes_rows is that of
/// repeated().
template <class Crs>
Crs repeated_to(const Crs& crs, std::int64_t entries, bool mixes_rows = false) {
  if (crs.nnz() == 0) return crs;
  return repeated(crs, std::max<std::int64_t>(1, (entries + crs.nnz() / 2) / crs.nnz()), mixes_rows);
}

/// The matrix of a file, repeated as by repeated_to().
template <class Crs>
NamedMatrix<Crs> from_file(const std::filesystem::path& file, std::int64_t entries,
                           const Filigree::MatrixMarketOptions& options = {}, bool mixes_rows = false) {
  const std::string name = matrix_name(file);
  return {name, 1, [=]() {
            Progress progress("reading " + name);
            const Crs crs = Filigree::read_matrix_market<Crs>(file.string(), options);
            return repeated_to(crs, entries, mixes_rows);
          }};
}

/// The matrices of all files.
template <class Crs>
std::vector<NamedMatrix<Crs>> from_files(const FileOptions& options) {
  std::vector<NamedMatrix<Crs>> result;
  for (const std::string& path : options.paths)
    for (const std::filesystem::path& file : matrix_files(path))
      result.push_back(from_file<Crs>(file, options.entries));
  return result;
}

/// Generated matrices whose rows have about equal lengths.
template <class Crs>
std::vector<NamedMatrix<Crs>> regular_matrices() {
  const auto twenty_seven = Filigree::Stencil::twenty_seven_point();
  return {{"27-point 100^3", 1,
           [=]() {
             return grid_matrix<Crs>({100, 3, 1}, twenty_seven);
           }},
          {"27-point 60^3 b=3", 3,
           [=]() {
             return grid_matrix<Crs>({60, 3, 3}, twenty_seven);
           }},
          {"7-point 160^3", 1,
           []() {
             return grid_matrix<Crs>({160, 3, 1});
           }},
          {"dense 4000", 1, []() { return random_matrix<Crs>(4000, 4000, EqualRows{4000}); }},
          {"random, 16 per row", 1, []() { return random_matrix<Crs>(1250000, 1250000, EqualRows{16}); }}};
}

/// Generated matrices in which a few rows are much longer than the others.
template <class Crs>
std::vector<NamedMatrix<Crs>> long_row_matrices() {
  std::vector<NamedMatrix<Crs>> result;
  for (const auto longest : {1000, 85000})
    result.push_back(
        {"power law to " + std::to_string(longest), 1, [=]() {
           return random_matrix<Crs>(1500000, 1500000, PowerLawRows{3.0, static_cast<double>(longest)});
         }});
  return result;
}

/// Generated matrices with 50 to 99 % empty rows. The other rows have 6 entries each, or about 6 on average.
template <class Crs>
std::vector<NamedMatrix<Crs>> empty_row_matrices() {
  std::vector<NamedMatrix<Crs>> result;
  for (const std::int64_t rows : {4000000, 16000000})
    for (const int percent : {50, 80, 95, 99}) {
      const std::string name =
          std::to_string(percent) + " % of " + std::to_string(rows / 1000000) + "M rows empty, ";
      const double part = (100 - percent) / 100.0;
      result.push_back({name + "equal rows", 1, [=]() {
                          return random_matrix<Crs>(rows, rows, SomeRows<EqualRows>{part, {6}});
                        }});
      result.push_back({name + "power law", 1, [=]() {
                          return random_matrix<Crs>(rows, rows, SomeRows<PowerLawRows>{part, {1, 10000}});
                        }});
    }
  return result;
}

}  // namespace FiligreePerf

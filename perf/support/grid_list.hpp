// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lists of grids and of numbers on the command line.
#pragma once

#include <algorithm>
#include <charconv>
#include <limits>

#include <filigree/core/error.hpp>
#include <filigree/grid/stencil_problem.hpp>

#include "support/command_line.hpp"
#include "support/progress.hpp"

namespace FiligreePerf {

/// The whole numbers of a list. Throws std::invalid_argument if one of them is not in the range 1 to `most`.
inline std::vector<std::int64_t> numbers(const std::string& flag, const std::string& list, char separator,
                                         std::int64_t most) {
  std::vector<std::int64_t> result;
  for (const std::string& part : split(list, separator)) {
    std::int64_t value = 0;
    const auto parsed = std::from_chars(part.data(), part.data() + part.size(), value);
    if (parsed.ec != std::errc() || parsed.ptr != part.data() + part.size() || value < 1 || value > most)
      Filigree::Impl::fail<std::invalid_argument>(flag, ": \"", part, "\" in \"", list,
                                                  "\" must be a whole number from 1 to ", most, ".");
    result.push_back(value);
  }
  if (result.empty()) Filigree::Impl::fail<std::invalid_argument>(flag, ": the list is empty.");
  return result;
}

/// A grid with the 5-point or the 7-point stencil.
struct NamedGrid {
  std::string name;  ///< such as "7pt_64x64x64"
  std::array<std::int64_t, 3> cells = {1, 1, 1};
  Filigree::Stencil stencil;

  /// The matrix with dof unknowns per cell.
  template <class Crs>
  Crs matrix(int dof) const {
    Progress progress("making the matrix of " + name);
    const Crs crs = Filigree::StencilProblem<>(cells, stencil, dof).template crs<Crs>();
    Kokkos::fence();
    return crs;
  }
};

/// The grid of XxY or XxYxZ cells. Throws std::invalid_argument if the text is neither.
inline NamedGrid grid_of(const std::string& flag, const std::string& text) {
  const auto extents = numbers(flag, text, 'x', std::numeric_limits<int>::max());
  if (extents.size() != 2 && extents.size() != 3)
    Filigree::Impl::fail<std::invalid_argument>(flag, ": \"", text, "\" has ", extents.size(),
                                                " extents, but a grid has 2 or 3, as in 64x64x64.");
  NamedGrid grid{(extents.size() == 2 ? "5pt_" : "7pt_") + text,
                 {1, 1, 1},
                 extents.size() == 2 ? Filigree::Stencil::five_point() : Filigree::Stencil::seven_point()};
  std::copy(extents.begin(), extents.end(), grid.cells.begin());
  return grid;
}

}  // namespace FiligreePerf

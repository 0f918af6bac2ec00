// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <filigree/grid/grid_parts.hpp>
#include <vector>

namespace FiligreeTest {

/// All ways to cut a grid into this number of parts.
inline std::vector<Filigree::GridParts> all_parts(int count) {
  std::vector<Filigree::GridParts> result;
  for (int x = 1; x <= count; ++x)
    for (int y = 1; y <= count; ++y)
      for (int z = 1; z <= count; ++z)
        if (x * y * z == count) result.push_back({{x, y, z}});
  return result;
}

}  // namespace FiligreeTest

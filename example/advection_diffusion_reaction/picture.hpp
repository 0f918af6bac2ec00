// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <fstream>
#include <string>
#include <vector>

/// Writes fields of width x height numbers side by side as a picture (portable pixmap, binary), from dark
/// blue for 0 to yellow for the largest number of each field. The number at (x, y) of a field is
/// fields[field][y * width + x]; y = 0 is the lower edge. Each cell has `scale` x `scale` pixels.
inline void write_picture(const std::string& path, const std::vector<std::vector<double>>& fields, int width,
                          int height, int scale) {
  const double colours[4][3] = {{20, 20, 90}, {30, 130, 140}, {120, 200, 80}, {255, 235, 60}};
  const int gap = 4, columns = static_cast<int>(fields.size()) * (width * scale + gap) - gap;
  std::ofstream file(path, std::ios::binary);
  file << "P6\n" << columns << ' ' << height * scale << "\n255\n";
  for (int y = height * scale - 1; y >= 0; --y)
    for (std::size_t f = 0; f < fields.size(); ++f) {
      const double largest = *std::max_element(fields[f].begin(), fields[f].end());
      for (int x = 0; x < width * scale; ++x) {
        const double value = fields[f][static_cast<std::size_t>(y / scale * width + x / scale)];
        const double place = 3 * std::clamp(largest > 0 ? value / largest : 0.0, 0.0, 0.9999);
        const int below = static_cast<int>(place);
        for (int k = 0; k < 3; ++k)
          file.put(static_cast<char>(colours[below][k] +
                                     (place - below) * (colours[below + 1][k] - colours[below][k])));
      }
      for (int k = 0; k < 3 * gap && f + 1 < fields.size(); ++k)
        file.put(static_cast<char>(255));
    }
}

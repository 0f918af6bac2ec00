// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>

#include <algorithm>
#include <filigree/grid/stencil_problem.hpp>
#include <set>

#include "../support/all_parts.hpp"

namespace FiligreeTest {
namespace {

using Cells = std::array<std::int64_t, 3>;
using Filigree::CellBox;
using Filigree::GridParts;

/// The number of faces between cells of different parts.
std::int64_t cut_faces(const Cells& cells, const GridParts& parts) {
  std::int64_t faces = 0;
  const std::int64_t strides[3] = {1, cells[0], cells[0] * cells[1]};
  for (std::int64_t z = 0; z < cells[2]; ++z)
    for (std::int64_t y = 0; y < cells[1]; ++y)
      for (std::int64_t x = 0; x < cells[0]; ++x) {
        const std::int64_t at[3] = {x, y, z};
        const std::int64_t cell = (z * cells[1] + y) * cells[0] + x;
        for (std::size_t axis = 0; axis < 3; ++axis)
          if (at[axis] + 1 < cells[axis] &&
              parts.part_of(cells, cell) != parts.part_of(cells, cell + strides[axis]))
            ++faces;
      }
  return faces;
}

TEST(GridParts, EachCellBelongsToTheBoxThatHasIt) {
  for (const Cells& cells : {Cells{5, 4, 3}, Cells{7, 1, 2}, Cells{1, 1, 1}})
    for (const int count : {1, 2, 5, 6, 8})
      for (const GridParts& parts : all_parts(count)) {
        ASSERT_EQ(parts.count(), count);
        std::set<std::int64_t> seen;
        bool are_consecutive = true;
        std::int64_t next = 0;
        for (int part = 0; part < count; ++part) {
          const CellBox box = parts.box(cells, part);
          std::int64_t number = 0;
          for (std::int64_t z = box.begin[2]; z < box.end[2]; ++z)
            for (std::int64_t y = box.begin[1]; y < box.end[1]; ++y)
              for (std::int64_t x = box.begin[0]; x < box.end[0]; ++x, ++number, ++next) {
                const std::int64_t cell = (z * cells[1] + y) * cells[0] + x;
                ASSERT_EQ(parts.part_of(cells, cell), part);
                ASSERT_EQ(box.number_of({x, y, z}), number);
                are_consecutive = are_consecutive && cell == next;
                seen.insert(cell);
              }
          ASSERT_EQ(box.cells(), number);
          ASSERT_EQ(box.number_of({box.end[0], box.begin[1], box.begin[2]}), -1);
          ASSERT_EQ(box.number_of({box.begin[0], box.begin[1], box.begin[2] - 1}), -1);
        }
        ASSERT_EQ(static_cast<std::int64_t>(seen.size()), cells[0] * cells[1] * cells[2]);
        // are_consecutive() may say no for empty parts.
        if (parts.are_consecutive(cells)) {
          ASSERT_TRUE(are_consecutive);
        }
      }
  EXPECT_TRUE(GridParts({{1, 1, 4}}).are_consecutive({8, 8, 8}));
  EXPECT_TRUE(GridParts({{1, 4, 1}}).are_consecutive({8, 8, 1}));
  EXPECT_FALSE(GridParts({{1, 4, 1}}).are_consecutive({8, 8, 8}));
  EXPECT_FALSE(GridParts({{1, 2, 2}}).are_consecutive({8, 8, 8}));
}

TEST(GridParts, SlabsCutTheLastAxis) {
  EXPECT_EQ(GridParts::slabs({8, 8, 8}, 3).counts, (std::array<int, 3>{1, 1, 3}));
  EXPECT_EQ(GridParts::slabs({8, 8, 1}, 3).counts, (std::array<int, 3>{1, 3, 1}));
  EXPECT_EQ(GridParts::slabs({8, 1, 1}, 3).counts, (std::array<int, 3>{3, 1, 1}));
}

TEST(GridParts, BlocksCutTheFewestFaces) {
  for (const Cells& cells : {Cells{12, 12, 12}, Cells{30, 4, 4}, Cells{16, 10, 1}, Cells{3, 9, 20}})
    for (const int count : {1, 2, 4, 6, 7, 8}) {
      const GridParts blocks = GridParts::blocks(cells, count);
      EXPECT_EQ(blocks.count(), count);
      std::int64_t least = std::numeric_limits<std::int64_t>::max();
      for (const GridParts& parts : all_parts(count))
        if (parts.counts[0] <= cells[0] && parts.counts[1] <= cells[1] && parts.counts[2] <= cells[2])
          least = std::min(least, cut_faces(cells, parts));
      EXPECT_EQ(cut_faces(cells, blocks), least)
          << cells[0] << " " << cells[1] << " " << cells[2] << ", " << count << " parts";
    }
  EXPECT_EQ(GridParts::blocks({100, 100, 100}, 2).counts, (std::array<int, 3>{1, 1, 2}));
  EXPECT_EQ(GridParts::blocks({100, 100, 100}, 4096).counts, (std::array<int, 3>{16, 16, 16}));
  // More parts than cells: as few as possible have no cells.
  int filled = 0;
  const GridParts parts = GridParts::blocks({2, 3, 1}, 12);
  for (int part = 0; part < parts.count(); ++part)
    if (parts.box({2, 3, 1}, part).cells() > 0) ++filled;
  EXPECT_EQ(filled, 6);
}

}  // namespace
}  // namespace FiligreeTest

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The parts of a grid that different ranks assemble, against the matrix of the whole grid. All parts are
// assembled here, so that the kernels are tested without Tpetra.
#include <filigree/convert.hpp>
#include <filigree/grid/box_assembly.hpp>
#include <filigree/grid/stencil_problem.hpp>
#include <map>

#include "../support/formats.hpp"

namespace FiligreeTest {
namespace {

using Cells = std::array<std::int64_t, 3>;
using LocalCrs = Crs<double, int>;
using Filigree::RandomCoefficients;
using Filigree::Stencil;
using Entries = std::vector<std::map<std::int64_t, double>>;
template <class Part>
using Assembly = Filigree::Impl::StencilAssembly<ExecutionSpace, Device, double, int,
                                                 LocalCrs::non_const_size_type, RandomCoefficients, Part>;
using Part = Filigree::Impl::BoxPart<int, Device>;

/// The rows of a CRS matrix, whose columns are numbered by `columns`.
Entries entries_of(const LocalCrs& crs, const std::vector<std::int64_t>& columns) {
  const auto row_map = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), crs.graph.row_map);
  const auto entries = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), crs.graph.entries);
  const auto values = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), crs.values);
  Entries result(static_cast<std::size_t>(crs.numRows()));
  for (std::size_t row = 0; row < result.size(); ++row)
    for (auto k = row_map(row); k < row_map(row + 1); ++k) {
      if (k > row_map(row)) {
        EXPECT_LT(entries(k - 1), entries(k)) << "row " << row << " is not sorted";
      }
      result[row][columns[static_cast<std::size_t>(entries(k))]] = values(k);
    }
  return result;
}

void check_boxes(const Cells& cells, const Stencil& stencil, int dof, const Filigree::Boundaries& boundaries,
                 const Filigree::GridParts& parts) {
  SCOPED_TRACE(testing::Message() << parts.counts[0] << " x " << parts.counts[1] << " x " << parts.counts[2]
                                  << " parts, dof " << dof);
  const RandomCoefficients coefficients{static_cast<int>(stencil.points.size()), dof};
  const Filigree::Impl::StencilPattern pattern(cells, stencil, dof, boundaries);
  const Filigree::StencilProblem problem(cells, stencil, dof, coefficients, boundaries);
  std::vector<std::int64_t> all(static_cast<std::size_t>(problem.numRows()));
  for (std::size_t i = 0; i < all.size(); ++i)
    all[i] = static_cast<std::int64_t>(i);
  const Entries expected = entries_of(problem.crs<LocalCrs>(), all);

  const ExecutionSpace exec;
  for (int rank = 0; rank < parts.count(); ++rank) {
    Part part{pattern.grid, parts.box(cells, rank), true, true, {}, {}, {}};
    const auto boundary = Filigree::Impl::box_boundary<int, Device>(
        exec, Assembly<Filigree::Impl::WholeGrid>(exec, pattern, coefficients), part.box);
    // The remote cells get their places in descending order, so that the kernels must sort them.
    const std::size_t remote = boundary.remote.size();
    const Kokkos::View<std::int64_t*, Device> cells_of_part("cells", remote);
    const Kokkos::View<int*, Device> places_of_part("places", remote);
    const auto host_cells = Kokkos::create_mirror_view(cells_of_part);
    const auto host_places = Kokkos::create_mirror_view(places_of_part);
    for (std::size_t i = 0; i < remote; ++i) {
      host_cells(i) = boundary.remote[i];
      host_places(i) = static_cast<int>(remote - 1 - i);
    }
    Kokkos::deep_copy(cells_of_part, host_cells);
    Kokkos::deep_copy(places_of_part, host_places);
    part.remote_cells = cells_of_part;
    part.remote_places = places_of_part;
    std::vector<std::int64_t> owned, columns, remote_columns;
    for (std::int64_t i = 0; i < part.box.cells() * dof; ++i)
      owned.push_back(pattern.grid.number_of(part.box, i / dof) * dof + i % dof);
    for (std::size_t i = 0; i < remote; ++i)
      for (int unknown = 0; unknown < dof; ++unknown)
        remote_columns.push_back(boundary.remote[remote - 1 - i] * dof + unknown);
    columns = owned;
    columns.insert(columns.end(), remote_columns.begin(), remote_columns.end());
    const auto rows = static_cast<std::int64_t>(owned.size());
    const auto count = static_cast<std::int64_t>(columns.size());

    const auto both = entries_of(Filigree::Impl::assemble_crs<LocalCrs>(
                                     exec, Assembly<Part>(exec, pattern, coefficients, part), rows, count),
                                 columns);
    part.has_remote = false;
    const auto blocks = pattern.blocks_in(part.box);
    const auto cds = Filigree::Impl::assemble_cds<Filigree::CdsMatrix<double, int, Device, void, int>>(
        exec, Assembly<Part>(exec, pattern, coefficients, part), rows, blocks);
    Filigree::check(exec, cds);
    const auto from_cds = entries_of(Filigree::to_crs(exec, cds), owned);
    part.has_owned = false;
    part.has_remote = true;
    part.listed_cells = boundary.cells;
    const auto boundary_rows = static_cast<std::int64_t>(boundary.rows.extent(0));
    const auto from_remote =
        entries_of(Filigree::Impl::assemble_crs<LocalCrs>(
                       exec, Assembly<Part>(exec, pattern, coefficients, part), boundary_rows, count - rows),
                   remote_columns);

    Entries joined = from_cds;
    std::int64_t owned_entries = 0;
    for (const auto& row : from_cds)
      owned_entries += static_cast<std::int64_t>(row.size());
    EXPECT_EQ(owned_entries, blocks.blocks * dof * dof);
    const auto listed = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), boundary.rows);
    for (std::size_t i = 0; i < from_remote.size(); ++i) {
      EXPECT_FALSE(from_remote[i].empty());
      joined[static_cast<std::size_t>(listed(i))].insert(from_remote[i].begin(), from_remote[i].end());
    }
    for (std::size_t row = 0; row < owned.size(); ++row) {
      ASSERT_EQ(both[row], expected[static_cast<std::size_t>(owned[row])]) << "row " << owned[row];
      ASSERT_EQ(joined[row], expected[static_cast<std::size_t>(owned[row])]) << "row " << owned[row];
    }
  }
}

TEST(BoxAssembly, TheBoxesMakeTheMatrixOfTheGrid) {
  using Filigree::Boundary;
  Stencil far = Stencil::seven_point();
  far.points.push_back({2, -1, 0});
  far.points.push_back({-1, 2, 3});
  const std::vector<Filigree::Boundaries> all_boundaries = {
      {},
      {Boundary::wrap(), Boundary::wrap(), Boundary::wrap()},
      {Boundary::clamp(), Boundary::wrap(), Boundary::clamp()},
      {Boundary::constant(1, 2), Boundary::clamp(), Boundary::wrap()}};
  for (const auto& boundaries : all_boundaries)
    for (const Filigree::GridParts& parts :
         {Filigree::GridParts{{1, 1, 1}}, Filigree::GridParts{{1, 1, 3}}, Filigree::GridParts{{2, 3, 2}},
          Filigree::GridParts{{6, 1, 1}}, Filigree::GridParts{{1, 5, 8}}})
      check_boxes({5, 6, 7}, far, 2, boundaries, parts);
  check_boxes({6, 6, 6}, Stencil::twenty_seven_point(), 3, {}, {{2, 2, 2}});
  check_boxes({2, 2, 1}, Stencil::five_point(), 1, {}, {{3, 1, 2}});  // parts without cells
}

}  // namespace
}  // namespace FiligreeTest

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The kernels of TpetraOperator, which do not need Tpetra.
#include <gtest/gtest.h>

#include <filigree/distributed/split_columns.hpp>

#include "../support/host_matrix.hpp"

namespace FiligreeTest {
namespace {

/// Every third column is remote, and the places of both kinds are in descending order.
int signed_place(int column, int columns) {
  const int remote = (columns + 2) / 3;
  if (column % 3 == 0) return -1 - (remote - 1 - column / 3);
  return columns - remote - 1 - (column / 3 * 2 + column % 3 - 1);
}

TEST(SplitColumns, TheTwoPartsHaveAllEntries) {
  const int columns = 100, remote_columns = (columns + 2) / 3;
  HostMatrix<double> all = scattered<double>(400, columns, 9);
  // Some rows have no remote columns, and some no others.
  for (std::size_t row = 0; row < all.rows.size(); ++row)
    for (auto& entry : all.rows[row]) {
      if (row % 7 == 0) entry.column = entry.column / 3 * 3 + (entry.column < 99 ? 1 : -1);
      if (row % 11 == 0) entry.column = entry.column / 3 * 3;
    }
  HostMatrix<double> owned(all.row_count(), columns - remote_columns), remote(0, remote_columns);
  std::vector<int> boundary_rows;
  std::vector<int> places;
  for (int column = 0; column < columns; ++column)
    places.push_back(signed_place(column, columns));
  for (std::size_t row = 0; row < all.rows.size(); ++row) {
    std::vector<Entry<double>> of_remote;
    for (const auto& entry : all.rows[row]) {
      const int place = places[static_cast<std::size_t>(entry.column)];
      if (place >= 0)
        owned.rows[row].push_back({place, entry.value});
      else
        of_remote.push_back({-1 - place, entry.value});
    }
    if (of_remote.empty()) continue;
    boundary_rows.push_back(static_cast<int>(row));
    remote.rows.push_back(of_remote);
  }

  const ExecutionSpace exec;
  const auto crs = device_crs(all);
  const Filigree::Impl::ColumnPlaces<int, Device> on_device(
      device_list<Kokkos::View<const int*, Device>>(places));
  const auto found = Filigree::Impl::boundary_rows(exec, crs, on_device);
  EXPECT_EQ(host_list(found), boundary_rows);
  EXPECT_LT(boundary_rows.size(), all.rows.size());
  using Filigree::Impl::Columns;
  EXPECT_EQ(host_matrix(Filigree::Impl::part_of_columns(exec, crs, on_device, found, Columns::owned,
                                                        columns - remote_columns)),
            owned);
  EXPECT_EQ(host_matrix(Filigree::Impl::part_of_columns(exec, crs, on_device, found, Columns::remote,
                                                        remote_columns)),
            remote);
}

TEST(SplitColumns, RowsAreGatheredAndAdded) {
  const int count = 1000;
  const Kokkos::View<int*, Device> rows("rows", count / 3);
  const auto host_rows = Kokkos::create_mirror_view(rows);
  for (std::size_t i = 0; i < rows.extent(0); ++i)
    host_rows(i) = static_cast<int>(3 * i + 1);
  Kokkos::deep_copy(rows, host_rows);
  const Kokkos::View<double**, Kokkos::LayoutLeft, Device> vectors("vectors", count, 2),
      part("part", rows.extent(0), 2);
  const auto host = Kokkos::create_mirror_view(vectors);
  for (std::size_t i = 0; i < host.extent(0); ++i)
    for (std::size_t column = 0; column < 2; ++column)
      host(i, column) = static_cast<double>(10 * i + column);
  Kokkos::deep_copy(vectors, host);
  const ExecutionSpace exec;
  Filigree::Impl::gather_rows(exec, rows, vectors, part);
  Filigree::Impl::add_to_rows(exec, rows, part, vectors);
  exec.fence();
  const auto after = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), vectors);
  for (std::size_t i = 0; i < host.extent(0); ++i)
    for (std::size_t column = 0; column < 2; ++column)
      ASSERT_EQ(after(i, column),
                (i % 3 == 1 && i / 3 < rows.extent(0) ? 2 : 1) * static_cast<double>(10 * i + column));
}

}  // namespace
}  // namespace FiligreeTest

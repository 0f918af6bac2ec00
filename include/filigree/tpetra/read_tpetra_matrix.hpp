// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "filigree/core/require_cxx17.hpp"

#include <Tpetra_CrsMatrix.hpp>

#include <vector>

#include "filigree/io/matrix_market.hpp"
#include "filigree/tpetra/collective.hpp"

namespace Filigree {
namespace Impl {

/// The first row of each of `parts` parts of consecutive rows, and the number of rows. The parts have nearly
/// equal sums of rows and entries.
template <class RowMap>
std::vector<std::int64_t> balanced_rows(const RowMap& row_map, int parts) {
  const std::int64_t rows = static_cast<std::int64_t>(row_map.extent(0)) - 1;
  const double all = static_cast<double>(row_map(rows)) + static_cast<double>(rows);
  std::vector<std::int64_t> firsts;
  std::int64_t row = 0;
  for (int part = 0; part < parts; ++part) {
    while (row < rows && static_cast<double>(row_map(row)) + static_cast<double>(row) < all * part / parts)
      ++row;
    firsts.push_back(row);
  }
  firsts.push_back(rows);
  return firsts;
}

}  // namespace Impl

/// Reads a Matrix Market file and distributes its rows: each rank gets consecutive rows, and the ranks have
/// nearly equal sums of rows and entries. The result is fill-complete. The elements of x of a square matrix are
/// distributed like the rows, those of other matrices evenly.
///
/// Rank 0 reads the file and has memory for the whole matrix. Rows and columns must fit into the local index
/// type. Collective.
///
/// If read_matrix_market() throws on rank 0, all ranks throw std::runtime_error with its text.
template <class TpetraCrsMatrix = Tpetra::CrsMatrix<>>
Teuchos::RCP<TpetraCrsMatrix> read_tpetra_matrix(const std::string& path,
                                                 Teuchos::RCP<const Teuchos::Comm<int>> comm,
                                                 const MatrixMarketOptions& options = {}) {
  using crs_type = typename TpetraCrsMatrix::local_matrix_device_type;
  using map_type =
      Tpetra::Map<typename TpetraCrsMatrix::local_ordinal_type, typename TpetraCrsMatrix::global_ordinal_type,
                  typename TpetraCrsMatrix::node_type>;
  using import_type =
      Tpetra::Import<typename TpetraCrsMatrix::local_ordinal_type,
                     typename TpetraCrsMatrix::global_ordinal_type, typename TpetraCrsMatrix::node_type>;
  const int ranks = comm->getSize();
  const int rank = comm->getRank();
  crs_type crs;
  // The first row of each rank, the number of rows, and the number of columns.
  std::vector<std::int64_t> sizes(static_cast<std::size_t>(ranks) + 2);
  Impl::on_all_ranks(*comm, "Filigree::read_tpetra_matrix", [&]() {
    if (rank == 0) {
      crs = read_matrix_market<crs_type>(path, options);
      sizes = Impl::balanced_rows(Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), crs.graph.row_map),
                                  ranks);
      sizes.push_back(crs.numCols());
    } else {
      crs =
          crs_type("Filigree::crs[matrix_market]", 0, 0, 0, typename crs_type::values_type::non_const_type(),
                   typename crs_type::row_map_type::non_const_type("row_map", 1),
                   typename crs_type::index_type::non_const_type());
    }
  });
  Teuchos::broadcast(*comm, 0, static_cast<int>(sizes.size()), sizes.data());
  const std::int64_t rows = sizes[static_cast<std::size_t>(ranks)];
  const std::int64_t columns = sizes.back();

  // All rows on rank 0 first, and then where they belong.
  const auto map = [&](std::int64_t all, std::int64_t own) {
    return Teuchos::RCP<const map_type>(Teuchos::rcp(
        new map_type(static_cast<Tpetra::global_size_t>(all), static_cast<std::size_t>(own), 0, comm)));
  };
  const auto rows_of_root = map(rows, rank == 0 ? rows : 0);
  const auto columns_of_root = rows == columns ? rows_of_root : map(columns, rank == 0 ? columns : 0);
  const auto whole =
      Teuchos::rcp(new TpetraCrsMatrix(crs, rows_of_root, columns_of_root, columns_of_root, rows_of_root));
  if (ranks == 1) return whole;
  const auto at = static_cast<std::size_t>(rank);
  const auto own_rows = map(rows, sizes[at + 1] - sizes[at]);
  const auto own_columns = rows == columns ? own_rows
                                           : Teuchos::RCP<const map_type>(Teuchos::rcp(new map_type(
                                                 static_cast<Tpetra::global_size_t>(columns), 0, comm)));
  // Not importAndFillCompleteCrsMatrix, which cannot change the domain map. Tpetra enlarges the rows as needed.
  const auto result = Teuchos::rcp(new TpetraCrsMatrix(own_rows, 0));
  result->doImport(*whole, import_type(rows_of_root, own_rows), Tpetra::INSERT);
  result->fillComplete(own_columns, own_rows);
  return result;
}

}  // namespace Filigree

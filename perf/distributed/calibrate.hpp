// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <Tpetra_CrsMatrix.hpp>

#include <filigree/grid/stencil_problem.hpp>
#include <filigree/spmv.hpp>
#include <filigree/tpetra/tpetra_options.hpp>

#include "distributed/model.hpp"
#include "measure/ranks.hpp"

namespace FiligreePerf {

using Comm = Teuchos::RCP<const Teuchos::Comm<int>>;

/// The seconds in which each rank gets `elements` doubles from the next and from the previous rank, by a
/// Tpetra::Import.
inline double ring_seconds(const Comm& comm, std::int64_t elements, int samples) {
  using Map = Tpetra::Map<>;
  using Global = Map::global_ordinal_type;
  const int ranks = comm->getSize();
  const auto all = Teuchos::OrdinalTraits<Tpetra::global_size_t>::invalid();
  const auto own = Teuchos::rcp(new Map(all, static_cast<std::size_t>(elements), 0, comm));
  std::vector<Global> wanted;
  const int next = (comm->getRank() + 1) % ranks;
  const int previous = (comm->getRank() + ranks - 1) % ranks;
  for (std::int64_t i = 0; i < elements; ++i)
    wanted.push_back(static_cast<Global>(next * elements + i));
  for (std::int64_t i = 0; i < elements && previous != next; ++i)
    wanted.push_back(static_cast<Global>(previous * elements + i));
  const auto from_others =
      Teuchos::rcp(new Map(all, wanted.data(), static_cast<int>(wanted.size()), 0, comm));
  const Tpetra::Import<> importer(own, from_others, Filigree::Impl::exchange_parameters());
  Tpetra::MultiVector<> x(own, 1), received(from_others, 1);
  return median_slowest_seconds(samples, [&]() { received.doImport(x, importer, Tpetra::INSERT); });
}

/// The bytes per second of a product with CDS, if each rank multiplies a grid of `cells` cells at the same time,
/// without an exchange.
inline double product_bandwidth(const Cells& cells, int dof, int samples) {
  using device_type = Tpetra::CrsMatrix<>::device_type;
  const Filigree::StencilProblem problem(cells, Filigree::Stencil::seven_point(), dof);
  const auto A = problem.cds<Filigree::CdsMatrix<double, int, device_type, void, std::size_t>>();
  const auto rows = static_cast<std::size_t>(problem.numRows());
  const Kokkos::View<double*, device_type> x("x", rows), y("y", rows);
  const double seconds = median_slowest_seconds(samples, [&]() { Filigree::spmv("N", 1.0, A, x, 0.0, y); });
  return load_of(cells, Filigree::GridParts(), 0, dof).owned_bytes / seconds;
}

/// The speed of the exchange, from messages of 8 bytes and of 800 kB around a ring.
inline DistributedSpeed exchange_speed(const Comm& comm, int samples) {
  DistributedSpeed speed;
  if (comm->getSize() == 1) return speed;
  const std::int64_t elements = 100000;
  const double messages = comm->getSize() == 2 ? 1 : 2;
  const double small = ring_seconds(comm, 1, 5 * samples);
  const double large = ring_seconds(comm, elements, samples);
  speed.message = small / messages;
  speed.network = messages * 8 * static_cast<double>(elements - 1) / std::max(large - small, 1e-9);
  return speed;
}

}  // namespace FiligreePerf

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// filigree_distributed: products over several MPI ranks, next to Tpetra's own, and the model of their time.
//
//     mpirun -np 4 filigree_distributed --out=ranks_4.json
#include <Teuchos_DefaultMpiComm.hpp>

#include <CLI/CLI.hpp>
#include <cmath>
#include <filigree/tpetra/read_tpetra_matrix.hpp>
#include <filigree/tpetra/tpetra_stencil_problem.hpp>
#include <iostream>

#include "distributed/calibrate.hpp"
#include "distributed/count_messages.hpp"
#include "measure/session.hpp"
#include "support/grid_list.hpp"

namespace FiligreePerf {
namespace {

using Matrix = Tpetra::CrsMatrix<>;
using Vectors = Tpetra::MultiVector<>;
using Operator = Filigree::TpetraOperator<Matrix>;

struct Options : RankOptions {
  std::vector<std::string> matrices;
  // The GPUs of the prediction.
  double gpu_bandwidth_GBps = 4100;
  double gpu_launch_us = 5;
  double gpu_message_us = 5;
  double gpu_network_GBps = 50;
};

/// A grid, and how it is cut.
struct Cut {
  Cells cells;
  Filigree::GridParts parts;
};

/// Measures the products of one problem on all ranks.
class Product {
 public:
  Product(Session& session, const Comm& comm, const Options& options, std::string problem,
          const Teuchos::RCP<const Matrix>& matrix)
      : m_session(session),
        m_comm(comm),
        m_options(options),
        m_problem(std::move(problem)),
        m_matrix(matrix),
        m_x(matrix->getDomainMap(), 1),
        m_y(matrix->getRangeMap(), 1),
        m_expected(matrix->getRangeMap(), 1) {
    for (std::size_t i = 0; i < m_x.getLocalLength(); ++i)
      m_x.replaceLocalValue(
          static_cast<int>(i), 0,
          std::sin(static_cast<double>(m_x.getMap()->getGlobalElement(static_cast<int>(i)))));
    m_matrix->apply(m_x, m_expected);
    m_least_bytes = 8 * sum(least_elements());
    m_sent_by_tpetra = sent_by([&]() { m_matrix->apply(m_x, m_y); });
  }

  /// Checks a product, times it in turns with Tpetra's, and adds it to the file. `cut` is the grid if the
  /// model holds for the product.
  void measure(const std::string& format, const Operator& op, const DistributedSpeed& speed, const Cut* cut) {
    m_y.putScalar(std::nan(""));
    const SentMessages sent = sent_by([&]() { op.apply(m_x, m_y); });
    check(format);
    if (sent.bytes < m_least_bytes)
      Filigree::Impl::fail<std::runtime_error>(m_problem, ", ", format, ": the ranks sent ", sent.bytes,
                                               " bytes, but need ", m_least_bytes, ".");
    const int samples = m_session.quick() ? 3 : 25;
    std::vector<double> own, reference, ratios;
    double total = 0;
    while (static_cast<int>(own.size()) < samples || (!m_session.quick() && total < m_options.seconds)) {
      double seconds[2];
      const std::size_t first = own.size() % 2;
      for (const std::size_t which : {first, 1 - first})
        seconds[which] = slowest_seconds([&]() {
          if (which == 0)
            m_matrix->apply(m_x, m_y);
          else
            op.apply(m_x, m_y);
        });
      reference.push_back(seconds[0]);
      own.push_back(seconds[1]);
      ratios.push_back(seconds[1] / seconds[0]);
      total += seconds[0] + seconds[1];
    }
    const Filigree::TpetraProductTimes times = op.product_times(1, samples);
    Figures figures = {{"ranks", m_comm->getSize()},
                       {"rows", static_cast<double>(m_matrix->getGlobalNumRows())},
                       {"entries", static_cast<double>(m_matrix->getGlobalNumEntries())},
                       {"median_ms", 1e3 * quantile(own, 0.5)},
                       {"tpetra_ms", 1e3 * quantile(reference, 0.5)},
                       {"time_vs_tpetra", quantile(ratios, 0.5)},
                       {"split", op.is_split() ? 1.0 : 0.0},
                       {"apply_ms", 1e3 * times.apply},
                       {"owned_ms", 1e3 * times.owned},
                       {"exchange_ms", 1e3 * times.exchange},
                       {"remote_ms", 1e3 * times.remote},
                       {"overlapped_ms", 1e3 * times.overlapped()},
                       {"sent_bytes", sent.bytes},
                       {"tpetra_sent_bytes", m_sent_by_tpetra.bytes},
                       {"least_bytes", m_least_bytes},
                       {"messages", sent.messages}};
    if (cut != nullptr) {
      check_load(*cut, op);
      const DistributedTimes model = predict(cut->cells, cut->parts, m_options.dof, speed);
      figures.insert(figures.end(), {{"model_owned_ms", 1e3 * model.owned},
                                     {"model_exchange_ms", 1e3 * (model.pack + model.exchange)},
                                     {"model_remote_ms", 1e3 * model.remote},
                                     {"model_ms", 1e3 * model.one_after_the_other()},
                                     {"model_overlapped_ms", 1e3 * model.overlapped()},
                                     {"model_bandwidth_GBps", 1e-9 * speed.bandwidth}});
    }
    std::cout << m_problem << ", " << format << ": " << 1e3 * quantile(own, 0.5) << " ms, "
              << quantile(ratios, 0.5) << " of Tpetra's time" << std::endl;
    m_session.add_measured(format, "double", m_problem, quantile(own, 0.5), figures);
  }

 private:
  /// The elements of x that this rank needs and does not own.
  double least_elements() const {
    std::vector<bool> is_needed(Filigree::Impl::local_size(*m_matrix->getColMap(), 0));
    const auto crs = m_matrix->getLocalMatrixHost();
    for (std::size_t k = 0; k < crs.graph.entries.extent(0); ++k)
      is_needed[static_cast<std::size_t>(crs.graph.entries(k))] = true;
    double count = 0;
    for (std::size_t column = 0; column < is_needed.size(); ++column)
      if (is_needed[column] && !m_matrix->getDomainMap()->isNodeGlobalElement(
                                   m_matrix->getColMap()->getGlobalElement(static_cast<int>(column))))
        ++count;
    return count;
  }

  /// What all ranks send during `work`.
  SentMessages sent_by(const std::function<void()>& work) const {
    const SentMessages before = sent_messages();
    work();
    const SentMessages after = sent_messages();
    return {sum(after.bytes - before.bytes), sum(after.messages - before.messages)};
  }

  void check(const std::string& format) {
    m_y.update(-1, m_expected, 1);
    const double error = m_y.getVector(0)->normInf();
    const double bound = 1e-13 * m_expected.getVector(0)->normInf();
    if (!(error <= bound))
      Filigree::Impl::fail<std::runtime_error>(m_problem, ", ", format, ": an element differs by ", error,
                                               " from Tpetra's product; it may differ by ", bound, ".");
  }

  /// The model must know what the operator does on this rank.
  void check_load(const Cut& cut, const Operator& op) const {
    const DistributedLoad load = load_of(cut.cells, cut.parts, m_comm->getRank(), m_options.dof);
    const auto compare = [&](const char* what, double by_model, double by_operator) {
      if (largest(by_model == by_operator ? 0 : 1) > 0)
        Filigree::Impl::fail<std::logic_error>(m_problem, ": the model assumes ", by_model, " ", what,
                                               " on rank ", m_comm->getRank(), ", but there are ",
                                               by_operator, " (on this or on another rank).");
    };
    compare("rows", load.rows, op.owned().numRows());
    compare("boundary rows", load.boundary_rows, static_cast<double>(op.boundary_rows().extent(0)));
    compare("remote entries", load.remote_entries, static_cast<double>(op.remote().nnz()));
    compare("remote elements", load.halo_elements,
            op.importer().is_null() ? 0 : static_cast<double>(op.importer()->getNumRemoteIDs()));
    compare("bytes of the remote columns", load.remote_storage,
            load.messages > 0 ? static_cast<double>(op.remote().storage_bytes()) : 0);
    compare("bytes of the owned columns", load.owned_storage,
            static_cast<double>(op.owned().storage_bytes()));
  }

  Session& m_session;
  Comm m_comm;
  const Options& m_options;
  std::string m_problem;
  Teuchos::RCP<const Matrix> m_matrix;
  Vectors m_x, m_y, m_expected;
  double m_least_bytes = 0;
  SentMessages m_sent_by_tpetra;
};

void measure_grid(Session& session, const Comm& comm, const Options& options,
                  const DistributedSpeed& exchange, const std::string& scaling, const Cut& cut,
                  const std::string& kind) {
  for (std::size_t axis = 0; axis < 3; ++axis)
    if (cut.parts.counts[axis] > cut.cells[axis]) {
      std::cout << scaling << ": " << text_of(cut.cells) << " cells are too few for " << comm->getSize()
                << ' ' << kind << std::endl;
      return;
    }
  const Filigree::StencilProblem problem(cut.cells, Filigree::Stencil::seven_point(), options.dof);
  const Filigree::TpetraStencilProblem distributed(problem, cut.parts, comm);
  const auto matrix = distributed.matrix();
  Product product(session, comm, options,
                  scaling + "_" + text_of(cut.cells) + "_dof" + std::to_string(options.dof) + "_" + kind +
                      "_ranks" + std::to_string(comm->getSize()),
                  matrix);
  // Another shape with about as many cells as the largest box. The same number of bytes fits into a cache.
  Cells largest_box = {1, 1, 1};
  for (int part = 0; part < cut.parts.count(); ++part)
    for (int axis = 0; axis < 3; ++axis)
      largest_box[static_cast<std::size_t>(axis)] =
          std::max(largest_box[static_cast<std::size_t>(axis)], cut.parts.box(cut.cells, part).extent(axis));
  DistributedSpeed speed = exchange;
  speed.bandwidth =
      product_bandwidth({2 * largest_box[0], largest_box[1], std::max<std::int64_t>(1, largest_box[2] / 2)},
                        options.dof, session.quick() ? 3 : 25);
  Filigree::TpetraOptions cds;
  cds.remote_format = "crs";  // as the model assumes
  product.measure("cds", *distributed.make_operator(cds), speed, &cut);
  product.measure("auto", Operator(matrix), exchange, nullptr);
}

/// The model for many GPUs: a product of the same grid on more and more, and of a grid that grows with them.
void predict_gpus(Session& session, const Options& options) {
  const DistributedSpeed speed = {1e9 * options.gpu_bandwidth_GBps, 1e-6 * options.gpu_launch_us,
                                  1e-6 * options.gpu_message_us, 1e9 * options.gpu_network_GBps};
  const int dof = 4;
  for (int gpus = 1; gpus <= 8192; gpus *= 2) {
    const Filigree::GridParts parts = Filigree::GridParts::blocks({1024, 1024, 1024}, gpus);
    const Cells grown = {200 * parts.counts[0], 200 * parts.counts[1], 200 * parts.counts[2]};
    const auto add = [&](const std::string& scaling, const Cells& cells) {
      const DistributedTimes times = predict(cells, parts, dof, speed);
      session.add_measured("model", "double", scaling + "_" + text_of(cells) + "_gpus" + std::to_string(gpus),
                           times.one_after_the_other(),
                           {{"ranks", gpus},
                            {"model_owned_ms", 1e3 * times.owned},
                            {"model_exchange_ms", 1e3 * (times.pack + times.exchange)},
                            {"model_remote_ms", 1e3 * times.remote},
                            {"model_ms", 1e3 * times.one_after_the_other()},
                            {"model_overlapped_ms", 1e3 * times.overlapped()}});
    };
    // The matrix of 1024^3 cells takes 0.96 TB.
    if (gpus >= 16) add("strong", {1024, 1024, 1024});
    add("weak", grown);
  }
}

void measure(Session& session, const Options& options) {
  const Comm comm = Teuchos::rcp(new Teuchos::MpiComm<int>(MPI_COMM_WORLD));
  const int ranks = comm->getSize();
  const Cells strong = options.strong_cells(), weak = options.weak_cells();
  const DistributedSpeed exchange = exchange_speed(comm, session.quick() ? 3 : 25);
  if (ranks > 1)
    std::cout << ranks << " ranks: a message takes " << 1e6 * exchange.message << " us, and each rank sends "
              << 1e-9 * exchange.network << " GB/s" << std::endl;
  session.add_measured("calibration", "double", "ring_ranks" + std::to_string(ranks), exchange.message,
                       {{"ranks", ranks},
                        {"message_us", 1e6 * exchange.message},
                        {"network_GBps", ranks > 1 ? 1e-9 * exchange.network : 0}});

  const auto slabs = [&](const Cells& cells) { return Filigree::GridParts::slabs(cells, ranks); };
  const auto blocks = [&](const Cells& cells) { return Filigree::GridParts::blocks(cells, ranks); };
  measure_grid(session, comm, options, exchange, "strong", {strong, blocks(strong)}, "blocks");
  if (slabs(strong).counts != blocks(strong).counts)
    measure_grid(session, comm, options, exchange, "strong", {strong, slabs(strong)}, "slabs");
  // As many cells per rank, in the shape of the blocks.
  const Filigree::GridParts parts = blocks(weak);
  const Cells grown = {weak[0] * parts.counts[0], weak[1] * parts.counts[1], weak[2] * parts.counts[2]};
  measure_grid(session, comm, options, exchange, "weak", {grown, parts}, "blocks");

  for (const std::string& file : options.matrices) {
    const auto matrix = Filigree::read_tpetra_matrix(file, comm);
    Product product(session, comm, options, matrix_name(file) + "_ranks" + std::to_string(ranks), matrix);
    const Operator op(matrix);
    std::string pick = op.owned().selection().picked;
    Filigree::Impl::broadcast_text(*comm, 0, pick);
    const bool differs = largest(pick == op.owned().selection().picked ? 0 : 1) > 0;
    std::cout << matrix_name(file) << ": optimize() picked " << pick << " on "
              << (differs ? "rank 0" : "all ranks") << (op.is_split() ? "" : ", for all columns")
              << std::endl;
    product.measure("auto", op, exchange, nullptr);
  }
  predict_gpus(session, options);
}

}  // namespace
}  // namespace FiligreePerf

int main(int argc, char** argv) {
  CLI::App app(
      "Times products over the ranks of mpirun, next to Tpetra's own, and predicts them for many GPUs.",
      "filigree_distributed");
  FiligreePerf::Options options;
  options.add_seconds_to(app);
  options.strong = "64x64x64";
  options.weak = "48x48x48";
  options.add_grids_to(app, "cells per rank of the grid that grows with the ranks");
  app.add_option("--matrix", options.matrices, "matrices to measure too (.mtx or .mtx.gz)")
      ->type_name("FILES")
      ->delimiter(',')
      ->check(CLI::ExistingFile);
  const auto add_number = [&](const char* flag, double& value, const char* text) {
    app.add_option(flag, value, text)->type_name("X")->check(CLI::Range(1e-6, 1e6))->capture_default_str();
  };
  add_number("--gpu_bandwidth", options.gpu_bandwidth_GBps, "GB/s that a GPU of the prediction reads");
  add_number("--gpu_launch", options.gpu_launch_us, "microseconds per kernel launch");
  add_number("--gpu_message", options.gpu_message_us, "microseconds per message");
  add_number("--gpu_network", options.gpu_network_GBps, "GB/s that a GPU sends");
  return FiligreePerf::run_session_on_ranks(app, argc, argv, options, [&](FiligreePerf::Session& session) {
    FiligreePerf::measure(session, options);
  });
}

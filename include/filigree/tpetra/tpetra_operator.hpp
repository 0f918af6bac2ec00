// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "filigree/core/require_cxx17.hpp"

#include <Tpetra_CrsMatrix.hpp>
#include <Tpetra_Operator.hpp>

#include <algorithm>
#include <vector>

#include "filigree/distributed/split_columns.hpp"
#include "filigree/tpetra/tpetra_options.hpp"

namespace Filigree {

/// The seconds of a product and of its steps, each the median of several, on the slowest rank of each.
struct TpetraProductTimes {
  double apply = 0;     ///< the whole product
  double owned = 0;     ///< of the owned columns, or of all columns if they are not split
  double exchange = 0;  ///< between the ranks, with nothing else at the same time
  double remote = 0;    ///< of the remote columns

  /// The part of the exchange that the product of the owned columns hides: what all steps take one after the
  /// other, less what the whole product takes. It is only useful if the exchange is a large part of the
  /// product. Otherwise it is smaller than the noise of the other steps, and may be negative.
  double overlapped() const { return owned + exchange + remote - apply; }
};

namespace Impl {

/// The number of elements of this rank. Tpetra renamed the function.
template <class Map>
auto local_size(const Map& map, int) -> decltype(map.getLocalNumElements()) {
  return map.getLocalNumElements();
}
template <class Map>
auto local_size(const Map& map, long) -> decltype(map.getNodeNumElements()) {
  return map.getNodeNumElements();
}

}  // namespace Impl

/// The products of a Tpetra::CrsMatrix with the kernels of Filigree, as a Tpetra::Operator:
///
///     auto op = Teuchos::rcp(new Filigree::TpetraOperator<Tpetra::CrsMatrix<>>(matrix));
///     op->apply(x, y);  // y = A x
///
/// The rows stay distributed as in the matrix, with its maps, importer and exporter. The rows of each rank are
/// split by their columns: the rank owns the elements of x for the owned columns, and receives those for the
/// remote columns from other ranks. Each part is converted to a format. apply() starts the exchange,
/// multiplies the owned columns, waits for the exchange, and adds the remote columns. Rows without remote
/// columns are then not touched again. If many rows have remote columns, that takes longer than to wait for
/// the exchange and to multiply all columns at once, which the ranks then do instead (TpetraSplit).
///
/// The operator keeps the matrix for refill(), but shares no memory with it: options.optimize.share_crs has no
/// effect. New values take effect only by refill().
///
/// All members are collective unless they say otherwise: all ranks must call them in the same order. apply()
/// compares the maps of x and y on all ranks together, unless they are the objects of its last call. So if one
/// rank makes a new map for its vectors, all ranks must. Several apply() of one operator must not run at the
/// same time. Mode N of one operator gives the same bits each time, unless several ranks have parts of one row
/// or y is replicated; for the transposed modes see docs/modes.md.
template <class TpetraCrsMatrix>
class TpetraOperator
    : public Tpetra::Operator<
          typename TpetraCrsMatrix::scalar_type, typename TpetraCrsMatrix::local_ordinal_type,
          typename TpetraCrsMatrix::global_ordinal_type, typename TpetraCrsMatrix::node_type> {
 public:
  using scalar_type = typename TpetraCrsMatrix::scalar_type;                  ///< of the entries and vectors
  using local_ordinal_type = typename TpetraCrsMatrix::local_ordinal_type;    ///< index on a rank
  using global_ordinal_type = typename TpetraCrsMatrix::global_ordinal_type;  ///< index of all ranks
  using node_type = typename TpetraCrsMatrix::node_type;                      ///< Tpetra's name for a device
  /// The distribution of rows or vector elements over the ranks.
  using map_type = Tpetra::Map<local_ordinal_type, global_ordinal_type, node_type>;
  /// The vectors of apply().
  using vectors_type = Tpetra::MultiVector<scalar_type, local_ordinal_type, global_ordinal_type, node_type>;
  /// A rank's part of the matrix, as Tpetra stores it.
  using local_crs_type = typename TpetraCrsMatrix::local_matrix_device_type;
  /// A rank's owned or remote columns.
  using local_matrix_type = converted_t<AnyMatrix, local_crs_type>;

  /// Splits and converts a matrix, which must be fill-complete. Costs six passes over the rows at most, a copy
  /// of the entries as CRS while one part is converted, and the conversions. If more than an eighth of the rows
  /// have remote columns, it costs predict_formats() of three matrices, and two such copies. It communicates to
  /// compare options and errors, and to make the maps of the remote columns.
  ///
  /// Throws std::invalid_argument if the matrix is null, on this rank only. If one of the following is true on
  /// one rank, all ranks throw std::runtime_error with the reason of the lowest such rank: the matrix is not
  /// fill-complete, its column map has columns that the domain map lacks, the options differ, there is no such
  /// format, the format is refused, or there is no memory for a part.
  explicit TpetraOperator(Teuchos::RCP<const TpetraCrsMatrix> matrix, const TpetraOptions& options = {})
      : m_matrix(matrix), m_options(options) {
    if (matrix.is_null())
      throw std::invalid_argument("Filigree::TpetraOperator: the matrix is a null pointer.");
    const Teuchos::Comm<int>& comm = *matrix->getComm();
    Impl::check_same_options(comm, name, options);
    Impl::on_all_ranks(comm, name, [&]() {
      if (!matrix->isFillComplete())
        throw std::invalid_argument("the matrix is not fill-complete; call its fillComplete() first.");
      take_maps();
    });
    make_remote_importer();
    Impl::on_all_ranks(comm, name, [&]() { find_boundary(); });
    if (!m_importer.is_null()) choose_split(options);
    Impl::on_all_ranks(comm, name, [&]() { convert(); });
    // A refill() must not write there, because the variable of the caller may be gone.
    m_options.optimize.rounding = nullptr;
  }

  /// Takes over new values of the matrix, which must be fill-complete and have the same pattern and maps.
  /// Costs two passes over the rows if there are remote columns, memory for a copy of the entries as CRS, a
  /// comparison of the patterns, and refill() of both parts. A part in a format that may refuse values (symmetric CDS,
  /// CDS with a dictionary) is converted again, and stored twice until that is done. Without a named format
  /// optimize() picks again.
  ///
  /// Throws std::runtime_error on all ranks if the matrix is not fill-complete, or has other maps or another
  /// pattern on one of the ranks, if a part cannot be converted again, or if there is no memory. The operator then keeps
  /// the old values. Throws std::logic_error if the operator was made by TpetraStencilProblem.
  void refill() {
    if (m_matrix.is_null())
      throw std::logic_error(
          "Filigree::TpetraOperator::refill: the operator was made by TpetraStencilProblem and has no "
          "Tpetra::CrsMatrix; call make_operator() again.");
    const bool same_maps =
        m_domain->isSameAs(*m_matrix->getDomainMap()) && m_range->isSameAs(*m_matrix->getRangeMap());
    const Teuchos::Comm<int>& comm = *m_matrix->getComm();
    const char* function = "Filigree::TpetraOperator::refill";
    const execution_space exec;
    local_crs_type owned, remote;
    local_matrix_type new_owned, new_remote;
    // Checks and allocations come first. If one of them fails on a rank, no rank has new values.
    Impl::on_all_ranks(comm, function, [&]() {
      if (!m_matrix->isFillComplete())
        throw std::invalid_argument("the matrix is not fill-complete; call its fillComplete() first.");
      if (!same_maps || m_matrix->getColMap() != m_columns)
        throw std::invalid_argument("the maps of the matrix have changed; make a new operator.");
      const local_crs_type crs = m_matrix->getLocalMatrixDevice();
      owned = m_is_split ? part(exec, crs, Impl::Columns::owned) : crs;
      if (has_remote_part()) remote = part(exec, crs, Impl::Columns::remote);
      check_pattern(exec, m_owned, owned);
      check_pattern(exec, m_remote, remote);
      if (!takes_any_values(m_owned)) new_owned = convert_owned(exec, owned);
      if (has_remote_part() && !takes_any_values(m_remote)) new_remote = convert_remote(exec, remote);
    });
    Impl::on_all_ranks(comm, function, [&]() {
      RefillOptions options;
      options.check_pattern = false;
      // Products of the last apply() may still read the matrices that are replaced.
      exec.fence();
      if (takes_any_values(m_owned))
        Filigree::refill(exec, m_owned, owned, options);
      else
        m_owned = new_owned;
      if (has_remote_part()) {
        if (takes_any_values(m_remote))
          Filigree::refill(exec, m_remote, remote, options);
        else
          m_remote = new_remote;
      }
      // The kernels read owned and remote, which are freed on return.
      exec.fence();
    });
  }

  /// y = beta*y + alpha*op(A)*x, where op(A) is A, its transpose or its conjugate transpose.
  ///
  /// x has the domain map of the matrix and y its range map, in the transposed modes the other way round; both
  /// have equally many vectors. If beta is 0, y is overwritten, whatever it holds. x and y may be the same
  /// memory, which costs a copy of x. Vectors without a constant stride cost a copy, too.
  ///
  /// Throws std::invalid_argument on all ranks if a map or the number of vectors is wrong.
  void apply(const vectors_type& x, vectors_type& y, Teuchos::ETransp mode = Teuchos::NO_TRANS,
             scalar_type alpha = Teuchos::ScalarTraits<scalar_type>::one(),
             scalar_type beta = Teuchos::ScalarTraits<scalar_type>::zero()) const override {
    const bool is_transposed = mode != Teuchos::NO_TRANS;
    check_vectors(x, y, is_transposed);
    if (alpha == scalar_type(0)) {
      scale(y, beta);
      return;
    }
    if (!y.isConstantStride()) {
      vectors_type copy = compact_copy(y);
      apply(x, copy, mode, alpha, beta);
      Tpetra::deep_copy(y, copy);
      execution_space().fence();  // copy is freed on return
      return;
    }
    if (!x.isConstantStride() || overlap(x, y)) {
      const vectors_type copy = compact_copy(x);
      apply(copy, y, mode, alpha, beta);
      execution_space().fence();  // copy is freed on return
      return;
    }
    // If each rank has all of y, the ranks add up their parts. Only rank 0 adds beta*y, so that it counts once.
    const Teuchos::Comm<int>& comm = *m_range->getComm();
    const bool is_replicated = !y.isDistributed() && comm.getSize() > 1;
    if (is_replicated && comm.getRank() > 0) beta = 0;
    if (is_transposed)
      multiply_transposed(x, y, mode == Teuchos::TRANS ? Mode::Transpose : Mode::ConjugateTranspose, alpha,
                          beta);
    else
      multiply(x, y, alpha, beta);
    if (is_replicated) y.reduce();
  }

  /// True: apply() has the transposed modes. Not collective.
  bool hasTransposeApply() const override { return true; }
  /// The domain map of the matrix. Not collective.
  Teuchos::RCP<const map_type> getDomainMap() const override { return m_domain; }
  /// The range map of the matrix. Not collective.
  Teuchos::RCP<const map_type> getRangeMap() const override { return m_range; }

  /// Whether the ranks multiply owned and remote columns one after the other. Not collective.
  bool is_split() const { return m_is_split; }
  /// This rank's rows with the owned columns, or with all columns if is_split() is false. Not collective.
  const local_matrix_type& owned() const { return m_owned; }
  /// This rank's rows that have remote columns, with these columns. Without rows if is_split() is false. Not
  /// collective.
  const local_matrix_type& remote() const { return m_remote; }
  /// The rows of this rank that have remote columns, in ascending order. Not collective.
  auto boundary_rows() const { return m_boundary_rows; }
  /// Brings the elements of x for the remote columns. Null if the columns of each rank are the elements of x
  /// that it owns, in their order. Not collective.
  Teuchos::RCP<const Tpetra::Import<local_ordinal_type, global_ordinal_type, node_type>> importer() const {
    return m_importer;
  }

  /// Times y = A x and its steps with `vectors` vectors of ones, each alone and `repeats` times after one that
  /// is not timed. With an exporter, the sum over the ranks belongs to the whole product only. Allocates x and
  /// y.
  TpetraProductTimes product_times(std::size_t vectors = 1, int repeats = 20) const {
    vectors_type x(m_domain, vectors), y(m_range, vectors);
    vectors_type& rows = m_exporter.is_null() ? y : buffer(m_row_vectors, m_rows, vectors);
    x.putScalar(scalar_type(1));
    const Teuchos::Comm<int>& comm = *m_range->getComm();
    const auto time = [&](const auto& work) {
      std::vector<double> seconds;
      for (int i = 0; i <= repeats; ++i) {
        execution_space().fence();
        comm.barrier();
        const Kokkos::Timer timer;
        work();
        execution_space().fence();
        double slowest = 0;
        Teuchos::reduceAll(comm, Teuchos::REDUCE_MAX, timer.seconds(), Teuchos::outArg(slowest));
        if (i > 0) seconds.push_back(slowest);
      }
      if (seconds.empty()) return 0.0;
      std::sort(seconds.begin(), seconds.end());
      return seconds[seconds.size() / 2];
    };
    TpetraProductTimes result;
    result.apply = time([&]() { apply(x, y); });
    if (!m_is_split) {
      result.owned = time([&]() {
        multiply_local(Mode::NoTranspose, scalar_type(1), m_owned, *m_all_vectors, scalar_type(0), rows);
      });
      result.exchange = time([&]() { m_all_vectors->doImport(x, *m_full_importer, Tpetra::INSERT); });
      return result;
    }
    result.owned =
        time([&]() { multiply_local(Mode::NoTranspose, scalar_type(1), m_owned, x, scalar_type(0), rows); });
    if (m_importer.is_null()) return result;
    vectors_type& remote = buffer(m_remote_vectors, m_importer->getTargetMap(), vectors);
    result.exchange = time([&]() { remote.doImport(x, *m_importer, Tpetra::INSERT); });
    result.remote = time([&]() { add_remote(rows, scalar_type(1)); });
    return result;
  }

 private:
  using import_type = Tpetra::Import<local_ordinal_type, global_ordinal_type, node_type>;
  using export_type = Tpetra::Export<local_ordinal_type, global_ordinal_type, node_type>;
  using device_type = typename local_crs_type::device_type;
  using execution_space = typename local_crs_type::execution_space;
  using local_scalar = typename local_crs_type::non_const_value_type;
  using rows_type = Kokkos::View<local_ordinal_type*, device_type>;
  using places_type = Impl::ColumnPlaces<local_ordinal_type, device_type>;

  template <class, class>
  friend class TpetraStencilProblem;

  /// Takes parts that are already converted. The map is that of rows, x and y; `importer` brings the elements
  /// of x for the remote columns, and is null if no rank has any.
  TpetraOperator(Teuchos::RCP<const map_type> map, Teuchos::RCP<const import_type> importer,
                 const local_matrix_type& owned, const rows_type& boundary_rows,
                 const local_matrix_type& remote)
      : m_domain(map),
        m_range(map),
        m_rows(map),
        m_importer(importer),
        m_boundary_rows(boundary_rows),
        m_owned(owned),
        m_remote(remote) {}

  static constexpr const char* name = "Filigree::TpetraOperator";

  /// Keeps the maps, importer and exporter, because those of the matrix can change.
  void take_maps() {
    m_domain = m_matrix->getDomainMap();
    m_range = m_matrix->getRangeMap();
    m_rows = m_matrix->getRowMap();
    m_columns = m_matrix->getColMap();
    m_full_importer = m_matrix->getGraph()->getImporter();
    m_exporter = m_matrix->getGraph()->getExporter();
    if (m_full_importer.is_null()) return;
    const bool has_unreachable = !m_domain->isDistributed() && m_full_importer->getNumRemoteIDs() > 0;
    if (has_unreachable || !m_full_importer->isLocallyComplete())
      throw std::invalid_argument(
          "the column map of the matrix has columns that its domain map lacks; make the matrix with another "
          "column map, or let Tpetra make it.");
  }

  /// The importer for the remote columns alone. The matrix's own importer would also copy the owned elements
  /// of x. The remote columns are numbered in the order in which they arrive, so that they need not be sorted.
  void make_remote_importer() {
    if (m_full_importer.is_null()) return;
    const auto remote = m_full_importer->getRemoteLIDs();
    Teuchos::Array<global_ordinal_type> columns(remote.size());
    for (typename Teuchos::Array<global_ordinal_type>::size_type i = 0; i < columns.size(); ++i)
      columns[i] = m_columns->getGlobalElement(remote[i]);
    const auto map = Teuchos::rcp(new map_type(Teuchos::OrdinalTraits<Tpetra::global_size_t>::invalid(),
                                               columns(), m_domain->getIndexBase(), m_matrix->getComm()));
    m_importer = Teuchos::rcp(new import_type(m_domain, map, Impl::exchange_parameters()));
  }

  /// The place of each column among the owned or the remote ones.
  places_type column_places() const {
    const import_type& importer = *m_full_importer;
    const std::size_t columns = Impl::local_size(*m_columns, 0);
    const Kokkos::View<local_ordinal_type*, device_type> places("Filigree::TpetraOperator::places", columns);
    const auto on_host = Kokkos::create_mirror_view(places);
    for (std::size_t i = 0; i < importer.getNumSameIDs(); ++i)
      on_host(i) = static_cast<local_ordinal_type>(i);
    const auto from = importer.getPermuteFromLIDs();
    const auto to = importer.getPermuteToLIDs();
    for (typename Teuchos::ArrayView<const local_ordinal_type>::size_type i = 0; i < to.size(); ++i)
      on_host(to[i]) = from[i];
    const auto remote = importer.getRemoteLIDs();
    for (typename Teuchos::ArrayView<const local_ordinal_type>::size_type i = 0; i < remote.size(); ++i)
      on_host(remote[i]) = static_cast<local_ordinal_type>(-1 - i);
    Kokkos::deep_copy(places, on_host);
    return places_type(places);
  }

  /// Throws std::invalid_argument if a part of this rank has another pattern than when it was converted.
  static void check_pattern(const execution_space& exec, const local_matrix_type& A,
                            const local_crs_type& crs) {
    if (A.nnz() != crs.nnz())
      Impl::fail<std::invalid_argument>("a part of the matrix has ", crs.nnz(),
                                        " entries on this rank, but had ", A.nnz(),
                                        " when the operator was made; make a new operator.");
    const auto rows = static_cast<std::int64_t>(crs.numRows());
    if (rows == 0) return;
    const std::int64_t row = A.visit([&](const auto& matrix) {
      using Matrix = std::decay_t<decltype(matrix)>;
      return Impl::Conversion<execution_space, Matrix, local_crs_type>::first_mismatch(exec, matrix, crs);
    });
    if (row < rows)
      Impl::fail<std::invalid_argument>("row ", row,
                                        " of a part of the matrix on this rank has other columns than ",
                                        "when the operator was made; make a new operator.");
  }

  bool has_remote_part() const { return m_is_split && m_boundary_rows.extent(0) > 0; }

  local_crs_type part(const execution_space& exec, const local_crs_type& crs, Impl::Columns columns) const {
    if (m_importer.is_null()) return crs;
    const std::size_t width =
        columns == Impl::Columns::owned ? Impl::local_size(*m_domain, 0) : m_importer->getNumRemoteIDs();
    return Impl::part_of_columns(exec, crs, m_places, m_boundary_rows, columns,
                                 static_cast<local_ordinal_type>(width));
  }

  /// Sets m_is_split, on all ranks to the same.
  void choose_split(const TpetraOptions& options) {
    const Teuchos::Comm<int>& comm = *m_matrix->getComm();
    const auto largest = [&](double value) {
      double result = 0;
      Teuchos::reduceAll(comm, Teuchos::REDUCE_MAX, value, Teuchos::outArg(result));
      return result;
    };
    const local_crs_type crs = m_matrix->getLocalMatrixDevice();
    const double rows = static_cast<double>(crs.numRows());
    const double boundary_rows = static_cast<double>(m_boundary_rows.extent(0));
    m_is_split = options.split != TpetraSplit::never;
    if (options.split != TpetraSplit::if_faster) return;
    if (!options.format.empty() || !options.remote_format.empty()) return;
    // With few remote columns a split costs little, and can hide the exchange (see docs/performance.md,
    // "Splitting the columns").
    if (largest(boundary_rows / std::max(rows, 1.0)) <= 0.125) return;
    double split = 0;  // seconds on this rank
    double joined = 0;
    bool has_model = true;
    Impl::on_all_ranks(comm, name, [&]() {
      const execution_space exec;
      const auto seconds = [](const Selection& selection) {
        return selection.formats.front().prediction.seconds;
      };
      const auto predict = [&](const local_crs_type& matrix) {
        using Optimization = Impl::Optimization<local_scalar, execution_space, local_crs_type>;
        return Optimization::predict_all(exec, matrix, options.optimize);
      };
      const Selection all = predict(crs);
      has_model = all.has_model;
      if (!has_model) return;
      // The result of the remote columns is read, and added to elements of y whose list is read. Without a
      // split, the owned elements of x are copied.
      const double added = boundary_rows * (sizeof(local_ordinal_type) + 3 * sizeof(local_scalar));
      const double copied = 2.0 * sizeof(local_scalar) * static_cast<double>(Impl::local_size(*m_domain, 0));
      split = seconds(predict(part(exec, crs, Impl::Columns::owned))) +
              seconds(predict(part(exec, crs, Impl::Columns::remote))) + added / all.read_bandwidth;
      joined = seconds(all) + copied / all.read_bandwidth;
    });
    if (largest(has_model ? 0 : 1) > 0) {
      m_is_split = largest(boundary_rows / std::max(rows, 1.0)) <= 1.0 / 3;
      return;
    }
    const double slowest_split = largest(split);
    m_is_split = slowest_split <= largest(joined);
  }

  void find_boundary() {
    if (m_importer.is_null()) return;
    m_places = column_places();
    m_boundary_rows = Impl::boundary_rows(execution_space(), m_matrix->getLocalMatrixDevice(), m_places);
  }

  void convert() {
    const execution_space exec;
    const local_crs_type crs = m_matrix->getLocalMatrixDevice();
    m_owned = convert_owned(exec, m_is_split ? part(exec, crs, Impl::Columns::owned) : crs);
    if (has_remote_part()) m_remote = convert_remote(exec, part(exec, crs, Impl::Columns::remote));
    exec.fence();
  }

  local_matrix_type convert_owned(const execution_space& exec, const local_crs_type& crs) const {
    return convert_part(exec, m_is_split ? "owned" : "all", crs, m_options.format);
  }
  local_matrix_type convert_remote(const execution_space& exec, const local_crs_type& crs) const {
    return convert_part(exec, "remote", crs, m_options.remote_format);
  }
  local_matrix_type convert_part(const execution_space& exec, const char* columns, const local_crs_type& crs,
                                 const std::string& format) const {
    OptimizeOptions optimize = m_options.optimize;
    optimize.share_crs = false;
    try {
      return Impl::optimize_to(name, exec, crs, format, optimize);
    } catch (const std::exception& error) {
      Impl::fail<std::runtime_error>(columns, " columns: ", error.what());
    }
  }
  static bool takes_any_values(const local_matrix_type& A) { return A.selection().pick().takes_any_values(); }

  /// All ranks find the same error, because maps and numbers of vectors are known to all. To compare two maps
  /// is a collective operation, so the maps of the last vectors are kept, which need not be compared again.
  void check_vectors(const vectors_type& x, const vectors_type& y, bool is_transposed) const {
    if (x.getNumVectors() != y.getNumVectors())
      Impl::fail<std::invalid_argument>("Filigree::TpetraOperator::apply: x has ", x.getNumVectors(),
                                        " vectors, but y has ", y.getNumVectors(),
                                        "; they must have equally many.");
    const auto check = [](const char* vector, const char* map_name, const map_type& map,
                          const vectors_type& vectors, Teuchos::RCP<const map_type>& last) {
      if (vectors.getMap() == last || map.isSameAs(*vectors.getMap())) {
        last = vectors.getMap();
        return;
      }
      Impl::fail<std::invalid_argument>("Filigree::TpetraOperator::apply: the map of ", vector, " with ",
                                        vectors.getGlobalLength(), " elements is not the ", map_name,
                                        " map of the matrix, which has ", map.getGlobalNumElements(),
                                        " elements.");
    };
    check(is_transposed ? "y" : "x", "domain", *getDomainMap(), is_transposed ? y : x, m_last_domain);
    check(is_transposed ? "x" : "y", "range", *getRangeMap(), is_transposed ? x : y, m_last_range);
  }

  /// beta = 0 overwrites NaN, too.
  static void scale(vectors_type& y, scalar_type beta) {
    if (beta == scalar_type(0))
      y.putScalar(beta);
    else if (beta != scalar_type(1))
      y.scale(beta);
  }

  /// A copy with a constant stride. Not the copy constructor of Trilinos 13.2: from some columns of a
  /// multivector it makes a copy of all.
  static vectors_type compact_copy(const vectors_type& vectors) {
    vectors_type copy(vectors.getMap(), vectors.getNumVectors(), false);
    Tpetra::deep_copy(copy, vectors);
    return copy;
  }

  static bool overlap(const vectors_type& x, const vectors_type& y) {
    const auto a = x.getLocalViewDevice(Tpetra::Access::ReadOnly);
    const auto b = y.getLocalViewDevice(Tpetra::Access::ReadOnly);
    const auto* a_begin = reinterpret_cast<const char*>(a.data());
    const auto* b_begin = reinterpret_cast<const char*>(b.data());
    return a.span() > 0 && b.span() > 0 && a_begin < b_begin + b.span() * sizeof(local_scalar) &&
           b_begin < a_begin + a.span() * sizeof(local_scalar);
  }

  /// Vectors that apply() needs, kept for the next one with equally many.
  vectors_type& buffer(Teuchos::RCP<vectors_type>& kept, const Teuchos::RCP<const map_type>& map,
                       std::size_t vectors) const {
    if (kept.is_null() || kept->getNumVectors() != vectors || kept->getMap() != map)
      kept = Teuchos::rcp(new vectors_type(map, vectors, false));
    return *kept;
  }

  /// The vectors of the boundary rows, kept in the same way.
  auto boundary_buffer(std::size_t vectors) const {
    if (m_boundary.extent(0) != m_boundary_rows.extent(0) || m_boundary.extent(1) != vectors)
      m_boundary =
          boundary_type(Kokkos::view_alloc(Kokkos::WithoutInitializing, "Filigree::TpetraOperator::boundary"),
                        m_boundary_rows.extent(0), vectors);
    return m_boundary;
  }

  void multiply(const vectors_type& x, vectors_type& y, scalar_type alpha, scalar_type beta) const {
    if (!m_exporter.is_null()) {
      // The rows of a rank are not those of y: the ranks that have parts of a row send them to its owner.
      vectors_type& rows = buffer(m_row_vectors, m_rows, x.getNumVectors());
      multiply_rows(x, rows, alpha, scalar_type(0));
      scale(y, beta);
      y.doExport(rows, *m_exporter, Tpetra::ADD_ASSIGN);
      return;
    }
    multiply_rows(x, y, alpha, beta);
  }

  /// The product with this rank's rows. No view of x or y may exist while Tpetra begins or ends an exchange:
  /// on some devices it then refuses to move their data between host and device.
  void multiply_rows(const vectors_type& x, vectors_type& y, scalar_type alpha, scalar_type beta) const {
    if (!m_is_split) {
      vectors_type& all = buffer(m_all_vectors, m_columns, x.getNumVectors());
      wait_for_readers();
      all.doImport(x, *m_full_importer, Tpetra::INSERT);
      multiply_local(Mode::NoTranspose, alpha, m_owned, all, beta, y);
      return;
    }
    vectors_type* remote = nullptr;
    if (!m_importer.is_null()) {
      remote = &buffer(m_remote_vectors, m_importer->getTargetMap(), x.getNumVectors());
      boundary_buffer(x.getNumVectors());  // not during the exchange, because an allocation may fail
      wait_for_readers();
      remote->beginImport(x, *m_importer, Tpetra::INSERT);
    }
    during_exchange([&]() { multiply_local(Mode::NoTranspose, alpha, m_owned, x, beta, y); },
                    [&]() {
                      if (remote != nullptr) remote->endImport(x, *m_importer, Tpetra::INSERT);
                    });
    if (remote != nullptr) add_remote(y, alpha);
  }

  /// work(), then end(), which ends an exchange. It is ended also if work() throws, because otherwise the next exchange of
  /// these vectors could not begin.
  template <class Work, class End>
  static void during_exchange(const Work& work, const End& end) {
    try {
      work();
    } catch (...) {
      end();
      throw;
    }
    end();
  }

  /// Call it before an exchange that writes to vectors that apply() keeps: kernels of the last apply() may
  /// still read them.
  static void wait_for_readers() { execution_space().fence(); }

  /// Adds the product of the remote columns, with the elements of x in m_remote_vectors.
  void add_remote(vectors_type& y, scalar_type alpha) const {
    if (!has_remote_part()) return;
    const execution_space exec;
    const auto boundary = boundary_buffer(y.getNumVectors());
    spmv(exec, Mode::NoTranspose, local_scalar(alpha), m_remote,
         m_remote_vectors->getLocalViewDevice(Tpetra::Access::ReadOnly), local_scalar(0), boundary);
    Impl::add_to_rows(exec, m_boundary_rows, boundary, y.getLocalViewDevice(Tpetra::Access::ReadWrite));
  }

  /// y = beta*y + alpha*op(A)*x on this rank.
  static void multiply_local(Mode mode, scalar_type alpha, const local_matrix_type& A, const vectors_type& x,
                             scalar_type beta, vectors_type& y) {
    const auto from = x.getLocalViewDevice(Tpetra::Access::ReadOnly);
    const auto to = beta == scalar_type(0) ? y.getLocalViewDevice(Tpetra::Access::OverwriteAll)
                                           : y.getLocalViewDevice(Tpetra::Access::ReadWrite);
    spmv(execution_space(), mode, local_scalar(alpha), A, from, local_scalar(beta), to);
  }

  void multiply_transposed(const vectors_type& x, vectors_type& y, Mode mode, scalar_type alpha,
                           scalar_type beta) const {
    if (m_exporter.is_null()) {
      multiply_transposed_rows(x, y, mode, alpha, beta);
      return;
    }
    // Each rank gets the elements of x for its rows.
    vectors_type& rows = buffer(m_row_vectors, m_rows, x.getNumVectors());
    wait_for_readers();
    rows.doImport(x, *m_exporter, Tpetra::INSERT);
    multiply_transposed_rows(rows, y, mode, alpha, beta);
  }

  /// The product with the transpose of this rank's rows. What it adds to elements of y on other ranks is sent
  /// to them while the owned columns are multiplied.
  void multiply_transposed_rows(const vectors_type& x, vectors_type& y, Mode mode, scalar_type alpha,
                                scalar_type beta) const {
    if (!m_is_split) {
      vectors_type& all = buffer(m_all_vectors, m_columns, x.getNumVectors());
      multiply_local(mode, alpha, m_owned, x, scalar_type(0), all);
      scale(y, beta);
      y.doExport(all, *m_full_importer, Tpetra::ADD_ASSIGN);
      return;
    }
    vectors_type* sent = nullptr;
    if (!m_importer.is_null()) {
      sent = &buffer(m_remote_vectors, m_importer->getTargetMap(), x.getNumVectors());
      if (has_remote_part()) {
        const execution_space exec;
        const auto boundary = boundary_buffer(x.getNumVectors());
        Impl::gather_rows(exec, m_boundary_rows, x.getLocalViewDevice(Tpetra::Access::ReadOnly), boundary);
        spmv(exec, mode, local_scalar(alpha), m_remote, boundary, local_scalar(0),
             sent->getLocalViewDevice(Tpetra::Access::OverwriteAll));
      } else {
        sent->putScalar(scalar_type(0));
      }
      y.beginExport(*sent, *m_importer, Tpetra::ADD);
    }
    during_exchange([&]() { multiply_local(mode, alpha, m_owned, x, beta, y); },
                    [&]() {
                      if (sent != nullptr) y.endExport(*sent, *m_importer, Tpetra::ADD);
                    });
  }

  using boundary_type = Kokkos::View<local_scalar**, Kokkos::LayoutLeft, device_type>;

  Teuchos::RCP<const TpetraCrsMatrix> m_matrix;  ///< null for the parts of a grid
  TpetraOptions m_options;                       ///< of the conversions
  Teuchos::RCP<const map_type> m_domain, m_range, m_rows, m_columns;
  Teuchos::RCP<const import_type>
      m_full_importer;                         ///< of all columns; null if they are those of the domain map
  Teuchos::RCP<const import_type> m_importer;  ///< of the remote columns; null if the other is
  Teuchos::RCP<const export_type> m_exporter;  ///< null if the rows are those of the range map
  bool m_is_split = true;
  places_type m_places;
  rows_type m_boundary_rows;
  local_matrix_type m_owned;
  local_matrix_type m_remote;
  mutable Teuchos::RCP<const map_type> m_last_domain, m_last_range;
  mutable Teuchos::RCP<vectors_type> m_all_vectors, m_remote_vectors, m_row_vectors;
  mutable boundary_type m_boundary;
};

}  // namespace Filigree

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "filigree/core/require_cxx17.hpp"

#include <Tpetra_Vector.hpp>

#include <algorithm>
#include <limits>
#include <numeric>
#include <sstream>
#include <vector>

#include "filigree/grid/box_assembly.hpp"
#include "filigree/grid/stencil_problem.hpp"
#include "filigree/tpetra/tpetra_operator.hpp"

namespace Filigree {

/// The matrix of a StencilProblem, whose cells are distributed over the ranks:
///
///     Filigree::StencilProblem problem({200, 200, 200}, Filigree::Stencil::seven_point(), 4);
///     Filigree::TpetraStencilProblem distributed(problem, Filigree::GridParts::blocks({200, 200, 200}, ranks),
///                                                comm);
///     auto A = distributed.make_operator();  // Teuchos::RCP<Filigree::TpetraOperator<Tpetra::CrsMatrix<>>>
///
/// Each rank assembles the rows of its cells on its device. Rows have the numbers that they have in the matrix
/// of the whole grid, so the matrix is the same for each number of ranks. If the parts are not slabs, the rows
/// of a rank are then not consecutive, which Tpetra::Map stores as a list.
///
/// The maps and the importer are made once, by the constructor. matrix(), make_operator() and
/// right_hand_side() assemble with the coefficients that the functor then has.
///
/// The constructor, matrix() and make_operator() are collective.
template <class Coefficients = CoupledLaplacian, class TpetraCrsMatrix = Tpetra::CrsMatrix<>>
class TpetraStencilProblem {
 public:
  using operator_type = TpetraOperator<TpetraCrsMatrix>;  ///< of make_operator()
  using map_type = typename operator_type::map_type;      ///< of the rows
  /// Of right_hand_side().
  using vector_type =
      Tpetra::Vector<typename TpetraCrsMatrix::scalar_type, typename TpetraCrsMatrix::local_ordinal_type,
                     typename TpetraCrsMatrix::global_ordinal_type, typename TpetraCrsMatrix::node_type>;

  /// @param problem  the grid. All ranks must give the same, with the same coefficients
  /// @param parts    the boxes of the ranks, for example GridParts::blocks(). Boxes may have no cells
  /// @param comm     its ranks get the boxes in the order of their numbers
  ///
  /// Costs a few passes over the cells of the rank on the device, and Tpetra's communication to make the
  /// importer.
  ///
  /// If one of the following is true on one rank, all ranks throw std::runtime_error with the reason of the
  /// lowest such rank: the number of parts is not that of the ranks, the problems or parts differ, the index
  /// types of TpetraCrsMatrix cannot count the rows or columns, or there is no memory.
  TpetraStencilProblem(const StencilProblem<Coefficients>& problem, const GridParts& parts,
                       const Teuchos::RCP<const Teuchos::Comm<int>>& comm)
      : m_pattern(problem.m_pattern),
        m_coefficients(problem.m_coefficients),
        m_comm(comm),
        m_part{m_pattern.grid, {}, true, true, {}, {}, {}} {
    if (comm.is_null()) throw std::invalid_argument(std::string(name) + ": comm is a null pointer.");
    const std::string own_text = text_of(parts);
    std::string text_of_root = own_text;
    Impl::broadcast_text(*comm, 0, text_of_root);
    Impl::on_all_ranks(*comm, name, [&]() {
      if (own_text != text_of_root)
        Impl::fail<std::invalid_argument>("it has ", own_text, ", but rank 0 has ", text_of_root,
                                          "; give the same problem and parts on all ranks.");
      if (*std::min_element(parts.counts.begin(), parts.counts.end()) < 1 || parts.count() != comm->getSize())
        Impl::fail<std::invalid_argument>("the grid has ", parts.counts[0], " x ", parts.counts[1], " x ",
                                          parts.counts[2], " parts, but there are ", comm->getSize(),
                                          " ranks; there must be one part per rank.");
      m_part.box = parts.box(cells(), comm->getRank());
      // Before the numbers of cells are cast to the index types.
      check_counts(0);
      const execution_space exec;
      m_boundary =
          Impl::box_boundary<local_ordinal, device_type>(exec, work(exec, Impl::WholeGrid()), m_part.box);
      check_counts(static_cast<std::int64_t>(m_boundary.remote.size()));
    });
    make_maps(parts, m_boundary.remote);
  }

  /// The map of the rows and columns, and of vectors.
  Teuchos::RCP<const map_type> map() const { return m_map; }
  /// The cells of this rank.
  const CellBox& box() const { return m_part.box; }

  /// The matrix, fill-complete.
  Teuchos::RCP<TpetraCrsMatrix> matrix() const {
    local_crs_type crs;
    Impl::on_all_ranks(*m_comm, "Filigree::TpetraStencilProblem::matrix", [&]() {
      const execution_space exec;
      crs = Impl::assemble_crs<local_crs_type>(exec, work(exec, m_part), rows(), columns());
    });
    if (m_full_importer.is_null())
      return Teuchos::rcp(new TpetraCrsMatrix(crs, m_map, m_columns, m_map, m_map));
    return Teuchos::rcp(
        new TpetraCrsMatrix(crs, m_map, m_columns, m_map, m_map, m_full_importer, Teuchos::null));
  }

  /// The products with the matrix. The owned columns are assembled directly as CDS with block size dof, the
  /// remote columns are converted as in TpetraOperator. No CRS matrix of all entries is made, and the result
  /// has no refill(): after new coefficients call this function again. If most cells of a rank have neighbours
  /// on other ranks, a TpetraOperator of matrix() can be faster (TpetraSplit).
  ///
  /// options.remote_format and options.optimize hold for the remote columns only.
  ///
  /// All ranks throw std::runtime_error if options.format is neither empty nor "cds", if options.split is
  /// never, if the options differ, if the remote columns are refused, or if there is no memory.
  Teuchos::RCP<operator_type> make_operator(const TpetraOptions& options = {}) const {
    using owned_type = typename operator_type::local_matrix_type;
    using Cds = converted_t<CdsMatrix, local_crs_type>;
    owned_type owned, remote;
    const char* function = "Filigree::TpetraStencilProblem::make_operator";
    Impl::check_same_options(*m_comm, function, options);
    Impl::on_all_ranks(*m_comm, function, [&]() {
      if (!options.format.empty() && options.format != Cds::name())
        Impl::fail<std::invalid_argument>("options.format is \"", options.format,
                                          "\"; it must be empty or \"cds\". For other formats make a "
                                          "TpetraOperator of matrix().");
      if (options.split == TpetraSplit::never)
        throw std::invalid_argument(
            "options.split is never, but the owned columns are a CDS matrix of their own; make a "
            "TpetraOperator of matrix() instead.");
      const execution_space exec;
      const Impl::LabelScope scope(options.optimize.label);
      part_type part = m_part;
      part.has_remote = false;
      const auto cds =
          Impl::assemble_cds<Cds>(exec, work(exec, part), rows(), m_pattern.blocks_in(m_part.box));
      Selection selection;
      selection.picked = Cds::name();
      selection.has_model = false;
      FormatPrediction prediction;
      prediction.name = Cds::name();
      prediction.block_size = m_pattern.dof;
      selection.formats = {prediction};
      owned = owned_type(selection, typename owned_type::variant_type(cds), cds.nnz());
      if (m_boundary.rows.extent(0) == 0) return;
      part.has_owned = false;
      part.has_remote = true;
      part.listed_cells = m_boundary.cells;
      const auto crs = Impl::assemble_crs<local_crs_type>(
          exec, work(exec, part), static_cast<std::int64_t>(m_boundary.rows.extent(0)), columns() - rows());
      remote = Impl::optimize_to("Filigree::TpetraStencilProblem::make_operator", exec, crs,
                                 options.remote_format, options.optimize);
      exec.fence();
    });
    return Teuchos::rcp(new operator_type(m_map, m_remote_importer, owned, m_boundary.rows, remote));
  }

  /// The contribution of known values outside of the grid to the right-hand side, see
  /// StencilProblem::right_hand_side(). Not collective.
  Teuchos::RCP<vector_type> right_hand_side() const {
    const execution_space exec;
    const auto result = Teuchos::rcp(new vector_type(m_map, false));
    const auto local = Impl::assemble_right_hand_side<Kokkos::View<local_scalar*, device_type>>(
        exec, work(exec, m_part), rows());
    Kokkos::deep_copy(
        exec, Kokkos::subview(result->getLocalViewDevice(Tpetra::Access::OverwriteAll), Kokkos::ALL(), 0),
        local);
    exec.fence();
    return result;
  }

 private:
  using local_crs_type = typename operator_type::local_crs_type;
  using device_type = typename local_crs_type::device_type;
  using execution_space = typename local_crs_type::execution_space;
  using local_scalar = typename local_crs_type::non_const_value_type;
  using local_ordinal = typename TpetraCrsMatrix::local_ordinal_type;
  using global_ordinal = typename TpetraCrsMatrix::global_ordinal_type;
  using import_type = Tpetra::Import<local_ordinal, global_ordinal, typename TpetraCrsMatrix::node_type>;
  using part_type = Impl::BoxPart<local_ordinal, device_type>;
  using rows_type = Kokkos::View<local_ordinal*, device_type>;
  template <class Part>
  using work_type = Impl::StencilAssembly<execution_space, device_type, local_scalar, local_ordinal,
                                          typename local_crs_type::non_const_size_type, Coefficients, Part>;

  static constexpr const char* name = "Filigree::TpetraStencilProblem";

  std::array<std::int64_t, 3> cells() const {
    return {m_pattern.grid.cells[0], m_pattern.grid.cells[1], m_pattern.grid.cells[2]};
  }
  std::int64_t rows() const { return m_part.box.cells() * m_pattern.dof; }
  std::int64_t columns() const {
    return rows() + static_cast<std::int64_t>(m_part.remote_cells.extent(0)) * m_pattern.dof;
  }
  template <class Part>
  work_type<Part> work(const execution_space& exec, const Part& part) const {
    return {exec, m_pattern, m_coefficients, part};
  }

  /// What must be the same on all ranks, to compare it. The coefficients cannot be compared.
  std::string text_of(const GridParts& parts) const {
    std::ostringstream text;
    text.precision(17);
    const Impl::StencilGrid& grid = m_pattern.grid;
    text << grid.cells[0] << " x " << grid.cells[1] << " x " << grid.cells[2] << " cells with "
         << m_pattern.dof << " unknowns, " << parts.counts[0] << " x " << parts.counts[1] << " x "
         << parts.counts[2] << " parts, the rules";
    for (int axis = 0; axis < 3; ++axis)
      text << ' ' << static_cast<int>(grid.rules[axis]) << " (" << grid.low[axis] << ", " << grid.high[axis]
           << ')';
    text << " and " << m_pattern.points.size() << " points:";
    for (const auto& point : m_pattern.points)
      text << " (" << point[0] << ", " << point[1] << ", " << point[2] << ')';
    return text.str();
  }

  void check_counts(std::int64_t remote_cells) const {
    const double own = static_cast<double>(m_part.box.cells() + remote_cells) * m_pattern.dof;
    const double all = static_cast<double>(m_pattern.num_rows());
    if (own > static_cast<double>(std::numeric_limits<local_ordinal>::max()) ||
        all > static_cast<double>(std::numeric_limits<global_ordinal>::max()))
      Impl::fail<std::length_error>("a rank with ", own, " columns of a matrix with ", all,
                                    " rows is more than a ", 8 * sizeof(local_ordinal), "-bit local and a ",
                                    8 * sizeof(global_ordinal),
                                    "-bit global index can count; use more ranks or wider types.");
  }

  /// Makes the maps and importers for these remote cells. Tpetra exchanges faster if the columns that come
  /// from one rank are next to each other.
  void make_maps(const GridParts& parts, const std::vector<std::int64_t>& remote) {
    const int dof = m_pattern.dof;
    std::vector<int> owners(remote.size());
    std::transform(remote.begin(), remote.end(), owners.begin(),
                   [&](std::int64_t cell) { return parts.part_of(cells(), cell); });
    std::vector<std::size_t> order(remote.size());
    std::iota(order.begin(), order.end(), std::size_t(0));
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return owners[a] < owners[b]; });

    std::vector<global_ordinal> own_columns, remote_columns;
    Teuchos::Array<int> ranks;
    Impl::on_all_ranks(*m_comm, name, [&]() {
      const auto add = [&](std::vector<global_ordinal>& columns, std::int64_t cell) {
        for (int i = 0; i < dof; ++i)
          columns.push_back(static_cast<global_ordinal>(cell * dof + i));
      };
      for (std::int64_t i = 0; i < m_part.box.cells(); ++i)
        add(own_columns, m_pattern.grid.number_of(m_part.box, i));
      const Kokkos::View<std::int64_t*, device_type> cells_on_device("Filigree::remote_cells[grid]",
                                                                     remote.size());
      const rows_type places_on_device("Filigree::remote_places[grid]", remote.size());
      const auto cells = Kokkos::create_mirror_view(cells_on_device);
      const auto places = Kokkos::create_mirror_view(places_on_device);
      for (std::size_t place = 0; place < order.size(); ++place) {
        const std::size_t i = order[place];
        cells(i) = remote[i];
        places(i) = static_cast<local_ordinal>(place);
        add(remote_columns, remote[i]);
        for (int unknown = 0; unknown < dof; ++unknown)
          ranks.push_back(owners[i]);
      }
      Kokkos::deep_copy(cells_on_device, cells);
      Kokkos::deep_copy(places_on_device, places);
      m_part.remote_cells = cells_on_device;
      m_part.remote_places = places_on_device;
    });

    const auto map_of = [&](const std::vector<global_ordinal>& elements) {
      return Teuchos::rcp(new map_type(Teuchos::OrdinalTraits<Tpetra::global_size_t>::invalid(),
                                       elements.data(), static_cast<local_ordinal>(elements.size()), 0,
                                       m_comm));
    };
    // Slabs need no list of their rows.
    m_map = parts.are_consecutive(cells())
                ? Teuchos::rcp(new map_type(static_cast<Tpetra::global_size_t>(m_pattern.num_rows()),
                                            own_columns.size(), 0, m_comm))
                : map_of(own_columns);
    std::int64_t most_remote = 0;
    Teuchos::reduceAll(*m_comm, Teuchos::REDUCE_MAX, static_cast<std::int64_t>(remote.size()),
                       Teuchos::outArg(most_remote));
    m_columns = m_map;
    if (most_remote == 0) return;
    std::vector<global_ordinal> all_columns = std::move(own_columns);
    all_columns.insert(all_columns.end(), remote_columns.begin(), remote_columns.end());
    m_columns = map_of(all_columns);
    m_full_importer = Teuchos::rcp(new import_type(m_map, m_columns, ranks));
    m_remote_importer =
        Teuchos::rcp(new import_type(m_map, map_of(remote_columns), ranks, Impl::exchange_parameters()));
  }

  Impl::StencilPattern m_pattern;
  Coefficients m_coefficients;
  Teuchos::RCP<const Teuchos::Comm<int>> m_comm;
  part_type m_part;  ///< with all columns
  Impl::BoxBoundary<local_ordinal, device_type> m_boundary;
  Teuchos::RCP<const map_type> m_map, m_columns;
  Teuchos::RCP<const import_type> m_full_importer;    ///< null if no rank has remote columns
  Teuchos::RCP<const import_type> m_remote_importer;  ///< null if the other is
};

}  // namespace Filigree

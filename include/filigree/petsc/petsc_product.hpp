// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The products of a PETSc matrix of type AIJ. PETSc stores the rows of a rank in two matrices, one with the columns whose
// elements of x the rank owns, and one with the remote columns.
#pragma once

#include "filigree/core/require_cxx17.hpp"

#include <petscmat.h>
// PetscObjectStateGet() has a page in PETSc's manual, but only this header declares it.
#include <petsc/private/petscimpl.h>

#include <memory>

#include "filigree/core/read_view.hpp"
#include "filigree/distributed/optimize_to.hpp"
#include "filigree/distributed/split_columns.hpp"
#include "filigree/petsc/petsc_errors.hpp"
#include "filigree/petsc/petsc_exchange.hpp"
#include "filigree/petsc/petsc_types.hpp"

namespace Filigree {

/// Options of petsc_shell().
struct PetscShellOptions {
  /// The format of the owned columns: a name of a variant, as filigree_spmv prints it, such as "cds" or "sell". If it is
  /// empty, optimize() picks a format on each rank.
  std::string format;
  /// The same for the remote columns.
  std::string remote_format;
  /// The options of optimize(). If a format is named, its limits and block size hold for that format.
  OptimizeOptions optimize;
};

namespace Impl {

/// All columns of a matrix are remote: see ColumnPlaces.
struct AllRemote {
  KOKKOS_FORCEINLINE_FUNCTION bool owned(PetscInt) const { return false; }
  KOKKOS_FORCEINLINE_FUNCTION PetscInt place(PetscInt column) const { return column; }
};

/// The products of a PETSc matrix, for the callbacks of a MATSHELL. The functions that return an error code are
/// collective.
class PetscProductBase {
 public:
  virtual ~PetscProductBase() = default;
  /// Converts the matrix to its formats.
  virtual PetscErrorCode build() = 0;
  /// y = A x, with the values that A has now.
  virtual PetscErrorCode multiply(Vec x, Vec y) = 0;
  /// y = A^T x, with the values that A has now.
  virtual PetscErrorCode multiply_transposed(Vec x, Vec y) = 0;
  /// The formats of this rank.
  virtual std::string picked() const = 0;
  /// Why the owned columns of this rank have their format.
  virtual std::string explain() const = 0;
  /// The matrix.
  virtual Mat matrix() const = 0;
};

/// The products in an execution space, which must be able to access the arrays of the matrix and of the vectors.
template <class ExecutionSpace>
class PetscProduct : public PetscProductBase {
 public:
  PetscProduct(Mat A, const PetscShellOptions& options) : m_A(A), m_options(options) {
    m_options.optimize.share_crs = false;
    static_cast<void>(PetscObjectReference(reinterpret_cast<PetscObject>(A)));
  }
  PetscProduct(const PetscProduct&) = delete;
  PetscProduct& operator=(const PetscProduct&) = delete;
  ~PetscProduct() override { static_cast<void>(MatDestroy(&m_A)); }

  Mat matrix() const override { return m_A; }
  std::string picked() const override {
    std::string text = "owned columns " + m_parts.owned.selection().picked;
    if (has_remote()) text += ", remote columns " + m_parts.remote.selection().picked;
    return text;
  }
  std::string explain() const override {
    return m_options.format.empty() ? m_parts.owned.explain()
                                    : "The options name the format of the owned columns.";
  }

  PetscErrorCode build() override {
    PetscFunctionBeginUser;
    int is_assembled = 0, all_are_assembled = 0;
    PetscCall(get_assembled(&is_assembled));
    PetscCallMPI(MPI_Allreduce(&is_assembled, &all_are_assembled, 1, MPI_INT, MPI_MIN, comm()));
    PetscCheck(all_are_assembled, comm(), PETSC_ERR_ARG_WRONGSTATE, "%s: %s", function, not_assembled);
    Parts parts;
    PetscCall(get_state(&parts.state));
    PetscCall(with_crs([&](const crs_type& owned, const crs_type& remote) {
      const ExecutionSpace exec = instance();
      parts.owned = converted("owned", exec, owned, m_options.format);
      parts.rows = boundary_rows(exec, remote, AllRemote());
      const std::size_t count = parts.rows.extent(0);
      if (count > 0)
        parts.remote =
            converted("remote", exec, remote_part(exec, remote, parts.rows), m_options.remote_format);
      parts.products = rows_type(
          Kokkos::view_alloc(Kokkos::WithoutInitializing, "Filigree::petsc_shell::products"), count, 1);
      exec.fence();
    }));
    PetscCall(make_exchange(&parts.exchange));
    m_parts = std::move(parts);
    PetscFunctionReturn(petsc_success);
  }

  PetscErrorCode multiply(Vec x, Vec y) override {
    PetscFunctionBeginUser;
    PetscCall(update());
    PetscCall(with_arrays(
        x, y, [&](const const_vector_type& from, const vector_type& to) { return multiply(from, to); }));
    PetscFunctionReturn(petsc_success);
  }

  PetscErrorCode multiply_transposed(Vec x, Vec y) override {
    PetscFunctionBeginUser;
    PetscCall(update());
    PetscCall(with_arrays(x, y, [&](const const_vector_type& from, const vector_type& to) {
      return multiply_transposed(from, to);
    }));
    PetscFunctionReturn(petsc_success);
  }

 private:
  static constexpr const char* function = "Filigree::petsc_shell";
  static constexpr const char* not_assembled =
      "the matrix is not assembled; call MatAssemblyBegin() and MatAssemblyEnd() first.";
  static constexpr bool on_host = Kokkos::SpaceAccessibility<ExecutionSpace, Kokkos::HostSpace>::accessible;
  using device_type = Kokkos::Device<ExecutionSpace, typename ExecutionSpace::memory_space>;
  using crs_type = KokkosSparse::CrsMatrix<petsc_scalar, PetscInt, device_type, void, PetscInt>;
  using matrix_type = converted_t<AnyMatrix, crs_type>;
  using unmanaged = Kokkos::MemoryTraits<Kokkos::Unmanaged>;
  using vector_type = Kokkos::View<petsc_scalar*, device_type, unmanaged>;
  using const_vector_type = Kokkos::View<const petsc_scalar*, device_type, unmanaged>;
  using exchange_type = PetscExchange<ExecutionSpace>;
  using rows_type = typename exchange_type::rows_type;
  using const_rows_type = typename rows_type::const_type;
  using list_type = Kokkos::View<PetscInt*, device_type>;

  /// What the parts depend on. PETSc can replace the two matrices of a rank by others, so the nonzero state of the whole
  /// matrix does not tell whether the pattern is the same.
  struct State {
    PetscObjectState values = 0;                             ///< of the whole matrix, the same on all ranks
    PetscObjectId owned = 0, remote = 0;                     ///< numbers of the two matrices of this rank
    PetscObjectState owned_pattern = 0, remote_pattern = 0;  ///< their nonzero states
    bool has_same_pattern(const State& other) const {
      return owned == other.owned && remote == other.remote && owned_pattern == other.owned_pattern &&
             remote_pattern == other.remote_pattern;
    }
  };
  /// What is made of the matrix.
  struct Parts {
    matrix_type owned, remote;
    list_type rows;                           ///< that have remote columns
    rows_type products;                       ///< of these rows with the remote columns
    std::unique_ptr<exchange_type> exchange;  ///< null if there is one process
    State state;                              ///< of the matrix, when these were made
  };

  /// The first of the errors of several steps that are all done.
  struct FirstError {
    PetscErrorCode code = petsc_success;
    void add(PetscErrorCode next) {
      if (code == petsc_success) code = next;
    }
  };

  MPI_Comm comm() const { return PetscObjectComm(reinterpret_cast<PetscObject>(m_A)); }
  bool has_remote() const { return m_parts.rows.extent(0) > 0; }

  static ExecutionSpace instance() { return petsc_instance<ExecutionSpace>(); }

  static vector_type column(const rows_type& products) {
    return vector_type(products.data(), products.extent(0));
  }
  template <class Rows, class Vector>
  static Rows one_column(const Vector& vector) {
    return Rows(vector.data(), vector.extent(0), 1);
  }
  static crs_type remote_part(const ExecutionSpace& exec, const crs_type& remote, const list_type& rows) {
    return part_of_columns(exec, remote, AllRemote(), rows, Columns::remote, remote.numCols());
  }
  matrix_type converted(const char* columns, const ExecutionSpace& exec, const crs_type& crs,
                        const std::string& format) const {
    try {
      return optimize_to(function, exec, crs, format, m_options.optimize);
    } catch (const std::exception& error) {
      fail<std::runtime_error>(columns, " columns: ", error.what());
    }
  }

  PetscErrorCode get_assembled(int* is_assembled) const {
    PetscFunctionBeginUser;
    PetscBool result = PETSC_FALSE;
    PetscCall(MatAssembled(m_A, &result));
    *is_assembled = result == PETSC_TRUE ? 1 : 0;
    PetscFunctionReturn(petsc_success);
  }
  PetscErrorCode get_state(State* state) const {
    PetscFunctionBeginUser;
    Mat owned = nullptr, remote = nullptr;
    const PetscInt* columns = nullptr;
    PetscCall(PetscObjectStateGet(reinterpret_cast<PetscObject>(m_A), &state->values));
    PetscCall(get_parts(&owned, &remote, &columns));
    PetscCall(PetscObjectGetId(reinterpret_cast<PetscObject>(owned), &state->owned));
    PetscCall(MatGetNonzeroState(owned, &state->owned_pattern));
    if (remote != nullptr) {
      PetscCall(PetscObjectGetId(reinterpret_cast<PetscObject>(remote), &state->remote));
      PetscCall(MatGetNonzeroState(remote, &state->remote_pattern));
    }
    PetscFunctionReturn(petsc_success);
  }

  static bool takes_any_values(const matrix_type& A) { return A.selection().pick().takes_any_values(); }

  /// Takes over what has changed in the matrix since the last call. The state of the values is the same on all ranks, so
  /// all of them communicate, or none.
  PetscErrorCode update() {
    PetscFunctionBeginUser;
    int is_assembled = 0;
    PetscCall(get_assembled(&is_assembled));
    PetscCheck(is_assembled, PETSC_COMM_SELF, PETSC_ERR_ARG_WRONGSTATE, "%s: %s", function, not_assembled);
    State now;
    PetscCall(PetscObjectStateGet(reinterpret_cast<PetscObject>(m_A), &now.values));
    if (now.values == m_parts.state.values) PetscFunctionReturn(petsc_success);
    PetscCall(get_state(&now));
    const bool can_refill = now.has_same_pattern(m_parts.state) && takes_any_values(m_parts.owned) &&
                            (!has_remote() || takes_any_values(m_parts.remote));
    const int own = can_refill ? 1 : 0;
    int all_can_refill = 0;
    PetscCallMPI(MPI_Allreduce(&own, &all_can_refill, 1, MPI_INT, MPI_MIN, comm()));
    if (all_can_refill == 0) {
      PetscCall(build());
      PetscFunctionReturn(petsc_success);
    }
    PetscCall(with_crs([&](const crs_type& owned, const crs_type& remote) {
      const ExecutionSpace exec = instance();
      // The copy is made first, because its allocation can fail.
      crs_type part;
      if (has_remote()) part = remote_part(exec, remote, m_parts.rows);
      RefillOptions options;
      options.check_pattern = false;
      refill(exec, m_parts.owned, owned, options);
      if (has_remote()) refill(exec, m_parts.remote, part, options);
      exec.fence();
    }));
    m_parts.state = now;
    PetscFunctionReturn(petsc_success);
  }

  /// The two matrices of this rank. `remote` and `columns`, the global numbers of its columns, are null if there is
  /// one process.
  PetscErrorCode get_parts(Mat* owned, Mat* remote, const PetscInt** columns) const {
    PetscFunctionBeginUser;
    PetscBool is_sequential = PETSC_FALSE;
    PetscCall(PetscObjectBaseTypeCompare(reinterpret_cast<PetscObject>(m_A), MATSEQAIJ, &is_sequential));
    *owned = m_A;
    *remote = nullptr;
    *columns = nullptr;
    if (!is_sequential) PetscCall(MatMPIAIJGetSeqAIJ(m_A, owned, remote, columns));
    PetscFunctionReturn(petsc_success);
  }

  /// The arrays of a sequential matrix.
  struct Arrays {
    PetscInt rows = 0, columns = 0;
    const PetscInt* row_map = nullptr;
    const PetscInt* entries = nullptr;
    const PetscScalar* values = nullptr;
  };
  static PetscErrorCode get_arrays(Mat part, Arrays* arrays) {
    PetscFunctionBeginUser;
    PetscCall(MatGetLocalSize(part, &arrays->rows, &arrays->columns));
    if constexpr (on_host) {
      PetscInt rows = 0;
      PetscBool has_arrays = PETSC_FALSE;
      PetscCall(MatGetRowIJ(part, 0, PETSC_FALSE, PETSC_FALSE, &rows, &arrays->row_map, &arrays->entries,
                            &has_arrays));
      PetscCheck(has_arrays, PETSC_COMM_SELF, PETSC_ERR_SUP,
                 "%s: the matrix does not give access to its rows.", function);
      PetscCall(MatSeqAIJGetArrayRead(part, &arrays->values));
    } else {
      PetscScalar* values = nullptr;
      PetscMemType place = PETSC_MEMTYPE_HOST;
      PetscCall(MatSeqAIJGetCSRAndMemType(part, &arrays->row_map, &arrays->entries, &values, &place));
      PetscCheck(PetscMemTypeDevice(place), PETSC_COMM_SELF, PETSC_ERR_SUP,
                 "%s: the matrix is not in the memory of the device.", function);
      arrays->values = values;
    }
    PetscFunctionReturn(petsc_success);
  }
  static PetscErrorCode restore_arrays(Mat part, Arrays* arrays) {
    PetscFunctionBeginUser;
    if constexpr (on_host) {
      PetscInt rows = 0;
      PetscBool has_arrays = PETSC_FALSE;
      PetscCall(MatSeqAIJRestoreArrayRead(part, &arrays->values));
      PetscCall(MatRestoreRowIJ(part, 0, PETSC_FALSE, PETSC_FALSE, &rows, &arrays->row_map, &arrays->entries,
                                &has_arrays));
    }
    PetscFunctionReturn(petsc_success);
  }
  /// The arrays as a CRS matrix that does not own them. Nothing writes to it.
  static crs_type crs_of(const Arrays& arrays) {
    using graph_type = typename crs_type::staticcrsgraph_type;
    using index_type = typename graph_type::entries_type::non_const_type;
    using map_type = typename graph_type::row_map_type::non_const_type;
    using values_type = typename crs_type::values_type::non_const_type;
    const auto rows = static_cast<std::size_t>(arrays.rows);
    map_type row_map;
    std::size_t entries = 0;
    if (rows == 0) {
      row_map = map_type("Filigree::petsc_shell::row_map", 1);
    } else {
      row_map = map_type(const_cast<PetscInt*>(arrays.row_map), rows + 1);
      entries = static_cast<std::size_t>(Impl::read_element(instance(), row_map, rows));
    }
    const index_type columns(const_cast<PetscInt*>(arrays.entries), entries);
    const values_type values(reinterpret_cast<petsc_scalar*>(const_cast<PetscScalar*>(arrays.values)),
                             entries);
    return crs_type("Filigree::petsc_shell", arrays.rows, arrays.columns, static_cast<PetscInt>(entries),
                    values, row_map, columns);
  }

  /// Calls work(owned, remote) on all ranks.
  template <class Work>
  PetscErrorCode with_crs(const Work& work) const {
    PetscFunctionBeginUser;
    Mat owned = nullptr, remote = nullptr;
    const PetscInt* columns = nullptr;
    PetscCall(get_parts(&owned, &remote, &columns));
    Arrays owned_arrays, remote_arrays;
    PetscCall(get_arrays(owned, &owned_arrays));
    if (remote != nullptr) PetscCall(get_arrays(remote, &remote_arrays));
    const PetscErrorCode code =
        run_on_all_ranks(comm(), function, [&]() { work(crs_of(owned_arrays), crs_of(remote_arrays)); });
    if (remote != nullptr) PetscCall(restore_arrays(remote, &remote_arrays));
    PetscCall(restore_arrays(owned, &owned_arrays));
    PetscCall(code);
    PetscFunctionReturn(petsc_success);
  }

  PetscErrorCode make_exchange(std::unique_ptr<exchange_type>* exchange) const {
    PetscFunctionBeginUser;
    Mat owned = nullptr, remote = nullptr;
    const PetscInt* columns = nullptr;
    PetscCall(get_parts(&owned, &remote, &columns));
    if (remote == nullptr) PetscFunctionReturn(petsc_success);
    PetscInt count = 0;
    PetscCall(MatGetLocalSize(remote, nullptr, &count));
    PetscLayout owners = nullptr;
    PetscCall(MatGetLayouts(m_A, nullptr, &owners));
    PetscCall(run_on_all_ranks(comm(), function, [&]() { *exchange = std::make_unique<exchange_type>(); }));
    PetscCall((*exchange)->create(comm(), instance(), owners, count, columns));
    PetscFunctionReturn(petsc_success);
  }

  /// to = A from
  PetscErrorCode multiply(const const_vector_type& from, const vector_type& to) {
    PetscFunctionBeginUser;
    const ExecutionSpace exec = instance();
    const auto multiply_owned = [&]() {
      return run_on_this_rank(function, [&]() {
        spmv(exec, Mode::NoTranspose, petsc_scalar(1), m_parts.owned, from, petsc_scalar(0), to);
      });
    };
    if (m_parts.exchange == nullptr) {
      PetscCall(multiply_owned());
      PetscFunctionReturn(petsc_success);
    }
    exchange_type& exchange = *m_parts.exchange;
    FirstError error;
    error.add(exchange.pack(one_column<const_rows_type>(from)));
    // On a host the messages travel during the product. A GPU computes while the host waits for the packed elements.
    if constexpr (on_host) error.add(exchange.send());
    error.add(multiply_owned());
    if constexpr (!on_host) error.add(exchange.send());
    error.add(exchange.receive());
    if (has_remote())
      error.add(run_on_this_rank(function, [&]() {
        spmv(exchange.copies(), Mode::NoTranspose, petsc_scalar(1), m_parts.remote, column(exchange.remote()),
             petsc_scalar(0), column(m_parts.products));
      }));
    error.add(exchange.join());
    if (has_remote())
      error.add(run_on_this_rank(
          function, [&]() { add_to_rows(exec, m_parts.rows, m_parts.products, one_column<rows_type>(to)); }));
    PetscCall(error.code);
    PetscFunctionReturn(petsc_success);
  }

  /// to = A^T from
  PetscErrorCode multiply_transposed(const const_vector_type& from, const vector_type& to) {
    PetscFunctionBeginUser;
    const ExecutionSpace exec = instance();
    FirstError error;
    if (m_parts.exchange != nullptr) {
      const rows_type& remote = m_parts.exchange->remote();
      error.add(run_on_this_rank(function, [&]() {
        if (has_remote()) {
          gather_rows(exec, m_parts.rows, one_column<const_rows_type>(from), m_parts.products);
          spmv(exec, Mode::Transpose, petsc_scalar(1), m_parts.remote, column(m_parts.products),
               petsc_scalar(0), column(remote));
        } else {
          Kokkos::deep_copy(exec, remote, petsc_scalar(0));
        }
      }));
      error.add(m_parts.exchange->send_back());
    }
    error.add(run_on_this_rank(function, [&]() {
      spmv(exec, Mode::Transpose, petsc_scalar(1), m_parts.owned, from, petsc_scalar(0), to);
    }));
    if (m_parts.exchange != nullptr) error.add(m_parts.exchange->add(one_column<rows_type>(to)));
    PetscCall(error.code);
    PetscFunctionReturn(petsc_success);
  }

  /// Calls work(from, to) with the elements of x and y on this rank. What y has does not matter.
  template <class Work>
  static PetscErrorCode with_arrays(Vec x, Vec y, const Work& work) {
    PetscFunctionBeginUser;
    PetscInt x_size = 0, y_size = 0;
    PetscCall(VecGetLocalSize(x, &x_size));
    PetscCall(VecGetLocalSize(y, &y_size));
    const PetscScalar* from = nullptr;
    PetscScalar* to = nullptr;
    PetscMemType x_place = PETSC_MEMTYPE_HOST, y_place = PETSC_MEMTYPE_HOST;
    if constexpr (on_host) {
      PetscCall(VecGetArrayRead(x, &from));
      PetscCall(VecGetArrayWrite(y, &to));
    } else {
      PetscCall(VecGetArrayReadAndMemType(x, &from, &x_place));
      PetscCall(VecGetArrayWriteAndMemType(y, &to, &y_place));
      PetscCheck(PetscMemTypeDevice(x_place) && PetscMemTypeDevice(y_place), PETSC_COMM_SELF,
                 PETSC_ERR_ARG_WRONG,
                 "%s: a vector is not in the memory of the device; make it by MatCreateVecs().", function);
    }
    const PetscErrorCode code =
        work(const_vector_type(reinterpret_cast<const petsc_scalar*>(from), static_cast<std::size_t>(x_size)),
             vector_type(reinterpret_cast<petsc_scalar*>(to), static_cast<std::size_t>(y_size)));
    if constexpr (on_host) {
      PetscCall(VecRestoreArrayWrite(y, &to));
      PetscCall(VecRestoreArrayRead(x, &from));
    } else {
      PetscCall(VecRestoreArrayWriteAndMemType(y, &to));
      PetscCall(VecRestoreArrayReadAndMemType(x, &from));
    }
    PetscCall(code);
    PetscFunctionReturn(petsc_success);
  }

  Mat m_A = nullptr;
  PetscShellOptions m_options;
  Parts m_parts;
};

}  // namespace Impl
}  // namespace Filigree

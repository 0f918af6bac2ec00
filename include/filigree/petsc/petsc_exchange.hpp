// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The exchange of elements of x between the ranks of a product.
#pragma once

#include "filigree/core/require_cxx17.hpp"

#include <petscsf.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "filigree/core/side_instance.hpp"
#include "filigree/distributed/split_columns.hpp"
#include "filigree/petsc/petsc_errors.hpp"
#include "filigree/petsc/petsc_types.hpp"

namespace Filigree::Impl {

/// Sends the elements of x that the remote columns of other ranks need, and receives those for the columns of this rank.
///
/// The messages are in the memory of the host. With CUDA they are copied on a stream of their own, so that the exchange
/// and the product of the owned columns run at the same time. Elsewhere the copies are on the instance of PETSc. See
/// docs/performance.md, "Exchange beside the product".
///
/// Other ranks wait for the messages of this one. So a caller calls send() and receive(), or send_back() and add(),
/// also if an earlier call has returned an error.
template <class ExecutionSpace>
class PetscExchange {
 public:
  using device_type = Kokkos::Device<ExecutionSpace, typename ExecutionSpace::memory_space>;
  /// Elements in the memory of the products. The second extent is 1.
  using rows_type = Kokkos::View<petsc_scalar**, Kokkos::LayoutLeft, device_type>;

  PetscExchange() = default;
  PetscExchange(const PetscExchange&) = delete;
  PetscExchange& operator=(const PetscExchange&) = delete;
  ~PetscExchange() {
    static_cast<void>(PetscSFDestroy(&m_messages));
    // Queued copies use the memory that is freed now.
    static_cast<void>(error_of([this]() {
      if (m_copies == nullptr) return;
      m_copies->get().fence();
      m_exec.fence();
    }));
  }

  /// Collective. `columns` are the global numbers of the `count` remote columns of this rank, `owners` says which rank
  /// owns which columns. exec is the instance of the products.
  PetscErrorCode create(MPI_Comm comm, const ExecutionSpace& exec, PetscLayout owners, PetscInt count,
                        const PetscInt* columns) {
    PetscFunctionBeginUser;
    PetscInt owned = 0;
    PetscCall(PetscLayoutGetLocalSize(owners, &owned));
    std::vector<PetscInt> sent, place_of_owned, place_of_remote;
    std::vector<PetscSFNode> sources;
    PetscCall(run_on_all_ranks(comm, function, [&]() {
      sent.reserve(static_cast<std::size_t>(owned));
      place_of_owned.resize(static_cast<std::size_t>(owned));
      place_of_remote.resize(static_cast<std::size_t>(count));
      sources.resize(static_cast<std::size_t>(count));
    }));
    PetscSF all = nullptr;
    PetscCall(PetscSFCreate(comm, &all));
    PetscCall(PetscSFSetGraphLayout(all, owners, count, nullptr, PETSC_COPY_VALUES, columns));
    const PetscInt* degrees = nullptr;
    PetscCall(PetscSFComputeDegreeBegin(all, &degrees));
    PetscCall(PetscSFComputeDegreeEnd(all, &degrees));
    for (PetscInt i = 0; i < owned; ++i) {
      if (degrees[i] == 0) continue;
      place_of_owned[static_cast<std::size_t>(i)] = static_cast<PetscInt>(sent.size());
      sent.push_back(i);
    }
    // Other ranks must know where an element is among those that are sent.
    PetscCall(PetscSFBcastBegin(all, MPIU_INT, place_of_owned.data(), place_of_remote.data(), MPI_REPLACE));
    PetscCall(PetscSFBcastEnd(all, MPIU_INT, place_of_owned.data(), place_of_remote.data(), MPI_REPLACE));
    const PetscSFNode* nodes = nullptr;
    PetscCall(PetscSFGetGraph(all, nullptr, nullptr, nullptr, &nodes));
    for (std::size_t i = 0; i < sources.size(); ++i) {
      sources[i].rank = nodes[i].rank;
      sources[i].index = place_of_remote[i];
    }
    PetscCall(PetscSFDestroy(&all));
    PetscCall(PetscSFCreate(comm, &m_messages));
    PetscCall(PetscSFSetGraph(m_messages, static_cast<PetscInt>(sent.size()), count, nullptr,
                              PETSC_COPY_VALUES, sources.data(), PETSC_COPY_VALUES));
    PetscCall(PetscSFSetUp(m_messages));
    PetscCall(run_on_all_ranks(comm, function, [&]() {
      m_exec = exec;
      m_copies = std::make_unique<SideInstance<ExecutionSpace>>(exec);
      allocate(sent, static_cast<std::size_t>(count));
    }));
    PetscFunctionReturn(petsc_success);
  }

  /// The elements of x for the remote columns: after receive() in the instance copies(), before send_back() in that of the
  /// products.
  const rows_type& remote() const { return m_remote; }
  /// The instance of the copies.
  const ExecutionSpace& copies() const { return m_copies->get(); }

  /// Copies the elements that other ranks need, after what the instance of the products has now.
  template <class Vector>
  PetscErrorCode pack(const Vector& x) {
    PetscFunctionBeginUser;
    PetscCall(run_on_this_rank(function, [&]() {
      gather_rows(m_exec, m_sent, x, m_packed);
      m_copies->wait_for_main();
      Kokkos::deep_copy(copies(), m_outgoing, m_packed);
    }));
    PetscFunctionReturn(petsc_success);
  }
  /// Starts the messages. Waits for pack(), but with a stream of its own not for later work of the products.
  PetscErrorCode send() {
    PetscFunctionBeginUser;
    const PetscErrorCode code = run_on_this_rank(function, [&]() { copies().fence(); });
    PetscCall(PetscSFBcastWithMemTypeBegin(m_messages, MPIU_SCALAR, PETSC_MEMTYPE_HOST, m_outgoing.data(),
                                           PETSC_MEMTYPE_HOST, m_incoming.data(), MPI_REPLACE));
    PetscCall(code);
    PetscFunctionReturn(petsc_success);
  }
  /// Waits for the messages. remote() is complete in the instance copies() then.
  PetscErrorCode receive() {
    PetscFunctionBeginUser;
    PetscCall(PetscSFBcastEnd(m_messages, MPIU_SCALAR, m_outgoing.data(), m_incoming.data(), MPI_REPLACE));
    PetscCall(run_on_this_rank(function, [&]() { Kokkos::deep_copy(copies(), m_remote, m_incoming); }));
    PetscFunctionReturn(petsc_success);
  }
  /// The later work of the products waits for that of copies().
  PetscErrorCode join() {
    PetscFunctionBeginUser;
    PetscCall(run_on_this_rank(function, [&]() { m_copies->let_main_wait(); }));
    PetscFunctionReturn(petsc_success);
  }

  /// Starts to send the elements of remote() to the ranks that own them. Fences the instance of the products.
  PetscErrorCode send_back() {
    PetscFunctionBeginUser;
    const PetscErrorCode code = run_on_this_rank(function, [&]() {
      Kokkos::deep_copy(m_exec, m_incoming, m_remote);
      m_exec.fence();
      std::fill_n(m_outgoing.data(), m_outgoing.extent(0), petsc_scalar(0));
    });
    PetscCall(PetscSFReduceWithMemTypeBegin(m_messages, MPIU_SCALAR, PETSC_MEMTYPE_HOST, m_incoming.data(),
                                            PETSC_MEMTYPE_HOST, m_outgoing.data(), MPIU_SUM));
    PetscCall(code);
    PetscFunctionReturn(petsc_success);
  }
  /// Waits for the elements that other ranks have sent by send_back(), and adds them to y.
  template <class Vector>
  PetscErrorCode add(const Vector& y) {
    PetscFunctionBeginUser;
    PetscCall(PetscSFReduceEnd(m_messages, MPIU_SCALAR, m_incoming.data(), m_outgoing.data(), MPIU_SUM));
    PetscCall(run_on_this_rank(function, [&]() {
      Kokkos::deep_copy(m_exec, m_packed, m_outgoing);
      add_to_rows(m_exec, m_sent, m_packed, y);
    }));
    PetscFunctionReturn(petsc_success);
  }

 private:
  static constexpr const char* function = "Filigree::petsc_shell";
  static constexpr bool on_host = Kokkos::SpaceAccessibility<ExecutionSpace, Kokkos::HostSpace>::accessible;
  /// Memory of the host that a GPU copies at full speed, if this Kokkos has a name for it.
#if defined(KOKKOS_HAS_SHARED_HOST_PINNED_SPACE)
  using message_space = std::conditional_t<on_host, Kokkos::HostSpace, Kokkos::SharedHostPinnedSpace>;
#else
  using message_space = Kokkos::HostSpace;
#endif
  using messages_type = Kokkos::View<petsc_scalar**, Kokkos::LayoutLeft, message_space>;

  void allocate(const std::vector<PetscInt>& sent, std::size_t count) {
    const auto label = [](const char* name) {
      return Kokkos::view_alloc(Kokkos::WithoutInitializing, std::string("Filigree::petsc_shell::") + name);
    };
    using List = Kokkos::View<const PetscInt*, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
    m_sent = Kokkos::View<PetscInt*, device_type>(label("sent"), sent.size());
    Kokkos::deep_copy(m_sent, List(sent.data(), sent.size()));
    m_packed = rows_type(label("packed"), sent.size(), 1);
    m_remote = rows_type(label("remote"), count, 1);
    // They are the same Views on a host.
    m_outgoing = Kokkos::create_mirror_view(message_space(), m_packed);
    m_incoming = Kokkos::create_mirror_view(message_space(), m_remote);
  }

  PetscSF m_messages = nullptr;  ///< from the elements that are sent to those of the remote columns
  ExecutionSpace m_exec;         ///< of the products
  std::unique_ptr<SideInstance<ExecutionSpace>> m_copies;
  Kokkos::View<PetscInt*, device_type> m_sent;  ///< owned elements that other ranks need, in ascending order
  rows_type m_packed;                           ///< these elements of x
  rows_type m_remote;                           ///< elements of x for the remote columns
  messages_type m_outgoing, m_incoming;         ///< m_packed and m_remote on the host
};

}  // namespace Filigree::Impl

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Memory in which a product keeps partial sums while it runs. It does not belong to the matrix, so that
// products of one matrix can run at the same time (see docs/performance.md, "Where partial sums are stored").
#pragma once

#include <algorithm>
#include <cstdint>
#include <list>
#include <mutex>

#include "filigree/core/error.hpp"
#include "filigree/core/launch.hpp"
#include "filigree/core/region.hpp"

namespace Filigree::Impl {

/// The queue on which an execution space instance runs its kernels one after another. Instances with different
/// queues may run kernels at the same time. A host backend has ended its kernels when they return, so one
/// number serves all its instances.
template <class ExecutionSpace>
auto queue_of(const ExecutionSpace& exec, int)
    -> decltype(reinterpret_cast<std::uintptr_t>(exec.cuda_stream())) {
  return reinterpret_cast<std::uintptr_t>(exec.cuda_stream());
}
template <class ExecutionSpace>
auto queue_of(const ExecutionSpace& exec, int)
    -> decltype(reinterpret_cast<std::uintptr_t>(exec.hip_stream())) {
  return reinterpret_cast<std::uintptr_t>(exec.hip_stream());
}
template <class ExecutionSpace>
std::uintptr_t queue_of(const ExecutionSpace& exec, long) {
  return runs_on_gpu_v<ExecutionSpace> ? exec.impl_instance_id() : 0;
}

/// The number of the CUDA graph into which the kernels of this instance are being recorded, or 0 if they run.
template <class ExecutionSpace>
std::uint64_t captured_graph([[maybe_unused]] const ExecutionSpace& exec) {
#if defined(KOKKOS_ENABLE_CUDA)
  if constexpr (std::is_same<ExecutionSpace, Kokkos::Cuda>::value) {
    cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
    unsigned long long graph = 0;
    if (cudaStreamGetCaptureInfo(exec.cuda_stream(), &status, &graph) == cudaSuccess)
      return status == cudaStreamCaptureStatusNone ? 0 : graph;
    // The default stream gives an error while another stream is captured.
    (void)cudaGetLastError();
  }
#endif
  return 0;
}

/// The memory of one product.
template <class MemorySpace>
struct Workspace {
  using words_type = Kokkos::View<std::uint64_t*, MemorySpace>;

  words_type zeros;  ///< is 0 before a product and must be 0 after it
  words_type sums;   ///< has any values
  std::uintptr_t queue = 0;
  std::uint64_t graph = 0;  ///< the graph that it belongs to; 0 if none
  bool is_free = false;
};

/// The workspaces of an execution space. A product borrows one, queues its kernels and gives it back. The next
/// product on the same queue may then borrow it, because its kernels run after those of the first one. So the
/// number of workspaces is the number of queues, times the number of host threads that use one queue at once.
///
/// A graph may run at the same time as products on the queue on which it was captured. So its products share a
/// workspace of their own, which no other product borrows afterwards.
///
/// A workspace that is too small is not freed, because queued kernels may still use it. The next one is twice
/// as large. Kokkos::finalize() frees all.
template <class ExecutionSpace>
class WorkspacePool {
 public:
  using workspace_type = Workspace<typename ExecutionSpace::memory_space>;

  /// The pool of this process.
  static WorkspacePool& get() {
    // Never destroyed: its Views must be freed before Kokkos ends, and main() may end later.
    static WorkspacePool* const pool = [] {
      auto* result = new WorkspacePool;
      Kokkos::push_finalize_hook([result] { result->m_workspaces.clear(); });
      return result;
    }();
    return *pool;
  }

  /// A workspace with at least these numbers of 64-bit words, for kernels on exec. It is allocated only if none
  /// on this queue is free and large enough. When the kernels are queued, the caller calls give_back(). If an
  /// exception prevents that, the workspace is never used again, because its zeros may have been changed.
  ///
  /// Throws std::runtime_error if one must be allocated while exec is captured.
  workspace_type& borrow(const ExecutionSpace& exec, std::size_t zeros, std::size_t sums) {
    const std::uintptr_t queue = queue_of(exec, 0);
    const std::uint64_t graph = captured_graph(exec);
    {
      const std::lock_guard<std::mutex> lock(m_mutex);
      if (auto* workspace = find_free(queue, graph, zeros, sums)) return *workspace;
      if (graph != 0) {
        auto* workspace = find_free(queue, 0, zeros, sums);
        if (workspace == nullptr)
          fail<std::runtime_error>("Filigree::spmv: the product needs ", 8 * (zeros + sums),
                                   " bytes for partial sums, which cannot be allocated while its stream is "
                                   "captured. Run one product",
                                   " of this matrix, with as many columns of x, on this execution space "
                                   "instance before each capture.");
        workspace->graph = graph;
        return *workspace;
      }
      for (const auto& other : m_workspaces)
        if (other.is_free && other.queue == queue && other.graph == 0) {
          zeros = std::max(zeros, 2 * other.zeros.extent(0));
          sums = std::max(sums, 2 * other.sums.extent(0));
        }
    }
    // Outside of the lock, because a tool that is told of the allocation may call the library.
    using words_type = typename workspace_type::words_type;
    const workspace_type workspace{
        words_type(Kokkos::view_alloc(exec, label("workspace_zeros", "all")), zeros),
        words_type(Kokkos::view_alloc(exec, Kokkos::WithoutInitializing, label("workspace_sums", "all")),
                   sums),
        queue};
    const std::lock_guard<std::mutex> lock(m_mutex);
    m_workspaces.push_back(workspace);
    return m_workspaces.back();
  }

  /// Lets a later product on the queue borrow the workspace.
  void give_back(workspace_type& workspace) {
    const std::lock_guard<std::mutex> lock(m_mutex);
    workspace.is_free = true;
  }

 private:
  /// Borrows a workspace that is free and large enough. Returns nullptr if there is none.
  workspace_type* find_free(std::uintptr_t queue, std::uint64_t graph, std::size_t zeros, std::size_t sums) {
    for (auto& workspace : m_workspaces)
      if (workspace.is_free && workspace.queue == queue && workspace.graph == graph &&
          workspace.zeros.extent(0) >= zeros && workspace.sums.extent(0) >= sums) {
        workspace.is_free = false;
        return &workspace;
      }
    return nullptr;
  }

  std::mutex m_mutex;
  std::list<workspace_type> m_workspaces;
};

}  // namespace Filigree::Impl

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Memory in which a product keeps partial sums while it runs. It does not belong to the matrix, so that
// products of one matrix can run at the same time (see docs/performance.md, "Where partial sums are stored").
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <list>
#include <mutex>
#include <thread>

#include "filigree/core/error.hpp"
#include "filigree/core/launch.hpp"
#include "filigree/core/region.hpp"

namespace Filigree::Impl {

/// The queue on which an execution space instance runs its kernels one after another. Instances with
/// different queues may run kernels at the same time. On a host a launch returns when its kernel has ended,
/// so all host instances count as one queue.
template <class Stream>
std::uintptr_t queue_of_stream(const Stream& stream) {
  const auto handle = reinterpret_cast<std::uintptr_t>(stream);
  // The handle 2 is cudaStreamPerThread or hipStreamPerThread, a queue of its own for each host thread. Other
  // handles are even or 1.
  constexpr std::uintptr_t per_thread = 2;
  return handle == per_thread ? 2 * std::hash<std::thread::id>()(std::this_thread::get_id()) + 3 : handle;
}
template <class ExecutionSpace>
auto queue_of(const ExecutionSpace& exec, int) -> decltype(queue_of_stream(exec.cuda_stream())) {
  return queue_of_stream(exec.cuda_stream());
}
template <class ExecutionSpace>
auto queue_of(const ExecutionSpace& exec, int) -> decltype(queue_of_stream(exec.hip_stream())) {
  return queue_of_stream(exec.hip_stream());
}
template <class ExecutionSpace>
std::uintptr_t queue_of(const ExecutionSpace& exec, long) {
#if defined(KOKKOS_ENABLE_HPX)
  if constexpr (std::is_same<ExecutionSpace, Kokkos::Experimental::HPX>::value)
    return exec.impl_instance_id();
#endif
  return runs_on_gpu_v<ExecutionSpace> ? exec.impl_instance_id() : 0;
}

/// The CUDA graph into which the kernels of an instance are being recorded.
struct CapturedGraph {
  std::uint64_t number = 0;  ///< unlike that of any other graph; 0 if the kernels are not recorded
  /// The graph of exec. If `release` is given, the graph will call release(data) when it and all its
  /// executable copies are destroyed.
  template <class ExecutionSpace>
  static CapturedGraph of([[maybe_unused]] const ExecutionSpace& exec,
                          [[maybe_unused]] void (*release)(void*) = nullptr,
                          [[maybe_unused]] void* data = nullptr) {
    CapturedGraph result;
#if defined(KOKKOS_ENABLE_CUDA)
    if constexpr (std::is_same<ExecutionSpace, Kokkos::Cuda>::value) {
      cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
      unsigned long long number = 0;
      cudaGraph_t graph = nullptr;
#if CUDART_VERSION >= 13000
      const cudaError_t error = cudaStreamGetCaptureInfo(exec.cuda_stream(), &status, &number, &graph);
#else
      const cudaError_t error = cudaStreamGetCaptureInfo_v2(exec.cuda_stream(), &status, &number, &graph);
#endif
      // The default stream gives an error while another stream is captured.
      if (error != cudaSuccess) (void)cudaGetLastError();
      if (error != cudaSuccess || status == cudaStreamCaptureStatusNone) return result;
      result.number = number;
      cudaUserObject_t object = nullptr;
      if (release != nullptr &&
          cudaUserObjectCreate(&object, data, release, 1, cudaUserObjectNoDestructorSync) == cudaSuccess)
        cudaGraphRetainUserObject(graph, object, 1, cudaGraphUserObjectMove);
    }
#endif
    return result;
  }
  /// Whether instances of this execution space can be captured.
  template <class ExecutionSpace>
  static constexpr bool possible() {
#if defined(KOKKOS_ENABLE_CUDA)
    return std::is_same<ExecutionSpace, Kokkos::Cuda>::value;
#else
    return false;
#endif
  }
};

/// The memory of one product.
template <class MemorySpace>
struct Workspace {
  using words_type = Kokkos::View<std::uint64_t*, MemorySpace>;

  words_type zeros;  ///< is 0 before a product and must be 0 after it
  words_type sums;   ///< has any values
  std::uintptr_t queue = 0;
  bool is_for_graphs = false;
  std::uint64_t graph = 0;  ///< number of the graph that it belongs to; 0 if none
  bool is_free = false;
};

/// The workspaces of an execution space. A product borrows one, queues its kernels and gives it back. The
/// next product on the same queue may then borrow it, because its kernels run after those of the first one.
/// Without graphs and growth there is one workspace per queue and host thread that uses the queue at the same
/// time.
///
/// A graph may run at the same time as products on the queue on which it was captured. So its products share
/// workspaces that no other product has borrowed or will borrow. If the backend has graphs, a queue has spare
/// ones for that, as many as a caller borrows at a time. When the graph is destroyed, they are the spare ones
/// for a later graph.
///
/// A workspace that is too small is not freed, because queued kernels may still use it. Kokkos::finalize()
/// frees all.
template <class ExecutionSpace>
class WorkspacePool {
 public:
  using workspace_type = Workspace<typename ExecutionSpace::memory_space>;

  /// The pool of this process.
  static WorkspacePool& get() {
    // Never destroyed: its Views must be freed before Kokkos ends, and main() may end later.
    static WorkspacePool* const pool = [] {
      auto* result = new WorkspacePool;
      Kokkos::push_finalize_hook([result] { result->free_all(); });
      return result;
    }();
    return *pool;
  }

  /// A workspace with at least these numbers of 64-bit words, for kernels on exec. It is allocated, and exec
  /// is fenced, only if no workspace on this queue is free and large enough, or if the spare one for graphs
  /// is missing. When the kernels are queued, the caller calls give_back(). If an exception prevents that,
  /// the workspace is never used again, because its zeros may have been changed.
  ///
  /// Throws std::runtime_error if one must be allocated while exec is captured, and what Kokkos throws if there is no
  /// memory. No workspace is borrowed then.
  workspace_type& borrow(const ExecutionSpace& exec, std::size_t zeros, std::size_t sums) {
    const std::uintptr_t queue = queue_of(exec, 0);
    if (const std::uint64_t graph = CapturedGraph::of(exec).number)
      return borrow_for_graph(exec, queue, graph, zeros, sums);
    workspace_type* result = nullptr;
    std::size_t spare_ones = 0;
    std::size_t needed = 0;
    {
      const std::lock_guard<std::mutex> lock(m_mutex);
      result = find_free(queue, false, 0, zeros, sums);
      if (result != nullptr) result->is_free = false;
      if (CapturedGraph::possible<ExecutionSpace>()) {
        // If a caller borrows several at a time, a capture of its calls borrows as many.
        needed = 1 + count_borrowed(queue, result);
        spare_ones = count_spare(queue, zeros, sums);
      }
    }
    try {
      for (; spare_ones < needed; ++spare_ones)
        give_back(allocate(exec, queue, true, zeros, sums));
    } catch (...) {
      if (result != nullptr) give_back(*result);
      throw;
    }
    return result != nullptr ? *result : allocate(exec, queue, false, zeros, sums);
  }

  /// Lets a later product on the queue borrow the workspace.
  void give_back(workspace_type& workspace) {
    const std::lock_guard<std::mutex> lock(m_mutex);
    workspace.is_free = true;
  }

 private:
  workspace_type& borrow_for_graph(const ExecutionSpace& exec, std::uintptr_t queue, std::uint64_t graph,
                                   std::size_t zeros, std::size_t sums) {
    workspace_type* result = nullptr;
    {
      const std::lock_guard<std::mutex> lock(m_mutex);
      result = find_free(queue, true, graph, zeros, sums);
      if (result != nullptr) {
        result->is_free = false;
        return *result;
      }
      result = find_free(queue, true, 0, zeros, sums);
      if (result == nullptr)
        fail<std::runtime_error>(
            "Filigree::spmv, or a function that reduces: partial sums need ", 8 * (zeros + sums),
            " bytes, which cannot be allocated while the stream is captured. Before each capture ",
            "call the same function once, for the same matrix and with as many columns of x, ",
            "on this execution space instance.");
      result->graph = graph;
      result->is_free = false;
    }
    // Without the lock, because release_from_graph() takes it on a thread of the driver.
    CapturedGraph::of(exec, release_from_graph, result);
    return *result;
  }

  /// Called when the graph that owns a workspace is destroyed.
  static void release_from_graph(void* data) {
    auto& pool = get();
    const std::lock_guard<std::mutex> lock(pool.m_mutex);
    if (pool.m_is_finalized) return;
    static_cast<workspace_type*>(data)->graph = 0;
  }

  /// A free and large enough workspace, or nullptr if there is none. The caller holds the lock.
  workspace_type* find_free(std::uintptr_t queue, bool is_for_graphs, std::uint64_t graph, std::size_t zeros,
                            std::size_t sums) {
    for (auto& workspace : m_workspaces)
      if (is_usable(workspace, queue, is_for_graphs, graph, zeros, sums)) return &workspace;
    return nullptr;
  }

  /// The borrowed workspaces of a queue other than `own`. The caller holds the lock.
  std::size_t count_borrowed(std::uintptr_t queue, const workspace_type* own) const {
    return static_cast<std::size_t>(
        std::count_if(m_workspaces.begin(), m_workspaces.end(), [&](const workspace_type& workspace) {
          return !workspace.is_free && workspace.queue == queue && !workspace.is_for_graphs &&
                 &workspace != own;
        }));
  }
  /// The workspaces of a queue that no graph has, and that are large enough. The caller holds the lock.
  std::size_t count_spare(std::uintptr_t queue, std::size_t zeros, std::size_t sums) const {
    return static_cast<std::size_t>(std::count_if(
        m_workspaces.begin(), m_workspaces.end(),
        [&](const workspace_type& workspace) { return is_usable(workspace, queue, true, 0, zeros, sums); }));
  }
  static bool is_usable(const workspace_type& workspace, std::uintptr_t queue, bool is_for_graphs,
                        std::uint64_t graph, std::size_t zeros, std::size_t sums) {
    return workspace.is_free && workspace.queue == queue && workspace.is_for_graphs == is_for_graphs &&
           workspace.graph == graph && workspace.zeros.extent(0) >= zeros && workspace.sums.extent(0) >= sums;
  }

  /// A new workspace, which is not free, with twice as many words as free ones that were too small. Without
  /// the lock, because a tool that is told of the allocation may call the library.
  workspace_type& allocate(const ExecutionSpace& exec, std::uintptr_t queue, bool is_for_graphs,
                           std::size_t zeros, std::size_t sums) {
    using words_type = typename workspace_type::words_type;
    {
      const std::lock_guard<std::mutex> lock(m_mutex);
      for (const auto& other : m_workspaces)
        if (other.is_free && other.queue == queue && other.is_for_graphs == is_for_graphs &&
            other.graph == 0) {
          if (other.zeros.extent(0) < zeros) zeros = std::max(zeros, 2 * other.zeros.extent(0));
          if (other.sums.extent(0) < sums) sums = std::max(sums, 2 * other.sums.extent(0));
        }
    }
    const workspace_type workspace{
        words_type(Kokkos::view_alloc(exec, label("workspace_zeros", "all", "")), zeros),
        words_type(Kokkos::view_alloc(exec, Kokkos::WithoutInitializing, label("workspace_sums", "all", "")),
                   sums),
        queue, is_for_graphs};
    // A graph may run on another queue before exec has written the zeros.
    exec.fence();
    const std::lock_guard<std::mutex> lock(m_mutex);
    m_workspaces.push_back(workspace);
    return m_workspaces.back();
  }

  void free_all() {
    const std::lock_guard<std::mutex> lock(m_mutex);
    m_is_finalized = true;
    m_workspaces.clear();
  }

  std::mutex m_mutex;
  std::list<workspace_type> m_workspaces;
  bool m_is_finalized = false;
};

}  // namespace Filigree::Impl

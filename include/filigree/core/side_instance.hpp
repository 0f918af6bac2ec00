// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <stdexcept>

#include "filigree/core/error.hpp"
#include "filigree/core/launch.hpp"

namespace Filigree::Impl {

/// An instance whose work can run at the same time as that of another one. With CUDA it has a stream of its own, which
/// does not wait for the default stream. Elsewhere it is the other instance itself.
template <class ExecutionSpace>
class SideInstance {
 public:
  /// Throws std::runtime_error if CUDA cannot make a stream.
  explicit SideInstance(const ExecutionSpace& main) : m_main(main), m_side(main) {
#if defined(KOKKOS_ENABLE_CUDA)
    if constexpr (has_stream) {
      m_stream.create();
      m_side = ExecutionSpace(m_stream.stream);
    }
#endif
  }
  SideInstance(const SideInstance&) = delete;
  SideInstance& operator=(const SideInstance&) = delete;

  /// The instance.
  const ExecutionSpace& get() const {
    return m_side;
  }
  /// What the instance gets later runs after what the other one has now. The host does not wait. The same holds for the
  /// exceptions of let_main_wait().
  void wait_for_main() {
    order(m_main, m_side);
  }
  /// What the other instance gets later runs after what this one has now.
  void let_main_wait() {
    order(m_side, m_main);
  }

 private:
  void order([[maybe_unused]] const ExecutionSpace& first, [[maybe_unused]] const ExecutionSpace& second) {
#if defined(KOKKOS_ENABLE_CUDA)
    if constexpr (has_stream) {
      check(cudaEventRecord(m_stream.event, first.cuda_stream()), "cudaEventRecord");
      check(cudaStreamWaitEvent(second.cuda_stream(), m_stream.event, 0), "cudaStreamWaitEvent");
    }
#endif
  }

#if defined(KOKKOS_ENABLE_CUDA)
  static constexpr bool has_stream = std::is_same_v<ExecutionSpace, Kokkos::Cuda>;
  static void check(cudaError_t error, const char* function) {
    if (error != cudaSuccess)
      fail<std::runtime_error>("Filigree: ", function, ": ", cudaGetErrorString(error));
  }
  struct Stream {
    cudaStream_t stream = nullptr;
    cudaEvent_t event = nullptr;
    void create() {
      check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "cudaStreamCreateWithFlags");
      check(cudaEventCreateWithFlags(&event, cudaEventDisableTiming), "cudaEventCreateWithFlags");
    }
    ~Stream() {
      if (event != nullptr) static_cast<void>(cudaEventDestroy(event));
      if (stream != nullptr) static_cast<void>(cudaStreamDestroy(stream));
    }
  };
  Stream m_stream;  // destroyed after the instance that uses it
#endif
  ExecutionSpace m_main, m_side;
};

}  // namespace Filigree::Impl

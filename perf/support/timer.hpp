// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <Kokkos_Core.hpp>
#include <vector>

#include "support/quick.hpp"

namespace FiligreePerf {

/// Measures how many seconds the work queued on an execution space instance takes. This version fences before
/// and after the work. The one for CUDA below records events on the stream.
template <class ExecutionSpace>
class Timer {
 public:
  explicit Timer(const ExecutionSpace& exec) : m_exec(exec) {}

  template <class Work>
  double seconds(const Work& work) {
    return seconds_after([] {}, work);
  }

  /// Seconds of `work` only. `before` runs first and is not timed.
  template <class Before, class Work>
  double seconds_after(const Before& before, const Work& work) {
    before();
    m_exec.fence();
    Kokkos::Timer timer;
    work();
    m_exec.fence();
    return timer.seconds();
  }

 private:
  ExecutionSpace m_exec;
};

#ifdef KOKKOS_ENABLE_CUDA
template <>
class Timer<Kokkos::Cuda> {
 public:
  explicit Timer(const Kokkos::Cuda& exec) : m_exec(exec) {
    check(cudaEventCreate(&m_begin));
    check(cudaEventCreate(&m_end));
  }
  ~Timer() {
    cudaEventDestroy(m_begin);
    cudaEventDestroy(m_end);
  }
  Timer(const Timer&) = delete;
  Timer& operator=(const Timer&) = delete;

  template <class Work>
  double seconds(const Work& work) {
    return seconds_after([] {}, work);
  }

  template <class Before, class Work>
  double seconds_after(const Before& before, const Work& work) {
    m_exec.fence();
    before();
    check(cudaEventRecord(m_begin, m_exec.cuda_stream()));
    work();
    check(cudaEventRecord(m_end, m_exec.cuda_stream()));
    check(cudaEventSynchronize(m_end));
    float milliseconds = 0;
    check(cudaEventElapsedTime(&milliseconds, m_begin, m_end));
    return 1e-3 * milliseconds;
  }

 private:
  static void check(cudaError_t error) {
    if (error != cudaSuccess) throw std::runtime_error(std::string("Timer: ") + cudaGetErrorString(error));
  }

  Kokkos::Cuda m_exec;
  cudaEvent_t m_begin;
  cudaEvent_t m_end;
};
#endif

/// Reads all elements of a View of zeros. It never writes, but the compiler cannot know that and must keep
/// the reads.
template <class ExecutionSpace>
struct ReadAll {
  using execution_space = ExecutionSpace;
  using view_type = Kokkos::View<double*, typename ExecutionSpace::device_type>;
  view_type memory;

  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t i) const {
    if (memory(i) != 0.0) memory(i) = 0.0;
  }
};

/// Work that evicts all useful data from the caches: it reads 512 MiB, several times the size of the
/// last-level cache of a GPU and of most hosts. It does not write, because modified cache lines would be
/// written back to memory during the work that is timed next.
template <class ExecutionSpace>
class CacheFlush {
 public:
  using policy_type = Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<std::int64_t>>;

  explicit CacheFlush(const ExecutionSpace& exec)
      : m_exec(exec),
        m_memory("FiligreePerf::flush", static_cast<std::size_t>(bytes_to_read(512)) / sizeof(double)) {}
  void operator()() const {
    Kokkos::parallel_for("FiligreePerf::flush",
                         policy_type(m_exec, 0, static_cast<std::int64_t>(m_memory.extent(0))),
                         ReadAll<ExecutionSpace>{m_memory});
  }

 private:
  ExecutionSpace m_exec;
  typename ReadAll<ExecutionSpace>::view_type m_memory;
};

inline double mean(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values)
    sum += value;
  return sum / static_cast<double>(values.size());
}

/// The median, or 0 if there are no values.
inline double median(std::vector<double> values) {
  if (values.empty()) return 0;
  const std::size_t middle = values.size() / 2;
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(middle), values.end());
  return values[middle];
}

/// Median seconds of the work. `before` runs before each run of the work and is not timed. After two runs
/// that do not count there are at least 5 and at most 200 runs, until the times add up to `budget` seconds.
template <class ExecutionSpace, class Before, class Work>
double median_seconds_after(const ExecutionSpace& exec, const Before& before, const Work& work,
                            double budget) {
  Timer<ExecutionSpace> timer(exec);
  for (int i = 0; i < 2; ++i)
    timer.seconds_after(before, work);
  std::vector<double> times;
  double total = 0;
  while (times.size() < 5 || (total < budget && times.size() < 200)) {
    times.push_back(timer.seconds_after(before, work));
    total += times.back();
  }
  return median(times);
}

/// Median seconds of the work, without other work before it.
template <class ExecutionSpace, class Work>
double median_seconds(const ExecutionSpace& exec, const Work& work, double budget = 0.3) {
  return median_seconds_after(
      exec, [] {}, work, budget);
}

/// Median seconds of `runs` runs of the work with cold caches, after two runs that do not count.
template <class ExecutionSpace, class Work>
double median_cold_seconds(const ExecutionSpace& exec, const CacheFlush<ExecutionSpace>& flush,
                           const Work& work, int runs = 30) {
  Timer<ExecutionSpace> timer(exec);
  std::vector<double> times;
  for (int i = 0; i < runs + 2; ++i) {
    const double seconds = timer.seconds_after(flush, work);
    if (i >= 2) times.push_back(seconds);
  }
  return median(times);
}

/// Median seconds of two kinds of work over 20 runs, after two runs that do not count. The two take turns, so
/// that other load on the machine slows both down equally.
template <class ExecutionSpace, class First, class Second>
std::array<double, 2> median_seconds_in_turns(const ExecutionSpace& exec, const First& first,
                                              const Second& second) {
  Timer<ExecutionSpace> timer(exec);
  std::vector<double> times[2];
  for (int i = 0; i < 22; ++i) {
    const double seconds[2] = {timer.seconds(first), timer.seconds(second)};
    for (int which = 0; which < 2 && i >= 2; ++which)
      times[which].push_back(seconds[which]);
  }
  return {median(times[0]), median(times[1])};
}

}  // namespace FiligreePerf

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Records what Kokkos does, through the hooks of Kokkos Tools.
#ifndef FILIGREE_TEST_TOOLS_HPP
#define FILIGREE_TEST_TOOLS_HPP

#include <algorithm>
#include <cstdint>
#include <Kokkos_Core.hpp>
#include <string>
#include <vector>

namespace FiligreeTest {

struct KokkosEvents {
  std::vector<std::string> kernels;
  std::vector<std::string> regions;
  std::vector<std::string> allocations;
  std::vector<std::string> fences;  ///< and deep copies; empty on a Kokkos that reports none
  int open_regions = 0;
  std::int64_t live_allocations = 0;
  std::uint64_t allocated_bytes = 0;
  std::int64_t live_bytes = 0;
  std::int64_t peak_bytes = 0;  ///< the most that were live at once
};

/// Records from its construction to its destruction; one at a time.
class KokkosRecorder {
 public:
  KokkosRecorder() {
    namespace Hooks = Kokkos::Tools::Experimental;
    events() = {};
    Hooks::set_begin_parallel_for_callback(begin_kernel);
    Hooks::set_begin_parallel_reduce_callback(begin_kernel);
    Hooks::set_begin_parallel_scan_callback(begin_kernel);
    Hooks::set_begin_fence_callback(begin_fence);
    Hooks::set_begin_deep_copy_callback(begin_deep_copy);
    Hooks::set_push_region_callback(push_region);
    Hooks::set_pop_region_callback(pop_region);
    Hooks::set_allocate_data_callback(allocate);
    Hooks::set_deallocate_data_callback(deallocate);
  }
  ~KokkosRecorder() {
    namespace Hooks = Kokkos::Tools::Experimental;
    Hooks::set_begin_parallel_for_callback(nullptr);
    Hooks::set_begin_parallel_reduce_callback(nullptr);
    Hooks::set_begin_parallel_scan_callback(nullptr);
    Hooks::set_begin_fence_callback(nullptr);
    Hooks::set_begin_deep_copy_callback(nullptr);
    Hooks::set_push_region_callback(nullptr);
    Hooks::set_pop_region_callback(nullptr);
    Hooks::set_allocate_data_callback(nullptr);
    Hooks::set_deallocate_data_callback(nullptr);
  }
  KokkosRecorder(const KokkosRecorder&) = delete;
  KokkosRecorder& operator=(const KokkosRecorder&) = delete;

  /// What happened so far.
  static KokkosEvents& events() {
    static KokkosEvents recorded;
    return recorded;
  }

 private:
  static bool is_of_kokkos_tools(const std::string& name) { return name.find("Kokkos::Tools") == 0; }

  static void begin_kernel(const char* name, const std::uint32_t, std::uint64_t*) {
    events().kernels.push_back(name);
  }
  static void begin_fence(const char* name, const std::uint32_t, std::uint64_t*) {
    // Kokkos fences before it calls a hook, which is no fence of the code that is tested.
    if (!is_of_kokkos_tools(name)) events().fences.push_back(name);
  }
  static void begin_deep_copy(Kokkos_Profiling_SpaceHandle, const char* to, const void*,
                              Kokkos_Profiling_SpaceHandle, const char* from, const void*, std::uint64_t) {
    events().fences.push_back(std::string("copy to ") + to + " from " + from);
  }
  static void push_region(const char* name) {
    events().regions.push_back(name);
    ++events().open_regions;
  }
  static void pop_region() { --events().open_regions; }
  static void allocate(const Kokkos_Profiling_SpaceHandle, const char* name, const void*,
                       const std::uint64_t bytes) {
    // Kokkos' CUDA backend reports the scratch memory of each team launch, of no bytes where there is none.
    if (bytes == 0) return;
    events().allocations.push_back(name);
    events().allocated_bytes += bytes;
    events().live_bytes += static_cast<std::int64_t>(bytes);
    events().peak_bytes = std::max(events().peak_bytes, events().live_bytes);
    ++events().live_allocations;
  }
  static void deallocate(const Kokkos_Profiling_SpaceHandle, const char*, const void*,
                         const std::uint64_t bytes) {
    if (bytes == 0) return;
    events().live_bytes -= static_cast<std::int64_t>(bytes);
    --events().live_allocations;
  }
};

}  // namespace FiligreeTest

#endif

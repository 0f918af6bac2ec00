// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Records the kernels, regions, allocations and fences of Kokkos through the hooks of Kokkos Tools.
#pragma once

#include <algorithm>
#include <cstdint>
#include <Kokkos_Core.hpp>
#include <string>
#include <vector>

namespace FiligreeTest {

/// What Kokkos reported while a KokkosRecorder lived. Names are in the order of the events.
struct KokkosEvents {
  std::vector<std::string> kernels;
  std::vector<std::string> regions;
  std::vector<std::string> allocations;
  std::vector<std::string> fences;  ///< fences and deep copies; empty on a Kokkos that does not report them
  /// The fences among them that wait for all instances of an execution space, except before memory is freed.
  std::vector<std::string> global_fences;
  int open_regions = 0;
  std::int64_t live_allocations = 0;
  std::uint64_t allocated_bytes = 0;  ///< sum of all allocations, freed or not
  std::int64_t live_bytes = 0;
  std::int64_t peak_bytes = 0;  ///< maximum of live_bytes
};

/// Records events from its construction to its destruction. Only one recorder may live at a time.
class KokkosRecorder {
 public:
  KokkosRecorder() {
    events() = {};
    set_hooks(true);
  }
  ~KokkosRecorder() { set_hooks(false); }
  KokkosRecorder(const KokkosRecorder&) = delete;
  KokkosRecorder& operator=(const KokkosRecorder&) = delete;

  /// The events since the construction of the recorder.
  static KokkosEvents& events() {
    static KokkosEvents recorded;
    return recorded;
  }

 private:
  /// Sets the hooks of Kokkos Tools to the functions below, or clears them.
  static void set_hooks(bool record) {
    namespace Hooks = Kokkos::Tools::Experimental;
    Hooks::set_begin_parallel_for_callback(record ? begin_kernel : nullptr);
    Hooks::set_begin_parallel_reduce_callback(record ? begin_kernel : nullptr);
    Hooks::set_begin_parallel_scan_callback(record ? begin_kernel : nullptr);
    Hooks::set_begin_fence_callback(record ? begin_fence : nullptr);
    Hooks::set_begin_deep_copy_callback(record ? begin_deep_copy : nullptr);
    Hooks::set_push_region_callback(record ? push_region : nullptr);
    Hooks::set_pop_region_callback(record ? pop_region : nullptr);
    Hooks::set_allocate_data_callback(record ? allocate : nullptr);
    Hooks::set_deallocate_data_callback(record ? deallocate : nullptr);
  }

  static bool is_of_kokkos_tools(const std::string& name) { return name.find("Kokkos::Tools") == 0; }

  static void begin_kernel(const char* name, const std::uint32_t, std::uint64_t*) {
    events().kernels.push_back(name);
  }
  static void begin_fence(const char* name, const std::uint32_t device, std::uint64_t*) {
    // Kokkos itself fences before it calls a hook. The tested code did not ask for that fence.
    if (is_of_kokkos_tools(name)) return;
    events().fences.push_back(name);
    // The lowest 17 bits are the number of the instance. 0 stands for all of them. Kokkos itself fences all
    // before it frees memory.
    const bool frees = std::string(name).find("deallocate") != std::string::npos;
    if ((device & 0x1ffffu) == 0 && !frees) events().global_fences.push_back(name);
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
    // The CUDA backend of Kokkos reports scratch memory for each team launch, with 0 bytes if none is needed.
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

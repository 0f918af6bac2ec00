// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "support/machine.hpp"

#include <algorithm>
#include <fstream>
#include <set>

#include "support/quick.hpp"

#ifdef __linux__
#include <sched.h>
#include <sys/utsname.h>
#endif

namespace FiligreePerf {
namespace {

/// The first line of a file; empty if it cannot be read.
std::string first_line(const std::filesystem::path& file) {
  std::ifstream in(file);
  std::string line;
  std::getline(in, line);
  return line;
}

/// Bytes from a text such as "32768K"; 0 if it is none.
double bytes_of(const std::string& text) {
  double number = 0;
  std::size_t end = 0;
  try {
    number = std::stod(text, &end);
  } catch (const std::exception&) {
    return 0;
  }
  const char unit = end < text.size() ? text[end] : ' ';
  return number * (unit == 'K' ? 1024.0 : unit == 'M' ? 1048576.0 : unit == 'G' ? 1073741824.0 : 1.0);
}

/// A cache as one processor sees it.
struct Cache {
  std::string level;
  std::string processors;  ///< that share it
  double bytes = 0;
};

/// The data cache of a processor with the highest level.
Cache last_level_cache(const std::filesystem::path& processor) {
  Cache last;
  for (int i = 0;; ++i) {
    const auto folder = processor / "cache" / ("index" + std::to_string(i));
    const std::string level = first_line(folder / "level");
    if (level.empty()) return last;
    if (first_line(folder / "type") == "Instruction" || level <= last.level) continue;
    last = {level, first_line(folder / "shared_cpu_list"), bytes_of(first_line(folder / "size"))};
  }
}

}  // namespace

std::vector<std::pair<std::string, std::string>> versions() {
  std::vector<std::pair<std::string, std::string>> result = {
    {"filigree_version", FILIGREE_PERF_VERSION},
    {"kokkos_version", FILIGREE_PERF_KOKKOS_VERSION},
    {"kokkos_kernels_version", FILIGREE_PERF_KOKKOS_KERNELS_VERSION},
#if defined(__clang__)
    {"compiler", "Clang " __clang_version__},
#elif defined(__GNUC__)
    {"compiler", "GCC " __VERSION__},
#else
    {"compiler", "unknown"},
#endif
  };
#ifdef FILIGREE_PERF_NATIVE
  result.back().second += ", " FILIGREE_PERF_NATIVE;
#endif
#ifdef FILIGREE_PERF_FLAGS
  result.back().second += ", " FILIGREE_PERF_FLAGS;
#endif
  if (is_only_tested) result.back().second += ", compiled for tests: too slow to measure";
#ifdef CUDART_VERSION
  result.emplace_back("cuda_version", std::to_string(CUDART_VERSION / 1000) + "." +
                                          std::to_string(CUDART_VERSION % 1000 / 10));
#endif
  return result;
}

std::string processor_name() {
  std::ifstream in("/proc/cpuinfo");
  for (std::string line; std::getline(in, line);) {
    const auto colon = line.find(": ");
    if (line.rfind("model name", 0) == 0 && colon != std::string::npos) return line.substr(colon + 2);
  }
#ifdef __linux__
  utsname system;
  if (uname(&system) == 0) return std::string(system.machine) + " processor";
#endif
  return "unknown processor";
}

double last_level_cache_bytes(const std::filesystem::path& folder, const std::vector<int>& processors,
                              int threads) {
  std::set<std::string> seen;
  std::vector<double> sizes;
  for (const int processor : processors) {
    const Cache cache = last_level_cache(folder / ("cpu" + std::to_string(processor)));
    if (cache.bytes > 0 && seen.insert(cache.processors).second) sizes.push_back(cache.bytes);
  }
  std::sort(sizes.rbegin(), sizes.rend());
  sizes.resize(std::min(sizes.size(), static_cast<std::size_t>(std::max(threads, 1))));
  double sum = 0;
  for (const double size : sizes)
    sum += size;
  return sum;
}

double last_level_cache_bytes([[maybe_unused]] int threads) {
#ifdef __linux__
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  if (sched_getaffinity(0, sizeof(allowed), &allowed) != 0) return 0;
  std::vector<int> processors;
  for (int i = 0; i < CPU_SETSIZE; ++i)
    if (CPU_ISSET(i, &allowed)) processors.push_back(i);
  return last_level_cache_bytes("/sys/devices/system/cpu", processors, threads);
#else
  return 0;
#endif
}

}  // namespace FiligreePerf

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>

#include "support/machine.hpp"
#include "support/quick.hpp"

namespace {

using namespace FiligreePerf;

/// A folder like /sys/devices/system/cpu.
class LastLevelCache : public testing::Test {
 public:
  LastLevelCache()
      : m_folder(std::filesystem::temp_directory_path() / ("filigree_cpus_" + std::to_string(getpid()))) {}
  ~LastLevelCache() override { std::filesystem::remove_all(m_folder); }

  void add(int processor, int index, const std::string& level, const std::string& type,
           const std::string& size, const std::string& processors) const {
    const auto folder =
        m_folder / ("cpu" + std::to_string(processor)) / "cache" / ("index" + std::to_string(index));
    std::filesystem::create_directories(folder);
    std::ofstream(folder / "level") << level << '\n';
    std::ofstream(folder / "type") << type << '\n';
    std::ofstream(folder / "size") << size << '\n';
    std::ofstream(folder / "shared_cpu_list") << processors << '\n';
  }

  std::filesystem::path m_folder;
};

TEST_F(LastLevelCache, AddsTheCachesThatTheThreadsUse) {
  for (const int processor : {0, 1, 2, 3}) {
    add(processor, 0, "1", "Data", "48K", std::to_string(processor));
    add(processor, 1, "1", "Instruction", "32K", std::to_string(processor));
    add(processor, 2, "2", "Unified", "1M", std::to_string(processor));
    add(processor, 3, "3", "Unified", "32768K", processor < 2 ? "0-1" : "2-3");
  }
  const double one = 32.0 * 1024 * 1024;
  EXPECT_EQ(last_level_cache_bytes(m_folder, {0, 1, 2, 3}, 1), one);
  EXPECT_EQ(last_level_cache_bytes(m_folder, {0, 1}, 2), one);
  EXPECT_EQ(last_level_cache_bytes(m_folder, {0, 1, 2, 3}, 4), 2 * one);
  EXPECT_EQ(last_level_cache_bytes(m_folder, {3}, 4), one);
}

TEST_F(LastLevelCache, IsUnknownIfTheSystemDoesNotSay) {
  EXPECT_EQ(last_level_cache_bytes(m_folder, {0}, 1), 0);
  add(0, 0, "3", "Unified", "unknown", "0");
  EXPECT_EQ(last_level_cache_bytes(m_folder, {0}, 1), 0);
  EXPECT_EQ(last_level_cache_bytes(m_folder, {}, 1), 0);
}

TEST(Machine, HasNamesAndVersions) {
  const Machine found = machine(Kokkos::DefaultHostExecutionSpace());
  EXPECT_FALSE(found.device.empty());
  EXPECT_EQ(found.backend, Kokkos::DefaultHostExecutionSpace::name());
  EXPECT_EQ(found.threads, Kokkos::DefaultHostExecutionSpace().concurrency());
  const auto all = versions();
  ASSERT_GE(all.size(), 4u);
  for (const auto& [key, version] : all)
    EXPECT_FALSE(version.empty()) << key;
}

/// Results of a program that was compiled without optimisation can be told from others.
TEST(Machine, SaysWhetherTheProgramWasCompiledForTests) {
  const auto all = versions();
  const auto compiler =
      std::find_if(all.begin(), all.end(), [](const auto& version) { return version.first == "compiler"; });
  ASSERT_NE(compiler, all.end());
  EXPECT_EQ(compiler->second.find("compiled for tests") != std::string::npos, is_only_tested)
      << compiler->second;
}

}  // namespace

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  const Kokkos::ScopeGuard kokkos(argc, argv);
  return RUN_ALL_TESTS();
}

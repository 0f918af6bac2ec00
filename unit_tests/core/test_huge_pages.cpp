// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>

#include <cinttypes>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "filigree/core/allocate_view.hpp"

namespace {

/// Whether Linux was asked for huge pages for the mapping that has this address: the flag "hg" of smaps.
bool prefers_huge_pages(const void* data) {
  const auto address = reinterpret_cast<std::uintptr_t>(data);
  std::ifstream maps("/proc/self/smaps");
  bool is_in_mapping = false;
  for (std::string line; std::getline(maps, line);) {
    std::uintptr_t begin = 0, end = 0;
    if (std::sscanf(line.c_str(), "%" SCNxPTR "-%" SCNxPTR " ", &begin, &end) == 2)
      is_in_mapping = begin <= address && address < end;
    if (!is_in_mapping || line.rfind("VmFlags:", 0) != 0) continue;
    std::istringstream flags(line);
    for (std::string flag; flags >> flag;)
      if (flag == "hg") return true;
    return false;
  }
  ADD_FAILURE() << "/proc/self/smaps has no mapping with flags for the address " << data;
  return false;
}

TEST(HugePages, ArePreferredForLargeArraysOfAHost) {
  if (!std::filesystem::exists("/sys/kernel/mm/transparent_hugepage") ||
      !std::filesystem::exists("/proc/self/smaps"))
    GTEST_SKIP() << "This system has no huge pages that a program can ask for.";
  using Host = Kokkos::DefaultHostExecutionSpace;
  using View = Kokkos::View<double*, Host::device_type>;
  const std::int64_t mebibyte = (std::int64_t(1) << 20) / static_cast<std::int64_t>(sizeof(double));
  const auto large = Filigree::Impl::allocate_view<View>(Host(), "large", "test", 64 * mebibyte);
  EXPECT_TRUE(prefers_huge_pages(large.data() + 32 * mebibyte));
  const auto small = Filigree::Impl::allocate_view<View>(Host(), "small", "test", mebibyte);
  EXPECT_FALSE(prefers_huge_pages(small.data()));
}

TEST(HugePages, AreNotAskedForNothing) {
  // No mapping has this address, and none is changed.
  Filigree::Impl::prefer_huge_pages(nullptr, 0);
  const auto empty = Filigree::Impl::allocate_view<Kokkos::View<double*, Kokkos::HostSpace>>(
      Kokkos::DefaultHostExecutionSpace(), "empty", "test", 0);
  EXPECT_EQ(empty.extent(0), 0u);
}

}  // namespace

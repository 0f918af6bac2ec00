// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>

#include <sstream>

#include "measure/report.hpp"

namespace {

using namespace FiligreePerf;

/// A format whose products take `ms` milliseconds; those of the reference take 2 ms.
Result result(const std::string& name, double ms) {
  Result one;
  one.format = name;
  one.storage_bytes = 30e6;
  one.bytes = 40e6;
  one.conversion_seconds = 10e-3;
  one.refill_seconds = 4e-3;
  one.max_rel_error = 1e-16;
  one.samples.assign(20, 1e-3 * ms);
  one.reference_samples.assign(20, 2e-3);
  return one;
}

Report report() {
  Report all;
  all.machine = {"NVIDIA H200", "Cuda", 16, 20e6};
  all.problem = "7pt_40x40x40_dof4";
  all.scalar = "double";
  all.rows = 256000;
  all.columns = 256000;
  all.entries = 5000000;
  all.crs_bytes = 60e6;
  all.read_bandwidth = 50e9;
  all.results = {result(reference_name, 2), result("sell", 1.6), result("cds", 1), result("bell", 4)};
  all.results[0].samples[3] = 1.9e-3;
  return all;
}

std::string text(const Report& all) {
  std::ostringstream out;
  all.print(out);
  return out.str();
}

/// The words of the row of a format.
std::vector<std::string> row(const Report& all, const std::string& name) {
  std::istringstream stream(text(all));
  for (std::string line; std::getline(stream, line);) {
    std::istringstream words(line);
    std::vector<std::string> result;
    for (std::string word; words >> word;)
      result.push_back(word);
    if (result.size() > 10 && result[0] == name) return result;
  }
  return {};
}

bool has(const std::string& whole, const std::string& part) {
  return whole.find(part) != std::string::npos;
}

TEST(Report, ShowsTheReferenceAndWhenAConversionPays) {
  const std::vector<std::string> reference = {
      "kokkos_kernels", "2.0000", "1.00", "1.00-1.00", "5.00", "20.00", "0.40",
      "30.000",         "-",      "-",    "-",         "-",    "-",     "1.0e-16"};
  EXPECT_EQ(row(report(), "kokkos_kernels"), reference);
  const std::vector<std::string> cds = {"cds",    "1.0000", "2.00", "2.00-2.00", "10.00", "40.00", "0.80",
                                        "30.000", "10.000", "5.0",  "4.000",     "2.0",   "10",    "1.0e-16"};
  EXPECT_EQ(row(report(), "cds"), cds);
  EXPECT_EQ(row(report(), "bell")[12], "-");
}

TEST(Report, PutsTheFastestFirstAndTheRecommendationLast) {
  const std::string all = text(report());
  EXPECT_LT(all.find("\ncds "), all.find("\nsell "));
  EXPECT_LT(all.find("\nsell "), all.find("\nkokkos_kernels "));
  EXPECT_LT(all.find("\nkokkos_kernels "), all.find("\nbell "));
  EXPECT_EQ(all.substr(all.rfind('\n', all.size() - 2) + 1),
            "use cds: 2.00 times as fast as Kokkos Kernels' CRS (noise 0.0 %); the conversion pays after 10 "
            "products\n");
  for (const char* part : {"7pt_40x40x40_dof4 in double: 256000 rows, 256000 columns, 5000000 entries",
                           "NVIDIA H200, backend Cuda, host threads 16; reads 50.0 GB/s",
                           "last-level cache 20.00 MB", "Filigree ", "Kokkos Kernels ", "quartiles"})
    EXPECT_TRUE(has(all, part)) << part;
}

TEST(Report, SaysInCacheInsteadOfAFraction) {
  Report all = report();
  all.results[2].fits_cache = true;
  EXPECT_EQ(row(all, "cds")[6] + " " + row(all, "cds")[7], "in cache");
  // The fraction of a matrix that does not fit may exceed 1, because a part of it stays in the cache.
  all.read_bandwidth = 20e9;
  EXPECT_EQ(row(all, "sell")[6], "1.25");
  // A fraction above 1 says nothing if the size of the cache is not known.
  all.machine.cache_bytes = 0;
  EXPECT_EQ(row(all, "sell")[6] + " " + row(all, "sell")[7], "in cache?");
  EXPECT_EQ(row(all, "bell")[6], "0.50");
  EXPECT_TRUE(has(text(all), "last-level cache of unknown size"));
}

TEST(Report, PutsRefusalsBelowTheTable) {
  Report all = report();
  Result refused;
  refused.format = "ell";
  refused.refusal = "the longest row has 200 entries";
  all.results.insert(all.results.begin() + 1, refused);
  EXPECT_TRUE(row(all, "ell").empty());
  const std::string printed = text(all);
  EXPECT_GT(printed.find("\nell is not measured: the longest row has 200 entries\n"),
            printed.find("\nbell "));
  EXPECT_TRUE(has(printed, "\nell is not measured"));
}

TEST(Report, ComparesThePickWithTheBestFormat) {
  Report all = report();
  Result pick = result("auto", 1.25);
  pick.picked = "sell";
  pick.predicted_seconds = 1.5e-3;
  all.results.push_back(pick);
  EXPECT_TRUE(has(text(all),
                  "\nauto picked sell: predicted 1.5000 ms, measured 1.2500 ms, 0.80 of the best "
                  "format's speed\nuse cds: "))
      << text(all);
  const auto figures = all.counters(pick);
  EXPECT_EQ(figures.back().first, "predicted_ms");
  EXPECT_EQ(figures.back().second, 1.5);
}

TEST(Report, HasFiguresForTheJson) {
  const Report all = report();
  const auto value = [&](const Result& one, const std::string& name) {
    for (const auto& [key, number] : all.counters(one))
      if (key == name) return number;
    return -99.0;
  };
  EXPECT_EQ(value(all.results[2], "speedup_vs_kokkos_kernels"), 2);
  EXPECT_EQ(value(all.results[2], "break_even_products"), 10);
  EXPECT_EQ(value(all.results[3], "break_even_products"), -1);
  EXPECT_EQ(value(all.results[2], "fraction_of_read"), 0.8);
  EXPECT_EQ(value(all.results[2], "pairs"), 20);
  EXPECT_DOUBLE_EQ(value(all.results[1], "median_ms"), 1.6);
  bool has_device = false;
  for (const auto& [key, text] : all.context())
    has_device = has_device || (key == "device" && text == "NVIDIA H200");
  EXPECT_TRUE(has_device);
}

}  // namespace

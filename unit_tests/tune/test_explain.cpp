// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>

#include <limits>
#include <sstream>
#include <string>
#include <vector>

#include "filigree/tune/selection.hpp"

namespace {

using Filigree::Detail;
using Filigree::FormatPrediction;
using Filigree::Selection;

/// A format whose product takes `ms` milliseconds and whose conversion takes `conversion_ms`.
FormatPrediction format(const std::string& name, double ms, double conversion_ms) {
  FormatPrediction one;
  one.name = name;
  one.prediction = {20e6, 1e-3 * ms, 1e-3 * conversion_ms};
  one.total_seconds = 1e-3 * (conversion_ms + 1000 * ms);
  return one;
}

FormatPrediction refused(const std::string& name, const std::string& why) {
  FormatPrediction one = format(name, 0.1, 1);
  one.refusal = why;
  return one;
}

Selection seven_formats() {
  Selection selection;
  selection.formats = {
      format("cds", 0.5, 10.2),     format("dia", 0.6, 1),        format("sell", 0.7, 2),
      format("ell", 0.8, 3.1),      format("jds", 0.9, 4),        format("crs", 1.0, 5),
      format("crs_lanes1", 1.1, 6), format("crs_lanes2", 1.1, 6), refused("bell", "too large")};
  selection.formats[0].block_size = 4;
  selection.formats[5].copies_crs = true;
  selection.formats[7].same_as = "crs_lanes1";
  selection.picked = "cds";
  selection.products = 1000;
  selection.device = "NVIDIA H200";
  selection.read_bandwidth = 4286e9;
  return selection;
}

std::vector<std::string> lines(const std::string& text) {
  std::vector<std::string> result;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);)
    result.push_back(line);
  return result;
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(Explain, BeginsWithTheDecisionAndShowsFiveRows) {
  EXPECT_EQ(
      seven_formats().explain(),
      "Picked cds, blocks of 4: the conversion and 1000 products are predicted to take the least time, "
      "0.5000 "
      "ms per product.\n"
      "A product is predicted to be 2.00 times as fast as that of CRS by Kokkos Kernels. The conversion "
      "takes "
      "10.2000 ms and pays after 21 products.\n"
      "Device: NVIDIA H200, 4286 GB/s.\n"
      "format      speed-up      product   conversion   pays after        total      storage\n"
      "            over CRS predicted ms           ms     products           ms           MB\n"
      "cds b=4         2.00       0.5000      10.2000           21       510.20        20.00\n"
      "dia             1.67       0.6000       1.0000            3       601.00        20.00\n"
      "sell            1.43       0.7000       2.0000            7       702.00        20.00\n"
      "ell             1.25       0.8000       3.1000           16       803.10        20.00\n"
      "crs             1.00       1.0000       5.0000            -      1005.00        20.00  copies the CRS "
      "matrix\n"
      "total: the conversion and 1000 products\n"
      "explain(Filigree::Detail::all) shows all formats (8 rows) and why some are refused.\n");
}

TEST(Explain, ShowsEveryRowAndRefusalOnRequest) {
  const auto text = lines(seven_formats().explain(Detail::all));
  ASSERT_EQ(text.size(), 3u + 2 + 7 + 1 + 1);
  EXPECT_EQ(text[9].find("jds "), 0u) << text[9];
  // Variants with one kernel are one row.
  EXPECT_EQ(text[11].find("crs_lanes1 "), 0u) << text[11];
  EXPECT_TRUE(has(text[11], "never")) << text[11];
  EXPECT_TRUE(has(text[11], "20.00  one kernel with crs_lanes2")) << text[11];
  EXPECT_EQ(text.back(), "refused bell: too large");
}

TEST(Explain, ShowsThePickedVariantOfARowAndKeepsItInTheSummary) {
  Selection selection = seven_formats();
  selection.picked = "crs_lanes2";
  const auto text = lines(selection.explain());
  EXPECT_EQ(text[0].find("Picked crs_lanes2: "), 0u);
  EXPECT_TRUE(has(text[1], "0.91 times as fast")) << text[1];
  EXPECT_TRUE(has(text[1], "The conversion never pays.")) << text[1];
  EXPECT_EQ(text[7].find("sell "), 0u);
  EXPECT_EQ(text[8].find("crs "), 0u);
  EXPECT_EQ(text[9].find("crs_lanes2 "), 0u);
  EXPECT_TRUE(has(text[9], "one kernel with crs_lanes1"));
}

TEST(Explain, SaysWhatIsKnownAboutTheBandwidth) {
  Selection selection = seven_formats();
  selection.assumes_bandwidth = true;
  EXPECT_TRUE(has(selection.explain(), ", 4286 GB/s as assumed for all hosts"));
  selection.has_model = false;
  EXPECT_TRUE(has(selection.explain(), "Device: NVIDIA H200. The byte model is not fitted to this device."));
}

TEST(Explain, UsesMeasuredTimesWithoutAModel) {
  Selection selection = seven_formats();
  selection.has_model = false;
  selection.timed = true;
  for (FormatPrediction& one : selection.formats) {
    one.prediction.seconds = one.prediction.conversion_seconds = std::numeric_limits<double>::quiet_NaN();
    if (one.name == "cds") one.measured_seconds = 2e-3, one.measured_conversion_seconds = 1.0;
    if (one.name == "crs") one.measured_seconds = 3e-3;
  }
  const std::string text = selection.explain();
  EXPECT_TRUE(has(text, "took the least time of all timed formats, 2.0000 ms per product")) << text;
  EXPECT_TRUE(has(text, "A product is 1.50 times as fast")) << text;
  EXPECT_TRUE(has(text, "takes 1000.0000 ms and pays after 1000 products")) << text;
  EXPECT_FALSE(has(text, "predicted")) << text;
  // The time of dia is not known.
  EXPECT_EQ(lines(text)[6],
            "dia                -            -            -            -       601.00        20.00");
}

TEST(Explain, ShowsBothTimesIfTheBestWereTimed) {
  Selection selection = seven_formats();
  selection.timed = true;
  selection.formats[0].measured_seconds = 0.4e-3;
  const std::string text = selection.explain();
  EXPECT_TRUE(has(text, "over CRS predicted ms  measured ms")) << text;
  EXPECT_EQ(lines(text)[5].find("cds b=4         2.00       0.5000       0.4000      10.2000"), 0u) << text;
}

TEST(Explain, GivesReasonsIfNothingWasPicked) {
  Selection selection = seven_formats();
  selection.picked.clear();
  for (FormatPrediction& one : selection.formats)
    one.refusal = "stores too much";
  const auto text = lines(selection.explain());
  EXPECT_EQ(text[0], "No format was picked, because all are refused.");
  EXPECT_EQ(text[2], "refused cds b=4: stores too much");
  EXPECT_EQ(text.size(), 2u + 8);
}

TEST(Explain, TakesAnyNumberOfProducts) {
  Selection selection = seven_formats();
  selection.products = std::numeric_limits<double>::infinity();
  EXPECT_TRUE(has(selection.explain(), "predicted to be the fastest format, 0.5000 ms per product"));
  EXPECT_FALSE(has(selection.explain(), "total: "));
  selection.products = 1;
  EXPECT_TRUE(has(selection.explain(), "the conversion and 1 product are predicted"));
  EXPECT_EQ(Selection().explain().find("No format was picked"), 0u);
}

}  // namespace

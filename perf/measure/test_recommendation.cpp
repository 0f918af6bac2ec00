// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>

#include "measure/recommendation.hpp"

namespace {

using namespace FiligreePerf;
using Samples = std::vector<double>;

/// Times around `seconds` that differ by up to `spread`, the same ones in every run. Two phases give two
/// different sequences with equal medians.
Samples samples(double seconds, double spread, int count, int phase) {
  Samples result;
  for (int i = 0; i < count; ++i)
    result.push_back(seconds * (1 + spread * (((i * 37 + phase * 11) % 101) / 50.0 - 1)));
  return result;
}

/// A format whose products take `seconds`; those of CRS take 1 ms.
Contender contender(const std::string& name, double seconds, double conversion_seconds,
                    double spread = 0.001) {
  return {name, false, speed_up(samples(1e-3, spread, 101, 0), samples(seconds, spread, 101, 1)), seconds,
          conversion_seconds};
}

bool ends_with_line(const std::string& text, const std::string& begin) {
  return text.compare(text.rfind('\n') + 1, begin.size(), begin) == 0;
}

TEST(Quantile, InterpolatesAndTakesAnyOrder) {
  EXPECT_EQ(quantile({}, 0.5), 0);
  EXPECT_EQ(quantile({7}, 0.9), 7);
  EXPECT_EQ(quantile({4, 1, 3, 2}, 0.5), 2.5);
  EXPECT_EQ(quantile({5, 1, 4, 2, 3}, 0.25), 2);
  EXPECT_EQ(quantile({5, 1, 4, 2, 3}, 1), 5);
}

TEST(SpeedUp, IsTheMedianOfTheRatiosOfPairs) {
  // Another program slows the last three pairs down. The ratios of all pairs are 2, although the ratio of the
  // medians is not.
  const SpeedUp found = speed_up({2, 2, 20, 20, 20}, {1, 1, 10, 10, 10});
  EXPECT_EQ(found.median, 2);
  EXPECT_EQ(found.lower_quartile, 2);
  EXPECT_EQ(found.upper_quartile, 2);
  EXPECT_EQ(speed_up({}, {}).median, 0);
  EXPECT_THROW(speed_up({1, 2}, {1}), std::invalid_argument);
}

TEST(SpeedUp, RangeOfTheMedianNarrowsWithMorePairs) {
  const SpeedUp few = speed_up(samples(1, 0.2, 9, 0), samples(1, 0.2, 9, 1));
  const SpeedUp many = speed_up(samples(1, 0.2, 2000, 0), samples(1, 0.2, 2000, 1));
  EXPECT_LT(few.low, few.median);
  EXPECT_GT(few.high, few.median);
  EXPECT_GT(many.low, few.low);
  EXPECT_LT(many.high, few.high);
  // Of 100 pairs, 50 - 12.88 lie below the range.
  Samples ratios;
  for (int i = 0; i < 100; ++i)
    ratios.push_back(i + 1);
  const SpeedUp ranks = speed_up(ratios, Samples(100, 1.0));
  EXPECT_EQ(ranks.low, 38);
  EXPECT_EQ(ranks.high, 63);
}

TEST(Noise, IsTheLargestDeviationFromOne) {
  EXPECT_EQ(noise_of(speed_up({1, 1, 1}, {1, 1, 1})), 0);
  SpeedUp shifted;
  shifted.low = 0.8;
  shifted.high = 1.1;
  EXPECT_DOUBLE_EQ(noise_of(shifted), 0.25);
  shifted.low = 1.02;  // both on one side of 1
  EXPECT_NEAR(noise_of(shifted), 0.1, 1e-12);
  EXPECT_GT(noise_of(speed_up(samples(1, 0.3, 20, 0), samples(1, 0.3, 20, 1))), 0.05);
}

TEST(BreakEven, CountsProductsUntilTheConversionIsSaved) {
  // A product saves 0.5 ms, and the conversion takes 10.2 ms.
  Contender one = contender("cds", 0.5e-3, 10.2e-3, 0);
  EXPECT_EQ(break_even_products(one), 21);
  one.conversion_seconds = 0;
  EXPECT_EQ(break_even_products(one), 0);
  EXPECT_TRUE(std::isinf(break_even_products(contender("bell", 2e-3, 1e-3, 0))));
  EXPECT_TRUE(std::isinf(break_even_products(contender("crs", 1e-3, 1e-3, 0))));
}

TEST(Recommend, TakesAClearWinner) {
  const auto found = recommend(
      {contender("ell", 0.9e-3, 1e-3), contender("cds", 0.5e-3, 4.9e-3, 0), contender("bell", 2.2e-3, 1e-3)},
      0.01);
  EXPECT_EQ(found.format, "cds");
  EXPECT_TRUE(found.ties.empty());
  EXPECT_EQ(found.text,
            "use cds: 2.00 times as fast as Kokkos Kernels' CRS (noise 1.0 %); the conversion pays after 10 "
            "products");
}

TEST(Recommend, StaysWithCrsIfEveryFormatIsSlower) {
  const auto found =
      recommend({contender("crs_balanced", 1.02e-3, 0), contender("bell", 2.2e-3, 1e-3)}, 0.01);
  EXPECT_EQ(found.format, "");
  EXPECT_TRUE(ends_with_line(found.text, "stay with Kokkos Kernels' CRS: ")) << found.text;
  EXPECT_NE(found.text.find("noise of 1.0 %; the best is crs_balanced (0.98)"), std::string::npos)
      << found.text;
  EXPECT_EQ(recommend({contender("bell", 2.2e-3, 1e-3)}, 0.01).format, "");
  EXPECT_TRUE(ends_with_line(recommend({}, 0.01).text, "stay with Kokkos Kernels' CRS: "));
}

TEST(Recommend, StaysWithCrsIfTheGainIsNoise) {
  const std::vector<Contender> formats = {contender("sell", 0.97e-3, 1e-3)};
  EXPECT_EQ(recommend(formats, 0.04).format, "");
  EXPECT_EQ(recommend(formats, 0.02).format, "sell");
  // The median of these pairs is 1.05, but half of them are slower than CRS.
  Contender erratic = formats.front();
  erratic.speed_up = speed_up({0.6, 0.7, 1.05, 1.5, 1.6}, {1, 1, 1, 1, 1});
  EXPECT_EQ(recommend({erratic}, 0.01).format, "");
}

TEST(Recommend, OfEqualFormatsTakesTheOneThatPaysFirst) {
  // sell is a little faster, but the difference is less than the noise.
  const std::vector<Contender> formats = {contender("sell", 0.500e-3, 50e-3),
                                          contender("ell", 0.502e-3, 5e-3), contender("jds", 0.504e-3, 90e-3),
                                          contender("coo", 0.8e-3, 1e-3)};
  const auto found = recommend(formats, 0.02);
  EXPECT_EQ(found.format, "ell");
  EXPECT_EQ(found.ties, (std::vector<std::string>{"sell", "jds"}));
  EXPECT_EQ(found.text.find("equally fast within the noise: sell (2.00), jds (1.98)\n"), 0u) << found.text;
  EXPECT_TRUE(ends_with_line(found.text, "use ell: 1.99 times")) << found.text;
  // Without noise there are no ties.
  EXPECT_EQ(recommend(formats, 0).format, "sell");
}

TEST(Recommend, WarnsAboutNoiseAboveFivePercent) {
  const std::vector<Contender> formats = {contender("cds", 0.5e-3, 5e-3)};
  EXPECT_EQ(recommend(formats, 0.049).text.find("warning"), std::string::npos);
  const auto found = recommend(formats, 0.072);
  EXPECT_EQ(found.text.find("warning: the times of this run differ by 7.2 %, which is more than 5.0 %"), 0u)
      << found.text;
  EXPECT_EQ(found.format, "cds");
}

TEST(Recommend, NamesAFasterLibraryButDoesNotRecommendIt) {
  Contender peer = contender("cusparse_csr_alg2", 0.4e-3, 0);
  peer.is_peer = true;
  const auto found = recommend({contender("cds", 0.5e-3, 5e-3), peer}, 0.01);
  EXPECT_EQ(found.format, "cds");
  EXPECT_NE(found.text.find("another library is faster: cusparse_csr_alg2 (2.50)\n"), std::string::npos);
  EXPECT_EQ(recommend({peer}, 0.01).format, "");
  // As fast as the format within the noise: no line.
  EXPECT_EQ(recommend({contender("cds", 0.5e-3, 5e-3), peer}, 0.3).text.find("another"), std::string::npos);
}

}  // namespace

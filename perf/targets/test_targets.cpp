// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <sstream>
#include <string>

#include "targets/targets.hpp"

namespace {

using namespace FiligreePerf;

constexpr double not_measured = std::numeric_limits<double>::quiet_NaN();

/// The line of `text` that begins with `begin`, with one space between its words. Empty if there is none.
std::string line_of(const std::string& text, const std::string& begin) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.rfind(begin, 0) != 0) continue;
    std::istringstream words(line);
    std::string result;
    for (std::string word; words >> word;)
      result += (result.empty() ? "" : " ") + word;
    return result;
  }
  return "";
}

TEST(TargetReport, HoldsAtTheBoundItself) {
  EXPECT_TRUE((Target{"", true, 1.5, 1.5}.held()));
  EXPECT_FALSE((Target{"", true, 1.5, 1.499}.held()));
  EXPECT_TRUE((Target{"", false, 1.5, 1.5}.held()));
  EXPECT_FALSE((Target{"", false, 1.5, 1.501}.held()));
}

TEST(TargetReport, MissesATargetThatWasNotMeasured) {
  EXPECT_FALSE((Target{"", true, -1, not_measured}.held()));
  EXPECT_FALSE((Target{"", false, 1, not_measured}.held()));
}

TEST(TargetReport, PrintsEachSectionOnceAndCountsAll) {
  std::ostringstream out;
  TargetReport report(out);
  report.at_least("speed of a", 2, 2.25);
  report.at_most("time of b", 1.1, 1.2);
  report.end_section("first");
  const std::string first = out.str();
  EXPECT_EQ(line_of(first, "speed of a"), "speed of a >= 2.000 2.250 yes");
  EXPECT_EQ(line_of(first, "time of b"), "time of b <= 1.100 1.200 NO");
  EXPECT_EQ(line_of(first, "section"), "section first: 1 of 2 targets hold");

  out.str("");
  report.at_least("speed of c", 1, not_measured);
  report.at_most("time of d", 3, 0.5);
  report.at_most("time of e", 3, 3);
  report.end_section("second");
  const std::string second = out.str();
  EXPECT_EQ(line_of(second, "speed of a"), "");
  EXPECT_EQ(line_of(second, "speed of c"), "speed of c >= 1.000 - NO");
  EXPECT_EQ(line_of(second, "section"), "section second: 2 of 3 targets hold");

  out.str("");
  EXPECT_FALSE(report.print_total());
  EXPECT_EQ(line_of(out.str(), "3"), "3 of 5 targets hold");
}

TEST(TargetReport, SucceedsOnlyIfThereAreTargetsAndAllHold) {
  std::ostringstream out;
  TargetReport report(out);
  report.end_section("empty");
  EXPECT_EQ(line_of(out.str(), "section"), "section empty: 0 of 0 targets hold");
  EXPECT_FALSE(report.print_total());
  report.at_least("speed of a", 1, 1);
  report.end_section("one");
  EXPECT_TRUE(report.print_total());
}

TEST(GeometricMean, IsNotANumberWithoutValues) {
  EXPECT_TRUE(std::isnan(geometric_mean({})));
}

TEST(GeometricMean, IsTheRootOfTheProduct) {
  EXPECT_DOUBLE_EQ(geometric_mean({0.5, 2}), 1);
  EXPECT_DOUBLE_EQ(geometric_mean({2, 4, 8}), 4);
}

}  // namespace

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>
#include <vector>

namespace FiligreePerf {

/// The speed of a product relative to that of a reference, from samples that were timed in turns. Sample i of
/// one and sample i of the other are a pair: they ran next to each other, so that other load on the machine
/// slows both down. The ratio of a pair is the time of the reference divided by that of the product.
struct SpeedUp {
  double median = 0;  ///< of the ratios of all pairs; 0 if there are none
  double lower_quartile = 0;
  double upper_quartile = 0;
  // The median of infinitely many pairs lies between these two ratios with a probability of 99 %, if the
  // pairs are independent. Source: order statistics of the binomial distribution, in its normal
  // approximation. With few pairs they are the smallest and the largest ratio.
  double low = 0;
  double high = 0;
};

/// The value below which a part of the values lies: 0.5 is the median. Interpolates between two values.
/// 0 if there are none.
double quantile(std::vector<double> values, double part);

/// Throws std::invalid_argument if the numbers of samples differ.
SpeedUp speed_up(const std::vector<double>& reference_seconds, const std::vector<double>& seconds);

/// The error of a speed-up, as a fraction: by how much the 99 % range of a product against itself differs
/// from 1 at most.
double noise_of(const SpeedUp& against_itself);

/// Noise above this fraction deserves a warning.
constexpr double most_noise = 0.05;

/// A measured format.
struct Contender {
  std::string name;
  bool is_peer = false;  ///< a product of another library, which is never recommended
  SpeedUp speed_up;      ///< over the CRS of Kokkos Kernels
  double seconds = 0;    ///< of a product
  double conversion_seconds = 0;
};

/// The number of products after which the conversion pays: then it and the products of the format take less
/// time than products of CRS. Infinite if the format is not faster than CRS.
double break_even_products(const Contender& format);

/// Whether the format is faster than CRS by more than the noise.
bool wins(const Contender& format, double noise);

/// The format to use, and why.
struct Recommendation {
  std::string format;             ///< empty: stay with the CRS of Kokkos Kernels
  std::vector<std::string> ties;  ///< other formats whose speed differs by less than the noise
  /// Lines of text, the last of which begins with "use <format>" or "stay with Kokkos Kernels' CRS".
  std::string text;
};

/// Recommends the fastest format that wins. Of the formats whose speed-up differs from that of the fastest by
/// less than the noise, the one with the least break_even_products is recommended, so that repeated runs
/// agree.
Recommendation recommend(const std::vector<Contender>& formats, double noise);

}  // namespace FiligreePerf

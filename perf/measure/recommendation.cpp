// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "measure/recommendation.hpp"

#include <algorithm>
#include <cmath>
#include <iomanip>
#include <limits>
#include <sstream>
#include <stdexcept>

namespace FiligreePerf {
namespace {

/// The quantile of values in ascending order.
double sorted_quantile(const std::vector<double>& sorted, double part) {
  if (sorted.empty()) return 0;
  const double at = part * static_cast<double>(sorted.size() - 1);
  const auto lower = static_cast<std::size_t>(at);
  const std::size_t upper = std::min(lower + 1, sorted.size() - 1);
  return sorted[lower] + (at - static_cast<double>(lower)) * (sorted[upper] - sorted[lower]);
}

std::string fixed(double value, int digits) {
  std::ostringstream text;
  text << std::fixed << std::setprecision(digits) << value;
  return text.str();
}

std::string percent(double fraction) {
  return fixed(100 * fraction, 1) + " %";
}

/// "name (1.42)"
std::string with_speed_up(const Contender& format) {
  return format.name + " (" + fixed(format.speed_up.median, 2) + ")";
}

}  // namespace

double quantile(std::vector<double> values, double part) {
  std::sort(values.begin(), values.end());
  return sorted_quantile(values, part);
}

SpeedUp speed_up(const std::vector<double>& reference_seconds, const std::vector<double>& seconds) {
  if (reference_seconds.size() != seconds.size())
    throw std::invalid_argument("speed_up: there are " + std::to_string(reference_seconds.size()) +
                                " samples of the reference and " + std::to_string(seconds.size()) +
                                " of the product; they must be pairs.");
  std::vector<double> ratios(seconds.size());
  std::transform(reference_seconds.begin(), reference_seconds.end(), seconds.begin(), ratios.begin(),
                 [](double reference, double product) { return reference / product; });
  std::sort(ratios.begin(), ratios.end());
  SpeedUp result;
  if (ratios.empty()) return result;
  result.median = sorted_quantile(ratios, 0.5);
  result.lower_quartile = sorted_quantile(ratios, 0.25);
  result.upper_quartile = sorted_quantile(ratios, 0.75);
  // The number of pairs below the true median has the mean count/2 and the deviation sqrt(count)/2. A normal
  // variable lies within 2.576 deviations with a probability of 99 %.
  const auto count = static_cast<double>(ratios.size());
  const double beyond = std::max(0.0, std::floor(0.5 * count - 0.5 * 2.576 * std::sqrt(count)));
  const auto first = static_cast<std::size_t>(beyond);
  result.low = ratios[first];
  result.high = ratios[ratios.size() - 1 - first];
  return result;
}

double noise_of(const SpeedUp& against_itself) {
  if (!(against_itself.low > 0)) return 0;
  return std::max({against_itself.high, 1 / against_itself.low, 1.0}) - 1;
}

double break_even_products(const Contender& format) {
  if (!(format.speed_up.median > 1)) return std::numeric_limits<double>::infinity();
  return std::ceil(format.conversion_seconds / (format.seconds * (format.speed_up.median - 1)));
}

bool wins(const Contender& format, double noise) {
  return format.speed_up.median > 1 + noise && format.speed_up.low > 1;
}

Recommendation recommend(const std::vector<Contender>& formats, double noise) {
  const Contender* fastest = nullptr;      // of all formats
  const Contender* fastest_win = nullptr;  // of the formats that win
  const Contender* fastest_peer = nullptr;
  const auto take_faster = [](const Contender*& best, const Contender& one) {
    if (best == nullptr || one.speed_up.median > best->speed_up.median) best = &one;
  };
  for (const Contender& one : formats) {
    take_faster(one.is_peer ? fastest_peer : fastest, one);
    if (!one.is_peer && wins(one, noise)) take_faster(fastest_win, one);
  }

  Recommendation result;
  const Contender* best = nullptr;
  const auto is_tie = [&](const Contender& one) {
    return !one.is_peer && wins(one, noise) &&
           one.speed_up.median * (1 + noise) >= fastest_win->speed_up.median;
  };
  if (fastest_win != nullptr)
    for (const Contender& one : formats)
      if (is_tie(one) && (best == nullptr || break_even_products(one) < break_even_products(*best)))
        best = &one;

  std::ostringstream text;
  if (noise > most_noise)
    text << "warning: the times of this run differ by " << percent(noise) << ", which is more than "
         << percent(most_noise)
         << ". Stop other programs and repeat, or take more samples with --benchmark_min_time=5.\n";
  const double own = best != nullptr ? best->speed_up.median : 1;
  if (fastest_peer != nullptr && fastest_peer->speed_up.median > (1 + noise) * std::max(own, 1.0))
    text << "another library is faster: " << with_speed_up(*fastest_peer) << '\n';
  if (best == nullptr) {
    text << "stay with Kokkos Kernels' CRS: no measured format is faster by more than the noise of "
         << percent(noise);
    if (fastest != nullptr) text << "; the best is " << with_speed_up(*fastest);
  } else {
    std::string ties;
    for (const Contender& one : formats) {
      if (&one == best || !is_tie(one)) continue;
      result.ties.push_back(one.name);
      ties += (ties.empty() ? "" : ", ") + with_speed_up(one);
    }
    if (!ties.empty()) text << "equally fast within the noise: " << ties << '\n';
    result.format = best->name;
    text << "use " << best->name << ": " << fixed(own, 2) << " times as fast as Kokkos Kernels' CRS (noise "
         << percent(noise) << "); the conversion pays after " << fixed(break_even_products(*best), 0)
         << " products";
  }
  result.text = text.str();
  return result;
}

}  // namespace FiligreePerf

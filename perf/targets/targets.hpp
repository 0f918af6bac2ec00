// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cmath>
#include <limits>
#include <ostream>
#include <string>
#include <vector>

namespace FiligreePerf {

/// A measured figure and the bound that it must keep: a lower bound if at_least is set, else an upper bound.
struct Target {
  std::string what;
  bool at_least = true;
  double required = 0;
  double measured = std::numeric_limits<double>::quiet_NaN();  ///< NaN if it could not be measured

  /// False for a figure that could not be measured.
  bool held() const { return at_least ? measured >= required : measured <= required; }
};

/// Collects targets while they are measured.
class TargetReport {
 public:
  explicit TargetReport(std::ostream& out) : m_out(out) {}

  void at_least(const std::string& what, double required, double measured) {
    m_targets.push_back({what, true, required, measured});
  }
  void at_most(const std::string& what, double required, double measured) {
    m_targets.push_back({what, false, required, measured});
  }
  /// Stream for intermediate results.
  std::ostream& out() const { return m_out; }
  /// Prints one line per target of this section, those added since the last call, and how many of them hold.
  void end_section(const std::string& name);
  /// Prints how many targets of all sections hold. Returns true if there are targets and all hold.
  bool print_total() const;

 private:
  std::ostream& m_out;
  std::vector<Target> m_targets;
  std::size_t m_printed = 0;  ///< targets of the sections that have ended
};

/// NaN if there are no values.
inline double geometric_mean(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values)
    sum += std::log(value);
  return values.empty() ? std::numeric_limits<double>::quiet_NaN()
                        : std::exp(sum / static_cast<double>(values.size()));
}

}  // namespace FiligreePerf

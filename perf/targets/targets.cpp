// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "targets/targets.hpp"

#include <algorithm>
#include <iomanip>

namespace FiligreePerf {

namespace {

using Iterator = std::vector<Target>::const_iterator;

std::ptrdiff_t count_held(Iterator first, Iterator last) {
  return std::count_if(first, last, [](const Target& target) { return target.held(); });
}

}  // namespace

void TargetReport::end_section(const std::string& name) {
  const Iterator first = m_targets.begin() + static_cast<std::ptrdiff_t>(m_printed);
  const Iterator last = m_targets.end();
  m_printed = m_targets.size();
  m_out << '\n'
        << std::left << std::setw(64) << "target" << std::right << std::setw(12) << "required"
        << std::setw(10) << "measured"
        << "  held\n"
        << std::fixed << std::setprecision(3);
  for (Iterator target = first; target != last; ++target) {
    m_out << std::left << std::setw(64) << target->what << std::right << std::setw(4)
          << (target->at_least ? ">=" : "<=") << std::setw(8) << target->required << std::setw(10);
    if (std::isnan(target->measured))
      m_out << "-";
    else
      m_out << target->measured;
    m_out << "  " << (target->held() ? "yes" : "NO") << '\n';
  }
  m_out << "section " << name << ": " << count_held(first, last) << " of " << last - first << " targets hold"
        << std::endl;
}

bool TargetReport::print_total() const {
  const auto count = static_cast<std::ptrdiff_t>(m_targets.size());
  const std::ptrdiff_t held = count_held(m_targets.begin(), m_targets.end());
  m_out << '\n' << held << " of " << count << " targets hold" << std::endl;
  return count > 0 && held == count;
}

}  // namespace FiligreePerf

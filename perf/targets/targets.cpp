// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "targets/targets.hpp"

#include <algorithm>
#include <iomanip>

namespace FiligreePerf {

bool Report::print() const {
  m_out << std::left << std::setw(64) << "target" << std::right << std::setw(12) << "required"
        << std::setw(10) << "measured"
        << "  held\n"
        << std::fixed << std::setprecision(3);
  for (const Target& target : m_targets) {
    m_out << std::left << std::setw(64) << target.what << std::right << std::setw(4)
          << (target.at_least ? ">=" : "<=") << std::setw(8) << target.required << std::setw(10);
    if (std::isnan(target.measured))
      m_out << "-";
    else
      m_out << target.measured;
    m_out << "  " << (target.held() ? "yes" : "NO") << '\n';
  }
  const auto held =
      std::count_if(m_targets.begin(), m_targets.end(), [](const Target& t) { return t.held(); });
  m_out << held << " of " << m_targets.size() << " targets hold" << std::endl;
  return !m_targets.empty() && static_cast<std::size_t>(held) == m_targets.size();
}

}  // namespace FiligreePerf

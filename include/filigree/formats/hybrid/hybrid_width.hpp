// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FILIGREE_FORMATS_HYBRID_HYBRID_WIDTH_HPP
#define FILIGREE_FORMATS_HYBRID_HYBRID_WIDTH_HPP

#include <algorithm>
#include <cstdint>
#include <vector>

#include "filigree/core/error.hpp"

namespace Filigree {

/// How many entries of each row the ELL part of a hybrid format holds.
enum class HybridWidth {
  /// The largest width that at least a third of the rows, and at least 4096 rows, reach: Bell and Garland's
  /// rule, from a sum over COO being three times slower an entry, and 4096 rows too few to fill a GPU.
  third_of_rows,
  /// The width with which the matrix takes the fewest bytes, the smaller of two that take the same.
  least_bytes,
  /// The width of the options.
  given
};

namespace Impl {

/// Throws std::invalid_argument for a given width that is none.
inline void check_hybrid_width(const char* function, HybridWidth rule, std::int64_t width) {
  if (rule == HybridWidth::given && width < 0)
    fail<std::invalid_argument>(function, ": options.width is ", width,
                                "; it must be the entries a row of the ELL part, at least 0.");
}

/// The width by a rule. reaching[k] is the number of rows with at least k entries (rows_reaching); bytes(k)
/// is what the matrix takes with width k, ell_bytes(k) what its ELL part does.
template <class Bytes, class EllBytes>
std::int64_t hybrid_width(HybridWidth rule, std::int64_t given, const std::vector<std::int64_t>& reaching,
                          const Bytes& bytes, const EllBytes& ell_bytes) {
  const std::int64_t longest = static_cast<std::int64_t>(reaching.size()) - 2;
  if (rule == HybridWidth::given) return std::min(given, longest);
  std::int64_t best = 0;
  if (rule == HybridWidth::third_of_rows) {
    const auto reach = [&](std::int64_t width) { return reaching[static_cast<std::size_t>(width)]; };
    while (best < longest && reach(best + 1) >= 4096 && 3 * reach(best + 1) >= reaching[0])
      ++best;
    return best;
  }
  double least = bytes(0);
  // Where the ELL part alone takes more, so it does with all larger widths.
  for (std::int64_t width = 1; width <= longest && ell_bytes(width) < least; ++width) {
    const double these = bytes(width);
    if (these < least) {
      least = these;
      best = width;
    }
  }
  return best;
}

}  // namespace Impl
}  // namespace Filigree

#endif

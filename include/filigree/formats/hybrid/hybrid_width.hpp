// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cstdint>

#include "filigree/core/error.hpp"

namespace Filigree {

/// The rule that chooses the width of the ELL part of a hybrid format.
enum class HybridWidth {
  /// The largest width that at least a third of the rows, and at least 4096 rows, reach. This is the rule of
  /// Bell and Garland. It assumes that a product takes three times as long per entry in COO as in ELL, and
  /// that fewer than 4096 rows do not fill a GPU.
  third_of_rows,
  /// The width with which the matrix takes the fewest bytes. Of equal ones, the smallest.
  least_bytes,
  /// The width that the options give.
  given
};

namespace Impl {

/// The largest width that hybrid_width() needs to consider, so that longer rows need not be told apart. A
/// matrix of width 0 has no more than most_excess_bytes beside its ELL part. See hybrid_width() for the other
/// arguments.
template <class EllBytes>
std::int64_t most_hybrid_width(HybridWidth rule, std::int64_t given, std::int64_t rows, std::int64_t nnz,
                               std::int64_t longest, double most_excess_bytes, const EllBytes& ell_bytes) {
  if (rule == HybridWidth::given) return std::max(std::int64_t(0), std::min(given, longest));
  if (rows == 0) return 0;
  if (rule == HybridWidth::least_bytes) {
    // With a larger width the ELL part alone takes more than the matrix of width 0.
    const double width = most_excess_bytes / (ell_bytes(1) - ell_bytes(0)) + 1;
    return width < static_cast<double>(longest) ? static_cast<std::int64_t>(width) : longest;
  }
  // A third of the rows reaches at most three times the mean length.
  return rows < 4096 ? 0 : std::min(longest, 3 * nnz / rows);
}

/// The width that a rule chooses, at most `longest`. reaching(k) is the number of rows with at least k
/// entries. bytes(k) is the size of the matrix with width k, and ell_bytes(k) the size of its ELL part.
/// Throws std::invalid_argument if the rule is no enumerator, or if it is HybridWidth::given and `given` is
/// negative. The message begins with `function`.
template <class Reaching, class Bytes, class EllBytes>
std::int64_t hybrid_width(const char* function, HybridWidth rule, std::int64_t given, std::int64_t longest,
                          const Reaching& reaching, const Bytes& bytes, const EllBytes& ell_bytes) {
  if (rule != HybridWidth::third_of_rows && rule != HybridWidth::least_bytes && rule != HybridWidth::given)
    fail<std::invalid_argument>(function, ": options.width_rule is HybridWidth(", static_cast<int>(rule),
                                "); it must be third_of_rows, least_bytes or given.");
  if (rule == HybridWidth::given && given < 0)
    fail<std::invalid_argument>(function, ": options.width is ", given,
                                "; it must be the number of entries per row of the ELL part, at least 0.");
  if (rule == HybridWidth::given) return std::min(given, longest);
  std::int64_t best = 0;
  if (rule == HybridWidth::third_of_rows) {
    while (best < longest && reaching(best + 1) >= 4096 && 3 * reaching(best + 1) >= reaching(0))
      ++best;
    return best;
  }
  double least = bytes(0);
  // The ELL part grows with the width. Once it alone takes as much as the best matrix, no larger width is
  // better.
  for (std::int64_t width = 1; width <= longest && ell_bytes(width) < least; ++width) {
    const double bytes_of_width = bytes(width);
    if (bytes_of_width < least) {
      least = bytes_of_width;
      best = width;
    }
  }
  return best;
}

}  // namespace Impl
}  // namespace Filigree

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FILIGREE_PERF_PRODUCTS_CANDIDATES_HPP
#define FILIGREE_PERF_PRODUCTS_CANDIDATES_HPP

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "products/problem.hpp"

namespace FiligreePerf {

/// One way to multiply the matrix of a problem: a variant of a format, or a peer's product. It was checked.
struct Candidate {
  std::string name;
  std::string format;             ///< of ours, by MatrixTraits
  bool is_peer = false;           ///< of another library
  std::string refusal;            ///< why there is no product, or empty
  std::function<void()> product;  ///< y = A*x on the default instance; keeps the converted matrix alive
  double storage_bytes = 0;       ///< that the format stores
  double bytes = 0;               ///< that a product must move: those, x and y
  double max_rel_error = 0;       ///< of y, relative to the sum of the sizes of the products of a row
  double conversion_seconds = 0;  ///< median of a conversion from CRS, its checks included, until there is
                                  ///< a result; not that the result is given back
  double refill_seconds = 0;      ///< median of a refill without its check of the pattern
  std::string picked;             ///< what optimize() picked, where this is "auto"
  double predicted_seconds = 0;   ///< what the byte model said of it
};

/// Which candidates to make.
struct Wanted {
  /// Whether a format, or a variant of one that is not its default, is wanted.
  std::function<bool(const std::string& name, bool is_default)> wants;
  /// Whether conversions and refills are timed.
  bool time_conversions = true;
  /// Whether products are checked, which takes longer than to time them; the one of "auto" always is.
  bool check = true;
};

/// Names of all candidates: each format's default and its variants, "auto" for what optimize() picks, and the
/// peers that this build has.
template <class Scalar>
std::vector<std::string> candidate_names();

/// Calls visit for one wanted candidate after the other, each converted and checked. A matrix lives as long
/// as its candidate. Throws std::runtime_error where a product is wrong. One explicit instantiation a scalar,
/// each in a source file of its own so that they compile side by side.
template <class Scalar>
void for_each_candidate(const std::shared_ptr<SpmvProblem<Scalar>>& problem, const Wanted& wanted,
                        const std::function<void(const Candidate&)>& visit);

}  // namespace FiligreePerf

#endif

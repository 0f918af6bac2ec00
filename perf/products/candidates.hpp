// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "products/problem.hpp"

namespace FiligreePerf {

/// One way to multiply the matrix of a problem: a variant of a format, or the product of another library.
struct Candidate {
  std::string name;
  std::string format;             ///< name of the format in MatrixTraits, empty for a peer
  bool is_peer = false;           ///< the product of another library
  std::string stored;             ///< the type of the stored values if it is narrower than Scalar, else empty
  std::string refusal;            ///< why there is no product; empty if there is one
  std::function<void()> product;  ///< y = A*x on the default instance; keeps the converted matrix alive
  double storage_bytes = 0;       ///< bytes that the matrix occupies
  double bytes = 0;               ///< bytes that a product must move: the matrix, x and y, each once
  double max_rel_error = 0;       ///< largest error of y, see SpmvProblem::check
  double conversion_seconds =
      0;                      ///< median of a conversion from CRS with its checks, or of the preparation of a
                              ///< peer; freeing the matrix is not included
  double refill_seconds = 0;  ///< median of a refill without the check of the pattern
  std::string picked;         ///< name of the format that optimize() picked, only for "auto"
  double predicted_seconds = 0;  ///< prediction of the byte model for that format
  /// Figures of the converted matrix that only some formats have, by name: "ell_width" and "excess_share" of
  /// HYB and HEC, that is the entries beyond the ELL part divided by all entries; "largest_rounding" of
  /// matrices with narrower values, see Filigree::Rounding.
  std::vector<std::pair<std::string, double>> facts;
};

/// Selects candidates and what to do with them.
struct Wanted {
  /// Whether a variant is wanted. is_default says that it is the first variant of its format, or a peer.
  std::function<bool(const std::string& name, bool is_default)> wants;
  /// Whether symmetric formats are candidates too. Their conversions refuse a matrix that is not symmetric.
  bool symmetric = false;
  /// Whether formats that store equal blocks once are candidates too.
  bool repeated_blocks = false;
  /// If not empty, each wanted variant is also measured with its values stored in this type, one of
  /// stored_types().
  std::string stored;
  /// The most storage that a format may need, in CRS matrices; 0 for the default of the format.
  double max_storage_ratio = 0;
  /// Times conversions and refills.
  bool time_conversions = true;
  /// "auto" is picked with OptimizeOptions::time_best.
  bool time_best = false;
  /// Checks products, which takes longer than timing them. The product of "auto" is always checked.
  bool check = true;

  /// Whether a format may be a candidate.
  template <class Matrix>
  bool allows() const {
    using Traits = Filigree::MatrixTraits<Matrix>;
    return (symmetric || !Traits::is_symmetric) && (repeated_blocks || !Traits::has_dictionary);
  }
};

/// Names of all candidates of a type of problem: the variants of all formats, "auto" for the format that
/// optimize() picks, and the peers of this build.
template <class Problem>
std::vector<std::string> candidate_names();

/// The names of types, narrower than double, in which this build can store the values of matrices. Candidates
/// of double have them.
inline std::vector<std::string> stored_types() {
  std::vector<std::string> names = {"float"};
#if FILIGREE_HAS_HALF
  names.emplace_back("half");
#endif
#if FILIGREE_HAS_BHALF
  names.emplace_back("bhalf");
#endif
  return names;
}

/// Converts and checks the wanted candidates one after the other, and calls visit for each. The matrix of a
/// candidate lives as long as the candidate. Throws std::runtime_error if a product is wrong. There is one
/// explicit instantiation per type of problem, each in its own source file, so that they compile in parallel.
template <class Scalar, class Vectors>
void for_each_candidate(const std::shared_ptr<SpmvProblem<Scalar, Vectors>>& problem, const Wanted& wanted,
                        const std::function<void(const Candidate&)>& visit);

/// for_each_candidate() for variants of formats whose values are stored in the type Stored, with one column of
/// x. The name of a candidate is that of the variant, followed by _ and the name of the type.
template <class Scalar, class Stored>
void for_each_stored_candidate(const std::shared_ptr<SpmvProblem<Scalar>>& problem, const Wanted& wanted,
                               const std::function<void(const Candidate&)>& visit);

}  // namespace FiligreePerf

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <optional>

#include "products/candidates.hpp"
#include "products/peers.hpp"
#include "support/read_bandwidth.hpp"
#include "support/refusal.hpp"

namespace FiligreePerf {

template <class Scalar, class FormatTag>
using matrix_of =
    typename FormatTag::template matrix<Scalar, int, typename SpmvProblem<Scalar>::device_type, void, int>;

template <class Problem>
std::vector<std::string> candidate_names() {
  using Scalar = typename Problem::scalar_type;
  std::vector<std::string> names;
  Filigree::for_each_format(Filigree::AllFormats(), [&](auto format) {
    for (const auto& variant : Filigree::named_variants<matrix_of<Scalar, decltype(format)>>())
      names.push_back(variant.name);
  });
  names.emplace_back("auto");
  for (const auto& peer : peers<Problem>())
    names.push_back(peer.name);
  return names;
}

/// Bytes of the matrix that a product need not read: the padding of ELL with row lengths.
template <class Matrix>
double unread_bytes(const Matrix&) {
  return 0;
}
template <class Scalar, class Ordinal, class Device, class Traits, class SizeType>
double unread_bytes(const Filigree::EllMatrix<Scalar, Ordinal, Device, Traits, SizeType>& A) {
  if (A.row_lengths.extent(0) == 0) return 0;
  return (static_cast<double>(A.values.extent(0)) - static_cast<double>(A.nnz())) *
         static_cast<double>(sizeof(Scalar) + sizeof(Ordinal));
}

/// Fills in the bytes that a product moves, and the error of the product if `check` is set.
template <class Problem>
void check_candidate(const Problem& problem, Candidate& candidate, bool check, double entry_rounding = 0,
                     double bytes_not_read = 0) {
  using Scalar = typename Problem::scalar_type;
  candidate.bytes = candidate.storage_bytes - bytes_not_read + problem.vector_bytes();
  if (!check) return;
  Progress progress("checking the product of " + candidate.name);
  Kokkos::deep_copy(problem.y, Scalar(std::numeric_limits<Filigree::Impl::real_t<Scalar>>::quiet_NaN()));
  candidate.product();
  candidate.max_rel_error = problem.check(candidate.name, entry_rounding);
}

template <class Part, class Whole>
double share(Part part, Whole whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

/// The facts of a converted matrix, see Candidate.
template <class Matrix>
std::vector<std::pair<std::string, double>> facts_of(const Matrix&) {
  return {};
}
template <class Scalar, class Ordinal, class Device, class Traits, class SizeType>
std::vector<std::pair<std::string, double>> facts_of(
    const Filigree::HybMatrix<Scalar, Ordinal, Device, Traits, SizeType>& A) {
  return {{"ell_width", A.width()}, {"excess_share", share(A.coo.nnz(), A.nnz())}};
}
template <class Scalar, class Ordinal, class Device, class Traits, class SizeType>
std::vector<std::pair<std::string, double>> facts_of(
    const Filigree::HecMatrix<Scalar, Ordinal, Device, Traits, SizeType>& A) {
  return {{"ell_width", A.width()}, {"excess_share", share(A.excess_values.extent(0), A.nnz())}};
}

/// Median seconds of a conversion. The previous matrix is freed first, outside the measured time.
template <class ExecutionSpace, class Convert>
double conversion_seconds(const Convert& convert) {
  std::optional<decltype(convert())> result;
  return median_seconds_after(
      ExecutionSpace(), [&]() { result.reset(); }, [&]() { result = convert(); }, 0.1);
}

/// Median seconds of a refill without the check of the pattern.
template <class ExecutionSpace, class Matrix, class Crs>
double refill_seconds(const Matrix& A, const Crs& crs) {
  Filigree::RefillOptions unchecked;
  unchecked.check_pattern = false;
  return median_seconds(
      ExecutionSpace(), [&]() { Filigree::refill(A, crs, unchecked); }, 0.1);
}

/// The candidate "auto": the format that optimize() picks.
template <class Problem>
Candidate make_auto(const std::shared_ptr<Problem>& problem, const Wanted& wanted) {
  Progress progress("picking a format");
  using execution_space = typename Problem::execution_space;
  Candidate candidate;
  candidate.name = candidate.format = "auto";
  auto options = optimize_options(execution_space());
  options.time_best = wanted.time_best;
  const auto A = Filigree::optimize(problem->crs, options);
  candidate.picked = A.selection().picked;
  candidate.predicted_seconds = A.selection().pick().prediction.seconds;
  if (wanted.time_conversions) {
    candidate.conversion_seconds =
        conversion_seconds<execution_space>([&]() { return Filigree::optimize(problem->crs, options); });
    candidate.refill_seconds = refill_seconds<execution_space>(A, problem->crs);
  }
  candidate.product = [problem, A]() {
    Filigree::spmv("N", problem->one, A, problem->x, problem->zero, problem->y);
  };
  candidate.storage_bytes = static_cast<double>(A.storage_bytes());
  check_candidate(*problem, candidate, true);
  return candidate;
}

/// The candidate of one variant of a format, with values of type Stored. `stored` is the name of that type if
/// it is not the type of x and y.
template <class FormatTag, class Stored, class Problem, class FormatOptions>
Candidate make_candidate(const std::shared_ptr<Problem>& problem, const std::string& variant,
                         FormatOptions options, const Wanted& wanted, const std::string& stored = "") {
  using matrix_type = matrix_of<Stored, FormatTag>;
  using execution_space = typename Problem::execution_space;
  const std::string name = stored.empty() ? variant : variant + "_" + stored;
  Candidate candidate;
  candidate.name = name;
  candidate.stored = stored;
  candidate.format = Filigree::MatrixTraits<matrix_type>::name();
  Filigree::Impl::set_block_size(options, problem->block_size);
  if (wanted.max_storage_ratio > 0) options.max_storage_ratio = wanted.max_storage_ratio;
  Filigree::Rounding rounding;
  options.rounding = &rounding;
  const auto convert = [&]() {
    return Filigree::convert<FormatTag::template matrix, Stored>(problem->crs, options);
  };
  matrix_type A;
  candidate.refusal = refusal_of([&]() {
    if (wanted.time_conversions) {
      Progress progress("timing the conversion to " + name);
      candidate.conversion_seconds = conversion_seconds<execution_space>(convert);
    }
    Progress progress("converting to " + name);
    A = convert();
    if (wanted.time_conversions) candidate.refill_seconds = refill_seconds<execution_space>(A, problem->crs);
  });
  if (!candidate.refusal.empty()) return candidate;
  candidate.product = [problem, A]() {
    Filigree::spmv("N", problem->one, A, problem->x, problem->zero, problem->y);
  };
  candidate.storage_bytes = static_cast<double>(Filigree::MatrixTraits<matrix_type>::storage_bytes(A));
  candidate.facts = facts_of(A);
  if (!stored.empty()) candidate.facts.emplace_back("largest_rounding", rounding.largest);
  check_candidate(*problem, candidate, wanted.check, rounding.largest, unread_bytes(A));
  return candidate;
}

template <class Scalar, class Stored>
void for_each_stored_candidate(const std::shared_ptr<SpmvProblem<Scalar>>& problem, const Wanted& wanted,
                               const std::function<void(const Candidate&)>& visit) {
  Filigree::for_each_format(Filigree::AllFormats(), [&](auto format) {
    using Matrix = matrix_of<Stored, decltype(format)>;
    if (!wanted.allows<Matrix>()) return;
    const auto variants = Filigree::named_variants<Matrix>();
    for (const auto& variant : variants)
      if (wanted.wants(variant.name, variant.name == variants.front().name))
        visit(make_candidate<decltype(format), Stored>(problem, variant.name, variant.options, wanted,
                                                       wanted.stored));
  });
}

template <class Scalar, class Vectors>
void for_each_candidate(const std::shared_ptr<SpmvProblem<Scalar, Vectors>>& problem, const Wanted& wanted,
                        const std::function<void(const Candidate&)>& visit) {
  Filigree::for_each_format(Filigree::AllFormats(), [&](auto format) {
    using Matrix = matrix_of<Scalar, decltype(format)>;
    if (!wanted.allows<Matrix>()) return;
    const auto variants = Filigree::named_variants<Matrix>();
    for (const auto& variant : variants)
      if (wanted.wants(variant.name, variant.name == variants.front().name))
        visit(make_candidate<decltype(format), Scalar>(problem, variant.name, variant.options, wanted));
  });
  if constexpr (std::is_same_v<Vectors, OneColumn<double>>) {
    if (wanted.stored == "float") for_each_stored_candidate<double, float>(problem, wanted, visit);
#if FILIGREE_HAS_HALF
    if (wanted.stored == "half") for_each_stored_candidate<double, Filigree::half_t>(problem, wanted, visit);
#endif
#if FILIGREE_HAS_BHALF
    if (wanted.stored == "bhalf")
      for_each_stored_candidate<double, Filigree::bhalf_t>(problem, wanted, visit);
#endif
  }
  if (wanted.wants("auto", false)) visit(make_auto(problem, wanted));
  using Problem = SpmvProblem<Scalar, Vectors>;
  for (const auto& peer : peers<Problem>()) {
    if (!wanted.wants(peer.name, true)) continue;
    Candidate candidate;
    candidate.name = peer.name;
    candidate.is_peer = true;
    candidate.refusal = refusal_of([&]() {
      Progress progress("preparing " + peer.name);
      const auto make = [&]() { return peer.make(problem); };
      if (wanted.time_conversions)
        candidate.conversion_seconds = conversion_seconds<typename Problem::execution_space>(make);
      PeerProduct made = make();
      candidate.product = made.product;
      candidate.storage_bytes = made.storage_bytes;
    });
    if (!candidate.refusal.empty()) {
      visit(candidate);
      continue;
    }
    check_candidate(*problem, candidate, wanted.check);
    visit(candidate);
  }
}

}  // namespace FiligreePerf

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FILIGREE_PERF_PRODUCTS_CANDIDATES_IMPL_HPP
#define FILIGREE_PERF_PRODUCTS_CANDIDATES_IMPL_HPP

#include "products/candidates.hpp"
#include "products/peers.hpp"

namespace FiligreePerf {

template <class FormatOptions, class = void>
struct HasBlockSize : std::false_type {};
template <class FormatOptions>
struct HasBlockSize<FormatOptions, std::void_t<decltype(FormatOptions::block_size)>> : std::true_type {};

template <class Scalar, class FormatTag>
using matrix_of =
    typename FormatTag::template matrix<Scalar, int, typename SpmvProblem<Scalar>::device_type, void, int>;

/// The variants of a format, by the name that stands for each, the default first.
template <class Scalar, class FormatTag>
auto named_variants() {
  using Traits = Filigree::MatrixTraits<matrix_of<Scalar, FormatTag>>;
  auto variants = Filigree::variants_of<typename Traits::options_type>();
  for (auto& variant : variants)
    if (variant.name.empty()) variant.name = Traits::name();
  return variants;
}

template <class Scalar>
std::vector<std::string> candidate_names() {
  std::vector<std::string> names;
  Filigree::for_each_format(Filigree::AllFormats(), [&](auto format) {
    for (const auto& variant : named_variants<Scalar, decltype(format)>())
      names.push_back(variant.name);
  });
  for (const auto& peer : peers<Scalar>())
    names.push_back(peer.name);
  return names;
}

/// Fills in what a product must move, and checks it.
template <class Scalar>
void check_candidate(SpmvProblem<Scalar>& problem, Candidate& candidate) {
  candidate.bytes = candidate.storage_bytes +
                    static_cast<double>(problem.x.extent(0) + problem.y.extent(0)) * sizeof(Scalar);
  Progress progress("checking the product of " + candidate.name);
  Kokkos::deep_copy(problem.y, Scalar(std::numeric_limits<Filigree::Impl::real_t<Scalar>>::quiet_NaN()));
  candidate.product();
  candidate.max_rel_error = problem.check(candidate.name);
}

/// One variant of a format.
template <class FormatTag, class Scalar, class FormatOptions>
Candidate make_candidate(const std::shared_ptr<SpmvProblem<Scalar>>& problem, const std::string& name,
                         FormatOptions options, bool time_conversions) {
  using matrix_type = matrix_of<Scalar, FormatTag>;
  using execution_space = typename SpmvProblem<Scalar>::execution_space;
  Candidate candidate;
  candidate.name = name;
  if constexpr (HasBlockSize<FormatOptions>::value) options.block_size = problem->block_size;
  const auto convert = [&]() { return Filigree::convert<FormatTag::template matrix>(problem->crs, options); };
  matrix_type A;
  try {
    Progress progress("converting to " + name);
    A = convert();
  } catch (const std::logic_error& refusal) {  // invalid_argument or length_error
    candidate.refusal = refusal.what();
    return candidate;
  }
  if (time_conversions) {
    Progress progress("timing the conversion to " + name);
    candidate.conversion_seconds = median_seconds(
        execution_space(), [&]() { convert(); }, 0.1);
    Filigree::RefillOptions unchecked;
    unchecked.check_pattern = false;
    candidate.refill_seconds = median_seconds(
        execution_space(), [&]() { Filigree::refill(A, problem->crs, unchecked); }, 0.1);
  }
  candidate.product = [problem, A]() {
    Filigree::spmv("N", problem->one, A, problem->x, problem->zero, problem->y);
  };
  candidate.storage_bytes = static_cast<double>(Filigree::MatrixTraits<matrix_type>::storage_bytes(A));
  check_candidate(*problem, candidate);
  return candidate;
}

template <class Scalar>
void for_each_candidate(const std::shared_ptr<SpmvProblem<Scalar>>& problem, const Wanted& wanted,
                        const std::function<void(const Candidate&)>& visit) {
  Filigree::for_each_format(Filigree::AllFormats(), [&](auto format) {
    const auto variants = named_variants<Scalar, decltype(format)>();
    for (const auto& variant : variants)
      if (wanted.wants(variant.name, variant.name == variants.front().name))
        visit(make_candidate<decltype(format)>(problem, variant.name, variant.options,
                                               wanted.time_conversions));
  });
  for (const auto& peer : peers<Scalar>()) {
    if (!wanted.wants(peer.name, true)) continue;
    Candidate candidate;
    candidate.name = peer.name;
    candidate.is_peer = true;
    try {
      Progress progress("preparing " + peer.name);
      PeerProduct made = peer.make(problem);
      candidate.product = made.product;
      candidate.storage_bytes = made.storage_bytes;
    } catch (const std::logic_error& refusal) {
      candidate.refusal = refusal.what();
      visit(candidate);
      continue;
    }
    check_candidate(*problem, candidate);
    visit(candidate);
  }
}

}  // namespace FiligreePerf

#endif

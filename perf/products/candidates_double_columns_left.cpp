// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "products/candidates_impl.hpp"

namespace FiligreePerf {
using Problem = SpmvProblem<double, SeveralColumns<double, Kokkos::LayoutLeft>>;
template class SpmvProblem<double, SeveralColumns<double, Kokkos::LayoutLeft>>;
template std::vector<std::string> candidate_names<Problem>();
template void for_each_candidate(const std::shared_ptr<Problem>&, const Wanted&,
                                 const std::function<void(const Candidate&)>&);
}  // namespace FiligreePerf
